// Histories of inodes by themselves: their attributes, and files that have no name yet.
#include <fcntl.h>

#include "crash/histories.h"
#include "crash/history_steps.h"

namespace cairn::test {
namespace {

void attributes(CrashLab& lab) {
  const cairn_ino a = inode_of(lab.pool(), "a");
  const auto set = [&lab, a](char c, size_t size) {
    lab.perform("setxattr", Kind::atomic, [&lab, a, c, size] {
      ok(cairn_setxattr(lab.pool(), a, 0, "user.x", text(c, size).data(), size, 0));
    });
  };
  set('1', 10);
  set('2', 2000);
  lab.perform("removexattr", Kind::atomic,
              [&lab, a] { ok(cairn_removexattr(lab.pool(), a, 0, "user.x")); });
  lab.perform("chmod", Kind::atomic, [&lab, a] { ok(cairn_chmod(lab.pool(), a, 0, 0400)); });
}

void unnamed(CrashLab& lab) {
  cairn_file* file = nullptr;
  lab.perform("O_TMPFILE", Kind::atomic, [&] {
    ok(cairn_open(lab.pool(), CAIRN_ROOT, ".", O_TMPFILE | O_RDWR, 0600, &file));
  });
  lab.perform("write", Kind::atomic,
              [&] { EXPECT_EQ(cairn_pwrite(file, text('t', 5000).data(), 5000, 0), 5000); });
  lab.perform("name it", Kind::atomic,
              [&] { ok(cairn_link_ino(lab.pool(), cairn_file_ino(file), CAIRN_ROOT, "named")); });
  lab.perform("close", Kind::atomic, [&] { ok(cairn_close(file)); });
}

// An inode that was another file's: nothing of that shows.
void unnamed_again(CrashLab& lab) {
  ok(cairn_unlink(lab.pool(), CAIRN_ROOT, "b"));
  cairn_pool_info info;
  ok(cairn_pool_get_info(lab.pool(), &info));
  lab.begin();
  cairn_file* file = nullptr;
  lab.perform("O_TMPFILE", Kind::atomic, [&] {
    ok(cairn_open(lab.pool(), CAIRN_ROOT, ".", O_TMPFILE | O_RDWR, 0600, &file));
  });
  lab.perform("name it", Kind::atomic,
              [&] { ok(cairn_link_ino(lab.pool(), cairn_file_ino(file), CAIRN_ROOT, "named")); });
}

}  // namespace

std::vector<History> histories_of_inodes() {
  return {
      {"attributes", 1, some_files, attributes},
      {"unnamed file", 1, some_files, unnamed},
      {"unnamed file in a used inode", 1, some_files, unnamed_again},
  };
}

}  // namespace cairn::test
