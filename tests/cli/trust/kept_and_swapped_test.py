"""Directories under the names of kept directories, and names that Mallory exchanges during runs and
drains.

A drain keeps files in no directory of others. It neither removes private files nor opens them to
others. Owners, modes and links go to the file that the pool remembers, and to no other
(docs/design/trust.md). """

import contextlib
import os
import shutil
import stat
import struct
import subprocess
import tempfile
import time

import planted
import trust_case
from planted_fuzz import PYTHON, as_mallory, end_racing, look_at, names_below, start_racing
from trust_case import MALLORY, ROOT, THIRD, VICTIM, TrustCase, in_every_world

LIMIT_S = 60
RACE_S = 1.5  # in each world; the fuzzer races as well
MOST_DRAINS = 30
MANY = 2 << 20  # bytes: copying them gives Mallory time


class Run:
    """A `cairn run` of the victim's. Its program runs `script` in the covered directory, then waits
    for go()."""

    def __init__(self, case, world, script):
        self.case = case
        self.meet = tempfile.mkdtemp(dir=world.top)
        os.chown(self.meet, world.runner, world.runner)
        home = world.home(world.runner)
        waits = f"touch {self.meet}/ready; while [ ! -e {self.meet}/go ]; do sleep 0.01; done"
        self.process = subprocess.Popen([
            "setpriv", f"--reuid={world.runner}", f"--regid={world.runner}", "--clear-groups",
            case.cairn_copy, "run", "--at", world.dir, "--", "sh", "-c",
            f"set -e; cd {world.dir}; {script}; {waits}"
        ], env=dict(case.env, HOME=home, CAIRN_POOL_DIR=home), stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        end = time.monotonic() + LIMIT_S
        while not os.path.exists(f"{self.meet}/ready"):
            if self.process.poll() is not None or time.monotonic() > end:
                self.process.kill()
                case.fail(f"{script}: {self.process.communicate()[0].decode()}")
            time.sleep(0.005)

    def go(self):
        open(f"{self.meet}/go", "w", encoding="utf-8").close()

    def end(self, expect=0):
        self.go()
        said = self.process.communicate(timeout=LIMIT_S)[0].decode()
        if expect is not None:
            self.case.assertEqual(self.process.returncode, expect, said)
        return said


def inodes_below(top):
    """Inode -> attributes and contents of everything in a tree. Renames do not change them."""
    found = {}
    for path in names_below(top):
        st, contents = look_at(path)
        found[st.st_ino] = (oct(st.st_mode), st.st_uid, st.st_gid, st.st_nlink, st.st_mtime_ns,
                            contents)
    return found


class KeptAndSwapped(TrustCase):
    def setUp(self):
        super().setUp()
        # In memory, because the races need many drains.
        self.scratch = tempfile.mkdtemp(prefix="cairn-trust-", dir="/dev/shm")
        os.chmod(self.scratch, 0o755)
        self.addCleanup(shutil.rmtree, self.scratch, ignore_errors=True)

    @staticmethod
    def owner_of_private(world):
        """THIRD for runs of root. A user cannot enter private directories of others, so there the
        user's own."""
        return THIRD if world.runner == ROOT else VICTIM

    def private(self, world, name="private"):
        """A directory with mode 0700. Only that mode protects the empty one in it from rmdir."""
        uid = self.owner_of_private(world)
        path = world.private(os.path.join(world.dir, name), uid)
        os.mkdir(os.path.join(path, "empty"), 0o700)
        os.chown(os.path.join(path, "empty"), uid, uid)
        return path

    @staticmethod
    def file(world, name, uid, mode=0o600, text=None):
        path = os.path.join(world.dir, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text or f"only {uid} may read this\n")
        os.chmod(path, mode)
        os.chown(path, uid, uid)
        return path

    @staticmethod
    def directory(world, name, mode=0o755, files=("file",)):
        """A directory of the victim's."""
        path = os.path.join(world.dir, name)
        os.mkdir(path)
        for file in files:
            with open(os.path.join(path, file), "w", encoding="utf-8") as opened:
                opened.write(f"{file}\n")
            os.chown(opened.name, world.runner, world.runner)
        os.chmod(path, mode)
        os.chown(path, world.runner, world.runner)
        return path

    @contextlib.contextmanager
    def whole(self, world, path):
        """Everything in this tree is the same afterwards, under whatever name."""
        before = inodes_below(path)
        with self.unharmed(world):
            yield
        after = inodes_below(world.dir)
        for inode, what in before.items():
            self.assertEqual(after.get(inode), what)

    def mallory(self, world, *operations):
        """Mallory does this; the kernel allows all of it."""
        done = as_mallory(world.dir, lambda: planted.perform(operations))
        self.assertEqual(len(done), len(operations), operations)

    def kept_name(self, world):
        claim = planted.read_claim(world.dir)
        self.assertTrue(claim)
        return planted.kept_name(claim)

    # --- the name of the kept directory ---
    @staticmethod
    def kept_of_mallory():
        """A directory in the form of a kept one, with a file that belongs into the private
        directory by its note."""
        kept = ".cairn-drain-00000000-" + "0" * 32
        return [("mkdir", kept, 0o755), ("file", f"{kept}/item", b"of mallory\n", 0o644),
                ("file", f"{kept}/origin-item", b"private/planted", 0o644)]

    def keep(self, world, change, *planted_there):
        """A drain that keeps a private file. A conflict makes the kept directory stay
        afterwards."""
        closed = self.directory(world, "closed", 0o700, ())
        secret = self.file(world, "closed/s", world.runner)
        inode = os.stat(secret).st_ino
        with self.unharmed(world):
            run = Run(self, world, f"echo mine > conflict; cd closed; {change}")
            name = self.kept_name(world)
            named = [
                tuple(
                    part.replace("KEPT", name) if isinstance(part, str) else part
                    for part in operation) for operation in planted_there
            ]
            self.mallory(world, ("file", "conflict", b"of mallory\n", 0o644), *named)
            before = sorted(names_below(os.path.join(world.dir, name)))
            self.assertIn("conflict", run.end(1))
            for path in names_below(world.dir):
                if os.lstat(path).st_ino == inode:
                    above = os.lstat(os.path.dirname(path))
                    self.assertEqual((above.st_uid, stat.S_IMODE(above.st_mode)),
                                     (world.runner, 0o700), path)
            self.assertEqual(sorted(names_below(os.path.join(world.dir, name))), before)
            self.assertEqual(os.lstat(os.path.join(world.dir, name)).st_uid, MALLORY)
        return closed

    def read(self, path):
        with open(path, encoding="utf-8") as file:
            return file.read()

    @in_every_world
    def test_a_rotated_file_is_not_linked_into_a_directory_of_others(self, world):
        closed = self.keep(world, "mv s s.1; echo new > s", ("mkdir", "KEPT", 0o777))
        self.assertEqual(self.read(f"{closed}/s"), "new\n")
        self.assertIn("may read this", self.read(f"{closed}/s.1"))

    @in_every_world
    def test_a_replaced_file_is_not_moved_into_a_directory_of_others(self, world):
        closed = self.keep(world, "mv s t; mkdir s; mv t s/s", ("mkdir", "KEPT", 0o777))
        self.assertIn("may read this", self.read(f"{closed}/s/s"))

    @in_every_world
    def test_nothing_is_kept_through_a_link(self, world):
        outside = os.path.join(world.outside, "of_mallory")
        closed = self.keep(world, "mv s s.1; echo new > s", ("symlink", outside, "KEPT"))
        self.assertEqual(self.read(f"{closed}/s"), "new\n")
        self.assertIn("may read this", self.read(f"{closed}/s.1"))

    @in_every_world
    def test_nothing_is_kept_in_a_closed_directory_of_others(self, world):
        self.keep(world, "mv s s.1; echo new > s", ("mkdir", "KEPT", 0o700))

    @in_every_world
    def test_the_kept_name_of_another_directory_removes_nothing(self, world):
        private = self.private(world)
        with self.whole(world, private):
            run = Run(self, world, "echo mine > new")
            if not world.sticky:
                self.mallory(world, ("rename", "private", self.kept_name(world)))
            run.end(None)
        self.assertEqual(self.read(f"{world.dir}/new"), "mine\n")

    @in_every_world
    def test_a_discarded_cover_brings_nothing_back_from_another_directory(self, world):
        """Files in the form of Cairn's notes mean nothing in a directory that is not Cairn's."""
        private = self.private(world)
        for name, text in (("origin-item", "brought"), ("item", "not to be moved")):
            with open(os.path.join(private, name), "w", encoding="utf-8") as file:
                file.write(text)
            os.chown(file.name, self.owner_of_private(world), self.owner_of_private(world))
        self.mallory(world, *self.kept_of_mallory())
        with self.whole(world, private):
            world.cairn("run", "--at", world.dir, "--drain", "never", "--", "touch",
                        f"{world.dir}/new")
            if not world.sticky:
                self.mallory(world, ("rename", "private", self.kept_name(world)))
            world.cairn("discard", world.dir, expect=None)
        self.assertFalse(os.path.exists(f"{world.dir}/brought"))

    @in_every_world
    def test_the_owner_of_the_directory_has_nothing_brought_into_a_closed_one(self, world):
        os.chown(world.dir, MALLORY, MALLORY)
        private = self.private(world)
        self.mallory(world, *self.kept_of_mallory())
        with self.whole(world, private):
            world.cairn("run", "--at", world.dir, "--drain", "never", "--", "touch",
                        f"{world.dir}/new")
            world.cairn("discard", world.dir, expect=None)

    @in_every_world
    def test_a_closed_directory_does_not_become_that_of_the_records(self, world):
        """Mode and owner alone do not make it Cairn's. Empty directories in it stay, too."""
        private = self.private(world)
        with self.whole(world, private):
            run = Run(self, world, "echo mine > new")
            if not world.sticky:
                self.mallory(world, ("rename", "private", ".cairn"))
            run.end(None)
        self.assertEqual(self.read(f"{world.dir}/new"), "mine\n")

    # --- directories that change places ---
    def change_and_exchange(self, world, change, operations, gone=(), told=True):
        """The run changes a directory, Mallory puts a private one in its place, and the drain
        reports a conflict."""
        private = self.private(world)
        with self.whole(world, private):
            run = Run(self, world, change)
            if world.sticky:
                run.end()
                return
            self.mallory(world, *operations)
            inode = {name: os.lstat(os.path.join(world.dir, name)) for name in gone}
            said = run.end(1 if told else None)
            if told:
                self.assertIn("opened", said)
            for name, st in inode.items():
                now = os.lstat(os.path.join(world.dir, name))
                self.assertEqual((now.st_ino, now.st_mode, now.st_uid),
                                 (st.st_ino, st.st_mode, st.st_uid))

    @in_every_world
    def test_a_closed_directory_does_not_get_the_mode_of_another(self, world):
        self.directory(world, "opened")
        self.change_and_exchange(world, "chmod 0777 opened", [("exchange", "opened", "private")],
                                 ["private"])

    @in_every_world
    def test_a_closed_directory_does_not_get_the_owner_of_another(self, world):
        self.directory(world, "opened")
        give = f"chown {MALLORY}:{MALLORY} opened" if world.runner == ROOT else "chmod 0711 opened"
        self.change_and_exchange(world, give, [("exchange", "opened", "private")], ["private"])

    @in_every_world
    def test_a_closed_directory_does_not_get_the_mode_of_one_that_the_run_makes(self, world):
        give = f"; chown {MALLORY}:{MALLORY} opened" if world.runner == ROOT else ""
        self.change_and_exchange(world, "mkdir opened; chmod 0777 opened" + give,
                                 [("rename", "private", "opened")], told=False)

    @in_every_world
    def test_nothing_is_written_into_a_closed_directory_in_the_place_of_another(self, world):
        self.directory(world, "opened")
        self.change_and_exchange(world, "echo new > opened/new; rm opened/file",
                                 [("exchange", "opened", "private")], ["private"])

    @in_every_world
    def test_nothing_is_written_into_a_closed_directory_above(self, world):
        self.directory(world, "opened")
        self.directory(world, "opened/sub")
        self.change_and_exchange(world, "echo new > opened/sub/new",
                                 [("exchange", "opened", "private")], ["private"])

    @in_every_world
    def test_a_closed_directory_in_the_place_of_a_removed_one_stays_whole(self, world):
        self.directory(world, "doomed")
        private = self.private(world)
        with self.whole(world, private):
            run = Run(self, world, "rm -r doomed")
            if world.sticky:
                run.end()
                return
            self.mallory(world, ("exchange", "doomed", "private"))
            self.assertIn("doomed", run.end(1))

    # --- races ---
    def race(self, world, script, step, check, prepare=lambda: None, check_end=lambda: None):
        """Drains the results of `script` again and again while Mallory calls `step` in a loop.
        Calls prepare() before each drain, check() during it and check_end() after it."""
        begun = time.monotonic()
        for number in range(1 if world.sticky else MOST_DRAINS):
            if time.monotonic() > begun + RACE_S:
                break
            prepare()
            run = Run(self, world, script.replace("NUMBER", str(number)))
            racer = start_racing(world.dir, step)
            try:
                run.go()
                while run.process.poll() is None:
                    check()
            finally:
                end_racing(racer)
            said = run.end(None)
            self.assertIn(run.process.returncode, (0, 1), said)
            check()
            check_end()
            world.cairn("discard", world.dir, expect=None)

    @in_every_world
    def test_no_other_file_is_linked_in_the_place_of_a_new_one(self, world):
        path = self.file(world, "private", self.owner_of_private(world))
        held = os.open(path, os.O_RDONLY)
        self.addCleanup(os.close, held)

        def check():
            self.assertLessEqual(os.fstat(held).st_nlink, 1, "a private file has got another name")

        link = "import os; [os.link('a-NUMBER', f'b-NUMBER-{i}') for i in range(500)]"

        def step():
            # Back immediately: a drain that has seen another file there stops linking to that name.
            name = max((name for name in os.listdir(".") if name.startswith("a-")),
                       key=lambda name: int(name[2:]))
            for _ in range(50):
                planted.exchange(name, "private")
                planted.exchange(name, "private")
                time.sleep(0.00005)

        with self.unharmed(world):
            self.race(world, f'echo one > a-NUMBER; {PYTHON} -S -c "{link}"', step, check)

    @in_every_world
    def test_no_other_directory_is_removed_in_the_place_of_one_that_was(self, world):
        pairs = [(f"doomed-{number}", f"private-{number}") for number in range(8)]

        def step():
            for pair in pairs:
                planted.exchange(*pair)

        begun = time.monotonic()
        for number in range(1 if world.sticky else MOST_DRAINS):
            if time.monotonic() > begun + RACE_S:
                break
            before = {}
            for doomed, private in pairs:
                self.directory(world, doomed, files=[f"f{i}" for i in range(30)])
                before.update(inodes_below(self.private(world, private)))
            with self.unharmed(world):
                run = Run(self, world, "rm -r doomed-*")
                racer = start_racing(world.dir, step)
                try:
                    run.end(None)
                finally:
                    end_racing(racer)
                after = inodes_below(world.dir)
                for inode, what in before.items():
                    self.assertEqual(after.get(inode), what, f"in drain {number}")
            world.cairn("discard", world.dir, expect=None)
            for name in os.listdir(world.dir):
                shutil.rmtree(os.path.join(world.dir, name))

    @in_every_world
    def test_no_other_file_is_given_away_in_the_place_of_a_new_one(self, world):
        """Only root can give files away; a run of a user could still change the mode."""
        names = [f"private-{number}" for number in range(40)]
        held = []
        self.addCleanup(lambda: [os.close(fd) for fd in held])

        def prepare():  # an exchange during a drain can leave them under other names
            while held:
                os.close(held.pop())
            for name in names:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(os.path.join(world.dir, name))
                held.append(os.open(self.file(world, name, world.runner), os.O_RDONLY))

        def check():
            for fd in held:
                st = os.fstat(fd)
                self.assertEqual((st.st_uid, st.st_gid, stat.S_IMODE(st.st_mode)),
                                 (world.runner, world.runner, 0o600))

        give = (
            f"os.lchown(p, {MALLORY}, {MALLORY}), os.lchown(s, {MALLORY}, {MALLORY})"
            if world.runner == ROOT
            else "0"
        )
        make = (
            f"import os; os.umask(0); [(os.mkfifo(p, 0o666), os.symlink('x', s), {give}) for p, s"
            " in ((f'p-NUMBER-{i}', f's-NUMBER-{i}') for i in range(200))]"
        )

        left = list(names)  # each racing process has a copy of its own

        def step():
            aside = next(name for name in os.listdir(".") if name.startswith(".cairn-drain-"))
            for _ in range(500):
                with contextlib.suppress(OSError):
                    planted.exchange(aside, left[-1])
                    left.pop()

        with self.unharmed(world):
            self.race(world, f'{PYTHON} -S -c "{make}"', step, check, prepare)

    def pairs(self, world, uid, count, times):
        """Files a-N of the victim's and b-N of another user. Returns descriptors of the latter, a
        function that creates all of them anew, and one that exchanges them."""
        held = []
        self.addCleanup(lambda: [os.close(fd) for fd in held])

        def prepare():
            while held:
                os.close(held.pop())
            for name in os.listdir(world.dir):
                os.unlink(os.path.join(world.dir, name))
            for number in range(count):
                self.file(world, f"a-{number}", world.runner, text="one\n")
                held.append(
                    os.open(self.file(world, f"b-{number}", uid, text="other\n"), os.O_RDONLY))

        def step():
            for number in range(count):
                for _ in range(times):
                    with contextlib.suppress(OSError):
                        planted.exchange(f"a-{number}", f"b-{number}")

        return held, prepare, step

    @in_every_world
    def test_no_other_file_gets_the_mode_and_owner_of_a_changed_one(self, world):
        uid = self.owner_of_private(world)
        held, prepare, step = self.pairs(world, uid, 60, 6)

        def check():
            for fd in held:
                st = os.fstat(fd)
                self.assertEqual((st.st_uid, st.st_gid, stat.S_IMODE(st.st_mode)),
                                 (uid, uid, 0o600))

        give = f"; chown {MALLORY}:{MALLORY} a-*" if world.runner == ROOT else ""
        with self.unharmed(world):
            self.race(world, "chmod 0666 a-*" + give, step, check, prepare)

    @in_every_world
    def test_no_file_gets_the_access_list_of_another_one(self, world):
        """A file inherits the access list of the file that it replaces, not that of one in its
        place."""
        count = 6
        held, prepare, _ = self.pairs(world, MALLORY, count, 0)

        def step():
            # Mallory's file takes the place while the drain copies, and leaves it when the access
            # list has been copied.
            aside = next(name for name in os.listdir(".") if name.startswith(".cairn-drain-"))
            number = os.stat(aside).st_size // MANY - 1
            planted.exchange(f"a-{number}", f"b-{number}")
            with contextlib.suppress(OSError):
                while not os.listxattr(aside):
                    pass
            planted.exchange(f"a-{number}", f"b-{number}")

        # Entries for the owner, user Mallory, the group, the mask and others.
        acl = struct.pack("<I", 2) + b"".join(
            struct.pack("<HHI", *entry)
            for entry in ((1, 6, 0xffffffff), (2, 6, MALLORY), (4, 0, 0xffffffff),
                          (16, 6, 0xffffffff), (32, 0, 0xffffffff)))

        def prepare_lists():
            prepare()
            for fd in held:
                try:
                    os.setxattr(fd, "system.posix_acl_access", acl)
                except OSError as error:
                    self.skipTest(f"no access lists: {error}")

        def check():
            for name in os.listdir(world.dir):
                path = os.path.join(world.dir, name)
                with contextlib.suppress(OSError):
                    if name.startswith(("a-", "b-")) and os.lstat(path).st_uid == world.runner:
                        self.assertNotIn("system.posix_acl_access",
                                         os.listxattr(path, follow_symlinks=False),
                                         f"{name} of the victim")

        with self.unharmed(world):
            write = f"head -c $(({MANY} * (i + 1))) /dev/zero | tr '\\0' x > a-$i"
            self.race(world, f"i=0; while [ $i -lt {count} ]; do {write}; i=$((i + 1)); done", step,
                      lambda: time.sleep(0.001), prepare_lists, check)


if __name__ == "__main__":
    trust_case.main()
