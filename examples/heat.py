#!/usr/bin/env python3
"""Heat spreads on a plate, as in heat.c: the same numbers and the same checkpoints, which either
program can go on from.

    mpirun -n 4 python3 heat.py STEPS [STEPS-BETWEEN-CHECKPOINTS [ROWS]]

Needs numpy, and mpi4py for more than one rank.
"""

import sys

import cairn
import numpy

try:
    from mpi4py import MPI
except ImportError:
    MPI = None

COLUMNS = 512


def exchange(world, rows):
    """The outermost rows come from the neighbours."""
    rank, ranks = world.Get_rank(), world.Get_size()
    above = MPI.PROC_NULL if rank == 0 else rank - 1
    below = MPI.PROC_NULL if rank == ranks - 1 else rank + 1
    world.Sendrecv(rows[1], above, 0, rows[-1], below, 0)
    world.Sendrecv(rows[-2], below, 1, rows[0], above, 1)


def compute(rows, is_first, is_last):
    """The edges stay as they are. The order of the sums is that of heat.c, and with it the last
    bit."""
    low, high = 2 if is_first else 1, len(rows) - (2 if is_last else 1)
    inner = slice(1, -1)
    rows[low:high, inner] = 0.25 * (rows[low - 1:high - 1, inner] + rows[low + 1:high + 1, inner]
                                    + rows[low:high, :-2] + rows[low:high, 2:])


def main():
    steps, between, total = (list(map(int, sys.argv[1:])) + [100, 10, 512][len(sys.argv) - 1:])[:3]
    world = MPI.COMM_WORLD if MPI else None
    rank, ranks = (world.Get_rank(), world.Get_size()) if world else (0, 1)
    first = total * rank // ranks
    count = total * (rank + 1) // ranks - first
    rows = numpy.zeros((count + 2, COLUMNS))
    with cairn.Checkpoint("heat", world) as checkpoint:
        checkpoint.define("temperature", rows, shape=(total, COLUMNS), offset=(first, 0),
                          halo=(1, 0))
        step = 0
        if checkpoint.restart_test():
            info = checkpoint.read()
            step = info.number
            if rank == 0:
                print(f"goes on after step {step}", flush=True)
                if info.skipped:
                    print(f"left out: {info.why}")
        elif rank == 0:
            rows[1] = 100  # the upper edge is hot
        while step < steps:
            step += 1
            if world:
                exchange(world, rows)
            compute(rows, first == 0, first + count == total)
            if step % between == 0:
                checkpoint.write(step)
        bits = rows[1:-1].view(numpy.uint64).sum(dtype=numpy.uint64)  # wraps
        bits = sum(map(int, world.gather(bits) or [])) if world else int(bits)
        if rank == 0:
            print(f"after {steps} steps: {bits % 2**64:016x}")


if __name__ == "__main__":
    main()
