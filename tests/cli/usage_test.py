"""The command line itself: help, mistakes and what they are answered with, configuration."""

import os
import re
import subprocess
import unittest

import cairn_case
from cairn_case import CAIRN, CairnCase

COMMANDS = [
    "run", "drain", "discard", "stage", "status", "pool", "ls", "stat", "cat", "df", "du", "cp",
    "rm", "mkdir", "mv", "ckpt", "config", "doctor", "bench", "help", "completion"
]
POOL_COMMANDS = ["create", "list", "info", "check", "grow", "populate", "remove", "clean"]
CKPT_COMMANDS = ["ls", "show", "verify", "export", "import", "diff", "drain", "restore", "rm", "du"]


class Help(CairnCase):
    def test_version(self):
        self.assertRegex(self.cairn("--version").out, r"^cairn \d+\.\d+\.\d+(-dev)?\n$")

    def test_every_command_has_help(self):
        overview = self.cairn("--help").out
        for words in [[c] for c in COMMANDS] + [["pool", c]
                                                for c in POOL_COMMANDS] + [["ckpt", c]
                                                                           for c in CKPT_COMMANDS]:
            text = self.cairn(*words, "--help").out
            self.assertIn("Usage: cairn " + " ".join(words), text)
            self.assertEqual(text, self.cairn("help", *words).out)
            for line in text.split("\n"):
                self.assertLessEqual(len(line), 110, line)
        for command in COMMANDS:
            self.assertRegex(overview, rf"\n  {command} ")
        self.assertIn("--json", overview)
        self.assertEqual(self.cairn("help", "--names").out.split(), COMMANDS)

    def test_overview_begins_with_the_commands(self):
        """Whoever asks for the first time looks for a command, not for a key."""
        overview = self.cairn("--help").out
        self.assertRegex(overview, r"\A(.+\n\n){2}Commands:\n  run ")
        self.assertEqual(overview, self.cairn("help").out)
        self.assertIn("cairn help configuration", " ".join(overview.split()))
        self.assertLess(len(overview.split("\n")), 60)
        for key in self.keys():
            if key != "pool.size":  # the example
                self.assertNotIn("--" + key.replace(".", "-"), overview)

    def keys(self):
        return [line.split()[0] for line in self.cairn("config").out.splitlines()[1:]]

    def test_help_of_the_configuration(self):
        text = self.cairn("help", "configuration").out
        names = self.keys()
        self.assertIn("pool.size", names)
        for key in names:
            word = key.replace(".", "-")
            variable = "CAIRN_" + word.replace("-", "_").upper()
            self.assertRegex(text, rf"\n  {re.escape(key)} ")
            self.assertIn(f"{variable}, --{word}", " ".join(text.split()))
        self.refused("help", "configuratoin", code=2, says="did you mean configuration?")

    def test_exit_codes_are_documented(self):
        self.assertRegex(self.cairn("--help").out, r"Exit codes:[^.]*0 done; 1 failed")

    def test_help_of_an_unknown_command(self):
        self.refused("help", "pol", code=2, says="did you mean pool?")


class Mistakes(CairnCase):
    def test_no_command(self):
        self.refused(code=2, says="cairn help")
        self.refused("pool", code=2, says="cairn pool --help")

    def test_unknown_command(self):
        self.refused("statsu", code=2, says=["unknown command statsu", "did you mean status?"])
        self.refused("pool", "creat", code=2, says="did you mean create?")
        self.refused("pool", "frobnicate", code=2, says="unknown command frobnicate")

    def test_unknown_option(self):
        self.refused("ls", "--jsn", code=2, says=["unknown option --jsn", "did you mean --json?"])
        self.refused("--jsn", "ls", code=2, says="did you mean --json?")
        self.refused("pool", "create", "--populat", code=2, says="did you mean --populate?")
        self.refused("pool", "create", "--sise=4G", code=2, says="did you mean --size?")
        self.refused("run", "--drian", "exit", "--at", ".", "--", "true", code=2,
                     says="did you mean --drain?")
        self.refused("run", "--att", ".", "--", "true", code=2, says="did you mean --at?")
        self.refused("ls", "--zzzzzzz", code=2, says="unknown option --zzzzzzz")

    def test_missing_arguments(self):
        self.refused("cat", code=2, says="PATH")
        self.refused("cp", "a", code=2, says="destination")
        self.refused("drain", code=2, says="DIR")
        self.refused("ls", "--pool-dir", code=2, says="--pool-dir")

    def test_too_many_arguments(self):
        self.refused("status", "what", code=2, says="one argument too many: what")

    def test_sizes(self):
        for size in ["4X", "-1", "many", "101%", ""]:
            self.refused("pool", "create", f"--size={size}", code=2, says="size")
        self.refused("pool", "create", "--lanes", "few", code=2, says="few")
        self.refused("pool", "create", "--mode", "rwx", code=2, says="rwx")
        self.refused("pool", "create", "--granularity", "words", code=2, says="words")

    def test_full_output_is_an_error(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        with open("/dev/full", "wb") as full:
            run = subprocess.run([CAIRN, "--help"], env=self.env, stdout=full,
                                 stderr=subprocess.PIPE, check=False)
        self.assertEqual(run.returncode, 1)
        self.assertIn(b"standard output", run.stderr)

    def test_an_error_that_cannot_be_told_is_still_one(self):
        """The command died of an exception."""
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        with open("/dev/full", "wb") as full:
            run = subprocess.run([CAIRN, "pool", "info", "none"], env=self.env, stderr=full,
                                 check=False)
        self.assertEqual(run.returncode, 1)


class Configuration(CairnCase):
    def file(self, text):
        return self.write(".config/cairn/cairn.yaml", text)

    def setUp(self):
        super().setUp()
        for name in ["CAIRN_POOL_DIR", "CAIRN_POOL_SIZE"]:
            del self.env[name]

    def test_defaults(self):
        config = self.json("config")
        self.assertEqual(config["pool.dir"]["value"], "/dev/shm")
        self.assertEqual(config["pool.size"]["value"], "auto")
        self.assertEqual(config["drain.mode"]["value"], "exit")
        self.assertEqual({each["origin"] for each in config.values()}, {"default"})
        for key, each in config.items():
            self.assertEqual(each["environment"], "CAIRN_" + key.upper().replace(".", "_"))
            self.assertEqual(each["option"], "--" + key.replace(".", "-"))

    def test_every_key_in_three_places(self):
        values = {
            "pool.dir": "/tmp/x", "pool.size": "1G", "pool.name": "p", "drain.mode": "never",
            "durability": "write", "log.level": "info", "pool.protect": "on",
            "pool.release": "never", "drain.wait": "5", "drain.quiet": "7", "drain.rate": "200M",
            "drain.yield": "off", "checkpoint.domain": "rack7", "mpi.timeout": "5",
            "mpi.visibility": "sync"
        }
        self.assertEqual(set(values), set(self.json("config")))
        for key, value in values.items():
            self.file(f"{key}: {value}\n")
            setting = self.json("config")[key]
            self.assertEqual((setting["value"], setting["origin"]),
                             (value, self.path(".config/cairn/cairn.yaml") + ":1"))
            variable = setting["environment"]
            setting = self.json("config", env={variable: value})[key]
            self.assertEqual((setting["value"], setting["origin"]),
                             (value, "environment " + variable))
            setting = self.json("config", setting["option"], value, env={variable: value})[key]
            self.assertEqual((setting["value"], setting["origin"]), (value, "command line"))

    def test_options_before_and_after_the_command(self):
        self.assertEqual(self.cairn("--pool-size", "2G", "config", "pool.size").out, "2G\n")
        self.assertEqual(self.cairn("config", "pool.size", "--pool-size=2G").out, "2G\n")
        self.assertEqual(
            self.cairn("--pool-size", "1G", "config", "pool.size", "--pool-size=2G").out, "2G\n")

    def test_unknown_keys(self):
        self.file("pool:\n  sise: 1G\n")
        self.refused("config", code=2,
                     says=["cairn.yaml:2", "pool.sise", "did you mean pool.size?"])
        self.file("durability: always\n")
        self.refused("status", code=2, says=["durability", "cairn.yaml:1", "always"])
        self.file("")
        self.refused("config", "pool.sise", code=2, says="did you mean pool.size?")
        self.refused("config", code=2, says="did you mean CAIRN_POOL_SIZE?",
                     env={"CAIRN_POOL_SZIE": "1G"})
        self.refused("config", code=2, says="CAIRN_POOL_SIZE", env={"CAIRN_POOL_SIZE": "lots"})
        self.refused("config", code=2, says="/no/such.yaml", env={"CAIRN_CONFIG": "/no/such.yaml"})
        self.refused("config", code=2, says="/tmp: not a regular file, but a directory",
                     env={"CAIRN_CONFIG": "/tmp"})
        self.refused("config", code=2, says="invalid size '0'", env={"CAIRN_POOL_SIZE": "0"})
        self.file("{{{\n")
        self.refused("config", code=2, says="cairn.yaml:")

    def test_help_works_with_a_broken_configuration(self):
        self.file("{{{\n")
        self.cairn("--help")
        self.cairn("pool", "--help")


class Pages(CairnCase):
    def test_manual_pages_are_clean(self):
        for words in [[]] + [[c] for c in COMMANDS]:
            page = self.cairn("help", "--man", *words).out
            self.assertTrue(page.startswith(".TH "))
            for section in ["NAME", "SYNOPSIS", "DESCRIPTION", "COMMON OPTIONS", "SEE ALSO"]:
                self.assertIn(".SH " + section + "\n", page)
            if subprocess.run(["which", "man"], capture_output=True, check=False).returncode == 0:
                # no sanitizer's runtime for man
                env = {k: v for k, v in self.env.items() if k != "LD_PRELOAD"}
                shown = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", "-"],
                                       input=page.encode(), capture_output=True,
                                       env=dict(env, MANROFFSEQ=""), check=False)
                self.assertEqual(shown.stderr, b"")
                self.assertIn(b"cairn", shown.stdout)

    def test_reference_in_the_documentation_is_current(self):
        source = os.environ.get("CAIRN_SOURCE_DIR")
        if not source:
            self.skipTest("CAIRN_SOURCE_DIR is not set")
        with open(os.path.join(source, "docs", "cli-reference.md"), encoding="utf-8") as file:
            written = file.read()
        self.assertEqual(written, self.cairn("help", "--markdown").out,
                         "refresh it: cairn help --markdown > docs/cli-reference.md")


if __name__ == "__main__":
    cairn_case.main()
