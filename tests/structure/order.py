"""Who may see whom (src/README.md): the include law and the use law ask the same function."""

import re

import structure

# Libraries for the command and the tests; what is preloaded into programs brings none of them.
HEAVY = re.compile(r"^(fmt|CLI|yaml-cpp|nlohmann|iostream$|fstream$|sstream$|regex$|filesystem$)")


def places_of(parts):
    """Each folder of structure.FOLDERS that holds a path below src/ or adapters/, to the folder in
    it where the path lies; None: in none. A path may lie in several, one in the other."""
    places = {}
    for outer in structure.FOLDERS:
        depth = outer.count("/") + 1
        if "/".join(parts[:depth]) == outer:
            places[outer] = parts[depth] if len(parts) > depth + 1 else None
    return places


def row_of(outer, folder):
    """In which row of structure.FOLDERS[outer] the folder stands, or None."""
    rows = [row for row, names in enumerate(structure.FOLDERS[outer]) if folder in names]
    return rows[0] if rows else None


def order_refused(parts, target):
    """None, or why a file at `parts` (below src/ or adapters/) must not include `target`."""
    others = places_of(target.split("/"))
    for outer, own in places_of(parts).items():
        to = others.get(outer, own)
        if own == to:
            continue
        row, to_row = row_of(outer, own), row_of(outer, to)
        if to_row is None:
            return f"{to} is not a folder of {outer}"
        if row is not None and to_row >= row:
            return f"{own} does not stand above {to}"
    return None


def allowed(place, quoted, target):
    """None, or why a file at `place` must not include `target`."""
    parts = place.parts
    is_test = place.stem.endswith("_test")
    first = target.split("/")[0]
    is_loader = parts[:4] == ("src", "cluster", "mpi", "loader")
    is_transport = parts[:3] == ("src", "cluster", "mpi") and not is_loader
    if target == "mpi.h":
        if (is_transport or parts[:3] == ("adapters", "mpiio", "backend") or parts[0] == "examples"
                or parts[:2] in (("tests", "mpi"), ("tests", "cluster"), ("bench", "mpi"))):
            return None
        return "mpi.h is for src/cluster/mpi and adapters/mpiio/backend only"
    # The transport is built once for each MPI and is not a part of libcairn; its loader is.
    if is_loader or (parts[:2] == ("src", "capi") and target.startswith("cluster/mpi/loader/")):
        if quoted and first != "cairn" and not target.startswith("cluster/mpi/loader/"):
            return "the loader of the transport sees include/cairn and its own folder"
        return "too heavy for what is loaded into other people's programs" if HEAVY.match(
            target) else None
    if is_transport:
        if target == "base/unused_number.h":  # one inline function, which needs no library
            return None
        if quoted and first != "cairn" and not target.startswith("cluster/mpi/"):
            return "the transport sees include/cairn and its own folder"
        reason = None if is_test else order_refused(parts[1:], target)
        if reason:
            return reason
    elif target.startswith("cluster/mpi/"):
        if parts[:2] == ("adapters", "mpiio") or parts[0] in ("bench", "tests"):
            return None
        return "the transport is for adapters of MPI programs"

    # Texts are shown the same everywhere; API and records have the same kinds and types.
    if target in ("cairn/adapter/printable.h", "cairn/kinds.def", "cairn/types.def"):
        return None
    if target.startswith("cairn/adapter/"):
        if (
            parts[0] in ("cli", "bindings", "service", "examples")
            or parts[:2] == ("include", "cairn")
            and parts[2] != "adapter"
        ):
            return "include/cairn/adapter is for adapters and may change between releases"
    if parts[0] == "src" and not is_transport:
        layer = parts[1]
        if first in structure.LAYERS:
            if structure.LAYERS.index(first) > structure.LAYERS.index(layer):
                return f"{layer} stands above {first}"
            return None if is_test else order_refused(parts[1:], target)
        if first == "support" and is_test:
            return None
        if first == "cairn":
            return None if layer == "capi" else "the public headers belong to capi"
        if quoted:
            return "inside src/, write the folder: \"folder/header.h\""
    elif parts[0] == "adapters":
        if first in structure.LAYERS and "/" in target and first != parts[1]:
            return "an adapter sees include/cairn and its own folder"
        if parts[1] == "engine" and quoted and first not in ("cairn", "engine"):
            return "the adapters' engine sees include/cairn and its own folder"
        if quoted and first not in ("cairn", "engine", parts[1]):
            return (
                "an adapter sees engine and its own folder; what it asks of another is in"
                " engine/paths.h"
            )
        if target.startswith("../") or first in ("src", "cli"):
            return "an adapter sees include/cairn and its own folder"
        reason = None if target.endswith(".def") else order_refused(parts[1:], target)
        if reason:
            return reason
    elif parts[0] in ("cli", "bindings", "service", "examples"):
        if (first in structure.LAYERS and "/" in target) or first in ("src", "adapters"):
            return f"{parts[0]} sees include/cairn and its own folder"
        if "../" in target:
            return f"{parts[0]} sees include/cairn and its own folder"
        if parts[0] == "cli" and quoted and first not in ("cairn", "posix"):
            return order_refused(parts, "cli/" + target)
    elif parts[:3] == ("bench", "mpi", "kernels") and row_of("bench/mpi/kernels",
                                                               first) is not None:
        return order_refused(parts, "bench/mpi/kernels/" + target)
    elif parts[0] == "bench" and row_of("bench", first) is not None:
        return None if is_test else order_refused(parts, "bench/" + target)
    elif parts[0] == "include":
        if quoted and first != "cairn":
            return "a public header includes public headers only"
        if not target.endswith(".h") and first != "cairn":
            return "a public header is C"
    if parts[0] in ("src", "adapters", "include") and not is_test and HEAVY.match(target):
        return "too heavy for what is loaded into other people's programs"
    return None
