"""Programs that everybody knows: fio, git and SQLite. fio is measured; what the other two write is
compared."""

import hashlib
import json
import os
import statistics
import sys

import bench_page
from places import MIB, medium, say, table

PLACES = ["disk", "tmpfs", "Cairn"]

# A fixed author and time and no configuration of the user: all places must get the same bytes.
GIT = {
    "GIT_AUTHOR_NAME": "Demo", "GIT_AUTHOR_EMAIL": "demo@example.org", "GIT_COMMITTER_NAME": "Demo",
    "GIT_COMMITTER_EMAIL": "demo@example.org", "GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z",
    "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z", "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_SYSTEM": "/dev/null"
}

SQL = """
CREATE TABLE particles(id INTEGER PRIMARY KEY, x REAL, y REAL, kind TEXT);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows})
INSERT INTO particles SELECT i, i * 0.5, i * 0.25, 'kind' || (i % 97) FROM n;
CREATE INDEX by_kind ON particles(kind, x);
UPDATE particles SET y = y + x WHERE id % 7 = 0;
DELETE FROM particles WHERE id % 11 = 0;
"""

HISTORY = """set -e
git init -q -b main repository
cd repository
git config gc.auto 0
git config pack.threads 1
i=0
while [ $i -lt {commits} ]; do
  i=$((i + 1))
  mkdir -p "part$((i % 10))"
  echo "line $i, $((i * i))" >> "part$((i % 10))/file.txt"
  git add .
  git commit -q -m "step $i"
done
git gc -q
git fsck --strict
git status --short
"""


def fio_mib(scale):
    return max(4, int(512 * scale))


def fio(places, place, scale):
    """MiB/s of each job, as fio reports them."""
    directory = places.directory(place, "fio")
    jobs, report = places.disk / "jobs.fio", places.disk / "fio.json"
    # The pattern makes every block tell its place; fio's own contents differ from run to run.
    pattern = 'verify=pattern\nverify_pattern=%o"cairn"\ndo_verify=0\n'
    jobs.write_text(
        f"[global]\nioengine=psync\ndirectory={directory}\nfilename=data\nsize={fio_mib(scale)}m\n"
        "thread\nallrandrepeat=1\nend_fsync=1\nfallocate=none\n"
        f"[fio write 1 MiB]\nrw=write\nbs=1m\nstonewall\n{pattern}"
        f"[fio random write 4 KiB]\nrw=randwrite\nbs=4k\nstonewall\n{pattern}"
        "[fio read 1 MiB]\nrw=read\nbs=1m\nstonewall\n")
    # fio leaves a file of its own in its working directory.
    places.run(
        places.command(place, directory,
                       ["fio", "--output-format=json", f"--output={report}",
                        str(jobs)]), cwd=places.disk)
    found = {}
    for job in json.loads(report.read_text())["jobs"]:
        side = job["read"] if job["read"]["io_bytes"] else job["write"]
        found[job["jobname"]] = side["io_bytes"] / MIB / (side["runtime"] / 1000 or 0.001)
    return found, fingerprint(directory)


def git(places, place, scale):
    directory = places.directory(place, "git")
    script = HISTORY.format(commits=max(2, int(40 * scale)))
    places.run(places.command(place, directory, ["sh", "-c", script]), cwd=directory,
               environment=GIT)
    return fingerprint(directory)


def sqlite(places, place, scale):
    directory = places.directory(place, "sqlite")
    database = str(directory / "particles.db")
    places.run(
        places.command(place, directory,
                       ["sqlite3", "-bail", database,
                        SQL.format(rows=int(100000 * scale))]))
    return fingerprint(directory)


def fingerprint(directory):
    """Path, kind and contents of everything below. git's index holds inode numbers and times: it is
    left out, and what it says is in the trees and in `git fsck`."""
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


def same(program, prints):
    for place in PLACES[:-1]:
        if prints[place] != prints["Cairn"]:
            names = {n for n in prints[place].keys() | prints["Cairn"].keys()
                     if prints[place].get(n) != prints["Cairn"].get(n)}
            sys.exit(
                f"demo: {program}: drained from Cairn, these differ from {place}:"
                f" {sorted(names)[:10]}"
            )
    return len(prints["Cairn"])


def run(places, rounds, scale, figures):
    title = "Programs that everybody knows"
    say(f"\n{title}")
    speeds = {}
    for number in range(rounds):
        prints = {}
        for i in range(len(PLACES)):
            place = PLACES[(i + number) % len(PLACES)]
            say(f"  round {number + 1} of {rounds}: fio, {place}")
            found, prints[place] = fio(places, place, scale)
            for job, speed in found.items():
                speeds.setdefault(job, {}).setdefault(place, []).append(speed)
        same("fio", prints)
    say("  git, SQLite")
    files = same("git", {place: git(places, place, scale) for place in PLACES})
    same("SQLite", {place: sqlite(places, place, scale) for place in PLACES})

    bench_page.add_fio(figures, speeds, fio_mib(scale) * MIB)
    heading = ["", *(f"{place}, MiB/s" for place in PLACES), "to tmpfs", "to disk"]
    rows = []
    for job, found in speeds.items():
        median = {place: statistics.median(found[place]) for place in PLACES}
        rows.append([
            job, *(f"{median[place]:.0f}" for place in PLACES),
            f"{median['Cairn'] / median['tmpfs']:.1f}x", f"{median['Cairn'] / median['disk']:.1f}x"
        ])
    notes = [
        f"Disk is {medium(places.disk)}. fio's files: byte-identical in all places.",
        (
            f"git: 40 commits, gc and fsck; {files} files and directories byte-identical to the"
            " plain runs."
        ),
        "SQLite: load, index, update, delete; the database is byte-identical to the plain runs.",
    ]
    say("\n" + "\n".join(table(heading, rows) + [""] + notes))
    return title, heading, rows, notes
