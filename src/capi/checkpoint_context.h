// What a cairn_checkpoint is.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string>

#include "cairn/checkpoint.h"
#include "capi/handles.h"
#include "checkpoint/restart/restart.h"
#include "checkpoint/version/agreement.h"
#include "checkpoint/version/answers.h"
#include "checkpoint/version/writer.h"

struct cairn_checkpoint {
 public:
  cairn_checkpoint() = default;
  ~cairn_checkpoint();
  cairn_checkpoint(const cairn_checkpoint&) = delete;
  cairn_checkpoint& operator=(const cairn_checkpoint&) = delete;

  // Opens the set and begins the run.
  cairn::Status open(const std::string& name, int communicator);
  cairn::Status close();

  // Contents that all ranks agree on; compared anew after definitions were changed. Waits for all
  // ranks then.
  cairn::Status agree_on_contents();
  [[nodiscard]] cairn::checkpoint::Restart restart();
  // Waits until the last version is decided.
  cairn::Status settle_last();
  // The run goes on from what was read.
  void continue_from(const cairn::checkpoint::RestartReport& report);
  // EEXIST: there is a version that this run has neither read nor been told to leave.
  [[nodiscard]] cairn::Status check_may_write() const;
  [[nodiscard]] uint32_t survives() const;
  // 0, or the error of a version that is decided.
  cairn::Status told(uint64_t sequence);

  cairn_checkpoint_options options{};
  std::string code_version;
  cairn_pool* pool = nullptr;
  bool owns_pool = false;
  std::unique_ptr<cairn::checkpoint::SetFile> set;
  std::optional<cairn::checkpoint::Shelf> shelf;
  std::unique_ptr<cairn::checkpoint::Run> run;
  cairn::checkpoint::Catalogue catalogue;
  std::optional<cairn::checkpoint::Writer> writer;
  std::optional<cairn::checkpoint::Answers> answers;
  cairn::checkpoint::Definitions definitions;
  cairn::checkpoint::Agreed agreed;
  uint64_t agreed_changes = 0;  // of the definitions
  bool has_agreed = false;
  bool may_write = false;
  std::optional<int64_t> step;  // of the last need()
  uint64_t told_sequence = 0;
};

namespace cairn::capi {

// A structure of the caller's: what lies beyond its size counts as zero.
template <typename T>
Result<T> copy_in(const T* from, const char* what) {
  T copy{};
  if (from == nullptr) return copy;
  if (from->struct_size < sizeof from->struct_size)
    return fail(EINVAL, "%s: struct_size is not set", what);
  std::memcpy(static_cast<void*>(&copy), from, std::min<size_t>(from->struct_size, sizeof copy));
  return copy;
}
// Into one of the caller's, as far as it reaches.
template <typename T>
void copy_out(T value, T* to) {
  if (to == nullptr) return;
  value.struct_size = to->struct_size;
  std::memcpy(static_cast<void*>(to), &value, std::min<size_t>(to->struct_size, sizeof value));
}

Result<checkpoint::ArrayShape> shape_of(const cairn_array& array,
                                        const cairn_distribution* distribution);

}  // namespace cairn::capi
