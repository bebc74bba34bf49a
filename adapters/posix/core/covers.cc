#include "posix/core/covers.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "posix/core/at_start.h"

namespace posix {

constinit Cover covers[kMostCovers];
AT_START_DATA int cover_count;
AT_START_DATA Spelling spellings[kMostSpellings];
AT_START_DATA int spelling_count;
AT_START_DATA std::atomic<int> coverage{0};

// The paths of the covers and of the pool, one after the other. They are copies, because the
// program may overwrite its environment. They share an array, so that a program that touches no
// covered path touches few pages.
static char names[(kMostSpellings + 1) * PATH_MAX];

static const char* keep(size_t* used, const char* path, size_t length) {
  char* kept = names + *used;
  memcpy(kept, path, length);
  *used += length + 1;
  return kept;
}

// Takes the next absolute path of a list, without slashes at its end. Returns null at the list's
// end.
static const char* next_path(const char** list, size_t* length) {
  while (*list != nullptr && **list != '\0') {
    const char* path = *list;
    size_t whole = 0;
    while (path[whole] != '\0' && path[whole] != ':') ++whole;
    *list += whole + (path[whole] == ':' ? 1 : 0);
    *length = whole;
    while (*length > 1 && path[*length - 1] == '/') --*length;
    if (*length > 0 && *length < PATH_MAX && path[0] == '/') return path;
  }
  return nullptr;
}

static void add_spelling(const char* path, size_t length, Cover* cover) {
  if (spelling_count < kMostSpellings) spellings[spelling_count++] = {path, length, cover};
}

// Constructors of other libraries may call this function before our constructor has run.
AT_START_CODE int read_environment() {
  static std::atomic_flag reading;
  if (environ == nullptr) return 1;
  while (reading.test_and_set()) {
    if (coverage.load() != 0) return coverage.load();
  }
  const char* list = getenv("CAIRN_COVER");
  int found = 0;
  size_t used = 0;
  size_t length = 0;
  for (const char* path; found < kMostCovers && (path = next_path(&list, &length)) != nullptr;) {
    Cover& cover = covers[found++];
    cover.path = keep(&used, path, length);
    cover.length = length;
    add_spelling(cover.path, length, &cover);
  }
  list = getenv("CAIRN_COVER_SPELLINGS");
  for (const char* path; found > 0 && spelling_count < kMostSpellings &&
                         (path = next_path(&list, &length)) != nullptr;)
    add_spelling(keep(&used, path, length), length, &covers[0]);
  const char* path = getenv("CAIRN_POOL");
  if (path != nullptr && strlen(path) < PATH_MAX)
    engine::pool_path = keep(&used, path, strlen(path));
  cover_count = found;
  coverage.store(found > 0 ? 2 : 1, std::memory_order_release);
  return coverage.load();
}

bool is_ancestor(const char* folded) {
  size_t length = strlen(folded);
  if (length == 1) return true;  // "/"
  for (int i = 0; i < spelling_count; ++i) {
    if (length < spellings[i].length && memcmp(spellings[i].path, folded, length) == 0 &&
        spellings[i].path[length] == '/')
      return true;
  }
  return false;
}

}  // namespace posix
