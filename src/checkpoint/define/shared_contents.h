// SharedContents: the variables that this rank has defined, and what all ranks have agreed that
// versions contain. A changed definition makes the next agreement necessary.
#pragma once

#include "checkpoint/define/agreement.h"
#include "checkpoint/define/definitions.h"

namespace cairn::checkpoint {

class SharedContents {
 public:
  [[nodiscard]] Definitions& definitions() { return definitions_; }
  [[nodiscard]] const Definitions& definitions() const { return definitions_; }

  // Returns true if all ranks have agreed on the definitions, which have not changed since.
  [[nodiscard]] bool are_agreed() const {
    return has_agreed_ && agreed_changes_ == definitions_.changes();
  }
  // Agrees with all ranks; waits for them. `block_bytes`: of checksums, a power of 2; 0: the
  // default. `arrived`: as for Run::barrier_reduce().
  Status agree(Run* run, uint32_t block_bytes, uint64_t arrived);
  // Returns the contents of the last agreement.
  [[nodiscard]] const Agreed& agreed() const { return agreed_; }

 private:
  Definitions definitions_;
  Agreed agreed_;
  uint64_t agreed_changes_ = 0;
  bool has_agreed_ = false;
};

}  // namespace cairn::checkpoint
