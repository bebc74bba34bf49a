// Texts in files that processes on several nodes write, as one process writes and reads them.
#pragma once

#include <string>

#include "cluster/ranks.h"

namespace cairn::test {

inline void write_at(cairn_shared* file, const std::string& text, uint64_t offset) {
  EXPECT_EQ(cairn_shared_pwrite(file, text.data(), text.size(), offset),
            static_cast<ssize_t>(text.size()))
      << cairn_last_error();
}

inline std::string read_at(cairn_shared* file, size_t size, uint64_t offset) {
  std::string text(size, '?');
  const cairn_piece piece = {text.data(), size, offset};
  const int64_t n = cairn_shared_read(file, &piece, 1);
  EXPECT_GE(n, 0) << cairn_last_error();
  text.resize(n < 0 ? 0 : static_cast<size_t>(n));
  return text;
}

inline std::string shared_text(cairn_shared* file) {
  uint64_t size = 0;
  EXPECT_EQ(cairn_shared_size(file, &size), 0) << cairn_last_error();
  std::string text = read_at(file, size, 0);
  EXPECT_EQ(text.size(), size);
  return text;
}

}  // namespace cairn::test
