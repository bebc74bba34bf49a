// The exported wrappers, and the engine's way around them.
#include "posix/core/calls.h"
#include "posix/credentials/calls.h"
#include "posix/entry/calls.h"
#include "posix/entry/engine_calls.h"
#include "posix/exec/calls.h"
#include "posix/io/calls.h"
#include "posix/libc/calls.h"
#include "posix/loader/calls.h"
#include "posix/names/calls.h"

#define VARIADIC(result, name)
#define FORWARDED(name)

// Symbols get their names by assembler labels. A definition under the plain name would have to
// match the C library's headers in exceptions, attributes and renamings, which differ between its
// versions.
//
// Programs call NAME; the linker sends the engine's calls of NAME to __wrap_NAME. The engine's
// descriptors get high numbers, and the program cannot close them.
#pragma GCC diagnostic ignored "-Wunused-parameter"  // versions of stat, rooms of checked reads
namespace posix {
#define EXPORT(result, name, parameters, arguments, call)                                     \
  POSIX_EXPORT result posix_export_##name parameters __asm__(#name);                          \
  result posix_export_##name parameters { return call; }                                      \
  extern "C" __attribute__((visibility("hidden")))                                            \
  result posix_engine_##name parameters __asm__("__wrap_" #name);                             \
  result posix_engine_##name parameters {                                                     \
    engine_calls::Uncancelled uncancelled;                                                    \
    engine_calls::engine_closes<engine_calls::closes(#name)> arguments;                       \
    return engine_calls::engine_does<engine_calls::opens(#name), engine_calls::closes(#name), \
                                     engine_calls::is_numbered(#name)>(                       \
        engine_calls::path_among arguments, [=] { return real::name arguments; });            \
  }
#define SERVED(result, name, parameters, arguments) \
  EXPORT(result, name, parameters, arguments, serve::name arguments)
#define ALIAS(result, name, parameters, arguments, call) \
  EXPORT(result, name, parameters, arguments, call)
#define REFUSED(result, name, parameters, arguments) \
  EXPORT(result, name, parameters, arguments, serve::name arguments)
#include "posix/calls.def"
}  // namespace posix
