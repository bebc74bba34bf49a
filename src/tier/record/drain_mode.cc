#include "tier/record/drain_mode.h"

#include <algorithm>
#include <array>
#include <vector>

#include "file/inode/xattr.h"
#include "file/namespace/directory.h"
#include "file/space/make_room.h"

namespace cairn::tier {
namespace {

constexpr const char* never_of_lower = "cairn.never_of_lower";

constexpr std::array<const char*, 5> names = {"", "exit", "close", "async", "never"};

// How many letters differ: inserted, removed or changed ones (Levenshtein).
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, changed});
    }
  }
  return row[b.size()];
}

// The mode whose name is most like the text; "" if none is near.
std::string_view nearest(std::string_view text) {
  constexpr size_t longest = 16;
  constexpr size_t near = 2;
  if (text.empty() || text.size() > longest) return "";
  const auto closer = [&](const char* a, const char* b) {
    return distance(text, a) < distance(text, b);
  };
  const char* found = *std::min_element(names.begin() + 1, names.end(), closer);
  return distance(text, found) <= near || std::string_view(found).starts_with(text) ? found : "";
}

// May this owner's mode keep files out of lower? Such files are lost with their pool. Only the user
// and root may decide that, because the owner of a directory in lower could otherwise make other
// users lose their files.
bool may_keep_out(const file::FileSystem& fs, const file::Map& map) {
  const auto uid = static_cast<uint32_t>(map.inode->owner.load());
  return uid == 0 || uid == fs.uid.load(std::memory_order_relaxed);
}

}  // namespace

const char* text_of(DrainMode mode) { return names[static_cast<size_t>(mode)]; }

Result<DrainMode> drain_mode_of(std::string_view text) {
  for (size_t i = 1; i < names.size(); ++i)
    if (text == names[i]) return static_cast<DrainMode>(i);
  const std::string found(nearest(text));
  return fail(EINVAL, "%s: invalid drain mode '%s': expected exit, close, async or never%s%s%s",
              drain_mode_attribute, file::printable_name(text.data(), text.size()).c_str(),
              found.empty() ? "" : "; did you mean ", found.c_str(), found.empty() ? "" : "?");
}

DrainMode own_drain_mode(file::FileSystem& fs, const file::Map& map) {
  if (map.inode->xattr.load() == 0) return DrainMode::inherit;
  const auto text = file::get_xattr(fs, map, drain_mode_attribute);
  if (!text.ok()) return DrainMode::inherit;
  for (size_t i = 1; i < names.size(); ++i) {
    if (*text != names[i]) continue;
    const auto mode = static_cast<DrainMode>(i);
    return mode != DrainMode::never || may_keep_out(fs, map) ? mode : DrainMode::inherit;
  }
  return DrainMode::inherit;
}

Status note_mode_of_lower(file::FileSystem& fs, const file::Map& map) {
  return file::note_xattr(fs, map, never_of_lower, "1", 1);
}

void forget_mode_of_lower(file::FileSystem& fs, const file::Map& map) {
  if (file::get_xattr(fs, map, never_of_lower).ok())
    file::remove_xattr(fs, map, never_of_lower).ignore();
}

bool has_never_of_lower(file::FileSystem& fs, const file::Map& map) {
  return own_drain_mode(fs, map) == DrainMode::never &&
         file::get_xattr(fs, map, never_of_lower).ok();
}

Status set_drain_mode(file::FileSystem& fs, const file::Map& map, uint64_t generation,
                      DrainMode mode) {
  forget_mode_of_lower(fs, map);
  if (mode == DrainMode::inherit) {
    const Status status = file::remove_xattr(fs, map, drain_mode_attribute, generation);
    return status.code() == ENODATA ? Status() : status;
  }
  const std::string_view text = text_of(mode);
  return file::with_room(fs, [&] {
    return file::set_xattr(fs, map, drain_mode_attribute, text.data(), text.size(), 0, generation);
  });
}

DrainMode drain_mode_in(file::FileSystem& fs, const file::Map& map, DrainMode above) {
  const DrainMode own = own_drain_mode(fs, map);
  return own == DrainMode::inherit ? above : own;
}

}  // namespace cairn::tier
