// Looks up the C library's own functions, which the wrappers of exports.cc cover.
#include "posix/core/calls.h"

#define VARIADIC(result, name)
#define FORWARDED(name)

namespace posix::real {

static long missing() {
  errno = ENOSYS;
  return -1;
}

// Returns the next definition of `name` after ours. No program calls a name that the C library
// lacks, and this library only as a second choice.
BEFORE_SANITIZER static void* next(const char* name) {
  int before = errno;
  void* found = dlsym(RTLD_NEXT, name);
  errno = before;
  return found != nullptr ? found : reinterpret_cast<void*>(missing);
}

// Each pointer starts at a stub, which looks up the function at the first call and replaces itself
// in the pointer. So a program pays only for the calls that it makes.
#define LAZY(result, name, parameters, arguments)               \
  BEFORE_SANITIZER static result find_##name parameters {       \
    name = reinterpret_cast<result(*) parameters>(next(#name)); \
    return name arguments;                                      \
  }                                                             \
  result(*name) parameters = find_##name;
#define SERVED(result, name, parameters, arguments) LAZY(result, name, parameters, arguments)
#define ALIAS(result, name, parameters, arguments, call) LAZY(result, name, parameters, arguments)
#define REFUSED(result, name, parameters, arguments) LAZY(result, name, parameters, arguments)
#include "posix/calls.def"
#undef SERVED
#undef ALIAS
#undef REFUSED

}  // namespace posix::real
