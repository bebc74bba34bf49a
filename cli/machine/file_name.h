// How a file that is complete gets its name: durably, and without replacing another one unless that
// was asked for.
#pragma once

#include <string>
#include <vector>

#include "machine/data_file.h"

namespace cairn::cli {

// "." or "/" where the path says no more.
std::string directory_of(const std::string& path);
// Behind the last slash.
std::string name_of(const std::string& path);

// Opens a directory, which need not be readable: the descriptor is O_PATH. Throws.
DataFile open_directory(const std::string& path);
// All names in a directory but "." and "..", ascending. Throws, with this path.
std::vector<std::string> names_in(int directory, const std::string& path);
// Has this file the name in the directory? A symbolic link is not followed.
bool has_name(const DataFile& directory, const std::string& name, const DataFile& file);

// Names of two directories of one file system, by their descriptors. The errno; EEXIST, without
// `replaces`: there is a file of that name.
int give_name(int from, const std::string& name, int to, const std::string& new_name,
              bool replaces);
// Does nothing where the directory is not readable. Throws, with this path.
void sync_directory(int descriptor, const std::string& path);
// Sixteen digits that no other process draws.
std::string random_digits();

}  // namespace cairn::cli
