"""Results of a run that never was, with all that a page must show: many systems, void cells, cells
that are timed for too short, two numbers of ranks, and records in the order that was drawn."""

import json
import math
import random

TMPFS = {
    "directory": "/dev/shm", "mount_point": "/dev/shm", "type": "tmpfs", "source": "tmpfs",
    "options": "rw",
}
DISK = {
    "directory": "/scratch", "mount_point": "/", "type": "ext4", "source": "/dev/vda",
    "options": "rw,relatime",
}
# given, directory, pool, MPI, memory before the write, MiB/s
SYSTEMS = {
    "romio": ({"directory": "/dev/shm", "mpi": "mpich"}, TMPFS, None, "mpich", "new", 1900),
    "cairn": ({"directory": ".", "cairn": "kept"}, DISK, TMPFS, "openmpi", "used", 4300),
    "cairn-fresh": ({"directory": ".", "cairn": "fresh"}, DISK, TMPFS, "openmpi", "new", 2600),
    "tmpfs": ({"directory": "/dev/shm"}, TMPFS, None, "openmpi", "new", 2500),
    "tmpfs-rewrite": (
        {"directory": "/dev/shm", "rewrite": True}, TMPFS, None, "openmpi", "used", 4250,
    ),
    "disk": ({"directory": "."}, DISK, None, "openmpi", "page cache", 640),
}
# synced, API, unit, accesses, seconds
KERNELS = {
    "zeta-fpp": (True, "POSIX", "MiB/s", ("write", "read"), 2.0),
    "alpha-shared": (True, "MPIIO", "MiB/s", ("write", "read"), 3.0),
    "hacc": (False, "MPIIO", "MiB/s", ("write", "read"), 0.02),
    "names": (False, "POSIX", "ops/s", ("create", "stat"), 1.5),
}
PHASES = {
    "zeta-fpp": ("open", "transfer", "sync", "close"),
    "alpha-shared": ("transfer", "close"),  # another first one: a colour is not a place
    "hacc": ("header", "an own phase", "transfer"),
    "names": (),
}
WRONG = "WARNING: Incorrect data on read (2048 errors found)."
LONG = "alpha: rank 0: write failed: " + "no space is left on the device, and " * 12 + "so it ends"
VOID = {  # (kernel, system, ranks): (status, errors)
    ("hacc", "disk", 2): ("invalid", f"{WRONG}\nmpirun noise"),
    ("alpha-shared", "disk", 4): ("failed", f"{LONG}\n"),
}
RANKS = (4, 2)


def records(rounds=6, quick=False, seed=1):
    draw = random.Random(seed)
    yield run_record(rounds, quick)
    results = [
        record
        for number in range(rounds + 1)
        for kernel in KERNELS
        for system in SYSTEMS
        for ranks in RANKS
        if (system, kernel) != ("romio", "names")
        for record in result(kernel, system, ranks, number, draw)
    ]
    limits = [limit(ranks, number, draw) for number in range(rounds + 1) for ranks in RANKS]
    draw.shuffle(results)
    yield from [*results, *limits]
    yield {
        "record": "end", "schema": 1, "run": "r", "finished": "2026-11-28T12:20:00+00:00",
        "reason": "complete",
    }


def run_record(rounds, quick):
    described = {
        name: {
            "given": given, "mpi": mpi, "mpi_version": mpi, "directory": directory,
            "memory_before_write": memory, **({"pool_directory": pool} if pool else {}),
        }
        for name, (given, directory, pool, mpi, memory, _) in SYSTEMS.items()
    }
    return {
        "record": "run", "schema": 1, "run": "r", "started": "2026-11-28T12:00:00+00:00",
        "matrix": {
            "name": "simulated", "about": "nothing ran", "baseline": "tmpfs",
            "kernels": {name: {"kernel": "ior", "keep": True} for name in KERNELS},
            "systems": {name: one[0] for name, one in SYSTEMS.items()},
        },
        "matrix_sha256": "0", "systems": described, "left_out": [], "cells": 1, "limits": 1,
        "rounds": rounds, "warmup": 1, "seed": 1, **({"quick": True} if quick else {}),
        "environment": {
            "host": "h", "system": "s", "linux": "l", "processor": "p", "processors": 2,
            "memory_bytes": 1 << 34, "cairn": "cairn 1",
        },
    }


def common(number, **more):
    return {
        "schema": 1, "run": "r", "round": number, "warmup": number == 0, "wall_s": 2.0,
        "started": "2026-11-28T12:00:00+00:00", "status": "ok", "exit_code": 0,
        "command": ["mpirun"], "environment": {}, "errors": "", **more,
    }


def output(ranks, api, accesses, fsync):
    return {
        "kernel": "ior", "version": "", "command": "", "mpi": "", "ranks": ranks, "nodes": 1,
        "api": api, "parameters": {"fsync": int(fsync)}, "hints": {}, "accesses": accesses,
        "checks": [{"repetition": 0, "bytes": 1 << 29, "wrong": 0, "first_wrong": ""}],
        "valid": True, "memory_bytes_per_node": 50 << 20,
    }


def access(name, rate, seconds, unit="MiB/s", phases=()):
    parts = {
        phase: {"least": seconds / 8, "most": seconds / 4, "ranks": [seconds / 8, seconds / 4]}
        for phase in phases
    }
    return {
        "access": name, "repetition": 0, "bytes": 1 << 30, "calls": 1000, "block_bytes": 1 << 20,
        "transfer_bytes": 1 << 20, "seconds": seconds, "original_name": "total(s)", "unit": unit,
        "rate": rate, "rate_mib_s": rate if unit == "MiB/s" else None, "phases_s": parts,
        "first_done_s": seconds * 0.9, "last_done_s": seconds,
    }


def result(kernel, system, ranks, number, draw):
    """[the record], or [] of a cell that was void before."""
    fsync, api, unit, names, seconds = KERNELS[kernel]
    about = {
        "record": "result", "cell": f"{sum(map(ord, kernel + system)) + ranks:016x}",
        "system": system, "kernel": kernel, "ranks": ranks, "startup_s": 0.2, "finalize_s": 0.3,
        "shared_bytes": 1 << 20, "pool_bytes": 0,
    }
    if (kernel, system, ranks) in VOID:
        status, errors = VOID[kernel, system, ranks]
        void = {"status": status, "errors": errors, "exit_code": 1, "output": None}
        return [{**common(number), **about, **void}] if number == 0 else []
    accesses = [
        access(
            name,
            SYSTEMS[system][-1] * math.sqrt(ranks) * math.exp(draw.gauss(0, 0.02)),
            seconds * math.exp(draw.gauss(0, 0.02)), unit, PHASES[kernel]
        )
        for name in names
    ]
    return [{**common(number), **about, "output": output(ranks, api, accesses, fsync)}]


def limit(ranks, number, draw):
    accesses = [
        access(name, rate * math.sqrt(ranks) * math.exp(draw.gauss(0, 0.01)), 1.0)
        for name, rate in (("write", 4600.0), ("read", 7000.0))
    ]
    in_memory = [name for name, one in SYSTEMS.items() if (one[2] or one[1]) is TMPFS]
    return {
        **common(number), "record": "limit", "limit": f"{ranks:016x}", "medium": "/dev/shm",
        "kind": "copy", "systems": in_memory, "ranks": ranks, "transfer_bytes": 1 << 20,
        "output": output(ranks, "", accesses, False),
    }


def write(path, **more):
    text = "".join(json.dumps(record) + "\n" for record in records(**more))
    path.write_text(text, encoding="utf-8")
