"""What others may have written is read through bounded readers only, and no program or module is
found in the current directory. A place that forgets it fails here.

The bounded readers: cli/frame/bounded_file.h, src/base/bounded_file.h,
bench/python/cairn_bench/files.py. ALLOWED only shrinks, unless a file says beside its own code how
it is bounded.
"""

import re

import structure

# What the kernel, or root, writes: bounded, and nobody else's.
KERNEL = re.compile(r'"(/proc/|/sys/|/etc/machine-id|/etc/ld\.so)|f"/proc/')

CODE = [
    (re.compile(r"\bYAML::(Load\w*|Parser)\b"), "YAML that is read as it comes"),
    (re.compile(r"\b(std::ifstream|fopen|std::getline|getdelim)\b"), "a read without a bound"),
    (re.compile(r"\b(execvpe?|posix_spawnp|popen|std::system|system)\("),
     "a program that is looked for in all of PATH"),
    (re.compile(r'"python3?"(?!\)|, "-I")'), "a Python that imports from the current directory"),
]
PYTHON = [
    (re.compile(r"\byaml\.(safe_load|load|full_load|unsafe_load|compose|parse|scan)\w*\("),
     "YAML that is read as it comes"),
    (re.compile(r"\bjson\.loads?\("), "JSON of any depth"),
    (re.compile(r"(?<![\w.\"'(])(os\.)?open\(|\.open\(|(?<!files)\.read_(text|bytes)\("),
     "a read without a bound"),
    (re.compile(r'\[\s*("python3?"|sys\.executable|SYSTEM_PYTHON|python), (?!"-I")'),
     "a Python that imports from the current directory"),
]

# File: the reasons that are in order there, with why.
ALLOWED = {
    "cli/frame/config_text.cc": {
        "YAML that is read as it comes": "bounds depth and aliases itself"
    },
    "cli/process/run_child.cc": {
        "a program that is looked for in all of PATH": "the user's own, as a shell finds it"
    },
    "cli/commands/stage_command.cc": {
        "a read without a bound": "a list that may be a pipe; bounds lines and size itself"
    },
    "bench/python/cairn_bench/files.py": {
        "JSON of any depth": "parse_json()",
        "a read without a bound": "opened(), read_text(), replace()",
    },
    "bench/python/cairn_bench/plan/bounded_yaml.py": {"YAML that is read as it comes": "parse()"},
    "bench/python/cairn_bench/page/markup.py": {"a read without a bound": "files of the package"},
    "bench/python/cairn_bench/run/systems.py": {"JSON of any depth": "what `cairn pool list` says"},
    "bench/python/cairn_bench/results/store.py": {
        "a read without a bound": "makes results with O_EXCL"
    },
}
# Files that read the kernel's files by a path that is made elsewhere, or texts that they have.
OF_KERNEL = """
    cli/doctor/doctor_environment.cc cli/doctor/doctor_mpi.cc cli/doctor/elf_file.cc
    cli/machine/memory_limit.cc cli/process/core_dump.cc cli/process/job_end.cc
    cli/process/process.cc cli/process/launcher.cc cli/runs/cover_processes.cc cli/runs/keeper.cc
    cli/runs/nested_run.cc cli/runs/shortage.cc
    src/cluster/mpi/loader/loaded_objects.cc src/cluster/mpi/ranks/processes.cc
    src/pool/lanes/stopped.cc src/pool/medium/format_io.cc
    bench/python/cairn_bench/node/machine.py bench/python/cairn_bench/node/memory.py
    bench/python/cairn_bench/node/space.py bench/python/cairn_bench/run/launch.py
""".split()
# Own files of the package, which lie beside its code.
OWN = re.compile(r"\bHERE\b|\bSTYLE\b|\bSCHEMA\b|\bkernel\(mpi")


def check(name, source):
    is_python = name.endswith(".py")
    rules = PYTHON if is_python else CODE
    code = source if is_python else re.sub(r"//[^\n]*", "", source)
    problems = []
    for number, line in enumerate(code.split("\n"), 1):
        for pattern, what in rules:
            is_read = what == "a read without a bound"
            if not pattern.search(line) or what in ALLOWED.get(name, {}):
                continue
            if is_read and (KERNEL.search(line) or name in OF_KERNEL):
                continue
            if is_python and (OWN.search(line) or re.match(r"\s*def \w+\(", line)):
                continue
            problems.append(f"{name}:{number}: {what}: {line.strip()}")
    return problems


structure.must_find(check, [
    ("cli/a/a.cc", "YAML::Node root = YAML::LoadFile(path);\n"),
    ("cli/a/a.cc", "std::ifstream file(path);\n"),
    ("src/a/a.cc", "FILE* f = fopen(path, \"r\");\n"),
    ("cli/a/a.cc", "execvp(words[0], words);\n"),
    ("cli/a/a.cc", 'arguments = {"python3", "-B", "-m", "cairn_bench"};\n'),
    ("bench/python/cairn_bench/a.py", "matrix = yaml.safe_load(text)\n"),
    ("bench/python/cairn_bench/a.py", "record = json.loads(line)\n"),
    ("bench/python/cairn_bench/a.py", "text = path.read_text()\n"),
    ("bench/python/cairn_bench/a.py", "with open(path) as file:\n"),
    ("bench/python/cairn_bench/a.py", "os.execv(python, [sys.executable, \"-m\", \"x\"])\n"),
])
structure.must_accept(check, [
    ("cli/a/a.cc", 'std::ifstream file("/proc/meminfo");  // not std::ifstream(path)\n'),
    ("cli/a/a.cc", 'arguments = {"python3", "-I", "-B", start};\n'),
    ("bench/python/cairn_bench/a.py", "text = files.read_text(path, most)\n"),
    ("bench/python/cairn_bench/a.py", 'command = [python, "-I", "-B", FILE]\n'),
])

names = [
    n for n in structure.files(".cc", ".h", ".py")
    if (n.parts[0] in ("cli", "src") and n.suffix != ".py" and not n.stem.endswith("_test"))
    or n.parts[:3] == ("bench", "python", "cairn_bench")
    or n.parts[:3] == ("bindings", "python", "cairn")
]
found = []
for name in names:
    found += check(str(name), structure.text(name))
for name in [*ALLOWED, *OF_KERNEL]:
    if not (structure.ROOT / name).is_file():
        found.append(f"{name}: no longer there: shorten the list")
structure.verdict(found, f"{len(names)} files")
