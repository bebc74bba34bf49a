// Nodes of a run as threads of this process, each with a pool of its own, and messages between them
// that end where a test says so: a node is killed before or after each message that it sends or
// receives. What comes next finds the newest version that was acknowledged, or the one in flight.
#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>

#include "capi/handles.h"
#include "checkpoint/ranks.h"
#include "checkpoint/restart/restart.h"
#include "checkpoint/version/agreement.h"
#include "checkpoint/version/answers.h"
#include "checkpoint/version/drop.h"
#include "checkpoint/version/joint_stock.h"
#include "checkpoint/version/part_questions.h"
#include "checkpoint/version/writer.h"

namespace cairn::checkpoint {
namespace {

constexpr uint32_t nodes_of_all = 3;
constexpr uint64_t rows_of_all = 31;
constexpr uint64_t columns = 7;

struct Asked {
  const void* question;
  size_t size;
  std::vector<uint8_t> answer;
  bool is_answered = false;
};

// What lies between the nodes.
struct Network {
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::pair<int, uint64_t>, std::vector<std::vector<uint8_t>>> gathers;  // channel, number
  std::vector<bool> is_dead = std::vector<bool>(nodes_of_all);
  std::vector<std::deque<Asked*>> asked = std::vector<std::deque<Asked*>>(nodes_of_all);
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
  [[nodiscard]] uint32_t nodes() const override { return nodes_of_all; }
  [[nodiscard]] std::string name_of(uint32_t node) const override {
    return "node " + std::to_string(node);
  }
  [[nodiscard]] Uuid pool_of(uint32_t node) const override { return pools[node]; }
  void serve_with(Serve serve) override { serve_ = std::move(serve); }
  Status begin_gather(Channel channel, const void* bytes, size_t size, void* all) override {
    return begin(static_cast<int>(channel), bytes, size, all);
  }
  Result<bool> test_gather(Channel channel) override { return test(static_cast<int>(channel)); }
  Result<size_t> ask(uint32_t node, const void* question, size_t size, void* answer,
                     size_t capacity) override {
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
    std::vector<int64_t> all(nodes_of_all);
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

  static std::vector<Uuid> pools;

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
    of_all.resize(nodes_of_all);
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
      for (uint32_t node = 0; node < nodes_of_all; ++node) {
        if (!of_all[node].empty()) continue;
        if (network_.is_dead[node]) return gone();
        return false;
      }
      for (uint32_t node = 0; node < nodes_of_all; ++node)
        std::memcpy(static_cast<uint8_t*>(gather.all) + gather.size * node, of_all[node].data(),
                    gather.size);
      is_under_way[channel] = 0;
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
std::vector<Uuid> Node::pools;

double value(uint64_t row, uint64_t column, int64_t version) {
  return static_cast<double>(version) * 1000 + static_cast<double>(row * columns + column);
}

// Rows of node `node`, dealt out anew by `turn`.
struct Part {
  Part(uint32_t node, uint32_t turn) {
    const uint32_t at = (node + turn) % nodes_of_all;
    first = rows_of_all * at / nodes_of_all;
    count = rows_of_all * (at + 1) / nodes_of_all - first;
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

// What the nodes tell.
struct Told {
  std::atomic<int64_t> begun = 0;
  std::atomic<int64_t> acknowledged = 0;
  std::atomic<int64_t> found[nodes_of_all] = {};
};
void raise(std::atomic<int64_t>* to, int64_t value) {
  int64_t held = to->load();
  while (held < value && !to->compare_exchange_weak(held, value)) continue;
}

// A run of one node: reads the latest version, and writes some more.
Status live(Node* exchange, file::FileSystem& fs, const Uuid& key, uint32_t turn, int versions,
            Told* told) {
  const Uuid set_uuid{1};
  CAIRN_TRY_ASSIGN(set, SetFile::open_or_make(fs, "field", set_uuid));
  Shelf shelf(set->fs(), set->directory());
  RunMember member;
  member.key = key;
  member.exchange = exchange;
  member.numbers = {exchange->node()};
  member.all_ranks = nodes_of_all;
  CAIRN_TRY_ASSIGN(run, Run::begin(*set, member, [&] { return settle_set(*set, &shelf); }));
  CAIRN_TRY_ASSIGN(catalogue, Catalogue::take_stock(*set, &shelf));
  PartServer server(&*set, &shelf, &catalogue);
  exchange->serve_with([&](const void* question, size_t size, void* answer) {
    return server.serve(question, size, answer);
  });
  CAIRN_TRY(join_stock(&*run, &shelf, &catalogue));
  Part part(exchange->node(), turn);
  Definitions definitions;
  part.define(&definitions);
  Writer writer(&*run, &shelf, &catalogue, Retention{});
  writer.continue_from(lineage_anew(run->last_sequence()));
  CAIRN_TRY_ASSIGN(contents, agree(&*run, definitions, {nodes_of_all, 20}, writer.sequence()));
  CAIRN_TRY_ASSIGN(agreed, make_agreed(std::move(contents), *run));
  int64_t number = 0;
  RestartRequest request;
  request.max_attempts = 1'000'000;
  const auto report =
      Restart(&*run, &shelf, &catalogue, &definitions).read(request, writer.sequence());
  if (report.ok()) {
    number = report->known.version.number;
    EXPECT_TRUE(part.has(number)) << "version " << number << " on node " << exchange->node();
    writer.continue_from(lineage_after(report->known.version, writer.sequence()));
  } else if (report.code() != ENOENT) {
    return report.status();
  }
  told->found[exchange->node()] = number;
  for (int i = 0; i < versions; ++i) {
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
  }
  return Status();
}

class KilledNodes : public testing::Test {
 protected:
  KilledNodes() {
    Node::pools.clear();
    for (uint32_t node = 0; node < nodes_of_all; ++node) {
      pools_.push_back(std::make_unique<test::PoolInMemory>(64ULL << 20));
      Node::pools.push_back(pool_uuid(fs(node)));
    }
  }
  file::FileSystem& fs(uint32_t node) { return capi::fs_of(pools_[node]->get()); }

  // Runs all nodes; node `victim` is killed at its step `dies_at`, and cannot begin its commit
  // gather `fails_at`. Did it come to that?
  bool run(uint32_t victim, uint64_t dies_at, int versions, Status* worst, uint64_t fails_at = 0) {
    Network network;
    const auto key = draw_uuid();
    EXPECT_TRUE(key.ok());
    std::atomic<bool> is_killed = false;
    std::mutex mutex;
    test::with_ranks(nodes_of_all, [&](uint32_t node) {
      Node exchange(&network, node, node == victim ? dies_at : 0);
      if (node == victim) exchange.fails_at = fails_at;
      const Status status = live(&exchange, fs(node), *key, turn_, versions, &told_);
      exchange.serve_with({});
      exchange.die();
      if (node == victim && dies_at != 0 && exchange.steps >= dies_at) is_killed = true;
      if (node == victim && fails_at != 0 && exchange.commit_gathers >= fails_at) is_killed = true;
      const std::lock_guard lock(mutex);
      if (!status.ok()) *worst = status;
    });
    ++turn_;
    return is_killed;
  }

  std::vector<std::unique_ptr<test::PoolInMemory>> pools_;
  Told told_;
  uint32_t turn_ = 0;
};

TEST_F(KilledNodes, AtEachMessage) {
  uint64_t kills = 0;
  uint64_t in_flight = 0;
  for (uint32_t victim = 0; victim < nodes_of_all; ++victim) {
    for (uint64_t dies_at = 1;; ++dies_at) {
      SCOPED_TRACE("node " + std::to_string(victim) + " at step " + std::to_string(dies_at));
      Status worst;
      const bool is_killed = run(victim, dies_at, 2, &worst);
      const int64_t acknowledged = told_.acknowledged;
      const int64_t begun = told_.begun;
      // The next run, whose nodes have the rows of others.
      Status after;
      run(0, 0, 0, &after);
      ASSERT_TRUE(after.ok()) << strerror(after.code());
      for (const auto& found : told_.found) {
        ASSERT_EQ(found, told_.found[0]) << "all nodes find the same";
        ASSERT_GE(found, acknowledged);
        ASSERT_LE(found, begun);
      }
      if (told_.found[0] > acknowledged) ++in_flight;
      told_.begun = told_.acknowledged = told_.found[0].load();
      if (!is_killed) {
        EXPECT_TRUE(worst.ok()) << strerror(worst.code());
        break;
      }
      ++kills;
    }
  }
  EXPECT_GT(kills, 3 * 20U);
  // A node that is killed when all parts are durable and some node has decided: the version is
  // there.
  EXPECT_GT(in_flight, 0U);
}

// An error that a leader has found once does not turn into a version that others do not have.
TEST_F(KilledNodes, AMessageThatCannotBeSent) {
  uint64_t failures = 0;
  for (uint64_t fails_at = 1;; ++fails_at) {
    SCOPED_TRACE("gather " + std::to_string(fails_at));
    Status worst;
    if (!run(1, 0, 2, &worst, fails_at)) break;
    ++failures;
    EXPECT_FALSE(worst.ok());
    const int64_t acknowledged = told_.acknowledged;
    Status after;
    run(0, 0, 0, &after);
    ASSERT_TRUE(after.ok()) << strerror(after.code());
    for (const auto& found : told_.found) {
      ASSERT_EQ(found, told_.found[0]);
      ASSERT_GE(found, acknowledged);
    }
    told_.begun = told_.acknowledged = told_.found[0].load();
  }
  EXPECT_GT(failures, 2 * 2U) << "two for each version";
}

TEST_F(KilledNodes, APartIsNotAWholeVersion) {
  Status worst;
  run(0, 0, 2, &worst);
  ASSERT_TRUE(worst.ok()) << strerror(worst.code());
  const auto set = SetFile::open(fs(1), "field");
  ASSERT_TRUE(set.ok()) << last_detail();
  Shelf shelf((*set)->fs(), (*set)->directory());
  const auto stock = Catalogue::take_stock(**set, &shelf);
  ASSERT_TRUE(stock.ok()) << last_detail();
  ASSERT_EQ(stock->line().size(), 2U);
  for (const KnownVersion& known : stock->line()) {
    EXPECT_EQ(drop_version(**set, &shelf, known.version.sequence, false).code(), EPERM);
    EXPECT_NE(std::string(last_detail()).find("one host's part"), std::string::npos);
  }
  EXPECT_TRUE(drop_version(**set, &shelf, stock->head()->version.sequence, true).ok())
      << last_detail();
}

// A leader that cannot decide on its version still ends what all leaders have begun.
TEST_F(KilledNodes, AnswersAreFinishedWhateverBecameOfTheVersion) {
  Network network;
  const auto key = draw_uuid();
  ASSERT_TRUE(key.ok());
  test::with_ranks(nodes_of_all, [&](uint32_t node) {
    Node exchange(&network, node, 0);
    const auto set = SetFile::open_or_make(fs(node), "field", Uuid{1});
    ASSERT_TRUE(set.ok()) << last_detail();
    Shelf shelf((*set)->fs(), (*set)->directory());
    RunMember member;
    member.key = *key;
    member.exchange = &exchange;
    member.numbers = {node};
    member.all_ranks = nodes_of_all;
    const auto run = Run::begin(**set, member, [&] { return settle_set(**set, &shelf); });
    ASSERT_TRUE(run.ok()) << last_detail();
    Answers answers(&**run, 0);
    answers.proceed_with([&] { return node == 1 ? Status(EIO) : Status(); });
    for (int64_t step = 1; step <= 2 * static_cast<int64_t>(Answers::lag); ++step)
      EXPECT_EQ(answers.need(step).code(), 0) << "node " << node << ", step " << step;
    EXPECT_TRUE(answers.finish().ok());
    EXPECT_EQ(exchange.is_under_way[1], 0) << "node " << node;
    exchange.die();
  });
}

}  // namespace
}  // namespace cairn::checkpoint
