#include "netcdf/netcdf_counted.h"

#include <algorithm>
#include <numeric>
#include <sstream>

#include "text/error.h"

namespace cairn::cli {
namespace {

CkptAttribute text_attribute(const std::string& key, const std::string& text) {
  return {key, CAIRN_TYPE_CHARACTER, static_cast<uint32_t>(text.size()), text};
}

void put(CkptVariable* variable, const char* key, const std::string& text) {
  std::erase_if(variable->attributes, [&](const CkptAttribute& one) { return one.key == key; });
  if (!text.empty()) variable->attributes.push_back(text_attribute(key, text));
}

size_t find(const std::vector<CkptVariable>& variables, const std::string& name) {
  const auto found = std::find_if(variables.begin(), variables.end(),
                                  [&](const CkptVariable& one) { return one.name == name; });
  return static_cast<size_t>(found - variables.begin());
}

std::string names_of(const NetcdfDimensions& dimensions, size_t variable) {
  std::string names;
  for (const size_t index : dimensions.of_variable[variable])
    names += (names.empty() ? "" : " ") + dimensions.dimensions[index].name;
  return names;
}

}  // namespace

NetcdfCounted::NetcdfCounted(const RankCounts& counts, std::vector<CkptVariable>* variables)
    : all_(*variables) {
  for (const auto& [name, of_ranks] : counts)
    all_[find(all_, name)].shape = {std::accumulate(of_ranks.begin(), of_ranks.end(), uint64_t{0})};
  for (const CkptVariable& one : all_) note_given(one);
  const size_t own = all_.size();
  for (size_t i = 0; i < own; ++i) {
    if (!all_[i].is_counted()) continue;
    const uint64_t size = all_[i].shape[0];
    if (all_[i].attribute("dimensions") == nullptr) {
      std::string name;
      if (all_[i].counting() == Counting::by_keys)
        name = dimension_of_particles(size);
      else
        name = free_dimension(all_[i].counting() == Counting::by_lists ? all_[i].over + "_values"
                                                                       : all_[i].name + "_elements",
                              size);
      put(&all_[i], "dimensions", name);
    }
    if (all_[i].counting() != Counting::by_rank) continue;
    counted_by_[all_.size()] = i;
    add_counts(CkptVariable(all_[i]), counts.at(all_[i].name));
  }
}

// Notes dimension names that programs chose, so that made names differ from them.
void NetcdfCounted::note_given(const CkptVariable& variable) {
  const CkptAttribute* const names = variable.attribute("dimensions");
  if (names == nullptr || names->type != CAIRN_TYPE_CHARACTER) return;
  std::istringstream words(names->values);
  std::string word;
  for (size_t k = 0; k < variable.shape.size() && words >> word; ++k)
    sizes_.emplace(word, variable.shape[k]);
}

// The name of a dimension of this size that has no other meaning.
std::string NetcdfCounted::free_dimension(std::string name, uint64_t size) {
  const auto is_taken = [&] {
    const auto known = sizes_.find(name);
    return (known != sizes_.end() && known->second != size) || find(all_, name) != all_.size();
  };
  while (is_taken()) name += "_";
  sizes_.emplace(name, size);
  return name;
}

// The name of a dimension of so many particles. Variables with the same number share it.
std::string NetcdfCounted::dimension_of_particles(uint64_t size) {
  for (int nth = 1;; ++nth) {
    const std::string name = nth == 1 ? "particles" : fmt::format("particles_{}", nth);
    const auto known = sizes_.find(name);
    if (known == sizes_.end() || known->second == size) return free_dimension(name, size);
  }
}

void NetcdfCounted::add_counts(const CkptVariable& variable,
                               const std::vector<uint64_t>& of_ranks) {
  CkptVariable counts;
  counts.name = variable.name + "_count";
  while (find(all_, counts.name) != all_.size()) counts.name += "_";
  counts.type = CAIRN_TYPE_INT64;
  counts.element_size = sizeof(int64_t);
  std::vector<int64_t> values;
  for (const uint64_t one : of_ranks) values.push_back(static_cast<int64_t>(one));
  counts.shape = {values.size()};
  put(&counts, "dimensions", free_dimension("ranks", values.size()));
  values_[all_.size()] = std::move(values);
  all_.push_back(std::move(counts));
}

void NetcdfCounted::add_attributes(const NetcdfDimensions& dimensions,
                                   std::vector<CkptVariable>* variables) const {
  for (size_t i = 0; i < variables->size(); ++i) {
    CkptVariable& one = (*variables)[i];
    if (!one.is_counted()) continue;
    put(&one, cairn_kind, facts_of(one.kind).word);
    put(&one, cairn_over, one.over);
    put(&one, cairn_key, one.key);
    if (one.over.empty()) continue;
    const size_t over = find(*variables, one.over);
    if (over == variables->size()) continue;
    if (one.counting() == Counting::by_lists)
      put(&(*variables)[over], sample_dimension, names_of(dimensions, i));
    else if (one.key.empty())
      put(&one, instance_dimension, names_of(dimensions, over));
  }
  for (const auto& [counts, counted] : counted_by_)
    put(&(*variables)[counts], sample_dimension, names_of(dimensions, counted));
}

const std::vector<int64_t>* NetcdfCounted::values(size_t variable) const {
  const auto found = values_.find(variable);
  return found == values_.end() ? nullptr : &found->second;
}

void read_counted(const std::vector<CkptAttribute>& attributes, CkptVariable* variable) {
  for (const CkptAttribute& one : attributes) {
    if (one.type != CAIRN_TYPE_CHARACTER) continue;
    if (one.key == cairn_over) variable->over = one.values;
    if (one.key == cairn_key) variable->key = one.values;
    // One process writes the import, so arrays of single ranks become plain.
    for (const KindFacts& facts : all_kinds) {
      const bool is_kept =
          facts.counting == Counting::by_lists || facts.counting == Counting::by_keys;
      if (is_kept && one.key == cairn_kind && one.values == facts.word) variable->kind = facts.kind;
    }
  }
  // Another program may have changed the variable and left the note.
  if (variable->shape.size() != 1) variable->kind = CAIRN_BLOCK;
}

}  // namespace cairn::cli
