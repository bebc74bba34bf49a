#include "harness/fresh_place.h"

#include <sys/stat.h>

#include <filesystem>

#include "harness/pools.h"
#include "harness/worker_program.h"

namespace cairn::bench {
namespace {

std::string new_path(const Medium& medium) {
  static unsigned made = 0;
  return medium.path("place-" + std::to_string(made++));
}

}  // namespace

FreshPlace::FreshPlace(const Medium& medium) : path_(new_path(medium)) {
  for (const std::string& path : {path_, directory(), path_ + "/pools"})
    must_posix(mkdir(path.c_str(), 0700), path.c_str());
}

FreshPlace::~FreshPlace() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::vector<std::string> FreshPlace::covered(const std::vector<std::string>& words) const {
  std::vector<std::string> all{cairn_program(), "run",        "--drain",         "never", "--at",
                               directory(),     "--pool-dir", path_ + "/pools", "--"};
  all.insert(all.end(), words.begin(), words.end());
  return all;
}

uint64_t FreshPlace::held_by_pool() const { return allocated_below(path_ + "/pools"); }

uint64_t allocated_below(const std::string& directory) {
  uint64_t bytes = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    struct stat st = {};
    must_posix(lstat(entry.path().c_str(), &st), entry.path().c_str());
    if (S_ISREG(st.st_mode)) bytes += static_cast<uint64_t>(st.st_blocks) * 512;
  }
  return bytes;
}

}  // namespace cairn::bench
