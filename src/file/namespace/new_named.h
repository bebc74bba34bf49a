// NewNamed: makes an inode together with its first name, for create, import and symbolic links.
#pragma once

#include <string_view>

#include "file/namespace/locked_name.h"

namespace cairn::file::names {

// A change that makes an inode and its first name; frees the inode if the change does not commit.
class NewNamed {
 public:
  NewNamed(FileSystem& fs, LocalSeat& seat) : fs_(fs), seat_(seat) {}
  ~NewNamed();
  NewNamed(const NewNamed&) = delete;
  NewNamed& operator=(const NewNamed&) = delete;

  Status make(uint32_t mode);
  // Writes a link's text: short ones into the inode, others into its first block.
  Status write_target(std::string_view target);
  // Flushes the inode, then makes it live and names it in one change.
  Status name(LockedName& at, const DirentSlot& place, const Witness* lower, uint64_t now);

  [[nodiscard]] Map map() const { return {made_.inode, made_.number}; }
  Inode* operator->() const { return made_.inode; }

 private:
  FileSystem& fs_;
  LocalSeat& seat_;
  NewInode made_;
};

}  // namespace cairn::file::names
