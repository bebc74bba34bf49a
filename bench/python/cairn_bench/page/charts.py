"""Charts of the page as inline SVG: phases with their stragglers, and rates by number of ranks."""

import math
import statistics

from .markup import fill, joined
from .strips import nice

WIDTH, LABEL, ROW, RIGHT = 640, 130, 26, 20
THIN, MOST_BARS = 4, 32  # height of a rank's bar, and how many a system has at most
# Told apart without colour by their order, which the legend and the hover texts name.
COLOURS = ("#4477AA", "#EE6677", "#228833", "#CCBB44", "#66CCEE", "#AA3377", "#999999")


def begin(title, height):
    return fill(
        '<svg viewBox="0 0 {width} {height}" role="img" aria-label="{title}">'
        "<title>{title}</title>",
        width=WIDTH,
        height=height,
        title=title,
    )


def phase_medians(phases):
    """{phase: (least, most, [of each rank])}: medians over rounds, in seconds.

    Phases without figures are left out. The ranks are [] where they are not known.
    """
    names = dict.fromkeys(name for one in phases.values() for name in one)
    found = {}
    for name in names:
        rows = [one[name] for one in phases.values() if name in one]
        most = [row["most"] for row in rows if row["most"] is not None]
        least = [row["least"] for row in rows if row["least"] is not None]
        ranks = [row["ranks"] for row in rows if row.get("ranks")]
        if most:
            found[name] = (
                statistics.median(least) if least else None,
                statistics.median(most),
                [statistics.median(each) for each in zip(*ranks)],
            )
    return found


def bars_of(phases):
    """[(what it is, {phase: seconds})]: one for each rank, or for a group of ranks its slowest one;
    where ranks are not known, one of the slowest rank of each phase."""
    known = {name: ranks for name, (_, _, ranks) in phases.items() if ranks}
    if not known:
        return [("slowest rank", {name: most for name, (_, most, _) in phases.items()})]
    count = min(map(len, known.values()))
    group = -(-count // MOST_BARS)
    bars = []
    for first in range(0, count, group):
        ranks = range(first, min(first + group, count))
        slowest = max(ranks, key=lambda rank: sum(each[rank] for each in known.values()))
        about = f"rank {slowest}"
        if group > 1:
            about += f", slowest of {first} to {ranks[-1]}"
        bars.append((about, {name: each[slowest] for name, each in known.items()}))
    return bars


def phase_chart(title, rows):
    """rows: [(label, {phase: (least, most, ranks)})]. A bar for each rank, made of its phases."""
    rows = [(label, bars_of(phases)) for label, phases in rows if phases]
    names = list(dict.fromkeys(name for _, bars in rows for _, bar in bars for name in bar))
    longest = max((sum(bar.values()) for _, bars in rows for _, bar in bars), default=0)
    if not rows or longest <= 0 or len(names) < 2:
        return ""
    span = WIDTH - LABEL - RIGHT
    tall = {label: max(ROW - 10, THIN * len(bars)) for label, bars in rows}
    height = sum(tall.values()) + 10 * len(rows) + 46
    parts = [begin(title, height)]
    x = LABEL
    for number, name in enumerate(names):
        parts.append(
            fill(
                '<rect x="{}" y="4" width="10" height="10" fill="{}"/>'
                '<text class="axis" x="{}" y="13">{}</text>',
                x,
                COLOURS[number % len(COLOURS)],
                x + 14,
                name,
            )
        )
        x += 24 + 7 * len(name)
    y = 24.0
    for label, bars in rows:
        middle = y + tall[label] / 2 + 4
        parts.append(
            fill('<text x="{}" y="{:.1f}" text-anchor="end">{}</text>', LABEL - 8, middle, label)
        )
        each = tall[label] / len(bars)
        for number, (what, bar) in enumerate(bars):
            x = float(LABEL)
            told = ", ".join(f"{name} {seconds:.4f} s" for name, seconds in bar.items())
            parts.append(fill("<g><title>{}: {}: {}</title>", label, what, told))
            for name, seconds in bar.items():
                width = span * seconds / longest
                colour = COLOURS[names.index(name) % len(COLOURS)]
                parts.append(
                    fill(
                        '<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" fill="{}"/>',
                        x,
                        y + each * number,
                        max(width, 0.5),
                        max(each - 1, 1),
                        colour,
                    )
                )
                x += width
            parts.append(fill("</g>"))
        y += tall[label] + 10
    parts.append(
        fill(
            '<text class="axis" x="{left}" y="{y}">0</text>'
            '<text class="axis" x="{right}" y="{y}" text-anchor="end">{longest:.3g} s</text></svg>',
            left=LABEL,
            right=WIDTH - RIGHT,
            y=height - 8,
            longest=longest,
        )
    )
    return joined(parts)


def part_of(name):
    """p99.9 as 0.999"""
    return float(name[1:]) / 100


def latency_chart(title, lines):
    """lines: {label: {"p50": nanoseconds}}. What part of the calls was done after which time."""
    lines = {label: points for label, points in lines.items() if len(points) > 2}
    values = [value for points in lines.values() for value in points.values() if value > 0]
    if not values:
        return ""
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    high = max(high, low + 1)
    height, bottom, left, right = 240, 34, 60, 170

    def place(nanoseconds, part):
        across = (math.log10(max(nanoseconds, 10**low)) - low) / (high - low)
        x = left + (WIDTH - left - right) * across
        return f"{x:.1f},{(height - bottom) - (height - bottom - 10) * part:.1f}"

    parts = [begin(title, height)]
    for part in (0, 0.5, 0.9, 1):
        y = place(10**low, part).split(",")[1]
        parts.append(
            fill(
                '<line class="grid" x1="{}" y1="{y}" x2="{}" y2="{y}"/>'
                '<text class="axis" x="{}" y="{y}" text-anchor="end">{:g} %</text>',
                left,
                WIDTH - right,
                left - 6,
                part * 100,
                y=y,
            )
        )
    for power in range(low, high + 1):
        x = place(10**power, 0).split(",")[0]
        parts.append(
            fill(
                '<line class="grid" x1="{x}" y1="10" x2="{x}" y2="{}"/>'
                '<text class="axis" x="{x}" y="{}" text-anchor="middle">{:g}</text>',
                height - bottom,
                height - 18,
                10 ** (power - 3),
                x=x,
            )
        )
    for number, (label, points) in enumerate(lines.items()):
        colour = COLOURS[number % len(COLOURS)]
        ordered = sorted(points.items(), key=lambda point: part_of(point[0]))
        drawn = " ".join(place(value, part_of(name)) for name, value in ordered)
        parts.append(line_with_name(label, drawn, colour, WIDTH - right, 16 + 18 * number))
    parts.append(
        fill(
            '<text class="axis" x="{}" y="{}">part of the calls that were done after '
            "so many µs</text></svg>",
            left,
            height - 2,
        )
    )
    return joined(parts)


def line_with_name(label, points, colour, right, y):
    """A line of a chart, and its name beside the chart. right: where the chart ends."""
    return fill(
        '<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2">'
        "<title>{label}</title></polyline>"
        '<text x="{text_x}" y="{text_y}">{label}</text>'
        '<line x1="{x1}" x2="{x2}" y1="{y}" y2="{y}" stroke="{colour}" stroke-width="3"/>',
        points=points,
        colour=colour,
        label=label,
        text_x=right + 34,
        text_y=y + 4,
        x1=right + 12,
        x2=right + 28,
        y=y,
    )


def scaling_chart(title, lines, unit):
    """lines: {label: {ranks: rate}}. Dashed: the rate of the fewest ranks, times the ranks."""
    lines = {label: points for label, points in lines.items() if len(points) > 1}
    if not lines:
        return ""
    counts = sorted({ranks for points in lines.values() for ranks in points})
    top = nice(max(rate for points in lines.values() for rate in points.values()))
    height, bottom, left, right = 240, 30, 60, 150

    def place(ranks, rate):
        x = left + (WIDTH - left - right) * (ranks - counts[0]) / (counts[-1] - counts[0])
        return f"{x:.1f},{(height - bottom) - (height - bottom - 10) * min(rate / top, 1):.1f}"

    parts = [begin(title, height)]
    for part in (0, 0.5, 1):
        y = place(counts[0], top * part).split(",")[1]
        parts.append(
            fill(
                '<line class="grid" x1="{}" y1="{y}" x2="{}" y2="{y}"/>'
                '<text class="axis" x="{}" y="{y}" text-anchor="end">{:g}</text>',
                left,
                WIDTH - right,
                left - 6,
                top * part,
                y=y,
            )
        )
    for ranks in counts:
        x = place(ranks, 0).split(",")[0]
        parts.append(
            fill(
                '<text class="axis" x="{}" y="{}" text-anchor="middle">{}</text>',
                x,
                height - 12,
                ranks,
            )
        )
    for number, (label, points) in enumerate(lines.items()):
        colour = COLOURS[number % len(COLOURS)]
        drawn = " ".join(place(ranks, points[ranks]) for ranks in sorted(points))
        first = min(points)
        end = min(max(points), first * top / points[first])
        ideal = f"{place(first, points[first])} {place(end, points[first] * end / first)}"
        parts.append(
            fill(
                '<polyline points="{}" fill="none" stroke="{}" stroke-dasharray="3 4"/>',
                ideal,
                colour,
            )
        )
        parts.append(line_with_name(label, drawn, colour, WIDTH - right, 16 + 18 * number))
    parts.append(
        fill(
            '<text class="axis" x="{}" y="{}">{} by ranks</text></svg>', left, height - 1, unit
        )
    )
    return joined(parts)
