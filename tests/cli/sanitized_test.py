"""Programs that were built with a sanitizer run under `cairn run`, and are told of their own faults
only. gcc's runtimes are shared libraries, clang's are parts of the program."""

import os
import shutil
import subprocess
import unittest

import cairn_case
from cairn_case import CairnCase

# Writes, reads and lists in the working directory with several threads; then makes the fault that
# is its first argument, or runs that as a command.
PROGRAM = r"""
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
static int shared;
static int is_racy;
static void* work(void* number) {
  static const char bytes[70000];
  char read_back[5000];
  for (int round = 0; round < 20; ++round) {
    char name[32];
    snprintf(name, sizeof name, "file%ld", ((long)number + round) % 4);
    int fd = open(name, O_RDWR | O_CREAT, 0644);
    if (fd < 0 || pwrite(fd, bytes, sizeof bytes, round * 999) < 0) abort();
    if (pread(fd, read_back, sizeof read_back, 100) < 0) abort();
    if (round % 7 == 0 && ftruncate(fd, 1000) != 0) abort();
    close(fd);
    mkdir("directory", 0755);
    DIR* all = opendir(".");
    while (readdir(all) != NULL) continue;
    closedir(all);
  }
  if (is_racy) ++shared;
  return NULL;
}
int main(int count, char** words) {
  const char* fault = count > 1 ? words[1] : "none";
  pthread_t threads[3];
  is_racy = strcmp(fault, "race") == 0;
  for (long i = 0; i < 3; ++i) pthread_create(&threads[i], NULL, work, (void*)i);
  for (int i = 0; i < 3; ++i) pthread_join(threads[i], NULL);
  char* heap = malloc(10);
  if (strcmp(fault, "overflow") == 0) heap[strlen(fault) + 10] = 1;
  free(heap);
  puts("end");
  fflush(stdout);
  return count > 2 ? system(words[2]) : 0;
}
"""


@unittest.skipIf(os.environ.get("CAIRN_SANITIZE"), "the library itself is sanitized")
class Sanitized(CairnCase):
    def build(self, compiler, sanitizer):
        if not shutil.which(compiler):
            self.skipTest(f"no {compiler}")
        program = self.path(f"{compiler}-{sanitizer}")
        made = subprocess.run([
            compiler, "-x", "c", "-", "-w", "-g", "-pthread", f"-fsanitize={sanitizer}", "-o",
            program
        ], input=PROGRAM, text=True, capture_output=True, check=False)
        if made.returncode != 0:
            self.skipTest(f"{compiler} has no {sanitizer} sanitizer")
        return program

    def run_in_cover(self, *words, expect=0):
        os.makedirs(self.path("dir"), exist_ok=True)
        suppressions = os.path.join(os.environ["CAIRN_SOURCE_DIR"], "adapters/posix/tsan.supp")
        done = self.cairn("run", "--at", self.path("dir"), "--pool-size", "64M", "--", *words,
                          cwd=self.path("dir"), expect=None,
                          env={"TSAN_OPTIONS": f"suppressions={suppressions}"})
        text = done.out + done.err
        self.assertEqual(done.returncode == 0, expect == 0, text)
        return text

    def check(self, compiler, sanitizer, fault=None, name=None):
        program = self.build(compiler, sanitizer)
        text = self.run_in_cover(program)
        self.assertIn("end\n", text)
        self.assertNotIn("Sanitizer", text)
        if fault is not None:
            self.assertIn(name, self.run_in_cover(program, fault, expect=1))
        return program

    def test_address_of_gcc(self):
        program = self.check("gcc", "address", "overflow", "heap-buffer-overflow")
        # Started by another program, and by itself; what it starts gets no sanitizer.
        text = self.run_in_cover("sh", "-c", f"{program} none '{program}; printenv LD_PRELOAD'")
        self.assertEqual(text.count("end\n"), 2)
        self.assertRegex(text, r"(?m)^[^:]*libcairn_posix\.so$")

    def test_address_of_clang(self):
        self.check("clang", "address", "overflow", "heap-buffer-overflow")

    def test_thread_of_gcc(self):
        self.check("gcc", "thread", "race", "data race")

    def test_thread_of_clang(self):
        self.check("clang", "thread", "race", "data race")

    def test_undefined_of_gcc(self):
        self.check("gcc", "undefined")


if __name__ == "__main__":
    cairn_case.main()
