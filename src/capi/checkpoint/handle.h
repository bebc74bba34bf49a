// Handle: what a cairn_checkpoint is, and what several calls of cairn/checkpoint.h translate.
#pragma once

#include <algorithm>
#include <cstring>

#include "cairn/checkpoint.h"
#include "capi/checkpoint/attributes.h"
#include "capi/checkpoint/configured_pool.h"
#include "capi/core/handles.h"
#include "checkpoint/record/text.h"
#include "checkpoint/session/session.h"

struct cairn_checkpoint {
  explicit cairn_checkpoint(const cairn::checkpoint::SessionOptions& options) : session(options) {}

  cairn::capi::ContextPool pool;
  cairn::checkpoint::CheckpointSession session;
  cairn::capi::AttributeList described;  // of the version that a caller was told of last
};

namespace cairn::capi {

// Copies a structure of the caller's: what lies beyond its size counts as zero.
template <typename T>
Result<T> copy_in(const T* from, const char* what) {
  T copy{};
  if (from == nullptr) return copy;
  if (from->struct_size < sizeof from->struct_size)
    return fail(EINVAL, "%s: struct_size is not set", what);
  std::memcpy(static_cast<void*>(&copy), from, std::min<size_t>(from->struct_size, sizeof copy));
  return copy;
}
// Copies into a structure of the caller's, as far as it reaches.
template <typename T>
void copy_out(T value, T* to) {
  if (to == nullptr) return;
  value.struct_size = to->struct_size;
  std::memcpy(static_cast<void*>(to), &value, std::min<size_t>(to->struct_size, sizeof value));
}

// Copies a text into an array, as far as there is room.
template <size_t size>
void copy_text(const std::string& text, char (&to)[size]) {
  to[text.copy(to, size - 1)] = 0;
}

inline checkpoint::VersionNumber number_of(int64_t version) {
  return version == CAIRN_CHECKPOINT_LATEST ? checkpoint::VersionNumber() : version;
}
// EINVAL: the number is needed to name a new version.
inline Status check_number(int64_t version) {
  return version == CAIRN_CHECKPOINT_LATEST
             ? fail(EINVAL, "CAIRN_CHECKPOINT_LATEST is not a number of a version")
             : Status();
}

// EFAULT; EINVAL: the context only looks.
inline Status check_runs(const cairn_checkpoint* checkpoint) {
  CAIRN_TRY(check_given(checkpoint, "checkpoint"));
  return checkpoint->session.run() != nullptr
             ? Status()
             : fail(EINVAL, "this context only looks (CAIRN_CHECKPOINT_LOOK)");
}

// Names the variable in the text of a failure.
inline Status with_variable(const Status& status, const char* name) {
  if (status.ok()) return status;
  return annotate(status, "variable '%s'", checkpoint::shown_text(name).c_str());
}

Result<checkpoint::ArrayShape> shape_of(const cairn_array& array,
                                        const cairn_distribution* distribution);
// An array without halo, in memory.
Result<checkpoint::ArrayPlace> place_of(const cairn_array* array);

// Makes a definition and defines the variable, or one of the version that was begun.
Status define(cairn_checkpoint* checkpoint, const char* name, const cairn_array* array,
              const cairn_distribution* distribution, const cairn_definition* more,
              bool in_collected);

}  // namespace cairn::capi
