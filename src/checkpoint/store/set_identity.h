// SetIdentity: what a set is where its record is lost: each of its versions says it.
#pragma once

#include <string>

#include "checkpoint/store/set_record.h"

namespace cairn::checkpoint {

// The record of a set as its versions in this pool tell it. ENOENT: it has none. EUCLEAN: they say
// different things, or are damaged.
Result<SetRecord> record_of_versions(file::FileSystem& fs, uint64_t directory,
                                     const std::string& name);

}  // namespace cairn::checkpoint
