// The file in the covered directory from which a shared file's unwritten bytes come.
#pragma once

#include <string>

#include "cluster/record/record.h"
#include "tier/system/system.h"

namespace cairn::cluster {

// Opens the covered directory.
Result<tier::sys::Descriptor> open_covered(const std::string& directory);
// Opens the base file for reading, through no symbolic link below the covered directory; ESTALE if
// it is not what it was when the record was made.
Result<tier::sys::Descriptor> open_base(const std::string& directory, const std::string& path,
                                        const Base& base);
// In the covered directory that is open.
Result<tier::sys::Descriptor> open_base(const tier::sys::Descriptor& covered,
                                        const std::string& directory, const std::string& path,
                                        const Base& base);
// Is the file that was just looked at the one that was there when the record was made?
bool is_base(const Base& base, const tier::sys::FileStat& st);
// What has a file's name in the covered directory; ENOENT or ENOTDIR if nothing has. The time of
// creation is given only if it is the same on all nodes.
Status stat_below(const std::string& directory, const std::string& path, tier::sys::FileStat* st);
// All bytes or an error.
Status read_base(const tier::sys::Descriptor& file, const std::string& path, void* buffer,
                 size_t size, uint64_t offset);

}  // namespace cairn::cluster
