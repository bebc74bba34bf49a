// A process's first pass over an existing pool with 4 KiB pages, where every page has to be mapped,
// against pwrite to a fresh plain file on the same tmpfs. Each measurement is a process of its own.
#include <fcntl.h>
#include <unistd.h>

#include <memory>

#include "core/rows.h"
#include "harness/contest.h"
#include "harness/pools.h"
#include "harness/workers.h"

namespace cairn::bench {
namespace {

constexpr size_t most_processes = 2;

struct Pass {
  size_t size;   // bytes that one process writes
  size_t areas;  // as many per process are written in turn
};

double pool_pass(const std::string& path, const char* name, const uint8_t* source, size_t piece,
                 uint64_t from, size_t size) {
  const Attached attached(path);
  cairn_file* file = attached.open(name);
  const double time = cairn_write_pieces(file, source, piece, from, size);
  cairn_close(file);
  return time;
}

double plain_pass(const std::string& path, const uint8_t* source, size_t piece, size_t size) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  must_posix(fd, path.c_str());
  const double begin = now_ns();
  for (size_t at = 0; at < size; at += piece) {
    if (pwrite(fd, source, piece, static_cast<off_t>(at)) != static_cast<ssize_t>(piece))
      must_posix(-1, "pwrite");
  }
  const double time = now_ns() - begin;
  close(fd);
  unlink(path.c_str());
  return time;
}

}  // namespace

void first_pass_rows(const Settings& settings, const Medium& shm, Report& report) {
  const std::string group = "first pass of a process, 4 KiB pages";
  if (!settings.wants(group)) return;
  const Pass pass{settings.quick ? size_t{16} << 20 : size_t{128} << 20, 4};
  const size_t file_size = pass.size * pass.areas;
  Settings fewer = settings;
  fewer.pairs = settings.quick ? 3 : std::max<size_t>(8, settings.pairs / 6);
  const OwnPool own(shm.path("pool"),
                    {.size = most_processes * (file_size + pass.size) + (size_t{64} << 20)});
  {
    const Attached attached(own.path());
    for (const char* name : {"file0", "file1"}) fill_file(attached.open(name), file_size);
  }
  const uint8_t* source = make_buffer(size_t{1} << 20);
  for (size_t processes = 1; processes <= most_processes; ++processes) {
    for (const size_t piece : settings.pieces) {
      const auto on_new_workers = [&](size_t round, auto work) {
        Workers workers(processes, [&](size_t worker) -> Workers::Task {
          return [&, worker](size_t, size_t) { return work(worker, round); };
        });
        return workers.run(0, round);
      };
      const auto over = [&](size_t worker, size_t round) {
        return pool_pass(own.path(), worker == 0 ? "file0" : "file1", source, piece,
                         round % pass.areas * pass.size, pass.size);
      };
      const auto plain = [&](size_t worker, size_t) {
        return plain_pass(shm.path("plain" + std::to_string(worker)), source, piece, pass.size);
      };
      const auto fresh = [&](size_t worker, size_t) {
        const std::string name = "fresh" + std::to_string(worker);
        const double time = pool_pass(own.path(), name.c_str(), source, piece, 0, pass.size);
        const Attached attached(own.path());
        must(cairn_unlink(attached.pool(), CAIRN_ROOT, name.c_str()), "cairn_unlink");
        return time;
      };
      Contest contest;
      const size_t over_time =
          contest.add("overwrite", [&](size_t round) { return on_new_workers(round, over); });
      const size_t limit = contest.add("pwrite, fresh plain file",
                                       [&](size_t round) { return on_new_workers(round, plain); });
      const size_t fresh_time =
          contest.add("new file", [&](size_t round) { return on_new_workers(round, fresh); });
      for (const size_t ours : {over_time, fresh_time}) {
        Row row = contest.judge(fewer, ours, {limit}, pass.size / piece, Bar::at_least(1.0));
        row.group = group;
        row.what = size_name(piece) + ", " + contest.name(ours) + (processes == 1 ? "" : ", two");
        report.add(std::move(row));
      }
    }
  }
}

}  // namespace cairn::bench
