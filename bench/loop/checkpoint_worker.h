// The checkpoint loop's worker program writes checkpoints in one process or several, each with
// files of its own in one directory.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace cairn::bench {

// The first argument of a program that was started as such a worker.
inline constexpr const char* checkpoint_worker = "--checkpoint-worker";

struct CheckpointJob {
  std::string directory;
  size_t size = 0;   // bytes of one process's checkpoint
  size_t piece = 0;  // bytes of one write
  size_t processes = 1;
};

// Returns the words to start it with. Its pieces of work are the words of checkpoint_ways.h; "copy"
// and "stream", which copy into a warm mapping; "files N" and "batch N", which make small files one
// by one and in a batch. All processes work concurrently, and the time of the slowest one counts.
std::vector<std::string> checkpoint_worker_words(const CheckpointJob& job);

// The largest mapping that one process copies into. A larger checkpoint goes over it several times:
// the mapping is larger than caches, and leaves memory for the files.
inline constexpr size_t largest_mapping = size_t{256} << 20;

// main() of such a program.
int serve_checkpoints(int argc, char** argv);

}  // namespace cairn::bench
