"""Cells of a matrix (system, kernel entry, number of ranks), and the words that start them."""

import dataclasses
import hashlib
import json

from ..errors import Mistake
from . import before_write, kernels, reads

MOST_CELLS = 10_000
AGAIN = "-again"  # the baseline's second self, for the noise floor


@dataclasses.dataclass(frozen=True)
class Cell:
    system: str
    kernel: str  # the entry's name in the matrix
    ranks: int
    parameters: dict  # of the entry, sizes in bytes, scaled
    hints: dict

    @property
    def name(self):
        return f"{self.kernel} on {self.system}, {self.ranks} ranks"

    @property
    def key(self):
        """The same for the same work: history is put together by it."""
        parts = [self.system, self.kernel, self.ranks, self.parameters, self.hints]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]

    @property
    def kind(self):
        return self.parameters["kernel"]


def expand(matrix, systems):
    """The cells of `matrix` for the named systems, in its order."""
    cells = []
    count = len(matrix["kernels"]) * len(systems) * len(matrix["ranks"])
    if count > MOST_CELLS:
        raise Mistake(f"the matrix has {count} cells: at most {MOST_CELLS}")
    for name, entry in matrix["kernels"].items():
        for system in systems:
            more = [
                rule["ranks"]
                for rule in matrix.get("include", [])
                if matches(rule, system, name, rule["ranks"])
            ]
            for ranks in dict.fromkeys([*matrix["ranks"], *more]):
                if not any(matches(rule, system, name, ranks) for rule in matrix["exclude"]):
                    cells.append(cell_of(matrix, system, name, entry, ranks))
    return cells


def cell_of(matrix, system, name, entry, ranks):
    given = matrix["systems"][system]
    hints = {**given.get("hints", {}), **entry.get("hints", {})}
    own = {**reads.parameters(given), **before_write.parameters(given)}
    scale = matrix["scale"] * entry.get("scale", 1)
    parameters = {**scaled(entry, scale), **own}
    if "nodes" in given:
        parameters["nodes"] = given["nodes"]
    return Cell(system, name, ranks, parameters, hints)


def matches(rule, system, kernel, ranks):
    return all(
        rule[key] == value
        for key, value in (("system", system), ("kernel", kernel), ("ranks", ranks))
        if key in rule
    )


def scaled(entry, scale):
    """Sizes as numbers; amounts (segments, particles, files) times `scale`."""
    kernel = kernels.of(entry["kernel"])
    left_out = ("hints", "about", "optional", "scale")
    found = {key: value for key, value in entry.items() if key not in left_out}
    return kernel.scaled(kernel.normal(found), scale)


def file_bytes(cell):
    """Bytes that the cell keeps on the medium while it runs."""
    return kernels.of(cell.kind).file_bytes(cell.parameters, cell.ranks)


def memory_bytes(cell):
    """What the kernel's ranks need for themselves, MPI not counted."""
    return kernels.of(cell.kind).memory_bytes(cell.parameters, cell.ranks)


def transfer_bytes(cell):
    """Bytes of the cell's calls, or of most of them; None where it moves no data."""
    return kernels.of(cell.kind).transfer_bytes(cell.parameters, cell.ranks)


def words(cell, program, directory, side=None):
    """The kernel's command line, without a launcher. side: "write" or "read" only, or "fill": the
    command that makes the files for a rewrite."""
    given = cell.parameters
    result = [program]
    if cell.kind != "program":
        result += ["--format", "json"]
        for key, value in sorted(cell.hints.items()):
            result += ["--hint", f"{key}={value}"]
        if given.get("check") is False and side not in ("write", "fill"):
            result.append("--no-check")
        if given.get("keep") and side not in ("write", "fill"):
            result.append("--keep")
        result += [*reads.SIDES.get(side, []), *before_write.options(cell, side)]
        if "readers" in given:
            result += ["--readers", given["readers"]]
    return list(map(str, [*result, *kernels.of(cell.kind).words(given, directory)]))
