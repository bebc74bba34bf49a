"""Charts of rates as inline SVG: a bar for each system, with its value, interval and rounds.

The name of a system stands above its bar, and all lengths are parts of the width. So such a chart
has texts of the same size on a screen of any width.
"""

from ..digits import three
from .markup import fill, joined

ROW, BAR, AXIS = 35, 11, 18  # heights: of a system, of its bar, of the axis
END = 0.98  # where the axis ends, as a part of the width


def nice(value):
    """A round number not below `value`, for the end of an axis."""
    if value <= 0:
        return 1.0
    step = 10.0 ** (len(str(int(value))) - 1)
    return next(
        step * factor for factor in (1, 1.5, 2, 3, 4, 5, 6, 8, 10) if step * factor >= value
    )


def reach(series):
    """How far a bar and its interval reach. An interval of few rounds may go beyond the axis."""
    return min(series.interval[1], 1.6 * series.rate) if series.interval else series.rate


def per_cent(part):
    """0.25 as 24.5 %, as the axis ends before the right edge."""
    return f"{min(max(part, 0), 1.02) * END * 100:.2f}%"


def begin(title, height):
    """Without a viewBox: the height is fixed, and the widths are parts of the page's."""
    return fill(
        '<svg class="bars" width="100%" height="{}" role="img" aria-label="{}">'
        "<title>{}</title>",
        height,
        title,
        title,
    )


def text(x, y, value, kind="", anchor="start"):
    return fill(
        '<text{} x="{}" y="{}" text-anchor="{}">{}</text>',
        fill(' class="{}"', kind) if kind else "",
        x,
        y,
        anchor,
        value,
    )


def axis(top, height, unit):
    return [
        text("0%", height - 3, "0", "axis"),
        text(per_cent(0.5), height - 3, f"{top / 2:g}", "axis", "middle"),
        text("100%", height - 3, f"{top:g} {unit}", "axis", "end"),
    ]


def grid(y):
    """Lines at the quarters of the axis, behind a bar."""
    return [
        fill('<line class="grid" x1="{x}" x2="{x}" y1="{}" y2="{}"/>', y - 2, y + BAR + 5, x=x)
        for x in map(per_cent, (0, 0.25, 0.5, 0.75, 1))
    ]


def strip_chart(title, rows, unit, kinds=None, top=None):
    """`rows`: [(label, series or None, mark, about)]; mark: a text in place of a bar; about: a text
    behind the label. kinds: {label: class of its bar}. top: the end of an axis that several charts
    share, without dots for the rounds."""
    has_dots = top is None
    if has_dots:
        top = nice(max((series.highest for _, series, *_ in rows if series), default=1))
    height = ROW * len(rows) + AXIS
    parts = [begin(title, height), *axis(top, height, unit)]
    for number, (label, series, mark, about) in enumerate(rows):
        y = ROW * number
        name = fill('{}<tspan class="axis"> {}</tspan>', label, about) if about else label
        parts.append(text("0%", y + 13, name))
        if series is None:
            parts.append(text("100%", y + 13, mark, "void", "end"))
            continue
        value = f"{three(series.rate)}{'*' if series.is_short else ''}"
        parts.append(text("100%", y + 13, value, "value", "end"))
        parts += grid(y + 18)
        kind = (kinds or {}).get(label, "")
        parts += bar(y + 18, series, top, unit, kind, BAR + 3 if has_dots else BAR / 2)
        if has_dots:
            parts += dots(y + 18, series, top, unit)
    parts.append(fill("</svg>"))
    return joined(parts)


def bar(y, series, top, unit, kind, below):
    """below: where the line of the interval lies, from the upper edge of the bar."""
    parts = [
        fill(
            '<rect class="rate{}" x="0%" y="{}" height="{}" width="{}"/>',
            f" {kind}" if kind else "",
            y,
            BAR,
            per_cent(series.rate / top),
        )
    ]
    if series.interval:
        low, high = series.interval
        ends = (per_cent(low / top), per_cent(high / top))
        parts += [
            fill(
                '<line class="halo" x1="{}" x2="{}" y1="{y}" y2="{y}"/>', *ends, y=y + below
            ),
            fill(
                '<line class="interval" x1="{}" x2="{}" y1="{y}" y2="{y}">'
                "<title>95 % interval {}..{} {}</title></line>",
                *ends,
                three(low),
                three(high),
                unit,
                y=y + below,
            ),
        ]
    return parts


def dots(y, series, top, unit):
    """One for each round."""
    return [
        fill(
            '<circle cx="{}" cy="{}" r="3"><title>round {}: {} {}</title></circle>',
            per_cent(value / top),
            y + BAR / 2,
            each,
            three(value),
            unit,
        )
        for each, value in sorted(series.rates.items())
    ]
