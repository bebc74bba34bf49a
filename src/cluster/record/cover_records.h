// Cover's records: a covered directory and the records in it, each opened once, for who is going to
// remove the parts that no record names.
//
// Others may be able to rename what lies in the covered directory, and that itself. Whether records
// are missing is told from the same descriptor as which ones there are.
#pragma once

#include <string>

#include "cluster/record/records_directory.h"
#include "tier/cover.h"

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
