// The preloaded library that programs reach a covered directory through.
#pragma once

#include <optional>
#include <string>

namespace cairn::cli {

// libcairn_posix.so beside this command (../lib), or nothing.
std::optional<std::string> find_preload();

// LD_PRELOAD with `library` after what is there already (tools like Darshan come first), once.
std::string preload_with(const std::string& present, const std::string& library);
// The same without any libcairn_posix.so.
std::string preload_without(const std::string& present);

// A command that looks at the covered directory itself must not see it through the cover: if the
// library is preloaded into this process, starts the same command again without it.
void leave_cover(char** argv);

}  // namespace cairn::cli
