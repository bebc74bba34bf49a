// What the changes of names share: the directory that is entered, locked and still there.
#pragma once

#include <sys/stat.h>

#include <optional>
#include <string_view>

#include "file/names.h"
#include "file/open_file.h"
#include "pool/lock.h"
#include "pool/seats.h"

namespace cairn::file::names {

inline unsigned type_of(uint64_t mode) { return (static_cast<unsigned>(mode) & S_IFMT) >> 12; }

// How often a file is staged that is evicted before its name can change: in a pool that is so full,
// the change is refused.
inline constexpr int most_tries_to_stage = 8;
// ENOENT: it was removed before its lock was held.
Status check_alive(const Map& directory, uint64_t found);
// EINVAL: the name is not sound (directory.h); ENAMETOOLONG.
Result<Name> checked_name(std::string_view text);
Result<Map> live_map(FileSystem& fs, uint64_t number);
// ENOENT comes with its text. EUCLEAN: the name is the directory's own.
Result<Slot> find_existing(const FileSystem& fs, const Map& directory, const Name& name);

// A name in a directory, both checked, with a seat and the directory's lock held.
class LockedName {
 public:
  explicit LockedName(FileSystem& fs) : fs_(fs) {}
  LockedName(const LockedName&) = delete;
  LockedName& operator=(const LockedName&) = delete;

  // enter() and lock(); between the two, what comes from lower may be asked for.
  Status take(uint64_t parent, std::string_view text) {
    CAIRN_TRY(enter(parent, text));
    return lock();
  }
  Status enter(uint64_t parent, std::string_view text);
  Status lock();
  // The lock goes, the seat stays: for what follows a change.
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

// A change that makes an inode and its first name; gives the inode back if it comes to nothing.
class Making {
 public:
  Making(FileSystem& fs, LocalSeat& seat) : fs_(fs), seat_(seat) {}
  ~Making();
  Making(const Making&) = delete;
  Making& operator=(const Making&) = delete;

  Status make(uint32_t mode);
  // Writes a link's text: short ones into the inode, others into its first block.
  Status write_target(std::string_view target);
  // Flushes the inode, then makes it live and names it, all at once.
  Status name(LockedName& at, const Slot& place, const LowerIdentity* lower, uint64_t now);

  [[nodiscard]] Map map() const { return {made_.inode, made_.number}; }
  Inode* operator->() const { return made_.inode; }

 private:
  FileSystem& fs_;
  LocalSeat& seat_;
  NewInode made_;
};

// One name, as it stands in a directory that nobody has locked.
struct NamePlace {
  const Map& directory;
  const Name& name;
};
// Page media: a name that shows a whole file must not show an empty one after a power loss, because
// another took its place before it was synced. Does nothing if `to` names nothing.
Status sync_what_replaces(FileSystem& fs, NamePlace from, NamePlace to, bool exchange);

// The inode of a name whose file still lies in lower, at least in part; 0 for all others.
Result<uint64_t> lower_inode(FileSystem& fs, const Map& directory, const Name& name);

// Stages a file that is to lose its name `text` while a process has it open. `*lost` gets its
// number if that fails. An opener of an imported file then gets errors when it reads. ENOSPC: lower
// has the only copy of an evicted file's bytes, and they do not fit.
Status stage_victim(FileSystem& fs, uint64_t number, std::string_view text, uint64_t* lost);
Status no_room_for_victim(std::string_view text);
// Before a name is removed or replaced: asks lower whether a directory is empty, and stages a file
// that a process has open.
Status fill_victim(FileSystem& fs, const Map& directory, const Name& name, uint64_t* lost);

}  // namespace cairn::file::names
