// Records directory: what lies in `.cairn` of a covered directory, reached from its descriptor and
// through no symbolic link (tier/record/records_directory.h says whose it must be).
//
// In it, too, only directories and regular files of the user count, and what does not is treated as
// if it were not there. Paths are relative to it; "" is itself.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/status.h"
#include "file/inode/file_system.h"
#include "tier/record/records_directory.h"
#include "tier/system/system.h"

namespace cairn::cluster {

// The records of which covered directory (by its real path), and whose they may be besides the
// user's (CoverRecord::owner).
struct RecordsOf {
  // NOLINTNEXTLINE(google-explicit-constructor)
  RecordsOf(std::string path, uint64_t also = tier::no_owner)
      : directory(std::move(path)), owner(also) {}
  std::string directory;
  uint64_t owner;
};
// As the pool's cover of this name says.
RecordsOf records_of(file::FileSystem& fs, const std::string& directory, const std::string& cover);

// A path below a covered directory: relative, without empty components, "." and "..", and nothing
// that Cairn keeps for itself.
bool is_path_below(const std::string& path);

// A path as messages tell it, which have little room: cut in the middle if it is long.
std::string told(const std::string& path);

// The path of `name` in the directory `above`, which may be "".
std::string joined(const std::string& above, const std::string& name);
// In the directory above: its path ("" for the top), and the name there.
std::string above_of(const std::string& path);
std::string name_in(const std::string& path);

// What a walk has passed over although it may be a record, or hold some: it does not count, or lies
// too deep. One of them, with one of ours before others.
struct PassedOver {
  std::string path;  // "": nothing was
  std::string why;
  bool is_ours = false;  // of a user whose records count, so that only its mode speaks against it

  void note(const std::string& where, const std::string& reason, bool ours);
};

class RecordsDirectory {
 public:
  RecordsDirectory() = default;
  // ENOENT: there is none that counts. `ignored`: why what lies there does not.
  static Result<RecordsDirectory> open(const RecordsOf& of, std::string* ignored = nullptr);
  // The same in the covered directory that is open.
  static Result<RecordsDirectory> open_in(const tier::sys::Descriptor& covered, const RecordsOf& of,
                                          std::string* ignored = nullptr);
  // Makes it if need be. EPERM: something else has its name.
  static Result<RecordsDirectory> make(const RecordsOf& of);

  [[nodiscard]] const RecordsOf& of() const { return of_; }
  // For messages.
  [[nodiscard]] std::string path_of(const std::string& path) const;

  // A directory in it. ENOENT also for what does not count.
  [[nodiscard]] Result<tier::sys::Descriptor> open_directory(const std::string& path) const;
  // Makes what is missing on the way to it, durably. EPERM: something there does not count.
  [[nodiscard]] Result<tier::sys::Descriptor> make_directory(const std::string& path) const;
  // All bytes of a file. ENOENT also for what does not count, and if it is longer than `most`.
  [[nodiscard]] Result<std::vector<uint8_t>> read(const std::string& path, uint64_t most) const;
  // EPERM if something has the name in an open directory of it that does not count.
  [[nodiscard]] Status check_free(const tier::sys::Descriptor& above,
                                  const std::string& path) const;

  // Calls visit(open directory, its path, its names) for `path` and, if `deep`, for all directories
  // below it, each before those in it. Directories that do not count, or are more than most_levels
  // below the first one, are passed over.
  using Visit =
      std::function<Status(const tier::sys::Descriptor& directory, const std::string& path,
                           const std::vector<tier::sys::DirectoryEntry>& names)>;
  Status for_each_directory(const std::string& path, bool deep, const Visit& visit,
                            PassedOver* passed = nullptr) const;
  static constexpr size_t most_levels = 4096;

  [[nodiscard]] int descriptor() const { return fd_.get(); }
  // Whether a file of these attributes is one of ours.
  [[nodiscard]] bool counts(const tier::sys::FileStat& st) const;
  // Notes something of these attributes, which does not count.
  void note_passed(const std::string& path, const tier::sys::FileStat& st,
                   PassedOver* passed) const;

 private:
  static Result<RecordsDirectory> of_found(int64_t result, const RecordsOf& of,
                                           tier::RecordsFound found, std::string* ignored);
  explicit RecordsDirectory(RecordsOf of, tier::sys::Descriptor fd)
      : of_(std::move(of)), fd_(std::move(fd)) {}

  RecordsOf of_ = std::string();
  tier::sys::Descriptor fd_;
};

}  // namespace cairn::cluster
