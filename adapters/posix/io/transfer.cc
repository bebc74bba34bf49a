// Copies between descriptors, one of which at least is a Cairn file; sizes and advice.
#include "posix/core/calls.h"
#include "posix/core/engine.h"
#include "posix/core/user_memory.h"
#include "posix/credentials/permission.h"
#include "posix/fd/table.h"
#include "posix/io/calls.h"
#include "posix/io/open.h"
#include "posix/io/program_write.h"
#include "posix/job/job_files.h"
#include "posix/job/job_names.h"
#include "posix/path/lookup.h"
#include "posix/path/result.h"

namespace posix {

// Returns how many of `size` bytes of a pipe the limit of sizes lets into the file, so that no byte
// is taken that cannot be written. Waits until the pipe has bytes. Returns a negative errno if it
// fails.
static ssize_t may_take(int pipe, int to, const off_t* to_offset, size_t size) {
  table::Use target(to);
  struct pollfd ready = {pipe, POLLIN, 0};
  if (!target || !size_limit::is_set() || real::poll(&ready, 1, -1) < 0 ||
      (ready.revents & POLLIN) == 0)
    return static_cast<ssize_t>(size);
  return size_below_limit(target->file, size, to_offset != nullptr ? *to_offset : kSharedOffset);
}

// Copies from `from` at *from_offset (null: at its own offset) to `to` likewise, through a buffer
// on the stack. Returns the bytes written, or an error if there are none. Without `whole` it copies
// one piece, because a pipe or socket that gave one may keep the next waiting.
static ssize_t copy(int from, off_t* from_offset, int to, off_t* to_offset, size_t size,
                    bool whole) {
  char buffer[64 * 1024];
  ssize_t done = 0;
  while (size > 0) {
    size_t piece = size < sizeof buffer ? size : sizeof buffer;
    if (!whole) {
      ssize_t most = may_take(from, to, to_offset, piece);
      if (most < 0) return done > 0 ? done : fail(most);
      piece = static_cast<size_t>(most);
    }
    ssize_t got = from_offset != nullptr ? serve::pread(from, buffer, piece, *from_offset)
                                         : serve::read(from, buffer, piece);
    if (got <= 0) return done > 0 ? done : got;
    ssize_t put = to_offset != nullptr
                      ? serve::pwrite(to, buffer, static_cast<size_t>(got), *to_offset)
                      : serve::write(to, buffer, static_cast<size_t>(got));
    int error = errno;
    ssize_t moved = put > 0 ? put : 0;
    if (from_offset != nullptr) {
      *from_offset += moved;
    } else if (moved < got) {
      serve::lseek(from, moved - got, SEEK_CUR);
    }
    if (to_offset != nullptr) *to_offset += moved;
    done += moved;
    size -= static_cast<size_t>(moved);
    if (put < got) {
      errno = error;
      return done > 0 ? done : put;
    }
    if (!whole) break;
  }
  return done;
}

// Returns the open flags of any descriptor.
static int flags_of(int fd) {
  table::Use use(fd);
  if (use) return cairn_file_get_flags(use->file);
  return real::fcntl(fd, F_GETFL, nullptr);
}

static bool is_pipe(int fd) {
  struct stat st;
  return !table::is_covered(fd) && real::fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode);
}

// Returns the type of the file behind a descriptor, or a negative errno.
static int64_t type_of(int fd) {
  table::Use use(fd);
  if (!use) {
    struct stat st;
    return real::fstat(fd, &st) == 0 ? st.st_mode & S_IFMT : -errno;
  }
  cairn_stat st;
  const int error = cairn_fstat(use->file, &st);
  return error < 0 ? error : st.mode & S_IFMT;
}

static bool may_read(int flags) {
  return flags >= 0 && (flags & O_ACCMODE) != O_WRONLY && (flags & O_PATH) == 0;
}
static bool may_write(int flags) {
  return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY && (flags & O_PATH) == 0;
}

namespace {
// An offset in the program's memory, read before a call and written after it.
class Place {
 public:
  explicit Place(off_t* given) : given_(given) {}
  int read() { return given_ == nullptr ? 0 : user_memory::read(&offset_, given_); }
  off_t* get() { return given_ == nullptr ? nullptr : &offset_; }
  int write() const { return given_ == nullptr ? 0 : user_memory::write(given_, offset_); }

 private:
  off_t* given_;
  off_t offset_ = 0;
};
}  // namespace

// Returns the result of a call that has moved two offsets.
static ssize_t moved(ssize_t done, const Place& a, const Place& b) {
  if (done < 0) return done;
  return a.write() < 0 || b.write() < 0 ? fail(-EFAULT) : done;
}

static ssize_t send_file(int to, int from, off_t* offset, size_t size) {
  // The kernel checks both files even if there is nothing to copy.
  int reading = flags_of(from), writing = flags_of(to);
  if (!may_read(reading)) return fail(-EBADF);
  // Only a source that can be read again is copied: bytes of a pipe would be lost if they could not
  // be written.
  bool again = serve::lseek(from, 0, SEEK_CUR) >= 0;
  if (!again && offset != nullptr) return fail(-ESPIPE);
  const off_t start = offset != nullptr ? *offset : 0;
  if (start < 0 || size > static_cast<size_t>(INT64_MAX - start)) return fail(-EINVAL);
  if (!may_write(writing)) return fail(-EBADF);
  if (!again || (writing & O_APPEND) != 0) return fail(-EINVAL);
  if (type_of(from) == S_IFDIR) return fail(-EINVAL);
  if (size > 0x7ffff000) size = 0x7ffff000;
  table::Use source(from);
  if (source && offset == nullptr && source.get() == table::peek(to)) {
    // Both share one offset: the bytes stay where they are, and it moves once.
    off_t begin = cairn_seek(source->file, 0, SEEK_CUR), end = begin;
    ssize_t moved = copy(from, &begin, to, &end, size, true);
    cairn_seek(source->file, end, SEEK_SET);
    return moved;
  }
  return copy(from, offset, to, nullptr, size, true);
}

// Makes the checks of copy_file_range on both files, in the kernel's order.
static int check_range(int from, Place* reads, int to, Place* writes, unsigned flags) {
  const int reading = flags_of(from), writing = flags_of(to);
  if (reading < 0 || (reading & O_PATH) != 0 || writing < 0 || (writing & O_PATH) != 0)
    return -EBADF;
  if (reads->read() < 0 || writes->read() < 0) return -EFAULT;
  if (flags != 0) return -EINVAL;
  const int64_t source = type_of(from);
  const int64_t target = source < 0 ? source : type_of(to);
  if (target < 0) return static_cast<int>(target);
  if (source == S_IFDIR || target == S_IFDIR) return -EISDIR;
  if (source != S_IFREG || target != S_IFREG) return -EINVAL;
  return may_read(reading) && may_write(writing) && (writing & O_APPEND) == 0 ? 0 : -EBADF;
}

// The kernel adds without signs, so the end of a range at a negative offset may wrap around.
static bool wraps_around(int64_t offset, size_t size) {
  const auto start = static_cast<uint64_t>(offset);
  return start + size < start;
}

namespace serve {

ssize_t sendfile(int to, int from, off_t* offset, size_t size) {
  if (!table::is_covered(to) && !table::is_covered(from))
    return real::sendfile(to, from, offset, size);
  Place place(offset);
  if (int error = place.read(); error < 0) return fail(error);
  return moved(send_file(to, from, place.get(), size), place, Place(nullptr));
}

ssize_t copy_file_range(int from, off_t* from_offset, int to, off_t* to_offset, size_t size,
                        unsigned flags) {
  if (!table::is_covered(to) && !table::is_covered(from))
    return real::copy_file_range(from, from_offset, to, to_offset, size, flags);
  Place reads(from_offset), writes(to_offset);
  if (int error = check_range(from, &reads, to, &writes, flags); error < 0) return fail(error);
  from_offset = reads.get(), to_offset = writes.get();
  table::Use source(from);
  table::Use target(to);
  // The kernel refuses another file system, too.
  if (!source || !target) return fail(-EXDEV);
  // The copy ends at the end of the source; overlapping ranges of one file are refused.
  cairn_stat st;
  int error = cairn_fstat(source->file, &st);
  if (error < 0) return fail(error);
  int64_t a = from_offset != nullptr ? *from_offset : cairn_seek(source->file, 0, SEEK_CUR);
  int64_t b = to_offset != nullptr ? *to_offset : cairn_seek(target->file, 0, SEEK_CUR);
  if (wraps_around(a, size) || wraps_around(b, size)) return fail(-EOVERFLOW);
  if (b == INT64_MAX) return fail(-EFBIG);
  if (a < 0 || b < 0) return fail(-EINVAL);
  auto left = static_cast<int64_t>(st.size) - a;
  int64_t length = left < 0                           ? 0
                   : size < static_cast<size_t>(left) ? static_cast<int64_t>(size)
                                                      : left;
  if (length > 0x7ffff000) length = 0x7ffff000;
  if (length > INT64_MAX - b) length = INT64_MAX - b;
  length = size_below_limit(target->file, static_cast<size_t>(length), b);
  if (length < 0) return fail(length);
  if (source->ino == target->ino && a < b + length && b < a + length) return fail(-EINVAL);
  return moved(copy(from, from_offset, to, to_offset, static_cast<size_t>(length), true), reads,
               writes);
}

ssize_t splice(int from, off_t* from_offset, int to, off_t* to_offset, size_t size,
               unsigned flags) {
  bool out = table::is_covered(from);
  if (!out && !table::is_covered(to))
    return real::splice(from, from_offset, to, to_offset, size, flags);
  // All checks, in the kernel's order, come before bytes are taken from the pipe.
  if (size == 0) return 0;
  constexpr unsigned kKnown = SPLICE_F_MOVE | SPLICE_F_NONBLOCK | SPLICE_F_MORE | SPLICE_F_GIFT;
  if ((flags & ~kKnown) != 0) return fail(-EINVAL);
  int reading = flags_of(from), writing = flags_of(to);
  if (reading < 0 || (reading & O_PATH) != 0 || writing < 0 || (writing & O_PATH) != 0)
    return fail(-EBADF);
  int pipe = out ? to : from;
  bool piped = is_pipe(pipe);
  if (piped && (out ? to_offset : from_offset) != nullptr) return fail(-ESPIPE);
  Place place(out ? from_offset : to_offset);
  if (int error = place.read(); error < 0) return fail(error);
  if (!may_read(reading) || !may_write(writing)) return fail(-EBADF);
  table::Use source(from);
  if (source && source->kind == Kind::kDirectory) return fail(-EINVAL);
  if (!piped || (!out && (writing & O_APPEND) != 0)) return fail(-EINVAL);
  off_t* offset = place.get();
  if (offset != nullptr && *offset < 0) return fail(-EINVAL);
  struct pollfd ready = {pipe, static_cast<int16_t>(out ? POLLOUT : POLLIN), 0};
  bool at_once = (flags & SPLICE_F_NONBLOCK) != 0;
  if (at_once && real::poll(&ready, 1, 0) == 0) return fail(-EAGAIN);
  // A pipe that must not wait is given PIPE_BUF bytes, others as many as an empty pipe holds.
  size_t most = at_once && out ? PIPE_BUF : 64 * 1024;
  if (size > most) size = most;
  return moved(copy(from, out ? offset : nullptr, to, out ? nullptr : offset, size, out), place,
               Place(nullptr));
}

int ftruncate(int fd, off_t size) {
  table::Use use(fd);
  if (!use) return real::ftruncate(fd, size);
  if (size < 0) return fail(-EINVAL);
  if (use->kind != Kind::kFile) return fail(is_path(use) ? -EBADF : -EINVAL);
  if ((cairn_file_get_flags(use->file) & O_ACCMODE) == O_RDONLY) {
    errno = EINVAL;
    return -1;
  }
  int before = errno;
  int error = size_limit::check_size(use->file, static_cast<uint64_t>(size));
  if (error == 0) error = cairn_ftruncate(use->file, static_cast<uint64_t>(size));
  errno = before;  // the engine reads files on the way that this user may not read
  if (error == 0) bytes_changed(use->file);
  return static_cast<int>(result(error));
}

// Keeps the file open while it is cut, as its number could soon mean another file. `*replaced`: it
// does.
static int cut_found(const cairn_stat& st, uint64_t size, bool* replaced) {
  cairn_file* file = nullptr;
  int error = cairn_open_ino(pool, st.ino, st.generation, O_WRONLY, &file);
  *replaced = error == -ESTALE;
  // A full pool may lack space to note an open file, but a file that is cut releases some.
  if (error == -ENOSPC) return cairn_truncate(pool, st.ino, st.generation, size);
  if (error < 0) return error;
  error = cairn_ftruncate(file, size);
  cairn_close(file);
  return error;
}

static int cut(const Found& found, off_t size, bool* replaced) {
  const cairn_stat& st = found.st;
  if (S_ISDIR(st.mode)) return -EISDIR;
  if (!S_ISREG(st.mode)) return -EINVAL;
  int error = permitted(st, W_OK);
  if (error == 0) error = size_limit::check_size(st.size, static_cast<uint64_t>(size));
  if (error == 0 && found.shared)
    error = job_files::set_size(found, static_cast<uint64_t>(size));
  else if (error == 0 && found.descriptor < 0)
    error = job_names::claim(found);
  *replaced = error == -ESTALE;  // an ordinary file was replaced by a shared one, or the reverse
  if (found.shared) return error;
  if (error == 0) error = cut_found(st, static_cast<uint64_t>(size), replaced);
  if (error == 0 && (st.mode & kSetIds) != 0) take_set_ids(st.ino);
  if (error == 0 && mappings::may_grow) mappings::file_changed(st.ino);
  return error;
}

int truncate(const char* path, off_t size) {
  if (outside(path)) return real::truncate(path, size);
  if (size < 0) return fail(-EINVAL);
  for (StaleRetry retry;;) {
    Found found;
    int error = find_existing(AT_FDCWD, path, 0, &found);
    if (error < 0) return fail(error);
    if (found.descriptor >= 0) {
      // /proc/self/fd/N names the file, for whatever N was opened.
      table::Use use(found.descriptor);
      error = use ? cairn_fstat(use->file, &found.st) : -ENOENT;
      if (error < 0) return fail(error);
    } else if (found.outside()) {
      return real::truncate(found.path, size);
    }
    bool replaced = false;
    error = cut(found, size, &replaced);
    if (!replaced || !retry.again(&error)) return static_cast<int>(result(error));
  }
}

static int allocate(const table::Use& use, int mode, off_t offset, off_t size) {
  if (is_path(use)) return -EBADF;
  if (offset < 0 || size <= 0) return -EINVAL;
  constexpr int kHole = FALLOC_FL_PUNCH_HOLE, kKeep = FALLOC_FL_KEEP_SIZE;
  // File systems may serve these modes. Covered files do not, and say so where a file system would.
  const bool shifts = mode == FALLOC_FL_COLLAPSE_RANGE || mode == FALLOC_FL_INSERT_RANGE;
  if (!shifts && ((mode & ~(kHole | kKeep | FALLOC_FL_ZERO_RANGE)) != 0 ||
                  ((mode & kHole) != 0 && (mode & ~kHole) != kKeep)))
    return -EOPNOTSUPP;
  // No directory is open for writing.
  if ((cairn_file_get_flags(use->file) & O_ACCMODE) == O_RDONLY) return -EBADF;
  if (shifts) return -EOPNOTSUPP;
  if ((mode & kHole) == 0) {
    // The limit also counts for space beyond the end of file.
    int error = size_limit::check_size(use->file,
                                       static_cast<uint64_t>(offset) + static_cast<uint64_t>(size));
    if (error < 0) return error;
  }
  int error =
      cairn_fallocate(use->file, mode, static_cast<uint64_t>(offset), static_cast<uint64_t>(size));
  if (error == 0) bytes_changed(use->file);
  return error;
}

int fallocate(int fd, int mode, off_t offset, off_t size) {
  table::Use use(fd);
  if (!use) return real::fallocate(fd, mode, offset, size);
  return static_cast<int>(result(allocate(use, mode, offset, size)));
}

// Returns the error and leaves errno alone.
int posix_fallocate(int fd, off_t offset, off_t size) {
  table::Use use(fd);
  if (!use) return real::posix_fallocate(fd, offset, size);
  return -allocate(use, 0, offset, size);
}

// Advice about a whole file tells whether its bytes should take room in the pool. Failures are
// ignored, because it is advice.
static void advise(const table::Use& use, off_t offset, off_t size, int advice) {
  struct cairn_stat st;
  if (offset != 0 || use->kind != Kind::kFile || cairn_fstat(use->file, &st) != 0 ||
      !S_ISREG(st.mode) || (size != 0 && static_cast<uint64_t>(size) < st.size))
    return;
  if (advice == POSIX_FADV_DONTNEED) cairn_evict(pool, st.ino, st.generation, nullptr);
  if (advice == POSIX_FADV_WILLNEED) cairn_stage(pool, st.ino, st.generation);
}

int posix_fadvise(int fd, off_t offset, off_t size, int advice) {
  table::Use use(fd);
  if (!use) return real::posix_fadvise(fd, offset, size, advice);
  if (is_path(use)) return EBADF;
  if (size < 0 || advice < POSIX_FADV_NORMAL || advice > POSIX_FADV_NOREUSE) return EINVAL;
  advise(use, offset, size, advice);
  return 0;
}

ssize_t readahead(int fd, off_t offset, size_t size) {
  table::Use use(fd);
  if (!use) return real::readahead(fd, offset, size);
  bool reads = !is_path(use) && (cairn_file_get_flags(use->file) & O_ACCMODE) != O_WRONLY;
  if (!reads) return fail(-EBADF);
  return use->kind == Kind::kFile && size <= SSIZE_MAX ? 0 : fail(-EINVAL);
}

int sync_file_range(int fd, off_t offset, off_t size, unsigned flags) {
  table::Use use(fd);
  if (!use) return real::sync_file_range(fd, offset, size, flags);
  if (is_path(use)) return fail(-EBADF);
  if (offset < 0 || size < 0 || offset > INT64_MAX - size || flags > 7) return fail(-EINVAL);
  return static_cast<int>(result(cairn_fdatasync(use->file)));
}

int fsync(int fd) {
  table::Use use(fd);
  if (!use) return real::fsync(fd);
  if (is_path(use)) return fail(-EBADF);
  return static_cast<int>(result(cairn_fsync(use->file)));
}

int fdatasync(int fd) {
  table::Use use(fd);
  if (!use) return real::fdatasync(fd);
  if (is_path(use)) return fail(-EBADF);
  return static_cast<int>(result(cairn_fdatasync(use->file)));
}

int syncfs(int fd) {
  table::Use use(fd);
  if (!use) return real::syncfs(fd);
  if (is_path(use)) return fail(-EBADF);
  return static_cast<int>(result(cairn_fsync(use->file)));
}

}  // namespace serve
}  // namespace posix
