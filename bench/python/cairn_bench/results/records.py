"""Holds a record against the types in schema/record.json, which the figures rely on.

Keys may be missing: earlier versions wrote fewer. The results of a run may come from elsewhere.
This needs no package, because scripts/demo makes a page, too.
"""

import functools
import json
import pathlib
import re

SCHEMA = pathlib.Path(__file__).parents[1] / "schema/record.json"
NUMBERS = (int, float)
TYPES = {
    "object": dict, "array": list, "string": str, "boolean": bool, "null": type(None),
    "integer": int, "number": NUMBERS,
}


@functools.cache
def schema():
    return json.loads(SCHEMA.read_text(encoding="utf-8"))


def problem(record):
    """What is wrong with a record, or ""; a kind that is not known is left to later versions."""
    kinds = schema()["$defs"]
    if not isinstance(record, dict):
        return f"{str(record)[:80]!r}: expected object"
    kind = record.get("record")
    if not isinstance(kind, str) or kind not in kinds:
        return ""
    return held_against(record, schema(), kind) or held_against(record, kinds[kind], kind)


def held_against(value, rule, where):
    if "$ref" in rule:
        return held_against(value, schema()["$defs"][rule["$ref"].rpartition("/")[2]], where)
    wanted = rule.get("type", [])
    wanted = [wanted] if isinstance(wanted, str) else wanted
    if wanted and not any(is_of(value, each) for each in wanted):
        return f"{where}: {str(value)[:80]!r}: expected {' or '.join(wanted)}"
    if "anyOf" in rule:
        found = [held_against(value, each, where) for each in rule["anyOf"]]
        return "" if "" in found else found[-1]
    if isinstance(value, dict):
        return problem_of_keys(value, rule, where)
    if isinstance(value, list) and "items" in rule:
        found = (held_against(each, rule["items"], f"{where}.{i}") for i, each in enumerate(value))
        return next(filter(None, found), "")
    return ""


def is_of(value, name):
    if isinstance(value, bool):
        return name == "boolean"
    return isinstance(value, TYPES[name])


def problem_of_keys(value, rule, where):
    known, others = rule.get("properties", {}), rule.get("additionalProperties")
    names = re.compile(rule.get("propertyNames", {}).get("pattern", ""))
    for key, each in value.items():
        if not names.search(key):
            return f"{where}: unknown key {key[:80]!r}"
        below = known.get(key, others)
        if isinstance(below, dict):
            found = held_against(each, below, f"{where}.{key}")
            if found:
                return found
    return ""
