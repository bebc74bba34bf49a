#include "tier/record/mode_of_lower.h"

#include "file/inode/xattr.h"
#include "tier/lower/witness.h"
#include "tier/record/drain_mode.h"
#include "tier/record/record.h"
#include "tier/system/open_files.h"

namespace cairn::tier {
namespace {

constexpr const char* of_lower = "cairn.never_of_lower";

}  // namespace

Status note_mode_of_lower(file::FileSystem& fs, const file::Map& map) {
  return file::set_xattr(fs, map, of_lower, "1", 1, 0);
}

void forget_mode_of_lower(file::FileSystem& fs, const file::Map& map) {
  if (file::get_xattr(fs, map, of_lower).ok()) file::remove_xattr(fs, map, of_lower).ignore();
}

bool has_never_of_lower(file::FileSystem& fs, const file::Map& map) {
  return own_drain_mode(fs, map) == DrainMode::never && file::get_xattr(fs, map, of_lower).ok();
}

void end_mode_of_others(file::FileSystem& fs, const file::Map& map, int fd,
                        const sys::FileStat& before) {
  sys::FileStat now = {};
  if (!may_be_written_by_others(before, no_owner) || sys::fstat(fd, &now) < 0 ||
      may_be_written_by_others(now, no_owner))
    return;
  const auto mode = file::get_xattr(fs, map, drain_mode_attribute);
  if (mode.ok()) {
    sys::fsetxattr(fd, drain_mode_attribute, mode->data(), mode->size());
  } else if (sys::fremovexattr(fd, drain_mode_attribute) == -EBADF) {
    sys::removexattr(path_of_open(fd).c_str(), drain_mode_attribute);
  }
}

}  // namespace cairn::tier
