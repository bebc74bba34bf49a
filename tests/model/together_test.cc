// Several at once on one pool: exercisers in processes and in threads, each in a directory of its
// own, and all of them on one file; what one stores another sees, and a cut file shows nobody's
// bytes.
//
//   CAIRN_SEED, CAIRN_MODEL_SECONDS   repeat a failure (as far as timing lets one), run for longer
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <atomic>
#include <functional>
#include <thread>

#include "model/exerciser.h"

namespace cairn::test {
namespace {

constexpr unsigned workers = 4;

double storm_seconds() {
  return static_cast<double>(number_from_environment("CAIRN_MODEL_SECONDS", 4)) / 2;
}

class Together : public testing::Test {
 protected:
  void SetUp() override {
    make_pool(path, uint64_t{192} << 20);
    cairn_pool* pool = attach(path);
    ASSERT_NE(pool, nullptr);
    for (unsigned w = 0; w < workers; ++w)
      ASSERT_EQ(cairn_mkdir(pool, CAIRN_ROOT, name(w).c_str(), 0700), 0) << cairn_last_error();
    ASSERT_EQ(cairn_mknod(pool, CAIRN_ROOT, "shared", S_IFREG | 0600), 0);
    cairn_pool_detach(pool);
  }
  void TearDown() override { EXPECT_EQ(check_pool(path), 0) << "seed " << seed; }
  static std::string name(unsigned w) { return "w" + std::to_string(w); }
  static cairn_file* open_shared(cairn_pool* pool, int flags = 0) {
    cairn_file* file = nullptr;
    EXPECT_EQ(cairn_open(pool, CAIRN_ROOT, "shared", O_RDWR | flags, 0600, &file), 0)
        << cairn_last_error();
    return file;
  }
  // One exerciser in the worker's directory.
  void exercise(cairn_pool* pool, unsigned w, double end) const {
    cairn_stat st{};
    ASSERT_EQ(cairn_lookup(pool, CAIRN_ROOT, name(w).c_str(), 0, &st), 0);
    for (uint64_t round = 0; now_s() < end; ++round) {
      ExerciserOptions options;
      options.seed = seed + round * workers + w;
      Exerciser exerciser(pool, st.ino, options);
      while (exerciser.operations() < 2000 && now_s() < end && exerciser.step()) {
      }
      if (testing::Test::HasFailure() || !exerciser.verify()) return;
      exerciser.remove_all();
    }
  }
  // In processes of their own, with an attachment each.
  void fork_workers(const std::function<void(cairn_pool*, unsigned)>& work) const {
    pid_t children[workers];
    for (unsigned w = 0; w < workers; ++w) {
      children[w] = fork();
      if (children[w] != 0) continue;
      cairn_pool* pool = attach(path);
      if (pool != nullptr) work(pool, w);
      if (pool != nullptr) cairn_pool_detach(pool);
      std::fflush(nullptr);
      _exit(pool == nullptr || HasFailure() ? 1 : 0);
    }
    for (pid_t child : children) {
      int status = 0;
      ASSERT_EQ(waitpid(child, &status, 0), child);
      EXPECT_EQ(status, 0) << "seed " << seed;
    }
  }
  void start_threads(const std::function<void(cairn_pool*, unsigned)>& work) const {
    cairn_pool* pool = attach(path);
    ASSERT_NE(pool, nullptr);
    std::vector<std::thread> threads;
    for (unsigned w = 0; w < workers; ++w) threads.emplace_back(work, pool, w);
    for (std::thread& thread : threads) thread.join();
    cairn_pool_detach(pool);
  }

  TemporaryFolder folder;
  const std::string path = folder.path() + "/pool";
  const uint64_t seed = test_seed();
};

TEST_F(Together, ProcessesAgreeWithTheirModels) {
  const double end = now_s() + storm_seconds();
  fork_workers([&](cairn_pool* pool, unsigned w) { exercise(pool, w, end); });
}

TEST_F(Together, ThreadsAgreeWithTheirModels) {
  const double end = now_s() + storm_seconds();
  start_threads([&](cairn_pool* pool, unsigned w) { exercise(pool, w, end); });
}

// Bytes of zero and of what belongs there: copying and clearing go byte by byte at the ends of a
// range, also in the C library's memcpy and memset, and who reads meanwhile may see half a word.
bool is_of(uint64_t word, uint64_t belongs) {
  for (unsigned shift = 0; shift < 64; shift += 8) {
    const uint64_t byte = word >> shift & 0xff;
    if (byte != 0 && byte != (belongs >> shift & 0xff)) return false;
  }
  return true;
}

// Each writes, cuts and reads one file: a word is zero or says where it belongs.
void use_one_file(cairn_file* file, unsigned w, uint64_t seed, double end) {
  constexpr uint64_t words_in_file = 200 * 512;
  Random random(seed * workers + w);
  std::vector<uint64_t> words;
  while (now_s() < end && !testing::Test::HasFailure()) {
    words.assign(1 + random.below(9000), 0);
    const uint64_t at = random.below(words_in_file);
    switch (random.below(8)) {
      case 0:
        EXPECT_EQ(cairn_ftruncate(file, at * 8), 0) << cairn_last_error();
        break;
      case 1:
        EXPECT_EQ(cairn_fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, at * 8,
                                  words.size() * 8),
                  0);
        break;
      case 2:
      case 3:
      case 4:
        for (size_t i = 0; i < words.size(); ++i) words[i] = 0x5aULL << 56 | (at + i);
        EXPECT_EQ(cairn_pwrite(file, words.data(), words.size() * 8, at * 8),
                  static_cast<ssize_t>(words.size() * 8))
            << cairn_last_error();
        break;
      default: {
        const ssize_t n = cairn_pread(file, words.data(), words.size() * 8, at * 8);
        EXPECT_GE(n, 0) << cairn_last_error();
        for (size_t i = 0; i < static_cast<size_t>(n) / 8; ++i)
          ASSERT_TRUE(is_of(words[i], 0x5aULL << 56 | (at + i)))
              << std::hex << words[i] << " at word " << at + i;
      }
    }
  }
}

TEST_F(Together, ProcessesShareAFile) {
  const double end = now_s() + storm_seconds();
  fork_workers([&](cairn_pool* pool, unsigned w) {
    cairn_file* file = open_shared(pool);
    use_one_file(file, w, seed, end);
    cairn_close(file);
  });
}

TEST_F(Together, ThreadsShareAFile) {
  const double end = now_s() + storm_seconds();
  start_threads([&](cairn_pool* pool, unsigned w) {
    cairn_file* file = open_shared(pool);
    use_one_file(file, w, seed, end);
    cairn_close(file);
  });
}

// Bytes of other files come and go in the same chunks: none of them shows in a file that is cut
// while it is written.
TEST_F(Together, ATruncateDuringAWriteLeaksNothing) {
  const double end = now_s() + storm_seconds();
  fork_workers([&](cairn_pool* pool, unsigned w) {
    if (w < 3) {
      cairn_file* file = open_shared(pool);
      use_one_file(file, w, seed, end);
      cairn_close(file);
      return;
    }
    const std::string secret(500'000, 'S');
    while (now_s() < end) {
      cairn_file* file = nullptr;
      ASSERT_EQ(cairn_open(pool, CAIRN_ROOT, "w3/secret", O_RDWR | O_CREAT | O_TRUNC, 0600, &file),
                0);
      ASSERT_EQ(cairn_pwrite(file, secret.data(), secret.size(), 0),
                static_cast<ssize_t>(secret.size()))
          << cairn_last_error();
      std::string back(secret.size(), ' ');
      ASSERT_EQ(cairn_pread(file, back.data(), back.size(), 0), static_cast<ssize_t>(back.size()));
      ASSERT_TRUE(back == secret) << "somebody wrote into another's file";
      cairn_close(file);
    }
  });
}

// Threads append to one log through one description and through their own.
TEST_F(Together, ThreadsAppend) {
  constexpr unsigned each = 400;
  constexpr size_t record = 100;
  start_threads([&](cairn_pool* pool, unsigned w) {
    cairn_file* file = open_shared(pool, O_APPEND);
    const std::string bytes(record, static_cast<char>('a' + w));
    for (unsigned i = 0; i < each; ++i)
      ASSERT_EQ(cairn_write(file, bytes.data(), record), static_cast<ssize_t>(record));
    cairn_close(file);
  });
  cairn_pool* pool = attach(path);
  cairn_file* file = open_shared(pool);
  std::string all(workers * each * record + 1, ' ');
  ASSERT_EQ(cairn_pread(file, all.data(), all.size(), 0), static_cast<ssize_t>(all.size() - 1));
  unsigned count[workers] = {};
  for (size_t at = 0; at + 1 < all.size(); at += record) {
    const std::string one = all.substr(at, record);
    ASSERT_EQ(one, std::string(record, one[0])) << "records overlap at " << at;
    const auto w = static_cast<unsigned>(one[0] - 'a');
    ASSERT_LT(w, workers);
    ++count[w];
  }
  for (unsigned n : count) EXPECT_EQ(n, each);
  cairn_close(file);
  cairn_pool_detach(pool);
}

// A store through one process's mapping is what another reads at once, also where there was a hole,
// and what another writes shows in the mapping.
TEST_F(Together, AMappingIsSeenByOthersAtOnce) {
  constexpr size_t size = 40 * 4096;
  constexpr uint64_t rounds = 2000;
  cairn_pool* pool = attach(path);
  cairn_file* file = open_shared(pool);
  ASSERT_EQ(cairn_ftruncate(file, size), 0);  // a hole
  void* mapped = nullptr;
  ASSERT_EQ(cairn_mmap(file, nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, 0, &mapped), 0)
      << cairn_last_error();
  auto* words = static_cast<std::atomic<uint64_t>*>(mapped);
  const pid_t child = fork();
  if (child == 0) {
    // Answers by a write to every number that it reads.
    cairn_pool* own = attach(path);
    cairn_file* other = open_shared(own);
    for (uint64_t round = 1; round <= rounds; ++round) {
      const uint64_t at = round % 40 * 4096;
      uint64_t word = 0;
      const double patience = now_s() + 20;
      while (word != round && now_s() < patience) {
        if (cairn_pread(other, &word, 8, at) != 8) _exit(2);
      }
      if (word != round) _exit(3);
      if (cairn_pwrite(other, &round, 8, at + 8) != 8) _exit(4);
    }
    _exit(0);
  }
  bool answered = true;
  for (uint64_t round = 1; round <= rounds && answered; ++round) {
    const uint64_t at = round % 40 * 512;
    words[at].store(round);
    const double patience = now_s() + 20;
    while (words[at + 1].load() != round && now_s() < patience) {
    }
    answered = words[at + 1].load() == round;
  }
  EXPECT_TRUE(answered);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(cairn_munmap(pool, mapped, size), 0);
  cairn_close(file);
  cairn_pool_detach(pool);
}

}  // namespace
}  // namespace cairn::test
