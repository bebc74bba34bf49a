#include "file/namespace/tree.h"

#include <sys/stat.h>

#include <ctime>

#include "pool/lanes/lock.h"
#include "pool/lanes/seats.h"

namespace cairn::file {
namespace {

// Returns true if the slot names that inode now.
bool still_has(const FileSystem& fs, const Map& directory, uint64_t unit, uint64_t number) {
  Listed slot;
  const auto n = list_slots(fs, directory, unit, &slot, 1);
  return n.ok() && *n == 1 && slot.unit == unit && slot.inode == number && !slot.whiteout;
}

bool is_directory(const FileSystem& fs, uint64_t number) {
  const Inode* inode = inode_at(fs, number);
  return inode != nullptr && is_live(*inode) && S_ISDIR(inode->mode.load());
}

uint64_t parent_of(const FileSystem& fs, uint64_t number) {
  const Inode* inode = inode_at(fs, number);
  return inode == nullptr ? 0 : inode->directory.parent.load();
}

Status no_tree(const Map& directory, const Listed& listed, const char* why) {
  return fail(EUCLEAN,
              "directory %llu: slot %llu, \"%s\", names inode %llu as a directory, %s; "
              "run `cairn pool check` for details",
              static_cast<unsigned long long>(directory.number),
              static_cast<unsigned long long>(listed.unit),
              printable_name(listed.name, listed.length).c_str(),
              static_cast<unsigned long long>(listed.inode), why);
}

}  // namespace

template <typename Look>
bool Tree::holds(const Map& directory, Look look) {
  if (fs_.pool.read_only) {
    // A pool that is attached for reading cannot be locked. Another process may be about to move
    // the directory, which takes microseconds.
    constexpr int looks = 3;
    constexpr timespec pause = {0, 2'000'000};
    for (int i = 0; i < looks; ++i) {
      if (i != 0) nanosleep(&pause, nullptr);
      if (!look()) return false;
      persist::read_barrier();
    }
    return true;
  }
  pool::SeatGuard seat(fs_.pool);
  if (!seat.ok()) return false;
  const pool::LockGuard lock(fs_.pool, *seat, directory.inode->lock);
  return look();
}

Status Tree::enter(const Map& directory, const Listed& listed) {
  const uint64_t number = listed.inode;
  if (!is_directory(fs_, number) && holds(directory, [&] {
        return still_has(fs_, directory, listed.unit, number) && !is_directory(fs_, number);
      }))
    return no_tree(directory, listed, "which is not a directory");
  // A rename changes slots and parent together, with the locks of both directories.
  if (parent_of(fs_, number) != directory.number && holds(directory, [&] {
        return still_has(fs_, directory, listed.unit, number) &&
               parent_of(fs_, number) != directory.number;
      }))
    return no_tree(directory, listed, "whose parent is another directory");
  // No rename moves a directory below itself.
  if (number == top_ &&
      holds(directory, [&] { return still_has(fs_, directory, listed.unit, number); }))
    return no_tree(directory, listed, "below which it lies itself");
  const auto [met, is_new] = met_.try_emplace(number, NameSlot{directory.number, listed.unit});
  if (is_new) return Status();
  const NameSlot before = met->second;
  // A directory with another place has been moved since.
  if (before.directory == directory.number && before.unit != listed.unit && holds(directory, [&] {
        return still_has(fs_, directory, before.unit, number) &&
               still_has(fs_, directory, listed.unit, number);
      }))
    return no_tree(directory, listed, "which has another name there");
  met->second = {directory.number, listed.unit};
  return Status();
}

}  // namespace cairn::file
