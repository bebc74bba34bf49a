"""Runs one command to its end or to its time limit, and ends all of its processes."""

import dataclasses
import os
import pathlib
import signal
import subprocess
import time

from ..node import memory

GRACE_S = 5  # between SIGTERM and SIGKILL


@dataclasses.dataclass
class Outcome:
    code: int | None  # None: the time limit ended it
    wall_s: float
    output: str
    errors: str
    started_s: float = 0.0  # seconds since 1970
    ended_s: float = 0.0
    shared_bytes: int = 0  # the most that files of the run had in memory


def run(words, environment, directory, timeout_s, watched=tuple):
    """watched: returns the directories and files in memory that belong to the command."""
    with memory.Watch(watched) as watch:
        outcome = run_watched(words, environment, directory, timeout_s)
    outcome.shared_bytes = watch.most
    return outcome


def run_watched(words, environment, directory, timeout_s):
    begin, started = time.monotonic(), time.time()
    process = subprocess.Popen(
        words,
        env=environment,
        cwd=directory,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    code = None
    try:
        output, errors = process.communicate(timeout=timeout_s)
        code = process.returncode
    except subprocess.TimeoutExpired:
        end(process)
        output, errors = process.communicate()
    except BaseException:  # Ctrl-C must not leave ranks behind
        end(process)
        process.communicate()
        raise
    return Outcome(code, time.monotonic() - begin, output, errors, started, time.time())


def end(process):
    """Ends the process and all of its session, also those that have left its group."""
    ours = members(process.pid)
    process.terminate()
    try:
        process.wait(GRACE_S)
    except subprocess.TimeoutExpired:
        pass
    ours |= members(process.pid)
    for pid, start in ours:
        if start_time(pid) == start:  # the number was not given to another process meanwhile
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
    process.wait()


def fields(pid):
    """Fields of /proc/PID/stat from the state on; [] if the process has ended."""
    try:
        return (
            pathlib.Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
        )
    except OSError:
        return []


def start_time(pid):
    found = fields(pid)
    return found[19] if found else None


def members(leader):
    """{(pid, start time)} of the leader's session and of its descendants."""
    table = {
        int(entry.name): fields(entry.name)
        for entry in pathlib.Path("/proc").iterdir()
        if entry.name.isdigit()
    }
    table = {pid: found for pid, found in table.items() if found}
    tree = {leader}
    grown = True
    while grown:
        more = {pid for pid, found in table.items() if int(found[1]) in tree} - tree
        tree |= more
        grown = bool(more)
    tree |= {pid for pid, found in table.items() if int(found[3]) == leader}
    return {(pid, table[pid][19]) for pid in tree if pid in table}
