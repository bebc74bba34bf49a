"""Reads of a system's own: by other ranks, after a remount, or with the page cache dropped.

A system's `reads` says so. Reads after something need two commands: one that writes and leaves the
files, then one that reads them. Between the two, the system does what `after` says.
"""

from ..node import space
from . import kernels

SIDES = {
    "write": ["--write-only", "--keep", "--no-check"],
    "read": ["--read-only"],
}


def of(given):
    """A system's `reads`: after, by, command; {} for reads in the kernel's own way."""
    return given.get("reads") or {}


def parameters(given):
    """What it adds to the parameters of a cell."""
    names = {"after": "reads_after", "by": "readers"}
    return {names[key]: value for key, value in of(given).items() if key in names}


def problems(given, directory):
    """[(key, text)] of why a system cannot have such reads, in words for its user."""
    found, where, cairn = of(given), "reads", given.get("cairn")
    after, command = found.get("after"), found.get("command")
    if command and (cairn or after != "remount"):
        return [(f"{where}.command", "belongs to after: remount of a system without cairn")]
    if after == "remount" and not cairn and not command:
        return [(where, "after: remount: needs command, the words that unmount and mount again")]
    if after != "drop":
        return []
    if cairn == "kept":
        return [(where, "after: drop: a kept pool stays in memory; use after: remount")]
    if space.in_memory(directory):
        return [(where, f"after: drop: {directory} is in memory; its files are nowhere else")]
    return []


def why_not(cell):
    """Why a cell has no such reads and is left out; None if it has."""
    after, by = cell.parameters.get("reads_after"), cell.parameters.get("readers")
    has_reads = kernels.of(cell.kind).reads_apart
    if after and not has_reads:
        return f"{cell.name}: {cell.kind} does not read what an earlier command has written"
    if by and not has_reads:
        return f"{cell.name}: {cell.kind} does not choose which rank reads"
    if by and cell.ranks == 1:
        return f"{cell.name}: no other rank is there to read"
    return None


def how(given):
    """Says in words what happens between the writes and the reads."""
    after, cairn = of(given).get("after"), given.get("cairn")
    if after is None:
        return ""
    parts = []
    if cairn == "kept":
        parts.append("cairn run again, over the same pool, not drained")
    elif cairn:
        parts.append("drained; then cairn run again, with a new pool")
    elif after == "remount":
        parts.append("remounted by a command")
    if after == "drop":
        parts.append("page cache dropped by fsync and posix_fadvise")
    return "; ".join(parts)


def command_between(given, directory, drop):
    """(what, words) of the command between the two; None if none is needed. drop: the kernel's."""
    found = of(given)
    if found.get("after") == "drop":
        return "drop", [*drop, str(directory)]
    if not found.get("command"):
        return None
    point = space.mount_of(directory)[0]
    words = [str(word).replace("{mount}", point) for word in found["command"]]
    return "remount", [word.replace("{directory}", str(directory)) for word in words]


def joined(write, between, read, given):
    """One record of a cell from the records of its commands."""
    steps = [{"what": "write", **step_of(write)}]
    about = {key: value for key, value in of(given).items() if key != "command"}
    about["how"] = how(given)
    if between is not None:
        what, record = between
        steps.append({"what": what, **step_of(record)})
        if record["output"]:
            cached = record["output"]["parameters"]
            about |= {key: cached[key] for key in ("file_bytes", "cached_bytes")}
    last = read or (between[1] if between else write)
    found = {
        **last,
        "started": write["started"],
        "wall_s": round(sum(each["wall_s"] for each in (*steps, *([read] if read else []))), 6),
        "shared_bytes": max(write["shared_bytes"], last["shared_bytes"]),
        "before": steps,
        "reads": about,
    }
    if read is None:
        found["before"] = steps[:-1]
        return {**found, "output": found["output"] if last is write else None}
    if read["output"] and write["output"]:
        found["output"] = both(write["output"], read["output"])
    return found


def step_of(record):
    return {key: record[key] for key in ("command", "wall_s", "finalize_s") if key in record}


def both(write, read):
    memory = [one.get("memory_bytes_per_node", 0) for one in (write, read)]
    return {
        **read,
        "accesses": [*write["accesses"], *read["accesses"]],
        "checks": [*write["checks"], *read["checks"]],
        "valid": write["valid"] and read["valid"],
        "memory_bytes_per_node": max(memory),
    }
