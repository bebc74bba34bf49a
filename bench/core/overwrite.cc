// Overwriting and reading, in order, against copying into and out of the same pages.
//
// Contenders work on one file as large as the working set, each on the part that follows the last
// one's, so that each finds memory that has left the cache since it was last touched.
#include <fcntl.h>
#include <unistd.h>

#include "core/rows.h"
#include "harness/contest.h"
#include "harness/copy_limits.h"
#include "harness/pools.h"

namespace cairn::bench {

double cairn_write_pieces(cairn_file* file, const uint8_t* source, size_t piece, uint64_t from,
                          size_t size) {
  const double begin = now_ns();
  for (uint64_t at = from; at < from + size; at += piece) {
    if (cairn_pwrite(file, source, piece, at) != static_cast<ssize_t>(piece)) [[unlikely]]
      must(-EIO, "cairn_pwrite");
  }
  return now_ns() - begin;
}

double cairn_read_pieces(cairn_file* file, uint8_t* destination, size_t piece, uint64_t from,
                         size_t size) {
  const double begin = now_ns();
  for (uint64_t at = from; at < from + size; at += piece) {
    if (cairn_pread(file, destination, piece, at) != static_cast<ssize_t>(piece)) [[unlikely]]
      must(-EIO, "cairn_pread");
  }
  return now_ns() - begin;
}

namespace {

constexpr size_t slice = Settings::slice;

size_t slice_of(const Settings& settings, const Contest& contest) {
  return contest.turn() % settings.slices() * slice;
}

// The plain file that small pieces are compared with.
class PlainFile {
 public:
  PlainFile(const Medium& medium, const uint8_t* source, size_t size) : size_(size) {
    const std::string path = medium.path("plain");
    fd_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    must_posix(fd_, path.c_str());
    unlink(path.c_str());
    for (size_t at = 0; at < size; at += size_t{1} << 20)
      must_posix(pwrite(fd_, source, size_t{1} << 20, static_cast<off_t>(at)), "pwrite");
  }
  ~PlainFile() { close(fd_); }
  PlainFile(const PlainFile&) = delete;
  PlainFile& operator=(const PlainFile&) = delete;

  template <typename Call>
  double each_piece(size_t round, size_t piece, Call call) const {
    const size_t from = round * slice % size_;
    const double begin = now_ns();
    for (size_t at = from; at < from + slice; at += piece) {
      if (call(fd_, piece, static_cast<off_t>(at)) != static_cast<ssize_t>(piece)) [[unlikely]]
        must_posix(-1, "plain file");
    }
    return now_ns() - begin;
  }

 private:
  int fd_;
  size_t size_;
};

struct Stage {
  Stage(const Settings& settings, const Medium& medium)
      : own(medium.path("pool"), {.size = settings.working_set + (size_t{64} << 20)}),
        attached(own.path()),
        file(attached.open("file")),
        buffer(make_buffer(size_t{1} << 20)) {
    fill_file(file, settings.working_set);
    // Every page is mapped before anything is measured, whatever the medium's page size.
    must(cairn_pool_populate(attached.pool(), nullptr, nullptr), "cairn_pool_populate");
    extents = extents_of(file, 0, settings.working_set);
    read_pieces(extents, buffer, size_t{1} << 20);
    cairn_read_pieces(file, buffer, size_t{1} << 20, 0, settings.working_set);
  }
  OwnPool own;
  Attached attached;
  cairn_file* file;
  uint8_t* buffer;
  std::vector<Extent> extents;
};

void add_row(Report& report, Row row, const std::string& group, const std::string& what) {
  row.group = group;
  row.what = what;
  report.add(std::move(row));
}

double bar_for(size_t piece) { return piece <= 256 ? 0.60 : piece <= 4096 ? 0.93 : 0.97; }

}  // namespace

void overwrite_rows(const Settings& settings, const Medium& medium, Report& report) {
  const std::string group = "overwrite, volatile";
  if (!settings.wants(group)) return;
  Stage stage(settings, medium);
  for (const size_t piece : settings.pieces) {
    Contest contest;
    const size_t ours = contest.add("C API", [&](size_t) {
      return cairn_write_pieces(stage.file, stage.buffer, piece, slice_of(settings, contest),
                                slice);
    });
    const size_t copied = contest.add("memcpy", [&](size_t) {
      return copy_pieces(part_of(stage.extents, slice_of(settings, contest), slice), stage.buffer,
                         piece);
    });
    const size_t streamed = contest.add("non-temporal copy + sfence", [&](size_t) {
      return stream_pieces(part_of(stage.extents, slice_of(settings, contest), slice), stage.buffer,
                           piece);
    });
    const size_t calls = slice / piece;
    add_row(report,
            contest.judge(settings, ours, {copied, streamed}, calls, Bar::at_least(bar_for(piece))),
            group, size_name(piece));
    if (piece != 256) continue;
    const PlainFile plain(medium, stage.buffer, settings.working_set / 2 / slice * slice);
    Contest against_tmpfs;
    const size_t again = against_tmpfs.add("C API", [&](size_t) {
      return cairn_write_pieces(stage.file, stage.buffer, piece, slice_of(settings, against_tmpfs),
                                slice);
    });
    const size_t tmpfs = against_tmpfs.add("tmpfs pwrite", [&](size_t round) {
      return plain.each_piece(round, piece, [&](int fd, size_t n, off_t at) {
        return pwrite(fd, stage.buffer, n, at);
      });
    });
    add_row(report,
            against_tmpfs.judge(settings, again, {tmpfs}, calls, Bar::at_least(6), Unit::times),
            group, size_name(piece));
  }
}

void read_rows(const Settings& settings, const Medium& medium, Report& report) {
  const std::string group = "read, volatile";
  if (!settings.wants(group)) return;
  Stage stage(settings, medium);
  for (const size_t piece : settings.pieces) {
    Contest contest;
    const size_t ours = contest.add("C API", [&](size_t) {
      return cairn_read_pieces(stage.file, stage.buffer, piece, slice_of(settings, contest), slice);
    });
    const size_t copied = contest.add("memcpy", [&](size_t) {
      return read_pieces(part_of(stage.extents, slice_of(settings, contest), slice), stage.buffer,
                         piece);
    });
    const size_t calls = slice / piece;
    add_row(report, contest.judge(settings, ours, {copied}, calls, Bar::at_least(bar_for(piece))),
            group, size_name(piece));
    if (piece != 256) continue;
    const PlainFile plain(medium, stage.buffer, settings.working_set / 2 / slice * slice);
    Contest against_tmpfs;
    const size_t again = against_tmpfs.add("C API", [&](size_t) {
      return cairn_read_pieces(stage.file, stage.buffer, piece, slice_of(settings, against_tmpfs),
                               slice);
    });
    const size_t tmpfs = against_tmpfs.add("tmpfs pread", [&](size_t round) {
      return plain.each_piece(
          round, piece, [&](int fd, size_t n, off_t at) { return pread(fd, stage.buffer, n, at); });
    });
    add_row(report,
            against_tmpfs.judge(settings, again, {tmpfs}, calls, Bar::at_least(6), Unit::times),
            group, size_name(piece));
  }
}

}  // namespace cairn::bench
