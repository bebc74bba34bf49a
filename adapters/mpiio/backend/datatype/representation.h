// Representation: the form of values in a file (MPI 4.1, section 14.5).
#pragma once

#include <mpi.h>

#include <memory>
#include <string>

#include "mpiio/backend/base/conversion.h"
#include "mpiio/backend/datatype/layout.h"

namespace mpiio {

// A representation whose values in a file differ from those in memory.
class Representation {
 public:
  virtual ~Representation() = default;
  // Returns the bytes of a predefined type in the file.
  [[nodiscard]] virtual int64_t size(MPI_Datatype predefined) const = 0;
  // Makes `bytes` bytes of the file from items of `datatype` at `buffer`, without the first `skip`.
  // write() and read() return the codes of the program's functions.
  virtual int write(const void* buffer, MPI_Datatype datatype, int64_t skip, int64_t items,
                    char* file, int64_t bytes) const = 0;
  // Makes items from bytes of the file, which need not be whole items at the end of a file. `*got`:
  // bytes of data in memory.
  virtual int read(void* buffer, MPI_Datatype datatype, int64_t skip, int64_t items,
                   const char* file, int64_t bytes, int64_t* got) const = 0;
};

// Finds a representation by name; "native" and "internal" are known and null. Returns false if
// there is none of this name.
bool find_representation(const std::string& name, std::shared_ptr<const Representation>* found);

template <typename Count>
int register_representation(const char* name, Conversion<Count>* read, Conversion<Count>* write,
                            MPI_Datarep_extent_function* extent, void* extra);

}  // namespace mpiio
