"""cairn run as seen from outside: exit codes, signals, environment, and everything refused before
the start."""

import errno
import json
import os
import resource
import signal
import subprocess
import sys
import time

import cairn_case
from cairn_case import CAIRN
from cover_case import Run


class Settings(Run):
    def test_settings_for_mpi(self):
        """They reach the program, from wherever they come."""
        show = 'echo "$CAIRN_MPI_TIMEOUT $CAIRN_MPI_VISIBILITY"'
        self.assertEqual(self.shell(show).out, "60 auto\n")
        self.assertEqual(
            self.shell(show, "--mpi-timeout", "5", env={"CAIRN_MPI_VISIBILITY": "sync"}).out,
            "5 sync\n")
        self.assertEqual(self.shell(show, env={"CAIRN_MPI_TIMEOUT": "-1"}).out, "-1 auto\n")
        self.refused("run", "--at", self.dir, "--", "true", code=2,
                     says=["mpi.visibility", "bogus"], env={"CAIRN_MPI_VISIBILITY": "bogus"})


class ExitCodes(Run):
    def test_the_programs_own(self):
        self.run_at("true")
        self.run_at("sh", "-c", "exit 7", expect=7)
        self.assertEqual(self.run_at("echo", "--json", "-h", "--", "x").out, "--json -h -- x\n")
        self.assertEqual(self.run_at("cat", stdin=subprocess.PIPE).out, "")
        self.assert_nothing_left()

    def test_without_the_dashes(self):
        self.assertEqual(
            self.cairn("run", "--at", self.dir, "echo", "-n", "--at", "--", "y").out, "--at -- y")

    def test_not_found_is_127(self):
        self.refused("run", "--at", self.dir, "--", "no-such-program", code=127,
                     says="no-such-program: command not found")
        self.refused("run", "--at", self.dir, "--", "./none", code=127,
                     says="./none: command not found")
        self.assert_nothing_left()

    def test_not_executable_is_126(self):
        self.write("text", "no program")
        self.refused("run", "--at", self.dir, "--", self.path("text"), code=126,
                     says="Permission denied")
        self.refused("run", "--at", self.dir, "--", self.scratch, code=126,
                     says="Permission denied")
        self.assert_nothing_left()

    def test_killed_is_128_and_the_signal(self):
        self.run_at("sh", "-c", "kill -TERM $$", expect=128 + signal.SIGTERM)
        self.run_at("sh", "-c", "kill -KILL $$", expect=128 + signal.SIGKILL)
        self.assert_nothing_left()

    def test_a_core_dump_that_is_not_written_is_told(self):
        """The kernel writes one to the working directory by itself, which is nowhere where that is
        covered."""
        with open("/proc/sys/kernel/core_pattern", encoding="ascii") as file:
            elsewhere = file.read().strip()[:1] in ("", "/", "|")
        if "ASAN_OPTIONS" in self.env:
            self.env["ASAN_OPTIONS"] += ":handle_segv=0:handle_abort=0"
        before = resource.getrlimit(resource.RLIMIT_CORE)
        if before[1] == 0:
            self.skipTest("core dumps are forbidden here")
        for limit, script, code in [(before[1], "kill -SEGV $$", 128 + signal.SIGSEGV),
                                    (before[1], "sh -c 'kill -ABRT $$'; exit $?",
                                     128 + signal.SIGABRT),
                                    (before[1], "kill -KILL $$", 128 + signal.SIGKILL),
                                    (0, "kill -SEGV $$", 128 + signal.SIGSEGV)]:
            resource.setrlimit(resource.RLIMIT_CORE, (limit, before[1]))
            try:
                run = self.shell(script, expect=code)
            finally:
                resource.setrlimit(resource.RLIMIT_CORE, before)
            told = [
                line for line in run.err.splitlines()
                if "core dump" in line and line.startswith("cairn run: ")
            ]
            self.assertEqual(len(told),
                             0 if elsewhere or limit == 0 or code == 128 + signal.SIGKILL else 1,
                             run.err)
            if told:
                self.assertIn(self.dir, told[0])
                self.assertIn("kernel.core_pattern", told[0])
        self.assert_nothing_left()

    def test_signals_are_passed_on(self):
        for number in [
                signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2,
                signal.SIGALRM
        ]:
            program = ("import signal, sys, time\n"
                       f"signal.signal({int(number)}, lambda *_: sys.exit(42))\n"
                       # Short ones: Python may begin a sleep with a signal that has just come.
                       "print('ready', flush=True)\nfor _ in range(600): time.sleep(0.05)\n")
            with subprocess.Popen(
                [CAIRN, "run", "--at", self.dir, "--", sys.executable, "-c", program], env=self.env,
                    stdout=subprocess.PIPE, start_new_session=True) as run:
                self.assertEqual(run.stdout.readline(), b"ready\n")
                run.send_signal(number)
                self.assertEqual(run.wait(30), 42, number)
        self.assert_nothing_left()

    def start_one_that_waits(self, mark):
        """Its program has ended, and a child of that goes on until there is a file `mark`."""
        script = (
            f"cd {self.dir}; echo x > x; (while [ ! -e {mark} ]; do sleep 0.05; done) > /dev/null"
            " 2>&1 &"
        )
        run = subprocess.Popen([CAIRN, "run", "--at", self.dir, "--", "sh", "-c", script],
                               env=self.env, stderr=subprocess.PIPE, start_new_session=True)
        self.assertIn(b"waiting for processes that still use", run.stderr.readline())
        return run

    def test_signals_for_the_program_do_not_end_the_drain(self):
        """They ended the run, and what was not drained stayed in the pool."""
        mark = self.path("mark")
        with self.start_one_that_waits(mark) as run:
            for number in [
                    signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM, signal.SIGXCPU,
                    signal.SIGVTALRM, signal.SIGPROF
            ]:
                run.send_signal(number)
            time.sleep(0.3)
            self.assertIsNone(run.poll())
            self.write("mark", "")
            self.assertEqual(run.wait(30), 0)
        self.assertEqual(self.shell("cat x").out, "x\n")
        self.assert_nothing_left()

    def test_a_hangup_ends_the_wait_in_order(self):
        mark = self.path("mark")
        for number in [signal.SIGHUP, signal.SIGTERM]:
            with self.start_one_that_waits(mark) as run:
                run.send_signal(number)
                self.assertEqual(run.wait(30), 128 + number)
                self.assertIn(
                    "interrupted; what is not drained is still in the pool: `cairn drain"
                    f" {self.dir}` goes on",
                    run.stderr.read().decode(),
                )
            self.write("mark", "")
            time.sleep(0.2)
            os.remove(mark)
            self.cairn("drain", self.dir)
        self.assert_nothing_left()

    def test_an_alarm_that_was_set_before_is_passed_on(self):
        self.run_at("sleep", "30", expect=128 + signal.SIGALRM, preexec_fn=lambda: signal.alarm(5))
        self.assert_nothing_left()

    def test_ignored_signals_stay_ignored(self):
        run = subprocess.run([
            "nohup", CAIRN, "run", "--at", self.dir, "--", "sh", "-c",
            "kill -HUP $PPID; kill -HUP $$; echo alive"
        ], env=self.env, capture_output=True, check=False, stdin=subprocess.DEVNULL)
        self.assertEqual((run.returncode, run.stdout), (0, b"alive\n"))

    def test_the_limit_to_the_size_of_files_is_the_programs(self):
        limit, large = 1 << 20, os.path.join(self.dir, "large")
        with open(large, "wb") as file:
            file.truncate(3 * limit)
        self.shell(
            "echo changed 1<> large; dd if=/dev/zero of=new bs=3M count=1 2> /dev/null",
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE,
                                                  (limit, resource.RLIM_INFINITY)),
            expect=128 + signal.SIGXFSZ)
        with open(large, "rb") as file:
            self.assertEqual(file.read()[:9], b"changed\n\0")
        self.assertEqual(os.path.getsize(os.path.join(self.dir, "new")), limit)
        self.assert_nothing_left()

    def test_a_run_within_a_run_has_the_limit_to_the_size_of_files(self):
        limit = 1 << 20
        run = self.shell(
            f"{CAIRN} run --at . -- sh -c 'ulimit -f; grep SigIgn /proc/self/status'",
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE,
                                                  (limit, resource.RLIM_INFINITY)))
        blocks, ignored = run.out.splitlines()[:2]
        self.assertEqual(int(blocks) * 512, limit)
        self.assertEqual(int(ignored.split()[1], 16) >> (signal.SIGXFSZ - 1) & 1, 0)

    def test_interrupt_on_a_terminal_reaches_the_program_once(self):
        import pty
        program = (
            "import signal, sys, time\ncount = [0]\n"
            "signal.signal(signal.SIGINT, lambda *_: count.__setitem__(0, count[0] + 1))\n"
            "print('ready', flush=True)\ndeadline = time.time() + 1.0\n"
            "while time.time() < deadline: time.sleep(0.05)\nprint('count', count[0], flush=True)\n"
        )
        pid, terminal = pty.fork()
        if pid == 0:
            os.execve(CAIRN, [CAIRN, "run", "--at", self.dir, "--", sys.executable, "-c", program],
                      self.env)
        seen = b""
        while b"ready" not in seen:
            seen += os.read(terminal, 1000)
        os.write(terminal, b"\x03")
        try:
            while piece := os.read(terminal, 1000):
                seen += piece
        except OSError:
            pass  # the terminal went with its last process
        os.close(terminal)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0, seen)
        self.assertIn(b"count 1", seen)


class Environment(Run):
    def test_what_the_program_finds(self):
        link = self.path("link")
        os.symlink(self.dir, link)
        seen = dict(
            line.split("=", 1)
            for line in self.cairn("run", "--at", link, "--", "env").out.splitlines())
        self.assertEqual(seen["CAIRN_COVER"], os.path.realpath(self.dir))
        self.assertEqual(seen["CAIRN_POOL"], os.path.join(self.pools, "default"))
        self.assertEqual(os.path.realpath(seen["LD_PRELOAD"].split(":")[-1]),
                         str(cairn_case.preload().resolve()))

    def test_preloads_that_are_there_come_first(self):
        other = "/lib/x86_64-linux-gnu/libm.so.6"
        if not os.path.exists(other):
            self.skipTest("no library to preload")
        # A sanitizer's runtime, if there is one, must be the very first.
        others = ":".join(filter(None, [self.env.get("LD_PRELOAD"), other]))
        seen = self.run_at("sh", "-c", "echo $LD_PRELOAD", env={"LD_PRELOAD": others}).out
        self.assertTrue(seen.startswith(others + ":"), seen)
        # The command, which leaves the cover, keeps them.
        seen = self.run_at(
            "sh", "-c",
            f"{CAIRN} status --json && {CAIRN} run --at {self.dir} -- sh -c 'echo $LD_PRELOAD'",
            env={"LD_PRELOAD": others}).out
        self.assertIn(f"\n{others}:", seen)

    def test_the_spelling_that_was_given_is_served_too(self):
        link = self.path("link")
        os.symlink(self.scratch, link)
        given = os.path.join(link, "dir")
        script = (
            "echo one > $0/file; cat $1/file; mv $0/file $1/moved; cat $0/moved; ls $0; [ ! -e"
            " $1/file ] && cd $0 && echo two > moved && cat $1/moved"
        )
        real = os.path.realpath(self.dir)
        out = self.cairn("run", "--at", given, "--", "sh", "-c", script, given, real).out
        self.assertEqual(out, "one\none\nmoved\ntwo\n")
        self.assertEqual(os.listdir(self.dir), ["moved"])
        # Relative to a working directory that is a link's.
        out = self.cairn("run", "--at", "dir/", "--", "cat", os.path.join(given, "moved"), cwd=link,
                         env={"PWD": link}).out
        self.assertEqual(out, "two\n")
        self.assert_nothing_left()

    def test_commands_inside_a_run_use_its_pool(self):
        config = {"CAIRN_POOL_NAME": "ofrun"}
        seen = self.run_at("sh", "-c", f"env -u CAIRN_POOL_NAME {CAIRN} df --json", env=config).out
        self.assertIn('"ofrun"', seen)

    def test_commands_inside_a_run_print_to_covered_files(self):
        script = (
            f"cd {self.dir}; {CAIRN} status --json > status; {CAIRN} pool info none 2> error; echo"
            f" $?; echo from > from; {CAIRN} run --at {self.dir} -- sh -c 'cat; echo error >&2;"
            f" exit 3' < from > to 2> told; echo $?; {CAIRN} run --at {self.dir} -- sh -c 'kill -9"
            f" $$' > killed; echo $?; {CAIRN} pool list > /dev/full 2> full; echo $?; cat error;"
            " cat to told"
        )
        run = self.run_at("sh", "-c", script)
        lines = run.out.splitlines()
        self.assertEqual(lines[:4] + lines[5:], ["1", "3", "137", "1", "from", "error"],
                         run.out + run.err)
        self.assertIn("none", lines[4])
        with open(os.path.join(self.dir, "status"), encoding="utf-8") as file:
            self.assertEqual([cover["directory"] for cover in json.load(file)[0]["covers"]],
                             [self.dir])
        with open(os.path.join(self.dir, "full"), encoding="utf-8") as file:
            self.assertIn("No space left on device", file.read())
        self.assert_nothing_left()

    def test_a_command_inside_a_run_fails_whose_output_does_not_fit(self):
        script = (
            f"cd {self.dir}; : > small; for i in 1 2 3 4; do cat /dev/zero >> big; done 2>"
            f" /dev/null; {CAIRN} status --json > small; echo $?; rm big"
        )
        run = self.cairn("run", "--at", self.dir, "--pool-size", "16M", "--", "sh", "-c", script)
        self.assertEqual(run.out.splitlines()[0], "1", run.out + run.err)
        self.assertIn("the output could not be written: No space left on device", run.err)

    def test_files_in_a_full_pool_are_cut_and_moved_by_their_names(self):
        holes = self.write("dir/holes", b"")
        os.truncate(holes, 500000)
        program = f"""
import os
os.chdir({self.dir!r})
held = [os.open('big', os.O_CREAT | os.O_RDWR)]
def until_full(call):
    try:
        while True:
            call()
    except OSError as error:
        return error.errno
print(until_full(lambda: os.write(held[0], bytes(1 << 16))))
print(until_full(lambda: os.write(held[0], b'x')))
print(until_full(lambda: held.append(os.open('big', os.O_RDONLY))))
os.rename('holes', 'moved')
os.truncate('big', 5)
print(os.stat('big').st_size)
"""
        run = self.cairn("run", "--at", self.dir, "--pool-size", "16M", "--", sys.executable, "-c",
                         program)
        self.assertEqual(run.out.split(), [str(errno.ENOSPC)] * 3 + ["5"], run.err)

    def test_commands_inside_a_run_know_the_working_directory(self):
        os.mkdir(os.path.join(self.dir, "sub"))
        script = (
            f"cd {self.dir}/sub; echo x > x; {CAIRN} drain ..; {CAIRN} run --at .. -- sh -c 'pwd;"
            " cat x'"
        )
        self.assertEqual(
            self.run_at("sh", "-c", script).out.splitlines()[1:], [f"{self.dir}/sub", "x"])

    def test_a_library_that_cannot_be_copied(self):
        library = self.path("dir/made.so")
        program = f"import ctypes; ctypes.CDLL('{library}')"
        run = self.run_at(
            "sh", "-c",
            f'truncate -s 1M {library}; ulimit -f 64; exec {sys.executable} -c "{program}"',
            expect=1)
        self.assertIn(f"{library} (its copy in memory: File too large)", run.err)


USES_UP_DESCRIPTORS = """
import errno, os
held = []
for i in range(50):
    held.append(os.open(f"sub0/{2 * i}", os.O_RDONLY))
try:
    while True:
        held.append(os.open("/dev/null", os.O_RDONLY))
except OSError as error:
    assert error.errno == errno.EMFILE, error
for i in range(50):
    text = os.read(held[i], 100)
    assert text == f"text {2 * i}".encode(), (i, text)
assert os.stat("sub1/1").st_size == 6  # in a directory that nobody has looked into
"""


class WhatIsThereAlready(Run):
    def test_directories_do_not_change_when_they_are_listed(self):
        """tar says of what grows after it has looked that it was changed."""
        for i in range(100):
            self.write(f"dir/sub/{i}", "x")
        look = (
            "import os\nbefore = os.stat('.').st_size, os.stat('sub').st_size\nos.listdir('.'),"
            " os.listdir('sub')\nassert before == (os.stat('.').st_size, os.stat('sub').st_size),"
            " before"
        )
        self.run_at(sys.executable, "-c", look, cwd=self.dir)

    def test_it_is_read_also_when_no_descriptors_are_left(self):
        """The engine opens files below the cover to read them, and keeps some open."""
        for i in range(200):
            self.write(f"dir/sub{i % 2}/{i}", f"text {i}")
        for limits in ("-n 100", "-Hn 200; ulimit -Sn 100", "-n 1000"):
            with self.subTest(limits=limits):
                few = f"ulimit {limits}; exec \"$@\""
                self.run_at("bash", "-c", few, "few", sys.executable, "-c", USES_UP_DESCRIPTORS,
                            cwd=self.dir)

    def test_those_who_may_have_few_descriptors_have_them_for_themselves(self):
        for i in range(200):
            self.write(f"dir/{i}", f"text {i}")
        one_by_one = "for i in range(200): assert open(str(i)).read() == f'text {i}', i\n" \
            "held = [open('/dev/null') for _ in range(40)]"
        few = "ulimit -n 64; exec \"$@\""
        self.run_at("bash", "-c", few, "few", sys.executable, "-c", one_by_one, cwd=self.dir)


class RefusedBeforeTheStart(Run):
    def never_starts(self, *words, code, says, env=None):
        mark = self.path("started")
        self.refused("run", *words, "--", "touch", mark, code=code, says=says, env=env)
        self.assertFalse(os.path.exists(mark))
        self.assertEqual([n for n in os.listdir(self.pools) if not n.startswith(".")], [])

    def test_directory(self):
        self.never_starts(code=2, says="--at")
        self.never_starts("--at", self.path("none"), code=2,
                          says=[self.path("none"), "No such file"])
        self.never_starts("--at", self.write("file", ""), code=2,
                          says=[self.path("file"), "not a directory"])
        self.never_starts("--at", "", code=2, says="--at")

    def test_directory_with_a_colon(self):
        os.mkdir(self.path("a:b"))
        os.mkdir(self.path("a:b/below"))
        os.symlink("a:b/below", self.path("link"))
        os.symlink(self.dir, self.path("to:dir"))
        for name in ["a:b", "link", "to:dir"]:
            self.refused("run", "--at", self.path(name), "--", "touch",
                         self.path(name) + "/made", code=2, says="':'")
            self.assertFalse(os.path.exists(self.path(name) + "/made"))

    def test_directory_inside_a_pool(self):
        self.cairn("pool", "create", "p", "--size", "16M")
        inside = os.path.join(self.pools, "p")
        self.refused("run", "--at", inside, "--", "true", code=2, says=inside)

    def test_no_program(self):
        self.refused("run", "--at", self.dir, code=2, says="missing program")
        self.refused("run", "--at", self.dir, "--", code=2, says="missing program")

    def test_pool(self):
        self.never_starts("--at", self.dir, "--pool-size", "1M", code=1, says="4194304")
        self.never_starts("--at", self.dir, "--pool-dir", "/proc/none", code=1, says="/proc/none")
        self.never_starts("--at", self.dir, "--drain", "sometimes", code=2,
                          says=["sometimes", "exit|close|async|never"])


if __name__ == "__main__":
    cairn_case.main()
