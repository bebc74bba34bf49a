"""`cairn pool clean` removes the memory that killed ranks left. Runs alone: any MPI job that starts
meanwhile removes it as well."""
import fcntl
import os
import unittest

from cairn_case import CairnCase


class KilledRanks(CairnCase):
    def test_memory_of_killed_ranks(self):
        """By which they meet in MPI-IO: what nobody has locked, but what was made just now."""
        paths = [
            f"/dev/shm/cairn-mpiio-{os.getpid()}-{what}" for what in ("left", "locked", "young")
        ]
        for path in paths:
            with open(path, "w", encoding="ascii"):
                self.addCleanup(lambda path=path: os.path.exists(path) and os.unlink(path))
        for path in paths[:2]:
            os.utime(path, (1, 1))
        with open(paths[1], encoding="ascii") as locked:
            fcntl.flock(locked, fcntl.LOCK_SH)
            mine = lambda *words: [(each["path"], each["removed"])
                                   for each in self.json("pool", "clean", *words)
                                   if each["path"] in paths]
            self.assertEqual(mine("--dry-run"), [(paths[0], False)])
            self.assertEqual(mine(), [(paths[0], True)])
            self.assertEqual([os.path.exists(path) for path in paths], [False, True, True])
            self.assertEqual(mine(), [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
