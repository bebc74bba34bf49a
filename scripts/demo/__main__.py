"""make demo: a parallel program with checkpoints, and known programs, with and without Cairn.

    scripts/demo.sh [--rounds N] [--scale X] [--page FILE]

All programs run unchanged in each place in turn. The files that Cairn has written back are compared
with those of the plain runs, byte for byte. The tables show medians.
"""

import argparse
import shutil
import sys

import bench_page
import checkpoint
import field
import known
import page
from places import CAIRN, Places


def write_page(path, parts, figures, places):
    """A page of cairn bench; the tables where its package is missing. Returns what was written."""
    try:
        return figures.write(path, places.disk, places.memory)
    except ImportError as error:
        page.write(path, parts)
        return f"The same as a page: {path} (tables only: {error})"


def main():
    parser = argparse.ArgumentParser(prog="demo.sh", description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--rounds", type=int, default=3,
                        help="how often each program runs in each place")
    parser.add_argument("--scale", type=float, default=1.0,
                        help="size of the work; 1 takes about a minute on 2 cores")
    parser.add_argument("--page",
                        help="also write what was measured as an HTML page of cairn bench")
    arguments = parser.parse_args()
    for tool in [CAIRN, "mpicc", "mpirun", "fio", "git", "sqlite3"]:
        if not shutil.which(tool):
            sys.exit(f"demo: {tool}: not found; scripts/setup.sh build demo installs it")
    scale = arguments.scale
    with Places() as places:
        # Pool and plain tmpfs together take about 3 GiB at scale 1.
        scale = min(scale, places.memory_left() / (4 << 30))
        if scale < arguments.scale:
            print(f"demo: /dev/shm has little room: done at scale {scale:.2f}")
        figures = bench_page.Figures()
        parts = [field.run(places, arguments.rounds, scale, figures),
                 checkpoint.run(places, scale, figures),
                 known.run(places, arguments.rounds, scale, figures)]
        if arguments.page:
            print(f"\n{write_page(arguments.page, parts, figures, places)}")
    print("\nNext:\n"
          "  make install PREFIX=$HOME/.local             then put $HOME/.local/bin into PATH\n"
          "  cairn run --at DIR -- mpirun -n 4 ./program   serves DIR from memory\n"
          "  cairn doctor ./program                        can Cairn serve this program?\n"
          "  examples/                                     the parallel program that ran here")


if __name__ == "__main__":
    main()
