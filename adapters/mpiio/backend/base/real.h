// The functions of the MPI itself.
#pragma once

#include <mpi.h>

#include "mpiio/backend/base/conversion.h"
#include "mpiio/backend/base/handlers.h"
#include "mpiio/host.h"

namespace mpiio {

// The MPI's own functions, by kind; null where it has none.
namespace real {
#define PLAIN(name, parameters, arguments) extern int(*name[kKinds]) parameters;
#define CALL PLAIN
#define LARGE(name, parameters, arguments) extern int(*name##_c[kKinds]) parameters;
#include "mpiio/calls.def"
#undef PLAIN
#undef CALL
#undef LARGE
}  // namespace real

// The file whose genuine handle the program gets for ours: it is on every host and holds nothing.
constexpr const char* shadow_path = "/dev/null";

}  // namespace mpiio
