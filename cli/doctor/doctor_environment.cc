// cairn doctor without a program: will pools work here, how fast, and how long will they last?
#include <fcntl.h>
#include <fmt/format.h>
#include <glob.h>
#include <linux/magic.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "doctor/doctor.h"
#include "machine/lifetime.h"
#include "machine/memory_limit.h"
#include "pools/pool_place.h"
#include "process/preload.h"
#include "text/error.h"
#include "text/units.h"

namespace cairn::cli {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

struct FileSystemKind {
  int64_t type = 0;
  std::string name;
  bool is_network = false;
};

FileSystemKind kind_of(int64_t type) {
  static const FileSystemKind kinds[] = {{TMPFS_MAGIC, "tmpfs"},
                                         {EXT4_SUPER_MAGIC, "ext4"},
                                         {XFS_SUPER_MAGIC, "xfs"},
                                         {BTRFS_SUPER_MAGIC, "btrfs"},
                                         {OVERLAYFS_SUPER_MAGIC, "overlay"},
                                         {NFS_SUPER_MAGIC, "nfs", true},
                                         {0x0BD00BD0, "lustre", true},
                                         {0x47504653, "gpfs", true},
                                         {0x19830326, "beegfs", true}};
  for (const FileSystemKind& kind : kinds)
    if (kind.type == type) return kind;
  return {type, fmt::format("type {:#x}", type)};
}

// Mount point and options of the file system that holds `path`.
std::pair<std::string, std::string> mount_of(const std::string& path) {
  std::ifstream mounts("/proc/self/mounts");
  std::pair<std::string, std::string> best;
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream words(line);
    std::string device, point, type, options;
    words >> device >> point >> type >> options;
    const std::string prefix = point == "/" ? "/" : point + "/";
    if ((path + "/").starts_with(prefix) && point.size() >= best.first.size())
      best = {point, options};
  }
  return best;
}

void look_at_huge_pages(const std::string& options, Findings& all) {
  const size_t at = options.find("huge=");
  const std::string mounted =
      at == std::string::npos ? "never" : options.substr(at + 5, options.find(',', at) - at - 5);
  const std::string system = first_line("/sys/kernel/mm/transparent_hugepage/shmem_enabled");
  if (mounted != "never" || system.find("[always]") != std::string::npos ||
      system.find("[force]") != std::string::npos)
    all.push_back({Level::fine, "huge pages", "tmpfs gives 2 MiB pages here"});
  else
    all.push_back({Level::note, "huge pages",
                   "tmpfs gives 4 KiB pages here: a process's first touch of each page is slower; "
                   "root can mount a tmpfs "
                   "with huge=always and set pool.dir to it"});
}

void look_at_place(const Config& config, Findings& all) {
  try {
    const PoolPlace place = pool_place(config, true);
    const std::string where = place.device.empty() ? place.directory : place.device;
    struct statfs fs {};
    if (statfs(place.directory.c_str(), &fs) != 0)
      throw Error(exit_failed, system_error(place.directory, errno));
    if (!place.device.empty()) {
      const bool usable = access(where.c_str(), R_OK | W_OK) == 0;
      all.push_back({usable ? Level::fine : Level::wrong, "pool directory",
                     usable ? where + ": a dax device" : system_error(where, errno)});
      return;
    }
    const auto [type, name, network] = kind_of(fs.f_type);
    const bool writable = access(where.c_str(), W_OK | X_OK) == 0;
    all.push_back(
        {network || !writable ? Level::wrong : Level::fine, "pool directory",
         fmt::format("{}: {}{}", where, name,
                     network
                         ? ", a network file system: pools need memory of this node; set pool.dir"
                     : writable ? ""
                                : ", not writable")});
    const uint64_t limit = place_limit(where);
    all.push_back({limit < (256ULL << 20) ? Level::warning : Level::fine, "space",
                   fmt::format("a pool could take {} here{}", format_size(limit),
                               limit < (256ULL << 20)
                                   ? " (containers get a /dev/shm of 64 MiB by default: --shm-size)"
                                   : "")});
    const auto [point, options] = mount_of(where);
    if (name == "tmpfs") {
      all.push_back(
          {Level::note, "durability",
           "tmpfs is volatile: pools survive processes; nothing survives power loss or reboot"});
      look_at_huge_pages(options, all);
    }
  } catch (const Error& error) {
    all.push_back({Level::wrong, "pool directory", error.what()});
  }
}

void look_at_memory(Findings& all) {
  const cairn_memory_left left = memory_left();
  all.push_back({Level::fine, "memory", format_size(left.machine) + " available"});
  if (left.cgroup_left < left.machine)
    all.push_back({Level::note, "cgroup",
                   fmt::format("pools in memory may take {} here, by the limit of {} in {}",
                               format_size(left.cgroup_left), format_size(left.cgroup_limit),
                               left.cgroup_file)});
  for (const auto& [resource, what] : {std::pair{RLIMIT_AS, "address space (ulimit -v)"},
                                       std::pair{RLIMIT_FSIZE, "file size (ulimit -f)"}}) {
    rlimit value{};
    if (getrlimit(resource, &value) == 0 && value.rlim_cur != RLIM_INFINITY)
      all.push_back({Level::warning, "limits",
                     fmt::format("{} is limited to {}: larger pools cannot be used", what,
                                 format_size(value.rlim_cur))});
  }
}

// Warns of events that would remove the pool: logouts, ends of jobs and of containers.
void look_at_lifetime(const Config& config, Findings& all) {
  try {
    for (const std::string& text : lifetime_warnings(pool_path(config, "")))
      all.push_back({Level::warning, "lifetime", text});
  } catch (const Error&) {
    // There is no place for a pool; look_at_place() has said so.
  }
  if (access("/.dockerenv", F_OK) == 0 || access("/run/.containerenv", F_OK) == 0)
    all.push_back({Level::note, "lifetime",
                   "this is a container: pools in its own /dev/shm end with it, and other "
                   "containers do not see them"});
}

void look_at_cpu(Findings& all) {
  std::ifstream info("/proc/cpuinfo");
  std::string flags;
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("flags")) {
      flags = line + " ";
      break;
    }
  const auto has = [&](const char* flag) {
    return flags.find(fmt::format(" {} ", flag)) != std::string::npos;
  };
  if (flags.empty()) return;
  const char* flush = has("clwb") ? "clwb" : has("clflushopt") ? "clflushopt" : "clflush";
  all.push_back({Level::fine, "processor",
                 fmt::format("flushes with {}; protection keys {}", flush,
                             has("pku") && has("ospke") ? "available" : "not available")});
}

void look_at_devices(Findings& all) {
  glob_t found{};
  glob("/dev/dax*.*", GLOB_NOSORT, nullptr, &found);
  glob("/dev/pmem*", GLOB_APPEND | GLOB_NOSORT, nullptr, &found);
  for (size_t i = 0; i < found.gl_pathc; ++i) {
    const std::string device = found.gl_pathv[i];
    const bool usable = access(device.c_str(), R_OK | W_OK) == 0;
    all.push_back({usable ? Level::fine : Level::note, "persistent memory",
                   device + (usable ? "" : ": no permission")});
  }
  if (found.gl_pathc == 0)
    all.push_back({Level::note, "persistent memory", "none (/dev/dax*, /dev/pmem*)"});
  globfree(&found);
}

void look_at_preload(Findings& all) {
  const auto library = find_preload();
  if (!library) {
    all.push_back(
        {Level::wrong, "preload",
         "libcairn_posix.so is missing in ../lib beside this command: `cairn run` cannot work"});
    return;
  }
  // If the loader cannot preload the library, it prints that on stderr and goes on. So this looks
  // for the library in the child's mappings.
  const pid_t child = fork();
  if (child == 0) {
    const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    dup2(null, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
    setenv("LD_PRELOAD", library->c_str(), 1);
    execlp("grep", "grep", "-q", "libcairn_posix", "/proc/self/maps", nullptr);
    _exit(127);
  }
  int status = 0;
  const bool works = child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
                     WEXITSTATUS(status) == 0;
  all.push_back(
      {works ? Level::fine : Level::wrong, "preload",
       *library + (works ? ": programs load it" : ": a program started with it does not load it")});
}

}  // namespace

std::string level_text(Level level) {
  switch (level) {
    case Level::fine:
      return "ok";
    case Level::note:
      return "note";
    case Level::warning:
      return "warning";
    case Level::wrong:
      return "wrong";
  }
  return "";
}

Findings look_at_environment(const Config& config) {
  Findings all;
  look_at_place(config, all);
  look_at_memory(all);
  look_at_lifetime(config, all);
  look_at_devices(all);
  look_at_cpu(all);
  look_at_preload(all);
  look_at_mpi(all);
  return all;
}

}  // namespace cairn::cli
