// Texts of errors: one sentence from what several layers said, in the room that an MPI has for it.
// Free of MPI.
#pragma once

#include <cstddef>
#include <string>

namespace mpiio {

// "path: what: cause". `said` is what a layer below told, which may begin with the file's name and
// with what was done, once or twice: that is said once, and of two offsets the one that failed.
std::string told_once(const std::string& path, const std::string& what, const std::string& said);
// The text in at most `room` bytes: its cause and advice stand at its end, so the name that it
// begins with is shortened in its middle.
std::string fitted(const std::string& text, size_t room);

}  // namespace mpiio
