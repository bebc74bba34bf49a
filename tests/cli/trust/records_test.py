"""What others plant as `.cairn`, where files that several nodes write have their records
(docs/design/trust.md)."""

import json
import os
import pathlib
import shutil
import stat
import struct
import subprocess

import forge
import trust_case
from trust_case import MALLORY, TrustCase, cairn_case, in_every_world

HOLD = pathlib.Path(os.environ["CAIRN_TEST_DIR"]) / "cli" / "hold_part_program"
IGNORED = f".cairn: ignored: it belongs to user {MALLORY}"


def remove(path):
    # What is so deep is more than shutil.rmtree can do.
    subprocess.run(["rm", "-rf", path], check=True)


class Records(TrustCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.hold_copy = shutil.copy(HOLD, os.path.join(cls.install, "bin", "hold"))

    # --- what lies there ---
    def put(self, world, path, data, uid=MALLORY, mode=0o644):
        """A file below the covered directory, with the directories on the way to it, all of this
        user's."""
        at = world.dir
        parts = path.split("/")
        for part in parts[:-1]:
            at = os.path.join(at, part)
            if not os.path.lexists(at):
                os.mkdir(at, 0o755)
                os.chown(at, uid, uid)
                if part == ".cairn" and uid != MALLORY:
                    os.chmod(at, 0o1700)  # as Cairn makes it
        at = os.path.join(at, parts[-1])
        with open(at, "wb") as file:
            file.write(data)
        os.chmod(at, mode)
        os.chown(at, uid, uid)
        return at

    def private_of(self, world):
        return os.path.join(world.outside,
                            "of_root" if world.runner == trust_case.ROOT else "of_victim")

    def uuid_of_pool(self, world):
        """Of a pool of the victim's that stays; everybody can read it in the claim."""
        world.cairn("pool", "create")
        run = subprocess.Popen([
            "setpriv", f"--reuid={world.runner}", f"--regid={world.runner}", "--clear-groups",
            self.cairn_copy, "run", "--at", world.dir, "--", "sh", "-c", "echo runs; read end"
        ], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               env=dict(self.env, HOME=world.home(world.runner),
                                        CAIRN_POOL_DIR=world.home(world.runner)), text=True)
        self.assertEqual(run.stdout.readline(), "runs\n")
        with open(os.path.join(world.dir, ".cairn-claim"), encoding="utf-8") as file:
            uuid = next(line.split()[1] for line in file if line.startswith("uuid "))
        run.communicate("end\n", timeout=60)
        return struct.pack("<2Q", int(uuid[:16], 16), int(uuid[16:], 16))

    def expect_ignored(self, world, *words, says=IGNORED):
        """A run goes as if nothing were there, and says so in one line."""
        before = world.look(os.path.join(world.dir, ".cairn"))
        at = os.path.join(world.dir, ".cairn")
        target = os.lstat(at)
        with self.unharmed(world):
            run = world.as_user(world.runner, *cairn_case.limited("as", 4 << 30), self.cairn_copy,
                                "run", "--at", world.dir, "--",
                                *(words or ("sh", "-c", f"echo written > {world.dir}/written")),
                                timeout=30)
        self.assertEqual(run.err.count("\n"), 1, run.err)
        self.assertIn(says, run.err)
        if not words:
            self.assertEqual(
                world.look(world.dir)[os.path.join(world.dir, "written")][4], b"written\n")
        self.assertEqual(world.look(at), before)
        self.assertEqual(os.lstat(at)[:6], target[:6])
        self.assertEqual(world.cairn("status", "--json").out.strip(), "[]")

    # --- attack 1 ---
    @in_every_world
    def test_a_forged_record_makes_nothing_run_with_others_rights(self, world):
        prog = self.put(world, "prog", b"#!/bin/sh\nid\n", mode=0o755)
        forged = {"mode": 0o6755, "uid": world.runner, "gid": world.runner}
        self.put(world, ".cairn/prog.record",
                 forge.record(size=os.path.getsize(prog), base=os.stat(prog), **forged))
        self.put(world, ".cairn/fresh.record", forge.record(size=3, **forged))
        self.expect_ignored(world)
        self.assertEqual(sorted(os.listdir(world.dir)), [".cairn", "prog", "written"])

    # --- attack 2 ---
    @in_every_world
    def test_a_forged_record_reads_no_secret(self, world):
        private = self.private_of(world)
        os.symlink(private, os.path.join(world.dir, "lnk"))
        secret = os.stat(os.path.join(private, "secret"))
        self.put(
            world, ".cairn/lnk/secret.record",
            forge.record(size=secret.st_size, mode=0o644, uid=world.runner, gid=world.runner,
                         base=secret))
        self.expect_ignored(world)

    @in_every_world
    def test_what_lies_behind_a_link_is_not_written_by_a_record_of_the_users_own(self, world):
        private = self.private_of(world)
        os.symlink(private, os.path.join(world.dir, "lnk"))
        secret = os.stat(os.path.join(private, "secret"))
        for name, base in ("secret", secret), ("made", None):
            self.put(
                world, f".cairn/lnk/{name}.record",
                forge.record(size=secret.st_size, mode=0o644, uid=world.runner, gid=world.runner,
                             base=base), uid=world.runner)
        with self.unharmed(world):
            run = world.run_at(expect=1)
        self.assertIn(f"{world.dir}/lnk/made", run.err)
        self.assertIn(f"{world.dir}/lnk/secret", run.err)

    # --- attack 3 ---
    def notes(self, world, uuid):
        private = "../../outside/" + os.path.basename(self.private_of(world))
        pairs = [(private, "stolen"), (private + "/secret", "stolen"),
                 ("own", private + "/planted"), ("own", "../moved"), ("own/../../kept", "own/x"),
                 (os.path.join(world.outside, "of_victim"), "stolen"), ("own", "/../../../moved")]
        for number, (old, new) in enumerate(pairs):
            yield f".cairn/.cairn/renaming-{number:032x}", forge.note(old, new, [uuid])

    @in_every_world
    def test_forged_renamings_move_nothing(self, world):
        uuid = self.uuid_of_pool(world)
        for path, data in self.notes(world, uuid):
            self.put(world, path, data)
        self.put(world, ".cairn/own/file", b"of mallory")
        self.put(world, "kept", b"kept")
        with self.unharmed(world):
            run = world.run_at()
        self.assertEqual(run.err.count("\n"), 1, run.err)
        self.assertIn(IGNORED, run.err)
        self.assertEqual(sorted(os.listdir(world.dir)), [".cairn", "kept"])
        self.assertEqual(sorted(os.listdir(os.path.join(world.dir, ".cairn"))), [".cairn", "own"])

    @in_every_world
    def test_a_note_of_the_users_own_moves_nothing_out_of_the_directory(self, world):
        uuid = self.uuid_of_pool(world)
        for path, data in self.notes(world, uuid):
            self.put(world, path, data, uid=world.runner)
        self.put(world, ".cairn/own/file", b"", uid=world.runner)
        self.put(world, "kept", b"kept", uid=world.runner)
        with self.unharmed(world):
            world.run_at()
        self.assertEqual(sorted(name for name in os.listdir(world.dir) if name != ".cairn"),
                         ["kept"])
        self.assertEqual(len(os.listdir(os.path.join(world.dir, ".cairn/.cairn"))), 7)

    # --- attack 6 ---
    @in_every_world
    def test_a_link_as_records_directory_removes_nothing(self, world):
        private = self.private_of(world)
        for name in ("empty", "sub/empty"):
            os.mkdir(os.path.join(private, name))
            os.chown(os.path.join(private, name), world.runner, world.runner)
        for name in ("x.record.new-" + "0" * 32, "file.aside-" + "1" * 16,
                     "file.mark-" + "1" * 16 + "-" + "2" * 16):
            with open(os.path.join(private, name), "w", encoding="utf-8") as file:
                file.write("of the victim\n")
            os.chown(file.name, world.runner, world.runner)
        world.plant(f"os.symlink({private!r}, '.cairn')")
        self.expect_ignored(
            world, says=f".cairn: ignored: it is not a directory, and belongs to user {MALLORY}")

    @in_every_world
    def test_a_link_to_an_empty_directory_stays(self, world):
        empty = os.path.join(self.private_of(world), "empty")
        os.mkdir(empty)
        os.chown(empty, world.runner, world.runner)
        world.plant(f"os.symlink({empty!r}, '.cairn')")
        self.expect_ignored(world, says="is not a directory")

    @in_every_world
    def test_an_empty_directory_of_others_stays(self, world):
        world.plant("os.mkdir('.cairn')")
        self.expect_ignored(world)

    @in_every_world
    def test_a_directory_that_others_cannot_enter_or_is_none_is_ignored(self, world):
        for script, says in (("os.mkdir('.cairn', 0o700)", IGNORED),
                             ("os.mkfifo('.cairn')", "is not a directory"), ("open('.cairn', 'w')",
                                                                             "is not a directory")):
            world.plant(script)
            self.expect_ignored(world, says=says)
            at = os.path.join(world.dir, ".cairn")
            (os.rmdir if os.path.isdir(at) else os.unlink)(at)

    @in_every_world
    def test_a_directory_of_the_users_own_that_others_can_write_to_is_ignored(self, world):
        self.put(world, ".cairn/fresh.record",
                 forge.record(size=3, mode=0o6755, uid=world.runner, gid=world.runner))
        at = os.path.join(world.dir, ".cairn")
        os.chown(at, world.runner, world.runner)
        os.chmod(at, 0o777)
        self.expect_ignored(world,
                            says=".cairn: ignored: it has mode 0777: other users can write to it")
        # What they have put in it does not count when they cannot any more.
        os.chmod(at, 0o1700)
        with self.unharmed(world):
            run = world.run_at()
        self.assertIn(f".cairn/fresh.record: ignored: it belongs to user {MALLORY}", run.err)
        self.assertEqual(run.err.count("\n"), 1, run.err)
        self.assertEqual(os.listdir(at), ["fresh.record"])
        # It could be any closed directory of the user, which they have moved there.
        os.chmod(at, 0o700)
        self.expect_ignored(
            world, says=".cairn: ignored: it has mode 0700: other users could have put it there")

    def test_the_owner_of_the_directory_could_have_put_it_there(self):
        """Nobody else can write to the covered directory, and it is not the user's."""
        with self.world(False, trust_case.ROOT) as world:
            os.chown(world.dir, MALLORY, MALLORY)
            os.chmod(world.dir, 0o755)
            os.makedirs(os.path.join(world.dir, "of_root", "empty"))
            world.plant("os.rename('of_root', '.cairn')")
            self.expect_ignored(
                world,
                says=".cairn: ignored: it has mode 0755: other users could have put it there")

    # --- attack 8 ---
    def plant_notes_that_do_not_end(self, world, uid):
        self.put(world, ".cairn/.cairn/x", b"", uid=uid)
        notes = os.path.join(world.dir, ".cairn", ".cairn")
        os.mkfifo(os.path.join(notes, "renaming-" + "1" * 32))
        os.symlink("/dev/zero", os.path.join(notes, "renaming-" + "2" * 32))
        os.mkdir(os.path.join(notes, "renaming-" + "3" * 32))
        os.mkdir(os.path.join(notes, "renaming-" + "4" * 32 + ".done-" + "5" * 32))
        with open(os.path.join(notes, "renaming-" + "6" * 32), "wb") as file:
            file.truncate((16 << 20) + 1)
        for name in os.listdir(notes):
            os.chown(os.path.join(notes, name), uid, uid, follow_symlinks=False)

    @in_every_world
    def test_notes_that_do_not_end_hold_up_nobody(self, world):
        self.plant_notes_that_do_not_end(world, MALLORY)
        self.expect_ignored(world)

    @in_every_world
    def test_nor_do_those_of_the_users_own(self, world):
        self.plant_notes_that_do_not_end(world, world.runner)
        run = world.as_user(world.runner, *cairn_case.limited("as", 4 << 30), self.cairn_copy,
                            "run", "--at", world.dir, "--", "true", timeout=30)
        self.assertEqual(run.err, "")

    @in_every_world
    def test_records_that_are_none_hold_up_nobody(self, world):
        self.put(world, ".cairn/x.record", b"no record")
        os.mkfifo(os.path.join(world.dir, ".cairn", "y.record"))
        self.expect_ignored(world)

    def dig(self, world, uid, levels):
        world.end = lambda: (remove(world.top), remove(world.memory))
        self.put(world, ".cairn/x", b"", uid=uid)
        world.python(
            uid,
            f"import os\nos.chdir('.cairn')\nfor i in range({levels}):\n    os.mkdir('d', 0o700)\n "
            "   os.chdir('d')\nopen('f.record', 'w').write('no record')\n",
            timeout=120,
        )

    @in_every_world
    def test_deep_directories_hold_up_nobody(self, world):
        self.dig(world, MALLORY, 3000)
        self.put(world, ".cairn/x.record", b"no record")
        run = world.run_at()
        self.assertEqual(run.err.count("\n"), 1, run.err)
        self.assertIn(IGNORED, run.err)
        self.assertTrue(os.path.isdir(os.path.join(world.dir, ".cairn", *["d"] * 100)))

    def test_deep_directories_of_the_users_own(self):
        with self.world(False, trust_case.VICTIM) as world:
            self.dig(world, world.runner, 4200)
            run = world.run_at(timeout=300)
            self.assertIn("more than 4096 directories deep", run.err)
            self.assertEqual(run.err.count("\n"), 1, run.err)

    # --- what is damaged, and what is honest ---
    @in_every_world
    def test_a_damaged_record_fails_its_own_file(self, world):
        me = {"uid": world.runner, "gid": world.runner}
        self.put(world, ".cairn/bad.record", b"no record", uid=world.runner)
        self.put(world, ".cairn/mode.record", forge.record(size=3, mode=0o104755, **me),
                 uid=world.runner)
        self.put(world, ".cairn/good.record", forge.record(size=3, mode=0o640, **me),
                 uid=world.runner)
        run = world.run_at("sh", "-c", f"echo written > {world.dir}/written", expect=1)
        self.assertIn("bad.record: not a record of a shared file", run.err)
        self.assertIn("mode.record: the record is damaged", run.err)
        self.assertEqual(sorted(os.listdir(world.dir)),
                         [".cairn", ".cairn-claim", "good", "written"])
        self.assertEqual(os.stat(os.path.join(world.dir, "good")).st_mode, stat.S_IFREG | 0o640)
        for _ in range(2):
            self.assertIn('"all_drained":false',
                          world.cairn("status", "--json").out.replace(" ", ""))
            self.assertNotIn("all drained", world.cairn("status").out)
            world.cairn("drain", world.dir, expect=1)
        for name in ("bad", "mode"):
            os.unlink(os.path.join(world.dir, ".cairn", name + ".record"))
        world.cairn("drain", world.dir)
        self.assertEqual(sorted(os.listdir(world.dir)), ["good", "written"])

    # --- whose rights a file gets ---
    @in_every_world
    def test_an_access_list_of_others_does_not_go_over_to_the_users_file(self, world):
        old = self.put(world, "report", b"of mallory")
        users = struct.pack("<I", 2) + b"".join(
            struct.pack("<HHI", *entry)
            for entry in ((1, 6, 0xFFFFFFFF), (2, 6, MALLORY), (4, 4, 0xFFFFFFFF),
                          (16, 6, 0xFFFFFFFF), (32, 4, 0xFFFFFFFF)))
        try:
            os.setxattr(old, "system.posix_acl_access", users)
        except OSError as error:
            self.skipTest(f"no access lists here: {error}")
        self.put(
            world, ".cairn/report.record",
            forge.record(size=10, mode=0o640, uid=world.runner, gid=world.runner,
                         base=os.stat(old)), uid=world.runner)
        may_replace = not world.sticky or world.runner == trust_case.ROOT
        with self.unharmed(world):
            world.run_at(expect=0 if may_replace else 1)
        if not may_replace:
            return
        self.assertEqual(os.stat(old).st_uid, world.runner)
        self.assertEqual(os.stat(old).st_mode, stat.S_IFREG | 0o640)
        self.assertNotIn("system.posix_acl_access", os.listxattr(old))

    def test_rights_of_a_group_go_to_no_other_group(self):
        group = 61099
        for groups, expected in ((["--clear-groups"], (trust_case.VICTIM, 0o644)),
                                 ([f"--groups={group}"], (group, 0o664))):
            with self.subTest(groups=groups), self.world(False, trust_case.VICTIM) as world:
                self.put(world, ".cairn/file.record",
                         forge.record(size=3, mode=0o664, uid=trust_case.THIRD, gid=group),
                         uid=world.runner)
                home = world.home(world.runner)
                subprocess.run([
                    "setpriv", f"--reuid={world.runner}", f"--regid={world.runner}", *groups,
                    self.cairn_copy, "run", "--at", world.dir, "--", "true"
                ], env=dict(self.env, HOME=home, CAIRN_POOL_DIR=home), check=True, timeout=60)
                st = os.stat(os.path.join(world.dir, "file"))
                self.assertEqual(st.st_uid, world.runner)
                self.assertEqual((st.st_gid, stat.S_IMODE(st.st_mode)), expected)

    def cover(self, world):
        """A cover that stays, by the victim; the path of its pool."""
        world.cairn("run", "--at", world.dir, "--drain-mode", "never", "--", "true")
        found = world.cairn("status", "--json").out
        return json.loads(found)[0]["path"]

    @in_every_world
    def test_files_of_several_nodes_are_put_together(self, world):
        pool = self.cover(world)
        world.as_user(world.runner, self.hold_copy, pool, world.dir, "sub/file", "5", "0", "bytes")
        for below, mode in ((".cairn", 0o1700), (".cairn/sub", 0o700)):
            st = os.stat(os.path.join(world.dir, below))
            self.assertEqual((st.st_mode & 0o7777, st.st_uid), (mode, world.runner))
        with self.unharmed(world):
            self.assertEqual(world.cairn("drain", world.dir).err, "")
        with open(os.path.join(world.dir, "sub", "file"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "bytes")
        self.assertEqual(os.listdir(world.dir), ["sub"])

    @in_every_world
    def test_records_that_a_group_can_write_to_cost_no_part(self, world):
        pool = self.cover(world)
        world.as_user(world.runner, self.hold_copy, pool, world.dir, "sub/file", "5", "0", "bytes")
        record = os.path.join(world.dir, ".cairn", "sub", "file.record")
        os.chmod(record, 0o660)
        run = world.cairn("drain", world.dir, expect=1)
        self.assertIn(f"{record}: ignored: it has mode 0660: other users can write to it", run.err)
        self.assertIn(f"chmod -R go-w {world.dir}/.cairn", run.err)
        self.assertIn("1 parts of files that several nodes wrote stay in the pool", run.err)
        self.assertFalse(os.path.exists(os.path.join(world.dir, "sub")))
        self.assertNotIn("all drained", world.cairn("status").out)
        world.as_user(world.runner, "chmod", "-R", "go-w", os.path.join(world.dir, ".cairn"))
        world.cairn("drain", world.dir)
        with open(os.path.join(world.dir, "sub", "file"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "bytes")

    @in_every_world
    def test_a_record_is_not_made_where_others_have_the_name(self, world):
        pool = self.cover(world)
        world.plant("os.mkdir('.cairn', 0o777); os.chmod('.cairn', 0o777)")
        run = world.as_user(world.runner, self.hold_copy, pool, world.dir, "file", "5", "0",
                            "bytes", expect=1)
        self.assertIn(
            f"{world.dir}/.cairn: cannot hold the records of files that several nodes write: it"
            f" belongs to user {MALLORY}",
            run.err,
        )
        self.assertEqual(os.listdir(os.path.join(world.dir, ".cairn")), [])

    @in_every_world
    def test_parts_stay_when_others_take_the_place_of_their_records(self, world):
        pool = self.cover(world)
        world.as_user(world.runner, self.hold_copy, pool, world.dir, "file", "5", "0", "bytes")
        at = os.path.join(world.dir, ".cairn")
        os.rename(at, at + "-moved")
        world.plant("os.mkdir('.cairn')")
        run = world.cairn("drain", world.dir, expect=1)
        self.assertIn(IGNORED, run.err)
        self.assertIn("1 parts of files that several nodes wrote stay in the pool", run.err)
        os.rmdir(at)
        os.rename(at + "-moved", at)
        world.cairn("drain", world.dir)
        self.assertTrue(os.path.exists(os.path.join(world.dir, "file")))


if __name__ == "__main__":
    trust_case.main()
