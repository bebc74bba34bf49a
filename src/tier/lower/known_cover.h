// KnownCover is a cover as this process knows it: its path, and what holds for the files in it.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace cairn::tier {

// A process keeps it until it detaches the pool.
struct KnownCover {
  std::string path;
  uint64_t top = 0;
  uint64_t generation = 0;  // of the inode `top`
  uint64_t device = 0;      // of the covered directory
  bool keeps_birth = true;  // sys::keeps_birth() there
  KnownCover* next = nullptr;
};

// The covers of one attached pool that this process knows. An element never changes, so the list
// needs no lock, and fork needs no handler.
class KnownCovers {
 public:
  KnownCovers() = default;
  ~KnownCovers();
  KnownCovers(const KnownCovers&) = delete;
  KnownCovers& operator=(const KnownCovers&) = delete;

  // The one that was added last, for top and generation of an inode; null if there is none.
  [[nodiscard]] const KnownCover* find(uint64_t top, uint64_t generation) const;
  const KnownCover* add(const KnownCover& known);

 private:
  std::atomic<KnownCover*> first_{nullptr};
};

}  // namespace cairn::tier
