// Gives a temporary file its name in lower, by way of the journal.
#pragma once

#include <string>

#include "tier/replace/drain_state.h"
#include "tier/replace/lower_directory.h"

namespace cairn::tier {

struct TempFile {
  std::string name;       // temporary, in the directory where the file belongs
  sys::Descriptor file;   // open until it is durable; none if there are no bytes
  uint64_t copied = 0;    // bytes
  sys::FileStat st = {};  // of the temporary file
  InLower expected = InLower::nothing;
  uint64_t shape = 0;  // of the inode when the copy began
  CopiedFrom from;
  uint64_t rights = 0;  // of the pool (noted_rights), which `st` has where lower did not differ
  int64_t clock = 0;    // clock_set_to() when the copy began
  bool mark = true;     // the inode then counts as drained as of `from`
  bool has_company = false;  // other temporary files are open, and are closed before a retry
};
file::Witness witness_of(const DrainState& state, const TempFile& temp);
// A temporary file of the drain's name, which is still to be made.
TempFile new_temp_file(const DrainName& item, InLower expected);
// Notes in the journal that the temporary file is about to be made.
Status announce_temp_file(const DrainName& item, const TempFile& temp);
// Renames the temporary file to its name, if lower still has there what was expected, and notes it
// in the pool. False: it failed, and a report was made.
bool publish(const DrainName& item, const TempFile& temp);
Status recover_journal(DrainState& state);

}  // namespace cairn::tier
