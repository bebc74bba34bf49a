// CoverRecords opens a covered directory and the records in it, each once, for a process that
// removes the parts which no record names.
//
// Other users may be able to rename the covered directory and what lies in it. So the same
// descriptor tells which records there are and whether some are missing.
#pragma once

#include <string>

#include "cluster/record/records_directory.h"
#include "tier/cover/cover.h"

namespace cairn::cluster {

struct CoverRecords {
  tier::sys::Descriptor covered;  // O_PATH; none: it is gone, and the pool keeps nothing for it
  RecordsDirectory records;       // if `found`
  bool found = false;
  std::string ignored;  // why what has the name does not count; "" if there is nothing
  // Parts that no record names are none of garbage: the records were removed, now or earlier.
  bool kept = false;
};
// ESTALE: another directory has the path of the cover.
Result<CoverRecords> open_records_of(const tier::Cover& cover);
// Of the cover of this name. A job's directory may have none; then what has the path counts.
Result<CoverRecords> open_records_of(file::FileSystem& fs, const std::string& directory,
                                     const std::string& cover_name);

}  // namespace cairn::cluster
