#include "common/pattern.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "common/job.h"

namespace kernels {

Pattern::Pattern(int64_t size, int64_t seed)
    : words_(static_cast<size_t>(size / 8)), seed_(static_cast<uint64_t>(seed)) {}

void Pattern::become_writer(int rank) {
  const uint64_t high = static_cast<uint64_t>(rank) << 32;
  for (size_t i = 0; i < words_.size(); ++i) words_[i] = high + seed_ + i;
}

void Pattern::move_to(int64_t file_offset) {
  constexpr size_t step = stamp_bytes / 8;
  // An odd factor: different positions give different words.
  constexpr uint64_t factor = 0x9E3779B97F4A7C15;
  for (size_t i = 0; i < words_.size(); i += step)
    words_[i] = (static_cast<uint64_t>(file_offset) + i * 8 + seed_) * factor;
}

void Check::compare(const void* expected, const void* got, int64_t size, const std::string& where,
                    int64_t file_offset) {
  bytes += size;
  if (std::memcmp(expected, got, static_cast<size_t>(size)) == 0) return;
  const auto* wanted = static_cast<const unsigned char*>(expected);
  const auto* seen = static_cast<const unsigned char*>(got);
  for (int64_t i = 0; i < size; ++i) {
    if (wanted[i] == seen[i]) continue;
    if (first_wrong.empty())
      first_wrong = where + ": byte " + std::to_string(file_offset + i) + " is " +
                    std::to_string(seen[i]) + ", expected " + std::to_string(wanted[i]);
    ++wrong;
  }
}

void Check::gather() {
  bytes = sum(bytes);
  int teller = wrong > 0 ? job().rank : job().ranks;
  wrong = sum(wrong);
  MPI_Allreduce(MPI_IN_PLACE, &teller, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (teller == job().ranks) return;
  auto length = static_cast<int>(first_wrong.size());
  MPI_Bcast(&length, 1, MPI_INT, teller, MPI_COMM_WORLD);
  first_wrong.resize(static_cast<size_t>(length));
  MPI_Bcast(first_wrong.data(), length, MPI_CHAR, teller, MPI_COMM_WORLD);
}

void corrupt(const std::string& path, int64_t offset) {
  const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
  char byte = 0;
  if (fd < 0) fail(path, std::string("open failed: ") + std::strerror(errno));
  if (pread(fd, &byte, 1, offset) != 1)
    fail(path, "--corrupt: offset " + std::to_string(offset) + " is not in the file");
  byte ^= 1;
  if (pwrite(fd, &byte, 1, offset) != 1)
    fail(path, std::string("--corrupt: write failed: ") + std::strerror(errno));
  close(fd);
}

}  // namespace kernels
