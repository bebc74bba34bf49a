"""The history: one line for each figure of each run, in a file that all runs append to.

It holds medians only; the repetitions are in each run's results.jsonl. A run that was taken up
again appends its figures anew: the last line of a run and figure counts.
"""

import dataclasses
import json
import os

from .. import SCHEMA, files
from ..errors import Mistake
from ..terminal import tell
from . import judged, records
from .figures import Figures
from .machines import machine_of

FEWEST = 8  # earlier runs, before a quarter of them says anything
NAME = "history.jsonl"


def beside(results_directory):
    """The history that the results of a directory belong to: that of the directory around it."""
    return results_directory.resolve().parent / NAME


def lines_of(results):
    """Records of a run's figures."""
    found = Figures(results)
    run = results.run
    lines = judged.history_lines(results)
    for (kernel, access, ranks, system), series in found.series.items():
        if found.counted(kernel, access, ranks, system) is None:
            continue
        share = found.share(kernel, access, ranks, system)
        lines.append(
            {
                "record": "figure",
                "schema": SCHEMA,
                "run": run["run"],
                "started": run["started"],
                "host": run["environment"]["host"],
                "machine": machine_of(run, system),
                "cairn": run["environment"]["cairn"],
                "matrix": run["matrix"]["name"],
                "cell": found.keys[kernel, ranks, system],
                "kernel": kernel,
                "access": access,
                "ranks": ranks,
                "system": system,
                "unit": series.unit,
                "median": series.median,
                "lowest": series.lowest,
                "highest": series.highest,
                "rounds": len(series.rates),
                "share_of_limit": share.ratio.ratio if share else None,
                "limit": share.limit.name if share else None,
            }
        )
    return lines


def append(path, results):
    """Adds a run's figures, by one write: runs that end together do not mix their lines."""
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines_of(results))
    if not text:
        return
    try:
        descriptor = files.opened_to_append(path)
    except Mistake as mistake:  # others may have put something there
        tell(f"no history is kept: {mistake}")
        return
    try:
        os.write(descriptor, text.encode())
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@dataclasses.dataclass(frozen=True)
class Past:
    """Medians of one figure on one machine, oldest first; the newest is that of the run shown."""

    times: tuple
    medians: tuple
    unit: str
    large_is_good: bool = True

    @property
    def earlier(self):
        """How many runs there were before."""
        return len(self.medians) - 1

    @property
    def has_quarters(self):
        """Whether the earlier runs are enough to say in which quarter of them this one lies."""
        return self.earlier >= FEWEST


def load(path):
    """All records of a history; none if there is no file. Other lines are left out."""
    if not path.exists():
        return []
    try:
        text = files.read_text(path, files.RESULTS_BYTES)
    except Mistake as mistake:
        tell(f"no history is shown: {mistake}")
        return []
    found = []
    for line in text.split("\n"):
        try:
            record = files.parse_json(line)
        except ValueError:
            continue
        if isinstance(record, dict) and record.get("record") == "figure":
            if not records.problem(record):
                found.append(record)
    return found


def of_run(results, path):
    """{(kernel, access, ranks, system): Past} where earlier runs of this machine did the same
    work."""
    newest = {}
    for record in [*load(path), *lines_of(results)]:
        newest[record["run"], record["cell"], record["access"]] = record
    runs = {results.run["run"]}
    runs |= {
        f"{name} {record['started']}" for name, record in judged.newest(results).items()
    }
    same_work = {}
    for record in sorted(newest.values(), key=lambda record: record["started"]):
        same_work.setdefault(what_must_agree(record), []).append(record)
    found = {}
    for mine in [record for record in newest.values() if record["run"] in runs]:
        same = [
            record
            for record in same_work[what_must_agree(mine)]
            if record["started"] <= mine["started"]
        ]
        if len(same) > 1:
            key = (mine["kernel"], mine["access"], mine["ranks"], mine["system"])
            found[key] = Past(
                tuple(record["started"] for record in same),
                tuple(record["median"] for record in same),
                mine["unit"],
                mine.get("large_is_good", True),
            )
    return found


def what_must_agree(record):
    """Of the lines of one history. Lines of earlier versions name no machine, so they are none of a
    machine that is known."""
    return record["cell"], record["access"], record.get("machine"), record["unit"]
