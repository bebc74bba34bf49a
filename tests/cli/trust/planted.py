"""Draws what Mallory plants in a covered directory: forged records, notes, claims, kept
directories.

A plan is a list of operations. Each is a tuple of a word and its arguments, so that a test can
print and repeat it. `perform` carries a plan out as Mallory; paths are relative to the covered
directory. """

import ctypes
import os
import socket
import stat
import struct
import subprocess

from forge import crc32c, record

MALLORY = 61002
RENAME_EXCHANGE = 2
AT_FDCWD = -100
LIBC = ctypes.CDLL(None, use_errno=True)

# --- forging ---


def text(value):
    value = value if isinstance(value, bytes) else os.fsencode(value)
    return struct.pack("<I", len(value)) + value


def sealed(magic, body, version=1):
    return magic + struct.pack("<II", version, crc32c(body)) + body


def note(old, new, pools):
    """Bytes of a renaming note (docs/format/renaming.md)."""
    return sealed(b"CAIRNMOV",
                  text(old) + text(new) + struct.pack("<I", len(pools)) + b"".join(pools))


def fnv(value):
    """Names of covers, and of hosts in the names of kept directories."""
    found = 0xcbf29ce484222325
    for byte in os.fsencode(value):
        found = (found ^ byte) * 0x100000001b3 & 0xffffffffffffffff
    return f"{found:016x}"


def uuid_bytes(digits):
    """A pool's uuid as records and notes have it, from the two numbers that a claim shows."""
    return struct.pack("<QQ", int(digits[:16], 16), int(digits[16:], 16))


def tag(uuid, epoch):
    return f"{(int.from_bytes(uuid[:8], 'little') + epoch) & 0xffffffffffffffff:016x}"


def kept_name(claim):
    """The name of the kept directory for drains of the pool that this claim names."""
    return f".cairn-drain-{fnv(claim.get('host', socket.gethostname()))[:8]}-{claim['uuid']}"


def read_claim(directory):
    """The fields of the claim that lies there; {} if none does."""
    try:
        fd = os.open(os.path.join(directory, ".cairn-claim"),
                     os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return {}
    data = os.read(fd, 1 << 16) if stat.S_ISREG(os.fstat(fd).st_mode) else b""
    os.close(fd)
    lines = data.decode(errors="replace").split("\n")
    fields = dict(line.split(" ", 1) for line in lines if " " in line)
    uuid = fields.get("uuid", "")
    fields.pop("cairn", None)
    return fields if len(uuid) == 32 and set(uuid) <= set("0123456789abcdef") else {}


def claim_text(fields):
    return ("cairn claim 1\n" + "".join(f"{key} {value}\n"
                                        for key, value in fields.items())).encode()


# --- carrying out ---


def exchange(one, other):
    if LIBC.renameat2(AT_FDCWD, os.fsencode(one), AT_FDCWD, os.fsencode(other),
                      RENAME_EXCHANGE) != 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error), one)


def _make(path, data, mode, size=None):
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    os.write(fd, data)
    if size is not None:
        os.ftruncate(fd, size)
    os.fchmod(fd, mode)
    os.close(fd)


def _make_directory(path, mode):
    os.mkdir(path)
    os.chmod(path, mode)


def _deep(path, levels):
    os.mkdir(path)
    start = os.open(".", os.O_RDONLY)
    os.chdir(path)
    for _ in range(levels):
        os.mkdir("d")
        os.chdir("d")
    _make("file.record", b"no record", 0o644)
    os.fchdir(start)
    os.close(start)


def _corrupt(path, changes, size):
    fd = os.open(path, os.O_RDWR)
    os.fchmod(fd, 0o666)
    for offset, data in changes:
        os.pwrite(fd, bytes.fromhex(data), offset)
    if size is not None:
        os.ftruncate(fd, size)
    os.close(fd)


def _command(words, environment):
    subprocess.run(words, env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                   timeout=10, check=False)


OPERATIONS = {
    "corrupt": _corrupt, "command": _command, "mkdir": _make_directory, "file": _make,
    "symlink": os.symlink, "link": lambda old, new: os.link(old, new, follow_symlinks=False),
    "fifo": os.mkfifo, "rename": os.rename, "exchange": exchange, "unlink": os.unlink,
    "deep": _deep,
}


def perform(operations):
    """Carries out all operations that the kernel allows. Returns the numbers of those that
    succeeded."""
    done = []
    for number, (word, *arguments) in enumerate(operations):
        try:
            OPERATIONS[word](*arguments)
            done.append(number)
        except OSError:
            pass
    return done


def paths_of(operation):
    """The names that an operation gives to something else, or takes away."""
    word, *arguments = operation
    if word in ("rename", "exchange"):
        return arguments[:2]
    if word in ("command", "corrupt"):
        return []
    return [arguments[1]] if word in ("symlink", "link") else [arguments[0]]


# --- drawing ---


class Ground:
    """Mallory's knowledge: private directories, files of others that stat can see, and names in
    use."""

    def __init__(self, directory, outside, hard, files, directories, private, program_names, swaps):
        self.directory = directory
        self.outside = outside  # directories outside the covered one
        self.hard = hard  # files outside, for hard links
        self.files = files  # regular files in the covered directory, of the victim
        self.directories = directories
        self.private = private  # names in the covered directory with mode 0700 or 0600
        self.program_names = program_names  # the victim's program creates these
        self.swaps = swaps  # pairs
        self.secrets = []  # (path through a planted link, path of the file): stat can see them
        self.claim = {}
        self.cairn = []  # the command, its environment, and the path of Mallory's pool
        self.environment = {}
        self.pool_of_mallory = ""

    def pool(self, rng):
        return uuid_bytes(
            self.claim["uuid"]) if self.claim and rng.random() < 0.8 else rng.randbytes(16)


def _cairn_directory(rng):
    return ("mkdir", ".cairn", rng.choice([0o755, 0o777]))


def _parents(path, top=".cairn"):
    made, at = [], top
    for part in path.split("/")[:-1]:
        at += "/" + part
        made.append(("mkdir", at, 0o777))
    return made


def _identity(path):
    try:
        st = os.stat(path)
    except OSError:
        return None
    return (st.st_ino, st.st_size, st.st_mtime_ns, st.st_size)


def plant_cairn(rng, ground):
    """`.cairn` itself."""
    kind = rng.randrange(6)
    if kind == 5:  # a closed directory of the victim's counts
        return [("rename", rng.choice([*ground.private, *ground.directories]), ".cairn")]
    if kind == 0:
        return [_cairn_directory(rng)]
    if kind == 1:
        return [("file", ".cairn", b"", 0o644)]
    if kind == 2:
        return [("fifo", ".cairn", 0o666)]
    return [("symlink", rng.choice([*ground.outside, *ground.private, "."]), ".cairn")]


def forged_record(rng, ground, path):
    """Bytes of a record of the file at `path`, its uuid and its epoch."""
    uuid, epoch = rng.randbytes(16), rng.choice([0, 1, 1 << 63, (1 << 64) - 1])
    base = None
    at = os.path.join(ground.directory, path)
    for place, target in ground.secrets:
        if path == place:
            base = _identity(target)
    hidden = "/" in path and path.split("/")[0] in ground.private
    if base is None and not hidden and rng.random() < 0.5:
        base = _identity(at)
    nodes, shares = [], []
    if rng.random() < 0.3:
        nodes = [(ground.pool(rng), rng.choice(["", socket.gethostname(), "x" * 5000]),
                  rng.choice(["", "/dev/zero", "/" * 4000]))]
        if rng.random() < 0.5:
            shares = [(rng.choice([0, 4096, 1 << 62]), rng.choice([1, 4096, 1 << 40]), 0, 1,
                       rng.choice([0, 0, 1 << 31]))]
    data = record(uuid=uuid, epoch=epoch,
                  size=base[1] if base else rng.choice([0, 5, 4096, 1 << 62, (1 << 64) - 1]),
                  mtime=rng.choice([0, 10**18]),
                  mode=rng.choice([0o644, 0o777, 0o4755, 0o6777, 0o104755,
                                   0xffffffff]), uid=rng.choice([0, 0, 61001, MALLORY, 0xffffffff]),
                  gid=rng.choice([0, MALLORY]), base=base, nodes=nodes, shares=shares)
    return data, uuid, epoch


def plant_record(rng, ground):
    """A record, an aside file, a mark, or something else under such a name."""
    operations = [_cairn_directory(rng)]
    where = rng.randrange(8)
    if where < 3:  # through a link to outside
        target = rng.choice([at for at in ground.outside if rng.random() < 0.5 or "open" in at])
        link = f"link{rng.randrange(100)}"
        operations.append(("symlink", target, link))
        names = [(f"{link}/{name}", f"{target}/{name}") for name in ("public", "listed", "secret")]
        ground.secrets += names[:2]
        path = rng.choice([f"{link}/new", f"{link}/listed", *[name for name, _ in names]])
    elif where == 3:  # these end as `..`, `.` and nothing
        path = rng.choice(["..", ".", "", "work/..", "../outside/of_victim/new"[3:]])
    elif where == 4:
        path = rng.choice(ground.private) + rng.choice(["/new", "/secret", ""])
    elif where == 5 and rng.random() < 0.3:
        path = "x" * rng.choice([200, 246, 248])
    else:
        path = rng.choice([*ground.files, *ground.program_names, f"forged{rng.randrange(100)}"])
    operations += _parents(path)
    name = f".cairn/{path}.record"
    data, uuid, epoch = forged_record(rng, ground, path)
    kind = rng.randrange(12)
    if kind < 7:
        operations.append(("file", name, data, 0o644))
    elif kind == 7:
        body = bytearray(data[16:])
        for _ in range(rng.randrange(1, 9)):
            body[rng.randrange(len(body))] = rng.randrange(256)
        operations.append(("file", name, sealed(b"CAIRNREC", bytes(body), rng.choice([1, 1, 1,
                                                                                      2])), 0o644))
    elif kind == 8:
        operations.append(("file", name, data[:rng.randrange(len(data))], 0o644))
    elif kind == 9:
        operations.append(("file", name, data, 0o644, rng.choice([1 << 30, 1 << 40])))
    elif kind == 10:
        operations.append(("fifo", name, 0o666))
    else:
        operations.append(
            ("symlink", rng.choice(["/dev/zero",
                                    *[f"{at}/secret" for at in ground.outside]]), name))
    if rng.random() < 0.3:
        aside = f".cairn/{path}.aside-{tag(uuid, epoch)}"
        operations.append(
            rng.choice([("file", aside, b"of mallory\n", 0o666),
                        ("symlink", f"{rng.choice(ground.outside)}/secret", aside),
                        ("fifo", aside, 0o666), ("mkdir", aside, 0o777),
                        ("link", rng.choice(ground.hard), aside)]))
    if rng.random() < 0.3:
        pool = f"{int.from_bytes(ground.pool(rng)[:8], 'little'):016x}"
        mark = f".cairn/{path}.mark-{tag(uuid, epoch)}-{pool}"
        operations.append(
            rng.choice([("file", mark, b"", 0o666), ("link", path, mark),
                        ("symlink", f"{rng.choice(ground.outside)}/secret", mark),
                        ("mkdir", mark, 0o777)]))
    if rng.random() < 0.1:
        operations.append(
            ("file", f".cairn/{path}.record.new-{rng.randbytes(16).hex()}", data, 0o644))
    return operations


def plant_note(rng, ground):
    """A renaming note, or something else under the name of one."""
    operations = [_cairn_directory(rng), ("mkdir", ".cairn/.cairn", 0o777)]
    name = ".cairn/.cairn/renaming-" + rng.randbytes(16).hex()
    up = "../" * rng.randrange(1, 4)
    sources = [
        f"{up}{os.path.basename(os.path.dirname(at))}/{os.path.basename(at)}"
        for at in ground.outside
    ]
    names = [*ground.files, *ground.directories, *ground.private]
    old = rng.choice([*sources, *[source + "/sub" for source in sources], *names])
    new = rng.choice([*sources, "taken", "../taken", "work/taken", *names])
    pools = [ground.pool(rng) for _ in range(rng.choice([1, 1, 2]))]
    data = note(old, new, pools)
    kind = rng.randrange(8)
    if kind < 4:
        operations += [*_parents(old), ("file", name, data, 0o644)]
        if "/.." not in old and not old.startswith(".."):
            operations += [("mkdir", f".cairn/{old}", 0o777),
                           ("file", f".cairn/{old}/x.record", b"", 0o644)]
    elif kind == 4:
        operations.append(("file", name, data[:rng.randrange(len(data))], 0o644))
    elif kind == 5:
        operations.append(("fifo", name, 0o666))
    elif kind == 6:
        operations.append(
            ("symlink", rng.choice(["/dev/zero", f"{rng.choice(ground.outside)}/secret"]), name))
    else:
        operations.append(rng.choice([("file", name, data, 0o644, 1 << 40), ("mkdir", name, 0o777),
                                      ("file", name + ".done-" + pools[0].hex(), b"", 0o644)]))
    return operations


def plant_claim(rng, ground):
    """The claim, one that has joined it, or one that is being written."""
    name = rng.choice([".cairn-claim", ".cairn-claim", ".cairn-claim-of-" + rng.randbytes(16).hex(),
                       ".cairn-claim-" + rng.randbytes(16).hex()])
    fields = dict(ground.claim) or {
        "host": socket.gethostname(), "machine": "", "boot": "", "pool": "/dev/shm/none",
        "place": "1:1", "uuid": rng.randbytes(16).hex(), "job": "", "time": "1",
        "token": rng.randbytes(16).hex()
    }
    if ground.claim and rng.random() < 0.3:
        name = ".cairn-claim-of-" + ground.claim["uuid"]
    for _ in range(rng.randrange(3)):
        pool = rng.choice(["/dev/zero", "/dev/stdin", f"{ground.directory}/pipe-pool", "x" * 5000])
        key, value = rng.choice([("token", rng.randbytes(16).hex()), ("pool", pool),
                                 ("host", "elsewhere"), ("boot", ""), ("job", "of mallory"),
                                 ("uuid", "../../x"), ("place", "")])
        fields[key] = value
    kind = rng.randrange(8)
    if kind < 3:
        operations = [("file", name, claim_text(fields), 0o644)]
        if fields["pool"].endswith("pipe-pool"):
            operations.append(("fifo", "pipe-pool", 0o666))
    elif kind == 3:
        operations = [("file", name, rng.randbytes(40), 0o644)]
    elif kind == 4:
        operations = [("fifo", name, 0o666)]
    elif kind == 5:
        operations = [("file", name, claim_text(fields), 0o644, 1 << 40)]
    elif kind == 6:
        operations = [("symlink",
                       rng.choice([
                           "/dev/zero", f"{rng.choice(ground.outside)}/secret",
                           rng.choice(ground.private)
                       ]), name)]
    else:
        operations = [("mkdir", name, 0o777)]
    if rng.random() < 0.2 and ground.claim:
        operations.insert(0, ("unlink", ".cairn-claim"))
    return operations


def plant_kept(rng, ground):
    """A kept directory, or the name of a temporary file."""
    name = f".cairn-drain-{rng.randbytes(4).hex()}-{rng.randbytes(16).hex()}"
    if ground.claim and rng.random() < 0.7:
        name = kept_name(ground.claim)
    at = rng.choice(["", "", "work/"]) + name
    kind = rng.randrange(8)
    if kind == 0:
        return [("file", at, b"of mallory\n", 0o666)]
    if kind == 1:
        return [("symlink", rng.choice([*ground.outside, *ground.private]), at)]
    if kind == 2:
        return [("fifo", at, 0o666)]
    if kind < 5:
        return [("rename", rng.choice(ground.private), name)]
    operations = [("mkdir", at, rng.choice([0o777, 0o755, 0o700]))]
    for _ in range(rng.randrange(3)):
        item = rng.randbytes(8).hex() + "-item"
        place = rng.choice([
            *[f"{there}/brought" for there in ground.private], "../brought", "work/brought",
            "brought", f"{ground.outside[0]}/brought"
        ])
        operations += [("file", f"{at}/{item}", b"of mallory\n", 0o644),
                       ("file", f"{at}/origin-{item}", place.encode(), 0o644)]
    return operations


def plant_name(rng, ground):
    """Something else under a name that the victim's program uses, or is going to use."""
    name = rng.choice(ground.program_names)
    kind = rng.randrange(6)
    if kind < 2:
        return [("symlink",
                 rng.choice([
                     *ground.outside,
                     rng.choice(ground.private), f"{rng.choice(ground.outside)}/secret"
                 ]), name)]
    if kind == 2:
        return [("fifo", name, 0o666)]
    if kind == 3:
        return [("link", rng.choice(ground.hard), name)]
    if kind == 4:
        return [("mkdir", name, 0o777), ("symlink", rng.choice(ground.outside), f"{name}/in")]
    return [("file", name, b"of mallory\n", 0o666)]


def plant_pool(rng, ground):
    """A cover of Mallory's, and random changes to the pool that its claim names."""
    words = [*ground.cairn, "run", "--at", ground.directory, "--drain", "never", "--",
             "sh", "-c", f"echo x > {ground.directory}/of-mallory"]
    changes = []
    for _ in range(rng.choice([0, 1, 1, 10, 200])):
        offset = rng.randrange(rng.choice([64, 4096, 1 << 16, 1 << 20]))
        changes.append(
            (offset,
             rng.choice([rng.randbytes(1),
                         rng.randbytes(8), b"\xff" * 8, b"\0" * 64, b"\xff" * 64]).hex()))
    return [("command", words, ground.environment),
            ("corrupt", ground.pool_of_mallory, changes,
             rng.choice([None, None, None, 0, 4096, 1 << 20]))]


def plant_deep(rng, _):
    return [
        _cairn_directory(rng),
        ("deep", f".cairn/deep{rng.randrange(100)}", rng.choice([60, 60, 60, 300, 300, 1500]))
    ]


def plant_swap(rng, ground):
    """Two names change places, or one becomes a link."""
    one, other = rng.choice(ground.swaps)
    kind = rng.randrange(6)
    if kind < 4:
        return [("exchange", one, other)]
    link = f"link{rng.randrange(100)}"
    return [("symlink", rng.choice([*ground.outside, other]), link), ("exchange", one, link)]


BEFORE = [
    plant_cairn, plant_record, plant_record, plant_record, plant_note, plant_claim, plant_kept,
    plant_name, plant_deep, plant_pool
]
MEANWHILE = [
    plant_cairn, plant_record, plant_note, plant_note, plant_claim, plant_kept, plant_kept,
    plant_name, plant_swap, plant_swap, plant_swap
]


def draw(rng, ground, kinds, most):
    operations = []
    for _ in range(rng.randrange(1, most + 1)):
        operations += rng.choice(kinds)(rng, ground)
    return operations
