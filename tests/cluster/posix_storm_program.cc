// Ranks on several hosts write through POSIX calls at random: files that all write, logs that all
// append to, and files of their own that others read meanwhile. In the end all look at each byte.
//   posix_storm_program SEED SECONDS
//
// Who may write what
//   all0, all1, …     each rank bytes of its own, dealt in pieces
//   log0, log1        each rank whole lines
//   own RANK NUMBER   that rank only; a file has the bytes of one life
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <iterator>
#include <map>
#include <random>
#include <string>

#include "mpi_parts.h"

namespace {

constexpr int shared_files = 3;
constexpr int logs = 2;
constexpr int own_files = 4;
constexpr int64_t piece = 5003;
constexpr int64_t rounds = 60;          // of pieces
constexpr int64_t most_calls = 50'000;  // so that the logs fit into a pool

std::mt19937_64 drawn;
int64_t draw(int64_t below) { return static_cast<int64_t>(drawn() % static_cast<uint64_t>(below)); }

void told(const char* what, const std::string& name) {
  if (wrong++ < 10)
    std::printf("rank %d: %s %s: %s\n", rank, what, name.c_str(), std::strerror(errno));
}

// What this rank has written: of the files of all, with zeros elsewhere.
Bytes of_all[shared_files];
int open_files[shared_files];
int open_logs[logs];
int64_t lines[logs];
std::map<std::string, Bytes> own;

std::string of_all_name(int64_t i) { return "all" + std::to_string(i); }
std::string log_name(int64_t i) { return "log" + std::to_string(i); }
std::string own_name(int of, int64_t i) {
  return "own" + std::to_string(of) + "." + std::to_string(i);
}

int open_if_closed(int* fd, const std::string& name, int flags) {
  if (*fd < 0) *fd = open(name.c_str(), flags | O_CREAT, 0644);
  if (*fd < 0) told("open", name);
  return *fd;
}

void close_file(int* fd, const std::string& name) {
  if (*fd >= 0 && close(*fd) != 0) told("close", name);
  *fd = -1;
}

void write_of_all() {
  const int64_t i = draw(shared_files);
  const int fd = open_if_closed(&open_files[i], of_all_name(i), O_RDWR);
  const int64_t from = draw(piece);
  const int64_t size = 1 + draw(piece - from);
  const int64_t at = (draw(rounds) * ranks + rank) * piece + from;
  const Bytes bytes = patterns(draw(1 << 20), size, rank);
  if (pwrite(fd, bytes.data(), bytes.size(), at) != size) return told("write", of_all_name(i));
  Bytes& model = of_all[i];
  const auto end = static_cast<size_t>(at + size);
  if (model.size() < end) model.resize(end);
  std::copy(bytes.begin(), bytes.end(), model.begin() + at);
}

// This rank's own bytes are there at once.
void read_of_all() {
  const int64_t i = draw(shared_files);
  const int fd = open_if_closed(&open_files[i], of_all_name(i), O_RDWR);
  const int64_t at = (draw(rounds) * ranks + rank) * piece;
  Bytes expected(piece);
  const auto size = static_cast<int64_t>(of_all[i].size());
  for (int64_t k = 0; k < piece && at + k < size; ++k)
    expected[static_cast<size_t>(k)] = of_all[i][static_cast<size_t>(at + k)];
  Bytes found(piece);
  if (pread(fd, found.data(), found.size(), at) < 0) return told("read", of_all_name(i));
  if (found != expected) told("other bytes in", of_all_name(i));
  struct stat st;
  if (fstat(fd, &st) != 0 || st.st_size < size) told("size of", of_all_name(i));
}

void append_line() {
  const int64_t i = draw(logs);
  const int fd = open_if_closed(&open_logs[i], log_name(i), O_WRONLY | O_APPEND);
  std::string line = "rank " + std::to_string(rank) + " line " + std::to_string(lines[i]++) + " ";
  // Now and then more than one message takes.
  line += std::string(static_cast<size_t>(draw(draw(200) == 0 ? 1'000'000 : 2000)),
                      static_cast<char>('a' + rank)) +
          "\n";
  if (write(fd, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
    told("append to", log_name(i));
}

void close_one() {
  const int64_t i = draw(shared_files + logs);
  if (i < shared_files)
    close_file(&open_files[i], of_all_name(i));
  else
    close_file(&open_logs[i - shared_files], log_name(i - shared_files));
}

void sync_one() {
  const int64_t i = draw(shared_files);
  if (open_files[i] >= 0 && fsync(open_files[i]) != 0) told("sync", of_all_name(i));
}

// A new life, under its name in one step.
void replace_own() {
  const std::string name = own_name(rank, draw(own_files));
  const std::string fresh = name + ".new";
  const Bytes bytes(static_cast<size_t>(draw(100'000)), static_cast<unsigned char>(1 + draw(255)));
  const int fd = open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (fd < 0) return told("make", fresh);
  if (write(fd, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()))
    told("write", fresh);
  if (close(fd) != 0) told("close", fresh);
  if (rename(fresh.c_str(), name.c_str()) != 0) return told("rename", fresh);
  own[name] = bytes;
}

void remove_own() {
  const std::string name = own_name(rank, draw(own_files));
  const bool is_there = own.erase(name) != 0;
  if ((unlink(name.c_str()) == 0) != is_there) told("remove", name);
}

void rename_own() {
  const std::string from = own_name(rank, draw(own_files));
  const std::string to = own_name(rank, draw(own_files));
  const auto found = own.find(from);
  if ((rename(from.c_str(), to.c_str()) == 0) != (found != own.end())) told("rename", from);
  if (found == own.end() || from == to) return;
  Bytes bytes = std::move(found->second);
  own.erase(found);
  own[to] = std::move(bytes);
}

void read_others() {
  const std::string name =
      own_name(static_cast<int>((rank + 1 + draw(ranks - 1)) % ranks), draw(own_files));
  const int fd = open(name.c_str(), O_RDONLY);
  if (fd < 0) {
    if (errno != ENOENT) told("open", name);
    return;
  }
  Bytes bytes(100'000);
  const ssize_t n = read(fd, bytes.data(), bytes.size());
  if (n < 0) told("read", name);
  for (ssize_t k = 1; k < n; ++k)
    if (bytes[static_cast<size_t>(k)] != bytes[0]) return told("bytes of two lives in", name);
  close(fd);
}

// Rank `of`'s bytes, to all.
Bytes given_by(int of, const Bytes& bytes) {
  auto size = static_cast<int>(bytes.size());
  MPI_Bcast(&size, 1, MPI_INT, of, MPI_COMM_WORLD);
  Bytes all = of == rank ? bytes : Bytes(static_cast<size_t>(size));
  MPI_Bcast(all.data(), size, MPI_BYTE, of, MPI_COMM_WORLD);
  return all;
}

Bytes held_in(const std::string& name) {
  Bytes bytes;
  const int fd = open(name.c_str(), O_RDONLY);
  if (fd < 0) {
    if (errno != ENOENT) told("open", name);
    return bytes;
  }
  Bytes some(1 << 20);
  ssize_t n = 0;
  while ((n = read(fd, some.data(), some.size())) > 0)
    bytes.insert(bytes.end(), some.begin(), some.begin() + n);
  if (n < 0) told("read", name);
  close(fd);
  return bytes;
}

// What the test looks for in the directory later: Fowler, Noll and Vo's sum of each file.
void tell(const std::string& name, const Bytes& bytes) {
  if (rank != 0) return;
  uint32_t sum = 2166136261U;
  for (const unsigned char byte : bytes) sum = (sum ^ byte) * 16777619U;
  std::printf("there is %s of %zu bytes, %u\n", name.c_str(), bytes.size(), sum);
}

void check_of_all() {
  for (int i = 0; i < shared_files; ++i) {
    Bytes expected;
    for (int of = 0; of < ranks; ++of) {
      const Bytes theirs = given_by(of, of_all[i]);
      if (expected.size() < theirs.size()) expected.resize(theirs.size());
      for (size_t at = 0; at < theirs.size(); ++at) expected[at] |= theirs[at];
    }
    if (held_in(of_all_name(i)) != expected) told("other bytes in the end in", of_all_name(i));
    tell(of_all_name(i), expected);
  }
}

void check_logs() {
  for (int i = 0; i < logs; ++i) {
    const Bytes held = held_in(log_name(i));
    std::map<int, int64_t> next;
    for (auto at = held.begin(); at != held.end();) {
      const auto end = std::find(at, held.end(), '\n');
      const std::string line(at, end);
      int of = -1;
      long long number = -1;
      int text = 0;
      const bool whole =
          end != held.end() &&
          std::sscanf(line.c_str(), "rank %d line %lld %n", &of, &number, &text) == 2 &&
          line.find_first_not_of(static_cast<char>('a' + of), static_cast<size_t>(text)) ==
              std::string::npos;
      if (!whole || next[of]++ != number) {
        told("a line that is broken or missing in", log_name(i));
        break;
      }
      at = end + 1;
    }
    for (int of = 0; of < ranks; ++of) {
      int64_t count = lines[i];
      MPI_Bcast(&count, 1, MPI_INT64_T, of, MPI_COMM_WORLD);
      if (next[of] != count) told("lines are missing in", log_name(i));
    }
    tell(log_name(i), held);
  }
}

void check_own() {
  for (int of = 0; of < ranks; ++of) {
    for (int i = 0; i < own_files; ++i) {
      const std::string name = own_name(of, i);
      const auto found = own.find(name);
      const Bytes exists = given_by(of, Bytes(found == own.end() ? 0 : 1));
      const Bytes expected = given_by(of, found == own.end() ? Bytes() : found->second);
      if ((access(name.c_str(), F_OK) == 0) != !exists.empty()) told("there or not:", name);
      if (held_in(name) != expected) told("other bytes in the end in", name);
      if (!exists.empty()) tell(name, expected);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  drawn.seed(std::strtoull(argv[1], nullptr, 10) * 1000 + static_cast<uint64_t>(rank));
  for (int& fd : open_files) fd = -1;
  for (int& fd : open_logs) fd = -1;
  void (*const calls[])() = {write_of_all, write_of_all, write_of_all, read_of_all, append_line,
                             append_line,  close_one,    close_one,    sync_one,    replace_own,
                             remove_own,   rename_own,   read_others,  read_others};
  const double until = MPI_Wtime() + std::atof(argv[2]);
  int64_t made = 0;
  for (; MPI_Wtime() < until && made < most_calls; ++made) calls[draw(std::size(calls))]();
  for (int i = 0; i < shared_files; ++i) close_file(&open_files[i], of_all_name(i));
  for (int i = 0; i < logs; ++i) close_file(&open_logs[i], log_name(i));
  barrier();
  check_of_all();
  check_logs();
  check_own();
  int64_t all_made = 0;
  MPI_Reduce(&made, &all_made, 1, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  int all_wrong = 0;
  MPI_Allreduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0 && all_wrong == 0)
    std::printf("%lld calls\nposix_storm\n", static_cast<long long>(all_made));
  std::fflush(stdout);
  MPI_Finalize();
  return all_wrong == 0 ? 0 : 1;
}
