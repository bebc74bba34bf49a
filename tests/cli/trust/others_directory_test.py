"""A directory that this user may not write to: it is covered, programs meet what they meet there
without Cairn, and drains say what they cannot write."""

import os

from trust_case import VICTIM, TrustCase, main


class OthersDirectory(TrustCase):
    def test_it_is_covered_and_drains_fail(self):
        with self.world(False, VICTIM) as world, self.unharmed(world):
            os.chmod(world.dir, 0o755)
            for name, mode in (("old", 0o644), ("shared", 0o666)):
                with open(os.path.join(world.dir, name), "w", encoding="utf-8") as file:
                    file.write(f"{name}\n")
                os.chmod(file.name, mode)
            run = world.cairn("run", "--at", world.dir, "--drain", "never", "--", "sh", "-c",
                              "cat old; echo new > new; echo more >> shared; cat shared")
            self.assertEqual(run.out, "old\nshared\nmore\n")
            self.assertIn("cannot create new: Permission denied", run.err)
            drain = world.cairn("drain", world.dir, expect=1)
            self.assertIn("Permission denied", drain.err)
            self.assertEqual(sorted(os.listdir(world.dir)), ["old", "shared"])
            # It can be written to by now.
            os.chmod(world.dir, 0o777)
            world.cairn("drain", world.dir)
            with open(os.path.join(world.dir, "shared"), encoding="utf-8") as file:
                self.assertEqual(file.read(), "shared\nmore\n")


if __name__ == "__main__":
    main()
