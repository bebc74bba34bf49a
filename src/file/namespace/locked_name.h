// LockedName: for a change of names, a directory that is entered, locked and still exists, and a
// name in it.
#pragma once

#include <sys/stat.h>

#include <optional>
#include <string_view>

#include "file/namespace/resolve.h"
#include "pool/lanes/lock.h"
#include "pool/lanes/seats.h"

namespace cairn::file::names {

inline unsigned type_of(uint64_t mode) { return (static_cast<unsigned>(mode) & S_IFMT) >> 12; }

// Returns ENOENT if the directory was removed before its lock was held.
Status check_alive(const Map& directory, uint64_t found);
// Hashes a checked name. EINVAL: the name is not sound (directory.h). ENAMETOOLONG.
Result<Name> checked_name(std::string_view text);
Result<Map> live_map(FileSystem& fs, uint64_t number);
// Finds a name. ENOENT comes with its text. EUCLEAN: the name refers to the directory itself.
Result<DirentSlot> find_existing(const FileSystem& fs, const Map& directory, const Name& name);

// A checked name in a checked directory, with a seat and the directory's lock held.
class LockedName {
 public:
  explicit LockedName(FileSystem& fs) : fs_(fs) {}
  LockedName(const LockedName&) = delete;
  LockedName& operator=(const LockedName&) = delete;

  // Runs enter() and lock(). A caller that needs names from lower calls the two itself and asks in
  // between.
  Status take(uint64_t parent, std::string_view text) {
    CAIRN_TRY(enter(parent, text));
    return lock();
  }
  Status enter(uint64_t parent, std::string_view text);
  Status lock();
  // Releases the lock and keeps the seat, for the steps that follow a change.
  void unlock() { lock_.reset(); }

  [[nodiscard]] LocalSeat& seat() { return **seat_; }
  [[nodiscard]] Inode& inode() const { return *directory.inode; }

  Map directory;
  Name name;

 private:
  FileSystem& fs_;
  uint64_t found_ = 0;
  std::optional<pool::SeatGuard> seat_;
  std::optional<pool::LockGuard> lock_;
};

}  // namespace cairn::file::names
