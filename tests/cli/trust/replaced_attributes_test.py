"""Who may use a file that a drain writes in the place of another one: its own owner and mode
decide, not what was there."""

import os
import struct

import trust_case
from trust_case import MALLORY, ROOT, VICTIM, TrustCase, in_every_world

ACCESS_LIST = "system.posix_acl_access"


def access_list_for(uid):
    """Entries for the owner, this user, the group, the mask and others."""
    nobody = 0xffffffff
    entries = ((1, 6, nobody), (2, 6, uid), (4, 0, nobody), (16, 6, nobody), (32, 4, nobody))
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)


class ReplacedAttributes(TrustCase):
    def planted(self, world, owner, listed):
        """A file `report` of `owner` whose access list lets `listed` in."""
        path = os.path.join(world.dir, "report")
        with open(path, "w", encoding="utf-8") as file:
            file.write("old\n")
        os.chown(path, owner, owner)
        try:
            os.setxattr(path, ACCESS_LIST, access_list_for(listed))
        except OSError as error:
            self.skipTest(f"no access lists: {error}")
        return path

    @in_every_world
    def test_a_file_that_replaces_anothers_does_not_get_its_access_list(self, world):
        path = self.planted(world, MALLORY, MALLORY)
        replaces = world.runner == ROOT or not world.sticky
        world.run_at("sh", "-c", f"cd {world.dir}; umask 027; echo mine > tmp; mv -f tmp report",
                     expect=0 if replaces else None)
        if replaces:
            self.assertEqual(os.stat(path).st_uid, world.runner)
            self.assertNotIn(ACCESS_LIST, os.listxattr(path))
            world.as_user(MALLORY, "cat", "report", expect=1)

    @in_every_world
    def test_a_file_that_replaces_ones_own_gets_its_access_list(self, world):
        path = self.planted(world, world.runner, VICTIM)
        world.run_at("sh", "-c", f"cd {world.dir}; echo mine > tmp; mv tmp report")
        self.assertIn(ACCESS_LIST, os.listxattr(path))

    @in_every_world
    def test_a_file_that_is_given_away_keeps_its_access_list(self, world):
        if world.runner != ROOT:
            return  # may not give it away
        path = self.planted(world, ROOT, VICTIM)
        world.run_at("sh", "-c",
                     f"cd {world.dir}; echo mine >> report; chown {VICTIM}:{VICTIM} report")
        self.assertEqual(os.stat(path).st_uid, VICTIM)
        self.assertIn(ACCESS_LIST, os.listxattr(path))


if __name__ == "__main__":
    trust_case.main()
