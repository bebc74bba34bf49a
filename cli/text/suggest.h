// "Did you mean ...?": the name nearest to a mistyped one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cairn::cli {

// Edits (insert, delete, replace, swap neighbours) that turn `a` into `b`.
size_t edit_distance(std::string_view a, std::string_view b);

// The candidate nearest to `name`, or "" if none is near enough to be what was meant.
std::string nearest(std::string_view name, const std::vector<std::string>& candidates);

// "; did you mean NEAREST?", or "".
std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace cairn::cli
