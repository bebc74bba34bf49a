"""Sizes: 4096, 47008, 4KiB, 1MiB, 2GiB; shown as people read them."""

import re

UNITS = {"": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}
SIZE = re.compile(r"(\d+) ?([A-Za-z]*)")


def parse(value):
    """Bytes, or ValueError with a text for people."""
    match = SIZE.fullmatch(str(value))
    if not match or match.group(2) not in UNITS:
        raise ValueError(
            f"invalid size '{value}': expected bytes, or a number with KiB, MiB or GiB"
        )
    return int(match.group(1)) * UNITS[match.group(2)]


def show(count):
    for unit in ("TiB", "GiB", "MiB", "KiB"):
        if count >= UNITS[unit]:
            return f"{count / UNITS[unit]:.1f} {unit}"
    return f"{count} B"
