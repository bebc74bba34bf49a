// Reading and writing. A call on a covered file costs a look into the table, two locked
// instructions and the C API. It makes no system call and no allocation. errno changes only if the
// call fails.
#include "posix/core/calls.h"
#include "posix/core/engine.h"
#include "posix/fd/table.h"
#include "posix/io/calls.h"
#include "posix/io/open.h"
#include "posix/io/program_write.h"
#include "posix/path/result.h"

namespace posix::serve {

constexpr size_t kMostBytes = 0x7ffff000;  // Linux transfers no more in one call

static size_t at_most(size_t size) { return size < kMostBytes ? size : kMostBytes; }

static ssize_t invalid(int error) {
  errno = error;
  return -1;
}

// Translates a failure: a directory that is held by name only is not open at all.
static ssize_t refused(const table::Use& use, ssize_t error) {
  if (use->shown != 0 && error == -EIO) log(Level::kWarning, cairn_last_error());
  return fail(error == -EISDIR && is_path(use) ? -EBADF : error);
}
static inline ssize_t finished(const table::Use& use, ssize_t done) {
  return __builtin_expect(done < 0, 0) ? refused(use, done) : done;
}

// The kernel checks the descriptor's access before the arguments.
static bool may(const table::Use& use, bool writes) {
  int flags = cairn_file_get_flags(use->file);
  return (flags & O_PATH) == 0 && (flags & O_ACCMODE) != (writes ? O_RDONLY : O_WRONLY);
}

static bool ends_beyond(off_t offset, size_t size) {
  return at_most(size) > static_cast<uint64_t>(INT64_MAX - offset);
}

// No memory is this large. A program that passes -1 as a size gets an error, as from the kernel.
static bool is_impossible(size_t size) { return __builtin_expect(size > SSIZE_MAX, 0); }

static ssize_t impossible(const table::Use& use, bool writes) {
  return invalid(may(use, writes) ? EFAULT : EBADF);
}

ssize_t read(int fd, void* buffer, size_t size) {
  table::Use use(fd);
  if (!use) return real::read(fd, buffer, size);
  if (is_impossible(size)) return impossible(use, false);
  return finished(use, cairn_read(use->file, buffer, at_most(size)));
}

ssize_t write(int fd, const void* buffer, size_t size) {
  table::Use use(fd);
  if (!use) return real::write(fd, buffer, size);
  if (is_impossible(size)) return impossible(use, true);
  return result(write_for_program(use->file, buffer, at_most(size)));
}

ssize_t pread(int fd, void* buffer, size_t size, off_t offset) {
  table::Use use(fd);
  if (!use) return real::pread(fd, buffer, size, offset);
  if (offset < 0) return invalid(EINVAL);
  if (is_impossible(size)) return impossible(use, false);
  if (ends_beyond(offset, size)) return invalid(may(use, false) ? EINVAL : EBADF);
  return finished(use,
                  cairn_pread(use->file, buffer, at_most(size), static_cast<uint64_t>(offset)));
}

ssize_t pwrite(int fd, const void* buffer, size_t size, off_t offset) {
  table::Use use(fd);
  if (!use) return real::pwrite(fd, buffer, size, offset);
  if (offset < 0) return invalid(EINVAL);
  if (is_impossible(size)) return impossible(use, true);
  if (ends_beyond(offset, size)) return invalid(may(use, true) ? EINVAL : EBADF);
  return result(
      write_for_program_at(use->file, buffer, at_most(size), static_cast<uint64_t>(offset)));
}

// Makes the kernel's checks of a vector. Returns 1 if it has more bytes than one call transfers.
static int check_vector(const struct iovec* vector, int count) {
  if (count < 0 || count > IOV_MAX) return -EINVAL;
  if (count > 0 && vector == nullptr) return -EFAULT;
  size_t total = 0;
  for (int i = 0; i < count; ++i) {
    if (vector[i].iov_len > static_cast<size_t>(SSIZE_MAX) - total) return -EINVAL;
    total += vector[i].iov_len;
  }
  return total > kMostBytes ? 1 : 0;
}

// Returns the first piece of a vector of more than kMostBytes, for a short transfer.
static struct iovec first_piece(const struct iovec* vector, int count) {
  for (int i = 0; i < count; ++i) {
    if (vector[i].iov_len > 0) return {vector[i].iov_base, at_most(vector[i].iov_len)};
  }
  return {nullptr, 0};
}

using Transfer = ssize_t (*)(cairn_file* file, const struct iovec* vector, int count, off_t offset);

static ssize_t transfer(const table::Use& use, bool writes, const struct iovec* vector, int count,
                        off_t offset, Transfer call) {
  cairn_file* file = use->file;
  int checked = check_vector(vector, count);
  if ((checked < 0 || count == 0) && !may(use, writes)) return fail(-EBADF);
  if (checked < 0) return fail(checked);
  if (checked > 0) {
    struct iovec piece = first_piece(vector, count);
    return finished(use, call(file, &piece, 1, offset));
  }
  return finished(use, call(file, vector, count, offset));
}

static ssize_t do_readv(cairn_file* file, const struct iovec* vector, int count, off_t) {
  return cairn_readv(file, vector, count);
}
static ssize_t do_writev(cairn_file* file, const struct iovec* vector, int count, off_t) {
  return write_for_program(file, vector, count, kSharedOffset);
}
static ssize_t do_preadv(cairn_file* file, const struct iovec* vector, int count, off_t offset) {
  return cairn_preadv(file, vector, count, static_cast<uint64_t>(offset));
}
static ssize_t do_pwritev(cairn_file* file, const struct iovec* vector, int count, off_t offset) {
  return write_for_program(file, vector, count, offset);
}

ssize_t readv(int fd, const struct iovec* vector, int count) {
  table::Use use(fd);
  if (!use) return real::readv(fd, vector, count);
  return transfer(use, false, vector, count, 0, do_readv);
}

ssize_t writev(int fd, const struct iovec* vector, int count) {
  table::Use use(fd);
  if (!use) return real::writev(fd, vector, count);
  return transfer(use, true, vector, count, 0, do_writev);
}

ssize_t preadv(int fd, const struct iovec* vector, int count, off_t offset) {
  table::Use use(fd);
  if (!use) return real::preadv(fd, vector, count, offset);
  if (offset < 0) return invalid(EINVAL);
  return transfer(use, false, vector, count, offset, do_preadv);
}

ssize_t pwritev(int fd, const struct iovec* vector, int count, off_t offset) {
  table::Use use(fd);
  if (!use) return real::pwritev(fd, vector, count, offset);
  if (offset < 0) return invalid(EINVAL);
  return transfer(use, true, vector, count, offset, do_pwritev);
}

ssize_t preadv2(int fd, const struct iovec* vector, int count, off_t offset, int flags) {
  table::Use use(fd);
  if (!use) return real::preadv2(fd, vector, count, offset, flags);
  if (offset < -1) return invalid(EINVAL);
  if (count != 0 && (flags & ~(RWF_HIPRI | RWF_NOWAIT | RWF_DSYNC | RWF_SYNC)) != 0)
    return invalid(may(use, false) ? EOPNOTSUPP : EBADF);
  if (offset == -1) return transfer(use, false, vector, count, 0, do_readv);
  return transfer(use, false, vector, count, offset, do_preadv);
}

// Makes a write durable for RWF_SYNC and RWF_DSYNC.
static ssize_t persist_write(cairn_file* file, ssize_t wrote, int flags) {
  if (wrote <= 0 || (flags & (RWF_DSYNC | RWF_SYNC)) == 0) return wrote;
  int error = (flags & RWF_SYNC) != 0 ? cairn_fsync(file) : cairn_fdatasync(file);
  return error < 0 ? fail(error) : wrote;
}

static ssize_t do_appendv(cairn_file* file, const struct iovec* vector, int count, off_t) {
  return write_for_program(file, vector, count, kEndOfFile);
}

// Appends for RWF_APPEND with the offset -1, to a file that is not opened for appending. The offset
// moves to the end of the new bytes, which a second description, opened for appending, tells.
static ssize_t append_and_move(const table::Use& entry, const struct iovec* vector, int count) {
  if ((cairn_file_get_flags(entry->file) & O_ACCMODE) == O_RDONLY) return invalid(EBADF);
  cairn_file* appending = nullptr;
  int error = cairn_open_ino(pool, entry->ino, 0, O_WRONLY | O_APPEND, &appending);
  if (error < 0) return fail(error);
  struct iovec piece = first_piece(vector, count);
  int checked = check_vector(vector, count);
  ssize_t wrote = checked < 0   ? fail(checked)
                  : checked > 0 ? result(do_writev(appending, &piece, 1, 0))
                                : result(do_writev(appending, vector, count, 0));
  if (wrote > 0) cairn_seek(entry->file, cairn_seek(appending, 0, SEEK_CUR), SEEK_SET);
  cairn_close(appending);
  return wrote;
}

ssize_t pwritev2(int fd, const struct iovec* vector, int count, off_t offset, int flags) {
  table::Use use(fd);
  if (!use) return real::pwritev2(fd, vector, count, offset, flags);
  if (offset < -1) return invalid(EINVAL);
  if (count != 0 && (flags & ~(RWF_HIPRI | RWF_NOWAIT | RWF_DSYNC | RWF_SYNC | RWF_APPEND)) != 0)
    return invalid(may(use, true) ? EOPNOTSUPP : EBADF);
  bool append = (flags & RWF_APPEND) != 0;
  bool always = (cairn_file_get_flags(use->file) & O_APPEND) != 0;
  ssize_t wrote;
  if (append && !always && offset == -1) {
    wrote = append_and_move(use, vector, count);
  } else {
    wrote = transfer(use, true, vector, count, offset < 0 ? 0 : offset,
                     offset == -1 ? do_writev
                     : append     ? do_appendv
                                  : do_pwritev);
  }
  return persist_write(use->file, wrote, flags);
}

off_t lseek(int fd, off_t offset, int whence) {
  table::Use use(fd);
  if (!use) return real::lseek(fd, offset, whence);
  if (is_path(use)) return invalid(EBADF);
  if (use->kind == Kind::kDirectory && whence != SEEK_SET && whence != SEEK_CUR)
    return invalid(EINVAL);
  int64_t at = cairn_seek(use->file, offset, whence);
  return result(at == -EOVERFLOW ? -EINVAL : at);  // as on Linux
}

}  // namespace posix::serve
