"""All stores, flushes and fences to pool memory go through src/persist.

The types do most of the work (a persist::Word cannot be assigned); this finds the ways around them.
A line that looks like one and is none says so:  // not pool memory: REASON
"""

import pathlib
import re

import structure

EXCUSE = re.compile(r"//\s*not pool memory:\s*\S")
# (pattern, where it is looked for, what to do instead)
EVERYWHERE = ("src", "adapters", "cli", "service")
RULES = [
    (
        re.compile(r"\b_mm\d*_(clwb|clflush|clflushopt|sfence|mfence|stream\w*|maskmove\w*)\b"),
        EVERYWHERE,
        "flush and fence through persist::Region",
    ),
    (
        re.compile(
            r"\b__builtin_(ia32_(clwb|clflush|clflushopt|sfence|mfence|movnt\w*)|"
            r"nontemporal_store)\b"
        ),
        EVERYWHERE,
        "flush and fence through persist::Region",
    ),
    (re.compile(r"\b(__)?asm(__)?\b"), ("src",), "no assembler outside persist"),
    (
        re.compile(
            r"\bpmem2?_(memcpy|memmove|memset|persist|flush|drain|msync|deep_\w+|get_\w+_fn)\w*"
        ),
        EVERYWHERE,
        "copy and persist through persist::Region",
    ),
    (re.compile(r"(?<!\.)\bmsync\s*\("), ("src",), "write back through persist::Region::fence"),
    (re.compile(r"\bsync_file_range\s*\("), ("src",), "write back through persist::Region::fence"),
    (
        re.compile(
            r"\b__(atomic_(store|exchange|compare_exchange|fetch|add|sub|or|and|xor|test|clear)|"
            r"sync)_\w+"
        ),
        ("src",),
        "std::atomic for private memory, persist::Region for Words",
    ),
    (
        re.compile(r"\batomic_ref\b"),
        ("src",),
        "std::atomic for private memory, persist::Region for Words",
    ),
    (re.compile(r"reinterpret_cast<[^;]*\batomic\b"), ("src",), "use a persist::Word"),
    (
        re.compile(r"\bconst_cast\s*<"),
        ("src",),
        "what is const in a pool is written through a Region",
    ),
    (
        re.compile(r"reinterpret_cast<\s*(std::)?u?int\d+_t\s*\*\s*>\s*\(\s*&"),
        ("src",),
        "do not look behind a persist::Word",
    ),
    (
        re.compile(r"\bstatic_cast<[^;>]*\*\s*>\s*\([^;]*\bWord\b"),
        ("src",),
        "do not look behind a persist::Word",
    ),
    (
        re.compile(
            r"\b(mem(cpy|set|move|pcpy)|strn?cpy|bzero|explicit_bzero)\s*\("
            r"\s*[^,;]*\bbase\s*\(\s*\)"
        ),
        ("src",),
        "copy into a pool with persist::Region::copy or zero",
    ),
    (
        re.compile(r"\bbase\s*\(\s*\)\s*\[[^\]]*\]\s*([-+|&^]?=(?!=)|\+\+|--)"),
        ("src",),
        "store into a pool through persist::Region",
    ),
    (
        re.compile(r"\*\s*\([^;()]*\bbase\s*\(\s*\)[^;()]*\)\s*([-+|&^]?=(?!=))"),
        ("src",),
        "store into a pool through persist::Region",
    ),
]


def check(name, source):
    place = pathlib.Path(name)
    if place.parts[:2] == ("src", "persist") or place.stem.endswith("_test"):
        return []
    problems = []
    original = source.split("\n")
    lines = structure.without_comments(source).split("\n")
    for pattern, where, advice in RULES:
        if place.parts[0] not in where:
            continue
        for number, line in enumerate(lines):
            if not pattern.search(line):
                continue
            near = original[max(0, number - 1):number + 1]
            if any(EXCUSE.search(text) for text in near):
                continue
            problems.append(f"{place}:{number + 1}: {original[number].strip()}\n    {advice}")
    return problems


structure.must_find(check, [(f"src/file/a.cc", f"  {line}\n") for line in [
    "_mm_clwb(p);", "_mm_sfence();", "_mm256_stream_si256(p, v);", "__builtin_ia32_sfence();",
    'asm volatile("clwb %0" : "+m"(*p));', "pmem_persist(p, 8);", "msync(p, 4096, MS_SYNC);",
    "__atomic_store_n(&x, 1, __ATOMIC_RELEASE);", "__sync_fetch_and_add(&x, 1);",
    "auto* w = const_cast<persist::Word*>(&inode->size);",
    "*reinterpret_cast<uint64_t*>(&inode->size) = 1;",
    "auto* a = reinterpret_cast<std::atomic<uint64_t>*>(p);",
    "std::memcpy(region.base() + offset, source, size);", "region_->base()[7] = 1;",
    "*(region.base() + 4) = 0;",
]] + [("adapters/posix/a.cc", "_mm_sfence();\n")])
structure.must_accept(check, [
    ("src/file/a.cc", "// never _mm_clwb here\nstd::memcpy(to, region.base() + offset, size);\n"),
    ("src/file/a.cc", "x = const_cast<char*>(s);  // not pool memory: an interface of libc\n"),
    ("src/persist/machine/x86_64.cc", "_mm_sfence();\n"),
    ("src/file/a_test.cc", "std::memcpy(region.base(), x, 1);\n"),
    ("src/file/a.cc", 'puts("_mm_sfence()"); if (region.base()[7] == 1) return;\n'),
    ("adapters/posix/a.cc", "int msync(void* p, size_t n, int flags) {\n"),
])

found = []
sources = [n for n in structure.files(".h", ".cc", ".c", ".inc") if n.parts[0] in EVERYWHERE]
for name in sources:
    found += check(str(name), structure.text(name))
structure.verdict(found, f"{len(sources)} files leave pool memory to persist")
