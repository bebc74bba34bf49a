"""Why a program's writes did not fit: a run says whether the pool was full, its file system, or a
memory limit, and what helps."""

import contextlib
import ctypes
import os
import pathlib
import re
import subprocess
import unittest

import cairn_case
from cairn_case import CairnCase

CLONE_NEWNS = 0x20000
MIB = 1 << 20
NUMBERS = r"\d+ write\(s\) did not fit, at least [\d.]+ [KM]iB were missing"


def own_memory_group():
    """The directory of this process's memory cgroup, and the name of the file with its limit;
    None."""
    for line in pathlib.Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines():
        number, controllers, path = line.split(":", 2)
        if "memory" in controllers.split(","):
            return pathlib.Path("/sys/fs/cgroup/memory" + path), "memory.limit_in_bytes"
        if number == "0" and os.path.exists("/sys/fs/cgroup/cgroup.controllers"):
            return pathlib.Path("/sys/fs/cgroup" + path), "memory.max"
    return None


class Shortage(CairnCase):
    def setUp(self):
        super().setUp()
        self.dir = self.path("results")
        os.mkdir(self.dir)

    def write_big(self, *options, mib=100, **more):
        return self.cairn("run", *options, "--at", self.dir, "--", "sh", "-c",
                          f"head -c {mib * MIB} /dev/zero > {self.dir}/big", expect=1, **more)

    def test_a_full_pool(self):
        run = self.write_big("--pool-size", "32M")
        self.assertRegex(
            run.err,
            rf"cairn run: the pool \S+ \(32 MiB\) was full: {NUMBERS}; no more of its files .* give"
            r" it more with --pool-size\n",
        )

    @contextlib.contextmanager
    def small_file_system(self, mib):
        place = self.path("small")
        os.mkdir(place)
        if os.geteuid() != 0 or subprocess.run(
            ["unshare", "-m", "mount", "-t", "tmpfs", "none", place], capture_output=True,
                check=False).returncode:
            self.skipTest("nothing can be mounted here")
        libc = ctypes.CDLL(None, use_errno=True)
        self.assertEqual(libc.unshare(CLONE_NEWNS), 0)
        subprocess.run(["mount", "--make-rprivate", "/"], check=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={mib}M,mode=700", "none", place],
                       check=True)
        try:
            yield place
        finally:
            subprocess.run(["umount", "-l", place], check=True)

    def test_a_full_file_system(self):
        with self.small_file_system(64) as place:
            env = {"CAIRN_POOL_DIR": place}
            self.cairn("pool", "create", "--size", "48M", env=env)
            with open(os.path.join(place, "other"), "wb") as file:
                file.write(b"o" * (40 * MIB))
            run = self.write_big(mib=30, env=env)
            free = r"[\d.]+ ([KM]i)?B free"
            self.assertRegex(
                run.err,
                rf"cairn run: the file system {re.escape(place)} \(64 MiB, {free}\) was full, so"
                rf" the pool {re.escape(place)}/default "
                rf"\(48 MiB\) could not grow into its size: {NUMBERS}; make room there, or choose"
                r" another place with --pool-dir\n",
            )
            self.assertNotIn("cairn pool grow", run.err)
            # What was written is kept, and the pool goes on once there is room.
            os.unlink(os.path.join(place, "other"))
            self.cairn("run", "--at", self.dir, "--", "sh", "-c",
                       f"head -c {20 * MIB} /dev/zero > {self.dir}/big", env=env)
            self.assertEqual(os.stat(os.path.join(self.dir, "big")).st_size, 20 * MIB)

    def enter_group(self, mib):
        """A memory cgroup of that size: what makes a process enter it, and the file with its
        limit."""
        found = own_memory_group()
        if os.geteuid() != 0 or found is None:
            self.skipTest("there is no memory cgroup to make one in")
        group, limit = found[0] / f"cairn-shortage-{os.getpid()}", found[1]
        try:
            group.mkdir()
        except OSError as error:
            self.skipTest(f"no cgroup can be made here: {error}")
        self.addCleanup(group.rmdir)
        try:
            (group / limit).write_text(str(mib * MIB), encoding="utf-8")
        except OSError as error:
            self.skipTest(f"no limit can be set here: {error}")
        return lambda: (group / "cgroup.procs").write_text(str(os.getpid()), encoding="utf-8"
                                                           ), group / limit

    @unittest.skipIf(cairn_case.HAS_SHADOW, "AddressSanitizer's own memory reaches the limit")
    def test_the_limit_of_a_cgroup(self):
        """A pool that was made elsewhere is larger. The drain was killed, again and again."""
        enter, file = self.enter_group(96)
        self.cairn("pool", "create", "--size", "256M")
        run = self.write_big(mib=200, preexec_fn=enter)
        self.assertRegex(
            run.err,
            r"cairn run: the memory limit of this cgroup \(96 MiB in"
            rf" {re.escape(str(file))}\) was reached, so the pool \S+ "
            rf"\(256 MiB\) could not grow into its size: {NUMBERS}; ask the batch system for more"
            r" memory, or put the pool on a disk",
        )
        self.assertNotIn("cairn pool grow", run.err)
        self.assertEqual(self.json("status"), [])
        self.assertGreater(os.stat(os.path.join(self.dir, "big")).st_size, 32 * MIB)

    @unittest.skipIf(cairn_case.HAS_SHADOW, "AddressSanitizer's own memory reaches the limit")
    def test_a_pool_that_is_larger_than_the_limit_of_a_cgroup(self):
        """It was made, and its drain was killed."""
        enter, file = self.enter_group(96)
        says = ["bytes do not fit, the memory limit of the cgroup", str(96 * MIB), str(file)]
        self.refused("run", "--pool-size", "256M", "--at", self.dir, "--", "true", code=1,
                     says=says, preexec_fn=enter)
        self.refused("pool", "create", "--size", "256M", code=1, says=says, preexec_fn=enter)
        self.assertEqual((os.listdir(self.dir), os.listdir(self.pools)), ([], []))
        self.cairn("pool", "create", "--size", "40M", preexec_fn=enter)
        self.refused("pool", "grow", "40M", code=1, says=says, preexec_fn=enter)
        self.cairn("pool", "create", "all", "--size", "100%", preexec_fn=enter)


if __name__ == "__main__":
    cairn_case.main()
