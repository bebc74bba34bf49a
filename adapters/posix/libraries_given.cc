// Libraries of the cover for a program about to be started: the loader gets them in LD_PRELOAD, in front of our own (some
// want to be the first there, and we the last). CAIRN_LIBRARIES=PLACE:LENGTH says which part of it they are, for the program to
// take it out again.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "posix/at_start.h"
#include "posix/calls.h"
#include "posix/descriptor.h"
#include "posix/libraries.h"

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

// Its new end; there is room.
static char* append(char* end, const char* text, size_t length) {
  memcpy(end, text, length);
  end[length] = '\0';
  return end + length;
}
static char* append(char* end, const char* text) { return append(end, text, strlen(text)); }

Given::Given(const Needs& needs, char* const* environment) : needs_(needs), from_(environment) {
  const char* list = value_of(environment, kPreload);
  if (!needs.must_be_given() || list == nullptr) return;
  size_t count = 0;
  while (environment[count] != nullptr) ++count;
  size_t room = sizeof kPreload + strlen(list) + 1;
  for (const auto* one = needs.first(); one != nullptr; one = one->next)
    room += strlen(one->loadable.path) + 1;
  text_ = static_cast<char*>(malloc(room));
  list_ = static_cast<char**>(malloc((count + 3) * sizeof(char*)));
  if (text_ == nullptr || list_ == nullptr) {
    free(list_);
    list_ = nullptr;
    return;
  }
  size_t place = strlen(list);
  while (place > 0 && strchr(": ", list[place - 1]) == nullptr) --place;
  char* end = append(append(append(text_, kPreload), "="), list, place);
  const char* value = end;
  for (const auto* one = needs.first(); one != nullptr; one = one->next) {
    if (strpbrk(one->loadable.path, ": ") != nullptr) continue;  // cannot be said there
    end = append(append(end, one->loadable.path), ":");
    if (one->loadable.copy >= 0) real::fcntl(one->loadable.copy, F_SETFD, nullptr);
  }
  snprintf(note_, sizeof note_, "%s=%zu:%zu", kPart, place, static_cast<size_t>(end - value));
  append(end, list + place);
  size_t used = 0;
  for (size_t i = 0; i < count; ++i)
    if (!is_variable(environment[i], kPreload) && !is_variable(environment[i], kPart))
      list_[used++] = environment[i];
  list_[used++] = text_;
  list_[used++] = note_;
  list_[used] = nullptr;
}

// The program could not be started.
Given::~Given() {
  if (list_ == nullptr) {
    free(text_);
    return;
  }
  for (const auto* one = needs_.first(); one != nullptr; one = one->next)
    if (one->loadable.copy >= 0)
      real::fcntl(one->loadable.copy, F_SETFD, reinterpret_cast<void*>(intptr_t{FD_CLOEXEC}));
  free(list_);
  free(text_);
}

AT_START_CODE void Given::take_out() {
  const char* given = getenv(kPart);
  if (given == nullptr) return;
  char* list = getenv(kPreload);
  char* next = nullptr;
  const size_t place = strtoul(given, &next, 10);
  const size_t length = *next == ':' ? strtoul(next + 1, nullptr, 10) : 0;
  if (list != nullptr && place <= strlen(list) && length <= strlen(list) - place) {
    constexpr char kCopy[] = "/proc/self/fd/";
    list += place;
    for (const char* at = list; at < list + length; at += strcspn(at, ":") + 1)
      if (strncmp(at, kCopy, sizeof kCopy - 1) == 0)
        real::close(static_cast<int>(strtol(at + sizeof kCopy - 1, nullptr, 10)));
    memmove(list, list + length, strlen(list + length) + 1);
  }
  unsetenv(kPart);
}

}  // namespace posix
