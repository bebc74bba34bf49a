// Finds the path of a directory.
#include <vector>

#include "file/namespace/locked_name.h"
#include "file/namespace/names.h"

namespace cairn::file {

using namespace names;  // NOLINT(google-build-using-namespace): the parts of this file

Result<std::string> path_of(FileSystem& fs, uint64_t top, uint64_t directory) {
  pool::SeatGuard seat(fs.pool);
  if (!seat.ok()) return pool::no_seat(fs.pool);
  std::string path;
  directory = number_of(directory);
  for (unsigned depth = 0; directory != top; ++depth) {
    auto here = live_map(fs, directory);
    if (!here.ok() || here->inode->links.load() == 0 || depth > 65536)
      return fail(ENOENT, "the directory was removed");
    const uint64_t parent = here->inode->directory.parent.load();
    auto above = live_map(fs, parent);
    if (!above.ok()) return fail(ENOENT, "the directory was removed");
    // The name is found by a search of the parent: paths are asked for rarely.
    std::vector<Listed> batch = listing_room(*above);
    bool found = false;
    for (uint64_t cookie = 0; !found;) {
      auto n = list_names(fs, *seat, *above, cookie, batch.data(), batch.size());
      if (!n.ok()) return n.status();
      if (*n == 0) break;
      for (size_t i = 0; i < *n && !found; ++i) {
        if (batch[i].inode != directory) continue;
        path.insert(0, batch[i].name, batch[i].length).insert(0, 1, '/');
        found = true;
      }
      cookie = batch[*n - 1].cookie;
    }
    if (!found) return fail(ENOENT, "the directory was removed");
    directory = parent;
  }
  return path.empty() ? std::string("/") : path;
}

}  // namespace cairn::file
