#include "tier/cover/cover_lower.h"

#include <cstdlib>

#include "tier/cover/cover_state.h"
#include "tier/drain/evict.h"
#include "tier/lower/lower.h"
#include "tier/stage/import.h"
#include "tier/stage/stage.h"
#include "tier/system/system.h"

namespace cairn::tier {
namespace {

class CoverLower final : public LowerTree {
 public:
  explicit CoverLower(file::FileSystem& fs) : LowerTree(fs), evictor_(fs) {}

  Status fill_directory(uint64_t inode) override { return Importer(fs()).fill_directory(inode); }
  Result<size_t> read(uint64_t inode, void* buffer, size_t size, uint64_t offset) override {
    return Stager(*this).read(inode, buffer, size, offset);
  }
  Result<uint64_t> seek(uint64_t inode, uint64_t offset, int whence) override {
    return Stager(*this).seek(inode, offset, whence);
  }
  Status stage(uint64_t inode) override { return Stager(*this).stage(inode); }
  Status discard(uint64_t inode, uint64_t generation) override {
    return Stager(*this).discard(inode, generation);
  }
  Status stage_tree(uint64_t inode) override { return Stager(*this).stage_tree(inode); }
  bool evict_some(uint64_t bytes, bool has_drained) override {
    return evictor_.evict_some(bytes, has_drained);
  }
  std::shared_ptr<file::Remote> remote(uint64_t inode) override {
    return Stager(*this).remote(inode);
  }

 private:
  Evictor evictor_;
};

constexpr LowerHooks hooks = {{make_lower}, holds_data};

}  // namespace

std::unique_ptr<file::Lower> make_lower(file::FileSystem& fs) {
  // In a program that `cairn run` started, calls must pass by the preloaded library.
  if (std::getenv("CAIRN_COVER") != nullptr) sys::call_past_preload();
  make_lower_later(fs);
  return std::make_unique<CoverLower>(fs);
}

void make_lower_later(file::FileSystem& fs) { fs.lower_maker = &hooks; }

bool holds_data(file::FileSystem& fs, const std::string& name) {
  make_lower_later(fs);
  auto state = state_of_cover(fs, name);
  return !state.ok() || !state->all_drained;
}

}  // namespace cairn::tier
