// RankRegion is where the contiguous bytes of a rank lie: in a shared file at rank * bytes, or at
// the start of a file of its own. A kernel writes and reads a region by equal transfers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/pattern.h"
#include "files/file.h"

namespace kernels {

struct RankRegion {
  bool file_per_rank = false;
  int64_t bytes = 0;  // of each rank, a multiple of transfer
  int64_t transfer = 0;

  [[nodiscard]] int64_t transfers() const { return bytes / transfer; }
  [[nodiscard]] int64_t offset(int owner) const { return file_per_rank ? 0 : owner * bytes; }
  [[nodiscard]] std::string path(const std::string& base, int owner) const;

  // Mistakes where the sizes do not fit.
  void check_sizes(Mistakes* mistakes) const;

  // `pattern` must be the writer's; every transfer gets its stamps.
  void write(File& file, int owner, Pattern* pattern) const;
  // buffer: transfer bytes; each transfer overwrites the one before.
  void read(File& file, int owner, std::vector<char>* buffer) const;
  // Reads the region and compares it with `pattern`, which must be the writer's.
  void check(File& file, const std::string& path, int owner, Pattern* pattern, Check* found) const;
};

// BASE.RANK with eight digits, as IOR names the files of processes.
std::string path_of_rank(const std::string& base, int rank);

}  // namespace kernels
