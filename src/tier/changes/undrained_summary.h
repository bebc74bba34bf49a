// UndrainedSummary counts what a pool holds of a cover and has not drained, for messages.
#pragma once

#include <string>
#include <vector>

#include "file/inode/file_system.h"

namespace cairn::tier {

struct UndrainedSummary {
  uint64_t files = 0;  // and links, FIFOs and so on
  uint64_t bytes = 0;  // of these files
  uint64_t directories = 0;
  uint64_t removed = 0;            // names that are to be removed from lower
  uint64_t parts = 0;              // of files that several nodes write
  std::vector<std::string> names;  // the first of the files and directories, as paths below the top
  uint64_t newest = 0;             // time of the last change to any of them
};

// Counts what the pool has not drained of the cover with this name in /.covers.
Result<UndrainedSummary> summarize_undrained(file::FileSystem& fs, const std::string& name);
// "2 files (12 bytes), 1 directory: a, sub/b, sub; last changed 2026-11-24 22:07 UTC"
std::string describe_undrained(const UndrainedSummary& summary);

}  // namespace cairn::tier
