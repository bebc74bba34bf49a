// What is refused, and how: the errno of each call that cannot be done is the kernel's own on a
// plain directory beside the pool, and every refusal has a text.
#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include <cerrno>
#include <climits>
#include <functional>

#include "model/temporary_pool.h"

namespace cairn::test {
namespace {

class Refusals : public testing::Test {
 protected:
  void SetUp() override {
    make_pool(path, uint64_t{32} << 20, 2);
    pool = attach(path);
    ASSERT_NE(pool, nullptr);
    ASSERT_EQ(mkdir(plain.c_str(), 0700), 0);
    ASSERT_EQ(mkdir((plain + "/d").c_str(), 0700) | mkdir((plain + "/d/e").c_str(), 0700), 0);
    ASSERT_EQ(cairn_mkdir(pool, CAIRN_ROOT, "d", 0700) | cairn_mkdir(pool, CAIRN_ROOT, "d/e", 0700),
              0);
    for (const char* name : {"f", "g", "d/h"}) {
      ::close(open((plain + "/" + name).c_str(), O_CREAT | O_RDWR, 0600));
      ASSERT_EQ(cairn_mknod(pool, CAIRN_ROOT, name, S_IFREG | 0600), 0);
    }
    for (const auto& [name, target] :
         {std::pair{"loop", "loop"}, {"dangling", "nothing"}, {"l", "f"}}) {
      ASSERT_EQ(symlink(target, (plain + "/" + name).c_str()), 0);
      ASSERT_EQ(cairn_symlink(pool, target, CAIRN_ROOT, name), 0);
    }
    top = open(plain.c_str(), O_RDONLY | O_DIRECTORY);
  }
  void TearDown() override {
    ::close(top);
    cairn_pool_detach(pool);
    EXPECT_EQ(check_pool(path), 0);
  }
  // `ours` gives a negative errno, `kernel` sets errno; both must refuse, and alike.
  void same(const char* what, int64_t ours, int64_t kernel) const {
    const int error = errno;
    EXPECT_LT(kernel, 0) << what << ": the kernel does that";
    EXPECT_EQ(-ours, error) << what << ": " << cairn_last_error()
                            << ", and the kernel: " << strerror(error);
    EXPECT_STRNE(cairn_last_error(), "") << what;
  }
  int cairn_open_flags(const char* name, int flags) {
    cairn_file* file = nullptr;
    const int result = cairn_open(pool, CAIRN_ROOT, name, flags, 0600, &file);
    if (result == 0) cairn_close(file);
    return result;
  }

  TemporaryFolder folder;
  const std::string path = folder.path() + "/pool";
  const std::string plain = folder.path() + "/plain";
  cairn_pool* pool = nullptr;
  int top = -1;
};

TEST_F(Refusals, Open) {
  const std::string long_name(256, 'n');
  const std::string long_path(5000, 'p');
  const struct {
    const char* name;
    int flags;
  } cases[] = {
      {"none", O_RDONLY},
      {"none/f", O_RDWR | O_CREAT},
      {"f/x", O_RDWR | O_CREAT},
      {"f", O_RDWR | O_CREAT | O_EXCL},
      {"l", O_RDWR | O_CREAT | O_EXCL},
      {"dangling", O_RDWR},
      {"loop", O_RDWR},
      {"l", O_RDONLY | O_NOFOLLOW},
      {"d", O_RDWR},
      {"d", O_WRONLY},
      {"d", O_RDONLY | O_CREAT},
      {"f", O_RDONLY | O_DIRECTORY},
      {"f/", O_RDWR},
      {"d/", O_RDWR | O_CREAT},
      {"", O_RDONLY},
      {long_name.c_str(), O_RDWR | O_CREAT},
      {long_path.c_str(), O_RDWR | O_CREAT},
  };
  for (const auto& c : cases)
    same((std::string("open ") + std::string(c.name).substr(0, 20) + " " + std::to_string(c.flags))
             .c_str(),
         cairn_open_flags(c.name, c.flags), openat(top, c.name, c.flags, 0600));
}

TEST_F(Refusals, Names) {
  for (const char* name : {"d", "f", "none/x", "f/x", "", "."}) {
    same(name, cairn_mkdir(pool, CAIRN_ROOT, name, 0700), mkdirat(top, name, 0700));
    same(name, cairn_symlink(pool, "t", CAIRN_ROOT, name), symlinkat("t", top, name));
    same(name, cairn_mknod(pool, CAIRN_ROOT, name, S_IFREG | 0600),
         mknodat(top, name, S_IFREG | 0600, 0));
  }
  for (const char* name : {"none", "d", "f/x", "", "d/."})
    same(name, cairn_unlink(pool, CAIRN_ROOT, name), unlinkat(top, name, 0));
  for (const char* name : {"none", "f", "d", "f/x", "", "d/.", "d/..", "l"})
    same(name, cairn_rmdir(pool, CAIRN_ROOT, name), unlinkat(top, name, AT_REMOVEDIR));
  const struct {
    const char* from;
    const char* to;
    unsigned flags;
  } renames[] = {
      {"none", "x", 0},  {"f", "none/x", 0}, {"f", "d", 0},   {"d", "f", 0},
      {"d", "d/e/x", 0}, {"d/e", "d", 0},    {"f", "g", 1},   {"f", "none", 2},
      {"d", "d/e", 2},   {"f", "f/x", 0},    {"d/.", "x", 0}, {"d/..", "x", 0},
      {"f", "g", 3},     {"", "x", 0},       {"f", "", 0},    {"f", "x/", 0},
  };
  for (const auto& r : renames)
    same((std::string("rename ") + r.from + " " + r.to + " " + std::to_string(r.flags)).c_str(),
         cairn_rename(pool, CAIRN_ROOT, r.from, CAIRN_ROOT, r.to, r.flags),
         renameat2(top, r.from, top, r.to, r.flags));
  for (const auto& [from, to] :
       {std::pair{"none", "x"}, {"f", "g"}, {"d", "x"}, {"f", "none/x"}, {"f", ""}})
    same(from, cairn_link(pool, CAIRN_ROOT, from, CAIRN_ROOT, to, 0),
         linkat(top, from, top, to, 0));
  char text[16];
  for (const char* name : {"f", "d", "none"})
    same(name, cairn_readlink(pool, CAIRN_ROOT, name, text, sizeof text),
         readlinkat(top, name, text, sizeof text));
  EXPECT_EQ(cairn_mknod(pool, CAIRN_ROOT, "device", S_IFBLK | 0600), -EPERM);
}

TEST_F(Refusals, Bytes) {
  cairn_file* reading = nullptr;
  cairn_file* writing = nullptr;
  cairn_file* directory = nullptr;
  ASSERT_EQ(cairn_open(pool, CAIRN_ROOT, "f", O_RDONLY, 0, &reading), 0);
  ASSERT_EQ(cairn_open(pool, CAIRN_ROOT, "f", O_WRONLY, 0, &writing), 0);
  ASSERT_EQ(cairn_open(pool, CAIRN_ROOT, "d", O_RDONLY, 0, &directory), 0);
  const int r = openat(top, "f", O_RDONLY);
  const int w = openat(top, "f", O_WRONLY);
  const int d = openat(top, "d", O_RDONLY);
  char byte = 'x';
  iovec vector{&byte, 1};
  void* mapped = nullptr;
  same("pwrite to a reader", cairn_pwrite(reading, &byte, 1, 0), pwrite(r, &byte, 1, 0));
  same("write to a reader", cairn_write(reading, &byte, 1), write(r, &byte, 1));
  same("pwritev to a reader", cairn_pwritev(reading, &vector, 1, 0), pwritev(r, &vector, 1, 0));
  same("pread from a writer", cairn_pread(writing, &byte, 1, 0), pread(w, &byte, 1, 0));
  same("readv from a writer", cairn_readv(writing, &vector, 1), readv(w, &vector, 1));
  same("pread from a directory", cairn_pread(directory, &byte, 1, 0), pread(d, &byte, 1, 0));
  same("ftruncate of a reader", cairn_ftruncate(reading, 1), ftruncate(r, 1));
  same("fallocate of a reader", cairn_fallocate(reading, 0, 0, 10), fallocate(r, 0, 0, 10));
  same("fallocate of nothing", cairn_fallocate(writing, 0, 0, 0), fallocate(w, 0, 0, 0));
  same("fallocate of an odd kind", cairn_fallocate(writing, FALLOC_FL_COLLAPSE_RANGE, 0, 4096),
       fallocate(w, FALLOC_FL_COLLAPSE_RANGE, 0, 4096));
  same("punching without keeping the size", cairn_fallocate(writing, FALLOC_FL_PUNCH_HOLE, 0, 4096),
       fallocate(w, FALLOC_FL_PUNCH_HOLE, 0, 4096));
  same("seek before the start", cairn_seek(reading, -1, SEEK_SET), lseek(r, -1, SEEK_SET));
  same("seek by an unknown word", cairn_seek(reading, 0, 77), lseek(r, 0, 77));
  same("data beyond the end", cairn_seek(reading, 10, SEEK_DATA), lseek(r, 10, SEEK_DATA));
  same("a hole beyond the end", cairn_seek(reading, 10, SEEK_HOLE), lseek(r, 10, SEEK_HOLE));
  const auto kernel_map = [&](size_t size, int prot, int flags, int fd, off_t offset) {
    return mmap(nullptr, size, prot, flags, fd, offset) == MAP_FAILED ? -1 : 0;
  };
  same("mmap of a writer", cairn_mmap(writing, nullptr, 4096, PROT_READ, MAP_SHARED, 0, &mapped),
       kernel_map(4096, PROT_READ, MAP_SHARED, w, 0));
  same("mmap for writing of a reader",
       cairn_mmap(reading, nullptr, 4096, PROT_WRITE, MAP_SHARED, 0, &mapped),
       kernel_map(4096, PROT_WRITE, MAP_SHARED, r, 0));
  same("mmap at an odd offset",
       cairn_mmap(reading, nullptr, 4096, PROT_READ, MAP_SHARED, 100, &mapped),
       kernel_map(4096, PROT_READ, MAP_SHARED, r, 100));
  same("mmap of nothing", cairn_mmap(reading, nullptr, 0, PROT_READ, MAP_SHARED, 0, &mapped),
       kernel_map(0, PROT_READ, MAP_SHARED, r, 0));
  same("mmap of a directory",
       cairn_mmap(directory, nullptr, 4096, PROT_READ, MAP_SHARED, 0, &mapped),
       kernel_map(4096, PROT_READ, MAP_SHARED, d, 0));
  // Beyond the largest file there is no telling what the kernel's is.
  EXPECT_EQ(cairn_pwrite(writing, &byte, 1, UINT64_MAX - 10), -EFBIG);
  EXPECT_EQ(cairn_ftruncate(writing, UINT64_MAX), -EFBIG);
  cairn_view view{};
  ASSERT_EQ(cairn_ftruncate(writing, 10'000), 0);
  EXPECT_EQ(cairn_view_open(reading, 0, 100, &view), -ENODATA);
  EXPECT_LT(cairn_view_open(reading, 20'000, 100, &view), 0);
  for (cairn_file* file : {reading, writing, directory}) EXPECT_EQ(cairn_close(file), 0);
  for (int fd : {r, w, d}) ::close(fd);
}

TEST_F(Refusals, Attributes) {
  cairn_stat st{};
  ASSERT_EQ(cairn_lookup(pool, CAIRN_ROOT, "f", 0, &st), 0);
  char value[10];
  EXPECT_EQ(cairn_getxattr(pool, st.ino, 0, "user.none", value, sizeof value), -ENODATA);
  EXPECT_EQ(cairn_removexattr(pool, st.ino, 0, "user.none"), -ENODATA);
  EXPECT_EQ(cairn_setxattr(pool, st.ino, 0, "user.none", "x", 1, XATTR_REPLACE), -ENODATA);
  ASSERT_EQ(cairn_setxattr(pool, st.ino, 0, "user.a", "0123456789abc", 13, 0), 0);
  EXPECT_EQ(cairn_setxattr(pool, st.ino, 0, "user.a", "x", 1, XATTR_CREATE), -EEXIST);
  EXPECT_EQ(cairn_getxattr(pool, st.ino, 0, "user.a", value, sizeof value), -ERANGE);
  EXPECT_EQ(cairn_getxattr(pool, st.ino, 0, "user.a", nullptr, 0), 13);
  EXPECT_EQ(cairn_listxattr(pool, st.ino, 0, value, 3), -ERANGE);
  EXPECT_EQ(cairn_listxattr(pool, st.ino, 0, nullptr, 0), 7);
  EXPECT_EQ(cairn_setxattr(pool, st.ino, 0, std::string(300, 'n').c_str(), "x", 1, 0), -ERANGE);
  EXPECT_EQ(cairn_setxattr(pool, st.ino, 0, "user.big", std::string(5000, 'v').data(), 5000, 0),
            -ENOSPC);
  EXPECT_EQ(cairn_setxattr(pool, st.ino, 0, "user.b", std::string(4085, 'v').data(), 4085, 0),
            -ENOSPC);
}

// What is gone, and what never was.
TEST_F(Refusals, StaleNumbers) {
  cairn_stat st{};
  ASSERT_EQ(cairn_lookup(pool, CAIRN_ROOT, "f", 0, &st), 0);
  const cairn_ino gone = st.ino;
  ASSERT_EQ(cairn_unlink(pool, CAIRN_ROOT, "f"), 0);
  char text[64];
  cairn_file* file = nullptr;
  cairn_dirent entry;
  for (const cairn_ino ino : {gone, cairn_ino{0}, cairn_ino{1} << 40, UINT64_MAX}) {
    EXPECT_EQ(cairn_stat_ino(pool, ino, &st), -ESTALE) << ino;
    EXPECT_EQ(cairn_chmod(pool, ino, 0, 0600), -ESTALE) << ino;
    EXPECT_EQ(cairn_chown(pool, ino, 0, 1, 1), -ESTALE) << ino;
    EXPECT_EQ(cairn_utimens(pool, ino, 0, 1, 1), -ESTALE) << ino;
    EXPECT_EQ(cairn_truncate(pool, ino, 0, 1), -ESTALE) << ino;
    EXPECT_EQ(cairn_open_ino(pool, ino, 0, O_RDWR, &file), -ESTALE) << ino;
    EXPECT_EQ(cairn_setxattr(pool, ino, 0, "user.x", "x", 1, 0), -ESTALE) << ino;
    EXPECT_EQ(cairn_getxattr(pool, ino, 0, "user.x", text, sizeof text), -ESTALE) << ino;
    EXPECT_EQ(cairn_listxattr(pool, ino, 0, text, sizeof text), -ESTALE) << ino;
    EXPECT_EQ(cairn_removexattr(pool, ino, 0, "user.x"), -ESTALE) << ino;
    EXPECT_EQ(cairn_readdir(pool, ino, 0, &entry, 1), -ESTALE) << ino;
    EXPECT_EQ(cairn_lookup(pool, ino, "x", 0, &st), -ESTALE) << ino;
    EXPECT_LT(cairn_path_of(pool, CAIRN_ROOT, ino, text, sizeof text), 0) << ino;
    EXPECT_LT(cairn_link_ino(pool, ino, CAIRN_ROOT, "again"), 0) << ino;
  }
  ASSERT_EQ(cairn_lookup(pool, CAIRN_ROOT, "g", 0, &st), 0);
  EXPECT_EQ(cairn_readdir(pool, st.ino, 0, &entry, 1), -ENOTDIR);
  EXPECT_EQ(cairn_lookup(pool, st.ino, "x", 0, &st), -ENOTDIR);
  ASSERT_EQ(cairn_lookup(pool, CAIRN_ROOT, "d", 0, &st), 0);
  EXPECT_EQ(cairn_truncate(pool, st.ino, 0, 0), -EISDIR);
  EXPECT_EQ(cairn_path_of(pool, CAIRN_ROOT, st.ino, text, 1), -ERANGE);
  EXPECT_EQ(cairn_file_adopt(pool, {0, 12345}, &file), -EBADF);
  EXPECT_EQ(cairn_file_adopt(pool, {1 << 30, 0}, &file), -EBADF);
  EXPECT_EQ(cairn_exec_adopt(pool, top), -EBADF);
}

TEST_F(Refusals, Pools) {
  cairn_pool* other = nullptr;
  EXPECT_EQ(cairn_pool_attach((path + "-none").c_str(), 0, &other), -ENOENT);
  EXPECT_EQ(cairn_pool_attach(plain.c_str(), 0, &other), -ENOENT);
  EXPECT_NE(cairn_pool_attach((plain + "/f").c_str(), 0, &other), 0);
  EXPECT_EQ(cairn_pool_create(path.c_str(), nullptr), -EEXIST);
  cairn_pool_options options{};
  options.struct_size = sizeof options;
  options.size = 100'000;
  EXPECT_EQ(cairn_pool_create((path + "-small").c_str(), &options), -EINVAL);
  options.size = uint64_t{1} << 60;
  EXPECT_LT(cairn_pool_create((path + "-large").c_str(), &options), 0);
  options.size = 8 << 20;
  options.lanes = 100'000;
  EXPECT_EQ(cairn_pool_create((path + "-lanes").c_str(), &options), -EINVAL);
  EXPECT_LT(cairn_pool_create((path + "-none/below").c_str(), nullptr), 0);
  EXPECT_EQ(cairn_pool_remove(path.c_str()), -EBUSY);
  EXPECT_EQ(cairn_pool_remove(plain.c_str()), -ENOENT);
  EXPECT_EQ(cairn_pool_set_durability(pool, 77), -EINVAL);
  // Two lanes are all there are.
  ASSERT_EQ(cairn_pool_attach(path.c_str(), 0, &other), 0);
  cairn_pool* third = nullptr;
  EXPECT_EQ(cairn_pool_attach(path.c_str(), 0, &third), -EBUSY);
  EXPECT_NE(std::string(cairn_last_error()).find("lane"), std::string::npos);
  cairn_lane_info lanes[4];
  EXPECT_EQ(cairn_pool_get_lanes(pool, lanes, 4), 2);
  EXPECT_EQ(lanes[0].pid, getpid());
  EXPECT_EQ(lanes[1].alive, 1U);
  EXPECT_LT(cairn_fork_prepare(pool), 0);
  cairn_fork_parent(pool);
  EXPECT_LT(cairn_exec_prepare(pool, nullptr, 0), 0);
  cairn_pool_detach(other);
  // Stopped by whoever watches.
  EXPECT_EQ(cairn_pool_populate(
                pool, [](void*, uint64_t, uint64_t) { return 1; }, nullptr),
            -ECANCELED);
  EXPECT_EQ(cairn_pool_populate(pool, nullptr, nullptr), 0);
  EXPECT_EQ(cairn_pool_grow(pool, uint64_t{1} << 60) < 0, true);
  EXPECT_EQ(cairn_pool_grow(pool, 8 << 20), 0) << cairn_last_error();
}

// A pool that is only looked at: reading works, nothing else does, each with its reason.
TEST_F(Refusals, ReadOnly) {
  cairn_file* file = nullptr;
  ASSERT_EQ(cairn_open(pool, CAIRN_ROOT, "f", O_RDWR, 0, &file), 0);
  ASSERT_EQ(cairn_pwrite(file, "hello", 5, 0), 5);
  ASSERT_EQ(cairn_close(file), 0);
  cairn_pool* look = attach(path, CAIRN_ATTACH_READ_ONLY);
  ASSERT_NE(look, nullptr);
  cairn_stat st{};
  char bytes[8] = {};
  ASSERT_EQ(cairn_lookup(look, CAIRN_ROOT, "l", 0, &st), 0);
  ASSERT_EQ(cairn_open_ino(look, st.ino, 0, O_RDONLY, &file), 0);
  EXPECT_EQ(cairn_pread(file, bytes, 8, 0), 5);
  EXPECT_EQ(cairn_pwrite(file, "x", 1, 0), -EBADF);
  EXPECT_EQ(cairn_close(file), 0);
  const std::pair<const char*, int64_t> refused[] = {
      {"open", cairn_open(look, CAIRN_ROOT, "f", O_RDWR, 0, &file)},
      {"create", cairn_open(look, CAIRN_ROOT, "new", O_RDONLY | O_CREAT, 0600, &file)},
      {"truncate", cairn_truncate(look, st.ino, 0, 0)},
      {"mkdir", cairn_mkdir(look, CAIRN_ROOT, "new", 0700)},
      {"mknod", cairn_mknod(look, CAIRN_ROOT, "new", S_IFREG | 0600)},
      {"symlink", cairn_symlink(look, "t", CAIRN_ROOT, "new")},
      {"link", cairn_link(look, CAIRN_ROOT, "f", CAIRN_ROOT, "new", 0)},
      {"link_ino", cairn_link_ino(look, st.ino, CAIRN_ROOT, "new")},
      {"rename", cairn_rename(look, CAIRN_ROOT, "f", CAIRN_ROOT, "new", 0)},
      {"unlink", cairn_unlink(look, CAIRN_ROOT, "f")},
      {"rmdir", cairn_rmdir(look, CAIRN_ROOT, "d/e")},
      {"chmod", cairn_chmod(look, st.ino, 0, 0600)},
      {"chown", cairn_chown(look, st.ino, 0, 1, 1)},
      {"utimens", cairn_utimens(look, st.ino, 0, 1, 1)},
      {"setxattr", cairn_setxattr(look, st.ino, 0, "user.x", "x", 1, 0)},
      {"removexattr", cairn_removexattr(look, st.ino, 0, "user.x")},
      {"grow", cairn_pool_grow(look, 8 << 20)},
  };
  for (const auto& [what, result] : refused)
    EXPECT_EQ(result, -EROFS) << what << ": " << cairn_last_error();
  cairn_pool_detach(look);
}

TEST(RefusedDevices, ACharacterDeviceThatIsNoDaxDeviceHoldsNoPool) {
  for (const char* path : {"/dev/null", "/dev/full"}) {
    cairn_pool* pool = nullptr;
    cairn_pool_options options{};
    options.struct_size = sizeof options;
    for (const auto& [what, result] :
         {std::pair<const char*, int64_t>{"create", cairn_pool_create(path, &options)},
          {"attach", cairn_pool_attach(path, 0, &pool)},
          {"look", cairn_pool_attach(path, CAIRN_ATTACH_READ_ONLY, &pool)},
          {"check", cairn_pool_check(path, nullptr, nullptr)},
          {"remove", cairn_pool_remove(path)}}) {
      EXPECT_EQ(result, -ENODEV) << what << " " << path << ": " << cairn_last_error();
    }
    EXPECT_NE(std::string(cairn_last_error()).find(path), std::string::npos) << cairn_last_error();
  }
}

}  // namespace
}  // namespace cairn::test
