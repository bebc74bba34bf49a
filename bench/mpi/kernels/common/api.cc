#include "common/api.h"

namespace kernels {

const char* api_name(Api api) {
  return api == Api::posix ? "POSIX" : api == Api::mpiio ? "MPIIO" : "HDF5";
}

#ifdef CAIRN_BENCH_HDF5
bool have_hdf5() { return true; }
#else
bool have_hdf5() { return false; }
#endif

}  // namespace kernels
