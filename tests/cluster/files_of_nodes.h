// Ordinary files of one node, as its own processes make, write and read them, for tests of what
// other nodes make of them.
#pragma once

#include <fcntl.h>

#include <string>

#include "cluster/covered_nodes.h"

namespace cairn::test {

inline std::string bytes_of(size_t size) {
  std::string bytes(size, '\0');
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 7 + i / 4096);
  return bytes;
}

inline cairn_file* open_own(const CoveredNodes& covered, uint32_t node, const char* path,
                            int flags) {
  cairn_file* file = nullptr;
  EXPECT_EQ(cairn_open(covered.pool(node), covered.top(node), path, flags, 0640, &file), 0)
      << path << " on node " << node << ": " << cairn_last_error();
  return file;
}

inline void write_own(const CoveredNodes& covered, uint32_t node, const char* path,
                      const std::string& bytes) {
  cairn_file* file = open_own(covered, node, path, O_RDWR | O_CREAT);
  EXPECT_EQ(cairn_pwrite(file, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  cairn_close(file);
}

inline std::string read_all(cairn_file* file) {
  cairn_stat st = {};
  EXPECT_EQ(cairn_fstat(file, &st), 0);
  std::string bytes(st.size + 1, '?');
  const ssize_t n = cairn_pread(file, bytes.data(), bytes.size(), 0);
  EXPECT_GE(n, 0) << cairn_last_error();
  bytes.resize(n < 0 ? 0 : static_cast<size_t>(n));
  return bytes;
}

inline std::string read_own(const CoveredNodes& covered, uint32_t node, const char* path) {
  cairn_file* file = open_own(covered, node, path, O_RDONLY);
  std::string bytes = read_all(file);
  cairn_close(file);
  return bytes;
}

}  // namespace cairn::test
