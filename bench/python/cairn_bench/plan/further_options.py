"""An entry's `options`: further words for its kernel. None of them may be a key of the matrix.

The keys say how many bytes a cell writes, which is checked before the start. An option that stands
for a key would pass that check by.
"""

# Options that the runner gives itself, and what asks for them.
OWN = {
    "--format": "the runner reads JSON",
    "--hint": "write hints: {KEY: VALUE}",
    "--no-check": "write check: false",
    "--keep": "write keep: true",
    "--write-only": "write reads: {after: ...} in a system",
    "--read-only": "write reads: {after: ...} in a system",
    "--readers": "write reads: {by: ...} in a system",
    "--existing": "write rewrite: true in a system",
    "--check-only": "the runner does so before the start",
    "--ranks": "write ranks: [N] in the matrix",
    "--nodes": "write nodes: N in a system",
}


def problems(kernel, words):
    """Says which words belong elsewhere, and where. kernel: kernels.Kernel."""
    options = {each["name"]: each for each in kernel.description["options"]}
    found, position = [], 0
    while position < len(words):
        word = str(words[position])
        position += 1
        for option, value in given(word, options):
            if value is None and option["kind"] != "flag":
                value = str(words[position]) if position < len(words) else ""
                position += 1
            found.append(why_not(option, value, options))
    return [each for each in found if each]


def given(word, options):
    """(option, its value in the same word, or None) of a word, as getopt_long reads it."""
    if word.startswith("--"):
        name, _, value = word.partition("=")
        names = [name] if name in options else [each for each in options if each.startswith(name)]
        if len(names) == 1 and name != "--":
            yield options[names[0]], value if "=" in word else None
        return
    if not word.startswith("-"):
        return
    for place, letter in enumerate(word[1:], 2):
        option = options.get(f"-{letter}")
        if option is None:  # the kernel says so itself
            return
        yield option, word[place:] or None
        if option["kind"] != "flag":
            return


def why_not(option, value, options):
    """What to write instead of an option; None if a matrix may have it."""
    name = option["name"]
    if option["help"] in options:  # a short form of another one
        option = options[option["help"]]
    if "key" in option:
        return f"{name}: write the key {entry(option, value)}"
    if "file" in option:
        return f"{name}: the runner names the file"
    return f"{name}: {OWN[option['name']]}" if option["name"] in OWN else None


def entry(option, value):
    """`block: 1g`: the key with the value that stands for the option."""
    key = option["key"]
    if option["kind"] != "flag":
        return f"{key['name']}: {value}" if value and "formula" not in key else key["name"]
    word = key.get("given_for", True)
    return f"{key['name']}: {str(word).lower() if isinstance(word, bool) else word}"
