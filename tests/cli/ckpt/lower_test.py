"""cairn ckpt drain, restore and ls --in: copies of versions that outlive the pool."""

import contextlib
import fcntl
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

import ckpt_case
from ckpt_case import BIN, CkptCase


def links_of(pid):
    """What the descriptors of a process lead to."""
    links = []
    for one in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            links.append(os.readlink(one))
    return links


class Lower(CkptCase):
    def setUp(self):
        super().setUp()
        # In memory, as the pools are: syncs take no time there.
        self.lower = tempfile.mkdtemp(prefix="cairn-cli-", dir=os.path.dirname(self.pools))
        self.addCleanup(shutil.rmtree, self.lower, ignore_errors=True)

    def files(self, set_name="field"):
        return sorted(os.listdir(os.path.join(self.lower, ".cairn-checkpoints", set_name)))

    def copies(self):
        return [one["version"] for one in self.json("ckpt", "ls", "--in", self.lower)]

    def wait_for(self, condition, what):
        deadline = time.time() + 30
        while not condition():
            self.assertLess(time.time(), deadline, what)
            time.sleep(0.02)

    def lose_the_pool(self):
        self.cairn("pool", "remove", "--force")
        self.cairn("pool", "create", "--size", "128M")

    def test_there_and_back(self):
        self.writer("field", 3)
        drained = self.json("ckpt", "drain", "field", "--to", self.lower)
        self.assertEqual((drained["version"], drained["to"]), (3, self.lower))
        record = self.json("ckpt", "ls", "--in", self.lower)[0]
        self.assertEqual((record["set"], record["version"], record["step"], record["ranks"]),
                         ("field", 3, 30, 1))
        self.assertIn("field", self.cairn("ckpt", "ls", "--in", self.lower).out)
        self.refused("ckpt", "restore", "field", "--from", self.lower, code=1,
                     says="the pool has versions of the set")
        self.lose_the_pool()
        restored = self.json("ckpt", "restore", "field", "--from", self.lower)
        self.assertEqual((restored["version"], restored["skipped"]), (3, 0))
        self.assertTrue(self.json("ckpt", "verify", "field")["ok"])
        # A program compares every element, and goes on.
        self.writer("field", "read", 3)
        self.assertEqual([one["version"] for one in self.json("ckpt", "ls", "field")], [103, 3])
        self.cairn("ckpt", "drain", "field", "--to", self.lower)
        self.assertEqual(self.copies(), [103, 3])

    def test_a_copy_is_made_once_and_beside_a_run(self):
        run = self.hold("field", 2)
        self.cairn("ckpt", "drain", "field", "1", "--to", self.lower)
        before = {name: os.stat(os.path.join(self.lower, ".cairn-checkpoints/field", name)).st_ino
                  for name in self.files()}
        self.cairn("ckpt", "drain", "field", "1", "--to", self.lower)
        self.cairn("ckpt", "drain", "field", "--to", self.lower)
        for name, inode in before.items():
            self.assertEqual(
                os.stat(os.path.join(self.lower, ".cairn-checkpoints/field", name)).st_ino, inode,
                name)
        self.assertEqual(self.copies(), [2, 1])
        self.let_go(run)

    def test_retention(self):
        self.writer("field", 3)
        for version in ("1", "2", "3"):
            self.cairn("ckpt", "drain", "field", version, "--to", self.lower)
        pathlib.Path(self.lower,
                     ".cairn-checkpoints/field/.tmp-left").write_bytes(b"by a killed process")
        self.cairn("ckpt", "drain", "field", "--to", self.lower, "--keep", "2")
        self.assertEqual(self.copies(), [3, 2])
        self.assertNotIn(".tmp-left", self.files())
        self.assertEqual(len([name for name in self.files() if name.startswith("v")]), 6)
        # What a run went back behind stays while it is the best of its number, and goes as the
        # others do.
        self.writer("field", "read", 2)
        self.cairn("ckpt", "drain", "field", "--to", self.lower, "--keep", "5")
        self.assertEqual(self.copies(), [102, 3, 2])
        self.cairn("ckpt", "drain", "field", "--to", self.lower, "--keep", "1")
        self.assertEqual(self.copies(), [102])
        for words in ("--keep", "0"), ("--keep", "x"):
            self.refused("ckpt", "drain", "field", "--to", self.lower, *words, code=2,
                         says="invalid number")

    def flip(self, name, offset):
        path = os.path.join(self.lower, ".cairn-checkpoints/field", name)
        with open(path, "r+b") as file:
            file.seek(offset)
            byte = file.read(1)[0]
            file.seek(offset)
            file.write(bytes([byte ^ 1]))

    def test_damage_in_lower_is_not_restored(self):
        self.writer("field", 2)
        for version in ("1", "2"):
            self.cairn("ckpt", "drain", "field", version, "--to", self.lower)
        newest = next(name for name in reversed(self.files()) if name.endswith(".data"))
        self.flip(newest, 2 << 20)
        self.lose_the_pool()
        run = self.cairn("ckpt", "restore", "field", "--from", self.lower)
        self.assertIn("1 newer versions are damaged there", run.err)
        self.assertEqual([one["version"] for one in self.json("ckpt", "ls", "field")], [1])
        self.writer("field", "read", 1)
        # Each file of a copy is needed, and each is proved.
        oldest = next(name for name in self.files() if name.endswith(".manifest"))
        self.lose_the_pool()
        self.flip(oldest, 100)
        self.refused("ckpt", "restore", "field", "--from", self.lower, code=1,
                     says="no version is whole")
        self.assertEqual(self.json("ckpt", "ls", "field"), [])

    def drain(self, *versions):
        for version in versions:
            self.cairn("ckpt", "drain", "field", str(version), "--to", self.lower)

    def data(self):
        return [name for name in self.files() if name.endswith(".data")]

    def test_a_damaged_copy_is_made_anew(self):
        self.writer("field", 2)
        self.drain(1, 2)
        self.flip(self.data()[-1], 2 << 20)
        self.cairn("ckpt", "drain", "field", "--to", self.lower, "--keep", "1")
        self.assertEqual(self.copies(), [2])
        self.lose_the_pool()
        restored = self.json("ckpt", "restore", "field", "--from", self.lower)
        self.assertEqual((restored["version"], restored["skipped"]), (2, 0))

    def test_what_is_damaged_does_not_count(self):
        self.writer("field", 3)
        self.drain(1, 2, 3)
        self.flip(self.data()[1], 2 << 20)
        self.cairn("ckpt", "drain", "field", "--to", self.lower, "--keep", "2")
        self.assertEqual(self.copies(), [3, 2, 1])
        self.cairn("ckpt", "drain", "field", "--to", self.lower, "--keep", "1")
        self.assertEqual(self.copies(), [3])

    def test_what_was_drained_stays(self):
        self.writer("field", 3)
        self.drain(3, 2)
        self.cairn("ckpt", "drain", "field", "1", "--to", self.lower, "--keep", "1")
        self.assertEqual(self.copies(), [3, 1])

    def test_versions_that_the_pool_does_not_know(self):
        self.writer("field", 3)
        self.drain(1, 2, 3)
        # Only the first one is restored, so that the next one gets the number in line of the
        # second.
        self.flip(self.data()[-1], 2 << 20)
        second = pathlib.Path(self.lower, ".cairn-checkpoints/field",
                              [name for name in self.files() if name.endswith(".json")][1])
        record = second.read_bytes()
        second.unlink()
        self.lose_the_pool()
        self.assertEqual(self.json("ckpt", "restore", "field", "--from", self.lower)["version"], 1)
        self.writer("field", "read", 1)
        second.write_bytes(record)
        self.refused("ckpt", "drain", "field", "--to", self.lower, "--keep", "1", code=1,
                     says="holds another version, which is whole")
        self.assertEqual(self.copies(), [3, 2, 1])
        self.flip(self.data()[1], 2 << 20)
        self.cairn("ckpt", "drain", "field", "--to", self.lower, "--keep", "1")
        self.assertEqual(self.copies(), [3, 101])
        self.lose_the_pool()
        self.assertEqual(
            self.json("ckpt", "restore", "field", "--from", self.lower)["version"], 101)

    def test_one_process_copies_at_a_time(self):
        self.writer("field", 2)
        self.drain(1)
        with open(os.path.join(self.lower, ".cairn-checkpoints/field/lock"), "r+b") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            drain = subprocess.Popen(
                [BIN / "cairn", "ckpt", "drain", "field", "--to", self.lower, "--keep", "1"],
                env=self.env, stdout=subprocess.DEVNULL)
            self.addCleanup(drain.kill)
            self.wait_for(lambda: lock.name in links_of(drain.pid),
                          "the drain does not look for the lock")
            self.assertIsNone(drain.poll())
            self.assertEqual(self.copies(), [1])
        self.assertEqual(drain.wait(timeout=60), 0)
        self.assertEqual(self.copies(), [2])

    def test_a_drain_that_waited_looks_again(self):
        self.writer("field", 2)
        self.drain(1)
        with open(os.path.join(self.lower, ".cairn-checkpoints/field/lock"), "r+b") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            drain = subprocess.Popen([BIN / "cairn", "ckpt", "drain", "field", "--to", self.lower],
                                     env=self.env, stdout=subprocess.DEVNULL)
            self.addCleanup(drain.kill)
            self.wait_for(lambda: lock.name in links_of(drain.pid),
                          "the drain does not look for the lock")
            # Meanwhile the lock's holder copies a version that was written since.
            self.writer("field", "read", 2)
            os.mkdir(self.path("other"))
            self.cairn("ckpt", "drain", "field", "--to", self.path("other"))
            for file in pathlib.Path(self.path("other"), ".cairn-checkpoints/field").glob("v*"):
                shutil.copy(file, os.path.dirname(lock.name))
        self.assertEqual(drain.wait(timeout=60), 0)
        self.assertEqual(self.copies(), [102, 2, 1])

    def record(self, at):
        """The file by which a copy counts; the oldest one is at 0."""
        name = [name for name in self.files() if name.endswith(".json")][at]
        return pathlib.Path(self.lower, ".cairn-checkpoints/field", name)

    def begin_another_line(self, *hidden):
        """The pool gets a copy back while these newer ones are not there, and goes on from it."""
        texts = {record: record.read_bytes() for record in map(self.record, hidden)}
        for record in texts:
            record.unlink()
        self.lose_the_pool()
        number = self.json("ckpt", "restore", "field", "--from", self.lower)["version"]
        self.writer("field", "read", number)
        for record, text in texts.items():
            record.write_bytes(text)
        return texts

    def test_a_newer_copy_of_another_line(self):
        self.writer("field", 3)
        self.drain(1, 2, 3)
        self.begin_another_line(2, 1)
        self.record(1).unlink()
        words = "ckpt", "drain", "field", "--to", self.lower, "--keep", "1"
        self.refused(*words, code=1, says="0003: holds a version that this pool does not know")
        self.assertEqual(self.copies(), [3, 1])
        # What is damaged does not count, and stays until its sequence is reached.
        self.flip(self.data()[-1], 2 << 20)
        self.cairn(*words)
        self.assertEqual(self.copies(), [3, 101])

    def test_an_older_copy_of_another_line(self):
        self.writer("field", 2)
        self.drain(1, 2)
        self.begin_another_line(1)
        self.writer("field", "read", 101)
        words = "ckpt", "drain", "field", "--to", self.lower
        self.refused(*words, code=1, says="0002: holds a version that this pool does not know")
        self.refused(*words[:3], "101", *words[3:], code=1,
                     says="holds another version, which is whole")
        self.assertEqual(self.copies(), [2, 1])

    def go_back_in_lower(self):
        """Lower has 1, 2, 3, and 102 after 2, whose copy is damaged."""
        self.writer("field", 3)
        self.drain(1, 2, 3)
        self.writer("field", "read", 2)
        self.drain(102)
        self.flip(self.data()[-1], 2 << 20)

    def test_what_was_abandoned_is_not_restored(self):
        self.go_back_in_lower()
        self.lose_the_pool()
        restored = self.json("ckpt", "restore", "field", "--from", self.lower)
        self.assertEqual((restored["version"], restored["skipped"]), (2, 1))
        for name in self.data()[:2]:
            self.flip(name, 2 << 20)
        self.lose_the_pool()
        self.refused("ckpt", "restore", "field", "--from", self.lower, code=1,
                     says="no version that counts is whole")

    def test_what_was_abandoned_does_not_count(self):
        self.go_back_in_lower()
        self.cairn("ckpt", "drain", "field", "2", "--to", self.lower, "--keep", "2")
        self.assertEqual(self.copies(), [102, 3, 2, 1])
        self.cairn("ckpt", "drain", "field", "102", "--to", self.lower, "--keep", "2")
        self.assertEqual(self.copies(), [102, 3, 2])

    def test_a_copy_that_a_damaged_one_would_hide(self):
        self.go_back_in_lower()
        # Only 2 and 102 are left, so that 102 after 2 is written again, with the sequence of 3.
        self.record(2).unlink()
        self.begin_another_line(2)
        self.refused("ckpt", "drain", "field", "--to", self.lower, code=1, says="does not know")

    def test_a_run_that_begins_anew_keeps_the_line_before(self):
        self.writer("field", 3)
        self.drain(1, 2, 3)
        keep = "ckpt", "drain", "field", "--to", self.lower, "--keep", "1"
        self.writer("field", "fresh", 2)
        self.assertEqual(self.copies(), [3, 2, 1])
        self.cairn(*keep)
        self.assertEqual(self.copies(), [2, 3, 2, 1])
        # A third line: that of 1, 2, 3 is not the one before any longer.
        self.writer("field", "fresh", 1)
        self.flip(self.data()[-1], 2 << 20)
        self.cairn(*keep)
        self.assertEqual(self.copies(), [1, 2, 3, 2, 1], "the line before has no whole version")
        self.flip(self.data()[-2], 2 << 20)
        self.cairn(*keep)
        self.assertEqual(self.copies(), [1, 2])
        self.flip(self.data()[-1], 2 << 20)
        self.lose_the_pool()
        self.refused("ckpt", "restore", "field", "--from", self.lower, code=1,
                     says=f"`cairn ckpt restore field --from {self.lower} --earlier` gets back")
        restored = self.json("ckpt", "restore", "field", "--from", self.lower, "--earlier")
        self.assertEqual((restored["version"], restored["skipped"]), (2, 0))
        self.writer("field", "read", 2)

    def test_the_line_before_is_dropped_on_demand(self):
        self.writer("field", 2)
        self.drain(1, 2)
        self.writer("field", "fresh", 3)
        self.drain(2)
        drop = "ckpt", "drain", "field", "--to", self.lower, "--drop-copies"
        self.cairn(*drop)
        self.assertEqual(self.copies(), [3, 2], "without --keep the newest line stays")
        self.lose_the_pool()
        self.refused("ckpt", "restore", "field", "--from", self.lower, "--earlier", code=1,
                     says="has no line before the newest one's")

    def test_damage_in_the_pool_names_what_is_whole(self):
        self.writer("field", 2)
        self.damage(2)
        run = self.cairn("ckpt", "verify", "field", expect=1)
        self.assertIn("`cairn ckpt verify field` shows which versions are whole", run.err)

    def test_damage_in_the_pool_is_not_drained(self):
        self.writer("field", 2)
        self.damage(2)
        self.refused("ckpt", "drain", "field", "--to", self.lower, code=1,
                     says="differ from their checksum")
        self.assertEqual(self.copies(), [])
        self.assertFalse([name for name in self.files() if name.startswith(("v", ".tmp"))])

    def test_two_sets_of_one_name(self):
        self.writer("field", 1)
        self.cairn("ckpt", "drain", "field", "--to", self.lower)
        self.cairn("ckpt", "rm", "--force", "field")
        self.writer("field", 1)
        self.refused("ckpt", "drain", "field", "--to", self.lower, code=1,
                     says="another set of this name")
        self.refused("ckpt", "restore", "field", "--from", self.lower, code=1,
                     says="versions of another set")

    def test_a_directory_that_others_can_write_to(self):
        self.writer("field", 1)
        self.cairn("ckpt", "drain", "field", "--to", self.lower)
        os.chmod(os.path.join(self.lower, ".cairn-checkpoints"), 0o777)
        self.refused("ckpt", "drain", "field", "--to", self.lower, code=1,
                     says="others can write to it")
        self.refused("ckpt", "restore", "new", "--from", self.lower, code=1,
                     says="others can write to it")
        self.refused("ckpt", "ls", "--in", self.lower, code=1, says="others can write to it")

    def test_a_list_follows_no_link_and_reads_little(self):
        self.writer("field", 1)
        self.drain(1)
        sets = pathlib.Path(self.lower, ".cairn-checkpoints")
        record = next(name for name in self.files() if name.endswith(".json"))
        (sets / "linked").symlink_to(sets / "field")
        (sets / "field/v0000000000000077.json").symlink_to(record)
        with open(sets / "field/v0000000000000078.json", "wb") as file:
            file.write((sets / "field" / record).read_bytes())
            file.truncate(1 << 30)
        os.mkfifo(sets / "field/v0000000000000079.json")
        run = self.cairn("ckpt", "ls", "--in", self.lower, "--json")
        self.assertEqual([(one["set"], one["version"]) for one in json.loads(run.out)],
                         [("field", 1)])
        for what in "linked", "0077.json", "0078.json", "0079.json":
            self.assertIn(what, run.err)
        self.refused("ckpt", "ls", "linked", "--in", self.lower, code=1, says="linked")
        moved = os.path.join(self.lower, "moved")
        os.rename(sets, moved)
        sets.symlink_to(moved)
        self.refused("ckpt", "ls", "--in", self.lower, code=1, says=".cairn-checkpoints")

    def test_what_is_not_there(self):
        self.writer("field", 1)
        self.refused("ckpt", "drain", "field", "--to", self.path("none"), code=1, says="none")
        self.refused("ckpt", "restore", "other", "--from", self.lower, code=1,
                     says=".cairn-checkpoints")
        self.refused("ckpt", "ls", "--in", self.lower, code=1, says=".cairn-checkpoints")
        self.refused("ckpt", "drain", "field", code=2, says="--to")
        self.cairn("ckpt", "drain", "field", "--to", self.lower)
        pathlib.Path(self.lower, ".cairn-checkpoints/field/v0000000000000099.json").write_text(
            "{", encoding="utf-8")
        run = self.cairn("ckpt", "ls", "--in", self.lower, "--json")
        self.assertEqual(len(json.loads(run.out)), 1)
        self.assertIn("is not a record of a version", run.err)


if __name__ == "__main__":
    ckpt_case.main()
