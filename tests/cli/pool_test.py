"""cairn pool: create, list, info, check, grow, populate, remove; and where pools lie."""

import fcntl
import json
import os
import shutil
import signal
import stat
import subprocess
import unittest

import cairn_case
from cairn_case import CAIRN, CairnCase


class Pool(CairnCase):
    def test_life_of_a_pool(self):
        self.assertEqual(self.cairn("pool", "list").out, "no pools\n")
        made = self.json("pool", "create", "--size", "32M")
        self.assertEqual(made["path"], os.path.join(self.pools, "default"))
        self.assertEqual(made["size_bytes"], 32 << 20)
        mode = os.stat(made["path"]).st_mode
        self.assertTrue(stat.S_ISDIR(mode) and stat.S_IMODE(mode) == 0o700, oct(mode))
        self.assertEqual([each["name"] for each in self.json("pool", "list")], ["default"])
        self.assertIn("default", self.cairn("pool", "list").out)
        info = self.json("pool", "info")
        self.assertEqual(info["uuid"], made["uuid"])
        self.assertLessEqual(info["used_bytes"], info["usable_bytes"])
        self.assertTrue(self.json("pool", "check")["ok"])
        self.assertIn("sound", self.cairn("pool", "check").out)
        self.cairn("pool", "grow", "32M")
        grown = self.json("pool", "info")
        self.assertGreaterEqual(grown["size_bytes"], 64 << 20)
        self.assertGreater(grown["usable_bytes"], info["usable_bytes"])
        self.json("pool", "populate")
        self.cairn("pool", "remove")
        self.assertEqual(self.json("pool", "list"), [])
        self.assertFalse(os.path.exists(made["path"]))

    def test_what_a_pool_holds_is_told_apart(self):
        self.cairn("pool", "create", "--size", "32M", "--pool-release", "never")
        self.write("big", "x" * (4 << 20))
        self.cairn("cp", "big", "default:/big")
        full = self.json("pool", "info")
        self.assertGreaterEqual(full["used_bytes"], 4 << 20)
        self.assertEqual(
            full["used_bytes"] + full["withheld_bytes"] + full["free_held_bytes"] +
            full["untouched_bytes"], full["usable_bytes"])
        self.cairn("rm", "default:/big")
        empty = self.json("pool", "info")
        self.assertLess(empty["used_bytes"], 1 << 20)
        self.assertGreaterEqual(empty["free_held_bytes"], 4 << 20)
        self.assertEqual(empty["untouched_bytes"], full["untouched_bytes"])
        text = self.cairn("pool", "info").out
        for word in ["live ", "withheld ", "free but held ", "untouched "]:
            self.assertIn("\n" + word, text)
        header = self.cairn("pool", "list").out.splitlines()[0]
        for word in ["LIVE", "WITHHELD", "FREE BUT HELD", "UNTOUCHED"]:
            self.assertIn(word, header)

    def test_check_shows_the_first_hundred_findings(self):
        self.cairn("pool", "create", "p", "--size", "16M")
        self.write("big", "x" * 1000000)
        self.cairn("cp", "big", "p:/big")
        with open(os.path.join(self.pools, "p", "segment.0"), "r+b") as segment:
            # the state block: with it goes the inode table, and every block is leaked
            segment.seek(8192)
            segment.write(bytes(4096))
        count = self.json("pool", "check", "p", expect=1)["count"]
        self.assertGreater(count, 200)
        self.assertEqual(len(self.json("pool", "check", "p", expect=1)["findings"]), 100)
        lines = self.cairn("pool", "check", "p", expect=1).out.splitlines()
        self.assertEqual(lines[100], f"and {count - 100} more; --all shows them")
        self.assertEqual(len(lines), 102)
        self.assertEqual(len(self.cairn("pool", "check", "p", "--all", expect=1).out.splitlines()),
                         count + 1)

    def test_several_pools(self):
        self.cairn("pool", "create", "a", "--size", "16M")
        self.cairn("pool", "create", "b", "--size", "16M")
        self.assertEqual([each["name"] for each in self.json("pool", "list")], ["a", "b"])
        self.assertEqual(self.json("pool", "info", "--pool", "b")["name"], "b")
        self.assertEqual(self.json("pool", "info", os.path.join(self.pools, "a"))["name"], "a")
        self.cairn("pool", "remove", "a")
        self.assertEqual([each["name"] for each in self.json("pool", "list")], ["b"])

    def test_volatile_media_say_so(self):
        made = self.cairn("pool", "create", "--size", "16M")
        info = self.json("pool", "info")
        if not info["volatile"]:
            self.skipTest("the test's medium survives power loss")
        self.assertIn("volatile", made.out)
        self.assertIn("nothing survives power loss", self.cairn("pool", "info").out)
        self.assertIn("lost", self.cairn("pool", "list").out)
        self.assertIn("nothing survives power loss", self.cairn("status").out)

    def test_percent_and_populate(self):
        made = self.json("pool", "create", "--size", "1%", "--populate")
        self.assertGreaterEqual(made["size_bytes"], 4 << 20)

    def test_mistakes(self):
        self.refused("pool", "info", code=1, says=os.path.join(self.pools, "default"))
        self.refused("pool", "remove", "none", code=1, says=os.path.join(self.pools, "none"))
        self.refused("pool", "check", "none", code=1, says="none")
        self.refused("pool", "grow", "none", "1M", code=1, says="none")
        self.refused("pool", "grow", code=2, says="SIZE")
        # no such pool comes first
        self.refused("pool", "grow", "default", "50%", code=1, says="default")
        self.refused("pool", "create", "--size", "1M", code=1, says="4194304")
        self.refused("pool", "create", "a:b", code=2, says="a:b")
        self.refused("pool", "create", ".hidden", code=2, says=".hidden")
        self.refused("pool", "create", "two\nlines", code=2, says="control character")
        self.refused("pool", "create", "--", "-dash", code=2, says="invalid pool name '-dash'")
        self.cairn("pool", "create", "--size", "16M")
        self.refused("pool", "create", "--size", "16M", code=1,
                     says=os.path.join(self.pools, "default"))
        self.refused("pool", "grow", "50%", code=2, says="50%")
        self.refused("pool", "grow", "default", code=2, says="missing SIZE")
        self.refused("pool", "create", "n" * 256, code=2, says="256 bytes, 200 at most")
        self.refused("pool", "create", "--size", "0", "zero", code=2, says="invalid size '0'")

    def test_growth_that_cannot_be_leaves_the_pool_as_it_was(self):
        self.cairn("pool", "create", "--size", "16M")
        self.refused("pool", "grow", "2T", code=1, says="at most")
        self.refused("pool", "grow", "900G", code=1, says="free")
        self.assertEqual(self.json("pool", "info")["size_bytes"], 16 << 20)
        self.cairn("ls", ":/")

    def test_a_forced_granularity_makes_no_memory_last(self):
        made = self.json("pool", "create", "--size", "16M", "--granularity", "cache-line")
        self.assertEqual(made["volatile"], made["medium"] == "tmpfs")

    def test_too_large_is_told(self):
        self.refused("pool", "create", "--size", "900T", code=1, says=self.pools)
        self.assertEqual(self.json("pool", "list"), [])

    def on_a_medium(self, before, *words, code, says):
        """One of its own, of 24 MiB, with a pool of 16 MiB that `before` happens to."""
        medium = self.path("medium")
        os.mkdir(medium)
        script = (f"mount -t tmpfs -o size=24M,mode=700 none {medium} || exit 77; "
                  f"{CAIRN} pool create --size 16M > /dev/null && {before} && exec {CAIRN} \"$@\"")
        run = subprocess.run(
            ["unshare", "-m" if os.geteuid() == 0 else "-Urm", "sh", "-c", script, "sh", *words],
            env=dict(self.env, CAIRN_POOL_DIR=medium), capture_output=True, check=False, text=True)
        if run.returncode == 77 or "unshare" in run.stderr:
            self.skipTest("no mounts of one's own here")
        self.assertEqual(run.returncode, code, run.stderr)
        for text in says:
            self.assertIn(text, run.stderr)
        self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)
        os.rmdir(medium)

    def test_a_medium_that_cannot_be_written_to_says_so(self):
        for words in [("pool", "populate"), ("pool", "grow", "4M")]:
            self.on_a_medium(f"mount -o remount,ro {self.path('medium')}", *words, code=1,
                             says=[f"{self.path('medium')}/default: on a read-only medium"])

    def test_a_full_medium_says_what_to_do(self):
        self.on_a_medium(
            f"dd if=/dev/zero of={self.path('medium')}/fill bs=1M count=15 2> /dev/null", "pool",
            "populate", code=1, says=[
                f"{self.path('medium')}/default: cannot be populated completely",
                "give the medium more"
            ])

    def test_limits_of_the_shell_are_named(self):
        if os.environ.get("CAIRN_SANITIZE"):
            self.skipTest("a sanitized program takes all address space there is")
        def limited(*words):
            return subprocess.run([
                "bash", "-c", f"ulimit -v 600000; exec {CAIRN} pool create --json {' '.join(words)}"
            ], env=self.env, capture_output=True, check=False, text=True)
        run = limited("--size", "auto")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertLessEqual(json.loads(run.stdout)["size_bytes"], 300_000 << 10)
        for size in ["2G"]:
            run = limited("large", "--size", size)
            self.assertEqual(run.returncode, 1)
            self.assertIn("the address space (ulimit -v)", run.stderr)

    def test_what_is_no_pool_is_listed_as_such(self):
        os.mkdir(os.path.join(self.pools, "stray"))
        self.assertIn("stray", self.json("pool", "list")[0]["error"])
        self.cairn("pool", "list")
        self.cairn("status")
        self.cairn("pool", "info", "stray", expect=1)


class Killed(CairnCase):
    """A pool comes whole and goes whole, whenever its maker or remover is killed."""

    def killed_at(self, call, when, *words):
        if shutil.which("strace") is None:
            self.skipTest("needs strace")
        run = subprocess.run([
            "strace", "-qq", "-f", "-o", "/dev/null", "-e",
            f"inject={call}:signal=KILL:when={when}", cairn_case.CAIRN, *words
        ], env=self.env, capture_output=True, timeout=120, check=False)
        if run.returncode != -signal.SIGKILL:
            self.skipTest(f"not killed: {run.stderr}")

    def names(self):
        return [name for name in os.listdir(self.pools) if not name.startswith(".lock-")]

    def test_maker(self):
        for call, when in (("mkdirat", 1), ("mkdirat", 2), ("mkdirat", 3), ("symlinkat", 1),
                           ("ftruncate", 1), ("fallocate", 1), ("renameat", 1)):
            with self.subTest(call=call, when=when):
                self.killed_at(call, when, "pool", "create", "k", "--size", "16M")
                self.assertNotIn("k", self.names())
                self.cairn("pool", "create", "k", "--size", "16M")
                self.assertEqual(self.names(), ["k"])
                self.cairn("pool", "remove", "k")
                self.assertEqual(self.names(), [])

    def test_remover(self):
        for when in 2, 3, 4:  # the first removes the mark of the hidden place
            with self.subTest(when=when):
                self.cairn("pool", "create", "r", "--size", "16M")
                self.cairn("pool", "grow", "r", "8M")
                self.cairn("pool", "grow", "r", "8M")
                self.killed_at("unlinkat", when, "pool", "remove", "r")
                self.assertNotIn("r", self.names())
                self.assertEqual(
                    [each["removed"] for each in self.json("pool", "clean", "--dry-run")], [False])
                self.assertEqual([each["removed"] for each in self.json("pool", "clean")], [True])
                self.assertEqual(self.names(), [])

    def test_one_that_is_being_made_stays(self):
        making = os.path.join(self.pools, ".cairn-unfinished-abcdef")
        os.mkdir(making, 0o700)
        os.mkdir(os.path.join(making, "pool"), 0o700)
        held = os.open(making, os.O_RDONLY)
        fcntl.flock(held, fcntl.LOCK_EX)
        self.assertEqual([each["state"] for each in self.json("pool", "clean")], ["in use"])
        self.cairn("pool", "create", "--size", "16M")
        self.assertTrue(os.path.isdir(os.path.join(making, "pool")))
        os.close(held)
        self.cairn("pool", "clean")
        self.assertEqual(self.names(), ["default"])

    def test_empty_directory(self):
        os.mkdir(os.path.join(self.pools, "default"))
        self.cairn("pool", "create", "--size", "16M")
        self.cairn("pool", "remove")
        os.mkdir(os.path.join(self.pools, "stray"), 0o700)
        self.cairn("pool", "clean", "--force")
        self.assertEqual(self.names(), [])

    def test_files_of_others_stay(self):
        own = os.path.join(self.pools, "video")
        os.mkdir(own, 0o700)
        for name, text in ("segment.0", "x" * 100000), ("segment.1", "y"):
            with open(os.path.join(own, name), "w", encoding="utf-8") as file:
                file.write(text)
        self.assertEqual(
            [each["removed"] for each in self.json("pool", "clean", "--force", expect=1)], [False])
        self.refused("pool", "remove", "--force", own, code=1, says="not a Cairn pool")
        self.refused("pool", "create", "video", "--size", "16M", code=1, says="exists")
        self.assertEqual(sorted(os.listdir(own)), ["segment.0", "segment.1"])
        self.cairn("pool", "create", "p", "--size", "16M")
        with open(os.path.join(self.pools, "p", "segment.txt"), "w", encoding="utf-8"):
            pass
        self.refused("pool", "remove", "p", code=1, says="other files lie in this pool's directory")
        self.assertEqual(os.listdir(os.path.join(self.pools, "p")), ["segment.txt"])


class Place(CairnCase):
    """Pools are private to their user."""

    def test_directory_is_made(self):
        place = os.path.join(self.pools, "new")
        self.cairn("pool", "create", "--size", "16M", "--pool-dir", place)
        self.assertEqual(stat.S_IMODE(os.stat(place).st_mode), 0o700)

    def test_shared_directory_gets_an_own_one_inside(self):
        os.chmod(self.pools, 0o1777)
        made = self.json("pool", "create", "--size", "16M")
        own = os.path.join(self.pools, f"cairn-{os.geteuid()}")
        self.assertEqual(made["path"], os.path.join(own, "default"))
        self.assertEqual(stat.S_IMODE(os.stat(own).st_mode), 0o700)

    def test_open_own_directory_is_refused(self):
        os.chmod(self.pools, 0o1777)
        own = os.path.join(self.pools, f"cairn-{os.geteuid()}")
        os.mkdir(own)
        os.chmod(own, 0o755)
        self.refused("pool", "create", "--size", "16M", code=1, says=[own, "0755", "chmod 700"])
        self.refused("status", code=1, says=own)

    def test_directory_of_somebody_else_is_not_used(self):
        if os.geteuid() != 0:
            self.skipTest("needs root to make one")
        os.chmod(self.pools, 0o1777)
        own = os.path.join(self.pools, "cairn-0")
        os.mkdir(own, 0o700)
        os.chown(own, 12345, 12345)
        run = self.cairn("pool", "create", "--size", "16M")
        self.assertIn(f"{own}: belongs to user 12345, not to you; your pools lie in {own}-",
                      run.err)
        self.assertEqual(os.listdir(own), [])

    def test_link_in_place_of_the_directory_is_refused(self):
        os.chmod(self.pools, 0o1777)
        os.symlink(self.scratch, os.path.join(self.pools, f"cairn-{os.geteuid()}"))
        self.refused("pool", "create", "--size", "16M", code=1, says="not a directory")

    def test_place_that_cannot_be(self):
        self.refused("pool", "create", "--pool-dir", "/proc/none", code=1, says="/proc/none")
        self.refused("pool", "create", "--pool-dir", "/dev/dax99.9", code=1, says="no such device")
        self.assertFalse(os.path.exists("/dev/dax99.9"))
        self.refused("pool", "create", "--pool-dir", self.write("file", ""), code=2,
                     says="neither a directory")
        self.refused("pool", "create", "--pool-dir", self.path("a/b"), code=1,
                     says=self.path("a/b"))
        # Looking makes nothing.
        self.cairn("pool", "list", "--pool-dir", self.path("nowhere"))
        self.assertFalse(os.path.exists(self.path("nowhere")))


class Clean(CairnCase):
    def test_pools_that_people_made_stay(self):
        self.cairn("pool", "create", "--size", "16M")
        self.assertEqual([each["state"] for each in self.json("pool", "clean")], ["kept"])
        self.assertEqual(len(self.json("pool", "list")), 1)

    def leave(self, pool):
        """What a process leaves in a pool's directory that is killed while it makes descriptors."""
        place = os.path.join(self.pools, pool)
        os.symlink("cairn:" + place, os.path.join(place, ".cairn-link-1-2"))
        os.mkdir(os.path.join(place, ".cairn-cwd-abcdef"))
        return place

    def test_what_killed_processes_left_beside_the_pool_goes(self):
        self.cairn("pool", "create", "--size", "16M")
        place = self.leave("default")
        self.cairn("pool", "clean", "--dry-run")
        self.assertEqual(len([name for name in os.listdir(place) if name.startswith(".cairn-")]), 2)
        self.cairn("pool", "clean")
        self.assertEqual([name for name in os.listdir(place) if name.startswith(".cairn-")], [])
        self.leave("default")
        self.cairn("pool", "remove")
        self.assertFalse(os.path.exists(place))

    def test_nothing_to_clean(self):
        self.assertEqual(self.cairn("pool", "clean").out, "nothing to clean\n")

    def test_unreadable_pool_goes_by_force_only(self):
        os.mkdir(os.path.join(self.pools, "stray"))
        self.assertEqual(self.json("pool", "clean", "--dry-run")[0]["state"], "unreadable")
        self.assertEqual(self.json("pool", "clean", expect=1)[0]["removed"], False)
        self.assertTrue(os.path.exists(os.path.join(self.pools, "stray")))


if __name__ == "__main__":
    cairn_case.main()
