#include "pool/medium/device.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <cstring>

namespace cairn::pool {

bool is_device(const std::string& path) {
  struct stat st {};
  return stat(path.c_str(), &st) == 0 && S_ISCHR(st.st_mode);
}

std::string device_path(const std::string& path) {
  char resolved[PATH_MAX];
  return realpath(path.c_str(), resolved) != nullptr ? resolved : path;
}

FirstBlocks read_first_blocks(int fd, const media::Description& medium) {
  FirstBlocks blocks;
  if (medium.kind != media::MediumKind::devdax) {
    (void)!pread(fd, blocks.bytes, sizeof blocks.bytes, 0);  // also of a file that is cut off
    return blocks;
  }
  const uint64_t size = std::max<uint64_t>(medium.mapping_unit, sizeof blocks.bytes);
  auto mapping = media::map(fd, medium, 0, size, media::Access::read_only);
  if (mapping.ok()) {
    std::memcpy(blocks.bytes, mapping->base, sizeof blocks.bytes);
    media::unmap(*mapping);
  }
  return blocks;
}

Result<FirstBlocks> read_device(const std::string& device) {
  auto fd = media::open_segment(device.c_str(), media::Access::read_only);
  if (!fd.ok()) return fd.status();
  auto medium = media::recognise_device(*fd, device.c_str());
  Result<FirstBlocks> blocks =
      medium.ok() ? Result<FirstBlocks>(read_first_blocks(*fd, *medium)) : medium.status();
  close(*fd);
  return blocks;
}

Status check_no_pool_on(const std::string& device) {
  auto blocks = read_device(device);
  if (!blocks.ok()) return blocks.status();
  if (blocks->are_ours())
    return fail(EEXIST, "%s: there is a pool on this device; cairn pool remove %s drops it",
                device.c_str(), device.c_str());
  return Status();
}

Status wipe_identity(Pool& pool) {
  CAIRN_TRY(pool.segment[0]->region.zero(0, 2 * format::block_size));
  return pool.fence();
}

}  // namespace cairn::pool
