#include "posix/core/preload.h"

#include <alloca.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "posix/core/at_start.h"

namespace posix::preload {
namespace {

constexpr char kName[] = "libcairn_posix.so";
// A loop with this function replaces strspn and strcspn, whose pages no other code needs at the
// start.
bool is_between(char c) { return c == ':' || c == ' '; }

const char* next_entry(const char* at) {
  while (is_between(*at)) ++at;
  return at;
}

size_t length_of(const char* entry) {
  size_t length = 0;
  while (entry[length] != '\0' && !is_between(entry[length])) ++length;
  return length;
}

bool is_ours(const char* entry, size_t length) {
  constexpr size_t own = sizeof kName - 1;
  return length >= own && memcmp(entry + length - own, kName, own) == 0 &&
         (length == own || entry[length - own - 1] == '/');
}

AT_START_DATA const char* found_path = "";

AT_START_CODE int look_for_path(dl_phdr_info* object, size_t, void*) {
  const auto wanted = reinterpret_cast<uintptr_t>(&found_path);
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = object->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || wanted - (object->dlpi_addr + part.p_vaddr) >= part.p_memsz)
      continue;
    if (object->dlpi_name != nullptr) found_path = object->dlpi_name;
    return 1;
  }
  return 0;
}

// Returns the path of this library's file, by the address of a variable in it. The first call is at
// the start, before there are signal handlers. dladdr would look at all our symbols to name the
// nearest one.
const char* own_path() {
  if (*found_path == '\0') dl_iterate_phdr(look_for_path, nullptr);
  return found_path;
}

bool is_there(const char* path, struct stat* st) {
  return system_call(SYS_newfstatat, AT_FDCWD, path, st, 0) == 0;
}

AT_START_CODE bool is_same(const char* one, const char* other) {
  for (; *one != '\0' && *one == *other; ++one, ++other) keep_loop();
  return *one == *other;
}

}  // namespace

Program own_program(char* const* arguments) {
  constexpr const char* itself = "/proc/self/exe";
  const auto* name = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
  struct stat named;
  struct stat running;
  const bool same = name != nullptr && is_there(name, &named) && is_there(itself, &running) &&
                    named.st_dev == running.st_dev && named.st_ino == running.st_ino;
  if (same) return {name, arguments};
  for (size_t i = 1; name != nullptr && arguments[0] != nullptr && arguments[i] != nullptr; ++i)
    if (is_same(arguments[i], name)) return {name, arguments + i};
  return {itself, arguments};
}

bool is_own(const char* entry) { return strcmp(entry, own_path()) == 0; }

size_t room_for(const char* list) { return strlen(list) + 1 + strlen(own_path()) + 1; }

AT_START_CODE bool put_last(const char* list, char* room) {
  const char* own = nullptr;
  size_t own_length = 0;
  size_t used = 0;
  bool is_last = false;
  bool others = false;
  size_t count = 0;
  for (const char* at = next_entry(list); *at != '\0';) {
    const size_t length = length_of(at);
    is_last = is_ours(at, length);
    if (is_last) {
      ++count;
      own = at;
      own_length = length;
    } else {
      if (used > 0) room[used++] = ':';
      memcpy(room + used, at, length);
      used += length;
      others = true;
    }
    at = next_entry(at + length);
  }
  if (!others || (is_last && count == 1)) return false;
  if (own == nullptr) {
    own = own_path();
    own_length = strlen(own);
    if (own_length == 0) return false;
  }
  room[used++] = ':';
  memcpy(room + used, own, own_length);
  room[used + own_length] = '\0';
  return true;
}

AT_START_CODE void start_again_if_not_last(char* const* arguments, char* const* environment) {
  own_path();
  constexpr char variable[] = "LD_PRELOAD=";
  constexpr size_t name = sizeof variable - 1;
  size_t count = 0;
  size_t found = SIZE_MAX;
  for (; environment[count] != nullptr; ++count)
    if (strncmp(environment[count], variable, name) == 0) found = count;
  if (found == SIZE_MAX) return;
  const char* present = environment[found] + name;
  auto* list = static_cast<char*>(alloca(name + room_for(present)));
  memcpy(list, variable, name);
  if (!put_last(present, list + name)) return;
  // The dynamic linker was called as a command, and its options are not among the arguments.
  if (getauxval(AT_BASE) == 0) return;
  auto** all = static_cast<char**>(alloca((count + 1) * sizeof(char*)));
  memcpy(all, environment, (count + 1) * sizeof(char*));
  all[found] = list;
  const Program own = own_program(arguments);
  syscall(SYS_execve, own.name, own.arguments, all);  // if it fails, all goes on as it is
}

}  // namespace posix::preload
