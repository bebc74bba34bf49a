// The side of a copy that reads or writes a pool.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "commands/copy_side.h"
#include "pools/pool_path.h"
#include "pools/pool_tree.h"
#include "text/error.h"

namespace cairn::cli {
namespace {

class PoolFile : public OpenFile {
 public:
  PoolFile(const Pool& pool, const std::string& path, int flags, uint32_t mode)
      : path_(path), file_(pool, path, flags, mode) {}

  size_t read(void* buffer, size_t size, uint64_t offset) override {
    return static_cast<size_t>(check(cairn_pread(file_.get(), buffer, size, offset), path_));
  }
  void write(const void* buffer, size_t size, uint64_t offset) override {
    const char* bytes = static_cast<const char*>(buffer);
    while (size > 0) {
      const auto count =
          static_cast<size_t>(check(cairn_pwrite(file_.get(), bytes, size, offset), path_));
      bytes += count;
      size -= count;
      offset += count;
    }
  }
  std::optional<uint64_t> next_data(uint64_t offset) override {
    const int64_t at = cairn_seek(file_.get(), static_cast<int64_t>(offset), SEEK_DATA);
    if (at == -ENXIO) return std::nullopt;
    return static_cast<uint64_t>(check(at, path_));
  }
  uint64_t next_hole(uint64_t offset) override {
    return static_cast<uint64_t>(
        check(cairn_seek(file_.get(), static_cast<int64_t>(offset), SEEK_HOLE), path_));
  }
  void set_size(uint64_t size) override { check(cairn_ftruncate(file_.get(), size), path_); }
  void finish(bool sync) override {
    if (sync) check(cairn_fsync(file_.get()), path_);
    file_.close();
  }

 private:
  std::string path_;
  File file_;
};

class PoolSide : public Side {
 public:
  explicit PoolSide(const Pool& pool) : pool_(pool) {}

  std::optional<SideStat> look(const std::string& path, bool follow) override {
    cairn_stat st{};
    const int result = try_stat(pool_, path, follow, &st);
    if (result == -ENOENT) return std::nullopt;
    check(result, path);
    // Stands for a device: both sides of a copy within a pool have this number, and no other side.
    return SideStat{st.mode, st.size,     reinterpret_cast<uintptr_t>(&pool_),
                    st.ino,  st.atime_ns, st.mtime_ns};
  }
  std::vector<std::string> names(
      const std::string& path, const std::function<void(const std::string&)>& problem) override {
    PoolTree tree(pool_, problem);
    std::vector<std::string> all = tree.names(stat_of(pool_, path).ino, show(path));
    std::sort(all.begin(), all.end());
    return all;
  }
  [[nodiscard]] bool is_tree() const override { return true; }
  std::string link_target(const std::string& path) override {
    return read_link(pool_, stat_of(pool_, path, false).ino, path);
  }
  void make_directory(const std::string& path, uint32_t mode) override {
    const int result = cairn_mkdir(pool_.get(), CAIRN_ROOT, path.c_str(), mode);
    if (result != -EEXIST) check(result, path);
  }
  void make_link(const std::string& target, const std::string& path) override {
    int result = cairn_symlink(pool_.get(), target.c_str(), CAIRN_ROOT, path.c_str());
    if (result == -EEXIST) {
      check(cairn_unlink(pool_.get(), CAIRN_ROOT, path.c_str()), path);
      result = cairn_symlink(pool_.get(), target.c_str(), CAIRN_ROOT, path.c_str());
    }
    check(result, path);
  }
  std::unique_ptr<OpenFile> open_to_read(const std::string& path) override {
    return std::make_unique<PoolFile>(pool_, path, O_RDONLY, 0);
  }
  std::unique_ptr<OpenFile> open_to_write(const std::string& path, uint32_t mode) override {
    return std::make_unique<PoolFile>(pool_, path, O_RDWR | O_CREAT | O_TRUNC, mode);
  }
  void set_mode(const std::string& path, uint32_t mode) override {
    const cairn_stat found = stat_of(pool_, path);
    check(cairn_chmod(pool_.get(), found.ino, found.generation, mode), path);
  }
  void set_times(const std::string& path, const SideStat& st) override {
    const cairn_stat found = stat_of(pool_, path, false);
    check(cairn_utimens(pool_.get(), found.ino, found.generation, st.atime_ns, st.mtime_ns), path);
  }
  std::optional<uint64_t> free_bytes() override {
    cairn_space space{};
    check(cairn_statfs(pool_.get(), &space), pool_.path());
    return space.free_bytes;
  }
  [[nodiscard]] std::string show(const std::string& path) const override {
    return pool_.name() + ":" + path;
  }

 private:
  const Pool& pool_;
};

}  // namespace

std::unique_ptr<Side> pool_side(const Pool& pool) { return std::make_unique<PoolSide>(pool); }

}  // namespace cairn::cli
