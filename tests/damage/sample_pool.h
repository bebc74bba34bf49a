// A small pool with a little of everything, detached or left as by a reboot, to be damaged.
#pragma once

#include <fstream>

#include "damage/image_mutator.h"
#include "damage/image_reader.h"
#include "model/temporary_pool.h"

namespace cairn::test {

class SamplePool {
 public:
  static constexpr uint32_t lanes = 2;

  SamplePool() {
    cairn_pool_options options{};
    options.struct_size = sizeof options;
    options.size = uint64_t{6} << 20;
    options.lanes = lanes;
    if (cairn_pool_create(path().c_str(), &options) != 0) std::abort();
    cairn_pool* pool = nullptr;
    if (cairn_pool_attach(path().c_str(), 0, &pool) != 0) std::abort();
    cairn_mkdir(pool, CAIRN_ROOT, "d", 0700);
    for (const char* name : {"a", "b", "d/c"}) {
      cairn_file* file = nullptr;
      if (cairn_open(pool, CAIRN_ROOT, name, O_CREAT | O_RDWR, 0600, &file) != 0) std::abort();
      const std::vector<uint8_t> bytes(20'000, 'x');
      cairn_pwrite(file, bytes.data(), bytes.size(), 100);
      cairn_pwrite(file, "far", 3, uint64_t{1} << 31);
      cairn_setxattr(pool, cairn_file_ino(file), 0, "user.k", "value", 5, 0);
      cairn_close(file);
    }
    cairn_symlink(pool, "a", CAIRN_ROOT, "link");
    cairn_symlink(pool, std::string(300, 'l').c_str(), CAIRN_ROOT, "long");
    cairn_pool_detach(pool);
    std::ifstream file(path() + "/segment.0", std::ios::binary);
    pristine_.assign(std::istreambuf_iterator<char>(file), {});
  }
  [[nodiscard]] std::string path() const { return folder_.path() + "/pool"; }

  // Damages it by a script and looks at it, and uses it.
  void try_script(const uint8_t* script, size_t size) {
    std::vector<uint8_t> image = pristine_;
    ImageMutator(image, lanes).apply(script, size);
    store(image);
    ImageReader(path()).look();
    ImageReader(path()).use();
  }

 private:
  void store(const std::vector<uint8_t>& image) {
    // Not cut to nothing first: the memory is used again.
    const int fd = open((path() + "/segment.0").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || ftruncate(fd, static_cast<off_t>(image.size())) != 0 ||
        pwrite(fd, image.data(), image.size(), 0) != static_cast<ssize_t>(image.size()))
      std::abort();
    ::close(fd);
  }

  TemporaryFolder folder_;
  std::vector<uint8_t> pristine_;
};

}  // namespace cairn::test
