"""Where the bytes of an access went or came from: synced or not, cached or not, read by whom."""

MEMORY = ("tmpfs", "ramfs", "hugetlbfs")
SYNCED_WAYS = ("file", "persist", "drain", "cairn")  # accesses of sedov
READERS = {"next-rank": "by the next rank", "next-node": "by a rank of the next node"}


def medium_in_memory(run, system):
    """Whether the data of a system lie in memory while a kernel runs."""
    found = run["systems"][system]
    where = found.get("pool_directory") or found.get("directory", {})
    return where.get("type") in MEMORY


def moved(access, state, in_memory):
    """For a cell; "" for calls that move no data."""
    if access.startswith("write") or access in SYNCED_WAYS:
        return "synced" if state.fsync else "not synced"
    if not access.startswith(("read", "restore")):
        return ""
    found = state.reads
    if found.get("after") == "drop":
        text = "page cache dropped"
    elif found.get("after") == "remount":
        text = "after a remount"
    else:
        text = "from memory" if in_memory else "cached: no cache was dropped"
    return ", ".join(filter(None, [text, READERS.get(found.get("by"))]))
