#include "checkpoint/sources/lower_source.h"

#include "checkpoint/store/layout_files.h"
#include "checkpoint/versions/catalogue.h"

namespace cairn::checkpoint {

Result<const LowerCopy*> LowerSource::copy() {
  if (!copy_) {
    CAIRN_TRY_ASSIGN(opened, open_copy(lower_, sequence_));
    copy_ = std::move(opened);
  }
  return &*copy_;
}

Result<Contents> LowerSource::read_contents(const Sha256Hash& layout) const {
  CAIRN_TRY_ASSIGN(opened, open_copy(lower_, sequence_));
  if (layout_of(opened.manifest.version()) != layout)
    return fail(EUCLEAN, "the copy in lower has another layout");
  return std::move(opened.contents);
}

Result<const LowerPart*> LowerSource::part(const VersionRecord& version, uint32_t part) {
  const auto known = parts_.find(part);
  if (known != parts_.end()) return &known->second;
  CAIRN_TRY_ASSIGN(whole, copy());
  if (!is_same_version(whole->manifest.version(), version))
    return fail(EUCLEAN, "%s: is of another version", name_of(version, part).c_str());
  CAIRN_TRY_ASSIGN(opened, open_part(lower_, whole->manifest, whole->contents, part));
  return &parts_.emplace(part, std::move(opened)).first->second;
}

std::string LowerSource::name_of(const VersionRecord& version, uint32_t part) const {
  return lower_.path() + "/" + lower_part_name(sequence_, part, version.parts, lower_data);
}

}  // namespace cairn::checkpoint
