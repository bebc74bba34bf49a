// Reads a whole file that the user or the environment names. The file is opened once, without
// waiting for the writer of a FIFO, and judged by its descriptor: a regular file of bounded size,
// which belongs to the user or to root, and which nobody else can write to. The command has the
// same in cli/frame/bounded_file.h.
#pragma once

#include <cstddef>
#include <string>

#include "base/status.h"

namespace cairn {

// Fails with the errno of opening or reading; EPERM: others' file; EINVAL: not a regular file;
// EFBIG: it is too large.
Result<std::string> read_trusted_file(const std::string& path, size_t most_bytes);

}  // namespace cairn
