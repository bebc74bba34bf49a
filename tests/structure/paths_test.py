"""Files are reached by a descriptor and a name, not by a path (docs/design/trust.md).

What a path leads to can be exchanged by others who can write to a directory on the way, between two
looks at it. So these folders open a directory once, and go on with openat(2) and its kin, which
follow no link. A path is right where nobody else can change what it leads to, or where the user has
named it and it is opened once. Such files are listed here, with how many calls they have, and why.
The list only shrinks. """

import pathlib
import re

import structure

FOLDERS = ("src/pool/medium", "src/tier", "src/cluster/record", "src/cluster/collect",
           "src/cluster/shared", "src/cluster/names", "cli")

ARGUMENT = "the user's argument, used once"
PLACE = "where pools lie, by the configuration; opening a pool asks whose it is"
PRIVATE = "the user's own pool directory, which is closed to others"
PROC = "/proc and /sys"
BY_DESCRIPTOR = "an open file or directory, by its number in /proc/self/fd"
INSTALLED = "programs, libraries and devices of the machine, which are only read"
QUESTION = "asks whether a pool, claim or directory is there; nothing is opened by the answer"
BY_PATH = {  # file: (calls, reason)
    "cli/commands/bench_command.cc": (1, INSTALLED),
    "cli/commands/change_commands.cc": (1, ARGUMENT),
    "cli/commands/copy_local.cc": (2, ARGUMENT + "; below it by descriptor"),
    "cli/commands/cover_commands.cc": (1, QUESTION),
    "cli/commands/run_command.cc": (9, QUESTION),
    "cli/commands/stage_command.cc": (2, ARGUMENT),
    "cli/commands/status_command.cc": (1, QUESTION),
    "cli/doctor/doctor_environment.cc": (5, INSTALLED),
    "cli/doctor/doctor_mpi.cc": (3, INSTALLED),
    "cli/doctor/doctor_program.cc": (2, INSTALLED),
    "cli/doctor/elf_file.cc": (5, INSTALLED),
    "cli/frame/bounded_file.cc": (1, "opens a named file once, and judges it by descriptor"),
    "cli/frame/config.cc": (1, "the user's and the system's configuration"),
    "cli/machine/data_file.cc": (1, ARGUMENT),
    "cli/machine/file_name.cc": (1, "open_directory(): " + ARGUMENT),
    "cli/machine/memory_limit.cc": (2, PROC + "; asks how much room there is"),
    "cli/machine/named_path.cc": (1, "looks at each component of " + ARGUMENT),
    "cli/machine/probe_directory.cc": (1, "asks whether a file system answers"),
    "cli/machine/shared_memory_left.cc": (1, "/dev/shm itself"),
    "cli/pools/place_lock.cc": (3, PRIVATE),
    "cli/pools/pool_owner.cc": (1, PLACE),
    "cli/pools/pool_place.cc": (11, PLACE),
    "cli/process/held_directory.cc": (2, "asks whether the covered directory was exchanged"),
    "cli/process/job_end.cc": (3, PROC),
    "cli/process/launcher.cc": (1, PROC),
    "cli/process/preload.cc": (1, INSTALLED),
    "cli/process/process.cc": (1, PROC),
    "cli/process/run_child.cc": (3, INSTALLED),
    "cli/runs/cover_processes.cc": (4, PROC),
    "cli/runs/covers.cc": (4, QUESTION),
    "cli/runs/finish_run.cc": (1, QUESTION),
    "cli/runs/keeper.cc": (2, QUESTION),
    "cli/runs/nested_run.cc": (4, PROC),
    "cli/runs/pool_create.cc": (1, PLACE),
    "cli/runs/shortage.cc": (3, PROC + "; asks how much room there is"),
    "cli/runs/stale_claim.cc": (2, ARGUMENT + "; " + QUESTION),
    "src/pool/medium/device.cc": (3, "a device, which is inspected when it is open"),
    "src/pool/medium/directory.cc": (2, "Directory::open(): " + ARGUMENT),
    "src/pool/medium/files.cc": (2, "a device, which is inspected before it is opened"),
    "src/pool/medium/files_create.cc": (1, "a device, which is inspected when it is open"),
    "src/pool/medium/removal.cc": (1, "a device, which is inspected when it is open"),
    "src/cluster/collect/collect_file.cc": (1, BY_DESCRIPTOR),
    "src/tier/claim/temp_claim.cc": (2, PROC),
    "src/tier/claim/claim_text.cc": (3, PROC + "; " + PRIVATE),
    "src/tier/claim/membership.cc": (1, PRIVATE),
    "src/tier/cover/cover.cc": (1, ARGUMENT),
    "src/tier/cover/drain_to.cc": (1, ARGUMENT),
    "src/tier/cover/nesting.cc": (1, PRIVATE),
    "src/tier/drain/drain_directory.cc": (1, BY_DESCRIPTOR),
    "src/tier/replace/replaced_backup.cc": (2, BY_DESCRIPTOR),
    "src/tier/lower/lower_base.cc": (1, "the covered directory, by its real path"),
    "src/tier/lower/unreadable.cc": (2, BY_DESCRIPTOR),
    "src/tier/record/attributes.cc": (1, BY_DESCRIPTOR),
    "src/tier/stage/from_pool.cc": (1, BY_DESCRIPTOR),
    "src/tier/system/open_files.cc": (2, BY_DESCRIPTOR),
    "src/tier/system/system.cc": (5, "the calls themselves"),
}

# Calls that take a path and nothing else.
OF_PATHS = ("open|open64|creat|fopen|freopen|stat|lstat|statx|access|euidaccess|unlink|rename|"
            "rmdir|mkdir|mkdtemp|mkstemps?|mkostemps?|opendir|scandir|chmod|chown|lchown|truncate|"
            "link|symlink|readlink|realpath|chdir|chroot|statfs|statvfs|utimes?|lutimes|mknod|"
            "mkfifo|nftw|ftw|glob|l?[gs]etxattr|l?listxattr|l?removexattr|canonicalize_file_name")
# A path that stands in the source is the system's; its text is blanked.
CALL = re.compile(rf'(?<![\w.>:~])(?:std::|::)?({OF_PATHS})\s*\((?!\s*(?:""|\)))')
OTHERS = re.compile(r"\bAT_FDCWD\b|\bstd::filesystem\b(?!::path\b)|"
                    r'\bstd::[io]?fstream\b(?!\s*\w*\s*\(\s*"")|'
                    r"\bsys::(?:open_beneath|real_path|read_file|llistxattr)\s*\(|"
                    r"\bmedia::(?:create|open|remove)_segment\s*\(\s*[^,()]*(?:\(\))?\.c_str\(\)")
AT_NAME = re.compile(
    r"(?<![\w.>:])(?:::)?(openat|openat64|fstatat|faccessat|fchownat|utimensat)\s*\(")
# "Directory open(" declares a member function, "return open(" and "a && open(" call.
DECLARES = re.compile(r"(?:[\w>*]|[^&]&)\s+$")
CALLS = re.compile(r"\b(?:return|else|do|case|throw)\s+$")


def arguments_of(source, at):
    """The text in the parentheses that open before `at`."""
    depth, end = 1, at
    while depth and end < len(source):
        depth += {"(": 1, ")": -1}.get(source[end], 0)
        end += 1
    return source[at:end - 1]


def places(source, by_wrappers=False):
    """Offsets and texts of what goes by a path. by_wrappers: all system calls are sys::NAME()."""
    source = structure.without_comments(source)
    found = []
    for match in () if by_wrappers else CALL.finditer(source):
        before = source[:match.start()]
        if CALLS.search(before[-20:]) or not DECLARES.search(before[-20:]):
            found.append((match.start(), match.group(1)))
    found += [(match.start(), match.group(0)) for match in OTHERS.finditer(source)]
    for match in () if by_wrappers else AT_NAME.finditer(source):
        arguments = arguments_of(source, match.end())
        is_own = re.search(r',\s*""', arguments)  # a fixed name, whose text is blanked
        if not re.search(r"NOFOLLOW|no_?follow", arguments) and not is_own:
            found.append((match.start(), f"{match.group(1)} without NOFOLLOW"))
    return [(source.count("\n", 0, at) + 1, text) for at, text in sorted(found)]


def check(name, source, allowed=None):
    count, _ = (BY_PATH if allowed is None else allowed).get(name, (0, ""))
    found = places(source, name.startswith(("src/tier", "src/cluster")))
    if len(found) > count:
        return [f"{name}:{line}: {text}: open the directory once, and go on by its descriptor\n"
                f"    ({len(found)} such calls; the list in this test has {count})"
                for line, text in found]
    if len(found) < count:
        return [f"{name}: {len(found)} calls by path; the list in this test has {count}: shrink it"]
    return []


def unknown(known):
    return [f"{name}: is in the list of this test, and not in the source"
            for name in BY_PATH if name not in known]


structure.must_find(check, [("cli/a.cc", f"void f() {{\n  {line}\n}}\n") for line in [
    "const int fd = open(path.c_str(), O_RDONLY);", "if (::lstat(path.c_str(), &st) == 0) return;",
    "return unlink(path.c_str()) == 0;", "a && rename(a, b);", "std::ifstream file(path);",
    "std::filesystem::remove_all(path);", "fstatat(AT_FDCWD, path, &st, AT_SYMLINK_NOFOLLOW);",
    "openat(directory, name, O_RDWR | O_CREAT, 0600);", "fstatat(directory, name, &st, 0);",
    "auto fd = media::open_segment(first.c_str(), access);", "DIR* names = opendir(path.c_str());",
    "for (;;)\n    rmdir(path.c_str());", "std::rename(a, b);",
]] + [("src/tier/a.cc", "sys::open_beneath(path.c_str(), O_PATH);"),
      ("src/tier/a.cc", "sys::lstatat(AT_FDCWD, path.c_str(), &st);"),
      ("cli/a.cc", "int a = open(p, 0);", {"cli/a.cc": (2, "")})])
structure.must_accept(check, [("cli/a.cc", f"void f() {{\n  {line}\n}}\n") for line in [
    "// open(path) would follow", 'fail("open(%s)", x);', "file.open(path);", "Cover::open(pool);",
    "region->open(options);", "openat(fd, name, O_RDONLY | O_NOFOLLOW);", "fstat(fd, &st);",
    "unlinkat(fd, name, 0);", "struct stat st {};", 'openat(fd, ".", O_RDONLY);',
    "Directory::open(path);", 'open("/dev/null", O_RDONLY);', "open();",
    'std::ifstream file("/proc/meminfo");', "std::filesystem::path(path).filename();",
    "media::open_segment(directory.descriptor(), name, path, access);",
]] + [("cli/a.h", "  static Result<Directory> open(const std::string& path);\n"),
      ("cli/a.h", "  DataFile open(const std::string& name) const;\n"),
      ("cli/a.h", "  Status rename(const std::string& name);\n"),
      ("cli/a.cc", "int a = open(p, 0);", {"cli/a.cc": (1, "")})])

problems, looked_at = [], []
for file in structure.files(".h", ".cc", ".inc"):
    in_folder = any(pathlib.PurePath(folder) in file.parents for folder in FOLDERS)
    if not in_folder or file.stem.endswith("_test"):
        continue
    looked_at.append(file.as_posix())
    problems += check(file.as_posix(), structure.text(file))
problems += unknown(looked_at)
structure.verdict(problems, f"{len(looked_at)} files, of which {len(BY_PATH)} use paths")
