// The exerciser: random operations on a directory of a pool and on a model of it, compared as they
// go. What differs is a gtest failure, after which it stops.
#pragma once

#include <string>
#include <vector>

#include "cairn/cairn.h"
#include "model/model.h"
#include "model/temporary_pool.h"

namespace cairn::test {

struct ExerciserOptions {
  uint64_t seed = 1;
  // The pool may be full: ENOSPC is then an answer, which must have changed nothing.
  bool may_be_full = false;
  // Bytes may lie in lower: any call may need room for them.
  bool is_covered = false;
  // Directories are made, and neither moved nor removed before remove_all().
  bool keeps_directories = false;
  uint64_t most_bytes_a_write = 300'000;
};

class Exerciser {
 public:
  // Works below `top`, an empty directory of the pool.
  Exerciser(cairn_pool* pool, cairn_ino top, const ExerciserOptions& options);
  ~Exerciser();
  Exerciser(const Exerciser&) = delete;
  Exerciser& operator=(const Exerciser&) = delete;

  // One random operation; false after a difference.
  bool step();
  // Compares everything.
  bool verify();
  // Closes and removes everything.
  void remove_all();

  [[nodiscard]] uint64_t operations() const { return operations_; }
  [[nodiscard]] uint64_t refused() const { return refused_; }
  [[nodiscard]] uint64_t highest_inode() const { return highest_inode_; }

 private:
  struct Handle {
    cairn_file* file = nullptr;
    NodePtr node;
    bool append = false;
    uint64_t offset = 0;
    // A mapping of it that outlives other operations.
    const uint8_t* mapped = nullptr;
    uint64_t mapped_from = 0;
    uint64_t mapped_size = 0;
  };
  struct Place {
    NodePtr directory;
    std::string name;
    [[nodiscard]] bool is_directory() const { return node() != nullptr && node()->is_directory(); }
    [[nodiscard]] NodePtr node() const {
      const auto at = directory->entries.find(name);
      return at == directory->entries.end() ? nullptr : at->second;
    }
  };

  // --- choosing (exerciser_choices.cc) ---
  [[nodiscard]] std::vector<NodePtr> directories() const;
  Place any_place();
  NodePtr any_directory();
  Handle* any_handle();
  uint64_t any_offset(const Node& node);
  uint64_t any_size();
  std::vector<uint8_t> any_bytes(uint64_t size);

  // --- operations on bytes (exerciser_bytes.cc) ---
  void pwrite(Handle& h);
  void write_vector(Handle& h);
  std::vector<cairn_piece> any_pieces(const Node& node, std::vector<uint8_t>* bytes);
  void write_pieces(Handle& h);
  void read_pieces(Handle& h);
  void write_shared(Handle& h);
  void pread(Handle& h);
  void read_shared(Handle& h);
  void truncate(Handle& h);
  void punch(Handle& h);
  void zero_range(Handle& h);
  void preallocate(Handle& h);
  void map(Handle& h);
  void compare_mapped(Handle& h);
  void close(Handle& h);
  void seek(Handle& h);
  // Takes over what a write of `bytes` at `offset` returned.
  void wrote(Handle& h, uint64_t offset, const std::vector<uint8_t>& bytes, ssize_t result);

  // --- operations on names (exerciser_names.cc) ---
  void open();
  void open_unnamed();
  void close();
  void make_directory();
  void make_link();
  void make_symlink();
  void rename();
  void unlink();
  void remove_directory();

  // --- operations on attributes (exerciser_attributes.cc) ---
  void attribute();
  void change_mode();

  // --- comparing (exerciser_verify.cc) ---
  void compare(Handle& h, uint64_t offset, uint64_t size);
  void compare_all(Handle& h);
  void check_status(Handle& h);
  bool verify_directory(const NodePtr& directory);

  void remove_below(const NodePtr& directory);

  // `result` is a negative errno or at least 0; did it go as expected (0: success)? A full pool is
  // an excuse where it is allowed; then false.
  bool went(int64_t result, int expected, const char* what, bool may_lack_space = true);
  void differs(const std::string& what);

  cairn_pool* pool_;
  cairn_ino top_;
  ExerciserOptions options_;
  Random random_;
  NodePtr root_;
  std::vector<Handle> handles_;
  uint64_t operations_ = 0;
  uint64_t refused_ = 0;
  uint64_t highest_inode_ = 0;
  bool failed_ = false;
  std::string last_;
};

}  // namespace cairn::test
