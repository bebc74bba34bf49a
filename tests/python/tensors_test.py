"""cairn.torch as far as it goes without torch: names and definitions of variables, which version is
chosen, and what an import says. The rest is in tests/slow/torch_test.py."""

import errno
import os
import pathlib
import sys
import types
import unittest
import warnings
from unittest import mock

sys.path.insert(0, str(pathlib.Path(os.environ["CAIRN_SOURCE_DIR"]) / "bindings/python"))

from cairn import Error, Type, _choice, _tensors  # noqa: E402

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
        for text, number in (("100", 100), (100, 100), ("step-7", 7), (pathlib.Path("run/step-08"),
                                                                       8)):
            self.assertEqual(number, _tensors.number_of(text))
        with self.assertRaisesRegex(ValueError, "'latest': expected a text that ends in a number"):
            _tensors.number_of("latest")

    def test_a_tensor_is_a_variable_or_each_of_its_pieces(self):
        def halves(rank):
            return [("halved", FLOAT, (4, 2), (2 * rank, 0), (2, 2))]

        twice = [("twice", FLOAT, (4,), (first,), (1,)) for first in range(4)]
        scalar = ("scalar", (Type.INT64, 8), (1,), (0,), (1,))
        found = _tensors.definitions_of([[*halves(0), twice[0], twice[2]],
                                         [*halves(1), twice[1], twice[3], scalar], []])
        self.assertEqual((FLOAT, (4, 2), {0: ((0, 0), (2, 2)), 1: ((2, 0), (2, 2))}),
                         found.pop("halved"))
        self.assertEqual(((Type.INT64, 8), (1,), {1: ((0,), (1,))}), found.pop("scalar"))
        self.assertEqual({f"twice@{k}": (FLOAT, (1, ), {k % 2: ((0, ), (1, ))})
                          for k in range(4)}, found)

    def test_dtypes(self):
        names = {
            "torch.float32": Type.FLOAT32, "torch.bfloat16": Type.BFLOAT16,
            "torch.uint16": Type.UINT16, "torch.bool": Type.LOGICAL8,
            "torch.complex128": Type.COMPLEX128, "torch.float8_e4m3fn": Type.OPAQUE
        }
        self.assertEqual(list(names.values()), [_tensors.type_of(name) for name in names])

    def test_without_torch_the_import_says_what_to_do(self):
        with mock.patch.dict(sys.modules, {"torch": None}):
            with self.assertRaisesRegex(
                    ImportError,
                    r"cairn\.torch: needs PyTorch 2\.6 or later .* install it for this Python"):
                import cairn.torch  # noqa: F401


class Line:
    """The calls of a checkpoint that a choice makes, on versions (number, sequence, errno of
    verify), oldest first."""

    def __init__(self, *versions):
        self.infos = [
            types.SimpleNamespace(number=number, sequence=sequence, parent=sequence - 1, level=2,
                                  abandoned=False) for number, sequence, _ in versions
        ]
        # of the newest of a number
        self.verdicts = {number: verdict for number, _, verdict in versions}

    def versions(self):
        return self.infos[::-1]

    def variables(self, number):
        return []

    def read(self, number):
        return next(info for info in self.versions() if number in (None, info.number))

    def verify(self, number):
        if self.verdicts[number]:
            raise Error(self.verdicts[number], f"version {number}")


def alone(said):
    return [said]


class Choice(unittest.TestCase):
    def choose(self, line, asked=None, looks=False):
        with warnings.catch_warnings(record=True) as self.warned:
            warnings.simplefilter("always")
            return _choice.choose(alone, "set", line, asked, looks, True)

    def test_damage_makes_way_for_the_version_before_with_a_warning(self):
        for damage in (errno.EUCLEAN, errno.EIO):
            for looks in (False, True):
                line = Line((1, 1, 0), (2, 2, damage), (3, 3, damage))
                self.assertEqual(1, self.choose(line, looks=looks))
                self.assertIn("version 3 is damaged: version 3; version 2 is tried instead",
                              str(self.warned[0].message))
                self.assertEqual(2, len(self.warned))
                with self.assertRaisesRegex(Error, "version 2"):
                    self.choose(line, asked=2, looks=looks)
        with self.assertRaisesRegex(Error, "version 1"):
            self.choose(Line((1, 1, errno.EUCLEAN)))

    def test_an_error_that_is_no_damage_abandons_no_version(self):
        for number in (errno.EMFILE, errno.ENOMEM, errno.ESTALE, errno.EUSERS):
            with self.assertRaises(Error) as raised:
                self.choose(Line((1, 1, 0), (2, 2, number)))
            self.assertEqual((number, []), (raised.exception.errno, self.warned))

    def test_a_number_that_comes_twice_is_no_endless_loop(self):
        for versions in (((100, 10, 0), (100, 11, errno.EUCLEAN)),
                         ((200, 10, 0), (100, 11, errno.EUCLEAN), (200, 12, errno.EUCLEAN))):
            with self.assertRaises(Error) as raised:
                self.choose(Line(*versions))
            self.assertEqual(errno.EUCLEAN, raised.exception.errno)

    def test_ranks_that_see_other_versions_load_none(self):
        # a rank that has found what this one has, but as another version of that number
        def beside(said):
            (info, failure) = said
            other = types.SimpleNamespace(**{**vars(info), "sequence": info.sequence +
                                             1}) if info is not None else None
            return [said, (other, failure)]

        with self.assertRaisesRegex(Error,
                                    "rank 1 has another version 7 than rank 0, .*; load again"):
            _choice.choose(beside, "set", Line((7, 1, 0)), None, True, True)

    def test_an_error_of_one_rank_is_raised_on_all(self):
        with self.assertRaises(Error) as raised:
            _choice.together(lambda said: [said, (None, (errno.ENOMEM, "no room"))], lambda: 1)
        self.assertEqual(errno.ENOMEM, raised.exception.errno)
        with self.assertRaisesRegex(Error, "has no version 3"):
            self.choose(Line((1, 1, 0)), asked=3, looks=True)


if __name__ == "__main__":
    unittest.main()
