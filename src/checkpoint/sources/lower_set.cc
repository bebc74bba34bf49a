#include "checkpoint/sources/lower_set.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <ctime>

#include "base/coarse_clock.h"
#include "checkpoint/store/set_file.h"

namespace cairn::checkpoint {
namespace {

namespace sys = tier::sys;

// Opens a directory below another one; only this user may own it.
Result<sys::Descriptor> enter(int above, const std::string& name, bool makes,
                              const std::string& path) {
  if (makes) {
    const int64_t made = sys::mkdirat(above, name.c_str(), 0700);
    if (made < 0 && made != -EEXIST) return sys::failed(made, "mkdir", path);
  }
  const int64_t opened = sys::open_in(above, name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened < 0) return sys::failed(opened, "open", path);
  sys::Descriptor directory(static_cast<int>(opened));
  sys::FileStat st;
  if (const int64_t looked = sys::fstat(directory.get(), &st); looked < 0)
    return sys::failed(looked, "stat", path);
  if (st.st_uid != geteuid())
    return fail(EPERM, "%s: belongs to user %u, not to you", path.c_str(), st.st_uid);
  constexpr uint32_t writable_by_others = 022;
  if ((st.st_mode & writable_by_others) != 0)
    return fail(EPERM, "%s: others can write to it; chmod go-w", path.c_str());
  return directory;
}

constexpr size_t sequence_digits = 16;

// Restores errno, which belongs to the host program.
int try_lock(int descriptor) {
  const int saved = errno;
  const int error = flock(descriptor, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
  errno = saved;
  return error;
}

}  // namespace

std::string lower_name(uint64_t sequence, const char* suffix) {
  char text[48];
  std::snprintf(text, sizeof text, "v%016llx%s", static_cast<unsigned long long>(sequence), suffix);
  return text;
}

std::string lower_part_name(uint64_t sequence, uint32_t part, uint32_t parts, const char* suffix) {
  if (parts == 1) return lower_name(sequence, suffix);
  char text[48];
  std::snprintf(text, sizeof text, "-%05x%s", part, suffix);
  return lower_name(sequence, text);
}

uint64_t sequence_of_name(const std::string& name) {
  uint64_t sequence = 0;
  if (name.size() < 1 + sequence_digits || name[0] != 'v') return 0;
  std::from_chars(name.data() + 1, name.data() + 1 + sequence_digits, sequence, 16);
  return name.starts_with(lower_name(sequence, "")) ? sequence : 0;
}

Status LowerFile::write(const void* bytes, uint64_t size, uint64_t offset) {
  const auto* from = static_cast<const char*>(bytes);
  while (size > 0) {
    const int64_t n = sys::pwrite(descriptor_.get(), from, static_cast<size_t>(size), offset);
    if (n == -EINTR) continue;
    if (n < 0) return sys::failed(n, "write", aside_);
    from += n;
    offset += static_cast<uint64_t>(n);
    size -= static_cast<uint64_t>(n);
    const int64_t limited = cache_.wrote(descriptor_.get(), static_cast<uint64_t>(n));
    if (limited < 0) return sys::failed(limited, "fdatasync", aside_);
  }
  return Status();
}

Status LowerFile::read(void* bytes, uint64_t size, uint64_t offset) const {
  auto* to = static_cast<char*>(bytes);
  while (size > 0) {
    const int64_t n = sys::pread(descriptor_.get(), to, static_cast<size_t>(size), offset);
    if (n == -EINTR) continue;
    if (n < 0) return sys::failed(n, "read", aside_);
    if (n == 0) return fail(EUCLEAN, "%s: is cut off", aside_.c_str());
    to += n;
    offset += static_cast<uint64_t>(n);
    size -= static_cast<uint64_t>(n);
  }
  return Status();
}

Result<uint64_t> LowerFile::size() const {
  sys::FileStat st;
  if (const int64_t looked = sys::fstat(descriptor_.get(), &st); looked < 0)
    return sys::failed(looked, "stat", aside_);
  if (!S_ISREG(st.st_mode)) return fail(EUCLEAN, "%s: is not a regular file", aside_.c_str());
  return static_cast<uint64_t>(st.st_size);
}

Status LowerFile::set_size(uint64_t size) {
  const int64_t set = sys::ftruncate(descriptor_.get(), size);
  return set < 0 ? sys::failed(set, "truncate", aside_) : Status();
}

Status LowerFile::sync() {
  const int64_t synced = sys::fsync(descriptor_.get());
  return synced < 0 ? sys::failed(synced, "fsync", aside_) : Status();
}

Status check_lower(const std::string& directory) {
  const int64_t opened =
      sys::openat(AT_FDCWD, directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened < 0) return sys::failed(opened, "open", directory);
  const sys::Descriptor descriptor(static_cast<int>(opened));
  return Status();
}

Result<LowerSet> LowerSet::open(const std::string& directory, const std::string& set, bool makes) {
  CAIRN_TRY(check_set_name(set));
  const int64_t opened =
      sys::openat(AT_FDCWD, directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened < 0) return sys::failed(opened, "open", directory);
  const sys::Descriptor above(static_cast<int>(opened));
  LowerSet lower;
  const std::string all = directory + "/" + lower_checkpoints;
  lower.path_ = all + "/" + set;
  CAIRN_TRY_ASSIGN(checkpoints, enter(above.get(), lower_checkpoints, makes, all));
  CAIRN_TRY_ASSIGN(own, enter(checkpoints.get(), set, makes, lower.path_));
  lower.directory_ = std::move(own);
  if (makes) {
    for (const int fd : {above.get(), checkpoints.get()})
      if (const int64_t synced = sys::fsync_directory(fd); synced < 0)
        return sys::failed(synced, "fsync", all);
  }
  return lower;
}

void LowerLock::release() {
  if (descriptor_.get() < 0) return;
  const int saved = errno;
  flock(descriptor_.get(), LOCK_UN);  // a file system without locks has nothing to unlock
  errno = saved;
  descriptor_ = {};
}

Result<LowerLock> LowerSet::lock(uint64_t timeout_ns, const std::atomic<bool>* stop) const {
  const std::string path = path_ + "/" + lower_lock;
  // NFS locks exclusively only files that are open for writing.
  const int64_t opened = sys::openat(directory_.get(), lower_lock,
                                     O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
  if (opened < 0) return sys::failed(opened, "open", path);
  sys::Descriptor descriptor(static_cast<int>(opened));
  constexpr timespec pause = {0, 20'000'000};
  const uint64_t end = fine_monotonic_ns() + timeout_ns;
  for (;;) {
    const int error = try_lock(descriptor.get());
    const bool has_no_locks =
        error == ENOSYS || error == EOPNOTSUPP || error == EINVAL || error == ENOLCK;
    if (error == 0 || has_no_locks) return LowerLock(std::move(descriptor));
    if (error != EWOULDBLOCK && error != EINTR) return sys::failed(-error, "lock", path);
    if (fine_monotonic_ns() >= end)
      return fail(EBUSY, "%s: another process copies to this directory; try again later",
                  path_.c_str());
    if (stop != nullptr && stop->load()) return fail(ECANCELED, "the copy was given up");
    nanosleep(&pause, nullptr);
  }
}

Result<LowerFile> LowerSet::create() {
  LowerFile file;
  file.aside_ = lower_aside + sys::random_name();
  const int64_t opened = sys::openat(directory_.get(), file.aside_.c_str(),
                                     O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (opened < 0) return sys::failed(opened, "create", path_ + "/" + file.aside_);
  file.descriptor_ = sys::Descriptor(static_cast<int>(opened));
  try_lock(file.descriptor_.get());  // without locks the caller prevents concurrent drains
  return file;
}

bool LowerSet::is_being_written(const std::string& name) const {
  const int64_t opened =
      sys::openat(directory_.get(), name.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (opened < 0) return false;
  const sys::Descriptor descriptor(static_cast<int>(opened));
  return try_lock(descriptor.get()) == EWOULDBLOCK;
}

Status LowerSet::publish(LowerFile* file, const std::string& name) {
  const int64_t renamed =
      sys::renameat2(directory_.get(), file->aside_.c_str(), directory_.get(), name.c_str(), 0);
  if (renamed < 0) {
    const Status status = sys::failed(renamed, "rename", path_ + "/" + name);
    drop(file);
    return status;
  }
  const int64_t synced = sys::fsync_directory(directory_.get());
  return synced < 0 ? sys::failed(synced, "fsync", path_) : Status();
}

void LowerSet::drop(LowerFile* file) {
  sys::unlinkat(directory_.get(), file->aside_.c_str(), 0);  // a later drain removes it otherwise
}

Status LowerSet::write_file(const std::string& name, const void* bytes, size_t size) {
  CAIRN_TRY_ASSIGN(file, create());
  Status status = file.write(bytes, size, 0);
  if (status.ok()) status = file.sync();
  if (!status.ok()) {
    drop(&file);
    return status;
  }
  return publish(&file, name);
}

Result<LowerFile> LowerSet::open_file(const std::string& name) const {
  LowerFile file;
  file.aside_ = path_ + "/" + name;
  const int64_t opened =
      // O_NONBLOCK: the open must not wait for the writer of a fifo.
      sys::openat(directory_.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (opened < 0) return sys::failed(opened, "open", file.aside_);
  file.descriptor_ = sys::Descriptor(static_cast<int>(opened));
  return file;
}

Result<std::vector<uint8_t>> LowerSet::read_file(const std::string& name, uint64_t most) const {
  CAIRN_TRY_ASSIGN(file, open_file(name));
  CAIRN_TRY_ASSIGN(size, file.size());
  if (size > most)
    return fail(EUCLEAN, "%s: is not a file of at most %llu bytes", file.aside_.c_str(),
                static_cast<unsigned long long>(most));
  std::vector<uint8_t> bytes(static_cast<size_t>(size));
  CAIRN_TRY(file.read(bytes.data(), size, 0));
  return bytes;
}

Status LowerSet::remove(const std::string& name) {
  const int64_t removed = sys::unlinkat(directory_.get(), name.c_str(), 0);
  if (removed < 0 && removed != -ENOENT) return sys::failed(removed, "unlink", path_ + "/" + name);
  return Status();
}

Result<std::vector<std::string>> LowerSet::names() const {
  // A new descriptor, because the position of a directory belongs to the descriptor.
  const int64_t opened = sys::open_in(directory_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened < 0) return sys::failed(opened, "open", path_);
  const sys::Descriptor again(static_cast<int>(opened));
  std::vector<sys::DirectoryEntry> entries;
  if (const int64_t listed = sys::list(again.get(), &entries); listed < 0)
    return sys::failed(listed, "list", path_);
  std::vector<std::string> names;
  names.reserve(entries.size());
  for (sys::DirectoryEntry& entry : entries) names.push_back(std::move(entry.name));
  std::sort(names.begin(), names.end());
  return names;
}

Result<std::vector<uint64_t>> LowerSet::versions() const {
  CAIRN_TRY_ASSIGN(all, names());
  std::vector<uint64_t> sequences;
  for (const std::string& name : all) {
    const uint64_t sequence = sequence_of_name(name);
    if (sequence != 0 && name == lower_name(sequence, lower_record)) sequences.push_back(sequence);
  }
  return sequences;
}

}  // namespace cairn::checkpoint
