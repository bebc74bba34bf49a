#include "cluster/mpi/messages/waiting.h"

#include <mpi.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "cairn/adapter/printable.h"

namespace cairn::mpi {
namespace {

struct Now {
  const char* what = nullptr;
  const std::string* path = nullptr;
};
thread_local Now now;

const char* spoken_for = "MPI";
int64_t spoken_for_job = 0;

constexpr uint64_t standard_timeout_s = 60;
constexpr uint64_t longest_timeout_s = 1'000'000'000;  // for ever

constexpr uint64_t long_ns = 300'000;  // for a yield among processes that yield too
constexpr unsigned fewest_naps = 16;   // before it is tried again whether the processor is free
constexpr unsigned most_naps = 2048;
constexpr unsigned short_turns = 64;  // without a long one it is free
constexpr timespec nap = {0, 20'000};
thread_local unsigned naps = fewest_naps;
thread_local unsigned naps_left = 0;
thread_local unsigned short_ones = 0;

// Ranks of a host that wait for the same give up at the same time. A name in this host's network
// goes to one process, and with it.
bool takes_the_name(int64_t job) {
  if (job == 0) return true;  // not met yet
  sockaddr_un name = {};
  name.sun_family = AF_UNIX;
  std::snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "cairn-mpi-gave-up-%lld",
                static_cast<long long>(job));
  const int mine = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  return mine < 0 || ::bind(mine, reinterpret_cast<sockaddr*>(&name), sizeof name) == 0 ||
         errno != EADDRINUSE;
}

}  // namespace

// Ranks wait inside the MPI without ever yielding. A thread that shares a processor with such a
// rank, as the server's does where launchers bind ranks to cores, returns from sched_yield() only
// when the rank's time slice is over, after milliseconds. When it wakes from a sleep it runs
// immediately.
void give_way() {
  if (naps_left != 0) {
    --naps_left;
    nanosleep(&nap, nullptr);
    return;
  }
  const uint64_t before = now_ns();
  sched_yield();
  if (now_ns() - before > long_ns) {
    naps_left = naps;
    naps = std::min(2 * naps, most_naps);
    short_ones = 0;
  } else if (++short_ones == short_turns) {
    naps = fewest_naps;
  }
}

Doing::Doing(const char* what, const std::string& path)
    : outer_what_(now.what), outer_path_(now.path) {
  now = {what, &path};
}

Doing::~Doing() { now = {outer_what_, outer_path_}; }

std::string Doing::text() {
  return now.what == nullptr ? "" : std::string(now.what) + " " + *now.path;
}

void speak_for(const char* client, int64_t session) {
  spoken_for = client;
  spoken_for_job = session;
}

const char* speaker() { return spoken_for; }

uint64_t now_ns() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

uint64_t timeout_s() {
  const char* text = std::getenv("CAIRN_MPI_TIMEOUT");
  const uint64_t seconds = text == nullptr ? 0 : std::strtoull(text, nullptr, 10);
  return seconds == 0 ? standard_timeout_s : std::min(seconds, longest_timeout_s);
}

Deadline::Deadline() : limit_ns_(timeout_s() * 1'000'000'000), seen_ns_(now_ns()) {}

bool Deadline::is_over() {
  const uint64_t present = now_ns();
  passed_ns_ += std::min(present - seen_ns_, limit_ns_ / 4);
  seen_ns_ = present;
  return passed_ns_ >= limit_ns_;
}

TimedWait::TimedWait(ForWhat for_what, void* context) : for_what_(for_what), context_(context) {}

void abort_job(const std::string& why) {
  if (takes_the_name(spoken_for_job))
    cairn_show_line(stderr, "cairn: %s: %s: the job is aborted", spoken_for, why.c_str());
  PMPI_Abort(MPI_COMM_WORLD, 1);
}

void give_up_waiting(const std::string& path, const std::string& whom) {
  const std::string said = Doing::text();
  const std::string& doing = said.empty() ? path : said;
  abort_job(doing + (doing.empty() ? "" : ": ") + "after " + std::to_string(timeout_s()) +
            " s still waiting for " + whom);
}

void TimedWait::pause() {
  give_way();
  if (deadline_.is_over()) give_up_waiting("", for_what_(context_));
}

}  // namespace cairn::mpi
