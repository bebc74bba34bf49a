// Texts of errors: combines what several layers said into one sentence, of the length that an MPI
// allows. Free of MPI.
#pragma once

#include <cstddef>
#include <string>

namespace mpiio {

// Returns "path: what: cause". `said` is a lower layer's text, which may begin with the file's name
// and the operation, once or twice. The result has both once, with the offset that failed.
std::string told_once(const std::string& path, const std::string& what, const std::string& said);
// Shortens the text to `room` bytes. Its cause and advice stand at its end, so the name at its
// begin is shortened in the middle.
std::string fitted(const std::string& text, size_t room);

}  // namespace mpiio
