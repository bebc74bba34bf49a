// cairn ckpt import: reads an HDF5 or netCDF-4 file into a version of a new set.
#include <cairn/checkpoint.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "ckpt/ckpt.h"
#include "machine/data_file.h"
#include "netcdf/netcdf_form.h"
#include "netcdf/netcdf_reader.h"
#include "sets/ckpt_set.h"
#include "text/error.h"
#include "text/output.h"
#include "text/units.h"

namespace cairn::cli {
namespace {

// The attributes in the form of the C API. The result points into `attributes`.
std::vector<cairn_attribute> api_form(const std::vector<CkptAttribute>& attributes) {
  std::vector<cairn_attribute> all;
  for (const CkptAttribute& one : attributes)
    all.push_back({one.key.c_str(), one.type, one.count, one.values.data()});
  return all;
}

const CkptAttribute* find(const std::vector<CkptAttribute>& attributes, const std::string& key) {
  const auto found = std::find_if(attributes.begin(), attributes.end(),
                                  [&](const CkptAttribute& one) { return one.key == key; });
  return found == attributes.end() ? nullptr : &*found;
}

int64_t number_of(const std::vector<CkptAttribute>& attributes, const std::string& key,
                  int64_t standard) {
  const CkptAttribute* const one = find(attributes, key);
  if (one == nullptr || one->type != CAIRN_TYPE_INT64) return standard;
  std::memcpy(&standard, one->values.data(), sizeof standard);
  return standard;
}

// Are these files of one export?
bool are_of_one_version(const NetcdfReader& a, const NetcdfReader& b) {
  const auto is_same = [&](const char* key) {
    const CkptAttribute* const one = find(a.attributes(), key);
    const CkptAttribute* const other = find(b.attributes(), key);
    return one != nullptr && other != nullptr && one->values == other->values;
  };
  return is_same("cairn_set") && is_same("cairn_version") && is_same("cairn_begun_ns") &&
         is_same("cairn_run");
}

// Opens the file that an export puts beside its own, with the variables that netCDF refuses. Null:
// there is no such file.
std::unique_ptr<NetcdfReader> find_beside(const std::string& path, const NetcdfReader& file) {
  const std::string beside = path + beside_suffix;
  auto opened = open_to_read(beside);
  if (!opened) return nullptr;
  auto reader = std::make_unique<NetcdfReader>(std::move(*opened));
  if (are_of_one_version(file, *reader)) return reader;
  warn(fmt::format("{}: is not imported: it is not of the version that {} holds", beside, path));
  return nullptr;
}

// A run that writes one version.
class Import {
 public:
  // `beside`: a file that belongs to this one, or null.
  Import(const Pool& pool, const std::string& set, const NetcdfReader& file,
         const NetcdfReader* beside)
      : file_(file), beside_(beside), set_(set), pool_(pool) {
    const CkptAttribute* const code = find(file.attributes(), "cairn_code_version");
    if (code != nullptr && code->type == CAIRN_TYPE_CHARACTER)
      code_version_ = code->values.substr(0, 63);
    cairn_checkpoint_options options{};
    options.struct_size = sizeof options;
    options.pool = pool.get();
    options.code_version = code_version_.c_str();
    check(cairn_checkpoint_init(set.c_str(), CAIRN_NO_COMMUNICATOR, &options, &checkpoint_), set);
  }
  // Removes the set again if it got no version.
  ~Import() {
    cairn_checkpoint_finalize(checkpoint_);
    if (is_written_) return;
    cairn_checkpoint_options options{};
    options.struct_size = sizeof options;
    options.pool = pool_.get();
    options.flags = CAIRN_CHECKPOINT_LOOK;
    cairn_checkpoint* look = nullptr;
    if (cairn_checkpoint_init(set_.c_str(), CAIRN_NO_COMMUNICATOR, &options, &look) != 0) return;
    cairn_checkpoint_drop(look, 0, CAIRN_DROP_SET);  // fails if the set has versions
    cairn_checkpoint_finalize(look);
  }
  Import(const Import&) = delete;
  Import& operator=(const Import&) = delete;

  // Writes the version. The bytes that were read.
  uint64_t run(int64_t number) {
    const auto none = [](void*, const cairn_checkpoint_info*) { return 1; };
    if (check(cairn_checkpoint_list(checkpoint_, none, nullptr), set_) != 0)
      fail("{}: has versions already; import into a new set", set_);
    uint64_t bytes = 0;
    for (const NetcdfReader* const file : {&file_, beside_}) {
      for (size_t i = 0; file != nullptr && i < file->variables().size(); ++i) {
        arrays_.push_back(file->read(i));
        bytes += arrays_.back().size();
        define(file->variables()[i], arrays_.back().data());
      }
    }
    std::vector<CkptAttribute> notes;
    for (const CkptAttribute& one : file_.attributes())
      if (!one.key.starts_with("cairn_") && !one.key.starts_with("_")) notes.push_back(one);
    const std::vector<cairn_attribute> given = api_form(notes);
    check(cairn_checkpoint_set_attributes(checkpoint_, given.data(),
                                          static_cast<uint32_t>(given.size())),
          set_);
    check(cairn_checkpoint_need(checkpoint_, number_of(file_.attributes(), "cairn_step", number)),
          set_);
    check(cairn_checkpoint_write(checkpoint_, number), set_);
    is_written_ = true;
    return bytes;
  }

 private:
  void define(const CkptVariable& variable, uint8_t* elements) {
    cairn_array array{};
    array.struct_size = sizeof array;
    array.type = variable.type;
    array.element_size = variable.element_size;
    array.dimensions = static_cast<uint32_t>(variable.shape.size());
    array.base = elements;
    cairn_distribution all{};
    all.struct_size = sizeof all;
    all.kind = variable.kind;
    if (variable.shape.empty()) all.kind = CAIRN_REPLICATED;
    if (variable.is_counted()) {
      all.over = variable.over.empty() ? nullptr : variable.over.c_str();
      all.key = variable.key.empty() ? nullptr : variable.key.c_str();
    }
    if (variable.shape.size() > CAIRN_MAX_DIMENSIONS)
      fail("variable '{}': {} dimensions; at most {}", variable.name, variable.shape.size(),
           CAIRN_MAX_DIMENSIONS);
    for (size_t k = 0; k < variable.shape.size(); ++k)
      array.extent[k] = static_cast<int64_t>(variable.shape[k]);
    if (!variable.is_counted()) std::copy_n(array.extent, CAIRN_MAX_DIMENSIONS, all.global);
    const std::vector<cairn_attribute> attributes = api_form(variable.attributes);
    cairn_definition more{};
    more.struct_size = sizeof more;
    more.attributes = attributes.data();
    more.attribute_count = static_cast<uint32_t>(attributes.size());
    check(cairn_checkpoint_define(checkpoint_, variable.name.c_str(), &array, &all, &more));
  }

  const NetcdfReader& file_;
  const NetcdfReader* beside_;
  std::string set_, code_version_;
  const Pool& pool_;
  bool is_written_ = false;
  cairn_checkpoint* checkpoint_ = nullptr;
  std::vector<std::vector<uint8_t>> arrays_;
};

}  // namespace

int ckpt_import(const Config& config, bool json, const CkptArguments& arguments) {
  const CkptName name = parse_ckpt_name(arguments.set);
  auto opened = open_to_read(arguments.file);
  if (!opened) throw Error(exit_failed, system_error(arguments.file, ENOENT));
  const NetcdfReader file(std::move(*opened));
  if (file.variables().empty()) fail("{}: has no variables that can be imported", arguments.file);
  int64_t number = number_of(file.attributes(), "cairn_version", 0);
  if (!arguments.number.empty()) number = parse_version(arguments.number);
  if (number == CAIRN_CHECKPOINT_LATEST) usage_error("--number: expected a number");
  const Pool pool = open_pool(config, name.pool);
  const auto beside = find_beside(arguments.file, file);
  const uint64_t bytes = Import(pool, name.set, file, beside.get()).run(number);
  const size_t variables = file.variables().size() + (beside ? beside->variables().size() : 0);
  if (json)
    print_json(
        {{"set", name.set}, {"version", number}, {"variables", variables}, {"bytes", bytes}});
  else
    print("{}: version {}, {} variables, {}\n", name.set, number, variables, format_size(bytes));
  return exit_ok;
}

}  // namespace cairn::cli
