// SetNames: names of sets and of their files, looked up past damage. Where the index of a directory
// does not lead to a name any more, its slot does, and else the inode that the name stood for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "file/inode/file_system.h"

namespace cairn::checkpoint {

// The inode of a name in a directory; 0: there is none.
Result<uint64_t> find_name(file::FileSystem& fs, uint64_t directory, const std::string& name);
// The first `most` bytes of a file, or all of a shorter one. ENOENT.
Result<std::vector<uint8_t>> read_whole(file::FileSystem& fs, uint64_t directory,
                                        const std::string& name, uint64_t most);
// Removes a file's name, also one that the index does not lead to. None is no error.
Status remove_name(file::FileSystem& fs, uint64_t directory, const std::string& name);

// The names of the sets in a pool, ascending. What is not named like a set does not count.
Result<std::vector<std::string>> list_sets(file::FileSystem& fs);

// Where a set lies. 0: it is not there.
struct SetPlace {
  uint64_t all = 0;        // `.checkpoints`
  uint64_t directory = 0;  // of the set
};
// EUCLEAN: the directory of the set is damaged.
Result<SetPlace> find_set(file::FileSystem& fs, const std::string& name);
// The name that the record of a set in a directory says. "": there is no sound one.
std::string recorded_name(file::FileSystem& fs, uint64_t directory);
// The inode of `.checkpoints`; 0: there is none.
Result<uint64_t> find_sets(file::FileSystem& fs);
// Does a live process make the set, or what it lies in?
bool is_set_being_made(file::FileSystem& fs, const std::string& name);
Status remove_set_directory(file::FileSystem& fs, const SetPlace& place, const std::string& name);

// Before a set is made anew: EUCLEAN if names are damaged, so that one of this name may be hidden.
Status check_no_set_is_hidden(file::FileSystem& fs, const std::string& name);

}  // namespace cairn::checkpoint
