"""Charts of the page as inline SVG: phases with their stragglers, and rates by number of ranks.

Bars have lengths in parts of the width, as in strips.py. Lines need a viewBox, which is as wide as
a narrow screen; their names stand below as a legend, which wraps.
"""

import math
import statistics

from . import strips
from .markup import fill, joined
from .strips import nice, per_cent
from .tables import legend

WIDTH = 440  # of charts with lines
THIN, MOST_BARS = 5, 32  # height of a rank's bar, and how many a system has at most


def begin(title, height):
    return fill(
        '<svg class="plot" viewBox="0 0 {width} {height}" role="img" aria-label="{title}">'
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


def phase_chart(title, rows, colours):
    """rows: [(label, {phase: (least, most, ranks)})]. A bar for each rank, made of its phases.

    colours: {phase: colour} of the whole page."""
    rows = [(label, bars_of(phases)) for label, phases in rows if phases]
    names = {name for _, bars in rows for _, bar in bars for name in bar}
    longest = max((sum(bar.values()) for _, bars in rows for _, bar in bars), default=0)
    if not rows or longest <= 0 or len(names) < 2:
        return ""
    tall = {label: max(12, THIN * len(bars)) for label, bars in rows}
    height = sum(tall.values()) + 26 * len(rows) + strips.AXIS
    parts = [strips.begin(title, height)]
    y = 0
    for label, bars in rows:
        slowest = max(sum(bar.values()) for _, bar in bars)
        parts.append(strips.text("0%", y + 15, label))
        parts.append(strips.text("100%", y + 15, f"{slowest:.3g} s", "value", "end"))
        each = tall[label] / len(bars)
        for number, (what, bar) in enumerate(bars):
            parts += phase_bar(label, what, bar, y + 20 + each * number, each, longest, colours)
        y += tall[label] + 26
    parts += [
        strips.text("0%", height - 3, "0", "axis"),
        strips.text("100%", height - 3, f"{longest:.3g} s", "axis", "end"),
        fill("</svg>"),
    ]
    key = legend({name: colour for name, colour in colours.items() if name in names})
    return joined([key, joined(parts)])


def phase_bar(label, what, bar, y, height, longest, colours):
    """One bar, and what it says when a pointer rests there."""
    told = ", ".join(f"{name} {seconds:.4f} s" for name, seconds in bar.items())
    parts = [fill("<g><title>{}: {}: {}</title>", label, what, told)]
    x = 0.0
    for name, seconds in bar.items():
        parts.append(
            fill(
                '<rect x="{}" y="{:.1f}" width="{}" height="{:.1f}" fill="{}"/>',
                per_cent(x),
                y,
                per_cent(max(seconds / longest, 0.001)),
                max(height - 1, 1),
                colours[name],
            )
        )
        x += seconds / longest
    return [*parts, fill("</g>")]


def part_of(name):
    """p99.9 as 0.999"""
    return float(name[1:]) / 100


def latency_chart(title, lines, colours):
    """lines: {label: {"p50": nanoseconds}}. What part of the calls was done after which time."""
    lines = {label: points for label, points in lines.items() if len(points) > 2}
    values = [value for points in lines.values() for value in points.values() if value > 0]
    if not values:
        return ""
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    high = max(high, low + 1)
    height, bottom, left, right = 240, 40, 48, 14

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
                height - 24,
                10 ** (power - 3),
                x=x,
            )
        )
    for label, points in lines.items():
        ordered = sorted(points.items(), key=lambda point: part_of(point[0]))
        drawn = " ".join(place(value, part_of(name)) for name, value in ordered)
        parts.append(line_with_name(label, drawn, colours[label]))
    parts.append(
        fill(
            '<text class="axis" x="{}" y="{}">part of the calls that were done after '
            "so many µs</text></svg>",
            left,
            height - 6,
        )
    )
    return joined([legend({label: colours[label] for label in lines}), joined(parts)])


def line_with_name(label, points, colour):
    return fill(
        '<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2">'
        "<title>{label}</title></polyline>",
        points=points,
        colour=colour,
        label=label,
    )


def scaling_chart(title, lines, unit, colours):
    """lines: {label: {ranks: rate}}. Dashed: the rate of the fewest ranks, times the ranks."""
    lines = {label: points for label, points in lines.items() if len(points) > 1}
    if not lines:
        return ""
    counts = sorted({ranks for points in lines.values() for ranks in points})
    top = nice(max(rate for points in lines.values() for rate in points.values()))
    height, bottom, left, right = 240, 40, 56, 14

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
                height - 24,
                ranks,
            )
        )
    for label, points in lines.items():
        colour = colours[label]
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
        parts.append(line_with_name(label, drawn, colour))
    parts.append(
        fill(
            '<text class="axis" x="{}" y="{}">{} by ranks</text></svg>', left, height - 6, unit
        )
    )
    return joined([legend({label: colours[label] for label in lines}), joined(parts)])
