// A core dump that the kernel could not write, because the working directory was covered.
#pragma once

#include <string>

namespace cairn::cli {

// What to tell when a program under a cover of `directory` has ended with `status` (as waitpid
// gives it); "" if no dump was asked for, or one was written, or kernel.core_pattern leads
// elsewhere.
std::string missing_core_text(int status, const std::string& program, const std::string& directory);

// What to tell where dumps are asked for and kernel.core_pattern is `pattern`.
std::string missing_core_text(int status, const std::string& program, const std::string& directory,
                              const std::string& pattern);

}  // namespace cairn::cli
