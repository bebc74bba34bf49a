#include "checkpoint/store/layout_files.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include "checkpoint/store/new_file.h"
#include "checkpoint/store/slots.h"
#include "file/data/io.h"
#include "file/data/truncate.h"
#include "file/namespace/names.h"
#include "support/fresh_pool.h"
#include "support/sample_contents.h"
#include "tier/record/record.h"
#include "tier/system/pool_file.h"

namespace cairn::checkpoint {
namespace {

class LayoutFiles : public file::FreshPool {
 protected:
  LayoutFiles() {
    SampleContents sample = sample_contents();
    auto made = sample.contents();
    EXPECT_TRUE(made.ok()) << last_detail();
    contents = std::move(*made);
  }
  int load() { return load_contents(*fs, root, contents.layout().hash()).code(); }
  std::vector<std::string> names() {
    const auto listing = list_set(*fs, root);
    EXPECT_TRUE(listing.ok()) << last_detail();
    std::vector<std::string> all = listing->layouts;
    all.insert(all.end(), listing->decompositions.begin(), listing->decompositions.end());
    return all;
  }

  const uint64_t root = format::root_inode;
  Contents contents;
};

TEST_F(LayoutFiles, AreReadAsTheyWereStored) {
  EXPECT_EQ(load(), ENOENT);
  for (int round = 0; round < 2; ++round) {
    ASSERT_TRUE(store_contents(*fs, root, contents).ok()) << last_detail();
    const auto loaded = load_contents(*fs, root, contents.layout().hash());
    ASSERT_TRUE(loaded.ok()) << last_detail();
    EXPECT_EQ(loaded->layout().record(), contents.layout().record());
    EXPECT_EQ(names().size(), 2 * (1U + contents.layout().decompositions()));
  }
}

TEST_F(LayoutFiles, DamageIsFoundAndMended) {
  ASSERT_TRUE(store_contents(*fs, root, contents).ok()) << last_detail();
  for (const std::string& name : names()) {
    if (name.ends_with(copy_suffix)) continue;
    ASSERT_TRUE(file::unlink_name(*fs, root, name + std::string(copy_suffix)).ok());
    const auto number = tier::find_child(*fs, root, name);
    ASSERT_TRUE(number.ok());
    uint64_t size = 0;
    {
      tier::PoolFile file(*fs, *number, O_RDWR);
      size = file->inode->size.load();
      for (uint64_t at = 0; at < size; ++at) {
        uint8_t byte = 0;
        ASSERT_TRUE(file::read_at(*file, &byte, 1, at).ok());
        byte ^= 0x20;
        ASSERT_TRUE(file::write_at(*file, &byte, 1, at).ok());
        ASSERT_EQ(load(), EUCLEAN) << name << " byte " << at;
        byte ^= 0x20;
        ASSERT_TRUE(file::write_at(*file, &byte, 1, at).ok());
      }
      ASSERT_EQ(load(), 0) << last_detail();
      ASSERT_TRUE(file::truncate(*fs, file->map(), size - 1).ok());
    }
    ASSERT_EQ(load(), EUCLEAN) << name;
    ASSERT_TRUE(store_contents(*fs, root, contents).ok()) << last_detail();
    ASSERT_EQ(load(), 0) << last_detail();
    ASSERT_TRUE(file::unlink_name(*fs, root, name).ok());
    ASSERT_EQ(load(), 0) << last_detail();
    ASSERT_TRUE(file::unlink_name(*fs, root, name + std::string(copy_suffix)).ok());
    ASSERT_EQ(load(), ENOENT);
    ASSERT_TRUE(store_contents(*fs, root, contents).ok()) << last_detail();
  }
}

// A valid record stands under the name of another one.
TEST_F(LayoutFiles, ANameMustBeThatOfTheHash) {
  ASSERT_TRUE(store_contents(*fs, root, contents).ok()) << last_detail();
  Sha256Hash other = contents.layout().hash();
  other[0] ^= 1;
  const std::string from = short_hash(contents.layout().hash()) + ".layout";
  const std::string to = short_hash(other) + ".layout";
  ASSERT_TRUE(file::rename(*fs, {root, from, false}, {root, to, false}, 0).ok());
  EXPECT_EQ(load_contents(*fs, root, other).code(), EUCLEAN);
}

}  // namespace
}  // namespace cairn::checkpoint
