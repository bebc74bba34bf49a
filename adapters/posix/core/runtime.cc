// Replaces two parts of the C++ runtime that would cost every program: a pool of 72 KiB for
// exceptions that are thrown when memory is out, taken at load, and the categories of system_error,
// destroyed at exit. No code here throws or catches. With these definitions the linker leaves out
// the runtime's own, and their constructors.
#include <cxxabi.h>
#include <stdlib.h>
#include <string.h>

#include <exception>

// The bytes before a thrown object (libsupc++'s __cxa_refcounted_exception).
constexpr size_t kHeader = 128;

#define POSIX_RUNTIME extern "C"  // <cxxabi.h> makes them visible, runtime.map hides them

namespace __cxxabiv1 {

POSIX_RUNTIME void* __cxa_allocate_exception(size_t size) noexcept {
  char* memory = static_cast<char*>(calloc(1, size + kHeader));
  if (memory == nullptr) std::terminate();
  return memory + kHeader;
}

POSIX_RUNTIME void __cxa_free_exception(void* thrown) noexcept {
  free(static_cast<char*>(thrown) - kHeader);
}

POSIX_RUNTIME __cxa_dependent_exception* __cxa_allocate_dependent_exception() noexcept {
  void* memory = calloc(1, kHeader);
  if (memory == nullptr) std::terminate();
  return static_cast<__cxa_dependent_exception*>(memory);
}

POSIX_RUNTIME void __cxa_free_dependent_exception(__cxa_dependent_exception* thrown) noexcept {
  free(thrown);
}

}  // namespace __cxxabiv1

namespace std {
// The runtime calls it if a mutex cannot be locked.
[[noreturn]] __attribute__((visibility("hidden"))) void __throw_system_error(int);
void __throw_system_error(int) { terminate(); }
}  // namespace std
