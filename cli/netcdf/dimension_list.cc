#include "netcdf/dimension_list.h"

#include <cairn/checkpoint.h>

#include <array>

namespace cairn::cli {
namespace {

constexpr const char* list_name = "DIMENSION_LIST";

struct List {  // hvl_t, as HDF5 fills it
  size_t length;
  void* values;
};

// One list of references for each dimension, which HDF5 allocates.
class Lists {
 public:
  explicit Lists(const Hdf5& h5) : h5_(h5) {}
  ~Lists() {
    for (const List& one : lists_)
      if (one.values != nullptr) h5_.free_memory(one.values);
  }
  Lists(const Lists&) = delete;
  Lists& operator=(const Lists&) = delete;

  // False: the attribute holds something else.
  bool read(Hid attribute, size_t dimensions) {
    if (!has_form(attribute, dimensions)) return false;
    // HDF5 converts into this type, whose size in memory is known here.
    const H5Id type(h5_.check(h5_.Tvlen_create(h5_.T_STD_REF_OBJ), list_name), h5_.Tclose);
    return h5_.Tget_size(type.get()) == sizeof(List) &&
           h5_.Aread(attribute, type.get(), lists_.data()) >= 0;
  }
  [[nodiscard]] const List& operator[](size_t k) const { return lists_[k]; }

 private:
  [[nodiscard]] bool has_form(Hid attribute, size_t dimensions) const {
    const H5Id type(h5_.check(h5_.Aget_type(attribute), list_name), h5_.Tclose);
    if (h5_.Tget_class(type.get()) != h5_class_vlen) return false;
    const H5Id element(h5_.check(h5_.Tget_super(type.get()), list_name), h5_.Tclose);
    if (h5_.Tget_class(element.get()) != h5_class_reference ||
        h5_.Tget_size(element.get()) != h5_.Tget_size(h5_.T_STD_REF_OBJ))
      return false;
    const H5Id space(h5_.check(h5_.Aget_space(attribute), list_name), h5_.Sclose);
    uint64_t count = 0;
    return h5_.Sget_simple_extent_ndims(space.get()) == 1 &&
           h5_.Sget_simple_extent_dims(space.get(), &count, nullptr) == 1 && count >= dimensions &&
           count <= lists_.size();
  }

  const Hdf5& h5_;
  // The bytes of an element may be a dimension of the file.
  std::array<List, CAIRN_MAX_DIMENSIONS + 1> lists_{};
};

// The name of a dimension, without its group; "": a list of names cannot hold it.
std::string name_of(const Hdf5& h5, Hid object) {
  std::array<char, 1024> name{};
  const ptrdiff_t length = h5.Iget_name(object, name.data(), name.size());
  if (length < 2 || length >= static_cast<ptrdiff_t>(name.size())) return "";
  const std::string one = std::string(name.data()).substr(1);
  return one.find_first_of(" \t\n/") == std::string::npos ? one : "";
}

}  // namespace

std::string dimension_names(const Hdf5& h5, Hid dataset, size_t dimensions) {
  if (h5.Aexists(dataset, "CLASS") > 0)  // the dataset is a dimension itself
    return dimensions == 1 ? name_of(h5, dataset) : "";
  if (h5.Aexists(dataset, list_name) <= 0) return "";
  const H5Id attribute(h5.check(h5.Aopen(dataset, list_name, h5_default), list_name), h5.Aclose);
  Lists lists(h5);
  if (!lists.read(attribute.get(), dimensions)) return "";
  std::string all;
  for (size_t k = 0; k < dimensions; ++k) {
    if (lists[k].length == 0 || lists[k].values == nullptr) return "";
    const H5Id scale(h5.Rdereference2(dataset, h5_default, h5_object_reference, lists[k].values),
                     h5.Oclose);
    const std::string one = scale.get() < 0 ? "" : name_of(h5, scale.get());
    if (one.empty()) return "";
    all += (all.empty() ? "" : " ") + one;
  }
  return all;
}

}  // namespace cairn::cli
