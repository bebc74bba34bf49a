// The functions of the MPI itself.
#pragma once

#include <mpi.h>

#include "mpiio/backend/base/conversion.h"
#include "mpiio/backend/base/handlers.h"
#include "mpiio/host.h"

namespace mpiio {

// The MPI's own functions, by kind; null if it has none.
namespace real {
#define PLAIN(name, parameters, arguments) extern int(*name[kKinds]) parameters;
#define CALL PLAIN
#define SMALL PLAIN
#define LARGE(name, parameters, arguments) extern int(*name##_c[kKinds]) parameters;
#include "mpiio/calls.def"
#undef PLAIN
#undef CALL
#undef SMALL
#undef LARGE
}  // namespace real

// The file whose genuine handle stands for a Cairn file: it exists on every host and is empty.
constexpr const char* shadow_path = "/dev/null";

}  // namespace mpiio
