// Waits for other nodes without holding a processor that ranks share, and with a time limit.
#pragma once

#include <cstdint>
#include <string>

namespace cairn::mpi {

// Names what this thread does, for the line of a wait in it. The innermost counts.
class Doing {
 public:
  Doing(const char* what, const std::string& path);
  ~Doing();
  Doing(const Doing&) = delete;
  Doing& operator=(const Doing&) = delete;
  // "write a/file", or "" outside any.
  static std::string text();

 private:
  const char* outer_what_;
  const std::string* outer_path_;
};

uint64_t now_ns();

// Yields the processor for a moment. Called between two looks at what is waited for.
void give_way();

// CAIRN_MPI_TIMEOUT, in seconds.
uint64_t timeout_s();

// The time of `mpi.timeout` from now on. Little of it passes while this process stands still,
// perhaps with all of its job.
class Deadline {
 public:
  Deadline();
  // Must be called repeatedly: long gaps count little.
  bool is_over();

 private:
  uint64_t limit_ns_;
  uint64_t seen_ns_;
  uint64_t passed_ns_ = 0;
};

// Which client and session the lines below come from: those of the session that began last. 0: it
// has not met yet.
void speak_for(const char* client, int64_t session);
const char* speaker();

// Ends the job. One line says why, of the first rank of a host that does so.
void abort_job(const std::string& why);

// Ends the job with a line that names what this thread does, or else `path`, and what it has waited
// for.
void give_up_waiting(const std::string& path, const std::string& whom);

// One wait: between two looks pause() is called. After the time of `mpi.timeout` one line says what
// is waited for, and the job is aborted.
class TimedWait {
 public:
  // `for_what` gives the end of the line: what the wait is for.
  using ForWhat = std::string (*)(void* context);
  TimedWait(ForWhat for_what, void* context);
  void pause();

 private:
  ForWhat for_what_;
  void* context_;
  Deadline deadline_;
};

}  // namespace cairn::mpi
