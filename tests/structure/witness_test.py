"""Files are compared in one place, src/tier/lower/witness.cc, also by their time of creation.

A file system gives the inode number of a removed file to the next one, and its owner sets size and
times at will. So no other code compares these fields by hand. Code that cannot call that function
has a reason here. """

import re

import structure

FOLDERS = ("src", "cli")
FIELD = r"(?:st_ino|birth)"
COMPARED = re.compile(rf"[.>]{FIELD}\s*[!=]=(?!\s*0\b)|[\w\)]\s*[!=]=\s*[\w.()>-]*[.>]{FIELD}\b")

# Path -> why it compares by itself.
ALLOWED = {
    "src/tier/lower/witness.cc": "the place",
    "src/tier/cover/covered_directory.cc": "the covered directory has marks and a token",
    "src/tier/record/parts.cc": "the directory of records has marks",
    "src/pool/lanes/attach_lock.cc": "a private file of the pool; pool/ may not include tier/",
    "src/cluster/mpi/ranks/shared_memory.cc": "a file of this user in shared memory, held open",
    "cli/process/held_directory.cc": "a directory that is held open",
    "cli/runs/cover_processes.cc": "files that processes hold open",
    "cli/runs/nested_run.cc": "files that processes hold open",
    "cli/pools/place_lock.cc": "a lock file that is held open",
    "cli/machine/file_name.cc": "a file that is held open",
    "src/pool/medium/directory.cc": "a directory that is held open",
    "src/pool/medium/growth.cc": "a segment that is mapped",
}


def check(name, text, allowed):
    found = [i + 1 for i, line in enumerate(structure.without_comments(text).splitlines())
             if COMPARED.search(line)]
    if name in allowed:
        return [] if found else [f"{name}: compares nothing any more: take it off the list"]
    return [f"{name}:{line}: compare by tier/lower/witness.h" for line in found]


structure.must_find(check, [
    ("a.cc", "return a.st_dev == b.st_dev && a.st_ino == b.st_ino;", {}),
    ("a.cc", "if (held->st_ino != named.st_ino) return;", {}),
    ("a.cc", "return inode == st.st_ino;", {}),
    ("a.cc", "same = a.birth == birth;", {}),
    ("a.cc", "nothing();", {"a.cc": "none"}),
])
structure.must_accept(check, [
    ("a.cc", "if (st.birth == 0) return;", {}),
    ("a.cc", "marks = {st.st_dev, st.st_ino, st.birth};  // st_ino == 1", {}),
    ("a.cc", "return st.st_ino == 1;", {"a.cc": "held open"}),
])

names = [n for n in structure.files(".cc", ".h") if n.parts[0] in FOLDERS and "_test" not in n.name]
problems = [p for n in names for p in check(n.as_posix(), structure.text(n), ALLOWED)]
structure.verdict(problems, f"{len(names)} files leave comparing to tier/lower/witness.cc")
