"""Libraries that are new in a covered directory: each that is loaded is what was asked for, the
same as before if it is the same file, known by its path, and gone when it is closed; programs are
given what they need. Whatever is tried is tried without Cairn, too, and gives the same."""

import os
import shutil
import subprocess
import tempfile
import unittest

import cairn_case
from cover_case import CoverCase

SOURCES = {
    "plug.c": "int plug(void) { return NUMBER; }",
    "foo.c": "int foo(void) { return 1; }",
    "needs_foo.c": "int foo(void); int other(void) { return foo(); }",
    # What is beside it is opened by what is needed, by RUNPATH, as it starts and later.
    "beside.c": (
        """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
static void* at_start;
static int start_name_is_known;
__attribute__((constructor)) static void start(void) { at_start = dlopen("plug1.so", RTLD_NOW); }
int beside(void) {
  Dl_info info;
  if (dladdr(beside, &info) == 0) return -1;
  char* real = realpath(info.dli_fname, NULL);
  printf("%s from %s\\n", at_start == NULL ? dlerror() : "opened", real == NULL ? info.dli_fname : basename(real));
  void* library = dlopen("plug3.so", RTLD_NOW);
  int (*plug)(void) = library == NULL ? NULL : dlsym(library, "plug");
  return plug == NULL ? puts(dlerror()), -1 : plug();
}"""
    ),
    "asks_beside.c": (
        '#include <stdio.h>\nint beside(void); int main(void) { return printf("%d\\n", beside()) <'
        ' 0; }'
    ),
    "opens_all.c": (
        """
#include <dlfcn.h>
#include <stdio.h>
int foo(void);
int main(int count, char** names) {
  printf("%d\\n", foo());
  for (int i = 1; i < count; ++i) {
    void* library = dlopen(names[i], RTLD_NOW);
    int (*plug)(void) = library == NULL ? NULL : dlsym(library, "plug");
    printf("%s %d\\n", names[i], plug == NULL ? -1 : plug());
  }
  return 0;
}"""
    ),
    "asks_foo.c": (
        '#include <stdio.h>\nint foo(void); int main(void) { return printf("%d\\n", foo()) < 0; }'
    ),
    "first.c": "int which(void) { return 1; }",
    "second.c": "int which(void) { return 2; }",
    "asks_which.c": (
        '#include <stdio.h>\nint which(void); int main(void) { return printf("%d\\n", which()) <'
        ' 0; }'
    ),
    "outer.c": "int foo(void); int plug(void) { return foo(); }",
    "asks_plug.c": (
        '#include <stdio.h>\nint plug(void); int main(void) { return printf("%d\\n", plug()) < 0; }'
    ),
    "starts.c": (
        "#include <stdlib.h>\nint foo(void); int main(void) { return foo() - 1 + system(\"env; ls"
        " -l /proc/self/fd\"); }"
    ),
    "same.c": (
        """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static int named(struct dl_phdr_info* info, size_t size, void* wanted) { return strcmp(info->dlpi_name, wanted) == 0; }
static void say(const char* what, int is) { printf("%s %d\\n", what, is); }
static void* is_there(const char* name) {
  void* library = dlopen(name, RTLD_NOW | RTLD_NOLOAD);
  if (library == NULL && dlerror() != NULL) puts("an error");
  return library;
}
static int plugged(void* library) { return ((int (*)(void))dlsym(library, "plug"))(); }
int main(void) {
  char path[4096];
  if (realpath("plug1.so", path) == NULL || symlink("plug1.so", "link.so") != 0 || link("plug1.so", "hard.so") != 0) return 1;
  say("there", is_there(path) != NULL);
  void* library = dlopen(path, RTLD_NOW);
  say("again", dlopen(path, RTLD_NOW) == library);
  say("relative", dlopen("./plug1.so", RTLD_NOW) == library);
  say("by a link", dlopen("./link.so", RTLD_NOW) == library);
  say("by another name", dlopen("./hard.so", RTLD_NOW) == library);
  say("there", is_there(path) == library && is_there("./link.so") == library);
  say("has its name", dl_iterate_phdr(named, path));
  say("number", plugged(library));
  if (system("cp plug2.so new.so && mv new.so plug1.so") != 0) return 1;
  say("replaced", dlopen(path, RTLD_NOW) == library);
  say("still by the link's old target", dlopen("./hard.so", RTLD_NOW) == library);
  for (int i = 0; i < 9; ++i) say("closed", dlclose(library));
  say("there", is_there(path) != NULL);
  library = dlopen(path, RTLD_NOW);
  say("number", plugged(library));
  dlclose(library);
  if (system("touch -r plug1.so time && cat plug3.so >plug1.so && touch -r time plug1.so") != 0) return 1;
  library = dlopen(path, RTLD_NOW);
  say("number after a change that the times do not tell", plugged(library));
  return 0;
}"""
    ),
    "many.c": (
        """
#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static int descriptors(void) {
  int count = 0;
  DIR* directory = opendir("/proc/self/fd");
  while (readdir(directory) != NULL) ++count;
  closedir(directory);
  return count;
}
static int copy(const char* from, const char* to) {
  char bytes[65536];
  FILE* in = fopen(from, "r");
  FILE* out = fopen(to, "w");
  size_t size = fread(bytes, 1, sizeof bytes, in);
  fclose(in);
  return fwrite(bytes, 1, size, out) != size || fclose(out) != 0;
}
int main(void) {
  char name[32];
  int wrong = 0, before = 0;
  for (int i = 0; i < 500; ++i) {
    char* from = i % 2 == 0 ? "./plug1.so" : "./plug2.so";
    if (copy(from, "./made.so") != 0) return 1;
    void* library = dlopen("./made.so", RTLD_NOW);
    int (*plug)(void) = library == NULL ? NULL : dlsym(library, "plug");
    if (plug == NULL || plug() != 1 + i % 2 || dlclose(library) != 0 || unlink("./made.so") != 0) ++wrong;
    if (i == 0) before = descriptors();
  }
  printf("%d wrong, one after the other\\n", wrong);
  for (int i = 0; i < 300; ++i) {
    snprintf(name, sizeof name, "./made%d.so", i);
    if (copy("./plug1.so", name) != 0) return 1;
    if (dlopen(name, RTLD_NOW) == NULL && ++wrong == 1) puts(dlerror());
  }
  printf("%d wrong, %d more descriptors\\n", wrong, descriptors() - before);
  return 0;
}"""
    ),
    "threads.c": (
        """
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#define THREADS 8
static pthread_barrier_t barrier;
static void* got[THREADS];
static void* open_one(void* name) {
  pthread_barrier_wait(&barrier);
  return dlopen(name, RTLD_NOW);
}
int main(void) {
  int different = 0;
  pthread_t threads[THREADS];
  pthread_barrier_init(&barrier, NULL, THREADS);
  for (int round = 0; round < 50; ++round) {
    for (int i = 0; i < THREADS; ++i) pthread_create(&threads[i], NULL, open_one, i % 2 == 0 ? "./plug1.so" : "./beside.so");
    for (int i = 0; i < THREADS; ++i) pthread_join(threads[i], &got[i]);
    for (int i = 0; i < THREADS; ++i) different += got[i] == NULL || got[i] != got[i % 2];
    for (int i = 0; i < THREADS; ++i)
      if (got[i] != NULL) dlclose(got[i]);
  }
  printf("%d different\\n", different);
  return 0;
}"""
    ),
}

BUILD = """set -e
for number in 1 2 3 4 5 6 7 8; do gcc -shared -fPIC -DNUMBER=$number -o new/plug$number.so plug.c; done
gcc -shared -fPIC -o new/libfoo.so foo.c -Wl,-soname,libfoo.so
gcc -shared -fPIC -o new/beside.so beside.c -Wl,-soname,beside.so -ldl -Wl,-rpath,'$ORIGIN'
gcc -o new/asks_beside asks_beside.c new/beside.so -Wl,-rpath,'$ORIGIN'
gcc -o new/opens_all opens_all.c -Lnew -lfoo -ldl -Wl,-rpath,'$ORIGIN'
gcc -o new/asks_foo asks_foo.c -Lnew -lfoo
gcc -shared -fPIC -o new/libsecond.so second.c -Wl,-soname,libsecond.so
gcc -shared -fPIC -o new/libfirst.so first.c -Wl,-soname,libfirst.so -Wl,--no-as-needed -Lnew -lsecond -Wl,-rpath,'$ORIGIN'
gcc -shared -fPIC -o new/libnone.so foo.c -Wl,-soname,libnone.so -Wl,--no-as-needed -Lnew -lsecond -Wl,-rpath,'$ORIGIN'
gcc -o new/asks_first asks_which.c -Lnew -lfirst -Wl,-rpath,'$ORIGIN'
gcc -o new/asks_none asks_which.c -Wl,--no-as-needed -Lnew -lnone -lfirst -Wl,-rpath,'$ORIGIN'
gcc -shared -fPIC -o new/libouter.so outer.c -Wl,-soname,libouter.so -Lnew -lfoo -Wl,-rpath,'$ORIGIN/../without:$ORIGIN/../dir'
gcc -o new/asks_outer asks_plug.c -Lnew -louter -Wl,-rpath-link,new
gcc -o new/asks_by_path asks_foo.c -Lnew -lfoo -Wl,-rpath,'$ORIGIN/../without:$ORIGIN/../dir'
gcc -o new/starts starts.c -Lnew -lfoo -Wl,-rpath,'$ORIGIN'
gcc -o new/same same.c -ldl
gcc -o new/many many.c -ldl
gcc -pthread -o new/threads threads.c -ldl
"""


@unittest.skipIf(shutil.which("gcc") is None, "without a compiler")
class LoadedLibraries(CoverCase):
    @classmethod
    def setUpClass(cls):
        cls.made = tempfile.mkdtemp(prefix="cairn-cli-")
        cls.addClassCleanup(shutil.rmtree, cls.made, ignore_errors=True)
        for name, text in SOURCES.items():
            with open(os.path.join(cls.made, name), "w", encoding="utf-8") as file:
                file.write(text)
        os.mkdir(os.path.join(cls.made, "new"))
        subprocess.run(["sh", "-c", BUILD], cwd=cls.made, check=True, timeout=120)

    def check(self, script):
        """In new directories, to which all is copied in the run."""
        script = f"cp {self.made}/new/* . && {script}"
        without = self.path("without")
        os.mkdir(without)
        expected = subprocess.run(["sh", "-c", script], cwd=without, env=self.env, check=True,
                                  capture_output=True, timeout=60).stdout
        shutil.rmtree(without)
        self.assertEqual(self.shell(script).out, expected.decode())
        return expected.decode()

    def test_each_is_what_was_asked_for(self):
        self.check(
            "./opens_all ./plug1.so ./plug2.so ./plug3.so ./plug4.so ./plug5.so ./plug6.so"
            " ./plug7.so ./plug8.so"
        )

    @cairn_case.not_where_dlopen_is_the_sanitizers
    def test_what_is_needed_opens_what_lies_beside_it_and_knows_its_own_path(self):
        self.assertEqual(self.check("./asks_beside"), "opened from beside.so\n3\n")

    def test_a_file_that_is_loaded_is_not_loaded_again(self):
        self.check("./same")

    def test_what_is_loaded_costs_no_descriptors(self):
        self.assertIn("0 wrong, 0 more", self.check("ulimit -n 200; ./many"))

    def test_threads_that_open_the_same_file_get_the_same_library(self):
        self.check("./threads")

    def test_symbols_come_from_the_library_that_is_asked_for_first(self):
        self.assertEqual(self.check("./asks_first && ./asks_none"), "1\n1\n")

    def test_a_program_outside_may_be_named_without_a_slash(self):
        """As execv takes it, and execvp from an empty place in PATH."""
        script = (
            "export LD_LIBRARY_PATH=$PWD && mkdir -p ../bin && cp asks_foo ../bin && cd ../bin &&"
            " python3 -c \"import os; os.execv('asks_foo', ['asks_foo'])\" && PATH=:$PATH perl -e"
            " 'exec {\"asks_foo\"} \"asks_foo\"'"
        )
        self.assertEqual(self.check(script), "1\n1\n")

    def test_what_lies_outside_finds_what_it_needs(self):
        """By its own RUNPATH; and a library outside may be needed by a program in the directory."""
        script = (
            "mkdir -p ../bin && mv libouter.so asks_by_path ../bin && ../bin/asks_by_path &&"
            " ./opens_all ../bin/libouter.so && LD_LIBRARY_PATH=../bin ./asks_outer &&"
            " LD_LIBRARY_PATH=$PWD/../bin ./asks_outer && python3 -c \"import os;"
            " os.waitpid(os.posix_spawn('../bin/asks_by_path', ['asks'], os.environ), 0)\""
        )
        self.assertEqual(self.check(script), "1\n1\n../bin/libouter.so 1\n1\n1\n1\n")

    @cairn_case.not_where_dlopen_is_the_sanitizers
    def test_a_program_that_is_open_finds_what_lies_beside_it(self):
        run = (
            "import os\nfd = os.open('asks_beside', os.O_RDONLY)\nos.execve(fd, ['asks'],"
            " os.environ)"
        )
        self.assertEqual(self.check(f"python3 -c \"{run}\""), "opened from beside.so\n3\n")

    def test_separators_at_the_end_of_the_preloads_do_not_hide_what_was_given(self):
        for end in [":", " ", ": :"]:
            out = self.shell(
                f"cp {self.made}/new/* . && LD_PRELOAD=\"$LD_PRELOAD{end}\" ./starts").out
            self.assertNotIn("/proc/self/fd/",
                             out.split("LD_PRELOAD=")[1].splitlines()[0], repr(end))
            self.assertNotIn("libfoo", out, repr(end))

    def test_a_fifo_is_no_program(self):
        os.mkfifo(self.path("fifo"))
        script = "LD_LIBRARY_PATH=$PWD exec python3 -c \"import os; os.execv('../fifo', ['fifo'])\""
        self.assertIn("PermissionError", self.shell(script, expect=1).err)


if __name__ == "__main__":
    unittest.main()
