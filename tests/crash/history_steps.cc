#include "crash/history_steps.h"

#include <fcntl.h>

namespace cairn::test {
namespace {

// Blocks that held a secret of another file, and are free now.
void dirty_blocks(CrashLab& lab) {
  put(lab.pool(), "secret", text('S', 600'000), 0);
  ok(cairn_unlink(lab.pool(), CAIRN_ROOT, "secret"));
  cairn_pool_info info;
  ok(cairn_pool_get_info(lab.pool(), &info));  // frees what waits to be freed
}

}  // namespace

std::string text(char c, size_t size) { return std::string(size, c); }

cairn_file* open_file(cairn_pool* pool, const char* name, int flags) {
  cairn_file* file = nullptr;
  const int result = cairn_open(pool, CAIRN_ROOT, name, O_RDWR | O_CREAT | flags, 0640, &file);
  EXPECT_EQ(result, 0) << cairn_last_error();
  return file;
}

void put(cairn_pool* pool, const char* name, const std::string& bytes, uint64_t offset) {
  cairn_file* file = open_file(pool, name);
  EXPECT_EQ(cairn_pwrite(file, bytes.data(), bytes.size(), offset),
            static_cast<ssize_t>(bytes.size()))
      << cairn_last_error();
  EXPECT_EQ(cairn_close(file), 0);
}

void ok(int result) { EXPECT_EQ(result, 0) << cairn_last_error(); }

cairn_ino inode_of(cairn_pool* pool, const char* name) {
  cairn_stat st{};
  ok(cairn_lookup(pool, CAIRN_ROOT, name, CAIRN_NOFOLLOW, &st));
  return st.ino;
}

void some_files(CrashLab& lab) {
  dirty_blocks(lab);
  put(lab.pool(), "a", text('a', 9000), 0);
  put(lab.pool(), "b", text('b', 50'000), 0);
  ok(cairn_mkdir(lab.pool(), CAIRN_ROOT, "d", 0700));
  ok(cairn_mkdir(lab.pool(), CAIRN_ROOT, "e", 0700));
  put(lab.pool(), "d/f", text('f', 100), 0);
  put(lab.pool(), "log", "", 0);
}

void step(CrashLab& lab, const char* what, int (*operation)(cairn_pool*), int process) {
  cairn_pool* pool = lab.pool(process);
  lab.perform(
      what, Kind::atomic, [=] { ok(operation(pool)); }, process);
}

void write_step(CrashLab& lab, const char* what, const char* name, char c, size_t size,
                uint64_t offset, int process) {
  cairn_pool* pool = lab.pool(process);
  lab.perform(
      what, Kind::bytes, [=] { put(pool, name, text(c, size), offset); }, process);
}

}  // namespace cairn::test
