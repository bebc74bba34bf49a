#include "cluster/mpi/ranks/node_shared.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

#include "cluster/mpi/ranks/shared_memory.h"

namespace cairn::mpi {
namespace {

void broadcast(MPI_Comm comm, char* bytes, size_t size) {
  constexpr size_t most_at_once = size_t{1} << 30;  // counts are ints
  for (size_t done = 0; done < size; done += most_at_once)
    PMPI_Bcast(bytes + done, static_cast<int>(std::min(most_at_once, size - done)), MPI_BYTE, 0,
               comm);
}

// Allocates the memory here, so that no process runs out of it later.
bool fill(int fd, const Bytes& bytes) {
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t n = ::write(fd, &bytes[done], bytes.size() - done);
    if (n <= 0) return false;
    done += static_cast<size_t>(n);
  }
  return true;
}

}  // namespace

NodeShared::~NodeShared() {
  if (mapped_ != nullptr) ::munmap(mapped_, size_);
}

bool NodeShared::map(MPI_Comm comm, bool first, const Bytes& bytes) {
  SharedMemoryName name;
  int fd = -1;
  if (first) {
    fd = make_shared_memory(&name);
    if (fd >= 0 && !fill(fd, bytes)) {
      remove_shared_memory(name);
      ::close(fd);
      fd = -1;
      name = {};
    }
  }
  PMPI_Bcast(&name, sizeof name, MPI_BYTE, 0, comm);
  if (!first && name.path[0] != '\0') fd = open_shared_memory(name, O_RDONLY, size_);
  if (fd >= 0) {
    void* at = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, fd, 0);
    if (at != MAP_FAILED) mapped_ = static_cast<char*>(at);
    ::close(fd);
  }
  int all = mapped_ == nullptr ? 0 : 1;
  PMPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, comm);
  // No rank goes on from MPI_Init before this one, so no end of the job leaves the file behind.
  if (first) remove_shared_memory(name);
  if (all == 0 && mapped_ != nullptr) {
    ::munmap(mapped_, size_);
    mapped_ = nullptr;
  }
  return all != 0;
}

void NodeShared::share(MPI_Comm comm, Bytes bytes) {
  int rank = 0;
  int ranks = 1;
  PMPI_Comm_rank(comm, &rank);
  PMPI_Comm_size(comm, &ranks);
  uint64_t size = bytes.size();
  PMPI_Bcast(&size, sizeof size, MPI_BYTE, 0, comm);
  size_ = size;
  own_ = std::move(bytes);
  if (size == 0 || ranks == 1) return;
  if (map(comm, rank == 0, own_)) {
    own_ = {};
    return;
  }
  own_.resize(size);
  broadcast(comm, own_.data(), size);
}

}  // namespace cairn::mpi
