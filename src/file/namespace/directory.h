// Directory: the names in one directory (docs/format/directory.md).
//
// Names lie in slots of 64-byte units in the directory's own blocks, chained in a hash index that
// grows by one bucket at a time (linear hashing), so that every operation is constant time. Looking
// up takes no lock: new names become visible by one word; everything else makes the directory's
// shape odd for a moment, and a look-up that ran across that is done again.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "file/inode/file_system.h"
#include "file/namespace/witness.h"
#include "pool/core/redo.h"

namespace cairn::file {

struct Name {
  const char* text = nullptr;
  unsigned length = 0;
  uint32_t hash = 0;

  [[nodiscard]] std::string_view view() const { return {text, length}; }
};
// ENAMETOOLONG above 255 bytes.
Result<Name> make_name(const char* text, size_t length);

// A sound name stays in its directory wherever it is used, in lower too: 1 to 255 bytes, neither
// "." nor "..", without "/" and without zero bytes. No call of ours makes another one, but a pool
// is trusted no further than this: a process that can write to it can put any bytes into a slot.
bool is_sound_name(const char* text, size_t length);
// Any bytes as a message may hold them: unprintable ones as \xNN, and not too many.
std::string shown_name(const char* text, size_t length);

struct DirentSlot {
  uint64_t unit = 0;
  format::Dirent* dirent = nullptr;
  uint64_t head = 0;
  uint64_t inode = 0;
  uint64_t generation = 0;  // of the inode, while the name was there: numbers are used again
  bool has_lower = false;   // the name has a witness in lower, not only room for one
  [[nodiscard]] bool is_whiteout() const { return (head & format::dirent_whiteout) != 0; }
  [[nodiscard]] unsigned type() const { return format::dirent_type(head); }
};

// ENOENT if the name is not there; whiteouts are found only if asked for. The caller is in a
// SeatGuard.
Result<DirentSlot> find_name(const FileSystem& fs, const Map& directory, const Name& name,
                             bool whiteouts = false);

// --- changes; the caller holds the directory's lock ---
// Makes room for one more bucket if the index is crowded; a change of its own.
Status grow_index(FileSystem& fs, LocalSeat& seat, const Map& directory);
// What a name that is about to be made meets: EEXIST, or a whiteout that it takes over, or (a slot
// without a dirent) nothing.
Result<DirentSlot> place_for(const FileSystem& fs, const Map& directory, const Name& name);
// Adds a name at that place. `now` is the directory's new time, 0: it keeps its own.
struct NewDirent {
  uint64_t inode = 0;
  unsigned type = 0;
  uint64_t now = 0;
  const Witness* lower = nullptr;
};
Status insert_name(FileSystem& fs, LocalSeat& seat, pool::Change& change, const Map& directory,
                   const Name& name, const DirentSlot& place, const NewDirent& made);
// Takes a name away; one that came from lower leaves a whiteout.
Status remove_name(FileSystem& fs, pool::Change& change, const Map& directory,
                   const DirentSlot& slot, const Name& name, uint64_t now);
// The name now names another inode.
void replace_name(pool::Change& change, const DirentSlot& slot, uint64_t inode, unsigned type);
// After draining: the name's witness in lower is this now (null: it is not there any more, which
// ends a whiteout for good). In place where the name's slot has room for a witness, as all have
// that were made below a covered directory (flag_covered); else the name moves to a slot that has.
Status set_lower_witness(FileSystem& fs, LocalSeat& seat, const Map& directory, const Name& name,
                         const Witness* lower);

struct Listed {
  uint64_t inode = 0;
  uint64_t unit = 0;    // where its slot begins
  uint64_t cookie = 0;  // continue here
  unsigned type = 0;
  unsigned length = 0;
  bool whiteout = false;
  bool has_lower = false;
  bool sound =
      true;  // else only list_slots() gives it; `name` is as much of it as lies in its slot
  Witness lower;
  char name[256];  // ends in a zero byte
};
// Room for some of the names of a directory: for all of them if they are few.
inline std::vector<Listed> listing_room(const Map& directory, size_t most = 64) {
  const uint64_t names = directory.inode->directory.entries.load();
  return std::vector<Listed>(std::clamp<uint64_t>(names, 1, most));
}
// Up to `capacity` names from `cookie` on (0: the first unit; "." and ".." are the caller's).
// Unsound names are left out. EUCLEAN instead of the end tells of them: the first call that finds
// no more names fails, so that the sound ones can still be reached. Whiteouts count only if asked
// for.
Result<size_t> list_names(FileSystem& fs, LocalSeat& seat, const Map& directory, uint64_t cookie,
                          Listed* listed, size_t capacity, bool whiteouts = false);

// As list_names(), without the lock, for a pool that no process changes.
Result<size_t> list_names_unlocked(const FileSystem& fs, const Map& directory, uint64_t cookie,
                                   Listed* listed, size_t capacity, bool whiteouts);

// All live slots, whiteouts and unsound names too. Without the lock, or with the lock held.
Result<size_t> list_slots(const FileSystem& fs, const Map& directory, uint64_t cookie,
                          Listed* listed, size_t capacity);

}  // namespace cairn::file
