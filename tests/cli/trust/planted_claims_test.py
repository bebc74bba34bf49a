"""Claims that others plant hold nobody up: neither what they say nor that they cannot be read
counts (docs/design/trust.md)."""

import os
import socket
import subprocess
import sys

import planted
import trust_case
from trust_case import MALLORY, TrustCase, in_every_world

LEASE = """
import fcntl, os, signal
signal.signal(signal.SIGIO, signal.SIG_IGN)
file = open({name!r}, "r+")
fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
print("held", flush=True)
input()
"""


class PlantedClaims(TrustCase):
    def keeps(self, world):
        """A run whose data stay in the pool; the name of a claim by which the pool would have
        joined another one."""
        world.cairn("run", "--at", world.dir, "--drain", "never", "--", "sh", "-c",
                    f"echo kept > {world.dir}/file")
        return ".cairn-claim-of-" + planted.read_claim(world.dir)["uuid"]

    def drains(self, world):
        # a lease would hold up who waits for 45 seconds
        world.cairn("drain", world.dir, timeout=30)
        with open(os.path.join(world.dir, "file"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "kept\n")
        self.assertIn("nothing is covered", world.cairn("status").out)

    @in_every_world
    def test_one_of_a_newer_version(self, world):
        name = self.keeps(world)
        world.plant(f"open({name!r}, 'w').write('cairn claim 2\\n')")
        elsewhere = world.private(os.path.join(world.outside, "elsewhere"), world.runner)
        world.cairn("drain", world.dir, "--to", elsewhere, "--keep")
        self.assertTrue(os.path.exists(os.path.join(elsewhere, "file")))
        self.drains(world)
        self.assertTrue(os.path.lexists(os.path.join(world.dir, name)))

    @in_every_world
    def test_one_that_is_closed_or_held_by_a_lease(self, world):
        name = self.keeps(world)
        world.plant(f"open({name!r}, 'w').write('cairn claim 1\\n')")
        with subprocess.Popen([
                "setpriv", f"--reuid={MALLORY}", f"--regid={MALLORY}", "--clear-groups",
                sys.executable, "-c",
                LEASE.format(name=os.path.join(world.dir, name))
        ], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
            self.assertEqual(holder.stdout.readline(), b"held\n")
            self.drains(world)
            holder.communicate(b"end\n", timeout=60)
        self.keeps(world)
        os.chmod(os.path.join(world.dir, name), 0)
        self.drains(world)

    @in_every_world
    def test_what_lies_above_the_covered_directory(self, world):
        mine = os.path.join(world.dir, "mine")
        os.mkdir(mine)
        os.chown(mine, world.runner, world.runner)
        world.cairn("pool", "create")
        with open(os.path.join(world.home(world.runner), "default", "segment.0"), "rb") as segment:
            magic = segment.read(4096)
        claim = f"cairn claim 1\nhost elsewhere\npool /dev/shm/other\nuuid {'1' * 32}\njob \n"
        for plant in (f"open('.cairn-claim', 'w').write({claim!r})",
                      "os.close(os.open('.cairn-claim', os.O_CREAT, 0))",
                      "open('.cairn-claim', 'w').write('cairn claim 2\\n')",
                      f"open('segment.0', 'wb').write({magic!r})"):
            world.plant(plant)
            with self.unharmed(world):
                world.cairn("run", "--at", mine, "--", "sh", "-c", f"echo mine > {mine}/file",
                            cwd=mine)
            for name in set(os.listdir(world.dir)) - {"mine"}:
                os.unlink(os.path.join(world.dir, name))
        # The owner of the directory above says that it is covered.
        world.plant(f"open('.cairn-claim', 'w').write({claim!r})")
        os.chown(world.dir, MALLORY, MALLORY)
        run = world.cairn("run", "--at", mine, "--", "true", cwd=mine, expect=None)
        self.assertIn(f"lies in {world.dir}, which is covered itself", run.err)

    @in_every_world
    def test_the_pool_that_one_names_is_not_looked_for(self, world):
        # Its pool is gone. To know that, one must go to its path, where an automounter may lie.
        st = os.stat("/dev/shm")
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            boot = file.read().strip()
        claim = (
            f"cairn claim 1\nhost {socket.gethostname()}\nmachine m\nboot {boot}\npool"
            f" /dev/shm/gone\nplace {st.st_dev}:{st.st_ino}\nuuid {'1' * 32}\njob \n"
        )
        world.plant(f"open('.cairn-claim', 'w').write({claim!r})")
        run = world.run_at(expect=1)
        self.assertIn("is covered by job (none)", run.err)
        self.assertIn(f"`cairn discard --force {world.dir}` frees the directory", run.err)

    @in_every_world
    def test_temporary_files_of_other_users_stay(self, world):
        """A run of root's removed them, if they were old or their process was gone."""
        old = f".cairn-claim-{'0' * 32}"
        world.plant(f"open({old!r}, 'w').write('theirs'); os.utime({old!r}, (1, 1))")
        mine = os.path.join(world.dir, f".cairn-claim-{'1' * 32}")
        with open(mine, "w", encoding="utf-8") as file:
            file.write("mine")
        os.chown(mine, world.runner, world.runner)
        os.utime(mine, (1, 1))
        world.run_at("sh", "-c", f"echo kept > {world.dir}/file")
        self.assertEqual(
            [name for name in os.listdir(world.dir) if name.startswith(".cairn-claim")], [old])

    @in_every_world
    def test_refusals_name_the_owner(self, world):
        claim = f"cairn claim 1\nhost elsewhere\npool /dev/shm/other\nuuid {'1' * 32}\njob \n"
        for text, refusal in ((claim, "is covered by job (none) on host elsewhere"),
                              ("cairn claim 2\n", "is a claim of a newer version of Cairn"),
                              ("not one\n", "has the name of a Cairn claim, but is not one")):
            world.plant(f"open('.cairn-claim', 'w').write({text!r})")
            run = world.run_at(expect=1)
            self.assertIn(refusal, run.err)
            self.assertIn(f"belongs to user {MALLORY}", run.err)
            os.unlink(os.path.join(world.dir, ".cairn-claim"))


if __name__ == "__main__":
    trust_case.main()
