#include "posix/libc/fts_entries.h"

#include <stdlib.h>
#include <string.h>

#include "posix/io/calls.h"
#include "posix/names/calls.h"

namespace posix::fts {

Node* node_of(FTSENT* entry) {
  return reinterpret_cast<Node*>(reinterpret_cast<char*>(entry) - offsetof(Node, entry));
}

static int start_of(const Tree& tree) {
  return tree.shown.fts_rfd >= 0 ? tree.shown.fts_rfd : AT_FDCWD;
}

static bool is_dots(const char* name) { return strcmp(name, ".") == 0 || strcmp(name, "..") == 0; }

Node* make_node(const Tree& tree, FTSENT* parent, const char* name) {
  size_t length = strlen(name);
  bool below = parent->fts_level >= FTS_ROOTLEVEL;
  const char* prefix = below ? parent->fts_path : "";
  size_t before = strlen(prefix);
  auto* node = static_cast<Node*>(calloc(1, sizeof(Node) + length));
  auto* path = static_cast<char*>(malloc(before + length + 2));
  if (node == nullptr || path == nullptr) {
    free(node);
    free(path);
    return nullptr;
  }
  memcpy(path, prefix, before);
  if (below && (before == 0 || prefix[before - 1] != '/')) path[before++] = '/';
  memcpy(path + before, name, length + 1);
  FTSENT& entry = node->entry;
  memcpy(&entry.fts_name[0], name, length + 1);
  node->path = path;
  entry.fts_path = path;
  entry.fts_pathlen = static_cast<unsigned short>(before + length);  // NOLINT(google-runtime-int)
  entry.fts_namelen = static_cast<unsigned short>(length);           // NOLINT(google-runtime-int)
  entry.fts_parent = parent;
  entry.fts_level = static_cast<short>(parent->fts_level + 1);  // NOLINT(google-runtime-int)
  entry.fts_accpath = has(tree, FTS_NOCHDIR) || !below ? path : &entry.fts_name[0];
  entry.fts_statp = &node->state;
  entry.fts_instr = FTS_NOINSTR;
  return node;
}

void free_node(FTSENT* entry) {
  free(node_of(entry)->path);
  free(node_of(entry));
}

void free_list(FTSENT* first) {
  while (first != nullptr) {
    FTSENT* next = first->fts_link;
    free_node(first);
    first = next;
  }
}

// Returns the ancestor that is the same directory, or null.
static FTSENT* found_above(const FTSENT& entry) {
  for (FTSENT* up = entry.fts_parent; up->fts_level >= FTS_ROOTLEVEL; up = up->fts_parent) {
    if (up->fts_ino == entry.fts_ino && up->fts_dev == entry.fts_dev) return up;
  }
  return nullptr;
}

int look(const Tree& tree, FTSENT* entry, bool follow) {
  struct stat state = {};
  int error = -1;
  follow = follow || has(tree, FTS_LOGICAL);
  if (follow) error = serve::fstatat(start_of(tree), entry->fts_path, &state, 0);
  bool dangling = false;
  if (error != 0) {
    int why = errno;
    error = serve::fstatat(start_of(tree), entry->fts_path, &state, AT_SYMLINK_NOFOLLOW);
    dangling = follow && error == 0;
    if (error != 0) {
      entry->fts_errno = follow ? why : errno;
      *entry->fts_statp = {};
      return FTS_NS;
    }
    errno = 0;
  }
  *entry->fts_statp = state;
  if (dangling) return FTS_SLNONE;
  if (S_ISLNK(state.st_mode)) return FTS_SL;
  if (S_ISREG(state.st_mode)) return FTS_F;
  if (!S_ISDIR(state.st_mode)) return FTS_DEFAULT;
  entry->fts_dev = state.st_dev;
  entry->fts_ino = state.st_ino;
  entry->fts_nlink = state.st_nlink;
  if (is_dots(&entry->fts_name[0])) return FTS_DOT;
  entry->fts_cycle = found_above(*entry);
  return entry->fts_cycle != nullptr ? FTS_DC : FTS_D;
}

using Order = int (*)(const void*, const void*);

FTSENT* sorted(const Tree& tree, FTSENT* first) {
  size_t count = 0;
  for (FTSENT* entry = first; entry != nullptr; entry = entry->fts_link) ++count;
  if (count == 0) return first;
  auto* all = static_cast<FTSENT**>(malloc(count * sizeof(FTSENT*)));
  if (all == nullptr) return first;
  size_t n = 0;
  for (FTSENT* entry = first; entry != nullptr; entry = entry->fts_link) all[n++] = entry;
  qsort(all, count, sizeof(FTSENT*), reinterpret_cast<Order>(tree.shown.fts_compar));
  for (n = 0; n < count; ++n) all[n]->fts_link = n + 1 < count ? all[n + 1] : nullptr;
  first = all[0];
  free(all);
  return first;
}

static void classify(const Tree& tree, FTSENT* entry, int type, Reading reading) {
  // A file that cannot be a directory is not examined if the program asks only for its name.
  bool unasked =
      has(tree, FTS_NOSTAT) && has(tree, FTS_PHYSICAL) && type != DT_UNKNOWN && type != DT_DIR;
  bool plain = reading == Reading::kNames || (unasked && !is_dots(&entry->fts_name[0]));
  set_info(entry, plain ? FTS_NSOK : look(tree, entry, false));
}

static DIR* open_directory(const Tree& tree, const FTSENT& entry) {
  int fd = serve::openat(start_of(tree), entry.fts_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
  DIR* stream = fd < 0 ? nullptr : serve::fdopendir(fd);
  if (fd >= 0 && stream == nullptr) serve::close(fd);
  return stream;
}

FTSENT* read_directory(Tree& tree, Reading reading) {
  FTSENT* directory = tree.shown.fts_cur;
  DIR* stream = open_directory(tree, *directory);
  if (stream == nullptr) {
    if (reading == Reading::kDescend) {
      directory->fts_info = FTS_DNR;
      directory->fts_errno = errno;
    }
    return nullptr;
  }
  FTSENT *first = nullptr, *last = nullptr;
  while (struct dirent* found = serve::readdir(stream)) {
    if (is_dots(found->d_name) && !has(tree, FTS_SEEDOT)) continue;
    Node* node = make_node(tree, directory, found->d_name);
    if (node == nullptr) {
      free_list(first);
      serve::closedir(stream);
      tree.shown.fts_options |= FTS_STOP;
      errno = ENOMEM;
      return nullptr;
    }
    classify(tree, &node->entry, found->d_type, reading);
    (last != nullptr ? last->fts_link : first) = &node->entry;
    last = &node->entry;
  }
  serve::closedir(stream);
  if (first == nullptr && reading == Reading::kDescend) directory->fts_info = FTS_DP;
  return tree.shown.fts_compar != nullptr ? sorted(tree, first) : first;
}

}  // namespace posix::fts
