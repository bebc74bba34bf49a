"""A directory that plays the parallel file system: a file system in a file, with a limit on its
bandwidth.

The limit is that of control groups for block devices, so it needs root. Where that is not possible,
the directory is an ordinary one, and `why` says why. """

import pathlib
import shutil
import subprocess

MIB = 1 << 20
V1 = pathlib.Path("/sys/fs/cgroup/blkio")
V2 = pathlib.Path("/sys/fs/cgroup")


class SlowDisk:
    def __init__(self, scratch, size, write_rate, read_rate):
        """`scratch`: an existing directory on a disk; `size` in bytes, rates in bytes a second."""
        self.directory = pathlib.Path(scratch) / "pfs"
        self.image = pathlib.Path(scratch) / "pfs.img"
        self.size, self.rates = size, (write_rate, read_rate)
        self.device = self.undo = None
        self.mounted = False
        self.why = ""

    def __enter__(self):
        self.directory.mkdir()
        try:
            self.mount()
            self.limit()
        except (OSError, subprocess.CalledProcessError) as error:
            told = getattr(error, "stderr", None)
            self.why = (told or str(error)).strip().split("\n")[-1]
            self.remove()
            self.directory.mkdir()
        return self

    def __exit__(self, *_):
        self.remove()

    @staticmethod
    def system(*command):
        if not shutil.which(command[0]):
            raise OSError(f"{command[0]}: not found")
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    def mount(self):
        with open(self.image, "wb") as file:
            file.truncate(self.size)
        self.system("mkfs.ext4", "-q", "-F", str(self.image))
        self.device = self.system("losetup", "--find", "--show", "--direct-io=on", str(self.image))
        self.system("mount", self.device, str(self.directory))
        self.mounted = True

    def limit(self):
        number = pathlib.Path("/sys/block",
                              pathlib.Path(self.device).name, "dev").read_text().strip()
        write_rate, read_rate = self.rates
        if (V1 / "blkio.throttle.write_bps_device").exists():
            # What the kernel writes back by itself counts as the root group's, so that one has the
            # limit. So have we.
            own = pathlib.Path("/proc/self/cgroup").read_text().split(":blkio:")
            groups = {V1} | ({V1 / own[1].split("\n")[0].lstrip("/")} if len(own) > 1 else set())
            self.undo = []
            for group in groups:
                for name, rate in (("write", write_rate), ("read", read_rate)):
                    file = group / f"blkio.throttle.{name}_bps_device"
                    file.write_text(f"{number} {rate}")
                    self.undo.append((file, f"{number} 0"))
            return
        own = pathlib.Path("/proc/self/cgroup").read_text().partition("0::/")[2].split("\n")[0]
        file = V2 / own / "io.max"
        if not own or not file.exists():
            raise OSError("no control group here limits block devices")
        file.write_text(f"{number} wbps={write_rate} rbps={read_rate}")
        self.undo = [(file, f"{number} wbps=max rbps=max")]

    def remove(self):
        for file, text in self.undo or []:
            try:
                file.write_text(text)
            except OSError:
                pass
        self.undo = None
        if self.mounted:
            subprocess.run(["umount", str(self.directory)], check=False, capture_output=True)
        if self.device:
            subprocess.run(["losetup", "--detach", self.device], check=False, capture_output=True)
        self.mounted, self.device = False, None
        shutil.rmtree(self.directory, ignore_errors=True)
        self.image.unlink(missing_ok=True)
