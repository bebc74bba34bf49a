// Puts the runtime of AddressSanitizer first in LD_PRELOAD and starts the program again.
// AddressSanitizer ends a program in which its runtime is not the first library. gcc links the
// program to the runtime as a shared library, which would come after this one.
#pragma once

namespace posix::sanitizer {

// Takes the runtime out of the environment, so that programs started from this one do not get it.
void take_out();

}  // namespace posix::sanitizer
