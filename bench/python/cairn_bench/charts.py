"""Charts of the page as inline SVG: phases with their stragglers, and rates by number of ranks."""

import html
import statistics

from .strips import nice

WIDTH, LABEL, ROW, RIGHT = 640, 130, 26, 20
# Told apart without colour by their order, which the legend and the hover texts name.
COLOURS = ("#4477AA", "#EE6677", "#228833", "#CCBB44", "#66CCEE", "#AA3377", "#999999")


def escape(text):
    return html.escape(str(text))


def phase_medians(phases):
    """{phase: (least, most)} over rounds, medians in seconds; phases without figures left out."""
    names = dict.fromkeys(name for one in phases.values() for name in one)
    found = {}
    for name in names:
        rows = [one[name] for one in phases.values() if name in one]
        most = [row["most"] for row in rows if row["most"] is not None]
        least = [row["least"] for row in rows if row["least"] is not None]
        if most:
            found[name] = (
                statistics.median(least) if least else None,
                statistics.median(most),
            )
    return found


def phase_chart(title, rows):
    """rows: [(label, {phase: (least, most)})]. A bar for each phase as long as its slowest rank;
    the line within ends where the fastest rank's does."""
    rows = [(label, phases) for label, phases in rows if phases]
    names = list(dict.fromkeys(name for _, phases in rows for name in phases))
    longest = max((sum(most for _, most in phases.values()) for _, phases in rows), default=0)
    if not rows or longest <= 0 or len(names) < 2:
        return ""
    span = WIDTH - LABEL - RIGHT
    height = ROW * len(rows) + 46
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
    for number, (label, phases) in enumerate(rows):
        y = ROW * number + 24
        parts.append(f'<text x="{LABEL - 8}" y="{y + 13}" text-anchor="end">{escape(label)}</text>')
        x = float(LABEL)
        for name, (least, most) in phases.items():
            width = span * most / longest
            colour = COLOURS[names.index(name) % len(COLOURS)]
            told = f"{label}: {name}: slowest rank {most:.4f} s"
            if least is not None:
                told += f", fastest {least:.4f} s"
            parts.append(
                f'<rect x="{x:.1f}" y="{y}" width="{max(width, 0.5):.1f}" height="16" '
                f'fill="{colour}"><title>{escape(told)}</title></rect>'
            )
            if least is not None:
                parts.append(
                    f'<rect class="least" x="{x:.1f}" y="{y + 6}" height="4" '
                    f'width="{span * least / longest:.1f}"/>'
                )
            x += width
    parts.append(
        f'<text class="axis" x="{LABEL}" y="{height - 8}">0</text>'
        f'<text class="axis" x="{WIDTH - RIGHT}" y="{height - 8}" text-anchor="end">'
        f"{longest:.3g} s</text></svg>"
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
