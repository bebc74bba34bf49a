"""examples/field.c in each place: checkpoints, killed in the middle, restarted with another number
of ranks."""

import hashlib
import os
import re
import statistics
import subprocess
import sys
import time

import bench_page
from places import ROOT, kill_tree, medium, say, table

PLACES = ["disk, fsync", "disk", "tmpfs", "Cairn"]
DURABLE = {"disk, fsync": "each one", "disk": "some time later", "tmpfs": "never",
           "Cairn": "at the end"}
EVERY = 4


class Sample:
    """What one run in one place told: seconds."""

    def __init__(self):
        self.checkpoints, self.restart, self.copying, self.ending = [], None, None, 0.0

    def read(self, line):
        if found := re.match(r"step \d+: wrote \S+ MiB in (\S+) s", line):
            self.checkpoints.append(float(found[1]))
        elif found := re.match(r"restarted at step \d+: read \S+ MiB in (\S+) s", line):
            self.restart = float(found[1])
        elif found := re.search(r"copying one in memory takes (\S+) s", line):
            self.copying = float(found[1])


class Field:
    def __init__(self, places, scale):
        self.places = places
        processors = len(os.sched_getaffinity(0))
        self.ranks = max(2, min(processors, 8))
        self.ranks_after = self.ranks - 1 if self.ranks > 2 else 3
        self.size = max(32, int(256 * scale ** (1 / 3)) // 8 * 8)
        self.mib = self.size**3 * 8 / (1 << 20)
        self.steps = 12 * EVERY
        self.program = places.disk / "field"
        places.run(["mpicc", "-O2", str(ROOT / "examples/field.c"), "-o", str(self.program), "-lm"])
        self.samples = {place: [] for place in PLACES}
        self.sums = {}

    def start(self, place, directory, ranks):
        command = [
            "mpirun", "-n",
            str(ranks),
            str(self.program), "--size",
            str(self.size), "--steps",
            str(self.steps), "--every",
            str(EVERY), "--directory",
            str(directory)
        ]
        if place == "disk, fsync":
            command.append("--sync")
        return subprocess.Popen(self.places.command(place, directory, command),
                                env=self.places.environment, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def go(self, place):
        sample = Sample()
        directory = self.places.directory(place, "field")
        process = self.start(place, directory, self.ranks)
        for line in process.stdout:
            sample.read(line)
            if len(sample.checkpoints) == 6:
                kill_tree(process)
                break
        process.stdout.close()
        if len(sample.checkpoints) != 6:
            sys.exit(f"demo: field on {place} ended early, with exit code {process.wait()}")

        process = self.start(place, directory, self.ranks_after)
        text, ended = "", 0.0
        for line in process.stdout:
            text += line
            # The second run has other ranks: its checkpoints are not comparable.
            if not line.startswith("step"):
                sample.read(line)
            ended = time.perf_counter()
        if process.wait() != 0 or sample.restart is None or sample.copying is None:
            sys.exit(f"demo: field on {place}: exit code {process.returncode}\n{text}")
        sample.ending = time.perf_counter() - ended
        self.samples[place].append(sample)
        contents = hashlib.sha256((directory / "field.checkpoint").read_bytes()).hexdigest()
        self.sums.setdefault(contents, set()).add(place)

    def rows(self):
        copying = min(sample.copying for samples in self.samples.values() for sample in samples)
        medians = {place: statistics.median(s for sample in samples for s in sample.checkpoints)
                   for place, samples in self.samples.items()}
        for place, samples in self.samples.items():
            each = [s for sample in samples for s in sample.checkpoints]
            quarter = statistics.quantiles(each, n=4)
            directory = self.places.memory if place in ("tmpfs", "Cairn") else self.places.disk
            yield [
                place,
                medium(directory), f"{medians[place]:.3f} s", f"{quarter[0]:.3f}..{quarter[2]:.3f}",
                f"{statistics.median(sample.restart for sample in samples):.3f} s",
                f"{100 * copying / medians[place]:.0f} %",
                f"{medians['disk, fsync'] / medians[place]:.1f}x", DURABLE[place]
            ]


def run(places, rounds, scale, figures):
    field = Field(places, scale)
    title = (
        f"A parallel program (examples/field.c): {field.size}^3 cells, a checkpoint of"
        f" {field.mib:.0f} MiB every {EVERY} steps through MPI-IO,\nkilled with {field.ranks} ranks"
        f" in the middle, restarted with {field.ranks_after}"
    )
    say(f"\n{title}")
    for number in range(rounds):
        for i in range(len(PLACES)):
            place = PLACES[(i + number) % len(PLACES)]
            say(f"  round {number + 1} of {rounds}: {place}")
            field.go(place)
    if len(field.sums) != 1:
        sys.exit(f"demo: the final fields differ: {field.sums}")
    bench_page.add_field(figures, field)
    heading = [
        "", "medium", "waited for each", "quartiles", "restart", "of copying", "speed", "durable"
    ]
    rows = list(field.rows())
    ending = statistics.median(sample.ending for sample in field.samples["Cairn"])
    notes = [
        (
            f"Of copying: against copying the same bytes in memory, all ranks concurrently. Speed:"
            f" against disk with fsync."
        ),
        (
            "Cairn's data outlive the killed processes. When the program had ended, Cairn wrote"
            f" the last checkpoint to {medium(places.disk)} in {ending:.2f} s."
        ),
        f"The final fields of all {rounds * len(PLACES)} runs are byte-identical.",
    ]
    say("\n" + "\n".join(table(heading, rows) + [""] + notes))
    return title, heading, rows, notes
