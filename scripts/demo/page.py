"""The demo's tables as one HTML page, without anything from outside."""

import html

STYLE = """body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1a1a1a;background:#fff}
table{border-collapse:collapse;margin:1rem 0;width:100%}th,td{padding:.3rem .6rem;text-align:right;border-bottom:1px solid #ccc}
th:first-child,td:first-child{text-align:left}h2{font-size:1.1rem;margin-top:2rem;white-space:pre-line}li{margin:.2rem 0}
@media(prefers-color-scheme:dark){body{color:#e6e6e6;background:#16181a}th,td{border-color:#444}}"""


def cells(tag, row):
    return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in row) + "</tr>"


def write(path, parts):
    lines = [
        "<!doctype html>", '<html lang="en"><meta charset="utf-8"><title>Cairn: the demo</title>',
        f"<style>{STYLE}</style>", "<h1>Cairn: the demo on this machine</h1>"
    ]
    for title, heading, rows, notes in parts:
        lines += [
            f"<h2>{html.escape(title)}</h2>", "<table>",
            cells("th", heading), *(cells("td", row) for row in rows), "</table>", "<ul>",
            *(f"<li>{html.escape(note)}</li>" for note in notes), "</ul>"
        ]
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
