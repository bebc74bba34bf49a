// A record is what a pool remembers of a cover. `/.covers/NAME` is the directory that stands for
// lower, and the file `/.covers/NAME.cover` says for what; NAME is made from lower's real path. A
// cover exists as long as its record does: a directory without one was left by a process that died
// while it opened or discarded the cover.
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
  // Which directory it is (same_directory.h). A record that an earlier version wrote has none of
  // these.
  std::string token;          // as the claim says it too
  std::string earlier_token;  // in force until the claim said another one
  uint64_t owner = no_owner;  // of the claim, as the directory's file system shows it
  uint64_t directory_owner = no_owner;
  DirectoryMarks marks;
  // Records of files that several nodes write were removed with `.cairn`: parts that no record
  // names are kept until somebody discards the cover.
  bool records_lost = false;
  friend bool operator==(const CoverRecord&, const CoverRecord&) = default;
};

// Hidden, as everything of ours in a pool's root.
inline constexpr const char* covers_directory = ".covers";

std::string cover_name(const std::string& real_path);

// The inode of `/.covers`; 0 if there is none yet and `make` is not set.
Result<uint64_t> find_covers(file::FileSystem& fs, bool make);
// The inode that a name in a directory of the pool names, 0 if none does.
Result<uint64_t> find_child(file::FileSystem& fs, uint64_t directory, const std::string& name);
// As find_child(), but made with this type and mode if it is not there; mode 0: not made.
Result<uint64_t> find_or_make(file::FileSystem& fs, uint64_t directory, const std::string& name,
                              uint32_t mode);

// ENOENT if the cover has no record.
Result<CoverRecord> read_record(file::FileSystem& fs, uint64_t covers, const std::string& name);
// Written aside and renamed: there is an old or a new one, never a part of one.
Status write_record(file::FileSystem& fs, uint64_t covers, const std::string& name,
                    const CoverRecord& record);
Status remove_record(file::FileSystem& fs, uint64_t covers, const std::string& name);
// Calls visit(name, record) for each cover of the pool.
Status for_each_record(
    file::FileSystem& fs,
    const std::function<Status(const std::string& name, const CoverRecord& record)>& visit);

// A small file of ours in the pool, whole.
Result<std::string> read_pool_file(file::FileSystem& fs, uint64_t inode);
Status write_pool_file(file::FileSystem& fs, uint64_t directory, const std::string& name,
                       const std::string& text);

}  // namespace cairn::tier
