// open_trusted() opens a directory in the covered directory for a shared file. It makes sure that
// each directory on the path is the one which the pool means.
//
// Others may be able to exchange a directory for another one, or to make one that the pool has
// under that name. A directory that the pool knows counts only with the device and inode that it
// remembers; one that it does not know only if it belongs to the user, to root, or to the owner
// that the file system has shown for the cover's claim (docs/design/trust.md).
#pragma once

#include <string>

#include "base/status.h"
#include "file/inode/file_system.h"
#include "tier/system/system.h"

namespace cairn::cluster {

struct TrustedStart {
  file::FileSystem& fs;
  const std::string& cover_name;  // in the pool
  const std::string& directory;   // the covered one, for messages
  const tier::sys::Descriptor& covered;
  uint64_t owner;  // CoverRecord::owner
};
// The directory `below` the covered one ("": itself), for reading. With `make`, what is missing on
// the way to it is made, durably; else ENOENT, and a directory of which the pool remembers nothing
// counts whoever has made it. ESTALE: another directory is there.
Result<tier::sys::Descriptor> open_trusted(const TrustedStart& from, const std::string& below,
                                           bool make);

}  // namespace cairn::cluster
