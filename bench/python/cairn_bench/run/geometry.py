"""Whether a kernel can do what a cell asks of it: the kernel says so itself, without MPI.

The kernel runs once with --check-only and the number of ranks. It writes nothing.
"""

import concurrent.futures
import os
import subprocess

from ..node import installation
from ..plan import cells, descriptions
from .systems import base_environment

USAGE = 2  # the exit code for options that a kernel cannot do
SECONDS = 30
PLACE = "cairn-bench-DIR"  # in the place of a directory; nothing is there


def command(cell, system):
    """The words of the check; None where the kernel has none."""
    if cell.kind == "program":
        return None
    described = descriptions.of_mpi(system.mpi).get(cell.kind, {})
    if "--check-only" not in {option["name"] for option in described.get("options", [])}:
        return None
    side = "read" if "reads_after" in cell.parameters else None
    words = cells.words(cell, str(installation.kernel(system.mpi, cell.kind)), PLACE, side)
    nodes = [] if system.nodes is None else ["--nodes", str(system.nodes)]
    return (words[0], "--check-only", "--ranks", str(cell.ranks), *nodes, *words[1:])


def said(words):
    """What a kernel says of its options; nothing if it can do them, or cannot be asked here."""
    try:
        run = subprocess.run(
            words, env=base_environment(), capture_output=True, text=True, errors="replace",
            timeout=SECONDS, stdin=subprocess.DEVNULL, check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return []
    begin = f"{os.path.basename(words[0])}: "
    lines = run.stderr.strip().split("\n") if run.returncode == USAGE else []
    return [line.removeprefix(begin) for line in lines if line.startswith(begin)]


def problems(all_cells, systems):
    """[(cell, text)] of those that a kernel cannot do. The same words are asked once."""
    asked = {}
    for cell in all_cells:
        words = command(cell, systems[cell.system])
        if words is not None:
            asked.setdefault(words, cell)
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        answers = zip(asked.values(), pool.map(said, asked))
        return [(cell, text) for cell, texts in answers for text in texts]
