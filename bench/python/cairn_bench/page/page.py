"""The report: one HTML page that holds all it needs, for a browser or for paper."""

import pathlib
import shlex
import statistics

from .. import sizes
from ..digits import three
from ..plan import sizing
from ..results import figures as figures_module, history, judged, summary
from ..results.moved import medium_of, moved
from . import charts, headline, strips, umami
from .markup import fill, joined, lines_of, of_package

LATENCIES = ("p50", "p90", "p99", "p99.9")
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
        "The line below a bar is the 95 % interval of the geometric mean of one system's rates. The"
        " bars of the phases are those of single ranks, from the first to the last: a long one is a"
        " straggler. Of more than 32 ranks, a bar is the slowest one of some neighbours."
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
        " growth of files in memory (tmpfs, huge pages) during the command on the node that started"
        " it, and a pool that was there before. Whole command: from start to exit, with the check."
    ),
]


HEAD = """\
<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<title>{title}</title>
<style>{style}</style></head><body>
<h1>{title}</h1>"""


def make(results, past=None, tables=None):
    """past: what history.of_run found, for the strips. tables: {name: record}, judged ones."""
    found = figures_module.Figures(results)
    run = results.run
    title = f"cairn bench: {run['matrix']['name']}"
    parts = [
        fill(HEAD, title=title, style=of_package(STYLE)),
        *opening(results),
        *at_a_glance(headline.Headline(found, run)),
        *overview(found, run),
        *(fill("<p>{}</p>", line) for line in summary.noise_lines(found) if line),
        *limit_table(found),
        *latencies(found),
        *history_strips(past or {}),
        *scaling(found),
        *judged_tables(tables or {}),
        *([fill("<h2>Every round</h2>")] if found.series else []),
        *(one for row in found.rows() for one in details(found, run, *row)),
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
    run = results.run
    environment = run["environment"]
    state = (
        "complete"
        if results.complete
        else f"not complete ({results.end['reason'] if results.end else 'killed'})"
    )
    about = run["matrix"].get("about")
    count = "1 round" if results.rounds == 1 else f"{results.rounds} rounds"
    rounds = f"; {count} after {run['warmup']} that no figure uses; {state}"
    parts = [
        fill(
            '<p class="faint">{}, {} processors, {}; {}; {} UTC{}.</p>',
            environment["processor"],
            environment["processors"],
            environment["system"],
            environment.get("cairn"),
            run["started"][:19],
            rounds if run["rounds"] else "",
        )
    ]
    if about:
        parts.insert(0, fill("<p>{}</p>", about))
    if run.get("sizing"):
        parts.append(fill("<p>{}.</p>", sizing.text(run["sizing"]).capitalize()))
    if results.plan:
        parts.append(fill("<p>{}</p>", summary.plan_text(results.plan)))
    parts += [fill("<p>Left out: {}</p>", line) for line in run.get("left_out", [])]
    return parts


def heads_of(names):
    return joined(fill('<th scope="col">{}</th>', name) for name in names)


def wide_table(heads, kind=None):
    """Where a table begins, up to its body. kind: its class."""
    attribute = fill(' class="{}"', kind) if kind else ""
    return fill(
        '<div class="wide" tabindex="0"><table{}><thead><tr>{}</tr></thead><tbody>',
        attribute,
        heads,
    )


def wide(chart):
    return fill('<div class="wide" tabindex="0">{}</div>', chart)


def smalls(texts):
    return joined(fill("<small>{}</small>", each) for each in texts)


def line_of(name, about, cells):
    """A line of a table. about: what stands below the name, or None."""
    below = "" if about is None else fill("<small>{}</small>", about)
    return fill(
        '<tr><th scope="row">{}{}</th>{}</tr>',
        name,
        below,
        joined(fill("<td>{}</td>", cell) for cell in cells),
    )


TABLE_ENDS = fill("</tbody></table></div>")


def at_a_glance(top):
    """The list of headline.py, one column for each system."""
    rows = top.rows()
    if not rows:
        return []
    systems = top.found.systems()
    about = ""
    if top.kernel is not None:
        about = fill(
            '<p class="faint">Rates, times and scaling: {}, {}. Start-up, finalize and memory: '
            "medians over all cells of a system.</p>",
            top.kernel,
            summary.of_ranks(top.ranks),
        )
    return [
        fill("<h2>At a glance</h2>"),
        about,
        wide_table(heads_of(["figure", *systems]), "glance"),
        *(
            line_of(what, None, [parts_of(texts[system]) for system in systems])
            for what, texts in rows
        ),
        TABLE_ENDS,
    ]


def parts_of(text):
    """The first part as it is, the others small."""
    first, *others = text.split("; ")
    return fill("{}{}", first, smalls(others))


def overview(found, run):
    if not found.states:
        return []
    heads = joined(
        fill(
            '<th scope="col">{}{}</th>',
            system,
            fill(" <small>baseline</small>") if system == found.baseline else "",
        )
        for system in found.systems()
    )
    parts = [
        fill("<h2>What each system gives</h2>"),
        fill(
            '<p class="faint">The darker a cell, the nearer it is to its limit: '
            "steps of 20 %.</p>"
        ),
        wide_table(fill('<th scope="col">rate</th>{}', heads)),
    ]
    for kernel, access, ranks in found.rows():
        cells = joined(
            fill(
                "<td{}>{}</td>",
                heat(found.share(kernel, access, ranks, system)),
                overview_cell(found, run, kernel, access, ranks, system),
            )
            for system in found.systems()
        )
        parts.append(
            fill(
                '<tr><th scope="row">{} {}<small>{}, {}</small></th>{}</tr>',
                kernel,
                access,
                summary.of_ranks(ranks),
                unit_of(found, kernel, access, ranks),
                cells,
            )
        )
    return [*parts, TABLE_ENDS]


def judged_tables(tables):
    """The tables of bench_core and the others, with their bars."""
    parts = [fill("<h2>Judged tables</h2>")] if tables else []
    heads = ("row", "against", "measured", "95 % interval", "bar", "", "pairs", "note")
    for name, record in sorted(tables.items()):
        facts = "; ".join(f"{key}: {value}" for key, value in record["facts"].items())
        missed = sum(row.get("verdict") == "short" for row in record["rows"])
        bars = sum("verdict" in row for row in record["rows"])
        parts += [
            fill("<h3>bench-{}: {} of {} bars hold</h3>", name, bars - missed, bars),
            fill('<p class="faint">{} UTC; {}</p>', record["started"][:19], facts),
            wide_table(heads_of(heads), "judged"),
            *map(judged_row, record["rows"]),
            TABLE_ENDS,
            *(
                fill("<p>Not measured: {}, {}: {}</p>", row["group"], row["what"], row["why"])
                for row in record["not_measured"]
            ),
        ]
    return parts


def judged_row(row):
    verdict = row.get("verdict", "")
    kind = {"holds": "better", "short": "worse"}.get(verdict, "")
    low, high = (judged.value(row[key], row["unit"]) for key in ("low", "high"))
    cells = [
        row["against"],
        judged.value(row["median"], row["unit"]),
        f"{low}..{high}",
        judged.bar(row),
        fill('<span class="{}">{}</span>', kind, verdict) if verdict else "",
        row["pairs"],
        row.get("note", ""),
    ]
    return line_of(row["what"], row["group"], cells)


def overview_cell(found, run, kernel, access, ranks, system):
    state = found.state(kernel, ranks, system)
    if state is None:
        return fill('<span class="faint">not run</span>')
    series = found.counted(kernel, access, ranks, system)
    if series is None and state.status == "ok":
        return fill('<span class="faint">not measured</span>')
    if series is None:
        mark = summary.MARKS.get(state.status, state.status)
        return joined([void(mark), smalls([state.reason])])
    verdict = found.verdict(kernel, access, ranks, system)
    parts = [three(series.rate)]
    if series.is_short:
        parts.append(fill("<small>timed over {} s</small>", three(series.timed_for_s)))
    for share in found.shares(kernel, access, ranks, system):
        parts.append(
            fill(
                '<small title="{}, {} MiB/s">{} % of {}</small>',
                share.limit.name,
                three(share.limit.rate),
                three(share.ratio.ratio * 100),
                share.limit.short,
            )
        )
    if verdict is not None:
        parts.append(fill('<small class="{}">{}</small>', verdict.kind, verdict.text))
    where = moved(access, state, medium_of(run, system))
    verified = f"{sizes.show(state.verified)} verified" if state.checked else "not verified"
    return joined([*parts, smalls(each for each in (where, verified) if each)])


def void(mark):
    return fill('<span class="void">{}</span>', mark)


def limit_table(found):
    """How fast each medium and the network take and give bytes, by ranks and size of a call."""
    if not found.limits:
        return []
    heads = (
        "medium",
        "way",
        "ranks",
        "bytes of a call",
        "MiB/s",
        "lowest..highest",
        "medium of",
    )
    parts = [
        fill("<h2>Limits: what copies, devices and the network give</h2>"),
        fill("<details><summary>{} limits</summary>", len(found.limits)),
        wide_table(heads_of(heads)),
    ]
    for key in sorted(found.limits):
        one = found.limits[key]
        rates = one.rates.values()
        cells = [
            one.short,
            one.ranks,
            sizes.show(one.transfer_bytes),
            three(one.rate),
            f"{three(min(rates))}..{three(max(rates))}",
            ", ".join([*one.systems, *(f"{name} (drains there)" for name in one.drains)]),
        ]
        parts.append(line_of(one.medium, None, cells))
    return [*parts, fill("</tbody></table></div></details>")]


def scaling(found):
    """A chart for each access that was measured with several numbers of ranks."""
    parts = []
    for kernel, access in dict.fromkeys((key[0], key[1]) for key in found.series):
        points = {system: {} for system in found.systems()}
        for key, series in found.series.items():
            if key[:2] == (kernel, access) and found.counted(*key):
                points[key[3]][key[2]] = series.rate
        unit = next(one.unit for key, one in found.series.items() if key[:2] == (kernel, access))
        chart = charts.scaling_chart(f"{kernel} {access} by ranks", points, unit)
        if chart:
            parts += [fill("<h3>{} {}</h3>", kernel, access), wide(chart)]
    if not parts:
        return []
    return [
        fill("<h2>By number of ranks</h2>"),
        fill(
            '<p class="faint">Rates; dashed: the rate of the fewest ranks, '
            "times the ranks.</p>"
        ),
        *parts,
    ]


def latencies(found):
    """Percentiles of kernels and programs that tell them, and their distributions."""
    rows, distributions = [], {}
    for key in [(*row, system) for row in found.rows() for system in found.systems()]:
        series = found.counted(*key)
        if series is None or not series.latency:
            continue
        values = [headline.percentile(series, name) for name in LATENCIES]
        cells = ["" if one is None else f"{one / 1e3:.1f}" for one in values]
        title = f"{key[0]} {key[1]} on {key[3]}"
        size = sizes.show(series.transfer_bytes)
        rows.append(line_of(title, f"{summary.of_ranks(key[2])}, {size} a call", cells))
        names = dict.fromkeys(name for one in series.latency.values() for name in one)
        distributions.setdefault(key[:3], {})[key[3]] = {
            name: headline.percentile(series, name) for name in names
        }
    if not rows:
        return []
    drawn = []
    for (kernel, access, ranks), each in distributions.items():
        title = f"Latency of {kernel} {access}, {summary.of_ranks(ranks)}"
        chart = charts.latency_chart(title, each)
        if chart:
            drawn += [fill("<h3>{}</h3>", title), wide(chart)]
    return [
        fill("<h2>Latency of a call, µs</h2>"),
        wide_table(heads_of(["calls", *LATENCIES])),
        *rows,
        TABLE_ENDS,
        *drawn,
    ]


def heat(share):
    """The class of a cell: how near it is to its limit, in five steps."""
    return "" if share is None else fill(' class="heat{}"', min(4, int(share.ratio.ratio * 5)))


def history_strips(past):
    """One UMAMI strip for each figure that earlier runs have, too."""
    if not past:
        return []
    parts = [
        fill("<h2>Against earlier runs on this machine</h2>"),
        fill(
            '<p class="faint">Medians of the runs; the star is this one. At the right its quarters '
            "without this run, whiskers from 5 to 95 %. The colour says in which quarter this run "
            "lies: red, orange, green, blue from the lowest to the highest. Below {} earlier runs "
            "there are no quarters.</p>",
            history.FEWEST,
        ),
        fill('<div class="wide" tabindex="0"><table><tbody>'),
    ]
    for (kernel, access, ranks, system), found in past.items():
        title = f"{kernel} {access} {'on' if ranks else 'against'} {system}"
        quarter = "no quarters yet"
        if found.has_quarters:
            quarter = umami.WORDS[umami.quarter(found.medians)]
        of_ranks = f"{summary.of_ranks(ranks)}, " if ranks else ""
        value = f"{three(found.medians[-1])} {found.unit}"
        cells = [
            fill("{}<small>{}</small>", value, quarter),
            umami.strip(
                title, found.medians, found.unit, found.large_is_good, found.has_quarters
            ),
        ]
        parts.append(line_of(title, f"{of_ranks}{len(found.medians)} runs", cells))
    return [*parts, TABLE_ENDS]


def details(found, run, kernel, access, ranks):
    title = f"{kernel} {access}, {summary.of_ranks(ranks)}"
    unit = unit_of(found, kernel, access, ranks)
    strip, rows, phases = [], [], []
    for system in found.systems():
        state = found.state(kernel, ranks, system)
        if state is None:
            continue
        series = found.counted(kernel, access, ranks, system)
        mark = "" if series else summary.MARKS.get(state.status, "not measured")
        strip.append(
            (system, series.rates, series.rate, series.interval, "")
            if series
            else (system, {}, 0, None, mark)
        )
        if series:
            phases.append((system, charts.phase_medians(series.phases)))
        shares = found.shares(kernel, access, ranks, system)
        medium = medium_of(run, system)
        rows.append(detail_row(system, access, state, series, shares, mark, medium))
    heads = [
        "system",
        "rate",
        "lowest",
        "highest",
        "rounds",
        "timed for",
        "of the limit",
        "drift",
        "slowest rank",
        "first rank done",
        "start-up",
        "finalize",
        "memory of a node",
        "whole command",
        "verified",
        "moved",
        "through",
    ]
    figure = next(
        (
            found.series[key].original_name
            for key in found.series
            if key[:3] == (kernel, access, ranks)
        ),
        "",
    )
    named = fill(", the original&#x27;s &ldquo;{}&rdquo;", figure) if figure else ""
    return [
        fill("<h3>{}</h3>", title),
        wide(strips.strip_chart(title, strip, unit)),
        wide(charts.phase_chart(f"Phases of {title}", phases)),
        wide_table(heads_of(heads)),
        *rows,
        TABLE_ENDS,
        fill(
            '<p class="faint">Slowest rank: median seconds{}. Drift: rank correlation of '
            "the rates with time, from -1 to 1.</p>",
            named,
        ),
    ]


def unit_of(found, kernel, access, ranks):
    return next(
        (one.unit for key, one in found.series.items() if key[:3] == (kernel, access, ranks)),
        "MiB/s",
    )


def moved_cell(access, state, medium):
    """With what was done between the writes and the reads, and what stayed cached."""
    text = moved(access, state, medium)
    if not access.startswith(("read", "restore")) or not state.reads.get("how"):
        return text
    more = [state.reads["how"]]
    if state.reads.get("file_bytes"):
        cached, total = (sizes.show(state.reads[key]) for key in ("cached_bytes", "file_bytes"))
        more.append(f"{cached} of {total} still cached")
    return fill("{}{}", text, smalls(more))


def shares_cell(shares):
    return joined(
        fill(
            "<div>{}{}</div>",
            summary.share_text(share),
            ""
            if share.ratio.half is None
            else fill(
                "<small>{}..{} %</small>",
                three(share.ratio.low * 100),
                three(share.ratio.high * 100),
            ),
        )
        for share in shares
    )


def detail_row(system, access, state, series, shares, mark, medium):
    verified = sizes.show(state.verified) if state.checked else "not verified"
    if series is None:
        return line_of(system, None, [void(mark), *[""] * 12, verified, "", state.reason])
    cells = [
        three(series.rate),
        three(series.lowest),
        three(series.highest),
        len(series.rates),
        summary.seconds_text(series),
        shares_cell(shares),
        "" if series.drift is None else f"{series.drift:+.1f}",
        f"{statistics.median(series.seconds.values()):.4f} s" if series.seconds else "",
        f"{statistics.median(series.first_done.values()):.4f} s" if series.first_done else "",
        f"{statistics.median(state.startups):.2f} s" if state.startups else "",
        f"{statistics.median(state.finals):.2f} s" if state.finals else "",
        sizes.show(round(statistics.median(state.memory))) if state.memory else "",
        f"{statistics.median(state.walls):.2f} s",
        verified,
        moved_cell(access, state, medium),
        state.api,
    ]
    return line_of(system, None, cells)


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
