"""The results as a table for a terminal."""

import statistics

from .. import sizes
from ..terminal import printable
from . import ratios
from .moved import medium_in_memory, moved

MARKS = {"invalid": "INVALID", "failed": "FAILED", "timeout": "TIME-OUT"}


def ratio_text(ratio, differs):
    if ratio is None:
        return ""
    if not differs:
        return f"no difference shown ({ratio.low:.2f}..{ratio.high:.2f})"
    return f"x{ratio.ratio:.2f} ({ratio.low:.2f}..{ratio.high:.2f})"


def share_text(share):
    """63 % of copy by 2 ranks"""
    return f"{share.ratio.ratio * 100:.0f} % of {share.limit.name}" if share else ""


def shares_text(shares):
    return "; ".join(map(share_text, shares))


def lines(figures):
    rows = [
        [
            "kernel",
            "access",
            "ranks",
            "system",
            "median",
            "lowest..highest",
            "unit",
            "n",
            "of the limit",
            f"against {figures.baseline}" if figures.baseline else "",
            "moved",
            "verified",
        ]
    ]
    for where in figures.rows():
        for system in figures.systems():
            if figures.state(where[0], where[2], system) is not None:
                rows.append(row(figures, *where, system))
    return [
        *columns(rows, {0, 1, 3, 6, 8, 9, 10}),
        *system_lines(figures),
        *noise_lines(figures),
    ]


def system_lines(figures):
    """Start-up, finalize and memory of each system: medians over its cells."""
    rows = [["system", "start-up", "finalize", "memory of a node"]]
    for system in figures.systems():
        startups, finals, memory = (
            figures.of_all_cells(system, what) for what in ("startups", "finals", "memory")
        )
        if startups:
            middle = statistics.median
            rows.append(
                [
                    *(system, f"{middle(startups):.2f} s", f"{middle(finals):.2f} s"),
                    sizes.show(round(middle(memory))),
                ]
            )
    return ["", *columns(rows, {0})] if len(rows) > 1 else []


def row(figures, kernel, access, ranks, system):
    state = figures.state(kernel, ranks, system)
    series = figures.counted(kernel, access, ranks, system)
    verified = sizes.show(state.verified) if state.checked else "not verified"
    begin = [kernel, access, str(ranks), system]
    if series is None:
        return [*begin, MARKS.get(state.status, "-"), *[""] * 6, verified]
    where = (kernel, access, ranks, system)
    return [
        *begin,
        f"{series.median:.0f}",
        f"{series.lowest:.0f}..{series.highest:.0f}",
        series.unit,
        str(len(series.rates)),
        shares_text(figures.shares(*where)),
        ratio_text(figures.ratio(*where), figures.differs(*where)),
        moved(access, state, medium_in_memory(figures.run, system)),
        verified,
    ]


def of_ranks(count):
    return "1 rank" if count == 1 else f"{count} ranks"


def plan_text(plan):
    wanted = plan["pilot"]
    return (
        f"Rounds: {plan['rounds']}, fixed by a pilot of {wanted['rounds']} rounds. "
        f"Its widest ratio, {plan['widest']}, had a deviation of {plan['deviation'] * 100:.0f} %; "
        f"wanted: "
        f"{wanted['precision'] * 100:g} % to each side, with {wanted['least']} to "
        f"{wanted['most']} rounds."
    )


def noise_lines(figures):
    """What the baseline's second self shows."""
    floor = figures.noise_floor
    if not floor:
        return []
    alone = sum(ratio.shows_difference for ratio in floor)
    widest = max(max(ratio.high, 1 / ratio.low) for ratio in floor)
    return [
        "",
        f"Noise floor: {figures.baseline} against itself: {alone} of {len(floor)} intervals "
        f"exclude 1, where up to {ratios.most_wrong(len(floor))} may by chance; the widest reaches "
        f"x{widest:.2f}.",
    ]


def columns(rows, left):
    """Rows as aligned lines; `left`: numbers of the columns that begin at the left."""
    rows = [[printable(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return [
        "  ".join(
            cell.ljust(width) if i in left else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths))
        ).rstrip()
        for row in rows
    ]
