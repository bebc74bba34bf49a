// AddressSanitizer ends a program in which its runtime is not the first library. Where the program
// is linked to the runtime as a shared library, as by gcc, it would come after us: the program is
// started again, with the runtime first in LD_PRELOAD.
#pragma once

namespace posix::sanitizer {

// Takes the runtime out of the environment: it is for this program only.
void take_out();

}  // namespace posix::sanitizer
