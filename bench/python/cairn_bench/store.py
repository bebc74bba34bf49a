"""Results as JSON Lines, on the disk before the next repetition (docs/user/bench-results.md)."""

import datetime
import json
import os

from . import records
from .errors import Mistake


def now():
    return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="milliseconds")


class Store:
    """Appends records. A run that is killed leaves whole lines, but perhaps the last."""

    def __init__(self, path, resume=False):
        self.path = path
        if resume:
            cut_to_whole_lines(path)
        flags = os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC
        self.descriptor = os.open(path, flags | (0 if resume else os.O_CREAT | os.O_EXCL), 0o644)

    def add(self, record):
        line = (json.dumps(record, ensure_ascii=False) + "\n").encode()
        try:
            while line:
                line = line[os.write(self.descriptor, line) :]
            os.fsync(self.descriptor)
        except OSError as error:
            raise Mistake(
                f"{self.path}: write failed: {error.strerror}; what was stored before is whole; "
                f"make room, then go on: cairn bench run --resume {self.path.parent}",
                code=1,
            ) from error

    def close(self):
        os.close(self.descriptor)


def cut_to_whole_lines(path):
    whole = path.read_bytes().rfind(b"\n") + 1
    os.truncate(path, whole)


class Results:
    """The records of one file."""

    def __init__(self, run, results, limits, end, plan=None, judged=()):
        self.run = run
        self.results = results
        self.limits = limits
        self.end = end
        self.plan = plan
        self.judged = list(judged)

    @property
    def rounds(self):
        """How many rounds the figures have, as planned."""
        return self.plan["rounds"] if self.plan else self.run["rounds"]

    @property
    def complete(self):
        return self.end is not None and self.end["reason"] == "complete"


def load(path):
    """The records of a file. A last line that was cut off is left out."""
    run, results, limits, end, plan, judged = None, [], [], None, None, []
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except OSError as error:
        raise Mistake(f"{path}: {error.strerror}") from error
    for number, line in enumerate(lines, 1):
        if not line:
            continue
        try:
            record = json.loads(line)
        except ValueError as error:
            if number >= len(lines):
                break
            raise Mistake(f"{path}:{number}: not JSON: {error}", code=1) from error
        wrong = records.problem(record)
        if wrong:
            raise Mistake(f"{path}:{number}: not a record of cairn bench: {wrong}", code=1)
        kind = record.get("record")
        if kind == "run":
            run = record
        elif kind == "result":
            results.append(record)
        elif kind == "limit":
            limits.append(record)
        elif kind == "judged":
            judged.append(record)
        elif kind == "plan":
            plan = record
        elif kind == "resume":
            end = None
        elif kind == "end":
            end = record
    if run is None:
        raise Mistake(f"{path}: not results of cairn bench: no record of kind run")
    for record in results:
        for what, known in (("system", run["systems"]), ("kernel", run["matrix"]["kernels"])):
            if record[what] not in known:
                raise Mistake(f"{path}: result of {what} {record[what]}: the run has none", code=1)
    return Results(run, results, limits, end, plan, judged)
