"""Names of others on a terminal: whatever a file, a directory, a pool, a set or its texts are
called, no control character, mark of direction or invisible character is shown as it is."""

import os
import subprocess
import sys
import unicodedata

import cairn_case
from ckpt import ckpt_case  # noqa: E402
from cover_case import CoverCase

# A C1 control in UTF-8 and as a byte, an escape sequence, DEL, marks of direction, a tag.
HIDDEN = b"x\x1b[31m\xc2\x9b2J\x9b\x7f\xe2\x80\xae\xe2\x81\xa6\xd8\x9c\xe2\x80\x8b\xf3\xa0\x81\x81y"
FORGED = HIDDEN + b"\npool forged"
SHOWN = "x\\x1b[31m\\xc2\\x9b2J\\x9b\\x7f\\xe2\\x80\\xae\\xe2\\x81\\xa6\\xd8\\x9c\\xe2\\x80\\x8b"


class ShownNames(CoverCase):
    """Each output is looked at; `cairn` of the case fails on what must not be shown."""

    def setUp(self):
        super().setUp()
        self.dir = os.fsdecode(os.path.join(os.fsencode(self.scratch), HIDDEN))
        os.mkdir(self.dir)
        self.shown = 0

    def cairn(self, *words, **more):
        run = super().cairn(*words, **more)
        for text in (run.out, run.err):
            bad = [c for c in text if c != "\n" and (unicodedata.category(c) in ("Cc", "Cf", "Cs")
                                                     or c in "\u2028\u2029")]
            self.assertEqual(bad, [], (words, text))
            self.assertNotIn("\npool forged", text, words)
            self.shown += SHOWN in text
        return run

    def both(self, *words, **more):
        """As text, in which the name stands, and as JSON."""
        before = self.shown
        self.cairn(*words, **more)
        self.assertGreater(self.shown, before, words)
        self.json(*words, **more)

    def test_a_cover(self):
        forged = os.fsdecode(FORGED)
        self.cairn("run", "--at", self.dir, "--drain", "never", "--", "touch", forged, "other",
                   cwd=self.dir)
        self.both("status")
        self.both("ls", "-a", "-R", ":/", expect=None)
        self.cairn("rm", "--at", self.dir, forged + "-no", expect=None)
        self.cairn("stage", "--at", self.dir, forged, expect=None)
        self.cairn("drain", os.path.join(self.dir, "none"), expect=None)
        os.mkdir(os.path.join(self.dir, forged))
        self.both("drain", self.dir, "--keep", expect=None)
        self.cairn("discard", self.dir)

    def test_files_of_a_pool(self):
        self.cairn("pool", "create", "--size", "64M")
        name = os.fsdecode(FORGED)
        self.write(name, "text")
        self.cairn("cp", self.path(name), ":/")
        self.cairn("mkdir", f":/{name}-d")
        for words in (("ls", ":/"), ("ls", "-l", ":/"), ("stat", f":/{name}"), ("du", ":/")):
            self.both(*words)
        for words in (("cat", f":/{name}-no"), ("rm", f":/{name}-no"), ("mkdir", f":/{name}"),
                      ("mv", f":/{name}-no", ":/a"), ("cp", self.path(name) + "-no", ":/"),
                      ("ls", f":/{name}-no"), ("pool", "info", name), ("status", name),
                      ("drain", name), ("discard", name), ("doctor", f"./{name}"),
                      ("bench", "report", name), ("help", name), (name,), (f"--{name}",),
                      ("pool", "create", "--size", name), ("config", name),
                      ("run", "--", f"./{name}-no"), ("run", "--at", self.path(name), "--", "true"),
                      ("ckpt", "list", name), ("ckpt", "show", name),
                      ("ckpt", "import", name, name)):
            self.cairn(*words, expect=None)
        self.assertGreater(self.shown, 20)

    def test_a_pool_directory(self):
        """The directory of pools has such a name, and so has a pool if it may."""
        place = self.path(os.fsdecode(HIDDEN))
        self.cairn("pool", "create", "--pool-dir", place, "--size", "64M", expect=None)
        self.cairn("pool", "create", os.fsdecode(HIDDEN), "--size", "64M", expect=None)
        for words in (("pool", "list"), ("pool", "info"), ("pool", "check"), ("pool", "clean"),
                      ("status",), ("df",), ("doctor",), ("config",)):
            self.cairn(*words, "--pool-dir", place, expect=None)
            self.cairn(*words, "--pool-dir", place, "--json", expect=None)
            self.cairn(*words, expect=None)
        self.assertGreater(self.shown, 2)

    def test_checkpoints(self):
        self.cairn("pool", "create", "--size", "64M")
        subprocess.run([ckpt_case.WRITER, "set", "hidden"], env=self.env, check=True, timeout=60)
        told = "".join(self.cairn("ckpt", *words, expect=None).out
                       for words in (("list",), ("list", "set"), ("show", "set"),
                                     ("diff", "set", "set"), ("verify", "set"),
                                     ("show", "set", "1")))
        self.assertIn("v\\xc2\\x9b\\xe2\\x80\\xae\\xf3\\xa0\\x81\\x81", told)
        self.assertIn("\\x1b[31m\\x7f\\x0aforged", told)
        self.cairn("ckpt", "export", "set", "1", os.fsdecode(FORGED) + ".nc", expect=None)
        self.cairn("ckpt", "show", "set", "--json", expect=None)

    def test_a_program_under_the_library(self):
        """What the preloaded library says of a file."""
        script = ("import ctypes, os, sys\n"
                  "os.open(sys.argv[1].encode('utf-8', 'surrogateescape'), os.O_CREAT)\n"
                  "room, mount = ctypes.create_string_buffer(256), ctypes.c_int()\n"
                  "ctypes.CDLL(None).name_to_handle_at(-100, os.fsencode(sys.argv[1]), room, "
                  "ctypes.byref(mount), 0)\n")
        run = self.cairn("run", "--at", self.dir, "--", sys.executable, "-c", script,
                         os.fsdecode(FORGED), cwd=self.dir)
        self.assertIn("not served on covered files: " + SHOWN, run.err)


if __name__ == "__main__":
    cairn_case.main()
