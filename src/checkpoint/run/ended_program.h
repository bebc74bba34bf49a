// EndedProgram: records how the program of a `cairn run` ended, for the attempts of its runs.
#pragma once

#include <cstdint>
#include <string_view>

#include "checkpoint/store/attempts.h"
#include "file/inode/file_system.h"

namespace cairn::checkpoint {

// Returns the word by which a member of a run knows its `cairn run`, from the text CAIRN_RUN; 0: it
// has none.
uint64_t launcher_of(std::string_view cairn_run);

// Records the end for each set whose last run had a member of this launcher. A set that is damaged,
// or in use by another run, stays as it is.
Status note_ended_program(file::FileSystem& fs, uint64_t launcher, RunEnd end);

}  // namespace cairn::checkpoint
