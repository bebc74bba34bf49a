// The C library's own functions, behind the wrappers of exports.cc.
#include "posix/core/calls.h"

#define VARIADIC(result, name)
#define FORWARDED(name)

namespace posix::real {

static long missing() {
  errno = ENOSYS;
  return -1;
}

// The next definition of `name` after ours. A name that the C library does not have was called by
// nobody before us, and by us only as a second choice.
BEFORE_SANITIZER static void* next(const char* name) {
  int before = errno;
  void* found = dlsym(RTLD_NEXT, name);
  errno = before;
  return found != nullptr ? found : reinterpret_cast<void*>(missing);
}

// Each pointer starts at a stub that looks the function up and takes the stub's place: a program
// pays for the calls that it makes.
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
