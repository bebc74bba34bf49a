// The write window (CAIRN_ATTACH_WRITE_WINDOW) seen by a program that uses it.
//
//   window_program POOL on|off     0: all is as it should be; says what it found
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "cairn/cairn.h"

namespace {

int failures = 0;

void expect(bool holds, const char* what) {
  std::printf("%s: %s\n", what, holds ? "yes" : "NO");
  if (!holds) ++failures;
}

cairn_file* file = nullptr;
std::atomic<int> in_handler{0};

void write_in_handler(int) { in_handler = cairn_pwrite(file, "handler", 7, 8192) == 7 ? 1 : 2; }

// The signal that a store to `address` ends a child with; 0 if it succeeds.
int signal_of_store(const void* address) {
  const pid_t child = fork();
  if (child == 0) {
    *static_cast<volatile char*>(const_cast<void*>(address)) = 1;
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const bool on = std::string(argv[2]) == "on";
  // A thread from before the window: its rights are the kernel's, which let it not even read.
  std::atomic<int> go{0};
  ssize_t read_by_thread = 0;
  ssize_t written_by_thread = 0;
  char view_by_thread = 0;
  cairn_view view{};
  std::thread early([&] {
    while (go == 0) usleep(1000);
    char byte = 0;
    read_by_thread = cairn_pread(file, &byte, 1, 0);
    written_by_thread = cairn_pwrite(file, "thread", 6, 4096);
    view_by_thread = *static_cast<const char*>(view.data);
  });
  cairn_pool* pool = nullptr;
  const int attached = cairn_pool_attach(argv[1], on ? CAIRN_ATTACH_WRITE_WINDOW : 0, &pool);
  if (attached != 0) {
    std::printf("attach: %s\n", cairn_last_error());
    std::fflush(stdout);
    _exit(3);  // the thread still waits
  }
  std::string bytes(20000, 'x');
  expect(cairn_open(pool, CAIRN_ROOT, "file", O_RDWR | O_CREAT | O_TRUNC, 0600, &file) == 0,
         "open");
  expect(cairn_pwrite(file, bytes.data(), bytes.size(), 0) == 20000, "write");
  expect(cairn_view_open(file, 0, 4096, &view) == 0 && *static_cast<const char*>(view.data) == 'x',
         "view");
  go = 1;
  early.join();
  expect(read_by_thread == 1 && written_by_thread == 6, "a thread from before reads and writes");
  expect(view_by_thread == 'x', "and looks at a view");
  struct sigaction action {};
  action.sa_handler = write_in_handler;
  sigaction(SIGUSR1, &action, nullptr);
  raise(SIGUSR1);
  expect(in_handler == 1, "a signal handler writes");
  // Data, and the pool's first bytes: a view's address tells where they lie, since segments begin
  // at multiples of 2 MiB.
  const int data = signal_of_store(view.data);
  expect(data == (on ? SIGSEGV : 0),
         on ? "a stray store into data faults" : "a stray store into data succeeds");
  expect(cairn_pread(file, bytes.data(), 16, 8192) == 16 && bytes.compare(0, 7, "handler") == 0,
         "all was written");
  const pid_t child = fork();
  if (child == 0) _exit(*static_cast<const char*>(view.data) == (on ? 'x' : 1) ? 0 : 1);
  int status = 0;
  waitpid(child, &status, 0);
  expect(status == 0, "a forked child sees the view");
  cairn_view_close(file, &view);
  expect(cairn_close(file) == 0, "close");
  cairn_pool_detach(pool);
  return failures == 0 ? 0 : 1;
}
