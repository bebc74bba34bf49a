// Warns of pools that a logout or the end of a job would remove.
#pragma once

#include <string>
#include <vector>

#include "text/output.h"

namespace cairn::cli {

// One line for each reason that the library knows; mostly none.
std::vector<std::string> lifetime_warnings(const std::string& path);
// They go to stderr, or with --json into what the command prints, as "warnings".
void warn_all(const std::vector<std::string>& warnings);
Json with_warnings(Json json, const std::vector<std::string>& warnings);

}  // namespace cairn::cli
