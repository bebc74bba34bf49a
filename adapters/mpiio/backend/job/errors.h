// Errors: the standard's class, and a text that names file, offset and cause.
#pragma once

#include <mpi.h>

#include <string>

namespace mpiio {

// The class for an errno (positive or negative).
int class_of(int error);
// Keeps the text for MPI_Error_string, and returns the class.
int error(int error_class, const std::string& text);
int system_error(int error, const std::string& what, const std::string& path);
// All go on only if all can: a rank's own code, or for who has none the highest of the others'.
int agree(MPI_Comm comm, int code);
// The text kept for this code, or null.
const char* text_of(int code);

}  // namespace mpiio
