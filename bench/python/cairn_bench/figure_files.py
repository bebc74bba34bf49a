"""Figures for papers: one Vega-Lite specification for each access, and SVG, PNG and PDF of it.

The specifications need nothing. The pictures need vl-convert-python, which renders without a
browser; without it, any Vega-Lite tool makes them from the specifications.
"""

import importlib.util
import json
import re

from .errors import Mistake

VEGA_LITE = "5.20"
PNG_SCALE = 2


def available():
    return importlib.util.find_spec("vl_convert") is not None


def write(found, directory):
    """Writes all figures of `found`; returns their paths."""
    directory.mkdir(parents=True, exist_ok=True)
    paths = []
    for kernel, access, ranks in found.rows():
        rows = values(found, kernel, access, ranks)
        if not rows:
            continue
        name = re.sub(r"[^A-Za-z0-9._-]+", "-", f"{kernel}-{access}-{ranks}")
        drawn = specification(f"{kernel} {access}, {ranks} ranks", rows, found.systems())
        path = directory / f"{name}.vl.json"
        path.write_text(json.dumps(drawn, indent=1) + "\n", encoding="utf-8")
        paths.append(path)
        if available():
            paths += render(drawn, directory / name)
    if not paths:
        raise Mistake("--figures: no cell has figures", code=1)
    return paths


def values(found, kernel, access, ranks):
    rows = []
    for system in found.systems():
        series = found.counted(kernel, access, ranks, system)
        if series is None:
            continue
        low, high = series.interval or (series.median, series.median)
        rows.append(
            {
                "system": system,
                "median": series.median,
                "low": low,
                "high": high,
                "unit": series.unit,
            }
        )
    return rows


def specification(title, rows, systems):
    """Bars at the medians, with the 95 % intervals of the geometric means."""
    across = {"field": "system", "type": "nominal", "sort": systems, "title": None}
    return {
        "$schema": f"https://vega.github.io/schema/vega-lite/v{VEGA_LITE.split('.')[0]}.json",
        "title": title,
        "width": 320,
        "height": 28 * len(rows),
        "data": {"values": rows},
        "encoding": {"y": across},
        "layer": [
            {
                "mark": {"type": "bar", "color": "#9ebcdc"},
                "encoding": {
                    "x": {
                        "field": "median",
                        "type": "quantitative",
                        "title": f"{rows[0]['unit']}, median and 95 % interval",
                    }
                },
            },
            {
                "mark": {"type": "rule", "strokeWidth": 2},
                "encoding": {
                    "x": {"field": "low", "type": "quantitative"},
                    "x2": {"field": "high"},
                },
            },
        ],
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
        path.write_bytes(data)
        made.append(path)
    return made
