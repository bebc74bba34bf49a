"""Root's commands in a pool of another user have that user's rights, not root's
(docs/design/trust.md, Root)."""

import ctypes
import os
import shutil
import stat
import subprocess
import sys
import time

import trust_case
from trust_case import ROOT, VICTIM, TrustCase

# The victim is root here: the pool's owner is the one who may not be trusted.
OWNER = VICTIM

# As the pool's owner, with the C API: a file of root's with a set-user-ID bit. The engine checks no
# owner against its process: it is told whose calls it serves (cairn_pool_set_user).
FORGE = """
import ctypes, os, sys
lib, pool_path, directory = sys.argv[1:]
cairn = ctypes.CDLL(lib)
cairn.cairn_last_error.restype = ctypes.c_char_p
cairn.cairn_cover_top.restype = ctypes.c_uint64
cairn.cairn_cover_top.argtypes = [ctypes.c_void_p]
def check(result):
    if result < 0: raise SystemExit(cairn.cairn_last_error().decode())
pool, cover, file = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
check(cairn.cairn_pool_attach(pool_path.encode(), 0, ctypes.byref(pool)))
check(cairn.cairn_cover_join(pool, directory.encode(), ctypes.byref(cover)))
cairn.cairn_pool_set_user(pool, 0, 0)
top = ctypes.c_uint64(cairn.cairn_cover_top(cover))
check(cairn.cairn_open(pool, top, b"forged", os.O_CREAT | os.O_RDWR, 0o4755, ctypes.byref(file)))
check(cairn.cairn_pwrite(file, b"#!/bin/sh", ctypes.c_size_t(9), ctypes.c_uint64(0)))
check(cairn.cairn_close(file))
cairn.cairn_cover_close(cover)
cairn.cairn_pool_detach(pool)
"""

# A process that attached as the owner, and is root again.
AS_ROOT_AGAIN = """
import ctypes, os, sys
lib, pool_path, directory, owner = sys.argv[1:]
cairn = ctypes.CDLL(lib)
cairn.cairn_last_error.restype = ctypes.c_char_p
pool, cover = ctypes.c_void_p(), ctypes.c_void_p()
os.setegid(int(owner))
os.seteuid(int(owner))
assert cairn.cairn_pool_attach(pool_path.encode(), 0, ctypes.byref(pool)) == 0, cairn.cairn_last_error()
assert cairn.cairn_cover_join_kept(pool, directory.encode(), ctypes.byref(cover)) == 0, cairn.cairn_last_error()
os.seteuid(0)
for name, rest in (("drain", [None] * 4), ("drain_to", [directory.encode()] + [None] * 4), ("end", []), ("discard", [])):
    print(name, getattr(cairn, "cairn_cover_" + name)(cover, *rest), cairn.cairn_last_error().decode())
"""


def in_both_directories(test):
    """A test(self, world) for a sticky and a non-sticky directory; commands of the world are
    root's."""

    def run(self):
        for sticky in (False, True):
            with self.subTest(sticky=sticky), self.world(sticky, ROOT) as world:
                test(self, world)

    run.__name__ = test.__name__
    return run


class RootAndAnotherUsersPool(TrustCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.library = shutil.copy(trust_case.cairn_case.BIN.parent / "lib" / "libcairn.so",
                                  os.path.join(cls.install, "lib"))

    def leave(self, world, script="echo kept > file; mkdir sub; echo below > sub/file",
              owner=OWNER):
        """What a run of the owner's leaves in his pool; its path."""
        world.cairn("run", "--at", world.dir, "--drain", "never", "--", "sh", "-c",
                    f"cd {world.dir} && {{ {script}; }}", uid=owner)
        return os.path.join(world.home(owner), "default")

    def states(self, world, owner=OWNER):
        return world.cairn("status", uid=owner).out

    @in_both_directories
    def test_a_drain_writes_as_the_owner(self, world):
        with open(os.path.join(world.dir, "closed"), "w", encoding="utf-8") as file:
            file.write("closed\n")
        os.chown(file.name, OWNER, OWNER)
        self.leave(
            world,
            "echo kept > file; chmod 640 file; mkdir sub; echo below > sub/file; ln -s file link;"
            " mkfifo pipe; echo more >> closed; chmod 0 closed",
        )
        with self.unharmed(world):
            run = world.cairn("drain", world.dir, "--log-level", "info")
        self.assertIn(f"working with the rights of user {OWNER}", run.err)
        self.assertEqual(sorted(os.listdir(world.dir)), ["closed", "file", "link", "pipe", "sub"])
        for name in os.listdir(world.dir):
            st = os.lstat(os.path.join(world.dir, name))
            self.assertEqual((st.st_uid, st.st_gid), (OWNER, OWNER), name)
        self.assertEqual(stat.S_IMODE(os.stat(os.path.join(world.dir, "file")).st_mode), 0o640)
        with open(os.path.join(world.dir, "closed"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "closed\nmore\n")
        self.assertIn("no pools", self.states(world))

    @in_both_directories
    def test_what_the_pool_says_of_root_is_not_done(self, world):
        pool = self.leave(world)
        world.as_user(OWNER, sys.executable, "-c", FORGE, self.library, pool, world.dir)
        self.assertIn("forged", self.states(world))
        with self.unharmed(world):
            world.cairn("drain", world.dir, expect=None)
        self.assertEqual([
            os.lstat(os.path.join(world.dir, name)).st_uid
            for name in os.listdir(world.dir) if not name.startswith(".cairn")
        ], [OWNER] * 3)

    @in_both_directories
    def test_a_claim_leads_to_pools_of_its_owner_only(self, world):
        """Another user's claim names a pool of root's, and one of a third user."""
        places = {}
        for owner in (trust_case.ROOT, OWNER):
            place = places[owner] = os.path.join(world.home(owner), "elsewhere")
            world.cairn("run", "--at", world.dir, "--pool-dir", place, "--drain", "never", "--",
                        "sh", "-c", f"echo kept > {world.dir}/file", uid=owner)
            claim = os.path.join(world.dir, ".cairn-claim")
            with open(claim, encoding="utf-8") as file:
                text = file.read()
            os.unlink(claim)
            world.plant(f"open({claim!r}, 'w').write({text!r})")
            for words in (["drain", world.dir], ["drain", "--wait", world.dir],
                          ["discard", "--force", world.dir],
                          ["stage", "--at", world.dir, world.dir],
                          ["rm", "--at", world.dir, "file"]):
                with self.unharmed(world):
                    run = world.cairn(*words, expect=1)
                self.assertIn(
                    f"{claim}: belongs to user {trust_case.MALLORY}, but the pool {place}/default "
                    f"that it names belongs to user {owner}", run.err)
                self.assertEqual(os.listdir(world.dir), [".cairn-claim"])
            os.unlink(claim)  # a third user could not replace it in a sticky directory
            # Root names the pool.
            world.cairn("drain", world.dir, env={"CAIRN_POOL": os.path.join(place, "default")})
            with open(os.path.join(world.dir, "file"), encoding="utf-8") as file:
                self.assertEqual(os.fstat(file.fileno()).st_uid, owner)
            for name in os.listdir(world.dir):
                os.unlink(os.path.join(world.dir, name))

    @in_both_directories
    def test_a_directory_that_the_owner_may_not_write_to(self, world):
        self.leave(world)
        os.chmod(world.dir, 0o755)
        for words in (["drain", world.dir],
                      ["drain", world.dir, "--to",
                       os.path.join(world.outside, "of_root")]):
            with self.unharmed(world):
                run = world.cairn(*words, expect=1)
            self.assertIn("Permission denied", run.err)
            self.assertIn(f"working with the rights of user {OWNER}", run.err)
            self.assertEqual(os.listdir(world.dir), [".cairn-claim"])
        self.assertIn("not drained", self.states(world))

    @in_both_directories
    def test_a_drain_elsewhere_and_a_discard(self, world):
        self.leave(world)
        elsewhere = os.path.join(world.outside, "of_victim")
        world.cairn("drain", world.dir, "--to", elsewhere, "--keep")
        self.assertEqual(os.stat(os.path.join(elsewhere, "file")).st_uid, OWNER)
        world.cairn("discard", world.dir)
        self.assertEqual(os.listdir(world.dir), [])
        self.assertIn("no pools", self.states(world))

    @in_both_directories
    def test_files_are_removed_and_copied_as_the_owner(self, world):
        pool = self.leave(world)
        world.cairn("rm", "--at", world.dir, "file")
        self.assertNotIn(" file,", self.states(world))
        with self.unharmed(world):
            into = world.cairn("cp", os.path.join(world.outside, "of_root", "secret"),
                               pool + ":/secret", expect=1)
            world.as_user(
                OWNER, "sh", "-c", f"echo data | {self.cairn_copy} cp /dev/stdin {pool}:/data || "
                f"{self.cairn_copy} cp {world.dir}/.cairn-claim {pool}:/data")
            out = world.cairn("cp", pool + ":/data", os.path.join(world.outside, "of_root", "data"),
                              expect=1)
        for run in (into, out):
            self.assertIn("Permission denied", run.err)
        for words in (["mv", pool + ":/data", pool + ":/moved"], ["rm", pool + ":/moved"],
                      ["pool", "check", pool], ["pool", "info", pool], ["ls", pool + ":/"]):
            world.cairn(*words)

    @in_both_directories
    def test_removing_a_pool_follows_no_link_out_of_it(self, world):
        pool = self.leave(world)
        for folder in ("companion", "links"):
            world.as_user(OWNER, "sh", "-c",
                          f"rm -rf {pool}/{folder}; ln -s {world.outside}/of_root {pool}/{folder}")
        with self.unharmed(world):
            world.cairn("pool", "remove", "--force", pool, expect=None)

    @in_both_directories
    def test_a_link_of_another_user_names_no_pool(self, world):
        """It would lead root's commands to a pool of root's own, and to one of the owner's."""
        source = self.write("precious", "precious\n")
        for user in (ROOT, OWNER):
            world.cairn("pool", "create", "--pool-size", "16M", "precious", uid=user)
            pool = os.path.join(world.home(user), "precious")
            link = os.path.join(world.dir, "pool")
            world.plant(f"os.symlink({pool!r}, {link!r})")
            if user == ROOT:
                world.cairn("cp", source, f"{pool}:/precious")
            for words in (["pool", "remove", link], ["pool", "remove", "--force", link + "/"],
                          ["pool", "remove", link + "/."], ["pool", "grow", link, "16M"],
                          ["pool", "populate", link], ["rm", link + ":/precious"],
                          ["mv", link + ":/precious", link + ":/moved"],
                          ["mkdir", link + ":/made"], ["cp", source, link + ":/precious"]):
                for uid in {ROOT, user}:
                    run = world.cairn(*words, uid=uid, expect=1)
                    self.assertIn(
                        f"is a symbolic link that belongs to user {trust_case.MALLORY}, and is not "
                        "followed; name the pool or directory itself", run.err)
            held = world.cairn("ls", f"{pool}:/", uid=user).out.split()
            self.assertEqual(held, ["precious"] if user == ROOT else [])
            os.unlink(link)
            os.symlink(pool, link)
            os.lchown(link, user, user)
            world.cairn("pool", "remove", link, uid=user)  # of one's own
            self.assertFalse(os.path.exists(pool))
            os.unlink(link)

    @in_both_directories
    def test_a_run_in_it_is_refused(self, world):
        pool = self.leave(world)
        run = world.run_at("touch", os.path.join(world.outside, "started"), expect=1,
                           env={"CAIRN_POOL": pool})
        self.assertIn(f"{pool}: the pool belongs to user {OWNER}", run.err)
        self.assertFalse(os.path.exists(os.path.join(world.outside, "started")))

    @in_both_directories
    def test_while_the_owner_runs_it_stays_covered(self, world):
        go = os.path.join(world.memory, "go")
        with subprocess.Popen(
            [
                "setpriv",
                f"--reuid={OWNER}",
                f"--regid={OWNER}",
                "--clear-groups",
                self.cairn_copy,
                "run",
                "--at",
                world.dir,
                "--",
                "sh",
                "-c",
                (
                    f"echo kept > {world.dir}/file; touch {go}; while [ -e {go} ]; do sleep 0.05;"
                    f" done; echo later > {world.dir}/later"
                ),
            ],
            env=dict(self.env, HOME=world.home(OWNER), CAIRN_POOL_DIR=world.home(OWNER)),
            stdin=subprocess.DEVNULL,
        ) as run:
            while not os.path.exists(go):
                self.assertIsNone(run.poll())
                time.sleep(0.02)
            drain = world.cairn("drain", world.dir)
            self.assertIn("a run is under way, so it stays covered", drain.out)
            self.assertIn("a run is under way there",
                          world.cairn("discard", world.dir, expect=1).err)
            self.assertEqual(sorted(os.listdir(world.dir)), [".cairn-claim", "file"])
            os.unlink(go)
            self.assertEqual(run.wait(timeout=30), 0)
        self.assertEqual(sorted(os.listdir(world.dir)), ["file", "later"])

    @in_both_directories
    def test_an_owner_whom_the_user_database_knows(self, world):
        nobody = 65534
        self.leave(world, owner=nobody)
        world.cairn("drain", world.dir)
        self.assertEqual(os.stat(os.path.join(world.dir, "file")).st_uid, nobody)

    @in_both_directories
    def test_a_pool_that_was_given_to_root_is_drained_with_roots_rights(self, world):
        pool = self.leave(world)
        os.chmod(world.dir, 0o755)
        subprocess.run(["chown", "-R", "root:root", pool], check=True)
        self.assertIn(f"repeat the command with CAIRN_POOL={pool}",
                      world.cairn("drain", world.dir, expect=1).err)
        world.cairn("drain", world.dir, env={"CAIRN_POOL": pool})
        self.assertEqual(sorted(os.listdir(world.dir)), ["file", "sub"])

    @in_both_directories
    def test_root_of_a_user_namespace_is_the_owner(self, world):
        inside = ("unshare", "-Ur")
        if world.as_user(OWNER, *inside, "true", expect=None).returncode != 0:
            return  # users may make no namespaces here
        world.as_user(OWNER, *inside, self.cairn_copy, "run", "--at", world.dir, "--drain", "never",
                      "--", "sh", "-c", "echo kept > file; mkdir sub")
        world.as_user(OWNER, *inside, self.cairn_copy, "drain", world.dir)
        self.assertEqual(os.stat(os.path.join(world.dir, "file")).st_uid, OWNER)

    @in_both_directories
    def test_the_library_refuses_root(self, world):
        pool = self.leave(world)
        run = subprocess.run(
            [sys.executable, "-c", AS_ROOT_AGAIN, self.library, pool, world.dir,
             str(OWNER)], capture_output=True, text=True, timeout=60, check=True)
        lines = run.stdout.splitlines()
        self.assertEqual([line.split()[:2] for line in lines],
                         [[name, "-1"] for name in ("drain", "drain_to", "end", "discard")])
        for line in lines:
            self.assertIn(f"the pool {pool} belongs to user {OWNER}", line)
        self.assertEqual(os.listdir(world.dir), [".cairn-claim"])
        cairn = ctypes.CDLL(self.library)
        cairn.cairn_last_error.restype = ctypes.c_char_p
        attached = ctypes.c_void_p()
        self.assertLess(cairn.cairn_pool_attach(pool.encode(), 0, ctypes.byref(attached)), 0)
        self.assertIn(f"the pool belongs to user {OWNER}", cairn.cairn_last_error().decode())


if __name__ == "__main__":
    trust_case.main()
