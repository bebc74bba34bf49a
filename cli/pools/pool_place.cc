#include "pools/pool_place.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <functional>
#include <utility>

#include "cairn/cairn.h"
#include "machine/named_path.h"
#include "text/error.h"
#include "text/output.h"

namespace cairn::cli {
namespace {

bool make_directory(const std::string& path) {
  if (mkdir(path.c_str(), 0700) == 0 || errno == EEXIST) return true;
  throw Error(exit_failed, system_error("cannot create the pool directory " + path, errno));
}

// Says once which other user's directory has the usual name of the place of the user's pools. That
// name is the beginning of `own`.
void say_that_it_is_taken(uint32_t user, const std::string& own) {
  static bool said = false;
  if (std::exchange(said, true)) return;
  warn(fmt::format("{}: belongs to user {}, not to you; your pools lie in {}",
                   own.substr(0, own.rfind('-')), user, own));
}

// Returns the subdirectory in which this user's pools lie. "": there is none, and another user has
// taken its usual name.
std::string private_subdirectory(const std::string& directory, bool create) {
  char own[PATH_MAX];
  uint32_t taken_by = UINT32_MAX;
  const int result = cairn_own_place(directory.c_str(), create ? 1 : 0, own, sizeof own, &taken_by);
  if (result == -ENOENT && !create) return "";
  if (result != 0)
    throw Error(exit_failed,
                fmt::format("{} (or choose another place with --pool-dir)", cairn_last_error()));
  if (taken_by != UINT32_MAX) say_that_it_is_taken(taken_by, own);
  return own;
}

// The directory itself if only this user can write to it; if not, this user's own one in it.
std::string private_place(const std::string& directory, bool create) {
  struct stat st {};
  if (stat(directory.c_str(), &st) != 0) throw Error(exit_failed, system_error(directory, errno));
  if (st.st_uid == geteuid() && (st.st_mode & 022U) == 0) return directory;
  return private_subdirectory(directory, create);
}

std::string trim_slashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

}  // namespace

PoolPlace pool_place(const Config& config, bool create) {
  const std::string configured = named_path(trim_slashes(config.value("pool.dir")));
  struct stat st {};
  if (stat(configured.c_str(), &st) != 0) {
    if (errno != ENOENT || !create)
      throw Error(
          exit_failed,
          system_error("pool.dir (" + config.at("pool.dir").origin + "): " + configured, errno));
    if (configured.starts_with("/dev/") && !configured.starts_with("/dev/shm/"))
      fail("pool.dir ({}): {}: there is no such device", config.at("pool.dir").origin, configured);
    make_directory(configured);
    if (stat(configured.c_str(), &st) != 0)
      throw Error(exit_failed, system_error(configured, errno));
  }
  if (S_ISCHR(st.st_mode)) return {private_subdirectory("/dev/shm", true), configured};
  if (!S_ISDIR(st.st_mode))
    usage_error("pool.dir ({}): {} is neither a directory nor a dax device",
                config.at("pool.dir").origin, configured);
  return {private_place(configured, create), ""};
}

std::string lock_directory(const std::string& path) {
  struct stat st {};
  if (stat(path.c_str(), &st) == 0 && S_ISCHR(st.st_mode))
    return private_subdirectory("/dev/shm", true);
  const size_t slash = path.rfind('/');
  return private_place(slash == 0 ? "/" : named_path(path.substr(0, slash)), true);
}

namespace {

// "": another user has taken the place, and this one has no other.
std::string find_path(const Config& config, const std::string& pool, bool create_place) {
  if (pool.find('/') != std::string::npos) return named_path(trim_slashes(pool));
  const char* of_run = std::getenv("CAIRN_POOL");
  const bool named = config.at("pool.name").origin == "command line" ||
                     config.at("pool.dir").origin == "command line";
  if (pool.empty() && !named && of_run != nullptr && of_run[0] == '/') return named_path(of_run);
  const PoolPlace place = pool_place(config, create_place);
  if (!place.device.empty()) return place.device;
  const std::string name = pool.empty() ? config.value("pool.name") : pool;
  Config().set("pool.name", name, "command line");  // throws if the name is invalid
  return place.directory.empty() ? "" : place.directory + "/" + name;
}

}  // namespace

std::string pool_path(const Config& config, const std::string& pool, bool create_place) {
  std::string path = find_path(config, pool, create_place);
  if (path.empty()) fail("{}", cairn_last_error());
  return path;
}

std::optional<std::string> configured_pool(const Config& config) {
  // If the directory of the pools was removed, there are none.
  if (access(config.value("pool.dir").c_str(), F_OK) != 0) return std::nullopt;
  std::string path = find_path(config, "", false);
  return path.empty() ? std::nullopt : std::optional(std::move(path));
}

std::string pool_name_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

namespace {

// Lists the directories of pools whose names are `wanted`. If the place is a device, lists the
// device if it is wanted by the name "".
std::vector<std::string> list_directories(
    const Config& config, const std::function<bool(const std::string& name)>& wanted) {
  struct stat st {};
  if (stat(config.value("pool.dir").c_str(), &st) != 0 && errno == ENOENT) return {};
  const PoolPlace place = pool_place(config, false);
  std::vector<std::string> paths;
  if (!place.device.empty()) {
    if (wanted("")) paths.push_back(place.device);
    return paths;
  }
  if (place.directory.empty()) return {};
  DIR* directory = opendir(place.directory.c_str());
  if (directory == nullptr) {
    if (errno == ENOENT) return {};
    throw Error(exit_failed, system_error(place.directory, errno));
  }
  while (const dirent* entry = readdir(directory)) {
    const std::string path = place.directory + "/" + entry->d_name;
    if (wanted(entry->d_name) && lstat(path.c_str(), &st) == 0 && S_ISDIR(st.st_mode))
      paths.push_back(path);
  }
  closedir(directory);
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace

std::vector<std::string> list_pools(const Config& config) {
  return list_directories(config, [](const std::string& name) { return !name.starts_with("."); });
}

std::vector<std::string> list_unfinished(const Config& config) {
  return list_directories(
      config, [](const std::string& name) { return name.rfind(".cairn-unfinished-", 0) == 0; });
}

std::string pools_of_other(const Config& config) {
  const std::string directory = named_path(trim_slashes(config.value("pool.dir")));
  struct stat st {};
  // One that others can write to has pools in subdirectories only.
  if (stat(directory.c_str(), &st) != 0 || !S_ISDIR(st.st_mode) || st.st_uid == geteuid() ||
      (st.st_mode & 022U) != 0)
    return "";
  DIR* all = opendir(directory.c_str());
  if (all == nullptr) return "";
  std::vector<std::string> names;
  while (const dirent* entry = readdir(all)) {
    const std::string segment = std::string(entry->d_name) + "/segment.0";
    struct stat found {};
    if (entry->d_name[0] != '.' &&
        fstatat(dirfd(all), segment.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0)
      names.emplace_back(entry->d_name);
  }
  closedir(all);
  if (names.empty()) return "";
  std::sort(names.begin(), names.end());
  const std::string first = printable(names[0]);
  const std::string more = names.size() == 1 ? "" : fmt::format(" and {} more", names.size() - 1);
  return fmt::format(
      "{0}: pools of user {1} lie there ({2}{3}), and this command is about your own; run it as "
      "user "
      "{1}, or name the pool by its path, as in `cairn pool info {0}/{2}`",
      printable(directory), st.st_uid, first, more);
}

}  // namespace cairn::cli
