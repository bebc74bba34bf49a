// The life of a pool with a million blocks in use: what a second process pays to attach, and what
// the first one after a crash pays for recovery.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "core/rows.h"
#include "format/layout.h"
#include "harness/contest.h"
#include "harness/pools.h"
#include "harness/workers.h"

namespace cairn::bench {
namespace {

constexpr size_t block = 4096;
constexpr size_t blocks_per_file = 10000;

// Blocks in use, mapped one by one: pieces of less than 2 MiB become no leaf.
void use_blocks(const std::string& path, size_t blocks) {
  const Attached attached(path);
  constexpr size_t piece = size_t{1} << 20;
  for (size_t made = 0; made < blocks; made += blocks_per_file) {
    cairn_file* file = attached.open(("file" + std::to_string(made)).c_str());
    const size_t size = std::min(blocks - made, blocks_per_file) * block;
    for (size_t at = 0; at < size; at += piece)
      must(cairn_fallocate(file, 0, at, std::min(piece, size - at)), "cairn_fallocate");
    cairn_close(file);
  }
}

uint64_t used_blocks(const std::string& path) {
  const Attached attached(path);
  cairn_pool_info info = {};
  must(cairn_pool_get_info(attached.pool(), &info), "cairn_pool_get_info");
  return info.used / info.block_size;
}

// Time of one attach in a program that has just been started: a forked child would pay for copies
// of its parent's memory as well.
double attach_time(const std::string& path, bool and_read) {
  const std::string command = "/proc/" + std::to_string(getpid()) + "/exe " +
                              (and_read ? tell_attach_and_read : tell_attach) + " '" + path + "'";
  FILE* program = popen(command.c_str(), "re");
  if (program == nullptr) must_posix(-1, "popen");
  double time = 0;
  const bool told = std::fscanf(program, "%lf", &time) == 1;
  if (pclose(program) != 0 || !told) must(-EIO, command.c_str());
  return time;
}

// A process that is killed while it works in the pool.
void crash(const std::string& path) {
  std::fflush(nullptr);
  const pid_t child = fork();
  must_posix(child, "fork");
  if (child == 0) {
    cairn_pool* pool = nullptr;
    must(cairn_pool_attach(path.c_str(), 0, &pool), "cairn_pool_attach");
    cairn_file* file = nullptr;
    must(cairn_open(pool, CAIRN_ROOT, "victim", O_RDWR | O_CREAT | O_APPEND, 0600, &file),
         "cairn_open");
    char bytes[block] = {1};
    must(cairn_write(file, bytes, sizeof bytes), "cairn_write");
    raise(SIGKILL);
  }
  waitpid(child, nullptr, 0);
}

// Leaves the pool as a power loss does, as far as it costs time: the pool names another boot than
// this one, so recovery trusts only what was flushed, and counts every block anew.
void end_boot(const std::string& path) {
  const int segment = open((path + "/segment.0").c_str(), O_RDWR | O_CLOEXEC);
  must_posix(segment, "open segment.0");
  const uint64_t other[2] = {1, 1};
  must_posix(pwrite(segment, other, sizeof other,
                    format::state_block * format::block_size + offsetof(format::State, boot_id)),
             "pwrite segment.0");
  close(segment);
}

double recovery_time(const std::string& path, bool after_power_loss) {
  crash(path);
  if (after_power_loss) end_boot(path);
  Workers worker(1, [&](size_t) -> Workers::Task {
    return [&](size_t, size_t) {
      const double begin = now_ns();
      const Attached attached(path);
      return now_ns() - begin;
    };
  });
  return worker.run(0, 0);
}

Row value_row(const std::string& group, const std::string& what, const std::vector<double>& values,
              Bar bar, Unit unit) {
  Row row;
  row.group = group;
  row.what = what;
  row.measured = bootstrap_median(values);
  row.bar = bar;
  row.unit = unit;
  row.pairs = values.size();
  return row;
}

}  // namespace

int tell_attach_time(const char* path, bool and_read) {
  use_wall_clock();
  const double begin = now_ns();
  cairn_pool* pool = nullptr;
  must(cairn_pool_attach(path, 0, &pool), "cairn_pool_attach");
  if (and_read) {
    cairn_file* file = nullptr;
    must(cairn_open(pool, CAIRN_ROOT, "file0", O_RDONLY, 0, &file), "cairn_open");
    char bytes[block];
    must(cairn_pread(file, bytes, sizeof bytes, 0), "cairn_pread");
    cairn_close(file);
  }
  const double time = now_ns() - begin;
  cairn_pool_detach(pool);
  std::printf("%.0f\n", time);
  return 0;
}

void life_rows(const Settings& settings, const Medium& medium, Report& report) {
  const std::string group = "attach and recovery";
  if (!settings.wants(group)) return;
  const size_t blocks = settings.quick ? 50000 : 900000;
  const OwnPool own(medium.path("pool"),
                    {.size = blocks * block + (size_t{160} << 20), .populate = false});
  use_blocks(own.path(), blocks);
  const uint64_t used = used_blocks(own.path());
  report.fact("blocks in use", std::to_string(used));
  const size_t attaches = settings.quick ? 8 : 80;
  {
    // Someone is attached all the while; in a process of its own, for forked ones to start clean.
    const Workers first(1, [&](size_t) -> Workers::Task {
      auto attached = std::make_shared<Attached>(own.path());
      return [attached](size_t, size_t) { return 0.0; };
    });
    for (const bool and_read : {false, true}) {
      const Bar bar = and_read ? Bar() : Bar::at_most(200);
      std::vector<double> values;
      for (size_t i = 0; i < attaches; ++i)
        values.push_back(attach_time(own.path(), and_read) / 1e3);
      Row row = value_row(group, and_read ? "attach, open, read" : "attach, second", values, bar,
                          Unit::microseconds);
      row.against = "(a program of its own each time)";
      report.add(std::move(row));
    }
  }
  for (const bool after_power_loss : {false, true}) {
    std::vector<double> values;
    for (size_t i = 0; i < (settings.quick ? 3U : 9U); ++i) {
      values.push_back(recovery_time(own.path(), after_power_loss) / 1e6 * 1e7 /
                       static_cast<double>(used));
    }
    Row row = value_row(group, after_power_loss ? "recovery, power lost" : "recovery", values,
                        Bar::at_most(1000), Unit::milliseconds);
    row.against = "(scaled to 10 million blocks)";
    report.add(std::move(row));
  }
}

}  // namespace cairn::bench
