// The limits of the format (docs/format/checkpoint.md).
#pragma once

#include <cstdint>

namespace cairn::checkpoint {

inline constexpr unsigned max_dimensions = 15;
inline constexpr uint64_t max_elements = uint64_t{1} << 62;
inline constexpr uint64_t max_element_size = uint64_t{1} << 31;
inline constexpr uint32_t max_variables = 65536;
inline constexpr uint32_t max_decompositions = 4096;
inline constexpr uint32_t max_name = 255;
inline constexpr uint64_t max_attributes = uint64_t{64} << 10;  // bytes of a variable or a version
inline constexpr uint64_t max_layout = uint64_t{256} << 20;     // bytes of the record
inline constexpr uint64_t max_decomposition = uint64_t{1} << 30;
inline constexpr uint64_t max_region = uint64_t{1} << 46;
inline constexpr uint64_t max_data_file = uint64_t{1} << 48;

inline constexpr uint64_t region_unit = uint64_t{2} << 20;  // regions begin at multiples of this
inline constexpr uint64_t list_alignment = 64;

constexpr uint64_t align(uint64_t position, uint64_t unit) {
  return (position + unit - 1) / unit * unit;
}

}  // namespace cairn::checkpoint
