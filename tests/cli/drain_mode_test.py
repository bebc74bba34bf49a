"""The drain mode of files and directories, user.cairn.drain, in whole runs."""

import os
import signal
import sys

import cairn_case
from keeper_case import KeeperCase

MARK = (
    f"{sys.executable} -c 'import os, sys; os.setxattr(sys.argv[1], \"user.cairn.drain\","
    " sys.argv[2].encode())'"
)


class DrainMode(KeeperCase):
    def setUp(self):
        super().setUp()
        try:
            os.setxattr(self.dir, "user.probe", b"1")
            os.removexattr(self.dir, "user.probe")
        except OSError as error:
            self.skipTest(f"{self.dir}: {error}")

    def has_name(self, name):
        return os.path.exists(os.path.join(self.dir, name))

    def test_scratch_is_not_drained(self):
        told = self.shell(
            f"mkdir scratch && {MARK} scratch never && echo lost > scratch/a && echo kept > kept",
            "--log-level", "info").err
        self.assertEqual(self.names(), ["kept"])
        self.assertIn(", 1 file of drain mode never left out", told)
        self.assert_nothing_left()

    def test_a_mode_of_the_directory_starts_a_keeper(self):
        os.setxattr(self.dir, "user.cairn.drain", b"close")
        # A look at DIR that began before the mark has ended when the file comes.
        run = self.begin(
            f"mkdir later; {MARK} later exit; sleep 1; echo x > later/x; echo now > now",
            mode="exit")
        self.wait_for(lambda: self.has("now", "now\n"), "not drained while the program ran")
        self.assertFalse(self.has_name("later/x"))
        self.finish(run)
        self.assertEqual(self.read("later/x"), "x\n")
        self.wait_until_nothing_is_left()
        self.assertEqual(os.getxattr(self.dir, "user.cairn.drain"), b"close")

    def test_what_an_earlier_run_has_left_starts_a_keeper(self):
        self.shell(f"mkdir out && {MARK} out close", "--drain", "never")
        run = self.begin("echo now > out/now; echo x > later", mode="exit")
        self.wait_for(lambda: self.has("out/now", "now\n"), "not drained while the program ran")
        self.assertFalse(self.has_name("later"))
        self.finish(run)
        self.assertEqual(self.read("later"), "x\n")
        self.wait_until_nothing_is_left()

    def test_without_a_keeper_it_goes_at_the_end(self):
        run = self.begin(f"mkdir out; {MARK} out close; echo x > out/x", mode="exit")
        self.wait_for(lambda: self.undrained() == 2, "the program did not write")
        self.assertEqual(self.keepers(), [])
        self.finish(run)
        self.assertEqual(self.read("out/x"), "x\n")
        self.wait_until_nothing_is_left()

    def test_a_mode_that_is_set_later_counts(self):
        """A file that stays open is not drained in mode close, until it gets the mode async."""
        go = self.path("go")
        run = self.begin(
            f"echo x > log; exec 3>> log; echo y > other; while [ ! -e {go} ]; do sleep 0.05; done;"
            f" {MARK} log async"
        )
        self.wait_for(lambda: self.has("other", "y\n"), "not drained while the program ran")
        self.wait_for(lambda: self.undrained() == 2, "the open file is not what is left")
        self.assertFalse(self.has_name("log"))
        self.write("go", "")
        self.wait_for(lambda: self.has("log", "x\n"), "the keeper did not see the new mode")
        self.finish(run)
        self.wait_until_nothing_is_left()

    def test_a_mode_that_keeps_out_is_seen_later(self):
        """A directory that gets the mode exit while the run goes on waits for its end."""
        go = self.path("go")
        run = self.begin(
            f"mkdir out; echo x > out/first; while [ ! -e {go} ]; do sleep 0.05; done; "
            f"{MARK} out exit; echo y > out/second; echo z > other")
        self.wait_for(lambda: self.has("out/first", "x\n"), "not drained while the program ran")
        self.write("go", "")
        self.wait_for(lambda: self.has("other", "z\n"), "not drained while the program ran")
        self.wait_for(lambda: self.undrained() == 2,
                      "what has the mode exit is not all that is left")
        self.assertFalse(self.has_name("out/second"))
        self.finish(run)
        self.assertEqual(self.read("out/second"), "y\n")
        self.wait_until_nothing_is_left()

    def test_a_run_whose_data_are_kept(self):
        self.shell(f"mkdir out && {MARK} out exit && echo x > out/x && echo y > y", "--drain",
                   "never")
        self.assertEqual(self.read("out/x"), "x\n")
        self.assertFalse(self.has_name("y"))
        self.assertEqual(self.undrained(), 2)
        self.cairn("discard", self.dir)

    def test_a_killed_run_whose_data_are_kept(self):
        os.mkdir(os.path.join(self.dir, "out"))
        os.setxattr(self.dir, "user.cairn.drain", b"close")
        run = self.begin(f"echo y > y; {MARK} y never; echo x > out/x", "--drain-quiet", "3600",
                         mode="never")
        self.wait_for(lambda: self.undrained() == 2 and self.keepers(), "the program did not write")
        run.send_signal(signal.SIGKILL)
        run.wait(30)
        with open(self.done, "w", encoding="utf-8"):
            pass
        self.wait_for(lambda: self.has_ended(run), "the program stays")
        self.wait_for(lambda: self.has("out/x", "x\n"), "nobody drained")
        self.wait_for(lambda: self.keepers() == [], "the keeper stays")
        self.assertFalse(self.has_name("y"))
        self.cairn("discard", self.dir)

    def test_another_value_is_refused_and_told(self):
        run = self.shell(f"echo x > file; {MARK} file clsoe", expect=1)
        self.assertIn(
            "user.cairn.drain: invalid drain mode 'clsoe': expected exit, close, async or never; "
            "did you mean close?", run.err)
        self.assertIn("Invalid argument", run.err)


if __name__ == "__main__":
    cairn_case.main()
