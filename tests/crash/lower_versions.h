// Lower versions keep each file that lower has had under a name, so that a crash is looked at with
// the one that was there at that moment.
//
// A drain never writes to a file that has its name: it puts another one there. So a hard link keeps
// all of a version, its identity included.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace cairn::test {

class LowerVersions {
 public:
  // `keep`: an empty directory of the same file system.
  LowerVersions(std::string file, std::string keep)
      : file_(std::move(file)), keep_(std::move(keep)) {}

  // After `events` events of the history: what has the name now.
  void record(uint64_t events) {
    const std::lock_guard lock(lock_);
    struct stat st = {};
    if (::stat(file_.c_str(), &st) != 0) return;
    if (!seen_.empty() && seen_.back().st.st_ino == st.st_ino) return;
    if (link(file_.c_str(), path_of(seen_.size()).c_str()) == 0) seen_.push_back({events, st});
  }
  // What may have the name when the machine stops after so many events: lower also changes between
  // two of them.
  [[nodiscard]] std::set<size_t> at(uint64_t events) const {
    std::set<size_t> found = {0};
    for (size_t i = 1; i < seen_.size(); ++i) {
      if (seen_[i].events < events) found.clear();
      if (seen_[i].events <= events) found.insert(i);
    }
    return found;
  }
  void restore(size_t version) const {
    std::filesystem::remove(file_);
    std::filesystem::create_hard_link(path_of(version), file_);
    // A drain sets the times of a lazy file in place.
    const timespec times[] = {seen_[version].st.st_atim, seen_[version].st.st_mtim};
    utimensat(AT_FDCWD, file_.c_str(), times, 0);
  }
  [[nodiscard]] size_t count() const { return seen_.size(); }

 private:
  struct Seen {
    uint64_t events;
    struct stat st;
  };
  [[nodiscard]] std::string path_of(size_t version) const {
    return keep_ + "/" + std::to_string(version);
  }

  const std::string file_;
  const std::string keep_;
  std::mutex lock_;
  std::vector<Seen> seen_;
};

}  // namespace cairn::test
