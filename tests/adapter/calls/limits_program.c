/* The limit to the size of files: what is beyond it is refused with a signal, what crosses it is
 * cut short. */
#include "show.h"

enum { kLimit = 1 << 16 };

static volatile int signals;

static void count_signal(int number) {
  signals += number == SIGXFSZ;
  errno = 0;
}

static void set_limit(rlim_t bytes) {
  struct rlimit limit;
  getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = bytes == RLIM_INFINITY ? limit.rlim_max : bytes;
  setrlimit(RLIMIT_FSIZE, &limit);
}

#define COUNT(call)                                      \
  do {                                                   \
    signals = 0;                                         \
    SHOW(call);                                          \
    if (signals != 0) printf("  %d signals\n", signals); \
  } while (0)

static void begin(void) {
  signal(SIGXFSZ, count_signal);
  set_limit(kLimit);
}

static off_t size_of(int fd) {
  struct stat st;
  return fstat(fd, &st) == 0 ? st.st_size : -1;
}

static void writes(void) {
  begin();
  int fd = make("file", "text");
  struct iovec two[2] = {{buffer, 10}, {buffer, 20}};
  struct iovec none[1] = {{buffer, 0}};
  COUNT(pwrite(fd, "x", 1, kLimit - 1));
  COUNT(pwrite(fd, "xyz", 3, kLimit - 1));
  COUNT(pwrite(fd, "x", 1, kLimit));
  COUNT(pwrite(fd, "x", 1, 5 * kLimit));
  COUNT(pwrite(fd, "", 0, kLimit));
  COUNT(pwritev(fd, two, 2, kLimit - 25));
  COUNT(pwritev(fd, two, 2, kLimit - 5));
  COUNT(pwritev(fd, two, 2, kLimit - 10));
  COUNT(pwritev(fd, two, 2, kLimit));
  COUNT(pwritev(fd, none, 1, kLimit));
  COUNT(lseek(fd, kLimit - 7, SEEK_SET));
  COUNT(write(fd, buffer, 10));
  COUNT(write(fd, buffer, 10));
  COUNT(lseek(fd, 0, SEEK_CUR));
  COUNT(lseek(fd, kLimit - 15, SEEK_SET));
  COUNT(writev(fd, two, 2));
  COUNT(writev(fd, two, 2));
  COUNT(pwritev2(fd, two, 2, kLimit - 25, 0));
  COUNT(pwritev2(fd, two, 2, kLimit, 0));
  int reading = open("file", O_RDONLY), held = open("file", O_PATH);
  COUNT(pwrite(reading, "x", 1, kLimit));
  COUNT(write(held, "x", 1));
  COUNT(pwrite(fd, "x", 1, -1));
  COUNT(pwrite(fd, "x", 1, INT64_MAX));
  printf("%ld bytes\n", (long)size_of(fd));
  close(fd), close(reading), close(held);
}

static void appends(void) {
  begin();
  int fd = open("log", O_CREAT | O_WRONLY | O_APPEND, 0644), all = make("all", "");
  struct iovec two[2] = {{buffer, kLimit / 2}, {buffer, kLimit / 4}};
  COUNT(writev(fd, two, 2));
  COUNT(writev(fd, two, 2));
  COUNT(write(fd, "x", 1));
  COUNT(pwrite(fd, "x", 1, 0));
  COUNT(write(fd, "", 0));
  COUNT(lseek(fd, 0, SEEK_CUR));
  COUNT(pwritev2(all, two, 2, 0, RWF_APPEND));
  COUNT(pwritev2(all, two, 2, -1, RWF_APPEND));
  COUNT(pwritev2(all, two, 2, 0, RWF_APPEND));
  printf("%ld and %ld bytes\n", (long)size_of(fd), (long)size_of(all));
  close(fd), close(all);
}

static void lengths(void) {
  begin();
  int fd = make("file", "text");
  COUNT(ftruncate(fd, kLimit));
  COUNT(ftruncate(fd, kLimit + 1));
  COUNT(truncate("file", kLimit + 1));
  COUNT(truncate("missing", kLimit + 1));
  COUNT(truncate("file", kLimit));
  COUNT(posix_fallocate(fd, 0, kLimit));
  COUNT(posix_fallocate(fd, 1, kLimit));
  COUNT(fallocate(fd, FALLOC_FL_KEEP_SIZE, 1, kLimit));
  COUNT(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 1, kLimit));
  COUNT(fallocate(fd, 0, 0, 0));
  printf("%ld bytes\n", (long)size_of(fd));
  set_limit(RLIM_INFINITY);
  COUNT(ftruncate(fd, 3 * kLimit));
  set_limit(kLimit);
  /* What is there already may be made smaller. */
  COUNT(ftruncate(fd, 3 * kLimit));
  COUNT(posix_fallocate(fd, kLimit, kLimit));
  COUNT(ftruncate(fd, 2 * kLimit));
  COUNT(ftruncate(fd, 3 * kLimit));
  COUNT(pwrite(fd, "x", 1, kLimit));
  COUNT(open("file", O_WRONLY | O_TRUNC));
  close(fd);
}

static void copies(void) {
  begin();
  int from = make("from", ""), to = make("to", ""), ends[2];
  for (int i = 0; i < 2; ++i) pwrite(from, buffer, kLimit / 2, (off_t)i * kLimit / 2);
  pwrite(to, "x", 1, 10);
  lseek(to, 11, SEEK_SET);
  off_t zero = 0, end = kLimit;
  SHOW(sendfile(to, from, &zero, kLimit));
  COUNT(sendfile(to, from, &zero, 5));
  zero = 0;
  COUNT(copy_file_range(from, &zero, to, &end, 10, 0));
  end = kLimit - 3;
  COUNT(copy_file_range(from, &zero, to, &end, 10, 0));
  if (pipe(ends) != 0) return;
  write(ends[1], "0123456789", 10);
  end = kLimit - 4;
  COUNT(splice(ends[0], NULL, to, &end, 4, 0));
  COUNT(splice(ends[0], NULL, to, &end, 6, 0));
  struct aiocb request = {
      .aio_fildes = to, .aio_buf = buffer, .aio_nbytes = 10, .aio_offset = kLimit - 6};
  const struct aiocb* list[] = {&request};
  COUNT(aio_write(&request));
  aio_suspend(list, 1, NULL);
  COUNT(aio_error(&request));
  COUNT(aio_return(&request));
  /* Beyond it: an error alone. */
  request.aio_offset = kLimit;
  COUNT(aio_write(&request));
  aio_suspend(list, 1, NULL);
  COUNT(aio_error(&request));
  /* Sources that end where the limit is. */
  zero = 0;
  lseek(to, 0, SEEK_SET);
  COUNT(sendfile(to, from, &zero, 8 * kLimit));
  COUNT(sendfile(to, from, &zero, 8 * kLimit));
  end = kLimit;
  close(ends[1]);
  COUNT(splice(ends[0], NULL, to, &end, 4, 0));
  COUNT(splice(ends[0], NULL, to, &end, 4, 0));
  close(from), close(to), close(ends[0]);
}

static void streams(void) {
  begin();
  FILE* stream = fopen("stream", "w");
  memset(buffer, 'x', sizeof buffer);
  COUNT(fwrite(buffer, 1, kLimit - 10, stream));
  COUNT(fflush(stream));
  COUNT(fputs("0123456789ab", stream));
  COUNT(fflush(stream));
  COUNT(ferror(stream) != 0);
  COUNT(fclose(stream));
  int fd = open("printed", O_CREAT | O_WRONLY, 0644);
  lseek(fd, kLimit - 2, SEEK_SET);
  COUNT(dprintf(fd, "%d", 1234));
  close(fd);
}

/* By default the signal ends the process; who ignores it gets the error alone. */
static void ends(void) {
  for (int i = 0; i < 2; ++i) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
      set_limit(kLimit);
      signal(SIGXFSZ, i == 0 ? SIG_DFL : SIG_IGN);
      int fd = open("file", O_CREAT | O_RDWR, 0644);
      ssize_t wrote = pwrite(fd, "x", 1, kLimit);
      _exit(wrote < 0 && errno == EFBIG ? 3 : 4);
    }
    int status = 0;
    waitpid(child, &status, 0);
    printf("signal %d, status %d\n", WTERMSIG(status), WEXITSTATUS(status));
  }
}

PARTS({"writes", writes}, {"appends", appends}, {"lengths", lengths}, {"copies", copies},
      {"streams", streams}, {"ends", ends})
