// A system tree for tests: files and links below a directory of their own.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "media/file_system.h"

namespace cairn::media {

class FakeSystem {
 public:
  FakeSystem() {
    root_.prefix = "/tmp/cairn-fake-system-XXXXXX";
    if (mkdtemp(root_.prefix.data()) == nullptr) std::abort();
  }
  ~FakeSystem() {
    std::string command = "rm -rf '" + root_.prefix + "'";
    (void)!std::system(command.c_str());
  }
  FakeSystem(const FakeSystem&) = delete;
  FakeSystem& operator=(const FakeSystem&) = delete;

  [[nodiscard]] const SystemRoot& root() const { return root_; }

  void file(const std::string& path, const std::string& text) {
    make_parents(path);
    if (FILE* out = std::fopen(root_.path(path).c_str(), "w")) {
      std::fputs(text.c_str(), out);
      std::fclose(out);
    }
  }
  void directory(const std::string& path) { make_parents(path + "/x"); }
  // `target` is absolute within the tree.
  void link(const std::string& path, const std::string& target) {
    make_parents(path);
    (void)!symlink(root_.path(target).c_str(), root_.path(path).c_str());
  }

 private:
  void make_parents(const std::string& path) {
    for (size_t slash = path.find('/', 1); slash != std::string::npos;
         slash = path.find('/', slash + 1)) {
      mkdir(root_.path(path.substr(0, slash)).c_str(), 0755);
    }
  }

  SystemRoot root_;
};

}  // namespace cairn::media
