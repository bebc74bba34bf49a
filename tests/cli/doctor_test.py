"""cairn doctor: the environment, and what it says about programs."""

import os
import shutil
import subprocess
import sys
import unittest

import cairn_case
from cairn_case import CairnCase


class Doctor(CairnCase):
    def topics(self, *words, **more):
        report = self.json("doctor", *words, **more)
        return {each["topic"]: each for each in report["findings"]}, report["ok"]

    def build(self, name, source, *options):
        compiler = os.environ.get("CAIRN_CC", "cc")
        if not shutil.which(compiler):
            self.skipTest("no compiler")
        program = self.path(name)
        run = subprocess.run([compiler, "-x", "c", "-", "-o", program, *options],
                             input=source.encode(), capture_output=True, check=False)
        if run.returncode != 0:
            self.skipTest(run.stderr.decode())
        return program

    def test_environment(self):
        found, _ = self.topics(expect=None)
        for topic in [
                "pool directory", "space", "memory", "processor", "preload", "MPI-IO", "MPI job"
        ]:
            self.assertIn(topic, found)
        self.assertEqual(found["pool directory"]["level"], "ok")
        if "tmpfs" in found["pool directory"]["text"]:
            self.assertIn("nothing survives power loss", found["durability"]["text"])
        if cairn_case.preload().exists() and not os.environ.get("CAIRN_SANITIZE"):
            self.assertEqual(found["preload"]["level"], "ok", found["preload"])
        self.cairn("doctor", expect=None)

    def test_mpi(self):
        job = {"OMPI_COMM_WORLD_SIZE": "8", "OMPI_COMM_WORLD_LOCAL_SIZE": "4"}
        found, _ = self.topics(expect=None, env=job)
        self.assertEqual(found["MPI job"]["text"],
                         "8 ranks, 4 of them on this host: it spans hosts")
        self.assertRegex(found["MPI-IO"]["text"], r"^back ends: .*\bmpiabi\b")
        self.write("orterun", "#!/bin/sh\n")
        os.chmod(self.path("orterun"), 0o755)
        os.symlink(self.path("orterun"), self.path("mpirun"))
        found, _ = self.topics(expect=None, env={"PATH": self.scratch})
        self.assertIn("openmpi", found["MPI"]["text"])

    def test_bad_place(self):
        found, ok = self.topics("--pool-dir", "/proc/none", expect=1)
        self.assertFalse(ok)
        self.assertEqual(found["pool directory"]["level"], "wrong")

    def test_programs_that_can_be_served(self):
        for program in ["cat", "git", "tar", sys.executable]:
            if not shutil.which(program):
                continue
            found, ok = self.topics(program)
            self.assertTrue(ok, program)
            served = found["served"]["text"].split()
            for call in ["close", "read" if program != "git" else "open64"]:
                self.assertIn(call, served, program)
        self.assertIn("libraries", self.cairn("doctor", "--help").out)

    def test_script(self):
        script = self.write("script", "#!/usr/bin/env python3\nprint()\n")
        os.chmod(script, 0o755)
        report = self.json("doctor", script)
        self.assertIn("script for python3", report["findings"][0]["text"])

    def test_static_program(self):
        program = self.build("static", "int main(void) { return 0; }", "-static")
        found, ok = self.topics(program, expect=1)
        self.assertFalse(ok)
        self.assertIn("statically", found["kind"]["text"])

    def test_setuid_program(self):
        program = self.build("setuid", "int main(void) { return 0; }")
        os.chmod(program, 0o4755)
        found, _ = self.topics(program, expect=1)
        self.assertIn("LD_PRELOAD", found["privileges"]["text"])

    def test_go_program(self):
        note = (
            'asm(".section .note.go.buildid,\\"a\\",@note\\n.long 4,4,4\\n.asciz'
            ' \\"Go\\\\0\\"\\n.long 1\\n.previous");'
        )
        program = self.build("go", note + "int main(void) { return 0; }")
        found, _ = self.topics(program, expect=1)
        self.assertIn("Go", found["kind"]["text"])

    def test_raw_system_calls_are_mentioned(self):
        program = self.build(
            "raw", "long syscall(long, ...); int main(void) { return (int)syscall(39) < 0; }")
        found, ok = self.topics(program)
        self.assertTrue(ok)
        self.assertIn("syscall", found)

    def test_mistakes(self):
        self.refused("doctor", "no-such-program", code=127, says="no-such-program")
        text = self.write("text", "nothing\n")
        found, _ = self.topics(text, expect=1)
        self.assertIn("neither a program nor a script", found["kind"]["text"])


if __name__ == "__main__":
    cairn_case.main()
