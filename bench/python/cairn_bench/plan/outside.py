"""Programs of others: which ones a matrix may run, and how their figures are read.

A parser turns a program's output into accesses of the same form as those of Cairn's kernels, so far
as the output has the figures; what it lacks is None. Names lie: "MB/s" of HACC-IO and h5bench are
MiB/s. A program that verifies its data and finds wrong ones makes the cell INVALID, whatever its
exit code, and also where it stopped before its figures.
"""

import csv
import dataclasses
import errno
import io
import pathlib
import re
from collections.abc import Callable

from .. import files
from . import outside_words

JOBS = pathlib.Path(__file__).resolve().parents[1] / "fio"
START = pathlib.Path.cwd()

MIB = 1 << 20
UNITS = {"bytes": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}


@dataclasses.dataclass(frozen=True)
class Program:
    command: str  # as in PATH
    parse: Callable  # (text, ranks, arguments): Found
    uses_mpi: bool = True


@dataclasses.dataclass
class Found:
    accesses: list
    checks: list = dataclasses.field(default_factory=list)
    version: str = ""
    parameters: dict = dataclasses.field(default_factory=dict)


class Unreadable(Exception):
    """The output has no figures."""


def access(name, **known):
    """An access with what is known; the rate from bytes and seconds if it is not given."""
    found = {
        "access": name,
        "repetition": 0,
        "bytes": None,
        "calls": None,
        "block_bytes": None,
        "transfer_bytes": None,
        "seconds": None,
        "original_name": "",
        "unit": "MiB/s",
        "rate": None,
        "first_done_s": None,
        "last_done_s": None,
        "phases_s": {},
        **known,
    }
    if found["rate"] is None and found["bytes"] and found["seconds"]:
        found["rate"] = found["bytes"] / MIB / found["seconds"]
    found["rate_mib_s"] = found["rate"] if found["unit"] == "MiB/s" else None
    return found


def check(size, repetition=0, wrong=0, first_wrong=""):
    """size: bytes that a program has compared and found equal."""
    return {"repetition": repetition, "bytes": size, "wrong": wrong, "first_wrong": first_wrong}


def phase(seconds):
    return {"least": None, "most": seconds}


def number(pattern, text, kind=float):
    match = re.search(pattern, text, re.M)
    return kind(match.group(1)) if match else None


# ---- IOR: text, CSV and JSON

IOR_ROW = re.compile(r"^(write|read) +" + r"([0-9.]+) +" * 9 + r"([0-9]+) *$", re.M)


def ior(text, _ranks, arguments):
    begin = text.find("{")
    if '"tests"' in text and begin >= 0:
        found = ior_json(files.parse_json(text[begin : text.rindex("}") + 1]))
    elif text.lstrip().startswith("access,bw(MiB/s)"):
        found = ior_csv(text)
    else:
        found = ior_text(text)
    words = outside_words.words_of_ior(text, arguments)
    found.parameters |= outside_words.of_ior(words)
    compared = outside_words.checks_of_ior(words)
    found.checks = [
        check(one["bytes"], one["repetition"])
        for one in found.accesses if one["access"] in compared
    ]
    return found


def ior_text(text):
    size = re.search(r"^aggregate filesize +: (\S+) (bytes|[KMGT]iB)", text, re.M)
    count = round(float(size.group(1)) * UNITS[size.group(2)]) if size else None
    return Found(
        [
            ior_access(row[0], int(row[10]), count, *(float(cell) for cell in row[1:10]))
            for row in IOR_ROW.findall(text)
        ],
        version=(re.search(r"^IOR-(\S+):", text, re.M) or [None, ""])[1],
        parameters={"api": (re.search(r"^api +: (\S+)", text, re.M) or [None, ""])[1]},
    )


def ior_access(name, repetition, count, *figures):
    """count: bytes of all ranks, None: from the rate. figures: IOR's columns from bw to total."""
    rate, _, _, block, transfer, opening, moving, closing, seconds = figures
    return access(
        name,
        repetition=repetition,
        rate=rate,
        seconds=seconds,
        bytes=count if count is not None else round(rate * MIB * seconds),
        block_bytes=round(block * 1024),
        transfer_bytes=round(transfer * 1024),
        original_name="total(s)",
        last_done_s=seconds,
        phases_s={"open": phase(opening), "transfer": phase(moving), "close": phase(closing)},
    )


def ior_csv(text):
    rows = list(csv.DictReader(io.StringIO(text.lstrip())))
    columns = ("bw(MiB/s)", "IOPS", "Latency", "block(KiB)", "xfer(KiB)", "open(s)", "wr/rd(s)")
    return Found(
        [
            ior_access(
                row["access"],
                int(row["iter"]),
                None,
                *(float(row[each]) for each in (*columns, "close(s)", "total(s)")),
            )
            for row in rows
        ]
    )


def ior_json(document):
    keys = ("bwMiB", "iops", "latency", "blockKiB", "xferKiB", "openTime", "wrRdTime", "closeTime")
    accesses, parameters = [], {}
    for test in document["tests"]:
        counts = {}
        given = test["Parameters"]
        parameters |= {"api": given["api"]}
        if given.get("fsync") or given.get("fsyncperwrite"):
            parameters["fsync"] = True
        size = given["blockSize"] * given["segmentCount"] * given["nodes"] * given["tasksPerNode"]
        for row in test["Results"]:
            repetition = counts.get(row["access"], 0)
            counts[row["access"]] = repetition + 1
            figures = [row[key] for key in (*keys, "totalTime")]
            accesses.append(ior_access(row["access"], repetition, size, *figures))
    return Found(accesses, version=document.get("Version", ""), parameters=parameters)


# ---- mdtest

MDTEST = {"creation": "create", "stat": "stat", "read": "read", "removal": "remove"}
MDTEST_ROW = re.compile(
    r"^ +(File|Directory|Tree) (creation|stat|read|rename|removal)" + r" +([0-9.]+)" * 3,
    re.M,
)


def mdtest(text, _ranks, arguments):
    files = number(r"^\d+ tasks, (\d+) files", text, int)
    accesses = []
    for what, action, _, _, mean in MDTEST_ROW.findall(text):
        name = MDTEST.get(action, action)
        rate = float(mean)
        count = files if what == "File" else None
        accesses.append(
            access(
                name if what == "File" else f"{what.lower()} {name}",
                unit="ops/s",
                rate=rate,
                calls=count,
                seconds=count / rate if count and rate else None,
                original_name="Mean",
            )
        )
    version = (re.search(r"^mdtest-(\S+) was", text, re.M) or [None, ""])[1]
    return Found(accesses, version=version, parameters={"fsync": True} if "-y" in arguments else {})


# ---- HACC-IO, VPIC-IO, BD-CATS-IO

HACC_ROW = re.compile(
    r"^ *(WRITE Checkpoint|READ Restart) Perf: +(\S+) BW\[M\w*/s\] +(\d+) Bytes +(\S+) MaxTime",
    re.M,
)


def hacc_io(text, _ranks, _arguments):
    accesses = [
        access(
            "write" if what.startswith("WRITE") else "read",
            rate=float(rate),
            bytes=int(count),
            seconds=float(seconds),
            last_done_s=float(seconds),
            original_name="MaxTime[sec]",
        )
        for what, rate, count, seconds in HACC_ROW.findall(text)
    ]
    found = Found(accesses)
    if "CONTENTS VERIFI" in text:
        # The program does not say how many bytes it compared: those that it read.
        size = next((one["bytes"] for one in accesses if one["access"] == "read"), 0)
        found.checks = [check(size)]
    return found


def vpicio_uni(text, ranks, _arguments):
    particles = number(r"^Number of par\w+: (\d+)", text, int)
    writing = number(r"^(\S+) seconds elapsed in just writing data", text)
    whole = number(r"^(\S+) seconds elapsed in opening, writing, closing file", text)
    if particles is None or whole is None:
        raise Unreadable("no times of VPIC-IO")
    return Found(
        [
            access(
                "write",
                bytes=particles * 32 * ranks,
                block_bytes=particles * 4,
                transfer_bytes=particles * 4,
                seconds=whole,
                last_done_s=whole,
                phases_s={"transfer": phase(writing)},
                original_name="seconds elapsed in opening, writing, closing file",
            )
        ]
    )


def dbscan_read(text, _ranks, _arguments):
    shape = re.search(r"m_num_global_points (\d+) \S*m_num_dims (\d+)", text)
    seconds = number(r"^Data read time (\S+)", text)
    if shape is None or seconds is None:
        raise Unreadable("no 'Data read time': BD-CATS-IO prints it with -D_BDATS_DEBUG_ only")
    size = int(shape.group(1)) * int(shape.group(2)) * 4
    return Found(
        [
            access(
                "read+subset",
                bytes=size,
                seconds=seconds,
                last_done_s=seconds,
                original_name="Data read time",
            )
        ]
    )


# ---- h5bench: what it prints, or its CSV


def h5bench(text, _ranks, _arguments):
    if text.lstrip().startswith("metric, value"):
        rows = {
            row[0].strip(): row[1].strip() for row in csv.reader(io.StringIO(text)) if len(row) > 1
        }
        name = rows.get("operation", "write")
        size, raw, whole = (float(rows[key]) for key in ("total size", "raw time", "observed time"))
    else:
        name = "read" if "Total read size" in text else "write"
        size = number(rf"^Total {name} size: (\S+) MB", text)
        raw = number(rf"^Raw {name} time: (\S+) s", text)
        whole = number(r"^Observed (?:\w+ )?completion time: (\S+) s", text)
    if size is None or raw is None:
        raise Unreadable("no 'Raw time' of h5bench")
    return Found(
        [
            access(
                name,
                bytes=round(size * MIB),
                seconds=raw,
                last_done_s=raw,
                original_name="raw time",
            ),
            access(
                f"{name}+metadata",
                bytes=round(size * MIB),
                seconds=whole,
                last_done_s=whole,
                original_name="observed time",
            ),
        ]
    )


# ---- fio with --output-format=json


def fio(text, _ranks, _arguments):
    begin = text.find("{")
    if begin < 0:
        raise Unreadable("no JSON: fio needs --output-format=json")
    document = files.parse_json(text[begin : text.rindex("}") + 1])
    accesses, checks, writers = [], [], []
    for job in document["jobs"]:
        if job["error"] and job["error"] != errno.EILSEQ:  # that is: data did not verify
            raise Unreadable(f"job {job['jobname']}: error {job['error']}")
        options = {**document.get("global options", {}), **job.get("job options", {})}
        if job["write"]["io_bytes"]:
            writers.append(options)
        if "verify" in options and job["read"]["io_bytes"]:
            checks.append(check(job["read"]["io_bytes"]))
        for name in ("write", "read"):
            figures = job[name]
            if not figures["io_bytes"]:
                continue
            # fio's runtime is in milliseconds, too coarse for short jobs.
            accesses.append(
                access(
                    name if len(document["jobs"]) == 1 else f"{job['jobname']} {name}",
                    bytes=figures["io_bytes"],
                    calls=figures["total_ios"],
                    transfer_bytes=figures["io_bytes"] // max(figures["total_ios"], 1),
                    rate=figures["bw_bytes"] / MIB,
                    seconds=figures["io_bytes"] / figures["bw_bytes"],
                    latency_ns=percentiles(figures),
                    original_name="bw",
                )
            )
    version = document.get("fio version", "").removeprefix("fio-")
    return Found(accesses, checks, version, outside_words.of_fio(writers))


def percentiles(figures):
    given = (figures.get("clat_ns") or {}).get("percentile") or {}
    return {f"p{float(key):g}": value for key, value in given.items()}


# ---- rdbench, LULESH, IO500


def rdbench(text, _ranks, _arguments):
    line = next((one for one in text.split("\n") if one.startswith('{"version"')), None)
    if line is None:
        raise Unreadable("no JSON line of rdbench")
    found = files.parse_json(line)
    return Found(
        [
            access(
                "write",
                bytes=found["totalWriteSizeByte"],
                seconds=found["writeTimeSec"],
                last_done_s=found["writeTimeSec"],
                original_name="writeTimeSec",
            )
        ],
        version=found["version"],
        parameters={
            **{key: found[key] for key in ("L", "iotype", "collective", "sync") if key in found},
            **({"fsync": True} if found.get("sync") else {}),
        },
    )


def lulesh(text, _ranks, _arguments):
    merit = number(r"^FOM +=\s+(\S+) \(z/s\)", text)
    elapsed = number(r"^Elapsed time +=\s+(\S+) \(s\)", text)
    if merit is None:
        raise Unreadable("no 'FOM' of LULESH")
    return Found(
        [access("run", unit="z/s", rate=merit, seconds=elapsed, original_name="FOM")],
        parameters={
            "final_origin_energy": (re.search(r"Final Origin Energy = +(\S+)", text) or [0, ""])[1]
        },
    )


IO500_ROW = re.compile(
    r"^\[RESULT\] +(\S+) +(\S+) (GiB/s|kIOPS) : time (\S+) seconds *(\[INVALID\])?", re.M
)


def io500(text, _ranks, _arguments):
    accesses = []
    for name, rate, unit, seconds, _ in IO500_ROW.findall(text):
        in_mib = unit == "GiB/s"
        accesses.append(
            access(
                name,
                unit="MiB/s" if in_mib else "ops/s",
                rate=float(rate) * (1024 if in_mib else 1000),
                seconds=float(seconds),
                original_name=f"{unit} of [RESULT]",
            )
        )
    score = re.search(
        r"^\[SCORE *\] Bandwidth (\S+) GiB/s : IOPS (\S+) kiops : TOTAL (\S+)", text, re.M
    )
    parameters = {"score": score.group(3)} if score else {}
    if "[INVALID]" in text:
        parameters["broken_rule"] = (
            "IO500 calls this run invalid: its write phases take 300 s, its reads come from "
            "another node after the close"
        )
    return Found(accesses, parameters=parameters)


PROGRAMS = {
    "ior": Program("ior", ior),
    "mdtest": Program("mdtest", mdtest),
    "h5bench_write": Program("h5bench_write", h5bench),
    "h5bench_read": Program("h5bench_read", h5bench),
    "fio": Program("fio", fio, uses_mpi=False),
    "hacc_io": Program("hacc_io", hacc_io),
    "vpicio_uni": Program("vpicio_uni", vpicio_uni),
    "dbscan_read": Program("dbscan_read", dbscan_read),
    "rdbench": Program("rdbench", rdbench),
    "lulesh": Program("lulesh2.0", lulesh),
    "io500": Program("io500", io500),
}


def filled(word, directory):
    """An argument or a variable, with the directories of the run, the start and fio's jobs."""
    for name, path in (("{dir}", directory), ("{start}", START), ("{jobs}", JOBS)):
        word = str(word).replace(name, str(path))
    return word


def variables(given, directory):
    """Those that a program of others is started with."""
    return {key: filled(value, directory) for key, value in given.get("variables", {}).items()}


def output_of(program, text, ranks, arguments=(), errors=""):
    """The record's `output`, as a kernel of Cairn would print it. Raises Unreadable.

    arguments: of the matrix; errors: what the program wrote to stderr.
    """
    line = outside_words.wrong_data(program, f"{text}\n{errors}")
    try:
        found = PROGRAMS[program].parse(text, ranks, arguments)
    except (ValueError, KeyError, TypeError, Unreadable) as error:
        if not line:
            raise Unreadable(str(error) if isinstance(error, Unreadable)
                             else f"{type(error).__name__}: {error}") from error
        found = Found([])
    if line:  # how many of the bytes were equal, no program says
        found.checks = [check(0, wrong=outside_words.wrong_count(line), first_wrong=line)]
    elif not found.accesses or any(not one["rate"] for one in found.accesses):
        raise Unreadable("no figures")
    return {
        "kernel": program,
        "outside": True,
        "version": found.version,
        "command": "",
        "mpi": "",
        "ranks": ranks,
        "nodes": None,
        "api": found.parameters.pop("api", ""),
        "parameters": found.parameters,
        "hints": {},
        "accesses": [one for one in found.accesses if one["rate"]],
        "checks": found.checks,
        "valid": not line,
    }
