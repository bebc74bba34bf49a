#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "../kernels/common/job.h"
#include "variable_file.h"
#include "way.h"

namespace sedov {
namespace {

[[noreturn]] void failed(const std::string& path, const char* what) {
  kernels::fail(path, std::string(what) + " failed: " + std::strerror(errno));
}

class FileWay : public Way {
 public:
  FileWay(State& state, const WayPlace& place)
      : state_(state), directory_(place.directory + "/file"), keep_(place.keep) {
    if (mkdir(directory_.c_str(), 0700) != 0 && errno != EEXIST) failed(directory_, "mkdir");
  }
  ~FileWay() override {
    if (!keep_) remove_variable_files(state_, directory_);
  }
  FileWay(const FileWay&) = delete;
  FileWay& operator=(const FileWay&) = delete;

  void write() override {
    for (const Piece& piece : pieces_of(state_)) {
      const std::string path = variable_path(directory_, piece.name, state_.rank);
      std::FILE* file = std::fopen(path.c_str(), "w+");
      if (file == nullptr) failed(path, "open");
      for (size_t at = 0; at < piece.bytes; at += element_bytes)
        if (std::fwrite(piece.data + at, element_bytes, 1, file) != 1 || std::fflush(file) != 0)
          failed(path, "write");
      if (std::fclose(file) != 0) failed(path, "close");
    }
  }

  void restore(State& into) override { read_variable_files(into, directory_); }

  [[nodiscard]] std::string file() const override {
    return variable_path(directory_, "x", state_.rank);
  }

 private:
  State& state_;
  std::string directory_;
  bool keep_;
};

}  // namespace

std::unique_ptr<Way> file_way(State& state, const WayPlace& place) {
  return std::make_unique<FileWay>(state, place);
}

}  // namespace sedov
