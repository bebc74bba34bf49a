"""Results as JSON Lines, on the disk before the next repetition (docs/user/bench-results.md)."""

import datetime
import json
import os

from .. import files
from ..errors import Mistake
from . import records

PIECE = 1 << 20


def now():
    return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="milliseconds")


class Store:
    """Appends records. A run that is killed leaves whole lines, but perhaps the last."""

    def __init__(self, path, resume=False):
        self.path = path
        if resume:
            self.descriptor = files.locked(files.opened_own(path), path)
            cut_to_whole_lines(self.descriptor)
        else:
            flags = os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | os.O_CREAT | os.O_EXCL
            self.descriptor = files.locked(os.open(path, flags, 0o644), path)

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


def cut_to_whole_lines(descriptor):
    """Cuts off the last line of a file if that has no end."""
    end = os.fstat(descriptor).st_size
    while end > 0:
        begin = max(end - PIECE, 0)
        at = os.pread(descriptor, end - begin, begin).rfind(b"\n")
        end = begin + at + 1
        if at >= 0:
            break
    os.ftruncate(descriptor, end)


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
    lines = files.read_text(path, files.RESULTS_BYTES).split("\n")
    for number, line in enumerate(lines, 1):
        if not line:
            continue
        try:
            record = files.parse_json(line)
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
    kernels = run.get("matrix", {}).get("kernels", {})
    for record in results:
        for what, known in (("system", run.get("systems", {})), ("kernel", kernels)):
            name = record.get(what)
            if name is None:
                raise Mistake(f"{path}: a result names no {what}", code=1)
            if name not in known:
                raise Mistake(f"{path}: result of {what} {name}: the run has none", code=1)
    return Results(run, results, limits, end, plan, judged)
