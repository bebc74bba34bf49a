// Checkpoint writes the state as versions into the pool of the host, and reads the newest one.
#pragma once

#include <cairn/checkpoint.h>
#include <mpi.h>

#include <string>

#include "state.h"

namespace sedov {

class Checkpoint {
 public:
  // Opens the set `name`. pool: an attached one, or nullptr for the pool that `cairn run` would
  // use. Calls that fail end the job. `state` must live, and its arrays stay where they are, until
  // the end of this object. Collective.
  Checkpoint(const std::string& name, State& state, MPI_Comm communicator,
             cairn_pool* pool = nullptr, uint32_t flags = 0);
  ~Checkpoint();
  Checkpoint(const Checkpoint&) = delete;
  Checkpoint& operator=(const Checkpoint&) = delete;

  // Reads the newest version, if there is one; the number of ranks may be another one than that
  // which wrote it. Collective.
  bool read();
  // Waits until the version is committed: then all processes may be killed. Collective.
  void write();

 private:
  void define(const Variable& variable);
  void define_scalar(const char* name, uint32_t type, void* at);

  State& state_;
  cairn_checkpoint* checkpoint_ = nullptr;
};

}  // namespace sedov
