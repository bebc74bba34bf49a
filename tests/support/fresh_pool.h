// FreshPool: a pool of its own for each unit test of files.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "file/recovery/attach.h"

namespace cairn::file {

class FreshPool : public testing::Test {
 protected:
  FreshPool() {
    EXPECT_NE(mkdtemp(place_.data()), nullptr);
    const std::string path = place_ + "/pool";
    pool::CreateOptions options;
    options.size_bytes = uint64_t{8} << 20;
    options.lanes = 4;
    EXPECT_TRUE(create(path, options, 0700).ok()) << last_detail();
    auto attached = attach(path, {});
    EXPECT_TRUE(attached.ok()) << last_detail();
    fs = std::move(*attached);
  }
  ~FreshPool() override {
    detach(*fs);
    fs.reset();
    const std::string command = "rm -rf '" + place_ + "'";
    (void)!std::system(command.c_str());
  }

  std::unique_ptr<FileSystem> fs;

 private:
  std::string place_ = "/dev/shm/cairn-file-XXXXXX";
};

}  // namespace cairn::file
