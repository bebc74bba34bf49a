// Processes knows the job's processes on this host and reads the state of each from /proc.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cairn::mpi {

// A process of this host, as any process of the host can look for it.
struct LocalProcess {
  int32_t rank;
  int32_t process;  // its ID
  uint64_t namespaces;
  uint64_t started;  // another one that gets the ID later has started later
};

constexpr char process_lives = 'L';  // or nothing is known of it
constexpr char process_stopped = 'T';
constexpr char process_gone = 'X';

class Processes {
 public:
  Processes() = default;
  Processes(const LocalProcess* first, size_t count, const char* proc = "/proc")
      : first_(first), count_(count), proc_(proc) {}
  [[nodiscard]] char state_of(int rank) const;

 private:
  const LocalProcess* first_ = nullptr;
  size_t count_ = 0;
  const char* proc_ = "/proc";
};

// This process, with the rank that it has where it is asked for.
LocalProcess own_process(int rank);
// Of this process: in which IDs and times mean the same. 0: the system does not say.
uint64_t namespaces();
// When it started, as the system shows it, in ticks since the host did; 0: the system does not say.
uint64_t start_of(int process, const char* proc = "/proc");

}  // namespace cairn::mpi
