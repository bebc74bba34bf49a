#include "persist/copy/prefetching_copy.h"

#include <gtest/gtest.h>

#include "persist/core/cpu.h"
#include "support/copy_checks.h"

namespace cairn::persist {
namespace {

constexpr std::initializer_list<size_t> piece_sizes = {128,  129,  191,  192,   255,   256,
                                                       1000, 4096, 5000, 32768, 65536, 65599};

TEST(FetchingCopy, CopiesFromAndToAnywhere) {
  if (!x86_features().avx2) {
    EXPECT_FALSE(copies_fetching) << "this processor cannot";
    return;
  }
  check_all(
      [](void* to, const void* from, size_t size) {
        copy_fetching(to, from, size, static_cast<const uint8_t*>(from) + size);
      },
      piece_sizes);
}

TEST(FetchingCopy, AsksForAnyAddress) {
  if (!x86_features().avx2) return;
  for (const uintptr_t next : {uintptr_t{1}, uintptr_t{4096}, UINTPTR_MAX - 4096}) {
    check_copy(
        [&](void* to, const void* from, size_t size) {
          copy_fetching(to, from, size, reinterpret_cast<const void*>(next));
        },
        7, 3, 5000);
  }
}

TEST(FetchingCopy, ServesEverySize) {
  for (const bool goes_on : {false, true}) {
    check_all([&](void* to, const void* from,
                  size_t size) { copy_out(to, from, size, goes_on ? from : nullptr); },
              piece_sizes);
    for (const size_t size : {0, 1, 31, 127}) {
      check_copy([&](void* to, const void* from,
                     size_t n) { copy_out(to, from, n, goes_on ? from : nullptr); },
                 5, 3, size);
    }
  }
}

}  // namespace
}  // namespace cairn::persist
