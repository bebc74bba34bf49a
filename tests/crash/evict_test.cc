// Eviction, store by store: a crash at each of them, and calls of another process that meet it
// there.
//
//   CAIRN_SEED, CAIRN_CRASH_IMAGES   repeat a failure; images for each crash point
//   CAIRN_INTERLEAVINGS              how many pairs of places are tried of each call (default:
//   some, drawn)
#include "tier/drain/evict.h"

#include <fcntl.h>

#include <algorithm>
#include <fstream>
#include <thread>

#include "cairn/cover.h"
#include "crash/crash_lab.h"
#include "crash/turns.h"
#include "tier/cover/cover.h"
#include "tier/cover/cover_lower.h"
#include "tier/record/record.h"

namespace cairn::test {
namespace {

constexpr size_t evicted_bytes = 60'000;
// A hole from here to there: blocks 4 to 9.
constexpr size_t hole_begin = 16'384;
constexpr size_t hole_end = 40'960;

std::string file_bytes() {
  std::string bytes(evicted_bytes, '\0');
  for (size_t i = 0; i < bytes.size(); ++i)
    if (i < hole_begin || i >= hole_end) bytes[i] = static_cast<char>('a' + i / 4096 % 26);
  return bytes;
}

// Two processes in a cover whose files lie in lower, and in the pool as well once they are staged.
class Lab {
 public:
  Lab(const LabOptions& options, int files, int trees = 0) : lab(options) {
    std::filesystem::create_directory(lower_);
    for (int i = 0; i < files; ++i) put(lower_ + "/" + name_of(i));
    for (int i = 0; i < trees; ++i) {
      std::filesystem::create_directory(lower_ + "/" + tree_of(i));
      put(lower_ + "/" + tree_of(i) + "/file");
    }
    for (int i = 0; i < options.processes; ++i) {
      trees_.push_back(tier::make_lower(fs(i)));
      fs(i).lower = trees_.back().get();
    }
    auto cover = tier::open_cover(fs(0), lower_, {});
    EXPECT_TRUE(cover.ok()) << last_detail();
    cover_ = std::move(*cover);
    top = cover_->top;
    for (int i = 0; i < options.processes; ++i) stat(trees != 0 ? tree_of(0) : name_of(0), i);
  }
  ~Lab() {
    cover_.reset();
    for (size_t i = 0; i < trees_.size(); ++i) fs(static_cast<int>(i)).lower = nullptr;
  }
  Lab(const Lab&) = delete;
  Lab& operator=(const Lab&) = delete;

  static std::string name_of(int i) { return "file-" + std::to_string(i); }
  static std::string tree_of(int i) { return "tree-" + std::to_string(i); }
  file::FileSystem& fs(int i) { return *lab.pool(i)->fs; }
  cairn_stat stat(const std::string& name, int i = 0) {
    cairn_stat st = {};
    EXPECT_EQ(cairn_lookup(lab.pool(i), top, name.c_str(), 0, &st), 0) << cairn_last_error();
    return st;
  }
  // Its bytes are in the pool, and lower has them too.
  cairn_ino stage(const std::string& name) {
    const cairn_stat st = stat(name);
    EXPECT_NE(st.flags & CAIRN_FILE_LAZY, 0U);
    EXPECT_EQ(cairn_stage(lab.pool(), st.ino, st.generation), 0) << cairn_last_error();
    EXPECT_EQ(stat(name).flags & CAIRN_FILE_LAZY, 0U);
    return st.ino;
  }
  std::string read(const std::string& name, int i = 0) {
    cairn_file* file = nullptr;
    if (cairn_open(lab.pool(i), top, name.c_str(), O_RDONLY, 0, &file) != 0) return "not there";
    std::string bytes(2 * evicted_bytes, '\0');
    const ssize_t n = cairn_pread(file, bytes.data(), bytes.size(), 0);
    cairn_close(file);
    if (n < 0) return "cannot be read: " + std::string(cairn_last_error());
    bytes.resize(static_cast<size_t>(n));
    return bytes;
  }
  std::string path_of(const std::string& name) const {
    return std::string("/") + tier::covers_directory + "/" + cover_->name + "/" + name;
  }

  CrashLab lab;
  cairn_ino top = 0;

 private:
  static void put(const std::string& path) {
    std::ofstream out(path, std::ios::binary);
    const std::string bytes = file_bytes();
    out.write(bytes.data(), hole_begin);
    out.seekp(hole_end);
    out.write(bytes.data() + hole_end, static_cast<std::streamsize>(bytes.size() - hole_end));
  }

  TemporaryFolder folder_;
  const std::string lower_ = std::filesystem::canonical(folder_.path()).string() + "/lower";
  std::vector<std::unique_ptr<file::Lower>> trees_;
  std::unique_ptr<tier::Cover> cover_;
};

LabOptions options_for(persist::Granularity granularity, int processes) {
  LabOptions options;
  options.granularity = granularity;
  options.processes = processes;
  options.images_per_point = number_from_environment("CAIRN_CRASH_IMAGES", 60);
  options.seed = test_seed();
  return options;
}

class EvictCrash : public testing::TestWithParam<persist::Granularity> {
 protected:
  std::string is_wrong(const Snapshot& found) {
    const auto at = found.find(lab.path_of(Lab::name_of(0)));
    if (at == found.end()) return "it is gone";
    const Item& item = at->second;
    ++(item.lazy ? lazy : own);
    if (item.size != evicted_bytes) return "of size " + std::to_string(item.size);
    // From lower then, which has all of it; nothing of it takes room here.
    if (item.lazy) return item.mapped == 0 ? "" : "lazy, and it has blocks";
    std::string bytes(evicted_bytes, '\0');
    for (const auto& [block, text] : item.blocks)
      bytes.replace(block * 4096, std::min<size_t>(4096, bytes.size() - block * 4096), text, 0,
                    std::min<size_t>(4096, bytes.size() - block * 4096));
    return bytes == file_bytes() ? "" : "not lazy, and without its bytes";
  }
  Lab lab{options_for(GetParam(), 1), 1};
  uint64_t lazy = 0;
  uint64_t own = 0;
};

TEST_P(EvictCrash, ItIsHereOrInLower) {
  const cairn_ino ino = lab.stage(Lab::name_of(0));
  lab.lab.begin();
  lab.lab.set_judge([&](const Snapshot& found, uint64_t) { return is_wrong(found); });
  ASSERT_EQ(cairn_evict(lab.lab.pool(), ino, 0, nullptr), 0) << cairn_last_error();
  EXPECT_EQ(lab.lab.power_losses(), "");
  EXPECT_GT(lazy, 0U);
  EXPECT_GT(own, 0U);
  lazy = own = 0;
  EXPECT_EQ(lab.lab.kills(), "");
  EXPECT_GT(lazy, 0U);
  EXPECT_GT(own, 0U);
}

INSTANTIATE_TEST_SUITE_P(Media, EvictCrash,
                         testing::Values(persist::Granularity::page,
                                         persist::Granularity::cache_line),
                         [](const auto& medium) {
                           return medium.param == persist::Granularity::page ? "File"
                                                                             : "CacheLines";
                         });

// --- others meet it ---

struct Use {
  cairn_pool* pool;
  cairn_ino top;
  std::string name;
  cairn_file* file;  // open for reading and writing
};
struct Call {
  const char* name;
  // What the caller sees.
  std::string (*make)(const Use& use);
  std::string seen;
  std::string after;  // the file's bytes; "not there": it has another name then
  std::string other = "";
  bool of_tree = false;  // the file lies in a directory, and `name` is that
};

std::string replaced(size_t at, const std::string& by) {
  std::string bytes = file_bytes();
  if (bytes.size() < at + by.size()) bytes.resize(at + by.size());
  return bytes.replace(at, by.size(), by);
}
std::string code(int64_t result) {
  return std::to_string(result) + (result < 0 ? std::string(": ") + cairn_last_error() : "");
}
// Texts are too long to be shown.
void expect_same(const std::string& found, const std::string& expected, const char* what) {
  if (found == expected) return;
  const auto at = static_cast<size_t>(
      std::mismatch(found.begin(), found.end(), expected.begin(), expected.end()).first -
      found.begin());
  ADD_FAILURE() << what << ": " << found.size() << " bytes instead of " << expected.size()
                << ", another from " << at << " on: \"" << found.substr(at, 200)
                << "\" instead of \"" << expected.substr(at, 20) << "\"";
}
std::string pread(cairn_file* file, size_t size, uint64_t at) {
  std::string bytes(size, '?');
  const ssize_t n = cairn_pread(file, bytes.data(), size, at);
  return n < 0 ? code(n) : bytes.substr(0, static_cast<size_t>(n));
}
std::string pwrite(cairn_file* file, const std::string& bytes, uint64_t at) {
  return code(cairn_pwrite(file, bytes.data(), bytes.size(), at));
}

const std::vector<Call>& all_calls() {
  static const std::string whole = file_bytes();
  static const std::vector<Call> calls = {
      {"read_some", [](const Use& use) { return pread(use.file, 100, 5000); },
       whole.substr(5000, 100), whole},
      {"read_all", [](const Use& use) { return pread(use.file, evicted_bytes, 0); }, whole, whole},
      {"read_twice",
       [](const Use& use) {
         const std::string first = pread(use.file, 100, 50);
         return first + pread(use.file, 9000, 100);
       },
       whole.substr(50, 100) + whole.substr(100, 9000), whole},
      {"read_pieces",
       [](const Use& use) {
         std::string bytes(300, '?');
         const cairn_piece pieces[] = {{bytes.data(), 100, 10},
                                       {bytes.data() + 100, 100, 45'000},
                                       {bytes.data() + 200, 100, 200}};
         return code(cairn_read_pieces(use.file, pieces, 3)) + bytes;
       },
       "300" + whole.substr(10, 100) + whole.substr(45'000, 100) + whole.substr(200, 100), whole},
      {"seek_data", [](const Use& use) { return code(cairn_seek(use.file, 5000, SEEK_DATA)); },
       "5000", whole},
      {"seek_hole", [](const Use& use) { return code(cairn_seek(use.file, 5000, SEEK_HOLE)); },
       "16384", whole},
      {"stat",
       [](const Use& use) {
         cairn_stat st = {};
         cairn_fstat(use.file, &st);
         return code(static_cast<int64_t>(st.size)) + (st.blocks == 0 ? " without blocks" : "");
       },
       "60000", whole},
      {"view",
       [](const Use& use) {
         cairn_view view = {};
         const int result = cairn_view_open(use.file, 5000, 50, &view);
         if (result != 0) return code(result);
         const std::string bytes(static_cast<const char*>(view.data), view.size);
         cairn_view_close(use.file, &view);
         return bytes;
       },
       whole.substr(5000, 50), whole},
      {"overwrite", [](const Use& use) { return pwrite(use.file, "NEW", 5000); }, "3",
       replaced(5000, "NEW")},
      {"overwrite_twice",
       [](const Use& use) {
         const std::string first = pwrite(use.file, "NEW", 5000);
         return first + pwrite(use.file, "OTHER", 5003);
       },
       "35", replaced(5000, "NEWOTHER")},
      {"fill", [](const Use& use) { return pwrite(use.file, "NEW", 20'000); }, "3",
       replaced(20'000, "NEW")},
      {"write_pieces",
       [](const Use& use) {
         char bytes[] = "NEWOTHER";
         const cairn_piece pieces[] = {{bytes, 3, 5000}, {bytes + 3, 5, 5003}};
         return code(cairn_write_pieces(use.file, pieces, 2));
       },
       "8", replaced(5000, "NEWOTHER")},
      {"extend", [](const Use& use) { return pwrite(use.file, "NEW", evicted_bytes + 5000); }, "3",
       replaced(evicted_bytes + 5000, "NEW")},
      {"append",
       [](const Use& use) {
         iovec vector = {const_cast<char*>("NEW"), 3};
         return code(cairn_appendv(use.file, &vector, 1));
       },
       "3", replaced(evicted_bytes, "NEW")},
      {"cut", [](const Use& use) { return code(cairn_ftruncate(use.file, 5000)); }, "0",
       whole.substr(0, 5000)},
      {"cut_to_nothing", [](const Use& use) { return code(cairn_ftruncate(use.file, 0)); }, "0",
       ""},
      {"grow", [](const Use& use) { return code(cairn_ftruncate(use.file, evicted_bytes + 5)); },
       "0", whole + std::string(5, '\0')},
      {"punch",
       [](const Use& use) {
         return code(
             cairn_fallocate(use.file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 8192));
       },
       "0", replaced(0, std::string(8192, '\0'))},
      {"zero",
       [](const Use& use) {
         return code(cairn_fallocate(use.file, FALLOC_FL_ZERO_RANGE, 100, 8192));
       },
       "0", replaced(100, std::string(8192, '\0'))},
      {"allocate",
       [](const Use& use) { return code(cairn_fallocate(use.file, 0, 10'000, evicted_bytes)); },
       "0", whole + std::string(10'000, '\0')},
      {"rename",
       [](const Use& use) {
         const std::string to = use.name + "-moved";
         return code(cairn_rename(use.pool, use.top, use.name.c_str(), use.top, to.c_str(), 0));
       },
       "0", "not there", "-moved"},
      {"rename_tree",
       [](const Use& use) {
         const std::string to = use.name + "-moved";
         return code(cairn_rename(use.pool, use.top, use.name.c_str(), use.top, to.c_str(), 0));
       },
       "0", "not there", "-moved", true},
      {"link",
       [](const Use& use) {
         const std::string to = use.name + "-link";
         const std::string first =
             code(cairn_link(use.pool, use.top, use.name.c_str(), use.top, to.c_str(), 0));
         return first + code(cairn_unlink(use.pool, use.top, use.name.c_str()));
       },
       "00", "not there", "-link"},
      {"unlink_open",
       [](const Use& use) {
         const std::string first = code(cairn_unlink(use.pool, use.top, use.name.c_str()));
         return first + pread(use.file, evicted_bytes, 0);
       },
       "0" + whole, "not there"},
  };
  return calls;
}

// What the other process does.
struct Other {
  const char* name;
  std::vector<int (*)(cairn_pool* pool, cairn_ino ino)> steps;
};
int evict(cairn_pool* pool, cairn_ino ino) { return cairn_evict(pool, ino, 0, nullptr); }
int stage(cairn_pool* pool, cairn_ino ino) { return cairn_stage(pool, ino, 0); }
const std::vector<Other>& all_others() {
  static const std::vector<Other> others = {
      {"evicts", {evict}},
      {"evicts_and_stages", {evict, stage}},
      {"evicts_stages_and_evicts", {evict, stage, evict}},
  };
  return others;
}

class EvictMeets : public testing::TestWithParam<std::tuple<size_t, size_t>> {
 protected:
  static constexpr int files = 400;

  // The call is interrupted after `events` of its events, for `other_events` of the other
  // process's. How many events the call has.
  uint64_t play(uint64_t events, uint64_t other_events) {
    if (next_ == files || lab_ == nullptr) {
      lab_.reset();  // two labs would share the processes of this one
      lab_ = std::make_unique<Lab>(options_for(persist::Granularity::cache_line, 2),
                                   call.of_tree ? 0 : files, call.of_tree ? files : 0);
      next_ = 0;
    }
    const std::string name = call.of_tree ? Lab::tree_of(next_) : Lab::name_of(next_);
    ++next_;
    const std::string below = call.of_tree ? "/file" : "";
    const cairn_ino ino = lab_->stage(name + below);
    cairn_file* file = nullptr;
    EXPECT_EQ(cairn_open(lab_->lab.pool(), lab_->top, (name + below).c_str(), O_RDWR, 0, &file), 0);
    Turns turns({{0, events}, {1, other_events}, {0, Turns::to_the_end}, {1, Turns::to_the_end}});
    auto& simulator = lab_->lab.simulator();
    simulator.set_turnstile([&turns] { turns.pass(); });
    uint64_t made = 0;
    std::string seen;
    std::thread user([&] {
      Turns::be(0);
      persist::Simulator::set_cpu(0);
      const uint64_t begun = simulator.mark();
      seen = call.make({lab_->lab.pool(), lab_->top, name, file});
      made = simulator.mark() - begun;
      turns.finish();
    });
    std::thread another([&] {
      Turns::be(1);
      persist::Simulator::set_cpu(1);
      for (const auto& step : other.steps) {
        const int result = step(lab_->lab.pool(1), ino);
        if (step == &evict && result == 0) ++successes_;
        EXPECT_TRUE(result == 0 || result == -EBUSY || result == -EAGAIN || result == -ESTALE)
            << result << ": " << cairn_last_error();
      }
      turns.finish();
    });
    user.join();
    another.join();
    simulator.set_turnstile(nullptr);
    expect_same(seen, call.seen, "what the call has seen");
    cairn_close(file);
    for (int i : {0, 1}) {
      persist::Simulator::set_cpu(i);
      expect_same(lab_->read(name + below, i), call.after, "the file");
      if (!call.other.empty())
        expect_same(lab_->read(name + call.other + below, i), file_bytes(), "the other name");
    }
    persist::Simulator::set_cpu(0);
    for (const std::string& left : {name, name + call.other})
      cairn_unlink(lab_->lab.pool(), lab_->top, (left + below).c_str());
    cairn_pool_info info;  // and what was orphaned comes back
    EXPECT_EQ(cairn_pool_get_info(lab_->lab.pool(), &info), 0);
    return made;
  }

  const Call& call = all_calls()[std::get<0>(GetParam())];
  const Other& other = all_others()[std::get<1>(GetParam())];
  std::unique_ptr<Lab> lab_;
  int next_ = 0;
  uint64_t successes_ = 0;
};

TEST_P(EvictMeets, NobodyCanTell) {
  Random random(test_seed() ^ (std::get<0>(GetParam()) * 7 + std::get<1>(GetParam())));
  const uint64_t drawn = number_from_environment("CAIRN_INTERLEAVINGS", 40);
  const uint64_t alone = play(Turns::to_the_end, 0);
  ASSERT_GT(alone, 0U);
  successes_ = 0;
  for (uint64_t at = 0; at <= alone && !HasFailure(); ++at) {
    if (alone > 2 * drawn && !random.one_in(static_cast<uint32_t>(alone / drawn))) continue;
    SCOPED_TRACE(std::to_string(at) + " events, then the other to its end");
    play(at, Turns::to_the_end);
  }
  // A busy machine may pass the turn on before the other has come so far.
  for (int tries = 0; successes_ == 0 && tries < 100 && !HasFailure(); ++tries)
    play(1, Turns::to_the_end);
  EXPECT_GT(successes_, 0U);
  for (uint64_t i = 0; i < drawn && !HasFailure(); ++i) {
    const uint64_t at = 1 + random.below(std::min<uint64_t>(alone, i % 2 == 0 ? 3 : alone));
    const uint64_t for_events = 1 + random.below(150);
    SCOPED_TRACE(std::to_string(at) + " events, then the other for " + std::to_string(for_events));
    play(at, for_events);
  }
}

INSTANTIATE_TEST_SUITE_P(Calls, EvictMeets,
                         testing::Combine(testing::Range(size_t{0}, all_calls().size()),
                                          testing::Range(size_t{0}, all_others().size())),
                         [](const auto& of) {
                           return std::string(all_calls()[std::get<0>(of.param)].name) + "_" +
                                  all_others()[std::get<1>(of.param)].name;
                         });

}  // namespace
}  // namespace cairn::test
