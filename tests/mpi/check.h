// What the parts of the conformance program share: checks that count, and files that are the ranks'
// own.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

extern int rank;
extern int ranks;
extern uint64_t seed;
extern int wrong;  // checks that failed here
extern bool several_hosts;

#define CHECK(condition)                                                                    \
  do {                                                                                      \
    if (!(condition)) {                                                                     \
      ++wrong;                                                                              \
      std::printf("rank %d: %s:%d: %s (seed %llu)\n", rank, __FILE__, __LINE__, #condition, \
                  static_cast<unsigned long long>(seed));                                   \
    }                                                                                       \
  } while (false)

// That a call failed with this class, and that its text names the file.
#define CHECK_CLASS(code, expected) check_class((code), (expected), #code, __LINE__)
void check_class(int code, int expected, const char* what, int line);

#define OK(call) CHECK((call) == MPI_SUCCESS)

inline int count_of(const MPI_Status& status, MPI_Datatype type) {
  int count = 0;
  MPI_Get_count(&status, type, &count);
  return count;
}

MPI_File open_file(const char* name, int amode, MPI_Comm comm = MPI_COMM_WORLD);
// All bytes of a file, read by this rank alone.
std::vector<unsigned char> contents(const char* name);
inline void barrier() { MPI_Barrier(MPI_COMM_WORLD); }

// The parts.
void test_opening();
void test_sizes();
void test_access();
void test_pointers();
void test_shared();
void test_views();
void test_representations();
void test_hints();
void test_errors();
void test_communicators();
void test_atomic();
void test_large();
void test_counts();
void test_pairs();
void test_collective_writes();
// Run by name only: these need a launcher or an environment of their own (late_writers_test.py,
// left_in_memory_test.py, romio_test.py, many_steps.py).
void test_late_writer();
void test_killed_writer();
void test_abort_after_open();
void test_file_system_prefix();
void test_forced_file_system();
void test_many_steps();
void test_changed_while_drained();
