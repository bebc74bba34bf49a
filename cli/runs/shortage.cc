#include "runs/shortage.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#include <filesystem>

#include "machine/memory_limit.h"
#include "text/error.h"
#include "text/units.h"

namespace cairn::cli {
namespace {

// The topmost directory on the file system of `path`.
std::string mount_point_of(const std::string& path) {
  std::filesystem::path at = path;
  struct stat here {};
  struct stat above {};
  while (at.has_relative_path() && stat(at.c_str(), &here) == 0 &&
         stat(at.parent_path().c_str(), &above) == 0 && above.st_dev == here.st_dev)
    at = at.parent_path();
  return at.string();
}

std::string file_system_text(const std::string& pool) {
  struct statfs fs {};
  if (statfs(pool.c_str(), &fs) != 0) return "the file system of " + pool;
  const auto unit = static_cast<uint64_t>(fs.f_bsize);
  return fmt::format("the file system {} ({}, {} free)", mount_point_of(pool),
                     format_size(fs.f_blocks * unit), format_size(fs.f_bavail * unit));
}

std::string cgroup_text() {
  const cairn_memory_left left = memory_left();
  if (left.cgroup_file[0] == '\0') return "the memory limit of this cgroup (see /proc/self/cgroup)";
  return fmt::format("the memory limit of this cgroup ({} in {})", format_size(left.cgroup_limit),
                     left.cgroup_file);
}

struct Cause {
  std::string what;
  std::string advice;
};

Cause cause_of(uint32_t of, const std::string& pool) {
  constexpr const char* elsewhere = "choose another place with --pool-dir";
  switch (of) {
    case CAIRN_SHORT_OF_FILE_SYSTEM:
      return {file_system_text(pool) + " was full",
              fmt::format("make room there, or {}", elsewhere)};
    case CAIRN_SHORT_OF_QUOTA:
      return {"your quota on " + file_system_text(pool) + " was used up",
              fmt::format("remove files there, or {}", elsewhere)};
    case CAIRN_SHORT_OF_CGROUP:
      return {cgroup_text() + " was reached",
              "ask the batch system for more memory, or put the pool on a disk with --pool-dir"};
    default:
      return {"the machine's memory was used up",
              "use fewer processes or a machine with more, or put the pool on a disk with "
              "--pool-dir"};
  }
}

}  // namespace

Shortage shortage_of(cairn_pool* pool, const cairn_pool_info& info) {
  cairn_shortage shortage{};
  shortage.struct_size = sizeof shortage;
  check(cairn_pool_get_shortage(pool, &shortage), info.path);
  return {info.full_count, info.full_bytes, shortage.count, shortage.of};
}

std::string shortage_text(const Shortage& before, const Shortage& after,
                          const cairn_pool_info& info, bool made_by_run, const Draining& draining) {
  if (after.writes == before.writes) return "";
  const std::string missing =
      fmt::format("{} write(s) did not fit, at least {} were missing", after.writes - before.writes,
                  format_size(after.bytes - before.bytes));
  constexpr const char* left_by_drain =
      "of its files only those were left that are open, mapped, or have several names, or could "
      "not be drained; a file that is being written must fit: write smaller files, or ";
  constexpr const char* left =
      "no more of its files could be evicted, because they are not drained or are in use: drain "
      "during the run (--drain async), or ";
  if (after.refused == before.refused && draining.stopped != 0)
    return fmt::format(
        "the pool {} ({}) was full: {}; process {}, which drains it in the background, is stopped: "
        "`kill -CONT {}` lets it go on",
        info.path, format_size(info.size), missing, draining.stopped, draining.stopped);
  if (after.refused == before.refused)
    return fmt::format("the pool {} ({}) was full: {}; {}give it more with {}", info.path,
                       format_size(info.size), missing,
                       draining.is_meanwhile ? left_by_drain : left,
                       made_by_run ? "--pool-size" : "`cairn pool grow`");
  const Cause cause = cause_of(after.of, info.path);
  return fmt::format("{}, so the pool {} ({}) could not grow into its size: {}; {}", cause.what,
                     info.path, format_size(info.size), missing, cause.advice);
}

}  // namespace cairn::cli
