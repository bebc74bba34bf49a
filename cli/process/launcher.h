// Identifies the launcher of this process, which all processes of one job have in common, on every
// host.
#pragma once

#include <string>

namespace cairn::cli {

// The batch system's job id or, without one, the id that the MPI's launcher gives its processes; ""
// if there is neither.
std::string launcher_job();

// Names one call of mpirun, mpiexec or srun. All processes that it starts get this name, and no
// others do; "" if there was no such call. A batch job may make several calls.
std::string launch_id();

// The directory in which a PMIx launcher, as Open MPI's is, shares files with the processes that it
// has started on this host; "" if there is none.
std::string launcher_directory();

// Is this one of the processes that an MPI's launcher starts, be it the only one?
bool is_rank();

// True for the first process that the launcher started, and for a process without a launcher.
bool is_first_rank();

// Has an MPI's launcher, or srun, started other processes beside this one?
bool is_one_of_several();

// Does this process print messages for all that were started? It is alone, or the first of several
// on this host, and there is none on another host.
bool speaks_for_all();

// Reads, from the command line of a proxy that mpiexec has started (Hydra's, as MPICH and its
// descendants have it), the address on which mpiexec waits for it. Each argument ends in a zero
// byte. "" if the process is not such a proxy.
std::string control_port_of(const std::string& command_line);

}  // namespace cairn::cli
