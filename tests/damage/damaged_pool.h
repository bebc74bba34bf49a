// DamagedPool: a pool with a set, to be damaged one bit at a time. It knows where each kind of
// record lies, and puts everything back.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "capi/core/handles.h"
#include "checkpoint/ranks.h"
#include "checkpoint/store/records.h"
#include "checkpoint/versions/catalogue.h"
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
  std::string file;      // of the set, in the pool or in lower
  int64_t version = 0;   // that the file belongs to; 0: to none
  bool is_copy = false;  // of another node's part of the version
  bool is_in_lower = false;
};
struct RecordKind {
  std::string name;
  std::vector<Range> ranges;
};

class RecordKinds {
 public:
  [[nodiscard]] const std::vector<RecordKind>& all() const { return kinds_; }
  [[nodiscard]] const RecordKind& get(const std::string& name) const {
    const auto found = std::find_if(kinds_.begin(), kinds_.end(),
                                    [&](const RecordKind& one) { return one.name == name; });
    if (found == kinds_.end()) std::abort();
    return *found;
  }
  void add(const std::string& kind, Range range) {
    const auto found = std::find_if(kinds_.begin(), kinds_.end(),
                                    [&](const RecordKind& one) { return one.name == kind; });
    if (found == kinds_.end()) {
      kinds_.push_back({kind, {std::move(range)}});
    } else {
      found->ranges.push_back(std::move(range));
    }
  }

 private:
  std::vector<RecordKind> kinds_;
};

// What a restart finds.
struct Found {
  int64_t number = 0;  // 0: none
  bool is_right = false;
  uint32_t skipped = 0;
  uint32_t from_copies = 0;
  std::string why;    // of those skipped, or of the copies
  std::string error;  // "": none
};

inline std::vector<uint8_t> file_bytes(const std::string& name) {
  std::ifstream file(name, std::ios::binary);
  std::vector<uint8_t> bytes(std::filesystem::file_size(name));
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  return bytes;
}

class DamagedPool {
 public:
  static constexpr const char* set_name = "field";

  explicit DamagedPool(std::string path) : path_(std::move(path)) { create(path_); }
  ~DamagedPool() {
    if (map_ != nullptr) munmap(map_, image_.size());
  }
  DamagedPool(const DamagedPool&) = delete;
  DamagedPool& operator=(const DamagedPool&) = delete;

  static void create(const std::string& path) {
    cairn_pool_options options{};
    options.struct_size = sizeof options;
    options.size = uint64_t{12} << 20;
    options.lanes = 4;
    EXPECT_EQ(cairn_pool_create(path.c_str(), &options), 0) << cairn_last_error();
  }

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const RecordKinds& kinds() const { return kinds_; }

  // Once the set's versions are written: it is this that is put back. No process has the pool.
  void note() {
    cairn_pool* pool = nullptr;
    ASSERT_EQ(cairn_pool_attach(path_.c_str(), 0, &pool), 0) << cairn_last_error();
    note_versions(capi::fs_of(pool));
    note_places(pool);
    cairn_pool_detach(pool);
    image_ = file_bytes(segment());
    note_contents();
    map_ = map_segment();
  }
  void put_back() { std::memcpy(map_, image_.data(), image_.size()); }
  void flip(const Range& range, uint64_t byte, unsigned bit) {
    map_[range.begin + byte] ^= static_cast<uint8_t>(1U << bit);
  }

  static std::string kind_of(const std::string& name) {
    if (name.ends_with(".manifest")) return "manifest";
    if (name.ends_with(".data")) return "data";
    if (name.find(".layout") != std::string::npos) return "layout";
    if (name.find(".decomposition") != std::string::npos) return "decomposition";
    return "file " + name;
  }

 private:
  void add(const std::string& kind, Range range) {
    const auto found = versions_.find(range.file);
    if (found != versions_.end()) {
      range.version = found->second.number;
      range.is_copy = found->second.is_copy;
    }
    kinds_.add(kind, std::move(range));
  }
  void add_memory(const std::string& kind, const std::string& file, const file::FileSystem& fs,
                  const void* begin, uint64_t bytes) {
    const pool::Segment& segment = fs.pool.segment_of(begin);
    const auto at = static_cast<uint64_t>(static_cast<const uint8_t*>(begin) - segment.base);
    add(kind, {at, at + bytes, file});
  }

  void note_versions(file::FileSystem& fs) {
    auto set = checkpoint::SetFile::open(fs, set_name);
    ASSERT_TRUE(set.ok()) << last_detail();
    checkpoint::SlotCache slot_cache(fs, (*set)->directory());
    const auto manifests = checkpoint::Catalogue::read_manifests(**set, &slot_cache);
    ASSERT_TRUE(manifests.ok()) << last_detail();
    for (const checkpoint::KnownVersion& known : manifests->versions())
      for (const uint32_t slot : known.slots())
        for (const auto& name : {checkpoint::manifest_name(slot), checkpoint::data_name(slot)})
          versions_[name] = {known.version.number, slot != known.slot};
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
    } else if (kind == "file set") {
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

  [[nodiscard]] std::string segment() const { return path_ + "/segment.0"; }
  uint8_t* map_segment() {
    const int fd = open(segment().c_str(), O_RDWR | O_CLOEXEC);
    void* mapped = mmap(nullptr, image_.size(), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    ::close(fd);
    if (mapped == MAP_FAILED) std::abort();
    return static_cast<uint8_t*>(mapped);
  }
  struct Of {
    int64_t number = 0;
    bool is_copy = false;
  };

  const std::string path_;
  RecordKinds kinds_;
  std::map<std::string, Of> versions_;                    // by names of files
  std::map<std::string, uint64_t> files_;                 // of the set: inode numbers
  std::map<std::string, std::vector<uint8_t>> contents_;  // and their first bytes
  std::vector<uint8_t> image_;
  uint8_t* map_ = nullptr;
};

}  // namespace cairn::test
