"""Whether the cells fit, on their media and in memory. Told before anything starts."""

import os
import pathlib

from . import cells, sizes

SHARE = 0.9  # of what is free; the rest is for everything else


def mount_of(directory):
    """(mount point, type, source, options) of the file system that holds `directory`."""
    best = ("", "?", "?", "")
    for line in pathlib.Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines():
        left, right = line.split(" - ", 1)
        point = left.split()[4]
        kind, source, *options = right.split(" ", 2)
        inside = point == "/" or str(directory) == point or str(directory).startswith(point + "/")
        if inside and len(point) >= len(best[0]):
            best = (point, kind, source, ",".join([left.split()[5], *options]))
    return best


def in_memory(directory):
    return mount_of(directory)[1] in ("tmpfs", "ramfs")


def free_on(directory):
    found = os.statvfs(directory)
    return found.f_bavail * found.f_frsize


def memory_available():
    """What the machine and its control group have left."""
    lines = pathlib.Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    free = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))
    for limit, used in (
        ("memory.max", "memory.current"),
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
    ):
        try:
            root = pathlib.Path("/sys/fs/cgroup")
            free = min(free, int((root / limit).read_text()) - int((root / used).read_text()))
        except (OSError, ValueError):
            continue
    return free


def drains(cell, system):
    """Whether Cairn writes the cell's files to the directory."""
    return cell.parameters.get("keep") or (
        system.cairn == "fresh" and "reads_after" in cell.parameters
    )


def what_does_not_fit(all_cells, limits, systems):
    """Lines for people; empty if everything fits."""
    found = []
    standing = sum(
        max(systems[name].pool_size(cell) for cell in all_cells if cell.system == name)
        for name in {cell.system for cell in all_cells}
        if systems[name].cairn == "kept"
    )
    memory = memory_available()
    for cell in all_cells:
        system = systems[cell.system]
        data = cells.file_bytes(cell)
        # Under Cairn the data lie in the pool; most kernels remove their files before the drain.
        where = system.medium
        need = system.pool_size(cell) if system.cairn else data
        places = [(where, need)]
        if system.cairn and drains(cell, system):
            places.append((system.directory, data))
        found += [
            f"{cell.name}: needs {sizes.show(size)} in {place}, "
            f"which has {sizes.show(free_on(place))} free"
            for place, size in places
            if size > free_on(place) * SHARE
        ]
        wanted = cells.memory_bytes(cell) + standing
        if in_memory(where) and system.cairn != "kept":
            wanted += need
        if wanted > memory * SHARE:
            found.append(
                f"{cell.name}: needs {sizes.show(wanted)} of memory; "
                f"{sizes.show(memory)} are available"
            )
    for limit in limits:
        if limit.bytes and limit.bytes > free_on(limit.medium) * SHARE:
            found.append(
                f"{limit.name}: needs {sizes.show(limit.bytes)}, of which "
                f"{sizes.show(free_on(limit.medium))} are free; limits: false leaves it out"
            )
    return found
