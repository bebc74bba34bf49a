#include "ckpt/export_content.h"

#include <algorithm>
#include <cstring>

#include "netcdf/netcdf_form.h"
#include "text/error.h"

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

}  // namespace

ExportContent::ExportContent(const CkptSet& set, const CkptVersion& version,
                             const RankCounts& counts)
    : set_(set),
      version_(version),
      variables_(set.variables(version.info.number)),
      counted_(counts, &variables_) {
  if (variables_.empty()) fail("{}: version {} has no variables", set.name(), version.info.number);
  for (const CkptVariable& one : variables_) {
    has_beside_ = has_beside_ || netcdf_form(one.type, one.element_size).is_beside;
    bytes_ += one.elements() * one.element_size;
  }
  dimensions_ = name_dimensions(variables_);
  counted_.add_attributes(dimensions_, &variables_);
}

uint64_t ExportContent::unit(size_t variable) const {
  const NetcdfForm form = netcdf_form(variables_[variable].type, variables_[variable].element_size);
  return form.element_size * std::max<uint64_t>(form.extra, 1);
}

const uint8_t* ExportContent::in_file(size_t variable, const uint8_t* elements, uint64_t count,
                                      std::vector<uint8_t>* buffer) const {
  const uint32_t type = variables_[variable].type;
  if (is_as_stored(type)) return elements;
  buffer->resize(std::max<size_t>(buffer->size(), count * unit(variable)));
  to_netcdf(type, elements, count, buffer->data());
  return buffer->data();
}

std::vector<NetcdfPlace> ExportContent::make_skeleton(const DataFile& file, bool is_beside) const {
  NetcdfFile skeleton(file);
  skeleton.add_attributes(attributes_of(set_, version_));
  std::vector<NetcdfPlace> places = skeleton.add_variables(variables_, dimensions_, is_beside);
  skeleton.close();
  std::erase_if(places, [](const NetcdfPlace& one) { return one.offset == h5_no_address; });
  return places;
}

bool write_and_compare(const DataFile& file, const std::string& path, const ExportContent& content,
                       const std::function<bool(const PutBytes& put)>& pass) {
  const bool is_written = pass([&](size_t, const uint8_t* bytes, uint64_t size, uint64_t offset) {
    file.write(bytes, size, offset);
  });
  if (!is_written) return false;
  file.sync();
  std::vector<uint8_t> seen;
  return pass([&](size_t variable, const uint8_t* bytes, uint64_t size, uint64_t offset) {
    seen.resize(std::max<size_t>(seen.size(), size));
    file.read(seen.data(), size, offset);
    if (std::memcmp(seen.data(), bytes, size) != 0)
      fail("{}: variable '{}': the bytes read back differ from those written", path,
           content.variables()[variable].name);
  });
}

}  // namespace cairn::cli
