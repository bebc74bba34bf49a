"""cairn stage: files that are in memory before the job begins."""

import os
import subprocess

import cairn_case
from cairn_case import CAIRN
from cover_case import Run

MIB = 1 << 20


class Stage(Run):
    def setUp(self):
        super().setUp()
        self.bytes = os.urandom(3 * MIB + 1234)
        for name in ("one", "sub/two", "sub/deep/three"):
            self.write(f"dir/{name}", self.bytes)
        os.symlink("one", os.path.join(self.dir, "link"))

    def stage(self, *words, **more):
        return self.cairn("stage", "--at", self.dir, *words, **more)

    def used(self):
        return sum(pool.get("used_bytes", 0) for pool in self.json("status"))

    def test_a_run_finds_the_bytes_in_memory(self):
        out = self.stage(self.path("dir/one"), "dir/sub").out
        self.assertRegex(out, r"^3 files, 9 MiB staged into \S+ in .*\n$")
        self.assertGreater(self.used(), 3 * len(self.bytes))
        self.assertEqual(self.undrained(), 0)
        # Nobody can read them in the directory any more, and the job does not notice.
        script = (
            f"cd {self.dir} && sha256sum one sub/two sub/deep/three | cut -d' ' -f1 | sort -u | wc"
            " -l; echo new > new"
        )
        for name in ("one", "sub/two", "sub/deep/three"):
            path = os.path.join(self.dir, name)
            st = os.stat(path)
            with open(path, "r+b") as file:
                file.write(b"changed behind its back")
            os.utime(path, ns=(st.st_atime_ns, st.st_mtime_ns))
        run = self.cairn("run", "--at", self.dir, "--", "sh", "-c", script)
        self.assertEqual(run.out.strip(), "1")
        self.assertEqual(self.read("new"), "new\n")
        self.assert_nothing_left()

    def test_what_is_there_is_not_copied_again(self):
        self.stage("dir/one")
        self.assertRegex(self.stage("dir").out, r"^2 files, .*; 1 file there already\n$")
        again = self.json("stage", "--at", self.dir, "dir")
        self.assertEqual((again["files"], again["bytes"], again["already"], again["failed"]),
                         (0, 0, 3, 0))
        self.cairn("discard", self.dir)
        self.assert_nothing_left()

    def test_what_changes_afterwards_is_seen(self):
        script = f"cd {self.dir} && cat new sub/two sub/deep/four && ! test -e one"
        self.stage("dir")
        self.write("dir/new", "new ")
        run = self.cairn("run", "--at", self.dir, "--", "cat", os.path.join(self.dir, "new"))
        self.assertEqual(run.out, "new ")
        self.assertIn("it was changed outside Cairn since it was covered", run.err)
        self.stage("dir")
        os.unlink(os.path.join(self.dir, "one"))
        self.write("dir/sub/two", "changed ")
        self.write("dir/sub/deep/four", "below\n")
        run = self.cairn("run", "--at", self.dir, "--", "sh", "-c", script)
        self.assertEqual(run.out, "new changed below\n")
        self.assert_nothing_left()

    def test_what_changes_beside_what_a_job_has_left_is_told(self):
        self.stage("dir")
        self.shell("echo kept > kept; rm sub/two", "--drain", "never")
        unchanged = self.cairn("run", "--at", self.dir, "--drain", "never", "--", "true")
        self.assertEqual(unchanged.err, "")
        self.write("dir/one", "changed")
        told = self.cairn("run", "--at", self.dir, "--drain", "never", "--", "true")
        self.assertIn("programs see what the pool has", told.err)
        self.cairn("drain", self.dir)
        self.assertEqual((self.read("kept"), self.read("one")), ("kept\n", "changed"))

    def test_lists(self):
        listed = self.write("list", f"dir/one\n\n{self.path('dir/sub/two')}\n")
        self.assertEqual(self.json("stage", "--at", self.dir, "--from", listed)["files"], 2)
        with open(self.write("more", "dir/sub/deep\n"), "rb") as more:
            self.assertEqual(self.json("stage", "--at", self.dir, "-", stdin=more)["files"], 1)
        with open(listed, "rb") as more:
            self.assertEqual(
                self.json("stage", "--at", self.dir, "--from", "-", "dir/link",
                          stdin=more)["already"], 2)
        self.cairn("discard", self.dir)

    def test_what_does_not_fit_is_refused_before(self):
        self.write("dir/large", b"\1" * (80 * MIB))
        refused = self.refused("stage", "--at", self.dir, "dir", code=1,
                               says="are free; nothing was staged")
        self.assertRegex(
            refused.err,
            r"89(\.\d+)? MiB in 4 files do not fit into pool \S+, where [\d.]+ MiB are free")
        self.assert_nothing_left()
        # What a job has left in the pool stays.
        self.shell("echo kept > kept", "--drain", "never")
        self.refused("stage", "--at", self.dir, "dir/large", code=1,
                     says="80 MiB in 1 file do not fit")
        self.assertEqual(self.undrained(), len("kept\n"))
        self.cairn("drain", self.dir)
        self.assertEqual(self.read("kept"), "kept\n")

    def test_in_a_run(self):
        run = self.cairn("run", "--at", self.dir, "--", CAIRN, "stage",
                         os.path.join(self.dir, "sub"))
        self.assertRegex(run.out, r"^2 files, ")
        self.assert_nothing_left()

    def test_a_sparse_file_takes_what_it_holds(self):
        with open(os.path.join(self.dir, "sparse"), "wb") as file:
            file.truncate(1 << 30)
            file.write(b"begin")
        self.assertEqual(self.json("stage", "--at", self.dir, "dir/sparse")["files"], 1)
        self.cairn("discard", self.dir)

    def test_a_file_that_changes_meanwhile_is_told(self):
        self.stage("dir/one")
        with open(os.path.join(self.dir, "sub/two"), "ab") as file:
            file.write(b"more")
        # Its directory was listed by a run: the pool knows the file as it was.
        self.shell("ls sub > /dev/null", "--drain", "never")
        with open(os.path.join(self.dir, "sub/two"), "ab") as file:
            file.write(b"and more")
        failed = self.stage("dir/sub", expect=1)
        self.assertIn("sub/two", failed.err)
        self.assertIn("1 file, ", failed.out)
        self.cairn("discard", self.dir)

    def test_mistakes(self):
        self.refused("stage", "dir/one", code=2, says="missing --at DIR")
        self.refused("stage", "--at", self.dir, code=2, says="missing LIST")
        self.refused("stage", "--at", self.dir, "dir/missing", code=2, says="dir/missing")
        self.refused("stage", "--at", self.dir, self.write("outside", "x"), code=2,
                     says=f"does not lie in {self.dir}")
        self.refused("stage", "--at", self.dir, "--from", "no-list", code=2, says="no-list")
        self.refused("stage", "--at", self.path("nothing"), "x", code=2, says="nothing")
        self.assertEqual(self.json("status"), [])
        self.assertEqual(
            subprocess.run(["ls", "-A", self.dir], capture_output=True, text=True,
                           check=True).stdout, "link\none\nsub\n")


if __name__ == "__main__":
    cairn_case.main()
