"""A covered directory that is removed, or removed and created again: what was kept of it is neither
lost nor mixed into the new one."""

import json
import os
import shutil
import signal
import subprocess
import unittest

import cairn_case
from cairn_case import CAIRN
from cover_case import CoverCase

OTHER_USER = 12345


class Deleted(CoverCase):
    def keep(self, script="echo old > stale", **more):
        return self.shell(script, "--drain", "never", **more)

    def make_anew(self):
        shutil.rmtree(self.dir)
        os.mkdir(self.dir)

    def token(self):
        return self.read(".cairn-claim").split("\ntoken ")[1].split("\n")[0]

    def assert_refused(self, *program, says=(), at=None):
        """By the run, before its program starts, and by the drain; the refusal says how to go
        on."""
        at = at or self.dir
        how = [f"`cairn drain {at} --to ELSEWHERE`", f"`cairn discard {at}`", *says]
        mark = self.path("started")
        self.refused("run", "--at", at, "--", "touch", mark, *program, code=1, says=how)
        self.assertFalse(os.path.exists(mark))
        self.assertNotIn(".cairn-claim", os.listdir(at))
        self.refused("drain", at, code=1, says=how)

    def elsewhere(self, name="elsewhere"):
        path = self.path(name)
        os.makedirs(path, exist_ok=True)
        return path

    def text(self, *parts):
        with open(os.path.join(*parts), encoding="utf-8") as file:
            return file.read()


class KeptOfIt(Deleted):
    def test_a_name_that_is_in_the_new_directory_too(self):
        """`cat stale` printed "old"."""
        self.keep()
        self.make_anew()
        self.write("dir/stale", "new\n")
        self.assert_refused(says=[
            "1 file (4 bytes): stale; last changed 20", "a directory other than the covered one",
            self.pools
        ])
        self.assertEqual((self.names(), self.read("stale")), (["stale"], "new\n"))

    def test_a_name_that_is_not(self):
        """It was drained into the new directory."""
        self.keep("mkdir -p deep; echo a > a; echo b > deep/b; echo c > c; echo d > d")
        self.make_anew()
        self.write("dir/new", "new\n")
        self.assert_refused(says=["4 files (8 bytes), 1 directory: ", ", ...; last changed "])
        self.assertEqual(self.names(), ["new"])

    def test_discard_and_go_on(self):
        self.keep()
        self.make_anew()
        self.write("dir/stale", "new\n")
        self.cairn("discard", self.dir)
        self.assertEqual(self.shell("cat stale; echo newer > stale").out, "new\n")
        self.assertEqual((self.names(), self.read("stale")), (["stale"], "newer\n"))
        self.assertEqual(self.json("status"), [])

    def test_drain_elsewhere_and_go_on(self):
        self.write("dir/only-read", "read\n")
        self.write("dir/never/listed", "x\n")
        self.keep(
            "cat only-read; mkdir -p d/e; echo one > d/e/one; ln d/e/one d/two; ln -s one d/link;"
            " echo three > three; chmod 640 three; touch -d 2001-02-03 three; mkfifo fifo; chmod"
            " 710 d"
        )
        self.make_anew()
        place = self.elsewhere()
        self.write("elsewhere/there-before", "mine\n")
        run = self.cairn("drain", self.dir, "--to", place)
        self.assertIn(f"{self.dir}/only-read: cannot be written", run.err)
        self.assertIn(f"{self.dir}/never: cannot be written", run.err)
        self.assertIn("2 files that the pool does not hold", run.out)
        self.assertEqual(sorted(os.listdir(place)), ["d", "fifo", "there-before", "three"])
        self.assertEqual(self.text(place, "d/e/one"), "one\n")
        self.assertTrue(
            os.path.samefile(os.path.join(place, "d/e/one"), os.path.join(place, "d/two")))
        self.assertEqual(os.readlink(os.path.join(place, "d/link")), "one")
        three = os.stat(os.path.join(place, "three"))
        self.assertEqual((three.st_mode & 0o777, int(three.st_mtime)), (0o640, 981158400))
        self.assertEqual(os.stat(os.path.join(place, "d")).st_mode & 0o777, 0o710)
        self.assertEqual((self.json("status"), self.names()), ([], []))
        self.assertEqual(self.shell("ls").err, "")

    def test_what_was_drained_before_comes_too(self):
        """Its bytes went with the directory, and the pool has them."""
        self.keep("echo one > one")
        self.cairn("drain", "--keep", self.dir)
        self.keep("echo two > two")
        self.make_anew()
        place = self.elsewhere()
        self.cairn("drain", self.dir, "--to", place)
        self.assertEqual([self.text(place, name) for name in ("one", "two")], ["one\n", "two\n"])

    def test_nothing_is_replaced_elsewhere(self):
        self.keep(
            "echo ours > both; echo same > same; mkdir d; echo deep > d/deep; echo x > is-directory"
        )
        self.make_anew()
        place = self.elsewhere()
        self.write("elsewhere/both", "theirs\n")
        self.write("elsewhere/same", "same\n")
        self.write("elsewhere/d", "a file\n")
        os.mkdir(os.path.join(place, "is-directory"))
        run = self.cairn("drain", self.dir, "--to", place, expect=1)
        for name in "both", "d", "is-directory":
            self.assertIn(f"{place}/{name}: something else is there already", run.err)
        self.assertIn("3 are there already and differ", run.err)
        self.assertEqual(self.text(place, "both"), "theirs\n")
        self.assertGreater(self.undrained(), 0)
        for name in "both", "d":
            os.unlink(os.path.join(place, name))
        os.rmdir(os.path.join(place, "is-directory"))
        self.cairn("drain", self.dir, "--to", place)
        self.assertEqual(
            [self.text(place, name) for name in ("both", "same", "d/deep", "is-directory")],
            ["ours\n", "same\n", "deep\n", "x\n"])
        self.assertEqual(self.json("status"), [])

    def test_the_directory_is_not_made_again(self):
        self.keep()
        shutil.rmtree(self.dir)
        self.refused("drain", self.dir, code=1,
                     says=["is gone", f"`cairn drain {self.dir} --to ELSEWHERE`"])
        place = self.elsewhere()
        self.assertTrue(self.json("drain", self.dir, "--to", place)["ended"])
        self.assertEqual(self.text(place, "stale"), "old\n")
        self.assertEqual(self.json("status"), [])
        os.mkdir(self.dir)
        self.keep()
        shutil.rmtree(self.dir)
        self.assertIn("discarded", self.cairn("discard", self.dir).out)
        self.assertEqual(self.json("status"), [])
        self.refused("discard", self.dir, code=2, says=self.dir)

    def test_it_is_drained_where_it_was_moved_to(self):
        """The directory is known by its token: what was changed in it is replaced, what was removed
        goes."""
        self.write("dir/changed", "before\n")
        self.write("dir/removed", "x")
        self.write("dir/read", "read\n")
        self.keep("echo after > changed; rm removed; cat read; echo new > new")
        moved = self.path("moved")
        os.rename(self.dir, moved)
        os.mkdir(self.dir)
        self.write("dir/changed", "of the new one\n")
        self.assert_refused()
        self.cairn("drain", self.dir, "--to", moved)
        self.assertEqual(sorted(os.listdir(moved)), ["changed", "new", "read"])
        self.assertEqual((self.text(moved, "changed"), self.read("changed")),
                         ("after\n", "of the new one\n"))
        self.assertEqual(self.json("status"), [])

    def test_it_is_covered_where_it_was_moved_to(self):
        """What was kept was left behind in silence."""
        self.keep("echo new > new")
        moved = self.path("moved")
        os.rename(self.dir, moved)
        self.refused(
            "run", "--at", moved, "--", "true", code=1, says=[
                f"covered as {self.dir}", f"`cairn drain {self.dir} --to {moved}`",
                "1 file (4 bytes): new"
            ])
        self.cairn("drain", self.dir, "--to", moved)
        self.assertEqual((os.listdir(moved), self.json("status")), (["new"], []))
        self.assertEqual(self.cairn("run", "--at", moved, "--", "cat", f"{moved}/new").out, "new\n")

    def test_a_copy_is_a_directory_of_its_own(self):
        self.keep("echo old > stale")
        copy = self.path("copy")
        shutil.copytree(self.dir, copy)
        token = self.token()
        self.cairn("run", "--at", copy, "--drain", "never", "--", "sh", "-c",
                   f"ls {copy}; echo x > {copy}/x")
        self.assertNotIn(token, self.text(copy, ".cairn-claim"))
        self.cairn("drain", copy)
        self.cairn("drain", self.dir)
        self.assertEqual((os.listdir(copy), self.names()), (["x"], ["stale"]))

    def test_a_symbolic_link_has_its_path(self):
        self.keep()
        shutil.rmtree(self.dir)
        os.symlink(self.elsewhere("other"), self.dir)
        place = self.elsewhere()
        self.cairn("drain", self.dir, "--to", place)
        self.assertEqual((os.listdir(place), self.json("status")), (["stale"], []))
        self.keep("echo x > x")
        self.assertEqual(os.listdir(self.path("other")), [".cairn-claim"])

    def test_elsewhere_may_be_the_new_directory(self):
        self.keep("echo old > stale; echo more > more")
        self.make_anew()
        self.write("dir/stale", "new\n")
        self.cairn("drain", self.dir, "--to", self.dir, expect=1)
        self.assertEqual((self.read("stale"), self.read("more")), ("new\n", "more\n"))
        os.unlink(os.path.join(self.dir, "stale"))
        self.cairn("drain", self.dir, "--to", self.dir)
        self.assertEqual((self.read("stale"), self.names()), ("old\n", ["more", "stale"]))

    def test_a_directory_that_is_there_stays_covered(self):
        self.write("dir/read", "read\n")
        self.keep("cat read; echo new > new; rm -f read")
        place = self.elsewhere()
        run = self.cairn("drain", self.dir, "--to", place)
        self.assertIn("kept in the pool", run.out)
        self.assertEqual(os.listdir(place), ["new"])
        self.cairn("drain", self.dir)
        self.assertEqual(self.names(), ["new"])

    def test_places_that_cannot_be_drained_to(self):
        self.keep()
        self.make_anew()
        other = self.elsewhere("other")
        self.cairn("run", "--at", other, "--drain", "never", "--", "sh", "-c",
                   f"echo x > {other}/x")
        for place in other, os.path.join(self.pools, "default"):
            self.refused("drain", self.dir, "--to", place, code=1, says=place)
        self.refused("drain", self.dir, "--to", self.path("none"), code=1, says="none")
        self.assertEqual(os.listdir(other), [".cairn-claim"])


class NothingKept(Deleted):
    def test_a_script_that_makes_its_output_directory_anew(self):
        for turn in range(3):
            self.make_anew()
            run = self.shell(f"ls; echo {turn} > out")
            self.assertEqual((run.out, run.err, self.read("out")), ("", "", f"{turn}\n"))

    def test_a_drained_cover_goes_with_a_line(self):
        self.keep("echo old > stale")
        self.cairn("drain", "--keep", self.dir)
        self.make_anew()
        self.write("dir/stale", "new\n")
        run = self.shell("cat stale; echo more > more")
        self.assertEqual(run.out, "new\n")
        self.assertEqual(len(run.err.splitlines()), 1, run.err)
        self.assertIn(f"cairn run: {self.dir}: the directory that was covered is not here any more",
                      run.err)
        self.assertEqual(self.names(), ["more", "stale"])

    def test_not_while_it_is_used(self):
        run = subprocess.Popen(
            [CAIRN, "run", "--at", self.dir, "--", "sh", "-c", f"ls {self.dir}; cat"], env=self.env,
            stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        self.wait_for(lambda: any(pool.get("covers") for pool in self.json("status")),
                      "the run did not start")
        self.make_anew()
        self.refused("run", "--at", self.dir, "--", "true", code=1,
                     says=["a directory other than", "still use the covered one"])
        run.communicate(timeout=30)
        self.assertEqual(run.returncode, 0)


class SameDirectory(Deleted):
    def remove_ours(self):
        for name in os.listdir(self.dir):
            if name.startswith(".cairn"):
                os.unlink(os.path.join(self.dir, name))

    def test_a_removed_claim_is_written_again(self):
        """As `git clean -fdx` does it."""
        self.keep()
        token = self.token()
        self.remove_ours()
        run = self.keep("cat stale")
        self.assertEqual(run.out, "old\n")
        self.assertEqual(len(run.err.splitlines()), 1, run.err)
        self.assertIn("its claim was missing and is written again", run.err)
        self.assertEqual(self.token(), token)
        self.assertEqual(self.keep("cat stale").err, "")
        self.remove_ours()
        self.assertIn("is written again", self.cairn("drain", self.dir).err)
        self.assertEqual((self.names(), self.read("stale")), (["stale"], "old\n"))

    def test_a_token_is_enough_where_the_directory_is_named(self):
        """A directory that was restored is another one to its file system. A copy, which has the
        token too, is not taken for it."""
        self.keep()
        saved = self.path("saved")
        shutil.copytree(self.dir, saved)
        shutil.rmtree(self.dir)
        os.mkdir(self.path("in-between"))  # so that it does not get the number of the old one
        shutil.copytree(saved, self.dir)
        for words in (["run", "--at", self.dir, "--", "true"], ["drain", self.dir]):
            self.refused(
                *words, code=1,
                says=["with a copy of its claim", f"`cairn drain {self.dir} --to ELSEWHERE`"])
        self.assertEqual(self.names(), [".cairn-claim"])
        self.cairn("drain", self.dir, "--to", self.dir, "--keep")
        self.assertEqual((self.shell("cat stale").out, self.read("stale")), ("old\n", "old\n"))

    def test_a_claim_of_an_earlier_version(self):
        """It says no token, and its cover has none: the claim alone says that the directory is the
        one."""
        self.keep()
        claim = os.path.join(self.dir, ".cairn-claim")
        text = self.read(".cairn-claim")
        with open(claim, "w", encoding="utf-8") as file:
            file.write("".join(line for line in text.splitlines(True)
                               if not line.startswith("token ")))
        run = self.keep("cat stale")
        self.assertEqual(run.out, "old\n")
        self.assertEqual(self.read(".cairn-claim").split("\ntime ")[0], text.split("\ntime ")[0])

    @unittest.skipIf(os.geteuid() != 0, "only root can play two users")
    def test_a_token_that_another_user_has_planted(self):
        self.keep()
        planted = self.read(".cairn-claim")
        self.make_anew()
        claim = self.write("dir/.cairn-claim", planted)
        os.chown(claim, OTHER_USER, OTHER_USER)
        how = [
            f"`cairn drain {self.dir} --to ELSEWHERE`", f"`cairn discard {self.dir}`",
            "1 file (4 bytes): stale"
        ]
        self.refused("run", "--at", self.dir, "--", "true", code=1, says=how)
        self.refused("drain", self.dir, code=1, says=how)
        self.assertEqual(self.names(), [".cairn-claim"])
        self.cairn("discard", self.dir)
        self.assertEqual(self.json("status"), [])


class EndedBySignal(Deleted):
    def test_it_is_told_what_is_kept(self):
        """Nothing was said where the program had lost its reader (`cairn run ... | head`)."""
        run = self.keep("echo old > stale; kill -PIPE $$", expect=128 + signal.SIGPIPE)
        self.assertIn(f"was ended by signal {int(signal.SIGPIPE)}", run.err)
        self.assertIn(f"4 B in 1 file not drained: kept in {self.pools}", run.err)
        self.assertIn(f"`cairn drain {self.dir}`", run.err)
        self.make_anew()
        self.assert_refused()
        run = self.keep("exit 3", expect=1)
        self.cairn("discard", self.dir)
        run = self.keep("echo x > x; exit 3", expect=3)
        self.assertIn("ended with code 3; 2 B in 1 file not drained", run.err)
        self.assertEqual(self.keep("true").err, "")

    def test_drained_all_the_same(self):
        script = (
            f"{CAIRN} run --at {self.dir} -- sh -c 'echo old > {self.dir}/stale; yes; yes >&2' 2>&1"
            " | head -1"
        )
        run = subprocess.run(["sh", "-c", script], env=self.env, capture_output=True, timeout=60,
                             check=True)
        self.assertEqual(run.stdout, b"y\n")
        self.wait_for(lambda: self.json("status") == [], "the run did not end")
        self.assertEqual(self.read("stale"), "old\n")

    def test_a_directory_that_another_one_replaces_during_the_run(self):
        mark = self.path("mark")
        run = subprocess.Popen([
            CAIRN, "run", "--json", "--at", self.dir, "--", "sh", "-c",
            f"echo old > {self.dir}/stale; : > {mark}; while [ -e {mark} ]; do sleep 0.05; done"
        ], env=self.env, stderr=subprocess.PIPE)
        self.wait_for(lambda: os.path.exists(mark), "the program did not start")
        self.make_anew()
        os.unlink(mark)
        _, err = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 1)
        self.assertIn(b"--to ELSEWHERE", err)
        self.assertFalse(json.loads(err.splitlines()[-1])["ok"])
        self.assertEqual(self.names(), [])
        place = self.elsewhere()
        self.cairn("drain", self.dir, "--to", place)
        self.assertEqual(self.text(place, "stale"), "old\n")


if __name__ == "__main__":
    cairn_case.main()
