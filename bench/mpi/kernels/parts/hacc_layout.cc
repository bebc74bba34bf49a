#include "parts/hacc_layout.h"

#include <algorithm>
#include <cstdio>
#include <numeric>

namespace kernels {
namespace {

// Words of the header.
enum : size_t {
  word_zero,
  word_metainfo,  // how many words these are
  word_header_bytes,
  word_record_bytes,
  word_particles,
  word_global_particles,
  word_ranks,
  word_partitions,
  word_partition
};

}  // namespace

Particles::Particles(int64_t count)
    : count_(static_cast<size_t>(count)),
      pid_(std::make_unique_for_overwrite<int64_t[]>(count_)),
      mask_(std::make_unique_for_overwrite<uint16_t[]>(count_)) {
  for (auto& values : floats_) values = std::make_unique_for_overwrite<float[]>(count_);
}

void Particles::become(int rank) {
  for (auto& values : floats_)
    for (size_t i = 0; i < count_; ++i) values[i] = static_cast<float>(i);
  std::iota(pid_.get(), pid_.get() + count_, int64_t{0});
  std::fill(mask_.get(), mask_.get() + count_, static_cast<uint16_t>(rank));
}

std::vector<Particles::Variable> Particles::variables() const {
  const auto count = static_cast<int64_t>(count_);
  std::vector<Variable> all;
  for (const auto& values : floats_) all.push_back({values.get(), count * 4});
  all.push_back({pid_.get(), count * 8});
  all.push_back({mask_.get(), count * 2});
  return all;
}

int64_t Partition::particles() const {
  return std::accumulate(counts.begin(), counts.end(), int64_t{0});
}

int64_t Partition::bytes() const { return hacc_header_bytes + particles() * hacc_record_bytes; }

int64_t Partition::offset(size_t index) const {
  const auto end = counts.begin() + static_cast<std::ptrdiff_t>(index);
  return hacc_header_bytes + std::accumulate(counts.begin(), end, int64_t{0}) * hacc_record_bytes;
}

std::string Partition::path(const std::string& base) const {
  char suffix[64];
  std::snprintf(suffix, sizeof suffix, "-Part%08lld-of-%08lld.data", static_cast<long long>(id),
                static_cast<long long>(partitions));
  return base + suffix;
}

std::vector<int64_t> make_hacc_header(const Partition& partition) {
  std::vector<int64_t> words(hacc_header_bytes / 8);
  words[word_metainfo] = hacc_header_words;
  words[word_header_bytes] = hacc_header_bytes;
  words[word_record_bytes] = hacc_record_bytes;
  words[word_particles] = partition.particles();
  words[word_global_particles] = partition.global_particles;
  words[word_ranks] = static_cast<int64_t>(partition.counts.size());
  words[word_partitions] = partition.partitions;
  words[word_partition] = partition.id;
  size_t at = hacc_header_words;
  for (int64_t count : partition.counts) words[at++] = count;
  for (int64_t rank : partition.ranks) words[at++] = rank;
  return words;
}

std::string read_hacc_header(const std::vector<int64_t>& header, Partition* partition) {
  if (header[word_metainfo] != hacc_header_words ||
      header[word_header_bytes] != hacc_header_bytes ||
      header[word_record_bytes] != hacc_record_bytes)
    return "not a file of HACC-IO: words 1 to 3 of its header are " +
           std::to_string(header[word_metainfo]) + ", " +
           std::to_string(header[word_header_bytes]) + ", " +
           std::to_string(header[word_record_bytes]);
  const int64_t ranks = header[word_ranks];
  if (ranks < 1 || hacc_header_words + 2 * ranks > hacc_header_bytes / 8)
    return "its header names " + std::to_string(ranks) + " ranks";
  const auto counts = header.begin() + hacc_header_words;
  partition->id = header[word_partition];
  partition->partitions = header[word_partitions];
  partition->global_particles = header[word_global_particles];
  partition->counts.assign(counts, counts + ranks);
  partition->ranks.assign(counts + ranks, counts + 2 * ranks);
  if (partition->particles() != header[word_particles])
    return "its header counts " + std::to_string(header[word_particles]) +
           " particles, its ranks " + std::to_string(partition->particles());
  return "";
}

}  // namespace kernels
