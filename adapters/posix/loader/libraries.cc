#include "posix/loader/libraries.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "posix/core/calls.h"
#include "posix/core/engine.h"
#include "posix/fd/descriptor.h"
#include "posix/loader/below.h"
#include "posix/loader/library_copies.h"
#include "posix/loader/loaded_copies.h"
#include "posix/names/calls.h"
#include "posix/path/covered.h"

namespace posix {

constexpr int kDeepest = 64;  // depth of libraries that need libraries

constexpr char kOnlyBelow[] =
    "the directory below the cover has a library of this name that the cover does not show; drain, "
    "or remove it there";

constexpr int kToLookAt = O_RDONLY | O_CLOEXEC | O_NONBLOCK;  // the file may be a FIFO

// Texts of a file whose needs are searched. They are too large for a stack.
struct Texts {
  char runpath[PATH_MAX];
  char rpath[PATH_MAX];
  char name[PATH_MAX];
  char path[PATH_MAX];
};

// Returns true if this process has loaded a library under this name.
static bool is_loaded(const char* name) {
  void* handle = real::dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
  if (handle != nullptr) dlclose(handle);
  return handle != nullptr;
}

void Needs::Dropped::add(const Library& library, uint64_t where) {
  if (!library.nameless || count == kMost) return;
  at[count++] = where;
  if (library.loadable.copied || library.hidden) needed = true;
}

int Needs::make_loadable(const Found& found, const char* path, const Above* above, Names* names,
                         Loadable* loadable, bool* named, const char* name) {
  Dropped dropped;
  Elf elf;
  const bool is_elf = S_ISREG(found.st.mode) && elf.read(found.st.ino, found.st.generation);
  if (is_elf) {
    char soname[NAME_MAX + 1];
    *named =
        elf.text(DT_SONAME, soname, sizeof soname) && name != nullptr && strcmp(soname, name) == 0;
  }
  loadable->ino = found.st.ino;
  loadable->generation = found.st.generation;
  if (loading_ && loaded::find({found.st.ino, found.st.generation, path}, loadable->path)) {
    loadable->copied = true;
    return 0;
  }
  if (is_elf && depth_ < kDeepest) {
    ++depth_;
    look_for(elf, path, above, names, &dropped);
    --depth_;
  }
  snprintf(loadable->path, sizeof loadable->path, "%s", path);
  if (!dropped.needed && below::is_unchanged(found, path)) return 0;
  loadable->copied = true;
  loadable->copy = changed_copy(found, dropped.at, dropped.count);
  return loadable->copy < 0 ? loadable->copy : 0;
}

Needs::~Needs() {
  while (first_ != nullptr) {
    Library* next = first_->next;
    if (first_->loadable.copy >= 0) descriptor::close_private(first_->loadable.copy);
    free(first_->needs.text);
    free(first_);
    first_ = next;
  }
  free(names_.text);
  free(hidden_);
}

bool Needs::has_others_below() const {
  if (is_name_hidden_) return true;
  for (const Library* one = first_; one != nullptr; one = one->next)
    if (one->loadable.copied || one->hidden) return true;
  return false;
}

void Needs::Names::add(const char* name) {
  const size_t length = strlen(name) + 1;
  char* room = static_cast<char*>(realloc(text, size + length));
  if (room == nullptr) return;
  text = room;
  memcpy(text + size, name, length);
  size += length;
}

Needs::Library** Needs::place(const Names& names, Library** end) {
  for (size_t at = 0; at < names.size; at += strlen(names.text + at) + 1) {
    Library* library = known(names.text + at);
    if (library == nullptr || library->placed) continue;
    library->placed = true;
    *end = library;
    end = &library->after;
  }
  return end;
}

const Needs::Library* Needs::as_found() {
  if (found_first_ != nullptr) return found_first_;
  Library** end = place(names_, &found_first_);
  for (Library* one = found_first_; one != nullptr; one = one->after) end = place(one->needs, end);
  for (Library* one = first_; one != nullptr; one = one->next) {
    if (one->placed) continue;  // there was no memory for its name
    *end = one;
    end = &one->after;
  }
  return found_first_;
}

Needs::Library* Needs::known(const char* name) const {
  Library* library = first_;
  while (library != nullptr && strcmp(library->name, name) != 0) library = library->next;
  return library;
}

void Needs::refuse(const char* path, int error, const char* why) {
  if (!told_) log(Level::kWarning, path, ": cannot be loaded: ", why);
  told_ = true;
  error_ = error;
}

// Searches the needs of a library outside the cover. Returns true if its DT_SONAME is `name`.
bool Needs::look_outside(const char* path, const Above* above, Names* names, const char* name) {
  if (depth_ >= kDeepest) return false;
  const int fd = real::open(path, kToLookAt, 0);
  Elf elf;
  Dropped dropped;
  char soname[NAME_MAX + 1] = "";
  ++depth_;
  if (fd >= 0 && elf.read(fd)) {
    look_for(elf, path, above, names, &dropped);
    elf.text(DT_SONAME, soname, sizeof soname);
  }
  --depth_;
  if (fd >= 0) real::close(fd);
  if (dropped.needed)
    refuse(path, -ELIBACC,
           "it needs a library without a DT_SONAME that is another one below the cover; drain");
  return strcmp(soname, name) == 0;
}

const Needs::Library* Needs::add(const char* name, const Place& place, const Above* above) {
  auto* library = static_cast<Library*>(calloc(1, sizeof(Library)));
  if (library == nullptr) return nullptr;
  library->loadable.copy = -1;
  library->hidden = place.is_hidden;
  bool named = true;
  int error = 0;
  if (place.elsewhere || place.found.outside()) {
    const char* real_path = place.elsewhere ? place.path : place.found.path;
    snprintf(library->loadable.path, sizeof library->loadable.path, "%s", real_path);
    library->elsewhere = place.elsewhere && !place.is_hidden;
    // The file was found by a symbolic link that the loader may not know.
    if (!library->elsewhere) must_be_given_ = true;
    const bool has_name = look_outside(real_path, above, &library->needs, name);
    if (place.is_hidden) named = has_name;
  } else {
    error = make_loadable(place.found, place.path, above, &library->needs, &library->loadable,
                          &named, name);
  }
  if (error < 0) {
    refuse(place.path, error, strerror(-error));
    free(library->needs.text);
    free(library);
    return nullptr;
  }
  if (library->loadable.copied || library->hidden) must_be_given_ = true;
  snprintf(library->name, sizeof library->name, "%s", name);
  library->nameless = !named;
  *end_ = library;
  end_ = &library->next;
  return library;
}

// Takes the first directory from a list. An empty one, also behind the last colon, is the working
// directory.
static bool next_of(const char** list, const char** entry, size_t* length) {
  if (*list == nullptr) return false;
  *entry = *list;
  *length = strcspn(*list, ":;");
  *list = (*entry)[*length] == '\0' ? nullptr : *entry + *length + 1;
  return true;
}

// Joins a directory of a list and the name. Returns false if the path is too long, or has a token
// that only the loader can resolve.
static bool join(const char* entry, size_t length, const char* name, const char* origin,
                 char* path) {
  size_t used = 0;
  for (size_t i = 0; i < length;) {
    const char* add = entry + i;
    size_t count = 1;
    if (entry[i] == '$') {
      const char* word = strncmp(add, "${ORIGIN}", 9) == 0 ? "${ORIGIN}" : "$ORIGIN";
      if (strncmp(add, word, strlen(word)) != 0 || origin == nullptr) return false;
      i += strlen(word);
      add = origin;
      count = static_cast<size_t>(strrchr(origin, '/') - origin);
    } else {
      ++i;
    }
    if (used + count + NAME_MAX + 3 >= PATH_MAX) return false;
    memcpy(path + used, add, count);
    used += count;
  }
  return snprintf(path + used, PATH_MAX - used, "%s%s", used > 0 ? "/" : "./", name) <
         static_cast<int>(PATH_MAX - used);
}

// Puts the working directory in front of a relative path. Returns false if there is none, or if it
// is too long.
static bool make_absolute(char* path) {
  if (path[0] == '/') return true;
  char directory[PATH_MAX];
  if (serve::getcwd(directory, sizeof directory) == nullptr) return false;
  const size_t length = strlen(directory);
  const size_t size = strlen(path) + 1;
  if (length + 1 + size > PATH_MAX) return false;
  memmove(path + length + 1, path, size);
  memcpy(path, directory, length);
  path[length] = '/';
  return true;
}

void Needs::look_at(const char* path, Place* place) {
  if (path != place->path) snprintf(place->path, PATH_MAX, "%s", path);
  if (outside(place->path)) {
    place->elsewhere = real::access(place->path, R_OK) == 0 && make_absolute(place->path);
    return;
  }
  Found& found = place->found;
  const bool shown =
      find_existing(AT_FDCWD, place->path, 0, &found) == 0 &&
      (found.outside() ? real::access(found.path, R_OK) == 0 : S_ISREG(found.st.mode));
  if (!place->is_hidden && below::has_hidden(place->path, shown)) {
    place->is_hidden = true;
    free(hidden_);
    hidden_ = strdup(place->path);
  }
  if (!shown) return;
  // The loader cannot use a relative path from a covered working directory.
  if (place->path[0] != '/') must_be_given_ = true;
  place->is_covered = make_absolute(place->path);
}

void Needs::search(const char* list, const char* name, const char* origin, Place* place) {
  if (list != nullptr && *list == '\0') return;
  const char* entry;
  size_t length;
  while (!place->is_found() && next_of(&list, &entry, &length))
    if (join(entry, length, name, origin, place->path)) look_at(place->path, place);
}

static bool leads_into_cover(const char* list, const char* origin, char* path) {
  if (list == nullptr || *list == '\0') return false;
  const char* entry;
  size_t length;
  while (active() && next_of(&list, &entry, &length))
    if (join(entry, length, "", origin, path) && !outside(path)) return true;
  return false;
}

// We intercept calls of these libraries. In LD_PRELOAD they would come before us.
static bool must_come_behind_us(const char* name) {
  for (const char* one : {"libc.so.", "libm.so.", "libpthread.so.", "libdl.so.", "librt.so.",
                          "libaio.so.", "ld-linux", "ld64.so.", "libmvec.so."})
    if (strncmp(name, one, strlen(one)) == 0) return true;
  return false;
}

// Searches for a library of the system. It may need libraries of the cover by LD_LIBRARY_PATH or by
// the RPATH of its dependents.
void Needs::search_system(const char* name, const Above& above, Place* place) {
  if (place->is_found() || (place->is_hidden && must_come_behind_us(name))) return;
  bool passes_on = place->is_hidden || leads_into_cover(library_path_, nullptr, place->path);
  for (const Above* one = &above; one != nullptr && !passes_on; one = one->next)
    passes_on = leads_into_cover(one->rpath, one->path, place->path);
  if (passes_on) place->elsewhere = system_.find(name, place->path);
}

// Returns true if the library is among its own dependents: libraries may need each other.
bool Needs::is_among(const Above* above, const char* name) {
  for (; above != nullptr; above = above->next) {
    const char* slash = strrchr(above->path, '/');
    if (strcmp(slash == nullptr ? above->path : slash + 1, name) == 0) return true;
  }
  return false;
}

void Needs::look_for(const Elf& elf, const char* path, const Above* above, Names* names,
                     Dropped* dropped) {
  auto* texts = static_cast<Texts*>(malloc(sizeof(Texts)));
  if (texts == nullptr) return;
  elf.text(DT_RUNPATH, texts->runpath, sizeof texts->runpath);
  const bool has_runpath = texts->runpath[0] != '\0';
  elf.text(DT_RPATH, texts->rpath, sizeof texts->rpath);
  if (has_runpath) texts->rpath[0] = '\0';  // DT_RUNPATH replaces it
  const Above own = {texts->rpath, path, above};
  uint64_t at;
  for (size_t n = 0; elf.needed(n, texts->name, sizeof texts->name, &at); ++n) {
    const char* name = texts->name;
    const bool is_path = strchr(name, '/') != nullptr;
    if (name[0] == '\0' || strlen(name) > (is_path ? PATH_MAX - 1 : NAME_MAX)) continue;
    names->add(name);
    const Library* library = known(name);
    if (library == nullptr) {
      if (is_among(&own, name) || (loading_ && is_loaded(name))) continue;
      Place place = {.path = texts->path, .found = {}};
      if (is_path) {
        look_at(name, &place);
      } else {
        for (const Above* one = has_runpath ? nullptr : &own; one != nullptr; one = one->next)
          search(one->rpath, name, one->path, &place);
        search(library_path_, name, path, &place);
        search(texts->runpath, name, path, &place);
        search_system(name, own, &place);
      }
      if (place.is_found()) library = add(name, place, &own);
      if (!place.is_found() && place.is_hidden)
        refuse(hidden_ == nullptr ? name : hidden_, -ELIBACC, kOnlyBelow);
    }
    if (library != nullptr) dropped->add(*library, at);
  }
  free(texts);
}

int Needs::prepare(const Found& found, const char* path, Loadable* loadable) {
  bool named;
  error_ = 0;  // the search may be repeated
  char* whole = static_cast<char*>(malloc(PATH_MAX));
  if (whole == nullptr) return -ENOMEM;
  int error =
      snprintf(whole, PATH_MAX, "%s", path) < PATH_MAX && make_absolute(whole) ? 0 : -ENAMETOOLONG;
  if (error == 0) error = make_loadable(found, whole, nullptr, &names_, loadable, &named, nullptr);
  free(whole);
  if (error == 0 && loadable->copy >= 0 && first_ != nullptr) must_be_given_ = true;
  if (error == 0 && error_ < 0 && loadable->copy >= 0) {
    descriptor::close_private(loadable->copy);
    loadable->copy = -1;
  }
  return error < 0 ? error : error_;
}

int Needs::prepare_outside(const char* path) {
  char* whole = static_cast<char*>(malloc(PATH_MAX));
  const bool fits = whole != nullptr && snprintf(whole, PATH_MAX, "%s", path) < PATH_MAX;
  if (fits && make_absolute(whole)) look_outside(whole, nullptr, &names_, "");
  free(whole);
  return error_;
}

int Needs::prepare_program(const char* path) {
  char* whole = real::realpath(path, nullptr);
  const int error = prepare_outside(whole == nullptr ? path : whole);
  free(whole);
  return error;
}

int Needs::prepare_named(const char* name, const Asker& asker, Loadable* loadable) {
  Place place = {.path = loadable->path, .found = {}};
  if (asker.runpath == nullptr) search(asker.rpath, name, asker.path, &place);
  search(library_path_, name, asker.path, &place);
  search(asker.runpath, name, asker.path, &place);
  search_system(name, {asker.rpath, asker.path, nullptr}, &place);
  is_name_hidden_ = place.is_hidden;
  if (place.is_covered && !place.found.outside()) return prepare(place.found, place.path, loadable);
  if (place.is_covered) snprintf(place.path, PATH_MAX, "%s", place.found.path);
  if (place.is_found()) return prepare_outside(place.path);
  return place.is_hidden ? -ELIBACC : kNotByThatWay;
}

bool may_need_covered(const char* library_path) {
  char path[PATH_MAX];
  return leads_into_cover(library_path, nullptr, path);
}

// Returns true if its RPATH or RUNPATH, with this path as its own, leads into the cover.
static bool lists_cover(const Elf& elf, Texts* texts) {
  return (elf.text(DT_RUNPATH, texts->runpath, sizeof texts->runpath) &&
          leads_into_cover(texts->runpath, texts->name, texts->path)) ||
         (elf.text(DT_RPATH, texts->rpath, sizeof texts->rpath) &&
          leads_into_cover(texts->rpath, texts->name, texts->path));
}

// The loader takes a program's $ORIGIN from the file itself, and a library's from the name that led
// to it. Both are tried.
static bool lists_cover_from_anywhere(const Elf& elf, int fd, const char* path, Texts* texts) {
  if (snprintf(texts->name, PATH_MAX, "%s", path) < PATH_MAX && make_absolute(texts->name) &&
      lists_cover(elf, texts))
    return true;
  if (strchr(texts->runpath, '$') == nullptr && strchr(texts->rpath, '$') == nullptr) return false;
  char link[32];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t length = real::readlink(link, texts->name, PATH_MAX - 1);
  if (length <= 0 || texts->name[0] != '/') return false;
  texts->name[length] = '\0';
  return lists_cover(elf, texts);
}

bool may_need_covered(const Elf& elf, int fd, const char* path) {
  auto* texts = static_cast<Texts*>(malloc(sizeof(Texts)));
  if (texts == nullptr) return false;
  texts->runpath[0] = texts->rpath[0] = '\0';
  bool may = lists_cover_from_anywhere(elf, fd, path, texts);
  uint64_t at;
  for (size_t n = 0; !may && elf.needed(n, texts->name, sizeof texts->name, &at); ++n)
    may = strchr(texts->name, '/') != nullptr && !outside(texts->name);
  free(texts);
  return may;
}

bool may_need_covered(const char* path, const char* library_path) {
  if (may_need_covered(library_path)) return true;
  const int fd = real::open(path, kToLookAt, 0);
  Elf elf;
  const bool may = fd >= 0 && elf.read(fd) && may_need_covered(elf, fd, path);
  if (fd >= 0) real::close(fd);
  return may;
}

}  // namespace posix
