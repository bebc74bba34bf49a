#include "mpiio/backend/base/callers.h"

#include <gtest/gtest.h>

namespace mpiio {
namespace {

TEST(Callers, LibrariesThatReadWithoutSync) {
  for (const char* library :
       {"/usr/lib/x86_64-linux-gnu/libhdf5_openmpi.so.103", "h5py.libs/libhdf5-b3b0e4a9.so.310",
        "/usr/lib/x86_64-linux-gnu/libpnetcdf.so.0d", "libpnetcdf.so"})
    EXPECT_TRUE(is_without_sync(library)) << library;
  for (const char* program : {"/usr/lib/libmpi.so.40", "./libhdf5/program",
                              "/opt/pnetcdf/ncmpidump", "libnetcdf.so.19", ""})
    EXPECT_FALSE(is_without_sync(program)) << program;
}

TEST(Callers, NoneOfThemIsHere) { EXPECT_FALSE(called_without_sync()); }

}  // namespace
}  // namespace mpiio
