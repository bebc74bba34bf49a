"""Jobs whose files are larger than the pool: drained files make room, and every byte is read
back."""

import hashlib
import json
import os
import sys

import cairn_case
from cairn_case import CAIRN
from cover_case import CoverCase

MIB = 1 << 20
SIZE = 4 * MIB
POOL = "40M"


def contents(number):
    return hashlib.sha256(str(number).encode()).digest() * (SIZE // 32)


# What runs inside: each word is a step.
JOB = f"""
import hashlib, mmap, os, subprocess, sys

def contents(number):
    return hashlib.sha256(str(number).encode()).digest() * ({SIZE} // 32)

def advise(name, advice):
    fd = os.open(name, os.O_RDONLY)
    os.posix_fadvise(fd, 0, 0, advice)
    os.close(fd)

for step in sys.argv[1:]:
    verb, _, number = step.partition("=")
    name = f"file-{{number}}"
    if verb == "write":
        with open(name, "wb") as file:
            file.write(contents(number))
    elif verb == "read":
        with open(name, "rb") as file:
            assert file.read() == contents(number), name
    elif verb == "change":
        with open(name, "r+b") as file:
            file.seek(1000)
            file.write(b"NEW")
    elif verb == "drain":
        subprocess.run([{CAIRN!r}, "drain", "."], check=True, stdout=subprocess.DEVNULL)
    elif verb == "evict":
        before = os.stat(name)
        advise(name, os.POSIX_FADV_DONTNEED)
        after = os.stat(name)
        assert (before.st_size, before.st_mtime_ns, before.st_ctime_ns) == (after.st_size, after.st_mtime_ns, after.st_ctime_ns)
    elif verb == "stage":
        advise(name, os.POSIX_FADV_WILLNEED)
    elif verb == "used":
        out = subprocess.run([{CAIRN!r}, "pool", "info", "--json"], check=True, capture_output=True).stdout
        print(out.decode())
    else:
        raise SystemExit(step)
"""


class Evict(CoverCase):
    def job(self, *steps, **more):
        return self.cairn("run", "--at", self.dir, "--pool-size", POOL, "--", sys.executable, "-c",
                          f"import os; os.chdir({self.dir!r}){JOB}", *steps, timeout=300, **more)

    def assert_lower_has(self, *numbers):
        for number in numbers:
            with open(os.path.join(self.dir, f"file-{number}"), "rb") as file:
                self.assertEqual(file.read(), contents(number), number)

    def test_more_files_than_fit(self):
        """They failed with ENOSPC although all but the last ones were drained."""
        steps = []
        for batch in range(5):
            steps += [f"write={number}" for number in range(4 * batch, 4 * batch + 4)] + ["drain"]
        steps += [f"read={number}" for number in range(20)]
        self.job(*steps)
        self.assert_lower_has(*range(20))

    def test_nothing_goes_that_is_not_drained(self):
        run = self.job(*[f"write={number}" for number in range(20)], expect=1)
        self.assertIn("No space left on device", run.err)
        self.assertIn("was full", run.err)

    def test_a_file_that_was_evicted_is_changed(self):
        steps = [f"write={number}" for number in range(6)
                 ] + ["drain"] + [f"write={number}" for number in range(6, 12)]
        self.job(*steps, *[f"change={number}" for number in (0, 1)], "drain",
                 *[f"read={number}" for number in range(2, 12)])
        self.assert_lower_has(*range(2, 12))
        for number in (0, 1):
            with open(os.path.join(self.dir, f"file-{number}"), "rb") as file:
                bytes_there = file.read()
            expected = contents(number)
            self.assertEqual(bytes_there, expected[:1000] + b"NEW" + expected[1003:])

    def test_advice(self):
        """posix_fadvise had no effect."""
        run = self.job("write=0", "used=", "evict=0", "used=", "drain", "used=", "evict=0", "used=",
                       "read=0", "used=", "stage=0", "used=", "read=0")
        used = [info["used_bytes"] for info in self.documents(run.out)]
        self.assertEqual(len(used), 6)
        here = [number >= SIZE for number in used]
        self.assertEqual(here, [True, True, True, False, False, True], used)
        self.assert_lower_has(0)

    def documents(self, text):
        decoder = json.JSONDecoder()
        found = []
        text = text.strip()
        while text:
            value, end = decoder.raw_decode(text)
            found.append(value)
            text = text[end:].strip()
        return found


# Forty files through a pool that holds three. Where each byte lies is told after each step.
# tests/slow/larger_than_the_pool_test.py does this with files of 16 MiB.
FILE_MIB = int(os.environ.get("CAIRN_EVICT_FILE_MIB", "4"))
LARGE = f"""
import hashlib, json, os, subprocess, sys

COUNT, BATCH, PIECE, PIECES = 40, 2, 1 << 20, {FILE_MIB}

def piece(number, at):
    return hashlib.sha256(b"%d %d" % (number, at)).digest() * (PIECE // 32)

def write(number):
    with open(f"file-{{number}}", "wb", buffering=0) as file:
        for at in range(PIECES):
            assert file.write(piece(number, at)) == PIECE

def check(number):
    with open(f"file-{{number}}", "rb", buffering=0) as file:
        for at in range(PIECES):
            assert file.read(PIECE) == piece(number, at), (number, at)
        assert file.read(1) == b"", number

def cairn(*arguments):
    return json.loads(subprocess.run([{CAIRN!r}, *arguments, "--json"], check=True, capture_output=True).stdout)

def tell(step):
    cover, = [one["path"] for one in cairn("ls", "/.covers") if one["type"] == "directory"]
    files = {{os.path.basename(one["path"]): one for one in cairn("ls", cover)}}
    here = sorted(int(name[5:]) for name, one in files.items() if name.startswith("file-") and not one["lazy"])
    evicted = sorted(int(name[5:]) for name, one in files.items() if one["evicted"])
    print(json.dumps({{"step": step, "here": here, "evicted": evicted, "used": cairn("pool", "info")["used_bytes"]}}), flush=True)

for first in range(0, COUNT, BATCH):
    for number in range(first, first + BATCH):
        write(number)
    subprocess.run([{CAIRN!r}, "drain", "."], check=True, stdout=subprocess.DEVNULL)
    tell("written")
for turn in range(2):
    for number in range(COUNT):
        check(number)
    tell("read")
"""


class LargerThanThePool(CoverCase):
    """A pool of 16 MiB, and 160 MiB of results."""

    def job(self, program, *options):
        run = self.cairn("run", "--at", self.dir, "--pool-size", f"{4 * FILE_MIB}M", *options, "--",
                         sys.executable, "-c", f"import os; os.chdir({self.dir!r}){program}",
                         timeout=600)
        return [json.loads(line) for line in run.out.splitlines()]

    def assert_in_lower(self, count):
        for number in range(count):
            digest = hashlib.sha256()
            with open(os.path.join(self.dir, f"file-{number}"), "rb") as file:
                digest.update(file.read())
            expected = hashlib.sha256()
            for at in range(FILE_MIB):
                expected.update(hashlib.sha256(b"%d %d" % (number, at)).digest() * (MIB // 32))
            self.assertEqual(digest.digest(), expected.digest(), number)

    def test_forty_files_with_drains_in_between(self):
        steps = self.job(LARGE)
        self.assertEqual(len(steps), 22)
        for number, step in enumerate(steps):
            made = min(2 * (number + 1), 40)
            # Each file is in the pool or was evicted, and what is there fits.
            self.assertEqual(sorted(step["here"] + step["evicted"]), list(range(made)), step)
            self.assertGreaterEqual(step["used"], len(step["here"]) * FILE_MIB * MIB)
            self.assertLess(step["used"], 4 * FILE_MIB * MIB)
        self.assertEqual(steps[0]["evicted"], [])
        # The youngest stay.
        for step in steps[:20]:
            self.assertEqual(
                step["here"],
                list(range(len(step["evicted"]),
                           len(step["evicted"]) + len(step["here"]))))
        # Reading brings nothing back, and evicts nothing.
        self.assertEqual(steps[19]["here"], steps[20]["here"])
        self.assertEqual(steps[20]["here"], steps[21]["here"])
        self.assertGreaterEqual(len(steps[21]["evicted"]), 36)
        self.assert_in_lower(40)

    def test_an_earlier_run_makes_room(self):
        """Its files were drained and kept. The next run has as many of its own, and drains them at
        its end only."""
        self.job(
            LARGE.replace("PIECES = 40", "PIECES = 0") + "\nfor number in range(3): write(number)",
            "--drain", "never")
        self.cairn("drain", "--keep", self.dir)
        steps = self.job(
            LARGE.replace("PIECES = 40", "PIECES = 0") +
            "\ntell('before')\nfor number in range(3, 6): write(number)\ntell('after')\n" +
            "for number in 2 * list(range(6)): check(number)")
        self.assertEqual([step["here"] for step in steps[-2:]], [[0, 1, 2], [3, 4, 5]])
        self.assertEqual([step["evicted"] for step in steps[-2:]], [[], [0, 1, 2]])
        self.assert_in_lower(6)


if __name__ == "__main__":
    cairn_case.main()
