"""The page and the tables of records that somebody else has written: no text of a record becomes
HTML, and none reaches a terminal with a character that controls it. Each leaf is tried in turn."""

import collections
import contextlib
import copy
import html.parser
import io
import json
import pathlib
import shutil
import tempfile
import unittest

import bench_case
from bench_case import PACKAGE

bench_case.use_package()
from cairn_bench import command_line, terminal  # noqa: E402
from cairn_bench.results import history  # noqa: E402
from cairn_bench.run import slurm  # noqa: E402
from cairn_bench.errors import Mistake  # noqa: E402

EXAMPLE = PACKAGE.parents[1] / "docs/results/example/results.jsonl"
MARK = (
    "'><img src=x onerror=alert(1)>\"</title><script>evil</script>&"
    "\x1b[31m\r\n\x7f\x9b2J\u061c\u200b\u200f\u2028\u202e\u2066\U000e0041\ufeffkram"
)
TAGS = set(
    "html head meta title style body h1 h2 h3 p div table thead tbody tr th td small span a b "
    "details summary pre dl dt dd ul li svg g line rect text tspan circle polyline path".split()
)
ATTRIBUTES = set(
    "lang charset name content class tabindex scope title viewbox role aria-label x y x1 x2 y1 y2 "
    "width height cx cy r fill stroke stroke-width stroke-dasharray fill-opacity points d "
    "text-anchor data-label colspan id href".split()
)
# Beside schema and run, which are no texts for people.
FREE = ("environment", "hints", "phases_s", "latency_ns", "facts", "systems", "kernels")


class Elements(html.parser.HTMLParser):
    def __init__(self, page):
        super().__init__()
        self.tags, self.attributes, self.links = set(), set(), set()
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.links |= {value for name, value in attrs if name == "href"}


def seed():
    """Some records of the example, with what it lacks: every part of the page has something."""
    with open(EXAMPLE, encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    systems = ("disk", "cairn")
    results = [
        record
        for record in records
        if record["record"] == "result" and record["kernel"] == "ior-shared"
        and record["round"] < 3 and record["system"] in systems
    ]
    for record in results:
        record["output"]["hints"] = {"cb_nodes": "2"}
        for access in record["output"]["accesses"]:
            access["latency_ns"] = {"p50": 900.0, "p90": 1e4, "p99": 2e4, "p99.9": 1e6}
            access["transfer_bytes"] = 4096
    more = copy.deepcopy(results)
    for record in more:
        record["ranks"], record["cell"] = 4, "0" * 16
    failed = copy.deepcopy(results[0])
    failed.update(kernel="hacc-fpp", status="failed", errors="ior: rank 0: broke", output=None)
    read = copy.deepcopy([record for record in results if record["system"] == "disk"])
    for record in read:
        record.update(kernel="bdcats", reads={"after": "drop", "how": "page cache dropped",
                                              "file_bytes": 4096, "cached_bytes": 0},
                      before=[{"what": "write", "command": ["ior", "-w"], "wall_s": 1.0}])
    run, end = records[0], {**records[-1], "reason": "interrupted"}
    kernels = ("ior-shared", "hacc-fpp", "bdcats")
    for within, used in ((run["matrix"]["kernels"], kernels), (run["matrix"]["systems"], systems),
                         (run["systems"], systems)):
        for name in set(within) - set(used):
            del within[name]
    run["quick"] = True
    for system in run["systems"].values():
        system["memory_before_write"] = "used"
    run["left_out"] = ["vpic on disk: no disk"]
    run["sizing"] = {"target_s": 60, "scale": 0.5, "predicted_s": 50.0, "at_full_size_s": 100.0}
    run["matrix"]["about"] = "an example"
    both = {"schema": 1, "run": run["run"]}
    plan = {
        **both, "record": "plan", "rounds": 3, "deviation": 0.1, "widest": "write on disk",
        "pilot": {"rounds": 2, "precision": 0.1, "least": 3, "most": 9},
    }
    row = {
        "group": "overwrite", "what": "4 KiB", "against": "memcpy", "unit": "us", "median": 0.9,
        "low": 0.8, "high": 1.0, "pairs": 20, "at_least": 0.7, "verdict": "holds", "note": "a",
    }
    judged = {
        **both, "record": "judged", "table": "core", "started": run["started"],
        "facts": {"cairn": "cairn 1", "machine": "a machine"}, "rows": [row],
        "not_measured": [{"group": "huge pages", "what": "4 KiB", "why": "there are none"}],
    }
    limits = [r for r in records if r["record"] == "limit" and r["round"] < 3]
    return [run, *results, *more, failed, *read, *limits, plan, judged, end]


def leaves(value, path=()):
    """(path, its form: without numbers of lists) of all texts and numbers."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield from leaves(each, (*path, key))
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield from leaves(each, (*path, number))
    elif value is not None:
        yield path, tuple(part for part in path if not isinstance(part, int))


def by_form(records):
    """{(kind, form): [(number of the record, path)]}"""
    found = collections.defaultdict(list)
    for number, record in enumerate(records):
        for path, form in leaves(record):
            found[record["record"], form].append((number, path))
    return found


def put(records, places, text):
    """The records with the text in these places."""
    changed = copy.deepcopy(records)
    for number, path in places:
        below = changed[number]
        for part in path[:-1]:
            below = below[part]
        below[path[-1]] = text
    return changed


def names(value, is_free=False):
    """Keys that are names: of systems, kernels, phases, variables."""
    found = set()
    if isinstance(value, dict):
        for key, each in value.items():
            found |= ({key} if is_free else set()) | names(each, key in FREE)
    elif isinstance(value, list):
        found = set().union(*map(names, value))
    return found


def renamed(value, before, after):
    if isinstance(value, dict):
        return {after if key == before else key: renamed(each, before, after)
                for key, each in value.items()}
    if isinstance(value, list):
        return [renamed(each, before, after) for each in value]
    return after if value == before else value


class HostileRecords(unittest.TestCase):
    def setUp(self):
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="cairn-bench-test-"))
        self.addCleanup(shutil.rmtree, self.scratch, ignore_errors=True)
        (self.scratch / "run").mkdir()
        self.results = self.scratch / "run/results.jsonl"
        self.records = seed()

    def write(self, records):
        self.results.write_text("".join(map("{}\n".format, map(json.dumps, records))), "utf-8")

    def shown(self, records):
        """(exit code, page, what a terminal got)"""
        page = self.results.parent / "report.html"
        page.unlink(missing_ok=True)
        self.write(records)
        told = io.StringIO()
        with contextlib.redirect_stdout(told), contextlib.redirect_stderr(told):
            code = command_line.main(["report", str(self.results.parent)])
            command_line.main(["compare", f"{self.results}:disk", f"{self.results}:cairn"])
        return code, page.read_text("utf-8") if page.exists() else "", told.getvalue()

    def check(self, records, what):
        """Whether the text is shown at all."""
        code, page, told = self.shown(records)
        self.assertIn(code, (0, 1, 2), (what, told))
        for text in (page, told):
            hidden = set(terminal.HIDDEN_CHARACTER.findall(text)) - {"\n"}
            self.assertEqual(set(), hidden, what)
        self.assertNotIn("<img", page, what)
        elements = Elements(page)
        self.assertLessEqual(elements.tags, TAGS, what)
        self.assertLessEqual(elements.attributes, ATTRIBUTES, what)
        for link in elements.links:
            self.assertRegex(link, r"\A#row-\d+\Z")
        return "kram" in page

    def test_the_seed_has_all_parts(self):
        _, page, told = self.shown(self.records)
        for part in ("Rates", "Cairn against the others", "At a glance",
                     "What each system gives", "Limits", "Latency", "By number of",
                     "Judged tables", "Every round", "Not measured", "Left out", "Rounds: 3"):
            self.assertIn(part, page)
        self.assertLessEqual(Elements(page).tags, TAGS)
        self.assertIn("Ratios: paired", told)

    def test_every_leaf(self):
        shown = set()
        forms = by_form(self.records)
        for (kind, form), places in forms.items():
            if self.check(put(self.records, places, MARK), (kind, form)):
                shown.add((kind, *form))
        for each in (
            ("run", "systems", "cairn", "memory_before_write"),
            ("run", "environment", "processors"), ("run", "environment", "processor"),
            ("run", "matrix", "about"), ("run", "left_out"), ("end", "reason"),
            ("result", "status"), ("result", "command"), ("result", "output", "api"),
            ("result", "output", "accesses", "unit"), ("result", "reads", "how"),
            ("judged", "rows", "verdict"), ("judged", "not_measured", "why"), ("plan", "widest"),
        ):
            self.assertIn(each, shown)
        self.assertGreater(len(shown), 40)

    def test_every_name(self):
        found = names(self.records)
        self.assertLessEqual({"disk", "ior-shared", "cb_nodes", "transfer", "machine"}, found)
        schema = {"given", "mpi", "mpi_version", "directory", "host", "system", "processor",
                  "processors", "memory_bytes", "kernel", "cairn"}
        shown = [self.check(renamed(self.records, each, MARK), each)
                 for each in sorted(found - schema)]
        self.assertGreater(sum(shown), 10)

    def test_the_history(self):
        self.write(self.records)
        log = history.beside(self.results.parent)
        lines = history.lines_of(command_line.store.load(self.results))
        past = [{**line, "run": "before", "started": "2020-01-01T00:00:00"} for line in lines]
        for key in past[0]:
            changed = [{**line, key: MARK} for line in past]
            log.write_text("".join(map("{}\n".format, map(json.dumps, changed))), "utf-8")
            self.check(self.records, key)
        log.write_text("".join(map("{}\n".format, map(json.dumps, past))), "utf-8")
        self.assertIn("Against earlier runs", self.shown(self.records)[1])

    def test_a_number_that_is_a_text(self):
        """The error names the place, and no page is made."""
        places = by_form(self.records)["result", ("output", "accesses", "seconds")]
        code, page, told = self.shown(put(self.records, places, "soon"))
        self.assertEqual((1, ""), (code, page))
        self.assertIn("results.jsonl:2: not a record of cairn bench: "
                      "result.output.accesses.0.seconds: 'soon': expected number", told)

    def test_an_error_that_names_a_file(self):
        told = io.StringIO()
        with contextlib.redirect_stdout(told), contextlib.redirect_stderr(told):
            command_line.main(["report", f"no\x1b[31m\x9b{self.scratch}"])
            with self.assertRaises(SystemExit):
                command_line.main(["report", "a", "--no\x1b[31m"])
        self.assertNotIn("\x1b", told.getvalue())
        self.assertIn("no\\x1b[31m\\xc2\\x9b", told.getvalue())

    def test_the_batch_script(self):
        """A name stays within its word and its line."""
        name = 'a $(touch pwned) `b` "c" %j'
        output = pathlib.Path(f"/nowhere/{name}")
        text = slurm.script(name, ["m'; touch pwned"], output, [])
        self.assertIn('#SBATCH --job-name="cairn-bench-a $(touch pwned) `b` \\"c\\" %j"\n', text)
        self.assertIn('%%j.%j.log"\n', text)
        self.assertIn("'m'\"'\"'; touch pwned'", text)
        with self.assertRaises(Mistake):
            slurm.script("a\n#SBATCH --wrap=b", ["m"], output, [])


if __name__ == "__main__":
    unittest.main()
