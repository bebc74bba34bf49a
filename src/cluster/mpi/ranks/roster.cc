#include "cluster/mpi/ranks/roster.h"

#include <algorithm>
#include <cstring>

namespace cairn::mpi {
namespace {

// A node as a host tells of it; its runs follow.
struct Introduced {
  cairn_node node;
  int32_t leader;
  uint32_t runs;
  uint8_t attached;  // all of its processes
  uint8_t threads;
  uint8_t padding[6];
};

// The roster: the nodes follow, then their leaders, then the runs.
struct Head {
  uint32_t nodes;
  uint32_t runs;
};

bool is_same_node(const cairn_node& a, const cairn_node& b) {
  return std::memcmp(a.uuid, b.uuid, sizeof a.uuid) == 0 && std::strcmp(a.host, b.host) == 0;
}

template <typename Item>
void append(Bytes* bytes, const Item* items, size_t count) {
  const auto* from = reinterpret_cast<const char*>(items);
  bytes->insert(bytes->end(), from, from + count * sizeof(Item));
}

void add_rank(std::vector<RankRun>* runs, int rank) {
  if (!runs->empty()) {
    RankRun& last = runs->back();
    if (last.count == 1) last.stride = rank - last.first;
    if (last.first + last.stride * last.count == rank) {
      ++last.count;
      return;
    }
  }
  runs->push_back({rank, 1, 1, 0});
}

std::string why_not(const std::vector<Introduced>& nodes) {
  for (const Introduced& one : nodes) {
    if (one.attached == 0)
      return std::string("host ") + one.node.host +
             " has no pool: start it as mpirun ... cairn run ... program";
    if (one.threads == 0)
      return "this MPI gives no MPI_THREAD_MULTIPLE, which files on several hosts need";
  }
  return "";
}

}  // namespace

Bytes introduce(const std::vector<Card>& cards) {
  std::vector<Introduced> nodes;
  std::vector<std::vector<RankRun>> runs;
  for (const Card& card : cards) {
    const auto known = std::find_if(nodes.begin(), nodes.end(), [&](const Introduced& one) {
      return is_same_node(one.node, card.node);
    });
    const auto at = static_cast<size_t>(known - nodes.begin());
    if (known == nodes.end()) {
      nodes.push_back({card.node, card.rank, 0, 1, 1, {}});
      runs.emplace_back();
    }
    nodes[at].attached &= card.attached;
    nodes[at].threads &= card.threads;
    add_rank(&runs[at], card.rank);
  }
  Bytes told;
  for (size_t i = 0; i < nodes.size(); ++i) {
    nodes[i].runs = static_cast<uint32_t>(runs[i].size());
    append(&told, &nodes[i], 1);
    append(&told, runs[i].data(), runs[i].size());
  }
  return told;
}

Gathered gather_roster(const Bytes& told, bool on_one_node) {
  struct Heard {
    Introduced said;
    const char* runs;
  };
  std::vector<Heard> heard;
  for (size_t at = 0; at < told.size();) {
    Heard one;
    std::memcpy(&one.said, &told[at], sizeof one.said);
    at += sizeof one.said;
    one.runs = told.data() + at;
    at += one.said.runs * sizeof(RankRun);
    heard.push_back(one);
  }
  Gathered gathered;
  gathered.one_node = std::all_of(heard.begin(), heard.end(), [&](const Heard& one) {
    return is_same_node(one.said.node, heard[0].said.node);
  });
  if (gathered.one_node && !on_one_node) return gathered;
  // Nodes are numbered by their first ranks. Processes of one pool may have been told of by
  // several: an MPI can take them for several hosts.
  std::sort(heard.begin(), heard.end(),
            [](const Heard& a, const Heard& b) { return a.said.leader < b.said.leader; });
  std::vector<size_t> by_pool(heard.size());
  for (size_t i = 0; i < by_pool.size(); ++i) by_pool[i] = i;
  std::stable_sort(by_pool.begin(), by_pool.end(), [&](size_t a, size_t b) {
    return std::memcmp(heard[a].said.node.uuid, heard[b].said.node.uuid, sizeof(cairn_node::uuid)) <
           0;
  });
  std::vector<size_t> first_of(heard.size());  // the first process that told of the same pool
  for (size_t i = 0; i < by_pool.size(); ++i) {
    const bool same =
        i > 0 && std::memcmp(heard[by_pool[i]].said.node.uuid, heard[by_pool[i - 1]].said.node.uuid,
                             sizeof(cairn_node::uuid)) == 0;
    first_of[by_pool[i]] = same ? first_of[by_pool[i - 1]] : by_pool[i];
  }
  std::vector<Introduced> all;
  std::vector<cairn_node> nodes;
  std::vector<int32_t> leaders;
  std::vector<RankRun> runs;
  std::vector<uint32_t> number(heard.size());
  for (size_t i = 0; i < heard.size(); ++i) {
    const Introduced& said = heard[i].said;
    all.push_back(said);
    if (first_of[i] == i) {
      number[i] = static_cast<uint32_t>(nodes.size());
      nodes.push_back(said.node);
      leaders.push_back(said.leader);
    }
    for (uint32_t k = 0; k < said.runs; ++k) {
      RankRun run;
      std::memcpy(&run, heard[i].runs + k * sizeof run, sizeof run);
      run.node = number[first_of[i]];
      runs.push_back(run);
    }
  }
  gathered.refused = why_not(all);
  const Head head = {static_cast<uint32_t>(nodes.size()), static_cast<uint32_t>(runs.size())};
  append(&gathered.roster, &head, 1);
  append(&gathered.roster, nodes.data(), nodes.size());
  append(&gathered.roster, leaders.data(), leaders.size());
  append(&gathered.roster, runs.data(), runs.size());
  return gathered;
}

Roster::Roster(const char* bytes) {
  Head head;
  std::memcpy(&head, bytes, sizeof head);
  count_ = head.nodes;
  run_count_ = head.runs;
  nodes_ = reinterpret_cast<const cairn_node*>(bytes + sizeof head);
  leaders_ = reinterpret_cast<const int32_t*>(nodes_ + count_);
  runs_ = reinterpret_cast<const RankRun*>(leaders_ + count_);
}

uint32_t Roster::node_of(int rank) const {
  for (uint32_t i = 0; i < run_count_; ++i) {
    const RankRun& run = runs_[i];
    const int steps = (rank - run.first) / run.stride;
    if (rank >= run.first && steps < run.count && run.first + steps * run.stride == rank)
      return run.node;
  }
  return count_;
}

std::vector<uint32_t> Roster::ranks_of(uint32_t number) const {
  std::vector<uint32_t> ranks;
  for (uint32_t i = 0; i < run_count_; ++i) {
    const RankRun& run = runs_[i];
    for (int k = 0; run.node == number && k < run.count; ++k)
      ranks.push_back(static_cast<uint32_t>(run.first + run.stride * k));
  }
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

uint32_t Roster::number_of(const uint8_t* pool) const {
  for (uint32_t i = 0; i < count_; ++i)
    if (std::memcmp(nodes_[i].uuid, pool, sizeof nodes_[i].uuid) == 0) return i;
  return count_;
}

}  // namespace cairn::mpi
