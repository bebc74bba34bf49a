// Histories of pools that are detached in order, and of those that are attached after it.
#include <fcntl.h>

#include "crash/histories.h"
#include "crash/history_steps.h"

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

// What is cut from files that are mapped outlives the detach, until the last child of who mapped them ends.
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

}  // namespace

std::vector<History> histories_of_detach() {
  return {
      {"clean detach", 1, some_files, clean_detach},
      {"clean attach", 1, some_files, clean_attach},
      {"clean detach of two", 2, some_files, clean_detach},
      {"clean detach before an heir ends", 1, some_files, detach_with_heir},
  };
}

}  // namespace cairn::test
