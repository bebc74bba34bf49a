// What is done through open descriptors.
#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "adapter/exerciser/worlds.h"

namespace exerciser {

bool Exerciser::same_contents(const Pair& pair) {
  if ((pair.flags & O_ACCMODE) == O_WRONLY || (pair.flags & O_PATH) != 0) return true;
  return both("contents", [&](int w, std::string* data) -> long {
    struct stat st {};
    fstat(pair.fd[w], &st);
    data->resize(static_cast<size_t>(st.st_size) + 100);
    const ssize_t got = pread(pair.fd[w], data->data(), data->size(), 0);
    data->resize(got < 0 ? 0 : static_cast<size_t>(got));
    return got;
  });
}

bool Exerciser::transfer_step(Pair& pair) {
  const uint64_t at = offset();
  const std::string from = bytes(size());
  const size_t count = from.size();
  const std::string where = " fd " + std::to_string(pair.fd[0]) + " " + std::to_string(count) +
                            " at " + std::to_string(at);
  const auto cut = [](std::string* data, ssize_t got) {
    data->resize(got < 0 ? 0 : static_cast<size_t>(got));
    return got;
  };
  const size_t third = count / 3;
  auto* bytes_of = const_cast<char*>(from.data());
  const iovec out[3] = {
      {bytes_of, third}, {bytes_of + third, 0}, {bytes_of + third, count - third}};
  const auto in = [&](std::string* data, iovec(&vector)[2]) {
    data->resize(count);
    vector[0] = {data->data(), third};
    vector[1] = {data->data() + third, count - third};
  };
  const auto offset = static_cast<off_t>(at);
  iovec vector[2];
  switch (below(12)) {
    case 0:
      return both("read" + where, [&](int w, std::string* data) {
        data->resize(count);
        return cut(data, read(pair.fd[w], data->data(), count));
      });
    case 1:
    case 2:
      return both("pread" + where, [&](int w, std::string* data) {
        data->resize(count);
        return cut(data, pread(pair.fd[w], data->data(), count, offset));
      });
    case 3:
    case 4:
      return both("write" + where,
                  [&](int w, std::string*) { return write(pair.fd[w], from.data(), count); });
    case 5:
    case 6:
      return both("pwrite" + where, [&](int w, std::string*) {
        return pwrite(pair.fd[w], from.data(), count, offset);
      });
    case 7:
      return both("readv" + where, [&](int w, std::string* data) {
        in(data, vector);
        return cut(data, readv(pair.fd[w], vector, 2));
      });
    case 8:
      return both("preadv" + where, [&](int w, std::string* data) {
        in(data, vector);
        return cut(data, preadv(pair.fd[w], vector, 2, offset));
      });
    case 9:
      return both("writev" + where,
                  [&](int w, std::string*) { return writev(pair.fd[w], out, 3); });
    case 10:
      return both("pwritev" + where,
                  [&](int w, std::string*) { return pwritev(pair.fd[w], out, 3, offset); });
    default: {
      const off_t place = one_in(2) ? -1 : offset;
      return both(
          "pwritev2 RWF_APPEND" + where + (place < 0 ? ", moving" : ""),
          [&](int w, std::string*) { return pwritev2(pair.fd[w], out, 3, place, RWF_APPEND); });
    }
  }
}

bool Exerciser::shape_step(Pair& pair) {
  const auto at = static_cast<off_t>(offset());
  const auto count = static_cast<off_t>(1 + size());
  const std::string where = " fd " + std::to_string(pair.fd[0]) + " " + std::to_string(count) +
                            " at " + std::to_string(at);
  switch (below(7)) {
    case 0:
    case 1:
      return both("ftruncate" + where,
                  [&](int w, std::string*) { return ftruncate(pair.fd[w], at); });
    case 2:
      return both("fallocate" + where,
                  [&](int w, std::string*) { return fallocate(pair.fd[w], 0, at, count); });
    case 3:
      return both("fallocate KEEP_SIZE" + where, [&](int w, std::string*) {
        return fallocate(pair.fd[w], FALLOC_FL_KEEP_SIZE, at, count);
      });
    case 4:
      return both("punch" + where, [&](int w, std::string*) {
        return fallocate(pair.fd[w], FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, at, count);
      });
    case 5: {
      // tmpfs has no ZERO_RANGE: there it is done by writing zeros.
      if ((pair.flags & (O_APPEND | O_PATH)) != 0 || (pair.flags & O_ACCMODE) == O_RDONLY)
        return true;
      const bool keep = one_in(2);
      return both("zero range" + where + (keep ? ", keep" : ""), [&](int w, std::string*) -> long {
        if (w == 0)
          return fallocate(pair.fd[w], FALLOC_FL_ZERO_RANGE | (keep ? FALLOC_FL_KEEP_SIZE : 0), at,
                           count);
        struct stat st {};
        fstat(pair.fd[w], &st);
        const off_t end = keep ? std::min<off_t>(st.st_size, at + count) : at + count;
        const std::string zeros(static_cast<size_t>(std::max<off_t>(0, end - at)), '\0');
        return pwrite(pair.fd[w], zeros.data(), zeros.size(), at) < 0 ? -1 : 0;
      });
    }
    default:
      return both("posix_fallocate" + where,
                  [&](int w, std::string*) { return posix_fallocate(pair.fd[w], at, count); });
  }
}

bool Exerciser::seek_step(Pair& pair) {
  const int whence = static_cast<int>(below(3));
  const auto by = static_cast<off_t>(offset()) - (one_in(4) ? 50000 : 0);
  const std::string where = " fd " + std::to_string(pair.fd[0]) + " " + std::to_string(by);
  if (one_in(4) && (pair.flags & O_PATH) == 0) {
    // Where data are is each file system's to say; what it calls a hole must read as zeros.
    const off_t at = std::max<off_t>(by, 0);
    return both("SEEK_DATA, SEEK_HOLE" + where, [&](int w, std::string* data) -> long {
      const off_t before = lseek(pair.fd[w], 0, SEEK_CUR);
      struct stat st {};
      fstat(pair.fd[w], &st);
      const off_t end = at >= st.st_size ? at : std::min<off_t>(st.st_size, at + 100000);
      const off_t hole = lseek(pair.fd[w], at, SEEK_HOLE);
      if (hole < 0) return -1;
      if (hole < at || hole > st.st_size) *data += "a hole outside";
      const off_t next = lseek(pair.fd[w], at, SEEK_DATA);
      const off_t zeros = next < 0 ? end : std::min(next, end);
      std::string bytes(static_cast<size_t>(std::max<off_t>(0, zeros - at)), 'x');
      if ((pair.flags & O_ACCMODE) != O_WRONLY && !bytes.empty() &&
          (pread(pair.fd[w], bytes.data(), bytes.size(), at) !=
               static_cast<ssize_t>(bytes.size()) ||
           bytes.find_first_not_of('\0') != std::string::npos))
        *data += "a hole with data in it";
      lseek(pair.fd[w], before, SEEK_SET);
      return 0;
    });
  }
  return both("lseek" + where + " from " + std::to_string(whence),
              [&](int w, std::string*) { return lseek(pair.fd[w], by, whence); });
}

bool Exerciser::duplicate_step(Pair& pair) {
  switch (below(6)) {
    case 0:
      if (pairs_.size() > 10) return true;
      {
        Pair copy = pair;
        if (!both("dup",
                  [&](int w, std::string*) { return (copy.fd[w] = dup(pair.fd[w])) < 0 ? -1 : 0; }))
          return false;
        history_.back() +=
            ", " + std::to_string(copy.fd[0]) + " like " + std::to_string(pair.fd[0]);
        pairs_.push_back(copy);
        return true;
      }
    case 1: {
      if (!same_contents(pair)) return false;
      const Pair gone = pair;
      pairs_.erase(pairs_.begin() + (&pair - pairs_.data()));
      return both("close " + std::to_string(gone.fd[0]),
                  [&](int w, std::string*) { return close(gone.fd[w]); });
    }
    case 2: {
      const Pair& other = pairs_[below(pairs_.size())];
      if (&other == &pair) return true;
      pair.flags = other.flags;
      return both("dup2 " + std::to_string(other.fd[0]) + " " + std::to_string(pair.fd[0]),
                  [&](int w, std::string*) { return dup2(other.fd[w], pair.fd[w]) < 0 ? -1 : 0; });
    }
    case 3: {
      const int flags = one_in(2) ? O_APPEND : 0;
      // A description is shared: other pairs may have it too, so their flags are asked for where
      // needed.
      return both("F_SETFL " + std::to_string(flags) + " of " + std::to_string(pair.fd[0]),
                  [&](int w, std::string*) { return fcntl(pair.fd[w], F_SETFL, flags); });
    }
    case 4:
      return both("F_GETFL", [&](int w, std::string*) {
        return fcntl(pair.fd[w], F_GETFL) & (O_ACCMODE | O_APPEND | O_PATH);
      });
    default:
      return both("fsync", [&](int w, std::string*) { return fsync(pair.fd[w]); });
  }
}

bool Exerciser::descriptor_step(Pair& pair) {
  const int now = fcntl(pair.fd[0], F_GETFL);
  if (now >= 0) pair.flags = (now & (O_ACCMODE | O_APPEND | O_PATH));
  const uint64_t kind = below(20);
  if (!both("offset of " + std::to_string(pair.fd[0]),
            [&](int w, std::string*) { return lseek(pair.fd[w], 0, SEEK_CUR); }))
    return false;
  const bool same = [&] {
    if (kind < 9) return transfer_step(pair);
    if (kind < 12) return shape_step(pair);
    if (kind < 15) return seek_step(pair);
    if (kind < 17) return duplicate_step(pair);
    if (kind < 18)
      return both("fstat", [&](int w, std::string* data) {
        struct stat st {};
        const int done = fstat(pair.fd[w], &st);
        *data = std::to_string(st.st_mode) + " " + std::to_string(st.st_nlink) + " " +
                (S_ISREG(st.st_mode) ? std::to_string(st.st_size) : "");
        return done;
      });
    const Pair& other = pairs_[below(pairs_.size())];
    off_t from[worlds] = {static_cast<off_t>(offset()), 0};
    off_t to[worlds] = {static_cast<off_t>(offset()), 0};
    from[1] = from[0], to[1] = to[0];
    const bool in = one_in(2), out = one_in(2);
    const size_t count = size();
    const std::string ends = std::to_string(pair.fd[0]) + " " + std::to_string(other.fd[0]) + " " +
                             std::to_string(count) + (in ? ", from an offset" : "") +
                             (out ? ", to an offset" : "");
    if (kind == 18)
      return both("copy_file_range " + ends, [&](int w, std::string* data) {
        const long done = copy_file_range(pair.fd[w], in ? &from[w] : nullptr, other.fd[w],
                                          out ? &to[w] : nullptr, count, 0);
        *data = std::to_string(from[w]) + " " + std::to_string(to[w]);
        return done;
      });
    // Within one file the kernel moves pages that it may be writing to.
    struct stat one {
    }, two{};
    fstat(pair.fd[1], &one), fstat(other.fd[1], &two);
    if (one.st_ino == two.st_ino && (in || &pair != &other)) return true;
    return both("sendfile " + ends, [&](int w, std::string* data) {
      const long done = sendfile(other.fd[w], pair.fd[w], in ? &from[w] : nullptr, count);
      *data = std::to_string(from[w]);
      return done;
    });
  }();
  if (!same || pairs_.empty() || !one_in(6)) return same;
  return same_contents(pairs_[below(pairs_.size())]);
}

}  // namespace exerciser
