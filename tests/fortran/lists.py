"""What lists_program.F90 writes and reads, in Python: `lists.py write` or `lists.py read`."""

import array
import sys

import cairn

CELLS = 12
counts = array.array("i", [cell % 4 for cell in range(CELLS)])
values = cairn.Counted(
    array.array("d", [10 * cell + k for cell in range(CELLS) for k in range(cell % 4)]))
keys = cairn.Counted(array.array("q", reversed(range(CELLS))))
speeds = cairn.Counted(array.array("d", [key / 2 for key in keys.array]))
own = cairn.Counted(array.array("i", [1, 2, 3]))
expected = [array.array(one.array.typecode, one.array) for one in (values, speeds, own)]
with cairn.Checkpoint("lists") as checkpoint:
    checkpoint.define("counts", counts, shape=(CELLS,), offset=(0,))
    checkpoint.define("values", values, kind=cairn.Kind.RAGGED, over="counts")
    checkpoint.define("keys", keys, kind=cairn.Kind.PARTICLES, over="counts")
    checkpoint.define("speeds", speeds, kind=cairn.Kind.PARTICLES, over="counts", key="keys",
                      attributes={"units": "m s-1"})
    checkpoint.define("own", own, kind=cairn.Kind.PER_RANK)
    if sys.argv[1] == "write":
        checkpoint.write(1)
    else:
        for one in values, keys, speeds, own:
            one.array = one.array[:0]
        checkpoint.read()
        assert sorted(keys.array) == list(range(CELLS)), keys.array
        assert list(speeds.array) == [key / 2 for key in keys.array], speeds.array
        assert [values.array, own.array] == [expected[0], expected[2]], (values.array, own.array)
        noted = next(one for one in checkpoint.variables() if one.name == "speeds").attributes
        assert noted == {"units": "m s-1"}, noted
        assert checkpoint.counts("own") == [3]
print("all lists are right")
