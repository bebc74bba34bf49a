// Files that lie in the covered directory before the job, and what becomes of them, for tests.
#pragma once

#include <fcntl.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "cluster/covered_nodes.h"

namespace cairn::test {

inline void write_lower(const std::string& directory, const std::string& path,
                        const std::string& text) {
  std::filesystem::create_directories(std::filesystem::path(directory + "/" + path).parent_path());
  std::ofstream(directory + "/" + path) << text;
}

inline std::string text_in_lower(const CoveredNodes& covered, const char* path) {
  std::ifstream file(covered.directory() + "/" + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline cairn_file* open_to_write(const CoveredNodes& covered, uint32_t node, const char* path) {
  cairn_file* file = nullptr;
  EXPECT_EQ(cairn_open(covered.pool(node), covered.top(node), path, O_RDWR | O_CREAT, 0644, &file),
            0)
      << cairn_last_error();
  return file;
}

inline void write_on(const CoveredNodes& covered, uint32_t node, const char* path,
                     const std::string& text) {
  cairn_file* file = open_to_write(covered, node, path);
  EXPECT_EQ(cairn_ftruncate(file, 0), 0);
  EXPECT_EQ(cairn_pwrite(file, text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
  cairn_close(file);
}

inline uint64_t size_elsewhere(const CoveredNodes& covered, uint32_t node, const char* path) {
  cairn_stat st = {};
  EXPECT_EQ(cairn_shared_stat_ordinary(covered.job(node), path, &st), 0) << cairn_last_error();
  return st.size;
}

}  // namespace cairn::test
