"""cairn bench run, report, compare, submit: the order of work, and what is printed."""

import contextlib
import datetime
import math
import os
import pathlib
import platform
import re
import shlex

from . import files, options, sizes
from .digits import three
from .errors import Mistake
from .page import figure_files, page
from .plan import cells as cells_module
from .plan import kernel_list, limits, matrix as matrix_module, outside, pilot, sizing
from .results import compare, figures, history, judged, store, summary
from .run import checks, rounds, scratch, slurm, trial
from .run.systems import System
from .terminal import say, tell


RESULTS = "results.jsonl"
NOT_WITH_RESUME = (
    *("MATRIX", "--output", "--rounds", "--scale", "--ranks", "--launcher", "--only", "--quick"),
    "--machine",
)
TRIAL = "trial.jsonl"  # of sizes; there while they are tried


def main(words):
    if words[:1] == ["complete"]:
        say(*options.next_words(words[1:]))
        return 0
    # argparse gives words after "--" to the first positional argument, which is MATRIX.
    more = words[words.index("--") + 1 :] if "submit" in words[:1] and "--" in words else []
    given = options.parser().parse_args(words[: len(words) - len(more) - 1] if more else words)
    given.more = more
    action = {
        "run": run_command,
        "report": report_command,
        "compare": compare_command,
        "submit": submit_command,
        "add": add_command,
        "kernels": kernels_command,
    }
    try:
        return action[given.command](given)
    except Mistake as mistake:
        for line in mistake.lines:
            tell(line)
        return mistake.code
    except BrokenPipeError:
        return 1
    except OSError as error:
        if error.filename is None:
            raise
        tell(f"{error.filename}: {error.strerror}")
        return 1


def run_command(given):
    before = None
    if given.resume is not None:
        before, source, digest = taken_up(given)
    elif given.matrix is None:
        raise Mistake("run: missing MATRIX or --resume DIR; cairn bench run -h lists the options")
    else:
        source = matrix_module.read(given.matrix)
        digest = matrix_module.digest(source.text)
        adjust(source, given)
    matrix = source.matrix
    work = checks.checked(source)
    for line in work.left_out:
        tell(f"left out: {line}")
    if given.dry_run:
        say(*plan(matrix, work.cells, work.systems))
    if work.too_large:
        raise Mistake(
            [*work.too_large, "nothing was started; use --scale or another directory"], code=1
        )
    if given.dry_run:
        return 0
    if before is not None:
        return go_on(rounds.Runner(matrix, digest, work), before, given.resume)
    directory = new_directory(given, matrix)
    choice = None
    if sizing.settings(matrix):
        choice = choose_sizes(matrix, digest, work, directory / TRIAL)
        if choice is None:
            return 130
    runner = rounds.Runner(matrix, digest, work)
    runner.sizing = choice
    return run_all(runner, new_store(directory))


def go_on(runner, before, directory):
    """Runs what an earlier start has left, and removes what it left behind."""
    results = store.Store(directory / RESULTS, resume=True)
    notes = scratch.noted(directory / RESULTS)
    scratch.remove_left(notes, platform.node())
    runner.remove_pools(notes[-1].get("pools", {}) if notes else {})
    runner.go_on(before)
    return run_all(runner, results)


def choose_sizes(matrix, digest, work, path):
    """Chooses the sizes by a trial and puts them into the matrix; returns the record of the choice,
    or None if that was interrupted. path: of a file that says what the trial has made, for a later
    start."""
    with trial_store(path) as results:
        choice = trial.Trial(matrix, digest, work, results).choice()
    if choice is None:
        return None
    found = choice.record()
    for line in (sizing.text(found), *sizing.lines(found)):
        tell(line)
    work.cells = trial.rescaled(matrix, work.cells, choice.scales)
    if "scale" in found:  # the same for all
        matrix["scale"] *= found["scale"]
    else:
        matrix["kernels"] = trial.with_scales(matrix, choice.scales)["kernels"]
    work.limits = limits.needed(work.cells, work.systems, matrix["limits"])
    return found


@contextlib.contextmanager
def trial_store(path):
    """The Store of a trial; it stays only if the trial is killed."""
    if path.exists():
        os.close(files.opened_own(path))
        scratch.remove_left(scratch.noted(path), platform.node())
        path.unlink()
    results = store.Store(path)
    try:
        yield results
    finally:
        results.close()
        path.unlink(missing_ok=True)


def taken_up(given):
    """(results so far, the source of their matrix, its digest) of --resume."""
    for name in NOT_WITH_RESUME:
        if getattr(given, name.lower().removeprefix("--"), None) is not None:
            raise Mistake(f"{name}: not with --resume, which goes on as the run began")
    before = to_resume(given.resume)
    for name, entry in before.run["systems"].items():
        now = str(System(name, entry["given"]).directory)
        if now != entry["directory"]["directory"]:
            raise Mistake(
                f"systems.{name}.directory: {now}: the run began in "
                f"{entry['directory']['directory']}; start --resume in the same directory"
            )
    matrix = {**matrix_module.DEFAULTS, **before.run["matrix"]}
    source = matrix_module.Source(given.resume, matrix=matrix)
    return before, source, before.run["matrix_sha256"]


def to_resume(directory):
    """The results of a run that did not end."""
    path = directory / RESULTS
    if not path.exists() and (directory / TRIAL).exists():
        raise Mistake(
            f"{directory}: the run ended before its first round; start it anew with --output "
            f"{directory}, which removes what it has left"
        )
    os.close(files.opened_own(path))  # it says what is run
    before = store.load(path)
    if before.complete:
        raise Mistake(f"{directory}: this run is complete; nothing to resume")
    return before


def new_directory(given, matrix):
    """The directory of a run's results, which has none yet."""
    directory = given.output or pathlib.Path("bench-results") / (
        f"{matrix['name']}-{datetime.datetime.now().strftime('%Y%m%d-%H%M%S')}"
    )
    directory.mkdir(parents=True, exist_ok=True)
    if os.path.lexists(directory / RESULTS):
        raise Mistake(already(directory))
    return directory


def new_store(directory):
    try:
        return store.Store(directory / RESULTS)
    except FileExistsError:
        raise Mistake(already(directory)) from None


def already(directory):
    return f"{directory / RESULTS}: exists; choose another --output, or --resume {directory}"


def run_all(runner, results):
    reason = runner.run(results)
    results.close()
    found = store.load(results.path)
    target = results.path.parent / "report.html"
    log = history.beside(results.path.parent)
    history.append(log, found)
    show(found, target, log)
    say("", results.path, target)
    if reason == "interrupted":
        tell(
            "interrupted; the finished rounds are kept; to go on: "
            f"cairn bench run --resume {shlex.quote(str(results.path.parent))}"
        )
        return 130
    return 1 if any(record["status"] != "ok" for record in found.results) else 0


def report_command(given):
    path = given.results / "results.jsonl" if given.results.is_dir() else given.results
    found = store.load(path)
    target = given.output or path.parent / "report.html"
    show(found, target, history.beside(path.parent), named=given.output is not None)
    say("", target)
    if given.figures is not None:
        past = history.of_run(found, history.beside(path.parent))
        paths = figure_files.write(figures.Figures(found), given.figures, past)
        say(f"{given.figures}: {len(paths)} files")
        if not figure_files.available():
            tell("no vl-convert-python: Vega-Lite files only")
    return 1 if any(record["status"] != "ok" for record in found.results) else 0


def add_command(given):
    path = judged.add(given.results, given.tables)
    found = store.load(path)
    log = history.beside(path.parent)
    history.append(log, found)
    write_page(found, path.parent / "report.html", log)
    say(path.parent / "report.html")
    return 0


def compare_command(given):
    rules = [compare.rule(text) for text in given.fail_if]
    one, other = compare.side(given.a), compare.side(given.b)
    found = compare.rows(one, other)
    if not found:
        raise Mistake(f"{given.a}, {given.b}: no cell in common", code=1)
    say(*summary.columns(compare.table(found), compare.LEFT), "")
    say(*compare.notes(one, other, found))
    broken = [(row, one) for one in rules for row in found if one.broken_by(row)]
    for row, one in broken:
        tell(f"{row.name}: ratio {three(row.verdict.ratio.ratio)} {one.sign} {one.bound:g}")
    return 1 if broken else 0


def kernels_command(given):
    say(*(kernel_list.markdown() if given.markdown else kernel_list.lines(given.name)))
    return 0


def submit_command(given):
    given_options = [
        (option, getattr(given, option.replace("-", "_"))) for option in options.SBATCH
    ]
    source, output, words = job_of(given)
    for line in checks.checked(source, job=True).left_out:
        tell(f"left out: {line}")
    text = slurm.script(source.matrix["name"], words, output, given_options)
    if given.print:
        say(*text.removesuffix("\n").split("\n"))
        return 0
    target = output.with_name(output.name + ".sbatch")
    target.parent.mkdir(parents=True, exist_ok=True)
    files.replace(target, text)
    say(*slurm.submit(target).split("\n"))
    return 0


def job_of(given):
    """(source of the matrix, absolute directory of the results, words after `run`) of a job."""
    if given.resume is not None:
        if given.more:
            raise Mistake("words after --: not with --resume, which goes on as the run began")
        _, source, _ = taken_up(given)
        directory = given.resume.absolute()
        return source, directory, ["--resume", str(directory)]
    if given.matrix is None or given.output is None:
        raise Mistake("submit: missing MATRIX and --output DIR, or --resume DIR")
    source = matrix_module.read(given.matrix)
    words = options.parser().parse_args(["run", given.matrix, *given.more])
    words.launcher = words.launcher or "srun"
    adjust(source, words)
    output = given.output.absolute()
    before = [str(source.path.absolute()), "--launcher", "srun", "--output", str(output)]
    return source, output, [*before, *given.more]


def show(found, target, log, named=False):
    say(*summary.lines(figures.Figures(found)))
    write_page(found, target, log, named)


def write_page(found, target, log, named=False):
    """named: the user has named the target, which may be a link or a device."""
    tables = judged.of_page(found, log.parent / "run")
    text = page.make(found, history.of_run(found, log), tables)
    if named:
        target.write_text(text, encoding="utf-8")
    else:
        files.replace(target, text)


def adjust(source, given):
    """Puts the options of `run` in the place of the matrix's values."""
    matrix = source.matrix
    if given.quick:
        sizing.make_quick(matrix)
    if given.rounds is not None:
        if given.rounds < 1:
            source.tell_of_options(f"--rounds: {given.rounds}: expected at least 1")
        matrix["rounds"] = given.rounds
        matrix.pop("pilot", None)
    if given.scale is not None:
        if not 0 < given.scale < math.inf:
            source.tell_of_options(f"--scale: {given.scale}: expected more than 0")
        else:
            matrix["scale"] = matrix.get("scale", 1) * given.scale
    if given.ranks is not None:
        ranks = [int(word) if word.isdecimal() else 0 for word in given.ranks.split(",")]
        if min(ranks) < 1:
            source.tell_of_options(
                f"--ranks: invalid numbers '{given.ranks}': expected 2 or 2,4,8"
            )
        else:
            matrix["ranks"] = ranks
    if given.machine is not None:
        if not given.machine.strip():
            source.tell_of_options("--machine: expected a name")
        matrix["machine"] = given.machine
    if given.launcher is not None:
        matrix["launcher"] = given.launcher
    if given.only:
        try:
            re.compile(given.only)
            matrix["only"] = given.only
        except re.error as error:
            source.tell_of_options(f"--only: {given.only}: not a regular expression: {error}")


def plan(matrix, cells, systems):
    """Lines for --dry-run."""
    wanted = pilot.settings(matrix)
    before = matrix["warmup"] + (wanted["rounds"] if wanted else 0)
    rounds_to_run = before + (wanted["most"] if wanted else matrix["rounds"])
    lines = []
    for cell in cells:
        system = systems[cell.system]
        directory = system.directory / "cairn-bench-DIR"
        own = {**system.environment(cell.ranks), **outside.variables(cell.parameters, directory)}
        variables = [f"{key}={value}" for key, value in own.items()]
        lines.append(
            f"# {cell.name}: {sizes.show(cells_module.file_bytes(cell))} on the medium, "
            f"{sizes.show(cells_module.memory_bytes(cell))} of memory in the ranks"
        )
        lines += [" ".join([*variables, *each]) for each in system.all_words(cell, directory)]
    total = sum(map(cells_module.file_bytes, cells)) * rounds_to_run
    lines.append(
        f"# {len(cells)} cells, {'at most ' if wanted else ''}{rounds_to_run} rounds "
        f"({before} to warm up), "
        f"{sizes.show(total)} in all"
    )
    return lines
