// Histories of bytes: writes, and all else that changes which blocks a file has.
#include <fcntl.h>

#include "crash/histories.h"
#include "crash/history_steps.h"

namespace cairn::test {
namespace {

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
    ok(cairn_truncate(lab.pool(), inode_of(lab.pool(), "leaf"), 0, (uint64_t{2} << 20) + 70'000));
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

// Pieces at equal distances, into holes and over what is there.
void scattered(CrashLab& lab) {
  cairn_file* file = open_file(lab.pool(), "b");
  for (const char c : {'1', '2'}) {
    lab.perform("write pieces", Kind::bytes, [=] {
      std::string bytes = text(c, 30 * 700);
      std::vector<cairn_piece> pieces;
      for (size_t i = 0; i < 30; ++i)
        pieces.push_back({bytes.data() + i * 700, 700, 3000 + i * 1900});
      EXPECT_EQ(cairn_write_pieces(file, pieces.data(), pieces.size()),
                static_cast<int64_t>(bytes.size()));
    });
  }
  lab.perform("close", Kind::bytes, [=] { ok(cairn_close(file)); });
  write_step(lab, "write after it", "a", 'A', 30'000, 9000);
}

void truncates(CrashLab& lab) {
  const cairn_ino b = inode_of(lab.pool(), "b");
  for (uint64_t size : {uint64_t{45'000}, uint64_t{4096}, uint64_t{100}, uint64_t{30'000},
                        uint64_t{0}, uint64_t{9}}) {
    lab.perform("truncate to " + std::to_string(size), Kind::atomic,
                [&lab, b, size] { ok(cairn_truncate(lab.pool(), b, 0, size)); });
  }
  write_step(lab, "write after it", "b", 'w', 10, 5000);
}

// What somebody looks at keeps its blocks, and is zeroed after the end is there.
void truncates_viewed(CrashLab& lab) {
  cairn_file* file = open_file(lab.pool(), "b");
  cairn_view view{};
  ok(cairn_view_open(file, 20'000, 4096, &view));
  for (const uint64_t size : {uint64_t{45'000}, uint64_t{9}, uint64_t{30'000}}) {
    lab.perform("truncate to " + std::to_string(size), Kind::atomic,
                [=] { ok(cairn_ftruncate(file, size)); });
  }
  write_step(lab, "write after it", "b", 'w', 3000, 28'000);
  lab.perform("truncate again", Kind::atomic, [=] { ok(cairn_ftruncate(file, 5000)); });
  lab.perform("end the view", Kind::atomic, [=] {
    cairn_view ended = view;
    cairn_view_close(file, &ended);
  });
  lab.perform("close", Kind::atomic, [=] { ok(cairn_close(file)); });
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

}  // namespace

std::vector<History> histories_of_bytes() {
  return {
      {"writes", 1, some_files, writes},
      {"first writes", 1, [](CrashLab&) {}, writes_first},
      {"far writes", 1, some_files, far_writes},
      {"whole chunk", 1, some_files, whole_chunk},
      {"appends", 1, some_files, appends},
      {"sequential writes", 1, some_files, sequential},
      {"scattered writes", 1, some_files, scattered},
      {"truncates", 1, some_files, truncates},
      {"truncates of what is viewed", 1, some_files, truncates_viewed},
      {"fallocates", 1, some_files, fallocates},
  };
}

}  // namespace cairn::test
