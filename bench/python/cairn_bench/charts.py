"""Charts of the page as inline SVG: phases with their stragglers, and rates by number of ranks."""

import html
import math
import statistics

from .strips import nice

WIDTH, LABEL, ROW, RIGHT = 640, 130, 26, 20
THIN, MOST_BARS = 4, 32  # height of a rank's bar, and how many a system has at most
# Told apart without colour by their order, which the legend and the hover texts name.
COLOURS = ("#4477AA", "#EE6677", "#228833", "#CCBB44", "#66CCEE", "#AA3377", "#999999")


def escape(text):
    return html.escape(str(text))


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
    parts = [
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(title)}">'
        f"<title>{escape(title)}</title>"
    ]
    x = LABEL
    for number, name in enumerate(names):
        parts.append(
            f'<rect x="{x}" y="4" width="10" height="10" fill="{COLOURS[number % len(COLOURS)]}"/>'
            f'<text class="axis" x="{x + 14}" y="13">{escape(name)}</text>'
        )
        x += 24 + 7 * len(name)
    y = 24.0
    for label, bars in rows:
        middle = y + tall[label] / 2 + 4
        parts.append(
            f'<text x="{LABEL - 8}" y="{middle:.1f}" text-anchor="end">{escape(label)}</text>'
        )
        each = tall[label] / len(bars)
        for number, (what, bar) in enumerate(bars):
            x = float(LABEL)
            told = ", ".join(f"{name} {seconds:.4f} s" for name, seconds in bar.items())
            parts.append(f"<g><title>{escape(f'{label}: {what}: {told}')}</title>")
            for name, seconds in bar.items():
                width = span * seconds / longest
                colour = COLOURS[names.index(name) % len(COLOURS)]
                parts.append(
                    f'<rect x="{x:.1f}" y="{y + each * number:.1f}" width="{max(width, 0.5):.1f}" '
                    f'height="{max(each - 1, 1):.1f}" fill="{colour}"/>'
                )
                x += width
            parts.append("</g>")
        y += tall[label] + 10
    parts.append(
        f'<text class="axis" x="{LABEL}" y="{height - 8}">0</text>'
        f'<text class="axis" x="{WIDTH - RIGHT}" y="{height - 8}" text-anchor="end">'
        f"{longest:.3g} s</text></svg>"
    )
    return "".join(parts)


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

    parts = [
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(title)}">'
        f"<title>{escape(title)}</title>"
    ]
    for part in (0, 0.5, 0.9, 1):
        y = place(10**low, part).split(",")[1]
        parts.append(
            f'<line class="grid" x1="{left}" y1="{y}" x2="{WIDTH - right}" y2="{y}"/>'
            f'<text class="axis" x="{left - 6}" y="{y}" text-anchor="end">{part * 100:g} %</text>'
        )
    for power in range(low, high + 1):
        x = place(10**power, 0).split(",")[0]
        parts.append(
            f'<line class="grid" x1="{x}" y1="10" x2="{x}" y2="{height - bottom}"/>'
            f'<text class="axis" x="{x}" y="{height - 18}" text-anchor="middle">'
            f"{10 ** (power - 3):g}</text>"
        )
    for number, (label, points) in enumerate(lines.items()):
        colour = COLOURS[number % len(COLOURS)]
        ordered = sorted(points.items(), key=lambda point: part_of(point[0]))
        drawn = " ".join(place(value, part_of(name)) for name, value in ordered)
        parts.append(
            f'<polyline points="{drawn}" fill="none" stroke="{colour}" stroke-width="2">'
            f"<title>{escape(label)}</title></polyline>"
            f'<text x="{WIDTH - right + 34}" y="{20 + 18 * number}">{escape(label)}</text>'
            f'<line x1="{WIDTH - right + 12}" x2="{WIDTH - right + 28}" y1="{16 + 18 * number}" '
            f'y2="{16 + 18 * number}" stroke="{colour}" stroke-width="3"/>'
        )
    parts.append(
        f'<text class="axis" x="{left}" y="{height - 2}">part of the calls that were done after '
        "so many µs</text></svg>"
    )
    return "".join(parts)


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

    parts = [
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(title)}">'
        f"<title>{escape(title)}</title>"
    ]
    for part in (0, 0.5, 1):
        y = place(counts[0], top * part).split(",")[1]
        parts.append(
            f'<line class="grid" x1="{left}" y1="{y}" x2="{WIDTH - right}" y2="{y}"/>'
            f'<text class="axis" x="{left - 6}" y="{y}" text-anchor="end">{top * part:g}</text>'
        )
    for ranks in counts:
        x = place(ranks, 0).split(",")[0]
        parts.append(
            f'<text class="axis" x="{x}" y="{height - 12}" text-anchor="middle">{ranks}</text>'
        )
    for number, (label, points) in enumerate(lines.items()):
        colour = COLOURS[number % len(COLOURS)]
        drawn = " ".join(place(ranks, points[ranks]) for ranks in sorted(points))
        first = min(points)
        end = min(max(points), first * top / points[first])
        ideal = f"{place(first, points[first])} {place(end, points[first] * end / first)}"
        parts.append(
            f'<polyline points="{ideal}" fill="none" stroke="{colour}" stroke-dasharray="3 4"/>'
            f'<polyline points="{drawn}" fill="none" stroke="{colour}" stroke-width="2">'
            f"<title>{escape(label)}</title></polyline>"
            f'<text x="{WIDTH - right + 34}" y="{20 + 18 * number}">{escape(label)}</text>'
            f'<line x1="{WIDTH - right + 12}" x2="{WIDTH - right + 28}" y1="{16 + 18 * number}" '
            f'y2="{16 + 18 * number}" stroke="{colour}" stroke-width="3"/>'
        )
    parts.append(
        f'<text class="axis" x="{left}" y="{height - 1}">{escape(unit)} by ranks</text></svg>'
    )
    return "".join(parts)
