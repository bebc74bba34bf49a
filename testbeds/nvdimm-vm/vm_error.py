"""What ends a run with exit code 125."""


class VmError(Exception):
    """The machine could not be made or did not start; the text says why."""
