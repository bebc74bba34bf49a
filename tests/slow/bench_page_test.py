"""The page of cairn bench in a browser: wide and narrow, light and dark, without any request."""

import html
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "bench"))
import bench_case  # noqa: E402
from bench_case import BenchCase, CAIRN, MPIS, SKIPPED  # noqa: E402
import simulated_run  # noqa: E402

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
KEPT = os.environ.get("CAIRN_BENCH_SCREENSHOTS")  # a directory for the pictures

# The page as the document of a frame, whose width is that of a phone or of a screen.
FRAME = """<!doctype html><title>waiting</title>
<iframe id="page" width="{width}" height="3000" style="border:0" srcdoc="{page}"></iframe>
<script>

window.addEventListener("load", () => {{
  const frame = document.getElementById("page"), page = frame.contentDocument;
  const root = page.documentElement, style = frame.contentWindow.getComputedStyle(page.body);
  const wrong = [];
  for (const svg of page.querySelectorAll("svg"))
    if (svg.getAttribute("role") !== "img" || !svg.getAttribute("aria-label")) wrong.push("svg");
  for (const head of page.querySelectorAll("thead th"))
    if (head.textContent && head.scope !== "col") wrong.push("th " + head.textContent);
  for (const box of page.querySelectorAll(".wide"))
    if (box.scrollWidth > box.clientWidth) wrong.push("cut: " + box.textContent.slice(0, 40));
  const first = page.querySelector("svg"), rate = page.querySelector(".rates td b");
  const result = {{
    scroll: root.scrollWidth, width: root.clientWidth, background: style.backgroundColor,
    ink: style.color, language: root.lang, title: page.title, wrong: wrong,
    requests: frame.contentWindow.performance.getEntriesByType("resource").length,
    chartEnds: first.getBoundingClientRect().bottom, rateEnds: rate.getBoundingClientRect().right,
    charts: page.querySelectorAll("svg").length, strips: page.querySelectorAll("svg.umami").length,
  }};
  const told = document.createElement("pre");
  told.id = "told";
  told.textContent = JSON.stringify(result);
  document.body.append(told);
}});
</script>"""
RULES = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--enable-logging=stderr",
]


def brightness(colour):
    return sum(map(int, re.findall(r"\d+", colour)[:3])) / 3


class Page(BenchCase):
    def setUp(self):
        super().setUp()
        path = self.scratch / "m.yaml"
        path.write_text(
            "format: 1\nname: page\nrounds: 3\nwarmup: 0\nranks: [1, 2]\nbaseline: one\n"
            "systems:\n  one: {directory: .}\n  other: {directory: .}\n"
            "kernels:\n  shared: {kernel: ior, block: 64KiB, transfer: 8KiB}\n"
            "  wrong: {kernel: ior, block: 64KiB, transfer: 8KiB, options: [--corrupt, 9]}\n"
            "  names: {kernel: mdtest, files: 20}\n",
            encoding="utf-8",
        )
        for number in range(2):
            self.run_words(
                [CAIRN, "bench", "run", path, "--output", f"runs/{number}"], expect=1, timeout=600
            )
        self.page = (self.scratch / "runs/1/report.html").read_text(encoding="utf-8")

    def browse(self, *words):
        run = subprocess.run(
            [CHROMIUM, *RULES, f"--user-data-dir={self.scratch}/profile", *words],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=300,
            check=False,
            env={**self.environment, "HOME": str(self.scratch)},
        )
        self.assertEqual(0, run.returncode, run.stderr)
        self.assertNotIn(":CONSOLE", run.stderr)
        return run.stdout

    def look(self, page, width, dark):
        frame = self.scratch / f"frame-{width}.html"
        frame.write_text(FRAME.format(width=width, page=html.escape(page)), encoding="utf-8")
        scheme = f"--blink-settings=preferredColorScheme={0 if dark else 1}"
        name = re.search(r"<title>cairn bench: (\w+)", page).group(1)
        picture = self.scratch / f"{name}-{width}-{'dark' if dark else 'light'}.png"
        size = f"--window-size={width + 60},3100"
        self.browse(scheme, size, f"--screenshot={picture}", frame.as_uri())
        self.assertGreater(picture.stat().st_size, 20000)
        if KEPT:
            shutil.copy(picture, KEPT)
        text = self.browse(scheme, size, "--dump-dom", frame.as_uri())
        return json.loads(
            html.unescape(re.search(r'<pre id="told">(.*?)</pre>', text, re.S).group(1))
        )

    def test_in_a_browser(self):
        for width in (390, 1440):
            for dark in (False, True):
                with self.subTest(width=width, dark=dark):
                    found = self.look(self.page, width, dark)
                    self.assertEqual([], found["wrong"])
                    self.assertEqual(0, found["requests"])
                    self.assertEqual("en", found["language"])
                    self.assertEqual("cairn bench: page", found["title"])
                    self.assertLessEqual(found["scroll"], found["width"])
                    self.assertLessEqual(found["chartEnds"], 900)
                    self.assertGreater(found["charts"], 10)
                    self.assertGreater(found["strips"], 3)
                    paper, ink = brightness(found["background"]), brightness(found["ink"])
                    self.assertLess(paper, 60) if dark else self.assertGreater(paper, 200)
                    self.assertGreater(abs(paper - ink), 150)

    def test_many_systems(self):
        """Nothing is cut or needs to be scrolled sideways, and the rates' chart is on the first
        screen of a desktop."""
        simulated_run.write(self.scratch / "results.jsonl")
        self.run_words(
            [CAIRN, "bench", "report", "results.jsonl", "--output", "many.html"], expect=1
        )
        page = (self.scratch / "many.html").read_text(encoding="utf-8")
        for width in (390, 768, 1440):
            with self.subTest(width=width):
                found = self.look(page, width, width == 768)
                self.assertEqual([], found["wrong"])
                self.assertLessEqual(found["scroll"], found["width"])
                self.assertLessEqual(found["rateEnds"], width)
                self.assertLessEqual(found["chartEnds"], 900)


if __name__ == "__main__":
    if not MPIS:
        bench_case.main()
    if CHROMIUM is None:
        print("no chromium here")
        sys.exit(SKIPPED)
    unittest.main()
