// The model: what a tree of files looks like, in the plainest form that can be compared with.
#pragma once

#include <sys/stat.h>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace cairn::test {

// Bytes with holes: blocks that are not there are zeros.
class Bytes {
 public:
  [[nodiscard]] uint64_t size() const { return size_; }
  void write(uint64_t offset, const uint8_t* data, uint64_t size);
  void zero(uint64_t offset, uint64_t size);
  void resize(uint64_t size);
  void extend(uint64_t size) { size_ = std::max(size_, size); }
  // Short at the end, as read(2).
  [[nodiscard]] std::vector<uint8_t> read(uint64_t offset, uint64_t size) const;
  [[nodiscard]] bool is_zero(uint64_t offset, uint64_t size) const;
  // Offsets of the blocks that were written to.
  [[nodiscard]] std::vector<uint64_t> blocks() const;

 private:
  static constexpr uint64_t block_size = 4096;
  using Block = std::array<uint8_t, block_size>;
  uint64_t size_ = 0;
  std::map<uint64_t, Block> block_;
};

struct Node;
using NodePtr = std::shared_ptr<Node>;

struct Node {
  uint32_t type = S_IFREG;
  uint32_t mode = 0;
  bool nameless = false;  // made without a name, and has had none since
  uint32_t links = 0;     // of directories: names that point here, "." and ".." included
  uint64_t ino = 0;       // as the pool gave it
  Bytes bytes;
  std::string target;
  std::map<std::string, std::string> attributes;
  std::map<std::string, NodePtr> entries;
  Node* parent = nullptr;

  [[nodiscard]] bool is_directory() const { return type == S_IFDIR; }
  [[nodiscard]] bool is_link() const { return type == S_IFLNK; }
};

NodePtr make_node(uint32_t type, uint32_t mode);
bool is_below(const Node* directory, const Node* ancestor);

// Both return the errno of rename(2), 0 if it happened.
int model_rename(Node& from, const std::string& old_name, Node& to, const std::string& new_name,
                 unsigned flags);

}  // namespace cairn::test
