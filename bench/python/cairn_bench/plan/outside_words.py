"""Reads two facts besides the figures of programs of others: whether data were wrong, and whether
the program syncs.

Each program says that data were wrong in lines of its own; those stand here as regular expressions.
The words that it was started with say whether it syncs, and its output may.
"""

import re
import shlex

# IOR 3 and 4, at the end of a check ("WARNING: incorrect data on read (8 errors found)."); then
# with -q, which ends the program at the first error; then the first line of each such buffer.
IOR = (
    r"^.*incorrect data on (?:write|read).*$",
    r"^.*data check error, aborting.*$",
    r"^.*FAILED comparison of buffer.*$",
)
MDTEST = (r"^.*ERROR: verifying the data.*$",)
FIO = (r"^.*verify: bad .*$", r"^.*: verify failed at .*$", r"^.*verify type mismatch.*$")
WRONG = {
    "ior": IOR,
    "mdtest": MDTEST,
    "io500": (*IOR, *MDTEST),
    "fio": FIO,
    "hacc_io": (r"^.*Values Don't Match.*$", r"^.*CONTENTS VERIFI(?!\w+\W*Success).*$"),
}
LONGEST = 400  # characters of such a line


def wrong_data(program, text):
    """The line by which a program says that data were wrong; "" if it does not say so."""
    for pattern in WRONG.get(program, ()):
        match = re.search(pattern, text, re.M | re.I)
        if match:
            return match.group(0).strip()[:LONGEST]
    return ""


def wrong_count(line):
    """How many errors such a line counts; 1 if it does not say."""
    match = re.search(r"\((\d+) errors?\b", line)
    return max(int(match.group(1)), 1) if match else 1


def words_of_ior(text, arguments):
    """The words of IOR's command line: those that it prints, else those that it was given."""
    match = re.search(r'^Command line(?: used)? *: (.*)$|"Command line": "(.*)"', text, re.M)
    if match is None:
        return list(map(str, arguments))
    try:
        return shlex.split(match.group(1) or match.group(2))[1:]
    except ValueError:
        return list(map(str, arguments))


def says(words, flags, directives):
    """Whether IOR's words have a flag, or a directive of -O with a value that is not 0.

    Of a word that begins with "-", IOR 3 and 4 look at the first letter only.
    """
    for number, word in enumerate(words):
        if word[:2] in flags:
            return True
        given = words[number + 1] if word == "-O" and number + 1 < len(words) else word
        for each in given.removeprefix("-O").split(","):
            name, _, value = each.partition("=")
            if name in directives and value not in ("", "0"):
                return True
    return False


def of_ior(words):
    """What the words of IOR say: `fsync` and `direct` if they are there."""
    found = {
        "fsync": says(words, ("-e", "-Y"), ("fsync", "fsyncPerWrite")),
        "direct": says(words, ("-B",), ("useO_DIRECT",)),
    }
    return {key: value for key, value in found.items() if value}


def checks_of_ior(words):
    """The accesses whose data IOR compares."""
    wanted = {
        "write": says(words, ("-W",), ("checkWrite",)),
        "read": says(words, ("-R",), ("checkRead",)),
    }
    return [name for name, is_checked in wanted.items() if is_checked]


SYNCS_OF_FIO = ("fsync", "fdatasync", "end_fsync", "fsync_on_close", "sync", "sync_file_range")


def of_fio(options):
    """What the options of fio's jobs say: `fsync` and `direct` if all jobs have it."""
    found = {
        "fsync": all(any(is_on(one, name) for name in SYNCS_OF_FIO) for one in options),
        "direct": all(is_on(one, "direct") for one in options),
    }
    return {key: value for key, value in found.items() if value and options}


def is_on(options, name):
    """An option without a value is on."""
    return name in options and str(options[name]) not in ("0", "none", "false")
