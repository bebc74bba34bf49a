"""The report: one HTML page that holds all it needs, for a browser or for paper."""

import html
import pathlib
import shlex
import statistics

from . import charts, figures as figures_module, sizes, sizing, strips, summary, umami

STYLE = pathlib.Path(__file__).with_name("page.css")
NOTES = [
    "Rates are MiB/s: bytes that the ranks asked for, divided by the time of the slowest rank. "
    "Each byte of a file counts once.",
    "Times are those of the original programs' figures, named in each table: with open and close, "
    "and for hacc with the header and the memory of the read. read+subset of bdcats contains the "
    "choice of a random tenth.",
    "Reads follow writes on the same node, so the data may lie in memory: no cache was dropped.",
    "The line below a bar is the 95 % interval of the geometric mean of one system's rates. The "
    "bars of the phases are as long as the slowest rank took; the line within ends with the "
    "fastest.",
    "The interval is the 95 % interval of paired ratios: Student's t on the logarithms of the "
    "ratios of each round. It holds for one comparison, not for the table. Whether a difference is "
    "shown is decided over the whole table, after Holm: all verdicts together are wrong with a "
    "probability of 5 %. The number of rounds was fixed before they began.",
    "Per cent of a limit: the rate divided by that of a copy between the ranks' buffers and a warm "
    "mapping of the same medium, by as many ranks, in the same round. For writes it is the faster "
    "one of a plain copy and one past the cache. On a disk there is also the limit of the device: "
    "direct writes, with a sync, and direct reads, past the page cache; a synced write is judged "
    "by that one. A share above 100 % is possible and stands with the name of its limit: the limit "
    "is that of one way, not of the hardware, and what lies in the page cache needs no device.",
    "Verified: bytes compared with what was written, outside of all times. A cell with one wrong "
    "byte is INVALID and void.",
    "Whole command: from start to exit of everything, with the launcher, the check and, for Cairn, "
    "the pool and the drain.",
]


def make(results, past=None):
    """past: what history.of_run found, for the strips."""
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
        "<h2>What each system gives</h2>",
        '<p class="faint">The darker a cell, the nearer it is to its limit: steps of 20 %.</p>',
        overview(found),
        *(f"<p>{escape(line)}</p>" for line in summary.noise_lines(found) if line),
        *limit_table(found),
        *latencies(found),
        *history_strips(past or {}),
        *scaling(found),
        "<h2>Every round</h2>",
        *(one for row in found.rows() for one in details(found, *row)),
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
    lines = [
        f'<p class="faint">{escape(environment["processor"])}, '
        f'{environment["processors"]} processors, {escape(environment["system"])}; '
        f'{escape(environment.get("cairn"))}; {escape(run["started"][:19])} UTC; '
        f'{results.rounds} rounds after {run["warmup"]} that no figure uses; {state}.</p>'
    ]
    if about:
        lines.insert(0, f"<p>{escape(about)}</p>")
    if run.get("sizing"):
        lines.append(f"<p>{escape(sizing.text(run['sizing']).capitalize())}.</p>")
    if results.plan:
        lines.append(f"<p>{escape(summary.plan_text(results.plan))}</p>")
    lines += [f"<p>Left out: {escape(line)}</p>" for line in run.get("left_out", [])]
    return lines


def overview(found):
    heads = "".join(
        f'<th scope="col">{escape(system)}'
        + (" <small>baseline</small>" if system == found.baseline else "")
        + "</th>"
        for system in found.systems()
    )
    lines = [
        '<div class="wide" tabindex="0"><table><thead><tr><th scope="col">median rate</th>'
        f"{heads}</tr></thead><tbody>"
    ]
    for kernel, access, ranks in found.rows():
        cells = "".join(
            f"<td{heat(found.share(kernel, access, ranks, system))}>"
            f"{overview_cell(found, kernel, access, ranks, system)}</td>"
            for system in found.systems()
        )
        lines.append(
            f'<tr><th scope="row">{escape(kernel)} {escape(access)}'
            f"<small>{summary.of_ranks(ranks)}, "
            f"{escape(unit_of(found, kernel, access, ranks))}</small></th>{cells}</tr>"
        )
    return "\n".join([*lines, "</tbody></table></div>"])


def overview_cell(found, kernel, access, ranks, system):
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
    if ratio is None:
        return text
    if not found.differs(kernel, access, ranks, system):
        return f"{text}<small>no difference shown<br>{ratio.low:.2f}..{ratio.high:.2f}</small>"
    kind = "better" if ratio.ratio > 1 else "worse"
    interval = f"{ratio.low:.2f}..{ratio.high:.2f}"
    return f'{text}<small class="{kind}">x{ratio.ratio:.2f}<br>{interval}</small>'


def limit_table(found):
    """How fast each medium and the network take and give bytes, by ranks and size of a call."""
    if not found.limits:
        return []
    lines = [
        "<h2>Limits: what copies, devices and the network give</h2>",
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
    return [*lines, "</tbody></table></div>"]


def scaling(found):
    """A chart for each access that was measured with several numbers of ranks."""
    lines = []
    for kernel, access in dict.fromkeys((key[0], key[1]) for key in found.series):
        points = {}
        for key, series in found.series.items():
            if key[:2] == (kernel, access) and found.counted(*key):
                points.setdefault(key[3], {})[key[2]] = series.median
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
    """Percentiles of programs that tell them."""
    rows = []
    for key, series in found.series.items():
        if not series.latency or not found.counted(*key):
            continue
        names = list(next(iter(series.latency.values())))
        cells = "".join(
            f"<td>{statistics.median(one[name] for one in series.latency.values()) / 1e3:.1f}</td>"
            for name in names
        )
        title = f"{key[0]} {key[1]} on {key[3]}"
        rows.append(f'<tr><th scope="row">{escape(title)}</th>{cells}</tr>')
    if not rows:
        return []
    heads = "".join(f'<th scope="col">{name}</th>' for name in ("p50", "p99", "p99.9"))
    return [
        "<h2>Latency of a call, µs</h2>",
        f'<div class="wide" tabindex="0"><table><thead><tr><th></th>{heads}</tr></thead><tbody>',
        *rows,
        "</tbody></table></div>",
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
        title = f"{kernel} {access} on {system}"
        index = umami.quarter(found.medians)
        lines.append(
            f'<tr><th scope="row">{escape(title)}'
            f"<small>{summary.of_ranks(ranks)}, {len(found.medians)} runs</small></th>"
            f"<td>{found.medians[-1]:.0f} {escape(found.unit)}"
            f"<small>{umami.WORDS[index]}</small></td>"
            f"<td>{umami.strip(title, found.medians, found.unit)}</td></tr>"
        )
    return [*lines, "</tbody></table></div>"]


def details(found, kernel, access, ranks):
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
        rows.append(detail_row(system, access, state, series, shares, mark))
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


def medium_of(access, state):
    if access != "write":
        return "from memory or medium"
    return "to the medium (fsync)" if state.fsync else "to the cache"


def shares_cell(shares):
    return "".join(
        f"<div>{escape(summary.share_text(share))}"
        f"<small>{share.ratio.low * 100:.0f}..{share.ratio.high * 100:.0f} %</small></div>"
        for share in shares
    )


def detail_row(system, access, state, series, shares, mark):
    verified = sizes.show(state.verified) if state.checked else "not verified"
    if series is None:
        reason = state.errors.strip().split("\n")[0] if state.errors else ""
        cells = [f'<span class="void">{mark}</span>', *[""] * 8, verified, "", escape(reason)]
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
            f"{statistics.median(state.walls):.2f} s",
            verified,
            medium_of(access, state),
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
        words = [*(f"{key}={value}" for key, value in state.environment.items()), *state.command]
        hints = (
            "\n# hints in force: " + ", ".join(f"{k}={v}" for k, v in sorted(state.hints.items()))
            if state.hints
            else ""
        )
        lines.append(
            f"<details><summary>{escape(kernel)} on {escape(system)}, {ranks} ranks</summary>"
            f"<pre>{escape(shlex.join(words))}{escape(hints)}</pre></details>"
        )
    return lines
