#include "files/file.h"

namespace kernels {

#ifdef CAIRN_BENCH_HDF5
bool have_hdf5() { return true; }
#else
bool have_hdf5() { return false; }
#endif

}  // namespace kernels
