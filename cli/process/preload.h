// Finds and names the preloaded library, through which programs reach a covered directory.
#pragma once

#include <optional>
#include <string>

namespace cairn::cli {

// libcairn_posix.so beside this command (../lib), or nothing.
std::optional<std::string> find_preload();

// Adds `library` to a value of LD_PRELOAD, once, behind the libraries that are there already: tools
// like Darshan come first.
std::string preload_with(const std::string& present, const std::string& library);
// Removes every libcairn_posix.so from a value of LD_PRELOAD.
std::string preload_without(const std::string& present);

// Starts the same command again without the preloaded library, if that is loaded into this process:
// a command that looks at the covered directory itself must not see it through the cover.
void leave_cover(char** argv);

}  // namespace cairn::cli
