"""The memory that a system's writes meet: new, used already, or the page cache of a disk.

With `rewrite`, a system's writes meet used memory. An untimed command makes the files of the cell
first. The cell then writes over them, without cutting or removing them.
"""

from . import kernels

USED, NEW, PAGE_CACHE = "used", "new", "page cache"


def parameters(given):
    """What it adds to the parameters of a cell."""
    return {"rewrite": True} if given.get("rewrite") else {}


def problems(given):
    """Says why a system cannot rewrite, in words for its user."""
    if not given.get("rewrite") or not given.get("cairn"):
        return []
    return [
        "not with cairn: a pool of cairn: kept has used memory already, one of cairn: fresh new"
    ]


def why_not(cell):
    """Why a cell cannot write over its files and is left out; None if it can."""
    given = cell.parameters
    if not given.get("rewrite") or kernels.of(cell.kind).rewrites(given):
        return None
    return f"{cell.name}: {cell.kind} does not write over files that are there (no --existing)"


def options(cell, side):
    """Further options of a cell's command. side: "fill", "write", "read" or None for both."""
    if not cell.parameters.get("rewrite") or side == "read":
        return []
    if side != "fill":
        return ["--existing"]
    kernel = kernels.of(cell.kind)
    only = ["--write-only"] if kernel.reads_apart else []
    # The check must not take what the fill has written for what the cell should have.
    seed = ["-G", "1"] if kernel.has_seed else []
    return [*only, "--keep", "--no-check", *seed]


def met(given, in_memory):
    """What the run record says. in_memory: whether the data lie in memory while a kernel runs."""
    if not given.get("cairn") and not in_memory:
        return PAGE_CACHE
    return USED if given.get("cairn") == "kept" or given.get("rewrite") else NEW


def joined(fill, found):
    """The record of a cell whose files another command has made. Its seconds are the cell's. It
    has failed if its kernel did not find these files in full."""
    step = {"what": "fill", "command": fill["command"], "wall_s": fill["wall_s"]}
    found = {**found, "before": [step, *found.get("before", [])]}
    if found["status"] == "ok" and "--existing" in found["command"]:
        if not found["output"]["parameters"].get("existing"):
            found["status"] = "failed"
            found["errors"] = (
                "the files of the command before were not there in full, so the writes met new "
                f"memory\n{found['errors']}"
            )
    return found
