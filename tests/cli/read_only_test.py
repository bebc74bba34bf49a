"""A directory that cannot be written to: it is covered all the same, and drains say so."""

import os
import subprocess

import cairn_case
from cairn_case import CAIRN, CairnCase


class ReadOnly(CairnCase):
    def under(self, script):
        """Where DIR is mounted read-only."""
        os.makedirs(self.path("dir"), exist_ok=True)
        run = subprocess.run([
            "unshare", "-m" if os.geteuid() == 0 else "-Urm", "sh", "-c",
            f"mount --bind {self.path('dir')} {self.path('dir')} && "
            f"mount -o remount,bind,ro {self.path('dir')} || exit 77; {script}"
        ], env=self.env, cwd=self.scratch, stdin=subprocess.DEVNULL, capture_output=True,
            check=False, text=True, timeout=60)
        if run.returncode == 77 or "unshare" in run.stderr:
            self.skipTest("no mounts of one's own here")
        return run

    def test_is_covered(self):
        self.write("dir/old", "old\n")
        run = self.under(f"{CAIRN} run --at dir --drain never -- "
                         "sh -c 'cat dir/old; echo new > dir/new; echo more >> dir/old; cat dir/*'")
        self.assertEqual((run.returncode, run.stdout), (0, "old\nnew\nold\nmore\n"), run.stderr)
        drain = self.under(f"{CAIRN} drain dir")
        self.assertEqual(drain.returncode, 1, drain.stderr)
        self.assertIn("Read-only file system", drain.stderr)
        self.assertNotIn("claim was missing", drain.stderr)
        self.assertEqual(os.listdir(self.path("dir")), ["old"])
        # It can be written to by now.
        self.cairn("drain", self.path("dir"))
        self.assertEqual(sorted(os.listdir(self.path("dir"))), ["new", "old"])

    def test_a_run_that_changes_nothing(self):
        self.write("dir/old", "old\n")
        run = self.under(f"{CAIRN} run --at dir -- cat dir/old")
        self.assertEqual((run.returncode, run.stdout, run.stderr), (0, "old\n", ""))
        self.assertEqual(self.json("pool", "list"), [])


if __name__ == "__main__":
    cairn_case.main()
