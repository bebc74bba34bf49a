"""What ends a command with exit code 125."""


class ClusterError(Exception):
    """The cluster could not be made, or does not allow what was asked for; the text says why."""
