// A program that uses libcairn's transport from its own MPI code (cairn/adapter/transport.h).
//
// Usage: transport_program POOL NODES LEVEL HOW [FILE]
//   POOL   this node's pool, which exists
//   NODES  how many nodes there must be
//   LEVEL  multiple, funneled
//   HOW    calls, thread: when leaders answer; `-stay` behind it: no transport is left before
//   MPI_Finalize FILE   a covered file, which MPI-IO writes and reads meanwhile
//
// Rank 0 prints "transport ok" when all ranks are before MPI_Finalize, and "transport ended" after
// it. What is wrong is told in a line, and MPI_Abort ends the job.
#include <dirent.h>
#include <mpi.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "cairn/adapter/transport.h"

namespace {

int world_rank = 0;
int world_ranks = 1;

[[gnu::format(printf, 3, 4)]] void check_at(int line, bool holds, const char* format, ...) {
  if (holds) return;
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  std::fprintf(stderr, "line %d: rank %d: %s (%s)\n", line, world_rank, text, cairn_last_error());
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}
#define CHECK(...) check_at(__LINE__, __VA_ARGS__)

// ---- a server: it says which node it is, and gives back the bytes turned round ------------------

constexpr size_t longest = 300'000;

struct Server {
  uint32_t node = 0;
  uint32_t salt = 0;
};

size_t serve(void* context, const void* request, size_t size, void* reply) {
  const auto& server = *static_cast<const Server*>(context);
  auto* out = static_cast<unsigned char*>(reply);
  const auto* in = static_cast<const unsigned char*>(request);
  std::memcpy(out, &server, sizeof server);
  for (size_t i = 0; i < size; ++i) out[sizeof server + i] = in[size - 1 - i];
  return sizeof server + size;
}

cairn_transport_client client_of(const char* name, unsigned flags, Server* server) {
  return {name, flags, serve, server, longest, longest + sizeof(Server)};
}

std::vector<unsigned char> bytes_of(uint32_t seed, size_t size) {
  std::vector<unsigned char> bytes(size);
  for (unsigned char& byte : bytes) {
    seed = seed * 1'664'525 + 1'013'904'223;
    byte = static_cast<unsigned char>(seed >> 24);
  }
  return bytes;
}

// Every rank asks every node, several times in one call.
void ask_all(cairn_transport* transport, uint32_t salt) {
  cairn_transport_info info;
  CHECK(cairn_transport_describe(transport, &info) == 0, "describe");
  constexpr size_t sizes[] = {0, 1, 4'000, longest};
  std::vector<std::vector<unsigned char>> requests;
  std::vector<std::vector<unsigned char>> replies;
  std::vector<cairn_question> questions;
  for (uint32_t node = 0; node < info.nodes; ++node)
    for (const size_t size : sizes) {
      requests.push_back(bytes_of(info.rank * 1'000 + node, size));
      replies.emplace_back(size + sizeof(Server));
    }
  for (size_t i = 0; i < requests.size(); ++i)
    questions.push_back({static_cast<uint32_t>(i / std::size(sizes)), requests[i].data(),
                         requests[i].size(), replies[i].data(), replies[i].size(), 0});
  CHECK(cairn_transport_ask(transport, questions.data(), questions.size()) == 0, "ask");
  for (size_t i = 0; i < questions.size(); ++i) {
    Server server;
    std::memcpy(&server, replies[i].data(), sizeof server);
    CHECK(questions[i].got == replies[i].size(), "reply %zu has %zu bytes", i, questions[i].got);
    CHECK(server.node == questions[i].node && server.salt == salt, "reply %zu: node %u, salt %u", i,
          server.node, server.salt);
    for (size_t k = 0; k < requests[i].size(); ++k)
      CHECK(replies[i][sizeof server + k] == requests[i][requests[i].size() - 1 - k],
            "reply %zu differs at %zu", i, k);
  }
}

void use_collectives(cairn_transport* transport) {
  cairn_transport_info info;
  CHECK(cairn_transport_describe(transport, &info) == 0, "describe");
  int64_t greatest[] = {info.rank, -static_cast<int64_t>(info.rank)};
  CHECK(cairn_transport_maximum(transport, greatest, 2) == 0, "maximum");
  CHECK(greatest[0] == info.ranks - 1 && greatest[1] == 0, "maximum: %ld",
        static_cast<long>(greatest[0]));
  for (uint32_t root = 0; root < info.ranks; ++root) {
    std::vector<unsigned char> bytes(100'000);
    if (root == info.rank) bytes = bytes_of(root, bytes.size());
    CHECK(cairn_transport_broadcast(transport, bytes.data(), bytes.size(), root) == 0, "broadcast");
    CHECK(bytes == bytes_of(root, bytes.size()), "broadcast of %u", root);
  }
  struct Told {
    uint32_t node;
    uint32_t leader;
  } told = {info.node, info.rank};
  std::vector<Told> all(info.nodes);
  CHECK(cairn_transport_gather_nodes(transport, &told, sizeof told, all.data()) == 0, "gather");
  for (uint32_t node = 0; node < info.nodes; ++node) {
    CHECK(all[node].node == node, "gathered %u at %u", all[node].node, node);
    CHECK(cairn_transport_node_of(transport, all[node].leader) == static_cast<int>(node),
          "leader of %u", node);
  }
  CHECK(cairn_transport_node_of(transport, info.rank) == static_cast<int>(info.node), "node of");
  CHECK(cairn_transport_node_of(transport, info.ranks) == -EINVAL, "node of no rank");
  cairn_node node;
  CHECK(cairn_transport_node(transport, info.node, &node) == 0, "node");
  CHECK(cairn_transport_node(transport, info.nodes, &node) == -EINVAL, "no node");
  cairn_question nowhere = {info.nodes, nullptr, 0, nullptr, 0, 0};
  CHECK(cairn_transport_ask(transport, &nowhere, 1) == -EINVAL, "asked no node");
  CHECK(cairn_transport_meet(transport) == 0, "meet");
}

void check_ranks_of(cairn_transport* transport, const cairn_transport_info& info) {
  uint32_t found = 0;
  for (uint32_t node = 0; node < info.nodes; ++node) {
    std::vector<uint32_t> ranks(info.ranks);
    const int count = cairn_transport_ranks_of(transport, node, ranks.data(), info.ranks);
    CHECK(count > 0, "ranks of node %u: %d", node, count);
    CHECK(cairn_transport_ranks_of(transport, node, nullptr, 0) == count, "count of ranks");
    for (int i = 0; i < count; ++i) {
      const uint32_t rank = ranks[static_cast<size_t>(i)];
      CHECK(i == 0 || rank > ranks[static_cast<size_t>(i) - 1], "ranks of node %u ascend", node);
      CHECK(cairn_transport_node_of(transport, rank) == static_cast<int>(node), "rank %u", rank);
      found += 1;
    }
  }
  CHECK(found == info.ranks, "%u ranks on all nodes", found);
  CHECK(cairn_transport_ranks_of(transport, info.nodes, nullptr, 0) == -EINVAL, "no node");
}

// Gathers of both channels are under way, in orders that differ between nodes and rounds. A leader
// does not wait between them.
void use_channels(cairn_transport* transport) {
  cairn_transport_info info;
  CHECK(cairn_transport_describe(transport, &info) == 0, "describe");
  check_ranks_of(transport, info);
  constexpr size_t words = 40;  // a node
  constexpr int rounds = 20;
  if (info.is_leader == 0) {
    CHECK(cairn_transport_begin_gather(transport, 0, nullptr, 0, nullptr) == -EPERM, "no leader");
    CHECK(cairn_transport_test_gather(transport, 0) == -EPERM, "no leader");
  } else {
    CHECK(cairn_transport_begin_gather(transport, CAIRN_TRANSPORT_CHANNELS, nullptr, 0, nullptr) ==
              -EINVAL,
          "no channel");
    CHECK(cairn_transport_test_gather(transport, CAIRN_TRANSPORT_CHANNELS) == -EINVAL, "channel");
    CHECK(cairn_transport_test_gather(transport, 0) == 1, "no gather has begun");
  }
  // How often each channel has gathered; one may be ahead of the other.
  int begun[2] = {0, 0};
  std::vector<uint64_t> own[2];
  std::vector<uint64_t> all[2];
  while (info.is_leader != 0 && (begun[0] < rounds || begun[1] < rounds)) {
    const uint32_t first = (info.node + static_cast<uint32_t>(begun[0])) % 2;
    for (const uint32_t channel : {first, 1 - first}) {
      if (begun[channel] == rounds) continue;
      const auto round = static_cast<uint64_t>(begun[channel]);
      if (own[channel].empty()) {
        own[channel].assign(words, round << 32 | channel << 16 | info.node);
        all[channel].assign(words * info.nodes, 0);
        CHECK(cairn_transport_begin_gather(transport, channel, own[channel].data(), words * 8,
                                           all[channel].data()) == 0,
              "begin on channel %u", channel);
        if (info.nodes > 1)
          CHECK(cairn_transport_begin_gather(transport, channel, nullptr, 0, nullptr) == -EBUSY,
                "twice on channel %u", channel);
      }
      if (cairn_transport_test_gather(transport, channel) == 0) {
        ::usleep(100);  // other ranks may share this processor
        continue;
      }
      for (size_t i = 0; i < all[channel].size(); ++i)
        CHECK(all[channel][i] == (round << 32 | channel << 16 | i / words), "gathered at %zu", i);
      own[channel].clear();
      ++begun[channel];
    }
  }
  CHECK(cairn_transport_meet(transport) == 0, "meet");
}

// ---- what this process looks like ---------------------------------------------------------------

int server_threads() {
  int count = 0;
  DIR* tasks = ::opendir("/proc/self/task");
  while (const dirent* task = ::readdir(tasks)) {
    char name[64] = "";
    const std::string path = std::string("/proc/self/task/") + task->d_name + "/comm";
    if (FILE* file = std::fopen(path.c_str(), "r"); file != nullptr) {
      if (std::fgets(name, sizeof name, file) != nullptr)
        count += std::strcmp(name, "cairn-mpi\n") == 0;
      std::fclose(file);
    }
  }
  ::closedir(tasks);
  return count;
}

size_t loaded_transports() {
  std::set<std::string> paths;
  FILE* maps = std::fopen("/proc/self/maps", "r");
  char line[4096];
  while (std::fgets(line, sizeof line, maps) != nullptr)
    if (const char* name = std::strstr(line, "libcairn_mpi_"); name != nullptr) paths.insert(name);
  std::fclose(maps);
  return paths.size();
}

// ---- parts of the test --------------------------------------------------------------------------

cairn_transport* join(MPI_Comm comm, const cairn_node* node, unsigned flags, Server* server,
                      const char* name) {
  const cairn_transport_client client = client_of(name, flags, server);
  cairn_transport* transport = nullptr;
  CHECK(cairn_transport_join(MPI_Comm_c2f(comm), node, &client, &transport) == 0, "join %s", name);
  cairn_transport_info info;
  CHECK(cairn_transport_describe(transport, &info) == 0, "describe");
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  CHECK(info.rank == static_cast<uint32_t>(rank) && info.ranks == static_cast<uint32_t>(ranks),
        "rank %u of %u", info.rank, info.ranks);
  server->node = info.node;
  // Nobody asks before all servers know their numbers.
  CHECK(cairn_transport_meet(transport) == 0, "meet");
  return transport;
}

void refuse_what_is_wrong(const cairn_node* node) {
  Server server;
  cairn_transport* transport = nullptr;
  cairn_transport_client client = client_of("wrong", 1u << 20, &server);
  const int world = MPI_Comm_c2f(MPI_COMM_WORLD);
  CHECK(cairn_transport_join(world, node, &client, &transport) == -EINVAL, "unknown flags");
  client.flags = 0;
  client.reply_capacity = size_t{1} << 40;
  CHECK(cairn_transport_join(world, node, &client, &transport) == -EINVAL, "capacity");
  CHECK(cairn_transport_join(world, node, nullptr, &transport) == -EFAULT, "no client");
  // The last rank has no pool: all hear of it.
  client = client_of("poolless", 0, &server);
  const bool last = world_rank == world_ranks - 1;
  CHECK(cairn_transport_join(world, last ? nullptr : node, &client, &transport) == -ENODEV,
        "a process without a pool");
  CHECK(std::strstr(cairn_last_error(), "has no pool") != nullptr, "what it says");
}

void use_file(const char* path) {
  MPI_File file;
  constexpr int size = 70'000;
  CHECK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                      &file) == MPI_SUCCESS,
        "open %s", path);
  const std::vector<unsigned char> own = bytes_of(static_cast<uint32_t>(world_rank), size);
  MPI_File_write_at_all(file, MPI_Offset{size} * world_rank, own.data(), size, MPI_BYTE,
                        MPI_STATUS_IGNORE);
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_sync(file);
  const int other = (world_rank + world_ranks / 2) % world_ranks;
  std::vector<unsigned char> read(size);
  MPI_File_read_at(file, MPI_Offset{size} * other, read.data(), size, MPI_BYTE, MPI_STATUS_IGNORE);
  CHECK(read == bytes_of(static_cast<uint32_t>(other), size), "what rank %d wrote", other);
  MPI_File_close(&file);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  const char* pool_path = argv[1];
  const auto nodes = static_cast<uint32_t>(std::atoi(argv[2]));
  const bool multiple = std::strcmp(argv[3], "multiple") == 0;
  const unsigned flags = std::strncmp(argv[4], "thread", 6) == 0 ? CAIRN_TRANSPORT_THREAD : 0;
  const bool stays = std::strstr(argv[4], "-stay") != nullptr;

  Server server = {0, 1};
  const cairn_transport_client early = client_of("early", 0, &server);
  cairn_transport* transport = nullptr;
  CHECK(cairn_transport_join(0, nullptr, &early, &transport) == -EINVAL, "before MPI_Init");

  int provided = 0;
  MPI_Init_thread(&argc, &argv, multiple ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_ranks);
  cairn_pool* pool = nullptr;
  cairn_node node;
  CHECK(cairn_pool_attach(pool_path, 0, &pool) == 0, "attach %s", pool_path);
  CHECK(cairn_node_describe(pool, &node) == 0, "node");
  refuse_what_is_wrong(&node);

  cairn_transport* world = join(MPI_COMM_WORLD, &node, flags, &server, "world");
  cairn_transport_info info;
  CHECK(cairn_transport_describe(world, &info) == 0, "describe");
  CHECK(info.nodes == nodes, "%u nodes, not %u", info.nodes, nodes);
  const bool threads = flags != 0 && provided == MPI_THREAD_MULTIPLE;
  CHECK((info.has_thread != 0) == threads, "has_thread is %d", info.has_thread);
  ask_all(world, 1);
  use_collectives(world);
  use_channels(world);
  if (argc > 5) use_file(argv[5]);

  // Others beside it, on parts of the ranks.
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, -world_rank, &half);
  Server half_server = {0, 2};
  Server self_server = {0, 3};
  cairn_transport* in_half = join(half, &node, flags, &half_server, "half");
  cairn_transport* alone = join(MPI_COMM_SELF, &node, 0, &self_server, "alone");
  MPI_Comm_free(&half);
  if (flags != 0 && threads) {
    const int expected = 1;  // however many transports a leader serves
    if (info.is_leader != 0)
      CHECK(server_threads() == expected, "%d server threads", server_threads());
  } else if (argc <= 5) {
    CHECK(server_threads() == 0, "%d server threads", server_threads());
  }
  CHECK(loaded_transports() == 1, "%zu transports are loaded", loaded_transports());
  for (int round = 0; round < 5; ++round) {
    ask_all(in_half, 2);
    ask_all(world, 1);
    ask_all(alone, 3);
  }
  CHECK(cairn_transport_progress(world) == 0, "progress");
  use_collectives(in_half);
  use_collectives(alone);
  use_channels(alone);
  use_channels(in_half);
  use_collectives(world);
  CHECK(cairn_transport_leave(alone) == 0, "leave");
  if (!stays) {
    CHECK(cairn_transport_leave(world) == 0, "leave");
    ask_all(in_half, 2);
    CHECK(cairn_transport_meet(in_half) == 0, "meet");
    CHECK(cairn_transport_leave(in_half) == 0, "leave");
    if (argc <= 5) CHECK(server_threads() == 0, "%d server threads stay", server_threads());
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank == 0) std::puts("transport ok");
  std::fflush(stdout);
  MPI_Finalize();
  if (stays) {
    CHECK(cairn_transport_describe(world, &info) == -ENOTCONN, "after MPI_Finalize");
    CHECK(cairn_transport_leave(world) == 0 && cairn_transport_leave(in_half) == 0, "leave");
  }
  cairn_pool_detach(pool);
  if (world_rank == 0) std::puts("transport ended");
  return 0;
}
