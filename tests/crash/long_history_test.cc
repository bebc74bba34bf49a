// Long histories of random calls of two to four processes, with sampled images of power losses and
// kills at every fence, of clean detaching, and of crashed recoveries.
//
//   CAIRN_SEED, CAIRN_LONG_IMAGES   repeat a failure; how many images there are at least
#include <fcntl.h>

#include "crash/crash_lab.h"

namespace cairn::test {
namespace {

using Kind = CrashLab::Kind;

constexpr int calls = 50;
constexpr uint64_t most_bytes = 60'000;

// One history; what it does depends on the seed alone.
class LongHistory {
 public:
  LongHistory(CrashLab& lab, uint64_t seed, int processes)
      : lab_(lab), random_(seed), processes_(static_cast<uint64_t>(processes)) {}

  void prepare() {
    for (const char* name : {"d", "e", "d/g"})
      ASSERT_EQ(cairn_mkdir(lab_.pool(), CAIRN_ROOT, name, 0700), 0) << cairn_last_error();
    for (int i = 0; i < 12; ++i) call();
  }
  void run() {
    recorded_ = true;
    for (int i = 0; i < calls; ++i) call();
    if (random_.one_in(3)) lab_.detach_all();
  }

 private:
  // A call may be refused (ENOENT, EEXIST, ENOTEMPTY, ...); it is never half done.
  void perform(const char* what, Kind kind, const std::function<int64_t(cairn_pool*)>& body) {
    const int process = static_cast<int>(random_.below(processes_));
    const auto operation = [&] {
      const int64_t result = body(lab_.pool(process));
      for (int64_t bad : {EIO, EUCLEAN, EBUSY, EINVAL, EBADF, ESTALE})
        EXPECT_NE(result, -bad) << what << ": " << cairn_last_error();
    };
    if (recorded_) {
      lab_.perform(what, kind, operation, process);
    } else {
      persist::Simulator::set_cpu(process);
      operation();
      persist::Simulator::set_cpu(0);
    }
  }
  std::string name() {
    static constexpr const char* directories[] = {"", "d/", "e/", "d/g/"};
    static constexpr const char* names[] = {"a", "b", "c", "log"};
    return std::string(directories[random_.below(4)]) + names[random_.below(4)];
  }
  std::string directory() {
    static constexpr const char* names[] = {"d", "e", "d/g", "e/g", "h"};
    return names[random_.below(5)];
  }
  uint64_t place() {
    if (random_.one_in(12))
      return (uint64_t{3} << 20) + random_.below(9000);  // below a second level
    return random_.below(most_bytes);
  }
  // On a file that is there, by a descriptor.
  void with_file(const char* what, Kind kind, int flags,
                 const std::function<int64_t(cairn_file*)>& body) {
    const std::string path = name();
    perform(what, kind, [&](cairn_pool* pool) -> int64_t {
      cairn_file* file = nullptr;
      const int opened = cairn_open(pool, CAIRN_ROOT, path.c_str(), O_RDWR | flags, 0640, &file);
      if (opened != 0) return opened;
      const int64_t result = body(file);
      cairn_close(file);
      return result;
    });
  }
  void change_bytes(uint64_t choice) {
    const uint64_t at = place();
    const uint64_t size = 1 + random_.below(20'000);
    if (choice == 0) {
      with_file("append", Kind::bytes, O_APPEND | O_CREAT, [&](cairn_file* file) {
        return cairn_write(file, std::string(size % 5000 + 1, letter()).data(), size % 5000 + 1);
      });
    } else if (choice == 1) {
      with_file("truncate", Kind::atomic, 0,
                [&](cairn_file* file) { return cairn_ftruncate(file, at); });
    } else if (choice == 2) {
      const int modes[] = {FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, FALLOC_FL_KEEP_SIZE,
                           FALLOC_FL_ZERO_RANGE};
      const int mode = modes[random_.below(4)];
      with_file("fallocate", Kind::bytes, 0,
                [&](cairn_file* file) { return cairn_fallocate(file, mode, at, size); });
    } else {
      with_file("write", Kind::bytes, O_CREAT, [&](cairn_file* file) {
        return cairn_pwrite(file, std::string(size, letter()).data(), size, at);
      });
    }
  }
  void change_names(uint64_t choice) {
    const std::string from = random_.one_in(4) ? directory() : name();
    const std::string to = random_.one_in(4) ? directory() : name();
    const unsigned flags = random_.one_in(5) ? 2 : 0;
    perform("change names", Kind::atomic, [&](cairn_pool* p) -> int64_t {
      cairn_stat st{};
      switch (choice) {
        case 0:
          return cairn_mknod(p, CAIRN_ROOT, from.c_str(), S_IFREG | 0600);
        case 1:
          return cairn_unlink(p, CAIRN_ROOT, from.c_str());
        case 2:
          return cairn_link(p, CAIRN_ROOT, from.c_str(), CAIRN_ROOT, to.c_str(), 0);
        case 3:
          return cairn_mkdir(p, CAIRN_ROOT, from.c_str(), 0700);
        case 4:
          return cairn_rmdir(p, CAIRN_ROOT, from.c_str());
        case 5:
          return cairn_symlink(p, std::string(flags == 0 ? 9 : 400, 's').c_str(), CAIRN_ROOT,
                               from.c_str());
        case 6:
          if (const int r = cairn_lookup(p, CAIRN_ROOT, from.c_str(), CAIRN_NOFOLLOW, &st); r != 0)
            return r;
          return cairn_setxattr(p, st.ino, 0, "user.x", to.data(), to.size(), 0);
        default: {
          // EINVAL: a directory into itself.
          const int r = cairn_rename(p, CAIRN_ROOT, from.c_str(), CAIRN_ROOT, to.c_str(), flags);
          return r == -EINVAL ? -ENOTEMPTY : r;
        }
      }
    });
  }
  void call() {
    const uint64_t kind = random_.below(10);
    if (kind == 9) {
      perform("reclaim", Kind::atomic, [](cairn_pool* pool) -> int64_t {
        cairn_pool_info info;
        return cairn_pool_get_info(pool, &info);
      });
    } else if (kind < 5) {
      change_bytes(random_.below(6));
    } else {
      change_names(random_.below(12));
    }
  }
  char letter() { return static_cast<char>('A' + random_.below(26)); }

  CrashLab& lab_;
  Random random_;
  uint64_t processes_;
  bool recorded_ = false;
};

TEST(LongHistories, RecoverFromSampledImages) {
  const uint64_t wanted = number_from_environment("CAIRN_LONG_IMAGES", 4000);
  uint64_t images = 0;
  uint64_t histories = 0;
  for (uint64_t seed = test_seed(); images < wanted && !HasFailure(); ++seed, ++histories) {
    LabOptions options;
    options.seed = seed;
    options.processes = 2 + static_cast<int>(seed % 3);
    options.lanes = 4;
    options.images_per_point = wanted > 100'000 ? 60 : 4;
    options.kill_stride = wanted > 100'000 ? 3 : 31;
    options.recovery_stride = 301;
    if (seed % 4 == 3) options.granularity = persist::Granularity::byte;
    CrashLab lab(options);
    LongHistory history(lab, seed, options.processes);
    history.prepare();
    lab.begin();
    history.run();
    std::string wrong = lab.power_losses();
    if (!wrong.empty()) wrong += "\n" + lab.simulator().describe_image();
    ASSERT_EQ(wrong, "") << "CAIRN_SEED=" << seed;
    ASSERT_EQ(lab.kills(), "") << "CAIRN_SEED=" << seed;
    images += lab.images();
  }
  std::printf("%llu images of %llu histories\n", static_cast<unsigned long long>(images),
              static_cast<unsigned long long>(histories));
}

}  // namespace
}  // namespace cairn::test
