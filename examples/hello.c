// The C API in one page: makes a pool, writes a file into it and reads it back.
//
//   cc hello.c -o hello $(pkg-config --cflags --libs cairn)
//   ./hello /dev/shm/hello-pool
//
// The pool stays: run the program again, and it finds the file that it wrote before.
// `cairn pool remove /dev/shm/hello-pool` removes it.
#include <cairn/cairn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

static int failed(const char* call) {
  fprintf(stderr, "hello: %s: %s\n", call, cairn_last_error());
  return 1;
}

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: hello POOL\n");
    return 2;
  }

  // 64 MiB in memory. Another process may have made the pool before: that is fine.
  cairn_pool_options options = {.struct_size = sizeof options, .size = 64 << 20};
  int code = cairn_pool_create(argv[1], &options);
  if (code != 0 && code != -EEXIST) return failed("cairn_pool_create");

  cairn_pool* pool = NULL;
  if (cairn_pool_attach(argv[1], 0, &pool) != 0) return failed("cairn_pool_attach");

  cairn_file* file = NULL;
  if (cairn_open(pool, CAIRN_ROOT, "greeting", O_CREAT | O_RDWR, 0644, &file) != 0)
    return failed("cairn_open");

  cairn_stat st;
  if (cairn_fstat(file, &st) != 0) return failed("cairn_fstat");
  printf("greeting had %llu bytes\n", (unsigned long long)st.size);

  // Appended in one step: other processes may do the same, and no line is lost.
  static const char line[] = "hello from a process\n";
  struct iovec text = {(void*)line, sizeof line - 1};
  if (cairn_appendv(file, &text, 1) < 0) return failed("cairn_appendv");
  if (cairn_fsync(file) != 0) return failed("cairn_fsync");

  char buffer[4096];
  ssize_t bytes = cairn_pread(file, buffer, sizeof buffer, 0);
  if (bytes < 0) return failed("cairn_pread");
  fwrite(buffer, 1, (size_t)bytes, stdout);

  cairn_close(file);
  cairn_pool_detach(pool);
  return 0;
}
