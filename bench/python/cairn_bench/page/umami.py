"""UMAMI strips, as pytokio draws them: a figure's history, and where the newest value lies in it.

Percentiles are those of all values but the newest. The strip's colour is that of the first
percentile that the newest does not exceed. For rates, large is good.
"""

import math

from ..digits import three
from .markup import fill, joined

PERCENTILES = (25, 50, 75, 100)
NEUTRAL = "#7A7F87"  # of a run that lies in no quarter, as the earlier ones are too few
COLOURS = ("#DA0017", "#FD6A07", "#40A43A", "#2C69A9")
WORDS = ("lowest quarter", "second quarter", "third quarter", "highest quarter")
WHISKERS = (5, 95)

WIDTH, HEIGHT, BOX, PAD = 420, 74, 60, 10


def percentile(values, part):
    """By linear interpolation between the sorted values."""
    ordered = sorted(values)
    place = (len(ordered) - 1) * part / 100
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def quarter(values):
    """0 to 3: where the last of `values` lies among the others."""
    *before, newest = values
    for index, part in enumerate(PERCENTILES):
        if newest <= percentile(before, part):
            return index
    return len(PERCENTILES) - 1


def colour(index, big_is_good=True):
    return COLOURS[index] if big_is_good else COLOURS[-(1 + index)]


def strip(title, values, unit, big_is_good=True, has_quarters=True):
    """An SVG: the time series with a star on the newest; beside it the box plot without it, if
    the earlier runs have quarters."""
    *before, newest = values
    index = quarter(values) if has_quarters else None
    paint = colour(index, big_is_good) if has_quarters else NEUTRAL
    low, high = min(values), max(values)
    span = (high - low) or max(abs(high), 1.0)

    def y(value):
        return HEIGHT - PAD - (HEIGHT - 2 * PAD) * (value - low) / span

    right = WIDTH - BOX - 3 * PAD
    step = (right - PAD) / max(len(values) - 1, 1)
    points = [(PAD + step * i, y(value)) for i, value in enumerate(values)]
    line = " ".join(f"{px:.1f},{py:.1f}" for px, py in points)
    middle = WIDTH - PAD - BOX / 2
    place = f"in the {WORDS[index]} of" if has_quarters else "after"
    label = f"{title}: {three(newest)} {unit}, {place} {len(before)} earlier runs"
    parts = [
        fill(
            '<svg class="umami" viewBox="0 0 {} {}" role="img" aria-label="{label}">'
            "<title>{label}</title>",
            WIDTH,
            HEIGHT,
            label=label,
        ),
        fill(
            '<polyline points="{}" fill="none" stroke="{}" stroke-width="1.5"/>', line, paint
        ),
        *(
            fill('<circle cx="{:.1f}" cy="{:.1f}" r="2" fill="{}"/>', px, py, paint)
            for px, py in points[:-1]
        ),
        fill('<path d="{}" fill="{}"/>', star(*points[-1]), paint),
        fill(
            '<line class="newest" x1="{}" x2="{}" y1="{y:.1f}" y2="{y:.1f}" stroke="{}" '
            'stroke-dasharray="4 3"/>',
            PAD,
            WIDTH - PAD,
            paint,
            y=y(newest),
        ),
        *(box(before, middle, y, paint) if has_quarters else []),
        fill("</svg>"),
    ]
    return joined(parts)


def box(before, middle, y, paint):
    """The box plot of the earlier runs. y: where a value lies."""
    quarters = [percentile(before, part) for part in (25, 50, 75)]
    ends = [percentile(before, part) for part in WHISKERS]
    return [
        whisker(middle, middle, *map(y, ends)),
        fill(
            '<rect class="box" x="{}" width="24" y="{:.1f}" height="{:.1f}" fill="{}" '
            'fill-opacity="0.35"/>',
            middle - 12,
            y(quarters[2]),
            max(y(quarters[0]) - y(quarters[2]), 1),
            paint,
        ),
        whisker(middle - 12, middle + 12, y(quarters[1]), y(quarters[1])),
    ]


def whisker(x1, x2, y1, y2):
    return fill(
        '<line class="whisker" x1="{}" x2="{}" y1="{:.1f}" y2="{:.1f}"/>', x1, x2, y1, y2
    )


def star(x, y, radius=6.0):
    """A five-pointed star, as a path."""
    points = []
    for i in range(10):
        length = radius if i % 2 == 0 else radius * 0.45
        angle = math.pi * i / 5 - math.pi / 2
        points.append(f"{x + length * math.cos(angle):.2f},{y + length * math.sin(angle):.2f}")
    return "M" + "L".join(points) + "Z"
