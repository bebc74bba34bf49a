// The oracle: what each worker was told, in memory that outlives it. A worker notes its intent
// before each call and the outcome after it; whoever takes its place compares.
#pragma once

#include <atomic>
#include <cstdint>

namespace cairn::test {

inline constexpr unsigned workers = 8;
inline constexpr unsigned files_per_worker = 6;
inline constexpr unsigned blocks_per_file = 24;
inline constexpr uint64_t block_size = 4096;

struct FileState {
  bool exists = false;
  uint32_t blocks = 0;                      // size, in blocks
  uint64_t sequence[blocks_per_file] = {};  // of the write whose bytes each block holds, 0: zeros
};

enum class Intent : uint32_t { none, create, write, truncate, unlink, rename };

struct WorkerState {
  FileState file[files_per_worker];
  // The call that is under way. Atomic, because a kill may fall between any two stores: what a call
  // is about stands before its intent does, and what it came to before the intent goes.
  std::atomic<Intent> intent{Intent::none};
  uint32_t subject = 0;
  uint32_t other = 0;  // rename: the new name
  uint32_t from = 0;   // write: first block; truncate: blocks
  uint32_t to = 0;
  uint64_t new_sequence = 0;

  uint64_t next_sequence = 1;
  uint64_t appended = 0;   // acknowledged records in the log
  uint64_t appending = 0;  // the one under way: appended + 1, or 0
  std::atomic<uint64_t> heartbeat{0};
  uint64_t operations = 0;
};

struct Oracle {
  WorkerState worker[workers];
  std::atomic<uint32_t> failures{0};
  char failure[512] = {};
  char pool_path[256] = {};
};

// A record of the log.
struct Record {
  static constexpr uint32_t magic_value = 0x52434443;
  uint32_t magic;
  uint32_t worker;
  uint64_t number;
  uint32_t size;  // of the payload
  uint32_t check;
};

}  // namespace cairn::test
