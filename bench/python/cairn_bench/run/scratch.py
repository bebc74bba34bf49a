"""The directories and pools that a run makes for itself, noted before they are made.

A run that is killed leaves them behind. `--resume` reads the notes and removes what is there.
"""

import pathlib
import re
import secrets

from .. import files
from ..errors import Mistake
from ..terminal import tell

PREFIX = "cairn-bench-"
SHORT = "cb-"  # Open MPI puts sockets there, whose paths must be short
NAME = re.compile(rf"{PREFIX}[0-9a-f]{{16}}|{SHORT}[0-9a-f]{{8}}")
BEGINS = re.compile(r'\{"record": "(run|resume|trial)"')


def name(parent, short=False):
    """A directory of a name that nobody has; it is not made."""
    text = SHORT + secrets.token_hex(4) if short else PREFIX + secrets.token_hex(8)
    return pathlib.Path(parent) / text


def noted(path):
    """The notes in a file of results: `scratch` of the records that begin a start."""
    found = []
    for line in files.read_text(path, files.RESULTS_BYTES).split("\n"):
        if BEGINS.match(line):
            try:
                record = files.parse_json(line)
            except ValueError:
                continue  # the last line of a run that was killed
            found.append(record.get("scratch", {}))
    return [note for note in found if isinstance(note, dict) and "paths" in note]


def remove_left(notes, host):
    """Removes the directories that earlier starts have left on this node."""
    removed = 0
    for note in notes:
        for text in filter(lambda each: isinstance(each, str), note["paths"]):
            path = pathlib.Path(text)
            if not path.is_absolute() or not NAME.fullmatch(path.name):
                continue
            try:
                removed += files.remove_own(path)
            except Mistake as mistake:
                tell(mistake.lines[0])
    if removed:
        tell(f"removed {removed} directories that the run had left")
    others = {note.get("host") for note in notes[-1:]} - {host, None}
    if others:
        tell(f"the run began on {others.pop()}; what it left in memory there stays")
