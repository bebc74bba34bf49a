// The pool of a program that names none: as `cairn run` finds it, by the environment and the
// defaults.
#pragma once

#include "base/status.h"
#include "cairn/cairn.h"

namespace cairn::capi {

// Attaches it, and creates it if it is not there. ENOSYS: a configuration file sets keys of pool.*,
// which only the command reads.
Result<cairn_pool*> attach_configured_pool();

}  // namespace cairn::capi
