#include "netcdf/netcdf_form.h"

#include <cairn/checkpoint.h>

#include <bit>
#include <cstring>

#include "sets/ckpt_set.h"
#include "text/error.h"

namespace cairn::cli {
namespace {

bool is_half(uint32_t type) { return type == CAIRN_TYPE_FLOAT16 || type == CAIRN_TYPE_BFLOAT16; }
bool is_logical(uint32_t type) {
  return type >= CAIRN_TYPE_LOGICAL8 && type <= CAIRN_TYPE_LOGICAL64;
}

// Rounds to the nearest, ties to even. A value that came from a bfloat16 does not change.
uint16_t to_bfloat16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffffU) > 0x7f800000U) return static_cast<uint16_t>(bits >> 16 | 1U);
  return static_cast<uint16_t>((bits + 0x7fffU + (bits >> 16 & 1U)) >> 16);
}

uint16_t to_float16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000U);
  const uint32_t rest = bits & 0x7fffffffU;
  if (rest > 0x7f800000U)  // NaN: keeps the payload
    return static_cast<uint16_t>(sign | 0x7c00U |
                                 ((rest >> 13 & 0x3ffU) != 0 ? rest >> 13 & 0x3ffU : 1U));
  if (rest >= 0x47800000U) return static_cast<uint16_t>(sign | 0x7c00U);  // 65536 and more
  if (rest >= 0x38800000U) {                                              // normal
    const uint32_t rounded = rest + 0xfffU + (rest >> 13 & 1U);
    return static_cast<uint16_t>(sign | ((rounded - 0x38000000U) >> 13));
  }
  // Half of the smallest value, or less, becomes zero.
  if (rest <= 0x33000000U) return sign;
  const uint32_t shift = 126U - (rest >> 23);
  const uint32_t fraction = (rest & 0x7fffffU) | 0x800000U;
  const uint32_t kept = fraction >> shift;
  const uint32_t lost = fraction & ((1U << shift) - 1U);
  const uint32_t half = 1U << (shift - 1U);
  const bool is_up = lost > half || (lost == half && (kept & 1U) != 0);
  return static_cast<uint16_t>(sign | (kept + (is_up ? 1U : 0U)));
}

H5Id copy_of(const Hdf5& h5, Hid type) { return {h5.check(h5.Tcopy(type), "type"), h5.Tclose}; }

// The type of an IEEE-like number of `bits` bits in 16 bytes.
H5Id wide_float(const Hdf5& h5, size_t bits, size_t fraction, int norm) {
  constexpr size_t exponent = 15;
  constexpr size_t bias = 16383;
  H5Id type = copy_of(h5, h5.T_IEEE_F64LE);
  h5.check(h5.Tset_size(type.get(), 16), "type");
  h5.check(h5.Tset_precision(type.get(), bits), "type");
  h5.check(h5.Tset_fields(type.get(), bits - 1, fraction, exponent, 0, fraction), "type");
  h5.check(h5.Tset_ebias(type.get(), bias), "type");
  h5.check(h5.Tset_norm(type.get(), norm), "type");
  return type;
}

H5Id pair_of(const Hdf5& h5, const H5Id& part) {
  const size_t size = h5.Tget_size(part.get());
  H5Id pair = {h5.check(h5.Tcreate(h5_class_compound, 2 * size), "type"), h5.Tclose};
  h5.check(h5.Tinsert(pair.get(), "r", 0, part.get()), "type");
  h5.check(h5.Tinsert(pair.get(), "i", size, part.get()), "type");
  return pair;
}

}  // namespace

NetcdfForm netcdf_form(uint32_t type, uint64_t element_size) {
  NetcdfForm form{false, element_size, 0, type, false};
  if (is_half(type)) return {false, 4, 0, CAIRN_TYPE_FLOAT32, true};
  if (is_logical(type)) return {false, 1, 0, CAIRN_TYPE_INT8, true};
  switch (type) {
    case CAIRN_TYPE_FLOAT80:
    case CAIRN_TYPE_FLOAT128:
    case CAIRN_TYPE_COMPLEX_FLOAT80:
    case CAIRN_TYPE_COMPLEX_FLOAT128:
      form.is_beside = true;
      return form;
    case CAIRN_TYPE_CHARACTER:
      return {false, 1, element_size == 1 ? 0 : element_size, type, element_size != 1};
    case CAIRN_TYPE_OPAQUE:
      return {false, 1, element_size, CAIRN_TYPE_UINT8, true};
    default:
      return form;
  }
}

bool is_as_stored(uint32_t type) { return !is_half(type) && !is_logical(type); }

void to_netcdf(uint32_t type, const uint8_t* from, uint64_t elements, uint8_t* to) {
  const uint64_t size = ckpt_type_size(type);
  for (uint64_t i = 0; i < elements; ++i) {
    const uint8_t* const at = from + i * size;
    if (is_half(type)) {
      uint16_t bits = 0;
      std::memcpy(&bits, at, sizeof bits);
      const float value = half_value(type, bits);
      std::memcpy(to + i * sizeof value, &value, sizeof value);
    } else {
      uint64_t bits = 0;
      std::memcpy(&bits, at, size);
      to[i] = bits != 0 ? 1 : 0;
    }
  }
}

void from_netcdf(uint32_t type, const uint8_t* from, uint64_t elements, uint8_t* to) {
  const uint64_t size = ckpt_type_size(type);
  for (uint64_t i = 0; i < elements; ++i) {
    uint64_t bits = from[i] != 0 ? 1 : 0;
    if (is_half(type)) {
      float value = 0;
      std::memcpy(&value, from + i * sizeof value, sizeof value);
      bits = type == CAIRN_TYPE_BFLOAT16 ? to_bfloat16(value) : to_float16(value);
    }
    std::memcpy(to + i * size, &bits, size);
  }
}

H5Id hdf5_type(const Hdf5& h5, uint32_t type) {
  switch (type) {
    case CAIRN_TYPE_INT8:
      return copy_of(h5, h5.T_STD_I8LE);
    case CAIRN_TYPE_INT16:
      return copy_of(h5, h5.T_STD_I16LE);
    case CAIRN_TYPE_INT32:
      return copy_of(h5, h5.T_STD_I32LE);
    case CAIRN_TYPE_INT64:
      return copy_of(h5, h5.T_STD_I64LE);
    case CAIRN_TYPE_UINT8:
      return copy_of(h5, h5.T_STD_U8LE);
    case CAIRN_TYPE_UINT16:
      return copy_of(h5, h5.T_STD_U16LE);
    case CAIRN_TYPE_UINT32:
      return copy_of(h5, h5.T_STD_U32LE);
    case CAIRN_TYPE_UINT64:
      return copy_of(h5, h5.T_STD_U64LE);
    case CAIRN_TYPE_FLOAT32:
      return copy_of(h5, h5.T_IEEE_F32LE);
    case CAIRN_TYPE_FLOAT64:
      return copy_of(h5, h5.T_IEEE_F64LE);
    case CAIRN_TYPE_FLOAT80:
      return wide_float(h5, 80, 64, h5_norm_none);
    case CAIRN_TYPE_FLOAT128:
      return wide_float(h5, 128, 112, h5_norm_implied);
    case CAIRN_TYPE_COMPLEX64:
      return pair_of(h5, hdf5_type(h5, CAIRN_TYPE_FLOAT32));
    case CAIRN_TYPE_COMPLEX128:
      return pair_of(h5, hdf5_type(h5, CAIRN_TYPE_FLOAT64));
    case CAIRN_TYPE_COMPLEX_FLOAT80:
      return pair_of(h5, hdf5_type(h5, CAIRN_TYPE_FLOAT80));
    case CAIRN_TYPE_COMPLEX_FLOAT128:
      return pair_of(h5, hdf5_type(h5, CAIRN_TYPE_FLOAT128));
    case CAIRN_TYPE_CHARACTER: {
      H5Id text = copy_of(h5, h5.T_C_S1);  // of one byte, as netCDF's NC_CHAR
      return text;
    }
    default:
      fail("{}: HDF5 has no such type", ckpt_type_name(type));
  }
}

}  // namespace cairn::cli
