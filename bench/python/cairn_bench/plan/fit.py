"""Whether the cells fit, on their media and in memory. Told before anything starts."""

from .. import sizes
from ..node import space
from . import cells

SHARE = 0.9  # of what is free; the rest is for everything else


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
    memory = space.memory_available()
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
            f"which has {sizes.show(space.free_on(place))} free"
            for place, size in places
            if size > space.free_on(place) * SHARE
        ]
        wanted = cells.memory_bytes(cell) + standing
        if space.in_memory(where) and system.cairn != "kept":
            wanted += need
        if wanted > memory * SHARE:
            found.append(
                f"{cell.name}: needs {sizes.show(wanted)} of memory; "
                f"{sizes.show(memory)} are available"
            )
    for limit in limits:
        if limit.bytes and limit.bytes > space.free_on(limit.medium) * SHARE:
            found.append(
                f"{limit.name}: needs {sizes.show(limit.bytes)}, of which "
                f"{sizes.show(space.free_on(limit.medium))} are free; limits: false leaves it out"
            )
    return found
