// cairn ckpt export: writes a version as one file that is HDF5 and netCDF-4.
#include <cairn/checkpoint.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>

#include "ckpt/ckpt.h"
#include "machine/temp_file.h"
#include "netcdf/netcdf_counted.h"
#include "netcdf/netcdf_file.h"
#include "netcdf/netcdf_form.h"
#include "sets/ckpt_reader.h"
#include "sets/ckpt_set.h"
#include "text/error.h"
#include "text/progress.h"
#include "text/units.h"

namespace cairn::cli {
namespace {

CkptAttribute text_attribute(const std::string& key, const std::string& text) {
  return {key, CAIRN_TYPE_CHARACTER, static_cast<uint32_t>(text.size()), text};
}

CkptAttribute number_attribute(const std::string& key, int64_t value) {
  return {key, CAIRN_TYPE_INT64, 1, {reinterpret_cast<const char*>(&value), sizeof value}};
}

std::vector<CkptAttribute> attributes_of(const CkptSet& set, const CkptVersion& version) {
  std::vector<CkptAttribute> all = version.attributes;
  std::erase_if(all, [](const CkptAttribute& one) { return one.key.starts_with("cairn_"); });
  all.push_back(text_attribute("cairn_set", set.name()));
  all.push_back(number_attribute("cairn_version", version.info.number));
  all.push_back(number_attribute("cairn_step", version.info.step));
  all.push_back(number_attribute("cairn_begun_ns", static_cast<int64_t>(version.info.begun_ns)));
  all.push_back(text_attribute("cairn_run", version.info.run));
  if (version.info.code_version[0] != 0)
    all.push_back(text_attribute("cairn_code_version", version.info.code_version));
  return all;
}

std::vector<CkptVariable> counted_variables(const CkptSet& set, int64_t number) {
  std::vector<CkptVariable> variables = set.variables(number);
  set.count(number, &variables);
  return variables;
}

class Export {
 public:
  Export(const CkptSet& set, int64_t number, const std::string& path, bool may_replace)
      : set_(set),
        version_(set.version(number)),
        variables_(counted_variables(set, number)),
        counted_(set, number, &variables_),
        reader_(set, number),
        path_(path),
        may_replace_(may_replace),
        progress_(path, 1) {
    for (const CkptVariable& one : variables_) {
      const bool is_beside = netcdf_form(one.type, one.element_size).is_beside;
      has_beside_ = has_beside_ || is_beside;
      bytes_ += one.elements() * one.element_size;
    }
  }

  // False: a signal came.
  bool run() {
    if (variables_.empty()) fail("{}: version {} has no variables", set_.name(), number());
    const NetcdfDimensions dimensions = name_dimensions(variables_);
    counted_.add_attributes(dimensions, &variables_);
    std::optional<TempFile> beside;
    if (has_beside_) {
      beside.emplace(beside_path(), may_replace_);
      if (!fill(*beside, dimensions, true)) return false;
    }
    TempFile file(path_, may_replace_);
    if (!fill(file, dimensions, false)) return false;
    progress_.hide();
    if (beside) beside->publish();
    file.publish();
    return true;
  }

  [[nodiscard]] int64_t number() const { return version_.info.number; }
  [[nodiscard]] uint64_t bytes() const { return bytes_; }
  [[nodiscard]] size_t variables() const { return variables_.size(); }
  // The file with the variables that netCDF refuses; "" if there is none.
  [[nodiscard]] std::string beside_path() const { return has_beside_ ? path_ + beside_suffix : ""; }

 private:
  bool fill(TempFile& file, const NetcdfDimensions& dimensions, bool is_beside) {
    std::vector<NetcdfPlace> places;
    {
      NetcdfFile skeleton(file.temp_path());
      skeleton.add_attributes(attributes_of(set_, version_));
      places = skeleton.add_variables(variables_, dimensions, is_beside);
      skeleton.close();
    }
    file.reopen();
    for (const NetcdfPlace& place : places)
      if (!each_slab(place, [&](const uint8_t* bytes, uint64_t size, uint64_t offset) {
            file.write(bytes, size, offset);
          }))
        return false;
    file.sync();
    // Reads the file back and compares it with the version.
    for (const NetcdfPlace& place : places)
      if (!each_slab(place, [&](const uint8_t* bytes, uint64_t size, uint64_t offset) {
            seen_.resize(std::max<size_t>(seen_.size(), size));
            file.read(seen_.data(), size, offset);
            if (std::memcmp(seen_.data(), bytes, size) != 0)
              fail("{}: variable '{}': the bytes read back differ from those written", path_,
                   variables_[place.variable].name);
          }))
        return false;
    return true;
  }

  // Visits the bytes of a variable, piece by piece, in their order in the file.
  template <typename Visit>
  bool each_slab(const NetcdfPlace& place, Visit visit) {
    if (place.offset == h5_no_address) return true;
    const CkptVariable& variable = variables_[place.variable];
    const NetcdfForm form = netcdf_form(variable.type, variable.element_size);
    const uint64_t unit = form.element_size * std::max<uint64_t>(form.extra, 1);
    if (const std::vector<int64_t>* const values = counted_.values(place.variable)) {
      visit(reinterpret_cast<const uint8_t*>(values->data()), values->size() * unit, place.offset);
      return true;
    }
    reader_.for_each_slab(variable, [&](const Slab& slab, const uint8_t* elements) {
      const uint64_t size = slab.elements * unit;
      if (!is_as_stored(variable.type)) {
        converted_.resize(std::max<size_t>(converted_.size(), size));
        to_netcdf(variable.type, elements, slab.elements, converted_.data());
        elements = converted_.data();
      }
      visit(elements, size, place.offset + slab.first * unit);
      done_ += slab.elements * variable.element_size;
      progress_.show(done_ / 2, bytes_);  // each byte is written, and read back
      return stop_signal() == 0;
    });
    return stop_signal() == 0;
  }

  const CkptSet& set_;
  const CkptVersion& version_;
  std::vector<CkptVariable> variables_;  // with those that only the file has
  NetcdfCounted counted_;
  CkptReader reader_;
  std::string path_;
  bool may_replace_;
  Progress progress_;
  bool has_beside_ = false;
  uint64_t bytes_ = 0;
  uint64_t done_ = 0;
  std::vector<uint8_t> converted_, seen_;
};

}  // namespace

int ckpt_export(const Config& config, bool json, const CkptArguments& arguments) {
  const CkptName name = parse_ckpt_name(arguments.set);
  // If there is one argument after SET, it is the file.
  const bool has_version = !arguments.file.empty();
  if (!has_version && arguments.number.empty()) usage_error("missing FILE: the file to create");
  const int64_t number = parse_version(has_version ? arguments.number : "");
  const std::string& path = has_version ? arguments.file : arguments.number;
  if (!has_version && path.find_first_not_of("0123456789") == std::string::npos)
    usage_error("missing FILE after VERSION {0}; for a file of this name write ./{0}", path);
  if (path.empty() || path.ends_with("/")) usage_error("'{}': expected the name of a file", path);
  const Pool pool = open_pool(config, name.pool);
  const CkptSet set(pool, name.set);
  const StopOnSignal stop;
  Export work(set, number, path, arguments.force);
  if (!work.run()) return exit_signal + stop_signal();
  if (json) {
    print_json(
        {{"set", name.set},
         {"version", work.number()},
         {"file", json_text(path)},
         {"beside", work.beside_path().empty() ? Json() : Json(json_text(work.beside_path()))},
         {"variables", work.variables()},
         {"bytes", work.bytes()}});
    return exit_ok;
  }
  print(fmt::format("{}: version {} of {}, {} variables, {}\n", printable(path), work.number(),
                    name.set, work.variables(), format_size(work.bytes())));
  if (const std::string beside = work.beside_path(); !beside.empty())
    print(fmt::format("{}: variables of types that netCDF does not have\n", printable(beside)));
  return exit_ok;
}

}  // namespace cairn::cli
