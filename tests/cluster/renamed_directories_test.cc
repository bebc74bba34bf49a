// A directory with files that several nodes write gets another name, as checkpoint programs do when
// all of one is written; and what is left of that when somebody is killed in the middle.
#include <fcntl.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "capi/job/job.h"
#include "cluster/covered_nodes.h"
#include "cluster/local/name_op.h"
#include "cluster/names/intent.h"
#include "cluster/names/rename_intent.h"
#include "cluster/shared_texts.h"

namespace cairn::test {
namespace {

namespace fs = std::filesystem;

// Each rank writes `text`, one behind the other.
void write_file(Rank& rank, const std::string& path, const std::string& text) {
  cairn_shared* file = rank.open(path, O_RDWR | O_CREAT);
  write_at(file, text, rank.rank * text.size());
  EXPECT_EQ(cairn_shared_close(file), 0) << cairn_last_error();
}

std::string read_file(Rank& rank, const std::string& path) {
  cairn_shared* file = rank.open(path, O_RDONLY);
  std::string text = shared_text(file);
  EXPECT_EQ(cairn_shared_close(file), 0);
  return text;
}

int rename_name(const CoveredNodes& covered, uint32_t node, const char* from, const char* to) {
  return cairn_shared_rename_name(covered.job(node), from, to, 0);
}

std::string in_lower(const CoveredNodes& covered, const std::string& path) {
  std::ifstream file(covered.directory() + "/" + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The directory of the records stays until the last claim goes.
bool is_nothing_left(const CoveredNodes& covered) {
  const std::string records = covered.directory() + "/.cairn";
  return !fs::exists(records) || fs::is_empty(records);
}

cluster::Job& job_on(const CoveredNodes& covered, uint32_t node) { return covered.job(node)->job; }

TEST(RenamedDirectories, TakeTheirSharedFilesAlong) {
  CoveredNodes covered(3);
  ASSERT_EQ(cairn_shared_mkdir(covered.job(0), "ckpt.41", 0755), 0);
  run_ranks(covered.nodes(), 3, [&](Rank& rank) {
    for (int step = 0; step < 3; ++step) {
      if (rank.rank == 1) {
        EXPECT_EQ(cairn_shared_mkdir(rank.job, "ckpt.tmp", 0755), 0);
        EXPECT_EQ(cairn_shared_mkdir(rank.job, "ckpt.tmp/below", 0755), 0);
      }
      rank.barrier();
      covered.make_file(rank.node, ("ckpt.tmp/own" + std::to_string(rank.rank)).c_str());
      write_file(rank, "ckpt.tmp/all", "step" + std::to_string(step));
      write_file(rank, "ckpt.tmp/below/all", "deep" + std::to_string(step));
      if (rank.rank == 2) {
        // Over an empty directory the first time; then the old one goes away.
        if (step > 0) {
          EXPECT_EQ(rename_name(covered, 2, "ckpt.tmp", "ckpt.41"), -ENOTEMPTY);
          const std::string old = "old." + std::to_string(step);
          EXPECT_EQ(rename_name(covered, 2, "ckpt.41", old.c_str()), 0) << cairn_last_error();
        }
        EXPECT_EQ(rename_name(covered, 2, "ckpt.tmp", "ckpt.41"), 0) << cairn_last_error();
      }
      rank.barrier();
      const std::string now = std::to_string(step);
      EXPECT_EQ(read_file(rank, "ckpt.41/all"), "step" + now + "step" + now + "step" + now);
      EXPECT_EQ(read_file(rank, "ckpt.41/below/all"), "deep" + now + "deep" + now + "deep" + now);
      rank.barrier();
    }
  });
  EXPECT_EQ(covered.mode("ckpt.tmp"), 0U);
  covered.stop();
  for (uint32_t node = 0; node < 3; ++node) (void)covered.try_to_drain(node);
  for (uint32_t node = 0; node < 3; ++node) covered.drain(node);
  EXPECT_EQ(in_lower(covered, "ckpt.41/all"), "step2step2step2");
  EXPECT_EQ(in_lower(covered, "old.2/below/all"), "deep1deep1deep1");
  EXPECT_EQ(in_lower(covered, "old.1/all"), "step0step0step0");
  EXPECT_TRUE(fs::exists(covered.directory() + "/old.1/own2"));
  EXPECT_FALSE(fs::exists(covered.directory() + "/ckpt.tmp"));
  EXPECT_TRUE(is_nothing_left(covered));
}

TEST(RenamedDirectories, WithSharedFilesAreNotEmpty) {
  CoveredNodes covered(2);
  ASSERT_EQ(cairn_shared_mkdir(covered.job(0), "full", 0755), 0);
  ASSERT_EQ(cairn_shared_mkdir(covered.job(0), "new", 0755), 0);
  run_ranks(covered.nodes(), 2, [&](Rank& rank) { write_file(rank, "full/f", "x"); });
  // What one pool has is nothing at all.
  EXPECT_EQ(rename_name(covered, 1, "new", "full"), -ENOTEMPTY);
  EXPECT_EQ(covered.mode("new"), S_IFDIR | 0755U);
}

TEST(RenamedDirectories, MayHoldFilesThatAreOpen) {
  CoveredNodes covered(2);
  ASSERT_EQ(cairn_shared_mkdir(covered.job(0), "old", 0755), 0);
  run_ranks(covered.nodes(), 2, [&](Rank& rank) {
    cairn_shared* file = rank.open("old/f", O_RDWR | O_CREAT);
    cairn_shared* other = rank.open("old/deleted", O_RDWR | O_CREAT);
    write_at(file, "before", rank.rank * 6);
    EXPECT_EQ(cairn_shared_commit(file), 0);
    write_at(file, "change", rank.rank * 6);
    rank.barrier();
    if (rank.rank == 1) {
      EXPECT_EQ(rename_name(covered, 1, "old", "new"), 0) << cairn_last_error();
      EXPECT_EQ(cairn_shared_remove(rank.job, "new/deleted"), 0);
    }
    rank.barrier();
    EXPECT_EQ(cairn_shared_commit(file), 0) << cairn_last_error();
    EXPECT_EQ(read_file(rank, "new/f"), "changechange");
    rank.barrier();
    if (rank.rank == 0) {
      EXPECT_EQ(rename_name(covered, 0, "new", "newer"), 0) << cairn_last_error();
    }
    rank.barrier();
    write_at(file, "behind", 12 + rank.rank * 6);
    write_at(other, "?", rank.rank);
    EXPECT_EQ(cairn_shared_close(file), 0) << cairn_last_error();
    EXPECT_EQ(cairn_shared_close(other), 0) << cairn_last_error();
    EXPECT_EQ(read_file(rank, "newer/f"), "changechangebehindbehind");
    rank.barrier();
    EXPECT_EQ(cairn_shared_exists(rank.job, "newer/deleted"), 0);
    EXPECT_EQ(cairn_shared_exists(rank.job, "old/f"), 0);
  });
}

// Groups commit while another rank gives their directory other names.
TEST(RenamedDirectories, AreRenamedWhileOthersCommit) {
  CoveredNodes covered(2);
  ASSERT_EQ(cairn_shared_mkdir(covered.job(0), "d0", 0755), 0);
  constexpr int rounds = 60;
  std::atomic<bool> ends = false;
  run_ranks(covered.nodes(), 3, [&](Rank& rank) {
    cairn_shared* file = rank.open("d0/f", O_RDWR | O_CREAT);
    std::thread thread;
    if (rank.rank == 0)
      thread = std::thread([&] {
        for (int i = 0; !ends; ++i)
          EXPECT_EQ(rename_name(covered, i % 2, i % 2 == 0 ? "d0" : "d1", i % 2 == 0 ? "d1" : "d0"),
                    0)
              << cairn_last_error();
      });
    for (int i = 0; i < rounds; ++i) {
      write_at(file, std::string(1, static_cast<char>('a' + i % 26)), rank.rank * rounds + i);
      EXPECT_EQ(cairn_shared_commit(file), 0) << cairn_last_error();
    }
    if (rank.rank == 0) {
      ends = true;
      thread.join();
    }
    rank.barrier();
    EXPECT_EQ(cairn_shared_close(file), 0) << cairn_last_error();
    const std::string now = cairn_shared_exists(rank.job, "d0/f") == 1 ? "d0/f" : "d1/f";
    const std::string text = read_file(rank, now);
    ASSERT_EQ(text.size(), 3 * rounds);
    for (int i = 0; i < 3 * rounds; ++i) EXPECT_EQ(text[i], 'a' + i % rounds % 26) << i;
  });
  // There is one record, not one for each name.
  EXPECT_EQ(
      cairn_shared_exists(covered.job(0), "d0/f") + cairn_shared_exists(covered.job(0), "d1/f"), 1);
}

// How far a renaming of three nodes has come whose process, or whole job, was killed.
struct Killed {
  bool announced;
  uint32_t pools;  // that are renamed already
  bool records;
};
constexpr Killed moments[] = {{false, 0, false}, {true, 0, false}, {true, 1, false},
                              {true, 2, false},  {true, 3, false}, {true, 3, true}};

cluster::Uuid begin_renaming(const CoveredNodes& covered, const Killed& killed) {
  cluster::Job& job = job_on(covered, 1);
  const cluster::RenameIntent renaming = {cluster::random_uuid(), "old", "new", {}};
  if (killed.announced) {
    EXPECT_TRUE(cluster::announce(job, renaming).ok());
  }
  for (uint32_t i = 0; i < killed.pools; ++i) {
    const auto done = cluster::change_name(job_on(covered, (1 + i) % 3),
                                           {cluster::NameOp::rename, 0, "old", "new"});
    EXPECT_TRUE(done.ok());
  }
  if (killed.records)
    fs::rename(covered.directory() + "/.cairn/old", covered.directory() + "/.cairn/new");
  return renaming.id;
}

void fill(CoveredNodes& covered) {
  EXPECT_EQ(cairn_shared_mkdir(covered.job(0), "old", 0755), 0);
  EXPECT_EQ(cairn_shared_mkdir(covered.job(0), "new", 0755), 0);
  run_ranks(covered.nodes(), 3, [&](Rank& rank) {
    covered.make_file(rank.node, ("old/own" + std::to_string(rank.rank)).c_str());
    write_file(rank, "old/all", "x");
  });
}

TEST(RenamedDirectories, OfAJobThatWasKilledAreOldOrNewWhenTheyAreDrained) {
  for (const Killed& killed : moments) {
    SCOPED_TRACE(std::to_string(killed.announced) + std::to_string(killed.pools));
    CoveredNodes covered(3);
    fill(covered);
    begin_renaming(covered, killed);
    covered.stop();
    for (uint32_t node = 0; node < 3; ++node) (void)covered.try_to_drain(node);
    for (uint32_t node = 0; node < 3; ++node) covered.drain(node);
    const std::string there = killed.announced ? "new" : "old";
    EXPECT_EQ(in_lower(covered, there + "/all"), "xxx");
    for (int node = 0; node < 3; ++node)
      EXPECT_TRUE(fs::exists(covered.directory() + "/" + there + "/own" + std::to_string(node)));
    EXPECT_EQ(fs::exists(covered.directory() + "/old"), !killed.announced);
    EXPECT_TRUE(is_nothing_left(covered));
  }
}

// Which begins when each of its runs has attached its pool, alone.
TEST(RenamedDirectories, OfAJobThatWasKilledAreOldOrNewForTheNextJob) {
  for (const Killed& killed : moments) {
    SCOPED_TRACE(std::to_string(killed.announced) + std::to_string(killed.pools));
    CoveredNodes covered(3);
    fill(covered);
    begin_renaming(covered, killed);
    covered.stop();
    covered.leave_and_join();
    covered.nodes().start();
    const std::string there = killed.announced ? "new" : "old";
    const std::string gone = killed.announced ? "old" : "";
    if (!gone.empty()) {
      EXPECT_EQ(covered.mode(gone.c_str()), 0U);
    }
    run_ranks(covered.nodes(), 3, [&](Rank& rank) {
      EXPECT_EQ(read_file(rank, there + "/all"), "xxx");
      EXPECT_NE(covered.mode(rank.node, (there + "/own" + std::to_string(rank.rank)).c_str()), 0U);
    });
    // The old name may be made anew, and stays.
    if (killed.announced) {
      ASSERT_EQ(cairn_shared_mkdir(covered.job(0), "old", 0755), 0);
      covered.stop();
      covered.leave_and_join();
      covered.nodes().start();
      EXPECT_EQ(covered.mode("old"), S_IFDIR | 0755U);
    }
  }
}

TEST(RenamedDirectories, OfAKilledProcessAreFinishedByWhoTakesItsLock) {
  for (const Killed& killed : moments) {
    SCOPED_TRACE(std::to_string(killed.announced) + std::to_string(killed.pools));
    CoveredNodes covered(3);
    fill(covered);
    const cluster::Uuid id = begin_renaming(covered, killed);
    const cluster::Intent undertaking = {cluster::IntentKind::renaming, {}, 1, {}, id};
    // Twice: who finished it may have been killed, too.
    for (int i = 0; i < 2; ++i)
      EXPECT_TRUE(cluster::finish(job_on(covered, 2), cluster::packed(undertaking)).ok())
          << last_detail();
    EXPECT_EQ(covered.mode("old"), killed.announced ? 0U : S_IFDIR | 0755U);
    run_ranks(covered.nodes(), 3, [&](Rank& rank) {
      EXPECT_EQ(read_file(rank, killed.announced ? "new/all" : "old/all"), "xxx");
    });
  }
}

// The last one removes the note.
TEST(RenamedDirectories, OfAKilledJobAreDoneOnceInEachPool) {
  CoveredNodes covered(3);
  fill(covered);
  begin_renaming(covered, {true, 1, false});
  covered.stop();
  (void)covered.try_to_drain(0);
  (void)covered.try_to_drain(1);
  covered.leave_and_join();
  EXPECT_EQ(covered.mode(2, "old"), 0U);
  EXPECT_TRUE(fs::is_empty(covered.directory() + "/.cairn/.cairn"));
  covered.discard(2);
}

// By the first pool: a later job has others under the old name.
TEST(RenamedDirectories, OfAKilledJobTakeTheirRecordsAlongOnce) {
  CoveredNodes covered(3);
  fill(covered);
  begin_renaming(covered, {true, 1, false});
  covered.stop();
  (void)covered.try_to_drain(0);
  EXPECT_FALSE(fs::exists(covered.directory() + "/.cairn/old"));
  fs::create_directories(covered.directory() + "/.cairn/old");
  std::ofstream(covered.directory() + "/.cairn/old/later") << "a record";
  (void)covered.try_to_drain(1);
  EXPECT_TRUE(fs::exists(covered.directory() + "/.cairn/old/later"));
  EXPECT_FALSE(fs::exists(covered.directory() + "/.cairn/new/later"));
}

// It stays announced while that may pass, and is over where the names are something else's by now.
TEST(RenamedDirectories, OfAKilledProcessThatCannotBeFinishedAreNotDoneLater) {
  CoveredNodes covered(3);
  fill(covered);
  const cluster::Uuid id = begin_renaming(covered, {true, 1, false});
  covered.make_file(0, "new/used");
  const cluster::Intent undertaking = {cluster::IntentKind::renaming, {}, 1, {}, id};
  EXPECT_TRUE(cluster::finish(job_on(covered, 2), cluster::packed(undertaking)).ok())
      << last_detail();
  EXPECT_TRUE(fs::is_empty(covered.directory() + "/.cairn/.cairn"));
  EXPECT_EQ(covered.mode(0, "new/used") & S_IFMT, static_cast<uint32_t>(S_IFREG));
  EXPECT_EQ(covered.mode(0, "old"), S_IFDIR | 0755U);
}

TEST(RenamedDirectories, ThatAPoolCannotRenameKeepTheirName) {
  CoveredNodes covered(2);
  ASSERT_EQ(cairn_shared_mkdir(covered.job(0), "old", 0755), 0);
  ASSERT_EQ(cairn_shared_mkdir(covered.job(0), "new", 0711), 0);
  run_ranks(covered.nodes(), 2, [&](Rank& rank) { write_file(rank, "old/all", "x"); });
  // In the way of the records.
  fs::create_directory(covered.directory() + "/.cairn/new");
  std::ofstream(covered.directory() + "/.cairn/new/somebody's") << "file";
  EXPECT_EQ(rename_name(covered, 1, "old", "new"), -ENOTEMPTY);
  EXPECT_EQ(covered.mode("old"), S_IFDIR | 0755U);
  EXPECT_EQ(covered.mode("new"), S_IFDIR | 0711U);
  EXPECT_FALSE(fs::exists(covered.directory() + "/.cairn/.cairn/renaming"));
  EXPECT_TRUE(fs::is_empty(covered.directory() + "/.cairn/.cairn"));
  run_ranks(covered.nodes(), 2, [&](Rank& rank) { EXPECT_EQ(read_file(rank, "old/all"), "xx"); });
}

}  // namespace
}  // namespace cairn::test
