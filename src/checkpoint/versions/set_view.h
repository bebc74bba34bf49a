// SetView: what one process knows of a set: its file, the slots that it has open, and the versions
// that were committed when it last looked.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "checkpoint/store/set_file.h"
#include "checkpoint/versions/catalogue.h"
#include "checkpoint/versions/slot_cache.h"

namespace cairn::checkpoint {

// The user's number of a version; no value: the latest version.
using VersionNumber = std::optional<int64_t>;

class SetView {
 public:
  SetView() = default;
  SetView(const SetView&) = delete;
  SetView& operator=(const SetView&) = delete;

  // Opens a set, as SetFile does. No version is known yet.
  Status open(file::FileSystem& fs, const std::string& name);
  Status open_or_make(file::FileSystem& fs, const std::string& name, const Uuid& uuid);

  // Reads all manifests. Slots that are open stay open.
  Status read_manifests();
  // Closes all slots and reads all manifests: no pointer to a slot is valid any more.
  Status look_again();
  // Reads all manifests and opens no slot for it, so that it changes no slot that a caller uses.
  Status renew();
  // Forgets all versions, because the set was removed.
  void forget_versions() { catalogue_ = {}; }

  // These are valid once the set is open. The objects stay where they are.
  [[nodiscard]] SetFile& set() const { return *set_; }
  [[nodiscard]] file::FileSystem& fs() const { return set_->fs(); }
  [[nodiscard]] SlotCache* slot_cache() { return &*slot_cache_; }
  [[nodiscard]] Catalogue* catalogue() { return &catalogue_; }
  [[nodiscard]] const Catalogue& catalogue() const { return catalogue_; }

  // Returns the version of a number, of the newest version's line if it has one. Null: there is
  // none.
  [[nodiscard]] const KnownVersion* look_for(const VersionNumber& number) const;
  // Returns a word of a version's manifest (records.h). ENOENT: this pool has no part of it.
  Result<uint64_t> word_of(const KnownVersion& known, uint64_t offset);
  // Returns the manifest of a version. ESTALE: its slot holds another version by now.
  Result<Manifest> manifest_of(const KnownVersion& known);

 private:
  std::unique_ptr<SetFile> set_;
  std::optional<SlotCache> slot_cache_;
  Catalogue catalogue_;
};

}  // namespace cairn::checkpoint
