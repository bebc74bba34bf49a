"""The report: one HTML page that holds all it needs, for a browser or for paper."""

import pathlib
import shlex

from .. import sizes
from ..plan import sizing
from ..results import figures as figures_module, summary
from . import details, headline, overview, sections, tables, top
from .markup import fill, lines_of, of_package

STYLE = pathlib.Path(__file__).with_name("page.css")
NOTES = [
    (
        "Rates are MiB/s: bytes that the ranks asked for, divided by the time of the slowest rank. "
        "Each byte of a file counts once. A rate is the geometric mean over the rounds."
    ),
    (
        "Times are those of the original programs' figures, named in each table: with open and"
        " close, and for hacc with the header and the memory of the read. read+subset of bdcats"
        " contains the choice of a random tenth."
    ),
    (
        "Reads follow writes on the same node, and no cache is dropped unless a cell says so."
        ' "Page cache": the write ends in the memory of the kernel, or the read comes from there,'
        ' and not from the disk. "Fsync called, volatile": the medium is memory, so the sync makes'
        ' nothing durable. "As the program does": a program of others does not tell whether it'
        " syncs."
    ),
    (
        "The line at a bar is the 95 % interval of the geometric mean of one system's rates, from"
        " three rounds on. The bars of the phases are those of single ranks, from the first to the"
        " last: a long one is a straggler. Of more than 32 ranks, a bar is the slowest one of some"
        " neighbours. A phase has one colour on the whole page."
    ),
    (
        "Timed for: the seconds of an access in one round. A * marks an access that is timed for"
        " less than 1 s: the start of a few calls can decide its rate."
    ),
    (
        "Memory before the write: used, where the pages were written before, as in a pool that was"
        " populated or in files that are rewritten; new, where the kernel has to find and clear"
        " them during the write. Only systems that meet the same memory are alike."
    ),
    (
        "Against the baseline: the geometric mean of the ratios of each round, which is the"
        " quotient of the two rates. Its interval is Student's, on the logarithms of the ratios. It"
        " is simultaneous: with a probability of 95 %, the intervals of all rows of a system"
        " contain their true ratios. A difference is shown if its interval excludes 1. The number"
        " of rounds was fixed before they began."
    ),
    (
        "Per cent of a limit: the rate divided by that of a copy between the ranks' buffers and a"
        " warm mapping of the same medium, by as many ranks, in the same round. For writes it is"
        " the faster one of a plain copy and one past the cache. On a disk there is also the limit"
        " of the device: direct writes, with a sync, and direct reads, past the page cache; a"
        " synced write is judged by that one. A share above 100 % is possible and stands with the"
        " name of its limit: the limit is that of one way, not of the hardware, and what lies in"
        " the page cache needs no device."
    ),
    (
        "Verified: bytes that were compared with what was written, and equal; outside of all"
        " times. A cell with one wrong byte is INVALID and void."
    ),
    (
        "Start-up: from the start of the command until MPI is initialised, with the launcher and,"
        " for Cairn, its pool. Finalize: from the last figure to the end of the command, with"
        " Cairn's drain. Memory of a node: what the ranks have for themselves after an access, the"
        " run's own files in memory (tmpfs, huge pages) on the node that started the command, and"
        " a pool that was there before. Whole command: from start to exit, with the check."
    ),
]



HEAD = """\
<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<title>{title}</title>
<style>{style}</style></head><body>
<h1>{title}</h1>"""


def make(results, past=None, tables_of_bars=None):
    """past: what history.of_run found, for the strips. tables_of_bars: {name: record}, judged."""
    found = figures_module.Figures(results)
    run = results.run
    title = f"cairn bench: {run['matrix']['name']}"
    glance = headline.Headline(found, run)
    parts = [
        fill(HEAD, title=title, style=of_package(STYLE)),
        *opening(results),
        *top.section(glance),
        *overview.section(found, run),
        *(fill("<p>{}</p>", line) for line in summary.noise_lines(found) if line),
        *about_the_run(results),
        *at_a_glance(glance),
        *sections.limit_table(found),
        *sections.latencies(found),
        *sections.history_strips(past or {}),
        *sections.scaling(found),
        *sections.judged_tables(tables_of_bars or {}),
        *details.section(found, run),
        fill("<h2>How to read it</h2><ul>"),
        *(fill("<li>{}</li>", note) for note in NOTES),
        fill("</ul>"),
        fill("<h2>Machine</h2>"),
        *machine(run),
        fill("<h2>Commands</h2>"),
        *commands(found),
        fill("</body></html>"),
    ]
    return lines_of(parts) + "\n"


def opening(results):
    """The lines below the title: the run, its machine and time, and whether to cite its figures."""
    run = results.run
    environment = run["environment"]
    count = "1 round" if results.rounds == 1 else f"{results.rounds} rounds"
    rounds = f"; {count} after {run['warmup']} that no figure uses"
    parts = [
        fill(
            '<p class="faint">{}, {} processors, {}; {}; {} UTC{}.</p>',
            environment["processor"],
            environment["processors"],
            environment["system"],
            environment.get("cairn"),
            run["started"][:16].replace("T", " "),
            rounds if run["rounds"] else "",
        )
    ]
    if run["matrix"].get("about"):
        parts.insert(0, fill("<p>{}</p>", run["matrix"]["about"]))
    if run.get("quick"):
        parts.append(fill('<p class="warning">{}</p>', summary.QUICK))
    if not results.complete:
        reason = results.end["reason"] if results.end else "killed"
        parts.append(
            fill('<p class="warning">Not complete ({}): cells lack rounds.</p>', reason)
        )
    return parts


def about_the_run(results):
    """How its sizes and rounds were chosen, and what it lacks."""
    run, parts = results.run, []
    if run.get("sizing"):
        parts.append(fill("<p>{}.</p>", sizing.text(run["sizing"]).capitalize()))
    if results.plan:
        parts.append(fill("<p>{}</p>", summary.plan_text(results.plan)))
    return parts + [fill("<p>Left out: {}</p>", line) for line in run.get("left_out", [])]


def at_a_glance(glance):
    """The list of headline.py, one column for each system."""
    rows, systems = glance.rows(), glance.found.systems()
    if not rows:
        return []
    about = ""
    if glance.kernel is not None:
        about = fill(
            '<p class="faint">Rates, times and scaling: {}, {}. Start-up, finalize and memory: '
            "medians over all cells of a system.</p>",
            glance.kernel,
            summary.of_ranks(glance.ranks),
        )
    heads = ("figure", *systems)
    lines = [
        tables.line(heads, what, [parts_of(texts[system]) for system in systems])
        for what, texts in rows
    ]
    return [fill("<h2>At a glance</h2>"), about, *tables.table(heads, lines, "glance")]


def parts_of(text):
    """The first part as it is, the others small."""
    first, *others = text.split("; ")
    return fill("{}{}", first, tables.smalls(others))


def machine(run):
    environment = dict(run["environment"])
    if environment.get("memory_bytes"):
        environment["memory_bytes"] = sizes.show(environment["memory_bytes"])
    parts = [
        fill("<dl>"),
        *(entry(key, value) for key, value in environment.items() if value is not None),
    ]
    for name, system in run["systems"].items():
        places = [
            f"{key.replace('_', ' ')} {found['directory']} "
            f"({found['type']} {found['source']}, {found['options']})"
            for key, found in system.items()
            if isinstance(found, dict) and "mount_point" in found
        ]
        about = system["given"].get("about", "")
        parts.append(entry(name, "; ".join(filter(None, [about, system["mpi_version"], *places]))))
    return [*parts, fill("</dl>")]


def entry(name, text):
    return fill("<dt>{}</dt><dd>{}</dd>", name, text)


def commands(found):
    parts = []
    for (kernel, ranks, system), state in found.states.items():
        variables = [f"{key}={value}" for key, value in state.environment.items()]
        steps = [*(step["command"] for step in state.before), state.command]
        texts = [shlex.join([*variables, *step]) for step in steps]
        if state.hints:
            hints = ", ".join(f"{key}={value}" for key, value in sorted(state.hints.items()))
            texts.append(f"# hints in force: {hints}")
        parts.append(
            fill(
                "<details><summary>{} on {}, {} ranks</summary><pre>{}</pre></details>",
                kernel,
                system,
                ranks,
                lines_of(texts),
            )
        )
    return parts
