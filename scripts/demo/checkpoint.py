"""examples/heat.c: checkpoints through cairn/checkpoint.h, and a restart on another number of
ranks."""

import os
import pathlib
import re
import statistics
import sys

import bench_page
from places import CAIRN, ROOT, medium, say, table

STEPS, EVERY, COLUMNS = 40, 5, 512


class Heat:
    def __init__(self, places, scale):
        self.places = places
        self.rows = max(64, int(32768 * scale))
        self.bytes = self.rows * COLUMNS * 8
        self.program = places.disk / "heat"
        library = pathlib.Path(CAIRN).resolve().parents[1] / "lib"
        places.run([
            "mpicc", "-O2",
            str(ROOT / "examples/heat.c"), "-I",
            str(ROOT / "include"), "-o",
            str(self.program), "-L",
            str(library), "-lcairn", f"-Wl,-rpath,{library}"
        ])

    def go(self, pool, ranks, steps):
        """What a run says."""
        mib = self.bytes >> 20
        environment = {"CAIRN_POOL_NAME": pool, "CAIRN_POOL_SIZE": f"{3 * mib + 64}MiB"}
        return self.places.run(
            ["mpirun", "-n",
             str(ranks),
             str(self.program),
             str(steps),
             str(EVERY),
             str(self.rows)], environment=environment)


def seconds(word, output):
    return [float(one) for one in re.findall(rf"^{word} .* in (\S+) s$", output, re.M)]


def run(places, scale, figures):
    heat = Heat(places, scale)
    ranks = max(2, min(len(os.sched_getaffinity(0)), 8))
    after = ranks - 1 if ranks > 2 else 3
    title = (
        f"A program that calls cairn/checkpoint.h (examples/heat.c): a version of {heat.bytes:,}"
        f" bytes every {EVERY} steps,\nwritten by {ranks} ranks, read and continued by {after}"
    )
    say(f"\n{title}")
    outputs = [heat.go("heat", ranks, STEPS), heat.go("heat", after, 2 * STEPS)]
    if f"goes on after step {STEPS}\n" not in outputs[1]:
        sys.exit(f"demo: heat did not go on from its checkpoint:\n{outputs[1]}")
    results = {
        output.split(" steps: ")[1].split()[0]
        for output in [outputs[1], heat.go("whole", ranks, 2 * STEPS)]
    }
    if len(results) != 1:
        sys.exit(f"demo: the results differ: {results}")
    rows = []
    for number, output in zip([ranks, after], outputs):
        each, restart = seconds("wrote", output), seconds("read", output)
        kernel = "heat" if output is outputs[0] else "heat, restarted"
        bench_page.add_heat(figures, kernel, number, heat.bytes, each)
        rows.append([
            f"{number} ranks", f"{len(each)}", f"{each[0]:.3f} s",
            f"{statistics.median(each[1:]):.3f} s",
            f"{heat.bytes / statistics.median(each[1:]) / 2**30:.1f} GiB/s",
            f"{restart[0]:.3f} s" if restart else "-"
        ])
    heading = ["", "versions", "the first", "each later one", "rate", "restart"]
    notes = [
        (
            f"Versions lie in a pool on {medium(places.memory)}, with checksums; restart verifies"
            " them. No `cairn run` is needed."
        ),
        "The result is bit-identical to that of a run without a restart.",
    ]
    say("\n" + "\n".join(table(heading, rows) + [""] + notes))
    return title, heading, rows, notes
