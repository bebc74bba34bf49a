// fts: the C library's own reads directories by internal functions. Where a directory is covered,
// these walk all trees, also outside trees, because a link may lead into the cover.
//
// Every entry has its whole path, from where the walk began. Our own calls use it, whatever the
// working directory is by then. The program sees what 4.4BSD shows: without FTS_NOCHDIR it finds
// itself in the directory that holds the entry, and fts_accpath is the name alone.
#include "posix/libc/fts.h"

#include <stdlib.h>
#include <string.h>

#include "posix/core/calls.h"
#include "posix/core/engine.h"
#include "posix/io/calls.h"
#include "posix/libc/calls.h"
#include "posix/libc/fts_entries.h"
#include "posix/names/calls.h"
#include "posix/path/covered.h"
#include "posix/path/result.h"

namespace posix {

namespace {

using namespace fts;  // NOLINT(google-build-using-namespace): the same idea, in two files

pthread_mutex_t trees_mutex = PTHREAD_MUTEX_INITIALIZER;
Tree* trees;

Tree* tree_of(FTS* stream) {
  pthread_mutex_lock(&trees_mutex);
  Tree* tree = trees;
  while (tree != nullptr && &tree->shown != stream) tree = tree->next;
  pthread_mutex_unlock(&trees_mutex);
  return tree;
}

// Changes the working directory to the one that holds the entry.
bool move_to(Tree& tree, const FTSENT& entry) {
  if (has(tree, FTS_NOCHDIR)) return true;
  Node* holder = entry.fts_level > FTS_ROOTLEVEL ? node_of(entry.fts_parent) : nullptr;
  if (holder == tree.inside) return true;
  bool moved = serve::fchdir(tree.shown.fts_rfd) == 0 &&
               (holder == nullptr || serve::chdir(holder->path) == 0);
  if (moved) tree.inside = holder;
  if (!moved) tree.shown.fts_options |= FTS_STOP;
  return moved;
}

FTSENT* give(Tree& tree, FTSENT* entry) {
  tree.shown.fts_cur = entry;
  return move_to(tree, *entry) ? entry : nullptr;
}

// Shortens a root's name to its last component, when the walk comes to it.
void load_root(Tree& tree, FTSENT* root) {
  char* name = &root->fts_name[0];
  char* slash = strrchr(name, '/');
  if (slash != nullptr && (slash != name || slash[1] != '\0')) {
    size_t length = strlen(slash + 1);
    memmove(name, slash + 1, length + 1);
    root->fts_namelen = static_cast<unsigned short>(length);  // NOLINT(google-runtime-int)
  }
  tree.shown.fts_dev = root->fts_dev;
}

// Frees `entry` and returns the next one: a sibling, or the directory that holds it, for the second
// time.
FTSENT* next_of(Tree& tree, FTSENT* entry) {
  for (;;) {
    FTSENT* done = entry;
    FTSENT* holder = done->fts_parent;
    entry = done->fts_link;
    if (tree.inside == node_of(done)) tree.inside = nullptr, serve::fchdir(tree.shown.fts_rfd);
    free_node(done);
    if (entry == nullptr) {
      if (holder->fts_level < FTS_ROOTLEVEL) {
        free_node(holder);
        tree.shown.fts_cur = nullptr;
        errno = 0;
        return nullptr;
      }
      set_info(holder, holder->fts_errno != 0 ? FTS_ERR : FTS_DP);
      return give(tree, holder);
    }
    if (entry->fts_level == FTS_ROOTLEVEL) load_root(tree, entry);
    if (entry->fts_level > FTS_ROOTLEVEL && entry->fts_instr == FTS_SKIP) continue;
    if (entry->fts_instr == FTS_FOLLOW) {
      set_info(entry, look(tree, entry, true));
      entry->fts_instr = FTS_NOINSTR;
    }
    return give(tree, entry);
  }
}

Tree* make_tree(int options, FtsOrder order) {
  auto* tree = static_cast<Tree*>(calloc(1, sizeof(Tree)));
  if (tree == nullptr) return nullptr;
  tree->shown.fts_compar = reinterpret_cast<decltype(tree->shown.fts_compar)>(order);
  tree->shown.fts_options = (options & FTS_LOGICAL) != 0 ? options | FTS_NOCHDIR : options;
  tree->shown.fts_rfd = -1;
  return tree;
}

void free_tree(Tree* tree) {
  if (FTSENT* entry = tree->shown.fts_cur) {
    while (entry->fts_level >= FTS_ROOTLEVEL) {
      FTSENT* next = entry->fts_link != nullptr ? entry->fts_link : entry->fts_parent;
      free_node(entry);
      entry = next;
    }
    free_node(entry);
  }
  free_list(tree->shown.fts_child);
  if (tree->shown.fts_rfd >= 0) serve::close(tree->shown.fts_rfd);
  free(tree);
}

// Makes the roots, below a parent that is not a file.
bool plant(Tree& tree, char* const* paths) {
  FTSENT above = {};
  above.fts_level = FTS_ROOTPARENTLEVEL - 1;
  Node* parent = make_node(tree, &above, "");
  if (parent == nullptr) return false;
  set_info(&parent->entry, FTS_INIT);
  parent->entry.fts_parent = nullptr;
  FTSENT *first = nullptr, *last = nullptr;
  bool complete = true;
  for (; complete && *paths != nullptr; ++paths) {
    Node* node = **paths != '\0' ? make_node(tree, &parent->entry, *paths) : nullptr;
    complete = node != nullptr;
    if (**paths == '\0') errno = ENOENT;
    if (!complete) break;
    int info = look(tree, &node->entry, has(tree, FTS_COMFOLLOW));
    set_info(&node->entry, info == FTS_DOT ? FTS_D : info);
    (last != nullptr ? last->fts_link : first) = &node->entry;
    last = &node->entry;
  }
  if (!complete) {
    free_list(first);
    free_node(&parent->entry);
    return false;
  }
  if (tree.shown.fts_compar != nullptr) first = sorted(tree, first);
  // An entry before the first root; the first fts_read frees it like any other.
  Node* start = make_node(tree, &parent->entry, "");
  if (start == nullptr) return false;
  start->entry.fts_link = first;
  set_info(&start->entry, FTS_INIT);
  tree.shown.fts_cur = &start->entry;
  return true;
}

}  // namespace

void fts::after_fork() { pthread_mutex_init(&trees_mutex, nullptr); }

namespace serve {

FTS* fts_open(char* const* paths, int options, FtsOrder order) {
  if (!active()) return real::fts_open(paths, options, order);
  if ((options & ~FTS_OPTIONMASK) != 0 || paths == nullptr) {
    fail(-EINVAL);
    return nullptr;
  }
  Tree* tree = make_tree(options, order);
  if (tree == nullptr) return nullptr;
  if (!has(*tree, FTS_NOCHDIR)) {
    tree->shown.fts_rfd = serve::open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (tree->shown.fts_rfd < 0) tree->shown.fts_options |= FTS_NOCHDIR;
  }
  if (!plant(*tree, paths)) {
    int error = errno;
    free_tree(tree);
    fail(-error);
    return nullptr;
  }
  pthread_mutex_lock(&trees_mutex);
  tree->next = trees;
  trees = tree;
  pthread_mutex_unlock(&trees_mutex);
  return &tree->shown;
}

FTSENT* fts_read(FTS* stream) {
  Tree* tree = tree_of(stream);
  if (tree == nullptr) return real::fts_read(stream);
  FTSENT* entry = stream->fts_cur;
  if (entry == nullptr || has(*tree, FTS_STOP)) return nullptr;
  int instruction = entry->fts_instr;
  entry->fts_instr = FTS_NOINSTR;
  if (instruction == FTS_AGAIN ||
      (instruction == FTS_FOLLOW && (entry->fts_info == FTS_SL || entry->fts_info == FTS_SLNONE))) {
    set_info(entry, look(*tree, entry, instruction == FTS_FOLLOW));
    return entry;
  }
  if (entry->fts_info != FTS_D) return next_of(*tree, entry);
  bool beyond = has(*tree, FTS_XDEV) && entry->fts_dev != stream->fts_dev;
  if (instruction == FTS_SKIP || beyond || has(*tree, FTS_NAMEONLY)) {
    free_list(stream->fts_child);
    stream->fts_child = nullptr;
    stream->fts_options &= ~FTS_NAMEONLY;
  }
  if (instruction == FTS_SKIP || beyond) {
    set_info(entry, FTS_DP);
    return entry;
  }
  FTSENT* first =
      stream->fts_child != nullptr ? stream->fts_child : read_directory(*tree, Reading::kDescend);
  stream->fts_child = nullptr;
  if (first == nullptr) return has(*tree, FTS_STOP) ? nullptr : entry;
  return give(*tree, first);
}

FTSENT* fts_children(FTS* stream, int instruction) {
  Tree* tree = tree_of(stream);
  if (tree == nullptr) return real::fts_children(stream, instruction);
  if (instruction != 0 && instruction != FTS_NAMEONLY) {
    fail(-EINVAL);
    return nullptr;
  }
  FTSENT* entry = stream->fts_cur;
  errno = 0;
  if (entry == nullptr || has(*tree, FTS_STOP)) return nullptr;
  if (entry->fts_info == FTS_INIT) return entry->fts_link;
  if (entry->fts_info != FTS_D) return nullptr;
  free_list(stream->fts_child);
  if (instruction == FTS_NAMEONLY) stream->fts_options |= FTS_NAMEONLY;
  stream->fts_child =
      read_directory(*tree, instruction == FTS_NAMEONLY ? Reading::kNames : Reading::kChildren);
  return stream->fts_child;
}

int fts_set(FTS* stream, FTSENT* entry, int instruction) {
  if (tree_of(stream) == nullptr) return real::fts_set(stream, entry, instruction);
  if (instruction < 0 || instruction > FTS_SKIP) {
    errno = EINVAL;
    return 1;
  }
  entry->fts_instr = static_cast<unsigned short>(instruction);  // NOLINT(google-runtime-int)
  return 0;
}

int fts_close(FTS* stream) {
  Tree* tree = tree_of(stream);
  if (tree == nullptr) return real::fts_close(stream);
  pthread_mutex_lock(&trees_mutex);
  Tree** link = &trees;
  while (*link != tree) link = &(*link)->next;
  *link = tree->next;
  pthread_mutex_unlock(&trees_mutex);
  int back = has(*tree, FTS_NOCHDIR) ? 0 : serve::fchdir(stream->fts_rfd);
  free_tree(tree);
  return back;
}

}  // namespace serve
}  // namespace posix
