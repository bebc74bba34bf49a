#include "file/recovery/attach.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/coarse_clock.h"
#include "file/data/sync.h"
#include "file/inode/reclaim.h"
#include "file/map/map_growth.h"
#include "file/namespace/names.h"
#include "file/open/ending.h"
#include "file/open/open_file.h"
#include "file/recovery/lane_recovery.h"
#include "file/recovery/rebuild.h"
#include "pool/core/redo.h"
#include "pool/lanes/attach_lock.h"
#include "pool/lanes/epoch.h"
#include "pool/lanes/lane_patience.h"
#include "pool/lanes/lock.h"
#include "pool/lanes/recover.h"
#include "pool/lanes/seats.h"
#include "pool/medium/device.h"
#include "pool/medium/format_io.h"
#include "pool/medium/hidden_place.h"
#include "pool/medium/lock_file.h"
#include "pool/medium/removal.h"

namespace cairn::file {
namespace {

// The number of attempts to attach a pool that is removed and created again meanwhile.
constexpr int most_tries = 100;

bool same_boot(Pool& pool) {
  uint64_t boot[2];
  pool::read_boot_id(boot);
  return pool.state->boot_id[0].load() == boot[0] && pool.state->boot_id[1].load() == boot[1];
}

// Stores the boot without a flush: a power loss ends the boot, whichever one the medium names then.
void store_boot(Pool& pool) {
  uint64_t boot[2];
  pool::read_boot_id(boot);
  for (int i = 0; i < 2; ++i) pool.store(pool.state->boot_id[i], boot[i]);
}

// Prepares a pool for its first lane. The caller has the attach lock.
Status first_attach(FileSystem& fs) {
  Pool& pool = fs.pool;
  const bool clean = pool.state->clean.load() == 1;
  // From here on no process can take the pool over by another lock file; one that just has is
  // detected.
  if (clean) pool.store(pool.state->clean, 0);
  CAIRN_TRY(pool::confirm_lock_file(pool));
  if (!clean && !same_boot(pool)) {
    CAIRN_TRY(rebuild(fs));
  } else if (!clean) {
    // The memory is intact: only dead processes have left unfinished work.
    pool::recover_the_dead(pool);
  } else if (!same_boot(pool)) {
    forget_processes(fs);
  }
  const uint64_t generation = pool.state->attach_generation.load() + 1;
  pool.store(pool.state->attach_generation, generation);
  pool.store_flush(pool.state->clean, 0);  // on the same line
  store_boot(pool);
  CAIRN_TRY(pool.fence());
  pool.attach_generation = generation;
  return Status();
}

Status make_root(FileSystem& fs, uint32_t mode) {
  Pool& pool = fs.pool;
  pool::SeatGuard seat(pool);
  if (!seat.ok()) return pool::no_seat(pool);
  auto block = block_for(pool, *seat, fs.itable(), 0, pool::Need::ordinary);
  if (!block.ok()) return block.status();
  pool.store_flush(pool.state->itable_blocks, 1);
  Inode& root = *inode_at(fs, format::root_inode);
  const uint64_t now = now_ns();
  pool.store(root.mode, S_IFDIR | mode);
  pool.store(root.generation, 1);
  pool.store(root.owner, fs.owner());
  pool.store(root.links, 2);
  for (Word* time : {&root.atime, &root.mtime, &root.ctime, &root.btime}) pool.store(*time, now);
  pool.store(root.directory.parent, format::root_inode);
  pool.store(root.state, format::inode_live);
  pool.flush(&root, sizeof root);
  return pool.fence();
}

// Recovers what is to be recovered, and takes a lane, under the attach lock, which is free again at
// the end. EBUSY if all lanes are taken.
Status enter(FileSystem& fs) {
  Pool& pool = fs.pool;
  auto lock = pool::lock_attach(pool);
  if (!lock.ok()) return annotate(lock.status(), "cannot attach pool %s", pool.path.c_str());
  auto attached = pool::anybody_attached(lock->descriptor());
  if (!attached.ok()) return attached.status();
  CAIRN_TRY(pool::agree_on_entry(pool, !*attached));
  find_kernel_clock();
  if (!*attached)
    CAIRN_TRY(first_attach(fs));
  else
    pool::recover_the_dead(pool, lock->descriptor());
  pool.attach_generation = pool.state->attach_generation.load();
  return pool::add_lane(pool, lock->descriptor());
}

bool holds(const Pool& pool, uint32_t lane) {
  return std::any_of(pool.held.begin(), pool.held.end(),
                     [lane](const pool::HeldLane& held) { return held.number == lane; });
}

void install_client(FileSystem& fs) {
  fs.client = std::make_unique<LaneRecovery>(fs);
  fs.pool.client = fs.client.get();
}

bool alone(const Pool& pool) {
  return pool.for_each_lane([&pool](uint32_t lane) { return holds(pool, lane); });
}

}  // namespace

Status create_in(Pool& pool, uint32_t root_mode) {
  struct Borrowed {
    explicit Borrowed(Pool& p) : fs(std::unique_ptr<Pool>(&p)) { install_client(fs); }
    ~Borrowed() { static_cast<void>(fs.owned_pool.release()); }
    FileSystem fs;
  } borrowed(pool);
  store_boot(pool);
  CAIRN_TRY(pool::add_lane(pool));
  Status status = make_root(borrowed.fs, root_mode);
  pool::release_lanes(pool);
  CAIRN_TRY(status);
  pool.store_flush(pool.state->clean, 1);
  CAIRN_TRY(pool.fence());
  return pool::publish_identity(pool);
}

Status create(const std::string& given, const pool::CreateOptions& options, uint32_t root_mode) {
  const std::string path = pool::plain_path(given);
  pool::HiddenPlace place;
  auto pool = pool::create_files(path, options, &place);
  if (!pool.ok()) return pool.status();
  Status status = create_in(**pool, root_mode);
  if (status.ok()) status = pool::give_name(**pool, path, place);
  if (!status.ok()) {
    pool->reset();
    if (pool::is_device(path)) pool::remove_files(path).ignore();
    return annotate(status, "cannot create pool %s", path.c_str());
  }
  return Status();
}

Result<std::unique_ptr<FileSystem>> attach_to(std::unique_ptr<Pool> mapped,
                                              const AttachOptions& options) {
  auto fs = std::make_unique<FileSystem>(std::move(mapped));
  install_client(*fs);
  Pool& pool = fs->pool;
  if (options.read_only) {
    if (pool.state->clean.load() != 1 && !options.no_recovery && !same_boot(pool))
      return fail(EUCLEAN, "%s was not detached cleanly; attach it once for writing to recover it",
                  pool.path.c_str());
    pool.no_liveness = true;
    pool::use_private_seats(pool);
    return fs;
  }
  pool::LanePatience patience(pool);
  Status entered = enter(*fs);
  while (!entered.ok() && patience.goes_on(entered)) entered = enter(*fs);
  CAIRN_TRY(entered);
  reclaim_soon(*fs);
  if (pool.state->sweep.load() != 0) {
    pool::SeatGuard seat(pool);
    if (seat.ok()) sweep_unlinked(*fs, *seat);
  }
  return fs;
}

Result<std::unique_ptr<FileSystem>> attach(const std::string& path, const AttachOptions& options) {
  // ENOENT for a pool that could be opened: it was removed meanwhile, and perhaps created anew.
  for (int tries = 0;; ++tries) {
    auto pool = pool::open_files(path, options.read_only);
    if (!pool.ok()) return pool.status();
    auto fs = attach_to(std::move(*pool), options);
    if (fs.code() != ENOENT || tries == most_tries) return fs;
  }
}

void detach(FileSystem& fs) {
  Pool& pool = fs.pool;
  if (pool.read_only || pool.held.empty()) return;
  while (fs.files != nullptr) {
    pool::SeatGuard seat(pool);
    if (!seat.ok()) break;
    close_file(*seat, std::unique_ptr<File>(fs.files));
  }
  auto lock = pool::lock_attach(pool);
  // The last process to detach finishes the work that dead processes left.
  if (lock.ok()) pool::recover_the_dead(pool, lock->descriptor());
  const bool last = lock.ok() && alone(pool);
  if (last) {
    {
      pool::SeatGuard seat(pool);
      if (seat.ok()) sweep_unlinked(fs, *seat);
    }
    reclaim_withheld(fs);
  }
  pool::release_lanes(pool);
  // Every process fences, not only the last: only it can drain what it flushed.
  bool durable = pool.fence().ok();
  if (last && durable && is_page_medium(pool)) durable = sync_everything(fs).ok();
  if (last && durable) {
    pool.store_flush(pool.state->clean, 1);
    pool.fence().ignore();  // it is recovered once more then
  }
}

}  // namespace cairn::file
