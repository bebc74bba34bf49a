"""Judged tables: what bench_core and the others of the source tree write with --json.

They join the store as records of the kind `judged`, one for each table. The newest of a name
counts. A page shows those of its own results, else those of the directory `judged` beside them. """

import datetime
import hashlib
import uuid

from .. import SCHEMA, files
from ..errors import Mistake
from ..node import machine
from ..terminal import tell
from . import records, store
from .machines import machine_of

DIRECTORY = "judged"
ROW = ("group", "what", "against", "unit", "median", "low", "high", "pairs")


def read(path):
    """The record of a table, without its run."""
    try:
        table = files.parse_json(files.read_text(path, files.LIST_BYTES))
        changed = datetime.datetime.fromtimestamp(path.stat().st_mtime, datetime.timezone.utc)
    except OSError as error:
        raise Mistake(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise Mistake(f"{path}: not JSON: {error}") from error
    rows = table.get("rows") if isinstance(table, dict) else None
    if not isinstance(rows, list) or any(key not in row for row in rows for key in ROW):
        raise Mistake(f"{path}: not a judged table: expected what bench_core --json writes")
    record = {
        "record": "judged",
        "schema": SCHEMA,
        "run": "",
        "table": path.stem,
        "started": changed.isoformat(timespec="milliseconds"),
        "facts": table.get("facts", {}),
        "rows": rows,
        "not_measured": table.get("not_measured", []),
    }
    wrong = records.problem(record)
    if wrong:
        raise Mistake(f"{path}: not a judged table: {wrong}")
    return record


def add(directory, paths):
    """Appends tables to the results of a directory, which are made if there are none."""
    tables = [read(path) for path in paths]
    target = directory / "results.jsonl"
    if target.exists():
        run = store.load(target).run["run"]
        results = store.Store(target, resume=True)
    else:
        directory.mkdir(parents=True, exist_ok=True)
        run = str(uuid.uuid4())
        results = store.Store(target)
        results.add(run_without_cells(run))
        end = {"record": "end", "finished": store.now(), "reason": "complete"}
        results.add({**end, "schema": SCHEMA, "run": run})
    for record in tables:
        results.add({**record, "run": run})
    results.close()
    return target


def run_without_cells(run):
    return {
        "record": "run",
        "schema": SCHEMA,
        "run": run,
        "started": store.now(),
        "matrix": {"name": DIRECTORY, "kernels": {}, "systems": {}},
        "matrix_sha256": hashlib.sha256(b"").hexdigest(),
        "environment": machine.environment(),
        "systems": {},
        "left_out": [],
        "cells": 0,
        "limits": 0,
        "rounds": 0,
        "warmup": 0,
        "seed": 0,
    }


def newest(results):
    """{name: record}"""
    found = {}
    for record in results.judged:
        before = found.get(record["table"])
        if before is None or record["started"] >= before["started"]:
            found[record["table"]] = record
    return found


def of_page(results, directory):
    """Those of the results, else those beside them that the same machine made."""
    beside = directory.resolve().parent / DIRECTORY / "results.jsonl"
    if results.judged or not beside.exists():
        return newest(results)
    try:
        other = store.load(beside)
    except Mistake as mistake:  # others may have put it there
        tell(f"no judged tables are shown: {mistake}")
        return {}
    return newest(other) if machine_of(other.run) == machine_of(results.run) else {}


def history_lines(results):
    """Records of the kind `figure`: the tables' rows, for the strips."""
    run = results.run
    lines = []
    for record in results.judged:
        for row in record["rows"]:
            parts = (record["table"], row["group"], row["what"], row["against"], row["unit"])
            lines.append(
                {
                    "record": "figure",
                    "schema": SCHEMA,
                    "run": f"{record['table']} {record['started']}",
                    "started": record["started"],
                    "host": run["environment"]["host"],
                    "machine": machine_of(run),
                    "cairn": record["facts"].get("cairn"),
                    "matrix": DIRECTORY,
                    "cell": hashlib.sha256(repr(parts).encode()).hexdigest()[:16],
                    "kernel": f"bench-{record['table']}",
                    "access": f"{row['group']}, {row['what']}",
                    "ranks": 0,
                    "system": row["against"],
                    "unit": row["unit"],
                    "median": row["median"],
                    "lowest": row["low"],
                    "highest": row["high"],
                    "rounds": row["pairs"],
                    "large_is_good": large_is_good(row),
                }
            )
    return lines


def large_is_good(row):
    """By its bar; without one, a time is good when it is small."""
    if "at_most" in row or "at_least" in row:
        return "at_least" in row
    return row["unit"] in ("ratio", "x")


def value(number, unit):
    """93.1 %, 6.20 x, 812 ns"""
    if unit == "ratio":
        return f"{number * 100:.1f} %"
    return f"{number:.3g} {unit}" if abs(number) < 1000 else f"{number:.0f} {unit}"


def bar(row):
    for key, sign in (("at_least", "at least"), ("at_most", "at most")):
        if key in row:
            return f"{sign} {value(row[key], row['unit'])}"
    return ""
