// Contents: the arguments with which a datatype was made, by any call (MPI 4.1, section 5.1.13).
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

namespace mpiio {

// Holds numbers and addresses in the form of MPI_Type_get_contents for the calls with int counts,
// also for types that were made with MPI_Count ones.
class Contents {
 public:
  explicit Contents(MPI_Datatype datatype);
  ~Contents();
  Contents(const Contents&) = delete;
  Contents& operator=(const Contents&) = delete;

  int combiner = MPI_COMBINER_NAMED;
  std::vector<int64_t> numbers;
  std::vector<int64_t> addresses;
  std::vector<MPI_Datatype> types;
};

int combiner_of(MPI_Datatype datatype);
// Returns true for a type that MPI itself defines; it has no contents, and cannot be freed.
bool is_predefined(MPI_Datatype datatype);

}  // namespace mpiio
