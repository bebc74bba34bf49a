// Gives a program about to be started its libraries of the cover. The loader gets them in
// LD_PRELOAD, before our own entry (some must be first there, and we last).
// CAIRN_LIBRARIES=PLACE:LENGTH tells the program which part to take out again. It goes on with the
// file of each copy: ":COPY:INO:GENERATION:LENGTH:PATH".
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "posix/core/at_start.h"
#include "posix/core/calls.h"
#include "posix/core/engine.h"
#include "posix/core/preload.h"
#include "posix/fd/descriptor.h"
#include "posix/loader/libraries.h"
#include "posix/loader/library_copies.h"
#include "posix/loader/loaded_copies.h"
#include "posix/path/covered.h"

namespace posix {

static constexpr char kPreload[] = "LD_PRELOAD";
static constexpr char kPart[] = "CAIRN_LIBRARIES";

AT_START_CODE static bool is_variable(const char* text, const char* name) {
  const size_t length = strlen(name);
  return strncmp(text, name, length) == 0 && text[length] == '=';
}

AT_START_CODE const char* value_of(char* const* environment, const char* name) {
  const char* value = nullptr;
  for (size_t i = 0; environment != nullptr && environment[i] != nullptr; ++i)
    if (is_variable(environment[i], name)) value = environment[i] + strlen(name) + 1;
  return value;
}

// Appends to a text that has the space. Returns its new end.
static char* append(char* end, const char* text, size_t length) {
  memcpy(end, text, length);
  end[length] = '\0';
  return end + length;
}
static char* append(char* end, const char* text) { return append(end, text, strlen(text)); }

static char* append_name(char* end, const Needs::Library& library) {
  const Loadable& file = library.loadable;
  if (file.copy >= 0) {
    name_for_loader(file.copy, 0, file.path, end);
    end += strlen(end);
  } else if (!library.elsewhere && strpbrk(file.path, ": ") == nullptr) {
    end = append(end, file.path);
  } else {
    return end;  // LD_PRELOAD cannot name it, or it need not
  }
  return append(end, ":");
}

Given::Given(Needs& needs, char* const* environment) : needs_(needs), from_(environment) {
  const char* list = value_of(environment, kPreload);
  if (!needs.must_be_given() || list == nullptr) return;
  size_t count = 0;
  while (environment[count] != nullptr) ++count;
  constexpr size_t kNumbers = 100;
  size_t room = sizeof kPreload + strlen(list) + 1;
  size_t note_room = sizeof kPart + kNumbers;
  for (const auto* one = needs.first(); one != nullptr; one = one->next) {
    room += room_for_name(one->loadable.path) + 1;
    note_room += kNumbers + strlen(one->loadable.path);
  }
  text_ = static_cast<char*>(malloc(room));
  note_ = static_cast<char*>(malloc(note_room));
  auto** pointers = static_cast<char**>(malloc((count + 3) * sizeof(char*)));
  if (text_ == nullptr || note_ == nullptr || pointers == nullptr) {
    free(pointers);
    return;
  }
  list_ = pointers;
  // The libraries come before the last entry, with all that follows it.
  size_t place = strlen(list);
  while (place > 0 && strchr(": ", list[place - 1]) != nullptr) --place;
  while (place > 0 && strchr(": ", list[place - 1]) == nullptr) --place;
  char* end = append(append(append(text_, kPreload), "="), list, place);
  const char* value = end;
  for (const auto* one = needs.as_found(); one != nullptr; one = one->after)
    end = append_name(end, *one);
  const size_t part = static_cast<size_t>(end - value);
  auto noted = static_cast<size_t>(snprintf(note_, note_room, "%s=%zu:%zu", kPart, place, part));
  for (const auto* one = needs.first(); one != nullptr; one = one->next) {
    const Loadable& file = one->loadable;
    if (file.copy < 0) continue;
    real::fcntl(file.copy, F_SETFD, nullptr);
    noted += static_cast<size_t>(snprintf(note_ + noted, note_room - noted, ":%d:%llu:%llu:%zu:%s",
                                          file.copy, static_cast<unsigned long long>(file.ino),
                                          static_cast<unsigned long long>(file.generation),
                                          strlen(file.path), file.path));
  }
  append(end, list + place);
  size_t used = 0;
  for (size_t i = 0; i < count; ++i)
    if (!is_variable(environment[i], kPreload) && !is_variable(environment[i], kPart))
      list_[used++] = environment[i];
  list_[used++] = text_;
  list_[used++] = note_;
  list_[used] = nullptr;
}

// Undoes the preparation if the program could not be started.
Given::~Given() {
  for (const auto* one = needs_.first(); list_ != nullptr && one != nullptr; one = one->next)
    if (one->loadable.copy >= 0)
      real::fcntl(one->loadable.copy, F_SETFD, reinterpret_cast<void*>(intptr_t{FD_CLOEXEC}));
  free(list_);
  free(text_);
  free(note_);
}

// The loader loads the libraries in these variables into every program.
static constexpr const char* kLists[] = {kPreload, "LD_AUDIT"};

// Returns true if the loader would look in the cover for this entry of such a list, or for its
// needs. LD_PRELOAD may name libraries outside the cover that need some of it: these needs are
// given to the program.
static bool may_be_covered(const char* variable, const char* entry, const char* library_path) {
  if (strchr(entry, '/') == nullptr) return may_need_covered(library_path);
  return !outside(entry) || (variable != kPreload && may_need_covered(entry, library_path));
}

static int prepare_entry(Needs& needs, const char* entry, Loadable* file) {
  if (strchr(entry, '/') == nullptr) return needs.prepare_named(entry, {}, file);
  if (outside(entry)) return needs.prepare_outside(entry);
  Found found;
  const int error = find_existing(AT_FDCWD, entry, 0, &found);
  if (error < 0) return error;
  if (!found.outside()) return needs.prepare(found, entry, file);
  struct stat shown, below;  // a symbolic link may lead elsewhere there
  const bool same = real::stat(found.path, &shown) == 0 && real::stat(entry, &below) == 0 &&
                    shown.st_dev == below.st_dev && shown.st_ino == below.st_ino;
  return same ? needs.prepare_outside(found.path) : -ESTALE;
}

// Not inlined, because programs are also started on small stacks, and few need this.
[[gnu::noinline]] static bool is_as_shown(const char* variable, const char* entry,
                                          const char* library_path) {
  Needs needs(library_path, false);
  Loadable file;
  const int error = prepare_entry(needs, entry, &file);
  const bool is_copied = file.copy >= 0;
  if (is_copied) descriptor::close_private(file.copy);
  if ((error == Needs::kNotByThatWay || (error == 0 && !is_copied)) && !needs.has_others_below())
    return true;
  log(Level::kWarning, entry,
      variable == kPreload
          ? ": left out of LD_PRELOAD: the covered directory does not have it as it is here; drain "
            "it, or preload a copy that lies elsewhere"
          : ": left out of LD_AUDIT: the covered directory does not have it as it is here; drain "
            "it, "
            "or name a copy that lies elsewhere");
  return false;
}

// Removes the entries that `is_wanted` refuses from a list. Returns true if there were some.
template <typename IsWanted>
static bool take_out(char* list, IsWanted is_wanted) {
  bool any = false;
  char* end = list;
  for (char* at = list; *at != '\0';) {
    const size_t length = strcspn(at, ": ");
    const char after = at[length];
    at[length] = '\0';
    const bool stays = length > 0 && is_wanted(at);
    any = any || (length > 0 && !stays);
    if (stays) {
      if (end != list) *end++ = ':';
      memmove(end, at, length);
      end += length;
    }
    at += length + (after != '\0' ? 1 : 0);
  }
  *end = '\0';
  return any;
}

// Calls `look` with each entry of such a list until one returns true, and returns that.
template <typename Look>
static bool any_entry(const char* list, Look look) {
  char* own = list == nullptr ? nullptr : strdup(list);
  bool found = false;
  if (own != nullptr)
    take_out(own, [&](const char* entry) { return !(found = found || look(entry)); });
  free(own);
  return found;
}

bool Preloads::may_need_covered(char* const* environment) {
  const char* library_path = value_of(environment, "LD_LIBRARY_PATH");
  for (const char* variable : kLists)
    if (any_entry(value_of(environment, variable),
                  [&](const char* entry) { return may_be_covered(variable, entry, library_path); }))
      return true;
  return preloads_may_need_covered(environment);
}

bool preloads_may_need_covered(char* const* environment) {
  const char* library_path = value_of(environment, "LD_LIBRARY_PATH");
  return any_entry(value_of(environment, kPreload), [&](const char* entry) {
    return strchr(entry, '/') != nullptr && !preload::is_own(entry) && outside(entry) &&
           may_need_covered(entry, library_path);
  });
}

int Needs::prepare_preloads(char* const* environment) {
  auto* path = static_cast<char*>(malloc(PATH_MAX));
  if (path == nullptr) return -ENOMEM;
  any_entry(value_of(environment, kPreload), [&](const char* entry) {
    Place place = {.path = path, .found = {}};
    if (strchr(entry, '/') == nullptr) {
      search(library_path_, entry, nullptr, &place);
    } else if (outside(entry)) {
      look_at(entry, &place);
    }
    if (place.elsewhere) look_outside(path, nullptr, &names_, "");
    return false;
  });
  free(path);
  return error_;
}

// Returns "VARIABLE=LIST" without the refused entries, or null if all of them stay.
static char* list_as_shown(const char* variable, const char* list, const char* library_path) {
  auto* text = static_cast<char*>(malloc(strlen(variable) + 1 + strlen(list) + 1));
  if (text == nullptr) return nullptr;
  char* own = append(append(text, variable), "=");
  append(own, list);
  const bool any = take_out(own, [&](const char* entry) {
    return !may_be_covered(variable, entry, library_path) ||
           is_as_shown(variable, entry, library_path);
  });
  if (any) return text;
  free(text);
  return nullptr;
}

Preloads::Preloads(char* const* environment) : from_(environment) {
  const char* library_path = value_of(environment, "LD_LIBRARY_PATH");
  bool any = false;
  for (size_t i = 0; i < kVariables; ++i) {
    const char* list = value_of(environment, kLists[i]);
    if (list != nullptr) texts_[i] = list_as_shown(kLists[i], list, library_path);
    any = any || texts_[i] != nullptr;
  }
  if (!any) return;
  size_t count = 0;
  while (environment[count] != nullptr) ++count;
  list_ = static_cast<char**>(malloc((count + 1) * sizeof(char*)));
  if (list_ == nullptr) return;
  for (size_t i = 0; i <= count; ++i) {
    list_[i] = environment[i];
    for (size_t n = 0; environment[i] != nullptr && n < kVariables; ++n)
      if (texts_[n] != nullptr && is_variable(environment[i], kLists[n])) list_[i] = texts_[n];
  }
}

Preloads::~Preloads() {
  free(list_);
  for (char* text : texts_) free(text);
}

// Takes ":NUMBER" from the text.
static bool take(char** text, uint64_t* number) {
  if (**text != ':') return false;
  *number = strtoull(*text + 1, text, 10);
  return true;
}

AT_START_CODE void Given::take_out() {
  char* given = getenv(kPart);
  if (given == nullptr) return;
  char* list = getenv(kPreload);
  const size_t place = strtoul(given, &given, 10);
  uint64_t length = 0;
  if (list != nullptr && take(&given, &length) && place <= strlen(list) &&
      length <= strlen(list) - place)
    memmove(list + place, list + place + length, strlen(list + place + length) + 1);
  uint64_t copy, ino, generation, size;
  while (take(&given, &copy) && take(&given, &ino) && take(&given, &generation) &&
         take(&given, &size) && *given == ':' && size < strlen(given)) {
    char* end = given + 1 + size;
    const char after = *end;
    *end = '\0';
    const int number = static_cast<int>(copy);
    if (loaded::given({ino, generation, given + 1}, number)) real::close(number);
    *end = after;
    given = end;
  }
  unsetenv(kPart);
}

}  // namespace posix
