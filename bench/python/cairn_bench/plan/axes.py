"""Entries of a matrix that stand for several: a kernel's `axes`, each value of which is tried."""

import itertools
import math

from ..errors import Mistake

MOST_ENTRIES = 10_000  # of all kernels


def expanded(matrix):
    """(matrix with an entry for each combination, {its name: the name in the file})."""
    kernels, origin = {}, {}
    count = sum(
        math.prod(len(values) for values in entry.get("axes", {}).values())
        for entry in matrix["kernels"].values()
    )
    if count > MOST_ENTRIES:
        raise Mistake(f"kernels: {count} combinations of axes: at most {MOST_ENTRIES}")
    for name, entry in matrix["kernels"].items():
        for more, parameters in combinations(entry):
            found = "-".join([name, *more])
            kernels[found], origin[found] = parameters, name
    return {**matrix, "kernels": kernels}, origin


def combinations(entry):
    """[(texts of the values, parameters)] of one entry."""
    axes = entry.get("axes")
    if not axes:
        yield [], entry
        return
    rest = {key: value for key, value in entry.items() if key != "axes"}
    for values in itertools.product(*axes.values()):
        chosen = dict(zip(axes, values))
        yield [text(key, value) for key, value in chosen.items()], {**rest, **chosen}


def text(key, value):
    """4KiB, shared; of a yes or no its key: fsync, no-fsync."""
    if isinstance(value, bool):
        return key if value else f"no-{key}"
    return str(value).replace(" ", "")


def rules(given, origin):
    """Rules that name an entry of the file, for each entry that it stands for."""
    found = []
    for rule in given:
        names = [new for new, old in origin.items() if rule.get("kernel") in (new, old)]
        found += [{**rule, "kernel": name} for name in names] if "kernel" in rule else [rule]
    return found
