// The pool of a program that names none: as `cairn run` finds it, by cairn.yaml, the environment
// and the defaults.
#pragma once

#include "base/status.h"
#include "cairn/cairn.h"

namespace cairn::capi {

// Attaches it, and with `creates` creates it if it is not there. ENOSYS: a configuration file or a
// size has a form that only the command reads. EINVAL: a key or a value.
Result<cairn_pool*> attach_configured_pool(bool creates);

}  // namespace cairn::capi
