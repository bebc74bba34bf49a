// Nodes of a run as threads of this process, each with a pool of its own, and messages between them
// that end where a test says so.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>

#include "capi/core/handles.h"
#include "checkpoint/define/agreement.h"
#include "checkpoint/ranks.h"
#include "checkpoint/redundancy/partner_copy.h"
#include "checkpoint/restart/restart.h"
#include "checkpoint/versions/merged_inventory.h"
#include "checkpoint/versions/part_questions.h"
#include "checkpoint/write/writer.h"

namespace cairn::checkpoint {

inline constexpr uint64_t rows_of_all = 31;
inline constexpr uint64_t columns = 7;

struct Asked {
  const void* question;
  size_t size;
  std::vector<uint8_t> answer;
  bool is_answered = false;
};

// What lies between the nodes, each of which has a pool.
struct Network {
  explicit Network(std::vector<Uuid> uuids)
      : pools(std::move(uuids)), is_dead(pools.size()), asked(pools.size()) {}
  const std::vector<Uuid> pools;
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::pair<int, uint64_t>, std::vector<std::vector<uint8_t>>> gathers;  // channel, number
  std::vector<bool> is_dead;
  std::vector<std::deque<Asked*>> asked;
};

class Node : public Exchange {
 public:
  // `dies_at`: the step at which it is killed, counted from 1; 0: never.
  Node(Network* network, uint32_t node, uint64_t dies_at)
      : network_(*network), node_(node), dies_at_(dies_at) {}
  // Steps that it has taken.
  uint64_t steps = 0;
  uint64_t commit_gathers = 0;      // that it has begun
  uint64_t fails_at = 0;            // the one of these that fails, once; 0: none
  std::map<int, int> is_under_way;  // gathers, by channel

  [[nodiscard]] uint32_t node() const override { return node_; }
  [[nodiscard]] uint32_t nodes() const override {
    return static_cast<uint32_t>(network_.pools.size());
  }
  [[nodiscard]] std::string name_of(uint32_t node) const override {
    return "node " + std::to_string(node);
  }
  [[nodiscard]] Uuid pool_of(uint32_t node) const override { return network_.pools[node]; }
  void serve_with(Serve serve) override { serve_ = std::move(serve); }
  Status begin_gather(Channel channel, const void* bytes, size_t size, void* all) override {
    return begin(static_cast<int>(channel), bytes, size, all);
  }
  Result<bool> test_gather(Channel channel) override { return test(static_cast<int>(channel)); }
  Result<size_t> ask(uint32_t node, const void* question, size_t size, void* answer,
                     size_t capacity) override {
    CAIRN_TRY(step());
    std::unique_lock lock(network_.mutex);
    Asked asked{question, size, {}};
    network_.asked[node].push_back(&asked);
    while (!asked.is_answered) {
      if (network_.is_dead[node]) return gone();
      serve(&lock);
      network_.changed.wait_for(lock, std::chrono::milliseconds(1));
    }
    const size_t got = std::min(capacity, asked.answer.size());
    std::memcpy(answer, asked.answer.data(), got);
    return got;
  }
  void progress() override {
    std::unique_lock lock(network_.mutex);
    serve(&lock);
  }
  Status gather_to_all(const void* bytes, size_t size, void* all) override {
    CAIRN_TRY(begin(2, bytes, size, all));
    for (;;) {
      CAIRN_TRY_ASSIGN(is_complete, test(2));
      if (is_complete) return Status();
      std::this_thread::yield();
    }
  }
  Result<int64_t> maximum(int64_t value) override {
    std::vector<int64_t> all(nodes());
    CAIRN_TRY(gather_to_all(&value, sizeof value, all.data()));
    return *std::max_element(all.begin(), all.end());
  }
  // Its process is gone, or has left.
  void die() {
    const std::lock_guard lock(network_.mutex);
    network_.is_dead[node_] = true;
    while (!network_.asked[node_].empty()) network_.asked[node_].pop_front();
    network_.changed.notify_all();
  }

 private:
  struct Gather {
    uint64_t number = 0;
    size_t size = 0;
    void* all = nullptr;
  };
  static Status gone() { return fail(ECONNRESET, "the job is killed"); }
  Status step() {
    if (dies_at_ == 0 || ++steps < dies_at_) return Status();
    die();
    return gone();
  }
  Status begin(int channel, const void* bytes, size_t size, void* all) {
    CAIRN_TRY(step());
    if (channel == 0 && ++commit_gathers == fails_at) return fail(EIO, "a message is lost");
    const std::lock_guard lock(network_.mutex);
    is_under_way[channel] = 1;
    Gather& gather = gathers_[channel];
    ++gather.number;
    gather.size = size;
    gather.all = all;
    auto& of_all = network_.gathers[{channel, gather.number}];
    of_all.resize(nodes());
    const auto* from = static_cast<const uint8_t*>(bytes);
    of_all[node_].assign(from, from + size);
    of_all[node_].push_back(0);  // not empty
    network_.changed.notify_all();
    return Status();
  }
  Result<bool> test(int channel) {
    {
      std::unique_lock lock(network_.mutex);
      serve(&lock);
      const Gather& gather = gathers_[channel];
      const auto& of_all = network_.gathers[{channel, gather.number}];
      for (uint32_t node = 0; node < nodes(); ++node) {
        if (!of_all[node].empty()) continue;
        if (network_.is_dead[node]) return gone();
        return false;
      }
      is_under_way[channel] = 0;
      for (uint32_t node = 0; node < nodes(); ++node) {
        // As MPI has it where a node is in another gather: a longer message is an error, of a
        // shorter one its bytes come.
        const size_t got = of_all[node].size() - 1;
        if (got > gather.size) return fail(EMSGSIZE, "a message is truncated");
        std::memcpy(static_cast<uint8_t*>(gather.all) + gather.size * node, of_all[node].data(),
                    got);
      }
    }
    CAIRN_TRY(step());
    return true;
  }
  void serve(std::unique_lock<std::mutex>* lock) {
    while (serve_ && !network_.asked[node_].empty()) {
      Asked* const asked = network_.asked[node_].front();
      network_.asked[node_].pop_front();
      lock->unlock();
      std::vector<uint8_t> answer(longest_answer);
      answer.resize(serve_(asked->question, asked->size, answer.data()));
      lock->lock();
      asked->answer = std::move(answer);
      asked->is_answered = true;
      network_.changed.notify_all();
    }
  }

  Network& network_;
  uint32_t node_;
  uint64_t dies_at_;
  Serve serve_;
  std::map<int, Gather> gathers_;
};
inline double value(uint64_t row, uint64_t column, int64_t version) {
  return static_cast<double>(version) * 1000 + static_cast<double>(row * columns + column);
}

// Rows of node `node`, dealt out anew by `turn`.
struct Part {
  Part(uint32_t node, uint32_t nodes, uint32_t turn) {
    const uint32_t at = (node + turn) % nodes;
    first = rows_of_all * at / nodes;
    count = rows_of_all * (at + 1) / nodes - first;
    values.resize(count * columns);
  }
  void define(Definitions* definitions) {
    ArrayShape shape;
    shape.type = Type::float64;
    shape.dimensions = 2;
    shape.extent = {static_cast<int64_t>(count), static_cast<int64_t>(columns)};
    Definition definition;
    auto view = ArrayView::make(shape);
    EXPECT_TRUE(view.ok()) << last_detail();
    definition.place = {*view, reinterpret_cast<uint8_t*>(values.data())};
    definition.kind = DecompositionKind::boxes;
    definition.whole = whole_of(2, {rows_of_all, columns});
    definition.box.offset = {first, 0};
    EXPECT_TRUE(check_definition("rows", &definition).ok()) << last_detail();
    definitions->put("rows", std::move(definition));
  }
  void set(int64_t version) {
    for (uint64_t i = 0; i < count * columns; ++i)
      values[i] = value(first + i / columns, i % columns, version);
  }
  [[nodiscard]] bool has(int64_t version) const {
    for (uint64_t i = 0; i < count * columns; ++i)
      if (values[i] != value(first + i / columns, i % columns, version)) return false;
    return true;
  }
  uint64_t first = 0;
  uint64_t count = 0;
  std::vector<double> values;
};

// What a node does in a run: reads the latest version, and writes some more.
struct Task {
  Uuid key{};
  uint32_t turn = 0;  // who has which rows
  int versions = 0;
  bool copies = false;  // of each version
  // Before a node copies a version, and after that failed; then it tries once more.
  std::function<void(uint32_t node, int64_t number)> before_copies{};
  std::function<void(uint32_t node, const Status& status, const std::string& text)> failed{};
  // When a node knows that all copies of a version are there.
  std::function<void(uint32_t node, int64_t number)> has_copies{};
  uint32_t keep = 2;
};

// What it came to.
struct Came {
  int error = 0;
  std::string text;
  int64_t number = 0;  // that was read; 0: none
  bool is_right = false;
  uint32_t skipped = 0;
  uint32_t from_copies = 0;
  std::string why;
};

// What the nodes tell.
struct Told {
  std::atomic<int64_t> begun = 0;
  std::atomic<int64_t> acknowledged = 0;
  std::atomic<int64_t> copied = 0;
};
inline void raise(std::atomic<int64_t>* to, int64_t value) {
  int64_t held = to->load();
  while (held < value && !to->compare_exchange_weak(held, value)) continue;
}

inline Status live(Node* exchange, file::FileSystem& fs, const Task& task, Told* told, Came* came) {
  const Uuid set_uuid{1};
  const uint32_t nodes = exchange->nodes();
  CAIRN_TRY_ASSIGN(set, SetFile::open_or_make(fs, "field", set_uuid));
  SlotCache slot_cache(set->fs(), set->directory());
  RunMember member;
  member.key = task.key;
  member.exchange = nodes == 1 ? nullptr : exchange;
  member.numbers = {exchange->node()};
  member.all_ranks = nodes;
  CAIRN_TRY_ASSIGN(run, Run::begin(*set, member, [&] { return prepare_set(*set, &slot_cache); }));
  CAIRN_TRY_ASSIGN(catalogue, Catalogue::read_manifests(*set, &slot_cache));
  PartServer server(&*set, &slot_cache, &catalogue);
  exchange->serve_with([&](const void* question, size_t size, void* answer) {
    return server.serve(question, size, answer);
  });
  CAIRN_TRY(merge_inventories(&*run, &slot_cache, &catalogue));
  Part part(exchange->node(), nodes, task.turn);
  Definitions definitions;
  part.define(&definitions);
  Writer writer(&*run, &slot_cache, &catalogue, Retention{task.keep});
  writer.continue_from(lineage_anew(run->last_sequence()));
  if (task.copies) {
    Partners partners;
    for (uint32_t node = 0; node < nodes; ++node) partners.domains.push_back(std::to_string(node));
    partners.holders = find_partners(partners.domains);
    writer.copy_to(partners);
  }
  CAIRN_TRY_ASSIGN(contents, agree(&*run, definitions, {nodes, 20}, writer.sequence()));
  CAIRN_TRY_ASSIGN(agreed, make_agreed(std::move(contents), *run));
  RestartRequest request;
  request.max_attempts = 1'000'000;
  const auto report =
      Restart(&*run, &slot_cache, &catalogue, &definitions).read(request, writer.sequence());
  int64_t number = 0;
  if (report.ok()) {
    number = came->number = report->known.version.number;
    came->is_right = part.has(number);
    came->skipped = report->skipped;
    came->from_copies = report->from_copies;
    came->why = report->skipped != 0 ? report->why : report->why_copies;
    writer.continue_from(lineage_after(report->known.version, writer.sequence()));
  } else if (report.code() != ENOENT) {
    return report.status();
  }
  for (int i = 0; i < task.versions; ++i) {
    VersionFacts facts;
    facts.number = ++number;
    part.set(number);
    raise(&told->begun, number);
    const uint64_t sequence = writer.write(agreed, definitions, facts);
    if (const Status waited = writer.wait(sequence, 0); !waited.ok()) {
      EXPECT_EQ(writer.wait(sequence, 0).code(), waited.code()) << "an error stays";
      EXPECT_EQ(writer.test(sequence).code(), waited.code());
      return waited;
    }
    const Outcome* const outcome = writer.outcome(sequence);
    if (outcome == nullptr || !outcome->is_committed)
      return fail(outcome == nullptr ? ENOENT : outcome->error, "not committed");
    raise(&told->acknowledged, number);
    if (!task.copies) continue;
    if (task.before_copies) task.before_copies(exchange->node(), number);
    Status copied = copy_to_partners(&*run, &slot_cache, &writer, *catalogue.find(sequence));
    if (!copied.ok() && task.failed) {
      EXPECT_FALSE(catalogue.find(sequence)->has_partners());
      task.failed(exchange->node(), copied, last_detail());
      copied = copy_to_partners(&*run, &slot_cache, &writer, *catalogue.find(sequence));
    }
    CAIRN_TRY(copied);
    EXPECT_TRUE(catalogue.find(sequence)->has_partners());
    raise(&told->copied, number);
    if (task.has_copies) task.has_copies(exchange->node(), number);
  }
  return Status();
}

// A node that is killed at its step `dies_at`, or cannot begin its commit gather `fails_at`.
struct Fault {
  uint32_t node = 0;
  uint64_t dies_at = 0;  // 0: never
  uint64_t fails_at = 0;
};

inline std::vector<Uuid> uuids_of(const std::vector<file::FileSystem*>& pools) {
  std::vector<Uuid> uuids;
  for (const file::FileSystem* fs : pools) uuids.push_back(pool_uuid(*fs));
  return uuids;
}

// A run of nodes, one for each pool. Did it come to the fault? What each node came to.
inline bool run_nodes(const std::vector<file::FileSystem*>& pools, Task task, Told* told,
                      std::vector<Came>* came, const Fault& fault = {}) {
  Network network(uuids_of(pools));
  const auto key = draw_uuid();
  EXPECT_TRUE(key.ok());
  task.key = *key;
  came->assign(pools.size(), Came());
  std::atomic<bool> is_hit = false;
  test::with_ranks(static_cast<uint32_t>(pools.size()), [&](uint32_t node) {
    Node exchange(&network, node, node == fault.node ? fault.dies_at : 0);
    if (node == fault.node) exchange.fails_at = fault.fails_at;
    Came& own = (*came)[node];
    const Status status = live(&exchange, *pools[node], task, told, &own);
    own.error = status.code();
    if (!status.ok()) own.text = last_detail();
    exchange.serve_with({});
    exchange.die();
    if (node != fault.node) return;
    if (fault.dies_at != 0 && exchange.steps >= fault.dies_at) is_hit = true;
    if (fault.fails_at != 0 && exchange.commit_gathers >= fault.fails_at) is_hit = true;
  });
  return is_hit;
}

// Pools in memory, and runs of nodes that have some of them.
class Pools {
 public:
  explicit Pools(uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) begin_anew(i, true);
  }
  cairn_pool* get(uint32_t pool) { return pools_[pool]->get(); }
  file::FileSystem& fs(uint32_t pool) { return capi::fs_of(get(pool)); }
  // A node is lost with its pool, and another one comes in its place.
  void begin_anew(uint32_t pool, bool is_new = false) {
    if (is_new) pools_.emplace_back();
    pools_[pool] = std::make_unique<test::PoolInMemory>(64ULL << 20);
  }

  // Node n has the pool members[n].
  bool run(const std::vector<uint32_t>& members, const Task& task, Told* told,
           std::vector<Came>* came, const Fault& fault = {}) {
    return run_nodes(systems(members), task, told, came, fault);
  }
  std::vector<file::FileSystem*> systems(const std::vector<uint32_t>& members) {
    std::vector<file::FileSystem*> pools;
    for (const uint32_t pool : members) pools.push_back(&fs(pool));
    return pools;
  }

 private:
  std::vector<std::unique_ptr<test::PoolInMemory>> pools_;
};

}  // namespace cairn::checkpoint
