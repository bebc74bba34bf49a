// LaneRecovery: the file layer's part in the recovery of a dead lane. Takes no locks: a process
// that meets a dead owner may hold some.
#pragma once

#include "file/inode/file_system.h"

namespace cairn::file {

class LaneRecovery final : public pool::Client {
 public:
  explicit LaneRecovery(FileSystem& fs) : fs_(fs) {}
  bool is_published(uint64_t inode, uint64_t file_block, unsigned level, BlockRef block) override;
  void recover_seat(format::Seat& seat) override;
  void recover_lane(uint32_t lane) override;
  bool reclaim_withheld(LocalSeat& seat) override;
  bool reclaim_passed(LocalSeat& seat) override;

 private:
  FileSystem& fs_;
};

}  // namespace cairn::file
