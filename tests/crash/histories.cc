#include "crash/histories.h"

#include <fcntl.h>

namespace cairn::test {
namespace {

using Kind = CrashLab::Kind;

// Bytes that tell whose they are.
std::string text(char c, size_t size) { return std::string(size, c); }

cairn_file* open_file(cairn_pool* pool, const char* name, int flags = 0) {
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

// Blocks that held a secret of another file, and are free now.
void dirty_blocks(CrashLab& lab) {
  put(lab.pool(), "secret", text('S', 600'000), 0);
  ok(cairn_unlink(lab.pool(), CAIRN_ROOT, "secret"));
  cairn_pool_info info;
  ok(cairn_pool_get_info(lab.pool(), &info));  // frees what waits to be freed
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

void step(CrashLab& lab, const char* what, int (*operation)(cairn_pool*), int process = 0) {
  cairn_pool* pool = lab.pool(process);
  lab.perform(
      what, Kind::atomic, [=] { ok(operation(pool)); }, process);
}

void write_step(CrashLab& lab, const char* what, const char* name, char c, size_t size,
                uint64_t offset, int process = 0) {
  cairn_pool* pool = lab.pool(process);
  lab.perform(
      what, Kind::bytes, [=] { put(pool, name, text(c, size), offset); }, process);
}

void create(CrashLab& lab) {
  step(lab, "create", [](cairn_pool* p) { return cairn_close(open_file(p, "new")); });
  step(lab, "create",
       [](cairn_pool* p) { return cairn_mknod(p, CAIRN_ROOT, "d/newer", S_IFREG | 0600); });
}

void unlink(CrashLab& lab) {
  step(lab, "unlink", [](cairn_pool* p) { return cairn_unlink(p, CAIRN_ROOT, "b"); });
  step(lab, "create after it", [](cairn_pool* p) { return cairn_close(open_file(p, "new")); });
  write_step(lab, "write after it", "new", 'n', 6000, 100);
}

void unlink_while_open(CrashLab& lab) {
  cairn_file* file = open_file(lab.pool(), "b");
  step(lab, "unlink", [](cairn_pool* p) { return cairn_unlink(p, CAIRN_ROOT, "b"); });
  lab.perform("close", Kind::atomic, [=] { ok(cairn_close(file)); });
}

void rename(CrashLab& lab) {
  step(lab, "rename",
       [](cairn_pool* p) { return cairn_rename(p, CAIRN_ROOT, "a", CAIRN_ROOT, "c", 0); });
  step(lab, "to another directory",
       [](cairn_pool* p) { return cairn_rename(p, CAIRN_ROOT, "c", CAIRN_ROOT, "d/c", 0); });
  step(lab, "over another",
       [](cairn_pool* p) { return cairn_rename(p, CAIRN_ROOT, "d/c", CAIRN_ROOT, "b", 0); });
  step(lab, "exchange",
       [](cairn_pool* p) { return cairn_rename(p, CAIRN_ROOT, "b", CAIRN_ROOT, "d/f", 2); });
  step(lab, "a directory",
       [](cairn_pool* p) { return cairn_rename(p, CAIRN_ROOT, "d", CAIRN_ROOT, "e/d", 0); });
}

void rename_directory_over(CrashLab& lab) {
  step(lab, "mkdir", [](cairn_pool* p) { return cairn_mkdir(p, CAIRN_ROOT, "d/sub", 0700); });
  step(lab, "over an empty directory",
       [](cairn_pool* p) { return cairn_rename(p, CAIRN_ROOT, "d/sub", CAIRN_ROOT, "e", 0); });
  step(lab, "exchange directories",
       [](cairn_pool* p) { return cairn_rename(p, CAIRN_ROOT, "d", CAIRN_ROOT, "e", 2); });
}

void link(CrashLab& lab) {
  step(lab, "link",
       [](cairn_pool* p) { return cairn_link(p, CAIRN_ROOT, "a", CAIRN_ROOT, "d/a2", 0); });
  step(lab, "unlink the first", [](cairn_pool* p) { return cairn_unlink(p, CAIRN_ROOT, "a"); });
}

void directories(CrashLab& lab) {
  step(lab, "mkdir", [](cairn_pool* p) { return cairn_mkdir(p, CAIRN_ROOT, "e/g", 0700); });
  step(lab, "create in it", [](cairn_pool* p) { return cairn_close(open_file(p, "e/g/x")); });
  step(lab, "unlink in it", [](cairn_pool* p) { return cairn_unlink(p, CAIRN_ROOT, "e/g/x"); });
  step(lab, "rmdir", [](cairn_pool* p) { return cairn_rmdir(p, CAIRN_ROOT, "e/g"); });
}

void symlinks(CrashLab& lab) {
  step(lab, "symlink", [](cairn_pool* p) { return cairn_symlink(p, "short", CAIRN_ROOT, "s"); });
  step(lab, "long symlink",
       [](cairn_pool* p) { return cairn_symlink(p, text('l', 700).c_str(), CAIRN_ROOT, "l"); });
  step(lab, "unlink", [](cairn_pool* p) { return cairn_unlink(p, CAIRN_ROOT, "l"); });
}

void writes(CrashLab& lab) {
  write_step(lab, "overwrite", "b", 'B', 5000, 3000);
  write_step(lab, "fresh write, odd ends", "fresh", 'x', 5000, 1000);
  write_step(lab, "extending", "a", 'A', 3000, 9000);
  write_step(lab, "into a hole", "fresh", 'y', 10, 100'000);
  write_step(lab, "below it", "fresh", 'z', 9000, 60'000);
}

// The pool's first blocks: its chunks are opened on the way.
void writes_first(CrashLab& lab) {
  write_step(lab, "the first write of all", "first", '1', 300, 50);
  write_step(lab, "the second", "second", '2', 9000, 4000);
}

void far_writes(CrashLab& lab) {
  write_step(lab, "a level deeper", "far", 'x', 100, uint64_t{3} << 20);
  write_step(lab, "two levels deeper", "far", 'y', 100, uint64_t{2} << 30);
  write_step(lab, "three levels deeper", "far", 'z', 100, (uint64_t{1} << 40) - 50);
}

void whole_chunk(CrashLab& lab) {
  write_step(lab, "a leaf", "leaf", 'L', size_t{2} << 20, uint64_t{2} << 20);
  lab.perform("cut it", Kind::atomic, [&lab] {
    ok(cairn_truncate(lab.pool(), inode_of(lab.pool(), "leaf"), (uint64_t{2} << 20) + 70'000));
  });
}

void appends(CrashLab& lab) {
  cairn_file* file = open_file(lab.pool(), "log", O_APPEND);
  // The second one stays within the last block.
  for (const auto& [c, size] : {std::pair{'1', 3000}, {'2', 500}, {'3', 3000}}) {
    lab.perform("append", Kind::bytes, [=, c = c, size = size] {
      const std::string record = text(c, static_cast<size_t>(size));
      EXPECT_EQ(cairn_write(file, record.data(), record.size()), size) << cairn_last_error();
    });
  }
}

void truncates(CrashLab& lab) {
  const cairn_ino b = inode_of(lab.pool(), "b");
  for (uint64_t size : {uint64_t{45'000}, uint64_t{4096}, uint64_t{100}, uint64_t{30'000},
                        uint64_t{0}, uint64_t{9}}) {
    lab.perform("truncate to " + std::to_string(size), Kind::atomic,
                [&lab, b, size] { ok(cairn_truncate(lab.pool(), b, size)); });
  }
  write_step(lab, "write after it", "b", 'w', 10, 5000);
}

void fallocates(CrashLab& lab) {
  cairn_file* file = open_file(lab.pool(), "b");
  const auto change = [&](const char* what, int mode, uint64_t offset, uint64_t size) {
    lab.perform(what, Kind::bytes, [=] { ok(cairn_fallocate(file, mode, offset, size)); });
  };
  change("punch", FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 5000, 20'000);
  change("punch within a block", FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 100, 50);
  change("preallocate in the hole", 0, 6000, 10'000);
  change("preallocate beyond the end", FALLOC_FL_KEEP_SIZE, 49'000, 30'000);
  change("zero range", FALLOC_FL_ZERO_RANGE, 30'000, 40'000);
  change("zero range below the end", FALLOC_FL_ZERO_RANGE, 2000, 1000);
  lab.perform("close", Kind::atomic, [=] { ok(cairn_close(file)); });
}

void attributes(CrashLab& lab) {
  const cairn_ino a = inode_of(lab.pool(), "a");
  const auto set = [&lab, a](char c, size_t size) {
    lab.perform("setxattr", Kind::atomic, [&lab, a, c, size] {
      ok(cairn_setxattr(lab.pool(), a, "user.x", text(c, size).data(), size, 0));
    });
  };
  set('1', 10);
  set('2', 2000);
  lab.perform("removexattr", Kind::atomic,
              [&lab, a] { ok(cairn_removexattr(lab.pool(), a, "user.x")); });
  lab.perform("chmod", Kind::atomic, [&lab, a] { ok(cairn_chmod(lab.pool(), a, 0400)); });
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

// Large pieces, one after the other, into a file whose size is set: blocks are taken ahead.
void sequential(CrashLab& lab) {
  cairn_file* file = open_file(lab.pool(), "b");
  lab.perform("set the size", Kind::atomic, [=] { ok(cairn_ftruncate(file, 500'000)); });
  for (uint64_t i = 0; i < 3; ++i) {
    lab.perform("write 64 KiB", Kind::bytes, [=] {
      const std::string bytes = text(static_cast<char>('1' + i), size_t{64} << 10);
      EXPECT_EQ(cairn_pwrite(file, bytes.data(), bytes.size(), 57'344 + i * bytes.size()),
                static_cast<ssize_t>(bytes.size()));
    });
  }
  lab.perform("close", Kind::bytes, [=] { ok(cairn_close(file)); });
  write_step(lab, "write after it", "a", 'A', 30'000, 9000);
}

// A directory that outgrows its blocks and its index: 1024 names crowd 512 buckets.
void crowd(CrashLab& lab) {
  ok(cairn_mkdir(lab.pool(), CAIRN_ROOT, "crowd", 0700));
  ok(cairn_close(open_file(lab.pool(), "one")));
  for (int i = 0; i < 1023; ++i)
    ok(cairn_link(lab.pool(), CAIRN_ROOT, "one", CAIRN_ROOT, ("crowd/" + std::to_string(i)).c_str(),
                  0));
}

void split_index(CrashLab& lab) {
  for (int i = 0; i < 4; ++i) {
    lab.perform("link in a crowded directory", Kind::atomic, [&lab, i] {
      ok(cairn_link(lab.pool(), CAIRN_ROOT, "one", CAIRN_ROOT,
                    ("crowd/next" + std::to_string(i)).c_str(), 0));
    });
  }
}

void long_names(CrashLab& lab) {
  for (char c : {'p', 'q', 'r'}) {
    lab.perform("a long name", Kind::atomic,
                [&lab, c] { ok(cairn_close(open_file(lab.pool(), text(c, 255).c_str()))); });
  }
  for (int i = 0; i < 14; ++i) {
    lab.perform("a name", Kind::atomic, [&lab, i] {
      ok(cairn_mknod(lab.pool(), CAIRN_ROOT, (text('m', 100) + std::to_string(i)).c_str(),
                     S_IFREG | 0600));
    });
  }
  lab.perform("unlink", Kind::atomic,
              [&lab] { ok(cairn_unlink(lab.pool(), CAIRN_ROOT, text('q', 255).c_str())); });
}

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
      [&lab] { ok(cairn_truncate(lab.pool(1), inode_of(lab.pool(1), "a"), 50)); }, 1);
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

}  // namespace

const std::vector<History>& all_histories() {
  static const std::vector<History> all = {
      {"create", 1, some_files, create},
      {"unlink", 1, some_files, unlink},
      {"unlink while open", 1, some_files, unlink_while_open},
      {"rename", 1, some_files, rename},
      {"rename directories", 1, some_files, rename_directory_over},
      {"link", 1, some_files, link},
      {"directories", 1, some_files, directories},
      {"symbolic links", 1, some_files, symlinks},
      {"writes", 1, some_files, writes},
      {"first writes", 1, [](CrashLab&) {}, writes_first},
      {"far writes", 1, some_files, far_writes},
      {"whole chunk", 1, some_files, whole_chunk},
      {"appends", 1, some_files, appends},
      {"sequential writes", 1, some_files, sequential},
      {"truncates", 1, some_files, truncates},
      {"fallocates", 1, some_files, fallocates},
      {"attributes", 1, some_files, attributes},
      {"unnamed file", 1, some_files, unnamed},
      {"unnamed file in a used inode", 1, some_files, unnamed_again},
      {"index split", 1, crowd, split_index},
      {"long names", 1, some_files, long_names},
      {"hand over", 2, some_files, hand_over},
      {"two in one directory", 2, some_files, two_in_one_directory},
      {"two appenders", 2, some_files, two_appenders},
      {"clean detach", 1, some_files, clean_detach},
      {"clean attach", 1, some_files, clean_attach},
      {"clean detach of two", 2, some_files, clean_detach},
  };
  return all;
}

std::string try_power_losses(const History& history, const LabOptions& options, uint64_t* images) {
  LabOptions mine = options;
  mine.processes = history.processes;
  CrashLab lab(mine);
  history.prepare(lab);
  lab.begin();
  history.run(lab);
  std::string wrong = lab.power_losses();
  if (!wrong.empty()) wrong += "\n" + lab.simulator().describe_image();
  *images += lab.images();
  return wrong;
}

std::string try_kills(const History& history, const LabOptions& options, uint64_t* images) {
  LabOptions mine = options;
  mine.processes = history.processes;
  CrashLab lab(mine);
  history.prepare(lab);
  lab.begin();
  history.run(lab);
  const std::string wrong = lab.kills();
  *images += lab.images();
  return wrong;
}

}  // namespace cairn::test
