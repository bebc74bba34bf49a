// CoverRecord is what a pool remembers of a cover. `/.covers/NAME` is the directory that stands for
// lower, and the file `/.covers/NAME.cover` holds the record; NAME is made from lower's real path.
// A cover exists as long as its record does. A process that died while it opened or discarded a
// cover may leave a directory without a record.
#pragma once

#include <functional>
#include <string>

#include "file/inode/file_system.h"
#include "tier/system/same_directory.h"

namespace cairn::tier {

struct CoverRecord {
  std::string path;  // the real path of the covered directory
  std::string job;   // empty: none was given
  bool keep = false;
  // Names the call of a launcher (mpirun) that started the last run; empty: no run had one.
  std::string launch = {};
  // These identify the directory (same_directory.h). A record that an earlier version wrote has
  // none of them.
  std::string token;          // the same as in the claim
  std::string earlier_token;  // the one before the claim got this token
  uint64_t owner = no_owner;  // of the claim, as the directory's file system shows it
  uint64_t directory_owner = no_owner;
  uint64_t directory_rights = 0;  // when it was covered, as file::Witness has them
  DirectoryMarks marks;
  // Records of files that several nodes write were removed with `.cairn`: parts that no record
  // names are kept until somebody discards the cover.
  bool records_lost = false;
  friend bool operator==(const CoverRecord&, const CoverRecord&) = default;
};

// Hidden, as all of Cairn's own names in a pool's root.
inline constexpr const char* covers_directory = ".covers";

std::string cover_name(const std::string& real_path);

// The inode of `/.covers`; 0 if there is none yet and `make` is not set.
Result<uint64_t> find_covers(file::FileSystem& fs, bool make);
// The inode of a name in a directory of the pool; 0 if there is no such name.
Result<uint64_t> find_child(file::FileSystem& fs, uint64_t directory, const std::string& name);
// The inode of a name, which is made with this type and mode if it is missing; mode 0: it is not
// made.
Result<uint64_t> find_or_make(file::FileSystem& fs, uint64_t directory, const std::string& name,
                              uint32_t mode);

// ENOENT if the cover has no record.
Result<CoverRecord> read_record(file::FileSystem& fs, uint64_t covers, const std::string& name);
// Writes a temporary file and renames it, so that there is an old record or a new one at all times.
Status write_record(file::FileSystem& fs, uint64_t covers, const std::string& name,
                    const CoverRecord& record);
Status remove_record(file::FileSystem& fs, uint64_t covers, const std::string& name);
// Calls visit(name, record) once for each cover of the pool.
Status for_each_record(
    file::FileSystem& fs,
    const std::function<Status(const std::string& name, const CoverRecord& record)>& visit);

// Read and write all of a small file of Cairn's in the pool.
Result<std::string> read_pool_file(file::FileSystem& fs, uint64_t inode);
Status write_pool_file(file::FileSystem& fs, uint64_t directory, const std::string& name,
                       const std::string& text);

}  // namespace cairn::tier
