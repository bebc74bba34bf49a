"""Linux namespaces and the mounts in them, by the C library's own calls (Python's come with
3.12)."""

import ctypes
import os

# In the order in which they are entered: the user namespace gives the right to enter the others.
KINDS = {
    "user": 0x10000000, "net": 0x40000000, "uts": 0x04000000, "ipc": 0x08000000, "mnt": 0x00020000,
    "pid": 0x20000000
}
MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_BIND, MS_MOVE, MS_REC, MS_PRIVATE = (
    2,
    4,
    8,
    1 << 12,
    1 << 13,
    1 << 14,
    1 << 18,
)
PR_SET_PDEATHSIG = 1

libc = ctypes.CDLL(None, use_errno=True)


def call(name, *arguments):
    words = [os.fsencode(word) if isinstance(word, str) else word for word in arguments]
    if getattr(libc, name)(*words) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}({', '.join(map(str, arguments))}): {os.strerror(number)}")


def unshare(*kinds):
    flags = 0
    for kind in kinds:
        flags |= KINDS[kind]
    call("unshare", flags)


def become_root_of_new_user_namespace():
    """What lets an ordinary user make the other namespaces, where the system allows it."""
    user, group = os.geteuid(), os.getegid()
    unshare("user")
    for name, text in (("setgroups", "deny"), ("uid_map", f"0 {user} 1"), ("gid_map",
                                                                           f"0 {group} 1")):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
            file.write(text)


def enter(*pids):
    """Enters the namespaces of a process, from there those of the next; each ID is as seen from the
    one before. Only children are in the last one's PID namespace, from the next fork on."""
    user = os.stat("/proc/self/ns/user").st_ino
    for pid in pids:
        files = {kind: os.open(f"/proc/{pid}/ns/{kind}", os.O_RDONLY) for kind in KINDS}
        inside, user = user, os.fstat(files["user"]).st_ino
        for kind, file in files.items():
            if kind != "user" or user != inside:  # the one that we are in cannot be entered
                call("setns", file, KINDS[kind])
            os.close(file)


def mount(source, target, kind=None, flags=0, options=None):
    call("mount", source, target, kind, ctypes.c_ulong(flags), options)


def set_hostname(name):
    call("sethostname", name, len(name))


def die_with_parent():
    call("prctl", PR_SET_PDEATHSIG, 9)
