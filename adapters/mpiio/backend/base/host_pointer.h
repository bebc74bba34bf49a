// The shim that has started this back end.
#pragma once

#include "mpiio/host.h"

namespace mpiio {

extern const Host* host;

}  // namespace mpiio
