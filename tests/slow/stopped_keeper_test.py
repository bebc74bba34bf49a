"""A keeper that is stopped while the pool is full: the run names it. Programs wait for a keeper for
some twenty seconds before they are told that there is no room."""

import os
import pathlib
import signal
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))

import cairn_case  # noqa: E402
from keeper_case import KeeperCase  # noqa: E402


class StoppedKeeper(KeeperCase):
    def test_it_is_named(self):
        go = self.path("go")
        run = self.begin(
            f"echo text > new; while [ ! -e {go} ]; do sleep 0.05; done;"
            " head -c 12000000 /dev/zero > big; head -c 12000000 /dev/zero > more || true",
            "--pool-size", "16M", mode="async")
        self.wait_for(lambda: self.has("new", "text\n"), "not drained")
        keeper = self.keepers()[0]["pid"]
        os.kill(keeper, signal.SIGSTOP)
        self.addCleanup(os.kill, keeper, signal.SIGCONT)
        self.write("go", "")
        self.wait_for(lambda: self.json("pool", "list")[0]["full_count"] > 0, "not full")
        said = self.finish(run)
        self.assertIn(
            f"process {keeper}, which drains it in the background, is stopped: `kill -CONT"
            f" {keeper}` lets it go on", said)
        os.kill(keeper, signal.SIGCONT)
        self.wait_until_nothing_is_left()
        self.assertEqual(os.stat(os.path.join(self.dir, "big")).st_size, 12000000)


if __name__ == "__main__":
    cairn_case.main()
