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
# A Python program of one line.
START = 'python3 -c "import os; {}"'
# Directories for certain processors, where the loader looks first.
PROCESSORS = ("glibc-hwcaps/x86-64-v2", "glibc-hwcaps/x86-64-v3", "glibc-hwcaps/x86-64-v4",
              "glibc-hwcaps/power9", "tls/" + os.uname().machine)
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

    def programs(self, world, at=None):
        """Name -> shell command that loads the library of the covered directory, or of `at`."""
        at = at or world.dir
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
            "needed, by fexecve": START.format(
                f"os.execve(os.open('{linked}', os.O_RDONLY), ['linked'], os.environ)"),
            "needed, by posix_spawn": START.format(
                f"os.waitpid(os.posix_spawn('{linked}', ['linked'], os.environ), 0)"),
            "needed by the interpreter of a script": self.script(world, linked),
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

    @staticmethod
    def script(world, interpreter):
        """A script outside of the covered directory."""
        path = os.path.join(world.top, "script")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"#!{interpreter}\n")
        os.chmod(path, 0o755)
        return path

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


    def directory_of_mallory(self, world, name, *libraries):
        path = os.path.join(world.dir, name)
        os.mkdir(path)
        for library in libraries:
            shutil.copy(library, path)
        open_to_mallory(world, path)
        return path

    def plant_library(self, world, directories):
        world.plant(f"""
import shutil
for path in {directories!r}:
    os.makedirs(path, exist_ok=True)
    shutil.copy({self.library_of("bad")!r}, path + '/libone.so')
""")

    @in_every_world
    def test_what_others_add_is_not_loaded(self, world):
        """To a directory that was taken over, whether the run has seen or removed the name or not,
        or has made the directory anew."""
        bad = self.library_of("bad")
        added = self.directory_of_mallory(world, "added")
        removed = self.directory_of_mallory(world, "removed", bad)
        remade = self.directory_of_mallory(world, "remade", bad)
        script = "; ".join((taken_over(world, added), taken_over(world, removed),
                            f"rm {removed}/libone.so; rm -r {remade}; mkdir {remade}"))
        world.cairn("run", "--at", world.dir, "--drain", "never", "--", "sh", "-c", script)
        self.plant_library(world, [added])
        for at in (added, removed, remade):
            with self.subTest(directory=os.path.basename(at)):
                programs = self.programs(world, at)
                programs["audits"] = f"LD_AUDIT={at}/libone.so /bin/true"
                programs["audits by a name"] = f"LD_LIBRARY_PATH={at} LD_AUDIT=libone.so /bin/true"
                self.assertEqual(self.try_all(world, programs), dict.fromkeys(programs, ""))

    @in_every_world
    def test_what_others_add_for_processors_is_not_loaded(self, world):
        at = self.directory_of_mallory(world, "taken", self.library_of("own"))
        world.cairn("run", "--at", world.dir, "--drain", "never", "--", "sh", "-c",
                    taken_over(world, at))
        self.plant_library(world, [os.path.join(at, name) for name in PROCESSORS])
        programs = self.programs(world, at)
        said = self.try_all(world, programs)
        refused = {name: "" for name in programs if name == "preloaded by a name"}
        self.assertEqual(said, dict.fromkeys(programs, "own library\n") | refused)

    def test_a_refusal_is_said_once(self):
        with self.world(True, ROOT) as world:
            path = self.take_library(world)
            world.plant(f"os.utime({path!r})")
            linked = self.programs(world)["needed, by RUNPATH"]
            for program in (linked, os.path.join(world.dir, "linked")):
                said = world.cairn("run", "--at", world.dir, "--drain", "never", "--", "sh", "-c",
                                   f"test -e linked || cp {linked} linked; {program}; true").err
                self.assertEqual(said.count("cannot be loaded"), 1, said)


@unittest.skipIf(shutil.which("gcc") is None, "without a compiler")
class Interpreters(TrustCase):
    """Of scripts and programs that lie outside of the covered directory."""

    def programs(self, world, interpreter):
        script = os.path.join(world.top, "script")
        with open(script, "w", encoding="utf-8") as file:
            file.write(f"#! {interpreter} -x\n")
        outer = os.path.join(world.top, "outer")
        with open(outer, "w", encoding="utf-8") as file:
            file.write(f"#!{script}\n")
        for path in (script, outer):
            os.chmod(path, 0o755)
        environment = "['script'], os.environ)"
        return {
            "execve": script,
            "script of a script": outer,
            "shell of execvp": f"env PATH={world.top} script",
            "posix_spawn":
                START.format(f"os.waitpid(os.posix_spawn('{script}', {environment}, 0)"),
            "fexecve": START.format("fd = os.open('script', os.O_RDONLY); "
                                    f"os.set_inheritable(fd, True); os.execve(fd, {environment}"),
            "system": START.format(f"os.system('{script}')"),
            "popen": START.format(f"print(os.popen('{script}').read(), end='')"),
        }

    def try_all(self, world, programs):
        script = "; ".join(f"echo '={name}'; ({command})" for name, command in programs.items())
        said = world.cairn("run", "--at", world.dir, "--drain", "never", "--", "bash", "-c",
                           f"cd {world.top}; {script}; true").out
        parts = (part.partition("\n") for part in said.split("=")[1:])
        return {name: text for name, _, text in parts}

    def printer(self, world, name, text):
        """A program that prints a text."""
        path = os.path.join(world.top, name)
        subprocess.run(["gcc", "-x", "c", "-", "-o", path], check=True,
                       input=f'#include <stdio.h>\nint main() {{ puts("{text}"); }}'.encode())
        return path

    @in_every_world
    def test_what_others_change_or_add_is_not_run(self, world):
        directory = os.path.join(world.dir, "taken")
        os.mkdir(directory)
        own, bad = self.printer(world, "own", "own"), self.printer(world, "bad", "bad")
        changed, added = os.path.join(world.dir, "changed"), os.path.join(directory, "added")
        shutil.copy(own, changed)
        for path in (changed, directory):
            open_to_mallory(world, path)
        script = "; ".join(taken_over(world, path) for path in (changed, directory))
        world.cairn("run", "--at", world.dir, "--drain", "never", "--", "sh", "-c", script)
        for path in (changed, added):
            programs = self.programs(world, path)
            if path == changed:
                self.assertEqual(self.try_all(world, programs), dict.fromkeys(programs, "own\n"))
            world.plant(f"""
import shutil
shutil.copyfile({bad!r}, {path!r})
if {path!r} == {added!r}:
    os.chmod({path!r}, 0o755)
""")
            self.assertEqual(self.try_all(world, programs), dict.fromkeys(programs, ""))

    @in_every_world
    def test_an_elf_interpreter_of_others_is_not_run(self, world):
        directory = os.path.join(world.dir, "taken")
        os.mkdir(directory)
        open_to_mallory(world, directory)
        outside, bad = os.path.join(world.top, "main"), self.printer(world, "bad", "bad")
        subprocess.run(["gcc", "-x", "c", "-", "-o", outside,
                        f"-Wl,--dynamic-linker={directory}/ld.so"], check=True,
                       input=b"int main(void) { return 0; }")
        subprocess.run(["gcc", "-static", "-x", "c", "-", "-o", bad], check=True,
                       input=b'#include <stdio.h>\nint main(void) { puts("bad"); return 0; }')
        world.cairn("run", "--at", world.dir, "--drain", "never", "--", "sh", "-c",
                    f"{taken_over(world, directory)}; cp {outside} inside")
        world.plant(f"import shutil; shutil.copy({bad!r}, {directory!r} + '/ld.so')")
        programs = {path: path for path in (outside, os.path.join(world.dir, "inside"))}
        self.assertEqual(self.try_all(world, programs), dict.fromkeys(programs, ""))

    @in_every_world
    def test_an_interpreter_made_in_the_run_is_run(self, world):
        own = self.printer(world, "own", "own")
        programs = self.programs(world, os.path.join(world.dir, "interpreter"))
        world.cairn("run", "--at", world.dir, "--drain", "never", "--", "cp", own, "interpreter")
        self.assertEqual(self.try_all(world, programs), dict.fromkeys(programs, "own\n"))


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
