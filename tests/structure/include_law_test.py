"""The folder tree is the architecture: who may include whom (src/README.md)."""

import pathlib
import re

import structure
from order import allowed, places_of, row_of

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.M)


def check(name, source):
    place = pathlib.Path(name)
    if place.parts[0] == "src" and len(place.parts) > 2 and place.parts[1] not in structure.LAYERS:
        return [f"{place}: src/{place.parts[1]} has no place in the order of layers"]
    if place.parts[0] in ("src", "adapters", "cli") and place.suffix in (".h", ".cc"):
        below = place.parts if place.parts[0] == "cli" else place.parts[1:]
        for outer, folder in places_of(below).items():
            if row_of(outer, folder) is None and place.stem != "main":
                return [f"{place}: lies in no folder of {outer}"]
    problems = []
    for match in INCLUDE.finditer(source):
        reason = allowed(place, match.group(1) == '"', match.group(2))
        if reason:
            line = source.count("\n", 0, match.start()) + 1
            problems.append(f"{place}:{line}: includes {match.group(2)}: {reason}")
    return problems


structure.must_find(check, [
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
    ("cli/text/a.cc", '#include "commands/command.h"\n'),
    ("cli/text/a.cc", '#include "odd/a.h"\n'),
    ("bench/loop/a.cc", '#include "core/rows.h"\n'),
    ("bench/mpi/kernels/files/a.cc", '#include "parts/b.h"\n'),
    ("bench/mpi/kernels/common/a.h", '#include "files/file.h"\n'),
])
structure.must_accept(
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
     ("bench/mpi/kernels/a.cc", '#include "common/report.h"\n#include "parts/b.h"\n'),
     ("bench/mpi/kernels/parts/a.cc", '#include "files/file.h"\n#include "../../stream.h"\n'),
     ("cli/main.cc", '#include "program/command_line.h"\n'),
     ("cli/runs/a.cc", '#include <CLI/CLI.hpp>\n#include <cairn/cairn.h>\n#include "text/a.h"\n'),
     ])

found = []
sources = structure.files(".h", ".cc", ".c", ".def", ".inc")
for name in sources:
    found += check(str(name), structure.text(name))
structure.verdict(found, f"{len(sources)} files keep the include law")
