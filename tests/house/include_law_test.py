"""The folder tree is the architecture: who may include whom (src/README.md)."""

import pathlib
import re

import house

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.M)
# Libraries for the command and the tests; what is preloaded into programs brings none of them.
HEAVY = re.compile(r"^(fmt|CLI|yaml-cpp|nlohmann|iostream$|fstream$|sstream$|regex$|filesystem$)")


def rooms_of(parts):
    """Each folder with rooms that holds a path below src/ or adapters/, to the room there; None: in
    none. A room may have rooms itself, so a path may lie in several."""
    rooms = {}
    for folder in house.ROOMS:
        depth = folder.count("/") + 1
        if "/".join(parts[:depth]) == folder:
            rooms[folder] = parts[depth] if len(parts) > depth + 1 else None
    return rooms


def room_row(folder, room):
    """In which row of house.ROOMS the room stands, or None."""
    rows = [row for row, rooms in enumerate(house.ROOMS[folder]) if room in rooms]
    return rows[0] if rows else None


def room_refused(parts, target):
    """None, or why a file at `parts` (below src/ or adapters/) must not include `target`."""
    others = rooms_of(target.split("/"))
    for folder, own in rooms_of(parts).items():
        to = others.get(folder, own)
        if own == to:
            continue
        row, to_row = room_row(folder, own), room_row(folder, to)
        if to_row is None:
            return f"{to} is not a room of {folder}"
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
        reason = None if is_test else room_refused(parts[1:], target)
        if reason:
            return reason
    elif target.startswith("cluster/mpi/"):
        if parts[:2] == ("adapters", "mpiio") or parts[0] in ("bench", "tests"):
            return None
        return "the transport is for adapters of MPI programs"

    if target == "cairn/adapter/printable.h":  # how texts are shown: the same everywhere
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
        if first in house.LAYERS:
            if house.LAYERS.index(first) > house.LAYERS.index(layer):
                return f"{layer} stands above {first}"
            return None if is_test else room_refused(parts[1:], target)
        if first == "support" and is_test:
            return None
        if first == "cairn":
            return None if layer == "capi" else "the public headers belong to capi"
        if quoted:
            return "inside src/, write the folder: \"folder/header.h\""
    elif parts[0] == "adapters":
        if first in house.LAYERS and "/" in target and first != parts[1]:
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
        reason = None if target.endswith(".def") else room_refused(parts[1:], target)
        if reason:
            return reason
    elif parts[0] in ("cli", "bindings", "service", "examples"):
        if (first in house.LAYERS and "/" in target) or first in ("src", "adapters"):
            return f"{parts[0]} sees include/cairn and its own folder"
        if "../" in target:
            return f"{parts[0]} sees include/cairn and its own folder"
        if parts[0] == "cli" and quoted and first not in ("cairn", "posix"):
            return room_refused(parts, "cli/" + target)
    elif parts[0] == "bench" and room_row("bench", first) is not None:
        return None if is_test else room_refused(parts, "bench/" + target)
    elif parts[0] == "include":
        if quoted and first != "cairn":
            return "a public header includes public headers only"
        if not target.endswith(".h") and first != "cairn":
            return "a public header is C"
    if parts[0] in ("src", "adapters", "include") and not is_test and HEAVY.match(target):
        return "too heavy for what is loaded into other people's programs"
    return None


def check(name, source):
    place = pathlib.Path(name)
    if place.parts[0] == "src" and len(place.parts) > 2 and place.parts[1] not in house.LAYERS:
        return [f"{place}: src/{place.parts[1]} has no place in the order of layers"]
    if place.parts[0] in ("src", "adapters", "cli") and place.suffix in (".h", ".cc"):
        below = place.parts if place.parts[0] == "cli" else place.parts[1:]
        for folder, room in rooms_of(below).items():
            if room_row(folder, room) is None and place.stem != "main":
                return [f"{place}: lies in no room of {folder}"]
    problems = []
    for match in INCLUDE.finditer(source):
        reason = allowed(place, match.group(1) == '"', match.group(2))
        if reason:
            line = source.count("\n", 0, match.start()) + 1
            problems.append(f"{place}:{line}: includes {match.group(2)}: {reason}")
    return problems


house.must_find(check, [
    ("src/base/a.cc", '#include "persist/core/word.h"\n'),
    ("src/media/a.h", "  #  include <capi/x.h>\n"),
    ("src/media/a.h", '#include "map.h"\n'),
    ("src/media/a.h", '#include "cairn/cairn.h"\n'),
    ("src/media/a.cc", '#include "support/fresh_pool.h"\n'),
    ("src/odd/a.h", "\n"),
    ("src/checkpoint/a.h", "\n"),
    ("src/checkpoint/odd/a.h", "\n"),
    ("src/checkpoint/layout/a.h", '#include "checkpoint/store/slot.h"\n'),
    ("src/checkpoint/restart/a.cc", '#include "checkpoint/redundancy/domains.h"\n'),
    ("src/media/a.cc", "#include <mpi.h>\n"),
    ("src/cluster/mpi/a.cc", "\n"),
    ("src/cluster/mpi/ranks/a.cc", '#include "cluster/job.h"\n'),
    ("src/cluster/mpi/ranks/a.cc", '#include "cluster/mpi/session/session.h"\n'),
    ("src/cluster/a.cc", '#include "cluster/mpi/session/session.h"\n'),
    ("src/capi/core/a.cc", '#include "cluster/mpi/session/session.h"\n'),
    ("src/cluster/mpi/loader/a.cc", '#include <mpi.h>\n'),
    ("src/cluster/mpi/loader/a.cc", '#include "cluster/mpi/session/session.h"\n'),
    ("src/media/a.cc", "#include <iostream>\n"),
    ("adapters/posix/a.cc", '#include "file/map.h"\n'),
    ("adapters/posix/a.cc", '#include "../../src/file/map.h"\n'),
    ("adapters/mpiio/a.cc", '#include "posix/job/job_path.h"\n'),
    ("adapters/engine/a.cc", '#include "posix/fd/table.h"\n'),
    ("adapters/posix/a.cc", "\n"),
    ("adapters/mpiio/backend/job/a.cc", '#include "mpiio/backend/file/access.h"\n'),
    ("adapters/posix/fd/a.cc", '#include "posix/path/lookup.h"\n'),
    ("adapters/posix/fd/a.cc", '#include "posix/odd/lookup.h"\n'),
    ("cli/a.cc", '#include "pool/pool.h"\n'),
    ("include/cairn/cairn.h", "#include <cstdint>\n"),
    ("include/cairn/cover.h", '#include "cairn/adapter/shared.h"\n'),
    ("cli/text/a.cc", "#include <cairn/adapter/shared.h>\n"),
    ("cli/a.cc", "#include <cairn/cairn.h>\n"),
    ("cli/text/a.cc", '#include "commands/command_line.h"\n'),
    ("cli/text/a.cc", '#include "odd/a.h"\n'),
    ("bench/loop/a.cc", '#include "core/rows.h"\n'),
])
house.must_accept(
    check,
    [("cli/text/a.cc", "#include <cairn/adapter/printable.h>\n"),
     ("src/base/a.cc", '#include "cairn/adapter/printable.h"\n'),
     ("src/media/a.cc", '#include "base/status.h"\n#include "media/media.h"\n#include <vector>\n'),
     ("src/capi/core/a.cc", '#include "cairn/cairn.h"\n#include "file/map.h"\n'),
     ("src/capi/core/a.cc", '#include "checkpoint/restart/plan.h"\n'),
     ("src/checkpoint/store/a.cc", '#include "checkpoint/array/box.h"\n#include "file/map.h"\n'),
     ("src/checkpoint/store/a.cc", '#include "checkpoint/store/slot.h"\n'),
     ("src/capi/core/a.cc", '#include "cluster/mpi/loader/load.h"\n'),
     ("src/cluster/mpi/session/a.cc", '#include <mpi.h>\n#include "cairn/adapter/shared.h"\n'),
     ("src/cluster/mpi/session/a.cc", '#include "cluster/mpi/ranks/roster.h"\n'),
     ("adapters/mpiio/backend/job/a.cc", '#include "cluster/mpi/session/session.h"\n'),
     ("src/media/a_test.cc", "#include <gtest/gtest.h>\n#include <filesystem>\n"),
     ("src/checkpoint/layout/a_test.cc",
      '#include "checkpoint/store/slot.h"\n#include "support/fresh_pool.h"\n'),
     ("adapters/posix/fd/a.cc",
      '#include "posix/fd/table.h"\n#include "cairn/cairn.h"\n#include <unistd.h>\n'),
     ("adapters/posix/path/a.cc", '#include "engine/attach.h"\n#include "posix/fd/table.h"\n'),
     ("adapters/posix/core/a.cc", '#include "posix/calls.def"\n'),
     ("bench/core/a.cc", '#include "loop/a.h"\n#include "cairn/cairn.h"\n#include "file/map.h"\n'),
     ("bench/mpi/kernels/a.cc", '#include "report.h"\n'),
     ("cli/main.cc", '#include "commands/command_line.h"\n'),
     ("cli/runs/a.cc", '#include <CLI/CLI.hpp>\n#include <cairn/cairn.h>\n#include "text/a.h"\n'),
     ])

found = []
sources = house.files(".h", ".cc", ".c", ".def", ".inc")
for name in sources:
    found += check(str(name), house.text(name))
house.verdict(found, f"{len(sources)} files keep the include law")
