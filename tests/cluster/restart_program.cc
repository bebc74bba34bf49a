// Writes and reads checkpoints by MPI ranks, of one host or of several. The pool is found by the
// environment.
//
//   restart_program write VERSION...   continues the latest version, if there is one
//   restart_program read VERSION       expects this version, each byte right
#include "checkpoint_matrix.h"

using namespace cairn::test;

int main(int argc, char** argv) {
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_of_all);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  // A communicator of our own, which is gone after init. Its ranks run the other way.
  MPI_Comm own = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank_of_all, &own);
  int rank = 0;
  MPI_Comm_rank(own, &rank);
  cairn_checkpoint* checkpoint = nullptr;
  check(cairn_checkpoint_init("field", MPI_Comm_c2f(own), nullptr, &checkpoint), 0, "init");
  MPI_Comm_free(&own);
  Field field(rank, ranks);
  Matrix matrix(rank, ranks);
  double time = 0;
  field.define(checkpoint);
  const bool reads = std::strcmp(argv[1], "read") == 0;
  // It may continue what a program without the matrix has written.
  matrix.define(checkpoint, reads ? 0 : CAIRN_OPTIONAL);
  define_time(checkpoint, &time);
  cairn_checkpoint_info info{};
  info.struct_size = sizeof info;
  if (reads) {
    const int64_t version = std::atoll(argv[2]);
    check(cairn_checkpoint_read(checkpoint, CAIRN_CHECKPOINT_LATEST, 0, &info), 0, "read");
    check(static_cast<int>(info.number), static_cast<int>(version), "the version that was read");
    check(time == static_cast<double>(version) / 3 ? 0 : 1, 0, "time");
    check(matrix.is(version) ? 0 : 1, 0, "the matrix");
    field.for_each([&](int64_t i, int64_t j, int64_t k, const double* element) {
      const double expected = value(i, j, k, version);
      check(std::memcmp(element, &expected, sizeof expected), 0, "an element");
    });
  } else {
    const int found = cairn_checkpoint_restart_test(checkpoint, CAIRN_CHECKPOINT_LATEST, nullptr);
    if (found != 0) {
      check(found, 1, "restart_test");
      check(cairn_checkpoint_read(checkpoint, CAIRN_CHECKPOINT_LATEST, 0, nullptr), 0, "read");
    }
    for (int i = 2; i < argc; ++i) {
      const int64_t version = std::atoll(argv[i]);
      time = static_cast<double>(version) / 3;
      matrix.set(version);
      field.for_each([&](int64_t x, int64_t y, int64_t z, double* element) {
        *element = value(x, y, z, version);
      });
      check(cairn_checkpoint_write(checkpoint, version), 0, "write");
    }
  }
  check(cairn_checkpoint_finalize(checkpoint), 0, "finalize");
  MPI_Finalize();
  if (rank_of_all == 0) std::puts("checkpoints are right");
  return 0;
}
