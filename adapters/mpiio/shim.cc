// Shim: exports the names of MPI's I/O chapter without knowing any MPI. The first call finds the
// MPI that the process has loaded, then the back end that was built for it. If no directory is
// covered, every name leads to the MPI's own function from then on.
//
// The shim includes no MPI's header: all these functions return an int and take at most six
// arguments that go into integer registers or their stack places, whatever a handle is (an int in
// MPICH, a pointer in Open MPI). So they are passed on as six words.
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <atomic>
#include <string>

#include "cairn/adapter/printable.h"
#include "cluster/mpi/loader/load.h"
#include "cluster/mpi/loader/loaded_objects.h"
#include "mpiio/host.h"

namespace mpiio {
namespace {

using Word = long;
using Function = int (*)(Word, Word, Word, Word, Word, Word);

struct Name {
  const char* name;         // without MPI_
  Function by_int[kKinds];  // replaces a call with MPI_Count that the MPI lacks
  std::atomic<Function> target[kKinds];
};

enum Number : int {
#define PLAIN(name, parameters, arguments) number_##name,
#define CALL PLAIN
#define SMALL PLAIN
#define LARGE(name, parameters, arguments) number_##name##_c,
#include "mpiio/calls.def"
#undef PLAIN
#undef CALL
#undef SMALL
#undef LARGE
  numbers
};

Function target_of(int number, int kind);
void* real(const char* name);

// Makes the call with an int in place of one with MPI_Count, as far as an int goes. A program may
// look up the call with MPI_Count, find it here, and use it on an MPI before 4.0 (mpi4py does).
// `place`: of the count among the words, or -1.
constexpr int kErrCount = 2;  // MPI_ERR_COUNT, in every ABI
template <int plain, int kind, int place>
int by_int(Word a, Word b, Word c, Word d, Word e, Word f) {
  const Word words[] = {a, b, c, d, e, f};
  if (place >= 0 && words[place < 0 ? 0 : place] > INT_MAX) {
    auto raise = reinterpret_cast<int (*)(Word, int)>(real("MPI_File_call_errhandler"));
    if (raise != nullptr) raise(a, kErrCount);
    return kErrCount;
  }
  return target_of(plain, kind)(a, b, c, d, e, f);
}

// Returns that place, from arguments as calls.def writes them.
constexpr int place_of_count(const char* arguments) {
  int place = 0;
  for (const char* at = arguments; *at != '\0'; ++at) {
    if (*at != ',') continue;
    ++place;
    if (at[2] == 'c' && at[3] == 'o' && at[4] == 'u' && at[5] == 'n' && at[6] == 't') return place;
  }
  return -1;
}

constinit Name names[numbers] = {
#define PLAIN(name, parameters, arguments) {#name, {}, {}},
#define CALL PLAIN
#define SMALL PLAIN
#define LARGE(name, parameters, arguments)                     \
  {#name "_c",                                                 \
   {by_int<number_##name, kMpi, place_of_count(#arguments)>,   \
    by_int<number_##name, kPmpi, place_of_count(#arguments)>}, \
   {}},
#include "mpiio/calls.def"
#undef PLAIN
#undef CALL
#undef SMALL
#undef LARGE
};

// ---- which MPI is loaded ------------------------------------------------------------------------

cairn::mpi::LoadedMpi mpi;

// Returns the function of an unknown MPI: the next one in the order of search.
void* real(const char* name) { return dlsym(mpi.handle == nullptr ? RTLD_NEXT : mpi.handle, name); }

// Returns the MPI's function, or the shim's replacement.
void* real_or_ours(const char* full) {
  void* found = real(full);
  const int kind = full[0] == 'P' ? kPmpi : kMpi;
  const char* name = strchr(full, '_') + 1;
  for (const Name& one : names)
    if (found == nullptr && strcmp(one.name, name) == 0)
      found = reinterpret_cast<void*>(one.by_int[kind]);
  return found;
}

bool in_one_object(void* one, void* other) {
  Dl_info a;
  Dl_info b;
  return dladdr(one, &a) != 0 && dladdr(other, &b) != 0 && a.dli_fbase == b.dli_fbase;
}

// Returns the function of a profiler that is linked to the program, or null. The profiler comes
// between the shim and the MPI: it sees the program's calls, and the calls that it passes on come
// back to the shim under the other name.
void* profiler(const char* name) {
  void* next = dlsym(RTLD_NEXT, name);
  void* last = real(name);
  return next == nullptr || last == nullptr || in_one_object(next, last) ? nullptr : next;
}

// ---- start --------------------------------------------------------------------------------------

[[noreturn]] void give_up(const char* what) {
  cairn_show_line(stderr, "cairn: MPI-IO: %s", what);
  abort();
}

BackendFind not_served(const std::string& why) {
  cairn_show_line(stderr, "cairn: MPI-IO is not served: %s", why.c_str());
  return nullptr;
}

// Loads the transport, to which the back end is linked, before the back end: a process has one
// transport.
BackendFind load_backend(uint64_t began_ns) {
  int error = 0;
  std::string why;
  if (cairn::mpi::load_transport(mpi, &error, &why) == nullptr) return not_served(why);
  const std::string path =
      cairn::mpi::beside_this_library((std::string("mpiio_") + mpi.abi + ".so").c_str());
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return not_served(cairn::mpi::why_not_loaded(path));
  auto start = reinterpret_cast<BackendStart>(dlsym(library, "cairn_mpiio_backend"));
  static const Host host = {real_or_ours,   mpi.says,        &engine::api_table(),
                            &engine::paths, cairn_version(), began_ns};
  const char* refused = "not a back end";
  BackendFind find = start == nullptr ? nullptr : start(&host, &refused);
  return find == nullptr ? not_served(path + ": " + refused) : find;
}

// ---- an unknown MPI ----------------------------------------------------------------------------

constexpr const char* prefix = "cairn:";  // of names private to Cairn

// Returns true on one process of the job, as far as the launchers tell which one that is.
bool is_first() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"})
    if (const char* rank = getenv(name); rank != nullptr) return strcmp(rank, "0") == 0;
  return true;
}

void tell_unknown() {
  if (!is_first()) return;
  void* ask = real("MPI_Get_library_version");
  int length = 0;
  static char says[8192];
  snprintf(says, sizeof says, "%s", mpi.says);
  if (says[0] == '\0' && ask != nullptr) reinterpret_cast<int (*)(char*, int*)>(ask)(says, &length);
  Dl_info where = {};
  if (ask == nullptr) ask = real("MPI_Init");
  if (ask != nullptr) dladdr(ask, &where);
  cairn_show_line(
      stderr,
      "cairn: MPI-IO is not served: unknown MPI: \"%.*s\" (%s). Supported are Open MPI 4 "
      "and 5 (libmpi.so.40), MPICH and "
      "those of its ABI (libmpi.so.12), and the MPI standard's ABI (libmpi_abi.so)",
      static_cast<int>(strcspn(says, ",\n")), says,
      where.dli_fname == nullptr ? "file unknown" : where.dli_fname);
}

// Makes an error class of the MPI's own, because its numbers are not known.
int refusal() {
  static const int made = [] {
    constexpr int other = 16;  // MPI_ERR_OTHER or MPI_ERR_INTERN
    auto add = reinterpret_cast<int (*)(int*)>(real("MPI_Add_error_class"));
    auto tell = reinterpret_cast<int (*)(int, const char*)>(real("MPI_Add_error_string"));
    int added = 0;
    if (add == nullptr || tell == nullptr || add(&added) != 0 || added == 0) return other;
    tell(added, "cairn: MPI-IO is not served: names that begin with cairn: cannot be used");
    return added;
  }();
  return made;
}

// These check for the prefix "cairn:", because the MPI would take such names like any other.
Function plain_open[kKinds];
Function plain_delete[kKinds];
bool is_ours(Word name) {
  const auto* text = reinterpret_cast<const char*>(name);
  return text != nullptr && strncmp(text, prefix, strlen(prefix)) == 0;
}
template <int kind>
int open_unless_ours(Word a, Word b, Word c, Word d, Word e, Word f) {
  return is_ours(b) ? refusal() : plain_open[kind](a, b, c, d, e, f);
}
template <int kind>
int delete_unless_ours(Word a, Word b, Word c, Word d, Word e, Word f) {
  return is_ours(a) ? refusal() : plain_delete[kind](a, b, c, d, e, f);
}

Function refusing(Function target, int number, int kind) {
  if (target == nullptr || (number != number_File_open && number != number_File_delete))
    return target;
  const bool opens = number == number_File_open;
  (opens ? plain_open : plain_delete)[kind] = target;
  if (opens) return kind == kMpi ? open_unless_ours<kMpi> : open_unless_ours<kPmpi>;
  return kind == kMpi ? delete_unless_ours<kMpi> : delete_unless_ours<kPmpi>;
}

uint64_t now_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

void start() {
  const uint64_t began_ns = now_ns();
  mpi = cairn::mpi::find_mpi();
  const char* cover = getenv("CAIRN_COVER");
  const bool covers = cover != nullptr && cover[0] != '\0';
  BackendFind find = nullptr;
  if (covers && mpi.abi != nullptr)
    find = load_backend(began_ns);
  else if (covers)
    tell_unknown();
  for (int number = 0; number < numbers; ++number) {
    Name& name = names[number];
    for (int kind = 0; kind < kKinds; ++kind) {
      char full[96];
      snprintf(full, sizeof full, "%sMPI_%s", kind == kPmpi ? "P" : "", name.name);
      void* target = kind == kMpi ? profiler(full) : nullptr;
      if (target == nullptr && find != nullptr) target = find(name.name, kind);
      if (target == nullptr) target = real_or_ours(full);
      auto function = reinterpret_cast<Function>(target);
      if (covers && find == nullptr) function = refusing(function, number, kind);
      name.target[kind].store(function, std::memory_order_release);
    }
  }
}

pthread_once_t started = PTHREAD_ONCE_INIT;

__attribute__((noinline, cold)) Function first_target_of(int number, int kind) {
  pthread_once(&started, start);
  Function target = names[number].target[kind].load(std::memory_order_acquire);
  if (target != nullptr) return target;
  char text[160];
  snprintf(text, sizeof text, "%sMPI_%s: missing in this MPI", kind == kPmpi ? "P" : "",
           names[number].name);
  give_up(text);
}

inline Function target_of(int number, int kind) {
  Function target = names[number].target[kind].load(std::memory_order_acquire);
  return __builtin_expect(target != nullptr, 1) ? target : first_target_of(number, kind);
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
#define SMALL PLAIN
#define LARGE(name, parameters, arguments) \
  EXPORT(MPI_, kMpi, name##_c) EXPORT(PMPI_, kPmpi, name##_c)
#include "mpiio/calls.def"
