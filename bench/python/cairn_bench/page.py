"""The report: one HTML page that holds all it needs, for a browser or for paper."""

import html
import pathlib
import shlex
import statistics

from . import (
    charts,
    figures as figures_module,
    headline,
    judged,
    sizes,
    sizing,
    strips,
    summary,
    umami,
)
from .errors import telling_line
from .moved import medium_in_memory, moved

LATENCIES = ("p50", "p90", "p99", "p99.9")
STYLE = pathlib.Path(__file__).with_name("page.css")
NOTES = [
    (
        "Rates are MiB/s: bytes that the ranks asked for, divided by the time of the slowest rank. "
        "Each byte of a file counts once."
    ),
    (
        "Times are those of the original programs' figures, named in each table: with open and"
        " close, and for hacc with the header and the memory of the read. read+subset of bdcats"
        " contains the choice of a random tenth."
    ),
    (
        "Reads follow writes on the same node, so the data may lie in memory: no cache was dropped."
        " The systems whose reads come after a remount, meet no page cache, or are those of other"
        " ranks say so in each cell."
    ),
    (
        "The line below a bar is the 95 % interval of the geometric mean of one system's rates. The"
        " bars of the phases are those of single ranks, from the first to the last: a long one is a"
        " straggler. Of more than 32 ranks, a bar is the slowest one of some neighbours."
    ),
    (
        "The interval is the 95 % interval of paired ratios: Student's t on the logarithms of the"
        " ratios of each round. It holds for one comparison, not for the table. Whether a"
        " difference is shown is decided over the whole table, after Holm: all verdicts together"
        " are wrong with a probability of 5 %. The number of rounds was fixed before they began."
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
        "Verified: bytes compared with what was written, outside of all times. A cell with one"
        " wrong byte is INVALID and void."
    ),
    (
        "Start-up: from the start of the command until MPI is initialised, with the launcher and,"
        " for Cairn, its pool. Finalize: from the last figure to the end of the command, with"
        " Cairn's drain. Memory of a node: what the ranks have for themselves after an access, the"
        " growth of files in memory (tmpfs, huge pages) during the command on the node that started"
        " it, and a pool that was there before. Whole command: from start to exit, with the check."
    ),
]


def make(results, past=None, tables=None):
    """past: what history.of_run found, for the strips. tables: {name: record}, judged ones."""
    found = figures_module.Figures(results)
    run = results.run
    title = f"cairn bench: {run['matrix']['name']}"
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width,initial-scale=1">',
        f"<title>{escape(title)}</title>",
        f"<style>{STYLE.read_text(encoding='utf-8')}</style></head><body>",
        f"<h1>{escape(title)}</h1>",
        *opening(results),
        *at_a_glance(headline.Headline(found, run)),
        *overview(found, run),
        *(f"<p>{escape(line)}</p>" for line in summary.noise_lines(found) if line),
        *limit_table(found),
        *latencies(found),
        *history_strips(past or {}),
        *scaling(found),
        *judged_tables(tables or {}),
        *(["<h2>Every round</h2>"] if found.series else []),
        *(one for row in found.rows() for one in details(found, run, *row)),
        "<h2>How to read it</h2><ul>",
        *(f"<li>{escape(note)}</li>" for note in NOTES),
        "</ul>",
        "<h2>Machine</h2>",
        *machine(run),
        "<h2>Commands</h2>",
        *commands(found),
        "</body></html>",
    ]
    return "\n".join(parts) + "\n"


def escape(text):
    return html.escape(str(text))


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
    lines = [
        f'<p class="faint">{escape(environment["processor"])}, '
        f'{environment["processors"]} processors, {escape(environment["system"])}; '
        f'{escape(environment.get("cairn"))}; {escape(run["started"][:19])} UTC'
        f'{rounds if run["rounds"] else ""}.</p>'
    ]
    if about:
        lines.insert(0, f"<p>{escape(about)}</p>")
    if run.get("sizing"):
        lines.append(f"<p>{escape(sizing.text(run['sizing']).capitalize())}.</p>")
    if results.plan:
        lines.append(f"<p>{escape(summary.plan_text(results.plan))}</p>")
    lines += [f"<p>Left out: {escape(line)}</p>" for line in run.get("left_out", [])]
    return lines


def at_a_glance(top):
    """The list of headline.py, one column for each system."""
    rows = top.rows()
    if not rows:
        return []
    systems = top.found.systems()
    about = ""
    if top.kernel is not None:
        about = (
            f'<p class="faint">Rates, times and scaling: {escape(top.kernel)}, '
            f"{summary.of_ranks(top.ranks)}. Start-up, finalize and memory: medians over all "
            "cells of a system.</p>"
        )
    heads = "".join(f'<th scope="col">{escape(system)}</th>' for system in systems)
    return [
        "<h2>At a glance</h2>",
        about,
        '<div class="wide" tabindex="0"><table class="glance"><thead><tr>'
        f'<th scope="col">figure</th>{heads}</tr></thead><tbody>',
        *(
            f'<tr><th scope="row">{escape(what)}</th>'
            + "".join(f"<td>{parts_of(texts[system])}</td>" for system in systems)
            + "</tr>"
            for what, texts in rows
        ),
        "</tbody></table></div>",
    ]


def parts_of(text):
    """The first part as it is, the others small."""
    first, *others = text.split("; ")
    return escape(first) + "".join(f"<small>{escape(each)}</small>" for each in others)


def overview(found, run):
    heads = "".join(
        f'<th scope="col">{escape(system)}'
        + (" <small>baseline</small>" if system == found.baseline else "")
        + "</th>"
        for system in found.systems()
    )
    if not found.states:
        return []
    lines = [
        "<h2>What each system gives</h2>",
        '<p class="faint">The darker a cell, the nearer it is to its limit: steps of 20 %.</p>',
        '<div class="wide" tabindex="0"><table><thead><tr><th scope="col">median rate</th>'
        f"{heads}</tr></thead><tbody>"
    ]
    for kernel, access, ranks in found.rows():
        cells = "".join(
            f"<td{heat(found.share(kernel, access, ranks, system))}>"
            f"{overview_cell(found, run, kernel, access, ranks, system)}</td>"
            for system in found.systems()
        )
        lines.append(
            f'<tr><th scope="row">{escape(kernel)} {escape(access)}'
            f"<small>{summary.of_ranks(ranks)}, "
            f"{escape(unit_of(found, kernel, access, ranks))}</small></th>{cells}</tr>"
        )
    return [*lines, "</tbody></table></div>"]


def judged_tables(tables):
    """The tables of bench_core and the others, with their bars."""
    lines = ["<h2>Judged tables</h2>"] if tables else []
    heads = ("row", "against", "measured", "95 % interval", "bar", "", "pairs", "note")
    for name, record in sorted(tables.items()):
        facts = "; ".join(f"{key}: {value}" for key, value in record["facts"].items())
        missed = sum(row.get("verdict") == "short" for row in record["rows"])
        bars = sum("verdict" in row for row in record["rows"])
        lines += [
            f"<h3>bench-{escape(name)}: {bars - missed} of {bars} bars hold</h3>",
            f'<p class="faint">{escape(record["started"][:19])} UTC; {escape(facts)}</p>',
            '<div class="wide" tabindex="0"><table class="judged"><thead><tr>'
            + "".join(f'<th scope="col">{head}</th>' for head in heads)
            + "</tr></thead><tbody>",
            *map(judged_row, record["rows"]),
            "</tbody></table></div>",
            *(
                f"<p>Not measured: {escape(row['group'])}, {escape(row['what'])}: "
                f"{escape(row['why'])}</p>"
                for row in record["not_measured"]
            ),
        ]
    return lines


def judged_row(row):
    verdict = row.get("verdict", "")
    kind = {"holds": "better", "short": "worse"}.get(verdict, "")
    low, high = (judged.value(row[key], row["unit"]) for key in ("low", "high"))
    cells = [
        escape(row["against"]),
        judged.value(row["median"], row["unit"]),
        f"{low}..{high}",
        judged.bar(row),
        f'<span class="{kind}">{verdict}</span>' if verdict else "",
        row["pairs"],
        escape(row.get("note", "")),
    ]
    return (
        f'<tr><th scope="row">{escape(row["what"])}<small>{escape(row["group"])}</small></th>'
        + "".join(f"<td>{cell}</td>" for cell in cells)
        + "</tr>"
    )


def overview_cell(found, run, kernel, access, ranks, system):
    state = found.state(kernel, ranks, system)
    if state is None:
        return '<span class="faint">not run</span>'
    series = found.counted(kernel, access, ranks, system)
    if series is None and state.status == "ok":
        return '<span class="faint">not measured</span>'
    if series is None:
        return f'<span class="void">{summary.MARKS.get(state.status, state.status)}</span>'
    ratio = found.ratio(kernel, access, ranks, system)
    text = f"{series.median:.0f}"
    for share in found.shares(kernel, access, ranks, system):
        text += (
            f'<small title="{escape(share.limit.name)}, {share.limit.median:.0f} MiB/s">'
            f"{share.ratio.ratio * 100:.0f} % of {escape(share.limit.short)}</small>"
        )
    if ratio is not None:
        interval = f"{ratio.low:.2f}..{ratio.high:.2f}"
        if found.differs(kernel, access, ranks, system):
            kind = "better" if ratio.ratio > 1 else "worse"
            text += f'<small class="{kind}">x{ratio.ratio:.2f} ({interval})</small>'
        else:
            text += f"<small>no difference shown ({interval})</small>"
    where = moved(access, state, medium_in_memory(run, system))
    verified = f"{sizes.show(state.verified)} verified" if state.checked else "not verified"
    return text + "".join(f"<small>{escape(each)}</small>" for each in (where, verified) if each)


def limit_table(found):
    """How fast each medium and the network take and give bytes, by ranks and size of a call."""
    if not found.limits:
        return []
    lines = [
        "<h2>Limits: what copies, devices and the network give</h2>",
        f"<details><summary>{len(found.limits)} limits</summary>",
        '<div class="wide" tabindex="0"><table><thead><tr><th scope="col">medium</th>'
        '<th scope="col">way</th>'
        '<th scope="col">ranks</th><th scope="col">bytes of a call</th>'
        '<th scope="col">MiB/s, median</th><th scope="col">lowest..highest</th>'
        '<th scope="col">medium of</th></tr></thead><tbody>',
    ]
    for key in sorted(found.limits):
        one = found.limits[key]
        rates = one.rates.values()
        cells = [
            one.short,
            one.ranks,
            sizes.show(one.transfer_bytes),
            f"{one.median:.0f}",
            f"{min(rates):.0f}..{max(rates):.0f}",
            ", ".join([*one.systems, *(f"{name} (drains there)" for name in one.drains)]),
        ]
        lines.append(
            f'<tr><th scope="row">{escape(one.medium)}</th>'
            + "".join(f"<td>{escape(cell)}</td>" for cell in cells)
            + "</tr>"
        )
    return [*lines, "</tbody></table></div></details>"]


def scaling(found):
    """A chart for each access that was measured with several numbers of ranks."""
    lines = []
    for kernel, access in dict.fromkeys((key[0], key[1]) for key in found.series):
        points = {system: {} for system in found.systems()}
        for key, series in found.series.items():
            if key[:2] == (kernel, access) and found.counted(*key):
                points[key[3]][key[2]] = series.median
        unit = next(one.unit for key, one in found.series.items() if key[:2] == (kernel, access))
        chart = charts.scaling_chart(f"{kernel} {access} by ranks", points, unit)
        if chart:
            lines += [
                f"<h3>{escape(kernel)} {escape(access)}</h3>",
                f'<div class="wide" tabindex="0">{chart}</div>',
            ]
    if not lines:
        return []
    note = "Medians; dashed: the rate of the fewest ranks, times the ranks."
    return ["<h2>By number of ranks</h2>", f'<p class="faint">{note}</p>', *lines]


def latencies(found):
    """Percentiles of kernels and programs that tell them, and their distributions."""
    rows, lines = [], {}
    for key in [(*row, system) for row in found.rows() for system in found.systems()]:
        series = found.counted(*key)
        if series is None or not series.latency:
            continue
        values = [headline.percentile(series, name) for name in LATENCIES]
        cells = "".join("<td></td>" if one is None else f"<td>{one / 1e3:.1f}</td>"
                        for one in values)
        title = f"{key[0]} {key[1]} on {key[3]}"
        size = sizes.show(series.transfer_bytes)
        about = f"{summary.of_ranks(key[2])}, {size} a call"
        rows.append(f'<tr><th scope="row">{escape(title)}<small>{about}</small></th>{cells}</tr>')
        names = dict.fromkeys(name for one in series.latency.values() for name in one)
        lines.setdefault(key[:3], {})[key[3]] = {
            name: headline.percentile(series, name) for name in names
        }
    if not rows:
        return []
    heads = "".join(f'<th scope="col">{name}</th>' for name in LATENCIES)
    drawn = []
    for (kernel, access, ranks), each in lines.items():
        title = f"Latency of {kernel} {access}, {summary.of_ranks(ranks)}"
        chart = charts.latency_chart(title, each)
        if chart:
            drawn += [f"<h3>{escape(title)}</h3>", f'<div class="wide" tabindex="0">{chart}</div>']
    return [
        "<h2>Latency of a call, µs</h2>",
        (
            '<div class="wide" tabindex="0"><table><thead><tr><th'
            f' scope="col">calls</th>{heads}</tr></thead><tbody>'
        ),
        *rows,
        "</tbody></table></div>",
        *drawn,
    ]


def heat(share):
    """The class of a cell: how near it is to its limit, in five steps."""
    return "" if share is None else f' class="heat{min(4, int(share.ratio.ratio * 5))}"'


def history_strips(past):
    """One UMAMI strip for each figure that earlier runs have, too."""
    if not past:
        return []
    lines = [
        "<h2>Against earlier runs on this machine</h2>",
        '<p class="faint">Medians of the runs; the star is this one. At the right its quarters '
        "without this run, whiskers from 5 to 95 %. The colour says in which quarter this run "
        "lies: red, orange, green, blue from the lowest to the highest.</p>",
        '<div class="wide" tabindex="0"><table><tbody>',
    ]
    for (kernel, access, ranks, system), found in past.items():
        title = f"{kernel} {access} {'on' if ranks else 'against'} {system}"
        index = umami.quarter(found.medians)
        of_ranks = f"{summary.of_ranks(ranks)}, " if ranks else ""
        strip = umami.strip(title, found.medians, found.unit, found.large_is_good)
        lines.append(
            f'<tr><th scope="row">{escape(title)}'
            f"<small>{of_ranks}{len(found.medians)} runs</small></th>"
            f"<td>{umami.shown(found.medians[-1])} {escape(found.unit)}"
            f"<small>{umami.WORDS[index]}</small></td>"
            f"<td>{strip}</td></tr>"
        )
    return [*lines, "</tbody></table></div>"]


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
            (system, series.rates, series.median, series.interval, "")
            if series
            else (system, {}, 0, None, mark)
        )
        if series:
            phases.append((system, charts.phase_medians(series.phases)))
        shares = found.shares(kernel, access, ranks, system)
        in_memory = medium_in_memory(run, system)
        rows.append(detail_row(system, access, state, series, shares, mark, in_memory))
    heads = [
        "system",
        "median",
        "lowest",
        "highest",
        "rounds",
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
    named = f", the original&#x27;s &ldquo;{escape(figure)}&rdquo;" if figure else ""
    return [
        f"<h3>{escape(title)}</h3>",
        f'<div class="wide" tabindex="0">{strips.strip_chart(title, strip, unit)}</div>',
        f'<div class="wide" tabindex="0">{charts.phase_chart(f"Phases of {title}", phases)}</div>',
        '<div class="wide" tabindex="0"><table><thead><tr>'
        + "".join(f'<th scope="col">{each}</th>' for each in heads)
        + "</tr></thead><tbody>",
        *rows,
        "</tbody></table></div>",
        f'<p class="faint">Slowest rank: median seconds{named}. Drift: rank correlation of '
        "the rates with time, from -1 to 1.</p>",
    ]


def unit_of(found, kernel, access, ranks):
    return next(
        (one.unit for key, one in found.series.items() if key[:3] == (kernel, access, ranks)),
        "MiB/s",
    )


def moved_cell(access, state, in_memory):
    """With what was done between the writes and the reads, and what stayed cached."""
    text = moved(access, state, in_memory)
    if not access.startswith(("read", "restore")) or not state.reads.get("how"):
        return escape(text)
    more = [state.reads["how"]]
    if state.reads.get("file_bytes"):
        cached, total = (sizes.show(state.reads[key]) for key in ("cached_bytes", "file_bytes"))
        more.append(f"{cached} of {total} still cached")
    return escape(text) + "".join(f"<small>{escape(each)}</small>" for each in more)


def shares_cell(shares):
    return "".join(
        f"<div>{escape(summary.share_text(share))}"
        f"<small>{share.ratio.low * 100:.0f}..{share.ratio.high * 100:.0f} %</small></div>"
        for share in shares
    )


def detail_row(system, access, state, series, shares, mark, in_memory):
    verified = sizes.show(state.verified) if state.checked else "not verified"
    if series is None:
        reason = telling_line(state.errors)
        cells = [f'<span class="void">{mark}</span>', *[""] * 11, verified, "", escape(reason)]
    else:
        cells = [
            f"{series.median:.0f}",
            f"{series.lowest:.0f}",
            f"{series.highest:.0f}",
            len(series.rates),
            shares_cell(shares),
            "" if series.drift is None else f"{series.drift:+.1f}",
            f"{statistics.median(series.seconds.values()):.4f} s",
            f"{statistics.median(series.first_done.values()):.4f} s" if series.first_done else "",
            f"{statistics.median(state.startups):.2f} s" if state.startups else "",
            f"{statistics.median(state.finals):.2f} s" if state.finals else "",
            sizes.show(round(statistics.median(state.memory))) if state.memory else "",
            f"{statistics.median(state.walls):.2f} s",
            verified,
            moved_cell(access, state, in_memory),
            escape(state.api),
        ]
    return (
        f'<tr><th scope="row">{escape(system)}</th>'
        + "".join(f"<td>{cell}</td>" for cell in cells)
        + "</tr>"
    )


def machine(run):
    environment = dict(run["environment"])
    if environment.get("memory_bytes"):
        environment["memory_bytes"] = sizes.show(environment["memory_bytes"])
    lines = [
        "<dl>",
        *(
            f"<dt>{escape(key)}</dt><dd>{escape(value)}</dd>"
            for key, value in environment.items()
            if value is not None
        ),
    ]
    for name, system in run["systems"].items():
        places = [
            f"{key.replace('_', ' ')} {found['directory']} "
            f"({found['type']} {found['source']}, {found['options']})"
            for key, found in system.items()
            if isinstance(found, dict) and "mount_point" in found
        ]
        about = system["given"].get("about", "")
        lines.append(
            f"<dt>{escape(name)}</dt><dd>"
            + escape("; ".join(filter(None, [about, system["mpi_version"], *places])))
            + "</dd>"
        )
    return [*lines, "</dl>"]


def commands(found):
    lines = []
    for (kernel, ranks, system), state in found.states.items():
        variables = [f"{key}={value}" for key, value in state.environment.items()]
        steps = [*(step["command"] for step in state.before), state.command]
        text = "\n".join(shlex.join([*variables, *step]) for step in steps)
        hints = (
            "\n# hints in force: " + ", ".join(f"{k}={v}" for k, v in sorted(state.hints.items()))
            if state.hints
            else ""
        )
        lines.append(
            f"<details><summary>{escape(kernel)} on {escape(system)}, {ranks} ranks</summary>"
            f"<pre>{escape(text)}{escape(hints)}</pre></details>"
        )
    return lines
