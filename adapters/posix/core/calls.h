// Every intercepted call has three names here, all made from calls.def:
//
//   the exported symbol   what the program calls; a wrapper in calls.cc that goes on to serve::
//   serve::open           what we do; in the file of its idea
//   real::open            the C library's own, or that of the preload after us; looked up at first
//   use
//
// The engine that is linked into this library is kept away from the exported symbols by the linker
// (--wrap, see folder.cmake): its calls end in real::. Our own code names one of the two, always.
#pragma once

#include <aio.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <ftw.h>
#include <glob.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>
#include <wchar.h>
#include <wordexp.h>

struct rlimit;
struct termios;
struct iocb;  // libaio
struct io_event;

namespace posix {

using DirentFilter = int (*)(const struct dirent*);
using DirentOrder = int (*)(const struct dirent**, const struct dirent**);
using FtsOrder = int (*)(const FTSENT**, const FTSENT**);
using GlobError = int (*)(const char*, int);
using SignalHandler = void (*)(int);
using TreeVisit = int (*)(const char*, const struct stat*, int, struct FTW*);
using OldTreeVisit = int (*)(const char*, const struct stat*, int);

// A sanitizer's runtime calls such a function before it is ready for instrumented code.
#define BEFORE_SANITIZER __attribute__((no_sanitize("address", "undefined")))

#define VARIADIC(result, name)
#define FORWARDED(name)

namespace real {
#define SERVED(result, name, parameters, arguments) extern result(*name) parameters;
#define ALIAS(result, name, parameters, arguments, call) extern result(*name) parameters;
#define REFUSED(result, name, parameters, arguments) extern result(*name) parameters;
#include "posix/calls.def"
#undef SERVED
#undef ALIAS
#undef REFUSED
}  // namespace real

namespace serve {
#define SERVED(result, name, parameters, arguments) result name parameters;
#define ALIAS(result, name, parameters, arguments, call)
#define REFUSED(result, name, parameters, arguments) result name parameters;
#include "posix/calls.def"
#undef SERVED
#undef ALIAS
#undef REFUSED
char* current_directory_name();
}  // namespace serve

#undef VARIADIC
#undef FORWARDED

}  // namespace posix

// Marks a definition that is exported under a name of the C library.
#define POSIX_EXPORT extern "C" __attribute__((visibility("default")))
