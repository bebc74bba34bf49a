"""A directory that refuses what is drained to it (a quota, a full or stale file system), or does
not answer: the program goes on, nothing is dropped, and one line tells of each change."""

import errno
import hashlib
import os
import pathlib
import subprocess
import time
import unittest

import cairn_case
from keeper_case import KeeperCase

# Preloaded into `cairn`: what it asks of the directory fails, or gets no answer, as the file that
# CAIRN_TEST_FAULTS names says. "write N": writes fail with error N. "all N": so does all else.
# "hang": no call returns while the file says so. Empty or not there: all is well.
FAULTS = r"""#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int is_of_fd(long number) {
  return number == SYS_pwrite64 || number == SYS_pread64 || number == SYS_fsync ||
         number == SYS_fstat || number == SYS_getdents64 || number == SYS_fchmod;
}

static int is_of_name(long number) {
  return number == SYS_openat || number == SYS_openat2 || number == SYS_newfstatat ||
         number == SYS_mkdirat || number == SYS_renameat2 || number == SYS_linkat;
}

static int is_below(const char* path) {
  const char* directory = getenv("CAIRN_TEST_LOWER");
  return directory != NULL && strncmp(path, directory, strlen(directory)) == 0;
}

static int is_open_below(long fd) {
  char link[64];
  char path[4096] = "";
  snprintf(link, sizeof link, "/proc/self/fd/%ld", fd);
  return readlink(link, path, sizeof path - 1) > 0 && is_below(path);
}

// The error that the call gets; 0: none.
static int fault(int is_write) {
  const char* name = getenv("CAIRN_TEST_FAULTS");
  char what[16] = "";
  int error = 0;
  for (;;) {
    FILE* file = name == NULL ? NULL : fopen(name, "re");
    if (file == NULL) return 0;
    const int words = fscanf(file, "%15s %d", what, &error);
    fclose(file);
    if (words < 1) return 0;
    if (strcmp(what, "hang") != 0) break;
    usleep(20000);
  }
  return strcmp(what, "all") == 0 || is_write ? error : 0;
}

// When writes failed, for who looks at the times between them.
static void note(void) {
  const char* name = getenv("CAIRN_TEST_FAULTS");
  char log[4096];
  struct timespec now;
  snprintf(log, sizeof log, "%s.log", name);
  FILE* file = fopen(log, "ae");
  clock_gettime(CLOCK_MONOTONIC, &now);
  if (file != NULL) fprintf(file, "%d %ld.%09ld\n", getpid(), (long)now.tv_sec, now.tv_nsec);
  if (file != NULL) fclose(file);
}

long syscall(long number, ...) {
  static long (*next)(long, ...);
  long of[6];
  va_list list;
  va_start(list, number);
  for (int i = 0; i < 6; ++i) of[i] = va_arg(list, long);
  va_end(list);
  if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, "syscall");
  const int saved = errno;
  int concerned = is_of_fd(number) && is_open_below(of[0]);
  if (is_of_name(number)) {
    const char* path = (const char*)of[1];
    concerned = path != NULL && (path[0] == '/' ? is_below(path) : is_open_below(of[0]));
  }
  const int error = concerned ? fault(number == SYS_pwrite64) : 0;
  if (error != 0) {
    note();
    errno = error;
    return -1;
  }
  errno = saved;
  return next(number, of[0], of[1], of[2], of[3], of[4], of[5]);
}

// As commands ask before they look closer.
int open(const char* path, int flags, ...) {
  static int (*next)(const char*, int, ...);
  va_list list;
  va_start(list, flags);
  const int mode = va_arg(list, int);
  va_end(list);
  if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, "open");
  if (is_below(path)) fault(0);
  return next(path, flags, mode);
}
"""


# tests/slow/failing_lower_test.py: all errors, and how long nothing is drained until that is told.
ALL = "CAIRN_FAILING_LOWER" in os.environ
ERRORS = [("write", errno.EDQUOT), ("write", errno.ENOSPC), ("all", errno.ESTALE)]
SILENCE_S = 30


class FailingLower(KeeperCase):
    def setUp(self):
        super().setUp()
        library = self.path("failing.so")
        source = self.write("failing.c", FAULTS)
        subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
        self.faults = self.path("faults")
        self.well = dict(self.env)
        first = self.env.get("LD_PRELOAD")
        self.env.update(CAIRN_TEST_FAULTS=self.faults, CAIRN_TEST_LOWER=self.dir,
                        LD_PRELOAD=f"{first}:{library}" if first else library)

    def lower(self, what):
        self.write("faults.new", what)
        os.rename(self.path("faults.new"), self.faults)

    def problem(self):
        found = self.keepers()
        return found[0]["problem"] if found else ""

    def begin_and_fail(self, script, what):
        """A run that does `script` once the directory fails so."""
        go = self.path("go")
        run = self.begin(f"while [ ! -e {go} ]; do sleep 0.05; done; {script}")
        self.wait_for(self.keepers, "no keeper")
        self.keeper = str(self.keepers()[0]["pid"])
        self.lower(what)
        self.write("go", "")
        return run

    def times_of_failures(self):
        """Of calls of the keeper."""
        try:
            with open(self.faults + ".log", encoding="utf-8") as file:
                lines = [line.split() for line in file.read().splitlines()]
        except FileNotFoundError:
            return []
        return [float(when) for pid, when in lines if pid == self.keeper]

    def in_lower(self):
        return [name for name in self.names() if not name.startswith(".cairn")]

    def wait_for_step(self, name):
        self.wait_for(lambda: os.path.exists(self.path(name)), "the program waits")

    def test_it_is_told_tried_again_and_drained(self):
        for what, error in ERRORS if ALL else ERRORS[:1]:
            with self.subTest(error=errno.errorcode[error]):
                text = os.strerror(error)
                run = self.begin_and_fail(
                    "head -c 5000000 /dev/urandom > big; sha256sum big | cut -c1-64 >"
                    f" {self.path('sum')}", f"{what} {error}")
                self.wait_for(lambda seen=text: seen in self.problem(), "no problem is told")
                # The program has gone on, and all that it has written is in the pool only.
                self.wait_for(lambda: self.undrained() == 5000000, "the program waits")
                self.assertEqual(self.in_lower(), [])
                self.assertRegex(
                    self.cairn("status", env=self.well).out,
                    r"process \d+ drains it in the background: .*" + text)
                self.wait_for(lambda: len(self.bursts()) >= (4 if ALL else 2),
                              "not tried again")
                self.lower("")
                self.wait_for(lambda: "big" in self.in_lower(), "not drained")
                self.assertEqual(self.undrained(), 0)
                lines = self.finish(run).splitlines()
                self.assertEqual(len(lines), 2, lines)
                self.assertRegex(
                    lines[0], rf"^cairn run: {self.dir} cannot be drained in the background at "
                    rf"present, which is tried again: .*{text}")
                self.assertEqual(lines[1],
                                 f"cairn run: {self.dir} is drained in the background again")
                self.expect_big()
                self.wait_until_nothing_is_left()
                # Each pause is twice as long as the one before.
                bursts = self.bursts()
                pauses = [b - a for a, b in zip(bursts, bursts[1:])]
                for i, pause in enumerate(pauses):
                    self.assertGreater(pause, 0.9 * min(2**i, 300), pauses)
                for name in ("big", "../go", "../sum", "../faults.log"):
                    os.unlink(os.path.join(self.dir, name))

    def bursts(self):
        """When it was tried: several calls of one try may fail."""
        bursts = []
        last = 0
        for when in self.times_of_failures():
            if when - last > 0.5:
                bursts.append(when)
            last = when
        return bursts

    def expect_big(self):
        with open(os.path.join(self.dir, "big"), "rb") as file:
            self.assertEqual(
                pathlib.Path(self.path("sum")).read_text(encoding="utf-8").strip(),
                hashlib.sha256(file.read()).hexdigest())

    def test_what_fails_to_the_end_stays_in_the_pool(self):
        run = self.begin_and_fail(
            "head -c 5000000 /dev/urandom > big; sha256sum big | cut -c1-64 >"
            f" {self.path('sum')}; touch {self.path('made')}", f"write {errno.EDQUOT}")
        self.wait_for_step("made")
        self.wait_for(lambda: "quota" in self.problem(), "no problem is told")
        err = self.finish(run, code=1)
        self.assertRegex(err, r"big: write at offset 0: Disk quota exceeded")
        self.assertRegex(
            err, rf"the rest is still in the pool: `cairn drain {self.dir}` tries again, `cairn "
            rf"discard {self.dir}` drops it\n")
        self.assertEqual(self.in_lower(), [])
        self.assertEqual(self.undrained(), 5000000)
        drain = self.cairn("drain", self.dir, expect=1)
        self.assertIn("Disk quota exceeded", drain.err)
        self.assertEqual(self.undrained(), 5000000)
        self.assertRegex(
            self.cairn("status").out, r"no run is under way: `cairn drain \S+` writes it")
        self.lower("")
        self.cairn("drain", self.dir)
        self.expect_big()
        self.assertEqual(self.in_lower(), ["big"])

    @unittest.skipUnless(ALL, "one of the slow tests")
    def test_a_full_pool_meanwhile(self):
        """ENOSPC comes when the pool is full, not before, and what was written stays."""
        sums = self.path("sums")
        run = self.begin_and_fail(
            f"i=0; while head -c 8388608 /dev/urandom > f$i; do sha256sum f$i >> {sums}; "
            f"i=$((i + 1)); done; rm f$i; touch {self.path('full')}", f"write {errno.ENOSPC}")
        deadline = time.time() + 100  # a program waits for room for a minute
        while not os.path.exists(self.path("full")):
            self.assertLess(time.time(), deadline, "the program waits")
            time.sleep(0.05)
        with open(sums, encoding="utf-8") as file:
            written = file.read().splitlines()
        self.assertGreater(len(written), 4)
        self.assertEqual(self.in_lower(), [])
        self.assertEqual(self.undrained(), len(written) * 8388608)
        self.lower("")
        self.finish(run)
        subprocess.run(["sha256sum", "--quiet", "-c", sums], cwd=self.dir, check=True)
        self.assertEqual(len(self.in_lower()), len(written))
        self.wait_until_nothing_is_left()

    def test_no_answer(self):
        run = self.begin_and_fail(
            f"echo new > new; touch {self.path('made')}; cat new > {self.path('read')}", "hang")
        # The program makes and reads what is in the pool.
        self.wait_for_step("read")
        self.assertEqual(self.in_lower(), [])
        # So does a command that looks at the pool.
        self.assertEqual(self.undrained(), 4)
        self.assertIn("its file system does not answer", self.cairn("status").out)
        if ALL:
            self.wait_for_silence()
        self.lower("")
        self.wait_for(lambda: self.has("new", "new\n"), "not drained")
        err = self.finish(run)
        lines = (r"cairn run: \S+: in the background no byte was drained for \d+ s; its file "
                 r"system may not answer\ncairn run: \S+: the drain in the background goes on\n")
        self.assertRegex(err, rf"^{lines}$" if ALL else rf"^({lines})?$")
        self.wait_until_nothing_is_left()

    def wait_for_silence(self):
        deadline = time.time() + 2 * SILENCE_S
        while "no byte was drained" not in self.problem():
            self.assertLess(time.time(), deadline, "no silence is told")
            time.sleep(0.2)


if __name__ == "__main__":
    cairn_case.main()
