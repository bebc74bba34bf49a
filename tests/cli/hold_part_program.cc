// A node's part of a file that several nodes write, made by hand: hold_part_program POOL DIR PATH
// SIZE OFFSET TEXT The pool covers DIR already. The record is made, or said more in.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "capi/core/handles.h"
#include "cluster/collect/collect_file.h"
#include "cluster/record/record.h"
#include "file/data/io.h"
#include "tier/record/parts.h"
#include "tier/record/record.h"
#include "tier/system/pool_file.h"

namespace {

using namespace cairn;

Status hold(file::FileSystem& fs, const std::string& directory, const std::string& path,
            uint64_t size, uint64_t offset, const std::string& text) {
  auto found = cluster::read_record(directory, path);
  if (!found.ok() && found.code() != ENOENT) return found.status();
  cluster::Record record = found.ok() ? *found : cluster::Record();
  record.uuid = {7};
  record.size = size;
  record.mode = 0644;
  record.uid = geteuid();
  record.gid = getegid();
  record.map.add({offset, text.size(), 0, 1},
                 record.node_of({cluster::uuid_of(fs), "node-of-" + fs.pool.path, fs.pool.path}));
  auto inode = tier::find_part(fs, tier::cover_name(directory), cluster::hex_of(record.uuid), true);
  if (!inode.ok()) return inode.status();
  tier::PoolFile part(fs, *inode, O_WRONLY);
  CAIRN_TRY(part.status());
  CAIRN_TRY(file::write_at(*part, text.data(), text.size(), offset).status());
  return cluster::write_record(directory, path, record, false);
}

}  // namespace

int main(int count, char** words) {
  if (count != 7) return 2;
  cairn_pool* pool = nullptr;
  if (cairn_pool_attach(words[1], 0, &pool) != 0) {
    std::fprintf(stderr, "%s\n", cairn_last_error());
    return 1;
  }
  const Status status =
      hold(capi::fs_of(pool), words[2], words[3], std::strtoull(words[4], nullptr, 10),
           std::strtoull(words[5], nullptr, 10), words[6]);
  if (!status.ok()) std::fprintf(stderr, "%s\n", last_detail());
  cairn_pool_detach(pool);
  return status.ok() ? 0 : 1;
}
