"""Runs all cells and limits in rounds, each in an order of its own, and stores every repetition.

The number of rounds is fixed: by the matrix, or by a pilot before they begin. A cell that failed,
hung or had wrong data is void: it is not run again, and the others go on. A run that was ended goes
on where it stopped: `done` says what its results hold already.
"""

import contextlib
import os
import platform
import random
import shutil
import signal
import tempfile
import uuid

from .. import SCHEMA, files
from ..errors import telling_line
from ..node import machine, memory
from ..plan import before_write, limits, outside, pilot, reads
from ..results import planned_rounds, store
from . import launch, progress, scratch
from . import systems as systems_module

TAIL = 4000  # characters of stderr that a record keeps


class Interrupted(Exception):
    """SIGINT or SIGTERM came."""


def interrupt(number, _frame):
    raise Interrupted(signal.Signals(number).name)


class Runner:
    def __init__(self, matrix, source_digest, work):
        """work: a checks.Work."""
        self.matrix = matrix
        self.digest = source_digest
        self.cells = work.cells
        self.limits = work.limits
        self.systems = work.systems
        self.left_out = work.left_out
        self.pilot = pilot.settings(matrix)
        self.id = str(uuid.uuid4())
        self.void = set()
        self.done = set()  # (key, round)
        self.pilot_records = []
        self.record = None  # that of the run
        self.sizing = None  # what chose the scale
        self.reason = "error"
        self.plan = None  # that of the pilot
        self.memory = None  # what Open MPI leaves behind when it is killed goes with this directory
        self.places = {}  # {medium: directory on it} for limits

    def go_on(self, before):
        """Takes up an earlier run, whose results are `before`."""
        self.id = before.run["run"]
        self.record, self.plan = before.run, before.plan
        for record in [*before.results, *before.limits]:
            self._note(record)

    def remove_pools(self, names):
        """Removes the pools that an earlier start has left on its nodes: {system: pool}."""
        for system in self.systems.values():
            if system.name in names and system.on_each_node:
                system.most_ranks = max(
                    cell.ranks for cell in self.cells if cell.system == system.name
                )
                system.remove_pool(names[system.name])

    def _note(self, record):
        key = record.get("cell") or record["limit"]
        self.done.add((key, record["round"]))
        if record["status"] != "ok":
            self.void.add(key)
        elif record["record"] == "result" and self._is_pilot(record["round"]):
            self.pilot_records.append(record)

    def _is_pilot(self, number):
        first = self.matrix["warmup"]
        return self.pilot is not None and first <= number < first + self.pilot["rounds"]

    @property
    def before_figures(self):
        """Rounds that no figure uses: to warm up, and the pilot's."""
        return self.matrix["warmup"] + (self.pilot["rounds"] if self.pilot else 0)

    def run(self, results):
        """Returns "complete" or "interrupted". `results`: an open Store, for every record."""
        if self.record is None:
            self.record = {**self._run_record(), "scratch": self._named()}
            results.add(self.record)
        else:
            resume = {"record": "resume", "started": store.now(), "scratch": self._named()}
            results.add(self._signed(resume))
        self.reason = "error"
        with self._prepared(lambda: self._end(results)):
            self._all_rounds(results)
            self.reason = "complete"
        return self.reason

    def _end(self, results):
        end = {"record": "end", "finished": store.now(), "reason": self.reason}
        results.add(self._signed(end))

    def once(self, works, results):
        """Runs each cell or limit once; {key: its record}, without those that fail. results: an
        open Store, for what the run makes."""
        found = {}
        self.reason = "error"
        results.add({"record": "trial", "scratch": self._named()})
        with self._prepared(lambda: None):
            for work in works:
                record = self._record_of(work, 0)
                if record["status"] == "ok":
                    found[work.key] = record
                elif record["record"] == "result":
                    self.systems[work.system].renew_pool()
            self.reason = "complete"
        return found

    @contextlib.contextmanager
    def _prepared(self, finish):
        """Directories and pools are there within; an interrupt ends the block, with its reason."""
        before = {
            number: signal.signal(number, interrupt) for number in (signal.SIGINT, signal.SIGTERM)
        }
        try:
            for path in (self.memory, *self.places.values()):
                path.mkdir(mode=0o700)
            for system in self.systems.values():
                system.prepare([cell for cell in self.cells if cell.system == system.name])
            yield
        except Interrupted:
            self.reason = "interrupted"
        finally:
            for number in before:  # a second Ctrl-C must not leave files behind
                signal.signal(number, signal.SIG_IGN)
            try:
                finish()
            finally:  # also where the results have no room
                for system in self.systems.values():
                    system.remove()
                for path in (self.memory, *self.places.values()):
                    if path is not None:
                        shutil.rmtree(path, ignore_errors=True)
                for number, handler in before.items():
                    signal.signal(number, handler)

    def _named(self):
        """What the run is about to make, for the record that begins it."""
        memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else tempfile.gettempdir()
        self.memory = scratch.name(memory, short=True)
        media = dict.fromkeys(limit.medium for limit in self.limits if limit.kind != "network")
        self.places = {medium: scratch.name(medium) for medium in media}
        paths = [self.memory, *self.places.values()]
        for system in self.systems.values():
            paths += system.named()
        pools = {name: one.pool_name for name, one in self.systems.items() if one.pool_name}
        return {
            "host": platform.node(),
            "paths": list(map(str, paths)),
            **({"pools": pools} if pools else {}),
        }

    def _signed(self, record):
        return {**record, "schema": SCHEMA, "run": self.id}

    def _run_record(self):
        return {
            "record": "run",
            "schema": SCHEMA,
            "run": self.id,
            "started": store.now(),
            "matrix": self.matrix,
            "matrix_sha256": self.digest,
            "environment": machine.environment(self.matrix.get("machine")),
            "systems": {name: machine.describe(system) for name, system in self.systems.items()},
            "left_out": self.left_out,
            "cells": len(self.cells),
            "limits": len(self.limits),
            "rounds": self.pilot["most"] if self.pilot else self.matrix["rounds"],
            "warmup": self.before_figures,
            "seed": self.matrix["seed"],
            **({"sizing": self.sizing} if self.sizing else {}),
            **({"quick": True} if self.matrix.get("quick") else {}),
        }

    def _all_rounds(self, results):
        rounds = self.before_figures + (0 if self.pilot else self.matrix["rounds"])
        draw = random.Random(self.matrix["seed"])
        works = [*self.cells, *self.limits]
        with progress.of(rounds * len(works)) as shown:
            number = 0
            while number < rounds:
                order = list(works)
                draw.shuffle(order)  # also of a round that is done: its order is drawn once
                for work in order:
                    self._turn(work, number, results, shown)
                number += 1
                shown.round_ends(number, rounds)
                if self.pilot and number == self.before_figures:
                    more = self._planned_rounds(results, shown)
                    rounds += more
                    shown.grow(more * len(works))

    def _planned_rounds(self, results, shown):
        if self.plan is None:
            plan = planned_rounds.plan(self.pilot, self.record, self.pilot_records)
            self.plan = self._signed(plan)
            results.add(self.plan)
        shown.note(f"the pilot asks for {self.plan['rounds']} rounds")
        return self.plan["rounds"]

    def _turn(self, work, number, results, shown):
        if work.key not in self.void and (work.key, number) not in self.done:
            shown.starts(work.name)
            self._one(work, number, results, shown)
        shown.advance()

    def _one(self, work, number, results, shown):
        record = self._record_of(work, number)
        results.add(record)
        self._note(record)
        if record["status"] == "ok":
            return
        if record["record"] == "result":
            self.systems[work.system].renew_pool()
        text = telling_line(record["errors"])
        shown.note(f"{work.name}: {record['status']}; not run again: {text}")

    def _record_of(self, work, number):
        return (self._limit if isinstance(work, limits.Limit) else self._cell)(work, number)

    def _cell(self, cell, number):
        system = self.systems[cell.system]
        directory = system.fresh_directory()
        own = {**system.environment(cell.ranks), **outside.variables(cell.parameters, directory)}

        def run(words, reader=reader_of(cell), place=directory):
            return self._run(
                words, own, system.mpi, cell.ranks, place, number, reader, system.watched
            )

        fill = run(system.words(cell, directory, "fill")) if "rewrite" in cell.parameters else None
        if fill is not None and fill["status"] != "ok":
            found = {**fill, "output": None}
        elif "reads_after" in cell.parameters:
            found = self._in_two(system, cell, directory, run)
        else:
            found = run(system.words(cell, directory))
            about = reads.of(system.given)
            found |= {"reads": {**about, "how": ""}} if about else {}
        if fill is not None:
            found = before_write.joined(fill, found)
        shutil.rmtree(directory, ignore_errors=True)
        system.after_cell()
        return {
            "record": "result",
            **found,
            "cell": cell.key,
            "system": cell.system,
            "kernel": cell.kernel,
            "ranks": cell.ranks,
            "pool_bytes": system.pool_bytes(),
        }

    def _in_two(self, system, cell, directory, run):
        """A cell whose reads meet no cache: a command writes, a later one reads."""
        write, between, read = run(system.words(cell, directory, "write")), None, None
        step = system.between(cell, directory) if write["status"] == "ok" else None
        if step is not None:
            what, words = step
            # An unmount must not find a working directory in its way.
            between = (what, run(words, *([nothing, "/"] if what == "remount" else [])))
        if write["status"] == "ok" and (between is None or between[1]["status"] == "ok"):
            read = run(system.words(cell, directory, "read"))
        return reads.joined(write, between, read, system.given)

    def _limit(self, limit, number):
        own = self.systems[(*limit.systems, *limit.drains)[0]].environment(limit.ranks)
        place = self.memory if limit.kind == "network" else self.places[limit.medium]
        with tempfile.TemporaryDirectory(prefix="cairn-bench-", dir=place) as directory:
            words = limit.words(directory)
            found = self._run(
                *(words, own, limit.mpi, limit.ranks, directory, number, limit.reader)
            )
        return {
            "record": "limit",
            **found,
            "limit": limit.key,
            "kind": limit.kind,
            "tool": limit.tool,
            "medium": limit.medium,
            "systems": list(limit.systems),
            "drains": list(limit.drains),
            "ranks": limit.ranks,
            "transfer_bytes": limit.transfer,
        }

    def _run(self, words, own, mpi, ranks, directory, number, reader=None, watched=tuple):
        """Runs a command; returns the keys of both kinds of records. reader: of the output, else a
        kernel's.
        watched: returns directories whose files in memory count."""
        started = store.now()

        def in_memory():
            return memory.in_memory([self.memory, *watched()])

        outcome = launch.run(
            words, self._environment(mpi, own), directory, self.matrix["timeout_s"], in_memory
        )
        try:
            output = (reader or kernel_output)(outcome.output, outcome.errors)
        except outside.Unreadable as error:
            output = None
            outcome.errors += f"\noutput not understood: {error}\n{outcome.output[-TAIL:]}"
        if reader is None and output is not None and output["ranks"] != ranks:
            outcome.errors = (
                f"the launcher started jobs of {output['ranks']} ranks and not one of {ranks}; use "
                f"that of {mpi}, or name its MPI as mpi in the system\n{outcome.errors}"
            )
            output = None
        return {
            "schema": SCHEMA,
            "run": self.id,
            "round": number,
            "warmup": number < self.before_figures,
            "started": started,
            "status": status_of(outcome, output),
            "wall_s": round(outcome.wall_s, 6),
            "exit_code": outcome.code,
            "command": words,
            "environment": own,
            "output": output,
            "errors": errors_of(outcome, output, self.matrix["timeout_s"]),
            **ends_of(outcome, output),
            "shared_bytes": outcome.shared_bytes,
        }

    def _environment(self, mpi, own):
        left = {}
        # The directory is one of this node; the ranks of a launcher may lie on others.
        if mpi == "openmpi" and not self.matrix.get("launcher"):
            left = {
                "OMPI_MCA_btl_vader_backing_directory": str(self.memory),
                "OMPI_MCA_orte_tmpdir_base": str(self.memory),
            }
        return {**systems_module.base_environment(), **left, **own}


def seconds_of(record):
    """Those of all of a record's commands; `wall_s` leaves out the one that fills the memory."""
    fills = (step["wall_s"] for step in record.get("before", []) if step["what"] == "fill")
    return record["wall_s"] + sum(fills)


def kernel_output(text, _errors):
    """The kernel's JSON object: the last line that is one."""
    for line in reversed(text.split("\n")):
        if line.startswith("{"):
            try:
                found = files.parse_json(line)
            except ValueError:
                continue
            return found if isinstance(found, dict) and "accesses" in found else None
    return None


def nothing(_text, _errors):
    """The output of a command that measures nothing."""
    return {"valid": True, "parameters": {"file_bytes": None, "cached_bytes": None}}


def reader_of(cell):
    """What makes an output from the text of a program of others; None for a kernel's."""
    if cell.kind != "program":
        return None
    given = cell.parameters
    return lambda text, errors: outside.output_of(
        given["program"], text, cell.ranks, given.get("arguments", ()), errors
    )


def status_of(outcome, output):
    if outcome.code is None:
        return "timeout"
    if output is not None and not output["valid"]:
        return "invalid"
    return "ok" if outcome.code == 0 and output is not None else "failed"


def ends_of(outcome, output):
    """Seconds before MPI was ready and after the figures were printed; none of a program."""
    if output is None or "started_s" not in output:
        return {}
    return {
        "startup_s": round(output["started_s"] - outcome.started_s, 6),
        "finalize_s": round(outcome.ended_s - output["finished_s"], 6),
    }


def errors_of(outcome, output, timeout_s):
    if outcome.code is None:
        return f"still running after {timeout_s:g} s, then ended\n{outcome.errors[-TAIL:]}"
    if outcome.code == 0 and output is None:
        printed = (
            f"it printed: {outcome.output[-TAIL:]}" if outcome.output else "it printed nothing"
        )
        return f"exit code 0 without figures; {printed}\n{outcome.errors[-TAIL:]}"
    said = ""
    if output is not None and output.get("outside") and not output["valid"]:
        said = output["checks"][0]["first_wrong"] + "\n"
    return said + outcome.errors[-TAIL:]
