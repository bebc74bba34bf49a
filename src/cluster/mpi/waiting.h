// Waiting for other nodes: without keeping a processor from ranks that have to share it, and not for ever.
#pragma once

#include <cstdint>
#include <string>

namespace cairn::mpi {

// What this thread does, for who waits in it; innermost last.
class Doing {
 public:
  Doing(const char* what, const std::string& path);
  ~Doing();
  Doing(const Doing&) = delete;
  Doing& operator=(const Doing&) = delete;
  // "write a/file", or "" if nothing was said.
  static std::string text();

 private:
  const char* outer_what_;
  const std::string* outer_path_;
};

uint64_t now_ns();

// Lets others have the processor for a moment: to be called between two looks at what is waited for.
void give_way();

// CAIRN_MPI_TIMEOUT, in seconds.
uint64_t timeout_s();

// The time of `mpi.timeout` from now on. Little of it passes while this process stands still, perhaps with all of its job.
class Deadline {
 public:
  Deadline();
  // To be asked over and over.
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

// Says for whom this thread has waited, in what it does or for what is about `path`, and ends the job.
void give_up_waiting(const std::string& path, const std::string& whom);

// One wait: between two looks pause() is called. After the time of `mpi.timeout` one line says what is waited for, and
// the job is aborted.
class Patience {
 public:
  // `for_what` gives the end of the line: whom the wait is for.
  using ForWhat = std::string (*)(void* context);
  Patience(ForWhat for_what, void* context);
  void pause();

 private:
  ForWhat for_what_;
  void* context_;
  Deadline deadline_;
};

}  // namespace cairn::mpi
