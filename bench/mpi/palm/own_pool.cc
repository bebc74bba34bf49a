#include "own_pool.h"

#include <mpi.h>

#include <utility>

#include "back_end.h"

namespace palm {
namespace {

void must_cairn(int result, const std::string& what) {
  if (result < 0) stop(what + ": " + cairn_last_error());
}

void must_be_done(const std::string& wrong, const std::string& path) {
  if (!wrong.empty()) stop(path + ": " + wrong);
}

bool is_first_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank == 0;
}

}  // namespace

OwnPool::OwnPool(std::string path, int64_t data, bool is_new, bool keep)
    : path_(std::move(path)), marked_(path_, "palm"), keep_(keep) {
  if (is_new && is_first_rank())
    must_be_done(marked_.make(static_cast<uint64_t>(data) + (uint64_t{64} << 20)), path_);
  MPI_Barrier(MPI_COMM_WORLD);
  must_cairn(cairn_pool_attach(path_.c_str(), 0, &pool_), path_);
}

OwnPool::~OwnPool() {
  cairn_pool_detach(pool_);
  MPI_Barrier(MPI_COMM_WORLD);
  if (is_first_rank() && !keep_) must_be_done(marked_.remove(), path_);
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace palm
