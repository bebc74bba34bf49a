// The command's only way to read a whole file that the user, the environment or a shared directory
// names. The file is opened once, without waiting for the writer of a FIFO, and judged by its
// descriptor: a regular file of bounded size.
#pragma once

#include <cstdint>
#include <string>

namespace cairn::cli {

enum class Owners : uint8_t {
  any,
  trusted,  // the user or root, and nobody else can write to the file
};

struct BoundedFile {
  std::string text;
  std::string problem;  // why the text does not count; "" if it does
};

BoundedFile read_bounded(const std::string& path, uint64_t most_bytes, Owners owners);

// The first bytes of a regular file, `most_bytes` of a larger one. "" if it cannot be read.
std::string read_beginning(const std::string& path, uint64_t most_bytes);

}  // namespace cairn::cli
