// FreshFile: an empty open file in a pool of its own, for each unit test of a file's bytes.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <memory>

#include "file/map/map.h"
#include "file/namespace/names.h"
#include "file/open/open_file.h"
#include "pool/lanes/seats.h"
#include "support/fresh_pool.h"

namespace cairn::file {

class FreshFile : public FreshPool {
 protected:
  FreshFile() {
    auto made = create_name(*fs, format::root_inode, "file", {S_IFREG | 0600});
    EXPECT_TRUE(made.ok()) << last_detail();
    const pool::SeatGuard seat(fs->pool);
    auto opened = open_inode(*fs, *seat, made->number, O_RDWR);
    EXPECT_TRUE(opened.ok()) << last_detail();
    file = std::move(*opened);
  }
  ~FreshFile() override {
    const pool::SeatGuard seat(fs->pool);
    close_file(*seat, std::move(file));
  }
  MapCursor walk_to(uint64_t file_block) const {
    MapCursor cursor;
    EXPECT_TRUE(walk(fs->pool, file->map(), file_block, &cursor).ok()) << last_detail();
    return cursor;
  }

  std::unique_ptr<File> file;
};

}  // namespace cairn::file
