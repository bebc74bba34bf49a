"""Each access with all its rounds: a chart of the rates, one of the phases, and a table."""

import statistics

from .. import sizes
from ..digits import three
from ..results import summary
from ..results.moved import medium_of, moved
from . import charts, colours, overview, strips, tables
from .markup import fill, joined

HEADS = (
    "system",
    "rate",
    "timed for",
    "of the limit",
    "slowest rank",
    "start-up",
    "finalize",
    "whole command",
    "memory of a node",
    "verified",
    "moved",
    "through",
)


def section(found, run):
    if not found.states:
        return []
    names, phases = overview.anchors(found), colours.of_phases(found)
    return [
        fill("<h2>Every round</h2>"),
        *(one for row in found.rows() for one in of_row(found, run, row, names[row], phases)),
    ]


def of_row(found, run, row, anchor, phase_colours):
    kernel, access, ranks = row
    title = f"{kernel} {access}, {summary.of_ranks(ranks)}"
    strip, lines, phases = [], [], []
    for system in found.systems():
        state = found.state(kernel, ranks, system)
        if state is None:
            continue
        series = found.counted(*row, system)
        mark = "" if series else summary.MARKS.get(state.status, "not measured")
        strip.append((system, series, mark, ""))
        if series:
            phases.append((system, charts.phase_medians(series.phases)))
            shares = found.shares(*row, system)
            medium = medium_of(run, system)
            lines.append(line(system, access, state, series, shares, medium))
        else:
            lines.append(void_line(system, state, mark))
    figure = next((one.original_name for key, one in found.series.items() if key[:3] == row), "")
    named = fill(", the original&#x27;s &ldquo;{}&rdquo;", figure) if figure else ""
    kinds = dict.fromkeys(found.cairn, "cairn")
    unit = overview.unit_of(found, *row)
    return [
        fill('<h3 id="{}">{}</h3>', anchor, title),
        fill('<div class="panels">'),
        fill("<div>{}</div>", strips.strip_chart(title, strip, unit, kinds)),
        fill("<div>{}</div>", charts.phase_chart(f"Phases of {title}", phases, phase_colours)),
        fill("</div>"),
        *tables.table(HEADS, lines, "details"),
        fill(
            '<p class="faint">Slowest rank: median seconds{}. Drift: rank correlation of '
            "the rates with time, from -1 to 1.</p>",
            named,
        ),
    ]


def void_line(system, state, mark):
    verified = f"{sizes.show(state.verified)} verified" if state.verified else ""
    text = fill('<span class="void">{}</span> {}{}', mark, state.reason, tables.smalls([verified]))
    return tables.whole_line(HEADS, system, text)


def line(system, access, state, series, shares, medium):
    first_done = (
        f"first rank done {seconds(series.first_done.values())}" if series.first_done else ""
    )
    rounds = f"n = {len(series.rates)}"
    if series.drift is not None:
        rounds += f", drift {series.drift:+.1f}"
    cells = [
        joined(
            [
                fill("<b>{}</b>", three(series.rate)),
                tables.smalls(
                    [
                        f"{three(series.lowest)}..{three(series.highest)}",
                        rounds,
                    ]
                ),
            ]
        ),
        summary.seconds_text(series),
        of_limits(shares),
        joined(
            [
                seconds(series.seconds.values()),
                tables.smalls([first_done]),
            ]
        ),
        seconds(state.startups),
        seconds(state.finals),
        seconds(state.walls),
        sizes.show(round(statistics.median(state.memory))) if state.memory else "",
        sizes.show(state.verified) if state.checked else "not verified",
        moved_cell(access, state, medium),
        state.api,
    ]
    return tables.line(HEADS, system, cells, kinds=["", "short" if series.is_short else ""])


def seconds(values):
    return f"{three(statistics.median(values))} s" if values else ""


def moved_cell(access, state, medium):
    """With what was done between the writes and the reads, and what stayed cached."""
    text = moved(access, state, medium)
    if not access.startswith(("read", "restore")) or not state.reads.get("how"):
        return text
    more = [state.reads["how"]]
    if state.reads.get("file_bytes"):
        cached, total = (sizes.show(state.reads[key]) for key in ("cached_bytes", "file_bytes"))
        more.append(f"{cached} of {total} still cached")
    return fill("{}{}", text, tables.smalls(more))


def of_limits(shares):
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
