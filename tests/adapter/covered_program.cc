// covered POOL MIB DIRECTORY PROGRAM [ARGUMENT...]: runs a program on a directory that a new pool
// covers, drains, and removes the pool. What `cairn run` does, without its ways of choosing. Exit
// status: the program's; 99 if Cairn failed.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "cairn/cover.h"

static int failed(const char* what) {
  fprintf(stderr, "covered: %s: %s\n", what, cairn_last_error());
  return 99;
}

static void problem(void*, const char* text) { fprintf(stderr, "covered: %s\n", text); }

int main(int count, char** arguments) {
  if (count < 5) return 99;
  const char* path = arguments[1];
  cairn_pool_options options = {};
  options.struct_size = sizeof options;
  options.size = strtoull(arguments[2], nullptr, 10) << 20;
  if (cairn_pool_create(path, &options) < 0) return failed("create");
  cairn_pool* pool = nullptr;
  if (cairn_pool_attach(path, 0, &pool) < 0) return failed("attach");
  cairn_cover_options how = {};
  how.struct_size = sizeof how;
  cairn_cover* cover = nullptr;
  if (cairn_cover_open(pool, arguments[3], &how, &cover) < 0) return failed("cover");

  cairn_fork_prepare(pool);
  pid_t child = fork();
  if (child == 0) {
    const char* libraries = getenv("CAIRN_LIB_DIR");
    // A sanitized build's library needs the sanitizer's own before it (CAIRN_PRELOAD_FIRST).
    const char* before = getenv("CAIRN_PRELOAD_FIRST");
    std::string preload = before != nullptr ? std::string(before) + " " : std::string();
    preload += std::string(libraries != nullptr ? libraries : ".") + "/libcairn_posix.so";
    setenv("LD_PRELOAD", preload.c_str(), 1);
    setenv("CAIRN_COVER", cairn_cover_path(cover), 1);
    setenv("CAIRN_POOL", path, 1);
    execvp(arguments[4], arguments + 4);
    perror(arguments[4]);
    _exit(127);
  }
  cairn_fork_parent(pool);
  int status = 0;
  waitpid(child, &status, 0);

  cairn_drain_report report;
  if (cairn_cover_drain(cover, nullptr, problem, nullptr, &report) < 0) return failed("drain");
  if (cairn_cover_discard(cover) < 0) return failed("discard");
  cairn_pool_detach(pool);
  int64_t findings = cairn_pool_check(path, problem, nullptr);
  if (findings != 0) return failed("check");
  if (cairn_pool_remove(path) < 0) return failed("remove");
  if (WIFSIGNALED(status))
    fprintf(stderr, "covered: %s died of signal %d\n", arguments[4], WTERMSIG(status));
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
