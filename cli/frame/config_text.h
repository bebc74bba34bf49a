// The text of a configuration file, read without building a tree. Depth is bounded, and aliases are
// refused: a few lines with aliases can stand for billions of values, or for themselves.
#pragma once

#include <functional>
#include <string>

namespace cairn::cli {

// Calls visit(key, value, "PATH:LINE") for each value, in order; keys below others are joined by
// dots: {pool: {size: 4G}} and {pool.size: 4G} are the same. `value` is null if it is not a single
// value. Throws Error(exit_usage) that names path and line.
void read_config_text(const std::string& text, const std::string& path,
                      const std::function<void(const std::string& key, const std::string* value,
                                               const std::string& place)>& visit);

}  // namespace cairn::cli
