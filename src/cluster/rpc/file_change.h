// A change of an ordinary file of this node's pool that a process of another node asks for, by its
// name or with the file open.
#pragma once

#include <cstdint>
#include <optional>

#include "cluster/rpc/protocol.h"
#include "file/inode/file_system.h"

namespace cairn::cluster {

// What a call by name sets. What has no value stays.
struct NewAttributes {
  std::optional<uint32_t> mode;
  std::optional<uint32_t> uid;
  std::optional<uint32_t> gid;
  std::optional<uint64_t> atime;  // a record has none
  std::optional<uint64_t> mtime;
};

// ESTALE: the inode is another file than that of `generation`.
Status change_file(file::FileSystem& fs, const file::Map& map, uint64_t generation,
                   const FileChange& change);

}  // namespace cairn::cluster
