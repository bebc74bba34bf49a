// A checkpoint program for the demo: processes write files in pieces of 1 MiB, or read them.
//
//   pieces write DIR FILES MIB PROCESSES    fsync after each piece, as IOR does with -Y
//   pieces read DIR FILES MIB PROCESSES     compares every byte
//
// Prints the seconds from the start of the first process to the end of the last. Each process has
// the files whose number is its own, modulo the processes.
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { piece_size = 1 << 20, words = piece_size / 8 };

static void fill(uint64_t* piece, uint64_t file, uint64_t number) {
  uint64_t value = (file << 32 | number) * 0x9e3779b97f4a7c15U;
  for (int i = 0; i < words; ++i) piece[i] = value += 0x632be59bd9b4e019U;
}

static int failed(const char* what, const char* path) {
  fprintf(stderr, "pieces: %s: ", path);
  perror(what);
  return 1;
}

static int do_file(const char* path, int writes, uint64_t file, uint64_t pieces) {
  static uint64_t wanted[words];
  static uint64_t found[words];
  const int fd = open(path, writes ? O_WRONLY | O_CREAT | O_TRUNC : O_RDONLY, 0644);
  if (fd < 0) return failed("open", path);
  for (uint64_t i = 0; i < pieces; ++i) {
    fill(wanted, file, i);
    const ssize_t done =
        writes ? write(fd, wanted, piece_size) : read(fd, found, piece_size);
    if (done != piece_size) return failed(writes ? "write" : "read", path);
    if (writes && fsync(fd) != 0) return failed("fsync", path);
    if (!writes && memcmp(wanted, found, piece_size) != 0) {
      fprintf(stderr, "pieces: %s: piece %llu differs\n", path, (unsigned long long)i);
      return 1;
    }
  }
  return close(fd) != 0 ? failed("close", path) : 0;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char** argv) {
  if (argc != 6 || (strcmp(argv[1], "write") != 0 && strcmp(argv[1], "read") != 0)) {
    fprintf(stderr, "usage: pieces write|read DIR FILES MIB PROCESSES\n");
    return 2;
  }
  const int writes = argv[1][0] == 'w';
  const uint64_t files = strtoull(argv[3], NULL, 10);
  const uint64_t pieces = strtoull(argv[4], NULL, 10);
  const uint64_t processes = strtoull(argv[5], NULL, 10);
  const double begun = now();
  for (uint64_t p = 0; p < processes; ++p) {
    const pid_t child = fork();
    if (child < 0) return failed("fork", argv[2]);
    if (child != 0) continue;
    int code = 0;
    for (uint64_t file = p; file < files && code == 0; file += processes) {
      char path[4096];
      snprintf(path, sizeof path, "%s/checkpoint.%llu", argv[2], (unsigned long long)file);
      code = do_file(path, writes, file, pieces);
    }
    _exit(code);
  }
  int code = 0;
  for (int status = 0; wait(&status) > 0;)
    if (status != 0) code = 1;
  if (code == 0) printf("%s %.6f\n", argv[1], now() - begun);
  return code;
}
