"""The page docs/results/judged/README.md, from the judged tables beside it: DIRECTORY.

A table TABLE.json is what bench_TABLE writes with --json. The page shows no ratio without its
interval, and none of fewer than three pairs.
"""

import json
import pathlib
import sys

from cairn_bench.results import judged

HEAD = """# The judged tables

`make bench-results` ran the judged programs one after the other on a quiet machine and made this
page from their tables, which lie beside it as JSON. [Method](../method.md) says what the rows are
and how a row is judged. An interval holds for its own row with 95 %. Of fewer than three pairs
there is none, and no ratio.
"""
LEAST_PAIRS = 3


def cost(value):
    return f"{value:.3g}" if value < 1000 else f"{value:.0f}"


def rows_of(group, rows):
    yield ""
    yield f"### {group[0].upper()}{group[1:]}"
    yield ""
    yield "| row | against | ns a call, the limit's | measured | 95 % interval | bar | | pairs |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- |"
    for row in rows:
        costs = [cost(row[key]) for key in ("ours_ns", "limit_ns") if key in row]
        shown = ["too few pairs", ""]
        if row["pairs"] >= LEAST_PAIRS:
            median, low, high = (
                judged.value(row[key], row["unit"]) for key in ("median", "low", "high"))
            shown = [median, f"{low} .. {high}"]
        cells = [
            row["what"], row["against"], ", ".join(costs), *shown, judged.bar(row),
            row.get("verdict", ""), str(row["pairs"]),
        ]
        yield f"| {' | '.join(cells)} |".replace("  ", " ")


def notes_of(rows):
    noted = [f"- {row['group']}, {row['what']}: {row['note']}" for row in rows if row.get("note")]
    if noted:
        yield ""
        yield from noted


def page_of(tables):
    yield HEAD.rstrip("\n")
    for name, table in tables.items():
        rows = table["rows"]
        verdicts = [row["verdict"] for row in rows if "verdict" in row]
        yield ""
        yield f"## `bench_{name}`: {verdicts.count('holds')} of {len(verdicts)} bars hold"
        yield ""
        yield from (f"- {key}: {value}" for key, value in table["facts"].items())
        for group in dict.fromkeys(row["group"] for row in rows):
            yield from rows_of(group, [row for row in rows if row["group"] == group])
        yield from notes_of(rows)
        for row in table.get("not_measured", []):
            yield ""
            yield f"Not measured: {row['group']}, {row['what']}: {row['why']}"


def main(directory):
    paths = sorted(pathlib.Path(directory).glob("*.json"))
    tables = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in paths}
    print("\n".join(page_of(tables)))


if __name__ == "__main__":
    main(sys.argv[1])
