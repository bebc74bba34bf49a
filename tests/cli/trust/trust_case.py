"""What the tests of docs/design/trust.md share: a directory that others can write to, a user who
covers it, and Mallory.

Each test plants something as Mallory, runs Cairn as the victim, and compares the world outside the
covered directory before and after. `in_every_world` gives it each case: a sticky and a non-sticky
directory, the victim an ordinary user and root. """

import contextlib
import functools
import os
import pathlib
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import cairn_case  # noqa: E402
from cairn_case import CairnCase, main  # noqa: E402, F401

ROOT, VICTIM, MALLORY, THIRD = 0, 61001, 61002, 61003


class World:
    """One covered directory, and what lies around it."""

    def __init__(self, case, sticky, runner):
        self.case, self.sticky, self.runner = case, sticky, runner
        self.top = tempfile.mkdtemp(prefix="cairn-trust-", dir=case.scratch)
        os.chmod(self.top, 0o755)
        self.memory = tempfile.mkdtemp(prefix="cairn-trust-", dir="/dev/shm")
        os.chmod(self.memory, 0o1777)
        self.dir = os.path.join(self.top, "project")
        os.mkdir(self.dir)
        os.chmod(self.dir, 0o1777 if sticky else 0o777)
        self.outside = os.path.join(self.top, "outside")
        os.mkdir(self.outside)
        for uid, name in ((ROOT, "of_root"), (VICTIM, "of_victim"), (THIRD, "of_third"),
                          (MALLORY, "of_mallory")):
            self.private(os.path.join(self.outside, name), uid)

    def private(self, path, uid):
        """A directory with mode 0700 of this user, with a file of mode 0600 in it and a directory
        with another one."""
        for directory in (path, os.path.join(path, "sub")):
            os.mkdir(directory, 0o700)
            with open(os.path.join(directory, "secret"), "w", encoding="utf-8") as file:
                file.write(f"only {uid} may read this\n")
            os.chmod(file.name, 0o600)
            os.chown(file.name, uid, uid)
            os.chown(directory, uid, uid)
        return path

    def home(self, uid):
        """Where this user's pools lie."""
        path = os.path.join(self.memory, str(uid))
        if not os.path.isdir(path):
            os.mkdir(path, 0o700)
            os.chown(path, uid, uid)
        return path

    def as_user(self, uid, *words, expect=0, env=None, timeout=60, **more):
        """A command of this user's in the covered directory; `expect` is its exit code (None:
        any)."""
        home = self.home(uid)
        all_env = {**self.case.env, "HOME": home, "CAIRN_POOL_DIR": home, **(env or {})}
        run = subprocess.run(
            ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", *words],
            cwd=more.pop("cwd", self.dir), env=all_env, stdin=subprocess.DEVNULL,
            capture_output=True, timeout=timeout, check=False, **more)
        run.out = run.stdout.decode(errors="surrogateescape")
        run.err = run.stderr.decode(errors="surrogateescape")
        if expect is not None:
            self.case.assertEqual(run.returncode, expect,
                                  f"{words} of user {uid}\n{run.out}{run.err}")
        return run

    def python(self, uid, script, **more):
        return self.as_user(uid, sys.executable, "-c", script, **more)

    def plant(self, script, **more):
        """What Mallory does in the covered directory, as a Python program with `os` imported."""
        return self.python(MALLORY, "import os\n" + script, **more)

    def cairn(self, *words, uid=None, **more):
        """`cairn` of the victim's (or this user's)."""
        return self.as_user(self.runner if uid is None else uid, self.case.cairn_copy, *words,
                            **more)

    def run_at(self, *words, **more):
        """`cairn run --at DIR -- true`, or another program, by the victim."""
        return self.cairn("run", "--at", self.dir, "--", *(words or ("true",)), **more)

    def look(self, top=None):
        """Path -> what can be told of it (type and mode, owner, links, contents), of all that lies
        outside the covered directory."""
        found = {}
        for path, directories, files in os.walk(top or self.outside):
            for name in [
                    ".", *files, *[d for d in directories if os.path.islink(os.path.join(path, d))]
            ]:
                at = os.path.normpath(os.path.join(path, name))
                st = os.lstat(at)
                contents = None
                if stat.S_ISREG(st.st_mode):
                    with open(at, "rb") as file:
                        contents = file.read()
                elif stat.S_ISLNK(st.st_mode):
                    contents = os.readlink(at)
                found[at] = (oct(st.st_mode), st.st_uid, st.st_gid, st.st_nlink, contents)
        return found

    def secrets_that_leaked(self):
        """Files in the covered directory that hold another user's secret and can be read by more
        than that user."""
        leaked = []
        for path, (mode, uid, _, _, contents) in self.look(self.dir).items():
            if isinstance(contents, bytes) and b"may read this" in contents:
                owner = int(contents.split()[1])
                if owner != uid or int(mode, 8) & 0o077:
                    leaked.append(path)
        return leaked

    def privileged(self):
        """Files in the covered directory that would run with rights which Mallory has not."""
        return [
            path for path, (mode, uid, gid, _, contents) in self.look(self.dir).items()
            if isinstance(contents, bytes) and ((int(mode, 8) & 0o4000 and uid != MALLORY) or
                                                (int(mode, 8) & 0o2000 and gid != MALLORY))
        ]

    def end(self):
        # Trees may be deeper than Python's recursion goes.
        subprocess.run(["rm", "-rf", self.top, self.memory], check=False)


class TrustCase(CairnCase):
    @classmethod
    def setUpClass(cls):
        if os.geteuid() != 0:
            raise unittest.SkipTest("only root can play several users")
        # The build may lie where others cannot go.
        cls.install = tempfile.mkdtemp(prefix="cairn-trust-bin-")
        os.chmod(cls.install, 0o755)
        cls.addClassCleanup(shutil.rmtree, cls.install, ignore_errors=True)
        for directory, names in (("bin", ["cairn"]), ("lib", ["libcairn_posix.so"])):
            os.mkdir(os.path.join(cls.install, directory))
            for name in names:
                shutil.copy(cairn_case.BIN.parent / directory / name,
                            os.path.join(cls.install, directory, name))
        cls.cairn_copy = os.path.join(cls.install, "bin", "cairn")

    def setUp(self):
        super().setUp()
        os.chmod(self.scratch, 0o755)

    @contextlib.contextmanager
    def world(self, sticky, runner):
        world = World(self, sticky, runner)
        try:
            yield world
        finally:
            world.end()

    @contextlib.contextmanager
    def unharmed(self, world):
        """Nothing outside the covered directory changes, no secret can be read in it, and nothing
        there runs with others' rights."""
        before = world.look()
        yield
        self.assertEqual(world.look(), before)
        self.assertEqual(world.secrets_that_leaked(), [])
        self.assertEqual(world.privileged(), [])


def in_every_world(test):
    """A test(self, world), for each kind of directory and of victim, each with a world of its
    own."""

    @functools.wraps(test)
    def run(self):
        for sticky in (False, True):
            for runner in (VICTIM, ROOT):
                with self.subTest(sticky=sticky,
                                  runner="root" if runner == ROOT else "user"), self.world(
                                      sticky, runner) as world:
                    test(self, world)

    return run
