"""Errors that the command shows as one line each, and exits with code 2 (usage) or 1."""

import re

KERNEL_SAYS = re.compile(r"\w+: rank \d+: |INVALID")


def telling_line(text):
    """The line of a command's stderr that says most: a kernel's, before what mpirun adds to it."""
    lines = [line.strip() for line in text.strip().split("\n")]
    said = (line for line in lines if KERNEL_SAYS.search(line))
    rest = (line for line in lines if line.strip("-"))
    return next(said, None) or next(rest, "")


class Mistake(Exception):
    """What the user must change: `lines` are shown as they stand."""

    def __init__(self, lines, code=2):
        super().__init__("\n".join([lines] if isinstance(lines, str) else lines))
        self.lines = [lines] if isinstance(lines, str) else list(lines)
        self.code = code
