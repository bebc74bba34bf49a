// File is what a kernel reads and writes through: POSIX calls or MPI-IO, behind the same calls.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "common/api.h"
#include "common/mistakes.h"

namespace kernels {

// rewrite: over the bytes of a file that is there.
enum class Open { create, rewrite, write, read };

// Calls end the job when they fail; a kernel has nothing to go on with.
class File {
 public:
  virtual ~File() = default;
  // How large a new file will be; before open(), for a file that must know.
  virtual void expect(int64_t /*size*/) {}
  virtual void open(const std::string& path, Open how) = 0;
  virtual void write(const void* from, int64_t size, int64_t offset) = 0;
  virtual void read(void* to, int64_t size, int64_t offset) = 0;
  virtual void sync() = 0;
  virtual void close() = 0;
  [[nodiscard]] virtual int64_t size() = 0;
  // The hints that are in force, as MPI_File_get_info says. After open().
  [[nodiscard]] virtual Hints hints() const { return {}; }
};

// pwrite and pread, or lseek and write or read, as IOR does.
enum class PosixCalls { at_offset, lseek };
std::unique_ptr<File> posix_file(PosixCalls calls = PosixCalls::at_offset);
// shared: all ranks open the file together; otherwise each rank opens one of its own. collective:
// with the _all calls.
std::unique_ptr<File> mpi_file(bool shared, bool collective, Hints hints);

// One dataset of bytes, `data`. Null if this build has no parallel HDF5.
std::unique_ptr<File> hdf5_file(bool shared, bool collective, Hints hints);
// The one of `api`.
std::unique_ptr<File> any_file(Api api, bool shared, bool collective, const Hints& hints);

// Whether each rank's `path` is there with at least `size` bytes. Collective.
bool all_there(const std::string& path, int64_t size);

// Adds a mistake if one call of `api` cannot move so many bytes.
void check_call(const char* option, Api api, int64_t bytes, Mistakes* mistakes);

// Removes a file if it is there.
void remove_file(const std::string& path);

}  // namespace kernels
