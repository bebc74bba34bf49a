// The directories of a benchmark's pools and plain files. Nothing of them remains.
#pragma once

#include <functional>
#include <string>

namespace cairn::bench {

class Medium {
 public:
  // A tmpfs with 2 MiB pages, mounted in a mount namespace of this process alone: it goes with the
  // process, however that ends. Needs root. `why` says what is missing when ok() is false.
  static Medium huge_pages();
  // A directory in /dev/shm.
  static Medium shared_memory();

  Medium(Medium&& other) noexcept;
  Medium& operator=(Medium&&) = delete;
  Medium(const Medium&) = delete;
  Medium& operator=(const Medium&) = delete;
  ~Medium();

  [[nodiscard]] bool ok() const { return !directory_.empty(); }
  [[nodiscard]] const std::string& why() const { return why_; }
  [[nodiscard]] const std::string& directory() const { return directory_; }
  [[nodiscard]] bool has_large_pages() const { return mounted_; }
  [[nodiscard]] std::string path(const std::string& name) const { return directory_ + "/" + name; }
  [[nodiscard]] std::string description() const;

 private:
  Medium() = default;
  std::string directory_;
  std::string why_;
  bool mounted_ = false;
};

// Runs body() in a child process and returns its exit code; afterwards, however the child ended
// (also by a signal), removes what it left in /dev/shm. An interrupt from the terminal ends the
// child first.
int supervised(const std::function<int(int, char**)>& body, int argc, char** argv);

}  // namespace cairn::bench
