"""A claim that others have planted makes no command open a device: opening is an order to some
(watchdogs, tapes)."""

import ctypes
import os
import socket
import stat

import trust_case
from trust_case import TrustCase, in_every_world

IN_OPEN = 0x20


class ClaimOfDevice(TrustCase):
    @in_every_world
    def test_a_claim_that_names_a_device(self, world):
        device = os.path.join(world.top, "device")
        os.mknod(device, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        os.chmod(device, 0o666)
        libc = ctypes.CDLL(None, use_errno=True)
        watch = libc.inotify_init1(os.O_NONBLOCK)
        self.addCleanup(os.close, watch)
        self.assertGreater(libc.inotify_add_watch(watch, device.encode(), IN_OPEN), 0)
        with open(device, "rb"):
            pass
        self.assertNotEqual(os.read(watch, 4096), b"", "opening is not seen")
        claim = (
            f"cairn claim 1\nhost {socket.gethostname()}\npool {device}\nuuid {'0' * 32}\njob \n"
        )
        world.plant(f"open('.cairn-claim', 'w').write({claim!r})")
        for words in (["drain", world.dir], ["drain", world.dir, "--to", world.outside],
                      ["discard", world.dir], ["discard", "--force",
                                               world.dir], ["rm", "--at", world.dir, "file"]):
            world.cairn(*words, expect=1)
        # Whose claim it is says whether the path in it is looked at.
        says = (
            "covered by another user, with pool"
            if world.runner != trust_case.ROOT
            else "which cannot be read"
        )
        self.assertIn(says, world.cairn("drain", world.dir, expect=1).err)
        world.run_at(expect=1)
        with self.assertRaises(BlockingIOError):
            os.read(watch, 4096)


if __name__ == "__main__":
    trust_case.main()
