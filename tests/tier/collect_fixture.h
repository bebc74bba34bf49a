// CollectTest: two pools of one host as two nodes, whose parts and records are made by hand, as a
// job would have left them.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <string>

#include "cairn/adapter/shared.h"
#include "capi/core/handles.h"
#include "cluster/collect/collect_file.h"
#include "cluster/record/record.h"
#include "file/data/io.h"
#include "tier/cover_fixture.h"
#include "tier/lower_calls.h"
#include "tier/record/parts.h"
#include "tier/record/record.h"
#include "tier/record/records_directory.h"
#include "tier/system/pool_file.h"

namespace cairn::test {

using cluster::Record;

inline constexpr uint64_t stripe = 1000;

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
    const Status noted =
        tier::note_records(capi::fs_of(node.pool), tier::cover_name(lower_), found.fd.get());
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

}  // namespace cairn::test
