"""Shell completion: the scripts parse, and answer as a user would expect."""

import shutil
import subprocess
import unittest

import cairn_case
from cairn_case import BIN, CairnCase


class Completion(CairnCase):
    def script(self, shell):
        return self.write("completion." + shell, self.cairn("completion", shell).out)

    def shell(self, *words):
        env = dict(self.env, PATH=f"{BIN}:{self.env['PATH']}")
        run = subprocess.run(words, env=env, capture_output=True, text=True, check=False,
                             cwd=self.scratch, timeout=30)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout

    def bash(self, line):
        """What bash offers after `line`; a blank at its end begins a new word."""
        words = line.split(" ")
        program = (
            f"source {self.script('bash')}; COMP_WORDS=({' '.join(repr(w) for w in words)}); "
            f"COMP_CWORD={len(words) - 1}; _cairn; printf '%s\\n' \"${{COMPREPLY[@]}}\"")
        return self.shell("bash", "--norc", "-c", program).split()

    def test_bash(self):
        self.assertEqual(self.bash("cairn sta"), ["stage", "status", "stat"])
        self.assertEqual(self.bash("cairn pool cr"), ["create"])
        self.assertIn("clean", self.bash("cairn pool "))
        self.assertEqual(self.bash("cairn run --drain "), ["exit", "close", "async", "never"])
        self.assertEqual(self.bash("cairn run --drain n"), ["never"])
        self.assertEqual(self.bash("cairn run --drain-yield "), ["on", "off"])
        self.assertIn("--populate", self.bash("cairn pool create --p"))
        self.assertEqual(self.bash("cairn --pool-size 4G sta"), ["stage", "status", "stat"])
        self.assertEqual(self.bash("cairn help dis"), ["discard"])
        self.assertEqual(self.bash("cairn completion f"), ["fish"])
        self.write("folder/file", "")
        self.assertEqual(self.bash("cairn drain f"), ["folder"])
        self.assertIn("bash", self.bash("cairn run --at folder -- bas"))
        self.cairn("pool", "create", "mine", "--size", "16M")
        self.assertEqual(self.bash("cairn pool info m"), ["mine"])
        self.assertEqual(self.bash("cairn config dur"), ["durability"])
        self.assertEqual(self.bash("cairn config "), list(self.json("config")))

    def test_bash_of_bench(self):
        if self.cairn("bench", "kernels", expect=None).returncode != 0:
            self.skipTest("no kernels of cairn bench")
        self.assertEqual(self.bash("cairn bench ker"), ["kernels"])
        self.assertEqual(self.bash("cairn bench kernels se"), ["sedov"])
        self.assertEqual(self.bash("cairn bench run --res"), ["--resume"])
        self.assertIn("container-study", self.bash("cairn bench run con"))
        self.write("matrix-of-mine.yaml", "")
        self.assertEqual(self.bash("cairn bench run matrix-of"), ["matrix-of-mine.yaml"])
        self.assertEqual(self.bash("cairn bench run --rounds "), [])

    def test_zsh(self):
        script = self.script("zsh")
        with open(script, encoding="utf-8") as file:
            self.assertEqual(file.readline(), "#compdef cairn\n")
        if not shutil.which("zsh"):
            self.skipTest("no zsh here")
        self.shell("zsh", "-n", script)
        program = (f"autoload -U compinit; compinit -u -D; source {script}; "
                   "COMP_WORDS=(cairn pool cr); COMP_CWORD=2; _cairn; print -l $COMPREPLY")
        # zsh itself picks from these what begins with the word.
        self.assertEqual(self.shell("zsh", "-f", "-c", program).split(), self.bash("cairn pool "))

    def test_fish(self):
        script = self.script("fish")
        if not shutil.which("fish"):
            self.skipTest("no fish here")
        self.shell("fish", "--no-execute", script)
        def ask(line):
            out = self.shell("fish", "--no-config", "-c", f"source {script}; complete -C '{line}'")
            return [each.split("\t")[0] for each in out.splitlines()]
        self.assertEqual(ask("cairn pool cr"), ["create"])
        self.assertEqual(sorted(ask("cairn sta")), ["stat", "status"])
        self.assertEqual(ask("cairn run --drain n"), ["never"])
        self.assertEqual(ask("cairn config dur"), ["durability"])

    def test_unknown_shell(self):
        self.refused("completion", "bahs", code=2, says="did you mean bash?")


if __name__ == "__main__":
    cairn_case.main()
