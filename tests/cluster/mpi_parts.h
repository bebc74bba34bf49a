// What MPI programs have in common that test files of several hosts: checks, patterns, calls that
// must succeed, and their parts.
//   PROGRAM PART...
#pragma once

#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

inline int rank = 0;
inline int ranks = 1;
inline int wrong = 0;

#define CHECK(condition)                                                 \
  do {                                                                   \
    if (!(condition)) {                                                  \
      ++wrong;                                                           \
      std::printf("rank %d: line %d: %s\n", rank, __LINE__, #condition); \
    }                                                                    \
  } while (false)

inline void check_success(int code, const char* call, int line) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  ++wrong;
  std::printf("rank %d: line %d: %s: %s\n", rank, line, call, text);
}
#define OK(call) check_success((call), #call, __LINE__)

using Bytes = std::vector<unsigned char>;

constexpr int kib = 1024;

// What byte `at` of a file holds that rank `writer` wrote there.
inline unsigned char pattern(int64_t at, int writer) {
  return static_cast<unsigned char>(1 + (at * 7 + at / kib + writer * 31) % 255);
}

inline Bytes patterns(int64_t at, int64_t size, int writer) {
  Bytes bytes(static_cast<size_t>(size));
  for (int64_t i = 0; i < size; ++i) bytes[static_cast<size_t>(i)] = pattern(at + i, writer);
  return bytes;
}

inline void barrier() { MPI_Barrier(MPI_COMM_WORLD); }
inline int last() { return ranks - 1; }

inline MPI_File open_file(const char* name, int amode, MPI_Comm comm = MPI_COMM_WORLD) {
  MPI_File file = MPI_FILE_NULL;
  OK(MPI_File_open(comm, name, amode, MPI_INFO_NULL, &file));
  return file;
}

inline void write_at(MPI_File file, int64_t at, const Bytes& bytes) {
  OK(MPI_File_write_at(file, at, bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE,
                       MPI_STATUS_IGNORE));
}

inline Bytes read_at(MPI_File file, int64_t at, int64_t size) {
  Bytes bytes(static_cast<size_t>(size));
  MPI_Status status;
  OK(MPI_File_read_at(file, at, bytes.data(), static_cast<int>(size), MPI_BYTE, &status));
  int count = 0;
  MPI_Get_count(&status, MPI_BYTE, &count);
  bytes.resize(static_cast<size_t>(count < 0 ? 0 : count));
  return bytes;
}

struct Part {
  const char* name;
  void (*run)();
};
// Runs those that are named. Every part prints its name on rank 0 when all checks held.
template <size_t count>
int run_parts(const Part (&parts)[count], int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 1; i < argc; ++i) {
    for (const Part& part : parts) {
      if (std::strcmp(part.name, argv[i]) != 0) continue;
      part.run();
      barrier();
      int all = 0;
      MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
      if (rank == 0 && all == 0) std::printf("%s\n", part.name);
      std::fflush(stdout);
    }
  }
  const int failed = wrong;
  MPI_Finalize();
  return failed + wrong == 0 ? 0 : 1;
}
