// DamagedSet: a set with three versions in a pool and in lower, to be damaged one bit at a time. It
// knows where each kind of record lies, and puts everything back.
#pragma once

#include <functional>
#include <iterator>

#include "checkpoint/sources/lower_set.h"
#include "damage/damaged_pool.h"

namespace cairn::test {

class DamagedSet {
 public:
  static constexpr int64_t versions = 3;
  static constexpr const char* set_name = DamagedPool::set_name;

  DamagedSet() : pool_(folder_.path() + "/pool") {
    std::filesystem::create_directory(lower());
    std::filesystem::permissions(lower(), std::filesystem::perms::owner_all);
    cairn_pool* pool = nullptr;
    EXPECT_EQ(cairn_pool_attach(path().c_str(), 0, &pool), 0) << cairn_last_error();
    write_versions(pool);
    cairn_pool_detach(pool);
    pool_.note();
    kinds_ = pool_.kinds();
    for (const auto& file : std::filesystem::directory_iterator(set_in_lower()))
      lower_files_[file.path().filename()] = file_bytes(file.path());
    note_lower();
  }

  [[nodiscard]] std::string path() const { return pool_.path(); }
  [[nodiscard]] std::string lower() const { return folder_.path() + "/lower"; }
  [[nodiscard]] std::string set_in_lower() const {
    return lower() + "/.cairn-checkpoints/" + set_name;
  }
  [[nodiscard]] const RecordKinds& kinds() const { return kinds_; }

  // As it was before any damage.
  void put_back(bool with_lower) {
    pool_.put_back();
    if (!with_lower) {
      std::filesystem::remove_all(lower() + "/.cairn-checkpoints");
      return;
    }
    std::filesystem::create_directories(set_in_lower());
    for (const auto& name : {lower() + "/.cairn-checkpoints", set_in_lower()})
      std::filesystem::permissions(name, std::filesystem::perms::owner_all);
    for (const auto& file : std::filesystem::directory_iterator(set_in_lower()))
      if (!lower_files_.contains(file.path().filename())) std::filesystem::remove(file.path());
    for (const auto& [name, bytes] : lower_files_) {
      const std::string file = set_in_lower() + "/" + name;
      if (!std::filesystem::exists(file) || file_bytes(file) != bytes) store(file, bytes);
    }
  }
  void flip(const Range& range, uint64_t byte, unsigned bit) {
    if (!range.is_in_lower) return pool_.flip(range, byte, bit);
    const auto bits = static_cast<uint8_t>(1U << bit);
    std::fstream file(set_in_lower() + "/" + range.file, std::ios::in | std::ios::out);
    const auto at = static_cast<std::streamoff>(range.begin + byte);
    char held = 0;
    file.seekg(at).get(held);
    file.seekp(at).put(static_cast<char>(held ^ static_cast<char>(bits)));
  }

  // What a restart finds. `goes_on`: it writes version 4.
  Found restart(bool with_lower, bool goes_on = false) {
    return restart_from(path(), with_lower, goes_on);
  }
  // What a restart in another pool finds, without lower.
  Found restart_in_pool(const std::string& path) { return restart_from(path, false, false); }
  // The same with a pool that has nothing.
  Found restart_elsewhere(bool with_lower) {
    const std::string other = folder_.path() + "/other";
    DamagedPool::create(other);
    Found found = restart_from(other, with_lower, false);
    std::filesystem::remove_all(other);
    return found;
  }
  // The versions that lower lists.
  [[nodiscard]] std::set<std::string> listed() const {
    std::set<std::string> names;
    for (const auto& file : std::filesystem::directory_iterator(set_in_lower()))
      if (file.path().extension() == ".json") names.insert(file.path().filename());
    return names;
  }

 private:
  Found restart_from(const std::string& path, bool with_lower, bool goes_on) {
    cairn_pool* pool = nullptr;
    Found found;
    if (cairn_pool_attach(path.c_str(), 0, &pool) != 0) {
      found.error = std::string("attach: ") + cairn_last_error();
      return found;
    }
    found = restart_in(pool, with_lower, goes_on);
    cairn_pool_detach(pool);
    return found;
  }
  cairn_checkpoint* init(cairn_pool* pool, bool with_lower) {
    cairn_checkpoint_options options{};
    options.struct_size = sizeof options;
    options.pool = pool;
    options.keep = 3;
    options.max_attempts = 1000;
    const std::string directory = lower();
    if (with_lower) options.lower = directory.c_str();
    options.lower_keep = 4;
    cairn_checkpoint* checkpoint = nullptr;
    return cairn_checkpoint_init(set_name, CAIRN_NO_COMMUNICATOR, &options, &checkpoint) == 0
               ? checkpoint
               : nullptr;
  }
  struct Arrays {
    Rows rows{60, 0, 1};
    int64_t step = 0;
    int define(cairn_checkpoint* checkpoint) {
      const int result = rows.define(checkpoint);
      return result != 0 ? result : define_scalar(checkpoint, "step", &step);
    }
    void set(int64_t version) {
      rows.set(version);
      step = version;
    }
  };

  void write_versions(cairn_pool* pool) {
    cairn_checkpoint* checkpoint = init(pool, true);
    ASSERT_NE(checkpoint, nullptr) << cairn_last_error();
    Arrays arrays;
    ASSERT_EQ(arrays.define(checkpoint), 0) << cairn_last_error();
    for (int64_t version = 1; version <= versions; ++version) {
      arrays.set(version);
      cairn_checkpoint_handle handle = 0;
      ASSERT_EQ(cairn_checkpoint_iwrite(checkpoint, version, &handle), 0) << cairn_last_error();
      ASSERT_EQ(cairn_checkpoint_wait(checkpoint, handle, CAIRN_LEVEL_GLOBAL, -1), 0)
          << cairn_last_error();
    }
    ASSERT_EQ(cairn_checkpoint_finalize(checkpoint), 0) << cairn_last_error();
  }

  Found restart_in(cairn_pool* pool, bool with_lower, bool goes_on) {
    Found found;
    cairn_checkpoint* checkpoint = init(pool, with_lower);
    if (checkpoint == nullptr) {
      found.error = std::string("init: ") + cairn_last_error();
      return found;
    }
    Arrays arrays;
    auto info = empty_info();
    if (arrays.define(checkpoint) != 0) {
      found.error = std::string("define: ") + cairn_last_error();
    } else if (const int tested =
                   cairn_checkpoint_restart_test(checkpoint, CAIRN_CHECKPOINT_LATEST, nullptr);
               tested < 0) {
      found.error = std::string("restart_test: ") + cairn_last_error();
    } else if (tested == 1 &&
               cairn_checkpoint_read(checkpoint, CAIRN_CHECKPOINT_LATEST, 0, &info) != 0) {
      found.error = std::string("read: ") + cairn_last_error();
    } else if (tested == 1) {
      found.number = info.number;
      found.is_right = arrays.rows.difference(info.number).empty() && arrays.step == info.number;
      found.skipped = info.skipped;
      found.from_copies = info.from_copies;
      found.why = info.why;
      arrays.set(4);
      if (goes_on && cairn_checkpoint_write(checkpoint, 4) != 0)
        found.error = std::string("write: ") + cairn_last_error();
    }
    if (cairn_checkpoint_finalize(checkpoint) != 0 && found.error.empty() && found.number == 0)
      found.error = std::string("finalize: ") + cairn_last_error();
    return found;
  }

  static std::string kind_in_lower(const std::string& name) {
    if (name.ends_with(".json")) return "record";
    if (name.starts_with("set")) return "set";
    return DamagedPool::kind_of(name);
  }
  void note_lower() {
    for (const auto& [name, bytes] : lower_files_) {
      if (name == "lock" || bytes.empty()) continue;
      uint64_t begin = 0;
      if (name.ends_with(".data")) begin = uint64_t{2} << 20;
      if (begin >= bytes.size()) continue;
      // Versions 1 to 3 have these sequences.
      const auto sequence = static_cast<int64_t>(checkpoint::sequence_of_name(name));
      kinds_.add("lower: " + kind_in_lower(name),
                 {begin, bytes.size(), name, sequence, false, true});
    }
  }

  static void store(const std::string& name, const std::vector<uint8_t>& bytes) {
    std::ofstream file(name, std::ios::binary | std::ios::trunc);
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    std::filesystem::permissions(
        name, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  }

  TemporaryFolder folder_;
  DamagedPool pool_;
  RecordKinds kinds_;
  std::map<std::string, std::vector<uint8_t>> lower_files_;
};

}  // namespace cairn::test
