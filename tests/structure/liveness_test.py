"""Whether a process lives, a kernel lock says, and never its number: another process may have that
by now. What looks at numbers all the same stands here, with the reason."""

import re

from structure import files, must_accept, must_find, text, verdict, without_comments

WHERE = ("src/", "adapters/", "cli/")

# Signal 0 is sent to ask whether there is a process; so is a pidfd opened.
ASKS = re.compile(
    r"\b(?:os\.)?(?:SYS_)?(?:kill|killpg|tkill|tgkill|pidfd_send_signal)\b\s*[(,][^;{}]*?,\s*0\s*\)"
    r"|\b(?:SYS_)?pidfd_open\b|\bpid_exists\b", re.S)
# What /proc shows of a process by its number.
SHOWN = re.compile(r'"/proc/(?:\{|%d|%u|%i|" *\+)|%s/%d/')

ALLOWED = {
    "src/base/unused_number.h":
        "the one place that asks, by signal 0 where pidfd_open is missing; a yes is certain, and "
        "nobody takes a no for life",
    "src/pool/lanes/seats.cc":
        "threads of this process; a thread that gets the number of one that has ended gets its "
        "seat as well",
    "src/pool/lanes/stopped.cc": "whether a process whose lock says that it lives is stopped",
    "src/cluster/mpi/ranks/processes.cc":
        "ranks that have no file in common: number, time of start and namespace together",
    "adapters/posix/io/close.cc":
        "F_SETOWN refuses a number that no process has, as the kernel does for a plain file",
    "adapters/posix/path/covered.cc": "the name of this process's own descriptors",
    "cli/process/process.cc":
        "parents, and times of start, which tell a number from one used again",
    "cli/process/launcher.cc": "the command line of parents",
    "cli/runs/cover_processes.cc":
        "goes through all processes there are, and looks at each by its open directory",
    "cli/runs/nested_run.cc": "whether a parent has the file of a lock open",
}


def code_of(name):
    source = text(name)
    return source if name.endswith(".py") else without_comments(source)


def asks(source):
    return [match.group(0) for match in ASKS.finditer(source)]


def shows(source):
    # Strings count here, comments do not.
    return [line.strip() for line in source.splitlines()
            if SHOWN.search(line) and not line.lstrip().startswith(("//", "#", "*"))]


def main():
    must_find(asks, [("if (kill(pid, 0) != 0) return;",), ("::kill(owner, 0) != 0",),
                     ("syscall(SYS_tgkill, getpid(), thread, 0)",), ("os.kill(pid, 0)",),
                     ("::syscall(SYS_kill, process,\n 0)",), ("syscall(SYS_pidfd_open, pid, 0)",),
                     ("kill(type == F_OWNER_PGRP ? -pid : pid, 0) == 0",)])
    must_accept(asks, [("kill(child, SIGKILL);",), ("kill(started, number);",),
                       ("skill(pid, 0)",), ("kill(child, SIGTERM); wait(nullptr, 0)",)])
    must_find(shows, [('fmt::format("/proc/{}/stat", pid)',), ('open("/proc/" + name)',),
                      ('snprintf(path, sizeof path, "/proc/%d/stat", pid)',),
                      ('f"/proc/{pid}"',)])
    must_accept(shows, [('open("/proc/self/exe")',), ('// "/proc/%d/stat"',)])
    problems, seen, looked_at = [], set(), 0
    for path in files(".cc", ".h", ".py"):
        name = str(path)
        if not name.startswith(WHERE) or "_test." in name or name.endswith("_test.py"):
            continue
        looked_at += 1
        found = asks(code_of(name)) + shows(text(name))
        if found and name in ALLOWED:
            seen.add(name)
        elif found:
            problems.append(f"{name}: {found[0]!r}: a process number does not say that a process "
                            "lives; use a lock (src/media/liveness.h), or give a reason here")
    problems += [f"{name}: does not look at process numbers: take it off the list"
                 for name in sorted(set(ALLOWED) - seen)]
    verdict(problems, f"{looked_at} files")


main()
