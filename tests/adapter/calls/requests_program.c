/* The calls of libaio: which requests they refuse, what the events say, and threads that wait for
 * events. See show.h. */
#include <linux/aio_abi.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>

#include "show.h"

/* libaio's own function where there is one: it returns negative errnos. */
extern int io_pgetevents(aio_context_t, long, long, struct io_event*, struct timespec*, sigset_t*)
    __attribute__((weak));

static aio_context_t context;

static struct iocb request(int fd, int operation, void* bytes, size_t size, long offset) {
  struct iocb made = {.aio_fildes = (uint32_t)fd,
                      .aio_lio_opcode = (uint16_t)operation,
                      .aio_buf = (uint64_t)(uintptr_t)bytes,
                      .aio_nbytes = size,
                      .aio_offset = offset,
                      .aio_data = 77};
  return made;
}

static long submit(aio_context_t to, long count, struct iocb** list) {
  return syscall(SYS_io_submit, to, count, list);
}

static long submit_one(struct iocb* one) { return submit(context, 1, &one); }

static int by_result(const void* a, const void* b) {
  const struct io_event *first = a, *second = b;
  return (first->res > second->res) - (first->res < second->res);
}

/* The events that are there. */
static void show_events(struct timespec* wait, long least) {
  struct io_event events[8];
  memset(events, 0, sizeof events);
  long got = syscall(SYS_io_getevents, context, least, 8L, events, wait);
  printf("events: %ld\n", got < 0 ? -errno : got);
  /* Events of a pipe may come before or after those of a file. */
  if (got > 0) qsort(events, (size_t)got, sizeof *events, by_result);
  for (long i = 0; i < got; ++i)
    printf("  data %d result %ld %ld\n", (int)events[i].data, (long)events[i].res,
           (long)events[i].res2);
}

static struct timespec at_once = {0, 0};

static void one(const char* name, struct iocb asked) {
  errno = 0;
  long taken = submit_one(&asked);
  printf("%s: %ld %s\n", name, taken, taken < 0 ? strerrorname_np(errno) : "");
  struct timespec wait = {5, 0};
  if (taken > 0) show_events(&wait, 1);
}

static void requests(void) {
  int both = make("f", "0123456789"), reader = open("f", O_RDONLY), writer = open("f", O_WRONLY);
  int path = open("f", O_PATH), directory = open(".", O_RDONLY), closed = 700, ends[2];
  int appender = open("f", O_RDWR | O_APPEND);
  if (pipe(ends) != 0) exit(1);
  SHOW(syscall(SYS_io_setup, 16, &context));
  const int fds[] = {both, reader, writer, path, directory, closed, ends[0], ends[1]};
  for (int i = 0; i < 6; ++i) {
    printf("descriptor %d\n", i);
    one("read", request(fds[i], IOCB_CMD_PREAD, buffer, 3, 1));
    one("write", request(fds[i], IOCB_CMD_PWRITE, "abc", 3, 2));
    one("nothing", request(fds[i], IOCB_CMD_PREAD, buffer, 0, 0));
    one("sync", request(fds[i], IOCB_CMD_FSYNC, NULL, 0, 0));
    one("data sync", request(fds[i], IOCB_CMD_FDSYNC, NULL, 0, 0));
    one("sync at", request(fds[i], IOCB_CMD_FSYNC, NULL, 0, 1));
    one("sync of", request(fds[i], IOCB_CMD_FSYNC, NULL, 1, 0));
    one("poll", request(fds[i], IOCB_CMD_POLL, (void*)(POLLIN | POLLOUT), 0, 0));
    one("poll at", request(fds[i], IOCB_CMD_POLL, (void*)POLLIN, 0, 1));
    one("no operation", request(fds[i], 99, buffer, 1, 0));
    one("before the start", request(fds[i], IOCB_CMD_PREAD, buffer, 1, -1));
    one("write before the start", request(fds[i], IOCB_CMD_PWRITE, "x", 1, -1));
    one("a negative size", request(fds[i], IOCB_CMD_PREAD, buffer, (size_t)-1, 0));
    struct iovec two[2] = {{buffer, 2}, {buffer + 2, 2}};
    one("vector", request(fds[i], IOCB_CMD_PREADV, two, 2, 0));
    one("vector written", request(fds[i], IOCB_CMD_PWRITEV, two, 2, 8));
    one("long vector", request(fds[i], IOCB_CMD_PREADV, two, 1025, 0));
    one("no vector", request(fds[i], IOCB_CMD_PREADV, NULL, 2, 0));
    struct iocb special = request(fds[i], IOCB_CMD_PREAD, buffer, 1, 0);
    special.aio_reserved2 = 1;
    one("reserved", special);
    special.aio_reserved2 = 0, special.aio_rw_flags = 0x10000000;
    one("flags", special);
    special.aio_rw_flags = 0, special.aio_flags = IOCB_FLAG_RESFD, special.aio_resfd = 699;
    one("no eventfd", special);
  }
  struct iocb flagged = request(both, IOCB_CMD_PWRITE, "end", 3, 0);
  flagged.aio_rw_flags = RWF_APPEND | RWF_DSYNC;
  one("appended", flagged);
  one("by an appender", request(appender, IOCB_CMD_PWRITE, "more", 4, 0));
  show_file("f");

  struct iocb good = request(both, IOCB_CMD_PREAD, buffer, 3, 1), bad = good, *list[4] = {&good};
  bad.aio_lio_opcode = 99;
  SHOW(submit(context, -1, list));
  SHOW(submit(context, 0, list));
  SHOW(submit(context, 0, NULL));
  SHOW(submit(context, 1, NULL));
  SHOW(submit(context, 1, (struct iocb**)-1));
  SHOW(submit(0, 1, list));
  SHOW(submit(16, 1, list));
  SHOW(submit((aio_context_t)(uintptr_t)buffer, 1, list));
  SHOW(submit((aio_context_t)-1, 1, list));
  SHOW(submit(16, 0, list));
  list[0] = NULL;
  SHOW(submit(context, 1, list));
  list[0] = &good, list[1] = NULL;
  SHOW(submit(context, 2, list));
  show_events(&at_once, 0);
  list[1] = &bad, list[2] = &good;
  SHOW(submit(context, 3, list));
  show_events(&at_once, 0);
  /* A pipe's and a file's, in one call. */
  struct iocb piped = request(ends[1], IOCB_CMD_PWRITE, "piped", 5, 0);
  list[0] = &good, list[1] = &piped, list[2] = &good;
  SHOW(submit(context, 3, list));
  show_events(&(struct timespec){5, 0}, 3);

  struct io_event event;
  SHOW(syscall(SYS_io_getevents, context, -1L, 1L, &event, &at_once));
  SHOW(syscall(SYS_io_getevents, context, 2L, 1L, &event, &at_once));
  SHOW(syscall(SYS_io_getevents, context, 0L, -1L, &event, &at_once));
  SHOW(syscall(SYS_io_getevents, 16L, 0L, 1L, &event, &at_once));
  SHOW(syscall(SYS_io_getevents, context, 0L, 1L, &event, &at_once));
  SHOW(submit_one(&good));
  SHOW(syscall(SYS_io_getevents, context, 1L, 1L, NULL, &at_once));
  SHOW(syscall(SYS_io_getevents, context, 1L, 1L, &event, (void*)-1));
  show_events(&at_once, 0);
  struct timespec shortly = {0, 50000000};
  SHOW(submit_one(&good));
  show_events(&shortly, 2);

  int counter = eventfd(0, EFD_NONBLOCK);
  uint64_t counted = 0;
  good.aio_flags = IOCB_FLAG_RESFD, good.aio_resfd = (uint32_t)counter;
  SHOW(submit_one(&good));
  show_events(&at_once, 0);
  SHOW(read(counter, &counted, sizeof counted));
  SHOW(counted);
  good.aio_flags = 0;

  SHOW(submit_one(&good));
  SHOW(syscall(SYS_io_destroy, context));
  SHOW(submit_one(&good));
  SHOW(submit(context, 0, NULL));
  SHOW(syscall(SYS_io_getevents, context, 0L, 1L, &event, &at_once));
  SHOW(syscall(SYS_io_destroy, context));
}

/* io_pgetevents, by name and by number, with and without a mask. */
static void masks(void) {
  alarm(60); /* it waited for ever */
  int file = make("f", "0123456789");
  SHOW(syscall(SYS_io_setup, 4, &context));
  struct iocb good = request(file, IOCB_CMD_PREAD, buffer, 3, 1);
  sigset_t mask;
  sigemptyset(&mask);
  struct {
    const void* set;
    size_t size;
  } with = {&mask, 8}, wrong = {&mask, 5};
  struct io_event event = {0};
  SHOW(submit_one(&good));
  SHOW(syscall(SYS_io_pgetevents, context, 1L, 1L, &event, NULL, &with));
  SHOW(event.data);
  SHOW(event.res);
  SHOW(submit_one(&good));
  SHOW(syscall(SYS_io_pgetevents, context, 1L, 1L, &event, NULL, NULL));
  SHOW(syscall(SYS_io_pgetevents, context, 1L, 1L, &event, &at_once, &wrong));
  SHOW(syscall(SYS_io_pgetevents, context, 1L, 1L, &event, &at_once, (void*)-1));
  SHOW(syscall(SYS_io_pgetevents, 16L, 1L, 1L, &event, &at_once, &with));
  SHOW(syscall(SYS_io_pgetevents, context, 1L, 1L, &event, &at_once, &with));
  SHOW(submit_one(&good));
  int named = io_pgetevents != NULL
                  ? io_pgetevents(context, 1, 1, &event, NULL, &mask)
                  : (int)syscall(SYS_io_pgetevents, context, 1L, 1L, &event, NULL, &with);
  SHOW(named);
  if (getenv("CAIRN_COVER") != NULL && io_pgetevents == NULL) printf("it is not served by name\n");
  SHOW(syscall(SYS_io_destroy, context));
  alarm(0);
}

/* A thread waits for events when another one submits. */
static void* wait_for_two(void* argument) {
  struct io_event events[2];
  (void)argument;
  for (int i = 0; i < 2; ++i) {
    long got = syscall(SYS_io_getevents, context, 1L, 1L, events, NULL);
    printf("waited for: %ld, data %d result %ld\n", got, (int)events[0].data, (long)events[0].res);
  }
  long got = syscall(SYS_io_getevents, context, 2L, 2L, events, NULL);
  printf("waited for: %ld\n", got);
  return NULL;
}

static void threads(void) {
  alarm(60);
  int file = make("f", "0123456789");
  SHOW(syscall(SYS_io_setup, 8, &context));
  struct iocb good = request(file, IOCB_CMD_PREAD, buffer, 3, 1);
  pthread_t thread;
  pthread_create(&thread, NULL, wait_for_two, NULL);
  long taken = 0;
  for (int i = 0; i < 4; ++i) {
    usleep(100000);
    taken += submit_one(&good);
  }
  pthread_join(thread, NULL);
  SHOW(taken);
  show_events(&at_once, 0);
  SHOW(syscall(SYS_io_destroy, context));
  alarm(0);
}

PARTS({"requests", requests}, {"masks", masks}, {"threads", threads})
