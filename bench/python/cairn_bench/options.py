"""The options of cairn bench, and what a shell offers for its next word."""

import argparse
import pathlib

from .errors import Mistake
from .plan import kernels, matrix
from .terminal import Parser

# Options of sbatch that `submit` passes on.
SBATCH = ("nodes", "ntasks", "ntasks-per-node", "time", "mem", "partition", "account", "qos")
EPILOG = """\
A matrix names systems, kernels and rounds; ready ones: {ready}.
Exit codes: 0 all cells ran and their data were right; 1 a cell failed, hung or had wrong data;
2 usage; 130 interrupted (what was measured is kept)."""


def parser():
    whole = Parser(
        prog="cairn bench",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Run I/O kernels on several systems, and show what each gives.",
        epilog=EPILOG.format(ready=", ".join(matrix.ready())),
    )
    commands = whole.add_subparsers(dest="command", required=True, metavar="COMMAND")
    run = commands.add_parser("run", help="run a matrix")
    run.add_argument(
        "matrix", metavar="MATRIX", nargs="?", help="a file, or the name of a ready matrix"
    )
    run.add_argument(
        "--output",
        metavar="DIR",
        type=pathlib.Path,
        help="a new directory for results.jsonl and report.html",
    )
    run.add_argument(
        "--resume",
        metavar="DIR",
        type=pathlib.Path,
        help="go on with a run that was interrupted or killed, instead of MATRIX",
    )
    run.add_argument(
        "--dry-run", action="store_true", help="print the commands and the bytes; run nothing"
    )
    run.add_argument(
        "--rounds", type=int, metavar="N", help="instead of the matrix's, or its pilot's"
    )
    run.add_argument(
        "--quick",
        action="store_true",
        default=None,
        help="5 rounds, and sizes by which they take at most 5 minutes; the page says so",
    )
    run.add_argument(
        "--machine",
        metavar="NAME",
        help="this machine's name in the history, instead of its processor, memory and MPI",
    )
    run.add_argument("--scale", type=float, metavar="X", help="times the matrix's amounts of data")
    run.add_argument("--ranks", metavar="N,N", help="instead of the matrix's numbers of ranks")
    run.add_argument(
        "--launcher",
        metavar="WORDS",
        help="what starts the ranks: srun, or words with {ranks}; default mpirun",
    )
    run.add_argument(
        "--only", metavar="REGEX", help="cells whose name matches, e.g. 'hacc on tmpfs'"
    )
    report = commands.add_parser("report", help="make the page and the table again from results")
    report.add_argument(
        "results", metavar="RESULTS", type=pathlib.Path, help="results.jsonl, or its directory"
    )
    report.add_argument(
        "--output",
        metavar="FILE",
        type=pathlib.Path,
        help="the page; default report.html beside the results",
    )
    report.add_argument(
        "--figures",
        metavar="DIR",
        type=pathlib.Path,
        help="charts as Vega-Lite there, and with vl-convert-python as SVG, PNG and PDF",
    )
    batch = commands.add_parser(
        "submit",
        help="run a matrix as a job of Slurm",
        description="Writes a batch script that runs the matrix in one allocation, and submits it. "
        "Further words go to `run`: cairn bench submit MATRIX -- --rounds 5.",
    )
    batch.add_argument("matrix", metavar="MATRIX", nargs="?")
    batch.add_argument(
        "--output",
        metavar="DIR",
        type=pathlib.Path,
        help="a new directory for results.jsonl and report.html",
    )
    batch.add_argument(
        "--resume",
        metavar="DIR",
        type=pathlib.Path,
        help="go on with a run that was interrupted or killed, instead of MATRIX and --output",
    )
    batch.add_argument("--print", action="store_true", help="print the script; submit nothing")
    for option in SBATCH:
        batch.add_argument(f"--{option}", metavar="X", help=f"sbatch's --{option}")
    compare_two = commands.add_parser(
        "compare",
        help="compare two runs, or two systems of one run",
        description="Prints A / B for every cell that both have. A and B: results.jsonl or its "
        "directory, with :SYSTEM for one system of it. Exit code 1 if a --fail-if rule holds.",
    )
    compare_two.add_argument("a", metavar="A")
    compare_two.add_argument("b", metavar="B")
    compare_two.add_argument(
        "--fail-if",
        metavar="RULE",
        action="append",
        default=[],
        help="'ratio<0.9': a cell whose A / B is below 0.9, and that differs; may be repeated",
    )
    tables = commands.add_parser(
        "add",
        help="add the judged tables of the source tree to results",
        description=(
            "Adds tables that bench_core and the others have written with --json to the results in"
            " DIR, which are made if there are none, and makes the page. Pages of runs beside a DIR"
            " that is named judged show its tables, too."
        ),
    )
    tables.add_argument("results", metavar="DIR", type=pathlib.Path)
    tables.add_argument("tables", metavar="TABLE.json", type=pathlib.Path, nargs="+")
    listing = commands.add_parser(
        "kernels",
        help="list the kernels that a matrix may name, or the keys of one",
        description="Lists the kernels of this installation, as they describe themselves.",
    )
    listing.add_argument("name", metavar="KERNEL", nargs="?")
    listing.add_argument(
        "--markdown", action="store_true", help="write the page docs/user/bench-options.md"
    )
    return whole


FILES = "@files"  # in the place of words: names of files


def next_words(before):
    """The words that may follow `before`, for the completion of shells."""
    commands = next(
        action.choices for action in parser()._actions if isinstance(action.choices, dict))
    if not before:
        return list(commands)
    if before[0] not in commands:
        return []
    actions = commands[before[0]]._actions
    options = {name: action for action in actions for name in action.option_strings}
    last = options.get(before[-1])
    if len(before) > 1 and last is not None and last.nargs != 0:
        return [FILES] if last.type is pathlib.Path else []
    return [*operands(before[0]), *(name for name in options if name.startswith("--"))]


def operands(command):
    """Those that a command may have."""
    if command in ("run", "submit"):
        return [FILES, *matrix.ready()]
    if command != "kernels":
        return [FILES]
    try:
        return list(kernels.known())
    except Mistake:
        return []
