"""The package's only way to files that the user, the environment or a shared directory names.

Others may put a FIFO, an endless file or a link under such a name. A file is opened without waiting
for anybody, judged by its descriptor, and read up to a bound. Other modules read only the package's
own files and the kernel's (tests/structure/bounded_reads_test.py).
"""

import fcntl
import json
import os
import secrets
import stat

from .errors import Mistake

MATRIX_BYTES = 1 << 18
LIST_BYTES = 1 << 24
RESULTS_BYTES = 1 << 30
PIECE_BYTES = 1 << 20
MOST_LEVELS = 64  # of lists and objects in each other
FLAGS = os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


def refuse(path, why):
    raise Mistake(f"{path}: {why}")


def opened(path, flags, must=lambda status: None):
    """A descriptor of a regular file. must: why a file of this status does not count, or None."""
    try:
        descriptor = os.open(path, flags | FLAGS, 0o644)
    except OSError as error:
        raise Mistake(f"{path}: {error.strerror}") from error
    status = os.fstat(descriptor)
    why = must(status) if stat.S_ISREG(status.st_mode) else "not a regular file"
    if why is not None:
        os.close(descriptor)
        refuse(path, why)
    return descriptor


def read_up_to(file, most_bytes):
    """At most so many bytes, in pieces: a file may grow meanwhile, those of the kernel do not tell
    their size, and a large buffer is not needed for most."""
    pieces, left = [], most_bytes
    while left and (piece := file.read(min(left, PIECE_BYTES))):
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)


def read_text(path, most_bytes):
    """The text of a file in UTF-8. Raises Mistake."""
    with open(opened(path, os.O_RDONLY), "rb") as file:
        size = os.fstat(file.fileno()).st_size
        data = read_up_to(file, most_bytes + 1) if size <= most_bytes else b""
    if max(size, len(data)) > most_bytes:
        refuse(path, f"larger than {most_bytes >> 10} KiB, the maximum")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Mistake(f"{path}: not UTF-8: byte {error.start}: {error.reason}") from error


def opened_to_append(path):
    """A descriptor of a file that is made if it is not there. Neither a link nor another name of a
    file counts: it could be a file of the user's that has nothing to do with this."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
    return opened(path, flags, lambda st: "has other names" if st.st_nlink != 1 else None)


def opened_own(path):
    """A descriptor for reading and appending; the file must be the user's own."""

    def must(status):
        if status.st_uid == os.geteuid():
            return None
        return f"belongs to user {status.st_uid}; copy it to a directory of yours"

    return opened(path, os.O_RDWR | os.O_APPEND | os.O_NOFOLLOW, must)


def remove_own(path):
    """Removes a directory of the user's with all below it; False if it is not there. No link is
    followed, and a directory of another user is refused."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        parent = os.open(path.parent, flags & ~os.O_NOFOLLOW)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise Mistake(f"{path}: {error.strerror}") from error
    try:
        top = os.open(path.name, flags, dir_fd=parent)
        try:
            owner = os.fstat(top).st_uid
            if owner != os.geteuid():
                refuse(path, f"belongs to user {owner}; left there")
            for _, directories, names, here in os.fwalk(".", topdown=False, dir_fd=top):
                for each in (*names, *directories):
                    remove_entry(each, here)
        finally:
            os.close(top)
        os.rmdir(path.name, dir_fd=parent)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise Mistake(f"{path}: not removed: {error.strerror}") from error
    finally:
        os.close(parent)
    return True


def remove_entry(name, directory):
    """Removes a file, a link or an empty directory by its name in an open directory."""
    try:
        os.unlink(name, dir_fd=directory)
    except IsADirectoryError:
        os.rmdir(name, dir_fd=directory)


def locked(descriptor, path):
    """Holds a file for this process. Raises Mistake if another process does."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        refuse(path, "the run goes on in another process")
    except OSError:
        pass  # a file system without locks
    return descriptor


def replace(path, data):
    """Writes a file (text or bytes) that takes the place of what has the name now, if that is a
    regular file or a link: no link is followed."""
    if path.exists() and not path.is_symlink() and not path.is_file():
        refuse(path, "not a regular file")
    aside = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        with open(aside, "xb") as file:
            file.write(data.encode() if isinstance(data, str) else data)
        os.replace(aside, path)
    except OSError as error:
        aside.unlink(missing_ok=True)
        raise Mistake(f"{path}: {error.strerror}", code=1) from error


def parse_json(text):
    """The value of a JSON text. Raises ValueError, too, if it is nested too deeply."""
    try:
        value = json.loads(text)
    except RecursionError:
        raise ValueError(f"more than {MOST_LEVELS} levels") from None
    if text.count("[") + text.count("{") > MOST_LEVELS and is_deep(value):
        raise ValueError(f"more than {MOST_LEVELS} levels")
    return value


def is_deep(value):
    """Whether a value of JSON has more levels than count. Not recursive."""
    level = [[value]]
    for _ in range(MOST_LEVELS + 1):
        level = [
            each
            for one in level
            for each in (one.values() if isinstance(one, dict) else one)
            if isinstance(each, (dict, list))
        ]
        if not level:
            return False
    return True
