#include "media/process_limits.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>

namespace cairn::media {
namespace {

ProcessLimit limit_of(int resource, const char* name) {
  rlimit limit = {};
  if (getrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0 ||
      limit.rlim_cur == RLIM_INFINITY)
    return {};
  return {limit.rlim_cur, name};
}

}  // namespace

ProcessLimit address_space_left(const SystemRoot& root) {
  ProcessLimit left = limit_of(RLIMIT_AS, "the address space (ulimit -v)");
  if (left.name.empty()) return left;
  const std::string text = read_text(root.path("/proc/self/statm"));
  const uint64_t taken =
      std::strtoull(text.c_str(), nullptr, 10) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  left.bytes -= left.bytes < taken ? left.bytes : taken;
  return left;
}

ProcessLimit file_size_limit() { return limit_of(RLIMIT_FSIZE, "the size of files (ulimit -f)"); }

}  // namespace cairn::media
