"""Small charts as inline SVG: a strip for each system, with dots, a median and an interval."""

import html

WIDTH, LABEL, HEIGHT, RIGHT = 640, 130, 26, 20


def nice(value):
    """A round number not below `value`, for the end of an axis."""
    if value <= 0:
        return 1.0
    step = 10.0 ** (len(str(int(value))) - 1)
    return next(
        step * factor for factor in (1, 1.5, 2, 3, 4, 5, 6, 8, 10) if step * factor >= value
    )


def strip_chart(title, series, unit):
    """`series`: [(label, {round: value}, median, interval, mark)]; mark: a text instead of dots."""
    top = nice(max((value for one in series for value in one[1].values()), default=1))
    span = WIDTH - LABEL - RIGHT
    height = HEIGHT * len(series) + 34
    parts = [f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{html.escape(title)}">']
    for part in (0, 0.25, 0.5, 0.75, 1):
        x = LABEL + span * part
        parts.append(f'<line class="grid" x1="{x:.1f}" y1="6" x2="{x:.1f}" y2="{height - 24}"/>')
        parts.append(
            f'<text class="axis" x="{x:.1f}" y="{height - 8}" text-anchor="middle">'
            f"{top * part:g}</text>"
        )
    parts.append(
        f'<text class="axis" x="{LABEL - 8}" y="{height - 8}" text-anchor="end">'
        f"{html.escape(unit)}</text>"
    )
    for number, (label, rates, median, interval, mark) in enumerate(series):
        y = HEIGHT * number + 20
        parts.append(
            f'<text x="{LABEL - 8}" y="{y + 4}" text-anchor="end">{html.escape(label)}</text>'
        )
        if mark:
            parts.append(
                f'<text class="void" x="{LABEL + 6}" y="{y + 4}">{html.escape(mark)}</text>'
            )
            continue
        x = LABEL + span * median / top
        parts.append(
            f'<rect class="median" x="{LABEL}" y="{y - 6}" height="12" '
            f'width="{max(x - LABEL, 1):.1f}"/>'
        )
        if interval:
            ends = [LABEL + span * min(value / top, 1) for value in interval]
            told = f"95 % interval {interval[0]:.0f}..{interval[1]:.0f} {unit}"
            parts.append(
                f'<line class="interval" x1="{ends[0]:.1f}" x2="{ends[1]:.1f}" y1="{y + 9}" '
                f'y2="{y + 9}"><title>{html.escape(told)}</title></line>'
            )
        for each, value in sorted(rates.items()):
            parts.append(
                f'<circle cx="{LABEL + span * value / top:.1f}" cy="{y}" r="3.5">'
                f"<title>round {each}: {value:.0f} {html.escape(unit)}</title></circle>"
            )
    parts.append("</svg>")
    return "".join(parts)
