"""What a drain could not carry over is not shown as drained, and comes once what was in the way is
gone."""

import json
import os

import trust_case
from trust_case import MALLORY, ROOT, TrustCase, in_every_world


class FailedDrain(TrustCase):
    def cover(self, world):
        """What `cairn status` says of the directory."""
        return json.loads(world.cairn("status", "--json").out)[0]["covers"][0]

    def fails(self, world, change, behind, says):
        """A run makes `change`, `behind` happens, and then each drain fails and none is
        forgotten."""
        world.cairn("run", "--at", world.dir, "--drain", "never", "--", "sh", "-c",
                    f"cd {world.dir} && {change}")
        behind()
        for _ in range(2):
            drain = world.cairn("drain", world.dir, expect=1)
            self.assertIn(says, drain.err)
            cover = self.cover(world)
            self.assertFalse(cover["all_drained"], cover)
            self.assertNotIn(": all drained", world.cairn("status").out)
        # A run that ends says so, too.
        run = world.run_at("true", expect=1)
        self.assertIn(says, run.err)
        self.assertFalse(self.cover(world)["all_drained"])

    def drains(self, world):
        world.cairn("drain", world.dir)
        self.assertIn("nothing is covered", world.cairn("status").out)

    @in_every_world
    def test_names_that_others_made(self, world):
        for change in ("echo mine > name", ": > name", "ln -s mine name", "mkdir name",
                       "mkfifo name"):
            self.fails(world, change, lambda: world.plant("open('name', 'w').write('of mallory')"),
                       "outside Cairn")
            os.unlink(os.path.join(world.dir, "name"))
            self.drains(world)
            world.as_user(world.runner, "rm", "-r", "name")

    @in_every_world
    def test_removals_of_what_others_changed(self, world):
        world.as_user(world.runner, "sh", "-c", "umask 0; echo old > name; echo old > other")

        def change():
            world.plant("open('name', 'w').write('of mallory')")

        self.fails(world, "rm name", change, "changed there outside Cairn")
        os.unlink(os.path.join(world.dir, "name"))
        self.drains(world)
        self.assertEqual(os.listdir(world.dir), ["other"])

    @in_every_world
    def test_a_directory_that_cannot_be_written_to(self, world):
        if world.runner == ROOT:
            return  # may write everywhere
        sub = os.path.join(world.dir, "sub")
        for change in ("echo mine > sub/name", ": > sub/name", "mkdir sub/name", "ln -s x sub/name",
                       "rm sub/old", "mv sub/old sub/new"):
            os.mkdir(sub)
            os.chown(sub, MALLORY, MALLORY)
            os.chmod(sub, 0o777)
            world.as_user(world.runner, "sh", "-c", "echo old > sub/old")
            self.fails(world, change, lambda: os.chmod(sub, 0o755), "Permission denied")
            os.chmod(sub, 0o777)
            self.drains(world)
            world.as_user(ROOT, "rm", "-r", "sub")

    @in_every_world
    def test_attributes_of_a_file_that_got_another_owner(self, world):
        if world.runner == ROOT:
            return  # may set them
        name = os.path.join(world.dir, "name")
        world.as_user(world.runner, "sh", "-c", "echo old > name")
        self.fails(world, "chmod 600 name", lambda: os.chown(name, MALLORY, MALLORY),
                   "its owner has changed")
        os.chown(name, world.runner, world.runner)
        self.drains(world)
        self.assertEqual(os.stat(name).st_mode & 0o777, 0o600)


if __name__ == "__main__":
    trust_case.main()
