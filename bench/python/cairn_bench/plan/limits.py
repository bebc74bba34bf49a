"""Limits: what a medium or a network gives without a file system, measured in the run's rounds.

Three kinds, each of which takes its turn in a round like a cell:
  copy     between the ranks' buffers and a warm mapping of the medium, by as many ranks as the cell
           has, in pieces of its transfers;
  device   direct writes and reads of a medium that is not memory, by fio where it is in PATH, else
           by the kernel `device`;
  network  one-sided reads between the ranks of different nodes, and messages.
"""

import dataclasses
import hashlib
import os

from .. import files
from ..errors import Mistake
from ..node import installation, space
from . import cells as cells_module
from . import outside

KINDS = ("copy", "device", "network")
LARGEST_PIECE = 1 << 20  # larger copies are not faster
REGION = 64 << 20  # of each rank: more than the caches of one processor hold
NETWORK_REGION = 16 << 20
DEVICE_BYTES = (8 << 20, 64 << 20, 512 << 20)  # of a rank at least and at most, of all about
PASSES = 4
NETWORK = "network"  # in the place of a medium
FIO_DEPTH = 16

# Names of the accesses, as the page shows them.
NAMES = {
    "write": "copy",
    "write-nt": "copy past the cache",
    "read": "copy out",
    "device-write": "device write",
    "device-read": "device read",
    "get": "one-sided read",
    "message": "message",
}


@dataclasses.dataclass(frozen=True)
class Limit:
    kind: str
    medium: str  # a directory on it, or NETWORK
    systems: tuple  # names of those whose data lie there
    drains: tuple  # names of those whose data go there when they end
    mpi: str
    ranks: int
    transfer: int
    launcher: str | None = None
    nodes: int | None = None  # of a job of the launcher

    @property
    def name(self):
        if self.kind == "device":
            return f"device below {self.medium}, by {self.tool}"
        if self.kind == "network":
            return f"network, {self.ranks} ranks"
        return f"limit of {self.medium}, {self.ranks} ranks, {self.transfer} bytes"

    @property
    def key(self):
        parts = (self.medium, self.mpi, self.ranks, self.transfer)
        if self.kind != "copy":
            parts = (self.kind, *parts)
        if self.nodes is not None:
            parts = (*parts, self.nodes)
        return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]

    @property
    def bytes(self):
        """On the medium."""
        return 0 if self.kind == "network" else self.region * self.ranks

    @property
    def region(self):
        """Bytes of a rank."""
        if self.kind != "device":
            return NETWORK_REGION if self.kind == "network" else REGION
        least, most, together = DEVICE_BYTES
        return max(least, min(most, together // self.ranks >> 20 << 20))

    @property
    def tool(self):
        if self.kind != "device":
            return "MPI" if self.kind == "network" else "copying"
        return "fio" if self.by_fio else "direct I/O"

    @property
    def by_fio(self):
        """fio runs on this node only; the ranks of a launcher may lie on others."""
        return self.kind == "device" and self.launcher is None and bool(installation.found("fio"))

    @property
    def reader(self):
        """The parser of another program's output; None for a kernel's."""
        return output_of_fio if self.by_fio else None

    def local_file(self, directory):
        """The file of the copies. Memory of another node is not behind a path of this one's."""
        if self.launcher is None or not space.in_memory(self.medium):
            return [f"{directory}/limit"]
        return ["--local", f"{self.medium}/{os.path.basename(directory)}-limit"]

    def words(self, directory):
        if self.by_fio:
            return words_of_fio(self.ranks, self.region, directory)
        kernel, options = {
            "copy": ("limits", ["-p", PASSES, *self.local_file(directory)]),
            "device": ("device", [f"{directory}/limit"]),
            "network": ("network", []),
        }[self.kind]
        return [
            *installation.launch_words(self.mpi, self.ranks, self.launcher, self.nodes),
            str(installation.kernel(self.mpi, kernel)),
            *("--format", "json", "-b", str(self.region), "-t", str(self.transfer)),
            *map(str, options),
        ]


def words_of_fio(ranks, region, directory):
    asynchronous = "libaio" in installation.fio_engines()
    return [
        installation.found("fio"),
        "--output-format=json",
        *(["--ioengine=libaio", f"--iodepth={FIO_DEPTH}"]
          if asynchronous else ["--ioengine=psync"]),
        *("--direct=1", "--bs=1m", f"--size={region}", f"--numjobs={ranks}", "--group_reporting"),
        *("--thread", "--fallocate=none", f"--directory={directory}"),
        "--filename_format=limit.$jobnum.$filenum",  # the second job reads the first one's files
        *("--name=device", "--rw=write", "--end_fsync=1", "--stonewall"),
        *("--name=device", "--rw=read", "--stonewall"),
    ]


def output_of_fio(text, errors):
    found = outside.output_of("fio", text, 1, errors=errors)
    for access in found["accesses"]:
        access["access"] = access["access"].replace(" ", "-")
    return found


def rank_counts(most):
    """1, 2, 4 ... and `most`: how the medium's speed grows with the ranks."""
    found = {1, most}
    number = 2
    while number < most:
        found.add(number)
        number *= 2
    return found


def kinds_of(setting):
    """What the matrix's `limits` asks for: true, false or a list of kinds."""
    if isinstance(setting, list):
        return tuple(setting)
    if not setting:
        return ()
    return KINDS if may_have_several_nodes() else ("copy", "device")


def may_have_several_nodes():
    """Whether the job has more than one node, as its scheduler says."""
    count = os.environ.get("SLURM_JOB_NUM_NODES")
    if count is not None:
        return count != "1"
    try:
        nodes = files.read_text(os.environ.get("PBS_NODEFILE", ""), files.LIST_BYTES)
    except Mistake:
        return False
    return len(set(nodes.split())) > 1


def needed(cells, systems, setting=True):
    """The limits of the cells, each medium's once. setting: the matrix's `limits`."""
    kinds = kinds_of(setting)
    media = {}  # device: (directory, [systems with data there])
    for name, system in systems.items():
        device = os.stat(system.medium).st_dev
        media.setdefault(device, (str(system.medium), []))[1].append(name)
    found = []
    if "copy" in kinds:
        for directory, names in media.values():
            found += copies(directory, names, cells, systems)
    if "device" in kinds:
        found += devices(media, cells, systems)
    if "network" in kinds:
        found += networks(cells, systems)
    return list({limit.key: limit for limit in found}.values())


def first_of(cells, systems):
    return systems[cells[0].system]


def copies(directory, names, cells, systems):
    mine = [cell for cell in cells if cell.system in names]
    wanted = {(cell.ranks, piece) for cell in mine if (piece := piece_of(cell)) is not None}
    if not wanted:
        return []
    largest = max(piece for _, piece in wanted)
    wanted |= {(ranks, largest) for ranks in rank_counts(max(ranks for ranks, _ in wanted))}
    first = first_of(mine, systems)
    return [
        Limit("copy", directory, tuple(names), (), first.mpi, ranks, piece, first.launcher,
              first.nodes) for ranks, piece in sorted(wanted)
    ]


def devices(media, cells, systems):
    """Those of media that are not memory, also where data only go at the end of a run."""
    places = {device: (directory, names, []) for device, (directory, names) in media.items()}
    for name, system in systems.items():
        if system.directory != system.medium:
            device = os.stat(system.directory).st_dev
            places.setdefault(device, (str(system.directory), [], []))[2].append(name)
    found = []
    for directory, names, drains in places.values():
        mine = [cell for cell in cells if cell.system in (*names, *drains)]
        if space.in_memory(directory) or not any(map(cells_module.transfer_bytes, mine)):
            continue
        first = first_of(mine, systems)
        ranks = max(cell.ranks for cell in mine)
        found.append(
            Limit(
                *("device", directory, tuple(names), tuple(drains)),
                *(first.mpi, ranks, LARGEST_PIECE, first.launcher, first.nodes),
            )
        )
    return found


def networks(cells, systems):
    """Of each MPI, by the most ranks that a cell has; all pieces are large ones."""
    found = []
    for mpi in dict.fromkeys(system.mpi for system in systems.values()):
        names = tuple(name for name, system in systems.items() if system.mpi == mpi)
        mine = [cell for cell in cells if cell.system in names]
        ranks = max((cell.ranks for cell in mine), default=1)
        if ranks > 1:
            first = first_of(mine, systems)
            found.append(
                Limit("network", NETWORK, names, (), mpi, ranks, LARGEST_PIECE, first.launcher,
                      first.nodes))
    return found


def piece_of(cell):
    """Bytes of one copy for a cell; None for cells that move no data."""
    transfer = cells_module.transfer_bytes(cell)
    return None if transfer is None else max(8, min(transfer, LARGEST_PIECE) // 8 * 8)
