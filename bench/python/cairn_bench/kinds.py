"""The kinds of kernels: their parameters' defaults, what `scale` multiplies, sizes, and words."""

import dataclasses
import pathlib
from collections.abc import Callable

JOBS = pathlib.Path(__file__).resolve().parent / "fio"
START = pathlib.Path.cwd()
MEBI = 1 << 20
HACC_HEADER = 24 << 20
HACC_RECORD = 38
PARTICLE = 32
DOUBLE = 8
REPLICATED = 907 + 8 * 8 * 58 * 128 * DOUBLE  # of palm: what every rank holds
COLUMN = 75 + 57 * 13 * DOUBLE // 100  # bytes of planes and surfaces for a column of its grid
POINT = 60
LLM_BYTES = 14  # of a parameter: model and optimizer
LLM_PARAMETERS = {"8b": 8_030_261_248, "70b": 69_882_617_856}


@dataclasses.dataclass(frozen=True)
class Kind:
    standard: dict  # parameters that the matrix may leave out
    amounts: tuple  # parameters that `scale` multiplies
    file_bytes: Callable  # (parameters, ranks): on the medium while it runs
    memory_bytes: Callable  # (parameters, ranks): of the ranks, MPI not counted
    transfer_bytes: Callable  # (parameters, ranks): of most calls; None for no data
    words: Callable  # (parameters, directory): after the program's name
    sizes: tuple = ()  # parameters that are sizes, as 4KiB


def flags(given, names):
    return [flag for key, flag in names.items() if given.get(key)]


def per_process(given):
    return ["-F"] if given["layout"] == "file-per-process" else []


def api(given):
    return ["-a", given["api"]] if "api" in given else []


def of_ior(given, directory):
    return [
        *api(given),
        *flags(given, {"fsync": "-e", "collective": "-c", "barriers": "-g"}),
        *(["-C"] if given.get("reorder") and "readers" not in given else []),
        *flags(given, {"random_order": "-z", "latency": "--latency"}),
        *per_process(given),
        *("-b", given["block"], "-t", given["transfer"], "-s", given["segments"]),
        *given.get("options", []),
        *("-o", f"{directory}/ior"),
    ]


def of_hacc(given, directory):
    return [
        *api(given),
        *flags(given, {"fsync": "-e"}),
        *per_process(given),
        *given.get("options", []),
        given["particles"],
        f"{directory}/hacc",
    ]


def hacc_bytes(given, ranks):
    files = ranks if given["layout"] == "file-per-process" else 1
    return files * HACC_HEADER + ranks * given["particles"] * HACC_RECORD


def independent(given):
    return ["--independent"] if given.get("collective") is False else []


def of_vpic(given, directory):
    return [
        *api(given),
        *flags(given, {"fsync": "-e"}),
        *independent(given),
        *("--particles", given["particles"]),
        *given.get("options", []),
        f"{directory}/vpic",
    ]


def of_bdcats(given, directory):
    return [
        *api(given),
        *independent(given),
        *("--make", given["particles"]),
        *given.get("options", []),
        *("-f", f"{directory}/bdcats"),
    ]


def of_loop(given, directory):
    return [
        *api(given),
        *flags(given, {"fsync": "-e", "collective": "-c"}),
        *per_process(given),
        *("-b", given["size"], "-t", given["transfer"], "-n", given["checkpoints"]),
        *("-m", given["compute_ms"], "--way", given["way"]),
        *given.get("options", []),
        *("-o", f"{directory}/loop"),
    ]


def of_rdbench(given, directory):
    return [
        *flags(given, {"collective": "-c"}),
        *([] if given["sync"] else ["--nosync"]),
        *("-L", given["length"], "-s", given["steps"], "-i", given["interval"]),
        *("--iotype", given["iotype"]),
        *given.get("options", []),
        *("-o", f"{directory}/o_"),
    ]


def rdbench_bytes(given, _ranks):
    files = given["steps"] // given["interval"] + 1
    return files * given["length"] ** 2 * DOUBLE


def rdbench_transfer(given, ranks):
    rows = next(rows for rows in range(int(ranks**0.5), 0, -1) if ranks % rows == 0)
    width = given["length"] // rows
    if given["iotype"] == "manual":
        return width * DOUBLE
    return width * (given["length"] * rows // ranks) * DOUBLE


def of_mdtest(given, directory):
    return [
        *flags(given, {"fsync": "-y"}),
        *(["-u"] if given["layout"] == "directory-per-process" else []),
        *("-n", given["files"], "-w", given["write"], "-e", given["read"], "-N", given["shift"]),
        *given.get("options", []),
        *("-d", directory),
    ]


def of_llmckpt(given, directory):
    # Only the first read meets no cache.
    times = min(1, given["reads"]) if "reads_after" in given else given["reads"]
    return [
        *([] if given["fsync"] else ["--no-sync"]),
        *("--model", given["model"], "--scale", f"{given['model_scale']:.9g}"),
        *("-t", given["transfer"], "-n", given["checkpoints"], "-r", times),
        *given.get("options", []),
        *("-o", f"{directory}/llm"),
    ]


def llm_bytes(given, _ranks):
    return round(LLM_PARAMETERS[given["model"]] * LLM_BYTES * given["model_scale"])


def of_sedov(given, directory):
    return [
        *("-s", given["size"], "-n", given["cycles"]),
        *(["--way", given["way"]] if "way" in given else []),
        *given.get("options", []),
        *("-o", f"{directory}/sedov"),
    ]


def sedov_bytes(given, ranks):
    """The state; ranks hold the nodes of common faces twice, at most all of them once more."""
    edge = given["size"] + (1 if ranks == 1 else 2)
    return DOUBLE * 11 * edge**3


def of_palm(given, directory):
    times = min(1, given["reads"]) if "reads_after" in given else given["reads"]
    return [
        *("-s", given["levels"], "-n", given["checkpoints"], "-r", times),
        *("--back-end", given["back_end"]),
        *given.get("options", []),
        *("-o", f"{directory}/palm"),
    ]


def palm_bytes(given):
    """Of a checkpoint, rounded up."""
    columns = (16 * given["levels"]) ** 2
    return REPLICATED + columns * (COLUMN + 1 + POINT * given["levels"])


def palm_file_bytes(given, ranks):
    if given["back_end"] == "cairn":
        return 4 * palm_bytes(given) + 64 * MEBI
    return palm_bytes(given) + ranks * REPLICATED + MEBI


def palm_memory(given, ranks):
    """The variables with their ghost layers, once more for the check, and one packed."""
    edge = 16 * given["levels"] / ranks**0.5
    return round(3 * palm_bytes(given) * (1 + 6 / edge) ** 2) + 3 * ranks * REPLICATED


def palm_transfer(given, ranks):
    volume = (16 * given["levels"]) ** 2 * given["levels"] * DOUBLE // ranks
    return min(volume, MEBI) if given["back_end"] == "stream" else volume


def of_program(given, directory):
    return [filled(word, directory) for word in given.get("arguments", [])]


def filled(word, directory):
    """An argument or a variable, with the directories of the run, the start and fio's jobs."""
    for name, path in (("{dir}", directory), ("{start}", START), ("{jobs}", JOBS)):
        word = str(word).replace(name, str(path))
    return word


def variables(given, directory):
    """Those that a program of others is started with."""
    return {key: filled(value, directory) for key, value in given.get("variables", {}).items()}


KINDS = {
    "ior": Kind(
        {"block": MEBI, "transfer": 256 << 10, "segments": 1, "layout": "shared"},
        ("segments",),
        lambda given, ranks: ranks * given["segments"] * given["block"],
        lambda given, ranks: ranks * 2 * given["transfer"],
        lambda given, ranks: given["transfer"],
        of_ior,
        ("block", "transfer"),
    ),
    "hacc": Kind(
        {"particles": MEBI, "layout": "shared"},
        ("particles",),
        hacc_bytes,
        lambda given, ranks: ranks * (2 * given["particles"] * HACC_RECORD + HACC_HEADER),
        lambda given, ranks: given["particles"] * 4,
        of_hacc,
    ),
    "vpic": Kind(
        {"particles": MEBI},
        ("particles",),
        lambda given, ranks: ranks * given["particles"] * PARTICLE,
        lambda given, ranks: ranks * given["particles"] * PARTICLE * 2,
        lambda given, ranks: given["particles"] * 4,
        of_vpic,
    ),
    "bdcats": Kind(
        {"particles": MEBI},
        ("particles",),
        lambda given, ranks: ranks * given["particles"] * PARTICLE,
        lambda given, ranks: ranks * given["particles"] * PARTICLE * 2,
        lambda given, ranks: given["particles"] * 4,
        of_bdcats,
    ),
    "loop": Kind(
        {
            "layout": "shared",
            "size": 64 * MEBI,
            "transfer": MEBI,
            "checkpoints": 5,
            "compute_ms": 50,
            "way": "rewrite",
        },
        ("size",),
        lambda given, ranks: ranks * given["size"] * (2 if given["way"] == "rename" else 1),
        lambda given, ranks: ranks * 3 * given["transfer"],
        lambda given, ranks: given["transfer"],
        of_loop,
        ("size", "transfer"),
    ),
    "rdbench": Kind(
        {"length": 128, "steps": 200, "interval": 20, "iotype": "view", "sync": True},
        ("steps",),
        rdbench_bytes,
        lambda given, ranks: given["length"] ** 2 * DOUBLE * 6,
        rdbench_transfer,
        of_rdbench,
    ),
    "mdtest": Kind(
        {"files": 1000, "layout": "directory-per-process", "write": 0, "read": 0, "shift": 1},
        ("files",),
        # An inode and a name take some hundred bytes everywhere.
        lambda given, ranks: ranks * given["files"] * (given["write"] // 4096 * 4096 + 8192),
        lambda given, ranks: ranks * (given["files"] * ranks * 128 + 2 * given["write"]),
        lambda given, ranks: None,
        of_mdtest,
        ("write", "read"),
    ),
    "llmckpt": Kind(
        {
            "model": "8b",
            "model_scale": 0.001,
            "transfer": 16 * MEBI,
            "checkpoints": 10,
            "reads": 10,
            "fsync": True,
        },
        ("model_scale",),
        lambda given, ranks: 2 * llm_bytes(given, ranks),  # the one before stays until it is done
        lambda given, ranks: ranks * 3 * given["transfer"],
        lambda given, ranks: min(given["transfer"], llm_bytes(given, ranks) // ranks),
        of_llmckpt,
        ("transfer",),
    ),
    "sedov": Kind(
        {"size": 30, "cycles": 20},
        ("cycles",),
        # Three ways with a file per variable, and a pool of four states and 64 MiB.
        lambda given, ranks: 7 * sedov_bytes(given, ranks) + 64 * MEBI,
        # Three states (the copy, the restored one), and the forces of elements on their corners.
        lambda given, ranks: 8 * sedov_bytes(given, ranks),
        lambda given, ranks: None,
        of_sedov,
    ),
    "palm": Kind(
        {"levels": 16, "checkpoints": 3, "reads": 1, "back_end": "mpi-io"},
        ("levels",),
        palm_file_bytes,
        palm_memory,
        palm_transfer,
        of_palm,
    ),
    "program": Kind(
        {"bytes": 0, "memory": 0},
        (),
        lambda given, ranks: given["bytes"],
        lambda given, ranks: given["memory"],
        lambda given, ranks: given.get("transfer"),
        of_program,
        ("bytes", "memory", "transfer"),
    ),
}
