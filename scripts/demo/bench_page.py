"""The demo's figures as results of `cairn bench`, and their page. Needs no package beyond
Python."""

import datetime
import hashlib
import json
import os
import pathlib
import statistics
import sys
import uuid

from places import CAIRN, MIB, ROOT

BASELINE = "disk"
SYSTEMS = {
    "disk, fsync": "each checkpoint is synced",
    "disk": "the plain file system of this checkout",
    "tmpfs": "plain tmpfs",
    "Cairn": "cairn run over the disk, with a pool in memory",
}


def access(name, seconds, size, unit="MiB/s"):
    return {
        "access": name, "repetition": 0, "bytes": size, "calls": None, "block_bytes": None,
        "transfer_bytes": None, "seconds": seconds, "original_name": "", "unit": unit,
        "rate": size / MIB / seconds, "rate_mib_s": size / MIB / seconds, "first_done_s": None,
        "last_done_s": seconds, "phases_s": {}
    }


class Figures:
    """What the parts of the demo have measured, round by round."""

    def __init__(self):
        self.id = str(uuid.uuid4())
        self.started = self.now()
        self.kernels = {}
        self.results = []

    @staticmethod
    def now():
        return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="milliseconds")

    def add(self, kernel, about, system, ranks, number, accesses, verified=0, ending=None,
            command=()):
        """verified: bytes that were compared; ending: seconds from the last line of the program to
        its end."""
        self.kernels.setdefault(kernel, {"about": about, "keep": True})
        checks = [{"repetition": 0, "bytes": verified, "wrong": 0, "first_wrong": ""}
                  ] if verified else []
        output = {
            "kernel": kernel, "version": "", "command": "", "mpi": "", "ranks": ranks, "nodes": 1,
            "api": "",
            "parameters": {"fsync": int(system == "disk, fsync" or kernel.startswith("fio"))},
            "hints": {}, "accesses": accesses, "checks": checks, "valid": True
        }
        key = hashlib.sha256(repr((kernel, system, ranks)).encode()).hexdigest()[:16]
        record = {
            "record": "result", "schema": 1, "run": self.id, "cell": key, "system": system,
            "kernel": kernel, "ranks": ranks, "round": number, "warmup": False,
            "started": self.now(), "status": "ok",
            "wall_s": sum(each["seconds"] for each in accesses) + (ending or 0), "exit_code": 0,
            "command": list(map(str, command)), "environment": {}, "output": output, "errors": ""
        }
        if ending is not None:
            record["finalize_s"] = ending
        self.results.append(record)

    def records(self, disk, memory, machine):
        mounts = {"disk, fsync": disk, "disk": disk, "tmpfs": memory, "Cairn": disk}
        used = [name for name in SYSTEMS if any(each["system"] == name for each in self.results)]
        systems = {}
        for name in used:
            given = {"about": SYSTEMS[name], "directory": str(mounts[name])}
            systems[name] = {
                "given": given, "mpi": "",
                "mpi_version": machine.installation.first_line(["mpirun", "--version"]),
                "directory": machine.mount(mounts[name])
            }
            if name == "Cairn":
                given["cairn"] = "fresh"
                systems[name]["pool_directory"] = machine.mount(memory)
        first = self.results[0]["kernel"]
        rounds = 1 + max(each["round"] for each in self.results if each["kernel"] == first)
        matrix = {
            "name": "demo",
            "about": (
                "What make demo has just measured: unchanged programs in each place. All files "
                "that Cairn wrote back were compared with those of the plain runs."
            ),
            "baseline": BASELINE,
            "kernels": self.kernels,
            "systems": {name: systems[name]["given"] for name in used},
        }
        yield {
            "record": "run", "schema": 1, "run": self.id, "started": self.started, "matrix": matrix,
            "matrix_sha256": hashlib.sha256(json.dumps(matrix).encode()).hexdigest(),
            "environment": machine.environment(), "systems": systems, "left_out": [],
            "cells": len({each["cell"]
                          for each in self.results}), "limits": 0, "rounds": rounds, "warmup": 0,
            "seed": 0
        }
        yield from self.results
        yield {
            "record": "end", "schema": 1, "run": self.id, "finished": self.now(),
            "reason": "complete"
        }

    def write(self, path, disk, memory):
        """The page at `path` and the records beside it; returns what can be said about them."""
        os.environ.setdefault("CAIRN_BENCH_COMMAND", CAIRN)
        sys.path.insert(0, str(ROOT / "bench/python"))
        from cairn_bench.node import machine
        from cairn_bench.page import page as bench_page
        from cairn_bench.results import store

        path = pathlib.Path(path)
        raw = path.with_suffix(".jsonl")
        lines = [
            json.dumps(record, ensure_ascii=False)
            for record in self.records(disk, memory, machine)
        ]
        raw.write_text("\n".join(lines) + "\n", encoding="utf-8")
        path.write_text(bench_page.make(store.load(raw)), encoding="utf-8")
        return f"The same as a page of cairn bench, with every round: {path} (its data: {raw})"


def add_field(figures, field):
    """examples/field.c: the median checkpoint of each run, then a restart with other ranks."""
    size = int(field.mib * MIB)
    about = (
        f"a checkpoint of {field.mib:.0f} MiB every few steps through MPI-IO; killed, and restarted"
        f" with {field.ranks_after} ranks"
    )
    for place, samples in field.samples.items():
        for number, sample in enumerate(samples):
            accesses = [access("write", statistics.median(sample.checkpoints), size),
                        access("read", sample.restart, size)]
            figures.add("field", about, place, field.ranks, number, accesses, size, sample.ending)


def add_heat(figures, kernel, ranks, size, seconds):
    """examples/heat.c: versions through cairn/checkpoint.h; each of them but the first is a
    round."""
    about = "versions through cairn/checkpoint.h, with checksums; the first one meets fresh memory"
    for number, each in enumerate(seconds[1:]):
        figures.add(kernel, about, "Cairn", ranks, number, [access("write", each, size)])


def add_fio(figures, speeds, size):
    """speeds: {job: {place: [MiB/s of each round]}}"""
    for job, places in speeds.items():
        name = "read" if "read" in job else "write"
        for place, rates in places.items():
            for number, rate in enumerate(rates):
                figures.add(job, "fio, one process, psync", place, 1, number,
                            [access(name, size / MIB / rate, size)], size)
