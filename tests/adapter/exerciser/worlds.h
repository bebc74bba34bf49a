// Two worlds in which the same is done: a covered directory (0) and a plain one (1). What calls
// return there, their errnos and what they read must be the same.
#pragma once

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <random>
#include <string>
#include <vector>

namespace exerciser {

constexpr int worlds = 2;

struct Pair {
  int fd[worlds];
  int flags;
};

struct Stream {
  FILE* file[worlds];
  std::string name;
  bool writes, reads;
};

struct Mapping {
  char* memory[worlds];
  size_t size;
  bool writable;
};

// What a call came to in one world.
struct Outcome {
  long value = 0;
  int error = 0;
  std::string data;  // what it read
  bool operator==(const Outcome&) const = default;
};

class Exerciser {
 public:
  Exerciser(const std::string& covered, const std::string& plain, uint64_t seed)
      : root_{covered, plain}, random_(seed), seed_(seed) {}

  // One random call. False: the worlds differ; it has been said how.
  bool step();
  // All names and contents.
  bool compare_trees();
  // In the child of a fork.
  void reseed(uint64_t with) { random_.seed(seed_ * 31 + with); }
  void close_all();
  uint64_t steps() const { return steps_; }

 private:
  // ---- chance (chance.cc)
  uint64_t below(uint64_t limit) { return limit == 0 ? 0 : random_() % limit; }
  bool one_in(uint64_t n) { return below(n) == 0; }
  std::string name();  // relative: mostly one of a few, at times an odd one
  uint64_t offset();
  size_t size();
  std::string bytes(size_t size);
  std::string path(int world, const std::string& name) const { return root_[world] + "/" + name; }

  // ---- doing and comparing
  // Runs call(world) -> long in both worlds; data is what it wants compared besides.
  template <typename Call>
  bool both(const std::string& what, Call call) {
    Outcome outcome[worlds];
    for (int w = 0; w < worlds; ++w) {
      errno = 0;
      outcome[w].value = call(w, &outcome[w].data);
      outcome[w].error = outcome[w].value < 0 ? errno : 0;
    }
    last_ = outcome[0];
    return note(what, outcome);
  }
  bool note(const std::string& what, const Outcome (&outcome)[worlds]);
  bool fail(const std::string& what);

  // ---- the calls
  bool descriptor_step(Pair& pair);  // descriptors.cc
  bool transfer_step(Pair& pair);
  bool shape_step(Pair& pair);
  bool seek_step(Pair& pair);
  bool duplicate_step(Pair& pair);
  bool same_contents(const Pair& pair);
  bool name_step();  // names.cc
  bool attribute_step();
  bool directory_step();
  bool tree_step();
  bool open_step();
  bool stream_step();   // streams.cc
  bool mapping_step();  // mappings.cc
  bool fork_step();

  std::string root_[worlds];
  std::mt19937_64 random_;
  uint64_t seed_;
  uint64_t steps_ = 0;
  Outcome last_;
  std::vector<Pair> pairs_;
  std::vector<Stream> streams_;
  std::vector<Mapping> mappings_;
  std::deque<std::string> history_;
};

}  // namespace exerciser
