#include "capi/checkpoint/configured_pool.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/settings.h"
#include "media/own_place.h"

namespace cairn::capi {
namespace {

Status failed(const std::string& path) {
  const int error = errno;
  return fail(error, "%s: %s", path.c_str(), strerror(error));
}

// The directory itself if only we can write to it, else our own one in it.
Result<std::string> private_place(const std::string& directory) {
  struct stat st {};
  if (stat(directory.c_str(), &st) != 0) {
    if (errno != ENOENT) return failed(directory);
    if (mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) return failed(directory);
    if (stat(directory.c_str(), &st) != 0) return failed(directory);
  }
  if (!S_ISDIR(st.st_mode))
    return fail(EINVAL, "pool.dir: %s: neither a directory nor a dax device", directory.c_str());
  if (st.st_uid == geteuid() && (st.st_mode & 022U) == 0) return directory;
  CAIRN_TRY_ASSIGN(own, media::own_place(directory, true));
  return own.path;
}

Result<std::string> configured_path(const Settings& settings) {
  std::string directory = settings.value("pool.dir");
  if (directory.empty()) directory = "/dev/shm";
  while (directory.size() > 1 && directory.back() == '/') directory.pop_back();
  struct stat st {};
  if (stat(directory.c_str(), &st) == 0 && S_ISCHR(st.st_mode)) return directory;
  std::string name = settings.value("pool.name");
  if (name.empty()) name = "default";
  if (name[0] == '.' || name[0] == '-' || name.find_first_of("/:") != std::string::npos)
    return fail(EINVAL, "pool.name (%s): invalid pool name '%s'",
                settings.origin("pool.name").c_str(), name.c_str());
  CAIRN_TRY_ASSIGN(place, private_place(directory));
  return place + "/" + name;
}

}  // namespace

Result<cairn_pool*> attach_configured_pool(bool creates) {
  std::string path;
  if (const char* const of_run = std::getenv("CAIRN_POOL"); of_run != nullptr && of_run[0] == '/')
    path = of_run;
  Settings settings;
  if (path.empty()) {
    CAIRN_TRY_ASSIGN(loaded, Settings::load());
    settings = std::move(loaded);
    CAIRN_TRY_ASSIGN(configured, configured_path(settings));
    path = std::move(configured);
  }
  const std::string release = settings.value("pool.release");
  if (!release.empty() && release != "idle" && release != "never")
    return fail(EINVAL, "pool.release (%s): '%s': expected idle or never",
                settings.origin("pool.release").c_str(), release.c_str());
  const unsigned flags = settings.value("pool.protect") == "on" ? CAIRN_ATTACH_WRITE_WINDOW : 0;
  // Another process may create it between our looks, and remove it.
  constexpr int most_tries = 10;
  int result = 0;
  for (int i = 0; i < most_tries; ++i) {
    cairn_pool* pool = nullptr;
    result = cairn_pool_attach(path.c_str(), flags, &pool);
    if (result == 0) {
      if (!release.empty())
        cairn_pool_set_release(pool, release == "never" ? CAIRN_RELEASE_NEVER : CAIRN_RELEASE_IDLE);
      return pool;
    }
    if (result != -ENOENT || !creates) break;
    CAIRN_TRY_ASSIGN(size, settings.bytes("pool.size"));
    cairn_pool_options options{};
    options.struct_size = sizeof options;
    options.size = size;
    result = cairn_pool_create(path.c_str(), &options);
    if (result != 0 && result != -EEXIST) break;
  }
  return Status(-result);
}

}  // namespace cairn::capi
