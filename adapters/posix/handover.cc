// From a process to the program that takes its place.
//
//   CAIRN_EXEC=NOTE:FD[=LOCK][+OWN],...   NOTE is the descriptor of cairn_exec_prepare; each FD is a Cairn file, on
//                                         a link that names it; LOCK its companion; OWN the one that the
//                                         process's POSIX locks on that file are on
//   CAIRN_CWD=...                         see cwd.h
//
// Both are of use to the next program only, and are taken out of its environment when it starts.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "posix/calls.h"
#include "posix/covered.h"
#include "posix/cwd.h"
#include "posix/descriptor.h"
#include "posix/locks.h"
#include "posix/log.h"
#include "posix/open.h"
#include "posix/pool.h"
#include "posix/process.h"
#include "posix/standard_streams.h"

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

// Puts a descriptor that names the file in the place of `fd`, which a stranger could not recognise.
static int put_name(int fd, cairn_file* file) {
  int named = descriptor::make_named(file);
  if (named < 0) return named;
  int error = real::dup3(named, fd, 0) < 0 ? -errno : 0;
  real::close(named);
  return error;
}

// files_ becomes ":FD[=LOCK][+OWN],...".
int Handover::name_files() {
  int most = table::highest.load();
  auto** files =
      static_cast<cairn_file**>(malloc(sizeof(cairn_file*) * static_cast<size_t>(most + 2)));
  if (files == nullptr) return -ENOMEM;
  size_t count = 0, length = 0;
  int error = 0;
  for (int fd = 0; fd <= most && error == 0; ++fd) {
    if (!is_inheritable(fd)) continue;
    table::Use use(fd);
    if (!use) continue;
    error = put_name(fd, use->file);
    files[count++] = use->file;
    int lock = use->lock_fd.load();
    size_t room = sizeof files_ - length;
    int own = locks::process_companion(use->ino);
    char companions[32] = "";
    int used = lock >= 0 ? snprintf(companions, sizeof companions, "=%d", lock) : 0;
    if (own >= 0)
      snprintf(companions + used, sizeof companions - static_cast<size_t>(used), "+%d", own);
    int wrote = snprintf(files_ + length, room, "%c%d%s", length == 0 ? ':' : ',', fd, companions);
    if (static_cast<size_t>(wrote) >= room) {
      files_[length] = '\0';
      log(Level::kWarning, "too many open files to hand over to a program: the last ones are lost");
      break;
    }
    length += static_cast<size_t>(wrote);
    if (lock >= 0) real::fcntl(lock, F_SETFD, nullptr);
    if (own >= 0) real::fcntl(own, F_SETFD, nullptr);
  }
  if (error == 0 && count > 0) {
    exec_fd_ = cairn_exec_prepare(pool, files, count);
    if (exec_fd_ < 0) error = exec_fd_;
  }
  free(files);
  return error;
}

int Handover::prepare() {
  files_[0] = directory_[0] = '\0';
  cwd::describe(directory_, sizeof directory_);
  if (pool == nullptr) return 0;
  if (table::covered_fds.load() == 0) return 0;
  int before = errno;
  int error = name_files();
  errno = before;
  if (error < 0)
    log(Level::kError, "open covered files cannot be handed over: ", cairn_last_error());
  return error;
}

void Handover::cancel() {
  if (exec_fd_ < 0) return;
  int before = errno;
  cairn_exec_cancel(pool, exec_fd_);
  exec_fd_ = -1;
  errno = before;
}

size_t Handover::environment_room(char* const* from) {
  size_t count = 0;
  while (from != nullptr && from[count] != nullptr) ++count;
  return count + 3;
}

char* const* Handover::environment(char* const* from, char** room) {
  if (exec_fd_ < 0 && directory_[0] == '\0') return from;
  size_t count = 0;
  for (size_t i = 0; from != nullptr && from[i] != nullptr; ++i) {
    if (strncmp(from[i], "CAIRN_EXEC=", 11) == 0 || strncmp(from[i], "CAIRN_CWD=", 10) == 0)
      continue;
    room[count++] = from[i];
  }
  if (exec_fd_ >= 0) {
    snprintf(note_, sizeof note_, "CAIRN_EXEC=%d%s", exec_fd_, files_);
    room[count++] = note_;
  }
  if (directory_[0] != '\0') room[count++] = directory_;
  room[count] = nullptr;
  return room;
}

// One "FD[=LOCK][+OWN]"; where it ends.
static const char* adopt_one(const char* text) {
  char* end;
  int fd = static_cast<int>(strtol(text, &end, 10));
  int lock = *end == '=' ? static_cast<int>(strtol(end + 1, &end, 10)) : -1;
  int own = *end == '+' ? static_cast<int>(strtol(end + 1, &end, 10)) : -1;
  cairn_file_id id;
  if (end == text || !descriptor::read_name(fd, &id)) return end;
  cairn_file* file = nullptr;
  int error = cairn_file_adopt(pool, id, &file);
  if (error < 0) {
    log(Level::kError, "an inherited file is lost: ", cairn_last_error());
    return end;
  }
  if (own >= 0) locks::adopt_process_companion(cairn_file_ino(file), own);
  // The same description under another number: one entry.
  for (int other = 0; other < fd; ++other) {
    table::Use use(other);
    cairn_file_id known;
    if (!use) continue;
    cairn_file_get_id(use->file, &known);
    if (known.slot != id.slot || known.generation != id.generation) continue;
    table::enter(fd, use.get());
    cairn_close(file);
    return end;
  }
  cairn_stat st;
  unsigned type = cairn_fstat(file, &st) == 0 ? st.mode : 0;
  Entry* entry = table::make(kind_of(type, cairn_file_get_flags(file)), file);
  if (entry == nullptr) {
    cairn_close(file);
    return end;
  }
  entry->cover = &covers[0];
  char path[PATH_MAX];
  for (int i = 0; entry->kind == Kind::kDirectory && i < cover_count; ++i) {
    if (join(&covers[i]) == 0 &&
        cairn_path_of(pool, covers[i].top, entry->ino, path, sizeof path) >= 0)
      entry->cover = &covers[i];
  }
  if (lock >= 0) {
    real::fcntl(lock, F_SETFD, reinterpret_cast<void*>(intptr_t{FD_CLOEXEC}));
    table::enter_private(lock);
    entry->lock_fd = lock;
  }
  table::enter(fd, entry);
  table::drop(entry);
  return end;
}

// CAIRN_EXEC in the new program.
static void adopt(const char* value) {
  char* end;
  int note = static_cast<int>(strtol(value, &end, 10));
  if (*end != ':' || attach() < 0) return;
  table::enter_private(note);
  for (const char* text = end; *text == ':' || *text == ',';) text = adopt_one(text + 1);
  cairn_exec_adopt(pool, note);
  table::leave(note);
  for (int fd = 0; fd <= 2; ++fd) {
    if (table::is_covered(fd)) streams::landed(fd);
  }
}

// Runs before main, and before the constructors of other libraries (-z initfirst), also the C library's: that
// one has not set environ yet.
__attribute__((constructor)) static void start(int, char**, char** environment) {
  int before = errno;
  if (environ == nullptr) environ = environment;
  if (active()) {
    streams::install();
    if (const char* value = getenv("CAIRN_CWD")) {
      cwd::inherit(value);
      unsetenv("CAIRN_CWD");
    }
    if (const char* value = getenv("CAIRN_EXEC")) {
      adopt(value);
      unsetenv("CAIRN_EXEC");
    }
  }
  errno = before;
}

}  // namespace posix
