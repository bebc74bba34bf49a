// The pool of a program that names none: as `cairn run` finds it, by cairn.yaml, the environment
// and the defaults.
#pragma once

#include "base/status.h"
#include "cairn/cairn.h"

namespace cairn::capi {

// Attaches it, and with `creates` creates it if it is not there. ENOSYS: a configuration file or a
// size has a form that only the command reads. EINVAL: a key or a value.
Result<cairn_pool*> attach_configured_pool(bool creates);

// The pool of a context: the program's, or one that the context attaches and detaches by itself.
class ContextPool {
 public:
  ContextPool() = default;
  ~ContextPool() {
    if (is_own_) cairn_pool_detach(pool_);
  }
  ContextPool(const ContextPool&) = delete;
  ContextPool& operator=(const ContextPool&) = delete;

  // Takes the pool that is given. NULL: attaches the configured one, as above.
  Status find(cairn_pool* given, bool creates) {
    pool_ = given;
    if (given != nullptr) return Status();
    CAIRN_TRY_ASSIGN(attached, attach_configured_pool(creates));
    pool_ = attached;
    is_own_ = true;
    return Status();
  }
  // Null: none was found.
  [[nodiscard]] cairn_pool* get() const { return pool_; }

 private:
  cairn_pool* pool_ = nullptr;
  bool is_own_ = false;
};

}  // namespace cairn::capi
