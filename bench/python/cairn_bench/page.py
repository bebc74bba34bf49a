"""The report: one HTML page that holds all it needs, for a browser or for paper."""

import html
import pathlib
import shlex
import statistics

from . import figures as figures_module, sizes, strips, summary

STYLE = pathlib.Path(__file__).with_name("page.css")
NOTES = [
    "Rates are MiB/s: bytes that the ranks asked for, divided by the time of the slowest rank. "
    "Each byte of a file counts once.",
    "Times are those of the original programs' figures, named in each table: with open and close, "
    "and for hacc with the header and the memory of the read. read+subset of bdcats contains the "
    "choice of a random tenth.",
    "Reads follow writes on the same node, so the data may lie in memory: no cache was dropped.",
    "The interval is the 95 % interval of paired ratios: Student's t on the logarithms of the "
    "ratios of each round. It holds for one comparison, not for the table. The number of rounds "
    "was fixed before the run.",
    "Verified: bytes compared with what was written, outside of all times. A cell with one wrong "
    "byte is INVALID and void.",
    "Whole command: from start to exit of everything, with the launcher, the check and, for Cairn, "
    "the pool and the drain.",
]


def make(results):
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
        overview(found),
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
        f'{run["rounds"]} rounds after {run["warmup"]} to warm up; {state}.</p>'
    ]
    if about:
        lines.insert(0, f"<p>{escape(about)}</p>")
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
        '<div class="wide"><table><thead><tr><th scope="col">MiB/s, median</th>'
        f"{heads}</tr></thead><tbody>"
    ]
    for kernel, access, ranks in found.rows():
        cells = "".join(
            f"<td>{overview_cell(found, kernel, access, ranks, system)}</td>"
            for system in found.systems()
        )
        lines.append(
            f'<tr><th scope="row">{escape(kernel)} {escape(access)}<small>{ranks} ranks</small>'
            f"</th>{cells}</tr>"
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
    if ratio is None:
        return text
    if not ratio.shows_difference:
        return f"{text}<small>no difference shown<br>{ratio.low:.2f}..{ratio.high:.2f}</small>"
    kind = "better" if ratio.ratio > 1 else "worse"
    interval = f"{ratio.low:.2f}..{ratio.high:.2f}"
    return f'{text}<small class="{kind}">x{ratio.ratio:.2f}<br>{interval}</small>'


def details(found, kernel, access, ranks):
    title = f"{kernel} {access}, {ranks} ranks"
    strip, rows = [], []
    for system in found.systems():
        state = found.state(kernel, ranks, system)
        if state is None:
            continue
        series = found.counted(kernel, access, ranks, system)
        mark = "" if series else summary.MARKS.get(state.status, "not measured")
        strip.append((system, series.rates if series else {}, series.median if series else 0, mark))
        rows.append(detail_row(system, access, state, series, mark))
    heads = [
        "system",
        "median",
        "lowest",
        "highest",
        "rounds",
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
        f'<div class="wide">{strips.strip_chart(title, strip, "MiB/s")}</div>',
        '<div class="wide"><table><thead><tr>'
        + "".join(f'<th scope="col">{each}</th>' for each in heads)
        + "</tr></thead><tbody>",
        *rows,
        "</tbody></table></div>",
        f'<p class="faint">Slowest rank: median seconds{named}.</p>',
    ]


def medium_of(access, state):
    if access != "write":
        return "from memory or medium"
    return "to the medium (fsync)" if state.fsync else "to the cache"


def detail_row(system, access, state, series, mark):
    verified = sizes.show(state.verified) if state.checked else "not verified"
    if series is None:
        reason = state.errors.strip().split("\n")[0] if state.errors else ""
        cells = [f'<span class="void">{mark}</span>', *[""] * 6, verified, "", escape(reason)]
    else:
        cells = [
            f"{series.median:.0f}",
            f"{series.lowest:.0f}",
            f"{series.highest:.0f}",
            len(series.rates),
            f"{statistics.median(series.seconds.values()):.4f} s",
            f"{statistics.median(series.first_done.values()):.4f} s",
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
