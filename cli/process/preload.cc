#include "process/preload.h"

#include <dlfcn.h>
#include <gnu/lib-names.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <vector>

#include "process/relay_output.h"

namespace cairn::cli {
namespace {

constexpr const char* library_name = "libcairn_posix.so";

std::vector<std::string> entries(const std::string& present) {
  std::vector<std::string> all;
  std::string entry;
  for (char c : present + ":") {
    if (c != ':' && c != ' ') {
      entry += c;
    } else if (!entry.empty()) {
      all.push_back(entry);
      entry.clear();
    }
  }
  return all;
}

bool is_ours(const std::string& entry) {
  return entry == library_name || entry.ends_with(std::string("/") + library_name);
}

}  // namespace

std::optional<std::string> find_preload() {
  char self[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  if (length <= 0) return std::nullopt;
  std::string directory(self, static_cast<size_t>(length));
  for (int i = 0; i < 2; ++i)
    directory.resize(directory.rfind('/') == std::string::npos ? 0 : directory.rfind('/'));
  for (const char* library :
       {"/lib/", "/lib64/", "/lib/x86_64-linux-gnu/", "/lib/aarch64-linux-gnu/"}) {
    const std::string path = directory + library + library_name;
    if (access(path.c_str(), R_OK) == 0) return path;
  }
  return std::nullopt;
}

std::string preload_without(const std::string& present) {
  std::string result;
  for (const std::string& entry : entries(present))
    if (!is_ours(entry)) result += (result.empty() ? "" : ":") + entry;
  return result;
}

std::string preload_with(const std::string& present, const std::string& library) {
  const std::string others = preload_without(present);
  return others.empty() ? library : others + ":" + library;
}

void leave_cover(char** argv) {
  const char* present = std::getenv("LD_PRELOAD");
  if (present == nullptr || preload_without(present).size() == std::string(present).size()) return;
  const std::string others = preload_without(present);
  if (others.empty())
    unsetenv("LD_PRELOAD");
  else
    setenv("LD_PRELOAD", others.c_str(), 1);
  relay_covered_streams();
  // Calls the C library's own functions: the preloaded library would preload itself again. If that
  // fails, this process goes on with the preloaded library.
  void* libc = dlopen(LIBC_SO, RTLD_LAZY | RTLD_NOLOAD);
  if (libc == nullptr) return;
  // The kernel sees a covered working directory as an empty one. The command needs the one in
  // lower.
  char here[PATH_MAX];
  auto* const go = reinterpret_cast<decltype(&chdir)>(dlsym(libc, "chdir"));
  if (getcwd(here, sizeof here) != nullptr && go != nullptr) go(here);
  auto* const run = reinterpret_cast<decltype(&execve)>(dlsym(libc, "execve"));
  if (run != nullptr) run("/proc/self/exe", argv, environ);
}

}  // namespace cairn::cli
