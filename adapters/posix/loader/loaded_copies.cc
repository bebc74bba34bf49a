#include "posix/loader/loaded_copies.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "posix/core/calls.h"
#include "posix/fd/descriptor.h"
#include "posix/loader/library_copies.h"

namespace posix {
namespace {

struct Library {
  cairn_ino ino;
  uint64_t generation;
  const char* name;  // the loader's; null until it is loaded
  uint64_t seen;     // the last search during which it was loaded
  int users;         // number of threads that are loading it
  int copy;          // made by one of them
  char* asked;       // the name by which all of them load it; it leads to the copy
  Library* next;
  char* path;
};
Library* all = nullptr;
uint64_t times = 0;
unsigned long long unloaded = 0;  // NOLINT(google-runtime-int): as the loader counts
unsigned turns = 0;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

class Locked {
 public:
  Locked() { pthread_mutex_lock(&mutex); }
  ~Locked() { pthread_mutex_unlock(&mutex); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;
};

Library* known(const loaded::File& file) {
  Library* one = all;
  while (one != nullptr && (one->ino != file.ino || one->generation != file.generation))
    one = one->next;
  return one;
}

struct Look {
  const char* path;
  bool there;         // a library has this name
  bool must_compare;  // a library was unloaded since the last search
  uint64_t time;
  unsigned long long unloaded;  // NOLINT(google-runtime-int)
};

int see(struct dl_phdr_info* info, size_t, void* argument) {
  auto* look = static_cast<Look*>(argument);
  const Locked locked;
  if (look->time == 0) {
    look->unloaded = info->dlpi_subs;
    look->must_compare = look->unloaded != unloaded;
    look->time = ++times;
  }
  if (strcmp(info->dlpi_name, look->path) == 0) look->there = true;
  for (Library* one = all; look->must_compare && one != nullptr; one = one->next)
    if (one->name == info->dlpi_name && one->seen < look->time) one->seen = look->time;
  return 0;
}

// Removes the files that the loader has unloaded.
void forget(const Look& look) {
  const Locked locked;
  unloaded = look.unloaded;
  for (Library** at = &all; *at != nullptr;) {
    Library* one = *at;
    if (one->users > 0 || one->seen >= look.time) {
      at = &one->next;
      continue;
    }
    *at = one->next;
    free(one);
  }
}

// Notes that the file is loaded, under the loader's name.
void note_loaded(Library* one, const char* name) {
  give_own_name(name, one->path);
  const Locked locked;
  one->name = name;
  one->seen = times;
}

Library* make(const loaded::File& file) {
  const size_t length = strlen(file.path) + 1;
  auto* one = static_cast<Library*>(calloc(1, sizeof(Library) + length));
  if (one == nullptr) return nullptr;
  one->ino = file.ino;
  one->generation = file.generation;
  one->path = static_cast<char*>(memcpy(one + 1, file.path, length));
  return one;
}

void insert(Library* one) {
  one->next = all;
  all = one;
}

// Enters the file for this thread, which is to load it; another thread may be loading it, or may
// have done so. Uses up the copy if the entry has none. Returns null if memory is out.
Library* enter(const loaded::File& file, int* copy, bool* is_loaded) {
  Library* fresh = make(file);
  char* asked = static_cast<char*>(malloc(room_for_name(file.path)));
  Library* one = nullptr;
  if (fresh != nullptr && asked != nullptr) {
    const Locked locked;
    one = known(file);
    if (one == nullptr) {
      one = fresh;
      fresh = nullptr;
      insert(one);
    }
    *is_loaded = one->name != nullptr;
    if (one->users++ == 0) {
      name_for_loader(*copy, ++turns, one->path, asked);
      one->asked = asked;
      one->copy = *copy;
      asked = nullptr;
      *copy = -1;
    }
  }
  free(fresh);
  free(asked);
  return one;
}

// Leaves the entry after the file was loaded, or could not be loaded.
void leave(Library* one) {
  char* asked = nullptr;
  int copy = -1;
  bool lost = false;
  {
    const Locked locked;
    if (--one->users == 0) {
      asked = one->asked;
      one->asked = nullptr;
      copy = one->copy;
      lost = one->name == nullptr;
    }
    Library** at = &all;
    while (lost && *at != one) at = &(*at)->next;
    if (lost) *at = one->next;
  }
  if (copy >= 0) descriptor::close_private(copy);
  free(asked);
  if (lost) free(one);
}

struct Start {
  int copy;
  Library* library;
};

int see_at_start(struct dl_phdr_info* info, size_t, void* argument) {
  const auto* start = static_cast<Start*>(argument);
  if (copy_of_name(info->dlpi_name) != start->copy) return 0;
  note_loaded(start->library, info->dlpi_name);
  return 1;
}

}  // namespace

bool loaded::find(const File& file, char* name) {
  Look look = {file.path, false, false, 0, 0};
  dl_iterate_phdr(see, &look);
  if (look.must_compare) forget(look);
  const Locked locked;
  const Library* one = look.there ? nullptr : known(file);
  if (!look.there && (one == nullptr || one->name == nullptr)) return false;
  snprintf(name, PATH_MAX, "%s", look.there ? file.path : one->path);
  return true;
}

void* loaded::open(const File& file, int copy, int flags) {
  bool is_loaded = false;
  Library* one = enter(file, &copy, &is_loaded);
  if (copy >= 0) descriptor::close_private(copy);
  if (one == nullptr) return real::dlopen(file.path, flags);
  void* handle = is_loaded ? real::dlopen(one->path, flags | RTLD_NOLOAD) : nullptr;
  if (handle == nullptr) {
    handle = real::dlopen(one->asked, flags);
    struct link_map* map;
    if (handle != nullptr && dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0)
      note_loaded(one, map->l_name);
  }
  leave(one);
  return handle;
}

bool loaded::given(const File& file, int copy) {
  Start start = {copy, make(file)};
  if (start.library == nullptr) return false;
  insert(start.library);
  if (dl_iterate_phdr(see_at_start, &start) != 0) return true;
  all = start.library->next;
  free(start.library);
  return false;
}

const char* loaded::path_of(const char* name, char* room) {
  if (copy_of_name(name) < 0) return name;
  const Locked locked;
  const Library* one = all;
  while (one != nullptr && (one->asked == nullptr || strcmp(one->asked, name) != 0))
    one = one->next;
  if (one == nullptr) return nullptr;
  snprintf(room, PATH_MAX, "%s", one->path);
  return room;
}

void loaded::after_fork() { pthread_mutex_init(&mutex, nullptr); }

}  // namespace posix
