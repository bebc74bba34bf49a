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

}  // namespace kernels
