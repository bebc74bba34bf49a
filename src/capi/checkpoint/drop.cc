// C API: removing versions inside a run (include/cairn/checkpoint.h).
#include "base/saved_failure.h"
#include "capi/context/context.h"

using cairn::fail;
using cairn::Result;
using cairn::Status;
namespace ckpt = cairn::checkpoint;

namespace {

// The sequence of the version that this rank names.
Result<uint64_t> find_to_drop(const cairn_checkpoint& checkpoint, int64_t version, uint32_t flags) {
  if (flags != 0) return fail(EINVAL, "in a run there are no flags: a run drops single versions");
  CAIRN_TRY(checkpoint.check_may_write());
  const ckpt::KnownVersion* const known = checkpoint.look_for(version);
  if (known == nullptr) return fail(ENOENT, "the set has no such version");
  CAIRN_TRY(checkpoint.writer->check_drop(known->version.sequence));
  return known->version.sequence;
}

}  // namespace

Result<int64_t> cairn_checkpoint::meet_on_drop(int64_t value) {
  return run->barrier_max(ckpt::Run::Purpose::drop, value, writer->sequence());
}

Status cairn_checkpoint::drop_in_run(int64_t version, uint32_t flags) {
  CAIRN_TRY(settle_last());
  const auto found = find_to_drop(*this, version, flags);
  const cairn::SavedFailure not_found(found.status());
  const int64_t says = found.ok() ? static_cast<int64_t>(*found) : -found.code();
  CAIRN_TRY_ASSIGN(most, meet_on_drop(says));
  CAIRN_TRY_ASSIGN(negative, meet_on_drop(-says));
  if (!found.ok()) return not_found.restored();
  if (most != -negative)
    return fail(EINVAL, "ranks name different versions, or one of them cannot drop its own");
  if (background) background->forget(*found);
  const Status own = writer->retirement().drop(*found);
  const cairn::SavedFailure saved(own);
  CAIRN_TRY_ASSIGN(worst, meet_on_drop(own.code()));
  if (!own.ok()) return saved.restored();
  if (worst == 0) return Status();
  return fail(static_cast<int>(worst), "the leader of a host could not drop its part: %s",
              strerror(static_cast<int>(worst)));
}
