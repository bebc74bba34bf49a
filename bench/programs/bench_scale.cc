// bench_scale: what a commit of a file that several nodes write costs, measured here for the work
// of one process, and by a model for many nodes: 48 ranks a node, each with 262144 strided pieces
// of 1 KiB.
//
// The model adds up what was measured (noting a write, saying the runs, putting the runs of all
// together, looking up) and messages: a gather takes ceil(log2 P) a + m / b, a broadcast ceil(log2
// P) a + 2 m / b, with P ranks, m bytes at the root, latency a and bandwidth b (Thakur,
// Rabenseifner, Gropp: Optimization of collective communication operations in MPICH, 2005); so does
// an allgather of m bytes in all, with ceil(log2 P) a + m / b. docs/design/scale.md says what is
// counted.
#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "cairn/cairn.h"
#include "cluster/mpi/ranks/roster.h"
#include "cluster/record/record.h"
#include "cluster/record/runs.h"
#include "cluster/record/share_map.h"
#include "harness/report.h"
#include "harness/settings.h"

namespace cairn::bench {
namespace {

using cluster::ByteRun;
using cluster::ByteSet;
using cluster::Record;
using cluster::Share;

constexpr uint64_t pieces = 262144;  // of a rank, in a commit
constexpr uint64_t piece = 1024;
constexpr uint64_t ranks_per_node = 48;
constexpr double said_bytes = 24;  // beside the runs
constexpr double latency_s = 2e-6;
constexpr double bandwidth = 10e9;  // bytes a second

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

template <typename Work>
double seconds_of(Work work) {
  const double begin = now_s();
  work();
  return now_s() - begin;
}

std::vector<ByteRun> write_all(ByteSet& set, uint64_t rank, uint64_t ranks) {
  for (uint64_t k = 0; k < pieces; ++k) {
    const uint64_t at = (k * ranks + rank) * piece;
    set.add(at, at + piece);
  }
  return set.runs();
}

// One commit of `nodes` nodes, as rank 0 puts it together.
struct Merged {
  double seconds = 0;
  size_t record_bytes = 0;
  double look_up_s = 0;  // a read of 1 MiB
};
Merged merge(uint64_t nodes, uint64_t per_node) {
  const uint64_t ranks = nodes * per_node;
  std::vector<Share> said;
  for (uint64_t rank = 0; rank < ranks; ++rank)
    said.push_back(
        {{rank * piece, piece, ranks * piece, pieces}, static_cast<uint32_t>(rank / per_node)});
  Record record;
  Merged merged;
  merged.seconds = seconds_of([&] {
    cluster::join_neighbours(&said);
    for (uint32_t node = 0; node < nodes; ++node) {
      cluster::RecordNode one;
      std::memcpy(one.pool.data(), &node, sizeof node);
      one.host = "node" + std::to_string(node);
      one.path = "/dev/shm/cairn-1000/default";
      record.nodes.push_back(one);
    }
    for (const Share& share : said) record.map.add(share.run, share.node);
    merged.record_bytes = bytes_of(record).size();
  });
  constexpr uint64_t window = uint64_t{1} << 20;
  constexpr int reads = 20;
  merged.look_up_s = seconds_of([&] {
                       for (uint64_t i = 0; i < reads; ++i)
                         if (record.map.find(i * 7 * window, (i * 7 + 1) * window).empty())
                           std::abort();
                     }) /
                     reads;
  return merged;
}

void local_rows(size_t repetitions, Report& report) {
  for (const uint64_t ranks : {2, 4, 8, 16, 32, 64}) {
    std::vector<double> ns;
    size_t runs = 0;
    for (size_t i = 0; i < repetitions; ++i) {
      ByteSet set;
      ns.push_back(seconds_of([&] { runs = write_all(set, 1, ranks).size(); }) * 1e9 / pieces);
    }
    Row row;
    row.group = "a rank's own work for a commit, per piece of 1 KiB";
    row.what = std::to_string(ranks) + " ranks";
    row.against = "says " + std::to_string(runs) + " run(s), " +
                  std::to_string(static_cast<int>(said_bytes) + 32 * static_cast<int>(runs)) +
                  " bytes";
    row.measured = bootstrap_median(ns);
    row.bar = Bar::at_most(20);
    row.unit = Unit::nanoseconds;
    row.pairs = ns.size();
    report.add(std::move(row));
    if (runs != 1) report.skip("bytes of a commit", row.what, "not one run");
  }
}

void model(bool quick) {
  std::printf(
      "\nA commit by the model: %llu ranks a node, %llu pieces of 1 KiB each, latency %.0f us, "
      "%.0f GB/s a link.\n",
      static_cast<unsigned long long>(ranks_per_node), static_cast<unsigned long long>(pieces),
      latency_s * 1e6, bandwidth / 1e9);
  std::printf("%8s %9s %12s %14s %14s %12s %16s\n", "nodes", "ranks", "record", "memory/node",
              "to/from rank 0", "seconds", "look-up of 1 MiB");
  for (const uint64_t nodes : {1, 2, 16, 64, 256, 1024, 4096, 10000}) {
    if (quick && nodes > 1024) break;
    const Merged merged = merge(nodes, ranks_per_node);
    const auto ranks = static_cast<double>(nodes * ranks_per_node);
    const double steps = std::bit_width(nodes * ranks_per_node - 1);
    const double gathered = ranks * (said_bytes + 32);
    const auto record = static_cast<double>(merged.record_bytes);
    const double seconds =
        2 * steps * latency_s + gathered / bandwidth + 2 * record / bandwidth + merged.seconds;
    std::printf("%8llu %9.0f %9.1f KiB %10.1f MiB %10.1f MiB %10.4f s %13.1f us\n",
                static_cast<unsigned long long>(nodes), ranks, record / 1024,
                record * ranks_per_node / 1048576, (gathered + 2 * record) / 1048576, seconds,
                merged.look_up_s * 1e6);
  }
  std::printf(
      "record: in lower and in each rank's memory; memory/node: of all its ranks. Durability of "
      "the parts is not in it.\n");
}

// The hosts of a started job, put together from what their first processes tell, as adapters/mpiio
// does.
struct Started {
  double seconds = 0;
  size_t told_bytes = 0;
  size_t roster_bytes = 0;
};
Started start(uint64_t nodes) {
  cairn::mpi::Bytes told;
  for (uint64_t node = 0; node < nodes; ++node) {
    cairn::mpi::Card card = {};
    std::memcpy(card.node.uuid, &node, sizeof node);
    std::snprintf(card.node.host, sizeof card.node.host, "node%llu",
                  static_cast<unsigned long long>(node));
    card.attached = card.threads = 1;
    std::vector<cairn::mpi::Card> cards(ranks_per_node, card);
    for (uint64_t i = 0; i < ranks_per_node; ++i)
      cards[i].rank = static_cast<int>(node * ranks_per_node + i);
    const cairn::mpi::Bytes one = cairn::mpi::introduce(cards);
    told.insert(told.end(), one.begin(), one.end());
  }
  Started started;
  started.told_bytes = told.size();
  started.seconds =
      seconds_of([&] { started.roster_bytes = cairn::mpi::gather_roster(told).roster.size(); });
  return started;
}

void model_of_start(bool quick) {
  constexpr double color_and_key = 8;  // of each rank, in an MPI's MPI_Comm_split
  std::printf("\nA start by the model, beside what MPI_Init does by itself.\n");
  std::printf("%8s %9s %16s %18s %14s %12s\n", "nodes", "ranks", "told to a host", "kept on a host",
              "in each rank", "seconds");
  for (const uint64_t nodes : {2, 16, 64, 256, 1024, 4096, 10000}) {
    if (quick && nodes > 1024) break;
    const Started started = start(nodes);
    const uint64_t ranks = nodes * ranks_per_node;
    const auto steps = static_cast<double>(std::bit_width(ranks - 1) + std::bit_width(nodes - 1));
    const double seconds = steps * latency_s +
                           static_cast<double>(ranks) * color_and_key / bandwidth +
                           static_cast<double>(started.told_bytes) / bandwidth + started.seconds;
    std::printf("%8llu %9llu %12.1f KiB %14.1f KiB %10.1f KiB %10.4f s\n",
                static_cast<unsigned long long>(nodes), static_cast<unsigned long long>(ranks),
                static_cast<double>(started.told_bytes) / 1024,
                static_cast<double>(started.roster_bytes) / 1024,
                static_cast<double>(nodes * sizeof(uint32_t)) / 1024, seconds);
  }
  std::printf(
      "told to a host: to its first process; kept on a host: once, in shared memory; in each rank: "
      "the order of the nodes' pools.\n");
}

int measure(int argc, char** argv) {
  const Settings settings = parse_settings(argc, argv, "commits of files that several nodes write");
  Report report;
  report.fact("cairn", cairn_version());
  report.fact("machine", machine_name());
  local_rows(settings.quick ? 3 : 25, report);
  model_of_start(settings.quick);
  model(settings.quick);
  return report.conclude(settings.json);
}

}  // namespace
}  // namespace cairn::bench

int main(int argc, char** argv) { return cairn::bench::measure(argc, argv); }
