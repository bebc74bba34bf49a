// Histories of pools that are detached in order, and of those that are attached after it.
#include <fcntl.h>

#include "crash/histories.h"
#include "crash/history_steps.h"
#include "pool/lanes/seats.h"
#include "pool/space/space.h"

namespace cairn::test {
namespace {

void clean_detach(CrashLab& lab) {
  for (int i = 0; i < 10; ++i) {
    lab.perform("create", Kind::atomic, [&lab, i] {
      ok(cairn_mknod(lab.pool(), CAIRN_ROOT, ("d/" + std::to_string(i)).c_str(), S_IFREG | 0600));
    });
  }
  cairn_file* file = open_file(lab.pool(), "log");  // left open
  lab.perform("write", Kind::bytes, [&] { EXPECT_EQ(cairn_pwrite(file, "abc", 3, 0), 3); });
  write_step(lab, "write", "a", 'A', 6000, 7000);
  step(lab, "unlink", [](cairn_pool* p) { return cairn_unlink(p, CAIRN_ROOT, "b"); });
  lab.detach_all();
}

void clean_attach(CrashLab& lab) {
  lab.detach_all();
  lab.attach_all();
  step(lab, "mkdir", [](cairn_pool* p) { return cairn_mkdir(p, CAIRN_ROOT, "later", 0700); });
  write_step(lab, "write", "a", 'A', 6000, 7000);
}

// What is cut from files that are mapped outlives the detach, until the last child of who mapped
// them ends.
void detach_with_heir(CrashLab& lab) {
  const cairn_ino a = inode_of(lab.pool(), "a");
  for (const char c : {'1', '2'}) {
    lab.perform("setxattr", Kind::atomic, [&lab, a, c] {
      ok(cairn_setxattr(lab.pool(), a, 0, "user.x", text(c, 10).data(), 10, 0));
    });
  }
  const cairn_ino b = inode_of(lab.pool(), "b");
  lab.perform("truncate", Kind::atomic, [&lab, b] { ok(cairn_truncate(lab.pool(), b, 0, 9000)); });
  lab.perform("map both", Kind::atomic, [&lab, a, b] {
    lab.pin(a);
    lab.pin(b);
  });
  lab.detach_all();
}

// Blocks that a process has taken and not published, as in the midst of a large write: nobody else
// gets them.
class TakenBlocks {
 public:
  explicit TakenBlocks(cairn_pool* pool) : pool_(pool->fs->pool) {}
  void take_all_but_one() {
    pool::SeatGuard seat(pool_);
    while (runs_.size() < format::in_flight_slots) {
      auto run =
          pool::take(pool_, *seat, {.wanted = format::chunk_blocks, .need = pool::Need::reserve});
      if (!run.ok()) break;
      runs_.push_back(*run);
    }
    EXPECT_LT(runs_.size(), format::in_flight_slots) << "there may be more";
    --runs_.back().count;
    pool::give_back(pool_, runs_.back().first.plus(runs_.back().count), 1);
  }
  void give_back() {
    pool::SeatGuard seat(pool_);
    for (const pool::BlockRun& run : runs_) {
      pool::give_back(pool_, run.first, run.count);
      pool::clear_in_flight(pool_, *seat, run);
    }
  }

 private:
  pool::Pool& pool_;
  std::vector<pool::BlockRun> runs_;
};

// Calls that fail because the pool is full take back what they have done so far, and nothing of
// that is lost by the time of the detach.
void detach_after_full_pool(CrashLab& lab) {
  cairn_file* file = open_file(lab.pool(), "leaf");
  TakenBlocks others(lab.pool(1));
  lab.perform(
      "take what is free", Kind::atomic, [&] { others.take_all_but_one(); }, 1);
  lab.perform("punch a part of a leaf", Kind::atomic, [=] {
    EXPECT_EQ(cairn_fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                              (uint64_t{2} << 20) + 40'960, 20'480),
              -ENOSPC);
  });
  step(lab, "symlink", [](cairn_pool* p) {
    EXPECT_EQ(cairn_symlink(p, text('l', 700).c_str(), CAIRN_ROOT, "l"), -ENOSPC);
    return 0;
  });
  lab.perform(
      "give it back", Kind::atomic, [&] { others.give_back(); }, 1);
  lab.detach_all();
}

void a_leaf(CrashLab& lab) {
  some_files(lab);
  put(lab.pool(), "leaf", text('L', size_t{2} << 20), uint64_t{2} << 20);
}

}  // namespace

std::vector<History> histories_of_detach() {
  return {
      {"clean detach", 1, some_files, clean_detach},
      {"clean attach", 1, some_files, clean_attach},
      {"clean detach of two", 2, some_files, clean_detach},
      {"clean detach before an heir ends", 1, some_files, detach_with_heir},
      {"clean detach after a full pool", 2, a_leaf, detach_after_full_pool},
  };
}

}  // namespace cairn::test
