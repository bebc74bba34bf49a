#include "loop/checkpoint_ways.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "harness/contest.h"
#include "harness/pools.h"

namespace cairn::bench {
namespace {

struct Words {
  const char* name;
  const char* word;
};

const Words& words_of(Way way) {
  static constexpr Words words[] = {{"O_TRUNC", "truncate"},
                                    {"unlink, create", "recreate"},
                                    {"aside, rename", "rename"},
                                    {"ftruncate(0)", "cut"}};
  return words[static_cast<size_t>(way)];
}

void write_all(int fd, const uint8_t* source, size_t size, size_t piece) {
  for (size_t done = 0; done < size; done += piece) {
    const size_t n = std::min(piece, size - done);
    const ssize_t written = write(fd, source, n);
    if (written < 0) must_posix(written, "write");
    if (static_cast<size_t>(written) != n) must(-EIO, "write: fewer bytes than asked for");
  }
}

int must_open(const std::string& path, int flags) {
  const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC | flags, 0600);
  must_posix(fd, path.c_str());
  return fd;
}

}  // namespace

const char* name_of(Way way) { return words_of(way).name; }
const char* word_of(Way way) { return words_of(way).word; }

bool parse_way(const std::string& word, Way& way) {
  for (const Way one : all_ways) {
    if (word != word_of(one)) continue;
    way = one;
    return true;
  }
  return false;
}

double write_checkpoint(Way way, const std::string& path, const uint8_t* source, size_t size,
                        size_t piece) {
  const std::string aside = path + ".next";
  const double begin = now_ns();
  int fd = -1;
  switch (way) {
    case Way::truncate:
      fd = must_open(path, O_CREAT | O_TRUNC);
      break;
    case Way::recreate:
      if (unlink(path.c_str()) != 0 && errno != ENOENT) must_posix(-1, path.c_str());
      fd = must_open(path, O_CREAT | O_EXCL);
      break;
    case Way::rename:
      fd = must_open(aside, O_CREAT | O_EXCL);
      break;
    case Way::cut:
      fd = must_open(path, O_CREAT);
      must_posix(ftruncate(fd, 0), "ftruncate");
      break;
  }
  write_all(fd, source, size, piece);
  must_posix(fsync(fd), "fsync");
  must_posix(close(fd), "close");
  if (way == Way::rename) must_posix(::rename(aside.c_str(), path.c_str()), aside.c_str());
  return now_ns() - begin;
}

double write_small_files(Small small, const std::string& directory, const uint8_t* source,
                         size_t count) {
  std::vector<std::string> paths;
  paths.reserve(count);
  for (size_t i = 0; i < count; ++i) paths.push_back(directory + "/small-" + std::to_string(i));
  const double begin = now_ns();
  for (const std::string& path : paths) {
    const int fd = must_open(path, O_CREAT | O_EXCL);
    write_all(fd, source, small_file_size, small_file_size);
    must_posix(close(fd), "close");
    if (small == Small::one_by_one) must_posix(unlink(path.c_str()), path.c_str());
  }
  if (small == Small::all_at_end)
    for (const std::string& path : paths) must_posix(unlink(path.c_str()), path.c_str());
  return now_ns() - begin;
}

}  // namespace cairn::bench
