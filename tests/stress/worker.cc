#include "stress/worker.h"

#include <fcntl.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "base/crc32c.h"
#include "capi/core/handles.h"
#include "pool/lanes/seats.h"
#include "pool/space/release.h"

namespace cairn::test {
namespace {

constexpr uint64_t shared_tag = 0x5aULL << 56;
constexpr uint64_t shared_blocks = 64;
constexpr uint64_t longest_log = uint64_t{4} << 20;

// A block that says whose it is in each of its words.
uint64_t word_of(unsigned worker, unsigned file, uint64_t block, uint64_t sequence) {
  return uint64_t{worker + 1} << 56 | uint64_t{file} << 48 | block << 40 | sequence;
}

}  // namespace

Worker::Worker(Oracle& oracle, unsigned number, cairn_pool* pool, uint64_t seed)
    : oracle_(oracle), number_(number), state_(oracle.worker[number]), pool_(pool), random_(seed) {}

bool Worker::wrong(const char* what, long long value) {
  if (oracle_.failures.fetch_add(1) == 0)
    std::snprintf(oracle_.failure, sizeof oracle_.failure,
                  "worker %u: %s (%lld, intent %u on %u); %s", number_, what, value,
                  static_cast<unsigned>(state_.intent.load()), state_.subject, cairn_last_error());
  return false;
}

std::string Worker::name(unsigned f) const {
  return "w" + std::to_string(number_) + "/f" + std::to_string(f);
}

cairn_file* Worker::open(const std::string& path, int flags, int* result) {
  cairn_file* file = nullptr;
  *result = cairn_open(pool_, CAIRN_ROOT, path.c_str(), flags, 0600, &file);
  return *result == 0 ? file : nullptr;
}

bool Worker::create(unsigned f) {
  int result = 0;
  cairn_file* file = open(name(f), O_RDWR | O_CREAT | O_EXCL, &result);
  if (result == -ENOSPC) return true;
  if (file == nullptr) return wrong("create", result);
  state_.file[f] = FileState{};
  state_.file[f].exists = true;
  state_.intent = Intent::none;
  cairn_close(file);
  return true;
}

bool Worker::write(unsigned f) {
  int result = 0;
  cairn_file* file = open(name(f), O_RDWR, &result);
  if (result == -ENOSPC) return true;
  if (file == nullptr) return wrong("open", result);
  const uint32_t from = state_.from;
  const uint32_t to = state_.to;
  std::vector<uint64_t> words((to - from) * block_size / 8);
  for (size_t i = 0; i < words.size(); ++i)
    words[i] = word_of(number_, f, from + i / (block_size / 8), state_.new_sequence);
  const ssize_t n = cairn_pwrite(file, words.data(), words.size() * 8, from * block_size);
  if (n < 0 && n != -ENOSPC) {
    cairn_close(file);
    return wrong("write", n);
  }
  const auto written = n < 0 ? 0U : static_cast<uint32_t>(static_cast<uint64_t>(n) / block_size);
  for (uint32_t b = from; b < from + written; ++b) state_.file[f].sequence[b] = state_.new_sequence;
  if (written != 0) state_.file[f].blocks = std::max(state_.file[f].blocks, from + written);
  state_.intent = Intent::none;
  cairn_close(file);
  return true;
}

bool Worker::truncate(unsigned f) {
  cairn_stat st;
  if (const int r = cairn_lookup(pool_, CAIRN_ROOT, name(f).c_str(), 0, &st); r != 0)
    return wrong("lookup", r);
  if (const int r = cairn_truncate(pool_, st.ino, 0, state_.to * block_size); r != 0)
    return wrong("truncate", r);
  for (uint32_t b = state_.to; b < blocks_per_file; ++b) state_.file[f].sequence[b] = 0;
  state_.file[f].blocks = state_.to;
  state_.intent = Intent::none;
  return true;
}

bool Worker::unlink(unsigned f) {
  if (const int r = cairn_unlink(pool_, CAIRN_ROOT, name(f).c_str()); r != 0)
    return wrong("unlink", r);
  state_.file[f] = FileState{};
  state_.intent = Intent::none;
  return true;
}

// May be interrupted by death at any point, and is then done again.
void Worker::move_state(unsigned from, unsigned to) {
  FileState& source = state_.file[from];
  if (!source.exists) return;  // that was done already
  state_.file[to] = source;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  source.exists = false;
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

bool Worker::rename(unsigned f) {
  const unsigned to = state_.other;
  const int r = cairn_rename(pool_, CAIRN_ROOT, name(f).c_str(), CAIRN_ROOT, name(to).c_str(), 0);
  if (r == -ENOSPC) return true;
  if (r != 0) return wrong("rename", r);
  move_state(f, to);
  // The words in it name the file that wrote them: what matters here is that nothing is lost.
  state_.intent = Intent::none;
  return true;
}

bool Worker::append() {
  int result = 0;
  cairn_file* file = open("log", O_RDWR | O_APPEND, &result);
  if (result == -ENOSPC) return true;
  if (file == nullptr) return wrong("open log", result);
  cairn_stat st;
  cairn_fstat(file, &st);
  if (st.size > longest_log) return cairn_close(file) == 0;
  const auto size = static_cast<uint32_t>(random_.below(random_.one_in(4) ? 9000 : 300));
  std::vector<uint8_t> bytes(sizeof(Record) + size, static_cast<uint8_t>(0x40 + number_));
  Record record{Record::magic_value, number_, state_.appended + 1, size, 0};
  record.check =
      crc32c(0, bytes.data() + sizeof record, size) ^ static_cast<uint32_t>(record.number);
  std::memcpy(bytes.data(), &record, sizeof record);
  state_.appending = record.number;
  const ssize_t n = cairn_write(file, bytes.data(), bytes.size());
  if (n != static_cast<ssize_t>(bytes.size())) {
    cairn_close(file);
    return wrong("append", n);
  }
  state_.appended = record.number;
  state_.appending = 0;
  return cairn_close(file) == 0 || wrong("close", 0);
}

// Everybody writes to it and cuts it: any word is zero or says that it belongs there.
bool Worker::use_shared_file() {
  int result = 0;
  cairn_file* file = open("shared", O_RDWR, &result);
  if (result == -ENOSPC) return true;
  if (file == nullptr) return wrong("open shared", result);
  const bool good = use_shared_file(file);
  cairn_close(file);
  return good;
}

bool Worker::use_shared_file(cairn_file* file) {
  const uint64_t block = random_.below(shared_blocks);
  std::vector<uint64_t> words(random_.below(4) * 512 + 512);
  bool good = true;
  if (random_.one_in(3)) {
    const int r = random_.one_in(2)
                      ? cairn_ftruncate(file, block * block_size + random_.below(512) * 8)
                      : cairn_fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                                        block * block_size, words.size() * 8);
    good = r == 0 || wrong("cutting the shared file", r);
  } else if (random_.one_in(2)) {
    for (size_t i = 0; i < words.size(); ++i)
      words[i] = shared_tag | (block * 512 + i) << 8 | number_;
    const ssize_t n = cairn_pwrite(file, words.data(), words.size() * 8, block * block_size);
    good = n > 0 || n == -ENOSPC || wrong("writing the shared file", n);
  } else {
    const ssize_t n = cairn_pread(file, words.data(), words.size() * 8, block * block_size);
    good = n >= 0 || wrong("reading the shared file", n);
    for (size_t i = 0; good && i < static_cast<size_t>(std::max<ssize_t>(n, 0)) / 8; ++i) {
      if (words[i] != 0 && words[i] >> 8 != (shared_tag >> 8 | (block * 512 + i)))
        good = wrong("foreign bytes in the shared file", static_cast<long long>(words[i]));
    }
  }
  return good;
}

std::string successor_program() {
  char self[512] = {};
  const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
  const std::string path(self, n > 0 ? static_cast<size_t>(n) : 0);
  return path.substr(0, path.rfind('/')) + "/successor_program";
}

bool Worker::fork_a_child() {
  if (cairn_fork_prepare(pool_) != 0) {
    cairn_fork_parent(pool_);
    return true;  // no lane was free
  }
  const pid_t child = fork();
  if (child == 0) {
    cairn_fork_child(pool_);
    for (int i = 0; i < 4; ++i) {
      if (!use_shared_file()) break;
    }
    if (random_.one_in(2)) execl("/bin/true", "true", nullptr);
    _exit(0);  // without detaching, as the killed do
  }
  cairn_fork_parent(pool_);
  if (child > 0) waitpid(child, nullptr, 0);
  return true;
}

// The child's successor works on with the open file that it is handed.
bool Worker::exec_a_child() {
  if (cairn_fork_prepare(pool_) != 0) {
    cairn_fork_parent(pool_);
    return true;
  }
  const pid_t child = fork();
  if (child == 0) {
    cairn_fork_child(pool_);
    int result = 0;
    cairn_file* file = open("shared", O_RDWR, &result);
    if (file == nullptr) _exit(0);  // the pool is full
    const int lane = cairn_exec_prepare(pool_, &file, 1);
    if (lane < 0) _exit(0);  // no lane was free
    cairn_file_id id;
    cairn_file_get_id(file, &id);
    const std::string arguments[] = {std::to_string(lane), std::to_string(id.slot),
                                     std::to_string(id.generation), std::to_string(number_),
                                     std::to_string(random_.next())};
    execl(successor_program().c_str(), "successor", oracle_.pool_path, arguments[0].c_str(),
          arguments[1].c_str(), arguments[2].c_str(), arguments[3].c_str(), arguments[4].c_str(),
          nullptr);
    _exit(127);
  }
  cairn_fork_parent(pool_);
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return true;
  const bool good =
      (WIFEXITED(status) && WEXITSTATUS(status) == 0) ||
      (WIFSIGNALED(status) && (WTERMSIG(status) == SIGALRM || WTERMSIG(status) == SIGKILL));
  return good || wrong("a successor after exec: its status", status);
}

// What is free, however short a time it has been so.
bool Worker::give_memory_back() {
  pool::Pool& pool = capi::fs_of(pool_).pool;
  const pool::SeatGuard seat(pool);
  constexpr uint64_t time_ns = 1'000'000;
  if (seat.ok()) pool::release_chunks(pool, *seat, 0, time_ns);
  return true;
}

bool Worker::step() {
  ++state_.heartbeat;
  ++state_.operations;
  const uint64_t draw = random_.below(20);
  if (draw < 4) return append();
  if (draw < 8) return use_shared_file();
  if (draw == 8 && random_.one_in(8)) return random_.one_in(2) ? fork_a_child() : exec_a_child();
  if (draw == 9 && random_.one_in(4)) return give_memory_back();
  const auto f = static_cast<unsigned>(random_.below(files_per_worker));
  state_.subject = f;
  if (!state_.file[f].exists) {
    state_.intent = Intent::create;
    return create(f);
  }
  if (draw < 13) {
    state_.from = static_cast<uint32_t>(random_.below(blocks_per_file));
    state_.to =
        state_.from + 1 + static_cast<uint32_t>(random_.below(blocks_per_file - state_.from));
    state_.new_sequence = state_.next_sequence++;
    state_.intent = Intent::write;
    return write(f);
  }
  if (draw < 16) {
    state_.to = static_cast<uint32_t>(random_.below(blocks_per_file));
    state_.intent = Intent::truncate;
    return truncate(f);
  }
  if (draw < 18) {
    state_.intent = Intent::unlink;
    return unlink(f);
  }
  state_.other = static_cast<unsigned>(random_.below(files_per_worker));
  if (state_.other == f) return true;
  state_.intent = Intent::rename;
  return rename(f);
}

bool Worker::work(double end_s) {
  while (now_s() < end_s) {
    if (!step()) return false;
  }
  return true;
}

bool Worker::compare_file(unsigned f, const FileState& expected, bool torn) {
  int result = 0;
  cairn_file* file = open(name(f), O_RDONLY, &result);
  if (!expected.exists) {
    if (file != nullptr) cairn_close(file);
    return result == -ENOENT || wrong("a file is there that was removed", f);
  }
  if (file == nullptr) return result == -ENOSPC || wrong("a file is missing", result);
  std::vector<uint64_t> words(blocks_per_file * block_size / 8 + 1);
  const ssize_t n = cairn_pread(file, words.data(), words.size() * 8, 0);
  cairn_close(file);
  const uint64_t size = expected.blocks * block_size;
  // An unfinished write may have come part of the way: its blocks are compared with either.
  if (n < 0 || (static_cast<uint64_t>(n) != size && !torn)) return wrong("another size", n);
  for (uint64_t i = 0; i < static_cast<uint64_t>(n) / 8; ++i) {
    const uint64_t block = i / (block_size / 8);
    const uint64_t old_sequence = block < expected.blocks ? expected.sequence[block] : 0;
    // Which file wrote it does not count: it may have been renamed since.
    const uint64_t word = words[i] & ~(0xffULL << 48);
    if (word == (old_sequence == 0 ? 0 : word_of(number_, 0, block, old_sequence))) continue;
    if (torn && block >= state_.from && block < state_.to &&
        word == word_of(number_, 0, block, state_.new_sequence))
      continue;
    return wrong("other bytes than were acknowledged", static_cast<long long>(i * 8));
  }
  return true;
}

bool Worker::compare() {
  const unsigned f = state_.subject;
  FileState& subject = state_.file[f];
  cairn_stat st{};
  const auto there = [&](unsigned file) {
    return cairn_lookup(pool_, CAIRN_ROOT, name(file).c_str(), 0, &st) == 0;
  };
  bool torn = false;
  switch (state_.intent.load()) {
    case Intent::none:
      break;
    case Intent::create:
      if (there(f)) {
        subject = FileState{};
        subject.exists = true;
      }
      break;
    case Intent::unlink:
      if (!there(f)) subject = FileState{};
      break;
    case Intent::truncate:
      if (there(f) && st.size == state_.to * block_size && subject.blocks != state_.to) {
        for (uint32_t b = state_.to; b < blocks_per_file; ++b) subject.sequence[b] = 0;
        subject.blocks = state_.to;
      }
      break;
    case Intent::rename:
      if (!there(f)) move_state(f, state_.other);
      break;
    case Intent::write:
      torn = true;
      if (!there(f) || st.size % 8 != 0)
        return wrong("after a killed write", static_cast<long long>(st.size));
      break;
  }
  for (unsigned i = 0; i < files_per_worker; ++i) {
    if (!compare_file(i, state_.file[i], torn && i == f)) return false;
  }
  if (torn) {
    // What is there now counts: the whole range is written again.
    if (!write(f)) return false;
  }
  state_.intent = Intent::none;
  return true;
}

std::string compare_log(Oracle& oracle, cairn_pool* pool) {
  cairn_file* file = nullptr;
  if (cairn_open(pool, CAIRN_ROOT, "log", O_RDONLY, 0, &file) != 0) return cairn_last_error();
  cairn_stat st;
  cairn_fstat(file, &st);
  std::vector<uint8_t> bytes(st.size);
  const ssize_t n = cairn_pread(file, bytes.data(), bytes.size(), 0);
  cairn_close(file);
  if (n != static_cast<ssize_t>(st.size)) return "the log cannot be read";
  uint64_t last[workers] = {};
  for (uint64_t at = 0; at < bytes.size();) {
    Record record;
    if (bytes.size() - at < sizeof record) return "a torn record at the end of the log";
    std::memcpy(&record, bytes.data() + at, sizeof record);
    if (record.magic != Record::magic_value || record.worker >= workers ||
        record.size > bytes.size() - at - sizeof record)
      return "no record at " + std::to_string(at) + " of the log, of " +
             std::to_string(bytes.size());
    if (record.check != (crc32c(0, bytes.data() + at + sizeof record, record.size) ^
                         static_cast<uint32_t>(record.number)))
      return "a torn record at " + std::to_string(at) + " of the log";
    // A record that was under way at a death may be there; its number is then used again.
    uint64_t& before = last[record.worker];
    if (record.number != before + 1 && record.number != before)
      return "worker " + std::to_string(record.worker) + ": record " +
             std::to_string(record.number) + " after " + std::to_string(before);
    before = record.number;
    at += sizeof record + record.size;
  }
  for (unsigned w = 0; w < workers; ++w) {
    if (last[w] < oracle.worker[w].appended)
      return "acknowledged records of worker " + std::to_string(w) + " are missing";
  }
  return "";
}

}  // namespace cairn::test
