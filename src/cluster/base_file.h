// The file in the covered directory from which a shared file's unwritten bytes come.
#pragma once

#include <string>

#include "cluster/record.h"
#include "tier/system.h"

namespace cairn::cluster {

// Opens it for reading; ESTALE if it is not what it was when the record was made.
Result<tier::sys::Descriptor> open_base(const std::string& directory, const std::string& path,
                                        const Base& base);
// All bytes or an error.
Status read_base(const tier::sys::Descriptor& file, const std::string& path, void* buffer,
                 size_t size, uint64_t offset);

}  // namespace cairn::cluster
