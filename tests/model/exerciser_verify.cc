// The pool compared with the model: bytes, status, and the whole tree.
#include <fcntl.h>

#include <algorithm>
#include <cerrno>

#include "model/exerciser.h"

namespace cairn::test {

void Exerciser::compare(Handle& h, uint64_t offset, uint64_t size) {
  const auto expected = h.node->bytes.read(offset, size);
  std::vector<uint8_t> bytes(size + 1);
  const ssize_t n = cairn_pread(h.file, bytes.data(), size, offset);
  if (n != static_cast<ssize_t>(expected.size())) {
    differs("read of " + std::to_string(size) + " at " + std::to_string(offset) + " gave " +
            std::to_string(n) + ", not " + std::to_string(expected.size()));
    return;
  }
  const auto [a, b] = std::mismatch(expected.begin(), expected.end(), bytes.begin());
  if (a != expected.end())
    differs("byte " + std::to_string(offset + static_cast<uint64_t>(a - expected.begin())) +
            " of inode " + std::to_string(h.node->ino) + " is " + std::to_string(*b) + ", not " +
            std::to_string(*a));
  for (Handle& other : handles_)
    if (other.node == h.node) compare_mapped(other);
}

void Exerciser::compare_all(Handle& h) {
  const uint64_t size = h.node->bytes.size();
  compare(h, 0, std::min<uint64_t>(size, 100'000));
  for (uint64_t block : h.node->bytes.blocks()) compare(h, block, 4096);
  compare(h, size < 100 ? 0 : size - 100, 200);
}

void Exerciser::check_status(Handle& h) {
  cairn_stat st;
  if (!went(cairn_fstat(h.file, &st), 0, "fstat")) return;
  if (st.size != h.node->bytes.size() || st.nlink != h.node->links || st.ino != h.node->ino)
    differs("fstat: size " + std::to_string(st.size) + " not " +
            std::to_string(h.node->bytes.size()) + ", links " + std::to_string(st.nlink) + " not " +
            std::to_string(h.node->links));
}

bool Exerciser::verify_directory(const NodePtr& directory) {
  std::map<std::string, cairn_ino> found;
  cairn_dirent batch[7];
  for (uint64_t cookie = 0;;) {
    const int n = cairn_readdir(pool_, directory->ino, cookie, batch, std::size(batch));
    if (n < 0) differs("readdir gave " + std::to_string(n));
    if (n <= 0) break;
    for (int i = 0; i < n; ++i) {
      const std::string name(batch[i].name, batch[i].length);
      if (name != "." && name != ".." && !found.emplace(name, batch[i].ino).second)
        differs("readdir shows " + name + " twice");
    }
    cookie = batch[n - 1].cookie;
  }
  if (found.size() != directory->entries.size())
    differs("readdir shows " + std::to_string(found.size()) + " names, not " +
            std::to_string(directory->entries.size()));
  for (const auto& [name, node] : directory->entries) {
    const auto at = found.find(name);
    if (at == found.end() || at->second != node->ino) differs("readdir does not show " + name);
    cairn_stat st;
    if (!went(cairn_lookup(pool_, directory->ino, name.c_str(), CAIRN_NOFOLLOW, &st), 0, "lookup",
              false))
      return false;
    if (st.ino != node->ino || (st.mode & S_IFMT) != node->type || st.nlink != node->links)
      differs(name + ": stat shows another inode, type or link count");
    if (node->is_directory()) verify_directory(node);
    if (node->is_link()) {
      char text[4096];
      const ssize_t n = cairn_readlink(pool_, directory->ino, name.c_str(), text, sizeof text);
      if (n < 0 || std::string(text, static_cast<size_t>(n)) != node->target)
        differs(name + ": another target");
    }
    if (node->type == S_IFREG) {
      if (st.size != node->bytes.size()) differs(name + ": another size");
      cairn_file* file = nullptr;
      const int result = cairn_open_ino(pool_, node->ino, 0, O_RDONLY, &file);
      if (result == -ENOSPC && options_.may_be_full) continue;
      if (!went(result, 0, "open by inode")) return false;
      Handle h{file, node, false, 0};
      compare_all(h);
      cairn_close(file);
    }
  }
  return !failed_;
}

bool Exerciser::verify() {
  last_ = "verify";
  for (Handle& h : handles_) {
    compare_all(h);
    check_status(h);
  }
  return verify_directory(root_);
}

}  // namespace cairn::test
