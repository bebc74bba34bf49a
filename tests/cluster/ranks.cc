#include "cluster/ranks.h"

#include <stdlib.h>

#include <cstring>
#include <filesystem>
#include <mutex>
#include <random>
#include <thread>

namespace cairn::test {

Nodes::Nodes(uint32_t count, uint64_t pool_size) {
  char name[] = "/dev/shm/cairn-cluster-XXXXXX";
  root_ = mkdtemp(name);
  directory_ = root_ + "/covered";
  std::filesystem::create_directory(directory_);
  pools_.resize(count);
  described_.resize(count);
  for (uint32_t i = 0; i < count; ++i) make_pool(i, pool_size);
}

void Nodes::make_pool(uint32_t node, uint64_t size) {
  const std::string path = root_ + "/pool" + std::to_string(node);
  cairn_pool_options options = {};
  options.struct_size = sizeof options;
  options.size = size;
  EXPECT_EQ(cairn_pool_create(path.c_str(), &options), 0) << cairn_last_error();
  EXPECT_EQ(cairn_pool_attach(path.c_str(), 0, &pools_[node]), 0) << cairn_last_error();
  EXPECT_EQ(cairn_node_describe(pools_[node], &described_[node]), 0);
  std::snprintf(described_[node].host, sizeof described_[node].host, "node%u", node);
}

void Nodes::make_anew(uint32_t node) {
  cairn_pool_info info = {};
  EXPECT_EQ(cairn_pool_get_info(pools_[node], &info), 0);
  cairn_pool_detach(pools_[node]);
  EXPECT_EQ(cairn_pool_remove((root_ + "/pool" + std::to_string(node)).c_str()), 0)
      << cairn_last_error();
  make_pool(node, info.size);
}

Nodes::~Nodes() {
  stop();
  for (cairn_pool* pool : pools_) cairn_pool_detach(pool);
  std::filesystem::remove_all(root_);
}

cairn_job* Nodes::open_job(uint32_t node) {
  cairn_job* job = nullptr;
  EXPECT_EQ(cairn_job_open(pools_[node], directory_.c_str(), &described_[first_], count() - first_,
                           node - first_, ask, still_waiting, this, &job),
            0);
  return job;
}

cairn_job* Nodes::open_second(uint32_t node) { return open_job(node); }

void Nodes::start(uint32_t first) {
  first_ = first;
  jobs_.assign(count(), nullptr);
  for (uint32_t i = first; i < count(); ++i) {
    jobs_[i] = open_job(i);
    EXPECT_EQ(cairn_job_clean(jobs_[i]), 0) << cairn_last_error();
  }
}

void Nodes::stop() {
  for (cairn_job* job : jobs_)
    if (job != nullptr) cairn_job_close(job);
  jobs_.clear();
}

void Nodes::still_waiting(void* context, uint64_t waited_ms, const char* path, const char* whom) {
  auto& nodes = *static_cast<Nodes*>(context);
  const std::lock_guard guard(nodes.waiting_);
  nodes.waits_told.fetch_add(1);
  nodes.longest_wait_ms = std::max(nodes.longest_wait_ms.load(), waited_ms);
  nodes.waited_for = std::string(path) + ": " + whom;
}

int Nodes::ask(void* context, cairn_question* questions, size_t count) {
  auto& nodes = *static_cast<Nodes*>(context);
  thread_local std::vector<char> reply(cairn_job_reply_capacity());
  const auto wait = [&] {
    thread_local std::minstd_rand random(std::hash<std::thread::id>()(std::this_thread::get_id()));
    if (nodes.latency.count() != 0)
      std::this_thread::sleep_for(nodes.latency * (random() % 1000) / 1000);
  };
  for (size_t i = 0; i < count; ++i) {
    cairn_question& question = questions[i];
    EXPECT_LE(question.size, cairn_job_request_capacity());
    wait();
    {
      const std::lock_guard guard(nodes.serving_[question.node]);  // as the one thread that answers
      question.got = cairn_job_serve(nodes.jobs_[nodes.first_ + question.node], question.request,
                                     question.size, reply.data());
    }
    wait();
    EXPECT_LE(question.got, question.capacity);
    std::memcpy(question.reply, reply.data(), question.got);
    nodes.questions.fetch_add(1);
  }
  return 0;
}

namespace {

struct World {
  explicit World(uint32_t ranks) : barrier(ranks), given(ranks) {}
  std::barrier<> barrier;
  std::vector<std::string> given;
};

struct Place {
  World* world;
  uint32_t rank;
};

int gather(void* context, const void* bytes, size_t size, void** all, size_t* sizes) {
  const Place& place = *static_cast<Place*>(context);
  World& world = *place.world;
  world.given[place.rank].assign(static_cast<const char*>(bytes), size);
  world.barrier.arrive_and_wait();
  *all = nullptr;
  if (place.rank == 0) {
    std::string joined;
    for (size_t i = 0; i < world.given.size(); ++i) {
      joined += world.given[i];
      sizes[i] = world.given[i].size();
    }
    *all = malloc(joined.size() + 1);
    std::memcpy(*all, joined.data(), joined.size());
  }
  world.barrier.arrive_and_wait();
  return 0;
}

int broadcast(void* context, void* bytes, size_t size) {
  const Place& place = *static_cast<Place*>(context);
  World& world = *place.world;
  if (place.rank == 0) world.given[0].assign(static_cast<const char*>(bytes), size);
  world.barrier.arrive_and_wait();
  EXPECT_EQ(world.given[0].size(), size);
  std::memcpy(bytes, world.given[0].data(), size);
  world.barrier.arrive_and_wait();
  return 0;
}

}  // namespace

cairn_shared* Rank::open(const std::string& path, int flags, int expected, uint32_t mode) {
  cairn_shared* shared = nullptr;
  const int code = cairn_shared_open(job, &group, path.c_str(), flags, mode, nullptr, &shared);
  EXPECT_EQ(code, expected) << path << ": " << cairn_last_error();
  return shared;
}

void run_ranks(Nodes& nodes, uint32_t ranks, const std::function<void(Rank&)>& body,
               uint32_t first) {
  World world(ranks);
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < ranks; ++i)
    threads.emplace_back([&, i] {
      Place place = {&world, i};
      Rank rank;
      rank.rank = i;
      rank.ranks = ranks;
      rank.node = first + i % (nodes.count() - first);
      rank.job = nodes.job(rank.node);
      rank.group = {&place, i, ranks, gather, broadcast};
      rank.barrier = [&] { world.barrier.arrive_and_wait(); };
      body(rank);
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace cairn::test
