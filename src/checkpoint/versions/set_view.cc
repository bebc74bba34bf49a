#include "checkpoint/versions/set_view.h"

namespace cairn::checkpoint {

Status SetView::open(file::FileSystem& fs, const std::string& name) {
  CAIRN_TRY_ASSIGN(opened, SetFile::open(fs, name));
  set_ = std::move(opened);
  slot_cache_.emplace(fs, set_->directory());
  return Status();
}

Status SetView::open_or_make(file::FileSystem& fs, const std::string& name, const Uuid& uuid) {
  CAIRN_TRY_ASSIGN(opened, SetFile::open_or_make(fs, name, uuid));
  set_ = std::move(opened);
  slot_cache_.emplace(fs, set_->directory());
  return Status();
}

Status SetView::read_manifests() {
  CAIRN_TRY_ASSIGN(manifests, Catalogue::read_manifests(*set_, &*slot_cache_));
  catalogue_ = std::move(manifests);
  return Status();
}

Status SetView::look_again() {
  slot_cache_->clear();
  return read_manifests();
}

Status SetView::renew() {
  SlotCache slot_cache(fs(), set_->directory());
  CAIRN_TRY_ASSIGN(manifests, Catalogue::read_manifests(*set_, &slot_cache));
  catalogue_ = std::move(manifests);
  return Status();
}

const KnownVersion* SetView::look_for(const VersionNumber& number) const {
  for (const KnownVersion& known : catalogue_.line())
    if (!number || known.version.number == *number) return catalogue_.find(known.version.sequence);
  const auto& all = catalogue_.versions();
  for (auto known = all.rbegin(); known != all.rend(); ++known)
    if (number && known->version.number == *number) return &*known;
  return nullptr;
}

Result<uint64_t> SetView::word_of(const KnownVersion& known, uint64_t offset) {
  if (known.any_slot() == 0) return fail(ENOENT, "this pool has no part of the version");
  CAIRN_TRY_ASSIGN(slot, slot_cache_->get(known.any_slot()));
  CAIRN_TRY_ASSIGN(word, slot->word(offset));
  return word->load();
}

Result<Manifest> SetView::manifest_of(const KnownVersion& known) {
  CAIRN_TRY_ASSIGN(slot, slot_cache_->get(known.any_slot()));
  CAIRN_TRY_ASSIGN(manifest, slot->read_manifest());
  if (manifest.version().sequence != known.version.sequence)
    return fail(ESTALE, "the slot holds another version");
  return manifest;
}

}  // namespace cairn::checkpoint
