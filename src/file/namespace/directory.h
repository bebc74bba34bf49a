// Directory: the names in one directory (docs/format/directory.md).
//
// Names lie in slots of 64-byte units in the directory's own blocks, chained in a hash index that
// grows by one bucket at a time (linear hashing), so that every operation is constant time. A
// look-up takes no lock. A new name becomes visible by one word. Every other change makes the
// directory's shape odd for a moment, and a look-up that overlaps it is repeated.
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
// Hashes a name. ENAMETOOLONG above 255 bytes.
Result<Name> make_name(const char* text, size_t length);

// Returns true if the name stays in its directory wherever it is used, also in lower: 1 to 255
// bytes, neither "." nor "..", without "/" and without zero bytes. Cairn creates no other names,
// but a pool is not trusted further: a process that can write to it can put any bytes into a slot.
bool is_sound_name(const char* text, size_t length);
// Returns any bytes as a message may hold them: unprintable ones as \xNN, shortened if long.
std::string printable_name(const char* text, size_t length);

struct DirentSlot {
  uint64_t unit = 0;
  format::Dirent* dirent = nullptr;
  uint64_t head = 0;
  uint64_t inode = 0;
  uint64_t generation = 0;  // of the inode when the name was read: numbers are reused
  bool has_lower = false;   // the name has a witness in lower, not only room for one
  [[nodiscard]] bool is_whiteout() const { return (head & format::dirent_whiteout) != 0; }
  [[nodiscard]] unsigned type() const { return format::dirent_type(head); }
};

// Finds a name. ENOENT if it is not there; whiteouts are found only if asked for. The caller is in
// a SeatGuard.
Result<DirentSlot> find_name(const FileSystem& fs, const Map& directory, const Name& name,
                             bool whiteouts = false);

// --- changes; the caller holds the directory's lock ---
// Adds one bucket to the index if it is crowded, as a change of its own.
Status grow_index(FileSystem& fs, LocalSeat& seat, const Map& directory);
// Returns the place for a name that is about to be made: a whiteout that it takes over, or a slot
// without a dirent if there is none. EEXIST if the name is there.
Result<DirentSlot> place_for(const FileSystem& fs, const Map& directory, const Name& name);
// The parameters of a new name. `now` is the directory's new time; 0: the time stays.
struct NewDirent {
  uint64_t inode = 0;
  unsigned type = 0;
  uint64_t now = 0;
  const Witness* lower = nullptr;
};
Status insert_name(FileSystem& fs, LocalSeat& seat, pool::RedoChange& change, const Map& directory,
                   const Name& name, const DirentSlot& place, const NewDirent& made);
// Removes a name; one that came from lower leaves a whiteout.
Status remove_name(FileSystem& fs, pool::RedoChange& change, const Map& directory,
                   const DirentSlot& slot, const Name& name, uint64_t now);
// Makes the name refer to another inode.
void replace_name(pool::RedoChange& change, const DirentSlot& slot, uint64_t inode, unsigned type);
// Sets the name's witness in lower after draining (null: lower no longer has the name, which ends a
// whiteout for good). The change is in place if the name's slot has room for a witness, as all
// slots below a covered directory have (flag_covered); else the name moves to a slot that has.
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
// Returns an array for some of the names of a directory, or for all of them if they are few.
inline std::vector<Listed> listing_room(const Map& directory, size_t most = 64) {
  const uint64_t names = directory.inode->directory.entries.load();
  return std::vector<Listed>(std::clamp<uint64_t>(names, 1, most));
}
// Lists up to `capacity` names from `cookie` on (0: the first unit). The caller adds "." and "..".
// Unsound names are left out and reported at the end: the first call that finds no more names fails
// with EUCLEAN, so that the sound ones can still be reached. Whiteouts are listed only if asked
// for.
Result<size_t> list_names(FileSystem& fs, LocalSeat& seat, const Map& directory, uint64_t cookie,
                          Listed* listed, size_t capacity, bool whiteouts = false);

// Does what list_names() does, without the lock, for a pool that no process changes.
Result<size_t> list_names_unlocked(const FileSystem& fs, const Map& directory, uint64_t cookie,
                                   Listed* listed, size_t capacity, bool whiteouts);

// Lists all live slots, also whiteouts and unsound names. The caller holds the lock, or accepts
// that names change meanwhile.
Result<size_t> list_slots(const FileSystem& fs, const Map& directory, uint64_t cookie,
                          Listed* listed, size_t capacity);

}  // namespace cairn::file
