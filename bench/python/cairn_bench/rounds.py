"""Runs all cells of a matrix in rounds, each in an order of its own, and stores every repetition.

The number of rounds is fixed. A cell that failed, hung or had wrong data is void: it is not run
again, and the others go on.
"""

import json
import os
import random
import shutil
import signal
import tempfile
import uuid

from . import SCHEMA, launch, machine, progress, store, systems as systems_module

TAIL = 4000  # characters of stderr that a record keeps


class Interrupted(Exception):
    """SIGINT or SIGTERM came."""


def interrupt(number, _frame):
    raise Interrupted(signal.Signals(number).name)


class Runner:
    def __init__(self, matrix, source_digest, cells, systems, left_out):
        self.matrix = matrix
        self.digest = source_digest
        self.cells = cells
        self.systems = systems
        self.left_out = left_out
        self.id = str(uuid.uuid4())
        self.void = set()
        self.memory = None  # what Open MPI leaves behind when it is killed goes with this directory

    def run(self, results):
        """Returns "complete" or "interrupted". `results`: an open Store, for every record."""
        results.add(self._run_record())
        reason = "error"
        before = {
            number: signal.signal(number, interrupt) for number in (signal.SIGINT, signal.SIGTERM)
        }
        try:
            self.memory = tempfile.mkdtemp(
                prefix="cb-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None
            )
            for system in self.systems.values():
                system.prepare([cell for cell in self.cells if cell.system == system.name])
            self._all_rounds(results)
            reason = "complete"
        except Interrupted:
            reason = "interrupted"
        finally:
            for number in before:  # a second Ctrl-C must not leave files behind
                signal.signal(number, signal.SIG_IGN)
            results.add(
                {
                    "record": "end",
                    "schema": SCHEMA,
                    "run": self.id,
                    "finished": store.now(),
                    "reason": reason,
                }
            )
            for system in self.systems.values():
                system.remove()
            if self.memory:
                shutil.rmtree(self.memory, ignore_errors=True)
            for number, handler in before.items():
                signal.signal(number, handler)
        return reason

    def _run_record(self):
        return {
            "record": "run",
            "schema": SCHEMA,
            "run": self.id,
            "started": store.now(),
            "matrix": self.matrix,
            "matrix_sha256": self.digest,
            "environment": machine.environment(),
            "systems": {name: machine.describe(system) for name, system in self.systems.items()},
            "left_out": self.left_out,
            "cells": len(self.cells),
            "rounds": self.matrix["rounds"],
            "warmup": self.matrix["warmup"],
            "seed": self.matrix["seed"],
        }

    def _all_rounds(self, results):
        rounds = self.matrix["warmup"] + self.matrix["rounds"]
        draw = random.Random(self.matrix["seed"])
        with progress.of(rounds * len(self.cells)) as shown:
            for number in range(rounds):
                order = list(self.cells)
                draw.shuffle(order)
                for cell in order:
                    if cell in self.void_cells():
                        shown.advance()
                        continue
                    shown.starts(cell.name)
                    record = self._one(cell, number)
                    results.add(record)
                    shown.advance()
                    if record["status"] != "ok":
                        self._give_up(cell, record, shown)
                shown.round_ends(number + 1, rounds)

    def void_cells(self):
        return [cell for cell in self.cells if cell.key in self.void]

    def _give_up(self, cell, record, shown):
        self.void.add(cell.key)
        self.systems[cell.system].renew_pool()
        last = record["errors"].strip().split("\n")
        text = next((line for line in last if "INVALID" in line), last[0])
        shown.note(f"{cell.name}: {record['status']}; not run again: {text}")

    def _one(self, cell, number):
        system = self.systems[cell.system]
        directory = system.fresh_directory()
        words = system.words(cell, directory)
        own = system.environment(cell)
        started = store.now()
        outcome = launch.run(
            words, self._environment(system, own), directory, self.matrix["timeout_s"]
        )
        shutil.rmtree(directory, ignore_errors=True)
        output = kernel_output(outcome.output)
        return {
            "record": "result",
            "schema": SCHEMA,
            "run": self.id,
            "cell": cell.key,
            "system": cell.system,
            "kernel": cell.kernel,
            "ranks": cell.ranks,
            "round": number,
            "warmup": number < self.matrix["warmup"],
            "started": started,
            "status": status_of(outcome, output),
            "wall_s": round(outcome.wall_s, 6),
            "exit_code": outcome.code,
            "command": words,
            "environment": own,
            "output": output,
            "errors": errors_of(outcome, self.matrix["timeout_s"]),
        }

    def _environment(self, system, own):
        left = {}
        if system.mpi == "openmpi":
            left = {
                "OMPI_MCA_btl_vader_backing_directory": self.memory,
                "OMPI_MCA_orte_tmpdir_base": self.memory,
            }
        return {**systems_module.base_environment(), **left, **own}


def kernel_output(text):
    """The kernel's JSON object: the last line that is one."""
    for line in reversed(text.split("\n")):
        if line.startswith("{"):
            try:
                found = json.loads(line)
            except ValueError:
                continue
            return found if isinstance(found, dict) and "accesses" in found else None
    return None


def status_of(outcome, output):
    if outcome.code is None:
        return "timeout"
    if output is not None and not output["valid"]:
        return "invalid"
    return "ok" if outcome.code == 0 and output is not None else "failed"


def errors_of(outcome, timeout_s):
    if outcome.code is None:
        return f"still running after {timeout_s:g} s, then ended\n{outcome.errors[-TAIL:]}"
    return outcome.errors[-TAIL:]
