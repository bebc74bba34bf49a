#include "persist/copy/avx2_copy.h"

#include <gtest/gtest.h>

#include "persist/core/cpu.h"
#include "support/copy_checks.h"

namespace cairn::persist {
namespace {

constexpr std::initializer_list<size_t> wide_sizes = {2048, 2049, 2079, 2080, 2175,
                                                      2176, 4096, 5000, 65536};

TEST(WideCopy, CopiesFromAndToAnywhere) {
  if (x86_features().avx2)
    check_all(copy_wide, wide_sizes);
  else
    EXPECT_FALSE(copies_wide) << "this processor cannot";
}

TEST(WideCopy, IsChosenBySizeOnly) {
  check_all(copy_bytes, wide_sizes);
  for (const size_t size : {1, 31, 2047}) check_copy(copy_bytes, 5, 3, size);
}

}  // namespace
}  // namespace cairn::persist
