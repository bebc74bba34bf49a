#include "runs/pool_create.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "machine/memory_limit.h"
#include "pools/pool_owner.h"
#include "pools/pool_place.h"
#include "runs/covers.h"
#include "text/error.h"
#include "text/progress.h"

namespace cairn::cli {
namespace {

// A size in percent is a share of this: the directory of the pool, or the device that it lies on.
std::string place_of(const std::string& path) {
  struct stat st {};
  if (stat(path.c_str(), &st) == 0 && S_ISCHR(st.st_mode)) return path;
  const size_t slash = path.rfind('/');
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

void create_pool(const Config& config, const std::string& path, cairn_pool_options options) {
  options.struct_size = sizeof options;
  options.size = pool_size(config, place_of(path));
  check(cairn_pool_create(path.c_str(), &options), path);
}

Pool open_pool_to_change(const Config& config, const std::string& name) {
  const std::string path = pool_path(config, name);
  work_as_owner(path);
  cairn_pool* attached = nullptr;
  const int result = cairn_pool_attach(path.c_str(), 0, &attached);
  if (result == -EROFS)
    fail("{}: on a read-only medium; its contents can only be listed and read", path);
  check(result, path);
  return {attached, path};
}

double populate_pool(const Pool& pool) {
  const StopOnSignal stop;
  Progress progress("populate", 0);
  const int result = cairn_pool_populate(pool.get(), Progress::callback, &progress);
  if (result == -ECANCELED && stop_signal() != 0)
    throw Error(exit_signal + stop_signal(),
                "interrupted; the pool can be used, but part of its memory is untouched");
  if (result == -ENOSPC)
    fail(
        "{}: cannot be populated completely: {}; its contents are unchanged, and it takes more "
        "memory as it is used, as far as there is some; give the medium more space, or create a "
        "smaller pool",
        pool.path(), library_error(result));
  check(result, pool.path());
  return progress.seconds();
}

Pool attach_or_create(const Config& config, uint32_t lanes) {
  const std::string path = pool_path(config, "", true);
  cairn_pool* existing = nullptr;
  // Programs will ask for the write window too. If the processor has none, this fails before they
  // start.
  const unsigned flags = config.value("pool.protect") == "on" ? CAIRN_ATTACH_WRITE_WINDOW : 0;
  const int result = cairn_pool_attach(path.c_str(), flags, &existing);
  if (result == 0) {
    Pool pool(existing, path);
    set_release(config, pool);
    if (lanes == 0) return pool;
    if (const uint32_t there = pool.info().lanes; lanes != there)
      warn(
          fmt::format("the pool {} was created with {} lanes; --lanes applies only to a pool that "
                      "the run creates",
                      path, there));
    return pool;
  }
  if (result != -ENOENT) check(result, path);
  cairn_pool_options options{};
  options.lanes = lanes;
  create_pool(config, path, options);
  Pool pool(path, flags);
  set_release(config, pool);
  check(cairn_setxattr(pool.get(), CAIRN_ROOT, 0, made_by_run, "1", 1, 0), path);
  return pool;
}

}  // namespace cairn::cli
