// The limit to the size of files (`ulimit -f`) that the command was started under is the program's,
// not the command's: a pool is larger than any of its files, and so may be what a drain has to
// copy.
#pragma once

namespace cairn::cli {

// Raises the command's own limit as far as the system lets it. What is beyond that is an error
// (EFBIG), no signal. Once, and not before leave_cover(): what is executed inherits both.
void raise_own_size_limit();
// Restores the limit, in the process that is about to become the program.
void restore_size_limit();

}  // namespace cairn::cli
