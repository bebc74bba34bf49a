"""Programs that pass by the library are named on stderr when they have to do with the covered
directory: what they say themselves, that there is no working directory, does not lead to the
cause."""

import os
import shutil
import subprocess
import unittest

from cover_case import CoverCase

MAIN = "int main(void) { return 0; }"
GO_NOTE = (
    'asm(".section .note.go.buildid,\\"a\\",@note\\n.long 4,4,4\\n.asciz \\"Go\\\\0\\"\\n.long'
    ' 1\\n.previous");'
)


@unittest.skipIf(shutil.which("gcc") is None, "without a compiler")
class PassingBy(CoverCase):
    def build(self, name, text, *options):
        source = self.write(name + ".c", text)
        made = subprocess.run(["gcc", "-o", self.path(name), source, *options], capture_output=True,
                              check=False)
        if made.returncode != 0:
            self.skipTest(f"no {name} programs here")
        return self.path(name)

    def test_programs_that_pass_by_are_named(self):
        for name, options, says in (("static", ["-static"], "is linked statically"),
                                    ("go", [], "is written in Go")):
            program = self.build(name, MAIN + (GO_NOTE if name == "go" else ""), *options)
            told = f"cairn: {program} {says}"
            self.assertIn(told, self.shell(program).err, "started there")
            self.assertIn(
                told,
                self.cairn("run", "--at", self.dir, "--", "sh", "-c",
                           f"cd / && {program} {self.dir}/x").err, "a path in it")
            self.assertEqual(
                self.cairn("run", "--at", self.dir, "--", "sh", "-c", f"cd / && {program} x").err,
                "", "nothing to do with it")
            spawns = f"import os; os.waitpid(os.posix_spawn('{program}', ['x'], os.environ), 0)"
            self.assertIn(told, self.shell(f'python3 -c "{spawns}"').err, "by posix_spawn")
            self.assertIn(f"./{name} {says}",
                          self.shell(f"cp {program} . && ./{name} && rm {name}").err, "lies there")

    def test_others_are_not(self):
        program = self.build("dynamic", MAIN)
        self.assertEqual(
            self.shell(f"{program} {self.dir}; cp {program} here && ./here; rm here").err, "")
        self.assertEqual(os.listdir(self.dir), [])


if __name__ == "__main__":
    unittest.main()
