// Hands open files and the working directory over to the next program.
//
//   CAIRN_EXEC=NOTE:LIST   NOTE is the descriptor of cairn_exec_prepare. LIST is a file in memory
//                          that tells which descriptors are Cairn files: a Head, and a Handed for
//                          each
//   CAIRN_CWD=...          see cwd.h
//   CAIRN_PROGRAM=...      see program_file.h
//   CAIRN_LIBRARIES=...    see libraries_given.cc
//
// The next program takes all of them out of its environment when it starts. The descriptors
// themselves stay as they are: a replacement that names the file could hit a descriptor that
// another thread has just opened under the number.
#include "posix/exec/handover.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "posix/core/calls.h"
#include "posix/core/engine.h"
#include "posix/core/preload.h"
#include "posix/core/sanitizer_first.h"
#include "posix/core/self_exe.h"
#include "posix/credentials/pool_owner.h"
#include "posix/fd/descriptor.h"
#include "posix/fd/fd_path.h"
#include "posix/fd/standard_streams.h"
#include "posix/io/locks.h"
#include "posix/io/open.h"
#include "posix/libc/install_streams.h"
#include "posix/loader/libraries.h"
#include "posix/path/covered.h"
#include "posix/path/cwd.h"

namespace posix {

static bool is_inheritable(int fd) {
  if (!table::is_covered(fd)) return false;
  int flags = real::fcntl(fd, F_GETFD, nullptr);
  return flags >= 0 && (flags & FD_CLOEXEC) == 0;
}

bool has_inheritable_files() {
  if (table::covered_fds.load() == 0) return false;
  int most = table::highest.load();
  for (int fd = 0; fd <= most; ++fd) {
    if (is_inheritable(fd)) return true;
  }
  return false;
}

namespace {

struct Head {
  char magic[16];
  uint64_t count;
};
constexpr char kMagic[16] = "cairn handover";

struct Handed {
  cairn_file_id id;
  int32_t fd;
  int32_t first;     // the lowest descriptor of the same description: itself, if it has no other
  int32_t lock;      // companion of the description; -1: none
  int32_t own;       // companion for the process's POSIX locks on the file; -1: none
  cairn_ino parent;  // the file was opened by this name
  char name[NAME_MAX + 2];
};

// The files to hand over. Other threads may close them meanwhile, so each is held until the pool
// knows that the next program has it.
class Handing {
 public:
  ~Handing() {
    for (size_t i = 0; i < count_; ++i) table::drop(entries_[i]);
    free(entries_);
    free(files_);
    free(list_);
  }
  // Collects the files that outlive an exec. Returns 0 or a negative errno.
  int collect();
  size_t count() const { return count_; }
  cairn_file* const* files() const { return files_; }
  // Writes the list. Returns its descriptor or a negative errno.
  int write() const;

 private:
  size_t list_bytes() const { return sizeof(Head) + count_ * sizeof(Handed); }
  Handed* handed() const { return reinterpret_cast<Handed*>(list_ + 1); }

  Entry** entries_ = nullptr;
  cairn_file** files_ = nullptr;
  Head* list_ = nullptr;
  size_t count_ = 0;
};

int Handing::collect() {
  int most = table::highest.load();
  const size_t room = static_cast<size_t>(most) + 1;
  entries_ = static_cast<Entry**>(malloc(room * sizeof(void*)));
  files_ = static_cast<cairn_file**>(malloc(room * sizeof(void*)));
  list_ = static_cast<Head*>(malloc(sizeof(Head) + room * sizeof(Handed)));
  if (entries_ == nullptr || files_ == nullptr || list_ == nullptr) return -ENOMEM;
  for (int fd = 0; fd <= most; ++fd) {
    if (!is_inheritable(fd)) continue;
    Entry* entry = table::acquire(fd);
    if (entry == nullptr) continue;
    int lock = entry->lock_fd.load(), own = locks::process_companion(entry->ino);
    if (lock >= 0) real::fcntl(lock, F_SETFD, nullptr);
    if (own >= 0) real::fcntl(own, F_SETFD, nullptr);
    Handed& one = handed()[count_];
    one = {{}, fd, fd, lock, own, entry->parent, {}};
    if (entry->name != nullptr) snprintf(one.name, sizeof one.name, "%s", entry->name);
    cairn_file_get_id(entry->file, &one.id);
    for (size_t i = 0; i < count_; ++i) {
      if (entries_[i] != entry) continue;
      one.first = handed()[i].fd;
      break;
    }
    entries_[count_] = entry;
    files_[count_++] = entry->file;
  }
  memcpy(list_->magic, kMagic, sizeof kMagic);
  list_->count = count_;
  return 0;
}

int Handing::write() const {
  int fd = memfd_create("cairn-handover", MFD_CLOEXEC);
  if (fd < 0) return -errno;
  const char* at = reinterpret_cast<const char*>(list_);
  for (size_t left = list_bytes(); left > 0;) {
    ssize_t wrote = real::write(fd, at, left);
    if (wrote <= 0) {
      int error = wrote < 0 ? -errno : -ENOSPC;
      descriptor::close_private(fd);
      return error;
    }
    at += wrote;
    left -= static_cast<size_t>(wrote);
  }
  real::fcntl(fd, F_SETFD, nullptr);
  return fd;
}

}  // namespace

int Handover::hand_over_files() {
  // The next program could not attach to the pool.
  if (pool_owner::is_other()) return -EACCES;
  Handing handing;
  int error = handing.collect();
  if (error < 0 || handing.count() == 0) return error;
  if ((list_fd_ = handing.write()) < 0) return list_fd_;
  exec_fd_ = cairn_exec_prepare(pool, handing.files(), handing.count());
  return exec_fd_ < 0 ? exec_fd_ : 0;
}

void Handover::describe_directory() {
  directory_[0] = '\0';
  cwd::describe(directory_, sizeof directory_);
}

int Handover::prepare() {
  describe_directory();
  if (pool == nullptr) return 0;
  if (table::covered_fds.load() == 0) return 0;
  int before = errno;
  int error = hand_over_files();
  if (error < 0) {
    errno = -error;
    log(Level::kError, "open covered files cannot be handed over: ",
        error == -EBUSY ? cairn_last_error() : strerrordesc_np(-error));
    cancel();
  }
  errno = before;
  return error;
}

void Handover::cancel() {
  int before = errno;
  if (list_fd_ >= 0) descriptor::close_private(list_fd_);
  if (exec_fd_ >= 0) cairn_exec_cancel(pool, exec_fd_);
  list_fd_ = exec_fd_ = -1;
  errno = before;
}

static constexpr char kPreload[] = "LD_PRELOAD=";
static constexpr size_t kPreloadLength = sizeof kPreload - 1;

// Returns true if the program gets a cover. Without one it needs no handover, and may print its
// environment.
static bool has_cover(char* const* from) {
  bool covered = false;
  for (size_t i = 0; from != nullptr && from[i] != nullptr; ++i) {
    if (strncmp(from[i], "CAIRN_COVER=", 12) == 0) covered = from[i][12] != '\0';
  }
  return covered;
}

// Returns the value of LD_PRELOAD of a program with a cover, or null.
static const char* preloaded(char* const* from) {
  const char* list = nullptr;
  for (size_t i = 0; from != nullptr && from[i] != nullptr; ++i) {
    if (strncmp(from[i], kPreload, kPreloadLength) == 0) list = from[i] + kPreloadLength;
  }
  return has_cover(from) ? list : nullptr;
}

static size_t pointers(char* const* from) {
  size_t count = 0;
  while (from != nullptr && from[count] != nullptr) ++count;
  return count + 3;
}

// The list lies behind the pointers. It is not a member: stacks may be small, and few lists are
// long.
size_t Handover::environment_room(char* const* from) {
  const char* list = preloaded(from);
  const size_t text = list == nullptr ? 0 : kPreloadLength + preload::room_for(list);
  return pointers(from) + (text + sizeof(char*) - 1) / sizeof(char*);
}

char* const* Handover::environment(char* const* from, char** room) {
  if (!has_cover(from)) return from;
  // A program that sets LD_PRELOAD for another one, as launchers of MPI programs do, knows nothing
  // of covers.
  const char* list = preloaded(from);
  char* text = reinterpret_cast<char*>(room + pointers(from));
  const bool stays = list != nullptr && preload::put_last(list, text + kPreloadLength);
  if (stays) memcpy(text, kPreload, kPreloadLength);
  if (exec_fd_ < 0 && directory_[0] == '\0' && !stays) return from;
  size_t count = 0;
  for (size_t i = 0; from != nullptr && from[i] != nullptr; ++i) {
    if (strncmp(from[i], "CAIRN_EXEC=", 11) == 0 || strncmp(from[i], "CAIRN_CWD=", 10) == 0)
      continue;
    room[count++] = stays && strncmp(from[i], kPreload, kPreloadLength) == 0 ? text : from[i];
  }
  if (exec_fd_ >= 0) {
    snprintf(note_, sizeof note_, "CAIRN_EXEC=%d:%d", exec_fd_, list_fd_);
    room[count++] = note_;
  }
  if (directory_[0] != '\0') room[count++] = directory_;
  room[count] = nullptr;
  return room;
}

// Enters another number of a description that is known already.
static bool adopt_duplicate(const Handed& handed) {
  if (handed.first == handed.fd) return false;
  table::Use use(handed.first);
  cairn_file_id known;
  if (!use) return false;
  cairn_file_get_id(use->file, &known);
  if (known.slot != handed.id.slot || known.generation != handed.id.generation) return false;
  table::enter(handed.fd, use.get());
  return true;
}

static void adopt_one(const Handed& handed) {
  // A program in between, without this library, has closed or replaced it.
  if (!descriptor::is_ours(handed.fd)) return;
  if (adopt_duplicate(handed)) return;
  Entry* entry = adopt_file(handed.id, "an inherited file is lost: ");
  if (entry == nullptr) return;
  if (handed.own >= 0) locks::adopt_process_companion(entry->ino, handed.own);
  char path[PATH_MAX];
  for (int i = 0; entry->kind == Kind::kDirectory && i < cover_count; ++i) {
    if (join(&covers[i]) == 0 &&
        cairn_path_of(pool, covers[i].top, entry->ino, path, sizeof path) >= 0)
      entry->cover = &covers[i];
  }
  if (handed.parent != 0) fd_path::remember(entry, handed.parent, handed.name);
  if (handed.lock >= 0) {
    real::fcntl(handed.lock, F_SETFD, reinterpret_cast<void*>(intptr_t{FD_CLOEXEC}));
    table::enter_private(handed.lock);
    entry->lock_fd = handed.lock;
  }
  table::enter(handed.fd, entry);
  table::drop(entry);
}

// A program in between may have opened another file under the list's number, for example one from
// another user.
static bool is_own_memory(int fd) {
  struct stat st;
  return real::fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 0 &&
         st.st_uid == geteuid();
}

// Adopts the files of a list. Returns false if the descriptor is not such a list.
static bool adopt_list(int list) {
  Head head;
  if (!is_own_memory(list) || real::pread(list, &head, sizeof head, 0) != sizeof head ||
      memcmp(head.magic, kMagic, sizeof kMagic) != 0)
    return false;
  for (uint64_t i = 0; i < head.count; ++i) {
    Handed handed;
    auto at = static_cast<off_t>(sizeof head + i * sizeof handed);
    if (real::pread(list, &handed, sizeof handed, at) != sizeof handed) break;
    adopt_one(handed);
  }
  return true;
}

// Reads CAIRN_EXEC in the new program.
static void adopt(const char* value) {
  char* end;
  int note = static_cast<int>(strtol(value, &end, 10));
  if (*end != ':' || engine::attach() < 0) return;
  int list = static_cast<int>(strtol(end + 1, &end, 10));
  table::enter_private(note);
  table::enter_private(list);
  bool known = adopt_list(list);
  table::leave(list);
  if (known) real::close(list);
  cairn_exec_adopt(pool, note);
  table::leave(note);
  for (int fd = 0; fd <= 2; ++fd) {
    if (table::is_covered(fd)) streams::adopt_standard_fd(fd);
  }
}

// Runs before main, and before the constructors of other libraries (-z initfirst). The C library's
// has not set environ yet.
__attribute__((constructor)) static void start(int, char** arguments, char** environment) {
  int before = errno;
  if (environ == nullptr) environ = environment;
  if (active()) {
    preload::start_again_if_not_last(arguments, environ);
    sanitizer::take_out();
    Given::take_out();
    streams::install();
    if (const char* value = getenv("CAIRN_CWD")) {
      cwd::inherit(value);
      unsetenv("CAIRN_CWD");
    }
    if (const char* value = getenv("CAIRN_PROGRAM")) {
      self_exe::inherit(value);
      unsetenv("CAIRN_PROGRAM");
    }
    if (const char* value = getenv("CAIRN_EXEC")) {
      adopt(value);
      unsetenv("CAIRN_EXEC");
    }
  }
  errno = before;
}

}  // namespace posix
