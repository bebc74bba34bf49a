// Directories of lower: what is made in them must not be lost with the power.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"

namespace cairn::cluster {

std::string parent_of(const std::string& path);
Status sync_directory(const std::string& path);
// Makes what is missing of the directory `wanted` below the directory `top`, durably.
Status make_directories(const std::string& top, const std::string& wanted);
// A new file with these bytes, durably.
Status write_whole(const std::string& path, const std::vector<uint8_t>& bytes, uint32_t mode);

}  // namespace cairn::cluster
