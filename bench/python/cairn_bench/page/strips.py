"""Small charts as inline SVG: a strip for each system, with dots, a rate and an interval."""

from .markup import fill, joined

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
    """`series`: [(label, {round: value}, rate, interval, mark)]; mark: a text instead of dots."""
    top = nice(max((value for one in series for value in one[1].values()), default=1))
    span = WIDTH - LABEL - RIGHT
    height = HEIGHT * len(series) + 34
    parts = [
        fill('<svg viewBox="0 0 {} {}" role="img" aria-label="{}">', WIDTH, height, title)
    ]
    for part in (0, 0.25, 0.5, 0.75, 1):
        parts.append(
            fill(
                '<line class="grid" x1="{x:.1f}" y1="6" x2="{x:.1f}" y2="{}"/>'
                '<text class="axis" x="{x:.1f}" y="{}" text-anchor="middle">{:g}</text>',
                height - 24,
                height - 8,
                top * part,
                x=LABEL + span * part,
            )
        )
    parts.append(
        fill(
            '<text class="axis" x="{}" y="{}" text-anchor="end">{}</text>',
            LABEL - 8,
            height - 8,
            unit,
        )
    )
    for number, (label, rates, rate, interval, mark) in enumerate(series):
        y = HEIGHT * number + 20
        parts.append(
            fill('<text x="{}" y="{}" text-anchor="end">{}</text>', LABEL - 8, y + 4, label)
        )
        if mark:
            parts.append(
                fill('<text class="void" x="{}" y="{}">{}</text>', LABEL + 6, y + 4, mark)
            )
            continue
        x = LABEL + span * rate / top
        parts.append(
            fill(
                '<rect class="median" x="{}" y="{}" height="12" width="{:.1f}"/>',
                LABEL,
                y - 6,
                max(x - LABEL, 1),
            )
        )
        if interval:
            ends = [LABEL + span * min(value / top, 1) for value in interval]
            parts.append(
                fill(
                    '<line class="interval" x1="{:.1f}" x2="{:.1f}" y1="{y}" y2="{y}">'
                    "<title>95 % interval {:.0f}..{:.0f} {}</title></line>",
                    *ends,
                    *interval,
                    unit,
                    y=y + 9,
                )
            )
        for each, value in sorted(rates.items()):
            parts.append(
                fill(
                    '<circle cx="{:.1f}" cy="{}" r="3.5"><title>round {}: {:.0f} {}</title>'
                    "</circle>",
                    LABEL + span * value / top,
                    y,
                    each,
                    value,
                    unit,
                )
            )
    parts.append(fill("</svg>"))
    return joined(parts)
