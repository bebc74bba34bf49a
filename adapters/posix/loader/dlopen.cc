// Opens libraries that lie in the cover, or need libraries of the cover (dlopen).
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "posix/core/at_start.h"
#include "posix/core/calls.h"
#include "posix/fd/descriptor.h"
#include "posix/loader/calls.h"
#include "posix/loader/libraries.h"
#include "posix/loader/loaded_copies.h"
#include "posix/names/calls.h"
#include "posix/path/covered.h"

namespace posix {

// The value that the loader read at the start. It ignores later changes by the program.
AT_START_DATA static const char* library_path = nullptr;

__attribute__((constructor)) static void remember_library_path(int, char**, char** environment) {
  library_path = value_of(environment, "LD_LIBRARY_PATH");
}

// Opens a library. Uses up its copy.
static void* open(Loadable* one, int flags) {
  if (one->copy < 0) return real::dlopen(one->path, flags);
  const int copy = one->copy;
  one->copy = -1;
  return loaded::open({one->ino, one->generation, one->path}, copy, flags);
}

// Loads the needed libraries, then the file. The file keeps them loaded from then on.
static void* load(const Needs& needs, Loadable* file, int flags) {
  if ((flags & RTLD_NOLOAD) != 0) {
    if (file->copy < 0) return real::dlopen(file->path, flags);
    descriptor::close_private(file->copy);
    dlerror();  // clears the error: the library is only not loaded
    return nullptr;
  }
  for (auto* one = needs.first(); one != nullptr; one = one->next) {
    if (one->elsewhere) continue;
    // A library without this DT_SONAME is dropped from the file's needs, so its symbols must be
    // global.
    const bool global = one->nameless && (one->loadable.copied || one->hidden);
    void* handle = open(&one->loadable, global ? RTLD_LAZY | RTLD_GLOBAL : RTLD_LAZY);
    one->handle = global ? nullptr : handle;
  }
  void* loaded = open(file, flags);
  if (loaded == nullptr) return nullptr;  // dlclose would change the text of dlerror
  for (auto* one = needs.first(); one != nullptr; one = one->next)
    if (one->handle != nullptr) dlclose(one->handle);
  return loaded;
}

// Makes dlerror return this text: no file has a name that ends in a slash.
static void* refuse(const char* path, const char* why, int flags) {
  char none[PATH_MAX];
  snprintf(none, sizeof none, "%.3000s (%.900s)/", path, why);
  return real::dlopen(none, flags);
}

static void* refuse(const char* path, int error, int flags) {
  char why[256];
  snprintf(why, sizeof why, "its copy in memory: %s", strerror(-error));
  return refuse(path, why, flags);
}

static void* find_none(const char* path, int flags) {
  if (real::access(path, F_OK) == 0)
    return refuse(path, "only the directory below the cover has it; drain, or remove it there",
                  flags);
  char none[PATH_MAX];
  snprintf(none, sizeof none, "%.4000s/", path);
  return real::dlopen(none, flags);
}

static void* load_outside(const char* path, int flags) {
  if (!may_need_covered(path, library_path)) return real::dlopen(path, flags);
  Needs needs(library_path, true);
  Loadable loadable;
  if (const int error = needs.prepare_outside(path); error < 0) return refuse(path, error, flags);
  snprintf(loadable.path, sizeof loadable.path, "%s", path);
  return load(needs, &loadable, flags);
}

static void* load_covered(const char* path, int flags) {
  Needs needs(library_path, true);
  Loadable loadable;
  for (StaleRetry retry;;) {
    Found found;
    if (find_existing(AT_FDCWD, path, 0, &found) < 0) return find_none(path, flags);
    if (found.outside()) return load_outside(found.path, flags);
    int error = needs.prepare(found, path, &loadable);
    if (retry.again(&error)) continue;
    if (error == 0) return load(needs, &loadable, flags);
    return refuse(path, error, flags);
  }
}

static const char* text_of(const struct link_map* map, int64_t tag) {
  const char* strings = nullptr;
  const ElfW(Dyn)* found = nullptr;
  for (const ElfW(Dyn)* one = map->l_ld; one->d_tag != DT_NULL; ++one) {
    if (one->d_tag == DT_STRTAB) strings = reinterpret_cast<const char*>(one->d_un.d_ptr);
    if (one->d_tag == tag) found = one;
  }
  return strings == nullptr || found == nullptr ? nullptr : strings + found->d_un.d_val;
}

// Returns the object that has code at this address. `room` receives its path.
static Asker asker_at(void* address, char* room) {
  Dl_info info;
  struct link_map* map = nullptr;
  if (dladdr1(address, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0 ||
      map == nullptr)
    return {};
  const char* path = loaded::path_of(map->l_name, room);
  if (path != nullptr && *path == '\0') {
    const ssize_t length = serve::readlink("/proc/self/exe", room, PATH_MAX - 1);
    room[length < 0 ? 0 : length] = '\0';
    path = room;
  }
  if (path != nullptr && *path != '/') path = nullptr;
  return {path, text_of(map, DT_RPATH), text_of(map, DT_RUNPATH)};
}

// Loads a library by its name alone. The loader would look for it in directories that may be
// covered.
static void* load_named(const char* name, int flags, void* address) {
  if (void* known = real::dlopen(name, flags | RTLD_NOLOAD); known != nullptr) return known;
  char room[PATH_MAX];
  Loadable loadable;
  Needs needs(library_path, true);
  const int found = needs.prepare_named(name, asker_at(address, room), &loadable);
  if (found == Needs::kNotByThatWay) return real::dlopen(name, flags);
  return found == 0 ? load(needs, &loadable, flags) : refuse(name, found, flags);
}

// Returns true for code of this library. The caller of dlopen may have passed through the exported
// name.
static bool is_ours(void* address) {
  Dl_info here, there;
  return dladdr(reinterpret_cast<void*>(is_ours), &here) != 0 && dladdr(address, &there) != 0 &&
         here.dli_fbase == there.dli_fbase;
}

#pragma GCC diagnostic ignored "-Wframe-address"  // our own frame has one
void* serve::dlopen(const char* path, int flags) {
  if (path == nullptr || !active()) return real::dlopen(path, flags);
  if (strchr(path, '/') == nullptr) {
    void* caller = __builtin_return_address(0);
    return load_named(path, flags, is_ours(caller) ? __builtin_return_address(1) : caller);
  }
  if (!outside(path)) return load_covered(path, flags);
  return load_outside(path, flags);
}

}  // namespace posix
