// Directories of lower: what is made in them must not be lost with the power.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "tier/system/system.h"

namespace cairn::cluster {

Status sync_directory(const tier::sys::Descriptor& directory, const std::string& path);
// Opens the directory `below` an open one ("": itself), through no symbolic link. `path`: of the
// one that is open, for messages.
Result<tier::sys::Descriptor> open_directory(int top, const std::string& below,
                                             const std::string& path);
// A new file with these bytes, durably. `path`: of its directory.
Status write_whole(const tier::sys::Descriptor& directory, const std::string& name,
                   const std::string& path, const std::vector<uint8_t>& bytes);

}  // namespace cairn::cluster
