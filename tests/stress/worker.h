// A worker: attaches, compares what it finds with the oracle, then works until it is killed.
#pragma once

#include <string>
#include <vector>

#include "cairn/cairn.h"
#include "model/temporary_pool.h"
#include "stress/oracle.h"

namespace cairn::test {

class Worker {
 public:
  Worker(Oracle& oracle, unsigned number, cairn_pool* pool, uint64_t seed);

  // Settles what the call under way at the death of the predecessor has come to, and compares all.
  bool compare();
  // Random operations until `end_s` (now_s()); never returns false without a note in the oracle.
  bool work(double end_s);
  // One random use of the file that everybody writes to and cuts.
  bool use_shared_file(cairn_file* file);

 private:
  bool step();
  bool create(unsigned f);
  bool write(unsigned f);
  bool truncate(unsigned f);
  bool unlink(unsigned f);
  bool rename(unsigned f);
  void move_state(unsigned from, unsigned to);
  bool append();
  bool use_shared_file();
  bool fork_a_child();
  bool exec_a_child();
  bool give_memory_back();
  bool compare_file(unsigned f, const FileState& expected, bool torn);
  bool wrong(const char* what, long long value);
  std::string name(unsigned f) const;
  cairn_file* open(const std::string& path, int flags, int* result);

  Oracle& oracle_;
  unsigned number_;
  WorkerState& state_;
  cairn_pool* pool_;
  Random random_;
};

// The program that a worker's child becomes; it lies beside the test.
std::string successor_program();

// The log from start to end: whole records only, each worker's in order and none that was
// acknowledged missing. "" or what is wrong.
std::string compare_log(Oracle& oracle, cairn_pool* pool);

}  // namespace cairn::test
