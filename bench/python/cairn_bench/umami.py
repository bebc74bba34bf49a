"""UMAMI strips, as pytokio draws them: a figure's history, and where the newest value lies in it.

Percentiles are those of all values but the newest. The strip's colour is that of the first
percentile that the newest does not exceed. For rates, large is good.
"""

import html
import math

PERCENTILES = (25, 50, 75, 100)
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


def shown(value):
    return f"{value:.0f}" if abs(value) >= 10 else f"{value:.3g}"


def strip(title, values, unit, big_is_good=True):
    """An SVG: the time series with a star on the newest; beside it the box plot without it."""
    *before, newest = values
    index = quarter(values)
    paint = colour(index, big_is_good)
    low, high = min(values), max(values)
    span = (high - low) or max(abs(high), 1.0)

    def y(value):
        return HEIGHT - PAD - (HEIGHT - 2 * PAD) * (value - low) / span

    right = WIDTH - BOX - 3 * PAD
    step = (right - PAD) / max(len(values) - 1, 1)
    points = [(PAD + step * i, y(value)) for i, value in enumerate(values)]
    line = " ".join(f"{px:.1f},{py:.1f}" for px, py in points)
    middle = WIDTH - PAD - BOX / 2
    quarters = [percentile(before, part) for part in (25, 50, 75)]
    ends = [percentile(before, part) for part in WHISKERS]
    label = f"{title}: {shown(newest)} {unit}, in the {WORDS[index]} of {len(before)} earlier runs"
    parts = [
        f'<svg class="umami" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{html.escape(label)}"><title>{html.escape(label)}</title>',
        f'<polyline points="{line}" fill="none" stroke="{paint}" stroke-width="1.5"/>',
        *(f'<circle cx="{px:.1f}" cy="{py:.1f}" r="2" fill="{paint}"/>' for px, py in points[:-1]),
        f'<path d="{star(*points[-1])}" fill="{paint}"/>',
        f'<line class="newest" x1="{PAD}" x2="{WIDTH - PAD}" y1="{y(newest):.1f}" '
        f'y2="{y(newest):.1f}" stroke="{paint}" stroke-dasharray="4 3"/>',
        f'<line class="whisker" x1="{middle}" x2="{middle}" y1="{y(ends[0]):.1f}" '
        f'y2="{y(ends[1]):.1f}"/>',
        f'<rect class="box" x="{middle - 12}" width="24" y="{y(quarters[2]):.1f}" '
        f'height="{max(y(quarters[0]) - y(quarters[2]), 1):.1f}" fill="{paint}" '
        'fill-opacity="0.35"/>',
        f'<line class="whisker" x1="{middle - 12}" x2="{middle + 12}" y1="{y(quarters[1]):.1f}" '
        f'y2="{y(quarters[1]):.1f}"/>',
        "</svg>",
    ]
    return "".join(parts)


def star(x, y, radius=6.0):
    """A five-pointed star, as a path."""
    points = []
    for i in range(10):
        length = radius if i % 2 == 0 else radius * 0.45
        angle = math.pi * i / 5 - math.pi / 2
        points.append(f"{x + length * math.cos(angle):.2f},{y + length * math.sin(angle):.2f}")
    return "M" + "L".join(points) + "Z"
