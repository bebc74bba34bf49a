"""The results as a table for a terminal."""

import statistics

from .. import sizes
from ..digits import three
from ..terminal import printable
from . import ratios
from .moved import medium_of, memory_before_write, moved

QUICK = (
    "A quick run: fewer rounds and smaller files than the matrix asks for. Do not cite its figures."
)
MARKS = {"invalid": "INVALID", "failed": "FAILED", "timeout": "TIME-OUT"}
LEFT = {0, 1, 3, 6, 9, 10, 11}  # columns that begin at the left
ABOUT = (
    "Rates and times are geometric means over the n rounds. So a ratio is the quotient of two "
    "rates, where both have the same rounds."
)
ABOUT_FAMILIES = (
    "The intervals against {} hold for all rows of a system together (95 %). A difference is "
    "shown if its interval excludes 1."
)
ABOUT_SHORT = "* timed over less than 1 s in a round"


def share_text(share):
    """63.1 % of copy by 2 ranks"""
    return f"{three(share.ratio.ratio * 100)} % of {share.limit.name}" if share else ""


def shares_text(shares):
    return "; ".join(map(share_text, shares))


def seconds_text(series):
    """12.3 s, or 0.0431 s* where that is short"""
    if series.timed_for_s is None:
        return "?"
    return f"{three(series.timed_for_s)} s{'*' if series.is_short else ''}"


def lines(figures):
    rows = [
        [
            "kernel",
            "access",
            "ranks",
            "system",
            "rate",
            "lowest..highest",
            "unit",
            "n",
            "timed for",
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
        *columns(rows, LEFT),
        *void_lines(figures),
        *about_lines(figures),
        *system_lines(figures),
        *noise_lines(figures),
        *(["", QUICK] if figures.run.get("quick") else []),
    ]


def void_lines(figures):
    """Why cells are void."""
    found = [
        f"{MARKS.get(state.status, state.status)}: {kernel} on {system}, {of_ranks(ranks)}: "
        f"{state.reason}"
        for (kernel, ranks, system), state in figures.states.items()
        if state.status != "ok"
    ]
    return ["", *found] if found else []


def about_lines(figures):
    """What the columns mean."""
    counted = [one for key, one in figures.series.items() if figures.counted(*key)]
    if not counted:
        return []
    found = ["", ABOUT]
    if figures.baseline:
        found.append(ABOUT_FAMILIES.format(figures.baseline))
    if any(one.is_short for one in counted):
        found.append(ABOUT_SHORT)
    return found


def system_lines(figures):
    """Start-up, finalize and memory of each system: medians over its cells."""
    rows = [["system", "start-up", "finalize", "memory of a node", "memory before the write"]]
    for system in figures.systems():
        startups, finals, memory = (
            figures.of_all_cells(system, what) for what in ("startups", "finals", "memory")
        )
        if startups:
            middle = statistics.median
            rows.append(
                [
                    *(system, f"{three(middle(startups))} s", f"{three(middle(finals))} s"),
                    sizes.show(round(middle(memory))),
                    memory_before_write(figures.run, system),
                ]
            )
    return ["", *columns(rows, {0, 4})] if len(rows) > 1 else []


def row(figures, kernel, access, ranks, system):
    state = figures.state(kernel, ranks, system)
    series = figures.counted(kernel, access, ranks, system)
    verified = sizes.show(state.verified) if state.checked else "not verified"
    begin = [kernel, access, str(ranks), system]
    if series is None:
        return [*begin, MARKS.get(state.status, "-"), *[""] * 7, verified]
    where = (kernel, access, ranks, system)
    verdict = figures.verdict(*where)
    return [
        *begin,
        three(series.rate),
        f"{three(series.lowest)}..{three(series.highest)}",
        series.unit,
        str(len(series.rates)),
        seconds_text(series),
        shares_text(figures.shares(*where)),
        verdict.text if verdict else "",
        moved(access, state, medium_of(figures.run, system)),
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
    alone = sum(ratio.excludes_1 for ratio in floor)
    widest = max(max(ratio.high, 1 / ratio.low) for ratio in floor)
    return [
        "",
        f"Noise floor: {figures.baseline} against itself: {alone} of {len(floor)} intervals "
        f"exclude 1 where each is taken alone; up to {ratios.most_wrong(len(floor))} may by "
        f"chance. The widest reaches x{three(widest)}. Differences shown, which should be none: "
        f"{len(figures.false_findings)}.",
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
