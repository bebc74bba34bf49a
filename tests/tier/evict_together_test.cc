// Processes and threads that read, write, cut, map, move, drain and evict the same files, in a pool
// that does not hold all of them; every byte is compared.
//
//   CAIRN_SEED, CAIRN_SECONDS   repeat a failure; for how long (default: 4)
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <random>
#include <thread>

#include "tier/cover_fixture.h"

namespace cairn::test {
namespace {

constexpr int owned = 6;     // files that one thread changes, and compares with its copy of them
constexpr int constant = 4;  // files that are written over with the same bytes
constexpr size_t longest = 3 << 20;
constexpr size_t constant_size = (2 << 20) + 777;

uint64_t number_of(const char* variable, uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

std::string constant_name(int i) { return "constant-" + std::to_string(i); }
char constant_byte(int i, uint64_t at) {
  return static_cast<char>('A' + (at / 512 + at % 7 + static_cast<uint64_t>(i)) % 50);
}

class EvictTogether : public CoverTest {
 protected:
  using Generator = std::mt19937_64;
  static bool is_short_of_room(int64_t result) { return result == -ENOSPC || result == -ENOMEM; }

  // A call that has changed, or was to change, a file of the thread's own.
  struct Change {
    const char* call;
    uint64_t at;
    uint64_t size;
    int64_t result;
    std::chrono::steady_clock::time_point end;
  };
  struct Owned {
    std::string name;
    std::string bytes;
    cairn_file* file = nullptr;  // open for long, or null
    std::vector<Change> changes;
    void note(const char* call, uint64_t at, uint64_t n, int64_t result) {
      changes.push_back({call, at, n, result, std::chrono::steady_clock::now()});
    }
  };

  // Tells what has happened to the byte at `where`, and what lower has there.
  std::string history_of(const Owned& one, uint64_t where) {
    const std::string in_lower = get(lower_ + "/" + one.name);
    std::string text = "lower has " + std::to_string(in_lower.size()) + " bytes";
    if (where < in_lower.size()) text += ", there " + std::to_string(int{in_lower[where]});
    const auto now = std::chrono::steady_clock::now();
    for (const Change& change : one.changes) {
      const bool is_whole = change.size == 0;  // a rename, or a truncation
      if (!is_whole && (where < change.at || where >= change.at + change.size)) continue;
      const auto ago = std::chrono::duration_cast<std::chrono::microseconds>(now - change.end);
      text += "\n  " + std::to_string(ago.count()) + " us ago: " + change.call + " at " +
              std::to_string(change.at) + ", size " + std::to_string(change.size) + ": " +
              std::to_string(change.result);
    }
    return text;
  }

  // One change or look at a file of the thread's own.
  void step(Covered& covered, Owned& one, Generator& random) {
    const auto below = [&](uint64_t n) { return random() % n; };
    cairn_file* file = one.file;
    if (file == nullptr) {
      ASSERT_EQ(cairn_open(covered.pool, covered.top, one.name.c_str(), O_RDWR, 0644, &file), 0)
          << cairn_last_error();
      if (below(4) == 0) one.file = file;
    }
    const size_t size = one.bytes.size();
    const auto write_over = [&](uint64_t at, const std::string& by, int64_t n) {
      if (n <= 0) return;
      if (one.bytes.size() < at + static_cast<uint64_t>(n))
        one.bytes.resize(at + static_cast<uint64_t>(n));
      one.bytes.replace(at, static_cast<size_t>(n), by, 0, static_cast<size_t>(n));
    };
    const std::string piece(1 + below(below(5) == 0 ? 300'000 : 9000),
                            static_cast<char>('a' + below(26)));
    switch (below(12)) {
      case 0:
      case 1: {
        const uint64_t at = below(longest - piece.size());
        const int64_t n = cairn_pwrite(file, piece.data(), piece.size(), at);
        ASSERT_TRUE(n > 0 || is_short_of_room(n)) << n << " " << cairn_last_error();
        one.note("pwrite", at, piece.size(), n);
        write_over(at, piece, n);
        break;
      }
      case 2: {
        if (size + piece.size() > longest) break;
        const iovec vector = {const_cast<char*>(piece.data()), piece.size()};
        const int64_t n = cairn_appendv(file, &vector, 1);
        ASSERT_TRUE(n > 0 || is_short_of_room(n)) << n << " " << cairn_last_error();
        one.note("append", size, piece.size(), n);
        write_over(size, piece, n);
        break;
      }
      case 3: {
        const uint64_t to = below(4) == 0 ? 0 : below(longest);
        const int result = cairn_ftruncate(file, to);
        ASSERT_TRUE(result == 0 || is_short_of_room(result)) << result << " " << cairn_last_error();
        one.note("ftruncate", to, 0, result);
        if (result == 0) one.bytes.resize(to);
        break;
      }
      case 4: {
        const uint64_t at = below(longest);
        const uint64_t n = 1 + below(200'000);
        const int mode = below(2) == 0 ? FALLOC_FL_PUNCH_HOLE : FALLOC_FL_ZERO_RANGE;
        const int result = cairn_fallocate(file, mode | FALLOC_FL_KEEP_SIZE, at, n);
        ASSERT_TRUE(result == 0 || is_short_of_room(result)) << result << " " << cairn_last_error();
        one.note("fallocate", at, n, result);
        if (result == 0 && at < size)
          one.bytes.replace(at, std::min<uint64_t>(n, size - at),
                            std::string(std::min<uint64_t>(n, size - at), '\0'));
        break;
      }
      case 5: {
        const uint64_t at = size < 8192 ? 0 : below(size / 4096) * 4096;
        const uint64_t n = std::min<uint64_t>(size - at, 20'000);
        if (n == 0) break;
        void* mapped = nullptr;
        const int result =
            cairn_mmap(file, nullptr, n, PROT_READ | PROT_WRITE, MAP_SHARED, at, &mapped);
        ASSERT_TRUE(result == 0 || is_short_of_room(result)) << result << " " << cairn_last_error();
        if (result != 0) break;
        ASSERT_EQ(std::memcmp(mapped, one.bytes.data() + at, n), 0) << one.name << " mapped";
        std::memset(mapped, 'm', n);
        ASSERT_EQ(cairn_munmap(covered.pool, mapped, n), 0);
        one.note("mmap", at, n, 0);
        one.bytes.replace(at, n, n, 'm');
        break;
      }
      case 6: {
        const std::string to = one.name + "+";
        const int result = cairn_rename(covered.pool, covered.top, one.name.c_str(), covered.top,
                                        to.substr(0, 12).c_str(), 0);
        ASSERT_TRUE(result == 0 || is_short_of_room(result)) << result << " " << cairn_last_error();
        if (to.size() <= 12) one.note("rename", 0, 0, result);
        if (result == 0 && to.size() <= 12) one.name = to;
        break;
      }
      default: {
        std::string found(1 + below(below(3) == 0 ? longest : 5000), '?');
        const uint64_t at = below(longest);
        const int64_t n = cairn_pread(file, found.data(), found.size(), at);
        ASSERT_GE(n, 0) << cairn_last_error();
        found.resize(static_cast<size_t>(n));
        const std::string expected = at >= size ? "" : one.bytes.substr(at, static_cast<size_t>(n));
        ASSERT_EQ(found.size(), at >= size ? 0 : std::min<uint64_t>(found.size(), size - at));
        if (found != expected) {
          size_t i = 0;
          while (found[i] == expected[i]) ++i;
          FAIL() << one.name << ": wrong from offset " << at + i << " on: " << int{found[i]}
                 << " instead of " << int{expected[i]} << ", size " << size << "\n"
                 << history_of(one, at + i);
        }
      }
    }
    if (one.file == nullptr || below(8) == 0) {
      cairn_close(file);
      one.file = nullptr;
    }
  }

  static void compare_constant(Covered& covered, Generator& random) {
    const int i = static_cast<int>(random() % constant);
    cairn_file* file = nullptr;
    ASSERT_EQ(cairn_open(covered.pool, covered.top, constant_name(i).c_str(), O_RDWR, 0, &file), 0)
        << cairn_last_error();
    for (int round = 0; round < 20; ++round) {
      std::string bytes(1 + random() % (random() % 4 == 0 ? constant_size : 6000), '?');
      const uint64_t at = random() % constant_size;
      const uint64_t n = std::min<uint64_t>(bytes.size(), constant_size - at);
      if (random() % 300 == 0) {
        for (uint64_t k = 0; k < n; ++k) bytes[k] = constant_byte(i, at + k);
        const int64_t result = cairn_pwrite(file, bytes.data(), n, at);
        ASSERT_TRUE(result > 0 || is_short_of_room(result)) << cairn_last_error();
        continue;
      }
      ASSERT_EQ(cairn_pread(file, bytes.data(), n, at), static_cast<ssize_t>(n))
          << cairn_last_error();
      for (uint64_t k = 0; k < n; ++k)
        ASSERT_EQ(bytes[k], constant_byte(i, at + k)) << constant_name(i) << " at " << at + k;
    }
    cairn_close(file);
  }

  // Any file that is there; how many went.
  static uint64_t evict_any(Covered& covered, Generator& random) {
    const auto names = covered.list(".");
    if (names.empty()) return 0;
    const cairn_stat st = covered.stat(names[random() % names.size()]);
    if (st.ino == 0 || !S_ISREG(st.mode)) return 0;
    uint64_t bytes = 0;
    const int result = cairn_evict(covered.pool, st.ino, st.generation, &bytes);
    EXPECT_TRUE(result == 0 || result == -EBUSY || result == -EAGAIN || result == -ESTALE ||
                result == -EINVAL || result == -ENOSPC)
        << result << " " << cairn_last_error();
    return bytes != 0 ? 1 : 0;
  }

  // What a process does besides changing its own files. Its exit status.
  int be_another_process(uint64_t seed, uint64_t seconds) {
    Covered covered(pool_, lower_, true);
    Generator random(seed);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
    while (std::chrono::steady_clock::now() < end && !HasFailure()) {
      compare_constant(covered, random);
      for (int i = 0; i < 3; ++i) evict_any(covered, random);
    }
    return HasFailure() ? 1 : 0;
  }
};

TEST_F(EvictTogether, EveryByteIsWhatItWas) {
  const uint64_t seed = number_of("CAIRN_SEED", std::random_device()());
  const uint64_t seconds = number_of("CAIRN_SECONDS", 4);
  SCOPED_TRACE("CAIRN_SEED=" + std::to_string(seed));
  make_pool(20 << 20);
  for (int i = 0; i < constant; ++i) {
    std::string bytes(constant_size, '\0');
    for (size_t at = 0; at < bytes.size(); ++at) bytes[at] = constant_byte(i, at);
    put(lower_ + "/" + constant_name(i), bytes);
  }
  // The others begin when this process has made the cover.
  int begin[2];
  ASSERT_EQ(pipe(begin), 0);
  std::vector<pid_t> children;
  for (uint64_t i = 0; i < 2; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      close(begin[1]);
      char nothing = 0;
      static_cast<void>(!read(begin[0], &nothing, 1));
      _exit(be_another_process(seed + 100 + i, seconds));
    }
    children.push_back(child);
  }
  close(begin[0]);
  auto covered = std::make_unique<Covered>(pool_, lower_);
  std::vector<Owned> files(owned);
  for (int i = 0; i < owned; ++i) {
    files[static_cast<size_t>(i)].name = "own-" + std::to_string(i);
    ASSERT_EQ(covered->create(files[static_cast<size_t>(i)].name, ""), 0);
  }
  close(begin[1]);
  std::atomic<bool> over{false};
  std::atomic<uint64_t> evicted{0};
  std::atomic<uint64_t> drained{0};
  std::atomic<uint64_t> steps{0};
  std::vector<std::thread> threads;
  constexpr int writers = 2;
  for (int t = 0; t < writers; ++t) {
    threads.emplace_back([&, t] {
      Generator random(seed + static_cast<uint64_t>(t));
      while (!over && !HasFailure()) {
        step(*covered, files[static_cast<size_t>(t) + random() % (owned / writers) * writers],
             random);
        ++steps;
      }
    });
  }
  threads.emplace_back([&] {
    Generator random(seed + 50);
    while (!over && !HasFailure()) evicted += evict_any(*covered, random);
  });
  threads.emplace_back([&] {
    Generator random(seed + 60);
    while (!over && !HasFailure()) compare_constant(*covered, random);
  });
  threads.emplace_back([&] {
    while (!over && !HasFailure()) {
      drained += covered->drain().report.files;
      for (const std::string& name : covered->list(".")) {
        const cairn_stat st = covered->stat(name);
        uint64_t bytes = 0;
        if (st.ino != 0 && cairn_evict(covered->pool, st.ino, st.generation, &bytes) == 0)
          evicted += bytes != 0 ? 1 : 0;
      }
    }
  });
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  // On a busy machine it takes longer until enough has happened.
  const auto latest = end + std::chrono::seconds(60);
  const auto is_over = [&] {
    const auto now = std::chrono::steady_clock::now();
    const bool enough = evicted > 20 && drained > 20 && steps > 200;
    return HasFailure() || now > latest || (now > end && enough);
  };
  while (!is_over()) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  over = true;
  for (std::thread& thread : threads) thread.join();
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0) << "what the other process found";
  }
  if (HasFailure()) return;
  EXPECT_GT(evicted, 10U);
  EXPECT_GT(drained, 10U);
  EXPECT_GT(steps, 100U);
  std::printf("%llu steps, %llu files drained, %llu evicted\n",
              static_cast<unsigned long long>(steps), static_cast<unsigned long long>(drained),
              static_cast<unsigned long long>(evicted));
  for (Owned& one : files)
    if (one.file != nullptr) cairn_close(one.file);
  const Drained last = covered->drain();
  EXPECT_EQ(last.code, 0) << (last.problems.empty() ? "" : last.problems[0]);
  for (const bool evicts : {false, true}) {
    for (const Owned& one : files) {
      const cairn_stat st = covered->stat(one.name);
      EXPECT_EQ(evicts ? cairn_evict(covered->pool, st.ino, 0, nullptr) : 0, 0)
          << cairn_last_error();
      EXPECT_TRUE(covered->read(one.name) == one.bytes) << one.name;
      EXPECT_TRUE(get(lower_ + "/" + one.name) == one.bytes) << one.name;
    }
  }
  covered.reset();
  const auto finding = [](void*, const char* text) { ADD_FAILURE() << text; };
  EXPECT_EQ(cairn_pool_check(pool_.c_str(), finding, nullptr), 0);
}

}  // namespace
}  // namespace cairn::test
