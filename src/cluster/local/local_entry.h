// LocalEntry says where a name of the covered directory lies in this node's pool.
#pragma once

#include <sys/stat.h>

#include <string>

#include "cluster/rpc/job.h"
#include "file/namespace/directory.h"
#include "file/namespace/names.h"

namespace cairn::cluster {

struct LocalEntry {
  uint64_t parent = 0;
  std::string name;
  file::Map map;            // number 0: there is nothing of the name
  uint64_t generation = 0;  // of its inode
  bool has_lower = false;   // it is known from the covered directory

  [[nodiscard]] bool exists() const { return map.number != 0; }
  [[nodiscard]] file::Seen seen() const { return {map.number, generation}; }
  [[nodiscard]] bool is(const file::Seen& inode) const {
    return map.number == inode.number && generation == inode.generation;
  }
  // 0 if there is nothing.
  [[nodiscard]] uint32_t mode() const {
    return map.inode == nullptr ? 0 : static_cast<uint32_t>(map.inode->mode.load());
  }
  [[nodiscard]] bool is_directory() const { return exists() && S_ISDIR(mode()); }
  // A directory, symbolic link, FIFO or socket: all nodes have it. So has each a device, which only
  // the covered directory brings.
  [[nodiscard]] bool has_no_bytes() const { return exists() && !S_ISREG(mode()); }
};

Status missing(const std::string& path);
// ENOENT if the directory that it lies in is not there.
Result<LocalEntry> local_entry(Job& job, const std::string& path);
// Which file it was there.
Result<file::Witness> lower_of(Job& job, const LocalEntry& entry);
// After it was removed: nothing stays of it that a drain would act on.
Status drop_lower(Job& job, const LocalEntry& entry);
// Removes what is not a directory. Nothing stays of it that a drain of this pool would act on:
// another node's drain does that. ENOENT: the name is another one's by now, and stays. ESTALE: it
// has not this change time any more, and stays; 0: any.
Status forget(Job& job, const LocalEntry& entry, uint64_t ctime = 0);
// Something that the covered directory has under this name was removed here, and no drain has told
// that directory yet.
bool is_removed(Job& job, const LocalEntry& entry);
// Moves what the covered directory has under the name out of the way (tier/replace/displace.h).
Status displace(Job& job, const LocalEntry& entry);
// The inode of the covered directory, which may lie there as it did.
Result<uint64_t> top_of(Job& job);
// The inode of a directory ("": the covered one), which can be listed. ENOENT, ENOTDIR.
Result<uint64_t> directory_at(Job& job, const std::string& path);

}  // namespace cairn::cluster
