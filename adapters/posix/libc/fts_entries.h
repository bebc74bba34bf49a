// The entries of an fts walk (fts.cc): made, looked at, sorted, freed.
#pragma once

#include <fts.h>
#include <sys/stat.h>

namespace posix::fts {

struct Node {
  struct stat state;
  char* path;    // from where the walk began
  FTSENT entry;  // the name goes on behind it
};

struct Tree {
  FTS shown;
  Node* inside;  // whose directory is the working directory; nullptr: where the walk began
  Tree* next;
};

enum class Reading { kChildren, kNames, kDescend };

Node* node_of(FTSENT* entry);
inline bool has(const Tree& tree, int option) { return (tree.shown.fts_options & option) != 0; }
inline void set_info(FTSENT* entry, int info) {
  entry->fts_info = static_cast<unsigned short>(info);  // NOLINT(google-runtime-int): FTSENT's
}

// An entry called `name` in the directory `parent`; nullptr: no memory.
Node* make_node(const Tree& tree, FTSENT* parent, const char* name);
void free_node(FTSENT* entry);
void free_list(FTSENT* first);

// Looks at the file; what it is, as fts_info says it.
int look(const Tree& tree, FTSENT* entry, bool follow);

// By the program's order.
FTSENT* sorted(const Tree& tree, FTSENT* first);

// What is in the directory fts_cur. nullptr: nothing, or fts_cur says what was wrong.
FTSENT* read_directory(Tree& tree, Reading reading);

}  // namespace posix::fts
