"""Files and directories whose owner or mode a run changes: who could write to them before still can
below the cover until the drain, and nothing that he does there then counts in a run."""

import os
import shutil
import subprocess
import unittest

import trust_case
from trust_case import MALLORY, ROOT, VICTIM, TrustCase, in_every_world

# Prints at its start whose it is.
LIBRARY = """
#include <stdio.h>
__attribute__((constructor)) static void tell(void) { printf(WHOSE " library\\n"); fflush(stdout); }
"""
CAPABILITY = bytes.fromhex("0100000280000000" + "00" * 12)


def taken_over(world, path):
    """What the victim does in a run to have it for itself, having planted it as open to Mallory."""
    return f"chown 0:0 {path}; chmod 755 {path}" if world.runner == ROOT else f"chmod 755 {path}"


def open_to_mallory(world, path):
    owner = MALLORY if world.runner == ROOT else VICTIM
    os.chown(path, owner, owner)
    os.chmod(path, 0o777)


@unittest.skipIf(shutil.which("gcc") is None, "without a compiler")
class Libraries(TrustCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for name, text in (("one.c", LIBRARY), ("main.c", "int main(void) { return 0; }")):
            with open(os.path.join(cls.install, name), "w", encoding="utf-8") as file:
                file.write(text)
        for whose in ("own", "bad"):
            os.mkdir(os.path.join(cls.install, whose))
            cls.compile("-shared", "-fPIC", f'-DWHOSE="{whose}"', "-Wl,-soname,libone.so", "one.c",
                        "-o", f"{whose}/libone.so")

    @classmethod
    def compile(cls, *words):
        subprocess.run(["gcc", *words], cwd=cls.install, check=True)

    def library_of(self, whose):
        return os.path.join(self.install, whose, "libone.so")

    def programs(self, world):
        """Name -> shell command that loads the library of the covered directory."""
        at = world.dir
        linked = os.path.join(world.top, "linked")
        by_path = os.path.join(world.top, "by_path")
        link = ("main.c", "-Wl,--no-as-needed", "-Lown", "-lone")
        self.compile("-o", linked, *link, f"-Wl,-rpath,{at}")
        self.compile("-o", by_path, *link)
        dlopen = "python3 -c \"import ctypes; ctypes.CDLL('{}')\""
        return {
            "dlopen": dlopen.format(f"{at}/libone.so"),
            "dlopen of a name": f"LD_LIBRARY_PATH={at} " + dlopen.format("libone.so"),
            "needed, by RUNPATH": linked,
            "needed, by LD_LIBRARY_PATH": f"LD_LIBRARY_PATH={at} {by_path}",
            "preloaded": f"LD_PRELOAD=$LD_PRELOAD:{at}/libone.so /bin/true",
            "preloaded by posix_spawn":
                "python3 -c \"import os; e = dict(os.environ); "
                f"e['LD_PRELOAD'] += ':{at}/libone.so'; "
                "os.waitpid(os.posix_spawn('/bin/true', ['true'], e), 0)\"",
            "preloaded by fexecve":
                "python3 -c \"import os; e = dict(os.environ); "
                f"e['LD_PRELOAD'] += ':{at}/libone.so'; "
                "os.execve(os.open('/bin/true', os.O_RDONLY), ['true'], e)\"",
            "preloaded by a name":
                f"LD_LIBRARY_PATH={at} LD_PRELOAD=libone.so:$LD_PRELOAD /bin/true",
        }

    def try_all(self, world, programs):
        """Name -> what its program printed, of programs in one run."""
        script = "; ".join(f"echo '={name}'; ({command})" for name, command in programs.items())
        said = world.cairn("run", "--at", world.dir, "--drain", "never", "--", "bash", "-c",
                           f"cd /; {script}; true").out
        parts = (part.partition("\n") for part in said.split("=")[1:])
        return {name: text for name, _, text in parts}

    def take_library(self, world):
        path = os.path.join(world.dir, "libone.so")
        shutil.copy(self.library_of("own"), path)
        open_to_mallory(world, path)
        world.cairn("run", "--at", world.dir, "--drain", "never", "--", "sh", "-c",
                    taken_over(world, path))
        return path

    @in_every_world
    def test_what_was_changed_below_is_not_loaded(self, world):
        path = self.take_library(world)
        world.plant(f"""
st = os.stat({path!r})
text = open({self.library_of("bad")!r}, 'rb').read()
with open({path!r}, 'r+b') as file:
    file.write(text + bytes(st.st_size - len(text)))
if st.st_uid == os.getuid():
    os.utime({path!r}, ns=(st.st_atime_ns, st.st_mtime_ns))
""")
        programs = self.programs(world)
        self.assertEqual(self.try_all(world, programs), dict.fromkeys(programs, ""))

    @in_every_world
    def test_what_was_not_changed_below_is_loaded(self, world):
        self.take_library(world)
        programs = {name: command for name, command in self.programs(world).items()
                    if not name.startswith("preloaded")}
        self.assertEqual(self.try_all(world, programs), dict.fromkeys(programs, "own library\n"))

    @in_every_world
    def test_what_nobody_has_taken_over_is_loaded(self, world):
        shutil.copy(self.library_of("own"), world.dir)
        programs = self.programs(world)
        self.assertEqual(self.try_all(world, programs), dict.fromkeys(programs, "own library\n"))


class Directories(TrustCase):
    @in_every_world
    def test_names_that_come_later_are_not_the_runs(self, world):
        tops = [os.path.join(world.dir, name) for name in ("looked_at", "unknown")]
        directories = [path for top in tops for path in (top, os.path.join(top, "sub"))]
        for path in directories:
            os.mkdir(path)
            with open(os.path.join(path, "first"), "w", encoding="utf-8") as file:
                file.write("first\n")
            open_to_mallory(world, path)
        script = "; ".join(taken_over(world, path) for path in directories)
        world.cairn("run", "--at", world.dir, "--drain", "never", "--", "sh", "-c",
                    f"ls -R {tops[0]}; {script}")
        world.plant(f"""
for path in {directories!r}:
    open(path + '/later', 'w').write('later')
    os.symlink('/etc/passwd', path + '/link')
    os.mkdir(path + '/directory')
""")
        for top in tops:
            seen = world.cairn("run", "--at", world.dir, "--drain", "never", "--", "sh", "-c",
                               f"cd {top} && find . | sort; cat later sub/later", expect=1).out
            self.assertEqual(seen.split(), [".", "./first", "./sub", "./sub/first"])

    @in_every_world
    def test_a_directory_that_cannot_be_listed_gets_its_mode(self, world):
        path = os.path.join(world.dir, "closed")
        os.mkdir(path)
        os.chown(path, world.runner, world.runner)
        os.chmod(path, 0)
        world.run_at("chmod", "700", path)
        self.assertEqual(os.stat(path).st_mode & 0o7777, 0o700)


class Capabilities(TrustCase):
    def test_they_do_not_go_on_to_another_owner(self):
        with self.world(True, ROOT) as world:
            below, new, kept = (os.path.join(world.dir, name) for name in ("below", "new", "kept"))
            for path in (below, kept):
                shutil.copy("/bin/true", path)
                try:
                    os.setxattr(path, "security.capability", CAPABILITY)
                except OSError as error:
                    self.skipTest(f"no capabilities of files: {error}")
            world.run_at("python3", "-c", f"""
import os, shutil
shutil.copy('/bin/true', {new!r})
os.setxattr({new!r}, 'security.capability', {CAPABILITY!r})
os.setxattr({new!r}, 'user.note', b'kept')
assert 'security.capability' in os.listxattr({new!r})
for path in ({below!r}, {new!r}):
    os.chown(path, {MALLORY}, -1)
    assert 'security.capability' not in os.listxattr(path), path
os.chmod({kept!r}, 0o700)
""")
            for path in (below, new):
                self.assertEqual(os.stat(path).st_uid, MALLORY)
                self.assertNotIn("security.capability", os.listxattr(path))
            self.assertIn("user.note", os.listxattr(new))
            self.assertIn("security.capability", os.listxattr(kept))


if __name__ == "__main__":
    trust_case.main()
