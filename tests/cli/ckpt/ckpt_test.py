"""cairn ckpt ls, show, verify, rm, du."""

import ckpt_case
from ckpt_case import CkptCase


class Looking(CkptCase):
    def test_an_empty_pool(self):
        self.assertEqual(self.json("ckpt", "ls"), [])
        self.assertEqual(self.cairn("ckpt", "ls").out, "")
        self.assertEqual(self.json("ckpt", "du"), [])
        for command in ("ls", "show", "verify", "rm", "du"):
            self.refused("ckpt", command, "field", code=1, says="field")

    def test_sets_and_versions(self):
        self.writer("field", 3)
        self.writer("other", 1)
        sets = {one["set"]: one for one in self.json("ckpt", "ls")}
        self.assertEqual(sorted(sets), ["field", "other"])
        self.assertEqual(sets["field"]["versions"], 3)
        self.assertEqual(sets["field"]["latest"], 3)
        self.assertIsNone(sets["field"]["user"])
        versions = self.json("ckpt", "ls", "field")
        self.assertEqual([one["version"] for one in versions], [3, 2, 1])
        self.assertEqual([one["latest"] for one in versions], [True, False, False])
        self.assertEqual([one["step"] for one in versions], [30, 20, 10])
        self.assertEqual(versions[0]["attributes"], {"time": 1.5, "title": "a test"})
        self.assertEqual(versions[0]["code_version"], "writer 1")
        self.assertEqual(versions[0]["ranks"], 1)
        self.assertIn("latest", self.cairn("ckpt", "ls", "field").out.split("\n")[1])
        self.assertEqual(self.json("ckpt", "ls", "default:field"), versions)
        self.assertEqual(self.json("ckpt", "ls", "field", "--pool", "default"), versions)
        self.assertEqual(sum(one["bytes"] for one in versions), sets["field"]["bytes"])

    def test_a_version(self):
        self.writer("field", 2)
        shown = self.json("ckpt", "show", "field", "1")
        self.assertEqual(shown["version"], 1)
        self.assertFalse(shown["latest"])
        variables = {one["name"]: one for one in shown["variables"]}
        self.assertEqual(variables["u"]["type"], "float64")
        self.assertEqual(variables["u"]["shape"], [4, 6])
        self.assertEqual(
            variables["u"]["attributes"],
            {"_FillValue": -9999, "dimensions": "y x", "long_name": "velocity", "units": "m s-1"})
        self.assertEqual(variables["x"]["attributes"]["valid_range"], [0, 2.5])
        self.assertEqual(variables["names"]["element_bytes"], 5)
        self.assertEqual(variables["count"]["shape"], [])
        self.assertTrue(variables["count"]["replicated"])
        text = self.cairn("ckpt", "show", "field").out
        for line in ("version   2 (latest)", "  time: 1.0", "  u  float64  4 x 6",
                     "    units: m s-1", "  names  character(5)  2", "  count  int64  scalar"):
            self.assertIn(line, text.split("\n"))
        self.refused("ckpt", "show", "field", "7", code=1, says="field: has no version 7")
        self.refused("ckpt", "show", "field", "x", code=2, says="invalid version 'x'")

    def test_while_a_run_uses_the_set(self):
        run = self.hold("field", 2)
        self.assertEqual(self.json("ckpt", "ls")[0]["user"]["pid"], run.pid)
        self.assertIn(f"in use by {run.pid}", self.cairn("ckpt", "ls").out)
        self.assertEqual(self.json("ckpt", "show", "field")["version"], 2)
        self.assertTrue(self.json("ckpt", "verify", "field")["ok"])
        for words in ("1",), ("--damaged",), ("--force",), ("--force", "1"):
            self.refused("ckpt", "rm", "field", *words, code=1,
                         says=["a run uses the set", str(run.pid)])
        self.let_go(run)
        self.cairn("ckpt", "rm", "field", "1")

    def test_space(self):
        self.writer("field", 3)
        used = self.json("ckpt", "du", "field")[0]
        self.assertEqual(used["versions"], 3)
        self.assertGreater(used["taken_bytes"], used["bytes"])
        self.cairn("ckpt", "rm", "field", "1", "2")
        self.assertIn("no record is damaged", self.cairn("ckpt", "rm", "field", "--damaged").err)
        less = self.json("ckpt", "du")[0]
        self.assertEqual(less["versions"], 1)
        self.assertLess(less["taken_bytes"], used["taken_bytes"])


class Verifying(CkptCase):
    def test_all_right(self):
        self.writer("field", 2)
        self.assertEqual([one["verified"] for one in self.json("ckpt", "ls", "field")],
                         [None, None])
        found = self.json("ckpt", "verify", "field")
        self.assertTrue(found["ok"])
        self.assertEqual([one["version"] for one in found["versions"]], [2, 1])
        for one in found["versions"]:
            self.assertEqual(one["bad_blocks"], 0)
            self.assertEqual(one["bytes"],
                             self.json("ckpt", "show", "field", str(one["version"]))["bytes"])
        self.assertNotIn(None, [one["verified"] for one in self.json("ckpt", "ls", "field")])
        self.assertIn("version 1: ", self.cairn("ckpt", "verify", "field", "1").out)

    def test_damage(self):
        self.writer("field", 3)
        self.damage(2)
        run = self.refused("ckpt", "verify", "field", code=1,
                           says=["field: version 2", "of rank 0 differ"])
        self.assertIn("version 3: ", run.out)
        found = self.json("ckpt", "verify", "field", expect=1)
        self.assertFalse(found["ok"])
        self.assertEqual([(one["version"], one["ok"]) for one in found["versions"]],
                         [(3, True), (2, False), (1, True)])
        self.assertEqual(found["versions"][1]["bad_blocks"], 1)
        self.cairn("ckpt", "verify", "field", "3")
        self.refused("ckpt", "verify", "field", "2", code=1, says="version 2")


class Removing(CkptCase):
    def versions(self):
        return [one["version"] for one in self.json("ckpt", "ls", "field")]

    def test_versions(self):
        self.writer("field", 4)
        self.cairn("ckpt", "rm", "field", "1", "3")
        self.assertEqual(self.versions(), [4, 2])
        self.cairn("ckpt", "rm", "field", "4")
        self.assertEqual(self.versions(), [2])
        self.assertTrue(self.json("ckpt", "verify", "field")["ok"])
        # What is left can be continued.
        self.writer("field", "read", 2)
        self.assertEqual(self.versions(), [102, 2])
        self.refused("ckpt", "rm", "field", "9", code=1, says="no such version")
        self.refused("ckpt", "rm", "field", "latest", code=2, says="by their numbers")

    def test_the_last_whole_one_stays(self):
        self.writer("field", 2)
        self.damage(1)
        self.refused("ckpt", "rm", "field", "2", code=1, says=["no other version", "--force"])
        self.assertEqual(self.versions(), [2, 1])
        self.cairn("ckpt", "rm", "field", "1")
        self.refused("ckpt", "rm", "field", "2", code=1, says="--force")
        self.assertEqual(self.versions(), [2])
        self.cairn("ckpt", "rm", "--force", "field", "2")
        self.assertEqual(self.versions(), [])
        # The set is there, and a run begins anew in it.
        self.writer("field", 1)
        self.assertEqual(self.versions(), [1])

    def test_what_was_abandoned_does_not_come_back(self):
        self.writer("field", 3)
        self.writer("field", "read", 1)
        versions = self.json("ckpt", "ls", "field")
        self.assertEqual([one["version"] for one in versions], [101, 1])
        self.cairn("ckpt", "rm", "field", "101")
        self.assertEqual(self.versions(), [1])

    def test_a_set(self):
        self.writer("field", 2)
        self.writer("other", 1)
        self.refused("ckpt", "rm", "field", code=1, says=["field: has 2 versions", "--force"])
        self.cairn("ckpt", "rm", "--force", "field")
        self.assertEqual([one["set"] for one in self.json("ckpt", "ls")], ["other"])
        self.refused("ckpt", "ls", "field", code=1, says="field")
        self.writer("field", 1)
        self.assertEqual(self.versions(), [1])


if __name__ == "__main__":
    ckpt_case.main()
