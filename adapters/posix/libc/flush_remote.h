// What the program's streams and Fortran units still hold for files that are written on other
// hosts: it can be written as long as there is a job, and not when the process ends.
#pragma once

namespace posix {

// Looks at no stream or unit of another file, which a thread may be waiting in; but gfortran's
// library gives no way to one unit of many.
void flush_unwritten();

}  // namespace posix
