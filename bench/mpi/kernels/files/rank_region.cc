#include "files/rank_region.h"

#include <algorithm>
#include <cstdio>

#include "common/job.h"

namespace kernels {

std::string path_of_rank(const std::string& base, int rank) {
  char suffix[16];
  std::snprintf(suffix, sizeof suffix, ".%08d", rank);
  return base + suffix;
}

void RankRegion::check_sizes(Mistakes* mistakes) const {
  if (transfer == 0 || transfer % 8 != 0)
    mistakes->add("-t: invalid transfer size " + std::to_string(transfer) +
                  ": expected a multiple of 8");
  else if (bytes == 0 || bytes % transfer != 0)
    mistakes->add("-b: invalid size " + std::to_string(bytes) +
                  ": expected a multiple of the transfer size, " + std::to_string(transfer));
  check_file_size("-b", {bytes, file_per_rank ? 1 : job().ranks}, mistakes);
}

std::string RankRegion::path(const std::string& base, int owner) const {
  return file_per_rank ? path_of_rank(base, owner) : base;
}

void RankRegion::write(File& file, int owner, Pattern* pattern) const {
  for (int64_t i = 0; i < transfers(); ++i) {
    const int64_t at = offset(owner) + i * transfer;
    pattern->move_to(at);
    file.write(pattern->data(), transfer, at);
  }
}

void RankRegion::read(File& file, int owner, std::vector<char>* buffer) const {
  for (int64_t i = 0; i < transfers(); ++i)
    file.read(buffer->data(), transfer, offset(owner) + i * transfer);
}

void RankRegion::check(File& file, const std::string& path, int owner, Pattern* pattern,
                       Check* found) const {
  std::vector<char> buffer(static_cast<size_t>(transfer));
  for (int64_t i = 0; i < transfers(); ++i) {
    const int64_t at = offset(owner) + i * transfer;
    std::fill(buffer.begin(), buffer.end(), '\0');
    file.read(buffer.data(), transfer, at);
    pattern->move_to(at);
    found->compare(pattern->data(), buffer.data(), transfer, path, at);
  }
}

}  // namespace kernels
