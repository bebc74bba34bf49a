#include "netcdf/netcdf_dimensions.h"

#include <cairn/checkpoint.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "netcdf/netcdf_form.h"
#include "text/error.h"
#include "text/output.h"

namespace cairn::cli {
namespace {

class Namer {
 public:
  explicit Namer(const std::vector<CkptVariable>& variables) : variables_(variables) {}

  NetcdfDimensions name() {
    // Names that programs chose come first, so that made names differ from them.
    std::vector<std::vector<std::string>> given(variables_.size());
    for (const bool is_coordinate : {true, false}) {
      for (size_t i = 0; i < variables_.size(); ++i) {
        const CkptVariable& one = variables_[i];
        std::vector<std::string> names = given_names(one);
        if ((names == std::vector<std::string>{one.name}) != is_coordinate) continue;
        if (!fit(one, names)) continue;
        for (size_t k = 0; k < names.size(); ++k) add(one, names[k], one.shape[k]);
        given[i] = std::move(names);
      }
    }
    for (size_t i = 0; i < variables_.size(); ++i) {
      const CkptVariable& one = variables_[i];
      std::vector<size_t> indexes;
      for (size_t k = 0; k < one.shape.size(); ++k)
        indexes.push_back(given[i].empty() ? made(indexes, one.shape[k]) : find(given[i][k]));
      if (const uint64_t extra = netcdf_form(one.type, one.element_size).extra; extra != 0)
        indexes.push_back(made_as("bytes_" + std::to_string(extra), extra));
      named_.of_variable.push_back(std::move(indexes));
    }
    for (size_t i = 0; i < variables_.size(); ++i) note_coordinate(i);
    return std::move(named_);
  }

 private:
  static std::vector<std::string> given_names(const CkptVariable& variable) {
    const CkptAttribute* const attribute = variable.attribute("dimensions");
    std::vector<std::string> names;
    if (attribute == nullptr || attribute->type != CAIRN_TYPE_CHARACTER) return names;
    std::istringstream words(attribute->values);
    for (std::string word; words >> word;) names.push_back(word);
    return names;
  }

  // Can the variable's dimensions have these names? Says why not.
  [[nodiscard]] bool fit(const CkptVariable& variable,
                         const std::vector<std::string>& names) const {
    if (names.empty()) return true;
    std::string why;
    if (names.size() != variable.shape.size())
      why = fmt::format("names {} of {} dimensions", names.size(), variable.shape.size());
    for (size_t k = 0; why.empty() && k < names.size(); ++k) {
      const std::string& name = names[k];
      const auto known = index_.find(name);
      const auto same = std::find(names.begin(), names.end(), name) - names.begin();
      const uint64_t size = known == index_.end() ? variable.shape[static_cast<size_t>(same)]
                                                  : named_.dimensions[known->second].size;
      if (name.find('/') != std::string::npos || name.starts_with("."))
        why = fmt::format("has the invalid name '{}'", name);
      else if (size != variable.shape[k])
        why = fmt::format("'{}' has {} elements, elsewhere {}", name, variable.shape[k], size);
    }
    if (why.empty()) return true;
    warn(fmt::format("variable '{}': attribute dimensions is not used: {}", variable.name, why));
    return false;
  }

  void add(const CkptVariable& variable, const std::string& name, uint64_t size) {
    const auto [known, is_new] = index_.emplace(name, named_.dimensions.size());
    if (is_new) {
      named_.dimensions.push_back({name, size, std::nullopt});
    } else if (named_.dimensions[known->second].size != size) {
      fail("variable '{}': dimension '{}' has {} elements, elsewhere {}", variable.name, name, size,
           named_.dimensions[known->second].size);
    }
  }

  [[nodiscard]] size_t find(const std::string& name) const { return index_.at(name); }

  // A dimension of this size that has no other meaning, and that the variable does not have yet.
  size_t made(const std::vector<size_t>& taken, uint64_t size) {
    for (size_t nth = 1;; ++nth) {
      const size_t index =
          made_as(fmt::format("dim_{}{}", size, nth == 1 ? "" : fmt::format("_{}", nth)), size);
      if (std::find(taken.begin(), taken.end(), index) == taken.end()) return index;
    }
  }

  size_t made_as(std::string name, uint64_t size) {
    const auto is_taken = [&] {
      const auto known = index_.find(name);
      if (known != index_.end()) return named_.dimensions[known->second].size != size;
      return std::any_of(variables_.begin(), variables_.end(),
                         [&](const CkptVariable& one) { return one.name == name; });
    };
    while (is_taken()) name += "_";
    add(variables_.front(), name, size);
    return find(name);
  }

  void note_coordinate(size_t i) {
    const CkptVariable& one = variables_[i];
    const NetcdfForm form = netcdf_form(one.type, one.element_size);
    if (named_.of_variable[i].size() != 1 || form.is_beside || form.extra != 0) return;
    NetcdfDimension& dimension = named_.dimensions[named_.of_variable[i][0]];
    const bool is_number = form.type <= CAIRN_TYPE_FLOAT64;
    if (dimension.name == one.name && is_number) dimension.coordinate = i;
  }

  const std::vector<CkptVariable>& variables_;
  NetcdfDimensions named_;
  std::map<std::string, size_t> index_;
};

}  // namespace

NetcdfDimensions name_dimensions(const std::vector<CkptVariable>& variables) {
  return Namer(variables).name();
}

}  // namespace cairn::cli
