"""Four ranks write one shared file a step, ten times what the pool holds: the steps are drained
while the program runs and evicted, and every byte is read back. Where the bytes lie is looked at
from outside. With every MPI that was found.

CAIRN_STEP_MIB: size of a step (4); the pool is four times as large."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

CAIRN = pathlib.Path(os.environ["CAIRN_BIN_DIR"]) / "cairn"
PROGRAMS = sorted((pathlib.Path(os.environ["CAIRN_TEST_DIR"]) / "mpi").glob("*/conformance"))
# As root Open MPI wants to be asked twice; ranks that have to share a processor must not spin on
# it.
ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1",
               "OMPI_MCA_btl": "self,vader"}
RANKS = 4
STEPS = 40
STEP_MIB = int(os.environ.get("CAIRN_STEP_MIB", "4"))
SIZE = STEP_MIB << 20
POOL = 4 * SIZE
PIECE = 64 << 10
SHIFTS = [bytes((value + by) % 256 for value in range(256)) for by in range(256)]
CYCLE = bytes(range(251)) * 34

if not PROGRAMS:
    print("no MPI was found when this was built")
    sys.exit(77)
memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
pools = tempfile.mkdtemp(prefix="cairn-steps-", dir=memory)
scratch = tempfile.mkdtemp(prefix="cairn-steps-")
failed = False


def expect(what, right, *more):
    global failed
    print(f"{what}: {'ok' if right else 'failed'}", *(() if right else more), flush=True)
    failed = failed or not right


def contents(step):
    """What many_steps.cc writes."""
    blocks = (CYCLE[block * 4096 % 251:][:4096].translate(SHIFTS[(step * 31 + block) % 256])
              for block in range(SIZE // 4096))
    return b"".join(blocks)


# a byte of each rank
CHANGED = [PIECE * ((rank + 1) % RANKS) + 1000 + rank for rank in range(RANKS)]


def changed(step):
    data = bytearray(contents(step))
    for at in CHANGED:
        data[at] = ord("N")
    return bytes(data)


def is_a_state(data, step):
    """The file as it was at some moment: each rank's byte is the old or the new one."""
    data = bytearray(data)
    for at in CHANGED:
        if len(data) == SIZE and data[at] == ord("N"):
            data[at] = contents(step)[at]
    return bytes(data) == contents(step)


class Job:
    """A run of one part of the program, which stops where it shows something."""

    def __init__(self, program, part, *options):
        self.name = f"{program.parent.name}, {part} {' '.join(options)}"
        self.directory = pathlib.Path(
            tempfile.mkdtemp(prefix=f"{program.parent.name}-", dir=scratch))
        self.place = tempfile.mkdtemp(prefix="place-", dir=scratch)
        self.env = {
            **os.environ,
            **ENVIRONMENT, "CAIRN_POOL_DIR": tempfile.mkdtemp(prefix="pools-", dir=pools),
            "CAIRN_STEPS_PLACE": self.place, "CAIRN_STEPS": str(STEPS),
            "CAIRN_STEP_MIB": str(STEP_MIB)
        }
        launcher = shutil.which(f"mpirun.{program.parent.name}") or "mpirun"
        self.run = subprocess.Popen([
            CAIRN, "run", "--at", ".", "--pool-size",
            str(POOL), *options, "--", launcher, "-n",
            str(RANKS), program, part
        ], cwd=self.directory, env=self.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                    text=True, errors="replace", start_new_session=True)

    def cairn(self, *words):
        return json.loads(
            subprocess.run([CAIRN, *words, "--json"], env=self.env, check=True,
                           capture_output=True).stdout)

    def reaches(self, what):
        """The ranks wait until it is let_go()."""
        deadline = time.time() + 200
        while not os.path.exists(os.path.join(self.place, what)):
            if self.run.poll() is not None or time.time() > deadline:
                expect(f"{self.name}: reaches {what}", False)
                return False
            time.sleep(0.01)
        return True

    def let_go(self, what):
        pathlib.Path(self.place, what + "-seen").touch()

    def files(self):
        """Steps whose bytes are in the pool, evicted ones, and the bytes in use there."""
        cover, = [one["path"] for one in self.cairn("ls", "/.covers") if one["type"] == "directory"]
        found = [
            one for one in self.cairn("ls", cover)
            if os.path.basename(one["path"]).startswith("step-")
        ]
        number = {one["path"]: int(one["path"].rsplit("-", 1)[1]) for one in found}
        here = sorted(number[one["path"]] for one in found if not one["lazy"])
        evicted = sorted(number[one["path"]] for one in found if one["evicted"])
        return here, evicted, self.cairn("pool", "info")["used_bytes"]

    def in_lower(self, step):
        """Its bytes in the covered directory, which this process sees without Cairn; None: it is
        not there."""
        try:
            return (self.directory / f"step-{step}").read_bytes()
        except FileNotFoundError:
            return None

    def ends(self):
        try:
            out, _ = self.run.communicate(timeout=200)
        except subprocess.TimeoutExpired:
            os.killpg(self.run.pid, signal.SIGKILL)
            out, _ = self.run.communicate()
        expect(f"{self.name}: ends", self.run.returncode == 0, self.run.returncode, out[-4000:])
        left = [name for name in os.listdir(self.directory) if not name.startswith("step-")]
        expect(f"{self.name}: leaves nothing but its files", not left, left)


def was_written_so_far(data, whole):
    """What lower may have of a file that a rank had open when it was drained: some of its bytes,
    and zeros."""
    if data is None or data == whole:
        return True
    return len(data) <= len(whole) and all(
        one == two or not any(one) or all(byte in (0, right) for byte, right in zip(one, two))
        for one, two in ((data[at:at + 4096], whole[at:at + 4096][:len(data) - at])
                         for at in range(0, len(data), 4096)))


def look(job, what, steps):
    """Each step lies in the pool or has gone, and then lower has all of it."""
    here, evicted, used = job.files()
    expect(f"{job.name}: {what}: each step has its place",
           sorted(here + evicted) == list(range(steps)), here, evicted)
    expect(f"{job.name}: {what}: what is in the pool takes room there",
           len(here) * SIZE <= used <= POOL, here, used)
    for step in evicted:
        if job.in_lower(step) != contents(step):
            expect(f"{job.name}: {what}: lower has step {step}", False)
    # Mode async drains files that are open, too.
    wrong = [step for step in here if not was_written_so_far(job.in_lower(step), contents(step))]
    expect(f"{job.name}: {what}: lower has nothing else", not wrong, wrong)
    return here, evicted


def many_steps(program, *options):
    job = Job(program, "many_steps", *options)
    if job.reaches("two"):
        here, evicted = look(job, "two", 2)
        expect(f"{job.name}: two steps fit", here == [0, 1] and evicted == [], here, evicted)
        job.let_go("two")
    for what in ("written", "read"):
        if job.reaches(what):
            _, evicted = look(job, what, STEPS)
            expect(f"{job.name}: {what}: the oldest were evicted",
                   len(evicted) >= STEPS - 4 and 0 in evicted, evicted)
            job.let_go(what)
    if job.reaches("changed"):
        here, evicted, _ = job.files()
        expect(f"{job.name}: what was changed is in the pool", 0 in here and STEPS - 1 in here,
               here)
        expect(f"{job.name}: each step has its place",
               sorted(here + evicted) == list(range(STEPS)), here, evicted)
        partial = [
            step for step in (0, STEPS - 1)
            if job.in_lower(step) not in (None, contents(step), changed(step))
        ]
        expect(f"{job.name}: lower has old or new bytes", not partial, partial)
        job.let_go("changed")
    job.ends()
    wrong = [step for step in range(STEPS)
             if job.in_lower(step) != (changed if step in (0, STEPS - 1) else contents)(step)]
    expect(f"{job.name}: lower has every byte", not wrong, wrong)


def changed_while_drained(program):
    """The ranks open the file for writing while a slow drain copies it."""
    job = Job(program, "changed_while_drained", "--drain", "async", "--drain-quiet", "0",
              "--drain-rate", str(SIZE // 8))
    if job.reaches("written"):
        deadline = time.time() + 30
        while not list(job.directory.glob(".cairn-drain-*")) and time.time() < deadline:
            time.sleep(0.01)
        time.sleep(0.5)
        expect(f"{job.name}: a drain is at work",
               bool(list(job.directory.glob(".cairn-drain-*"))) and job.in_lower(0) is None)
        job.let_go("written")
    if job.reaches("changed"):
        seen = set()
        deadline = time.time() + 100
        while job.in_lower(0) != changed(0) and time.time() < deadline:
            seen.add(job.in_lower(0))
            time.sleep(0.05)
        expect(f"{job.name}: the change is drained while the program runs",
               job.in_lower(0) == changed(0))
        partial = [len(data) for data in seen if data is not None and not is_a_state(data, 0)]
        expect(f"{job.name}: nothing but whole files was seen", not partial, partial)
        job.let_go("changed")
    job.ends()
    expect(f"{job.name}: lower has every byte", job.in_lower(0) == changed(0))


try:
    for one in PROGRAMS:
        many_steps(one, "--drain", "async", "--drain-quiet", "0")
    # Nothing is quiet for so long: only a full pool has it drained.
    many_steps(PROGRAMS[0], "--drain", "close", "--drain-quiet", "3600")
    changed_while_drained(PROGRAMS[0])
finally:
    shutil.rmtree(scratch, ignore_errors=True)
    shutil.rmtree(pools, ignore_errors=True)
sys.exit(failed)
