"""Relative links in our Markdown lead to files that exist, and to headings that they have."""

import posixpath
import re

import structure

# Code is not searched: it shows brackets of other languages.
CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.M | re.S)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)|<(?:img|source)[^>]*?(?:src|srcset)=\"([^\"]+)\"", re.S)
HEADING = re.compile(r"^#+ +(.*?) *$", re.M)


def anchor(heading):
    """As GitHub and GitLab make it."""
    heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[^\w\- ]", "", heading.lower().replace("`", "")).replace(" ", "-")


def anchors(source):
    return {
        anchor(found)
        for found in HEADING.findall(re.sub(r"^```.*?^```", "", source, flags=re.M | re.S))
    }


def check(name, source, exists=lambda path: (structure.ROOT / path).exists(), read=structure.text):
    problems = []
    for match in LINK.finditer(CODE.sub("", source)):
        target = match.group(1) or match.group(2)
        if re.match(r"[a-z]+:", target):
            continue
        path, _, heading = target.partition("#")
        path = posixpath.normpath(posixpath.join(posixpath.dirname(str(name)),
                                                 path)) if path else str(name)
        if not exists(path):
            problems.append(f"{name}: links to {target}: there is no {path}")
        elif heading and path.endswith(".md") and heading not in anchors(source if path ==
                                                                         str(name) else read(path)):
            problems.append(f"{name}: links to {target}: {path} has no such heading")
    return problems


structure.must_find(check, [
    ("README.md", "[a](docs/no-such-page.md)\n"),
    ("README.md", "[a](#no-such-heading)\n# A heading\n"),
    ("README.md", '<img src="no-such-picture.svg">\n'),
])
structure.must_accept(check, [
    ("README.md", "[a](LICENSE) [b](https://example.org/x) `[c](d)`\n"),
    ("README.md", "[a](#the-run-of-cairn)\n## The `run` of Cairn\n"),
])

found = []
pages = structure.files(".md")
for page in pages:
    found += check(page, structure.text(page))
structure.verdict(found, f"the links of {len(pages)} pages lead somewhere")
