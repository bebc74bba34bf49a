// DrainMode says when a file of a cover is drained: the file itself, or all files below a
// directory. It is an extended attribute, so it needs no format of its own, and is drained and
// imported with the other ones. A file without a mode has that of the nearest directory above it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "file/inode/file_system.h"

namespace cairn::tier {

// The numbers are those of the C API.
enum class DrainMode : uint8_t {
  inherit = 0,  // it has no mode of its own
  exit = 1,     // when the run ends
  close = 2,    // also while the run goes on, when no process has the file open
  async = 3,    // also while it is open
  never = 4,    // not at all
};

inline constexpr const char* drain_mode_attribute = "user.cairn.drain";

// The name of a mode that is not `inherit`.
const char* text_of(DrainMode mode);
// EINVAL: the text is not a mode; the detail names the nearest one.
Result<DrainMode> drain_mode_of(std::string_view text);

// The mode of the inode itself. An attribute with any other value counts as none, and so does
// `never` on a file that belongs to another user than the pool's or root.
DrainMode own_drain_mode(file::FileSystem& fs, const file::Map& map);
// Gives the inode a mode, which counts as a change of it. `inherit`: removes its own. ESTALE as
// file::set_xattr().
Status set_drain_mode(file::FileSystem& fs, const file::Map& map, uint64_t generation,
                      DrainMode mode);
// Notes that the inode's mode comes from lower; forgets it when a program sets the mode.
Status note_mode_of_lower(file::FileSystem& fs, const file::Map& map);
void forget_mode_of_lower(file::FileSystem& fs, const file::Map& map);
// Is the inode's own mode `never`, and has no program set it since it was imported?
bool has_never_of_lower(file::FileSystem& fs, const file::Map& map);
// The mode in force for a name in a directory for which `above` is in force.
DrainMode drain_mode_in(file::FileSystem& fs, const file::Map& map, DrainMode above);

}  // namespace cairn::tier
