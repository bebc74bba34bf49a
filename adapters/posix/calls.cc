// The wrappers, the C library's own functions behind them, and the engine's way around both.
#include "posix/calls.h"

#include "posix/descriptor.h"

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

// Each pointer starts at a stub that looks the function up and takes the stub's place: a program pays
// for the calls that it makes.
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

// Symbols get their names by assembler labels: a definition under the plain name would have to match the
// C library's headers in exceptions, attributes and renamings, which differ between its versions.
//
// NAME is what programs call; __wrap_NAME is where the linker sends the engine's calls of NAME. What the
// engine opens is not the program's: it gets a high number, and the program cannot close it.
#pragma GCC diagnostic ignored "-Wunused-parameter"  // versions of stat, rooms of checked reads
namespace posix {
#define EXPORT(result, name, parameters, arguments, call)                               \
  POSIX_EXPORT result posix_export_##name parameters __asm__(#name);                    \
  result posix_export_##name parameters { return call; }                                \
  extern "C" __attribute__((visibility("hidden")))                                      \
  result posix_engine_##name parameters __asm__("__wrap_" #name);                       \
  result posix_engine_##name parameters {                                               \
    descriptor::Uncancelled uncancelled;                                                \
    descriptor::engine_closes<descriptor::closes(#name)> arguments;                     \
    return descriptor::engine_does<descriptor::opens(#name), descriptor::closes(#name), \
                                   descriptor::is_numbered(#name)>(                     \
        descriptor::path_among arguments, [=] { return real::name arguments; });        \
  }
#define SERVED(result, name, parameters, arguments) \
  EXPORT(result, name, parameters, arguments, serve::name arguments)
#define ALIAS(result, name, parameters, arguments, call) \
  EXPORT(result, name, parameters, arguments, call)
#define REFUSED(result, name, parameters, arguments) \
  EXPORT(result, name, parameters, arguments, serve::name arguments)
#include "posix/calls.def"
}  // namespace posix
