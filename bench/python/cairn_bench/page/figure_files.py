"""Figures for papers: a Vega-Lite specification of each chart, and SVG, PNG and PDF of it.

The specifications need nothing. The pictures need vl-convert-python, which renders without a
browser; without it, any Vega-Lite tool makes them from the specifications.
"""

import importlib.util
import json
import re

from .. import files
from ..digits import three
from ..errors import Mistake
from ..results import summary
from . import charts, colours, headline, specifications

VEGA_LITE = "5.20"
PNG_SCALE = 2


def available():
    return importlib.util.find_spec("vl_convert") is not None


def write(found, directory, past=None):
    """Writes all figures of `found`; returns their paths. past: what history.of_run found."""
    drawn = {
        **of_accesses(found),
        **heat_map(found),
        **scaling(found),
        **ranks(found),
        **latency(found),
        **history(past or {}),
    }
    if not drawn:
        raise Mistake("--figures: no cell has figures", code=1)
    directory.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, specification in drawn.items():
        path = directory / f"{name}.vl.json"
        files.replace(path, json.dumps(specification, indent=1) + "\n")
        paths.append(path)
        if available():
            paths += render(specification, directory / name)
    return paths


def file_name(*parts):
    return re.sub(r"[^A-Za-z0-9._-]+", "-", "-".join(map(str, parts)))


def title_of(kernel, access, ranks_):
    return f"{kernel} {access}, {summary.of_ranks(ranks_)}"


def counted(found, row):
    """[(system, series)] of a row, in the matrix's order."""
    all_of = ((system, found.counted(*row, system)) for system in found.systems())
    return [(system, series) for system, series in all_of if series is not None]


def of_accesses(found):
    drawn = {}
    for row in found.rows():
        rows = []
        for system, series in counted(found, row):
            low, high = series.interval or (None, None)
            rows.append(
                {
                    **{"system": system, "rate": series.rate, "low": low, "high": high},
                    **{"unit": series.unit, "short": series.is_short},
                    **{"timed_for_s": series.timed_for_s, "rounds": len(series.rates)},
                }
            )
        if rows:
            drawn[file_name(*row)] = specifications.bars(title_of(*row), rows, found.systems())
    return drawn


def heat_map(found):
    rows = []
    for row in found.rows():
        for system, series in counted(found, row):
            share = found.share(*row, system)
            rows.append(
                {
                    **{"row": title_of(*row), "system": system},
                    **{"share": share.ratio.ratio if share else None},
                    **{"limit": share.limit.name if share else None},
                    "text": f"{three(series.rate)} {series.unit}",
                }
            )
    if not rows:
        return {}
    title = "Rates, and what part of the limit they are"
    return {"heat-map": specifications.heat_map(title, rows, found.systems())}


def scaling(found):
    drawn = {}
    for kernel, access in dict.fromkeys(row[:2] for row in found.rows()):
        points = [
            (system, row[2], series)
            for row in found.rows()
            if row[:2] == (kernel, access)
            for system, series in counted(found, row)
        ]
        rows = []
        for system in found.systems():
            mine = {count: series.rate for name, count, series in points if name == system}
            few = min(mine, default=0)
            rows += [
                {"system": system, "ranks": count, "rate": rate, "ideal": mine[few] * count / few}
                for count, rate in mine.items()
                if len(mine) > 1
            ]
        if rows:
            title = f"{kernel} {access} by ranks"
            drawn[file_name("scaling", kernel, access)] = specifications.scaling(
                title, rows, points[0][2].unit, colours.of_systems(found)
            )
    return drawn


def ranks(found):
    drawn = {}
    for row in found.rows():
        rows = []
        for system, series in counted(found, row):
            phases = charts.phase_medians(series.phases)
            rows += [
                {"system": system, "rank": rank, "phase": phase, "number": number, "seconds": each}
                for number, (phase, (_, _, seconds)) in enumerate(phases.items())
                for rank, each in enumerate(seconds)
            ]
        if rows:
            title = f"Ranks of {title_of(*row)}"
            drawn[file_name("ranks", *row)] = specifications.ranks(
                title, rows, found.systems(), colours.of_phases(found)
            )
    return drawn


def latency(found):
    drawn = {}
    for row in found.rows():
        rows = []
        for system, series in counted(found, row):
            names = dict.fromkeys(name for one in series.latency.values() for name in one)
            rows += [
                {
                    **{"system": system, "part": charts.part_of(name)},
                    "microseconds": headline.percentile(series, name) / 1e3,
                }
                for name in names
            ]
        if rows:
            title = f"Latency of {title_of(*row)}"
            drawn[file_name("latency", *row)] = specifications.latency(
                title, rows, colours.of_systems(found)
            )
    return drawn


def history(past):
    return {
        file_name("history", *key): specifications.history(" ".join(map(str, key)), one)
        for key, one in past.items()
    }


def render(drawn, base):
    import vl_convert

    made = []
    for suffix, data in (
        (".svg", vl_convert.vegalite_to_svg(drawn, vl_version=VEGA_LITE).encode()),
        (".png", vl_convert.vegalite_to_png(drawn, vl_version=VEGA_LITE, scale=PNG_SCALE)),
        (".pdf", vl_convert.vegalite_to_pdf(drawn, vl_version=VEGA_LITE)),
    ):
        path = base.with_name(base.name + suffix)
        files.replace(path, data)
        made.append(path)
    return made
