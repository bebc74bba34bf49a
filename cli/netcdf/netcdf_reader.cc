#include "netcdf/netcdf_reader.h"

#include <cairn/checkpoint.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <new>
#include <string_view>

#include "frame/bounded_file.h"
#include "netcdf/dimension_list.h"
#include "netcdf/netcdf_counted.h"
#include "netcdf/netcdf_form.h"
#include "text/error.h"

namespace cairn::cli {
namespace {

constexpr std::array<std::string_view, 10> of_the_format = {"CLASS",
                                                            "NAME",
                                                            "DIMENSION_LIST",
                                                            "REFERENCE_LIST",
                                                            "DIMENSION_LABELS",
                                                            "_Netcdf4Dimid",
                                                            "_Netcdf4Coordinates",
                                                            "_NCProperties",
                                                            "cairn_type",
                                                            "dtype"};

// Attributes that `cairn ckpt export` writes for counted variables, and writes anew.
bool is_of_export(std::string_view key) {
  return key == cairn_kind || key == cairn_over || key == cairn_key || key == sample_dimension ||
         key == instance_dimension;
}

constexpr uint32_t to_complex = CAIRN_TYPE_COMPLEX64 - CAIRN_TYPE_FLOAT32;

struct Element {
  uint32_t type = 0;  // 0: checkpoints have no such type
  uint64_t size = 0;
};

Element integer_of(const Hdf5& h5, Hid type) {
  const size_t size = h5.Tget_size(type);
  const bool is_signed = h5.Tget_sign(type) != 0;
  for (const uint32_t power : {0U, 1U, 2U, 3U})
    if (size == size_t{1} << power)
      return {(is_signed ? CAIRN_TYPE_INT8 : CAIRN_TYPE_UINT8) + power, size};
  return {};
}

bool is_small_float(uint32_t type) {
  return type == CAIRN_TYPE_FLOAT16 || type == CAIRN_TYPE_BFLOAT16;
}

// Recognises a float of two bytes, in either byte order.
Element small_float_of(const Hdf5& h5, Hid type) {
  size_t sign = 0, exponent = 0, exponent_bits = 0, mantissa = 0, mantissa_bits = 0;
  if (h5.Tget_fields(type, &sign, &exponent, &exponent_bits, &mantissa, &mantissa_bits) < 0)
    return {};
  const size_t bias = h5.Tget_ebias(type);
  if (exponent_bits == 5 && mantissa_bits == 10 && bias == 15) return {CAIRN_TYPE_FLOAT16, 2};
  if (exponent_bits == 8 && mantissa_bits == 7 && bias == 127) return {CAIRN_TYPE_BFLOAT16, 2};
  return {};
}

// The floating-point type that has this form in a file.
Element float_of(const Hdf5& h5, Hid type) {
  for (const uint32_t one :
       {CAIRN_TYPE_FLOAT32, CAIRN_TYPE_FLOAT64, CAIRN_TYPE_FLOAT80, CAIRN_TYPE_FLOAT128}) {
    const H5Id form = hdf5_type(h5, one);
    if (h5.Tequal(type, form.get()) > 0) return {one, ckpt_type_size(one)};
  }
  // HDF5 converts numbers of the other byte order when it reads.
  const size_t size = h5.Tget_size(type);
  if (size == 2) return small_float_of(h5, type);
  if (size == 4) return {CAIRN_TYPE_FLOAT32, size};
  if (size == 8) return {CAIRN_TYPE_FLOAT64, size};
  return {};
}

Element complex_of(const Hdf5& h5, Hid type) {
  if (h5.Tget_nmembers(type) != 2) return {};
  const H5Id first(h5.Tget_member_type(type, 0), h5.Tclose);
  const H5Id second(h5.Tget_member_type(type, 1), h5.Tclose);
  if (h5.Tequal(first.get(), second.get()) <= 0 || h5.Tget_class(first.get()) != h5_class_float ||
      h5.Tget_size(type) != 2 * h5.Tget_size(first.get()))
    return {};
  const Element part = float_of(h5, first.get());
  if (part.type == 0 || is_small_float(part.type)) return {};
  return {part.type + to_complex, 2 * part.size};
}

// Recognises the form in which h5py stores numpy's logicals.
Element logical_of(const Hdf5& h5, Hid type) {
  if (h5.Tget_size(type) != 1 || h5.Tget_nmembers(type) != 2) return {};
  for (const unsigned i : {0U, 1U}) {
    char* const name = h5.Tget_member_name(type, i);
    const bool is_one = name != nullptr && std::string_view(name) == (i == 0 ? "FALSE" : "TRUE");
    h5.free_memory(name);
    if (!is_one) return {};
  }
  return {CAIRN_TYPE_LOGICAL8, 1};
}

Element element_of(const Hdf5& h5, Hid type) {
  switch (h5.Tget_class(type)) {
    case h5_class_integer:
      return integer_of(h5, type);
    case h5_class_float:
      return float_of(h5, type);
    case h5_class_compound:
      return complex_of(h5, type);
    case h5_class_enum:
      return logical_of(h5, type);
    case h5_class_string:
      if (h5.Tis_variable_str(type) > 0) return {};
      return {CAIRN_TYPE_CHARACTER, h5.Tget_size(type)};
    default:
      return {};
  }
}

// The type that a text names ("float16", "opaque(24)"); nothing if a file holds it in its own form.
Element changed_type(const std::string& text) {
  const std::string name = text.substr(0, text.find('('));
  for (uint32_t type = 1; type <= CAIRN_TYPE_OPAQUE; ++type) {
    if (ckpt_type_name(type) != name) continue;
    uint64_t size = ckpt_type_size(type);
    if (size == 0 && text.size() > name.size())
      std::from_chars(text.data() + name.size() + 1, text.data() + text.size(), size);
    return {type, size};
  }
  return {};
}

std::vector<uint64_t> shape_of(const Hdf5& h5, Hid space, const std::string& what) {
  const int dimensions = h5.check(h5.Sget_simple_extent_ndims(space), what);
  std::vector<uint64_t> shape(static_cast<size_t>(dimensions));
  if (dimensions > 0) h5.check(h5.Sget_simple_extent_dims(space, shape.data(), nullptr), what);
  return shape;
}

// HDF5's null dataspace: not one element, though it has no dimension of extent 0.
bool is_null(const Hdf5& h5, Hid space) {
  return h5.Sget_simple_extent_ndims(space) == 0 && h5.Sget_simple_extent_npoints(space) == 0;
}

// The product of two numbers; UINT64_MAX if it overflows.
uint64_t multiply(uint64_t a, uint64_t b) {
  uint64_t all = 0;
  return __builtin_mul_overflow(a, b, &all) ? UINT64_MAX : all;
}

// The product of all extents; UINT64_MAX if it overflows.
uint64_t product(const std::vector<uint64_t>& shape) {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  uint64_t all = 1;
  for (const uint64_t extent : shape) all = multiply(all, extent);
  return all;
}

// The size of an element in the file or in a checkpoint, whichever is larger.
uint64_t most_bytes(const CkptVariable& variable) {
  const NetcdfForm form = netcdf_form(variable.type, variable.element_size);
  const uint64_t stored = multiply(form.element_size, std::max<uint64_t>(form.extra, 1));
  return std::max(stored, variable.element_size);
}

// HDF5 converts members by their names, and programs give the two parts different names. So this
// takes the names from the file's type.
H5Id memory_complex(const Hdf5& h5, uint32_t type, Hid own) {
  const H5Id part = hdf5_type(h5, type - to_complex);
  const size_t size = h5.Tget_size(part.get());
  H5Id pair(h5.check(h5.Tcreate(h5_class_compound, 2 * size), "type"), h5.Tclose);
  for (const unsigned i : {0U, 1U}) {
    char* const name = h5.Tget_member_name(own, i);
    const Herr added = name == nullptr ? -1 : h5.Tinsert(pair.get(), name, i * size, part.get());
    h5.free_memory(name);
    h5.check(added, "type");
  }
  return pair;
}

// May a variable or an attribute of a checkpoint have this name?
bool is_name(const std::string& name) {
  constexpr size_t longest = 255;
  return !name.empty() && name.size() <= longest && name[0] != '.' &&
         std::none_of(name.begin(), name.end(), [](char c) {
           return static_cast<unsigned char>(c) < 0x20 || c == 0x7f || c == '/';
         });
}

// The type into which HDF5 converts the file's numbers. A fixed text and a logical keep their form.
H5Id memory_type(const Hdf5& h5, uint32_t type, Hid own) {
  if (type == CAIRN_TYPE_CHARACTER || h5.Tget_class(own) == h5_class_enum)
    return {h5.check(h5.Tcopy(own), "type"), h5.Tclose};
  const bool is_complex = h5.Tget_class(own) == h5_class_compound;
  return is_complex ? memory_complex(h5, type, own) : hdf5_type(h5, type);
}

// Allocates memory, or fails with a message: a small file can claim that a dataset is large.
std::vector<uint8_t> bytes_for(uint64_t bytes, const std::string& what) {
  try {
    return std::vector<uint8_t>(static_cast<size_t>(bytes));
  } catch (const std::bad_alloc&) {
    fail("{}: needs memory that the machine does not have: {} bytes", what, bytes);
  }
}

}  // namespace

NetcdfReader::NetcdfReader(DataFile file)
    : h5_(Hdf5::get()), opened_(std::move(file)), path_(opened_.path()) {
  file_ = {h5_.check(h5_.Fopen(opened_.by_descriptor().c_str(), h5_read_only, h5_default), path_),
           h5_.Fclose};
  const H5Id root(h5_.check(h5_.Oopen(file_.get(), "/", h5_default), path_), h5_.Oclose);
  attributes_ = attributes_of(root.get());
  is_exported_ = std::any_of(attributes_.begin(), attributes_.end(),
                             [](const CkptAttribute& one) { return one.key == "cairn_set"; });
  for (const std::string& name : link_names(".")) look_at(name);
}

// A name in a group that is another group, or a type.
void NetcdfReader::tell_of_group(const std::string& name) const {
  const std::vector<std::string> left = datasets_below(name);
  if (left.empty()) return;
  constexpr size_t most_shown = 8;
  std::string names;
  for (size_t i = 0; i < left.size() && i < most_shown; ++i)
    names += (i == 0 ? "" : ", ") + left[i];
  if (left.size() > most_shown) names += fmt::format(" and {} more", left.size() - most_shown);
  warn(fmt::format("{}: group '{}': datasets in groups are not imported; left out: {}", path_, name,
                   names));
}

// A file may hold a group in itself.
std::vector<std::string> NetcdfReader::datasets_below(const std::string& group) const {
  constexpr size_t most_groups = 1000;
  std::vector<std::string> groups = {group};
  std::vector<std::string> found;
  for (size_t i = 0; i < groups.size() && i < most_groups; ++i) {
    for (const std::string& name : link_names(groups[i])) {
      const std::string path = groups[i] + "/" + name;
      const H5Id dataset(h5_.Dopen2(file_.get(), path.c_str(), h5_default), h5_.Dclose);
      (dataset.get() < 0 ? groups : found).push_back(path);
    }
  }
  return found;
}

std::vector<std::string> NetcdfReader::link_names(const std::string& group) const {
  // A file that does not track the order of creation gives its names in alphabetical order.
  for (const int index : {h5_by_creation, h5_by_name}) {
    std::vector<std::string> names;
    for (uint64_t i = 0;; ++i) {
      char name[1024];
      const ptrdiff_t length = h5_.Lget_name_by_idx(
          file_.get(), group.c_str(), index, h5_increasing, i, name, sizeof name, h5_default);
      if (length < 0 || length >= static_cast<ptrdiff_t>(sizeof name)) break;
      names.emplace_back(name);
    }
    if (!names.empty()) return names;
  }
  return {};
}

void NetcdfReader::look_at(const std::string& name) {
  const H5Id dataset(h5_.Dopen2(file_.get(), name.c_str(), h5_default), h5_.Dclose);
  if (dataset.get() < 0) return tell_of_group(name);
  std::vector<CkptAttribute> attributes = attributes_of(dataset.get());
  CkptVariable variable;
  Element changed;
  bool is_logical = false;
  for (const CkptAttribute& one : attributes) {
    if (one.key == "NAME" && one.values.starts_with(no_variable)) return;
    if (one.key == "cairn_type") changed = changed_type(one.values);
    is_logical = is_logical || (one.key == "dtype" && one.values == "bool");
  }
  if (!is_name(name)) {
    warn(fmt::format("{}: dataset '{}': a checkpoint has no such name; left out", path_, name));
    return;
  }
  const H5Id type(h5_.check(h5_.Dget_type(dataset.get()), name), h5_.Tclose);
  const H5Id space(h5_.check(h5_.Dget_space(dataset.get()), name), h5_.Sclose);
  const Element stored = element_of(h5_, type.get());
  if (stored.type == 0) {
    warn(fmt::format("{}: dataset '{}': a checkpoint has no such type; left out", path_, name));
    return;
  }
  if (is_null(h5_, space.get())) {
    warn(fmt::format("{}: dataset '{}': has no value (a null dataspace); left out", path_, name));
    return;
  }
  variable.shape = shape_of(h5_, space.get(), name);
  variable.type = stored.type;
  variable.element_size = stored.size;
  // xarray stores a logical so.
  if (is_logical && stored.type == CAIRN_TYPE_INT8) variable.type = CAIRN_TYPE_LOGICAL8;
  if (changed.type != 0 && changed.size != 0) {
    const NetcdfForm form = netcdf_form(changed.type, changed.size);
    const bool has_extra =
        form.extra == 0 || (!variable.shape.empty() && variable.shape.back() == form.extra);
    // Another program may have changed the variable and left the note.
    if (form.type == stored.type && form.element_size == stored.size && has_extra) {
      variable.type = changed.type;
      variable.element_size = changed.size;
      if (form.extra != 0) variable.shape.pop_back();
    }
  }
  variable.name = name.starts_with(non_coordinate) ? name.substr(non_coordinate.size()) : name;
  variable.is_required = true;
  constexpr uint64_t most = uint64_t{1} << 48;  // the most that a node's part of a version holds
  if (multiply(product(variable.shape), most_bytes(variable)) > most)
    fail("{}: dataset '{}': more than 2^48 bytes: {}; leave it out of the file", path_, name,
         shape_text(variable.shape));
  const std::string dimensions = dimension_names(h5_, dataset.get(), variable.shape.size());
  read_counted(attributes, &variable);
  for (CkptAttribute& one : attributes)
    if (std::find(of_the_format.begin(), of_the_format.end(), one.key) == of_the_format.end() &&
        !(is_exported_ && is_of_export(one.key)))
      variable.attributes.push_back(std::move(one));
  if (!dimensions.empty())
    variable.attributes.push_back(
        {"dimensions", CAIRN_TYPE_CHARACTER, static_cast<uint32_t>(dimensions.size()), dimensions});
  variables_.push_back(std::move(variable));
  names_.push_back(name);
}

std::vector<CkptAttribute> NetcdfReader::attributes_of(Hid object) const {
  std::vector<std::string> names;
  const H5AttributeVisit visit = [](Hid, const char* name, const void*, void* context) {
    static_cast<std::vector<std::string>*>(context)->emplace_back(name);
    return 0;
  };
  h5_.check(h5_.Aiterate2(object, h5_by_name, h5_increasing, nullptr, visit, &names), path_);
  std::vector<CkptAttribute> all;
  for (const std::string& name : names) {
    if (!is_name(name)) {
      warn(fmt::format("{}: attribute '{}': a checkpoint has no such name; left out", path_, name));
      continue;
    }
    const H5Id attribute(h5_.check(h5_.Aopen(object, name.c_str(), h5_default), name), h5_.Aclose);
    const H5Id type(h5_.check(h5_.Aget_type(attribute.get()), name), h5_.Tclose);
    const H5Id space(h5_.check(h5_.Aget_space(attribute.get()), name), h5_.Sclose);
    const Element element = element_of(h5_, type.get());
    const uint64_t count = product(shape_of(h5_, space.get(), name));
    constexpr uint64_t most = 65536;
    const char* const reason = is_null(h5_, space.get()) || count == 0 ? "has no value"
                               : element.type == 0 ? "a checkpoint has no such type"
                               : multiply(count, element.size) > most ? "has more than 64 KiB"
                                                                      : nullptr;
    if (reason != nullptr) {
      if (std::find(of_the_format.begin(), of_the_format.end(), name) == of_the_format.end())
        warn(fmt::format("{}: attribute '{}': {}; left out", path_, name, reason));
      continue;
    }
    CkptAttribute one{name, element.type, static_cast<uint32_t>(count), ""};
    one.values.resize(static_cast<size_t>(count * element.size));
    const NetcdfForm form = netcdf_form(element.type, element.size);
    const bool is_small = is_small_float(element.type);
    std::vector<uint8_t> stored(is_small ? static_cast<size_t>(count) * form.element_size : 0);
    const H5Id wanted = memory_type(h5_, is_small ? form.type : element.type, type.get());
    h5_.check(h5_.Aread(attribute.get(), wanted.get(),
                        is_small ? static_cast<void*>(stored.data()) : one.values.data()),
              name);
    if (is_small)
      from_netcdf(element.type, stored.data(), count,
                  reinterpret_cast<uint8_t*>(one.values.data()));
    if (element.type == CAIRN_TYPE_CHARACTER) {
      one.values = one.values.substr(0, one.values.find('\0'));
      one.count = static_cast<uint32_t>(one.values.size());
    }
    all.push_back(std::move(one));
  }
  return all;
}

std::vector<uint8_t> NetcdfReader::read(size_t i) const {
  const CkptVariable& variable = variables_[i];
  const std::string what = fmt::format("{}: dataset '{}'", path_, names_[i]);
  const NetcdfForm form = netcdf_form(variable.type, variable.element_size);
  const uint64_t elements = variable.elements();
  // look_at() has checked that the product does not overflow.
  std::vector<uint8_t> stored =
      bytes_for(elements * form.element_size * std::max<uint64_t>(form.extra, 1), what);
  if (elements == 0) return stored;
  const H5Id dataset(h5_.check(h5_.Dopen2(file_.get(), names_[i].c_str(), h5_default), what),
                     h5_.Dclose);
  const H5Id own(h5_.check(h5_.Dget_type(dataset.get()), what), h5_.Tclose);
  const H5Id wanted = memory_type(h5_, form.type, own.get());
  h5_.check(
      h5_.Dread(dataset.get(), wanted.get(), h5_default, h5_default, h5_default, stored.data()),
      what);
  if (is_as_stored(variable.type)) return stored;
  std::vector<uint8_t> converted = bytes_for(elements * variable.element_size, what);
  from_netcdf(variable.type, stored.data(), elements, converted.data());
  return converted;
}

}  // namespace cairn::cli
