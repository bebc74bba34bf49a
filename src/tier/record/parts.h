// Parts are what this pool holds of files that several nodes write: `/.parts/NAME/UUID`, where NAME
// is that of the cover (record.h) and UUID the shared file's, in hexadecimal digits. A part is
// sparse, with the file's own offsets. The shared file's record (cluster/record/record.h) says
// which of its bytes count.
#pragma once

#include <functional>
#include <string>

#include "file/inode/file_system.h"

namespace cairn::tier {

inline constexpr const char* parts_directory = ".parts";

// The directory `/.parts/NAME`; 0 if there is none and `make` is not set.
Result<uint64_t> find_parts(file::FileSystem& fs, const std::string& cover_name, bool make);
// The inode of a part; 0 if there is none and `make` is not set.
Result<uint64_t> find_part(file::FileSystem& fs, const std::string& cover_name,
                           const std::string& uuid, bool make);
Status remove_part(file::FileSystem& fs, const std::string& cover_name, const std::string& uuid);
// Calls visit(uuid, bytes taken) for each part of the cover.
Status for_each_part(file::FileSystem& fs, const std::string& cover_name,
                     const std::function<Status(const std::string& uuid, uint64_t bytes)>& visit);
Result<bool> has_parts(file::FileSystem& fs, const std::string& cover_name);
// Are the records of files that several nodes write missing in a covered directory, or does the
// directory in their place not count (records_directory.h)? Cairn keeps them while there is a
// claim, so a user has removed them. `owner`: CoverRecord::owner.
bool are_records_missing(const std::string& directory, uint64_t owner);
// Were records found missing earlier (CoverRecord::records_lost)? Then parts that no record names
// are kept.
Result<bool> are_records_lost(file::FileSystem& fs, const std::string& cover_name);
// Notes which directory `.cairn` holds the records of the cover's parts, when the first part is
// made. `records`: this directory, open.
Status note_records(file::FileSystem& fs, const std::string& cover_name, int records);
// Was that another `.cairn` than this open one? Then it was exchanged, and parts that no record in
// it names are kept.
Result<bool> are_records_exchanged(file::FileSystem& fs, const std::string& cover_name,
                                   int records);
// Removes all parts of the cover, and their directory.
Status wipe_parts(file::FileSystem& fs, const std::string& cover_name);

}  // namespace cairn::tier
