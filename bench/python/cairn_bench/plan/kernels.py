"""The kernels that a matrix may name: their keys, sizes and words, from their descriptions."""

import functools

from .. import sizes
from . import descriptions, formula, outside


class Kernel:
    """A kernel by its description (bench/mpi/kernels/common/description.h)."""

    def __init__(self, description):
        self.description = description
        self.name = description["name"]
        self.about = description["about"]
        options = description["options"]
        self.keyed = [option for option in options if "key" in option]
        self.operands = [option for option in options if option["operand"]]
        self.paths = [option for option in options if "file" in option and not option["operand"]]
        # Writes and reads may be two commands, and a rank may read what another one has written.
        names = {option["name"] for option in options}
        self.reads_apart = "--read-only" in names
        self.has_seed = "-G" in names  # of its data

    @property
    def grows(self):
        """Whether it has amounts of data that a scale multiplies."""
        return any("grows" in option["key"] for option in self.keyed)

    @property
    def standard(self):
        """The values of keys that a matrix leaves out."""
        keys = [option["key"] for option in self.keyed]
        return {key["name"]: key["default"] for key in keys if key["default"] is not None}

    def schema(self):
        """{key: its JSON schema} of an entry below `kernels`."""
        return {option["key"]["name"]: schema_of(option) for option in self.keyed}

    def normal(self, given):
        """The keys of an entry with the standard ones; sizes as numbers of bytes."""
        found = {**self.standard, **given}
        for option in self.keyed:
            name = option["key"]["name"]
            if option["kind"] == "size" and name in found:
                found[name] = sizes.parse(found[name])
        return found

    def scaled(self, given, scale):
        """The same with amounts times `scale`."""
        grown = {
            option["key"]["name"]: multiplied(given, option["key"], scale)
            for option in self.keyed if "grows" in option["key"]
        }
        return {**given, **grown}

    def rewrites(self, given):
        """Whether it can write over files that are there, with these keys."""
        text = self.description.get("existing")
        return bool(text and formula.value(text, given))

    def file_bytes(self, given, ranks):
        return self._bytes("medium", given, ranks)

    def memory_bytes(self, given, ranks):
        return self._bytes("memory", given, ranks)

    def transfer_bytes(self, given, ranks):
        return self._bytes("call", given, ranks)

    def _bytes(self, what, given, ranks):
        text = self.description["bytes"][what]
        return formula.value(text, {**given, "ranks": ranks}) if text else None

    def words(self, given, directory):
        """After the program's name and the options of all kernels."""
        result = []
        for option in self.keyed:
            if not option["operand"]:
                result += words_of(option, given)
        result += given.get("options", [])
        for option in self.paths:
            result += [option["name"], path_in(directory, option)]
        for option in self.operands:
            if "file" in option:
                result.append(path_in(directory, option))
            elif "key" in option:
                result += value_of(option, given)
        return result


class OtherProgram:
    """The kind `program`: one of others, which is in PATH."""

    name = "program"
    about = "a program of others in PATH: `ior`, `fio` and more"
    reads_apart = grows = False
    standard = {"bytes": 0, "memory": 0}

    def normal(self, given):
        found = {**self.standard, **given}
        for key in ("bytes", "memory", "transfer"):
            if key in found:
                found[key] = sizes.parse(found[key])
        return found

    def scaled(self, given, _scale):
        return given

    def rewrites(self, _given):
        return False

    def file_bytes(self, given, _ranks):
        return given["bytes"]

    def memory_bytes(self, given, _ranks):
        return given["memory"]

    def transfer_bytes(self, given, _ranks):
        return given.get("transfer")

    def words(self, given, directory):
        return [outside.filled(word, directory) for word in given.get("arguments", [])]


PROGRAM = OtherProgram()


@functools.cache
def known():
    """{name: kernel} of those that a matrix may name, but `program`."""
    return {
        name: Kernel(description)
        for name, description in descriptions.all_kernels().items() if description["bytes"]
    }


def of(name):
    return PROGRAM if name == PROGRAM.name else known()[name]


def schema_of(option):
    key, kind = option["key"], option["kind"]
    if kind == "flag":
        if "otherwise" in key:
            return {"enum": [key["otherwise"], key["given_for"]]}
        return {"type": "boolean"}
    if kind == "size":
        return {"$ref": "#/$defs/none_or_size" if key.get("may_be_none") else "#/$defs/size"}
    if kind == "choice":
        return {"enum": option["choices"]}
    if kind == "number":
        return {"type": "number", "exclusiveMinimum": 0}
    return {"type": "integer", "minimum": max(option["least"], 1 if "grows" in key else 0)}


def multiplied(given, key, scale):
    """An amount times `scale`, in the steps that it can have."""
    value, grows = given[key["name"]], key["grows"]
    if isinstance(value, float):
        return value * scale
    step = given.get(grows["step"], 1) if grows["step"] else 1
    return max(1, round(value * scale ** (1 / grows["root"]) / step)) * step


def words_of(option, given):
    """The words of a command line that give an option; [] if the cell does not."""
    if option["kind"] != "flag":
        value = value_of(option, given)
        return [option["name"], *value] if value else []
    key = option["key"]
    is_given = given.get(key["name"]) == key["given_for"] and key.get("unless") not in given
    return [option["name"]] if is_given else []


def value_of(option, given):
    """[the value of an option or operand]; [] if the cell has none."""
    key = option["key"]
    if key["name"] not in given:
        return []
    value = formula.value(key["formula"], given) if "formula" in key else given[key["name"]]
    return [f"{value:.9g}" if option["kind"] == "number" else value]


def path_in(directory, option):
    return f"{directory}/{option['file']}" if option["file"] else directory
