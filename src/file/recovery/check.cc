#include "file/recovery/check.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "file/namespace/directory.h"
#include "file/namespace/names.h"
#include "file/recovery/attach.h"
#include "file/recovery/damaged_names.h"
#include "pool/space/space.h"

namespace cairn::file {
namespace {

using format::chunk_blocks;
using ull = unsigned long long;

class Checker {
 public:
  Checker(FileSystem& fs, const std::function<void(const char*)>& finding)
      : fs_(fs), pool_(fs.pool), finding_(finding) {
    for (uint32_t s = 0; s < pool_.segments.load(); ++s)
      claimed_.emplace_back(pool_.segment[s]->blocks, false);
  }

  uint64_t run() {
    claim_map(fs_.itable());
    claim_map(fs_.otable());
    claim_map(fs_.ptable());
    const uint64_t numbers = pool_.state->itable_blocks.load() * format::inodes_per_block;
    for (uint64_t n = format::root_inode; n < numbers; ++n) check_inode(n);
    check_names(numbers);
    check_orphans(numbers);
    check_space();
    return findings_;
  }

  [[gnu::format(printf, 2, 3)]] void found(const char* text, ...) {
    char line[512];
    va_list arguments;
    va_start(arguments, text);
    std::vsnprintf(line, sizeof line, text, arguments);
    va_end(arguments);
    ++findings_;
    finding_(line);
  }

  // Records that an entry of a map claims these blocks.
  void claim(uint64_t inode, BlockRef first, uint64_t blocks, uint64_t file_block, unsigned level) {
    for (uint64_t i = 0; i < blocks; ++i) {
      const BlockRef block = first.plus(i);
      auto mark = claimed_[block.segment()].begin() + static_cast<ptrdiff_t>(block.index());
      if (*mark) {
        found("block %u:%llu is named twice, the second time by inode %llu at file block %llu",
              block.segment(), ull{block.index()}, ull{inode}, ull{file_block + i});
        continue;
      }
      *mark = true;
      const uint64_t owner = pool_.record(block).owner.load();
      if (format::record_state(owner) != format::record_used)
        found("block %u:%llu of inode %llu is recorded as free", block.segment(),
              ull{block.index()}, ull{inode});
      else if (format::record_inode(owner) != inode || format::record_level(owner) != level ||
               pool_.record(block).file_block.load() != file_block + i)
        found("block %u:%llu of inode %llu is recorded as inode %llu's", block.segment(),
              ull{block.index()}, ull{inode}, ull{format::record_inode(owner)});
      const uint64_t bits = pool_.chunk(block).free[block.index() % chunk_blocks / 64].load();
      if ((bits >> (block.index() % 64) & 1) != 0)
        found("block %u:%llu of inode %llu is marked free", block.segment(), ull{block.index()},
              ull{inode});
    }
  }

 private:
  class Claims final : public MapVisitor {
   public:
    Claims(Checker& checker, uint64_t number) : checker_(checker), number_(number) {}
    bool data(Word& /*word*/, Entry entry, uint64_t file_block, uint64_t blocks) override {
      checker_.claim(number_, entry.block(), blocks, file_block, 0);
      return true;
    }
    bool node(Word& /*word*/, Entry entry, uint64_t file_block, unsigned level) override {
      checker_.claim(number_, entry.block(), 1, file_block, level);
      return true;
    }
    bool damage(Word& /*word*/, uint64_t file_block, unsigned level) override {
      checker_.found("inode %llu: its map is damaged at offset %llu (level %u)", ull{number_},
                     ull{file_block << format::block_shift}, level);
      return true;
    }

   private:
    Checker& checker_;
    uint64_t number_;
  };

  void claim_map(const Map& map, uint64_t from = 0, uint64_t to = max_file_blocks) {
    Claims claims(*this, map.number);
    visit_map(pool_, map, from, to, claims);
  }

  void check_inode(uint64_t number) {
    Inode* inode = inode_at(fs_, number);
    if (inode == nullptr) {
      found("the inode table has no block for inode %llu", ull{number});
      return;
    }
    const uint64_t state = inode->state.load() & 7;
    if (number == format::root_inode &&
        (state != format::inode_live || !S_ISDIR(inode->mode.load())))
      found("the root directory is not there");
    if (state > format::inode_orphan)
      found("inode %llu: unknown state %llu", ull{number}, ull{state});
    if (state != format::inode_live && state != format::inode_orphan) return;
    const bool is_cut =
        state == format::inode_orphan && (inode->flags.load() & format::flag_change) != 0;
    if (is_cut)
      claim_map({inode, inode->orphan_of.load()}, inode->orphan_from.load(),
                inode->orphan_to.load());
    else
      claim_map({inode, number});
    const Entry xattr{inode->xattr.load()};
    const uint64_t whose = is_cut ? inode->orphan_of.load() : number;
    if (xattr) {
      if (!pool_.valid(xattr.block()) || !xattr.belongs_to(whose, 0, format::level_xattr))
        found("inode %llu: its extended attributes are damaged", ull{number});
      else
        claim(whose, xattr.block(), 1, 0, format::level_xattr);
    }
    if (state == format::inode_live && (inode->shape.load() & 1) != 0 && !waits())
      found("inode %llu: a structural change is under way", ull{number});
  }

  // Returns true if unfinished work is no fault: a process that attaches, while this one only reads
  // the pool, finishes or undoes it.
  [[nodiscard]] bool waits() const { return pool_.read_only && pool_.state->clean.load() == 0; }

  // Checks that each inode in the lists waits for its end, and stands in one list only, once.
  void check_orphans(uint64_t numbers) {
    std::vector<bool> listed(numbers, false);
    for (uint32_t shard = 0; shard < format::orphan_shards && !waits(); ++shard) {
      for (uint64_t n = pool_.orphans[shard].head.load(); n != 0;) {
        const Inode* inode = n < numbers ? inode_at(fs_, n) : nullptr;
        if (inode == nullptr || (inode->state.load() & 7) != format::inode_orphan || listed[n]) {
          found("orphan list %u names inode %llu, which does not exist or is already listed", shard,
                ull{n});
          break;
        }
        listed[n] = true;
        n = inode->orphan_next.load();
      }
    }
  }

  // Checks that every live inode has as many names as it counts, and every name an inode.
  void check_names(uint64_t numbers) {
    std::unordered_map<uint64_t, uint64_t> names;
    std::unordered_map<uint64_t, uint64_t> subdirectories;
    for (uint64_t n = format::root_inode; n < numbers; ++n) {
      Inode* inode = inode_at(fs_, n);
      if (inode == nullptr || (inode->state.load() & 7) != format::inode_live ||
          !S_ISDIR(inode->mode.load()))
        continue;
      check_directory({inode, n}, &names, &subdirectories);
    }
    check_tree();
    for (uint64_t n = format::root_inode; n < numbers; ++n) {
      const Inode* inode = inode_at(fs_, n);
      if (inode == nullptr || (inode->state.load() & 7) != format::inode_live) continue;
      const uint64_t links = inode->links.load();
      uint64_t expected = names[n];
      if (S_ISDIR(inode->mode.load())) {
        expected = names[n] != 0 || n == format::root_inode ? 2 + subdirectories[n] : 0;
      }
      if (links != expected)
        found("inode %llu: link count %llu, but %llu were found", ull{n}, ull{links},
              ull{expected});
    }
  }

  void check_directory(const Map& map, std::unordered_map<uint64_t, uint64_t>* names,
                       std::unordered_map<uint64_t, uint64_t>* subdirectories) {
    file::check_names(
        fs_, map, [&](const char* text) { found("%s", text); },
        [&](const Listed& entry) {
          ++(*names)[entry.inode];
          check_named(map, entry, subdirectories);
        });
  }

  static std::string printable_name_of(const Listed& entry) {
    return printable_name(entry.name, entry.length);
  }

  // Checks the inode that a name refers to.
  void check_named(const Map& map, const Listed& entry,
                   std::unordered_map<uint64_t, uint64_t>* subdirectories) {
    const Inode* inode = inode_at(fs_, entry.inode);
    if (inode == nullptr || (inode->state.load() & 7) != format::inode_live) {
      found("directory %llu, slot %llu: name \"%s\" names inode %llu, which does not exist",
            ull{map.number}, ull{entry.unit}, printable_name_of(entry).c_str(), ull{entry.inode});
      return;
    }
    const uint64_t mode = inode->mode.load();
    if ((mode & S_IFMT) >> 12 != entry.type)
      found("directory %llu, slot %llu: name \"%s\" has type %u, but inode %llu has mode %llo",
            ull{map.number}, ull{entry.unit}, printable_name_of(entry).c_str(), entry.type,
            ull{entry.inode}, ull{mode});
    if (!S_ISDIR(mode)) return;
    ++(*subdirectories)[map.number];
    if (inode->directory.parent.load() != map.number)
      found("directory %llu (slot %llu of directory %llu, \"%s\") says that its parent is %llu",
            ull{entry.inode}, ull{entry.unit}, ull{map.number}, printable_name_of(entry).c_str(),
            ull{inode->directory.parent.load()});
    const auto [first, is_first] = named_.try_emplace(entry.inode, map.number, entry.unit);
    if (entry.inode == format::root_inode)
      found("directory %llu, slot %llu: \"%s\" names the root directory", ull{map.number},
            ull{entry.unit}, printable_name_of(entry).c_str());
    else if (!is_first)
      found(
          "directory %llu has two names: slot %llu of directory %llu, and slot %llu (\"%s\") of "
          "directory %llu",
          ull{entry.inode}, ull{first->second.second}, ull{first->second.first}, ull{entry.unit},
          printable_name_of(entry).c_str(), ull{map.number});
  }

  // Checks that every directory with a name lies below the root: each way up ends there. Any other
  // way runs in a circle, or ends at a directory without a name, whose link count is wrong already.
  void check_tree() {
    constexpr uint64_t reached = UINT64_MAX;
    std::unordered_map<uint64_t, uint64_t>
        met;  // by which way; reached: where it leads to is known
    for (const auto& [begin, place] : named_) {
      uint64_t at = begin;
      while (at != format::root_inode && met.try_emplace(at, begin).second) {
        const auto above = named_.find(at);
        if (above == named_.end()) break;
        at = above->second.first;
      }
      if (const auto again = met.find(at); at != format::root_inode && again != met.end() &&
                                           again->second == begin && named_.count(at) != 0)
        found(
            "directory %llu cannot be reached from the root: slot %llu of directory %llu, which "
            "lies below it, is its name",
            ull{at}, ull{named_.at(at).second}, ull{named_.at(at).first});
      for (at = begin; at != format::root_inode;) {
        const auto way = met.find(at);
        if (way == met.end() || way->second != begin) break;
        way->second = reached;
        const auto above = named_.find(at);
        if (above == named_.end()) break;
        at = above->second.first;
      }
    }
  }

  void check_space() {
    for (uint32_t s = 0; s < pool_.segments.load(); ++s) {
      const pool::Segment& segment = *pool_.segment[s];
      for (uint64_t c = segment.data_start / chunk_blocks; c < segment.chunks; ++c) {
        if ((segment.chunk[c].state.load() & 0xff) != format::chunk_open) continue;
        for (uint64_t b = c * chunk_blocks; b < (c + 1) * chunk_blocks; ++b) {
          const bool free_bit =
              (segment.chunk[c].free[b % chunk_blocks / 64].load() >> (b % 64) & 1) != 0;
          const bool used =
              format::record_state(segment.record[b].owner.load()) == format::record_used;
          if (claimed_[s][b]) {
            if (free_bit) found("block %u:%llu is in use, but marked as free", s, ull{b});
            continue;
          }
          if (used)
            found("block %u:%llu is recorded as inode %llu's, but no map names it (leaked)", s,
                  ull{b}, ull{format::record_inode(segment.record[b].owner.load())});
          else if (!free_bit)
            found("block %u:%llu is free, but not marked so", s, ull{b});
        }
      }
    }
  }

  FileSystem& fs_;
  Pool& pool_;
  const std::function<void(const char*)>& finding_;
  std::vector<std::vector<bool>> claimed_;
  // Directory -> the directory and the slot of its first name.
  std::unordered_map<uint64_t, std::pair<uint64_t, uint64_t>> named_;
  uint64_t findings_ = 0;
};

}  // namespace

uint64_t check_mapped(FileSystem& fs, const std::function<void(const char*)>& finding) {
  return Checker(fs, finding).run();
}

Result<uint64_t> check(const std::string& path, const std::function<void(const char*)>& finding) {
  AttachOptions options;
  options.read_only = true;
  options.no_recovery = true;
  auto fs = attach(path, options);
  if (!fs.ok()) {
    if (fs.code() != EUCLEAN && fs.code() != EPROTONOSUPPORT) return fs.status();
    finding(last_detail());
    return uint64_t{1};
  }
  return check_mapped(**fs, finding);
}

}  // namespace cairn::file
