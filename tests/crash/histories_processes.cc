// Histories of two processes, in turn.
#include <fcntl.h>

#include "crash/histories.h"
#include "crash/history_steps.h"

namespace cairn::test {
namespace {

// Blocks freed by one process are taken by another.
void hand_over(CrashLab& lab) {
  lab.perform(
      "unlink", Kind::atomic, [&lab] { ok(cairn_unlink(lab.pool(0), CAIRN_ROOT, "b")); }, 0);
  cairn_pool_info info;
  lab.perform(
      "reclaim", Kind::atomic, [&] { ok(cairn_pool_get_info(lab.pool(0), &info)); }, 0);
  write_step(lab, "write", "other", 'o', 30'000, 10, 1);
  write_step(lab, "write", "a", 'p', 3000, 8000, 1);
  lab.perform(
      "truncate", Kind::atomic,
      [&lab] { ok(cairn_truncate(lab.pool(1), inode_of(lab.pool(1), "a"), 0, 50)); }, 1);
  write_step(lab, "write", "a", 'q', 200, 9500, 0);
}

void two_in_one_directory(CrashLab& lab) {
  for (int i = 0; i < 3; ++i) {
    const int process = i % 2;
    lab.perform(
        "create", Kind::atomic,
        [&lab, i, process] {
          ok(cairn_mknod(lab.pool(process), CAIRN_ROOT, ("d/" + std::to_string(i)).c_str(),
                         S_IFREG | 0600));
        },
        process);
    lab.perform(
        "rename", Kind::atomic,
        [&lab, i, process] {
          ok(cairn_rename(lab.pool(1 - process), CAIRN_ROOT, ("d/" + std::to_string(i)).c_str(),
                          CAIRN_ROOT, ("e/" + std::to_string(i)).c_str(), 0));
        },
        1 - process);
  }
}

void two_appenders(CrashLab& lab) {
  cairn_file* files[] = {open_file(lab.pool(0), "log", O_APPEND),
                         open_file(lab.pool(1), "log", O_APPEND)};
  for (int i = 0; i < 4; ++i) {
    lab.perform(
        "append", Kind::bytes,
        [&, i] {
          const std::string record = text(static_cast<char>('1' + i), 2500);
          EXPECT_EQ(cairn_write(files[i % 2], record.data(), record.size()), 2500);
        },
        i % 2);
  }
}

}  // namespace

std::vector<History> histories_of_processes() {
  return {
      {"hand over", 2, some_files, hand_over},
      {"two in one directory", 2, some_files, two_in_one_directory},
      {"two appenders", 2, some_files, two_appenders},
  };
}

}  // namespace cairn::test
