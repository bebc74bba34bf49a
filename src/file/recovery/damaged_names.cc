#include "file/recovery/damaged_names.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "file/namespace/directory_slots.h"
#include "pool/lanes/lock.h"
#include "pool/lanes/seats.h"

namespace cairn::file {
namespace {

using ull = unsigned long long;

[[gnu::format(printf, 2, 3)]] void tell(const Finding& finding, const char* text, ...) {
  char line[512];
  va_list arguments;
  va_start(arguments, text);
  std::vsnprintf(line, sizeof line, text, arguments);
  va_end(arguments);
  finding(line);
}

// Checks a slot by its own contents, also that of a whiteout.
void check_slot(const FileSystem& fs, const Map& directory, const Listed& listed,
                const Finding& finding) {
  const char* what = listed.whiteout ? "removed name" : "name";
  const std::string printable = printable_name(listed.name, listed.length);
  if (!listed.sound)
    tell(finding,
         "directory %llu, slot %llu: the %s \"%s\" is not a valid file name (a name is 1 to 255 "
         "bytes, "
         "not \".\" or \"..\", without \"/\" and zero bytes)",
         ull{directory.number}, ull{listed.unit}, what, printable.c_str());
  auto name = make_name(listed.name, listed.length);
  const auto slot =
      name.ok() ? find_name(fs, directory, *name, true) : Result<DirentSlot>(name.status());
  if (!slot.ok())
    tell(finding, "directory %llu, slot %llu: the %s \"%s\" is not in its index",
         ull{directory.number}, ull{listed.unit}, what, printable.c_str());
  else if (slot->unit != listed.unit)
    tell(finding, "directory %llu, slot %llu: the %s \"%s\" stands in slot %llu too",
         ull{directory.number}, ull{listed.unit}, what, printable.c_str(), ull{slot->unit});
}

// Calls visit(listed) for all live slots, until it returns true.
template <typename Visit>
Status for_each_slot(const FileSystem& fs, const Map& directory, Visit visit) {
  std::vector<Listed> batch = listing_room(directory);
  for (uint64_t cookie = 0;;) {
    CAIRN_TRY_ASSIGN(n, list_slots(fs, directory, cookie, batch.data(), batch.size()));
    if (n == 0) return Status();
    for (size_t i = 0; i < n; ++i)
      if (visit(batch[i])) return Status();
    cookie = batch[n - 1].cookie;
  }
}

}  // namespace

void check_names(const FileSystem& fs, const Map& directory, const Finding& finding,
                 const VisitName& visit) {
  uint64_t live = 0;
  const Status listed = for_each_slot(fs, directory, [&](const Listed& one) {
    check_slot(fs, directory, one, finding);
    if (one.whiteout) return false;
    ++live;
    if (visit) visit(one);
    return false;
  });
  if (!listed.ok()) return finding(last_detail());
  if (live != directory.inode->directory.entries.load())
    tell(finding, "directory %llu counts %llu names, %llu are there", ull{directory.number},
         ull{directory.inode->directory.entries.load()}, ull{live});
}

Result<std::string> first_finding(FileSystem& fs, const Map& directory) {
  std::string first;
  const auto check = [&] {
    check_names(fs, directory, [&](const char* text) {
      if (first.empty()) first = text;
    });
  };
  if (fs.pool.read_only) {
    check();
    return first;
  }
  pool::SeatGuard seat(fs.pool);
  if (!seat.ok()) return pool::no_seat(fs.pool);
  const pool::LockGuard lock(fs.pool, *seat, directory.inode->lock);
  check();
  return first;
}

bool has_hash(const FileSystem& fs, const Map& directory, const Listed& listed, uint32_t hash) {
  const format::Dirent* dirent = slots::dirent_at(fs, directory, listed.unit);
  return dirent != nullptr && format::dirent_hash(dirent->head.load()) == hash;
}

bool has_other_hash(const FileSystem& fs, const Map& directory, const Listed& listed) {
  const auto name = make_name(listed.name, listed.length);
  return name.ok() && !has_hash(fs, directory, listed, name->hash);
}

NamedSlot find_beside_index(const FileSystem& fs, const Map& directory, const Name& name) {
  NamedSlot found;
  const auto is_it = [&](const Listed& listed) {
    if (listed.whiteout) return false;
    const bool has_name =
        listed.length == name.length && std::memcmp(listed.name, name.text, name.length) == 0;
    const bool was_it =
        has_hash(fs, directory, listed, name.hash) && has_other_hash(fs, directory, listed);
    if (has_name || was_it) found = {listed.unit, listed.inode};
    return has_name || was_it;
  };
  for_each_slot(fs, directory, is_it).ignore();  // names found before the damage count
  return found;
}

std::vector<uint64_t> find_unnamed(const FileSystem& fs, const Map& directory) {
  std::vector<uint64_t> named;
  for_each_slot(fs, directory, [&](const Listed& listed) {
    if (!listed.whiteout) named.push_back(listed.inode);
    return false;
  }).ignore();  // a name behind the damage counts as missing
  std::sort(named.begin(), named.end());
  std::vector<uint64_t> unnamed;
  const uint64_t numbers = fs.pool.state->itable_blocks.load() * format::inodes_per_block;
  for (uint64_t number = format::root_inode + 1; number < numbers; ++number) {
    const Inode* inode = inode_at(fs, number);
    if (inode == nullptr || !is_live(*inode) || !S_ISDIR(inode->mode.load()) ||
        inode->directory.parent.load() != directory.number ||
        std::binary_search(named.begin(), named.end(), number))
      continue;
    unnamed.push_back(number);
  }
  return unnamed;
}

Result<std::vector<uint64_t>> find_unnamed_locked(FileSystem& fs, const Map& directory) {
  if (fs.pool.read_only) return find_unnamed(fs, directory);
  pool::SeatGuard seat(fs.pool);
  if (!seat.ok()) return pool::no_seat(fs.pool);
  const pool::LockGuard lock(fs.pool, *seat, directory.inode->lock);
  return find_unnamed(fs, directory);
}

}  // namespace cairn::file
