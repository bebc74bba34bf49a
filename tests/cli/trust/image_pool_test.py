"""Pools in an image of a file system that a user has made: they give nobody rights, whoever seems
to own them (docs/design/trust.md, Root)."""

import contextlib
import os
import stat
import subprocess
import sys
import tempfile

import trust_case
from trust_case import MALLORY, ROOT, THIRD, VICTIM, TrustCase

FORGE = os.path.join(os.environ.get("CAIRN_TEST_DIR", "build/release/tests"),
                     "cli/trust/forge_program")
# Changes names in the covered directory, as root: programs with rights, and a device.
WORK = """
import os, sys
os.chdir(sys.argv[1])
for name, mode in (("user", 0o4755), ("group", 0o2755), ("plain", 0o640)):
    with open(name, "w") as file: file.write("#!/bin/sh\\n")
    os.chown(name, 0, 0 if name != "plain" else 61003)
    os.chmod(name, mode)
os.mkfifo("pipe")
os.mkdir("sub")
os.chmod("sub", 0o2770)
os.chown("sub", 61003, 61003)
try:
    os.setxattr("plain", "security.capability", bytes.fromhex("0100000202000000" + "00" * 12))
except OSError as error:
    print(error)
os.setxattr("plain", "user.note", b"kept")
if os.path.exists("there"): os.utime("there", (1, 1))
"""
def in_image(*options):
    """A test(self, world, pools) with a directory for pools in an image that is mounted so."""

    def make(test):
        def run(self):
            with self.world(True, ROOT) as world, self.mounted(world, *options) as pools:
                test(self, world, pools)

        run.__name__ = test.__name__
        return run

    return make


class ImagePool(TrustCase):
    @contextlib.contextmanager
    def mounted(self, world, *options):
        image, point = os.path.join(world.top, "image"), os.path.join(world.top, "point")
        with open(image, "wb") as file:
            file.truncate(64 << 20)
        os.mkdir(point)
        subprocess.run(["mkfs.ext4", "-q", image], check=True)
        subprocess.run(["mount", "-o", ",".join(("loop", *options)), image, point], check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", point], stderr=subprocess.DEVNULL,
                        check=False)
        pools = os.path.join(point, "pools")
        os.mkdir(pools, 0o700)
        yield pools
        subprocess.run(["umount", "-l", point], check=True)

    def leave(self, world, pools, script=None, uid=ROOT):
        """What a run leaves in a pool in `pools`."""
        words = ("sh", "-c", script) if script else (sys.executable, "-c", WORK, world.dir)
        world.cairn("run", "--at", world.dir, "--pool-dir", pools, "--pool-size", "16M", "--drain",
                    "never", "--", *words, uid=uid)

    def plant_claim(self, world, uid):
        """The claim as if this user had made the cover."""
        path = os.path.join(world.dir, ".cairn-claim")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        os.unlink(path)
        world.python(uid, f"open({path!r}, 'w').write({text!r})")
        return path

    def look(self, world, name):
        st = os.lstat(os.path.join(world.dir, name))
        return oct(stat.S_IMODE(st.st_mode)), st.st_uid, st.st_gid

    def refuses(self, world, pools, claim_of, owner):
        for words in (["drain", world.dir], ["drain", world.dir, "--wait"],
                      ["drain", world.dir, "--to", os.path.join(world.outside, "of_root")],
                      ["discard", world.dir], ["discard", "--force", world.dir],
                      ["stage", "--at", world.dir, world.dir], ["rm", "--at", world.dir, "user"]):
            with self.unharmed(world):
                run = world.cairn(*words, expect=1)
            for text in (f"{world.dir}/.cairn-claim: belongs to user {claim_of}",
                         f"{pools}/", f"belongs to user {owner}"):
                self.assertIn(text, run.err, words)
            self.assertEqual(os.listdir(world.dir), [".cairn-claim"], words)

    @in_image("nosuid", "nodev")
    def test_a_users_claim_to_a_pool_of_root(self, world, pools):
        self.leave(world, pools)
        self.plant_claim(world, MALLORY)
        self.refuses(world, pools, MALLORY, ROOT)

    @in_image("nosuid", "nodev")
    def test_a_users_claim_to_a_pool_of_a_third_user(self, world, pools):
        self.leave(world, pools)
        subprocess.run(["chown", "-R", f"{THIRD}:{THIRD}", pools], check=True)
        self.plant_claim(world, MALLORY)
        self.refuses(world, pools, MALLORY, THIRD)

    @in_image("nosuid", "nodev")
    def test_the_owner_of_both_is_drained_as_that_user(self, world, pools):
        os.chown(pools, VICTIM, VICTIM)
        os.chmod(os.path.dirname(pools), 0o755)
        self.leave(world, pools, "echo kept > file", uid=VICTIM)
        world.cairn("drain", world.dir)
        self.assertEqual(self.look(world, "file")[1:], (VICTIM, VICTIM))

    @in_image("nosuid", "nodev")
    def test_root_names_the_pool(self, world, pools):
        with open(os.path.join(world.dir, "there"), "w", encoding="utf-8") as file:
            file.write("of a third user\n")
        os.chown(file.name, THIRD, THIRD)
        self.leave(world, pools)
        self.plant_claim(world, MALLORY)
        run = world.cairn("drain", world.dir, "--pool-dir", pools)
        self.assertIn("is on a file system that is mounted nosuid or nodev", run.err)
        self.assertEqual(run.err.count("nosuid"), 1)
        for name, mode in (("user", 0o755), ("group", 0o755), ("plain", 0o640)):
            self.assertEqual(self.look(world, name), (oct(mode), 0, 0), name)
        self.assertEqual(self.look(world, "pipe")[1:], (0, 0))
        self.assertEqual(self.look(world, "sub")[1:], (0, 0))
        plain = os.path.join(world.dir, "plain")
        self.assertNotIn("security.capability", os.listxattr(plain))
        self.assertIn("user.note", os.listxattr(plain))
        # A file of which only the times changed is still its owner's.
        self.assertEqual(self.look(world, "there")[1:], (THIRD, THIRD))
        self.assertEqual(os.stat(os.path.join(world.dir, "there")).st_mtime, 1)

    @in_image("nodev")
    def test_devices_are_not_made(self, world, pools):
        self.leave(world, pools, "mkfifo pipe")
        pool = os.path.join(pools, "default")
        covers = world.cairn("ls", "-a", f"{pool}:/.covers").out.split()
        top = "/.covers/" + next(name[:-1] for name in covers if name.endswith("/"))
        world.as_user(ROOT, FORGE, pool, "device", top, "pipe")
        run = world.cairn("drain", world.dir, "--pool-dir", pools, expect=1)
        self.assertIn("/pipe: a device, which a pool on a file system that is mounted nosuid",
                      run.err)
        self.assertNotIn("pipe", os.listdir(world.dir))

    @in_image("nosuid")
    def test_a_run_that_drains_itself(self, world, pools):
        world.cairn("run", "--at", world.dir, "--pool-dir", pools, "--pool-size", "16M", "--",
                    sys.executable, "-c", WORK, world.dir)
        self.assertEqual(self.look(world, "user"), ("0o755", 0, 0))

    @in_image("nosuid", "nodev")
    def test_a_user_who_is_not_root(self, world, pools):
        os.chown(pools, VICTIM, VICTIM)
        os.chmod(os.path.dirname(pools), 0o755)
        self.leave(world, pools, "echo kept > file; chmod 4755 file", uid=VICTIM)
        run = world.cairn("drain", world.dir, "--pool-dir", pools, uid=VICTIM)
        self.assertEqual(self.look(world, "file"), ("0o755", VICTIM, VICTIM))
        self.assertNotIn("nosuid", run.err)

    @in_image()
    def test_a_file_system_that_gives_rights(self, world, pools):
        self.leave(world, pools)
        run = world.cairn("drain", world.dir, "--pool-dir", pools)
        self.assertNotIn("nosuid", run.err)
        self.assertEqual(self.look(world, "user"), ("0o4755", 0, 0))
        self.assertEqual(self.look(world, "plain"), ("0o640", 0, THIRD))
        self.assertEqual(self.look(world, "sub")[1:], (THIRD, THIRD))

    def test_memory_is_trusted_however_it_is_mounted(self):
        with self.world(True, ROOT) as world:
            point = os.path.join(world.top, "memory")
            os.mkdir(point)
            subprocess.run(["mount", "-t", "tmpfs", "-o", "nosuid,nodev", "t", point], check=True)
            self.addCleanup(subprocess.run, ["umount", "-l", point], stderr=subprocess.DEVNULL,
                            check=False)
            self.leave(world, os.path.join(point, "pools"))
            world.cairn("drain", world.dir, "--pool-dir", os.path.join(point, "pools"))
            self.assertEqual(self.look(world, "user"), ("0o4755", 0, 0))
            subprocess.run(["umount", "-l", point], check=True)


def can_mount():
    """Whether an image can be mounted here: as root, with loop devices, and with mkfs.ext4."""
    with tempfile.TemporaryDirectory() as place:
        words = ("truncate -s 8M image && mkfs.ext4 -q image && mkdir point && "
                 "mount -o loop image point && umount point")
        run = subprocess.run(["sh", "-c", words], cwd=place, capture_output=True, text=True,
                             check=False)
        if run.returncode != 0:
            print(f"no image can be mounted here: {run.stderr.strip()}")
        return run.returncode == 0


if __name__ == "__main__":
    if not can_mount():
        raise SystemExit(trust_case.cairn_case.SKIPPED)
    trust_case.main()
