// cairn ckpt diff: compares two versions, variable by variable.
#include <cairn/checkpoint.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>

#include "ckpt/ckpt.h"
#include "sets/ckpt_reader.h"
#include "sets/ckpt_set.h"
#include "text/error.h"
#include "text/progress.h"

namespace cairn::cli {
namespace {

// An argument SET@VERSION.
struct CkptPlace {
  CkptName name;
  int64_t number = CAIRN_CHECKPOINT_LATEST;
};

CkptPlace parse_place(const std::string& text) {
  const size_t at = text.rfind('@');
  CkptPlace place;
  place.name = parse_ckpt_name(text.substr(0, at));
  if (at != std::string::npos) place.number = parse_version(text.substr(at + 1));
  return place;
}

struct DiffSide {
  DiffSide(Pool from, const CkptPlace& place)
      : pool(std::move(from)),
        set(pool, place.name.set),
        number(place.number),
        version(set.version(number)),
        reader(set, number) {
    std::vector<CkptVariable> all = set.variables(number);
    set.count(number, &all);
    for (CkptVariable& one : all) variables.emplace(one.name, std::move(one));
  }
  Pool pool;
  CkptSet set;
  int64_t number;
  const CkptVersion& version;
  CkptReader reader;
  std::map<std::string, CkptVariable> variables;
};

struct Difference {
  std::string name;
  std::string what;            // "" if values differ
  uint64_t elements = 0;       // that differ
  uint64_t of = 0;             // elements in all
  uint64_t first = 0;          // index of the first, in the order of the array
  std::optional<double> most;  // the greatest difference of numbers
};

std::vector<uint64_t> index_of(uint64_t element, const std::vector<uint64_t>& shape) {
  std::vector<uint64_t> index(shape.size());
  for (size_t k = shape.size(); k > 0; --k) {
    index[k - 1] = element % shape[k - 1];
    element /= shape[k - 1];
  }
  return index;
}

template <typename T>
double value_of(const uint8_t* element) {
  T value{};
  std::memcpy(&value, element, sizeof value);
  return static_cast<double>(value);
}

// The value as a number; nothing: the type is not that of a real number.
std::optional<double> number_of(uint32_t type, const uint8_t* element) {
  switch (type) {
    case CAIRN_TYPE_INT8:
      return value_of<int8_t>(element);
    case CAIRN_TYPE_INT16:
      return value_of<int16_t>(element);
    case CAIRN_TYPE_INT32:
      return value_of<int32_t>(element);
    case CAIRN_TYPE_INT64:
      return value_of<int64_t>(element);
    case CAIRN_TYPE_UINT8:
      return value_of<uint8_t>(element);
    case CAIRN_TYPE_UINT16:
      return value_of<uint16_t>(element);
    case CAIRN_TYPE_UINT32:
      return value_of<uint32_t>(element);
    case CAIRN_TYPE_UINT64:
      return value_of<uint64_t>(element);
    case CAIRN_TYPE_FLOAT16:
    case CAIRN_TYPE_BFLOAT16: {
      uint16_t bits = 0;
      std::memcpy(&bits, element, sizeof bits);
      return half_value(type, bits);
    }
    case CAIRN_TYPE_FLOAT32:
      return value_of<float>(element);
    case CAIRN_TYPE_FLOAT64:
      return value_of<double>(element);
    case CAIRN_TYPE_FLOAT80:
      return value_of<long double>(element);
    default:
      return std::nullopt;
  }
}

void compare_elements(const CkptVariable& variable, const Slab& slab, const uint8_t* a,
                      const uint8_t* b, Difference* difference) {
  const uint64_t size = variable.element_size;
  if (std::memcmp(a, b, slab.elements * size) == 0) return;
  for (uint64_t i = 0; i < slab.elements; ++i, a += size, b += size) {
    if (std::memcmp(a, b, size) == 0) continue;
    if (difference->elements++ == 0) difference->first = slab.first + i;
    const auto x = number_of(variable.type, a);
    const auto y = number_of(variable.type, b);
    if (!x || !y) continue;
    const double apart = std::abs(*x - *y);
    // If one value is not a number, the difference is NaN, and NaN is reported.
    if (!difference->most || std::isnan(apart) || apart > *difference->most)
      difference->most = apart;
    if (std::isnan(*difference->most)) difference->most = apart;
  }
}

class Diff {
 public:
  Diff(DiffSide* a, DiffSide* b) : a_(*a), b_(*b), progress_(a->set.name(), 1) {
    for (const auto& [name, one] : a_.variables) total_ += one.elements() * one.element_size;
  }

  // False: a signal came.
  bool run() {
    for (const auto& [name, one] : a_.variables) {
      const auto other = b_.variables.find(name);
      if (other == b_.variables.end()) {
        note(name, "is in the first one only");
      } else if (one.type != other->second.type || one.element_size != other->second.element_size ||
                 one.shape != other->second.shape) {
        note(name, fmt::format("is {} {}, in the second one {} {}",
                               element_text(one.type, one.element_size), shape_text(one.shape),
                               element_text(other->second.type, other->second.element_size),
                               shape_text(other->second.shape)));
      } else {
        compare(one);
      }
      if (stop_signal() != 0) return false;
    }
    for (const auto& [name, one] : b_.variables)
      if (!a_.variables.contains(name)) note(name, "is in the second one only");
    progress_.hide();
    return true;
  }
  [[nodiscard]] const std::vector<Difference>& found() const { return found_; }

 private:
  void note(const std::string& name, const std::string& what) {
    Difference difference;
    difference.name = name;
    difference.what = what;
    found_.push_back(std::move(difference));
  }

  void compare(const CkptVariable& variable) {
    Difference difference;
    difference.name = variable.name;
    difference.of = variable.elements();
    a_.reader.for_each_slab(variable, [&](const Slab& slab, const uint8_t* elements) {
      other_.resize(std::max<size_t>(other_.size(), slab.elements * variable.element_size));
      b_.reader.read(variable, slab, other_.data());
      compare_elements(variable, slab, elements, other_.data(), &difference);
      done_ += slab.elements * variable.element_size;
      progress_.show(done_, total_);
      return stop_signal() == 0;
    });
    if (difference.elements != 0) found_.push_back(std::move(difference));
  }

  DiffSide& a_;
  DiffSide& b_;
  Progress progress_;
  uint64_t total_ = 0;
  uint64_t done_ = 0;
  std::vector<uint8_t> other_;
  std::vector<Difference> found_;
};

Json difference_json(const Difference& one, const DiffSide& a) {
  if (!one.what.empty()) return {{"name", json_text(one.name)}, {"problem", json_text(one.what)}};
  Json index = Json::array();
  for (const uint64_t k : index_of(one.first, a.variables.at(one.name).shape)) index.push_back(k);
  return {{"name", json_text(one.name)},
          {"elements", one.elements},
          {"of", one.of},
          {"first", std::move(index)},
          {"most", one.most && std::isfinite(*one.most) ? Json(*one.most) : Json()}};
}

std::string difference_text(const Difference& one, const DiffSide& a) {
  if (!one.what.empty()) return fmt::format("{}: {}\n", printable(one.name), one.what);
  const auto index = index_of(one.first, a.variables.at(one.name).shape);
  return fmt::format("{}: {} of {} elements differ{}, the first at [{}]\n", printable(one.name),
                     one.elements, one.of,
                     one.most ? fmt::format(" by at most {:g}", *one.most) : "",
                     numbers_text(index, ", "));
}

}  // namespace

int ckpt_diff(const Config& config, bool json, const CkptArguments& arguments) {
  const CkptPlace first = parse_place(arguments.set);
  const CkptPlace second = parse_place(arguments.words.at(0));
  const StopOnSignal stop;
  DiffSide a(open_pool(config, first.name.pool), first);
  DiffSide b(open_pool(config, second.name.pool), second);
  Diff diff(&a, &b);
  if (!diff.run()) return exit_signal + stop_signal();
  if (json) {
    Json all = Json::array();
    for (const Difference& one : diff.found()) all.push_back(difference_json(one, a));
    print_json({{"same", diff.found().empty()}, {"variables", std::move(all)}});
  } else {
    for (const Difference& one : diff.found()) print_lines(difference_text(one, a));
  }
  return diff.found().empty() ? exit_ok : exit_failed;
}

}  // namespace cairn::cli
