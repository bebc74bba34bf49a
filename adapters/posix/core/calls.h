// real::NAME: the C library's own function behind each intercepted call, or that of a library which
// was preloaded after us. The function is looked up at its first call.
//
// Every intercepted call has three names, all made from calls.def:
//
//   the exported symbol   what the program calls; a wrapper in entry/exports.cc that calls serve::
//   serve::open           what we do; the folder that serves a call declares it in its calls.h
//   real::open            the C library's
//
// The linker keeps the engine in this library away from the exported symbols (--wrap, see
// folder.cmake): its calls lead to real::. Our own code always names serve:: or real::.
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

#undef VARIADIC
#undef FORWARDED

}  // namespace posix

// Marks a definition that is exported under a name of the C library.
#define POSIX_EXPORT extern "C" __attribute__((visibility("default")))
