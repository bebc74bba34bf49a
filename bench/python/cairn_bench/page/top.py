"""The top of the page: what the run shows, and the chart of the rates."""

from ..digits import three
from ..results import summary
from ..results.moved import medium_of, moved
from . import claims, strips, tables
from .markup import fill, joined


def section(top):
    """top: the page's Headline. [] if no kernel moves data."""
    if top.kernel is None:
        return []
    shown = claims.Claims(top)
    return [*chart(top), *(of_cairn(shown) if shown.systems() else [])]


def chart(top):
    """The rates of all systems, writes beside reads on a wide screen."""
    kinds = dict.fromkeys(top.found.cairn, "cairn")
    where = f"{top.kernel}, {summary.of_ranks(top.ranks)}"
    shown = [
        series
        for access in claims.ACCESSES
        for series in (top.series(access, system) for system in top.found.systems())
        if series is not None
    ]
    end = strips.nice(max(map(strips.reach, shown), default=1))
    panels = []
    for access in claims.ACCESSES:
        rows = []
        for system in top.found.systems():
            state = top.state(system)
            if state is None:
                continue
            series = top.series(access, system)
            mark = "" if series else summary.MARKS.get(state.status, "not measured")
            about = way(top, system, state, access) if series else ""
            rows.append((system, series, mark, about))
        drawn = strips.strip_chart(f"Rates of {access}, {where}", rows, "MiB/s", kinds, end)
        panels.append(fill("<div><h3>{}</h3>{}</div>", access, drawn))
    intervals = any(series.interval for series in shown)
    about = f"{where}: geometric means in MiB/s"
    about += ", with their 95 % intervals." if intervals else "; too few rounds for intervals."
    if any(series.is_short for series in shown):
        about += " *: timed for less than 1 s in a round."
    return [
        fill("<h2>Rates</h2>"),
        fill('<p class="faint">{}</p>', about),
        fill('<div class="panels">{}</div>', joined(panels)),
    ]


def way(top, system, state, access):
    """fsync called, volatile; with "through POSIX" where a system has another MPI than Cairn, which
    then has no part in the rate."""
    text = moved(access, state, medium_of(top.run, system))
    mpis = {top.run["systems"][name].get("mpi") for name in top.found.cairn}
    has_other = mpis and top.run["systems"][system].get("mpi") not in mpis
    return f"{text}, through POSIX" if has_other and state.api == "POSIX" else text


def of_cairn(shown):
    """What the rates are in times those of each other system."""
    parts = [
        fill("<h2>Cairn against the others</h2>"),
        fill(
            '<p class="faint">The rates above, in times those of the others. The intervals hold'
            " for all rows of a pair together (95 %); where they do not exclude 1, no difference"
            " is claimed.</p>"
        ),
        fill('<div class="claims">'),
    ]
    for system in shown.systems():
        heads = ("against", *claims.ACCESSES, "rows of all kernels")
        lines = [
            tables.line(
                heads,
                other,
                [
                    *(ratio(shown, system, other, access, *where) for access in claims.ACCESSES),
                    shown.all_rows(system, other),
                ],
                shown.about(system, other, *where),
            )
            for other, where in shown.others(system).items()
        ]
        limits = [limit(shown, system, access) for access in claims.ACCESSES]
        if any(limits):
            lines.append(tables.line(heads, "its limit", [*limits, ""]))
        about = claims.about(shown.run, system)
        parts += [
            fill("<div><h3>{} <small>{}</small></h3>", system, about),
            *tables.table(heads, lines, "claims"),
            fill("</div>"),
        ]
    return [*parts, fill("</div>")]


def ratio(shown, system, other, access, kernel, ranks):
    """x1.74 (1.65..1.83)*"""
    verdict = shown.against(system, other, access, kernel, ranks)
    if verdict is None:
        return ""
    is_short = verdict.ratio and shown.is_short(access, kernel, ranks, system, other)
    star = "*" if is_short else ""
    source = tables.smalls([shown.source(other, access, kernel, ranks)])
    if not verdict.shown:
        return fill('<span class="faint">{}{}</span>{}', verdict.text, star, source)
    rest = verdict.text.removeprefix(verdict.factor).strip()
    return fill('<b class="{}">{}</b> {}{}{}', verdict.kind, verdict.factor, rest, star, source)


def limit(shown, system, access):
    """87.1 % (85.2..89.0) of copy by 2 ranks"""
    share = shown.share(system, access)
    if share is None:
        return ""
    interval = ""
    if share.ratio.half is not None:
        low, high = (three(each * 100) for each in (share.ratio.low, share.ratio.high))
        interval = f"({low}..{high})"
    return fill(
        "<b>{} %</b> {}{}{}",
        three(share.ratio.ratio * 100),
        interval,
        "*" if shown.is_short(access, *shown.chosen, system) else "",
        tables.smalls([f"of {share.limit.name}"]),
    )
