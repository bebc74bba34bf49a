#include "tier/cover/covered_name.h"

#include <sys/stat.h>

#include <cstring>
#include <optional>

#include "file/inode/attributes.h"
#include "file/namespace/resolve.h"
#include "pool/lanes/seats.h"

namespace cairn::tier {
namespace {

Status leads_out(const Cover& cover, const char* path) {
  return fail(EXDEV, "%s: does not lie in the covered directory %s", path, cover.path.c_str());
}

// The path below the covered directory; "." for the directory itself.
Result<std::string> below(const Cover& cover, const char* path) {
  if (path == nullptr) return fail(EFAULT, "the path is NULL");
  if (path[0] != '/') return std::string(path);
  const size_t length = cover.path.size();
  if (std::strncmp(path, cover.path.c_str(), length) != 0 ||
      (path[length] != '/' && path[length] != '\0'))
    return leads_out(cover, path);
  const char* rest = path + length;
  while (*rest == '/') ++rest;
  return std::string(*rest == '\0' ? "." : rest);
}

Status find_way(file::FileSystem& fs, uint64_t top, uint64_t directory, const char* path,
                std::vector<uint64_t>* way) {
  constexpr unsigned deepest = 65536;  // as file::path_of(); a damaged pool may lead in a circle
  for (unsigned depth = 0; depth < deepest; ++depth) {
    way->push_back(directory);
    if (directory == top) return Status();
    auto inode = file::live_inode(fs, directory);
    directory = inode.ok() ? (*inode)->directory.parent.load() : 0;
    if (directory == 0) return fail(ENOENT, "%s: its directory was removed", path);
  }
  return fail(EUCLEAN, "%s: the chain of its directories does not end", path);
}

Status find_once(const Cover& cover, const char* path, const std::string& text,
                 CoveredName* found) {
  file::FileSystem& fs = *cover.fs;
  file::ResolveOptions options;
  options.top = cover.top;
  options.stop_outside = true;
  file::Resolved at;
  std::string outside;
  const Status status = file::resolve(fs, cover.top, text.c_str(), options, &at, &outside);
  if (status.code() == EXDEV) return leads_out(cover, path);
  CAIRN_TRY(status);
  CAIRN_TRY_ASSIGN(inode, file::live_inode(fs, at.inode));
  found->map = {inode, at.inode};
  found->generation = at.generation != 0 ? at.generation : inode->generation.load();
  if (at.inode == cover.top) return Status();
  uint64_t directory = file::number_of(at.parent);
  if (at.name == ".") {
    directory = inode->directory.parent.load();
  } else {
    if (!at.seat.has_value()) at.seat.emplace(fs.pool);
    if (!at.seat->ok()) return pool::no_seat(fs.pool);
    CAIRN_TRY_ASSIGN(name, file::make_name(at.name.data(), at.name.size()));
    CAIRN_TRY_ASSIGN(above, file::live_inode(fs, directory));
    auto slot = file::find_name(fs, {above, directory}, name);
    if (!slot.ok() || slot->inode != at.inode) return Status(ESTALE);
    found->unit = slot->unit + 1;
  }
  at.seat.reset();
  CAIRN_TRY_ASSIGN(above, file::live_inode(fs, directory));
  found->directory = {above, directory};
  return find_way(fs, cover.top, directory, path, &found->way);
}

}  // namespace

Result<CoveredName> find_covered(const Cover& cover, const char* path) {
  CAIRN_TRY_ASSIGN(text, below(cover, path));
  for (int attempt = 0; attempt < file::most_looks; ++attempt) {
    CoveredName found;
    const Status status = find_once(cover, path, text, &found);
    if (status.ok()) return found;
    if (status.code() != ESTALE) return status;
  }
  return fail(ENOENT, "%s: other processes keep replacing it; retry", path);
}

Status check_regular(const CoveredName& name, const char* path) {
  if (S_ISREG(name.map.inode->mode.load())) return Status();
  return fail(EINVAL, "%s: not a regular file", path);
}

}  // namespace cairn::tier
