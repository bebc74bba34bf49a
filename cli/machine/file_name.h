// How a file that is complete gets its name: durably, and without replacing another one unless that
// was asked for.
#pragma once

#include <string>

namespace cairn::cli {

// "." or "/" where the path says no more.
std::string directory_of(const std::string& path);
// Behind the last slash.
std::string name_of(const std::string& path);

// Names of two directories of one file system, by their descriptors. The errno; EEXIST, without
// `replaces`: there is a file of that name.
int give_name(int from, const std::string& name, int to, const std::string& new_name,
              bool replaces);
// Throws, with this path.
void sync_directory(int descriptor, const std::string& path);
// Sixteen digits that no other process draws.
std::string random_digits();

}  // namespace cairn::cli
