// libhdf5, loaded when a command needs it: neither `cairn` nor libcairn depends on it.
//
// Any serial HDF5 from 1.10 on will do. Its functions and the constants below have kept their form
// since then; no structure of it is used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace cairn::cli {

using Hid = int64_t;
using Herr = int;

inline constexpr Hid h5_default = 0;  // H5P_DEFAULT, H5S_ALL, H5E_DEFAULT
inline constexpr unsigned h5_read_only = 0, h5_truncate = 2;
inline constexpr int h5_scalar = 0;  // H5S_SCALAR
inline constexpr int h5_alloc_early = 1, h5_fill_never = 1;
inline constexpr unsigned h5_order_tracked = 1, h5_order_indexed = 2;
inline constexpr int h5_by_name = 0, h5_by_creation = 1, h5_increasing = 0;
inline constexpr int h5_object_reference = 0;
inline constexpr int h5_class_integer = 0, h5_class_float = 1, h5_class_string = 3,
                     h5_class_compound = 6, h5_class_reference = 7, h5_class_enum = 8,
                     h5_class_vlen = 9;
inline constexpr int h5_utf8 = 1;
inline constexpr int h5_norm_implied = 0, h5_norm_none = 2;
inline constexpr uint64_t h5_no_address = UINT64_MAX;

struct H5Vector {  // hvl_t
  size_t length;
  const void* values;
};

using H5AttributeVisit = Herr (*)(Hid object, const char* name, const void* info, void* context);

// Name behind "H5", result, parameters.
#define CAIRN_H5_CALLS(CALL)                                                  \
  CALL(open, Herr, (void))                                                    \
  CALL(get_libversion, Herr, (unsigned*, unsigned*, unsigned*))               \
  CALL(free_memory, Herr, (void*))                                            \
  CALL(Eset_auto2, Herr, (Hid, void*, void*))                                 \
  CALL(Ewalk2, Herr, (Hid, int, void*, void*))                                \
  CALL(Pcreate, Hid, (Hid))                                                   \
  CALL(Pclose, Herr, (Hid))                                                   \
  CALL(Pset_alignment, Herr, (Hid, uint64_t, uint64_t))                       \
  CALL(Pset_alloc_time, Herr, (Hid, int))                                     \
  CALL(Pset_fill_time, Herr, (Hid, int))                                      \
  CALL(Pset_link_creation_order, Herr, (Hid, unsigned))                       \
  CALL(Pset_attr_creation_order, Herr, (Hid, unsigned))                       \
  CALL(Fcreate, Hid, (const char*, unsigned, Hid, Hid))                       \
  CALL(Fopen, Hid, (const char*, unsigned, Hid))                              \
  CALL(Fclose, Herr, (Hid))                                                   \
  CALL(Screate, Hid, (int))                                                   \
  CALL(Screate_simple, Hid, (int, const uint64_t*, const uint64_t*))          \
  CALL(Sget_simple_extent_ndims, int, (Hid))                                  \
  CALL(Sget_simple_extent_dims, int, (Hid, uint64_t*, uint64_t*))             \
  CALL(Sget_simple_extent_npoints, int64_t, (Hid))                            \
  CALL(Sclose, Herr, (Hid))                                                   \
  CALL(Tcopy, Hid, (Hid))                                                     \
  CALL(Tcreate, Hid, (int, size_t))                                           \
  CALL(Tinsert, Herr, (Hid, const char*, size_t, Hid))                        \
  CALL(Tcommit2, Herr, (Hid, const char*, Hid, Hid, Hid, Hid))                \
  CALL(Tvlen_create, Hid, (Hid))                                              \
  CALL(Tset_size, Herr, (Hid, size_t))                                        \
  CALL(Tset_cset, Herr, (Hid, int))                                           \
  CALL(Tset_precision, Herr, (Hid, size_t))                                   \
  CALL(Tset_fields, Herr, (Hid, size_t, size_t, size_t, size_t, size_t))      \
  CALL(Tset_ebias, Herr, (Hid, size_t))                                       \
  CALL(Tset_norm, Herr, (Hid, int))                                           \
  CALL(Tget_class, int, (Hid))                                                \
  CALL(Tget_size, size_t, (Hid))                                              \
  CALL(Tget_sign, int, (Hid))                                                 \
  CALL(Tget_ebias, size_t, (Hid))                                             \
  CALL(Tget_fields, Herr, (Hid, size_t*, size_t*, size_t*, size_t*, size_t*)) \
  CALL(Tget_nmembers, int, (Hid))                                             \
  CALL(Tget_member_type, Hid, (Hid, unsigned))                                \
  CALL(Tget_member_name, char*, (Hid, unsigned))                              \
  CALL(Tget_super, Hid, (Hid))                                                \
  CALL(Tis_variable_str, int, (Hid))                                          \
  CALL(Tequal, int, (Hid, Hid))                                               \
  CALL(Tclose, Herr, (Hid))                                                   \
  CALL(Dcreate2, Hid, (Hid, const char*, Hid, Hid, Hid, Hid, Hid))            \
  CALL(Dopen2, Hid, (Hid, const char*, Hid))                                  \
  CALL(Dget_offset, uint64_t, (Hid))                                          \
  CALL(Dget_space, Hid, (Hid))                                                \
  CALL(Dget_type, Hid, (Hid))                                                 \
  CALL(Dread, Herr, (Hid, Hid, Hid, Hid, Hid, void*))                         \
  CALL(Dclose, Herr, (Hid))                                                   \
  CALL(Acreate2, Hid, (Hid, const char*, Hid, Hid, Hid, Hid))                 \
  CALL(Aopen, Hid, (Hid, const char*, Hid))                                   \
  CALL(Aexists, int, (Hid, const char*))                                      \
  CALL(Awrite, Herr, (Hid, Hid, const void*))                                 \
  CALL(Aread, Herr, (Hid, Hid, void*))                                        \
  CALL(Aget_type, Hid, (Hid))                                                 \
  CALL(Aget_space, Hid, (Hid))                                                \
  CALL(Aiterate2, Herr, (Hid, int, int, uint64_t*, H5AttributeVisit, void*))  \
  CALL(Aclose, Herr, (Hid))                                                   \
  CALL(Oopen, Hid, (Hid, const char*, Hid))                                   \
  CALL(Oclose, Herr, (Hid))                                                   \
  CALL(Rcreate, Herr, (void*, Hid, const char*, int, Hid))                    \
  CALL(Rdereference2, Hid, (Hid, Hid, int, const void*))                      \
  CALL(Iget_name, ptrdiff_t, (Hid, char*, size_t))                            \
  CALL(Lget_name_by_idx, ptrdiff_t, (Hid, const char*, int, int, uint64_t, char*, size_t, Hid))

// Variables of the library: names behind "H5", without "_g".
#define CAIRN_H5_IDS(ID)      \
  ID(P_CLS_FILE_CREATE_ID)    \
  ID(P_CLS_FILE_ACCESS_ID)    \
  ID(P_CLS_DATASET_CREATE_ID) \
  ID(T_STD_I8LE)              \
  ID(T_STD_I16LE)             \
  ID(T_STD_I32LE)             \
  ID(T_STD_I64LE)             \
  ID(T_STD_U8LE)              \
  ID(T_STD_U16LE)             \
  ID(T_STD_U32LE)             \
  ID(T_STD_U64LE)             \
  ID(T_IEEE_F32BE)            \
  ID(T_IEEE_F32LE)            \
  ID(T_IEEE_F64LE)            \
  ID(T_STD_REF_OBJ)           \
  ID(T_C_S1)

class Hdf5 {
 public:
  // The library of this process, loaded by the first call. Throws if there is none.
  static const Hdf5& get();

#define CAIRN_H5_MEMBER(name, result, parameters) result(*name) parameters = nullptr;
  CAIRN_H5_CALLS(CAIRN_H5_MEMBER)
#undef CAIRN_H5_MEMBER
#define CAIRN_H5_MEMBER(name) Hid name = -1;
  CAIRN_H5_IDS(CAIRN_H5_MEMBER)
#undef CAIRN_H5_MEMBER

  // Passes what a call returned on, or throws with the library's own words.
  template <typename T>
  T check(T result, const std::string& what) const {
    if (result < 0) failed(what);
    return result;
  }

 private:
  Hdf5();
  [[noreturn]] void failed(const std::string& what) const;
  unsigned major_ = 0;
};

// An identifier, closed when the object goes.
class H5Id {
 public:
  using Close = Herr (*)(Hid);
  H5Id() = default;
  H5Id(Hid id, Close close) : id_(id), close_(close) {}
  H5Id(H5Id&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  H5Id& operator=(H5Id&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~H5Id() {
    if (id_ >= 0) close_(id_);
  }
  H5Id(const H5Id&) = delete;
  H5Id& operator=(const H5Id&) = delete;
  [[nodiscard]] Hid get() const { return id_; }
  // The caller closes it.
  Hid release() { return std::exchange(id_, -1); }

 private:
  Hid id_ = -1;
  Close close_ = nullptr;
};

}  // namespace cairn::cli
