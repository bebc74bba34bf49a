// Metadata: create (with close), stat, unlink in a directory that has entries already, against the
// same calls on tmpfs. Both sides name the file relative to an open directory.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "core/rows.h"
#include "harness/contest.h"
#include "harness/pools.h"

namespace cairn::bench {
namespace {

constexpr size_t batch = 512;

struct Names {
  Names() {
    for (size_t i = 0; i < batch; ++i)
      names.push_back("result-" + std::to_string(i * 7919) + ".dat");
  }
  template <typename Call>
  double each(Call call) const {
    const double begin = now_ns();
    for (const std::string& name : names) call(name.c_str());
    return now_ns() - begin;
  }
  std::vector<std::string> names;
};

struct Sides {
  cairn_pool* pool;
  cairn_ino directory;
  int fd;
};

double create_ours(const Sides& s, const Names& names) {
  return names.each([&](const char* name) {
    cairn_file* file = nullptr;
    must(cairn_open(s.pool, s.directory, name, O_RDWR | O_CREAT | O_EXCL, 0600, &file),
         "cairn_open");
    cairn_close(file);
  });
}
double create_theirs(const Sides& s, const Names& names) {
  return names.each([&](const char* name) {
    const int fd = openat(s.fd, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    must_posix(fd, "openat");
    close(fd);
  });
}
double open_ours(const Sides& s, const Names& names) {
  return names.each([&](const char* name) {
    cairn_file* file = nullptr;
    must(cairn_open(s.pool, s.directory, name, O_RDWR, 0, &file), "cairn_open");
    cairn_close(file);
  });
}
double open_theirs(const Sides& s, const Names& names) {
  return names.each([&](const char* name) {
    const int fd = openat(s.fd, name, O_RDWR | O_CLOEXEC);
    must_posix(fd, "openat");
    close(fd);
  });
}
double stat_ours(const Sides& s, const Names& names) {
  return names.each([&](const char* name) {
    cairn_stat st;
    must(cairn_lookup(s.pool, s.directory, name, 0, &st), "cairn_lookup");
  });
}
double stat_theirs(const Sides& s, const Names& names) {
  return names.each([&](const char* name) {
    struct stat st;
    must_posix(fstatat(s.fd, name, &st, 0), "fstatat");
  });
}
double unlink_ours(const Sides& s, const Names& names) {
  return names.each(
      [&](const char* name) { must(cairn_unlink(s.pool, s.directory, name), "cairn_unlink"); });
}
double unlink_theirs(const Sides& s, const Names& names) {
  return names.each([&](const char* name) { must_posix(unlinkat(s.fd, name, 0), "unlinkat"); });
}

// Creates the other entries of a directory that was in use before.
void put_neighbours(const Sides& s, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const std::string name = "neighbour" + std::to_string(i);
    must(cairn_mknod(s.pool, s.directory, name.c_str(), S_IFREG | 0600), "cairn_mknod");
    must_posix(mknodat(s.fd, name.c_str(), S_IFREG | 0600, 0), "mknodat");
  }
}

}  // namespace

void metadata_rows(const Settings& settings, const Medium& medium, Report& report) {
  const std::string group = "metadata, C API";
  if (!settings.wants(group)) return;
  const OwnPool own(medium.path("pool"), {.size = size_t{128} << 20});
  const Attached attached(own.path());
  must(cairn_mkdir(attached.pool(), CAIRN_ROOT, "directory", 0700), "cairn_mkdir");
  cairn_stat st = {};
  must(cairn_lookup(attached.pool(), CAIRN_ROOT, "directory", 0, &st), "cairn_lookup");
  const std::string plain = medium.path("directory");
  must_posix(mkdir(plain.c_str(), 0700), "mkdir");
  const int fd = open(plain.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  must_posix(fd, "open");
  const Sides sides{attached.pool(), st.ino, fd};
  put_neighbours(sides, 1000);

  const Names names;
  Contest contest;
  struct Pair {
    const char* what;
    double (*ours)(const Sides&, const Names&);
    double (*theirs)(const Sides&, const Names&);
    Bar bar;
    size_t number[2];
  };
  contest.keep_order();  // what create made, unlink removes
  Pair pairs[] = {
      {"create and close", create_ours, create_theirs, Bar::at_least(3), {}},
      {"open and close", open_ours, open_theirs, Bar(), {}},
      {"stat", stat_ours, stat_theirs, Bar::at_least(3), {}},
      {"unlink", unlink_ours, unlink_theirs, Bar::at_least(3), {}},
  };
  for (Pair& pair : pairs) {
    pair.number[0] = contest.add("C API", [&](size_t) { return pair.ours(sides, names); });
    pair.number[1] = contest.add("tmpfs", [&](size_t) { return pair.theirs(sides, names); });
  }
  for (const Pair& pair : pairs) {
    Row row =
        contest.judge(settings, pair.number[0], {pair.number[1]}, batch, pair.bar, Unit::times);
    row.group = group;
    row.what = pair.what;
    report.add(std::move(row));
  }
  close(fd);
}

}  // namespace cairn::bench
