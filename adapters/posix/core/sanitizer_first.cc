#include "posix/core/sanitizer_first.h"

#include <alloca.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "posix/core/at_start.h"
#include "posix/core/preload.h"

// clang links the runtimes of ThreadSanitizer and MemorySanitizer into the program. A call that
// they intercept fails before they are started. The program starts them after the constructors of
// this library.
extern "C" {
__attribute__((weak)) void __tsan_init();  // NOLINT(bugprone-reserved-identifier)
__attribute__((weak)) void __msan_init();  // NOLINT(bugprone-reserved-identifier)
}

// The first call of a function that AddressSanitizer's runtime intercepts lets it start, and end
// the program. So until the program is started again, this code calls the C library only by
// dl_iterate_phdr() and system_call().
namespace posix::sanitizer {
namespace {

constexpr char kPreload[] = "LD_PRELOAD=";
constexpr char kCover[] = "CAIRN_COVER=";
constexpr char kMark[] = "CAIRN_SANITIZER_FIRST=";  // the runtime is the list's first entry

using preload::keep_loop;

AT_START_CODE bool begins(const char* text, const char* with) {
  for (; *with != '\0'; ++text, ++with) {
    if (*text != *with) return false;
    keep_loop();
  }
  return true;
}

AT_START_CODE const char* last_name(const char* path) {
  const char* name = path;
  for (; *path != '\0'; ++path) {
    if (*path == '/') name = path + 1;
    keep_loop();
  }
  return name;
}

AT_START_CODE char* append(char* to, const char* text) {
  for (; *text != '\0'; ++text) {
    *to++ = *text;
    keep_loop();
  }
  *to = '\0';
  return to;
}

// Returns the length of the path, or 0 if it cannot be an entry of LD_PRELOAD.
AT_START_CODE size_t length_of_entry(const char* path) {
  size_t length = 0;
  for (; path[length] != '\0'; ++length) {
    if (path[length] == ':' || path[length] == ' ') return 0;
    keep_loop();
  }
  return length;
}

AT_START_CODE size_t length_of(const char* text) {
  size_t length = 0;
  for (; text[length] != '\0'; ++length) keep_loop();
  return length;
}

struct Order {
  bool is_past_us;
  const char* runtime;  // null: not loaded, or loaded before us
};

AT_START_CODE int look_at_object(dl_phdr_info* object, size_t, void* data) {
  auto* order = static_cast<Order*>(data);
  const char* path = object->dlpi_name == nullptr ? "" : object->dlpi_name;
  const char* name = last_name(path);
  if (begins(name, "libasan.so") || begins(name, "libclang_rt.asan")) {
    if (order->is_past_us) order->runtime = path;
    return 1;
  }
  const auto here = reinterpret_cast<uintptr_t>(&kPreload);
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = object->dlpi_phdr[i];
    if (part.p_type == PT_LOAD && here - (object->dlpi_addr + part.p_vaddr) < part.p_memsz)
      order->is_past_us = true;
  }
  return 0;
}

AT_START_CODE void start_again(char* const* arguments, char* const* environment,
                               const char* runtime) {
  size_t count = 0;
  size_t list = SIZE_MAX;
  bool covered = false;
  for (; environment[count] != nullptr; ++count) {
    if (begins(environment[count], kMark)) return;  // the program was started again in vain
    if (begins(environment[count], kPreload)) list = count;
    if (begins(environment[count], kCover)) covered = environment[count][sizeof kCover - 1] != '\0';
  }
  const size_t length = length_of_entry(runtime);
  if (list == SIZE_MAX || !covered || length == 0) return;
  const char* present = environment[list] + sizeof kPreload - 1;
  auto* text = static_cast<char*>(alloca(sizeof kPreload + length + 1 + length_of(present)));
  append(append(append(append(text, kPreload), runtime), ":"), present);
  auto** all = static_cast<char**>(alloca((count + 2) * sizeof(char*)));
  for (size_t i = 0; i < count; ++i) {
    all[i] = i == list ? text : environment[i];
    keep_loop();
  }
  all[count] = const_cast<char*>(kMark);
  all[count + 1] = nullptr;
  const preload::Program own = preload::own_program(arguments);
  preload::system_call(SYS_execve, own.name, own.arguments,
                       all);  // if it fails, the runtime reports the rest
}

// Runs before all other constructors of this library.
__attribute__((constructor(101))) AT_START_CODE void look(int, char** arguments,
                                                          char** environment) {
  if (__tsan_init != nullptr) __tsan_init();
  if (__msan_init != nullptr) __msan_init();
  Order order = {};
  dl_iterate_phdr(look_at_object, &order);
  if (order.runtime != nullptr) start_again(arguments, environment, order.runtime);
}

}  // namespace

AT_START_CODE void take_out() {
  if (getenv("CAIRN_SANITIZER_FIRST") == nullptr) return;
  unsetenv("CAIRN_SANITIZER_FIRST");
  char* list = getenv("LD_PRELOAD");
  char* rest = list == nullptr ? nullptr : strchr(list, ':');
  if (rest != nullptr) memmove(list, rest + 1, strlen(rest + 1) + 1);
}

}  // namespace posix::sanitizer
