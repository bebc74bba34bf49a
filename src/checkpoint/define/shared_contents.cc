#include "checkpoint/define/shared_contents.h"

#include <bit>

namespace cairn::checkpoint {

Status SharedContents::agree(Run* run, uint32_t block_bytes, uint64_t arrived) {
  LayoutChoice choice;
  choice.ranks = run->all_ranks();
  if (block_bytes != 0) choice.block_shift = static_cast<uint8_t>(std::countr_zero(block_bytes));
  has_agreed_ = false;
  CAIRN_TRY_ASSIGN(contents, checkpoint::agree(run, definitions_, choice, arrived));
  CAIRN_TRY_ASSIGN(made, make_agreed(std::move(contents), *run));
  agreed_ = std::move(made);
  agreed_changes_ = definitions_.changes();
  has_agreed_ = true;
  return Status();
}

}  // namespace cairn::checkpoint
