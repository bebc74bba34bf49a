#include "crash/scenes.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>

#include "file/map/map.h"

namespace cairn::test {
namespace {

void create(cairn_pool* pool, const std::string& name) {
  cairn_file* file = nullptr;
  EXPECT_EQ(cairn_open(pool, CAIRN_ROOT, name.c_str(), O_RDWR | O_CREAT, 0600, &file), 0)
      << cairn_last_error();
  if (file != nullptr) cairn_close(file);
}

cairn_ino number_of(cairn_pool* pool, const std::string& name) {
  cairn_stat st{};
  EXPECT_EQ(cairn_lookup(pool, CAIRN_ROOT, name.c_str(), 0, &st), 0) << cairn_last_error();
  return st.ino;
}

bool has_no_record(const pool::Pool& pool) {
  const format::Lane& lane = pool.lanes[pool.held.front().number];
  return std::all_of(std::begin(lane.seat), std::end(lane.seat),
                     [](const format::Seat& seat) { return seat.redo.head.load() == 0; });
}

// What a dead process had freed and another one recovers, a third takes at once: a power loss must
// not bring the dead one's change back over what the third was told. The first process unlinks an
// empty file and dies when the words are stored (`cleared`: and the record is cleared, which is not
// durable yet); the second meets its lock, recovers it, and stops as soon as the inode is free; the
// third makes files until one has that inode.
class TakesWhatADeadOneFreed final : public Scene {
 public:
  explicit TakesWhatADeadOneFreed(bool cleared) : cleared_(cleared) {}
  void prepare(CrashLab& lab) override {
    create(lab.pool(), "empty");
    create(lab.pool(), "other");
    EXPECT_EQ(cairn_mkdir(lab.pool(), CAIRN_ROOT, "d", 0700), 0);
    create(lab.pool(), "d/first");  // the directory has its blocks
    number_ = number_of(lab.pool(), "empty");
    inode_ = file::inode_at(*lab.pool()->fs, number_);
  }
  void act(int who, cairn_pool* pool) override {
    if (who != third) cairn_unlink(pool, CAIRN_ROOT, who == 0 ? "empty" : "other");
    for (int i = 0; who == third && i < 40 && taken_.empty(); ++i) {
      const std::string name = "d/new" + std::to_string(i);
      create(pool, name);
      if (number_of(pool, name) == number_) taken_ = "/" + name;
    }
  }
  bool stops(int who, CrashLab& lab) override {
    const uint64_t state = inode_->state.load() & 7;
    if (who == 1) return state == format::inode_free;
    return state == format::inode_allocating && (!cleared_ || has_no_record(lab.pool(0)->fs->pool));
  }
  [[nodiscard]] bool first_dies() const override { return true; }
  [[nodiscard]] std::string judge(const Snapshot& found) const override {
    if (taken_.empty()) return "nobody got the inode: this scene showed nothing";
    return found.count(taken_) != 0 ? "" : "acknowledged, and gone: " + taken_;
  }

 private:
  bool cleared_;
  cairn_ino number_ = 0;
  const format::Inode* inode_ = nullptr;
  std::string taken_;
};

// The first process fills a hole and stops when the block is published, with the mark that this is
// not durable yet; the second writes into the block as well, makes the entry durable, takes the
// mark off and stops; the third finds no mark, writes into the block, and rests on that.
class RestsOnASettledEntry final : public Scene {
 public:
  void prepare(CrashLab& lab) override {
    create(lab.pool(), "hole");
    const cairn_ino number = number_of(lab.pool(), "hole");
    EXPECT_EQ(cairn_truncate(lab.pool(), number, 0, 40'000), 0);
    entry_ = &file::inode_at(*lab.pool()->fs, number)->direct[file_block];
  }
  void act(int who, cairn_pool* pool) override {
    cairn_file* file = nullptr;
    EXPECT_EQ(cairn_open(pool, CAIRN_ROOT, "hole", O_RDWR, 0, &file), 0) << cairn_last_error();
    EXPECT_EQ(cairn_pwrite(file, bytes, sizeof bytes, offset_of(who)),
              static_cast<ssize_t>(sizeof bytes));
  }
  bool stops(int who, CrashLab& /*lab*/) override {
    const uint64_t value = entry_->load();
    return value != 0 && ((value & file::Entry::not_yet_durable) != 0) == (who == 0);
  }
  [[nodiscard]] std::string judge(const Snapshot& found) const override {
    const auto& blocks = found.at("/hole").blocks;
    const auto block = blocks.find(file_block);
    const bool there =
        block != blocks.end() && block->second.compare(offset_of(third) % format::block_size,
                                                       sizeof bytes, bytes, sizeof bytes) == 0;
    return there ? "" : "acknowledged bytes are gone";
  }

 private:
  static constexpr uint64_t file_block = 5;
  static constexpr char bytes[] = "acknowledged";
  static uint64_t offset_of(int who) {
    return file_block * format::block_size + 1000 * static_cast<uint64_t>(who);
  }
  const persist::Word* entry_ = nullptr;
};

}  // namespace

const std::vector<NamedScene>& all_scenes() {
  using persist::Granularity;
  const auto not_cleared = []() -> std::unique_ptr<Scene> {
    return std::make_unique<TakesWhatADeadOneFreed>(false);
  };
  const auto cleared = []() -> std::unique_ptr<Scene> {
    return std::make_unique<TakesWhatADeadOneFreed>(true);
  };
  static const std::vector<NamedScene> scenes = {
      {"take what a dead one freed", Granularity::cache_line, not_cleared},
      {"take what a dead one freed, cleared", Granularity::cache_line, cleared},
      {"take what a dead one freed in a file", Granularity::page, not_cleared},
      {"take what a dead one freed in a file, cleared", Granularity::page, cleared},
      // A file keeps its marks until fsync.
      {"rest on a settled entry", Granularity::cache_line,
       []() -> std::unique_ptr<Scene> { return std::make_unique<RestsOnASettledEntry>(); }},
  };
  return scenes;
}

}  // namespace cairn::test
