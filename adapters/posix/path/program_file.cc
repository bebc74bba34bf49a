#include "posix/path/program_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "posix/core/calls.h"
#include "posix/core/self_exe.h"
#include "posix/fd/fd_path.h"
#include "posix/path/lookup.h"

namespace posix::program_file {

constexpr char kVariable[] = "CAIRN_PROGRAM=";
constexpr size_t kVariableLength = sizeof kVariable - 1;

ssize_t read_link(char* buffer, size_t size) {
  int before = errno;
  char text[PATH_MAX + 16];
  const int state = find_self_exe();
  const bool lost = state == -ENOENT || state == -ENOTDIR;
  auto length = static_cast<size_t>(
      snprintf(text, sizeof text, "%s%s", self_exe::own.path, lost ? " (deleted)" : ""));
  if (length < size) size = length;
  memcpy(buffer, text, size);
  errno = before;
  return static_cast<ssize_t>(size);
}

void describe(const File& file, int copy, char* text, size_t capacity) {
  text[0] = '\0';
  if (file.cover == nullptr || file.name == nullptr) return;
  char path[2 * PATH_MAX];
  struct stat st;
  long length = fd_path::path_of(file.cover, file.parent, path, sizeof path);
  if (length < 0 || length + 1 + strlen(file.name) >= sizeof self_exe::own.path) return;
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

}  // namespace posix::program_file
