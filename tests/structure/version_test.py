"""The version says whether a build has changes that no release has.

While changes/ has fragments, CMakeLists.txt has the number of the next release and the suffix
"-dev"; while it has none, the number of CHANGELOG.md's newest section and no suffix. Pages that
name a version name that of the newest section."""

import re

import structure

PROJECT = re.compile(r"^project\(Cairn VERSION (\d+)\.(\d+)\.(\d+) ", re.M)
SUFFIX = re.compile(r'^set\(CAIRN_VERSION_SUFFIX "(.*)"\)$', re.M)
SECTION = re.compile(r"^## (.*)$", re.M)
TITLE = re.compile(r"(\d+)\.(\d+)\.(\d+) \(\d{4}-\d{2}\)")
PAGES = ("README.md", "docs/beside-others.md", "docs/user/limits.md")
NAMED = re.compile(r"(?:^V|\bCairn is v)ersion (\d+\.\d+)\b", re.M)


def numbers(match):
    return tuple(map(int, match.groups()))


def shown(version):
    return ".".join(map(str, version))


def check(build, changelog, fragments):
    """`build`: text of CMakeLists.txt. `fragments`: names of the files in changes/."""
    project, suffix = PROJECT.search(build), SUFFIX.search(build)
    if project is None or suffix is None:
        return ["CMakeLists.txt: no project(Cairn VERSION X.Y.Z …) or CAIRN_VERSION_SUFFIX"]
    section = SECTION.search(changelog)
    title = TITLE.fullmatch(section.group(1)) if section else None
    if title is None:
        return ["CHANGELOG.md: the first section has no title like '## X.Y.Z (YYYY-MM)'"]
    version, release = numbers(project), numbers(title)
    has = f"CMakeLists.txt: version {shown(version)}{suffix.group(1)}, CHANGELOG.md: newest " \
          f"release {shown(release)}, changes/: {len(fragments)} fragment(s)"
    if not fragments:
        return [] if (version, suffix.group(1)) == (release, "") else \
            [f"{has}: set the version to {shown(release)}, and CAIRN_VERSION_SUFFIX to \"\""]
    problems = []
    if version <= release:
        following = (release[0], release[1] + 1, 0)
        problems.append(f"{has}: set the version to that of the next release, such as "
                        f"{shown(following)}")
    if suffix.group(1) != "-dev":
        problems.append(f"{has}: set CAIRN_VERSION_SUFFIX to \"-dev\"")
    return problems


def check_page(name, page, changelog):
    release = shown(numbers(TITLE.search(changelog))[:2])
    named = NAMED.findall(page)
    if not named:
        return [f"{name}: names no version: take it off the list"]
    return [f"{name}: says version {other}: CHANGELOG.md's newest release is {release}"
            for other in named if other != release]


def build(version, suffix):
    return f'project(Cairn VERSION {version} LANGUAGES C\nset(CAIRN_VERSION_SUFFIX "{suffix}")\n'


CHANGELOG = "# Changelog\n\n## 1.2.0 (2026-11)\n\n## 1.1.0 (2026-10)\n"
structure.must_find(check, [
    (build("1.2.0", ""), CHANGELOG, ["fixed-a.md"]),
    (build("1.2.0", "-dev"), CHANGELOG, ["fixed-a.md"]),
    (build("1.3.0", ""), CHANGELOG, ["fixed-a.md"]),
    (build("1.3.0", "-rc1"), CHANGELOG, ["fixed-a.md"]),
    (build("1.3.0", "-dev"), CHANGELOG, []),
    (build("1.1.0", ""), CHANGELOG, []),
    (build("1.2.0", ""), CHANGELOG.replace("1.2.0 (2026-11)", "next"), []),
    ("", CHANGELOG, []),
])
structure.must_accept(check, [
    (build("1.2.0", ""), CHANGELOG, []),
    (build("1.2.1", "-dev"), CHANGELOG, ["fixed-a.md"]),
    (build("1.10.0", "-dev"), CHANGELOG.replace("1.2.0", "1.9.0"), ["fixed-a.md"]),
])
structure.must_find(check_page, [("README.md", "Version 1.1: new", CHANGELOG),
                             ("README.md", "", CHANGELOG)])
structure.must_accept(check_page, [("README.md", "Version 1.2: new", CHANGELOG)])

changelog = structure.text("CHANGELOG.md")
fragments = [n.name for n in structure.files() if n.parts[0] == "changes" and n.name != "README.md"]
found = check(structure.text("CMakeLists.txt"), changelog, fragments)
for page in PAGES:
    found += check_page(page, structure.text(page), changelog)
structure.verdict(found, f"CMakeLists.txt, CHANGELOG.md, {len(fragments)} fragment(s), "
              f"{len(PAGES)} pages")
