// What `cairn run` saw of its program's end, for the attempts of the runs that it belonged to.
#pragma once

#include <cstdint>
#include <string_view>

#include "checkpoint/store/attempts.h"
#include "file/inode/file_system.h"

namespace cairn::checkpoint {

// The word by which a member of a run knows its `cairn run`: of the text CAIRN_RUN; 0: it has none.
uint64_t launcher_of(std::string_view cairn_run);

// Notes it for each set whose last run had a member of this launcher. A set that is damaged, or
// that another run uses by now, is left as it is.
Status note_ended_program(file::FileSystem& fs, uint64_t launcher, RunEnd end);

}  // namespace cairn::checkpoint
