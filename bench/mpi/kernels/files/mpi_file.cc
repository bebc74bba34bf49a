#include <climits>
#include <utility>

#include "common/job.h"
#include "files/file.h"
#include "files/mpi_hints.h"

namespace kernels {
namespace {

class MpiFile : public File {
 public:
  MpiFile(bool shared, bool collective, Hints hints)
      : comm_(shared ? MPI_COMM_WORLD : MPI_COMM_SELF),
        collective_(collective),
        wanted_(std::move(hints)) {}

  void open(const std::string& path, Open how) override {
    path_ = path;
    const int mode = how == Open::read    ? MPI_MODE_RDONLY
                     : how == Open::write ? MPI_MODE_WRONLY
                                          : MPI_MODE_CREATE | MPI_MODE_RDWR;
    MPI_Info info = make_info(wanted_);
    must(MPI_File_open(comm_, path.c_str(), mode, info, &file_), path, "open");
    free_info(&info);
  }

  void write(const void* from, int64_t size, int64_t offset) override {
    const int count = checked(size);
    MPI_Status status;
    must(collective_ ? MPI_File_write_at_all(file_, offset, from, count, MPI_BYTE, &status)
                     : MPI_File_write_at(file_, offset, from, count, MPI_BYTE, &status),
         path_, "write at " + std::to_string(offset));
    whole(status, count, offset, "wrote");
  }

  void read(void* to, int64_t size, int64_t offset) override {
    const int count = checked(size);
    MPI_Status status;
    must(collective_ ? MPI_File_read_at_all(file_, offset, to, count, MPI_BYTE, &status)
                     : MPI_File_read_at(file_, offset, to, count, MPI_BYTE, &status),
         path_, "read at " + std::to_string(offset));
    whole(status, count, offset, "read");
  }

  void sync() override { must(MPI_File_sync(file_), path_, "sync"); }

  int64_t size() override {
    MPI_Offset bytes = 0;
    must(MPI_File_get_size(file_, &bytes), path_, "size");
    return bytes;
  }

  void close() override { must(MPI_File_close(&file_), path_, "close"); }

  [[nodiscard]] Hints hints() const override { return hints_of(file_); }

 private:
  [[nodiscard]] int checked(int64_t size) const {
    if (size > INT_MAX)
      fail(path_, "one MPI call cannot move " + std::to_string(size) + " bytes; use less than 2g");
    return static_cast<int>(size);
  }

  void whole(const MPI_Status& status, int count, int64_t offset, const char* verb) const {
    int done = 0;
    MPI_Get_count(&status, MPI_BYTE, &done);
    if (done != count)
      fail(path_, std::string(verb) + " " + std::to_string(done) + " of " + std::to_string(count) +
                      " bytes at " + std::to_string(offset));
  }

  MPI_Comm comm_;
  bool collective_;
  Hints wanted_;
  std::string path_;
  MPI_File file_ = MPI_FILE_NULL;
};

}  // namespace

std::unique_ptr<File> mpi_file(bool shared, bool collective, Hints hints) {
  return std::make_unique<MpiFile>(shared, collective, std::move(hints));
}

}  // namespace kernels
