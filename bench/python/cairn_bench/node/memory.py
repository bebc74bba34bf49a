"""Memory in files of memory (tmpfs, huge pages), sampled while a command runs."""

import pathlib
import threading

EVERY_S = 0.05
MEMINFO = pathlib.Path("/proc/meminfo")


def in_use(text=None):
    """Bytes of this node's memory that files of memory and shared mappings take."""
    lines = (text or MEMINFO.read_text(encoding="ascii")).splitlines()
    found = {name: int(rest.split()[0]) for name, rest in (line.split(":", 1) for line in lines)}
    pages = found.get("HugePages_Total", 0) - found.get("HugePages_Free", 0)
    return (found.get("Shmem", 0) + pages * found.get("Hugepagesize", 0)) * 1024


class Watch:
    """The most that is in use within the block, beyond what was before it."""

    def __enter__(self):
        self.before = self.most = in_use()
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._sample, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()
        self.most = max(self.most, in_use())

    def _sample(self):
        while not self.ended.wait(EVERY_S):
            self.most = max(self.most, in_use())

    @property
    def grown(self):
        return self.most - self.before


def bytes_of(directory):
    """Bytes that the files below a directory take."""
    return sum(path.lstat().st_blocks * 512 for path in directory.rglob("*") if path.is_file())
