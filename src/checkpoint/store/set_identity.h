// SetIdentity: identifies a set whose record is lost, by its versions, each of which identifies it.
#pragma once

#include <string>

#include "checkpoint/store/set_record.h"

namespace cairn::checkpoint {

// Rebuilds the record of a set from its versions in this pool. ENOENT: it has none. EUCLEAN: they
// disagree, or are damaged.
Result<SetRecord> record_of_versions(file::FileSystem& fs, uint64_t directory,
                                     const std::string& name);

}  // namespace cairn::checkpoint
