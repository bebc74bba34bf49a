"""The page over simulated results: what stands at its top, order, marks, reasons and colours, and
the figures for papers, which follow the same rules."""

import html
import json
import pathlib
import re
import shutil
import tempfile
import unittest

import bench_case

bench_case.use_package()
import simulated_run  # noqa: E402
from cairn_bench.page import claims, colours, figure_files, headline, page  # noqa: E402
from cairn_bench.results import figures, store, summary  # noqa: E402

SYSTEMS, KERNELS = list(simulated_run.SYSTEMS), list(simulated_run.KERNELS)
CELL = re.compile(r'<td data-label="([^"]*)"[^>]*>(.*?)</td>', re.S)
NUMBER_RANGE = re.compile(r"\([0-9.]+\.\.[0-9.inf]+\)")


def text_of(part):
    return html.unescape(re.sub(r"<[^>]*>", " ", part))


class Page:
    """A page of simulated results, in parts."""

    def __init__(self, directory, **more):
        path = pathlib.Path(directory) / "results.jsonl"
        simulated_run.write(path, **more)
        self.results = store.load(path)
        self.found = figures.Figures(self.results)
        self.text = page.make(self.results)

    def section(self, title):
        return self.text.split(f"<h2>{title}</h2>")[1].split("<h2>")[0]

    def lines(self, part, kind):
        """[(name, {column: HTML})] of the first table of a kind."""
        table = re.search(rf'<table class="{kind}">.*?<tbody>(.*?)</tbody>', part, re.S).group(1)
        found = []
        for line in table.split("<tr>")[1:]:
            name = re.match(r'<th scope="row">(.*?)</th>', line, re.S).group(1)
            found.append((text_of(name.split("<small>")[0]), dict(CELL.findall(line))))
        return found

    def rates(self):
        """{(row, ranks): {system: HTML of the cell}} of the overview, in its order."""
        part = self.section("What each system gives")
        table = re.search(r'<table class="rates">.*?<tbody>(.*?)</tbody>', part, re.S).group(1)
        found = {}
        for line in table.split("<tr>")[1:]:
            name, ranks = re.search(r'">([^<]*)</a><small>(\d+) ranks', line).groups()
            cells = {key.split(" ")[0]: value for key, value in CELL.findall(line)}
            found[name, int(ranks)] = cells
        return found


class PageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = pathlib.Path(tempfile.mkdtemp(prefix="cairn-bench-test-"))
        cls.addClassCleanup(shutil.rmtree, cls.scratch, ignore_errors=True)
        cls.page = Page(cls.scratch)
        cls.few = Page(cls.scratch, rounds=2, quick=True)

    def test_rates_come_first(self):
        titles = re.findall(r"<h2>(.*?)</h2>", self.page.text)
        self.assertEqual(
            ["Rates", "Cairn against the others", "What each system gives", "At a glance"],
            titles[:4],
        )
        rates = self.page.section("Rates")
        for access in ("write", "read"):
            self.assertIn(f'aria-label="Rates of {access}, zeta-fpp, 4 ranks"', rates)
        # Both charts have one axis, and each bar its value.
        self.assertEqual(1, len(set(re.findall(r'">(\d+) MiB/s</text>', rates))))
        self.assertEqual(2 * len(SYSTEMS), rates.count('<rect class="rate'))
        self.assertEqual(4, rates.count('<rect class="rate cairn"'))
        # What another MPI has no part in is no rate of ROMIO.
        through = re.findall(r'start">([\w-]+)<tspan class="axis"> [^<]*, through POSIX<', rates)
        self.assertEqual(["romio", "romio"], through)

    def test_rows_are_in_the_matrix_s_order(self):
        """The records are not."""
        rates = self.page.rates()
        expected = [
            (f"{kernel} {access}", ranks)
            for kernel in KERNELS
            for access in simulated_run.KERNELS[kernel][3]
            for ranks in (2, 4)
        ]
        self.assertEqual(expected, list(rates))
        for cells in rates.values():
            self.assertEqual(SYSTEMS, list(cells))
        titles = re.findall(r'<h3 id="row-(\d+)">(.*?), (\d) ranks</h3>', self.page.text)
        self.assertEqual(expected, [(name, int(ranks)) for _, name, ranks in titles])
        self.assertEqual(list(range(1, len(expected) + 1)), [int(each[0]) for each in titles])
        glance = self.page.lines(self.page.section("At a glance"), "glance")
        self.assertEqual(SYSTEMS, list(glance[0][1]))

    def test_void_cells_have_a_reason_and_a_link(self):
        rates = self.page.rates()
        details = dict(re.findall(r'<h3 id="(row-\d+)">(.*?)</h3>', self.page.text))
        for row, ranks, mark, reason, title in (
            ("hacc read", 2, "INVALID", simulated_run.WRONG, "hacc read, 2 ranks"),
            ("hacc write", 2, "INVALID", simulated_run.WRONG, "hacc write, 2 ranks"),
            ("alpha-shared write", 4, "FAILED", simulated_run.LONG, "alpha-shared write, 4 ranks"),
        ):
            with self.subTest(row=row):
                cell = rates[row, ranks]["disk"]
                anchor, shown = re.search(
                    r'<a class="void" href="#(row-\d+)">(\w+)</a>', cell
                ).groups()
                self.assertEqual((mark, title), (shown, details[anchor]))
                self.assertIn(reason[:100], text_of(cell))
                self.assertLess(len(text_of(cell)), 200)
                whole = self.page.text.split(f'<h3 id="{anchor}">')[1].split("<h3")[0]
                self.assertIn(reason, text_of(whole))
        self.assertEqual(3 + 1, sum("void" in each["disk"] for each in rates.values()))

    def test_what_is_timed_for_less_than_a_second_is_marked(self):
        for (row, ranks), cells in self.page.rates().items():
            for system, cell in cells.items():
                is_short = row.startswith("hacc") and "void" not in cell
                with self.subTest(row=row, ranks=ranks, system=system):
                    self.assertEqual(is_short, '<small class="short">timed 0.0' in cell)
        for number, is_short in ((1, False), (9, True)):
            part = self.page.text.split(f'<h3 id="row-{number}">')[1].split("<h3")[0]
            timed = [cells["timed for"] for _, cells in self.page.lines(part, "details") if cells]
            self.assertTrue(timed)
            for each in timed:
                self.assertRegex(each, r"^0\.0[12]\d+ s\*$" if is_short else r"^[12]\.\d\d s$")
            self.assertEqual(is_short, 'class="short"' in part)

    def test_labels(self):
        rates = self.page.rates()
        for row, system, label in (
            ("zeta-fpp write", "tmpfs", "fsync called, volatile"),
            ("zeta-fpp write", "cairn", "fsync called, volatile"),
            ("zeta-fpp write", "disk", "synced"),
            ("zeta-fpp read", "disk", "page cache"),
            ("zeta-fpp read", "tmpfs", "from memory"),
            ("hacc write", "tmpfs", "not synced"),
        ):
            with self.subTest(row=row, system=system):
                self.assertIn(f"<small>{label}</small>", rates[row, 4][system])
        glance = dict(self.page.lines(self.page.section("At a glance"), "glance"))
        memory = glance["memory before the write"]
        expected = {name: one[4] for name, one in simulated_run.SYSTEMS.items()}
        self.assertEqual(expected, memory)
        self.assertIn("of tmpfs (new memory, too)",
                      glance["write, against the best baseline"]["cairn-fresh"])
        self.assertIn("of tmpfs-rewrite (used memory, too)",
                      glance["read, against the best baseline"]["cairn"])

    def test_a_colour_has_one_meaning(self):
        """On the page and in the figures for papers."""
        phases = colours.of_phases(self.page.found)
        systems = colours.of_systems(self.page.found)
        self.assertEqual(len(phases), len(set(phases.values())))
        self.assertEqual(
            {"open", "transfer", "sync", "close", "header", "an own phase"}, set(phases)
        )
        self.assertFalse(set(phases.values()) & set(systems.values()))
        meaning = {}
        key = r'aria-label="([^"]*)"><rect width="12" height="12" fill="(#\w+)"/>'
        for name, colour in re.findall(key, self.page.text):
            self.assertEqual(name, meaning.setdefault(colour, name))
            self.assertEqual({**systems, **phases}[name], colour)
        # In a bar, each phase has the colour of the legend.
        bars = re.findall(r"<g><title>[^:]*: [^:]*: (.*?)</title>(.*?)</g>", self.page.text)
        self.assertGreater(len(bars), 40)
        for told, drawn in bars:
            names = [each.rsplit(" ", 2)[0] for each in told.split(", ")]
            fills = re.findall(r'fill="(#\w+)"', drawn)
            self.assertEqual([phases[name] for name in names], fills)
        for specification in self.figures(self.page).values():
            for field, domain, shades in scales(specification):
                known = phases if field == "phase" else systems
                self.assertEqual([known[name] for name in domain], shades)
                self.assertEqual([name for name in known if name in domain], domain)

    def figures(self, one):
        directory = self.scratch / f"figures-{id(one)}"
        paths = figure_files.write(one.found, directory)
        return {
            path.name: json.loads(path.read_text(encoding="utf-8"))
            for path in paths if path.name.endswith(".vl.json")
        }

    def test_no_interval_below_three_rounds(self):
        for one, has_intervals in ((self.page, True), (self.few, False)):
            with self.subTest(rounds=one.results.rounds):
                body = one.text.split("</style>")[1].split("<h2>How to read it")[0]
                self.assertEqual(has_intervals, 'class="interval"' in body)
                self.assertEqual(has_intervals, bool(NUMBER_RANGE.search(text_of(body))))
                self.assertEqual(not has_intervals, "too few rounds: 2" in body)
                self.assertEqual(not has_intervals, "too few rounds for intervals" in body)
                for name, drawn in self.figures(one).items():
                    if name == "zeta-fpp-write-4.vl.json":
                        rows = drawn["data"]["values"]
                        self.assertEqual(SYSTEMS, [row["system"] for row in rows])
                        self.assertEqual({has_intervals}, {row["low"] is not None for row in rows})
                        axis = drawn["layer"][0]["encoding"]["x"]["title"]
                        self.assertEqual(has_intervals, "95 % interval" in axis)
                    if name == "hacc-write-4.vl.json":
                        self.assertTrue(all(row["short"] for row in drawn["data"]["values"]))
                        axis = drawn["layer"][0]["encoding"]["x"]["title"]
                        self.assertIn("*: timed for less than 1 s", axis)

    def test_claims_are_the_verdicts(self):
        """Each with its interval; a difference that is not shown is no claim."""
        part = self.page.section("Cairn against the others")
        shown = claims.Claims(headline.Headline(self.page.found, self.page.results.run))
        self.assertEqual(["cairn", "cairn-fresh"], shown.systems())
        for number, system in enumerate(shown.systems()):
            block = part.split("<h3>")[number + 1]
            self.assertTrue(block.startswith(f"{system} <small>pool in tmpfs over ext4, "))
            lines = dict(self.page.lines(block, "claims"))
            self.assertEqual(
                ["romio", "tmpfs", "tmpfs-rewrite", "disk", "its limit"], list(lines)
            )
            for other, cells in lines.items():
                if other == "its limit":
                    for access in ("write", "read"):
                        self.assertRegex(
                            text_of(cells[access]),
                            r"^ \d+\.\d % +\(\d+\.\d\.\.\d+\.\d\) +of copy(?: out)? by 4 ranks",
                        )
                    continue
                # ROMIO is not what a POSIX program runs through.
                kernel = "alpha-shared" if other == "romio" else "zeta-fpp"
                for access in ("write", "read"):
                    verdict = self.page.found.verdict(kernel, access, 4, system, other)
                    words = " ".join(text_of(cells[access]).split())
                    self.assertTrue(words.startswith(verdict.text), (words, verdict.text))
                    self.assertEqual(verdict.shown, "<b" in cells[access])
                    self.assertEqual(verdict.shown, "faint" not in cells[access])
                family = self.page.found.family(system, other).values()
                faster = sum(each.kind == "better" for each in family)
                self.assertIn(f"faster in {faster}, ", cells["rows of all kernels"])
            self.assertIn("<small>page cache</small>", lines["disk"]["read"])
            self.assertNotIn("page cache", lines["disk"]["write"])
        self.assertIn("tmpfs, new memory, in alpha-shared", part)
        self.assertIn("tmpfs, used memory, as cairn<", part)
        self.assertIn("tmpfs, new memory, as cairn-fresh<", part)
        # cairn is no faster than memory that is used, too.
        self.assertIsNone(re.search(r"x1\.\d\d", dict(
            self.page.lines(part.split("<h3>")[1], "claims"))["tmpfs-rewrite"]["write"]))

    def test_a_quick_run_says_so(self):
        self.assertIn("Do not cite its figures.", self.few.text.split("<h2>")[0])
        self.assertIn(summary.QUICK, summary.lines(self.few.found))
        for text in (self.page.text, *summary.lines(self.page.found)):
            self.assertNotIn("Do not cite its figures.", text)

    def test_a_run_that_stopped_says_so(self):
        path = self.scratch / "cut.jsonl"
        lines = (self.scratch / "results.jsonl").read_text("utf-8").splitlines(keepends=True)
        path.write_text("".join(lines[:-1]), "utf-8")
        text = page.make(store.load(path))
        self.assertIn("Not complete (killed)", text.split("<h2>")[0])
        self.assertNotIn("Not complete", self.page.text)

    def test_a_cell_names_its_column(self):
        """So that a line can be a card on a narrow screen."""
        tables = re.findall(r"<table.*?</table>", self.page.text, re.S)
        self.assertGreater(len(tables), 10)
        for table in tables:
            heads = re.findall(r'<th scope="col">(.*?)</th>', table)
            for line in table.split("<tr>")[2:]:
                labels = re.findall(r'<td data-label="(.*?)"', line)
                self.assertIn(labels, (heads[1:], []))
                if not labels:
                    self.assertIn(f'<td class="text" colspan="{len(heads) - 1}">', line)
        self.assertIn("content:attr(data-label)", self.page.text)

    def test_charts_of_bars_have_the_width_of_the_screen(self):
        """Texts keep their size, so nothing needs to be scrolled sideways."""
        bars = re.findall(r'<svg class="bars"(.*?)>', self.page.text)
        self.assertGreater(len(bars), 10)
        for each in bars:
            self.assertIn('width="100%"', each)
            self.assertNotIn("viewBox", each)
        style = self.page.text.split("<style>")[1].split("</style>")[0]
        self.assertNotRegex(style, r"svg(\.bars|\.plot)?\{[^}]*min-width")
        names = set(re.findall(r'aria-label="([^"]*)"', self.page.text))
        self.assertIn("Phases of zeta-fpp write, 4 ranks", names)


def scales(specification):
    """[(field, domain, range)] of all colours of a specification."""
    if isinstance(specification, list):
        return [found for each in specification for found in scales(each)]
    if not isinstance(specification, dict):
        return []
    found = scales(list(specification.values()))
    scale = specification.get("scale") or {}
    if "range" in scale:
        found.append((specification["field"], scale["domain"], scale["range"]))
    return found


if __name__ == "__main__":
    unittest.main()
