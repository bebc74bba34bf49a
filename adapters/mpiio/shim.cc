// The names of MPI's I/O chapter, exported without knowing any MPI: at the first call the MPI that the process
// has loaded is found, then the back end that was built for it. Where nothing is covered every name leads to
// the MPI's own function from then on.
//
// No MPI's header is included: all these functions return an int and take at most six arguments that go into
// integer registers or their stack places, whatever a handle is (an int in MPICH, a pointer in Open MPI), so they
// are passed on as six words.
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <atomic>

#include "mpiio/host.h"

namespace mpiio {
namespace {

using Word = long;
using Function = int (*)(Word, Word, Word, Word, Word, Word);

struct Name {
  const char* name;  // without MPI_
  std::atomic<Function> target[kKinds];
};

enum Number : int {
#define PLAIN(name, parameters, arguments) number_##name,
#define CALL PLAIN
#define LARGE(name, parameters, arguments) number_##name##_c,
#include "mpiio/calls.def"
#undef PLAIN
#undef CALL
#undef LARGE
  numbers
};

constinit Name names[numbers] = {
#define PLAIN(name, parameters, arguments) {#name, {}},
#define CALL PLAIN
#define LARGE(name, parameters, arguments) {#name "_c", {}},
#include "mpiio/calls.def"
#undef PLAIN
#undef CALL
#undef LARGE
};

// ---- which MPI is loaded ------------------------------------------------------------------------

struct KnownMpi {
  const char* library;  // how its file's name starts
  const char* backend;
};
constexpr KnownMpi known[] = {
    {"libmpi_abi.so", "mpiabi"}, {"libmpi.so.40", "openmpi"}, {"libmpi.so.12", "mpich"},
    {"libmpich.so.12", "mpich"}, {"libmpi.so.20", nullptr},
};

void* mpi = nullptr;  // its handle

const char* base_name(const char* path) {
  const char* slash = strrchr(path, '/');
  return slash == nullptr ? path : slash + 1;
}

// The loaded object that exports MPI_Init, whoever loaded it and however: Python does it with RTLD_LOCAL, where
// dlsym(RTLD_NEXT) finds nothing.
const KnownMpi* find_mpi() {
  link_map* map = nullptr;
  void* self = dlopen(nullptr, RTLD_LAZY);
  if (self == nullptr || dlinfo(self, RTLD_DI_LINKMAP, &map) != 0) return nullptr;
  for (; map != nullptr; map = map->l_next) {
    const char* file = base_name(map->l_name);
    for (const KnownMpi& one : known) {
      if (strncmp(file, one.library, strlen(one.library)) != 0) continue;
      // Its symbols become visible to all, as the back end, which is linked to no MPI, needs them.
      mpi = dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL);
      if (mpi != nullptr) return &one;
    }
  }
  return nullptr;
}

// Of an MPI that is not known, whatever comes after us.
void* real(const char* name) { return dlsym(mpi == nullptr ? RTLD_NEXT : mpi, name); }

bool in_one_object(void* one, void* other) {
  Dl_info a;
  Dl_info b;
  return dladdr(one, &a) != 0 && dladdr(other, &b) != 0 && a.dli_fbase == b.dli_fbase;
}

// A profiler that is linked to the program comes between us and the MPI: it sees the program's calls, and what it
// passes on comes back to us under the other name. Null: there is none.
void* profiler(const char* name) {
  void* next = dlsym(RTLD_NEXT, name);
  void* last = real(name);
  return next == nullptr || last == nullptr || in_one_object(next, last) ? nullptr : next;
}

// ---- start --------------------------------------------------------------------------------------

[[noreturn]] void give_up(const char* what) {
  fprintf(stderr, "cairn: MPI-IO: %s\n", what);
  abort();
}

BackendFind load_backend(const char* name) {
  Dl_info here;
  if (dladdr(reinterpret_cast<void*>(&load_backend), &here) == 0) return nullptr;
  char path[4096];
  const int directory = static_cast<int>(base_name(here.dli_fname) - here.dli_fname);
  snprintf(path, sizeof path, "%.*scairn/mpiio_%s.so", directory, here.dli_fname, name);
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    fprintf(stderr, "cairn: MPI-IO is not served: %s\n", dlerror());
    return nullptr;
  }
  auto start = reinterpret_cast<BackendStart>(dlsym(library, "cairn_mpiio_backend"));
  static const Host host = {real, &posix::lend(), sizeof(posix::Lent), cairn_version()};
  const char* why = "it is no back end";
  BackendFind find = start == nullptr ? nullptr : start(&host, &why);
  if (find == nullptr) fprintf(stderr, "cairn: MPI-IO is not served: %s: %s\n", path, why);
  return find;
}

void start() {
  const KnownMpi* which = find_mpi();
  const char* cover = getenv("CAIRN_COVER");
  BackendFind find = nullptr;
  if (cover != nullptr && cover[0] != '\0' && which != nullptr && which->backend != nullptr)
    find = load_backend(which->backend);
  for (Name& name : names) {
    for (int kind = 0; kind < kKinds; ++kind) {
      char full[96];
      snprintf(full, sizeof full, "%sMPI_%s", kind == kPmpi ? "P" : "", name.name);
      void* target = kind == kMpi ? profiler(full) : nullptr;
      if (target == nullptr && find != nullptr) target = find(name.name, kind);
      if (target == nullptr) target = real(full);
      name.target[kind].store(reinterpret_cast<Function>(target), std::memory_order_release);
    }
  }
}

pthread_once_t started = PTHREAD_ONCE_INIT;

Function target_of(int number, int kind) {
  Function target = names[number].target[kind].load(std::memory_order_acquire);
  if (__builtin_expect(target != nullptr, 1)) return target;
  pthread_once(&started, start);
  target = names[number].target[kind].load(std::memory_order_acquire);
  if (target != nullptr) return target;
  char text[160];
  snprintf(text, sizeof text, "this MPI has no %sMPI_%s", kind == kPmpi ? "P" : "",
           names[number].name);
  give_up(text);
}

}  // namespace
}  // namespace mpiio

#define EXPORT(prefix, kind, name)                                                             \
  extern "C" __attribute__((visibility("default"))) int prefix##name(long a, long b, long c,   \
                                                                     long d, long e, long f) { \
    return mpiio::target_of(mpiio::number_##name, mpiio::kind)(a, b, c, d, e, f);              \
  }
#define PLAIN(name, parameters, arguments) EXPORT(MPI_, kMpi, name) EXPORT(PMPI_, kPmpi, name)
#define CALL PLAIN
#define LARGE(name, parameters, arguments) \
  EXPORT(MPI_, kMpi, name##_c) EXPORT(PMPI_, kPmpi, name##_c)
#include "mpiio/calls.def"
