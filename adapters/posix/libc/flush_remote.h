// Flushes the program's streams and Fortran units for files that are written on other hosts. They
// can be written while the job lasts, but not when the process ends.
#pragma once

namespace posix {

// Does not touch streams of other files, in which a thread may be waiting. gfortran's library
// cannot flush a single unit, so all of them are flushed.
void flush_unwritten();

}  // namespace posix
