"""cairn.torch as far as it goes without torch: names and definitions of variables, and what an import says. The rest is in
tests/slow/torch_test.py."""

import os
import pathlib
import sys
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(os.environ["CAIRN_SOURCE_DIR"]) / "bindings/python"))

from cairn import Type, _tensors  # noqa: E402

FLOAT = (Type.FLOAT32, 4)


class Tensors(unittest.TestCase):
    def test_a_name_that_no_variable_can_have_is_hashed(self):
        self.assertEqual("layers.0.weight", _tensors.variable_of("layers.0.weight"))
        self.assertEqual("layers.0.weight@4,0", _tensors.variable_of("layers.0.weight", (4, 0)))
        names = ["", ".hidden", "~hashed", "a/b", "a@1", "new\nline", "ä" * 65]
        hashed = [_tensors.variable_of(name) for name in names]
        self.assertEqual(len(names), len(set(hashed)))
        for name in hashed:
            self.assertRegex(name, "^~[0-9a-f]{32}$")

    def test_a_version_is_asked_for_by_a_number(self):
        for text, number in (("100", 100), (100, 100), ("step-7", 7), (pathlib.Path("run/step-08"), 8)):
            self.assertEqual(number, _tensors.number_of(text))
        with self.assertRaisesRegex(ValueError, "'latest': expected a text that ends in a number"):
            _tensors.number_of("latest")

    def test_a_tensor_is_a_variable_or_each_of_its_pieces(self):
        def halves(rank):
            return [("halved", FLOAT, (4, 2), (2 * rank, 0), (2, 2))]

        twice = [("twice", FLOAT, (4,), (first,), (1,)) for first in range(4)]
        scalar = ("scalar", (Type.INT64, 8), (1,), (0,), (1,))
        found = _tensors.definitions_of([[*halves(0), twice[0], twice[2]], [*halves(1), twice[1], twice[3], scalar], []])
        self.assertEqual((FLOAT, (4, 2), {0: ((0, 0), (2, 2)), 1: ((2, 0), (2, 2))}), found.pop("halved"))
        self.assertEqual(((Type.INT64, 8), (1,), {1: ((0,), (1,))}), found.pop("scalar"))
        self.assertEqual({f"twice@{k}": (FLOAT, (1,), {k % 2: ((0,), (1,))}) for k in range(4)}, found)

    def test_dtypes(self):
        names = {"torch.float32": Type.FLOAT32, "torch.bfloat16": Type.BFLOAT16, "torch.uint16": Type.UINT16,
                 "torch.bool": Type.LOGICAL8, "torch.complex128": Type.COMPLEX128, "torch.float8_e4m3fn": Type.OPAQUE}
        self.assertEqual(list(names.values()), [_tensors.type_of(name) for name in names])

    def test_without_torch_the_import_says_what_to_do(self):
        with mock.patch.dict(sys.modules, {"torch": None}):
            with self.assertRaisesRegex(ImportError, r"cairn\.torch: needs PyTorch 2\.6 or later .* install it for this Python"):
                import cairn.torch  # noqa: F401


if __name__ == "__main__":
    unittest.main()
