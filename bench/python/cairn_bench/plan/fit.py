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


def pools_that_stay(all_cells, systems):
    """{system: the cell that its kept pool is made for}."""
    kept = [cell for cell in all_cells if systems[cell.system].cairn == "kept"]
    found = {}
    for cell in sorted(kept, key=lambda cell: systems[cell.system].pool_size(cell)):
        found[cell.system] = cell
    return found


def misfits(all_cells, systems):
    """[(cell, text)] of cells that do not fit."""
    found = []
    stay = pools_that_stay(all_cells, systems)
    standing = sum(systems[name].pool_size(cell) for name, cell in stay.items())
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
            (
                cell,
                f"{cell.name}: needs {sizes.show(size)} in {place}, "
                f"which has {sizes.show(space.free_on(place))} free",
            )
            for place, size in places
            if size > space.free_on(place) * SHARE
        ]
        wanted = cells.memory_bytes(cell) + standing
        if space.in_memory(where) and system.cairn != "kept":
            wanted += need
        if wanted > memory * SHARE:
            text = (
                f"{cell.name}: needs {sizes.show(wanted)} of memory; "
                f"{sizes.show(memory)} are available"
            )
            found.append((cell, text))
    return found


def what_does_not_fit(all_cells, limits, systems):
    """Lines for people; empty if everything fits."""
    found = [text for _, text in misfits(all_cells, systems)]
    for limit in limits:
        if limit.bytes and limit.bytes > space.free_on(limit.medium) * SHARE:
            found.append(
                f"{limit.name}: needs {sizes.show(limit.bytes)}, of which "
                f"{sizes.show(space.free_on(limit.medium))} are free; limits: false leaves it out"
            )
    return found


def to_shrink(all_cells, systems):
    """Entries of the matrix of which one has to shrink so that all cells fit, the largest first:
    those that do not fit, and those that a kept pool is made for."""
    wrong = [cell for cell, _ in misfits(all_cells, systems)]
    if not wrong:
        return []
    wrong += pools_that_stay(all_cells, systems).values()
    largest = {}
    for cell in wrong:
        size = cells.file_bytes(cell) + cells.memory_bytes(cell)
        largest[cell.kernel] = max(size, largest.get(cell.kernel, 0))
    return sorted(largest, key=lambda name: -largest[name])
