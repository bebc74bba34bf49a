/* The call patterns of IOR, mdtest and HACC-IO's POSIX back ends, by processes that meet at
 * barriers as MPI's ranks do; each checks what its neighbour wrote. See show.h. */
#include "show.h"

enum { kRanks = 3 };
static pthread_barrier_t* barrier;
static long* wrong;
static int rank;

static void meet(void) { pthread_barrier_wait(barrier); }

static void check(int right, const char* what) {
  if (right) return;
  __atomic_add_fetch(wrong, 1, __ATOMIC_RELAXED);
  fprintf(stderr, "rank %d: %s: %s\n", rank, what, strerrorname_np(errno));
}

static void on_ranks(const char* name, void (*pattern)(void)) {
  barrier = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  wrong = (long*)(barrier + 1);
  pthread_barrierattr_t shared;
  pthread_barrierattr_init(&shared);
  pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
  pthread_barrier_init(barrier, &shared, kRanks);
  fflush(stdout);
  for (rank = 0; rank < kRanks; ++rank) {
    if (fork() != 0) continue;
    pattern();
    _exit(0);
  }
  int status, failed = 0;
  while (wait(&status) > 0) failed += status != 0;
  printf("%s: %d failed, %ld wrong\n", name, failed, *wrong);
}

/* The byte that stands at an offset, so that whoever reads knows it. */
static char byte_at(long offset) { return (char)(offset / 512 * 7 + offset); }
static void fill(char* data, long offset, long size) {
  for (long i = 0; i < size; ++i) data[i] = byte_at(offset + i);
}
static int holds(const char* data, long offset, long size) {
  for (long i = 0; i < size; ++i) {
    if (data[i] != byte_at(offset + i)) return 0;
  }
  return 1;
}

/* Rank r's s-th transfer: IOR's segments in a shared file, or one after the other in its own. */
static off_t place(int shared, int r, int s, long size) {
  return (shared ? (off_t)s * kRanks + r : s) * size;
}

static void ior(int shared, long size, int segments) {
  char name[64];
  snprintf(name, sizeof name, shared ? "ior" : "ior.%08d", rank);
  char* data = aligned_alloc(4096, (size_t)(size + 4095) & ~4095UL);
  if (rank == 0) unlink(name);
  meet();
  int fd = open(name, O_CREAT | O_RDWR, 0664);
  check(fd >= 0, "open");
  meet();
  for (int s = 0; s < segments; ++s) {
    off_t at = place(shared, rank, s, size);
    fill(data, at, size);
    check(lseek(fd, at, SEEK_SET) == at, "lseek");
    check(write(fd, data, (size_t)size) == size, "write");
  }
  check(fsync(fd) == 0, "fsync");
  check(close(fd) == 0, "close");
  meet();
  int other = (rank + 1) % kRanks;
  snprintf(name, sizeof name, shared ? "ior" : "ior.%08d", other);
  fd = open(name, O_RDONLY);
  struct stat st;
  check(fstat(fd, &st) == 0 && st.st_size == size * segments * (shared ? kRanks : 1), "size");
  for (int s = 0; s < segments; ++s) {
    off_t at = place(shared, other, s, size);
    check(lseek(fd, at, SEEK_SET) == at, "lseek");
    check(read(fd, data, (size_t)size) == size && holds(data, at, size), "what was written");
  }
  close(fd);
  free(data);
}

static void easy(void) { ior(0, 1 << 18, 12); }
static void hard(void) { ior(1, 47008, 60); }
static void aligned(void) { ior(1, 1 << 18, 12); }

/* mdtest -n 40 -u -w 3901 -e 3901: directories, then files, each step by all ranks before the next.
 */
static void metadata(void) {
  char name[100], data[3901];
  int other = (rank + 1) % kRanks;
  snprintf(name, sizeof name, "mdtest.%d", rank);
  check(mkdir(name, 0755) == 0, "mkdir");
  meet();
  for (int i = 0; i < 40; ++i) {
    snprintf(name, sizeof name, "mdtest.%d/dir.%d", rank, i);
    check(mkdir(name, 0755) == 0, "mkdir");
    snprintf(name, sizeof name, "mdtest.%d/file.%d", rank, i);
    int fd = open(name, O_CREAT | O_EXCL | O_WRONLY, 0644);
    fill(data, i, sizeof data);
    check(write(fd, data, sizeof data) == sizeof data && close(fd) == 0, "create");
  }
  meet();
  for (int i = 0; i < 40; ++i) {
    struct stat st;
    snprintf(name, sizeof name, "mdtest.%d/file.%d", other, i);
    check(stat(name, &st) == 0 && st.st_size == sizeof data, "stat");
    int fd = open(name, O_RDONLY);
    check(read(fd, data, sizeof data) == sizeof data && holds(data, i, sizeof data), "read");
    close(fd);
    snprintf(name, sizeof name, "mdtest.%d/dir.%d", other, i);
    check(stat(name, &st) == 0 && S_ISDIR(st.st_mode), "stat");
  }
  meet();
  for (int i = 0; i < 40; ++i) {
    snprintf(name, sizeof name, "mdtest.%d/file.%d", other, i);
    check(unlink(name) == 0, "unlink");
    snprintf(name, sizeof name, "mdtest.%d/dir.%d", other, i);
    check(rmdir(name) == 0, "rmdir");
  }
  meet();
  snprintf(name, sizeof name, "mdtest.%d", rank);
  check(rmdir(name) == 0, "rmdir");
}

/* HACC-IO: rank 0 sizes the file, then every rank writes its part of each variable. */
static void particles(void) {
  enum { kParticles = 5000, kVariables = 9 };
  static char data[kParticles * 4];
  if (rank == 0) {
    int fd = open("hacc", O_CREAT | O_WRONLY | O_TRUNC, 0644);
    check(ftruncate(fd, (off_t)kVariables * kRanks * (off_t)sizeof data) == 0, "ftruncate");
    close(fd);
  }
  meet();
  int fd = open("hacc", O_RDWR);
  for (int v = 0; v < kVariables; ++v) {
    off_t at = ((off_t)v * kRanks + rank) * (off_t)sizeof data;
    fill(data, at, sizeof data);
    check(pwrite(fd, data, sizeof data, at) == sizeof data, "pwrite");
  }
  meet();
  for (int v = 0; v < kVariables; ++v) {
    off_t at = ((off_t)v * kRanks + (rank + 2) % kRanks) * (off_t)sizeof data;
    check(pread(fd, data, sizeof data, at) == sizeof data && holds(data, at, sizeof data), "pread");
  }
  close(fd);
}

/* All append to one log, and lock a counter in turn. */
static void logs(void) {
  char line[64];
  int log = open("log", O_CREAT | O_WRONLY | O_APPEND, 0644);
  int counter = open("counter", O_CREAT | O_RDWR, 0644);
  for (int i = 0; i < 100; ++i) {
    snprintf(line, sizeof line, "rank %d line %06d\n", rank, i);
    check(write(log, line, strlen(line)) == (ssize_t)strlen(line), "append");
    long value = 0;
    check(lockf(counter, F_LOCK, 0) == 0, "lock");
    check(pread(counter, &value, sizeof value, 0) >= 0, "count");
    ++value;
    check(pwrite(counter, &value, sizeof value, 0) == sizeof value, "count");
    check(lockf(counter, F_ULOCK, 0) == 0, "unlock");
  }
  meet();
  struct stat st;
  long value = 0;
  check(pread(counter, &value, sizeof value, 0) > 0 && value == 100L * kRanks, "what was counted");
  check(fstat(log, &st) == 0 && st.st_size == 100L * kRanks * (long)strlen(line),
        "what was appended");
  close(log), close(counter);
  meet();
  if (rank == 0) unlink("log"); /* in an order of its own each time */
}

static void patterns(void) {
  on_ranks("files per process", easy);
  on_ranks("shared, unaligned", hard);
  on_ranks("shared, aligned", aligned);
  on_ranks("metadata", metadata);
  on_ranks("particles", particles);
  on_ranks("logs", logs);
}

PARTS({"patterns", patterns})
