#include <sys/stat.h>

#include <climits>

#include "common/job.h"
#include "files/file.h"

namespace kernels {

std::unique_ptr<File> any_file(Api api, bool shared, bool collective, const Hints& hints) {
  switch (api) {
    case Api::posix:
      return posix_file();
    case Api::mpiio:
      return mpi_file(shared, collective, hints);
    case Api::hdf5:
      return hdf5_file(shared, collective, hints);
  }
  return nullptr;
}

bool all_there(const std::string& path, int64_t size) {
  struct stat found {};
  const bool is_there = stat(path.c_str(), &found) == 0 && found.st_size >= size;
  // No rank creates the file before the others have looked.
  return sum(is_there ? 1 : 0) == job().ranks;
}

void check_call(const char* option, Api api, int64_t bytes, Mistakes* mistakes) {
  if (api == Api::mpiio && bytes > INT_MAX)
    mistakes->add(std::string(option) + ": too large: one call of MPI-IO would have to move " +
                  std::to_string(bytes) + " bytes: expected less than 2g");
}

}  // namespace kernels
