#include "doctor/elf_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <random>

namespace cairn::cli {
namespace {

bool has(const std::vector<std::string>& all, const std::string& name) {
  return std::find(all.begin(), all.end(), name) != all.end();
}

TEST(Elf, ReadsThisProgram) {
  const auto elf = read_elf("/proc/self/exe");
  ASSERT_TRUE(elf);
  EXPECT_TRUE(elf->is_64_bit);
  EXPECT_TRUE(elf->has_interpreter);
  EXPECT_TRUE(elf->is_dynamic);
  EXPECT_FALSE(elf->is_go);
  EXPECT_EQ(elf->machine, native_machine());
  EXPECT_TRUE(has(elf->needed, "libc.so.6"));
  EXPECT_TRUE(has(elf->imports, "unlink")) << elf->imports.size();
  EXPECT_FALSE(find_library("libc.so.6", {}).empty());
  EXPECT_TRUE(find_library("libnosuch.so.9", {}).empty());
}

TEST(Elf, WhatIsNoElfFileIsNone) {
  EXPECT_FALSE(read_elf("/proc/self/status"));
  EXPECT_FALSE(read_elf("/no/such/file"));
}

// A damaged file gives a wrong answer at worst: no crash, no endless loop.
TEST(Elf, DamagedFilesDoNoHarm) {
  std::ifstream self("/bin/true", std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(self), std::istreambuf_iterator<char>()};
  ASSERT_GT(whole.size(), 1000U);
  const auto seed = static_cast<unsigned>(getpid());
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  const std::string path = testing::TempDir() + "/cairn-elf-" + std::to_string(seed);
  for (int round = 0; round < 300; ++round) {
    std::string bytes = whole;
    for (int i = 0; i < 20; ++i)
      bytes[random() % (i % 2 == 0 ? 1024 : bytes.size())] = static_cast<char>(random());
    if (round % 3 == 0) bytes.resize(random() % bytes.size());
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
    (void)read_elf(path);
  }
  unlink(path.c_str());
}

}  // namespace
}  // namespace cairn::cli
