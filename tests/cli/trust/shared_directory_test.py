"""Covering a directory that others can write to works, and leaves nothing of Cairn's there
(docs/design/trust.md)."""

import os

import trust_case
from trust_case import MALLORY, TrustCase, in_every_world


class SharedDirectory(TrustCase):
    @in_every_world
    def test_work_in_it(self, world):
        world.plant("open('notes', 'w').write('of mallory\\n')")
        with self.unharmed(world):
            world.run_at(
                "sh",
                "-c",
                f"cd {world.dir} && cat notes > copy && mkdir sub && echo mine > sub/file && rm -f"
                " gone",
            )
        self.assertEqual(sorted(os.listdir(world.dir)), ["copy", "notes", "sub"])
        self.assertEqual(os.stat(os.path.join(world.dir, "sub", "file")).st_uid, world.runner)
        self.assertEqual(os.stat(os.path.join(world.dir, "notes")).st_uid, MALLORY)


if __name__ == "__main__":
    trust_case.main()
