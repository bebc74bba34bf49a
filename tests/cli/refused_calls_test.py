"""Calls that are not served on covered files say so, once each, by their names."""

import sys

import cairn_case
from cover_case import CoverCase

PROGRAM = """
import ctypes, errno, os
libc = ctypes.CDLL(None, use_errno=True)
inside = os.open("inside", os.O_RDWR | os.O_CREAT)
read_end, write_end = os.pipe()
room = ctypes.create_string_buffer(256)
mount = ctypes.c_int()
vector = (ctypes.c_void_p * 2)(ctypes.addressof(room), 1)
def code(result):
    return "done" if result >= 0 else errno.errorcode[ctypes.get_errno()]
for _ in range(2):
    print(code(libc.name_to_handle_at(-100, b"inside", room, ctypes.byref(mount), 0)),
          code(libc.name_to_handle_at(inside, b"", room, ctypes.byref(mount), 0x1000)),
          code(libc.tee(read_end, inside, 1, 0)), code(libc.vmsplice(inside, vector, 1, 0)))
os.write(write_end, b"x")
import fcntl
def lease(wanted):
    try:
        return fcntl.fcntl(inside, fcntl.F_SETLEASE, wanted)
    except OSError as error:
        return errno.errorcode[error.errno]
here = os.open(".", os.O_RDONLY)
watch = libc.inotify_init()
for _ in range(2):
    print(lease(fcntl.F_RDLCK), lease(fcntl.F_WRLCK), lease(fcntl.F_UNLCK), lease(77), fcntl.fcntl(inside, fcntl.F_GETLEASE) == fcntl.F_UNLCK,
          code(libc.fcntl(here, fcntl.F_NOTIFY, 1)), code(libc.inotify_add_watch(watch, b"inside", 2)))
os.write(inside, bytes(8192))
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
number = 216 if os.uname().machine == "x86_64" else 234  # of remap_file_pages
for file in [inside, os.memfd_create("plain")]:
    os.truncate(file, 8192)
    mapped = ctypes.c_void_p(libc.mmap(None, 8192, 3, 1, file, 0))
    print(code(libc.remap_file_pages(mapped, 4096, 0, 1, 0)),
          code(libc.syscall(number, mapped, 4096, 0, 1, 0)))
other, there = os.pipe()
print(code(libc.tee(read_end, there, 1, 0)), code(libc.vmsplice(there, vector, 1, 0)))
"""


class Refused(CoverCase):
    def test_each_says_it(self):
        self.write("program.py", PROGRAM)
        run = self.shell(f"{sys.executable} {self.path('program.py')}")
        refused = "ENOTSUP ENOTSUP EINVAL EBADF\n"  # as Linux calls EOPNOTSUPP, too
        unserved = "EINVAL EINVAL EAGAIN EINVAL True EINVAL ENOSPC\n"
        remapped = "EINVAL EINVAL\ndone done\n"
        self.assertEqual(run.out, refused * 2 + unserved * 2 + remapped + "done done\n")
        self.assertEqual(run.err.splitlines(), [
            "cairn: name_to_handle_at is not served on covered files: inside",
            f"cairn: tee is not served on covered files: {self.dir}/inside",
            f"cairn: vmsplice is not served on covered files: {self.dir}/inside",
            f"cairn: fcntl(F_SETLEASE) is not served on covered files: {self.dir}/inside",
            f"cairn: fcntl(F_NOTIFY) is not served on covered files: {self.dir}",
            "cairn: inotify_add_watch is not served on covered files: inside",
            "cairn: remap_file_pages is not served on covered files: a mapping"
        ])


if __name__ == "__main__":
    cairn_case.main()
