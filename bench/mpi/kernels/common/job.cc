#include "common/job.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "../../stop.h"

namespace kernels {
namespace {

Job the_job;
int64_t most_memory = 0;

MPI_Comm make_node() {
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  return node;
}

std::string library_version() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(text, &length);
  std::string version(text, static_cast<size_t>(length));
  for (char& c : version)
    if (c == '\t') c = ' ';
  // Open MPI writes one long line, MPICH a block of lines.
  return version.substr(0, version.find_first_of(",\n"));
}

void count_nodes() {
  MPI_Comm node = make_node();
  MPI_Comm_rank(node, &the_job.rank_on_node);
  MPI_Comm_size(node, &the_job.ranks_per_node);
  MPI_Comm_free(&node);
  the_job.nodes = static_cast<int>(sum(the_job.rank_on_node == 0 ? 1 : 0));
}

}  // namespace

const Job& start_job(const char* kernel, int* argc, char*** argv) {
  the_job.kernel = kernel;
  the_job.command = kernel;
  for (int i = 1; i < *argc; ++i) {
    the_job.command += std::string(" ") + (*argv)[i];
    the_job.describes = the_job.describes || std::strcmp((*argv)[i], "--describe") == 0;
    the_job.checks_only = the_job.checks_only || std::strcmp((*argv)[i], "--check-only") == 0;
  }
  if (the_job.describes || the_job.checks_only) return the_job;
  MPI_Init(argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &the_job.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &the_job.ranks);
  the_job.mpi = library_version();
  count_nodes();
  the_job.started = wall_clock();
  return the_job;
}

const Job& job() { return the_job; }

void fail(const std::string& object, const std::string& what) {
  std::fprintf(stderr, "%s: rank %d: %s: %s\n", the_job.kernel.c_str(), the_job.rank,
               object.c_str(), what.c_str());
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

void must(int code, const std::string& object, const std::string& what) {
  if (code != MPI_SUCCESS) fail(object, what + " failed: " + bench::error_text(code));
}

void usage_error(const Mistakes& mistakes) {
  if (the_job.rank == 0)
    for (const std::string& text : mistakes.texts())
      std::fprintf(stderr, "%s: %s\n", the_job.kernel.c_str(), text.c_str());
  int is_running = 0;
  MPI_Initialized(&is_running);
  if (is_running != 0) MPI_Finalize();
  std::exit(exit_usage);
}

void assume_job(int ranks, int nodes) {
  the_job.ranks = ranks == 0 ? 1 : ranks;
  the_job.nodes = nodes;
  the_job.ranks_per_node = nodes == 0 ? the_job.ranks : (the_job.ranks + nodes - 1) / nodes;
}

double wall_clock() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

void note_memory() {
  std::ifstream statm("/proc/self/statm");
  int64_t size = 0, resident = 0, shared = 0;
  statm >> size >> resident >> shared;
  if (statm) most_memory = std::max(most_memory, (resident - shared) * sysconf(_SC_PAGESIZE));
}

int64_t memory_of_fullest_node() {
  note_memory();
  MPI_Comm node = make_node();
  int64_t memory = most_memory;
  MPI_Allreduce(MPI_IN_PLACE, &memory, 1, MPI_INT64_T, MPI_SUM, node);
  MPI_Comm_free(&node);
  MPI_Allreduce(MPI_IN_PLACE, &memory, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
  return memory;
}

double lowest(double value) {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
  return value;
}

double highest(double value) {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return value;
}

long long sum(long long value) {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
  return value;
}

}  // namespace kernels
