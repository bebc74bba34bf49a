// How elements of a checkpoint stand in a file that is HDF5 and netCDF-4: netCDF has fewer types.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "netcdf/hdf5_library.h"

namespace cairn::cli {

// Types that netCDF cannot read make its library refuse the whole file, so they go to another one.
inline constexpr const char* beside_suffix = ".long-double.h5";

// The prefix of a variable that has the name of a dimension but more dimensions than that.
inline constexpr std::string_view non_coordinate = "_nc4_non_coord_";
// The NAME of a dimension without a variable, before its size.
inline constexpr std::string_view no_variable =
    "This is a netCDF dimension but not a netCDF variable.";

struct NetcdfForm {
  // netCDF cannot read a file that holds such a type: it goes to an HDF5 file beside.
  bool is_beside = false;
  uint64_t element_size = 0;  // in the file, without `extra`
  uint64_t extra = 0;         // one more dimension, the fastest: bytes of an element; 0: none
  uint32_t type = 0;          // enum cairn_type that stands in the file
  bool is_changed = false;    // the type in the file does not say what it was
};

NetcdfForm netcdf_form(uint32_t type, uint64_t element_size);

// Are the bytes in the file those of the checkpoint?
bool is_as_stored(uint32_t type);
// `to` has room for `elements` of the form.
void to_netcdf(uint32_t type, const uint8_t* from, uint64_t elements, uint8_t* to);
// Back into a checkpoint's type.
void from_netcdf(uint32_t type, const uint8_t* from, uint64_t elements, uint8_t* to);

// The file's type for what a form says; of complex ones that of a part must be committed by the
// caller.
H5Id hdf5_type(const Hdf5& h5, uint32_t type);

}  // namespace cairn::cli
