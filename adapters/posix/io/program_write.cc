#include "posix/io/program_write.h"

#include <fcntl.h>
#include <limits.h>

namespace posix {

static ssize_t write_vector(cairn_file* file, const struct iovec* vector, int count,
                            int64_t where) {
  if (where == kSharedOffset) return written(file, cairn_writev(file, vector, count));
  if (where == kEndOfFile) return written(file, cairn_appendv(file, vector, count));
  return written(file, cairn_pwritev(file, vector, count, static_cast<uint64_t>(where)));
}

ssize_t write_for_program(cairn_file* file, const struct iovec* vector, int count, int64_t where) {
  if (__builtin_expect(size_limit::is_set(), 0))
    return write_below_limit(file, vector, count, where);
  return write_vector(file, vector, count, where);
}

// Returns the offset at which a write begins, or a negative errno. Another process may move the end
// meanwhile: two processes that append at the same moment can pass the limit by one write.
static int64_t begin_of(cairn_file* file, int64_t where) {
  if (where == kEndOfFile || (cairn_file_get_flags(file) & O_APPEND) != 0) {
    cairn_stat st;
    int error = cairn_fstat(file, &st);
    return error < 0 ? error : static_cast<int64_t>(st.size);
  }
  return where == kSharedOffset ? cairn_seek(file, 0, SEEK_CUR) : where;
}

// Writes the first `size` bytes of a longer vector.
static ssize_t write_first(cairn_file* file, const struct iovec* vector, size_t size,
                           int64_t where) {
  struct iovec pieces[IOV_MAX];
  int n = 0;
  for (; size > 0; ++n) {
    pieces[n] = vector[n];
    if (pieces[n].iov_len > size) pieces[n].iov_len = size;
    size -= pieces[n].iov_len;
  }
  return write_vector(file, pieces, n, where);
}

ssize_t size_below_limit(cairn_file* file, size_t size, int64_t where, size_limit::Signal signal) {
  int flags = cairn_file_get_flags(file);
  // Errors of the descriptor come first: the write returns them.
  bool writes = (flags & O_ACCMODE) != O_RDONLY && (flags & O_PATH) == 0;
  if (!size_limit::is_set() || !writes || size == 0) return static_cast<ssize_t>(size);
  int64_t begin = begin_of(file, where);
  if (begin < 0) return begin;
  return size_limit::allowed(static_cast<uint64_t>(begin), size, signal);
}

ssize_t write_below_limit(cairn_file* file, const struct iovec* vector, int count, int64_t where,
                          size_limit::Signal signal) {
  if (count > IOV_MAX) return write_vector(file, vector, count, where);
  size_t size = 0;
  for (int i = 0; i < count; ++i) size += vector[i].iov_len;
  ssize_t most = size_below_limit(file, size, where, signal);
  if (most < 0) return most;
  if (static_cast<size_t>(most) == size) return write_vector(file, vector, count, where);
  return write_first(file, vector, static_cast<size_t>(most), where);
}

}  // namespace posix
