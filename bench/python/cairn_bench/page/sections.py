"""Further sections of the page: judged tables, limits, latencies, scaling and earlier runs."""

from .. import sizes
from ..digits import three
from ..results import history, judged, summary
from . import charts, colours, headline, tables, umami
from .markup import fill, lines_of

LATENCIES = ("p50", "p90", "p99", "p99.9")
BARS = ("row", "against", "measured", "95 % interval", "bar", "", "pairs", "note")
LIMITS = (
    "medium",
    "way",
    "ranks",
    "bytes of a call",
    "MiB/s",
    "lowest..highest",
    "medium of",
)


def judged_tables(found):
    """The tables of bench_core and the others, with their bars."""
    parts = [fill("<h2>Judged tables</h2>")] if found else []
    for name, record in sorted(found.items()):
        facts = "; ".join(f"{key}: {value}" for key, value in record["facts"].items())
        missed = sum(row.get("verdict") == "short" for row in record["rows"])
        bars = sum("verdict" in row for row in record["rows"])
        parts += [
            fill("<h3>bench-{}: {} of {} bars hold</h3>", name, bars - missed, bars),
            fill('<p class="faint">{} UTC; {}</p>', record["started"][:19], facts),
            *tables.table(BARS, map(judged_row, record["rows"]), "judged"),
            *(
                fill("<p>Not measured: {}, {}: {}</p>", row["group"], row["what"], row["why"])
                for row in record["not_measured"]
            ),
        ]
    return parts


def judged_row(row):
    verdict = row.get("verdict", "")
    kind = {"holds": "better", "short": "worse"}.get(verdict, "")
    low, high = (judged.value(row[key], row["unit"]) for key in ("low", "high"))
    cells = [
        row["against"],
        judged.value(row["median"], row["unit"]),
        f"{low}..{high}",
        judged.bar(row),
        fill('<span class="{}">{}</span>', kind, verdict) if verdict else "",
        row["pairs"],
        row.get("note", ""),
    ]
    return tables.line(BARS, row["what"], cells, row["group"])


def limit_table(found):
    """How fast each medium and the network take and give bytes, by ranks and size of a call."""
    if not found.limits:
        return []
    lines = []
    for key in sorted(found.limits):
        one = found.limits[key]
        rates = one.rates.values()
        cells = [
            one.short,
            one.ranks,
            sizes.show(one.transfer_bytes),
            three(one.rate),
            f"{three(min(rates))}..{three(max(rates))}",
            ", ".join([*one.systems, *(f"{name} (drains there)" for name in one.drains)]),
        ]
        lines.append(tables.line(LIMITS, one.medium, cells))
    return [
        fill("<h2>Limits: what copies, devices and the network give</h2>"),
        fill("<details><summary>{} limits</summary>", len(found.limits)),
        *tables.table(LIMITS, lines, "limits"),
        fill("</details>"),
    ]


def scaling(found):
    """A chart for each access that was measured with several numbers of ranks."""
    parts, shades = [], colours.of_systems(found)
    for kernel, access in dict.fromkeys((key[0], key[1]) for key in found.series):
        points = {system: {} for system in found.systems()}
        for key, series in found.series.items():
            if key[:2] == (kernel, access) and found.counted(*key):
                points[key[3]][key[2]] = series.rate
        unit = next(one.unit for key, one in found.series.items() if key[:2] == (kernel, access))
        chart = charts.scaling_chart(f"{kernel} {access} by ranks", points, unit, shades)
        if chart:
            parts.append(fill("<div><h3>{} {}</h3>{}</div>", kernel, access, chart))
    if not parts:
        return []
    return [
        fill("<h2>By number of ranks</h2>"),
        fill(
            '<p class="faint">Rates; dashed: the rate of the fewest ranks, '
            "times the ranks.</p>"
        ),
        fill('<div class="panels">{}</div>', lines_of(parts)),
    ]


def latencies(found):
    """Percentiles of kernels and programs that tell them, and their distributions."""
    rows, distributions, shades = [], {}, colours.of_systems(found)
    heads = ("calls", *LATENCIES)
    for key in [(*row, system) for row in found.rows() for system in found.systems()]:
        series = found.counted(*key)
        if series is None or not series.latency:
            continue
        values = [headline.percentile(series, name) for name in LATENCIES]
        cells = ["" if one is None else three(one / 1e3) for one in values]
        title = f"{key[0]} {key[1]} on {key[3]}"
        size = sizes.show(series.transfer_bytes)
        rows.append(tables.line(heads, title, cells, f"{summary.of_ranks(key[2])}, {size} a call"))
        names = dict.fromkeys(name for one in series.latency.values() for name in one)
        distributions.setdefault(key[:3], {})[key[3]] = {
            name: headline.percentile(series, name) for name in names
        }
    if not rows:
        return []
    drawn = []
    for (kernel, access, ranks), each in distributions.items():
        title = f"Latency of {kernel} {access}, {summary.of_ranks(ranks)}"
        chart = charts.latency_chart(title, each, shades)
        if chart:
            drawn.append(fill("<div><h3>{}</h3>{}</div>", title, chart))
    return [
        fill("<h2>Latency of a call, µs</h2>"),
        *tables.table(heads, rows, "latencies"),
        fill('<div class="panels">{}</div>', lines_of(drawn)),
    ]


def history_strips(past):
    """One UMAMI strip for each figure that earlier runs have, too."""
    if not past:
        return []
    parts = [
        fill("<h2>Against earlier runs on this machine</h2>"),
        fill(
            '<p class="faint">Medians of the runs; the star is this one. At the right its quarters '
            "without this run, whiskers from 5 to 95 %. The colour says in which quarter this run "
            "lies: red, orange, green, blue from the lowest to the highest. Below {} earlier runs "
            "there are no quarters.</p>",
            history.FEWEST,
        ),
    ]
    heads, lines = ("figure", "this run", "runs"), []
    for (kernel, access, ranks, system), found in past.items():
        title = f"{kernel} {access} {'on' if ranks else 'against'} {system}"
        quarter = "no quarters yet"
        if found.has_quarters:
            quarter = umami.WORDS[umami.quarter(found.medians)]
        of_ranks = f"{summary.of_ranks(ranks)}, " if ranks else ""
        value = f"{three(found.medians[-1])} {found.unit}"
        cells = [
            fill("{}<small>{}</small>", value, quarter),
            umami.strip(
                title, found.medians, found.unit, found.large_is_good, found.has_quarters
            ),
        ]
        lines.append(tables.line(heads, title, cells, f"{of_ranks}{len(found.medians)} runs"))
    return parts + tables.table(heads, lines, "history")
