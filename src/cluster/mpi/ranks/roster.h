// Roster lists the nodes of a job, the rank that answers for each, and the node of each rank. It
// grows with the nodes, not with the ranks, and each host has one copy. Free of MPI: bootstrap.h
// exchanges the messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cairn/adapter/shared.h"

namespace cairn::mpi {

using Bytes = std::vector<char>;

// The description of a process for the other processes of its host.
struct Card {
  cairn_node node;  // without a pool: its host only
  int32_t rank;
  int32_t process;      // its ID
  uint64_t namespaces;  // processes.h
  uint64_t started;
  uint8_t attached;  // to a pool
  uint8_t threads;   // MPI_THREAD_MULTIPLE
  uint8_t padding[6];
};

// Ranks on one node: `first`, `first` + `stride` and so on. Launchers place them so, in few runs.
struct RankRun {
  int32_t first;
  int32_t stride;
  int32_t count;
  uint32_t node;
};

// The message of a host's first process to those of other hosts, from its host's cards in order of
// rank.
Bytes introduce(const std::vector<Card>& cards);

// Makes the roster of the messages of all hosts, one behind the other. All hosts get the same.
struct Gathered {
  bool one_node = false;
  std::string refused;    // why files cannot be shared, or ""
  Bytes roster;
};
// One node needs no roster, unless `on_one_node` asks for it: nothing else is said then.
Gathered gather_roster(const Bytes& told, bool on_one_node = false);

// Reads a roster where it lies.
class Roster {
 public:
  Roster() = default;
  explicit Roster(const char* bytes);
  [[nodiscard]] uint32_t count() const { return count_; }
  [[nodiscard]] const cairn_node* nodes() const { return nodes_; }
  [[nodiscard]] const cairn_node& node(uint32_t number) const { return nodes_[number]; }
  // The rank that answers for a node: the lowest one there.
  [[nodiscard]] int leader(uint32_t number) const { return leaders_[number]; }
  // `count()` if there is none.
  [[nodiscard]] uint32_t node_of(int rank) const;
  // Ascending.
  [[nodiscard]] std::vector<uint32_t> ranks_of(uint32_t number) const;
  [[nodiscard]] uint32_t number_of(const uint8_t* pool) const;

 private:
  uint32_t count_ = 0;
  uint32_t run_count_ = 0;
  const cairn_node* nodes_ = nullptr;
  const int32_t* leaders_ = nullptr;
  const RankRun* runs_ = nullptr;
};

}  // namespace cairn::mpi
