// Files that several nodes write, put together in lower out of parts. The nodes are two pools of
// one host; parts and records are made by hand, as a job would have left them.
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>  // RENAME_EXCHANGE too

#include "cairn/adapter/shared.h"
#include "capi/handles.h"
#include "cluster/collect/collect_file.h"
#include "cluster/record/record.h"
#include "file/data/io.h"
#include "file/namespace/names.h"
#include "file/space/room_request.h"
#include "tier/cover/covered_directory.h"
#include "tier/cover_fixture.h"
#include "tier/lower_calls.h"
#include "tier/record/parts.h"
#include "tier/record/record.h"
#include "tier/record/records_directory.h"
#include "tier/system/pool_file.h"

namespace cairn::test {
namespace {

using cluster::Record;

constexpr uint64_t stripe = 1000;

class CollectTest : public CoverTest {
 protected:
  CollectTest() {
    make_pool();
    cairn_pool_options options = {};
    options.struct_size = sizeof options;
    options.size = 64 << 20;
    EXPECT_EQ(cairn_pool_create(other_.c_str(), &options), 0) << cairn_last_error();
    fs::create_directories(lower_);
  }
  ~CollectTest() override { set_lower_hook(nullptr); }

  // A record that this test fills in; the nodes are node-0 (pool_) and node-1 (other_).
  Record new_record(uint64_t size) {
    Record record;
    for (size_t i = 0; i < record.uuid.size(); ++i)
      record.uuid[i] = static_cast<uint8_t>(i == 0 ? ++lives_ : i);
    record.epoch = 1;
    record.size = size;
    record.mode = 0640;
    record.uid = geteuid();
    record.gid = getegid();
    record.mtime = 1'600'000'000'123'456'789;
    return record;
  }
  static void hold(Covered& node, const char* host, Record* record, const std::string& text,
                   const cluster::ByteRun& run) {
    auto& pool = capi::fs_of(node.pool);
    auto inode = tier::find_part(pool, tier::cover_name(cairn_cover_path(node.cover)),
                                 cluster::hex_of(record->uuid), true);
    ASSERT_TRUE(inode.ok()) << last_detail();
    tier::PoolFile part(pool, *inode, O_WRONLY);
    ASSERT_TRUE(part.status().ok());
    cluster::visit_pieces(run, 0, run.end(), [&](uint64_t from, uint64_t to) {
      auto n = file::write_at(*part, text.data() + from, to - from, from);
      EXPECT_TRUE(n.ok() && *n == to - from) << last_detail();
    });
    record->map.add(run, record->node_of({cluster::uuid_of(pool), host, pool.pool.path}));
  }
  // A file of which the nodes wrote every other stripe, and whose text it returns.
  std::string make_striped(const std::string& path, char seed = 'a') {
    std::string text(20 * stripe, '\0');
    for (size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(seed + i / stripe);
    Record record = new_record(text.size());
    Covered first(pool_, lower_);
    Covered second(other_, lower_);
    hold(first, "node-0", &record, text, {0, stripe, 2 * stripe, 10});
    hold(second, "node-1", &record, text, {stripe, stripe, 2 * stripe, 10});
    EXPECT_TRUE(cluster::write_record(lower_, path, record, false).ok()) << last_detail();
    return text;
  }
  // As a job does before it makes a part.
  void note_records(const std::string& pool) {
    const Covered node(pool, lower_);
    tier::RecordsFound found;
    ASSERT_EQ(tier::find_records(lower_, tier::no_owner, &found), 0);
    ASSERT_TRUE(found.fd.ok());
    const Status noted = tier::note_records(
        capi::fs_of(node.pool), tier::cover_name(lower_), found.fd.get());
    EXPECT_TRUE(noted.ok()) << last_detail();
  }
  static uint64_t parts_in(const std::string& pool) {
    cairn_pool* attached = nullptr;
    EXPECT_EQ(cairn_pool_attach(pool.c_str(), 0, &attached), 0);
    uint64_t parts = 0;
    const auto visit = [](void* context, const cairn_cover_info* info) {
      *static_cast<uint64_t*>(context) += info->parts;
      EXPECT_TRUE(info->parts == 0 || info->all_drained == 0);
    };
    EXPECT_EQ(cairn_cover_list(attached, visit, &parts), 0);
    cairn_pool_detach(attached);
    return parts;
  }
  Drained drain(const std::string& pool) {
    Covered node(pool, lower_, true);
    Drained drained = node.drain();
    if (drained.code != 0) drained.problems.emplace_back(cairn_last_error());
    return drained;
  }
  // The directory of the records stays until the last claim goes.
  [[nodiscard]] bool has_no_records() const {
    return !fs::exists(lower_ + "/.cairn") || fs::is_empty(lower_ + "/.cairn");
  }
  void expect_nothing_left() {
    EXPECT_TRUE(has_no_records());
    EXPECT_EQ(parts_in(pool_), 0U);
    EXPECT_EQ(parts_in(other_), 0U);
  }
  static bool tells(const Drained& drained, const std::string& part) {
    for (const std::string& problem : drained.problems)
      if (problem.find(part) != std::string::npos) return true;
    return false;
  }
  static std::string text_of(const Drained& drained) {
    std::string text;
    for (const std::string& problem : drained.problems) text += problem + "\n";
    return text;
  }
  void expect_drained(const std::string& pool) {
    const Drained drained = drain(pool);
    ASSERT_EQ(drained.code, 0) << text_of(drained);
  }
  // A drain in a process of its own; -1 if it was ended by `hook`.
  int drain_elsewhere(const std::string& pool, const LowerHook& hook) {
    const pid_t child = fork();
    if (child == 0) {
      Covered node(pool, lower_, true);
      set_lower_hook(hook);
      _exit(-node.drain().code);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  // What a keeper does while a process of the node uses the cover; how many bytes it has written.
  uint64_t ahead(const std::string& pool, uint64_t quiet_ns = 0,
                 cairn_while_running* result = nullptr) {
    Covered node(pool, lower_, true);
    cairn_while_running what = {};
    what.struct_size = sizeof what;
    what.quiet_ns = quiet_ns;
    cairn_drain_report report = {};
    EXPECT_EQ(
        cairn_cover_drain_while_running(node.cover, &what, nullptr, nullptr, nullptr, &report), 0)
        << cairn_last_error();
    if (result != nullptr) *result = what;
    return report.bytes;
  }

  // As the next job does it when it begins.
  void clean_by_job() {
    const Covered node(pool_, lower_, true);
    cairn_node own = {};
    ASSERT_EQ(cairn_node_describe(node.pool, &own), 0);
    cairn_job* job = nullptr;
    ASSERT_EQ(
        cairn_job_open(node.pool, lower_.c_str(), &own, 1, 0, nullptr, nullptr, nullptr, &job), 0);
    EXPECT_EQ(cairn_job_clean(job), 0) << cairn_last_error();
    cairn_job_close(job);
  }

  const std::string other_ = shared_.path("other");
  int lives_ = 0;
};

TEST_F(CollectTest, TheLastNodeGivesTheFileItsName) {
  const std::string text = make_striped("deep/er/file");
  EXPECT_EQ(parts_in(pool_), 1U);
  const Drained first = drain(pool_);
  EXPECT_EQ(first.code, -EAGAIN);
  EXPECT_EQ(first.report.waiting, 1U);
  EXPECT_EQ(first.report.bytes, 10 * stripe);
  EXPECT_TRUE(tells(first, lower_ + "/deep/er/file: waiting for node node-1 (pool " + other_ +
                               "): run `cairn drain " + lower_ + "` there"))
      << first.problems.front();
  EXPECT_FALSE(fs::exists(lower_ + "/deep/er/file"));
  EXPECT_EQ(parts_in(pool_), 1U) << "the file is not whole yet";
  // Asked again, it has nothing to write.
  EXPECT_EQ(drain(pool_).report.bytes, 0U);
  const Drained second = drain(other_);
  EXPECT_EQ(second.code, 0) << last_detail();
  EXPECT_EQ(second.report.files, 1U);
  EXPECT_EQ(get(lower_ + "/deep/er/file"), text);
  struct stat st = {};
  ASSERT_EQ(stat((lower_ + "/deep/er/file").c_str(), &st), 0);
  EXPECT_EQ(st.st_mode, S_IFREG | 0640U);
  EXPECT_EQ(st.st_mtim.tv_sec, 1'600'000'000);
  EXPECT_EQ(st.st_mtim.tv_nsec, 123'456'789);
  EXPECT_EQ(st.st_nlink, 1U);
  EXPECT_EQ(drain(pool_).code, 0);
  expect_nothing_left();
}

TEST_F(CollectTest, OfOverlappingPiecesTheLaterCounts) {
  Record record = new_record(3 * stripe);
  {
    Covered first(pool_, lower_);
    Covered second(other_, lower_);
    hold(first, "node-0", &record, std::string(3 * stripe, 'a'), {0, 3 * stripe, 0, 1});
    hold(second, "node-1", &record, std::string(2 * stripe, 'b'), {stripe, stripe, 0, 1});
    hold(first, "node-0", &record, std::string(2 * stripe, 'c'), {stripe, 10, 0, 1});
    ASSERT_TRUE(cluster::write_record(lower_, "file", record, true).ok());
  }
  EXPECT_EQ(drain(other_).code, -EAGAIN);
  EXPECT_EQ(drain(pool_).code, 0);
  EXPECT_EQ(get(lower_ + "/file"), std::string(stripe, 'a') + std::string(10, 'c') +
                                       std::string(stripe - 10, 'b') + std::string(stripe, 'a'));
}

TEST_F(CollectTest, WhatNobodyWroteComesFromTheBaseFileOrIsZero) {
  put(lower_ + "/file", std::string(10 * stripe, 'o'));
  struct stat st = {};
  ASSERT_EQ(stat((lower_ + "/file").c_str(), &st), 0);
  Record record = new_record(12 * stripe);
  // Cut to four stripes in between, and grown again.
  record.base = {true, st.st_ino, static_cast<uint64_t>(st.st_size),
                 static_cast<uint64_t>(st.st_mtim.tv_sec) * 1'000'000'000 +
                     static_cast<uint64_t>(st.st_mtim.tv_nsec),
                 4 * stripe};
  {
    Covered first(pool_, lower_);
    Covered second(other_, lower_);
    hold(first, "node-0", &record, std::string(12 * stripe, 'a'), {8 * stripe, stripe, 0, 1});
    hold(second, "node-1", &record, std::string(12 * stripe, 'b'), {stripe, stripe, 0, 1});
    ASSERT_TRUE(cluster::write_record(lower_, "file", record, true).ok());
  }
  EXPECT_EQ(drain(other_).code, -EAGAIN);
  EXPECT_EQ(drain(pool_).code, 0);
  std::string expected(12 * stripe, '\0');
  expected.replace(0, 4 * stripe, 4 * stripe, 'o');
  expected.replace(stripe, stripe, stripe, 'b');
  expected.replace(8 * stripe, stripe, stripe, 'a');
  EXPECT_EQ(get(lower_ + "/file"), expected);
  EXPECT_EQ(drain(other_).code, 0);
  expect_nothing_left();
}

TEST_F(CollectTest, ABaseFileThatChangedIsKept) {
  put(lower_ + "/file", "old");
  struct stat st = {};
  ASSERT_EQ(stat((lower_ + "/file").c_str(), &st), 0);
  Record record = new_record(2 * stripe);
  record.base = {true, st.st_ino, 3, 0, 3};  // of another time
  {
    Covered first(pool_, lower_);
    hold(first, "node-0", &record, std::string(2 * stripe, 'a'), {0, 2 * stripe, 0, 1});
    ASSERT_TRUE(cluster::write_record(lower_, "file", record, true).ok());
  }
  const Drained drained = drain(pool_);
  EXPECT_EQ(drained.code, -EIO);
  EXPECT_EQ(drained.report.conflicts, 1U);
  EXPECT_TRUE(tells(drained, lower_ + "/file: changed there outside Cairn; both are kept"));
  EXPECT_EQ(get(lower_ + "/file"), "old");
  EXPECT_EQ(parts_in(pool_), 1U);
  // Whoever wants the pools' version moves the other one away.
  fs::rename(lower_ + "/file", lower_ + "/moved");
  EXPECT_EQ(drain(pool_).code, 0) << cairn_last_error();
  EXPECT_EQ(get(lower_ + "/file"), std::string(2 * stripe, 'a'));
  EXPECT_EQ(get(lower_ + "/moved"), "old");
  EXPECT_EQ(parts_in(pool_), 0U);
}

TEST_F(CollectTest, AFileMadeUnderItsNameMeanwhileIsKept) {
  make_striped("file");
  put(lower_ + "/file", "somebody's");
  EXPECT_EQ(drain(pool_).code, -EAGAIN);
  const Drained drained = drain(other_);
  EXPECT_EQ(drained.code, -EIO);
  EXPECT_TRUE(tells(drained, "created there outside Cairn; both are kept"));
  EXPECT_EQ(get(lower_ + "/file"), "somebody's");
  EXPECT_EQ(parts_in(pool_) + parts_in(other_), 2U);
}

TEST_F(CollectTest, AFileOfHolesOnlyIsThereToo) {
  ASSERT_TRUE(cluster::write_record(lower_, "holes", new_record(1ULL << 40), true).ok());
  { const Covered first(pool_, lower_); }
  EXPECT_EQ(drain(pool_).code, 0) << cairn_last_error();
  EXPECT_EQ(fs::file_size(lower_ + "/holes"), 1ULL << 40);
  expect_nothing_left();
}

TEST_F(CollectTest, ManyBytesBehindALargeHole) {
  constexpr uint64_t far = 1ULL << 40;
  Record record = new_record(far + 5);
  {
    Covered first(pool_, lower_);
    const std::string text = "bytes";
    auto& pool = capi::fs_of(first.pool);
    auto inode = tier::find_part(pool, tier::cover_name(cairn_cover_path(first.cover)),
                                 cluster::hex_of(record.uuid), true);
    ASSERT_TRUE(inode.ok());
    tier::PoolFile part(pool, *inode, O_WRONLY);
    ASSERT_TRUE(file::write_at(*part, text.data(), 5, far).ok());
    record.map.add({far, 5, 0, 1}, record.node_of({cluster::uuid_of(pool), "node-0", pool_}));
    ASSERT_TRUE(cluster::write_record(lower_, "file", record, true).ok());
  }
  EXPECT_EQ(drain(pool_).code, 0) << cairn_last_error();
  char bytes[6] = {};
  const int fd = open((lower_ + "/file").c_str(), O_RDONLY);
  EXPECT_EQ(pread(fd, bytes, 6, far), 5);
  close(fd);
  EXPECT_STREQ(bytes, "bytes");
}

TEST_F(CollectTest, APartThatIsGoneIsAnError) {
  make_striped("file");
  Record record = new_record(10);
  {
    Covered first(pool_, lower_);
    record.map.add({0, 10, 0, 1},
                   record.node_of({cluster::uuid_of(capi::fs_of(first.pool)), "node-0", pool_}));
    ASSERT_TRUE(cluster::write_record(lower_, "file", record, false).ok());
  }
  const Drained drained = drain(pool_);
  EXPECT_EQ(drained.code, -EIO);
  EXPECT_TRUE(tells(drained, lower_ + "/file: the part of it that pool " + pool_));
  EXPECT_FALSE(fs::exists(lower_ + "/file"));
}

TEST_F(CollectTest, ANewEpochBeginsAnew) {
  make_striped("file");
  EXPECT_EQ(drain(pool_).code, -EAGAIN);
  // Written again, in another job.
  const std::string text(stripe, 'z');
  auto record = cluster::read_record(lower_, "file");
  ASSERT_TRUE(record.ok());
  ++record->epoch;
  record->size = stripe;
  {
    Covered first(pool_, lower_);
    hold(first, "node-0", &*record, text, {0, stripe, 0, 1});
  }
  ASSERT_TRUE(cluster::write_record(lower_, "file", *record, false).ok());
  EXPECT_EQ(drain(other_).code, 0) << cairn_last_error();  // it holds none of the bytes that count
  EXPECT_EQ(parts_in(other_), 0U);
  EXPECT_EQ(drain(pool_).code, 0) << cairn_last_error();
  EXPECT_EQ(get(lower_ + "/file"), text);
  expect_nothing_left();
}

TEST_F(CollectTest, NothingIsCollectedWhileAProcessMayWrite) {
  make_striped("file");
  {
    const Covered writer(pool_, lower_, true);
    const Drained drained = drain(pool_);
    EXPECT_EQ(drained.code, -EAGAIN);
    EXPECT_EQ(drained.report.waiting, 1U);
    EXPECT_EQ(drained.report.bytes, 0U);
  }
  EXPECT_EQ(drain(pool_).report.bytes, 10 * stripe);
}

// --- while programs run ---

TEST_F(CollectTest, AShareIsWrittenAhead) {
  const std::string text = make_striped("deep/er/file");
  EXPECT_EQ(ahead(pool_), 10 * stripe);
  EXPECT_EQ(ahead(pool_), 0U) << "there is nothing more to do";
  EXPECT_FALSE(fs::exists(lower_ + "/deep/er/file"));
  // Another node, whose run has ended, does not count it: here a program may still write.
  EXPECT_EQ(drain(other_).code, -EAGAIN);
  EXPECT_FALSE(fs::exists(lower_ + "/deep/er/file"));
  const Drained last = drain(pool_);
  EXPECT_EQ(last.code, 0) << text_of(last);
  EXPECT_EQ(last.report.bytes, 0U);
  EXPECT_EQ(get(lower_ + "/deep/er/file"), text);
  EXPECT_EQ(fs::hard_link_count(lower_ + "/deep/er/file"), 1U);
  EXPECT_EQ(drain(other_).code, 0);
  expect_nothing_left();
}

TEST_F(CollectTest, AllSharesAreWrittenAhead) {
  const std::string text = make_striped("file");
  EXPECT_EQ(ahead(other_), 10 * stripe);
  EXPECT_EQ(ahead(pool_), 10 * stripe);
  EXPECT_FALSE(fs::exists(lower_ + "/file"));
  EXPECT_EQ(drain(pool_).code, -EAGAIN);
  EXPECT_EQ(drain(other_).code, 0);
  EXPECT_EQ(get(lower_ + "/file"), text);
  EXPECT_EQ(drain(pool_).code, 0);
  expect_nothing_left();
}

// In place, and before any commit: the record is the same.
TEST_F(CollectTest, AShareThatHasChangedIsWrittenAgain) {
  for (const bool is_seen_ahead : {false, true}) {
    SCOPED_TRACE(is_seen_ahead);
    const std::string path = is_seen_ahead ? "seen" : "unseen";
    std::string text = make_striped(path);
    EXPECT_EQ(ahead(pool_), 10 * stripe);
    EXPECT_EQ(ahead(other_), 10 * stripe);
    auto record = cluster::read_record(lower_, path);
    ASSERT_TRUE(record.ok());
    text.replace(4 * stripe, stripe, stripe, 'N');
    {
      Covered first(pool_, lower_, true);
      hold(first, "node-0", &*record, text, {4 * stripe, stripe, 0, 1});
    }
    if (is_seen_ahead) {
      EXPECT_EQ(ahead(pool_), 10 * stripe);
    }
    EXPECT_EQ(drain(other_).code, -EAGAIN);
    EXPECT_EQ(drain(pool_).code, 0);
    EXPECT_EQ(get(lower_ + "/" + path), text);
    EXPECT_EQ(drain(other_).code, 0);
  }
  expect_nothing_left();
}

TEST_F(CollectTest, AnOpenPartIsNotWrittenAhead) {
  make_striped("file");
  auto record = cluster::read_record(lower_, "file");
  ASSERT_TRUE(record.ok());
  {
    Covered node(pool_, lower_, true);
    auto& pool = capi::fs_of(node.pool);
    auto inode =
        tier::find_part(pool, tier::cover_name(lower_), cluster::hex_of(record->uuid), false);
    ASSERT_TRUE(inode.ok());
    const tier::PoolFile part(pool, *inode, O_RDWR);
    ASSERT_TRUE(part.status().ok());
    cairn_while_running what = {};
    EXPECT_EQ(ahead(pool_, 0, &what), 0U);
    EXPECT_EQ(what.postponed_files, 1U);
    EXPECT_GE(what.postponed_bytes, 10 * stripe);
  }
  cairn_while_running what = {};
  EXPECT_EQ(ahead(pool_, 3'600'000'000'000, &what), 0U) << "it is not quiet";
  EXPECT_EQ(what.postponed_files, 1U);
  EXPECT_EQ(ahead(pool_, 0, &what), 10 * stripe);
  EXPECT_EQ(what.postponed_files, 0U);
}

// A program that finds the pool full waits for what a keeper drains, and shares make no room.
TEST_F(CollectTest, NoShareIsWrittenAheadWhileACallWaitsForRoom) {
  make_striped("file");
  const Covered node(pool_, lower_, true);
  auto& pool = capi::fs_of(node.pool).pool;
  pool.store(pool.state->room_wanted, pool.state->room_answered.load() + 1);
  EXPECT_EQ(ahead(pool_), 0U);
  file::answer_room(pool, pool.state->room_wanted.load());
  EXPECT_EQ(ahead(pool_), 10 * stripe);
}

// A group that opens the file for writing removes what was put together.
TEST_F(CollectTest, WhatWasWrittenAheadIsForgotten) {
  const std::string text = make_striped("file");
  EXPECT_EQ(ahead(pool_), 10 * stripe);
  ASSERT_TRUE(cluster::forget_collected(lower_, "file").ok());
  const auto is_record = [](const fs::directory_entry& entry) {
    return entry.path().extension() == ".record";
  };
  for (const auto& entry : fs::directory_iterator(lower_ + "/.cairn"))
    EXPECT_TRUE(is_record(entry)) << entry.path();
  EXPECT_EQ(drain(pool_).report.bytes, 10 * stripe);
  EXPECT_EQ(drain(other_).code, 0);
  EXPECT_EQ(get(lower_ + "/file"), text);
}

TEST_F(CollectTest, ANewEpochVoidsWhatWasWrittenAhead) {
  make_striped("file");
  EXPECT_EQ(ahead(pool_), 10 * stripe);
  const std::string text(stripe, 'z');
  auto record = cluster::read_record(lower_, "file");
  ASSERT_TRUE(record.ok());
  ++record->epoch;
  record->size = stripe;
  {
    Covered first(pool_, lower_, true);
    hold(first, "node-0", &*record, text, {0, stripe, 0, 1});
  }
  ASSERT_TRUE(cluster::write_record(lower_, "file", *record, false).ok());
  EXPECT_EQ(ahead(pool_), stripe);
  EXPECT_EQ(drain(pool_).code, 0) << cairn_last_error();
  EXPECT_EQ(get(lower_ + "/file"), text);
  EXPECT_EQ(drain(other_).code, 0);
  expect_nothing_left();
}

// At each call to lower; then the part is written to, or not, and the runs end.
TEST_F(CollectTest, KilledWhileItWritesAhead) {
  bool ended = false;
  for (int last = 1; !ended && !HasFailure(); ++last) {
    SCOPED_TRACE(last);
    std::string text = make_striped("file");
    const pid_t child = fork();
    if (child == 0) {
      set_lower_hook([last, calls = 0](const LowerCall&) mutable {
        if (++calls == last) kill(getpid(), SIGKILL);
        return 0;
      });
      ahead(pool_);
      _exit(0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ended = WIFEXITED(status);
    EXPECT_FALSE(fs::exists(lower_ + "/file"));
    if (last % 2 == 0) {
      auto record = cluster::read_record(lower_, "file");
      ASSERT_TRUE(record.ok());
      text.replace(0, stripe, stripe, 'N');
      Covered first(pool_, lower_, true);
      hold(first, "node-0", &*record, text, {0, stripe, 0, 1});
    }
    EXPECT_EQ(drain(pool_).code, -EAGAIN);
    EXPECT_EQ(drain(other_).code, 0);
    EXPECT_EQ(get(lower_ + "/file"), text);
    EXPECT_EQ(drain(pool_).code, 0);
    expect_nothing_left();
    fs::remove(lower_ + "/file");
  }
}

// A job on one node had made it an ordinary file of the cover, and was killed before it could
// remove the record.
TEST_F(CollectTest, APartThatHasANameInTheCoverIsDrainedAsAFile) {
  Record record = new_record(3);
  {
    Covered first(pool_, lower_);
    hold(first, "node-0", &record, "abc", {0, 3, 0, 1});
    ASSERT_TRUE(cluster::write_record(lower_, "file", record, true).ok());
    auto& pool = capi::fs_of(first.pool);
    auto inode =
        tier::find_part(pool, tier::cover_name(lower_), cluster::hex_of(record.uuid), false);
    ASSERT_TRUE(inode.ok());
    ASSERT_EQ(first.list("."), std::vector<std::string>());
    ASSERT_TRUE(file::link_inode(pool, *inode, first.top, "file").ok()) << last_detail();
  }
  expect_drained(pool_);
  EXPECT_EQ(get(lower_ + "/file"), "abc");
  EXPECT_TRUE(has_no_records());
  EXPECT_EQ(parts_in(pool_), 0U);
}

TEST_F(CollectTest, PartsOfNoRecordGo) {
  make_striped("file");
  ASSERT_TRUE(cluster::remove_record(lower_, "file").ok());
  EXPECT_EQ(drain(pool_).code, 0);
  EXPECT_EQ(drain(other_).code, 0);
  EXPECT_FALSE(fs::exists(lower_ + "/file"));
  expect_nothing_left();
}

// Somebody has removed them all: no part is garbage because of that, also after new records have
// come.
TEST_F(CollectTest, RecordsThatWereRemovedWithTheirDirectoryCostNoPart) {
  make_striped("file");
  fs::remove_all(lower_ + "/.cairn");
  for (const char* again : {"", "with a new record"}) {
    SCOPED_TRACE(again);
    const Drained drained = drain(pool_);
    EXPECT_EQ(drained.code, -EIO);
    EXPECT_TRUE(tells(drained, "1 parts of files that several nodes wrote stay in the pool"))
        << text_of(drained);
    EXPECT_EQ(parts_in(pool_), 1U);
    fs::create_directory(lower_ + "/.cairn");
  }
  // What a record names is put together all the same.
  Record record = new_record(3);
  {
    Covered first(pool_, lower_);
    hold(first, "node-0", &record, "abc", {0, 3, 0, 1});
    ASSERT_TRUE(cluster::write_record(lower_, "other", record, true).ok());
  }
  EXPECT_EQ(drain(pool_).code, -EIO);
  EXPECT_EQ(get(lower_ + "/other"), "abc");
  EXPECT_EQ(parts_in(pool_), 1U);
  {
    Covered node(pool_, lower_, true);
    EXPECT_EQ(cairn_cover_end(node.cover), -EAGAIN);
    EXPECT_EQ(node.discard(), 0) << cairn_last_error();
  }
  EXPECT_EQ(parts_in(pool_), 0U);
}

TEST_F(CollectTest, TheDirectoryOfTheRecordsGoesWithTheLastClaim) {
  const std::string text = make_striped("file");
  EXPECT_EQ(drain(pool_).code, -EAGAIN);
  EXPECT_EQ(drain(other_).code, 0);
  for (const std::string& pool : {pool_, other_}) {
    EXPECT_TRUE(fs::exists(lower_ + "/.cairn"));
    expect_drained(pool);
    Covered node(pool, lower_, true);
    EXPECT_EQ(cairn_cover_end(node.cover), 0) << cairn_last_error();
    node.cover = nullptr;
  }
  EXPECT_FALSE(fs::exists(lower_ + "/.cairn"));
  EXPECT_EQ(get(lower_ + "/file"), text);
}

TEST_F(CollectTest, ADamagedRecordCostsNoPart) {
  make_striped("file");
  put(cluster::record_path(lower_, "file"), "no record at all");
  const Drained drained = drain(pool_);
  EXPECT_EQ(drained.code, -EIO);
  EXPECT_TRUE(tells(drained, lower_ + "/.cairn/file.record"));
  EXPECT_EQ(parts_in(pool_), 1U);
}

// `chmod -R g+w` of what lies in it does so, and the directory of the records still counts.
TEST_F(CollectTest, ARecordThatOthersCanWriteToCostsNoPart) {
  const std::string text = make_striped("sub/file");
  make_striped("other");
  for (const auto& [name, mode] : {std::pair{"sub", 0700U}, {"sub/file.record", 0600U}}) {
    SCOPED_TRACE(name);
    const std::string path = lower_ + "/.cairn/" + name;
    ASSERT_EQ(chmod(path.c_str(), mode | S_IWGRP), 0);
    clean_by_job();
    const Drained drained = drain(pool_);
    EXPECT_EQ(drained.code, -EIO);
    EXPECT_TRUE(tells(drained, path + ": ignored: it has mode 0" + (mode == 0700U ? "72" : "62") +
                                   "0: other users can write to it"))
        << text_of(drained);
    EXPECT_TRUE(tells(drained, "chmod -R go-w " + lower_ + "/.cairn"));
    EXPECT_TRUE(tells(drained, "1 parts of files that several nodes wrote stay in the pool"));
    EXPECT_EQ(parts_in(pool_), 2U);
    ASSERT_EQ(chmod(path.c_str(), mode), 0);
  }
  EXPECT_EQ(drain(pool_).code, -EAGAIN);
  EXPECT_EQ(drain(other_).code, 0);
  EXPECT_EQ(get(lower_ + "/sub/file"), text);
  EXPECT_EQ(drain(pool_).code, 0);
  expect_nothing_left();
}

// Of a file of which no node holds bytes, too.
TEST_F(CollectTest, ARecordThatOthersCanWriteToIsNotDrained) {
  ASSERT_TRUE(cluster::write_record(lower_, "holes", new_record(100), true).ok());
  { const Covered first(pool_, lower_); }
  const std::string path = lower_ + "/.cairn/holes.record";
  ASSERT_EQ(chmod(path.c_str(), 0660), 0);
  EXPECT_EQ(drain(pool_).code, -EIO);
  ASSERT_EQ(chmod(path.c_str(), 0600), 0);
  ASSERT_NO_FATAL_FAILURE(expect_drained(pool_));
  EXPECT_EQ(fs::file_size(lower_ + "/holes"), 100U);
}

void exchange_names(const std::string& a, const std::string& b) {
  ASSERT_EQ(renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE), 0);
}

// Others can do so where they can write to the covered directory. One that a drain still writes to
// is a closed directory of the user's, as that of the records is.
TEST_F(CollectTest, AnUnfinishedDirectoryIsNotThatOfTheRecords) {
  ASSERT_EQ(chmod(lower_.c_str(), 0777), 0);
  const std::string text = make_striped("file");
  {
    Covered first(pool_, lower_, true);
    ASSERT_EQ(cairn_mkdir(first.pool, first.top, "results", 0755), 0);
    ASSERT_EQ(first.create("results/file", "text"), 0);
  }
  const int ended = drain_elsewhere(pool_, [](const LowerCall& call) {
    if (call.number == SYS_renameat2 && names(call.arguments[0], "/results"))
      kill(getpid(), SIGKILL);
    return 0;
  });
  ASSERT_EQ(ended, -1);
  struct stat st = {};
  ASSERT_EQ(stat((lower_ + "/results").c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 07777, 05700U);
  ASSERT_NO_FATAL_FAILURE(exchange_names(lower_ + "/results", lower_ + "/.cairn"));
  clean_by_job();
  const Drained drained = drain(pool_);
  EXPECT_EQ(drained.code, -EIO);
  EXPECT_TRUE(tells(drained, "1 parts of files that several nodes wrote stay in the pool"))
      << text_of(drained);
  EXPECT_EQ(parts_in(pool_), 1U);
  EXPECT_EQ(parts_in(other_), 1U);
}

// Somebody who can rename it puts another one of the user's in its place, as that of another cover.
TEST_F(CollectTest, TheRecordsOfAnotherCoverSayNothingAboutParts) {
  ASSERT_EQ(chmod(lower_.c_str(), 0777), 0);
  const std::string text = make_striped("file");
  for (const std::string& pool : {pool_, other_}) note_records(pool);
  const std::string other = disk_.path("other-records");
  fs::create_directories(other);
  ASSERT_EQ(chmod(other.c_str(), 01700), 0);
  ASSERT_NO_FATAL_FAILURE(exchange_names(other, lower_ + "/.cairn"));
  clean_by_job();
  const Drained drained = drain(pool_);
  EXPECT_EQ(drained.code, -EIO);
  EXPECT_TRUE(tells(drained, "1 parts of files that several nodes wrote stay in the pool"))
      << text_of(drained);
  EXPECT_EQ(parts_in(pool_), 1U);
  ASSERT_NO_FATAL_FAILURE(exchange_names(other, lower_ + "/.cairn"));
  EXPECT_EQ(drain(pool_).code, -EAGAIN);
  EXPECT_EQ(drain(other_).code, 0);
  EXPECT_EQ(get(lower_ + "/file"), text);
  EXPECT_EQ(drain(pool_).code, 0);
  expect_nothing_left();
}

TEST_F(CollectTest, TheDirectoryIsExchangedAtAnyCall) {
  const std::string second = disk_.path("second");
  fs::create_directories(second + "/.cairn");
  ASSERT_EQ(chmod((second + "/.cairn").c_str(), 01700), 0);
  { const Covered covered(pool_, second); }
  const std::string text = make_striped("file");
  int seen = 0;
  for (int n = 0; n <= seen && !HasFailure(); ++n) {
    SCOPED_TRACE("call " + std::to_string(n));
    seen = 0;
    {
      Covered node(pool_, lower_, true);
      set_lower_hook([&](const LowerCall&) {
        if (seen++ == n) exchange_names(lower_, second);
        return 0;
      });
      node.drain();
      set_lower_hook(nullptr);
    }
    if (seen > n) exchange_names(lower_, second);
    ASSERT_EQ(parts_in(pool_), 1U);
  }
  EXPECT_GT(seen, 20);
  EXPECT_EQ(drain(other_).code, 0);
  EXPECT_EQ(get(lower_ + "/file"), text);
}

TEST_F(CollectTest, ADamagedRecordLetsAJobBeginAndCostsNoPart) {
  make_striped("file");
  put(cluster::record_path(lower_, "file"), "no record at all");
  clean_by_job();
  EXPECT_EQ(parts_in(pool_), 1U);
}

TEST_F(CollectTest, ACoverWithPartsDoesNotEnd) {
  make_striped("file");
  Covered node(pool_, lower_, true);
  EXPECT_EQ(cairn_cover_end(node.cover), -EAGAIN);
}

TEST_F(CollectTest, DiscardingOnOneNodeEndsTheFile) {
  make_striped("file");
  put(lower_ + "/other", "x");
  {
    Covered node(pool_, lower_, true);
    EXPECT_EQ(node.discard(), 0) << cairn_last_error();
  }
  EXPECT_EQ(drain(other_).code, 0) << cairn_last_error();
  EXPECT_FALSE(fs::exists(lower_ + "/file"));
  EXPECT_EQ(get(lower_ + "/other"), "x");
  expect_nothing_left();
}

// Its directory is in the pool only: the drain makes it before.
TEST_F(CollectTest, ADirectoryOfThePoolIsMadeFirst) {
  {
    Covered first(pool_, lower_);
    ASSERT_EQ(cairn_mkdir(first.pool, first.top, "made", 0711), 0);
  }
  const std::string text = make_striped("made/file");
  EXPECT_EQ(drain(pool_).code, -EAGAIN);
  EXPECT_EQ(drain(other_).code, 0);
  EXPECT_EQ(get(lower_ + "/made/file"), text);
  struct stat st = {};
  ASSERT_EQ(stat((lower_ + "/made").c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 07777, 0711U);
}

// The drain refuses it; what several nodes wrote is not put into it either.
TEST_F(CollectTest, ADirectoryThatOthersMadeMeanwhileGetsNoFile) {
  {
    Covered first(pool_, lower_);
    ASSERT_EQ(cairn_mkdir(first.pool, first.top, "run", 0700), 0);
    Record record = new_record(3);
    hold(first, "node-0", &record, "abc", {0, 3, 0, 1});
    ASSERT_TRUE(cluster::write_record(lower_, "run/file", record, true).ok());
  }
  fs::create_directories(lower_ + "/run");
  put(lower_ + "/run/theirs", "theirs");
  ASSERT_EQ(chmod((lower_ + "/run").c_str(), 0777), 0);
  if (geteuid() != 0) GTEST_SKIP() << "only root can play another user";
  ASSERT_EQ(chown((lower_ + "/run").c_str(), 61002, 61002), 0);
  const Drained drained = drain(pool_);
  EXPECT_EQ(drained.code, -EIO);
  EXPECT_TRUE(tells(drained, lower_ + "/run: a directory of user 61002")) << text_of(drained);
  EXPECT_FALSE(fs::exists(lower_ + "/run/file"));
  EXPECT_EQ(parts_in(pool_), 1U);
  fs::rename(lower_ + "/run", lower_ + "/moved");
  ASSERT_NO_FATAL_FAILURE(expect_drained(pool_));
  EXPECT_EQ(get(lower_ + "/run/file"), "abc");
  struct stat st = {};
  ASSERT_EQ(stat((lower_ + "/run").c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 07777, 0700U);
}

// The pool has seen it there, so it may be anybody's; but it must be that one.
TEST_F(CollectTest, ADirectoryThatThePoolKnowsIsComparedWithIt) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can play another user";
  fs::create_directories(lower_ + "/run");
  ASSERT_EQ(chown((lower_ + "/run").c_str(), 61002, 61002), 0);
  for (const bool same : {false, true}) {
    SCOPED_TRACE(same);
    {
      Covered first(pool_, lower_);
      ASSERT_EQ(first.list("run"), std::vector<std::string>());
      Record record = new_record(3);
      hold(first, "node-0", &record, "abc", {0, 3, 0, 1});
      ASSERT_TRUE(cluster::write_record(lower_, "run/file", record, false).ok());
    }
    if (same) {
      ASSERT_NO_FATAL_FAILURE(expect_drained(pool_));
      EXPECT_EQ(get(lower_ + "/run/file"), "abc");
      continue;
    }
    fs::rename(lower_ + "/run", lower_ + "/moved");
    fs::create_directories(lower_ + "/run");
    const Drained drained = drain(pool_);
    EXPECT_EQ(drained.code, -EIO) << text_of(drained);
    EXPECT_TRUE(fs::is_empty(lower_ + "/run"));
    EXPECT_EQ(parts_in(pool_), 1U);
    fs::remove(lower_ + "/run");
    fs::rename(lower_ + "/moved", lower_ + "/run");
  }
}

TEST_F(CollectTest, ADirectoryThatWasRemovedMeanwhileIsMadeAgain) {
  fs::create_directories(lower_ + "/run");
  ASSERT_EQ(chmod((lower_ + "/run").c_str(), 0700), 0);
  for (const char* path : {"run/file", "run/later"}) {
    SCOPED_TRACE(path);
    {
      Covered first(pool_, lower_);
      std::vector<std::string> there;
      if (fs::exists(lower_ + "/run/file")) there.emplace_back("file");
      ASSERT_EQ(first.list("run"), there);
      Record record = new_record(3);
      hold(first, "node-0", &record, "abc", {0, 3, 0, 1});
      ASSERT_TRUE(cluster::write_record(lower_, path, record, true).ok());
    }
    // The one that is made then is known as well.
    if (!fs::exists(lower_ + "/run/file")) fs::remove(lower_ + "/run");
    ASSERT_NO_FATAL_FAILURE(expect_drained(pool_));
    EXPECT_EQ(get(lower_ + "/" + path), "abc");
    struct stat st = {};
    ASSERT_EQ(stat((lower_ + "/run").c_str(), &st), 0);
    EXPECT_EQ(st.st_mode & 07777, 0700U);
  }
}

TEST_F(CollectTest, TheRecordsAreHiddenAtTheTopOnly) {
  make_striped("file");
  fs::create_directories(lower_ + "/dir/.cairn");
  put(lower_ + "/dir/.cairn/mine", "mine");
  Covered node(pool_, lower_, true);
  const auto names = node.list(".");
  EXPECT_EQ(names, std::vector<std::string>{"dir"});
  EXPECT_EQ(node.read("dir/.cairn/mine"), "mine");
}

// Whatever call of a drain is its last one.
TEST_F(CollectTest, KilledAtEveryCallItIsFinishedByTheNext) {
  for (const bool last : {false, true}) {
    bool killed = true;
    int calls = 0;
    for (int n = 0; killed && !HasFailure(); ++n) {
      SCOPED_TRACE((last ? "last node, call " : "first node, call ") + std::to_string(n));
      const std::string path = "file" + std::to_string(n);
      const std::string text = make_striped(path, static_cast<char>('a' + n % 3));
      if (last) {
        ASSERT_EQ(drain(pool_).code, -EAGAIN);
      }
      const std::string& victim = last ? other_ : pool_;
      int seen = 0;
      killed = drain_elsewhere(victim, [&](const LowerCall&) {
                 if (seen++ == n) kill(getpid(), SIGKILL);
                 return 0;
               }) == -1;
      calls = n;
      if (fs::exists(lower_ + "/" + path)) {
        ASSERT_EQ(get(lower_ + "/" + path), text);
      } else {
        ASSERT_EQ(parts_in(pool_) + parts_in(other_), 2U);
      }
      // In either order.
      drain(n % 2 == 0 ? pool_ : other_);
      drain(n % 2 == 0 ? other_ : pool_);
      ASSERT_EQ(drain(pool_).code, 0) << cairn_last_error();
      ASSERT_EQ(drain(other_).code, 0) << cairn_last_error();
      ASSERT_EQ(get(lower_ + "/" + path), text);
      expect_nothing_left();
      fs::remove(lower_ + "/" + path);
    }
    EXPECT_GT(calls, 50) << "nothing was killed";
  }
}

// Any node may do it, and which one did is not in the record.
TEST_F(CollectTest, AFileOfHolesOnlyThatAnotherNodeWasKilledAt) {
  { const Covered first(pool_, lower_), second(other_, lower_); }
  bool killed = true;
  int calls = 0;
  for (int n = 0; killed && !HasFailure(); ++n) {
    SCOPED_TRACE("call " + std::to_string(n));
    ASSERT_TRUE(cluster::write_record(lower_, "holes", new_record(100), true).ok());
    int seen = 0;
    killed = drain_elsewhere(pool_, [&](const LowerCall&) {
               if (seen++ == n) kill(getpid(), SIGKILL);
               return 0;
             }) == -1;
    calls = n;
    EXPECT_EQ(drain(other_).code, 0) << cairn_last_error();
    EXPECT_EQ(get(lower_ + "/holes"), std::string(100, '\0'));
    EXPECT_EQ(drain(pool_).code, 0) << cairn_last_error();
    fs::remove(lower_ + "/holes");
  }
  EXPECT_GT(calls, 20) << "nothing was killed";
  expect_nothing_left();
}

TEST_F(CollectTest, WhateverCallFailsNothingIsLost) {
  bool failed = true;
  for (int n = 0; failed && !HasFailure(); ++n) {
    SCOPED_TRACE("call " + std::to_string(n));
    const std::string path = "file" + std::to_string(n);
    const std::string text = make_striped(path);
    ASSERT_EQ(drain(pool_).code, -EAGAIN);
    int seen = 0;
    int result = 0;
    {
      Covered node(other_, lower_, true);
      set_lower_hook([&](const LowerCall& call) {
        // Closing is not a thing that can fail.
        return call.number != SYS_close && seen++ == n ? EIO : 0;
      });
      result = node.drain().code;
      set_lower_hook(nullptr);
    }
    failed = seen > n;
    if (result == 0 || fs::exists(lower_ + "/" + path)) {
      ASSERT_EQ(get(lower_ + "/" + path), text);
    } else {
      ASSERT_EQ(parts_in(pool_) + parts_in(other_), 2U);
    }
    ASSERT_NO_FATAL_FAILURE(expect_drained(other_));
    ASSERT_NO_FATAL_FAILURE(expect_drained(pool_));
    ASSERT_EQ(get(lower_ + "/" + path), text);
    expect_nothing_left();
    fs::remove(lower_ + "/" + path);
  }
}

TEST_F(CollectTest, NodesThatComeAtTheSameTime) {
  for (int round = 0; round < 40 && !HasFailure(); ++round) {
    std::vector<std::string> texts;
    for (int i = 0; i < 4; ++i)
      texts.push_back(make_striped("file" + std::to_string(i), static_cast<char>('a' + i)));
    std::vector<pid_t> children;
    for (const std::string& pool : {pool_, other_}) {
      const pid_t child = fork();
      if (child == 0) {
        Drained drained = drain(pool);
        for (int i = 0; i < 1000 && drained.code == -EAGAIN; ++i) drained = drain(pool);
        if (drained.code != 0) fprintf(stderr, "%s", text_of(drained).c_str());
        _exit(-drained.code);
      }
      children.push_back(child);
    }
    for (const pid_t child : children) {
      int status = 0;
      waitpid(child, &status, 0);
      ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "round " << round;
    }
    for (int i = 0; i < 4; ++i) {
      const std::string path = lower_ + "/file" + std::to_string(i);
      ASSERT_EQ(get(path), texts[static_cast<size_t>(i)]);
      fs::remove(path);
    }
    expect_nothing_left();
  }
}

}  // namespace
}  // namespace cairn::test
