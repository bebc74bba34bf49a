#include "posix/itself.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "posix/calls.h"
#include "posix/find.h"
#include "posix/shown.h"

namespace posix::itself {

constinit bool copied = false;

static cairn_ino own_ino;
static uint64_t own_generation;
static char own_path[PATH_MAX];

constexpr char kVariable[] = "CAIRN_PROGRAM=";
constexpr size_t kVariableLength = sizeof kVariable - 1;

bool is_named(const char* path) {
  if (!copied || strncmp(path, "/proc/", 6) != 0) return false;
  const char* rest = path + 6;
  if (strcmp(rest, "self/exe") == 0 || strcmp(rest, "thread-self/exe") == 0) return true;
  char* end;
  return *rest >= '1' && *rest <= '9' && strtol(rest, &end, 10) == getpid() &&
         strcmp(end, "/exe") == 0;
}

// Does the path still name the file? 0 or a negative errno.
static int look() {
  Found found;
  int error = find_existing(AT_FDCWD, own_path, CAIRN_NOFOLLOW, &found);
  if (error < 0) return error;
  const bool same = !found.outside() && !found.shared && found.st.ino == own_ino &&
                    found.st.generation == own_generation;
  return same ? 0 : -ENOENT;
}

ssize_t read_link(char* buffer, size_t size) {
  int before = errno;
  char text[PATH_MAX + 16];
  const int state = look();
  const bool lost = state == -ENOENT || state == -ENOTDIR;
  auto length =
      static_cast<size_t>(snprintf(text, sizeof text, "%s%s", own_path, lost ? " (deleted)" : ""));
  if (length < size) size = length;
  memcpy(buffer, text, size);
  errno = before;
  return static_cast<ssize_t>(size);
}

bool follow(Spot* spot) {
  if (!is_named(spot->path) || look() < 0) return false;
  // What is left to walk is a part of own_path, which stays.
  return locate(AT_FDCWD, own_path, spot) == 0 && spot->cover != nullptr;
}

void describe(const File& file, int copy, char* text, size_t capacity) {
  text[0] = '\0';
  if (file.cover == nullptr || file.name == nullptr) return;
  char path[2 * PATH_MAX];
  struct stat st;
  long length = shown::path_of(file.cover, file.parent, path, sizeof path);
  if (length < 0 || length + 1 + strlen(file.name) >= sizeof own_path) return;
  if (real::fstat(copy, &st) != 0) return;
  int needed = snprintf(text, capacity, "%s%llu:%llu:%llu:%s/%s", kVariable,
                        static_cast<unsigned long long>(st.st_ino),
                        static_cast<unsigned long long>(file.ino),
                        static_cast<unsigned long long>(file.generation), path, file.name);
  if (needed >= static_cast<int>(capacity)) text[0] = '\0';
}

static size_t pointers(char* const* from) {
  size_t count = 0;
  while (from != nullptr && from[count] != nullptr) ++count;
  return count;
}

size_t environment_room(char* const* from) { return pointers(from) + 2; }

char* const* environment(char* const* from, char* text, char** room) {
  bool covered = false;
  size_t count = 0;
  for (size_t i = 0; from != nullptr && from[i] != nullptr; ++i) {
    if (strncmp(from[i], "CAIRN_COVER=", 12) == 0) covered = from[i][12] != '\0';
    if (strncmp(from[i], kVariable, kVariableLength) != 0) room[count++] = from[i];
  }
  if (text[0] == '\0' || !covered) return from;
  room[count++] = text;
  room[count] = nullptr;
  return room;
}

// Takes "NUMBER:" from the text.
static bool take_number(const char** text, uint64_t* number) {
  char* end;
  *number = strtoull(*text, &end, 10);
  if (end == *text || *end != ':') return false;
  *text = end + 1;
  return true;
}

void inherit(const char* value) {
  uint64_t copy, ino, generation;
  struct stat running;
  if (!take_number(&value, &copy) || !take_number(&value, &ino) ||
      !take_number(&value, &generation) || strlen(value) >= sizeof own_path)
    return;
  // It may have been meant for a program that does not know us, and that has started this one.
  if (real::stat("/proc/self/exe", &running) != 0 || running.st_ino != copy) return;
  own_ino = ino;
  own_generation = generation;
  memcpy(own_path, value, strlen(value) + 1);
  copied = true;
}

}  // namespace posix::itself
