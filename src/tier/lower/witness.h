// Tells whether a file or directory in lower is the one that the pool remembers. All of tier/ and
// cluster/ compare files here, and nowhere by hand (tests/structure/witness_test.py).
//
// Device and inode number do not suffice: a file system gives the number of a removed file to the
// next one, and its owner sets size and mtime at will. Nobody sets the time of creation, nor the
// ctime, which changes with every change of rights.
#pragma once

#include <string>

#include "file/inode/attributes.h"
#include "file/inode/file_system.h"
#include "file/namespace/witness.h"
#include "tier/lower/known_cover.h"
#include "tier/system/system.h"

namespace cairn::tier {

// How a file differs from what is remembered, from less to more.
enum class Difference : uint8_t {
  none,
  rights,    // the same file with the same bytes; owner or ctime differ, or one is not known
  contents,  // the same file with another size or mtime
  another    // another file
};
struct Comparison {
  Difference difference = Difference::none;
  const char* reason = "";  // for messages
  // A file with the bytes that are remembered, whatever its rights; or the same directory.
  [[nodiscard]] bool is_same() const { return difference <= Difference::rights; }
};

// The witness of a file that was just looked at. The device of the covered directory is noted as 0:
// network file systems get another number with every mount.
file::Witness witness_of(const KnownCover& cover, const sys::FileStat& st);
// The witness of a directory holds its owner in `mtime`. `size` holds the newest ctime that any
// entry at or below it had when it was imported or drained; a removal is checked against that.
// newest_unknown: the directory holds an entry that the pool does not know, so it is not removed.
inline constexpr uint64_t newest_unknown = 0;
file::Witness directory_witness(const KnownCover& cover, const sys::FileStat& st, uint64_t newest);
// Notes the owner of the directory in its witness.
void note_owner_in(file::Witness* directory, const sys::FileStat& st);
// Computes Witness::rights: owner, group and permissions that the pool had when it and lower were
// last the same. If those of the pool differ now, the program has changed them since.
uint64_t noted_rights(uint32_t uid, uint32_t gid, uint32_t mode);

// Compares what is there now. A directory is the same only if its owner is the one that is
// remembered, the user, or root. For root's processes the owner counts only where the time of
// creation is not known: root's programs give directories to other users.
Comparison compare(const KnownCover& known, const file::Witness& remembered,
                   const sys::FileStat& st);
// Compares two witnesses of files.
Comparison compare(const file::Witness& remembered, const file::Witness& found);
// Are two witnesses of the same file or directory, whatever was changed in it in between?
bool are_of_same_file(const file::Witness& a, const file::Witness& b);
inline bool is_remembered(const KnownCover& known, const file::Witness& witness,
                          const sys::FileStat& st) {
  return compare(known, witness, st).is_same();
}
// Do two looks, of which one is at an open descriptor, show the same file?
bool is_same_file(const sys::FileStat& a, const sys::FileStat& b);

// May another user than this one and root write the file, as far as its owner and mode tell?
// `owner`: CoverRecord::owner.
bool may_be_written_by_others(const sys::FileStat& st, uint64_t owner);
// May one have written it since it was remembered?
bool may_have_been_written_by_others(const file::Witness& remembered, const sys::FileStat& st,
                                     uint64_t owner);

// Rights that the pool gives to a file whose bytes are in lower.
struct Rights {
  uint32_t uid = 0;
  uint32_t gid = 0;
  uint32_t mode = 0;
  bool has_attributes = false;  // capabilities and the like
};
// The attributes of the pool, with owner, group and permissions as they are in lower by now where
// the program has not changed them in the pool. If the owner is another than in lower, permissions
// that are not both there and in the pool are left out. A set-ID bit stays only if pool or lower
// has it together with the same owner or group. `remembered`, `lower`: of the same file or
// directory. `is_new`: of a new file, which this process owns unless it is root's.
file::Attributes merge_rights(const file::Witness& remembered, const sys::FileStat& lower,
                              const file::Attributes& pool, bool is_new = false);
// Would the bytes in lower act for another user or group with these rights than they do now?
bool gives_rights(const sys::FileStat& st, const Rights& wanted);
// May this process set the mode on the file itself, although others can write to it? It may if the
// same users could write to it when the pool remembered it, and can do so now and afterwards. A
// user who has the file open can then do nothing that this user could not do afterwards. So a plain
// chmod by a user whose umask leaves the group its rights copies nothing. A set-ID bit is never set
// so: the kernel takes it away when another user writes, and the drain would set it again.
bool keeps_writers(const file::Witness& remembered, const sys::FileStat& st, const Rights& wanted);
// May the bytes that are in lower now have these rights? Not if another user may have written them
// since the pool looked at the file: the owner can set its times back, and only the ctime tells.
bool may_have_rights(const KnownCover& known, const file::Witness& remembered,
                     const sys::FileStat& st, const Rights& wanted, uint64_t owner);

// Notes what lower has under a name of the pool (null: nothing). ENOENT: the pool has no such name.
Status set_witness(file::FileSystem& fs, const file::Map& directory, const std::string& name,
                   const file::Witness* witness);

}  // namespace cairn::tier
