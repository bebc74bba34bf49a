"""A matrix file, held against its schema; mistakes are told with line and nearest name."""

import copy
import difflib
import functools
import hashlib
import json
import pathlib

import jsonschema
import yaml

from .. import files
from ..errors import Mistake
from . import axes, bounded_yaml, kernels, pilot
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


class Lines:
    """Where each key and value of a document stands."""

    def __init__(self, node):
        self.lines = {}
        self.doubled = []
        self._walk(node, ())

    def _walk(self, node, path):
        self.lines.setdefault(path, node.start_mark.line + 1)
        if isinstance(node, yaml.MappingNode):
            seen = set()
            for key, value in node.value:
                if key.value in seen:
                    self.doubled.append((key.start_mark.line + 1, key.value))
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


def load(name):
    """(matrix with defaults, its text, its path). Raises Mistake."""
    path = find(name)
    source = files.read_text(path, files.MATRIX_BYTES)
    matrix, node = bounded_yaml.parse(path, source)
    if not isinstance(matrix, dict):
        raise Mistake(f"{path}:1: not a matrix: expected keys and values")
    lines = Lines(node)
    problems = [(line, f"key {key} stands twice") for line, key in lines.doubled]
    problems += held_against(matrix, schema(), (), lines)
    origin = {}
    if not problems:
        matrix, origin = axes.expanded(matrix)
    for entry, parameters in matrix["kernels"].items() if not problems else ():
        problems += held_against(
            parameters, kernel_schema(parameters["kernel"]), ("kernels", origin[entry]), lines
        )
    if not problems:
        problems = names_that_match(matrix, origin, lines)
    if problems:
        raise Mistake([f"{path}:{line}: {text}" for line, text in sorted(set(problems))])
    for key in ("exclude", "include"):
        matrix[key] = axes.rules(matrix.get(key, []), origin)
    return completed({**DEFAULTS, **matrix}), source, path


def completed(matrix):
    """With what `pilot` and `noise_floor` say."""
    if matrix.get("pilot"):
        pilot.check(pilot.settings(matrix))
    if matrix.get("noise_floor"):
        name = matrix.get("baseline")
        if name is None:
            raise Mistake("noise_floor: needs a baseline, which is compared with itself")
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
        matrix = {**matrix, "systems": systems, **twin}
    return matrix


def held_against(value, schema, base, lines):
    """[(line, text)] for whatever the schema refuses."""
    found = []
    for error in jsonschema.Draft202012Validator(schema).iter_errors(value):
        path = (*base, *error.absolute_path)
        where = ".".join(map(str, path)) or "the matrix"
        if error.validator == "additionalProperties":
            known = sorted(error.schema.get("properties", {}))
            for key in sorted(set(map(str, error.instance)) - set(known)):
                found.append(
                    (lines.of((*path, key)), f"unknown key {key} in {where}{nearest(key, known)}")
                )
        elif error.validator == "enum":
            choices = list(map(str, error.validator_value))
            found.append(
                (
                    lines.of(path),
                    f"{where}: unknown value {error.instance!r}: expected "
                    f"{', '.join(choices)}{nearest(error.instance, choices)}",
                )
            )
        elif error.validator == "required":
            found.append(
                (
                    lines.of(path),
                    f"{where}: {error.message.replace('is a required property', 'is missing')}",
                )
            )
        elif error.validator == "const":
            found.append((lines.of(path), f"{where}: expected {error.validator_value}"))
        else:
            found.append((lines.of(path), f"{where}: {error.message}"))
    return found


def names_that_match(matrix, origin, lines):
    """Names in `exclude`, `include` and `baseline` must be those of systems and kernels."""
    found = []
    known = {"system": list(matrix["systems"]), "kernel": [*origin, *origin.values()]}
    rules = [(key, *one) for key in ("exclude", "include")
             for one in enumerate(matrix.get(key, []))]
    for group, number, entry in rules:
        for key, names in known.items():
            name = entry.get(key)
            if name is not None and name not in names:
                found.append(
                    (
                        lines.of((group, number, key)),
                        f"{group}: no {key} {name}{nearest(name, names)}",
                    )
                )
    name = matrix.get("baseline")
    if name is not None and name not in matrix["systems"]:
        found.append(
            (
                lines.of(("baseline",)),
                f"baseline: no system {name}{nearest(name, list(matrix['systems']))}",
            )
        )
    return found


def digest(source):
    return hashlib.sha256(source.encode()).hexdigest()
