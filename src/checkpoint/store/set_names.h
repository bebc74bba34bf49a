// SetNames: looks up sets and their files past damage. If the index of a directory no longer leads
// to a name, the name's slot may, or else the inode that the name referred to.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "file/inode/file_system.h"

namespace cairn::checkpoint {

// Returns the inode of a name in a directory; 0: there is none.
Result<uint64_t> find_name(file::FileSystem& fs, uint64_t directory, const std::string& name);
// Returns the first `most` bytes of a file, or all of a shorter one. ENOENT.
Result<std::vector<uint8_t>> read_whole(file::FileSystem& fs, uint64_t directory,
                                        const std::string& name, uint64_t most);
// Removes a file's name, also one that the index does not lead to. A missing name is no error.
Status remove_name(file::FileSystem& fs, uint64_t directory, const std::string& name);

// Returns the names of the sets in a pool, ascending, without files that are not named like a set.
Result<std::vector<std::string>> list_sets(file::FileSystem& fs);

// The place of a set; `directory` 0: it is not there.
struct SetPlace {
  uint64_t all = 0;        // `.checkpoints`
  uint64_t directory = 0;  // of the set
};
// Finds a set. EUCLEAN: its directory is damaged.
Result<SetPlace> find_set(file::FileSystem& fs, const std::string& name);
// Returns the name in the record of a set's directory; "": there is no sound one.
std::string recorded_name(file::FileSystem& fs, uint64_t directory);
// Returns the inode of `.checkpoints`; 0: there is none.
Result<uint64_t> find_sets(file::FileSystem& fs);
// Returns true if a live process is making the set, or a directory above it.
bool is_set_being_made(file::FileSystem& fs, const std::string& name);
Status remove_set_directory(file::FileSystem& fs, const SetPlace& place, const std::string& name);

// Returns EUCLEAN, before a set is made anew, if damaged names may hide one of this name.
Status check_no_set_is_hidden(file::FileSystem& fs, const std::string& name);

}  // namespace cairn::checkpoint
