// Texts for messages about damage: the command that gets the data back.
#pragma once

#include <string>

namespace cairn::checkpoint {

// The text for one damaged version; others may be whole.
std::string see_what_is_whole(const std::string& set);

// The text if no version in the pool can be read. `directory`: of copies; "": the program has named
// none.
std::string get_copy_back(const std::string& set, const std::string& directory);

// The text if the pool can no longer hold the set.
std::string use_another_pool(const std::string& set);

// The text if the file `set` is lost; its versions can still be copied and removed.
std::string copy_and_restore(const std::string& set);

// The text if no copy of the newest line in `directory` is whole, and there is a line before it.
std::string get_earlier_line_back(const std::string& set, const std::string& directory);

}  // namespace cairn::checkpoint
