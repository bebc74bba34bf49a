"""Memory in the files of a run (tmpfs, huge pages), sampled while a command runs.

Only the directories of the run count. The whole node's files in memory also contain those of other
programs.
"""

import os
import threading
import time

from . import space

EVERY_S = 0.05
SHARE = 1 / 50  # of the time, that looking may take


class Watch:
    """The most that the files below some directories take within the block. directories: a function
    that returns them."""

    def __init__(self, directories):
        self.directories = directories
        self.most = 0

    def __enter__(self):
        self._look()
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._sample, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()
        self._look()

    def _sample(self):
        spent = 0.0
        while not self.ended.wait(max(EVERY_S, spent / SHARE)):
            begin = time.monotonic()
            self._look()
            spent = time.monotonic() - begin

    def _look(self):
        self.most = max(self.most, sum(map(bytes_of, self.directories())))


def in_memory(directories):
    """Those of them whose files lie in memory."""
    return [each for each in directories if space.mount_of(each)[1] in space.MEMORY]


def bytes_of(path):
    """Bytes that a file takes, or the files below a directory; 0 if it is not there."""
    try:
        if not os.path.isdir(path):
            return os.lstat(path).st_blocks * 512
        with os.scandir(path) as entries:
            return sum(
                bytes_of(entry.path) if entry.is_dir(follow_symlinks=False)
                else entry.stat(follow_symlinks=False).st_blocks * 512
                for entry in entries
            )
    except OSError:  # removed meanwhile
        return 0
