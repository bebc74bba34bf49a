"""A matrix file, held against its schema; all mistakes are told, with line and nearest name."""

import copy
import dataclasses
import difflib
import functools
import hashlib
import json
import pathlib

import jsonschema
import yaml

from .. import files, sizes
from ..errors import Mistake
from . import axes, bounded_yaml, further_options, kernels, pilot
from .cells import AGAIN

HERE = pathlib.Path(__file__).resolve().parents[1]
READY = HERE / "matrices"
SCHEMA = json.loads((HERE / "schema/matrix.json").read_text(encoding="utf-8"))
DEFAULTS = {
    "rounds": 5,
    "warmup": 1,
    "seed": 1,
    "timeout_s": 120,
    "scale": 1,
    "ranks": [2],
    "exclude": [],
    "include": [],
    "limits": True,
}
SIZES = jsonschema.FormatChecker(formats=[])


@SIZES.checks("size", raises=ValueError)
def is_size(value):
    if isinstance(value, str) and sizes.parse(value) == 0:
        raise ValueError(f"invalid size '{value}': expected at least 1")
    return True


@SIZES.checks("size or 0", raises=ValueError)
def is_size_or_0(value):
    return not isinstance(value, str) or sizes.parse(value) >= 0


def kernel_schema(kernel):
    """The schema of one entry below `kernels`, for its kind."""
    parts = SCHEMA["$defs"]
    own = parts["program"] if kernel == "program" else kernels.of(kernel).schema()
    return {
        "type": "object",
        "additionalProperties": False,
        "$defs": parts,
        "properties": {**parts["common"], **own},
    }


@functools.cache
def schema():
    """The schema of a matrix, with the kernels of this installation."""
    whole = copy.deepcopy(SCHEMA)
    names = [*kernels.known(), "program"]
    whole["$defs"]["kernel"]["properties"]["kernel"] = {"enum": names}
    return whole


def ready():
    """Names of the ready matrices."""
    return sorted(path.stem for path in READY.glob("*.yaml"))


def find(name):
    """The file of a matrix: the name of a ready one, or a path. A matrix says what is run, so that
    a file in the current directory does not take the place of a ready one."""
    own = READY / f"{name}.yaml"
    if "/" not in str(name) and own.exists():
        return own
    path = pathlib.Path(name)
    if path.exists() and not path.is_dir():
        return path
    names = ready()
    raise Mistake(
        f"{name}: no such file, and not a ready matrix: {', '.join(names)}{nearest(name, names)}"
    )


def nearest(word, known):
    close = difflib.get_close_matches(str(word), known, n=1)
    return f"; did you mean {close[0]}?" if close else ""


TEXTS = ("tag:yaml.org,2002:str", "tag:yaml.org,2002:merge")


class Lines:
    """Where each key and value of a document stands, and which keys are `wrong`."""

    def __init__(self, node):
        self.lines = {}
        self.wrong = []
        self._walk(node, ())

    def _walk(self, node, path):
        self.lines.setdefault(path, node.start_mark.line + 1)
        if isinstance(node, yaml.MappingNode):
            seen = set()
            for key, value in node.value:
                line = key.start_mark.line + 1
                if key.tag not in TEXTS:
                    self.wrong.append((line, f"key {key.value} is not a text: write '{key.value}'"))
                if key.value in seen:
                    self.wrong.append((line, f"key {key.value} stands twice"))
                seen.add(key.value)
                self.lines[(*path, key.value)] = key.start_mark.line + 1
                self._walk(value, (*path, key.value))
        elif isinstance(node, yaml.SequenceNode):
            for number, value in enumerate(node.value):
                self._walk(value, (*path, number))

    def of(self, path):
        """The line of the nearest part of `path` that the file has."""
        path = tuple(path)
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)


@dataclasses.dataclass
class Source:
    """A matrix file, with the mistakes that were found in it so far."""

    path: pathlib.Path
    text: str = ""
    lines: Lines | None = None
    matrix: dict = dataclasses.field(default_factory=dict)  # with defaults, without what is wrong
    origin: dict = dataclasses.field(default_factory=dict)  # {entry: its name in the file}
    problems: list = dataclasses.field(default_factory=list)  # (line, text)
    wrong: set = dataclasses.field(default_factory=set)  # paths of the parts that are wrong
    unknown: set = dataclasses.field(default_factory=set)  # paths of keys that nobody reads

    def tell(self, path, text):
        """Notes a mistake. path: keys from the root to the part that is wrong."""
        line = self.lines.of(path) if self.lines else None
        self.problems.append((line, text))
        self.wrong.update(tuple(path[:count]) for count in range(1, len(path) + 1))

    def tell_unknown(self, path, text):
        """Notes a key that is not known. The part around it is checked without the key."""
        self.problems.append((self.lines.of(path), text))
        self.unknown.add(path)

    def known_of(self, part, path):
        """A part of the matrix without keys that are not known."""
        return {key: value for key, value in part.items() if (*path, key) not in self.unknown}

    def tell_of_entry(self, entry, text):
        """A mistake of one of the kernels, which an axis may have made."""
        self.tell(("kernels", self.origin.get(entry, entry)), text)

    def tell_of_options(self, text):
        """A mistake on the command line."""
        self.problems.append((None, text))

    def mistakes(self):
        """Lines for people, in the order of the file."""
        found = sorted(set(self.problems), key=lambda one: (one[0] or 0, one[1]))
        return [text if line is None else f"{self.path}:{line}: {text}" for line, text in found]


def load(name):
    """(matrix with defaults, its text, its path). Raises Mistake."""
    source = read(name)
    if source.problems:
        raise Mistake(source.mistakes())
    return source.matrix, source.text, source.path


def read(name):
    """The Source of a matrix: a name or a path. Raises Mistake only where no part can be read."""
    path = find(name)
    source = Source(path, files.read_text(path, files.MATRIX_BYTES))
    given, node = bounded_yaml.parse(path, source.text)
    if not isinstance(given, dict):
        raise Mistake(f"{path}:1: not a matrix: expected keys and values")
    source.lines = Lines(node)
    source.problems += source.lines.wrong
    if any(not isinstance(key, str) for key in given):
        source.matrix = {**DEFAULTS, "systems": {}, "kernels": {}}
        return source
    hold_against(given, schema(), (), source)
    matrix = without_wrong(given, source)
    check_entries(matrix, source)
    check_names(given, matrix, source)
    if matrix.get("pilot"):
        check_pilot(matrix, source)
    for key in ("exclude", "include"):
        matrix[key] = axes.rules(matrix.get(key, []), source.origin)
    source.matrix = with_noise_floor({**DEFAULTS, **matrix}, source)
    return source


def without_wrong(given, source):
    """The parts of a matrix that nothing is wrong with."""
    found = {key: value for key, value in source.known_of(given, ()).items()
             if (key,) not in source.wrong or key in ("systems", "kernels", "exclude", "include")}
    for key in ("systems", "kernels"):
        parts = found.get(key)
        found[key] = {
            name: source.known_of(part, (key, name))
            for name, part in (parts.items() if isinstance(parts, dict) else ())
            if (key, name) not in source.wrong and isinstance(name, str)
        }
    for key in ("exclude", "include"):
        parts = found.get(key)
        found[key] = [part for number, part in enumerate(parts if isinstance(parts, list) else ())
                      if (key, number) not in source.wrong
                      and source.known_of(part, (key, number)) == part]
    return found


def check_entries(matrix, source):
    """Replaces the kernels of a matrix by an entry for each value of their axes, without wrong
    ones."""
    try:
        expanded, source.origin = axes.expanded(matrix)
    except Mistake as mistake:
        source.tell(("kernels",), str(mistake))
        matrix["kernels"] = {}
        return
    matrix["kernels"] = {}
    for entry, parameters in expanded["kernels"].items():
        kind, name = parameters["kernel"], source.origin[entry]
        path = ("kernels", name)
        source.wrong.discard(path)  # an earlier value of an axis
        hold_against(parameters, kernel_schema(kind), path, source)
        words = parameters.get("options", [])
        if kind != "program" and isinstance(words, list):
            for text in further_options.problems(kernels.of(kind), words):
                source.tell((*path, "options"), f"kernels.{name}.options: {text}")
        if path not in source.wrong:
            matrix["kernels"][entry] = source.known_of(parameters, path)


def check_pilot(matrix, source):
    wanted = pilot.settings(matrix)
    text = pilot.problem(wanted)
    if text is not None:
        source.tell(("pilot", "least"), text)


def with_noise_floor(matrix, source):
    """With a second baseline, if `noise_floor` says so."""
    if not matrix.get("noise_floor"):
        return matrix
    name = matrix.get("baseline")
    if name is None:
        source.tell(
            ("noise_floor",), "noise_floor: needs a baseline, which is compared with itself"
        )
    if name not in matrix["systems"]:
        return matrix
    systems = {**matrix["systems"], f"{name}{AGAIN}": matrix["systems"][name]}
    twin = {
        key: [
            *matrix[key],
            *(
                {**rule, "system": f"{name}{AGAIN}"}
                for rule in matrix[key]
                if rule.get("system") == name
            ),
        ]
        for key in ("exclude", "include")
    }
    return {**matrix, "systems": systems, **twin}


def hold_against(value, schema, base, source):
    """Tells of whatever the schema refuses."""
    checker = jsonschema.Draft202012Validator(schema, format_checker=SIZES)
    for error in checker.iter_errors(value):
        path = (*base, *error.absolute_path)
        where = ".".join(map(str, path)) or "the matrix"
        if error.validator == "additionalProperties":
            known = sorted(error.schema.get("properties", {}))
            for key in sorted(set(map(str, error.instance)) - set(known)):
                text = f"unknown key {key} in {where}{nearest(key, known)}"
                source.tell_unknown((*path, key), text)
        else:
            source.tell(path, f"{where}: {text_of(error)}")


def text_of(error):
    """Returns the text for an error of the schema."""
    if error.validator == "enum":
        choices = list(map(str, error.validator_value))
        return (
            f"unknown value {error.instance!r}: expected "
            f"{', '.join(choices)}{nearest(error.instance, choices)}"
        )
    if error.validator == "required":
        return error.message.replace("is a required property", "is missing")
    if error.validator == "pattern":
        return f"{error.instance!r}: expected letters, digits, '.', '_' and '-'"
    if error.validator == "const":
        return f"expected {error.validator_value}"
    if error.validator == "format" and error.cause is not None:
        return str(error.cause)
    return error.message


def check_names(given, matrix, source):
    """Names in `exclude`, `include` and `baseline` must be those of systems and kernels."""
    systems, entries = (
        [*map(str, given[key])] if isinstance(given.get(key), dict) else []
        for key in ("systems", "kernels")
    )
    known = {"system": systems, "kernel": [*source.origin, *entries]}
    rules = [(key, *one) for key in ("exclude", "include")
             for one in enumerate(given[key] if isinstance(given.get(key), list) else ())]
    for group, number, rule in rules:
        for key, names in known.items():
            name = rule.get(key) if isinstance(rule, dict) else None
            if isinstance(name, str) and not is_name_of(name, names, key, source):
                source.tell((group, number, key), f"{group}: no {key} {name}{nearest(name, names)}")
    name = matrix.get("baseline")
    if name is not None and name not in systems:
        source.tell(("baseline",), f"baseline: no system {name}{nearest(name, systems)}")


def is_name_of(name, names, key, source):
    """Whether a name is known, or may be that of an entry whose axes are wrong."""
    wrong = [path[1] for path in source.wrong if len(path) == 2 and path[0] == f"{key}s"]
    return name in names or any(name.startswith(f"{each}-") for each in wrong)


def digest(source):
    return hashlib.sha256(source.encode()).hexdigest()
