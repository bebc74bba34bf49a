// The file layout of HACC-IO (restartio_glean), byte by byte: docs/user/bench-kernels.md
// describes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace kernels {

constexpr int64_t hacc_header_bytes = 24 << 20;
constexpr int64_t hacc_header_words = 16;  // metainfo; the ranks' words follow
constexpr int64_t hacc_record_bytes = 38;
constexpr int hacc_variables = 9;

// xx yy zz vx vy vz phi (float), pid (int64_t), mask (uint16_t), each contiguous. New memory is not
// touched, as in HACC-IO: a read meets its page faults.
class Particles {
 public:
  explicit Particles(int64_t count);

  // HACC-IO's values: the particle's number seven times, its number, the rank.
  void become(int rank);

  struct Variable {
    void* data;
    int64_t bytes;
  };
  // In the order of the file.
  [[nodiscard]] std::vector<Variable> variables() const;

 private:
  size_t count_;
  std::unique_ptr<float[]> floats_[7];
  std::unique_ptr<int64_t[]> pid_;
  std::unique_ptr<uint16_t[]> mask_;
};

// A file of one or more ranks ("partition" in HACC-IO).
struct Partition {
  int64_t id = 0;
  int64_t partitions = 1;
  int64_t global_particles = 0;
  std::vector<int64_t> counts;  // particles of each rank of the partition
  std::vector<int64_t> ranks;   // its number in the job

  [[nodiscard]] int64_t particles() const;
  [[nodiscard]] int64_t bytes() const;
  // Returns the offset of the data of the rank number `index` in the file.
  [[nodiscard]] int64_t offset(size_t index) const;
  // BASE-Part00000000-of-00000001.data
  [[nodiscard]] std::string path(const std::string& base) const;
};

// The 24 MiB in front of the data.
std::vector<int64_t> make_hacc_header(const Partition& partition);
// An empty text, or what is wrong with the header.
std::string read_hacc_header(const std::vector<int64_t>& header, Partition* partition);

}  // namespace kernels
