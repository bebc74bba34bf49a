"""make demo-larger: checkpoints on a slow parallel file system, and more data than the pool holds.

    scripts/demo-larger.sh [--rounds N] [--scale X] [--page FILE]

Processes write checkpoints in pieces of 1 MiB, a file each, with fsync after each piece; then other
processes read them back and compare every byte. The tutorial of Hermes does this, and its figures
stand beside ours. The last rows are the case that it leaves out: five times as much data as the
pool holds. """

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import time

import page
from places import CAIRN, MIB, ROOT, Places, say, table
from slow_disk import SlowDisk

PROCESSES = 4
# Getting Started of Hermes, October 2022: 48 processes on 4 nodes, 128 MiB each. MiB/s, plain and
# with Hermes.
PUBLISHED = {"write": (30.3, 1748.1), "read": (2012.0, 2580.3)}


class Work:
    def __init__(self, files, mib, pool_mib):
        self.files, self.mib, self.pool_mib = files, mib, pool_mib

    @property
    def total(self):
        return self.files * self.mib


class Larger:
    def __init__(self, places, disk):
        self.places, self.disk = places, disk
        self.program = places.disk / "pieces"
        places.run(["cc", "-O2", str(ROOT / "scripts/demo/pieces.c"), "-o", str(self.program)])

    def command(self, action, directory, work):
        return [
            str(self.program), action,
            str(directory),
            str(work.files),
            str(work.mib),
            str(PROCESSES)
        ]

    @staticmethod
    def forget_pages(directory):
        """The readers stand for those on other hosts: what this host has cached must not help
        them."""
        for path in directory.iterdir():
            if path.is_file():
                with open(path, "rb") as file:
                    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)

    def go(self, place, work):
        """Seconds: write, read, and until all is in the parallel file system."""
        directory = self.disk.directory / place
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir()
        begun = time.perf_counter()
        if place == "plain":
            shown = self.places.run(self.command("write", directory, work))
            durable = time.perf_counter() - begun
            self.forget_pages(directory)
            shown += self.places.run(self.command("read", directory, work))
        else:
            shown = self.run_covered(directory, work)
            durable = time.perf_counter() - begun
            self.forget_pages(directory)
            self.places.run(self.command("read", directory, work))  # what was drained is complete
        seconds = {line.split()[0]: float(line.split()[1]) for line in shown.splitlines()}
        shutil.rmtree(directory)
        subprocess.run(["sync", "-f", str(self.disk.directory)], check=False)
        return seconds["write"], seconds["read"], durable

    def run_covered(self, directory, work):
        """Both programs in one run. In between, the cache of the file system below is dropped."""
        write, read = (" ".join(self.command(action, directory, work))
                       for action in ("write", "read"))
        command = [
            CAIRN, "run", "--at",
            str(directory), "--drain", "close", "--drain-quiet", "0", "--pool-size",
            f"{work.pool_mib}M", "--", "sh", "-c", f"{write} && read go && {read}"
        ]
        with subprocess.Popen(command, env=self.places.environment, stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True) as process:
            shown = process.stdout.readline()
            self.forget_pages(directory)
            rest, _ = process.communicate("go\n")
        if process.returncode != 0:
            sys.exit(f"demo-larger: {' '.join(command)}: exit code {process.returncode}")
        return shown + rest

    def measure(self, work, rounds):
        samples = {"plain": [], "Cairn": []}
        for number in range(rounds):
            for place in list(samples)[::1 if number % 2 == 0 else -1]:
                say(f"  round {number + 1} of {rounds}: {place}, {work.total} MiB")
                samples[place].append(self.go(place, work))
        return {
            place: [statistics.median(column) for column in zip(*runs)]
            for place, runs in samples.items()
        }


def rate_row(name, work, plain, ours, published):
    plain, ours = work.total / plain, work.total / ours
    row = [name, f"{plain:.0f} MiB/s", f"{ours:.0f} MiB/s", f"{ours / plain:.1f}x"]
    if published is None:
        return row + ["left out", "left out", ""]
    return row + [
        f"{published[0]:.0f} MiB/s", f"{published[1]:.0f} MiB/s",
        f"{published[1] / published[0]:.1f}x"
    ]


def rows_of(work, found, name, published):
    plain, ours = found["plain"], found["Cairn"]
    yield rate_row(f"write, {name}", work, plain[0], ours[0], published and published["write"])
    yield rate_row(f"read back, {name}", work, plain[1], ours[1], published and published["read"])
    yield [f"in the file system, {name}", f"{plain[2]:.1f} s", f"{ours[2]:.1f} s", "", "", "", ""]


def run(places, disk, rounds, scale):
    per_file = max(2, int(32 * scale))
    fits = Work(PROCESSES, per_file, max(64, int(PROCESSES * per_file * 1.5)))
    # A file must fit beside those that the other processes are writing.
    small = max(2, int(16 * scale))
    pool = max(64, small * PROCESSES * 2)
    larger = Work(max(5 * pool // small, PROCESSES), small, pool)
    title = (f"{PROCESSES} processes write checkpoints in pieces of 1 MiB, with fsync after each; "
             f"other processes read them back")
    say(f"\n{title}")
    if disk.why:
        say(
            f"  (The file system cannot be slowed down here: {disk.why}. The figures are those of"
            " the disk.)"
        )
    demo = Larger(places, disk)
    heading = ["", "plain", "Cairn", "speed", "published: plain", "Hermes", "speed"]
    rows = list(rows_of(fits, demo.measure(fits, rounds), "all in the pool", PUBLISHED))
    rows += rows_of(larger, demo.measure(larger, 1), "five times the pool", None)
    limit = (
        "is not slowed down here"
        if disk.why
        else (
            f"is a loop device that takes {disk.rates[0] // MIB} MiB/s, as the published one did"
            f" with fsync, and gives {disk.rates[1] // MIB}"
        )
    )
    notes = [
        f"The file system {limit}.",
        (
            "The readers are other processes of this host. They stand for other hosts: before they"
            " read, the host's cache of the file system is dropped."
        ),
        (
            f"All in the pool: {fits.total} MiB. Five times the pool: {larger.total} MiB through a"
            f" pool of {pool} MiB, in files that each fit."
        ),
        (
            "\"In the file system\": from the first write until every byte is there; for Cairn"
            " until the run has ended, with the reading."
        ),
        "Every byte was compared, by the readers and after the drain.",
        (
            "Published: Hermes, Getting Started, October 2022. There 48 processes on 4 nodes wrote"
            " 6 GiB."
        ),
    ]
    say("\n" + "\n".join(table(heading, rows) + [""] + notes))
    return title, heading, rows, notes


def main():
    parser = argparse.ArgumentParser(prog="demo-larger.sh",
                                     description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--rounds", type=int, default=3,
                        help="how often each part runs that fits into the pool")
    parser.add_argument("--scale", type=float, default=1.0,
                        help="size of the work; 1 takes about two minutes")
    parser.add_argument("--page", help="also write the table as an HTML page")
    arguments = parser.parse_args()
    for tool in [CAIRN, "cc"]:
        if not shutil.which(tool):
            sys.exit(f"demo-larger: {tool}: not found; scripts/setup.sh build demo installs it")
    with Places() as places, SlowDisk(places.disk, 2048 * MIB, 30 * MIB, 2012 * MIB) as disk:
        part = run(places, disk, max(1, arguments.rounds), arguments.scale)
    if arguments.page:
        page.write(arguments.page, [part])
        print(f"\nThe same as a page: {arguments.page}")


if __name__ == "__main__":
    main()
