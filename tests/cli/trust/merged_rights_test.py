"""Owner, group, mode and access lists that others change in the covered directory while a run has
files of it in its pool (docs/design/trust.md, The witness)."""

import os
import stat
import time

import trust_case
from planted_fuzz import end_racing, start_racing
from trust_case import MALLORY, ROOT, THIRD, VICTIM, TrustCase
from witness_test import ACCESS_LIST, DEFAULT_LIST, list_for

GROUP = 61042


def modes(world, *names):
    return {
        name: oct(stat.S_IMODE(os.lstat(os.path.join(world.dir, name)).st_mode)) for name in names
    }


class MergedRights(TrustCase):
    def keep(self, world, script, uid=ROOT):
        world.cairn("run", "--at", world.dir, "--drain", "never", "--", "sh", "-c",
                    f"cd {world.dir}; {script}", uid=uid)

    def drain(self, world, uid=ROOT, expect=0):
        return world.cairn("drain", world.dir, uid=uid, expect=expect)

    def place(self, world, name, owner, mode, group=None):
        path = os.path.join(world.dir, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write("contents\n")
        os.chown(path, owner, owner if group is None else group)
        os.chmod(path, mode)
        return path

    def directory(self, world, name, owner, mode):
        path = os.path.join(world.dir, name)
        os.mkdir(path)
        os.chown(path, owner, owner)
        os.chmod(path, mode)
        return path

    def test_a_set_id_bit_for_a_group_of_the_run(self):
        """Neither side gave the bit to that group."""
        with self.world(True, ROOT) as world:
            path = self.place(world, "prog", MALLORY, 0o755)
            self.keep(world, f"echo more >> prog; chgrp {GROUP} prog")
            os.chmod(path, 0o2755)
            self.drain(world)
            self.assertEqual((os.stat(path).st_gid, modes(world, "prog")["prog"]),
                             (GROUP, "0o755"))

    def test_a_set_id_bit_for_an_owner_that_another_one_gave(self):
        with self.world(True, ROOT) as world:
            path = self.place(world, "prog", MALLORY, 0o755)
            self.keep(world, "chmod u+s prog; echo more >> prog; chmod u+s prog")
            os.chown(path, ROOT, ROOT)
            self.drain(world)
            self.assertEqual((os.stat(path).st_uid, modes(world, "prog")["prog"]),
                             (ROOT, "0o755"))

    def test_each_drain_keeps_what_was_taken_away(self):
        for runner in (ROOT, VICTIM):
            with self.subTest(runner=runner), self.world(True, runner) as world:
                self.place(world, "file", runner, 0o666)
                self.directory(world, "sub", runner, 0o777)
                names = ("file", "sub")
                self.keep(world, "echo more >> file; echo new > sub/a", runner)
                os.chmod(os.path.join(world.dir, "file"), 0o600)
                os.chmod(os.path.join(world.dir, "sub"), 0o700)
                for name in ("b", "c"):
                    self.drain(world, runner)
                    self.assertEqual(modes(world, *names), {"file": "0o600", "sub": "0o700"})
                    self.keep(world, f"echo more >> file; echo new > sub/{name}", runner)

    def test_a_group_that_was_taken_away(self):
        with self.world(True, ROOT) as world:
            names = ("written", "touched")
            for name in names:
                self.place(world, name, ROOT, 0o640, MALLORY)
            self.keep(world, "echo more >> written; touch touched")
            for name in names:
                os.chown(os.path.join(world.dir, name), ROOT, THIRD)
            self.drain(world)
            for name in names:
                self.assertEqual(os.stat(os.path.join(world.dir, name)).st_gid, THIRD, name)

    def test_renamed_files_and_directories(self):
        for runner in (ROOT, VICTIM):
            with self.subTest(runner=runner), self.world(True, runner) as world:
                self.place(world, "w", runner, 0o644)
                for name in ("s", "t"):
                    self.directory(world, name, runner, 0o755)
                    self.place(world, f"{name}/x", runner, 0o644)
                self.keep(world, "mv w w2; echo more >> w2; mv s s2; touch s2/new; mv t t2;"
                          " echo more >> t2/x", runner)
                for name, mode in (("w", 0o600), ("s", 0o700), ("t", 0o700)):
                    os.chmod(os.path.join(world.dir, name), mode)
                self.drain(world, runner)
                self.assertEqual(modes(world, "w2", "s2", "t2"), {
                    "w2": "0o600", "s2": "0o700", "t2": "0o700"})

    def test_a_mask_never_becomes_the_rights_of_the_group(self):
        with self.world(True, VICTIM) as world:
            os.makedirs(os.path.join(world.outside, "of_victim"), exist_ok=True)
            names = ("written", "chmodded", "unreadable", "elsewhere")
            for name in names:
                path = self.place(world, name, VICTIM, 0o600)
                os.setxattr(path, ACCESS_LIST, list_for(THIRD))
                os.chown(path, VICTIM, MALLORY)
            self.directory(world, "sub", VICTIM, 0o700)
            os.setxattr(os.path.join(world.dir, "sub"), ACCESS_LIST, list_for(THIRD))
            os.chown(os.path.join(world.dir, "sub"), VICTIM, MALLORY)
            os.chmod(os.path.join(world.dir, "unreadable"), 0o270)
            self.keep(world, "ls -l; mv written written2; echo more >> written2;"
                      " mv chmodded chmodded2; chmod 660 chmodded2; echo more > unreadable;"
                      " echo more >> elsewhere; mv sub sub2; echo new > sub2/new", VICTIM)
            to = os.path.join(world.outside, "of_victim")
            world.cairn("drain", world.dir, "--to", to, "--keep", uid=VICTIM)
            self.drain(world, VICTIM)
            paths = [os.path.join(world.dir, name)
                     for name in ("written2", "chmodded2", "unreadable", "elsewhere", "sub2")]
            for path in paths + [os.path.join(to, "elsewhere")]:
                has_list = ACCESS_LIST in os.listxattr(path) if os.access(path, os.R_OK) else True
                if not has_list:
                    self.assertEqual(os.stat(path).st_mode & 0o070, 0, path)
                run = world.as_user(MALLORY, "cat", path, expect=None)
                self.assertNotEqual(run.returncode, 0, path)

    def test_the_covered_directory_itself(self):
        with self.world(True, ROOT) as world:
            os.chown(world.dir, MALLORY, MALLORY)
            os.chmod(world.dir, 0o755)
            self.keep(world, "echo new > new")
            os.chown(world.dir, ROOT, ROOT)
            os.chmod(world.dir, 0o700)
            self.drain(world)
            st = os.stat(world.dir)
            self.assertEqual((st.st_uid, oct(stat.S_IMODE(st.st_mode))), (ROOT, "0o700"))

    def test_a_touched_file_that_its_owner_closes(self):
        with self.world(True, VICTIM) as world:
            path = self.place(world, "file", MALLORY, 0o666)
            self.keep(world, "touch file", VICTIM)
            os.chmod(path, 0o644)
            self.drain(world, VICTIM)
            self.assertEqual((os.stat(path).st_uid, modes(world, "file")["file"]),
                             (MALLORY, "0o644"))

    def test_a_symbolic_link_of_another_user_is_not_the_runs(self):
        with self.world(True, VICTIM) as world:
            self.keep(world, "ln -s target link", VICTIM)
            world.plant("os.symlink('target', 'link')")
            run = self.drain(world, VICTIM, expect=1)
            self.assertIn("link: created there outside Cairn", run.err)

    def test_a_default_list_that_comes_while_files_are_made(self):
        with self.world(True, ROOT) as world:
            os.chown(world.dir, MALLORY, MALLORY)
            self.keep(world, "umask 007; for i in $(seq 300); do echo SECRET > f$i; done")

            def set_and_remove():
                os.setxattr(".", DEFAULT_LIST, list_for(MALLORY))
                time.sleep(0.001)
                os.removexattr(".", DEFAULT_LIST)

            setter = start_racing(world.dir, set_and_remove)
            try:
                self.drain(world)
            finally:
                end_racing(setter)
            for name in os.listdir(world.dir):
                self.assertNotIn(ACCESS_LIST, os.listxattr(os.path.join(world.dir, name)), name)


if __name__ == "__main__":
    trust_case.main()
