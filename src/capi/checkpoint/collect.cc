// C API: versions with variables of their own: begin, write_var, commit
// (include/cairn/checkpoint.h).
#include "base/saved_failure.h"
#include "cairn/checkpoint.h"
#include "capi/context/context.h"

using cairn::fail;
using cairn::Status;
using cairn::capi::check_given;
using cairn::capi::code;
namespace ckpt = cairn::checkpoint;

// What was registered under these names before is registered again.
void cairn_checkpoint::end_collecting() {
  for (auto& [name, before] : collected) {
    if (before)
      definitions.put(name, std::move(*before));
    else
      definitions.remove(name).ignore();  // it is there: write_var put it there
  }
  collected.clear();
  collecting.reset();
}

extern "C" {

int cairn_checkpoint_begin(cairn_checkpoint* checkpoint, int64_t version) {
  const WriteWindow window;
  if (const Status runs = cairn_checkpoint::check_runs(checkpoint); !runs.ok()) return code(runs);
  if (version == CAIRN_CHECKPOINT_LATEST)
    return code(fail(EINVAL, "CAIRN_CHECKPOINT_LATEST is not a number of a version"));
  checkpoint->end_collecting();
  checkpoint->collecting = version;
  return 0;
}

int cairn_checkpoint_write_var(cairn_checkpoint* checkpoint, const char* name,
                               const cairn_array* array, const cairn_distribution* distribution,
                               const cairn_definition* more) {
  const WriteWindow window;
  if (const Status runs = cairn_checkpoint::check_runs(checkpoint); !runs.ok()) return code(runs);
  if (const Status given = check_given(name, "the variable's name"); !given.ok())
    return code(given);
  if (!checkpoint->collecting) return code(fail(EINVAL, "no version was begun"));
  const auto found = checkpoint->definitions.all().find(name);
  std::optional<ckpt::Definition> before;
  if (found != checkpoint->definitions.all().end()) before = found->second;
  const int result = cairn_checkpoint_define(checkpoint, name, array, distribution, more);
  if (result == 0) checkpoint->collected.try_emplace(name, std::move(before));
  return result;
}

int cairn_checkpoint_commit(cairn_checkpoint* checkpoint) {
  const WriteWindow window;
  if (const Status runs = cairn_checkpoint::check_runs(checkpoint); !runs.ok()) return code(runs);
  if (!checkpoint->collecting) return code(fail(EINVAL, "no version was begun"));
  const int result = cairn_checkpoint_write(checkpoint, *checkpoint->collecting);
  const cairn::SavedFailure saved{cairn::Status(-result)};
  checkpoint->end_collecting();
  return code(saved.restored());
}

}  // extern "C"
