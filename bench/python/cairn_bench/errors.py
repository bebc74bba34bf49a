"""Errors that the command shows as one line each, and exits with code 2 (usage) or 1."""


class Mistake(Exception):
    """What the user must change: `lines` are shown as they stand."""

    def __init__(self, lines, code=2):
        super().__init__("\n".join([lines] if isinstance(lines, str) else lines))
        self.lines = [lines] if isinstance(lines, str) else list(lines)
        self.code = code
