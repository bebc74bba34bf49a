"""Three real programs, unchanged, with and without Cairn; see demo.sh."""

import argparse
import ctypes
import hashlib
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
BIN = pathlib.Path(os.environ.get("CAIRN_BIN_DIR", ROOT / "build/release/bin"))
CAIRN = str(BIN / "cairn")
PLACES = ["Cairn", "tmpfs", "disk"]
MIB = 1 << 20

# A fixed author and time, no configuration of whoever runs this: every place must write the same bytes.
GIT = {"GIT_AUTHOR_NAME": "Demo", "GIT_AUTHOR_EMAIL": "demo@example.org", "GIT_COMMITTER_NAME": "Demo",
       "GIT_COMMITTER_EMAIL": "demo@example.org", "GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z",
       "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z", "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}

SQL = """
CREATE TABLE particles(id INTEGER PRIMARY KEY, x REAL, y REAL, kind TEXT);
{transactions}
CREATE INDEX by_kind ON particles(kind, x);
UPDATE particles SET y = y + x WHERE id % 7 = 0;
DELETE FROM particles WHERE id % 11 = 0;
"""
TRANSACTION = """BEGIN;
WITH RECURSIVE n(i) AS (SELECT {start} UNION ALL SELECT i + 1 FROM n WHERE i < {start} + 999)
INSERT INTO particles SELECT i, i * 0.5, i * 0.25, 'kind' || (i % 97) FROM n;
COMMIT;"""

HISTORY = """set -e
git init -q -b main repository
cd repository
git config gc.auto 0
git config pack.threads 1
i=0
while [ $i -lt {commits} ]; do
  i=$((i + 1))
  mkdir -p "part$((i % 10))"
  j=0
  while [ $j -lt 8 ]; do
    j=$((j + 1))
    echo "line $i of file $j, $((i * j))" >> "part$((i % 10))/file$j.txt"
  done
  git add .
  git commit -q -m "step $i"
done
git gc -q
git fsck --strict
git status --short
"""


class Program:
    """A command line, and the phases whose seconds and amount of work (None: the bytes written) it gives."""

    def __init__(self, name, command, environment=None, stdin=None, amount=None, unit="MiB"):
        self.name, self.command = name, command
        self.environment, self.stdin = environment or {}, stdin
        self.amount, self.unit = amount, unit

    def phases(self, seconds, directory, _report):
        return {self.name: (seconds, self.amount or tree_bytes(directory) / MIB, self.unit)}


class Fio(Program):
    def phases(self, seconds, directory, report):
        found = {}
        for job in json.loads(report.read_text())["jobs"]:
            side = job["read"] if job["read"]["io_bytes"] else job["write"]
            found[job["jobname"]] = (side["runtime"] / 1000 or 0.001, side["io_bytes"] / MIB, "MiB")
        return found


def programs(scratch, scale):
    transactions = "\n".join(TRANSACTION.format(start=1000 * i + 1) for i in range(max(1, int(100 * scale))))
    sql = scratch / "load.sql"
    sql.write_text(SQL.format(transactions=transactions))
    history = scratch / "history.sh"
    commits = max(2, int(40 * scale))
    history.write_text(HISTORY.format(commits=commits))
    size = max(4, int(512 * scale))
    jobs = scratch / "jobs.fio"
    # The pattern makes every block tell its place; fio's own contents differ from run to run.
    pattern = 'verify=pattern\nverify_pattern=%o"cairn"\ndo_verify=0\n'
    jobs.write_text(f"[global]\nioengine=psync\nfilename=data\nsize={size}m\nthread\nallrandrepeat=1\nend_fsync=1\nfallocate=none\n"
                    f"[fio write 1 MiB]\nrw=write\nbs=1m\nstonewall\n{pattern}"
                    f"[fio random write 4 KiB]\nrw=randwrite\nbs=4k\nstonewall\n{pattern}"
                    "[fio read 1 MiB]\nrw=read\nbs=1m\nstonewall\n")
    return [Program("SQLite load", ["sqlite3", "-bail", "data.db"], stdin=sql),
            Program("git history", ["sh", str(history)], GIT, amount=commits, unit="commits"),
            Fio("fio", ["fio", "--output-format=json", f"--output={scratch / 'fio.json'}", str(jobs)])]


def tree_bytes(directory):
    return sum(p.stat().st_size for p in directory.rglob("*") if p.is_file() and not p.is_symlink())


def fingerprint(directory):
    """Path, kind and contents of everything below. git's index holds inode numbers and times: left out, what it says
    is in the trees and in `git fsck`."""
    found = {}
    for path in sorted(directory.rglob("*")):
        name = str(path.relative_to(directory))
        if name.endswith(".git/index"):
            continue
        if path.is_symlink():
            found[name] = "link " + os.readlink(path)
        elif path.is_dir():
            found[name] = "directory"
        else:
            found[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def copy_limit(piece_mib):
    """Bytes per second of copying pieces into memory far beyond the cache. The C library stores small pieces through the
    cache and large ones past it; fio's buffer stays in the cache too."""
    size, piece = 512 * MIB, piece_mib * MIB
    source, target = ctypes.create_string_buffer(piece), ctypes.create_string_buffer(size)
    ctypes.memset(source, 1, piece)
    ctypes.memset(target, 2, size)
    start = time.perf_counter()
    for offset in range(0, size, piece):
        ctypes.memmove(ctypes.addressof(target) + offset, source, piece)
    return size / (time.perf_counter() - start)


class Demo:
    def __init__(self, arguments):
        self.rounds, self.scale = arguments.rounds, arguments.scale
        disk = ROOT / "build"
        disk.mkdir(exist_ok=True)
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="demo-", dir=disk))
        self.memory = pathlib.Path(tempfile.mkdtemp(prefix="cairn-demo-", dir="/dev/shm"))
        self.samples = {}   # (phase, place) -> [(seconds, amount, unit)]
        self.drains = {}    # program -> [seconds]
        self.limits = []
        kept = {k: v for k, v in os.environ.items() if not k.startswith("CAIRN_") and k != "LD_PRELOAD"}
        self.environment = dict(kept, HOME=str(self.scratch), LC_ALL="C")

    def cairn(self, *words):
        run = subprocess.run([CAIRN, *words, "--pool-dir", str(self.memory / "pools")], env=self.environment,
                             capture_output=True, text=True, check=False)
        if run.returncode != 0:
            sys.exit(f"demo: {run.stderr.strip()}")
        return run.stdout

    def directory(self, program, place):
        base = self.memory if place == "tmpfs" else self.scratch
        return base / place.lower() / program.name.replace(" ", "-")

    def run(self, program, place):
        directory = self.directory(program, place)
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
        times = self.scratch / "times"
        # The shell measures inside the run, so that the program's time and the drain's can be told apart.
        command = ["bash", "-c", 'cd "$1" || exit; times=$2; shift 2; start=$EPOCHREALTIME; "$@"; code=$?; '
                   'echo "$start $EPOCHREALTIME" > "$times"; exit $code', "demo", str(directory), str(times), *program.command]
        if place == "Cairn":
            command = [CAIRN, "run", "--at", str(directory), "--pool-dir", str(self.memory / "pools"), "--pool", "demo",
                       "--", *command]
        start = time.perf_counter()
        with open(program.stdin or os.devnull, "rb") as stdin:
            run = subprocess.run(command, env=dict(self.environment, **program.environment), stdin=stdin,
                                 capture_output=True, text=True, errors="replace", check=False)
        total = time.perf_counter() - start
        if run.returncode != 0:
            sys.exit(f"demo: {program.name} on {place} ended with {run.returncode}\n{run.stdout}{run.stderr}")
        begin, end = (float(word) for word in times.read_text().split())
        if place == "Cairn":
            self.drains.setdefault(program.name, []).append(max(0.0, total - (end - begin)))
        for phase, sample in program.phases(end - begin, directory, self.scratch / "fio.json").items():
            self.samples.setdefault((phase, place), []).append(sample)

    def compare(self, program):
        prints = {place: fingerprint(self.directory(program, place)) for place in PLACES}
        for place in PLACES[1:]:
            if prints[place] != prints["Cairn"]:
                names = {n for n in prints[place].keys() | prints["Cairn"].keys()
                         if prints[place].get(n) != prints["Cairn"].get(n)}
                sys.exit(f"demo: {program.name}: drained from Cairn, these differ from {place}: {sorted(names)[:10]}")
        return len(prints["Cairn"])

    def go(self):
        self.cairn("pool", "create", "demo", "--size", f"{max(64, int(1536 * self.scale))}MiB", "--populate")
        checked = 0
        todo = programs(self.scratch, self.scale)
        for number in range(self.rounds):
            self.limits += [copy_limit(1), copy_limit(1), copy_limit(64)]
            for program in todo:
                for i in range(len(PLACES)):
                    self.run(program, PLACES[(i + number) % len(PLACES)])
                checked += self.compare(program)
            print(f"round {number + 1} of {self.rounds} done", file=sys.stderr)
        self.table(checked)

    def median(self, phase, place):
        samples = self.samples[phase, place]
        return statistics.median(sample[0] for sample in samples), *samples[0][1:]

    def table(self, checked):
        limit = max(self.limits) / MIB
        heading = ["", "Cairn s", "tmpfs s", "disk s", "Cairn's speed", "to tmpfs", "to disk", "of copy limit"]
        rows = []
        for phase in dict.fromkeys(phase for phase, _ in self.samples):
            seconds = {place: self.median(phase, place)[0] for place in PLACES}
            _, amount, unit = self.median(phase, "Cairn")
            speed = amount / seconds["Cairn"]
            rows.append([phase, *(f"{seconds[place]:.2f}" for place in PLACES), f"{speed:.0f} {unit}/s",
                         f"{seconds['tmpfs'] / seconds['Cairn']:.2f}x", f"{seconds['disk'] / seconds['Cairn']:.2f}x",
                         f"{100 * speed / limit:.1f} %" if unit == "MiB" else "-"])
        widths = [max(len(row[i]) for row in [heading, *rows]) for i in range(len(heading))]
        for row in [heading, *rows]:
            print("  ".join(cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths))))
        drains = ", ".join(f"{name} {statistics.median(seconds):.2f}" for name, seconds in self.drains.items())
        print(f"\nMedians of {self.rounds} round(s), places in turn. Ratios above 1: Cairn is faster. Copy limit, the best of "
              f"{len(self.limits)} measured in between: "
              f"{limit:.0f} MiB/s.\nStarting and draining to disk came on top, in seconds: {drains}.\n"
              f"{checked} files and directories that Cairn wrote back were compared: all byte-identical to the plain runs.")

    def clean(self):
        subprocess.run([CAIRN, "pool", "remove", "demo", "--force", "--pool-dir", str(self.memory / "pools")],
                       env=self.environment, capture_output=True, check=False)
        shutil.rmtree(self.memory, ignore_errors=True)
        shutil.rmtree(self.scratch, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(prog="demo.sh", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--scale", type=float, default=1.0, help="size of the work; 1 takes about a minute")
    arguments = parser.parse_args()
    for tool in [CAIRN, "sqlite3", "git", "fio", "bash"]:
        if not shutil.which(tool):
            sys.exit(f"demo: {tool} is missing")
    # Pool and plain tmpfs together take some 2.5 GiB at scale 1; the copy limit's buffer 0.5 GiB.
    room = shutil.disk_usage("/dev/shm").free
    if room < 4 * 1024 * MIB * arguments.scale:
        arguments.scale = room / (4 * 1024 * MIB)
        print(f"demo: /dev/shm has {room // MIB} MiB free: done at scale {arguments.scale:.2f}", file=sys.stderr)
    demo = Demo(arguments)
    try:
        demo.go()
    finally:
        demo.clean()


if __name__ == "__main__":
    main()
