// A file for each rank, written in sequence, as Fortran's stream access does. Steady state: the
// file is there and is overwritten.
#include <fcntl.h>
#include <unistd.h>

#include <vector>

#include "back_end.h"

namespace palm {
namespace {

constexpr int64_t buffer_bytes = int64_t{1} << 20;

class StreamFiles : public BackEnd {
 public:
  StreamFiles(std::string directory, bool has_crc)
      : directory_(std::move(directory)), has_crc_(has_crc) {}

  void create(Model& model, int64_t) override {
    const int fd = open(path(model).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    must_posix(fd >= 0, path(model));
    uint32_t sum = 0;
    each_piece(model, [&](char* data, int64_t bytes) {
      if (has_crc_) sum = crc(sum, data, bytes);
      must_posix(write(fd, data, static_cast<size_t>(bytes)) == bytes, path(model));
    });
    must_posix(write(fd, &sum, sizeof sum) == sizeof sum, path(model));
    must_posix(fsync(fd) == 0 && close(fd) == 0, path(model));
  }

  void restore(Model& model) override {
    const int fd = open(path(model).c_str(), O_RDONLY | O_CLOEXEC);
    must_posix(fd >= 0, path(model));
    uint32_t sum = 0;
    uint32_t stored = 0;
    each_piece(model, [&](char* data, int64_t bytes) {
      must_posix(read(fd, data, static_cast<size_t>(bytes)) == bytes, path(model));
      if (has_crc_) sum = crc(sum, data, bytes);
    });
    must_posix(read(fd, &stored, sizeof stored) == sizeof stored, path(model));
    if (sum != stored) stop(path(model) + ": damaged");
    close(fd);
  }

  [[nodiscard]] std::string file(int rank) const override {
    return directory_ + (has_crc_ ? "/stream-crc-" : "/stream-") + std::to_string(rank);
  }

 private:
  [[nodiscard]] std::string path(const Model& model) const { return file(model.rank); }
  // Each rank's file has what all hold as well, as a restart of PALM reads it from there.
  static void each_piece(Model& model, const std::function<void(char*, int64_t)>& use) {
    for (Variable& variable : model.variables())
      variable.each_run([&](char* data, int64_t bytes) {
        for (; bytes > 0; data += buffer_bytes, bytes -= buffer_bytes)
          use(data, std::min(bytes, buffer_bytes));
      });
  }
  std::string directory_;
  bool has_crc_;
};

}  // namespace

std::unique_ptr<BackEnd> stream_files(const std::string& directory, bool has_crc) {
  return std::make_unique<StreamFiles>(directory, has_crc);
}

}  // namespace palm
