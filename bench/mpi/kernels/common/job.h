// The MPI job that runs a kernel: its ranks, and how a rank reports an error and ends the job.
#pragma once

#include <mpi.h>

#include <string>

#include "common/mistakes.h"

namespace kernels {

constexpr int exit_usage = 2;
constexpr int exit_invalid = 3;  // a check found wrong bytes

struct Job {
  std::string kernel;        // "ior"
  bool describes = false;    // --describe was given: MPI is not initialised
  bool checks_only = false;  // the same for --check-only
  int rank = 0;
  int ranks = 1;
  int nodes = 1;  // 0: --check-only does not know it
  int ranks_per_node = 1;
  int rank_on_node = 0;
  std::string mpi;      // first line of the MPI library's version
  std::string command;  // as given
  double started = 0;   // when MPI was initialised, by wall_clock() of rank 0
};

// Initialises MPI, unless --describe or --check-only is given. To be called once, before anything
// else of this folder.
const Job& start_job(const char* kernel, int* argc, char*** argv);
const Job& job();

// Prints "KERNEL: OBJECT: WHAT" and aborts the job with exit code 1.
[[noreturn]] void fail(const std::string& object, const std::string& what);
// The same with the error text of `code`, unless it is MPI_SUCCESS.
void must(int code, const std::string& object, const std::string& what);

// Rank 0 prints the mistakes; every rank finalizes MPI and exits with exit_usage. All ranks must
// call it.
[[noreturn]] void usage_error(const Mistakes& mistakes);
// assume_job() takes the job that is to be, for --check-only. 0: not known.
void assume_job(int ranks, int nodes);

// Seconds since 1970, as whoever started the job has them, too.
double wall_clock();

// Takes note of the memory that this rank has for itself: neither files nor what ranks share.
void note_memory();
// The most that note_memory() has found on each rank, summed over a node. Collective.
int64_t memory_of_fullest_node();

// Lowest value, highest value and sum over all ranks. Collective.
double lowest(double value);
double highest(double value);
long long sum(long long value);

}  // namespace kernels
