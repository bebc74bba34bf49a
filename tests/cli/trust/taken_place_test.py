"""The place of a user's pools: another user's name in the way, and another user's place
(docs/design/trust.md)."""

import os
import stat

import trust_case
from trust_case import MALLORY, ROOT, VICTIM, TrustCase, in_every_world


class TakenPlace(TrustCase):
    def at(self, world):
        """Options for pools in a directory that everybody can write to."""
        return ("--pool-dir", world.memory)

    def usual(self, world):
        return os.path.join(world.memory, f"cairn-{world.runner}")

    @in_every_world
    def test_another_user_made_it_first(self, world):
        """Every command stopped: one mkdir kept a user from Cairn."""
        usual = self.usual(world)
        # Names of the form of the other place, too.
        world.plant(f"for end in ('', '-aaaaaa', '-XXXXXX'): os.mkdir({usual!r} + end, 0o700)")
        taken = f"{usual}: belongs to user {MALLORY}, not to you; your pools lie in {usual}-"
        # Commands that only look make nothing.
        before = sorted(os.listdir(world.memory))
        for words in (["pool", "list"], ["pool", "clean"], ["status"], ["df"], ["ls"],
                      ["pool", "info", "mine"], ["ckpt", "ls"], ["drain", world.dir]):
            run = world.cairn(*words, *self.at(world), expect=None)
            self.assertNotIn("Traceback", run.err)
            self.assertEqual(sorted(os.listdir(world.memory)), before, words)
            if words[0] in ("df", "ls", "ckpt") or "info" in words:
                self.assertIn(f"{usual}: belongs to user {MALLORY}, not to you, and you have no "
                              "pools beside it", run.err, words)
        created = world.cairn("pool", "create", "mine", *self.at(world), "--size", "16M")
        self.assertEqual(created.err.count("\n"), 1, created.err)
        self.assertIn(taken, created.err)
        mine = [name for name in os.listdir(world.memory)
                if os.stat(os.path.join(world.memory, name)).st_uid == world.runner
                and name.startswith("cairn-")]
        self.assertEqual(len(mine), 1)
        place = os.path.join(world.memory, mine[0])
        self.assertEqual(stat.S_IMODE(os.stat(place).st_mode), 0o700)
        self.assertEqual(os.listdir(place), ["mine"])
        # Other commands find the same one.
        listed = world.cairn("pool", "list", *self.at(world))
        self.assertIn(f"{place}/mine", listed.out)
        self.assertIn(taken, listed.err)
        world.cairn("run", *self.at(world), "--pool", "mine", "--drain", "never", "--at", world.dir,
                    "--", "sh", "-c", f"echo kept > {world.dir}/file")
        self.assertNotIn("file", os.listdir(world.dir))
        world.cairn("drain", *self.at(world), world.dir)
        self.assertIn("file", os.listdir(world.dir))
        # Also when the name is free again.
        for end in ("", "-aaaaaa", "-XXXXXX"):
            os.rmdir(usual + end)
        listed = world.cairn("pool", "list", *self.at(world))
        self.assertIn(f"{place}/mine", listed.out)
        self.assertEqual(listed.err, "")
        self.assertFalse(os.path.exists(usual))

    @in_every_world
    def test_another_user_put_a_link_there(self, world):
        bait = os.path.join(world.memory, "bait")
        world.plant(f"os.mkdir({bait!r}, 0o777); os.symlink({bait!r}, {self.usual(world)!r})")
        world.cairn("pool", "create", "mine", *self.at(world), "--size", "16M")
        self.assertEqual(os.listdir(bait), [])


class PlaceOfAnotherUser(TrustCase):
    def test_root_is_told_whose_pools_lie_there(self):
        """Root's commands said that there were none."""
        with self.world(True, ROOT) as world:
            at = ("--pool-dir", world.memory)
            place = os.path.join(world.memory, f"cairn-{VICTIM}")
            for name in ("one", "two"):
                world.cairn("pool", "create", name, *at, "--size", "16M", uid=VICTIM)
            for command in (("pool", "list"), ("pool", "clean"), ("status",)):
                with self.subTest(command):
                    run = world.cairn(*command, "--pool-dir", place)
                    self.assertEqual(run.out, "")
                    self.assertEqual(
                        run.err, f"cairn {' '.join(command)}: {place}: pools of user {VICTIM} lie"
                        " there (one and 1 more), and this command is about your own; run it as"
                        f" user {VICTIM}, or name the pool by its path, as in"
                        f" `cairn pool info {place}/one`\n")
                    self.assertEqual(sorted(os.listdir(place)), ["one", "two"])
            world.cairn("pool", "info", f"{place}/one")
            # An empty one of theirs, and one of root's own.
            for name in ("one", "two"):
                world.cairn("pool", "remove", name, *at, uid=VICTIM)
            self.assertEqual(world.cairn("pool", "list", "--pool-dir", place).out, "no pools\n")


if __name__ == "__main__":
    trust_case.main()
