#include "cluster/mpi/ranks/processes.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/unused_number.h"

namespace cairn::mpi {
namespace {

// /proc/PID/stat; "" if it is not shown.
struct Stat {
  Stat(const char* proc, int process) {
    char path[256];
    std::snprintf(path, sizeof path, "%s/%d/stat", proc, process);
    std::FILE* file = std::fopen(path, "re");
    if (file == nullptr) return;
    text[std::fread(text, 1, sizeof text - 1, file)] = '\0';
    std::fclose(file);
  }
  char text[1024] = "";
};

// Field `number` of /proc/PID/stat, counted as in proc(5); "" if there is none.
const char* field(const char* stat, int number) {
  // The second one is the command's name, which may hold anything.
  const char* at = std::strrchr(stat, ')');
  for (int i = 2; at != nullptr && i < number; ++i) {
    at = std::strchr(at, ' ');
    if (at != nullptr) ++at;
  }
  return at == nullptr ? "" : at;
}

uint64_t start_in(const char* stat) { return std::strtoull(field(stat, 22), nullptr, 10); }

char state_in(const char* stat) {
  const char letter = *field(stat, 3);
  // Not 't', for somebody looks at that one with a debugger.
  if (letter == 'T') return process_stopped;
  // Of a process whose first thread has ended the system shows a zombie, although the others go on.
  if (letter == 'Z' && std::strtol(field(stat, 20), nullptr, 10) > 1) return process_lives;
  return letter == 'X' || letter == 'Z' ? process_gone : process_lives;
}

}  // namespace

uint64_t namespaces() {
  struct stat ids;
  if (::stat("/proc/self/ns/pid", &ids) != 0) return 0;
  // Older kernels have one time for all.
  struct stat times;
  const uint64_t time = ::stat("/proc/self/ns/time", &times) == 0 ? times.st_ino : 0;
  return uint64_t{ids.st_ino} << 32 | (time & UINT32_MAX);
}

uint64_t start_of(int process, const char* proc) { return start_in(Stat(proc, process).text); }

LocalProcess own_process(int rank) {
  const int process = ::getpid();
  return {rank, process, namespaces(), start_of(process)};
}

char Processes::state_of(int rank) const {
  const LocalProcess* end = first_ + count_;
  const LocalProcess* found =
      std::find_if(first_, end, [&](const LocalProcess& one) { return one.rank == rank; });
  if (found == end || found->namespaces != namespaces()) return process_lives;
  const Stat stat(proc_, found->process);
  // What is not shown may still be there: /proc may be missing, or hide processes (its option
  // hidepid).
  if (stat.text[0] == '\0') return is_unused_number(found->process) ? process_gone : process_lives;
  if (found->started != 0 && start_in(stat.text) != found->started) return process_gone;
  return state_in(stat.text);
}

}  // namespace cairn::mpi
