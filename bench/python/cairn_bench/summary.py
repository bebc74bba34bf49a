"""The results as a table for a terminal."""

from . import sizes

MARKS = {"invalid": "INVALID", "failed": "FAILED", "timeout": "TIME-OUT"}


def ratio_text(ratio):
    if ratio is None:
        return ""
    if not ratio.shows_difference:
        return f"no difference shown ({ratio.low:.2f}..{ratio.high:.2f})"
    return f"x{ratio.ratio:.2f} ({ratio.low:.2f}..{ratio.high:.2f})"


def lines(figures):
    rows = [
        [
            "kernel",
            "access",
            "ranks",
            "system",
            "median",
            "lowest..highest MiB/s",
            "n",
            f"against {figures.baseline}" if figures.baseline else "",
            "verified",
        ]
    ]
    for kernel, access, ranks in figures.rows():
        for system in figures.systems():
            state = figures.state(kernel, ranks, system)
            if state is None:
                continue
            series = figures.counted(kernel, access, ranks, system)
            verified = sizes.show(state.verified) if state.checked else "not verified"
            if series is None:
                rows.append(
                    [
                        kernel,
                        access,
                        str(ranks),
                        system,
                        MARKS.get(state.status, "-"),
                        "",
                        "",
                        "",
                        verified,
                    ]
                )
                continue
            rows.append(
                [
                    kernel,
                    access,
                    str(ranks),
                    system,
                    f"{series.median:.0f}",
                    f"{series.lowest:.0f}..{series.highest:.0f}",
                    str(len(series.rates)),
                    ratio_text(figures.ratio(kernel, access, ranks, system)),
                    verified,
                ]
            )
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    left = {0, 1, 3, 7}
    return [
        "  ".join(
            cell.ljust(width) if i in left else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths))
        ).rstrip()
        for row in rows
    ]
