// DamagedSet: a set with three versions in a pool and in lower, to be damaged one bit at a time. It
// knows where each kind of record lies, and puts everything back.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <set>

#include "capi/core/handles.h"
#include "checkpoint/ranks.h"
#include "checkpoint/store/records.h"
#include "file/inode/file_system.h"
#include "file/namespace/directory.h"
#include "file/namespace/directory_slots.h"
#include "pool/lanes/seats.h"
#include "tier/record/record.h"

namespace cairn::test {

// Bytes of one kind of record, in the image of the pool or in a file of lower.
struct Range {
  uint64_t begin = 0;
  uint64_t end = 0;
  std::string file;  // of the set, in the pool or in lower
  bool is_in_lower = false;
};
struct RecordKind {
  std::string name;
  std::vector<Range> ranges;
};

class DamagedSet {
 public:
  static constexpr int64_t versions = 3;
  static constexpr const char* set_name = "field";

  DamagedSet() {
    create(path());
    std::filesystem::create_directory(lower());
    std::filesystem::permissions(lower(), std::filesystem::perms::owner_all);
    cairn_pool* pool = nullptr;
    EXPECT_EQ(cairn_pool_attach(path().c_str(), 0, &pool), 0) << cairn_last_error();
    write_versions(pool);
    note_places(pool);
    cairn_pool_detach(pool);
    image_ = bytes_of(segment());
    note_contents();
    for (const auto& file : std::filesystem::directory_iterator(set_in_lower()))
      lower_files_[file.path().filename()] = bytes_of(file.path());
    note_lower();
    map_ = map_segment();
  }
  ~DamagedSet() { munmap(map_, image_.size()); }
  DamagedSet(const DamagedSet&) = delete;
  DamagedSet& operator=(const DamagedSet&) = delete;

  [[nodiscard]] std::string path() const { return folder_.path() + "/pool"; }
  [[nodiscard]] std::string lower() const { return folder_.path() + "/lower"; }
  [[nodiscard]] std::string set_in_lower() const {
    return lower() + "/.cairn-checkpoints/" + set_name;
  }
  [[nodiscard]] const std::vector<RecordKind>& kinds() const { return kinds_; }
  [[nodiscard]] const RecordKind& kind(const std::string& name) const {
    const auto found = std::find_if(kinds_.begin(), kinds_.end(),
                                    [&](const RecordKind& one) { return one.name == name; });
    if (found == kinds_.end()) std::abort();
    return *found;
  }

  // As it was before any damage.
  void put_back(bool with_lower) {
    std::memcpy(map_, image_.data(), image_.size());
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
      if (!std::filesystem::exists(file) || bytes_of(file) != bytes) store(file, bytes);
    }
  }
  void flip(const Range& range, uint64_t byte, unsigned bit) {
    const auto bits = static_cast<uint8_t>(1U << bit);
    if (!range.is_in_lower) {
      map_[range.begin + byte] ^= bits;
      return;
    }
    std::fstream file(set_in_lower() + "/" + range.file, std::ios::in | std::ios::out);
    const auto at = static_cast<std::streamoff>(range.begin + byte);
    char held = 0;
    file.seekg(at).get(held);
    file.seekp(at).put(static_cast<char>(held ^ static_cast<char>(bits)));
  }

  struct Found {
    int64_t number = 0;  // 0: none
    bool is_right = false;
    uint32_t skipped = 0;
    uint32_t from_copies = 0;
    std::string why;    // of those skipped, or of the copies
    std::string error;  // "": none
  };
  // What a restart finds. `goes_on`: it writes version 4.
  Found restart(bool with_lower, bool goes_on = false) {
    return restart_from(path(), with_lower, goes_on);
  }
  // The same with a pool that has nothing.
  Found restart_elsewhere(bool with_lower) {
    const std::string other = folder_.path() + "/other";
    create(other);
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
  static void create(const std::string& path) {
    cairn_pool_options options{};
    options.struct_size = sizeof options;
    options.size = uint64_t{12} << 20;
    options.lanes = 4;
    EXPECT_EQ(cairn_pool_create(path.c_str(), &options), 0) << cairn_last_error();
  }

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

  // --- where records lie ---
  void add(const std::string& kind, Range range) {
    const auto found = std::find_if(kinds_.begin(), kinds_.end(),
                                    [&](const RecordKind& one) { return one.name == kind; });
    if (found == kinds_.end()) {
      kinds_.push_back({kind, {std::move(range)}});
    } else {
      found->ranges.push_back(std::move(range));
    }
  }
  void add_memory(const std::string& kind, const std::string& file, const file::FileSystem& fs,
                  const void* begin, uint64_t bytes) {
    const pool::Segment& segment = fs.pool.segment_of(begin);
    const auto at = static_cast<uint64_t>(static_cast<const uint8_t*>(begin) - segment.base);
    add(kind, {at, at + bytes, file});
  }

  // Inodes, names and indexes, which have addresses in an attached pool.
  void note_places(cairn_pool* pool) {
    file::FileSystem& fs = capi::fs_of(pool);
    const uint64_t all = *tier::find_child(fs, format::root_inode, ".checkpoints");
    const uint64_t set = *tier::find_child(fs, all, set_name);
    note_name(fs, format::root_inode, ".checkpoints", "name of .checkpoints",
              "inode of .checkpoints");
    note_name(fs, all, set_name, "name of the set", "inode of the set");
    note_index(fs, all, "index of .checkpoints");
    note_index(fs, set, "index of the set");
    std::vector<file::Listed> names(64);
    const auto count = file::list_names_unlocked(fs, {file::inode_at(fs, set), set}, 0,
                                                 names.data(), names.size(), false);
    for (size_t i = 0; count.ok() && i < *count; ++i) {
      const std::string name(names[i].name, names[i].length);
      files_[name] = names[i].inode;
      const std::string kind = kind_of(name);
      note_name(fs, set, name, "name of the " + kind, "inode of the " + kind);
    }
    for (const auto& [name, number] : files_) contents_[name] = first_bytes(pool, name);
  }
  static std::string kind_of(const std::string& name) {
    if (name.ends_with(".manifest")) return "manifest";
    if (name.ends_with(".data")) return "data";
    if (name.find(".layout") != std::string::npos) return "layout";
    if (name.find(".decomposition") != std::string::npos) return "decomposition";
    return name;
  }
  void note_name(file::FileSystem& fs, uint64_t directory, const std::string& text,
                 const std::string& of_name, const std::string& of_inode) {
    const pool::SeatGuard seat(fs.pool);
    const auto slot = file::find_name(fs, {file::inode_at(fs, directory), directory},
                                      *file::make_name(text.data(), text.size()));
    if (!slot.ok()) std::abort();
    add_memory(of_name, text, fs, slot->dirent,
               format::dirent_name_offset(slot->head) + text.size());
    add_memory(of_inode, text, fs, file::inode_at(fs, slot->inode), format::inode_size);
  }
  void note_index(file::FileSystem& fs, uint64_t number, const std::string& kind) {
    file::Inode* inode = file::inode_at(fs, number);
    const uint64_t buckets = inode->directory.buckets.load();
    for (uint64_t bucket = 0; bucket < buckets; ++bucket)
      add_memory(kind, "", fs, file::slots::bucket_word(fs, {inode, number}, bucket),
                 sizeof(uint64_t));
  }
  static std::vector<uint8_t> first_bytes(cairn_pool* pool, const std::string& name) {
    cairn_file* file = nullptr;
    const std::string path = std::string("/.checkpoints/") + set_name + "/" + name;
    if (cairn_open(pool, CAIRN_ROOT, path.c_str(), O_RDONLY, 0, &file) != 0) std::abort();
    // Regions begin behind a hole.
    const uint64_t from = name.ends_with(".data") ? uint64_t{2} << 20 : 0;
    std::vector<uint8_t> bytes(64 << 10);
    const int64_t read = cairn_pread(file, bytes.data(), bytes.size(), from);
    bytes.resize(read < 0 ? 0 : static_cast<size_t>(read));
    cairn_close(file);
    return bytes;
  }
  // Blocks of files, found by what is in them: those of copies come in their order.
  void note_contents() {
    constexpr uint64_t block = 4096;
    std::set<uint64_t> taken;
    for (const auto& [name, bytes] : contents_) {
      for (uint64_t at = 0; at < bytes.size(); at += block) {
        const uint64_t size = std::min<uint64_t>(block, bytes.size() - at);
        const auto is_zero = [](uint8_t byte) { return byte == 0; };
        if (std::all_of(bytes.begin() + static_cast<ptrdiff_t>(at),
                        bytes.begin() + static_cast<ptrdiff_t>(at + size), is_zero))
          continue;
        for (uint64_t place = 0; place + block <= image_.size(); place += block) {
          if (taken.contains(place) ||
              std::memcmp(image_.data() + place, bytes.data() + at, size) != 0)
            continue;
          taken.insert(place);
          note_block(name, at, place, size);
          break;
        }
      }
    }
  }
  void note_block(const std::string& name, uint64_t at, uint64_t place, uint64_t size) {
    const std::string kind = kind_of(name);
    const auto part = [&](const std::string& what, uint64_t from, uint64_t to) {
      if (from >= at && to <= at + size) add(what, {place + from - at, place + to - at, name});
    };
    if (kind == "manifest") {
      part("VERSION", 0, 512);
      part("decision", checkpoint::decision_offset, checkpoint::decision_offset + 8);
      part("root", checkpoint::roots_offset, checkpoint::roots_offset + 128);
      part("part", checkpoint::roots_offset + 128, checkpoint::roots_offset + 128 + 256);
    } else if (kind == "set") {
      part("SET", 0, sizeof(checkpoint::SetRecord));
      part("SET", checkpoint::set_copy_offset,
           checkpoint::set_copy_offset + sizeof(checkpoint::SetRecord));
      part("newest", checkpoint::set_newest_offset, checkpoint::set_newest_offset + 16);
    } else if (kind == "data") {
      add("bytes and checksums", {place, place + size, name});
    } else {
      add(kind, {place, place + size, name});
    }
  }
  void note_lower() {
    for (const auto& [name, bytes] : lower_files_) {
      if (name == "lock" || bytes.empty()) continue;
      uint64_t begin = 0;
      if (name.ends_with(".data")) begin = uint64_t{2} << 20;
      if (begin >= bytes.size()) continue;
      std::string kind = kind_of(name);
      if (name.ends_with(".json")) kind = "record";
      if (name.starts_with("set")) kind = "set";
      add("lower: " + kind, {begin, bytes.size(), name, true});
    }
  }

  [[nodiscard]] std::string segment() const { return path() + "/segment.0"; }
  uint8_t* map_segment() {
    const int fd = open(segment().c_str(), O_RDWR | O_CLOEXEC);
    void* mapped = mmap(nullptr, image_.size(), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    ::close(fd);
    if (mapped == MAP_FAILED) std::abort();
    return static_cast<uint8_t*>(mapped);
  }
  static std::vector<uint8_t> bytes_of(const std::string& name) {
    std::ifstream file(name, std::ios::binary);
    std::vector<uint8_t> bytes(std::filesystem::file_size(name));
    file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return bytes;
  }
  static void store(const std::string& name, const std::vector<uint8_t>& bytes) {
    std::ofstream file(name, std::ios::binary | std::ios::trunc);
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    std::filesystem::permissions(
        name, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  }

  TemporaryFolder folder_;
  std::vector<RecordKind> kinds_;
  std::map<std::string, uint64_t> files_;                 // of the set: inode numbers
  std::map<std::string, std::vector<uint8_t>> contents_;  // and their first bytes
  std::vector<uint8_t> image_;
  std::map<std::string, std::vector<uint8_t>> lower_files_;
  uint8_t* map_ = nullptr;
};

}  // namespace cairn::test
