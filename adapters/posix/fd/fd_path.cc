#include "posix/fd/fd_path.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "posix/core/engine.h"

namespace posix::fd_path {

long path_of(const Cover* cover, cairn_ino directory, char* path, size_t capacity) {
  if (cover->length + 1 > capacity) return -ERANGE;
  memcpy(path, cover->path, cover->length + 1);
  if (directory == cover->top) return static_cast<long>(cover->length);
  int length =
      cairn_path_of(pool, cover->top, directory, path + cover->length, capacity - cover->length);
  if (length < 0) return length == -ESTALE ? -ENOENT : length;
  return static_cast<long>(cover->length) + length;
}

void remember(Entry* entry, cairn_ino parent, const char* name) {
  size_t size = strlen(name) + 1;
  entry->name = static_cast<char*>(memory::allocate(size));
  if (entry->name == nullptr) return;
  memcpy(entry->name, name, size);
  entry->parent = parent;
}

static bool has_its_name(const Entry* entry) {
  cairn_stat st;
  return cairn_lookup(pool, entry->parent, entry->name, CAIRN_NOFOLLOW, &st) == 0 &&
         st.ino == entry->ino;
}

long path_of(const Entry* entry, char* path, size_t capacity) {
  if (entry->cover == nullptr) return -ENOENT;
  if (entry->kind == Kind::kDirectory) {
    long length = path_of(entry->cover, entry->ino, path, capacity);
    if (length >= 0) return length;
  }
  if (entry->name == nullptr) return -ENOENT;
  long length = path_of(entry->cover, entry->parent, path, capacity);
  if (length < 0) return length;
  const char* state = entry->shown != 0 || has_its_name(entry) ? "" : " (deleted)";
  auto used = static_cast<size_t>(length);
  char number[32] = "";
  // The file never had a name.
  if (entry->name[0] == '\0')
    snprintf(number, sizeof number, "#%llu", static_cast<unsigned long long>(entry->ino));
  int more = snprintf(path + used, capacity - used, "/%s%s%s", entry->name, number, state);
  return more < 0 || static_cast<size_t>(more) >= capacity - used ? -ENAMETOOLONG : length + more;
}

}  // namespace posix::fd_path
