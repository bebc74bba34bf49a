"""What darray_program.F90 writes and reads, in Python: `darray.py write|read RANK ROWS COLUMNS
[by_columns]`. Fortran's matrix of 23 x 14 elements is one of 14 x 23 here."""

import array
import sys

import cairn

M, N = 23, 14
reads = sys.argv[1] == "read"
rank, *grid = (int(word) for word in sys.argv[2:5])
by_columns = len(sys.argv) == 6
at = (rank % grid[0], rank // grid[0]) if by_columns else (rank // grid[1], rank % grid[1])
blocks = (2, 5) if reads else (3, 1)


def dealt(extent, block, processes, where):
    """The indices, from 0, that a process gets."""
    return [i for i in range(extent) if i // block % processes == where]


columns = dealt(N, blocks[0], grid[0], at[0])
rows = dealt(M, blocks[1], grid[1], at[1])
values = array.array("d", [-1] * (len(columns) * len(rows)))
local = memoryview(values).cast("B").cast("d", (len(columns), len(rows)))
expected = [i + 1 + 100 * (j + 1) for j in columns for i in rows]
if not reads:
    values[:] = array.array("d", expected)
with cairn.Checkpoint("dealt", rank=rank, ranks=grid[0] * grid[1], job="darray",
                      max_attempts=100) as checkpoint:
    darray = cairn.Darray(grid, blocks, by_columns=by_columns)
    try:
        checkpoint.define("a", local, shape=(N, M), darray=cairn.Darray(grid, [1]))
        raise SystemExit("lengths that differ are no error")
    except ValueError as error:
        assert "block: expected 2 numbers" in str(error), error
    checkpoint.define("a", local, shape=(N, M), darray=darray)
    if reads:
        checkpoint.read()
        assert list(values) == expected, (list(values), expected)
    else:
        checkpoint.write(1)
print("the matrix is right")
