// Entries of an fts walk (fts.cc): makes, examines, sorts and frees them.
#pragma once

#include <fts.h>
#include <sys/stat.h>

namespace posix::fts {

struct Node {
  struct stat state;
  char* path;    // from the start of the walk
  FTSENT entry;  // the name continues behind it
};

struct Tree {
  FTS shown;
  Node* inside;  // the working directory is this one's; null: where the walk began
  Tree* next;
};

enum class Reading { kChildren, kNames, kDescend };

Node* node_of(FTSENT* entry);
inline bool has(const Tree& tree, int option) { return (tree.shown.fts_options & option) != 0; }
inline void set_info(FTSENT* entry, int info) {
  entry->fts_info = static_cast<unsigned short>(info);  // NOLINT(google-runtime-int): FTSENT's
}

// Makes an entry called `name` in the directory `parent`. Returns null if memory is out.
Node* make_node(const Tree& tree, FTSENT* parent, const char* name);
void free_node(FTSENT* entry);
void free_list(FTSENT* first);

// Examines the file. Returns its type as in fts_info.
int look(const Tree& tree, FTSENT* entry, bool follow);

// Sorts by the program's order.
FTSENT* sorted(const Tree& tree, FTSENT* first);

// Reads the directory fts_cur. Returns null if it is empty, or if fts_cur has the error.
FTSENT* read_directory(Tree& tree, Reading reading);

}  // namespace posix::fts
