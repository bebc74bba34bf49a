"""Sizes: 4096, 47008, 4k, 4KiB, 1m, 1MiB, 2g; shown as people read them. IOR's letters are powers
of 1024, too."""

import re

UNITS = {"": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}
LETTERS = {letter: UNITS[f"{letter.upper()}iB"] for letter in "kKmMgGtT"}
SIZE = re.compile(r"([0-9]{1,20}) ?([A-Za-z]*)")
MOST = (1 << 63) - 1  # that a kernel takes


def parse(value):
    """Bytes, or ValueError with a text for people."""
    match = SIZE.fullmatch(str(value))
    unit = {**UNITS, **LETTERS}.get(match.group(2)) if match else None
    if unit is None:
        raise ValueError(
            f"invalid size '{value}': expected bytes, or a number with k, m, g or t, or with KiB, "
            "MiB, GiB or TiB (powers of 1024)"
        )
    found = int(match.group(1)) * unit
    if found > MOST:
        raise ValueError(f"invalid size '{value}': more than {MOST} bytes")
    return found


def show(count):
    for unit in ("TiB", "GiB", "MiB", "KiB"):
        if count >= UNITS[unit]:
            return f"{count / UNITS[unit]:.1f} {unit}"
    return f"{count} B"
