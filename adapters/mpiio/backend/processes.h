// The processes of a job that are on this host, and how each of them is, as the system shows it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mpiio {

// A process of this host, whoever asks for it.
struct LocalProcess {
  int32_t rank;
  int32_t process;  // its ID
  uint64_t process_namespace;
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

// Of this process; 0: the system does not say.
uint64_t process_namespace();

}  // namespace mpiio
