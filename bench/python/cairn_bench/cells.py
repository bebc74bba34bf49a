"""Cells of a matrix (system, kernel entry, number of ranks), and the words that start them."""

import dataclasses
import hashlib
import json

from . import sizes

HACC_HEADER = 24 << 20
HACC_RECORD = 38
PARTICLE = 32
MEBI = 1 << 20


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
    for name, entry in matrix["kernels"].items():
        for system in systems:
            for ranks in matrix["ranks"]:
                if not any(matches(rule, system, name, ranks) for rule in matrix["exclude"]):
                    hints = {**matrix["systems"][system].get("hints", {}), **entry.get("hints", {})}
                    cells.append(Cell(system, name, ranks, scaled(entry, matrix["scale"]), hints))
    return cells


def matches(rule, system, kernel, ranks):
    return all(
        rule[key] == value
        for key, value in (("system", system), ("kernel", kernel), ("ranks", ranks))
        if key in rule
    )


def scaled(entry, scale):
    """Sizes as numbers; the amount (segments, particles) times `scale`."""
    found = {
        key: value for key, value in entry.items() if key not in ("hints", "about", "optional")
    }
    standard = {
        "ior": {"block": MEBI, "transfer": 256 << 10, "segments": 1, "layout": "shared"},
        "hacc": {"particles": MEBI, "layout": "shared"},
        "vpic": {"particles": MEBI},
        "bdcats": {"particles": MEBI},
    }[entry["kernel"]]
    found = {**standard, **found}
    for key in ("block", "transfer"):
        if key in found:
            found[key] = sizes.parse(found[key])
    for key in ("segments", "particles"):
        if key in found:
            found[key] = max(1, round(found[key] * scale))
    return found


def file_bytes(cell):
    """Bytes that the cell keeps on the medium while it runs."""
    given = cell.parameters
    if cell.kind == "ior":
        return cell.ranks * given["segments"] * given["block"]
    if cell.kind == "hacc":
        files = cell.ranks if given["layout"] == "file-per-process" else 1
        return files * HACC_HEADER + cell.ranks * given["particles"] * HACC_RECORD
    return cell.ranks * given["particles"] * PARTICLE


def memory_bytes(cell):
    """What the kernel's ranks need for themselves, MPI not counted."""
    given = cell.parameters
    if cell.kind == "ior":
        return cell.ranks * 2 * given["transfer"]
    if cell.kind == "hacc":
        return cell.ranks * (2 * given["particles"] * HACC_RECORD + HACC_HEADER)
    return cell.ranks * given["particles"] * PARTICLE * 2


def words(cell, program, directory):
    """The kernel's command line, without a launcher."""
    given = cell.parameters
    result = [program, "--format", "json"]
    for key, value in sorted(cell.hints.items()):
        result += ["--hint", f"{key}={value}"]
    if given.get("check") is False:
        result.append("--no-check")
    if "api" in given:
        result += ["-a", given["api"]]
    if given.get("fsync"):
        result.append("-e")
    result += {"ior": of_ior, "hacc": of_hacc, "vpic": of_vpic, "bdcats": of_bdcats}[cell.kind](
        given, directory
    )
    return list(map(str, result))


def options(given):
    return list(given.get("options", []))


def of_ior(given, directory):
    flags = {"collective": "-c", "barriers": "-g", "reorder": "-C", "random_order": "-z"}
    result = [flag for key, flag in flags.items() if given.get(key)]
    if given["layout"] == "file-per-process":
        result.append("-F")
    return [
        *result,
        "-b",
        given["block"],
        "-t",
        given["transfer"],
        "-s",
        given["segments"],
        *options(given),
        "-o",
        f"{directory}/ior",
    ]


def of_hacc(given, directory):
    layout = ["-F"] if given["layout"] == "file-per-process" else []
    return [*layout, *options(given), given["particles"], f"{directory}/hacc"]


def independent(given):
    return ["--independent"] if given.get("collective") is False else []


def of_vpic(given, directory):
    return [
        *independent(given),
        "--particles",
        given["particles"],
        *options(given),
        f"{directory}/vpic",
    ]


def of_bdcats(given, directory):
    return [
        *independent(given),
        "--make",
        given["particles"],
        *options(given),
        "-f",
        f"{directory}/bdcats",
    ]
