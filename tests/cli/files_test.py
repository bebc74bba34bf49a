"""cairn ls, stat, cat, cp, rm, mkdir, mv, df, du."""

import filecmp
import os
import random
import unittest

import cairn_case
from cairn_case import CairnCase


class Files(CairnCase):
    def setUp(self):
        super().setUp()
        self.cairn("pool", "create", "--size", "64M")

    def put(self, name, data=b"hello\n"):
        self.cairn("cp", self.write("put", data), ":" + name)

    def names(self, path="/", *more):
        return [os.path.basename(each["path"]) for each in self.json("ls", path, *more)]

    def test_copy_in_and_out(self):
        data = random.Random(7).randbytes(9_000_001)
        source = self.write("in.bin", data)
        self.assertEqual(self.json("cp", source, ":/in.bin")["bytes"], len(data))
        self.assertEqual(self.cairn("cat", "/in.bin").stdout, data)
        self.cairn("cp", ":/in.bin", self.path("out.bin"))
        self.assertTrue(filecmp.cmp(source, self.path("out.bin"), shallow=False))
        self.cairn("cp", ":/in.bin", ":/again")
        self.assertEqual(self.cairn("cat", "/again").stdout, data)
        self.cairn("cp", source, ":")
        self.assertEqual(self.names(), ["again", "in.bin"])

    def test_overwriting_shortens(self):
        self.put("/a", b"x" * 10000)
        self.put("/a", b"short")
        self.assertEqual(self.cairn("cat", "/a").stdout, b"short")

    def test_names_with_a_dash_in_front(self):
        self.write("-r", "a file")
        self.cairn("cp", "--", "-r", ":/", cwd=self.path(""))
        self.assertEqual(self.cairn("cat", "--", "-r").stdout, b"a file")
        self.refused("cat", "--", "-e", code=1, says="/-e: no such file")
        self.refused("status", "--", "-e", code=2, says="one argument too many: -e")
        self.cairn("mkdir", "/d", "--", "-e")
        self.assertEqual(self.names(), ["-e", "-r", "d"])
        self.cairn("rm", "-r", "--", "-r", "-e", "d")
        self.assertEqual(self.names(), [])

    def test_trees(self):
        self.write("tree/a", "A")
        self.write("tree/sub/b", "B" * 5000)
        self.write("tree/sub/empty", "")
        os.symlink("../a", self.path("tree/sub/link"))
        os.chmod(self.path("tree/sub/b"), 0o640)
        os.utime(self.path("tree/sub/b"), ns=(1_000_000_001, 2_000_000_003))
        self.refused("cp", self.path("tree"), ":/", code=1, says=["tree", "-r"])
        self.cairn("cp", "-r", "-p", self.path("tree"), ":/")
        st = self.json("stat", "/tree/sub/b")[0]
        self.assertEqual((st["mode"], st["size_bytes"]), ("0640", 5000))
        self.assertAlmostEqual(st["modified"], 2.000000003)
        self.assertEqual(self.json("stat", "/tree/sub/link")[0]["target"], "../a")
        self.cairn("cp", "-rp", ":/tree", self.path("back"))
        self.assertFalse(filecmp.dircmp(self.path("tree"), self.path("back")).diff_files)
        self.assertEqual(os.readlink(self.path("back/sub/link")), "../a")
        self.assertEqual(os.stat(self.path("back/sub/b")).st_mtime_ns, 2_000_000_003)
        self.assertEqual(self.json("cp", "-r", ":/tree", ":/tree/copy")["files"], 3)  # and it ends

    def test_holes_stay_holes(self):
        with open(self.path("sparse"), "wb") as file:
            file.seek(20 << 20)
            file.write(b"end")
            file.truncate(30 << 20)
        self.cairn("cp", self.path("sparse"), ":/sparse")
        st = self.json("stat", "/sparse")[0]
        self.assertEqual(st["size_bytes"], 30 << 20)
        self.assertLess(st["taken_bytes"], 1 << 20)
        self.cairn("cp", ":/sparse", self.path("back"))
        self.assertTrue(filecmp.cmp(self.path("sparse"), self.path("back"), shallow=False))
        self.assertLess(os.stat(self.path("back")).st_blocks * 512, 1 << 20)

    def test_a_pool_that_is_too_small_is_told_before_copying(self):
        big = self.path("big")
        with open(big, "wb") as file:
            for _ in range(80):
                file.write(b"x" * (1 << 20))
        self.refused("cp", big, ":/big", code=1, says=["80 MiB", "missing", "nothing was copied"])
        self.assertEqual(self.names(), [])

    def test_copy_mistakes(self):
        self.put("/a")
        self.refused("cp", "x", "y", code=2, says="no path is in a pool")
        self.refused("cp", ":/none", ".", code=1, says="/none")
        self.refused("cp", self.path("none"), ":/", code=1, says="none")
        self.refused("cp", ":/a", ":/a", code=1, says="same file")
        self.refused("cp", ":/a", "default:/a", code=1, says="same file")
        self.refused("cp", ":/a", ":/a", ":/b", code=1, says="/b")
        self.refused("cp", "nopool:/a", ".", code=1, says="nopool")
        self.refused("cp", "/dev/null", ":/null", code=1,
                     says=["neither file nor directory", "nothing was copied"])
        self.assertEqual(self.cairn("cat", "/a").stdout, b"hello\n")

    def test_what_cairn_keeps_for_itself_is_not_changed(self):
        self.put("/a")
        for words in (
            ("rm", "-r", ":/.covers"),
            ("rm", "-r", ":/./x/../.covers/y"),
            ("mv", ":/.covers", ":/b"),
            ("mv", ":/a", ":/.covers"),
            ("cp", ":/a", ":/.covers/a"),
            ("mkdir", ":/.covers"),
        ):
            self.refused(*words, code=2, says="holds the covers")
        for words in ("rm", "-r", ":/.checkpoints"), ("cp", ":/a", ":/.checkpoints/field/set"):
            self.refused(*words, code=2, says="holds checkpoints")
        self.cairn("mkdir", ":/.covers2")

    def test_listing(self):
        self.put("/b")
        self.put("/.hidden")
        self.cairn("mkdir", "/d")
        self.put("/d/deep")
        self.assertEqual(self.cairn("ls").out, "b\nd/\n")
        self.assertEqual(self.cairn("ls", "-a").out, ".hidden\nb\nd/\n")
        self.assertIn("deep", self.cairn("ls", "-R").out)
        self.assertRegex(self.cairn("ls", "-l", "/b").out, r"-rw-.*\s6 B\s")
        self.assertRegex(self.cairn("ls", "-lb", "/b").out, r"\s6\s")
        self.assertEqual(self.cairn("ls", "default:/d").out, "deep\n")
        self.assertEqual(
            self.cairn("ls",
                       os.path.join(self.pools, "default") + ":/d").out, "deep\n")
        self.refused("ls", "/none", code=1, says="/none")

    def test_odd_names_do_not_reach_the_terminal(self):
        self.put("/a\x1b[31mred")
        self.assertIn("\\x1b", self.cairn("ls").out)
        self.assertEqual(self.names(), ["a\x1b[31mred"])

    def test_many_names(self):
        for i in range(300):
            self.write(f"many/{i:04}", "")
        self.cairn("cp", "-r", self.path("many"), ":/")
        self.assertEqual(self.names("/many"), [f"{i:04}" for i in range(300)])

    def test_mkdir(self):
        self.cairn("mkdir", "-p", "/x/y/z")
        self.cairn("mkdir", "-p", "/x/y/z")
        self.refused("mkdir", "/x", code=1, says="/x")
        self.refused("mkdir", "/no/parent", code=1, says="/no")
        self.put("/file")
        self.refused("mkdir", "-p", "/file", code=1, says="/file")
        self.cairn("mkdir", "-m", "0711", "/m")
        self.assertEqual(self.json("stat", "/m")[0]["mode"], "0711")
        self.refused("mkdir", "-m", "9", "/n", code=2, says="9")

    def test_move(self):
        self.put("/a", b"A")
        self.put("/b", b"B")
        self.cairn("mv", "/a", "/c")
        self.assertEqual(self.names(), ["b", "c"])
        self.refused("mv", "-n", "/b", "/c", code=1, says="/c")
        self.cairn("mv", "/b", "/c")
        self.assertEqual(self.cairn("cat", "/c").out, "B")
        self.cairn("mkdir", "/d")
        self.cairn("mv", "/c", "/d")
        self.assertEqual(self.names("/d"), ["c"])
        self.refused("mv", "/none", "/x", code=1, says="/none")
        self.refused("mv", "/d", code=2, says="destination")
        self.cairn("pool", "create", "other", "--size", "16M")
        self.refused("mv", "/d/c", "other:/c", code=2, says="different pools")

    def test_remove(self):
        self.put("/a")
        self.cairn("mkdir", "-p", "/t/u/v")
        self.put("/t/u/file")
        self.refused("rm", "/t", code=1, says=["/t", "-r"])
        self.refused("rm", "/none", code=1, says="/none")
        self.cairn("rm", "-f", "/none")
        self.refused("rm", "-r", "/", code=2, says="root")
        self.assertEqual(self.json("rm", "-r", "/t", "/a")["removed"], 5)
        self.assertEqual(self.names(), [])

    def test_space(self):
        before = self.json("df")[0]
        self.put("/a", b"x" * (8 << 20))
        after = self.json("df")[0]
        self.assertGreaterEqual(after["used_bytes"] - before["used_bytes"], 8 << 20)
        self.assertEqual(after["total_bytes"], before["total_bytes"])
        self.assertIn("default", self.cairn("df").out)
        self.cairn("mkdir", "/d")
        self.put("/d/b", b"x" * 8192)
        rows = {each["path"]: each["taken_bytes"] for each in self.json("du")}
        self.assertGreaterEqual(rows["/"], (8 << 20) + 8192)
        self.assertGreaterEqual(rows["/d"], 8192)
        self.assertEqual(len(self.json("du", "-s", "/")), 1)
        self.refused("du", "/none", code=1, says="/none")
        self.refused("df", "nopool", code=1, says="nopool")


if __name__ == "__main__":
    cairn_case.main()
