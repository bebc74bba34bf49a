// What Cairn adds to the time of MPI_Init and MPI_Finalize.
#pragma once

#include <cstdint>

namespace mpiio {

enum class Added : uint8_t { init, finalize };

// From here to the end of its scope the time is ours.
class AddedTime {
 public:
  explicit AddedTime(Added to);
  ~AddedTime();
  AddedTime(const AddedTime&) = delete;
  AddedTime& operator=(const AddedTime&) = delete;

 private:
  Added to_;
  uint64_t began_ns_;
};

// Everything since the first MPI call came to us.
void add_time_of_start();
// Says it on stderr, if log.level is info.
void tell_added_time();

}  // namespace mpiio
