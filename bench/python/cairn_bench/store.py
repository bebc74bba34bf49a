"""Results as JSON Lines, on the disk before the next repetition (docs/user/bench-results.md)."""

import datetime
import json
import os

from .errors import Mistake


def now():
    return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="milliseconds")


class Store:
    """Appends records. A run that is killed leaves whole lines."""

    def __init__(self, path):
        self.path = path
        self.file = open(path, "x", encoding="utf-8")

    def add(self, record):
        self.file.write(json.dumps(record, ensure_ascii=False) + "\n")
        self.file.flush()
        os.fsync(self.file.fileno())

    def close(self):
        self.file.close()


class Results:
    """The records of one file."""

    def __init__(self, run, results, end):
        self.run = run
        self.results = results
        self.end = end

    @property
    def complete(self):
        return self.end is not None and self.end["reason"] == "complete"


def load(path):
    """The records of a file. A last line that was cut off is left out."""
    run, results, end = None, [], None
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
        kind = record.get("record")
        if kind == "run":
            run = record
        elif kind == "result":
            results.append(record)
        elif kind == "end":
            end = record
    if run is None:
        raise Mistake(f"{path}: not results of cairn bench: no record of kind run")
    return Results(run, results, end)
