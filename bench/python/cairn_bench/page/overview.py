"""The rates of all cells: a line for each access, a column for each system."""

from ..digits import three
from ..results import summary
from ..results.moved import medium_of, moved
from . import tables
from .markup import fill, joined

REASON = 160  # characters of a reason in a cell; the details have all


def anchors(found):
    """{row: name of its details on the page}"""
    return {row: f"row-{number}" for number, row in enumerate(found.rows(), 1)}


def section(found, run):
    if not found.states:
        return []
    names = anchors(found)
    heads = [
        "rate",
        *(f"{name} (baseline)" if name == found.baseline else name for name in found.systems()),
    ]
    lines = []
    for row in found.rows():
        kernel, access, ranks = row
        cells = [cell(found, run, *row, system, names[row]) for system in found.systems()]
        kinds = [heat(found.share(*row, system)) for system in found.systems()]
        name = fill('<a href="#{}">{} {}</a>', names[row], kernel, access)
        about = f"{summary.of_ranks(ranks)}, {unit_of(found, *row)}"
        lines.append(tables.line(heads, name, cells, about, kinds))
    return [
        fill("<h2>What each system gives</h2>"),
        fill(
            '<p class="faint">The darker a cell, the nearer it is to its limit: steps of 20 %.'
            ' "Timed" names a time below 1 s in a round: such a rate is a rough one.</p>'
        ),
        *tables.table(heads, lines, "rates"),
    ]


def cell(found, run, kernel, access, ranks, system, anchor):
    state = found.state(kernel, ranks, system)
    if state is None:
        return fill('<span class="faint">not run</span>')
    series = found.counted(kernel, access, ranks, system)
    if series is None and state.status == "ok":
        return fill('<span class="faint">not measured</span>')
    if series is None:
        mark = summary.MARKS.get(state.status, state.status)
        reason = state.reason
        if len(reason) > REASON:
            reason = reason[:REASON] + " ..."
        return fill(
            '<a class="void" href="#{}">{}</a>{}', anchor, mark, tables.smalls([reason])
        )
    parts = [fill("<b>{}</b>", three(series.rate))]
    if series.is_short:
        parts.append(
            fill('<small class="short">timed {} s</small>', three(series.timed_for_s))
        )
    verdict = found.verdict(kernel, access, ranks, system)
    if verdict is not None:
        parts.append(fill('<small class="{}">{}</small>', verdict.kind, verdict.text))
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
    where = moved(access, state, medium_of(run, system))
    return joined([*parts, tables.smalls([where, "" if state.checked else "not verified"])])


def heat(share):
    """The class of a cell: how near it is to its limit, in five steps."""
    return "" if share is None else f"heat{min(4, int(share.ratio.ratio * 5))}"


def unit_of(found, kernel, access, ranks):
    return next(
        (one.unit for key, one in found.series.items() if key[:3] == (kernel, access, ranks)),
        "MiB/s",
    )
