// Ordinary files that lie in another node's pool, by name: written there through POSIX calls, seen
// from here until they are carried to the covered directory. A process asks all nodes for a name.
// Once it has found the file, it asks that file's node.
//
// Each gives ENOENT if no other node has such a file. The same name on several nodes: the first
// one's; all go when it is removed.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cluster/remote/find_remote.h"
#include "cluster/rpc/file_change.h"
#include "cluster/rpc/job.h"
#include "file/open/open_file.h"

namespace cairn::cluster {

// This node, or the job, has a file of the name now. Where these nodes have removed what the
// covered directory has there, they move it out of the way. What is not as it was when they did,
// their drains tell.
void displace_on(Job& job, const std::string& path, const std::vector<uint32_t>& nodes);
// On all nodes.
void displace_everywhere(Job& job, const std::string& path);
// The number that it shows as its inode's: on all nodes but its own the same, and none that an
// inode of a pool has.
uint64_t inode_number(const Job& job, uint32_t node, uint64_t inode);

// For reading, with the size that it has now; its bytes come from its node when they are read.
// `flags` as for open(2).
Result<std::unique_ptr<file::File>> open_remote(Job& job, const std::string& path, int flags);
// For writing (and reading) where it lies (remote_writer.h).
Result<std::unique_ptr<file::File>> open_remote_writer(Job& job, const std::string& path,
                                                       int flags);
// A piece of an ordinary file of another node, which is that long. EIO: it is gone, or shorter.
Result<uint64_t> read_remote(Job& job, uint32_t node, const Uuid& file, const Target& piece);
Status set_remote_size(Job& job, const std::string& path, uint64_t size);
Status set_remote_attributes(Job& job, const std::string& path, const NewAttributes& attributes);
Status remove_remote(Job& job, const std::string& path);
// It becomes a file of this node's pool; `empty`: without its contents. EBUSY: a process has it
// open there, or it is more than bytes under one name; ENOSPC. Killed meanwhile, both nodes have
// it.
Status fetch_remote(Job& job, const std::string& path, bool empty);

struct RemoteName {
  uint64_t inode = 0;  // inode_number()
  std::string name;
};
Result<std::vector<RemoteName>> list_remote(Job& job, const std::string& directory);

}  // namespace cairn::cluster
