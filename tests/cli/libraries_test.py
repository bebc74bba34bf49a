"""Shared libraries that lie in a covered directory: found by RPATH, RUNPATH, $ORIGIN and
LD_LIBRARY_PATH, for programs that are started and for dlopen, whether they were there before, are
made in the run, or one of them changes in it."""

import os
import shutil
import subprocess
import unittest

import cairn_case
from cover_case import CoverCase

SOURCES = {
    "one.c": "int one(void) { return 1; }",
    "two.c": "int one(void); int two(void) { return one() * 10 + 2; }",
    "asks_one.c": (
        '#include <stdio.h>\nint one(void); int main(void) { return printf("%d\\n", one()) < 0; }'
    ),
    "asks_two.c": (
        '#include <stdio.h>\nint two(void); int main(void) { return printf("%d\\n", two()) < 0; }'
    ),
    "opens.c": (
        """
#include <dlfcn.h>
#include <stdio.h>
int main(int count, char** names) {
  for (int i = 1; i < count; ++i) {
    void* library = dlopen(names[i], RTLD_NOW);
    int (*two)(void) = library == NULL ? NULL : dlsym(library, "two");
    printf("%s %d\\n", names[i], two == NULL ? -1 : two());
  }
  return 0;
}"""
    ),
    "nothing.c": "int nothing;",
    # lib: with DT_SONAME; bare: without; chain: found by the RPATH of who needs them; ring: that,
    # and needing each other
    "make.sh": (
        """set -e
mkdir -p lib bare chain ring
for each in chain ring; do
  gcc -shared -fPIC -o $each/libone.so one.c -Wl,-soname,libone.so
  gcc -shared -fPIC -o $each/libtwo.so two.c -Wl,-soname,libtwo.so -L$each -lone
done
gcc -shared -fPIC -o ring/libone.so one.c -Wl,-soname,libone.so -Wl,--no-as-needed -Lring -ltwo -Wl,-rpath-link,ring
gcc -shared -fPIC -o chain/plugin.so nothing.c -Wl,--no-as-needed -Lchain -ltwo -Wl,--disable-new-dtags -Wl,-rpath,'$ORIGIN' -Wl,-rpath-link,chain
gcc -o of_ring asks_two.c -Lring -ltwo -Wl,-rpath-link,ring -Wl,--disable-new-dtags -Wl,-rpath,'$ORIGIN/ring'
gcc -o of_chain asks_two.c -Lchain -ltwo -Wl,-rpath-link,chain -Wl,--disable-new-dtags -Wl,-rpath,'$ORIGIN/chain'
gcc -shared -fPIC -o lib/libone.so one.c -Wl,-soname,libone.so
gcc -shared -fPIC -o lib/libtwo.so two.c -Wl,-soname,libtwo.so -Llib -lone -Wl,-rpath,'$ORIGIN'
gcc -shared -fPIC -o bare/libone.so one.c
gcc -shared -fPIC -o bare/libtwo.so two.c -Lbare -lone -Wl,-rpath,'$ORIGIN'
gcc -o absolute asks_one.c -Llib -lone -Wl,-rpath,"$PWD/lib"
gcc -o origin asks_two.c -Llib -ltwo -Wl,-rpath,'$ORIGIN/lib'
gcc -o old_origin asks_two.c -Llib -ltwo -Wl,--disable-new-dtags -Wl,-rpath,'$ORIGIN/lib'
gcc -o of_bare asks_two.c -Lbare -ltwo -Wl,-rpath,'$ORIGIN/bare'
gcc -o by_variable asks_two.c -Llib -ltwo -Wl,-rpath-link,lib
gcc -o opens opens.c -ldl -Wl,-rpath,'$ORIGIN/lib'
gcc -o opens_old opens.c -ldl -Wl,--disable-new-dtags -Wl,-rpath,'$ORIGIN/lib'
"""
    ),
    "try.sh": (
        """
for program in absolute origin old_origin of_bare of_chain of_ring; do echo "$program $(./$program 2>&1)"; done
for program in ./by_variable "$OUTSIDE"; do
  for where in "$PWD/lib" lib; do LD_LIBRARY_PATH=$where $program 2>&1; done
done
for program in ./opens ./opens_old; do
  $program "$PWD/lib/libtwo.so" lib/libtwo.so "$PWD/bare/libtwo.so"
  $program libtwo.so
  LD_LIBRARY_PATH=bare $program libtwo.so
done
./opens bare/libtwo.so
./opens chain/plugin.so
"""
    ),
}


@unittest.skipIf(shutil.which("gcc") is None, "without a compiler")
class Libraries(CoverCase):
    def setUp(self):
        super().setUp()
        for name, text in SOURCES.items():
            self.write(os.path.join("dir", name), text)
        self.env["OUTSIDE"] = self.path("outside")

    def plain(self, script):
        return subprocess.run(["sh", "-c", f"cd {self.dir} && {script}"], env=self.env, check=True,
                              capture_output=True, timeout=60).stdout.decode()

    @cairn_case.not_where_dlopen_is_the_sanitizers
    def test_libraries_in_the_cover_are_found(self):
        expected = self.plain("sh make.sh && cp by_variable $OUTSIDE && sh try.sh")
        # the directory's random name may hold "-1" too
        self.assertNotRegex(expected, r"(?m)(^| )-1$")
        self.assertNotIn("shared", expected)
        self.assertEqual(self.shell("sh try.sh").out, expected, "those that were there before")
        change = "sed -i 's/return 1;/return 2;/' one.c && "
        self.assertEqual(
            self.shell(change + "sh make.sh && sh try.sh").out,
            self.plain("sh make.sh && sh try.sh"), "all made anew")
        change = (
            "sed -i 's/return 2;/return 3;/' one.c && gcc -shared -fPIC -o lib/libone.so one.c"
            " -Wl,-soname,libone.so && gcc -shared -fPIC -o bare/libone.so one.c && "
        )
        self.assertEqual(
            self.shell(change + "sh try.sh").out, self.plain("sh try.sh"), "one changed")
        self.plain(
            "rm -rf lib bare chain ring absolute origin old_origin of_bare of_chain of_ring"
            " by_variable opens opens_old"
        )
        self.assertEqual(
            self.shell("sh make.sh && sh try.sh").out, self.plain("sh try.sh"), "none was there")

    def test_an_empty_place_in_the_library_path_is_the_working_directory(self):
        """To look there must not lose the directory for the program that is started."""
        script = (
            "export LD_LIBRARY_PATH=/nowhere: && sh make.sh && cp lib/*.so . && ./by_variable && cd"
            " lib && ../by_variable && touch here"
        )
        self.assertEqual(self.shell(script).out, "12\n12\n")
        self.assertTrue(os.path.exists(os.path.join(self.dir, "lib", "here")))

    def test_programs_started_by_one_that_got_libraries_do_not_get_them(self):
        script = (
            "sh make.sh; cp $(command -v env) lib/ 2>/dev/null; gcc -x c -o starts - -Llib -lone"
            " -Wl,-rpath,'$ORIGIN/lib' <<'END'\n#include <stdlib.h>\nint one(void); int main(void)"
            " { return one() - 1 + system(\"env; ls -l /proc/self/fd\"); }\nEND\n./starts"
        )
        out = self.shell(script).out
        self.assertIn("LD_PRELOAD=", out)
        self.assertNotIn("CAIRN_LIBRARIES", out)
        self.assertNotIn("/proc/self/fd/", out.split("LD_PRELOAD=")[1].splitlines()[0])
        self.assertNotIn("libone", out)


if __name__ == "__main__":
    unittest.main()
