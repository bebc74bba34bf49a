"""The history of cairn bench: which runs belong together, and what few of them do not say."""

import json
import pathlib
import shutil
import tempfile
import unittest

import bench_case

bench_case.use_package()
from cairn_bench.page import page  # noqa: E402
from cairn_bench.results import history, store  # noqa: E402
from cairn_bench.results.machines import machine_of  # noqa: E402

ENVIRONMENT = {
    "host": "n1", "processor": "P 1", "processors": 2, "memory_bytes": 25276514304, "system": "s",
    "cairn": "cairn 1",
}


def run_of(name="r", environment=None, systems=None):
    systems = systems or {
        "cairn": {"given": {}, "mpi_version": "mpirun 4", "directory": {"type": "ext4"},
                  "pool_directory": {"type": "tmpfs"}},
    }
    return {
        "record": "run", "schema": 1, "run": name, "started": f"2026-02-01T00:00:00.{name}",
        "environment": {**ENVIRONMENT, **(environment or {})}, "systems": systems,
        "matrix": {"name": "t", "kernels": {"k": {}}, "systems": dict.fromkeys(systems, {})},
        "rounds": 3, "warmup": 0,
    }


def results(name, environment=None):
    access = {
        "access": "write", "bytes": 1 << 20, "transfer_bytes": 4096, "seconds": 1.0, "rate": 100.0,
        "rate_mib_s": 100.0, "unit": "MiB/s", "original_name": "", "first_done_s": None,
        "phases_s": {},
    }
    output = {"api": "", "parameters": {}, "hints": {}, "checks": [], "accesses": [access]}
    records = [
        {"record": "result", "cell": "0" * 16, "system": "cairn", "kernel": "k", "ranks": 1,
         "round": number, "warmup": False, "status": "ok", "errors": "", "wall_s": 1.0,
         "command": [], "environment": {}, "output": output}
        for number in range(3)
    ]
    return store.Results(run_of(name, environment), records, [], None)


class Machines(unittest.TestCase):
    def test_what_a_machine_is(self):
        self.assertEqual("P 1, 2 processors, 24 GiB, tmpfs over ext4, mpirun 4",
                         machine_of(run_of(), "cairn"))
        self.assertEqual("P 1, 2 processors, 24 GiB", machine_of(run_of()))
        for change in ({"processor": "P 2"}, {"processors": 4}, {"memory_bytes": 1 << 36}):
            self.assertNotEqual(machine_of(run_of()), machine_of(run_of(environment=change)))
        # The kernel of another boot reserves some more memory, on another node.
        same = {"host": "n2", "memory_bytes": 25276514304 - (16 << 20)}
        self.assertEqual(machine_of(run_of()), machine_of(run_of(environment=same)))
        for change, machine in (({"machine_name": "fritz"}, "fritz"),
                                ({"memory_bytes": None}, "P 1, 2 processors")):
            self.assertEqual(machine, machine_of(run_of(environment=change)))


class History(unittest.TestCase):
    def setUp(self):
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="cairn-bench-test-"))
        self.addCleanup(shutil.rmtree, self.scratch, ignore_errors=True)
        self.log = self.scratch / "history.jsonl"

    def past(self, earlier, mine):
        for number, environment in enumerate(earlier):
            history.append(self.log, results(str(number), environment))
        return history.of_run(results("9", mine), self.log)

    def test_runs_of_one_machine(self):
        past = self.past([{"host": "n1"}, {"host": "n2"}, {"processor": "P 2"}], {"host": "n3"})
        self.assertEqual({("k", "write", 1, "cairn")}, set(past))
        self.assertEqual(2, past["k", "write", 1, "cairn"].earlier)

    def test_lines_without_a_machine(self):
        """Earlier versions wrote none."""
        history.append(self.log, results("0"))
        line = json.loads(self.log.read_text("utf-8"))
        del line["machine"]
        self.log.write_text(json.dumps(line) + "\n", "utf-8")
        self.assertEqual({}, history.of_run(results("9"), self.log))

    def test_quarters_need_eight_runs(self):
        for count in (7, 8):
            self.log.unlink(missing_ok=True)
            past = self.past([{}] * count, {})
            self.assertEqual(count == 8, past["k", "write", 1, "cairn"].has_quarters)
            shown = page.make(results("9"), past).split("Against earlier runs")[1]
            self.assertEqual(count == 8, "in the lowest quarter of 8 earlier runs" in shown)
            self.assertEqual(count == 7, "after 7 earlier runs" in shown)
            self.assertEqual(count == 8, 'class="box"' in shown)
            self.assertIn(f"{count + 1} runs", shown)


if __name__ == "__main__":
    unittest.main()
