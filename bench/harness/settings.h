// The options of a run.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace cairn::bench {

struct Settings {
  size_t pairs = 96;       // of short measurements; fixed before the run
  bool quick = false;      // a smaller set, fewer pairs: shows that it runs, not how fast
  bool full = false;       // what is not judged of the checkpoint loop as well
  std::string filter;      // part of a group's name; empty: everything
  std::string json;        // where to
  std::string medium;      // "huge", "shm" or empty: huge where that can be mounted
  size_t working_set = 0;  // bytes
  size_t cache = 0;        // last-level cache, bytes

  std::vector<size_t> pieces{256, 4096, 32768, 1048576};
  static constexpr size_t slice = size_t{8} << 20;  // one measurement

  [[nodiscard]] bool wants(const std::string& group) const {
    return filter.empty() || group.find(filter) != std::string::npos;
  }
  [[nodiscard]] size_t slices() const { return working_set / slice; }
};

// Parses the options that all benchmarks have; prints help or a complaint and exits where due.
Settings parse_settings(int argc, char** argv, const char* purpose);

// Bytes of the largest cache that sysfs lists; 32 MiB if it lists none.
size_t last_level_cache();

// "Intel(R) Xeon(R) Processor, 2 CPUs, Linux 6.18"
std::string machine_name();

}  // namespace cairn::bench
