// Histories of tiers: files that lower has as well are evicted, and others take their blocks.
#include "crash/histories.h"
#include "crash/history_steps.h"
#include "file/inode/attributes.h"
#include "file/space/evict.h"
#include "pool/lanes/seats.h"
#include "tier/changes/changes.h"

namespace cairn::test {
namespace {

file::Map map_of(CrashLab& lab, const char* name) {
  const cairn_ino number = inode_of(lab.pool(), name);
  const auto inode = file::live_inode(*lab.pool()->fs, number);
  EXPECT_TRUE(inode.ok()) << last_detail();
  return {*inode, number};
}

// They count as drained.
void some_drained_files(CrashLab& lab) {
  some_files(lab);
  for (const char* name : {"a", "b", "d/f"}) {
    const file::Map map = map_of(lab, name);
    tier::set_drained(*lab.pool()->fs, map, tier::change_time(*lab.pool()->fs, map));
  }
}

void evict_step(CrashLab& lab, const char* name) {
  const file::Map map = map_of(lab, name);
  lab.perform(std::string("evict ") + name, Kind::atomic, [&lab, map] {
    const file::Inode& inode = *map.inode;
    const file::Evictable seen = {inode.generation.load(), inode.drained.load(), inode.size.load(),
                                  8};
    EXPECT_TRUE(file::evict(*lab.pool()->fs, map, seen, [] { return Status(); }).ok())
        << last_detail();
  });
}

// A file that is not lazy after a crash must have its blocks, and no other file may have them.
void evicts(CrashLab& lab) {
  evict_step(lab, "b");
  write_step(lab, "write to what is free", "log", 'L', 40'000, 0);
  evict_step(lab, "a");
  evict_step(lab, "d/f");
  write_step(lab, "extend it", "log", 'M', 30'000, 40'000);
}

}  // namespace

std::vector<History> histories_of_tiers() { return {{"evicts", 1, some_drained_files, evicts}}; }

}  // namespace cairn::test
