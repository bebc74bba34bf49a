"""A fuzzer over everything that other users can plant in a covered directory
(docs/design/trust.md).

Each round draws a plan for Mallory and for the victim: plants before, a program, an end of the run,
and plants meanwhile. An oracle then compares three things with their state before the round:
the world outside the directory, private files of others in it, and the victim's own files.
CAIRN_SEED=S CAIRN_ROUND=N repeats round N of seed S. Only times and the pool's uuid differ then.
"""

import contextlib
import json
import os
import random
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time

import planted
from trust_case import MALLORY, ROOT, THIRD, VICTIM, TrustCase, World, cairn_case

HANG_S = 20
MOST_MEMORY = 1 << 30
CODES = {0, 1, 2}  # documented exit codes; no signal ends the victim's commands here
RENDEZVOUS_S = 15
# Any user can start this one. The Python of the tests may lie in root's home.
PYTHON = shutil.which("python3", path="/usr/bin:/bin:/usr/local/bin") or sys.executable

# The victim's program. It records failed steps, and follows no links itself.
PROGRAM = r'''
import json, os, shutil, stat, sys, time
steps, meet = json.loads(sys.argv[1]), sys.argv[2]
failed, written = [], []
def below(path):
    at = ""
    for part in path.split("/")[:-1]:
        at = at + part + "/"
        if stat.S_ISLNK(os.lstat(at[:-1]).st_mode):
            raise OSError(40, "a link", at)
def view():
    found = {}
    for top in written:
        inside = (os.path.join(at, name) for at, _, names in os.walk(top) for name in names)
        for path in [top, *inside]:
            try:
                below(path)
                if stat.S_ISREG(os.lstat(path).st_mode):
                    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
                    found[path] = os.read(fd, 1 << 20).decode(errors="replace")
                    os.close(fd)
            except OSError:
                pass
    return found
def tell():
    with open(meet + "/view.new", "w") as file:
        json.dump({"view": view(), "failed": failed}, file)
    os.rename(meet + "/view.new", meet + "/view")
for word, *a in steps:
    try:
        if word != "wait":
            if word in ("rename", "link"):
                paths = a[:2]
            else:
                paths = a[1:] if word == "symlink" else a[:1]
            for path in paths:
                below(path)
        if word == "write":
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_NONBLOCK
            fd = os.open(a[0], flags, 0o644)
            os.write(fd, a[1].encode())
            os.close(fd)
        elif word == "wait":
            tell()
            open(meet + "/ready", "w").close()
            end = time.time() + 15
            while not os.path.exists(meet + "/go") and time.time() < end:
                time.sleep(0.002)
        elif word == "chmod":
            below(a[0] + "/x")
            os.chmod(*a)
        elif word == "chown":
            os.lchown(*a)
        elif word == "fifo":
            os.mkfifo(a[0])
        elif word == "symlink":
            os.symlink(*a)
        elif word == "rmtree":
            shutil.rmtree(a[0])
        else:
            getattr(os, word)(*a)
        if word in ("write", "rename", "link"):
            written.append(a[-1] if word != "write" else a[0])
    except OSError as error:
        failed.append([word, *a, error.strerror])
tell()
'''


def program_of(rng, runner, with_wait):
    """Parts with names of their own. All steps of a part succeed unless Mallory touches its
    names."""
    parts = [[("write", "new1", "1"), ("write", "new2", "2" * 200)],
             [("write", "a", "overwritten")],
             [("rename", "log", "log.1"), ("write", "log", "begun anew")],
             [("write", "work/fresh", "f"), ("write", "work/keep", "changed"),
              ("chmod", "work", rng.choice([0o777, 0o700]))], [("rmtree", "doomed")],
             [("unlink", "b")],
             [("mkdir", "out"), ("write", "out/x", "x"), ("mkdir", "out/in"),
              ("write", "out/in/y", "y"), ("chmod", "out", 0o777)],
             rng.choice([[("write", "shut/t", "t")], [("rename", "shut", "shut2")],
                         [("rename", "shut/s", "opened")],
                         [("rename", "shut/s", "shut/s.1"), ("write", "shut/s", "begun anew")]]),
             [("fifo", "pipe"), ("symlink", "a", "sym")],
             [("write", "h1", "linked"), ("link", "h1", "h2"), ("link", "h1", "h3")],
             [("rename", "c", "tmp"), ("rename", "d", "c"), ("rename", "tmp", "d")],
             [("unlink", "e"), ("mkdir", "e"), ("write", "e/in", "in")],
             [("rmtree", "f"), ("write", "f", "a file")],
             [("rename", "g", "t"), ("mkdir", "g"), ("rename", "t", "g/g")],
             [("rename", "tree", "tree2"), ("write", "tree2/more", "m")], ]
    if runner == ROOT:
        parts += [[("write", "given", "g"), ("chown", "given", THIRD, THIRD), ("mkdir", "gift"),
                   ("write", "gift/x", "x"), ("chown", "gift", THIRD, THIRD)],
                  [("fifo", "pipe2"), ("chown", "pipe2", THIRD, THIRD), ("symlink", "a", "sym2"),
                   ("chown", "sym2", THIRD, THIRD)]]
    chosen = rng.sample(parts, rng.randrange(1, 8))
    if with_wait:
        chosen.insert(rng.choice([0, len(chosen), len(chosen)]), [("wait",)])
    return chosen


PRIVATE = ("priv_v", "priv_t", "priv_r", "file_t", "file_v")
FILES = ("a", "b", "c", "d", "e", "g", "log", "log.1", "work/keep", "work/old")
DIRECTORIES = ("work", "doomed", "f", "tree", "shut")
PROGRAM_NAMES = ("new1", "new2", "out", "out/x", "pipe", "h1", "h2", "log.1", "shut2", "tmp", "t",
                 "given", "gift", "tree2", "work/fresh", "a.new", "opened")
SWAPS = (("work", "priv_v"), ("work", "priv_t"), ("doomed", "priv_v"), ("doomed", "priv_t"),
         ("shut", "priv_t"), ("shut", "priv_v"), ("shut", "work"), ("f", "priv_v"), ("e", "file_t"),
         ("a", "file_t"), ("b", "file_v"), ("log", "file_t"), ("c", "priv_r"), ("tree", "priv_r"),
         ("out", "priv_t"), ("work", "doomed"), ("g", "file_v"), ("log", "log.1"))

RACES = (("work", "priv_v"), ("work", "priv_t"), ("doomed", "priv_v"), ("shut", "work"), ("tree",
                                                                                          "priv_r"))


class Finding(Exception):
    def __init__(self, kind, text):
        super().__init__(f"{kind}: {text}")
        self.kind, self.text = kind, text


def become_mallory(directory):
    os.setgroups([])
    os.setresgid(MALLORY, MALLORY, MALLORY)
    os.setresuid(MALLORY, MALLORY, MALLORY)
    os.umask(0)
    os.chdir(directory)


def as_mallory(directory, work):
    """Calls `work` as Mallory in the directory. Returns its result."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        with contextlib.suppress(BaseException):
            os.close(read)
            become_mallory(directory)
            os.write(write, json.dumps(work()).encode())
            code = 0
        os._exit(code)
    os.close(write)
    with os.fdopen(read, "rb") as file:
        answer = file.read()
    _, code = os.waitpid(child, 0)
    if code != 0:
        raise AssertionError(f"Mallory could not do his work ({code})")
    return json.loads(answer)


def start_racing(directory, step):
    """Starts a process of Mallory's that calls `step` in a loop. Returns its id."""
    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException):
            become_mallory(directory)
            end = time.monotonic() + 2 * HANG_S  # should nobody end it
            while time.monotonic() < end:
                with contextlib.suppress(OSError, LookupError, StopIteration, ValueError):
                    step()
        os._exit(0)
    return child


def end_racing(child):
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def look_at(path):
    """Attributes of one name, and its contents, target or entries. Follows no link and opens no
    FIFO."""
    st = os.lstat(path)
    contents = sorted(os.listdir(path)) if stat.S_ISDIR(st.st_mode) else None
    if stat.S_ISREG(st.st_mode):
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
        contents = os.read(fd, 1 << 16)
        os.close(fd)
    elif stat.S_ISLNK(st.st_mode):
        contents = os.readlink(path)
    return st, contents


def names_below(top):
    """Paths of a directory and everything below it, as far as paths are short: Mallory makes deep
    trees."""
    yield top
    for at, directories, files in os.walk(top):
        if len(at) > 600:
            directories.clear()
        for name in [*directories, *files]:
            yield os.path.join(at, name)


def remove_below(top):
    for name in os.listdir(top):
        path = os.path.join(top, name)
        # shutil.rmtree recurses; rm removes trees of any depth.
        if os.path.isdir(path) and not os.path.islink(path):
            subprocess.run(["rm", "-rf", path], check=True)
        else:
            os.unlink(path)


class FuzzWorld(World):
    def __init__(self, case, sticky, runner):
        super().__init__(case, sticky, runner)
        for uid, name in ((ROOT, "open_of_root"), (VICTIM, "open_of_victim"), (THIRD,
                                                                               "open_of_third")):
            path = self.private(os.path.join(self.outside, name), uid)
            os.chmod(path, 0o755)
            self.file(os.path.join(path, "public"), "for anybody\n", uid, 0o644)
            self.file(os.path.join(path, "listed"), f"only {uid} may read this\n", uid, 0o600)
        os.chmod(self.outside, 0o755)
        self.free = os.path.join(self.top, "free")
        self.file(self.free, "for anybody to write\n", VICTIM, 0o666)
        # Targets of hard links. The kernel allows only the first one if protected_hardlinks is set.
        self.hard = [
            self.free,
            os.path.join(self.outside, "open_of_root", "public"),
            os.path.join(self.outside, "open_of_third", "listed")
        ]
        self.meet = os.path.join(self.top, "meet")
        os.mkdir(self.meet)
        os.chown(self.meet, runner, runner)

    @staticmethod
    def file(path, contents, uid, mode):
        with open(path, "w", encoding="utf-8") as file:
            file.write(contents)
        os.chmod(path, mode)
        os.chown(path, uid, uid)

    def furnish(self, owner):
        """Fills the covered directory: files of the victim, and private ones of others."""
        remove_below(self.dir)
        remove_below(self.meet)
        shutil.rmtree(self.memory)
        os.mkdir(self.memory)
        os.chmod(self.memory, 0o1777)
        os.chown(self.dir, owner, owner)
        os.chmod(self.dir, 0o1777 if self.sticky else 0o777)
        for name in DIRECTORIES:
            os.makedirs(os.path.join(self.dir, name, "sub"))
            self.file(os.path.join(self.dir, name, "sub", "deep"), f"deep in {name}\n", self.runner,
                      0o644)
        os.chmod(os.path.join(self.dir, "shut"), 0o700)
        self.file(os.path.join(self.dir, "shut", "s"), f"only {self.runner} may read this\n",
                  self.runner, 0o600)
        for name in (*FILES, "doomed/one", "f/one", "tree/one"):
            self.file(os.path.join(self.dir, name), f"{name} of the victim\n", self.runner, 0o644)
        for name in DIRECTORIES:
            for path in names_below(os.path.join(self.dir, name)):
                os.chown(path, self.runner, self.runner)
        for name, uid in (("priv_v", VICTIM), ("priv_t", THIRD), ("priv_r", self.runner)):
            os.mkdir(os.path.join(self.private(os.path.join(self.dir, name), uid), "empty"))
            os.chown(os.path.join(self.dir, name, "empty"), uid, uid)
        for name, uid in (("file_t", THIRD), ("file_v", VICTIM)):
            self.file(os.path.join(self.dir, name), f"only {uid} may read this\n", uid, 0o600)

    def ground(self):
        outside = [os.path.join(self.outside, name) for name in sorted(os.listdir(self.outside))]
        ground = planted.Ground(self.dir, outside, self.hard, FILES, DIRECTORIES, PRIVATE,
                                PROGRAM_NAMES, SWAPS)
        home = self.home(MALLORY)
        os.chmod(home, 0o755)  # others can read Mallory's pool
        ground.cairn, ground.environment = [self.case.cairn_copy
                                            ], dict(self.case.env, HOME=home, CAIRN_POOL_DIR=home)
        ground.pool_of_mallory = os.path.join(home, "default")
        return ground

    def end(self):
        remove_below(self.dir)
        super().end()

    def look(self, top=None):
        found = {}
        for path in names_below(top or self.outside):
            st, contents = look_at(path)  # of a huge file only its begin
            found[path] = (oct(st.st_mode), st.st_uid, st.st_gid, st.st_nlink, contents)
        return found

    def state_outside(self):
        """Like World.look, with times: a change that was undone still moves the ctime."""
        found = {}
        for path in [self.free, *names_below(self.outside)]:
            st, contents = look_at(path)
            # Mallory and drains add and remove links to these.
            names = () if path in self.hard else (st.st_nlink, st.st_ctime_ns)
            found[path] = (st.st_ino, oct(st.st_mode), st.st_uid, st.st_gid, st.st_mtime_ns, *names,
                           contents)
        return found

    def state_of_private(self):
        """Inode -> name and attributes of each private file. Mallory can rename the outermost
        ones."""
        found = {}
        for name in PRIVATE:
            for path in names_below(os.path.join(self.dir, name)):
                st, contents = look_at(path)
                # Mallory's rename moves the ctime of the outermost
                inner = os.path.dirname(path) != self.dir
                found[st.st_ino] = (os.path.relpath(path,
                                                    self.dir), self.fields(st, contents, inner))
        return found

    @staticmethod
    def fields(st, contents, inner):
        return (oct(st.st_mode), st.st_uid, st.st_gid, st.st_nlink, st.st_mtime_ns,
                st.st_ctime_ns if inner else 0, contents)

    def start(self, words):
        home = self.home(self.runner)
        uid = self.runner
        # A command that reads without an end must fail before it takes all memory.
        return subprocess.Popen([
            *cairn_case.limited("data", MOST_MEMORY), "setpriv", f"--reuid={uid}", f"--regid={uid}",
            "--clear-groups", self.case.cairn_copy, *words
        ], cwd=self.dir, env=dict(self.case.env, HOME=home, CAIRN_POOL_DIR=home),
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, start_new_session=True)


class Round:
    """Draws one plan, carries it out, and checks the result."""

    def __init__(self, world, rng):
        self.world, self.rng = world, rng
        self.log = []
        self.touched = set()
        self.said = ""
        self.has_linked = False
        self.owner = rng.choice([ROOT, ROOT, MALLORY])
        self.scenario = rng.choice([
            "true", "bare", "work", "work", "waiting", "waiting", "waiting", "kept", "kept",
            "killed", "killed"
        ])
        self.racer = 0

    # --- Mallory ---
    def plant(self, kinds, most):
        world = self.world
        ground = world.ground()
        ground.claim = planted.read_claim(world.dir)
        operations = planted.draw(self.rng, ground, kinds, most)
        done = as_mallory(world.dir, lambda: planted.perform(operations))
        for number in done:
            operation = operations[number]
            self.log.append(
                f"planted {operation[:2] if operation[0] == 'command' else operation!r}")
            self.touched.update(planted.paths_of(operation))
            self.has_linked = self.has_linked or operation[0] == "link"
        self.expected_planted = self.state_of_planted()
        # Mallory may have planted something there through a link.
        own = os.path.join(world.outside, "of_mallory")
        self.outside = {path: was for path, was in self.outside.items() if not path.startswith(own)}
        self.outside.update(
            (path, now) for path, now in world.state_outside().items() if path.startswith(own))

    def state_of_planted(self):
        """Attributes of Mallory's files under names of Cairn's. None of them counts, so all must
        stay."""
        found = {}
        for name in os.listdir(self.world.dir):
            if not name.startswith(".cairn"):
                continue
            for path in names_below(os.path.join(self.world.dir, name)):
                st, contents = look_at(path)
                if st.st_uid == MALLORY:
                    found[os.path.relpath(path,
                                          self.world.dir)] = (st.st_ino, oct(st.st_mode),
                                                              st.st_mtime_ns, st.st_nlink, contents)
        return found

    def race(self, pair):
        """Mallory exchanges two directories in a loop."""
        self.racer = start_racing(self.world.dir, lambda: planted.exchange(*pair))
        self.log.append(f"exchanges {pair} in a loop")
        self.touched.update(pair)

    def end_race(self):
        if self.racer:
            end_racing(self.racer)
            self.racer = 0

    # --- the victim ---
    def end(self, process, words):
        try:
            out, err = process.communicate(timeout=HANG_S)
        except subprocess.TimeoutExpired:
            self.kill(process)
            raise Finding("hang",
                          f"cairn {' '.join(words[:3])} did not end in {HANG_S} s") from None
        said = (out + err).decode(errors="replace")
        self.said += said
        self.log.append(
            f"cairn {' '.join(words[:3])} ends with {process.returncode}: {said.strip()}")
        return process.returncode

    @staticmethod
    def kill(process):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()

    def command(self, *words):
        code = self.end(self.world.start(words), words)
        if code not in CODES:
            raise Finding("crash" if code < 0 or code > 128 else "exit code",
                          f"cairn {' '.join(words[:3])} ends with {code}")
        if code != 0 and not self.said.strip():
            raise Finding("silence",
                          f"cairn {' '.join(words[:3])} ends with {code} and says nothing")
        return code

    def words_of_work(self, *options, wait=False):
        self.parts = program_of(self.rng, self.world.runner, wait)
        self.steps = steps = [step for part in self.parts for step in part]
        self.log.append(f"the program does {steps}")
        return ["run", "--at", self.world.dir, *options, "--",
                PYTHON, "-S", "-E", "-c", PROGRAM, json.dumps(steps), self.world.meet]

    def at_rendezvous(self, process):
        end = time.time() + RENDEZVOUS_S
        while not os.path.exists(os.path.join(self.world.meet, "ready")):
            if process.poll() is not None:
                return False
            if time.time() > end:
                self.kill(process)
                raise Finding("hang", "the program does not get to its middle")
            time.sleep(0.005)
        return True

    def go(self):
        open(os.path.join(self.world.meet, "go"), "w", encoding="utf-8").close()

    # --- the round ---
    def run(self):
        """Yields findings."""
        world, rng = self.world, self.rng
        world.furnish(self.owner)
        self.log.append(
            f"sticky {world.sticky}, runner {world.runner}, the directory is {self.owner}'s,"
            f" {self.scenario}"
        )
        self.parts, self.steps = [], []
        self.expected_planted = {}
        self.inodes = {os.lstat(path).st_ino for path in names_below(world.dir)}
        self.landscape = {
            os.path.relpath(path, world.dir): look_at(path)
            for path in names_below(world.dir)
        }
        private = world.state_of_private()
        self.outside = world.state_outside()
        try:
            if rng.random() < (0.5 if self.scenario == "waiting" else
                               0.9 if self.scenario in ("true", "bare", "work") else 0.3):
                self.plant(planted.BEFORE, 4)
            discarded, code = getattr(self, "do_" + self.scenario)()
        except Finding as finding:
            yield finding
            discarded, code = True, 1
        finally:
            self.end_race()
        checks = (lambda: self.compare("outside changed", self.outside, world.state_outside()),
                  lambda: self.check_private(private), self.check_leaks, self.check_owners,
                  self.check_planted, self.check_bystanders,
                  lambda: self.check_written(discarded, code))
        for check in checks:
            try:
                check()
            except Finding as finding:
                yield finding

    def do_true(self):
        return True, self.command("run", "--at", self.world.dir, "--", "true")

    def do_bare(self):
        at = self.world.dir
        return True, self.command(*self.rng.choice([("drain", at), (
            "discard", at), ("discard", "--force",
                             at), ("status", ), ("run", "--at", at, "--fresh", "--", "true")]))

    def do_work(self):
        return False, self.command(*self.words_of_work())

    def do_waiting(self):
        words = self.words_of_work(wait=True)
        process = self.world.start(words)
        if self.at_rendezvous(process):
            self.plant(planted.MEANWHILE, 4)
            if self.rng.random() < 0.2:
                self.race(self.rng.choice(RACES))
            self.go()
        code = self.end(process, words)
        if code not in CODES:
            raise Finding("crash" if code < 0 or code > 128 else "exit code",
                          f"cairn run ends with {code}")
        return False, code

    def do_kept(self):
        code = self.command(*self.words_of_work("--drain", "never"))
        self.plant(planted.MEANWHILE, 5)
        if self.rng.random() < 0.3:
            self.command("status")
        last = self.rng.choice(["drain", "drain", "drain", "discard", "run", "fresh"])
        if last == "run":
            code = self.command("run", "--at", self.world.dir, "--", "true")
        elif last == "fresh":
            return True, self.command("run", "--at", self.world.dir, "--fresh", "--", "true")
        else:
            code = self.command(last, self.world.dir)
        return last == "discard", code

    def do_killed(self):
        words = self.words_of_work(wait=True)
        process = self.world.start(words)
        if self.at_rendezvous(process):
            if self.rng.random() < 0.5:
                self.go()
                time.sleep(self.rng.random() * 0.06)
        self.kill(process)
        self.log.append("killed")
        self.plant(planted.MEANWHILE, 4)
        if self.rng.random() < 0.3:
            self.command("status")
        last = self.rng.choice(["run", "run", "drain", "discard"])
        code = self.command("run", "--at", self.world.dir, "--",
                            "true") if last == "run" else self.command(last, self.world.dir)
        return True, code

    # --- checks ---
    @staticmethod
    def compare(kind, before, after):
        for path in sorted({*before, *after}, key=str):
            if before.get(path) != after.get(path):
                raise Finding(kind, f"{path}: was {before.get(path)}, is {after.get(path)}")

    def check_private(self, before):
        found, names = {}, {}
        for path in names_below(self.world.dir):
            st, contents = look_at(path)
            if st.st_ino in before:
                name, fields = before[st.st_ino]
                found[st.st_ino] = (name, self.world.fields(st, contents, fields[5] != 0))
                names.setdefault(st.st_ino, []).append(os.path.relpath(path, self.world.dir))
        for inode, (name, fields) in before.items():
            if inode not in found:
                raise Finding("private thing lost", f"{name} is nowhere any more")
            if found[inode][1] != fields:
                raise Finding("private thing changed",
                              f"{name} was {fields}, is {found[inode][1]} as {names[inode]}")

    def check_leaks(self):
        world = self.world
        leaked = world.secrets_that_leaked()
        if leaked or "may read this" in self.said:
            raise Finding("secret leaked", f"in {leaked or 'what was said'}")
        if world.privileged():
            found = [(path, os.lstat(path)) for path in world.privileged()]
            raise Finding("set-ID file",
                          f"{[(path, oct(st.st_mode), st.st_uid) for path, st in found]}")

    def check_owners(self):
        world = self.world
        given = {uid for step in self.steps if step[0] == "chown" for uid in step[2:]}
        if self.has_linked:  # a file written under the name of such a link keeps its owner
            given.update(os.lstat(path).st_uid for path in world.hard)
        hard = {os.lstat(path).st_ino for path in world.hard}
        for path in names_below(world.dir):
            st = os.lstat(path)
            if st.st_ino not in {*self.inodes, *hard
                                 } and st.st_uid not in {world.runner, MALLORY, *given}:
                raise Finding("foreign owner", f"{path} is {st.st_uid}'s")

    def check_planted(self):
        after = self.state_of_planted()
        is_ended = self.world.runner == ROOT and any(
            line.startswith("planted ('command'") for line in self.log)
        for path, was in self.expected_planted.items():
            # A claim that names the victim's pool is replaced by the victim's own. Root may end a
            # cover of Mallory's, which `cairn discard` and `cairn drain` do with her rights.
            name = os.path.basename(path)
            if after.get(path) != was and name != ".cairn-claim" and not (
                    is_ended and name.startswith(".cairn-claim-of-")):
                raise Finding("planted thing changed", f"{path} was {was}, is {after.get(path)}")

    def is_touched(self, path):
        """Whether Mallory has touched the path, one above it or one below it."""
        return any(path == other or path.startswith(other + "/") or other.startswith(path + "/")
                   for other in self.touched)

    def is_disturbed(self, path):
        """Whether Mallory has touched the path or another name of the same part of the program."""
        names = [[name for step in part for name in step[1:] if isinstance(name, str)]
                 for part in self.parts]
        return self.is_touched(path) or any(
            any(self.is_touched(name) for name in part)
            for part in names if any(path == name or path.startswith(name + "/") for name in part))

    def check_bystanders(self):
        """Files that neither the program nor Mallory has named are the same as before."""
        world = self.world
        used = {path for step in self.steps for path in step[1:] if isinstance(path, str)}
        for path, (st, contents) in self.landscape.items():
            is_used = any(path == name or path.startswith(name + "/") or name.startswith(path + "/")
                          for name in used)
            if path == "." or path.split("/")[0] in PRIVATE or self.is_touched(path) or is_used:
                continue
            at = os.path.join(world.dir, path)
            if not os.path.lexists(at):
                raise Finding("bystander lost", path)
            now, now_contents = look_at(at)
            if stat.S_ISDIR(st.st_mode):
                # new names are allowed; missing ones are found by their own path
                now_contents = contents
            if (now.st_mode, now.st_uid, now.st_gid, now_contents) != (st.st_mode, st.st_uid,
                                                                       st.st_gid, contents):
                raise Finding("bystander changed",
                              f"{path}: {oct(now.st_mode)} of {now.st_uid}, {now_contents}")

    def check_written(self, discarded, code):
        """All steps of undisturbed parts succeeded, and DIR has the files that they wrote."""
        world = self.world
        try:
            with open(os.path.join(world.meet, "view"), encoding="utf-8") as file:
                told = json.load(file)
        except FileNotFoundError:
            return  # the program was not started: the cover was refused
        for step in told["failed"]:
            if not any(self.is_disturbed(path) for path in step[1:-1] if isinstance(path, str)):
                raise Finding("step failed", f"{step}, of which Mallory has touched nothing")
        if discarded:
            return
        claim = os.path.join(world.dir, ".cairn-claim")
        if code != 0 and os.path.lexists(claim) and os.lstat(claim).st_uid == MALLORY:
            # the directory is refused, by a name that Cairn needs; the error says whose it is
            return
        for path, contents in told["view"].items():
            if self.is_disturbed(path):
                continue
            at = os.path.join(world.dir, path)
            is_file = os.path.lexists(at) and stat.S_ISREG(os.lstat(at).st_mode)
            if not is_file or look_at(at)[1].decode(errors="replace") != contents[:1 << 16]:
                raise Finding("written file held up" if code != 0 else "written file lost",
                              f"{path}, of which Mallory has touched nothing")


class PlantedFuzz(TrustCase):
    """`fuzz` runs rounds for some seconds and reports each kind of finding with its first round."""

    def setUp(self):
        super().setUp()
        # In memory, because fsync is free there.
        self.scratch = tempfile.mkdtemp(prefix="cairn-trust-", dir="/dev/shm")
        os.chmod(self.scratch, 0o755)
        self.addCleanup(subprocess.run, ["rm", "-rf", self.scratch], check=False)
        self.worlds = {}
        self.addCleanup(self.end_worlds)

    def end_worlds(self):
        for world in self.worlds.values():
            world.end()

    def world_of(self, number):
        which = (number // 2 % 2 == 1, (ROOT, VICTIM)[number % 2])
        if which not in self.worlds:
            self.worlds[which] = FuzzWorld(self, *which)
        return which, self.worlds[which]

    def one_round(self, seed, number):
        which, world = self.world_of(number)
        one = Round(world, random.Random(f"{seed}-{number}"))
        findings = list(one.run())
        if findings:
            self.worlds.pop(which).end()
        return findings, one

    def fuzz(self, seconds, seed=None):
        seed = os.environ.get("CAIRN_SEED") or seed or str(random.SystemRandom().randrange(10**9))
        only = os.environ.get("CAIRN_ROUND")
        begun, number, found, counts = time.time(), 0, {}, {}
        if only is not None:
            number = int(only)
        while time.time() < begun + seconds:
            findings, one = self.one_round(seed, number)
            for finding in findings:
                counts[finding.kind] = counts.get(finding.kind, 0) + 1
                found.setdefault(finding.kind,
                                 (number, round(time.time() - begun, 1), finding, one))
            number += 1
            if only is not None:
                break
        print(f"{number} rounds, CAIRN_SEED={seed}", flush=True)
        report = "".join(
            f"\n--- {kind}, {counts[kind]} times, first after {after} s; repeat with"
            f" CAIRN_SEED={seed} CAIRN_ROUND={first}\n{finding}\n"
            + "\n".join(one.log)
            + "\n"
            for kind, (first, after, finding, one) in found.items()
        )
        if found:
            self.fail(report)
