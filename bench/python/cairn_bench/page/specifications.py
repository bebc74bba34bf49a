"""Vega-Lite specifications of the page's charts, as Altair writes them: data included."""

from . import umami

SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
BAR = "#9ebcdc"
WIDTH = 320


def head(title, rows, **more):
    # The padding is for fonts that are wider than those that the picture was laid out with.
    return {"$schema": SCHEMA, "title": title, "padding": 16, "data": {"values": rows}, **more}


def across(field, title, **more):
    return {"field": field, "type": "quantitative", "title": title, **more}


def names(field, order=None, title=None):
    return {"field": field, "type": "nominal", "sort": order, "title": title}


def coloured(field, colours, shown):
    """{name: colour} of the page, for the names that a chart shows."""
    known = {name: colour for name, colour in colours.items() if name in shown}
    scale = {"domain": list(known), "range": list(known.values())}
    return {**names(field, list(known)), "scale": scale}


def bars(title, rows, systems):
    """Bars at the rates, which are geometric means, with their 95 % intervals where they have one.

    rows: system, rate, low, high (None: no interval), short (timed for less than 1 s), unit."""
    axis = f"{rows[0]['unit']}, geometric mean"
    if any(row["low"] is not None for row in rows):
        axis += " and 95 % interval"
    if any(row["short"] for row in rows):
        axis += "; *: timed for less than 1 s"
    return head(
        title,
        rows,
        width=WIDTH,
        height=28 * len(rows),
        encoding={"y": names("system", systems)},
        layer=[
            {
                "mark": {"type": "bar", "color": BAR},
                "encoding": {"x": across("rate", axis)},
            },
            {
                "mark": {"type": "rule", "strokeWidth": 2},
                "transform": [{"filter": "isValid(datum.low)"}],
                "encoding": {"x": across("low", axis), "x2": {"field": "high"}},
            },
            {
                "mark": {"type": "text", "align": "left", "dx": 4, "dy": -8},
                "transform": [{"filter": "datum.short"}],
                "encoding": {"x": across("rate", axis), "text": {"value": "*"}},
            },
        ],
    )


def heat_map(title, rows, systems):
    """rows: row, system, share (of the limit), limit, text."""
    order = list(dict.fromkeys(row["row"] for row in rows))
    return head(
        title,
        rows,
        width=110 * len(systems),
        height=26 * len(order),
        encoding={
            "x": {**names("system", systems), "axis": {"orient": "top", "labelAngle": 0}},
            "y": {**names("row", order), "axis": {"labelLimit": 400}},
        },
        layer=[
            {
                "mark": "rect",
                "encoding": {
                    "color": across(
                        "share",
                        "of the limit",
                        scale={"domain": [0, 1], "clamp": True, "scheme": "blues"},
                        legend={"format": ".0%"},
                    ),
                    "tooltip": [{"field": "limit"}, {"field": "share", "format": ".0%"}],
                },
            },
            {
                "mark": "text",
                "encoding": {
                    "text": {"field": "text"},
                    "color": {
                        "condition": {"test": "datum.share > 0.6", "value": "white"},
                        "value": "black",
                    },
                },
            },
        ],
    )


def scaling(title, rows, unit, colours):
    """rows: system, ranks, rate, ideal. colours: of systems."""
    counts = sorted({row["ranks"] for row in rows})
    line = {
        "x": across("ranks", "ranks", axis={"values": counts, "format": "d"}),
        "color": coloured("system", colours, {row["system"] for row in rows}),
    }
    axis = f"{unit}; dashed: the ideal"
    return head(
        title,
        rows,
        width=WIDTH,
        height=200,
        encoding=line,
        layer=[
            {
                "mark": {"type": "line", "point": True},
                "encoding": {"y": across("rate", axis)},
            },
            {
                "mark": {"type": "line", "strokeDash": [4, 4]},
                "encoding": {"y": across("ideal", axis)},
            },
        ],
    )


def ranks(title, rows, systems, colours):
    """Stragglers. rows: system, rank, phase, number (of the phase), seconds. colours: of phases."""
    count = len({row["rank"] for row in rows})
    return head(
        title, rows, facet={
            "row": {**names("system", systems), "header": {"labelAngle": 0, "labelAlign": "left"}}
        }, spec={
            "width": WIDTH, "height": max(16, 5 * count), "mark": "bar", "encoding": {
                "x": across("seconds", "seconds of each rank"),
                "y": {"field": "rank", "type": "ordinal", "axis": None},
                "color": coloured("phase", colours, {row["phase"] for row in rows}),
                "order": across("number", None),
            },
        },
    )


def latency(title, rows, colours):
    """rows: system, part (of the calls), microseconds. colours: of systems."""
    return head(
        title,
        rows,
        width=WIDTH,
        height=200,
        mark="line",
        encoding={
            "x": across("microseconds", "microseconds", scale={"type": "log"}),
            "y": across("part", "part of the calls that were done", axis={"format": ".0%"}),
            "order": across("part", None),
            "color": coloured("system", colours, {row["system"] for row in rows}),
        },
    )


def history(title, past):
    """In the manner of UMAMI: the series with a star on the newest, and the box of those before, if
    they have quarters."""
    *before, newest = past.medians
    paint = umami.NEUTRAL
    if past.has_quarters:
        paint = umami.colour(umami.quarter(past.medians), past.large_is_good)
    series = [
        {"time": time, "value": value, "newest": False}
        for time, value in zip(past.times, past.medians)
    ]
    series[-1]["newest"] = True
    time = {"field": "time", "type": "temporal", "title": None}
    point = {"x": time, "y": across("value", past.unit, scale={"zero": False})}
    at_newest = {
        "mark": {"type": "rule", "strokeDash": [4, 3], "color": paint},
        "encoding": {"y": {"datum": newest}},
    }
    charts = [{
        "width": WIDTH, "height": 80, "data": {"values": series}, "layer": [{
            "mark": {"type": "line", "point": {"color": paint}, "color": paint},
            "encoding": point,
        }, {
            "encoding": point, "transform": [{"filter": "datum.newest"}], "mark": {
                **{"type": "point", "shape": STAR, "size": 150, "filled": True},
                **{"color": paint, "opacity": 1},
            },
        }, at_newest, ],
    }]
    if past.has_quarters:
        charts.append(box(before, paint, at_newest))
    return {
        "$schema": SCHEMA, "title": title, "resolve": {"scale": {"y": "shared"}}, "hconcat": charts
    }


def box(before, paint, at_newest):
    """The box plot of the earlier runs."""
    parts = {f"p{part}": umami.percentile(before, part) for part in (*umami.WHISKERS, 25, 50, 75)}
    return {
        "width": 40, "height": 80, "data": {"values": [parts]}, "layer": [{
            "mark": "rule", "encoding": {
                "y": across("p5", None, scale={"zero": False}), "y2": {"field": "p95"}
            },
        }, {
            "mark": {"type": "bar", "size": 20, "color": paint, "opacity": 0.5},
            "encoding": {"y": across("p25", None), "y2": {"field": "p75"}},
        }, {"mark": {"type": "tick", "size": 20}, "encoding": {"y": across("p50", None)}},
                                                                    at_newest, ],
    }


# A path in a square from -1 to 1, as Vega wants it.
STAR = umami.star(0, 0, 1.0)
