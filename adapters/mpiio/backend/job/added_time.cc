#include "mpiio/backend/job/added_time.h"

#include <cstdio>

#include "cluster/mpi/messages/waiting.h"
#include "mpiio/backend/base/host_pointer.h"

namespace mpiio {
namespace {

// One thread calls MPI_Init, and one MPI_Finalize.
uint64_t added_ns[2];

}  // namespace

AddedTime::AddedTime(Added to) : to_(to), began_ns_(cairn::mpi::now_ns()) {}

AddedTime::~AddedTime() { added_ns[static_cast<int>(to_)] += cairn::mpi::now_ns() - began_ns_; }

void add_time_of_start() {
  added_ns[static_cast<int>(Added::init)] += cairn::mpi::now_ns() - host->began_ns;
}

void tell_added_time() {
  constexpr double ms = 1e-6;
  char text[128];
  std::snprintf(text, sizeof text, "MPI-IO: %.3f ms added to MPI_Init, %.3f ms to MPI_Finalize",
                static_cast<double>(added_ns[0]) * ms, static_cast<double>(added_ns[1]) * ms);
  host->engine->log(engine::Level::kInfo, text);
}

}  // namespace mpiio
