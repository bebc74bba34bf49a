"""Where the bytes of an access went or came from: synced or not, cached or not, read by whom."""

import dataclasses

MEMORY = ("tmpfs", "ramfs", "hugetlbfs", "devtmpfs")
DISKS_IN_MEMORY = ("/dev/ram", "/dev/zram")
SYNCED_WAYS = ("file", "persist", "drain", "cairn")  # accesses of sedov
READERS = {"next-rank": "by the next rank", "next-node": "by a rank of the next node"}
PAGE_CACHE, UNKNOWN = "page cache", "as the program does"


@dataclasses.dataclass(frozen=True)
class Medium:
    """The medium that holds the data of a system while a kernel runs."""

    in_memory: bool  # a file system that is memory
    volatile: bool  # gone without power
    cached: bool  # behind a page cache


def medium_of(run, system):
    found = run["systems"][system]
    where = found.get("pool_directory") or found.get("directory", {})
    in_memory = where.get("type") in MEMORY
    is_dax = "dax" in str(where.get("options", "")).replace("=", ",").split(",")
    return Medium(
        in_memory,
        in_memory or str(where.get("source", "")).startswith(DISKS_IN_MEMORY),
        not in_memory and not is_dax,
    )


def memory_before_write(run, system):
    """What a system's writes meet: used, new or the page cache; "" in earlier records."""
    return run["systems"][system].get("memory_before_write", "")


def is_write(access):
    return access.startswith("write") or access in SYNCED_WAYS


def moved(access, state, medium):
    """For a cell; "" for calls that move no data."""
    if is_write(access):
        if state.fsync is None:
            return UNKNOWN
        if state.fsync:
            return "fsync called, volatile" if medium.volatile else "synced"
        return f"{PAGE_CACHE}, not synced" if met(access, state, medium) else "not synced"
    if not access.startswith(("read", "restore")):
        return ""
    found = state.reads
    if found.get("after") == "drop":
        text = "page cache dropped"
    elif found.get("after") == "remount":
        text = "after a remount"
    elif medium.in_memory:
        text = "from memory"
    elif state.direct:
        text = "past the page cache"
    else:
        text = PAGE_CACHE if medium.cached else "from the medium"
    return ", ".join(filter(None, [text, READERS.get(found.get("by"))]))


def met(access, state, medium):
    """Whether an access ends in the page cache of a disk, or comes from there."""
    past_cache = state.fsync if is_write(access) else state.reads.get("after")
    return medium.cached and not state.direct and not past_cache
