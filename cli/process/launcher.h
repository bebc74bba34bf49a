// The launcher of this process: what all processes of one job have in common, on every host, and
// other jobs have not.
#pragma once

#include <string>

namespace cairn::cli {

// The batch system's job id; without one, what the MPI's launcher gives its processes; "" if there
// is neither.
std::string launcher_job();

// Names one call of mpirun, mpiexec or srun: the same for all processes that it starts, and for no
// others; "" if there was no such call. A batch job may make several calls.
std::string launch_id();

// The directory in which a PMIx launcher, as Open MPI's is, shares files with the processes that it
// has started on this host; "" if there is none.
std::string launcher_directory();

// Is this one of the processes that an MPI's launcher starts, be it the only one?
bool is_rank();

// Is it the first one of them, or none?
bool is_first_rank();

// Has an MPI's launcher, or srun, started other processes beside this one?
bool is_one_of_several();

// Does this one speak for all that was started? It is alone, or the first of several on this host,
// with none on another.
bool speaks_for_all();

// The address on which mpiexec (Hydra's, as MPICH and its descendants have it) waits for the
// proxies that it starts, from the command line of such a proxy, whose arguments end in a zero byte
// each; "" if it is none.
std::string control_port_of(const std::string& command_line);

}  // namespace cairn::cli
