#include "mpiio/backend/base/host_pointer.h"

namespace mpiio {

const Host* host = nullptr;

}  // namespace mpiio
