// A pool under the limits of its maker: `ulimit -v` and `ulimit -f`.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>

#include "model/temporary_pool.h"
#include "support/sizes.h"

namespace cairn::test {
namespace {

uint64_t address_space_now() {
  uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

class Limits : public testing::Test {
 protected:
  // In a process of its own, with this soft limit.
  static void under(__rlimit_resource resource, uint64_t bytes,
                    const std::function<bool()>& check) {
    const pid_t child = fork();
    if (child == 0) {
      rlimit limit{};
      getrlimit(resource, &limit);
      limit.rlim_cur = bytes;
      _exit(setrlimit(resource, &limit) == 0 && check() ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  // Of a pool whose size is left to the library; 0 if there is none.
  static uint64_t size_made(const std::string& path) {
    cairn_pool_info info{};
    cairn_pool* pool = nullptr;
    if (cairn_pool_create(path.c_str(), nullptr) != 0 ||
        cairn_pool_attach(path.c_str(), 0, &pool) != 0 || cairn_pool_get_info(pool, &info) != 0)
      std::printf("%s\n", cairn_last_error());
    cairn_pool_detach(pool);
    std::printf("size %llu\n", static_cast<unsigned long long>(info.size));
    return info.size;
  }
  static bool refused(const std::string& path, uint64_t size, int error, const std::string& says) {
    cairn_pool_options options{};
    options.struct_size = sizeof options;
    options.size = size;
    const int result = cairn_pool_create(path.c_str(), &options);
    const std::string text = cairn_last_error();
    std::printf("%d %s\n", result, text.c_str());
    return result == -error && text.find(says) != std::string::npos &&
           access(path.c_str(), F_OK) != 0;
  }
  TemporaryFolder folder;
  std::string path = folder.path() + "/pool";
};

TEST_F(Limits, AddressSpace) {
  const char* sanitize = std::getenv("CAIRN_SANITIZE");
  if (sanitize != nullptr && std::string(sanitize) == "thread")
    GTEST_SKIP() << "ThreadSanitizer's own memory does not fit";
  const uint64_t most = address_space_now() + 256 * mebibyte;
  under(RLIMIT_AS, most, [&] {
    const uint64_t size = size_made(path);
    return size > 0 && size <= 128 * mebibyte;
  });
  under(RLIMIT_AS, most, [&] {
    return refused(path + "-large", 1024 * mebibyte, ENOSPC, "the address space (ulimit -v)");
  });
  under(RLIMIT_AS, address_space_now() + 6 * mebibyte, [&] {
    return refused(path + "-none", 0, ENOSPC, "left by the address space (ulimit -v)");
  });
}

TEST_F(Limits, SizeOfFiles) {
  under(RLIMIT_FSIZE, 16 * mebibyte, [&] {
    const uint64_t size = size_made(path);
    return size > 0 && size <= 8 * 16 * mebibyte;
  });
  under(RLIMIT_FSIZE, 16 * mebibyte, [&] {
    return refused(path + "-large", 64 * mebibyte, EFBIG, "the size of files (ulimit -f)");
  });
  under(RLIMIT_FSIZE, mebibyte, [&] {
    return refused(path + "-none", 0, ENOSPC, "left by the size of files (ulimit -f)");
  });
}

}  // namespace
}  // namespace cairn::test
