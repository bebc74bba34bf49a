"""cairn bench kernels: a matrix's kernels, for the terminal and docs/user/bench-options.md."""

import textwrap

from .. import sizes
from ..errors import Mistake
from . import kernels

PAGE = """\
# Kernels of a matrix and their keys

Written by `cairn bench kernels --markdown` from what the kernels say of themselves
(`KERNEL --describe`). [bench-kernels.md](bench-kernels.md) says how each of them works, and
[bench.md](bench.md#a-matrix) which keys all of them have.

| kernel | what it does |
| --- | --- |
"""
SECTION = """
## {name}

{about}. It verifies {verifies}.

| access | unit | phases |
| --- | --- | --- |
"""
KEYS = """
| key | option | values | default | meaning |
| --- | --- | --- | --- | --- |
"""
REST = """
Further options, for `options`:

| option | default | meaning |
| --- | --- | --- |
"""
APART = """
Writes and reads may be two commands, and a rank may read what another one has written
([reads of a system's own](bench.md#reads-of-a-systems-own)).
"""


def lines(name=None):
    """Lines for the terminal: all kernels, or one with its keys."""
    if name is None:
        all_kernels = [*kernels.known().values(), kernels.PROGRAM]
        width = max(len(each.name) for each in all_kernels)
        return [f"{each.name:<{width}}  {each.about.replace('`', '')}" for each in all_kernels]
    if name not in kernels.known():
        raise Mistake(f"{name}: not a kernel: expected {', '.join(kernels.known())}")
    kernel = kernels.known()[name]
    found = [f"{name}: {kernel.about}", ""]
    for option in kernel.keyed:
        head = f"  {option['key']['name']}: {values_of(option)}"
        default = default_of(option)
        found.append(head + (f"; default {default}" if default else ""))
        found += textwrap.wrap(meaning_of(option).replace("`", ""), 96, initial_indent="      ",
                               subsequent_indent="      ")
    accesses = (
        f"{each['access']} ({', '.join(each['phases'])})"
        for each in kernel.description["accesses"]
    )
    return [*found, "", f"Accesses: {', '.join(accesses)}.",
            f"Verifies: {kernel.description['verifies']}."]


def markdown():
    """The lines of the page."""
    found = PAGE
    for kernel in kernels.known().values():
        found += f"| [`{kernel.name}`](#{kernel.name}) | {kernel.about} |\n"
    found += (f"| [`program`](bench.md#programs-of-others) | {kernels.PROGRAM.about} |\n")
    common = shared_options()
    for kernel in kernels.known().values():
        found += section(kernel, common)
    return found.removesuffix("\n").split("\n")


def shared_options():
    """Names of the options that every kernel has, and of those by which reads are apart."""
    names = [{option["name"] for option in kernel.description["options"]}
             for kernel in kernels.known().values()]
    return set.intersection(*names) | {"--write-only", "--read-only", "--readers"}


def section(kernel, common):
    about = kernel.about[0].upper() + kernel.about[1:]
    text = SECTION.format(name=kernel.name, about=about, verifies=kernel.description["verifies"])
    for access in kernel.description["accesses"]:
        phases = ", ".join(access["phases"])
        text += f"| `{access['access']}` | {access['unit']} | {phases} |\n"
    text += KEYS
    for option in kernel.keyed:
        values = values_of(option).replace("|", "\\|")
        text += (f"| `{option['key']['name']}` | {shown(option)} | {values} | "
                 f"{default_of(option)} | {meaning_of(option)} |\n")
    rest = [option for option in kernel.description["options"]
            if not {"key", "file"} & set(option) and option["name"] not in common]
    if rest:
        text += REST
    for option in rest:
        text += f"| {shown(option)} | {text_of(option['default'], option)} | {option['help']} |\n"
    return text + (APART if kernel.reads_apart else "")


def shown(option):
    if option["operand"]:
        return f"`{option['name']}`"
    return f"`{' '.join(filter(None, (option['name'], option['value'])))}`"


def values_of(option):
    """What a key may be, in words."""
    schema = kernels.schema_of(option)
    if "enum" in schema:
        return " | ".join(schema["enum"])
    if "$ref" in schema:
        return "size"
    least = f" from {schema['minimum']}" if "minimum" in schema else ""
    return f"{schema['type']}{least}"


def meaning_of(option):
    """The help, with the value that gives the option."""
    given_for = option["key"].get("given_for", True)
    if given_for is True:
        return option["help"]
    return f"`{text_of(given_for, option)}`: {option['help']}"


def default_of(option):
    """The value of a matrix that leaves the key out, in words."""
    return text_of(option["key"]["default"], option)


def text_of(value, option):
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if option["kind"] == "size" and value:
        return sizes.show(value).replace(".0 ", " ")
    return str(value)
