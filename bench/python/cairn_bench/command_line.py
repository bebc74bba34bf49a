"""cairn bench run, report: options, the order of work, and what is printed."""

import argparse
import datetime
import pathlib
import re
import sys

from . import cells as cells_module
from . import (
    figures,
    installation,
    matrix as matrix_module,
    page,
    rounds,
    sizes,
    space,
    store,
    summary,
)
from .errors import Mistake
from .systems import System

EPILOG = """\
A matrix names systems, kernels and rounds; ready ones: {ready}.
Exit codes: 0 all cells ran and their data were right; 1 a cell failed, hung or had wrong data;
2 usage; 130 interrupted (what was measured is kept)."""


def main(words):
    parser = argparse.ArgumentParser(
        prog="cairn bench",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Run I/O kernels on several systems, and show what each gives.",
        epilog=EPILOG.format(
            ready=", ".join(sorted(path.stem for path in matrix_module.READY.glob("*.yaml")))
        ),
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    run = commands.add_parser("run", help="run a matrix")
    run.add_argument("matrix", metavar="MATRIX", help="a file, or the name of a ready matrix")
    run.add_argument(
        "--output",
        metavar="DIR",
        type=pathlib.Path,
        help="a new directory for results.jsonl and report.html",
    )
    run.add_argument(
        "--dry-run", action="store_true", help="print the commands and the bytes; run nothing"
    )
    run.add_argument("--rounds", type=int, metavar="N", help="instead of the matrix's")
    run.add_argument("--scale", type=float, metavar="X", help="times the matrix's amounts of data")
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
    given = parser.parse_args(words)
    try:
        return run_command(given) if given.command == "run" else report_command(given)
    except Mistake as mistake:
        for line in mistake.lines:
            print(f"cairn bench: {line}", file=sys.stderr)
        return mistake.code
    except BrokenPipeError:
        return 1


def run_command(given):
    matrix, source, path = matrix_module.load(given.matrix)
    adjust(matrix, given)
    systems, left_out = usable_systems(matrix)
    cells = [
        cell
        for cell in cells_module.expand(matrix, systems)
        if not given.only or re.search(given.only, cell.name)
    ]
    cells, more = with_libraries(matrix, cells, systems)
    left_out += more
    if not cells:
        raise Mistake([f"{path}: no cell to run", *left_out])
    systems = {name: systems[name] for name in dict.fromkeys(cell.system for cell in cells)}
    for line in left_out:
        print(f"cairn bench: left out: {line}", file=sys.stderr)
    if given.dry_run:
        print("\n".join(plan(matrix, cells, systems)))
    wrong = space.what_does_not_fit(cells, systems)
    if wrong:
        raise Mistake([*wrong, "nothing was started; use --scale or another directory"], code=1)
    if given.dry_run:
        return 0
    return run_all(given, matrix, matrix_module.digest(source), cells, systems, left_out)


def run_all(given, matrix, digest, cells, systems, left_out):
    directory = given.output or pathlib.Path("bench-results") / (
        f"{matrix['name']}-{datetime.datetime.now().strftime('%Y%m%d-%H%M%S')}"
    )
    directory.mkdir(parents=True, exist_ok=True)
    try:
        results = store.Store(directory / "results.jsonl")
    except FileExistsError:
        raise Mistake(f"{directory / 'results.jsonl'}: exists; choose another --output") from None
    reason = rounds.Runner(matrix, digest, cells, systems, left_out).run(results)
    results.close()
    found = store.load(results.path)
    show(found, directory / "report.html")
    print(f"\n{results.path}\n{directory / 'report.html'}")
    if reason == "interrupted":
        print("cairn bench: interrupted; the finished rounds are kept", file=sys.stderr)
        return 130
    return 1 if any(record["status"] != "ok" for record in found.results) else 0


def report_command(given):
    path = given.results / "results.jsonl" if given.results.is_dir() else given.results
    found = store.load(path)
    target = given.output or path.parent / "report.html"
    show(found, target)
    print(f"\n{target}")
    return 1 if any(record["status"] != "ok" for record in found.results) else 0


def show(found, target):
    print("\n".join(summary.lines(figures.Figures(found))))
    target.write_text(page.make(found), encoding="utf-8")


def adjust(matrix, given):
    if given.rounds is not None:
        if given.rounds < 1:
            raise Mistake(f"--rounds: {given.rounds}: expected at least 1")
        matrix["rounds"] = given.rounds
    if given.scale is not None:
        if given.scale <= 0:
            raise Mistake(f"--scale: {given.scale}: expected more than 0")
        matrix["scale"] *= given.scale
    if given.only:
        try:
            re.compile(given.only)
        except re.error as error:
            raise Mistake(f"--only: {given.only}: not a regular expression: {error}") from error


def usable_systems(matrix):
    """{name: System} of those that can run here, and why optional ones were left out."""
    systems, left_out, wrong = {}, [], []
    for name, entry in matrix["systems"].items():
        system = System(name, entry)
        problems = system.problems()
        if not problems:
            systems[name] = system
        elif entry.get("optional"):
            left_out += problems
        else:
            wrong += problems
    if wrong:
        raise Mistake(wrong)
    return systems, left_out


def with_libraries(matrix, cells, systems):
    """Cells whose kernel was built with what they need, and why others were left out."""
    kept, left_out = [], []
    for cell in cells:
        mpi = systems[cell.system].mpi
        if cell.parameters.get("api") != "HDF5" or installation.has_hdf5(mpi):
            kept.append(cell)
            continue
        text = f"{cell.name}: the kernels of {mpi} were built without libhdf5-{mpi}-dev"
        if not matrix["kernels"][cell.kernel].get("optional"):
            raise Mistake(text)
        left_out.append(text)
    return kept, left_out


def plan(matrix, cells, systems):
    """Lines for --dry-run."""
    rounds_to_run = matrix["warmup"] + matrix["rounds"]
    lines = []
    for cell in cells:
        system = systems[cell.system]
        directory = system.directory / "cairn-bench-DIR"
        variables = [f"{key}={value}" for key, value in system.environment(cell).items()]
        lines.append(
            f"# {cell.name}: {sizes.show(cells_module.file_bytes(cell))} on the medium, "
            f"{sizes.show(cells_module.memory_bytes(cell))} of memory in the ranks"
        )
        lines.append(" ".join([*variables, *system.words(cell, directory)]))
    total = sum(map(cells_module.file_bytes, cells)) * rounds_to_run
    lines.append(
        f"# {len(cells)} cells, {rounds_to_run} rounds ({matrix['warmup']} to warm up), "
        f"{sizes.show(total)} in all"
    )
    return lines
