#include "netcdf/netcdf_file.h"

#include <cairn/checkpoint.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <string_view>

#include "netcdf/netcdf_form.h"
#include "text/error.h"

namespace cairn::cli {
namespace {

// Datasets of 64 KiB and more begin at a page boundary.
constexpr uint64_t aligned_from = 65536;
constexpr uint64_t alignment = 4096;
// An object's header has no room for more entries; readers do not need them.
constexpr size_t most_references = 4000;

// Attributes that HDF5 and netCDF set themselves, or that are written in another form.
constexpr std::array<std::string_view, 9> reserved = {"CLASS",
                                                      "NAME",
                                                      "DIMENSION_LIST",
                                                      "REFERENCE_LIST",
                                                      "DIMENSION_LABELS",
                                                      "_Netcdf4Dimid",
                                                      "_Netcdf4Coordinates",
                                                      "_NCProperties",
                                                      "dimensions"};

std::string cairn_type_text(const CkptVariable& variable) {
  return element_text(variable.type, variable.element_size);
}

}  // namespace

NetcdfFile::NetcdfFile(const DataFile& file) : h5_(Hdf5::get()), path_(file.path()) {
  const H5Id creation(h5_.check(h5_.Pcreate(h5_.P_CLS_FILE_CREATE_ID), path_), h5_.Pclose);
  const H5Id access(h5_.check(h5_.Pcreate(h5_.P_CLS_FILE_ACCESS_ID), path_), h5_.Pclose);
  constexpr unsigned order = h5_order_tracked | h5_order_indexed;
  h5_.check(h5_.Pset_link_creation_order(creation.get(), order), path_);
  h5_.check(h5_.Pset_attr_creation_order(creation.get(), order), path_);
  h5_.check(h5_.Pset_alignment(access.get(), aligned_from, alignment), path_);
  // HDF5 gets the descriptor's path: by its name it would overwrite whatever file others have put
  // there meanwhile.
  const std::string name = file.by_descriptor();
  file_ = {h5_.check(h5_.Fcreate(name.c_str(), h5_truncate, creation.get(), access.get()), path_),
           h5_.Fclose};
}

void NetcdfFile::add_attributes(const std::vector<CkptAttribute>& attributes) {
  for (const CkptAttribute& one : attributes)
    if (std::find(reserved.begin(), reserved.end(), one.key) == reserved.end())
      put_attribute(file_.get(), one.key, one);
}

std::vector<NetcdfPlace> NetcdfFile::add_variables(const std::vector<CkptVariable>& variables,
                                                   const NetcdfDimensions& dimensions,
                                                   bool is_beside) {
  std::vector<std::string> names;
  std::vector<NetcdfPlace> places;
  const auto add = [&](size_t i) {
    std::vector<uint64_t> shape;
    for (const size_t index : dimensions.of_variable[i])
      shape.push_back(dimensions.dimensions[index].size);
    places.push_back(add_variable(variables[i], i, names[i], shape));
  };
  for (const CkptVariable& one : variables) {
    const bool is_name_taken =
        std::any_of(dimensions.dimensions.begin(), dimensions.dimensions.end(),
                    [&](const NetcdfDimension& dimension) {
                      return dimension.name == one.name && !dimension.coordinate;
                    });
    names.push_back(is_name_taken && !is_beside ? std::string(non_coordinate) + one.name
                                                : one.name);
  }
  if (!is_beside) {
    for (const NetcdfDimension& dimension : dimensions.dimensions) {
      if (dimension.coordinate)
        add(*dimension.coordinate);
      else
        add_dimension(dimension);
    }
  }
  for (size_t i = 0; i < variables.size(); ++i) {
    if (netcdf_form(variables[i].type, variables[i].element_size).is_beside != is_beside) continue;
    const auto& own = dimensions.of_variable[i];
    const bool is_coordinate =
        own.size() == 1 && dimensions.dimensions[own[0]].coordinate == std::optional<size_t>(i);
    if (is_coordinate && !is_beside) continue;
    add(i);
    if (!is_beside && !own.empty()) attach(names[i], own, dimensions.dimensions);
  }
  if (!is_beside) write_references(dimensions.dimensions);
  return places;
}

H5Id NetcdfFile::create_dataset(const std::string& name, Hid type,
                                const std::vector<uint64_t>& shape, bool is_early) const {
  const H5Id creation(h5_.check(h5_.Pcreate(h5_.P_CLS_DATASET_CREATE_ID), name), h5_.Pclose);
  h5_.check(h5_.Pset_attr_creation_order(creation.get(), h5_order_tracked | h5_order_indexed),
            name);
  if (is_early) {
    h5_.check(h5_.Pset_alloc_time(creation.get(), h5_alloc_early), name);
    h5_.check(h5_.Pset_fill_time(creation.get(), h5_fill_never), name);
  }
  const H5Id space(h5_.check(shape.empty() ? h5_.Screate(h5_scalar)
                                           : h5_.Screate_simple(static_cast<int>(shape.size()),
                                                                shape.data(), nullptr),
                             name),
                   h5_.Sclose);
  return {h5_.check(h5_.Dcreate2(file_.get(), name.c_str(), type, space.get(), h5_default,
                                 creation.get(), h5_default),
                    name),
          h5_.Dclose};
}

void NetcdfFile::add_dimension(const NetcdfDimension& dimension) {
  const H5Id dataset = create_dataset(dimension.name, h5_.T_IEEE_F32BE, {dimension.size}, false);
  put_text(dataset.get(), "CLASS", "DIMENSION_SCALE");
  put_text(dataset.get(), "NAME", fmt::format("{}{:10}", no_variable, dimension.size));
}

NetcdfPlace NetcdfFile::add_variable(const CkptVariable& variable, size_t index,
                                     const std::string& name, const std::vector<uint64_t>& shape) {
  const NetcdfForm form = netcdf_form(variable.type, variable.element_size);
  H5Id plain;
  Hid type = committed_type(form.type);
  if (type < 0) {
    plain = hdf5_type(h5_, form.type);
    type = plain.get();
  }
  const H5Id dataset = create_dataset(name, type, shape, true);
  put_attributes(dataset.get(), variable);
  const uint64_t elements = variable.elements();
  NetcdfPlace place{index, h5_no_address};
  if (elements == 0) return place;
  place.offset = h5_.Dget_offset(dataset.get());
  if (place.offset == h5_no_address) fail("{}: variable '{}': has no place", path_, variable.name);
  return place;
}

// Attaches dimensions to a variable, and notes the variable in each dimension.
void NetcdfFile::attach(const std::string& name, const std::vector<size_t>& indexes,
                        const std::vector<NetcdfDimension>& dimensions) {
  std::vector<uint64_t> references;
  references.reserve(indexes.size());
  std::vector<H5Vector> vectors;
  const uint64_t self = reference_to(name);
  for (size_t k = 0; k < indexes.size(); ++k) {
    references.push_back(reference_to(dimensions[indexes[k]].name));
    vectors.push_back({1, &references.back()});
    references_[indexes[k]].push_back({self, static_cast<int32_t>(k), 0});
  }
  const H5Id type(h5_.check(h5_.Tvlen_create(h5_.T_STD_REF_OBJ), name), h5_.Tclose);
  const H5Id dataset(h5_.check(h5_.Dopen2(file_.get(), name.c_str(), h5_default), name),
                     h5_.Dclose);
  put(dataset.get(), "DIMENSION_LIST", type.get(), vectors.data(), {vectors.size()});
}

void NetcdfFile::write_references(const std::vector<NetcdfDimension>& dimensions) {
  for (size_t i = 0; i < dimensions.size(); ++i) {
    const std::string& name = dimensions[i].name;
    const H5Id dataset(h5_.check(h5_.Dopen2(file_.get(), name.c_str(), h5_default), name),
                       h5_.Dclose);
    if (dimensions[i].coordinate) {
      put_text(dataset.get(), "CLASS", "DIMENSION_SCALE");
      put_text(dataset.get(), "NAME", name);
    }
    const auto& list = references_[i];
    if (list.empty() || list.size() > most_references) continue;
    const H5Id type(h5_.check(h5_.Tcreate(h5_class_compound, sizeof(Reference)), name), h5_.Tclose);
    h5_.check(h5_.Tinsert(type.get(), "dataset", offsetof(Reference, dataset), h5_.T_STD_REF_OBJ),
              name);
    h5_.check(h5_.Tinsert(type.get(), "dimension", offsetof(Reference, dimension), h5_.T_STD_I32LE),
              name);
    put(dataset.get(), "REFERENCE_LIST", type.get(), list.data(), {list.size()});
  }
}

// The type under its name in the file, which netCDF requires for structures. -1: the type needs no
// name.
Hid NetcdfFile::committed_type(uint32_t type) {
  if (type != CAIRN_TYPE_COMPLEX64 && type != CAIRN_TYPE_COMPLEX128) return -1;
  const auto found = types_.find(type);
  if (found != types_.end()) return found->second.get();
  H5Id made = hdf5_type(h5_, type);
  const std::string name = "cairn_" + ckpt_type_name(type);
  h5_.check(h5_.Tcommit2(file_.get(), name.c_str(), made.get(), h5_default, h5_default, h5_default),
            name);
  return types_.emplace(type, std::move(made)).first->second.get();
}

uint64_t NetcdfFile::reference_to(const std::string& name) const {
  uint64_t reference = 0;
  h5_.check(h5_.Rcreate(&reference, file_.get(), name.c_str(), h5_object_reference, -1), name);
  return reference;
}

void NetcdfFile::put(Hid object, const std::string& key, Hid type, const void* values,
                     std::vector<uint64_t> shape) const {
  const H5Id space(h5_.check(shape.empty() ? h5_.Screate(h5_scalar)
                                           : h5_.Screate_simple(static_cast<int>(shape.size()),
                                                                shape.data(), nullptr),
                             key),
                   h5_.Sclose);
  const std::string what = fmt::format("attribute '{}'", key);
  const H5Id attribute(
      h5_.check(h5_.Acreate2(object, key.c_str(), type, space.get(), h5_default, h5_default), what),
      h5_.Aclose);
  h5_.check(h5_.Awrite(attribute.get(), type, values), what);
}

void NetcdfFile::put_text(Hid object, const std::string& key, const std::string& text) const {
  const H5Id type(h5_.check(h5_.Tcopy(h5_.T_C_S1), key), h5_.Tclose);
  h5_.check(h5_.Tset_size(type.get(), text.size() + 1), key);
  put(object, key, type.get(), text.c_str(), {});
}

void NetcdfFile::put_attribute(Hid object, const std::string& key, const CkptAttribute& attribute) {
  if (attribute.type == CAIRN_TYPE_CHARACTER) {
    const H5Id type(h5_.check(h5_.Tcopy(h5_.T_C_S1), key), h5_.Tclose);
    h5_.check(h5_.Tset_size(type.get(), std::max<size_t>(attribute.values.size(), 1)), key);
    h5_.check(h5_.Tset_cset(type.get(), h5_utf8), key);
    put(object, key, type.get(), attribute.values.data(), {});
    return;
  }
  const auto* const from = reinterpret_cast<const uint8_t*>(attribute.values.data());
  if (attribute.type == CAIRN_TYPE_FLOAT80) {
    // netCDF has no type as wide as this.
    std::vector<double> values(attribute.count);
    for (size_t i = 0; i < values.size(); ++i) {
      long double wide = 0;
      std::memcpy(&wide, from + i * sizeof wide, sizeof wide);
      values[i] = static_cast<double>(wide);
    }
    put(object, key, h5_.T_IEEE_F64LE, values.data(), {values.size()});
    return;
  }
  const NetcdfForm form = netcdf_form(attribute.type, 1);
  if (form.is_beside) {
    warn(fmt::format("attribute '{}': netCDF has no {}; left out", key,
                     ckpt_type_name(attribute.type)));
    return;
  }
  H5Id plain;
  Hid type = committed_type(form.type);
  if (type < 0) {
    plain = hdf5_type(h5_, form.type);
    type = plain.get();
  }
  std::vector<uint8_t> converted;
  if (!is_as_stored(attribute.type)) {
    converted.resize(size_t{4} * attribute.count);
    to_netcdf(attribute.type, from, attribute.count, converted.data());
  }
  put(object, key, type, converted.empty() ? from : converted.data(), {attribute.count});
}

void NetcdfFile::put_attributes(Hid object, const CkptVariable& variable) {
  for (const CkptAttribute& one : variable.attributes) {
    if (std::find(reserved.begin(), reserved.end(), one.key) != reserved.end()) continue;
    // netCDF refuses a _FillValue of another type than the variable's.
    const bool is_wrong_fill =
        one.key == "_FillValue" && (one.type != variable.type || one.count != 1);
    put_attribute(object, is_wrong_fill ? "cairn_FillValue" : one.key, one);
  }
  const NetcdfForm form = netcdf_form(variable.type, variable.element_size);
  if (!form.is_changed) return;
  put_text(object, "cairn_type", cairn_type_text(variable));
  // xarray makes a logical of this.
  if (form.type == CAIRN_TYPE_INT8) put_text(object, "dtype", "bool");
}

void NetcdfFile::close() {
  types_.clear();
  h5_.check(h5_.Fclose(file_.release()), path_);
}

}  // namespace cairn::cli
