"""Ranks make, write, read, move, list and remove the same few names by POSIX calls: names_storm.py
SEED SECONDS. Rank 0 says in the end what there is, as os.walk() has it. A file's bytes are all of
one rank."""

import os
import random
import sys
import time

from mpi4py import MPI

NAMES = 6
LARGEST = 100_000
# What POSIX lets a call say here; and what is told of other hosts' files: open, or gone while they
# are read.
MISSING = {"FileNotFoundError", "FileExistsError", "NotADirectoryError"}
TOLD = {"Directory not empty", "Device or resource busy", "Input/output error"}


def some(kind):
    return f"{kind}{random.randrange(NAMES)}"


def write(path):
    own = f"{path}.{RANK}"
    with open(own, "wb") as file:
        file.write(bytes([RANK]) * random.randrange(LARGEST))
    os.rename(own, path)


def read(path):
    with open(path, "rb") as file:
        held = file.read()
    if len(set(held)) > 1:
        raise AssertionError(f"{path}: bytes of ranks {sorted(set(held))}")


def switch_link(path):
    if os.path.islink(path):
        os.unlink(path)
    else:
        os.symlink(some("d"), path)


def do_something():
    directory = f"s/{some('d')}"
    file = f"{directory}/{some('f')}"
    random.choice((
        lambda: os.mkdir(directory),
        lambda: os.rmdir(directory),
        lambda: write(file),
        lambda: read(file),
        lambda: os.unlink(file),
        lambda: os.rename(directory, f"s/{some('d')}"),
        lambda: os.rename(file, f"s/{some('d')}/{some('f')}"),
        lambda: os.listdir(directory),
        lambda: switch_link(f"s/l{random.randrange(3)}"),
    ))()


RANK = MPI.COMM_WORLD.rank
random.seed(f"{sys.argv[1]} {RANK}")
os.makedirs("s", exist_ok=True)
until = time.monotonic() + float(sys.argv[2])
while time.monotonic() < until:
    try:
        do_something()
    except OSError as error:
        if type(error).__name__ not in MISSING and os.strerror(error.errno) not in TOLD:
            raise
MPI.COMM_WORLD.Barrier()
if RANK == 0:
    for path, directories, files in sorted(os.walk("s")):
        print("there is", path, *sorted(directories), *sorted(files))
    print("names_storm", flush=True)
