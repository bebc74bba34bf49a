"""What the media and the memory of this node have free, and what they are."""

import os
import pathlib


MEMORY = ("tmpfs", "ramfs", "hugetlbfs")  # types of file systems


def mount_of(directory):
    """(mount point, type, source, options) of the file system that holds `directory`."""
    best = ("", "?", "?", "")
    for line in pathlib.Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines():
        left, right = line.split(" - ", 1)
        point = left.split()[4]
        kind, source, *options = right.split(" ", 2)
        inside = point == "/" or str(directory) == point or str(directory).startswith(point + "/")
        if inside and len(point) >= len(best[0]):
            best = (point, kind, source, ",".join([left.split()[5], *options]))
    return best


def in_memory(directory):
    return mount_of(directory)[1] in ("tmpfs", "ramfs")


def free_on(directory):
    found = os.statvfs(directory)
    return found.f_bavail * found.f_frsize


def memory_available():
    """What the machine and its control group have left."""
    lines = pathlib.Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    free = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))
    for limit, used in (
        ("memory.max", "memory.current"),
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
    ):
        try:
            root = pathlib.Path("/sys/fs/cgroup")
            free = min(free, int((root / limit).read_text()) - int((root / used).read_text()))
        except (OSError, ValueError):
            continue
    return free
