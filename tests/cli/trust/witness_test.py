"""A file or directory in the covered directory counts as the remembered one only by its witness:
device, inode number, time of creation, size and mtime; for rights also owner and ctime
(docs/design/trust.md).

Mallory makes other files with the same number, size and times, or changes bytes and sets the times
back. A drain must not give such bytes another user's rights. What a colleague does without such
intent (a change of mode, owner, times or links) is no conflict, except as documented. """

import os
import random
import stat
import struct
import sys
import threading
import time

import trust_case
from trust_case import MALLORY, ROOT, THIRD, VICTIM, TrustCase

ACCESS_LIST = "system.posix_acl_access"
DEFAULT_LIST = "system.posix_acl_default"

# Exchanges `name` for a file or directory of Mallory's with the same inode number.
EXCHANGE = """
import os
def exchange(name, make, remove):
    number = os.lstat(name).st_ino
    remove(name)
    made = []
    for i in range(5000):
        made.append(f"try{i}")
        make(made[-1])
        if os.lstat(made[-1]).st_ino == number:
            os.rename(made.pop(), name)
            break
    else:
        raise SystemExit(3)
    for other in made:
        remove(other)
def exchange_file(name, contents):
    st = os.lstat(name)
    def make(path):
        with open(path, "wb") as file:
            file.write(contents.ljust(st.st_size, b"E")[:st.st_size])
    exchange(name, make, os.unlink)
    os.chmod(name, 0o755)
    os.utime(name, ns=(st.st_atime_ns, st.st_mtime_ns))
"""


def list_for(uid, permissions=6):
    """Entries for the owner, this user, the group, the mask and others."""
    nobody = 0xffffffff
    entries = ((1, 7, nobody), (2, permissions, uid), (4, 0, nobody), (16, 7, nobody),
               (32, 0, nobody))
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)


class Witness(TrustCase):
    def keep(self, world, uid, script, **more):
        world.cairn("run", "--at", world.dir, "--drain", "never", "--", "sh", "-c",
                    f"cd {world.dir}; {script}", uid=uid, **more)

    def place(self, world, name, contents, owner, mode):
        path = os.path.join(world.dir, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(contents)
        os.chown(path, owner, owner)
        os.chmod(path, mode)
        os.utime(path, (1_700_000_000, 1_700_000_000))
        return path

    def exchange(self, world, script):
        run = world.plant(EXCHANGE + script, expect=None)
        if run.returncode == 3:
            self.skipTest("this file system gave no number again")
        self.assertEqual(run.returncode, 0, run.err)

    def drain(self, world, uid, expect=0):
        return world.cairn("drain", world.dir, uid=uid, expect=expect)

    def assert_no_rights_for(self, path, evil=b"EVIL"):
        """Nobody but Mallory owns these bytes, and they do not run with rights."""
        with open(path, "rb") as file:
            if evil in file.read():
                st = os.stat(path)
                self.assertEqual(st.st_uid, MALLORY, path)
                self.assertEqual(st.st_gid, MALLORY, path)

    def test_a_file_with_the_number_of_one_that_root_has_touched(self):
        for change in ("touch tool", "chmod 4711 tool", "chown 0:0 tool", "setfattr -n user.x tool"
                       " || touch tool"):
            with self.subTest(change=change), self.world(False, ROOT) as world:
                tool = self.place(world, "tool", "#!/bin/sh\necho the tool of root\n", ROOT, 0o4755)
                self.keep(world, ROOT, change)
                self.exchange(world, "exchange_file('tool', b'#!/EVIL')")
                drain = self.drain(world, ROOT, expect=1)
                self.assertIn("it changed there outside Cairn", drain.err)
                self.assert_no_rights_for(tool)
                self.assertEqual(os.stat(tool).st_uid, MALLORY)

    def test_bytes_that_the_former_owner_changes_before_the_drain(self):
        for sticky in (False, True):
            for after in ("chmod 4755 prog", "true"):
                with self.subTest(sticky=sticky, after=after), self.world(sticky, ROOT) as world:
                    prog = self.place(world, "prog", "#good-program-AAAAAAAA\n", MALLORY, 0o755)
                    self.keep(world, ROOT, "chown 0:0 prog; chmod 755 prog; cat prog")
                    world.plant("st = os.stat('prog')\n"
                                "with open('prog', 'r+b') as file: file.write(b'#EVIL')\n"
                                "os.utime('prog', ns=(st.st_atime_ns, st.st_mtime_ns))")
                    self.keep(world, ROOT, after)
                    drain = self.drain(world, ROOT, expect=1)
                    self.assertIn("or its bytes and then its times", drain.err)
                    self.assert_no_rights_for(prog)
                    self.assertFalse(os.stat(prog).st_mode & stat.S_ISUID)

    def test_bytes_that_the_former_owner_holds_open(self):
        with self.world(True, ROOT) as world:
            prog = self.place(world, "prog", "#good-program-AAAAAAAA\n", MALLORY, 0o755)
            self.keep(world, ROOT, "chown 0:0 prog; chmod 4755 prog")
            held = os.open(prog, os.O_WRONLY)
            self.addCleanup(os.close, held)
            self.drain(world, ROOT)
            os.pwrite(held, b"#EVIL", 0)
            st = os.stat(prog)
            self.assertEqual((st.st_uid, st.st_mode & 0o7777), (ROOT, 0o4755))
            with open(prog, "rb") as file:
                self.assertEqual(file.read(), b"#good-program-AAAAAAAA\n")

    def test_what_is_given_away_holds_the_bytes_and_the_attributes(self):
        with self.world(True, ROOT) as world:
            path = self.place(world, "large", "x" * 3_000_000, MALLORY, 0o664)
            os.setxattr(path, "user.note", b"kept")
            self.keep(world, ROOT, f"chown {THIRD}:{THIRD} large; chmod 640 large")
            status = world.cairn("pool", "list", uid=ROOT)
            self.drain(world, ROOT)
            st = os.stat(path)
            self.assertEqual((st.st_uid, st.st_gid, st.st_mode & 0o7777, st.st_size, st.st_mtime),
                             (THIRD, THIRD, 0o640, 3_000_000, 1_700_000_000), status.out)
            self.assertEqual(os.getxattr(path, "user.note"), b"kept")
            self.assertEqual(world.run_at("sh", "-c", "wc -c < large").out.strip(), "3000000")

    def test_an_access_list_of_the_former_owner(self):
        for change in ("echo ROOT-SECRET > conf", "true"):
            with self.subTest(change=change), self.world(True, ROOT) as world:
                conf = self.place(world, "conf", "mine\n", MALLORY, 0o644)
                self.keep(world, ROOT, f"chown 0:0 conf; chmod 640 conf; {change}")
                world.plant(f"os.setxattr('conf', '{ACCESS_LIST}', {list_for(MALLORY)!r})")
                self.drain(world, ROOT, expect=0 if "SECRET" in change else 1)
                if "SECRET" in change:
                    self.assertNotIn(ACCESS_LIST, os.listxattr(conf))
                    world.as_user(MALLORY, "cat", "conf", expect=1)
                else:
                    self.assertEqual(os.stat(conf).st_uid, MALLORY)

    def test_an_access_list_of_another_user_with_the_same_number(self):
        with self.world(False, VICTIM) as world:
            path = self.place(world, "f", "old-text", VICTIM, 0o640)
            self.keep(world, VICTIM, "cat f >/dev/null; echo VICTIM-SECRET > f")
            self.exchange(world, "exchange_file('f', b'')\n"
                          f"os.setxattr('f', '{ACCESS_LIST}', {list_for(MALLORY)!r})\n"
                          "os.utime('f', (1_700_000_000, 1_700_000_000))")
            self.drain(world, VICTIM, expect=1)
            self.assertNotIn("SECRET", world.as_user(MALLORY, "cat", "f", expect=None).out)
            os.unlink(path)

    def test_a_mask_does_not_become_the_rights_of_the_group(self):
        """The bits of the group are the mask of an access list, which the new file does not get."""
        with self.world(True, ROOT) as world:
            path = self.place(world, "shared", "old\n", MALLORY, 0o600)
            os.setxattr(path, ACCESS_LIST, list_for(THIRD))
            os.chown(path, MALLORY, VICTIM)
            self.assertEqual(os.stat(path).st_mode & 0o777, 0o770)
            self.keep(world, ROOT, "chown 0 shared; echo ROOT-SECRET > shared")
            self.drain(world, ROOT)
            self.assertNotIn(ACCESS_LIST, os.listxattr(path))
            self.assertEqual(os.stat(path).st_mode & 0o777, 0o700)
            world.as_user(VICTIM, "cat", "shared", expect=1)

    def test_a_directory_with_a_number_that_is_used_again(self):
        for runner in (ROOT, VICTIM):
            with self.subTest(runner=runner), self.world(False, runner) as world:
                sub = os.path.join(world.dir, "sub")
                os.mkdir(sub, 0o755)
                os.chown(sub, runner, runner)
                self.keep(world, runner, "umask 027; echo SECRET > sub/s")
                self.exchange(world, "exchange('sub', lambda path: os.mkdir(path, 0o777), os.rmdir)"
                              f"\nos.setxattr('sub', '{DEFAULT_LIST}', {list_for(MALLORY)!r})")
                drain = self.drain(world, runner, expect=1)
                self.assertIn("its directory was replaced", drain.err)
                self.assertEqual(os.listdir(sub), [])

    def test_a_directory_that_root_has_taken_over(self):
        with self.world(True, ROOT) as world:
            sub = os.path.join(world.dir, "sub")
            world.plant("os.mkdir('sub', 0o777)")
            self.keep(world, ROOT, "chown 0:0 sub; chmod 755 sub; umask 027; echo SECRET > sub/s;"
                      "mkdir sub/below; echo SECRET > sub/below/t")
            world.plant(f"os.setxattr('sub', '{DEFAULT_LIST}', {list_for(MALLORY)!r})\n"
                        f"os.setxattr('sub', '{ACCESS_LIST}', {list_for(MALLORY, 7)!r})")
            self.drain(world, ROOT)
            self.assertEqual(os.listxattr(sub), [])
            for path in (sub, os.path.join(sub, "below")):
                self.assertEqual((os.stat(path).st_uid, os.stat(path).st_mode & 0o777),
                                 (ROOT, 0o700 if path == sub else 0o750))
            world.as_user(MALLORY, "cat", "sub/s", expect=1)
            world.as_user(MALLORY, "sh", "-c", "echo x > sub/mine", expect=2)

    def test_a_directory_that_root_has_taken_over_and_not_written_to(self):
        with self.world(True, ROOT) as world:
            sub = os.path.join(world.dir, "sub")
            world.plant("os.mkdir('sub', 0o777)")
            self.keep(world, ROOT, "chown 0:0 sub; chmod 775 sub")
            world.plant(f"os.setxattr('sub', '{DEFAULT_LIST}', {list_for(MALLORY)!r})")
            self.drain(world, ROOT)
            self.assertEqual(os.listxattr(sub), [])
            self.assertEqual((os.stat(sub).st_uid, os.stat(sub).st_mode & 0o777), (ROOT, 0o775))

    def test_a_project_keeps_the_default_list_of_its_directory(self):
        with self.world(False, VICTIM) as world:
            os.chown(world.dir, VICTIM, VICTIM)
            os.chmod(world.dir, 0o770)
            os.setxattr(world.dir, DEFAULT_LIST, list_for(THIRD))
            world.run_at("sh", "-c", f"echo ours > {world.dir}/result")
            self.assertIn(ACCESS_LIST, os.listxattr(os.path.join(world.dir, "result")))

    def test_changes_of_rights_by_a_colleague_are_no_conflicts(self):
        """1,000 changes in DIR while a pool keeps what a run wrote, and what a drain does then."""
        chance = random.Random(7)
        names = [f"f{i}" for i in range(100)]
        for runner in (ROOT, VICTIM):
            with self.subTest(runner=runner), self.world(False, runner) as world:
                for i, name in enumerate(names):
                    self.place(world, name, f"contents of {name}\n", (VICTIM, runner)[i % 2], 0o664)
                self.keep(world, runner, "for i in $(seq 0 4 99); do echo new >> f$i; touch"
                          " f$((i + 1)); chmod 600 f$((i + 2)); done")
                for _ in range(500):
                    path = os.path.join(world.dir, chance.choice(names))
                    match chance.randrange(3):
                        case 0:
                            os.chmod(path, chance.choice((0o600, 0o640, 0o664, 0o644)))
                        case 1:
                            os.chown(path, -1, chance.choice((VICTIM, THIRD)))
                        case 2:
                            os.link(path, path + ".link")
                            os.unlink(path + ".link")
                read = world.run_at("sh", "-c", f"cat {world.dir}/f*")
                self.assertEqual(read.err, "")  # this run has drained
                for i, name in enumerate(names):
                    path = os.path.join(world.dir, name)
                    with open(path, encoding="utf-8") as file:
                        self.assertEqual(file.read(), f"contents of {name}\n" +
                                         ("new\n" if i % 4 == 0 else ""))
                    if i % 4 == 2:
                        self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)

    def test_changes_of_times_and_owners_by_a_colleague_have_their_documented_outcome(self):
        chance = random.Random(11)
        for runner in (ROOT, VICTIM):
            with self.subTest(runner=runner), self.world(False, runner) as world:
                names = [f"f{i}" for i in range(90)]
                for i, name in enumerate(names):
                    self.place(world, name, f"contents of {name}\n", (VICTIM, runner)[i % 2], 0o664)
                self.keep(world, runner, "for i in $(seq 0 3 89); do echo new >> f$i;"
                          " chmod 600 f$((i + 1)); done")
                in_conflict = set()
                for i, name in enumerate(names):
                    path = os.path.join(world.dir, name)
                    change = chance.choice(("times", "owner", "none"))
                    if change == "times":
                        os.utime(path, (1_800_000_000, 1_800_000_000))
                    elif change == "owner":
                        os.chown(path, THIRD, -1)
                    # The bytes of the others are in the pool, or the run has not changed them, or
                    # root's drain leaves the new owner.
                    is_given = change == "owner" and i % 3 == 1 and runner != ROOT
                    if (change == "times" and i % 3 < 2) or is_given:
                        in_conflict.add(i)
                drain = self.drain(world, runner, expect=1)
                self.assertIn(f"{len(in_conflict)} in conflict", drain.err)
                for i, name in enumerate(names):
                    path = os.path.join(world.dir, name)
                    with open(path, encoding="utf-8") as file:
                        written = i % 3 == 0 and i not in in_conflict
                        self.assertEqual(file.read(), f"contents of {name}\n" + "new\n" * written)
                    mode = 0o600 if i % 3 == 1 and i not in in_conflict else 0o664
                    self.assertEqual(os.stat(path).st_mode & 0o777, mode, name)

    def rewrite(self, world, name, contents="#EVIL"):
        """Mallory changes the first bytes of a file and sets its times back."""
        world.plant(f"st = os.stat({name!r})\n"
                    f"with open({name!r}, 'r+b') as file: file.write({contents.encode()!r})\n"
                    f"os.utime({name!r}, ns=(st.st_atime_ns, st.st_mtime_ns))")

    def test_a_capability_for_bytes_that_their_owner_changes(self):
        capability = struct.pack("<IIIII", 0x02000001, 1 << 7, 0, 0, 0)  # setuid
        give = f"import os; os.setxattr('prog', 'security.capability', {capability!r})"
        for evil in (False, True):
            with self.subTest(evil=evil), self.world(True, ROOT) as world:
                prog = self.place(world, "prog", "#good-program-AAAAAAAA\n", MALLORY, 0o755)
                world.cairn("run", "--at", world.dir, "--drain", "never", "--", sys.executable,
                            "-c", give)
                if evil:
                    self.rewrite(world, "prog")
                self.drain(world, ROOT, expect=int(evil))
                self.assertEqual("security.capability" in os.listxattr(prog), not evil)

    def test_a_default_list_that_the_owner_of_the_directory_sets_during_a_run(self):
        for runner in (ROOT, VICTIM):
            for before in (False, True):
                with self.subTest(runner=runner, before=before), self.world(True, runner) as world:
                    os.chown(world.dir, MALLORY, MALLORY)
                    set_list = f"os.setxattr('.', '{DEFAULT_LIST}', {list_for(MALLORY)!r})"
                    if before:
                        world.plant(set_list)
                    self.place(world, "old", "old\n", runner, 0o660)
                    os.removexattr(os.path.join(world.dir, "old"), ACCESS_LIST) if before else None
                    self.keep(world, runner, "umask 007; echo SECRET > old; echo SECRET > new;"
                              " mkdir sub; echo SECRET > sub/new; mkfifo pipe; ls >/dev/null")
                    if not before:
                        world.plant(set_list)
                    self.drain(world, runner)
                    for name in ("old", "new", "sub", "sub/new", "pipe"):
                        lists = os.listxattr(os.path.join(world.dir, name))
                        gets_list = before and name != "old"
                        self.assertEqual(ACCESS_LIST in lists, gets_list, name)

    def test_a_drain_mode_that_another_user_has_set(self):
        for owner in (MALLORY, ROOT):
            with self.subTest(owner=owner), self.world(True, ROOT) as world:
                sub = os.path.join(world.dir, "sub")
                os.mkdir(sub)
                os.chown(sub, owner, owner)
                os.chmod(sub, 0o777)
                self.place(world, "sub/old", "old\n", owner, 0o666)
                world.plant("for path in ('sub', 'sub/old'):\n"
                            "    os.setxattr(path, 'user.cairn.drain', b'never')")
                world.run_at("sh", "-c", f"cd {world.dir}; chown -R 0:0 sub; chmod 755 sub;"
                             " echo mine > sub/new; echo mine > sub/old")
                for name in ("new", "old"):
                    with open(os.path.join(sub, name), encoding="utf-8") as file:
                        self.assertEqual(file.read(), "mine\n", name)
                self.assertEqual(os.listxattr(os.path.join(sub, "old")), [])

    def test_a_drain_mode_of_others_ends_when_the_run_closes_what_has_it(self):
        """It stayed on directories, counted in the next run, and kept its files out of DIR."""
        for runner, close in ((ROOT, "chown 0:0 sub old; chmod 755 sub; chmod 644 old"),
                              (VICTIM, "chmod 755 sub; chmod 644 old")):
            with self.subTest(runner=runner), self.world(True, runner) as world:
                owner = MALLORY if runner == ROOT else VICTIM
                sub = os.path.join(world.dir, "sub")
                os.mkdir(sub)
                os.chown(sub, owner, owner)
                os.chmod(sub, 0o777)
                old = self.place(world, "old", "old\n", owner, 0o666)
                world.plant("for path in ('sub', 'old'):\n"
                            "    os.setxattr(path, 'user.cairn.drain', b'never')")
                world.run_at("sh", "-c", f"cd {world.dir}; ls -l sub; {close}; echo one > sub/f")
                self.assertEqual([os.listxattr(sub), os.listxattr(old)], [[], []])
                run = world.run_at("sh", "-c", f"cd {world.dir}; echo two > sub/f; echo two > old")
                self.assertEqual(run.err, "")
                for path in (os.path.join(sub, "f"), old):
                    with open(path, encoding="utf-8") as file:
                        self.assertEqual(file.read(), "two\n", path)

    def test_a_drain_mode_that_was_planted_earlier_is_told(self):
        """Nobody can tell whose it is: the run loses the data, and says so."""
        with self.world(False, VICTIM) as world:
            os.chown(world.dir, VICTIM, VICTIM)
            world.plant("os.setxattr('.', 'user.cairn.drain', b'never')")
            os.chmod(world.dir, 0o755)
            run = world.run_at("sh", "-c", f"cd {world.dir}; echo lost > f; mkdir d; ln -s f l")
            told = (f"cairn: {world.dir}: 3 names are not drained: {world.dir} had the drain mode "
                    "never before the run; if they are to be drained, remove it with `setfattr -x "
                    f"user.cairn.drain {world.dir}` and start the run again\n")
            self.assertEqual(run.err, told)
            # A mode that the run sets is its own.
            mark = f"import os; os.setxattr('{world.dir}', 'user.cairn.drain', b'never')"
            run = world.run_at("sh", "-c", f"cd {world.dir}; {sys.executable} -c \"{mark}\";"
                               " echo lost > f")
            self.assertEqual(run.err, "")
            os.removexattr(world.dir, "user.cairn.drain")
            sub = os.path.join(world.dir, "sub")
            world.as_user(VICTIM, "mkdir", sub)
            os.setxattr(sub, "user.cairn.drain", b"never")
            world.cairn("run", "--at", world.dir, "--drain", "never", "--", "sh", "-c",
                        f"echo lost > {sub}/f; echo kept > {world.dir}/g")
            run = world.cairn("drain", world.dir)
            self.assertIn(f"1 name is not drained: {sub} had the drain mode never", run.err)
            self.assertEqual(sorted(os.listdir(world.dir)), ["g", "sub"])

    def test_rights_that_were_taken_away_outside_stay_away(self):
        for runner in (ROOT, VICTIM):
            with self.subTest(runner=runner), self.world(True, runner) as world:
                for name in ("lazy", "written"):
                    self.place(world, name, "contents\n", runner, 0o4777)
                os.mkdir(os.path.join(world.dir, "sub"))
                os.chown(os.path.join(world.dir, "sub"), runner, runner)
                os.chmod(os.path.join(world.dir, "sub"), 0o777)
                self.keep(world, runner, "touch lazy; cp -p written w; cat w > written; chmod u+s"
                          " written; echo new > sub/file")
                for name, mode in (("lazy", 0o700), ("written", 0o700), ("sub", 0o1755)):
                    os.chmod(os.path.join(world.dir, name), mode)
                self.drain(world, runner)
                for name, mode in (("lazy", 0o700), ("written", 0o700), ("sub", 0o1755)):
                    st = os.stat(os.path.join(world.dir, name))
                    self.assertEqual(oct(st.st_mode & 0o7777), oct(mode), name)

    def test_a_read_in_a_process_that_has_read_the_file_before(self):
        with self.world(True, ROOT) as world:
            self.place(world, "prog", "#good-program-AAAAAAAA\n", MALLORY, 0o755)
            turn = os.path.join(world.top, "turn")
            script = ("import os, time\n"
                      "fd = os.open('prog', os.O_RDONLY)\n"
                      "assert os.pread(fd, 5, 0) == b'#good'\n"
                      "os.chown('prog', 0, 0)\n"
                      "assert os.pread(fd, 5, 0) == b'#good'\n"
                      f"open({turn!r}, 'w').close()\n"
                      f"while os.path.exists({turn!r}): time.sleep(0.01)\n"
                      "for again in (fd, None):\n"
                      "    try:\n"
                      "        again = os.open('prog', os.O_RDONLY) if again is None else again\n"
                      "        print(os.pread(again, 5, 0))\n"
                      "    except OSError as error: print(error.errno)\n")

            def rewrite():
                while not os.path.exists(turn):
                    time.sleep(0.01)
                self.rewrite(world, "prog")
                os.unlink(turn)

            other = threading.Thread(target=rewrite, daemon=True)
            other.start()
            run = world.run_at(sys.executable, "-c", script, expect=None)
            other.join(10)
            self.assertEqual(run.out.split(), ["116", "116"], run.err)


if __name__ == "__main__":
    trust_case.main()
