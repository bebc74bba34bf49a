// What a power cut may take, and what it may not.
//
//   power_program write POOL fsync|write FIRST     works until it is killed, and says what is safe
//   power_program verify POOL LAST                 looks at what a power cut left after `ack LAST`
//   power_program map POOL shared|private          maps a file of a few blocks, and compares
//
// Step n appends a record to `log`, overwrites a slot in `slots`, and now and then makes, renames
// and removes a file. With `fsync` its files are synced before `ack n` is printed; with `write`
// nothing is.
#include <fcntl.h>
#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "cairn/cairn.h"

namespace {

constexpr uint64_t record_words = 750;  // 6000 bytes: no record lies on block boundaries
constexpr uint64_t slot_words = 1500;
constexpr uint64_t slots = 16;
constexpr uint64_t file_words = 1000;
constexpr uint64_t files_every = 5;
constexpr uint64_t files_kept = 40;  // steps

[[noreturn]] void die(const char* what, int64_t result) {
  std::printf("FAILED %s: %lld %s\n", what, static_cast<long long>(result), cairn_last_error());
  std::exit(1);
}

int64_t check(const char* what, int64_t result) {
  if (result < 0) die(what, result);
  return result;
}

// Every word tells which step wrote it, and as which.
std::vector<uint64_t> contents(uint64_t step, uint64_t words) {
  std::vector<uint64_t> all(words);
  for (uint64_t i = 0; i < words; ++i) all[i] = step << 16 | i;
  return all;
}

std::string name(char kind, uint64_t step) {
  return "names/" + std::string(1, kind) + std::to_string(step);
}

class Session {
 public:
  explicit Session(const char* path) { check("attach", cairn_pool_attach(path, 0, &pool_)); }
  ~Session() { cairn_pool_detach(pool_); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  [[nodiscard]] cairn_pool* pool() const { return pool_; }

  cairn_file* open(const std::string& path, int flags) {
    cairn_file* file = nullptr;
    check(path.c_str(), cairn_open(pool_, CAIRN_ROOT, path.c_str(), flags, 0600, &file));
    return file;
  }
  bool exists(const std::string& path) {
    cairn_stat st;
    const int result = cairn_lookup(pool_, CAIRN_ROOT, path.c_str(), 0, &st);
    if (result != -ENOENT) check(path.c_str(), result);
    return result == 0;
  }

 private:
  cairn_pool* pool_ = nullptr;
};

void write_all(cairn_file* file, const std::vector<uint64_t>& words, uint64_t offset) {
  const auto size = static_cast<int64_t>(words.size() * 8);
  if (check("write", cairn_pwrite(file, words.data(), words.size() * 8, offset)) != size)
    die("short write", 0);
}

void work(Session& session, bool synced, uint64_t first) {
  check("durability", cairn_pool_set_durability(session.pool(), synced ? CAIRN_DURABILITY_FSYNC
                                                                       : CAIRN_DURABILITY_WRITE));
  if (!session.exists("names"))
    check("mkdir", cairn_mkdir(session.pool(), CAIRN_ROOT, "names", 0700));
  cairn_file* log = session.open("log", O_RDWR | O_CREAT);
  cairn_file* table = session.open("slots", O_RDWR | O_CREAT);
  for (uint64_t step = first;; ++step) {
    write_all(log, contents(step, record_words), (step - 1) * record_words * 8);
    write_all(table, contents(step, slot_words), step % slots * slot_words * 8);
    if (synced) {
      check("fsync", cairn_fsync(log));
      check("fsync", cairn_fsync(table));
    }
    if (step % files_every == 0) {
      // Steps that were not acknowledged are done again, and may have left files.
      cairn_file* file = session.open(name('a', step), O_RDWR | O_CREAT | O_TRUNC);
      write_all(file, contents(step, file_words), 0);
      check("rename", cairn_rename(session.pool(), CAIRN_ROOT, name('a', step).c_str(), CAIRN_ROOT,
                                   name('b', step).c_str(), 0));
      if (step > files_kept && session.exists(name('b', step - files_kept)))
        check("unlink",
              cairn_unlink(session.pool(), CAIRN_ROOT, name('b', step - files_kept).c_str()));
      if (synced) check("fsync", cairn_fsync(file));
      check("close", cairn_close(file));
    }
    std::printf("ack %llu\n", static_cast<unsigned long long>(step));
    std::fflush(stdout);
  }
}

std::vector<uint64_t> read_words(cairn_file* file, uint64_t offset, uint64_t words) {
  std::vector<uint64_t> all(words, 0);
  check("read", cairn_pread(file, all.data(), words * 8, offset));
  return all;
}

int problems = 0;
void problem(const char* what, uint64_t step, uint64_t word, uint64_t value) {
  if (++problems <= 20)
    std::printf("FAILED %s: step %llu word %llu holds %llx\n", what,
                static_cast<unsigned long long>(step), static_cast<unsigned long long>(word),
                static_cast<unsigned long long>(value));
}

// What was acknowledged must be there; of the steps after `last`, what they may have left.
void verify(Session& session, uint64_t last) {
  cairn_file* log = session.open("log", O_RDONLY);
  cairn_stat st;
  check("stat", cairn_fstat(log, &st));
  if (st.size < last * record_words * 8) problem("log is short", last, 0, st.size);
  for (uint64_t step = 1; (step - 1) * record_words * 8 < st.size; ++step) {
    const auto found = read_words(log, (step - 1) * record_words * 8, record_words);
    for (uint64_t w = 0; w < record_words; ++w) {
      const uint64_t right = step << 16 | w;
      const bool may_be_missing = step > last && found[w] == 0;
      if (found[w] != right && !may_be_missing) problem("log", step, w, found[w]);
    }
  }
  cairn_file* table = session.open("slots", O_RDONLY);
  for (uint64_t slot = 0; slot < slots && slot < last; ++slot) {
    const uint64_t safe =
        last - (last % slots + slots - slot) % slots;  // its last step that was safe
    const auto found = read_words(table, slot * slot_words * 8, slot_words);
    for (uint64_t w = 0; w < slot_words; ++w) {
      const uint64_t step = found[w] >> 16;
      if (step < safe || step % slots != slot || (found[w] & 0xffff) != w)
        problem("slots", safe, w, found[w]);
    }
  }
  // How far the work may have come: the plug is pulled some time after the last line came out.
  const uint64_t reached = st.size / (record_words * 8) + 1;
  uint64_t files = 0;
  for (uint64_t step = files_every; step <= last; step += files_every) {
    if (session.exists(name('a', step))) problem("old name", step, 0, 0);
    const bool removed = step + files_kept <= last;
    const bool may_be_removed = step + files_kept <= reached;
    const bool there = session.exists(name('b', step));
    if (there ? removed : !may_be_removed) problem(removed ? "not removed" : "name", step, 0, 0);
    if (!there || removed) continue;
    ++files;
    cairn_file* file = session.open(name('b', step), O_RDONLY);
    if (read_words(file, 0, file_words) != contents(step, file_words)) problem("file", step, 0, 0);
    check("close", cairn_close(file));
  }
  std::printf("log %llu bytes, %llu files, %d problems after step %llu\n",
              static_cast<unsigned long long>(st.size), static_cast<unsigned long long>(files),
              problems, static_cast<unsigned long long>(last));
}

void map(Session& session, bool shared) {
  cairn_file* file = session.open("mapped", O_RDWR | O_CREAT);
  const auto words = contents(1, 3000);
  write_all(file, words, 0);
  void* mapped = nullptr;
  check("mmap", cairn_mmap(file, nullptr, words.size() * 8, PROT_READ | PROT_WRITE,
                           shared ? MAP_SHARED : MAP_PRIVATE, 0, &mapped));
  if (std::memcmp(mapped, words.data(), words.size() * 8) != 0) problem("mapped bytes", 1, 0, 0);
  static_cast<uint64_t*>(mapped)[0] = 7;
  if ((read_words(file, 0, 1)[0] == 7) != shared) problem("a store through the mapping", 1, 0, 7);
  check("munmap", cairn_munmap(session.pool(), mapped, words.size() * 8));
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "write" && argc == 5) {
    Session session(argv[2]);
    work(session, std::string(argv[3]) == "fsync", std::strtoull(argv[4], nullptr, 10));
  } else if (what == "verify" && argc == 4) {
    Session session(argv[2]);
    verify(session, std::strtoull(argv[3], nullptr, 10));
  } else if (what == "map" && argc == 4) {
    Session session(argv[2]);
    map(session, std::string(argv[3]) == "shared");
  } else {
    std::printf("see the head of power_program.cc\n");
    return 2;
  }
  return problems == 0 ? 0 : 1;
}
