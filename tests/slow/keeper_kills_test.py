"""Keepers, runs and programs are killed at random while a keeper drains; nothing acknowledged is
lost. Ten minutes; CAIRN_SECONDS says otherwise, CAIRN_SEED repeats a run."""

import hashlib
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

CAIRN = os.path.join(os.environ["CAIRN_BIN_DIR"], "cairn")
SECONDS = int(os.environ.get("CAIRN_SECONDS", "600"))
SEED = int(os.environ.get("CAIRN_SEED", str(time.time_ns() % 1_000_000)))

# Writes files aside, gives them their names, and says so: "begin NAME SEED SIZE", and "done" once
# the name is there.
PROGRAM = """
import os, random, sys
seed, log, count = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
draw = random.Random(seed)
out = open(log, "a", buffering=1)
for i in range(count):
    name = f"f{draw.randrange(12)}"
    contents = draw.randrange(1 << 30)
    size = draw.choice([0, 1, 4095, 4096, 70_000, 300_000, draw.randrange(3 << 20)])
    out.write(f"begin {name} {contents} {size}\\n")
    with open("aside", "wb") as file:
        file.write(random.Random(contents).randbytes(size))
    os.rename("aside", name)
    out.write(f"done {name} {contents} {size}\\n")
"""


def digest(data):
    return hashlib.sha256(data).hexdigest()


def expected(log, known):
    """Of each name the contents that it may have: those that are done last, and those that were
    begun since."""
    for line in log.read_text().splitlines():
        word, name, contents, size = line.split()
        what = digest(random.Random(int(contents)).randbytes(int(size)))
        if word == "done":
            known[name] = {what}
        else:
            known.setdefault(name, {None}).add(what)
    log.unlink()


def keepers(env):
    shown = subprocess.run([CAIRN, "status", "--json"], env=env, capture_output=True, text=True,
                           check=False).stdout
    try:
        covers = [cover for pool in json.loads(shown) for cover in pool.get("covers", [])]
    except json.JSONDecodeError:
        return []
    return [cover["keeper"]["pid"] for cover in covers if "keeper" in cover]


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


class Round:
    def __init__(self, draw, place, env, number):
        self.draw, self.place, self.env = draw, place, env
        self.log = place / f"log{number}"
        self.mode = draw.choice(["close", "async"])
        self.detached = draw.random() < 0.3
        words = [
            CAIRN, "run", "--at", place / "dir", "--drain", self.mode, "--drain-quiet", "0",
            "--pool-size", "64M"
        ]
        words += ["--detach-drain"] if self.detached else []
        words += ["--drain-rate", "20M"] if draw.random() < 0.3 else []
        words += [
            "--", "python3", "-c", PROGRAM,
            str(draw.randrange(1 << 30)), self.log,
            str(draw.randrange(5, 40))
        ]
        self.run = subprocess.Popen(words, cwd=place / "dir", env=env, stderr=subprocess.PIPE,
                                    text=True, start_new_session=True)

    def kill_some(self):
        killed = []
        for _ in range(self.draw.randrange(3)):
            time.sleep(self.draw.random() * 0.8)
            what = self.draw.choice(["keeper", "run", "all"])
            killed.append(what)
            if what == "keeper":
                for pid in keepers(self.env):
                    kill(pid)
            elif what == "run":
                kill(self.run.pid)
            else:
                try:
                    os.killpg(self.run.pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
        return killed

    def finish(self):
        # A program whose run was killed goes on: it holds the pipe.
        _, err = self.run.communicate(timeout=120)
        done = subprocess.run([CAIRN, "drain", "--wait", self.place / "dir"], env=self.env,
                              capture_output=True, text=True, timeout=120, check=False)
        if done.returncode != 0 and "not covered" not in done.stderr:
            sys.exit(
                f"seed {SEED}: drain --wait: {done.returncode}: {done.stdout}{done.stderr}\n{err}")


def main():
    print(f"seed {SEED}", flush=True)
    draw = random.Random(SEED)
    place = pathlib.Path(tempfile.mkdtemp(prefix="cairn-keeper-"))
    pools = tempfile.mkdtemp(prefix="cairn-keeper-", dir="/dev/shm")
    (place / "dir").mkdir()
    env = dict(os.environ, CAIRN_POOL_DIR=pools)
    known, rounds, kills, end = {}, 0, 0, time.time() + SECONDS
    while time.time() < end:
        one = Round(draw, place, env, rounds)
        killed = one.kill_some()
        one.finish()
        if one.log.exists():
            expected(one.log, known)
        for name, may_be in known.items():
            path = place / "dir" / name
            is_there = digest(path.read_bytes()) if path.exists() else None
            if is_there not in may_be:
                sys.exit(
                    f"seed {SEED}, round {rounds} ({one.mode}, killed {killed}): {name} has other"
                    " contents, or is gone"
                )
            known[name] = {is_there}
        rounds, kills = rounds + 1, kills + len(killed)
    if kills == 0 or not known:
        sys.exit("nothing was killed: this shows nothing")
    print(f"{rounds} rounds, {kills} kills, {len(known)} names")
    shutil.rmtree(place)
    shutil.rmtree(pools)


main()
