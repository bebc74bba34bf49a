#include "mpiio/backend/processes.h"

#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace mpiio {
namespace {

bool is_no_more(int process) { return ::kill(process, 0) != 0 && errno == ESRCH; }

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

char state_in(const char* stat) {
  const char letter = *field(stat, 3);
  // Not 't', for somebody looks at that one with a debugger.
  if (letter == 'T') return process_stopped;
  // Of a process whose first thread has ended the system shows a zombie, although the others go on.
  if (letter == 'Z' && std::atoi(field(stat, 20)) > 1) return process_lives;
  return letter == 'X' || letter == 'Z' ? process_gone : process_lives;
}

}  // namespace

uint64_t process_namespace() {
  struct stat space;
  return ::stat("/proc/self/ns/pid", &space) == 0 ? space.st_ino : 0;
}

char Processes::state_of(int rank) const {
  const LocalProcess* end = first_ + count_;
  const LocalProcess* found =
      std::find_if(first_, end, [&](const LocalProcess& one) { return one.rank == rank; });
  if (found == end || found->process_namespace != process_namespace()) return process_lives;
  char path[256];
  std::snprintf(path, sizeof path, "%s/%d/stat", proc_, found->process);
  char stat[512] = "";
  size_t size = 0;
  if (std::FILE* file = std::fopen(path, "re"); file != nullptr) {
    size = std::fread(stat, 1, sizeof stat - 1, file);
    std::fclose(file);
  }
  // What is not shown may still be there: /proc may be missing, or hide processes (its option hidepid).
  if (size == 0) return is_no_more(found->process) ? process_gone : process_lives;
  stat[size] = '\0';
  return state_in(stat);
}

}  // namespace mpiio
