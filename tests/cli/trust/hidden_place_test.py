"""What a pool's creation and removal clean beside the pool (docs/design/trust.md).

Mallory puts directories of the victim's and links under the names of hidden places, and exchanges
names while the victim creates and removes pools. No file of the victim's goes but those of the
pool. """

import contextlib
import ctypes
import os
import shutil
import time

import trust_case
from planted_fuzz import end_racing, start_racing
from trust_case import ROOT, VICTIM, TrustCase, in_every_world

RACE_S = 1.5
PLACE = ".cairn-unfinished-AAAAAA"
AT_FDCWD, RENAME_EXCHANGE = -100, 2
LIBC = ctypes.CDLL(None, use_errno=True)


def exchange(one, other):
    if LIBC.renameat2(AT_FDCWD, os.fsencode(one), AT_FDCWD, os.fsencode(other),
                      RENAME_EXCHANGE) != 0:
        raise OSError(ctypes.get_errno(), "renameat2")


def remove_own(path):
    """Removes a link or file of Mallory's; moves a directory out of the way."""
    if os.path.islink(path) or not os.path.isdir(path):
        os.unlink(path)
    else:
        os.rename(path, f"moved-{os.urandom(8).hex()}")


class HiddenPlaces(TrustCase):
    def create(self, world, name="mine", expect=0):
        return world.cairn("pool", "create", os.path.join(world.dir, name), "--size", "16M",
                           expect=expect)

    def remove(self, world, name="mine", expect=0):
        return world.cairn("pool", "remove", "--force", os.path.join(world.dir, name),
                           expect=expect)

    def test_a_lock_that_is_not_to_be_had(self):
        """The error showed the number of a descriptor."""
        with self.world(True, VICTIM) as world:
            self.create(world)
            segment = os.path.join(world.dir, "mine", "segment.0")
            os.chown(segment, ROOT, ROOT)
            os.chmod(segment, 0o444)
            run = self.remove(world, expect=1)
            self.assertIn(f"{segment}: belongs to user 0, not to you", run.err)
            self.assertNotIn("/proc/self/fd", run.err)

    def like_a_pool(self, world, top, uid, mode=0o700):
        """A directory that looks like the remains of a pool, with files in it."""
        names = [top, *[os.path.join(top, name) for name in ("companion", "links")]]
        for directory in names:
            os.mkdir(directory)
        for name in ("segment.0", "segment.1", "companion/two", "links/one", ".cairn-link-x"):
            with open(os.path.join(top, name), "w", encoding="utf-8") as file:
                file.write("precious\n")
            os.chmod(file.name, 0o600)
            os.chown(file.name, uid, uid)
        for directory in names:
            os.chmod(directory, mode)
            os.chown(directory, uid, uid)
        return top

    @staticmethod
    def directory(world, name, mode):
        """A directory of the victim's in the shared one."""
        path = os.path.join(world.dir, name)
        os.mkdir(path)
        os.chmod(path, mode)
        os.chown(path, world.runner, world.runner)
        return path

    @contextlib.contextmanager
    def whole(self, world, *tops):
        before = [world.look(top) for top in tops]
        with self.unharmed(world):
            yield
        self.assertEqual([world.look(top) for top in tops], before)

    def private_site(self, world):
        """Two levels, for links to the hidden place and to the pool in it."""
        site = os.path.join(world.outside, "of_site")
        os.mkdir(site, 0o700)
        self.like_a_pool(world, os.path.join(site, "pool"), world.runner)
        os.chown(site, world.runner, world.runner)
        return site

    @in_every_world
    def test_link_in_a_renamed_directory(self, world):
        site = self.private_site(world)
        self.directory(world, "open", 0o777)
        # In a sticky directory, Mallory has to make the place.
        world.plant(f"try: os.rename('open', '{PLACE}')\n"
                    f"except OSError: os.mkdir('{PLACE}')\n"
                    f"os.symlink('{site}/pool', '{PLACE}/pool')")
        with self.whole(world, os.path.join(world.dir, PLACE)):
            self.create(world)
            self.remove(world)
            world.cairn("pool", "remove", "--force", os.path.join(world.dir, PLACE), expect=1)

    @in_every_world
    def test_link_under_the_name_of_a_place(self, world):
        site = self.private_site(world)
        world.plant(f"os.symlink('{site}', '{PLACE}')")
        with self.unharmed(world):
            self.create(world)
            self.remove(world)
            world.cairn("pool", "remove", "--force", os.path.join(world.dir, PLACE), expect=1)

    def test_pool_in_a_renamed_directory(self):
        """Whatever the mode of the directory in which the user keeps it."""
        for runner in VICTIM, ROOT:
            for mode in 0o700, 0o755, 0o777:
                with self.subTest(runner=runner, mode=oct(mode)), self.world(False,
                                                                             runner) as world:
                    self.directory(world, "runs", mode)
                    self.create(world, "runs/pool")
                    world.plant(f"os.rename('runs', '{PLACE}')")
                    with self.whole(world, os.path.join(world.dir, PLACE)):
                        self.create(world)
                        self.remove(world)
                        refused = world.cairn("pool", "remove", "--force",
                                              os.path.join(world.dir, PLACE), expect=1)
                    self.assertIn(PLACE, refused.err)
                    world.cairn("ls", os.path.join(world.dir, PLACE, "pool") + ":/")

    def test_forged_mark(self):
        """Mallory's link in a directory of the victim's, which the victim closes afterwards."""
        with self.world(False, VICTIM) as world:
            path = self.directory(world, "runs", 0o777)
            self.like_a_pool(world, os.path.join(path, "pool"), VICTIM)
            world.plant("os.symlink('%x' % os.stat('runs').st_ino, 'runs/cairn-made')")
            os.chmod(path, 0o700)
            world.plant(f"os.rename('runs', '{PLACE}')")
            with self.whole(world, os.path.join(world.dir, PLACE)):
                self.create(world)

    @in_every_world
    def test_what_a_killed_process_left_goes(self, world):
        if shutil.which("strace") is None:
            self.skipTest("needs strace")
        killed = world.as_user(world.runner, "strace", "-qq", "-f", "-o", "/dev/null", "-e",
                               "inject=ftruncate:signal=KILL:when=1", self.cairn_copy, "pool",
                               "create", os.path.join(world.dir, "mine"), "--size", "16M",
                               expect=None)
        left = os.listdir(world.dir)
        self.assertTrue(left and left[0].startswith(".cairn-unfinished-"), killed.err)
        self.create(world)
        self.assertEqual(os.listdir(world.dir), ["mine"])

    def race(self, world, step):
        """Mallory repeats `step` while the victim creates and removes pools."""
        mallory = start_racing(world.dir, step)
        try:
            end = time.monotonic() + RACE_S
            while time.monotonic() < end:
                self.create(world, expect=None)
                self.remove(world, expect=None)
        finally:
            end_racing(mallory)

    def test_exchanged_places(self):
        """A hidden place gives way to a link, or to a private directory of the victim's, and so
        does the name of the pool."""
        for runner in VICTIM, ROOT:
            with self.subTest(runner=runner), self.world(False, runner) as world:
                site = self.private_site(world)
                own = self.like_a_pool(world, self.directory(world, "own", 0o700) + "/pool",
                                       runner)

                def step():
                    for name in os.listdir("."):
                        if not name.startswith(".cairn-unfinished-") and name != "mine":
                            continue
                        with contextlib.suppress(OSError):
                            link = f"link-{os.urandom(8).hex()}"
                            os.symlink(site, link)
                            exchange(link, name)
                            time.sleep(0.0005)
                            exchange("own", name)
                            time.sleep(0.0005)
                            exchange("own", name)
                            remove_own(name)

                before = {st[0]: st[1:] for st in self.by_inode(own)}
                with self.unharmed(world):
                    self.race(world, step)
                # The directory may have another name by now.
                after = {}
                for path, directories, _ in os.walk(world.dir):
                    for name in directories:
                        if name == "pool":
                            after.update(
                                {st[0]: st[1:] for st in self.by_inode(os.path.join(path, name))})
                self.assertEqual({inode: after.get(inode) for inode in before}, before)

    @staticmethod
    def by_inode(top):
        for path, _, files in os.walk(top):
            for name in (".", *files):
                st = os.lstat(os.path.join(path, name))
                yield st.st_ino, oct(st.st_mode), st.st_uid, st.st_size if name != "." else 0


if __name__ == "__main__":
    trust_case.main()
