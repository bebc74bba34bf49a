// A core dump that the kernel could not write, because the working directory was covered.
#pragma once

#include <string>

namespace cairn::cli {

// Explains a missing core dump, when a program under a cover of `directory` has ended with `status`
// (as waitpid gives it). "" if no dump was asked for, or one was written, or kernel.core_pattern
// leads elsewhere.
std::string missing_core_text(int status, const std::string& program, const std::string& directory);

// Does so for a given kernel.core_pattern, where dumps are asked for.
std::string missing_core_text(int status, const std::string& program, const std::string& directory,
                              const std::string& pattern);

}  // namespace cairn::cli
