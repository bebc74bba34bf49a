"""A descriptor that another user has made or sent stands for no covered file of ours
(docs/design/trust.md)."""

import os
import shutil
import subprocess
import sys
import time

import trust_case
from trust_case import MALLORY, ROOT, VICTIM, TrustCase

# One that other users can start, too.
SYSTEM_PYTHON = shutil.which("python3", path="/usr/bin:/bin") or sys.executable

# The victim's service: it has a covered file open, passes it to who asks, and uses what it is sent.
SERVICE = """
import os, socket, struct, sys, time
place = sys.argv[1]
secret = os.open("secret", os.O_RDWR | os.O_CREAT, 0o600)
os.write(secret, b"only the victim may read this")

def used(what, descriptor):
    # One that stands for a file is written to and read.
    try:
        os.pwrite(descriptor, b"EVIL", 0)
        print(what, "wrote", os.pread(descriptor, 100, 0))
    except OSError as error:
        print(what, os.strerror(error.errno))

def received(from_whom):
    return socket.recv_fds(from_whom, 100, 10)[1][0]

# Own processes may pass descriptors to each other, also by datagrams.
for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
    near, far = socket.socketpair(socket.AF_UNIX, kind)
    if os.fork() == 0:
        mine = os.open(f"mine{kind}", os.O_RDWR | os.O_CREAT)
        os.write(mine, b"own\\n")
        socket.send_fds(near, [b"x"], [mine])
        near.recv(1)
        os._exit(0)
    used("own", received(far))
    far.send(b"x")
    os.wait()
listener = socket.socket(socket.AF_UNIX)
listener.bind("\\0" + place)
datagrams = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
datagrams.bind("\\0" + place + ".datagrams")
listener.listen()
stranger = listener.accept()[0]
socket.send_fds(stranger, [b"x"], [secret])
for what in sys.argv[2:]:
    used(what, received(datagrams if what == "datagram" else stranger))
    stranger.send(b"x")
    sys.stdout.flush()
list_of_handed = received(stranger)
forged = received(stranger)
# As if a program on the way had passed the text on, and got these two under its numbers.
os.set_inheritable(list_of_handed, True)
os.dup2(forged, 50)
print("the secret is", os.pread(secret, 100, 0))
sys.stdout.flush()
os.execve(sys.executable, [sys.executable, "-c", LAST],
          dict(os.environ, CAIRN_EXEC=f"60:{list_of_handed}"))
"""

LAST = """
import os
try:
    print("after exec: read", os.pread(50, 100, 0))
except OSError as error:
    print("after exec:", os.strerror(error.errno))
"""

STRANGER = """
import os, socket, struct, sys, time
place, directory = sys.argv[1:3]
at = socket.socket(socket.AF_UNIX)
deadline = time.time() + 60
while True:
    try:
        at.connect("\\0" + place)
        break
    except OSError:
        if time.time() > deadline: raise
        time.sleep(0.05)
genuine = socket.recv_fds(at, 100, 1)[1][0]
text = os.readlink("", dir_fd=genuine)
assert text.startswith("cairn:"), text
ids = text.rsplit(":", 2)[1:]

def forged(directory, removed):
    name = os.path.join(directory, "forged")
    os.symlink(text, name)
    descriptor = os.open(name, os.O_PATH | os.O_NOFOLLOW)
    if removed: os.unlink(name)
    return descriptor

def send(descriptor, to=at, address=None):
    socket.send_fds(to, [b"x"], [descriptor], 0, address)

datagrams = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
for what in sys.argv[3:]:
    if what == "relayed":
        send(genuine)
    elif what == "datagram":
        datagrams.connect("\\0" + place + ".datagrams")
        send(forged(directory, True), datagrams)
    else:
        os.makedirs(os.path.join(directory, what))
        send(forged(os.path.join(directory, what), what == "removed"))
    at.recv(1)
memory = os.memfd_create("list")
handed = struct.pack("QQiiiiQ257s", *map(int, ids), 50, 50, -1, -1, 0, b"")
os.write(memory, struct.pack("16sQ", b"cairn handover", 1) + handed.ljust(304, b"\\0"))
send(memory)
send(forged(directory, True))
"""

CASES = ("kept", "removed", "datagram", "relayed")


class StrangeDescriptors(TrustCase):
    def test_from_another_user(self):
        for runner in (VICTIM, ROOT):
            with self.subTest(runner=runner), self.world(True, runner) as world:
                place = f"cairn-test-{os.getpid()}-{runner}-{time.time()}"
                links = os.path.join(world.memory, "links")
                os.mkdir(links)
                os.chmod(links, 0o777)
                with subprocess.Popen([
                        "setpriv", f"--reuid={MALLORY}", f"--regid={MALLORY}", "--clear-groups",
                        SYSTEM_PYTHON, "-c", STRANGER, place, links, *CASES
                ], cwd="/") as stranger:
                    try:
                        script = f"LAST = {LAST!r}\n{SERVICE}"
                        run = world.run_at(SYSTEM_PYTHON, "-c", script, place, *CASES)
                        self.assertEqual(stranger.wait(30), 0)
                    finally:
                        stranger.kill()
                bad = "Bad file descriptor"
                self.assertEqual(run.out.split("\n"), [
                    *["own wrote b'EVIL'"] * 3, *[f"{case} {bad}" for case in CASES],
                    "the secret is b'only the victim may read this'", f"after exec: {bad}", ""
                ], run.err)
                self.assertIn(f"it was sent by user {MALLORY}", run.err)


if __name__ == "__main__":
    trust_case.main()
