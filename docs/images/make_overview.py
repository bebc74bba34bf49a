#!/usr/bin/env python3
"""Draws overview-light.svg and overview-dark.svg, the README's picture: make_overview.py"""

import pathlib

COLOURS = {
    "light": {"text": "#1f2328", "faint": "#57606a", "line": "#57606a", "node": "#f6f8fa", "edge": "#d0d7de",
              "program": "#ddf4ff", "cairn": "#dafbe1", "lower": "#fff8c5"},
    "dark": {"text": "#e6edf3", "faint": "#9198a1", "line": "#9198a1", "node": "#161b22", "edge": "#3d444d",
             "program": "#0c2d6b", "cairn": "#033a16", "lower": "#4b2900"},
}

NODE = """  <rect x="{x}" y="20" width="340" height="230" rx="8" fill="{node}" stroke="{edge}"/>
  <text x="{left}" y="44" class="faint">node {number}</text>
  <rect x="{left}" y="56" width="300" height="44" rx="6" fill="{program}" stroke="{edge}"/>
  <text x="{middle}" y="83" class="middle">unchanged programs and MPI ranks</text>
  <path d="M{middle} 100 V124" class="arrow"/>
  <rect x="{left}" y="126" width="300" height="34" rx="6" fill="{cairn}" stroke="{edge}"/>
  <text x="{middle}" y="148" class="middle">libcairn_posix.so: POSIX and MPI-IO</text>
  <path d="M{middle} 160 V184" class="arrow"/>
  <text x="{beside}" y="177" class="small">load and store, no server</text>
  <rect x="{left}" y="186" width="300" height="46" rx="6" fill="{cairn}" stroke="{edge}"/>
  <text x="{middle}" y="205" class="middle">pool in the node's memory</text>
  <text x="{middle}" y="222" class="middle small">persistent memory, tmpfs or a file</text>
"""

PICTURE = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 820 380" role="img"
     aria-label="Programs reach a pool in their node's memory; a drain writes it to the parallel file system">
  <style>
    text {{ font: 14px system-ui, sans-serif; fill: {text} }}
    .middle {{ text-anchor: middle }}
    .faint {{ fill: {faint} }}
    .small {{ font-size: 12px; fill: {faint} }}
    .arrow {{ stroke: {line}; stroke-width: 1.5; fill: none; marker-end: url(#tip) }}
  </style>
  <marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto-start-reverse">
    <path d="M0 0 L8 4 L0 8 z" fill="{line}"/>
  </marker>
{nodes}  <path d="M340 209 H480" class="arrow" marker-start="url(#tip)"/>
  <text x="410" y="200" class="middle small">reads</text>
  <path d="M190 250 V302" class="arrow"/>
  <path d="M630 250 V302" class="arrow"/>
  <text x="202" y="282" class="small">drain, at the end of the run</text>
  <text x="642" y="282" class="small">drain</text>
  <rect x="20" y="304" width="780" height="52" rx="8" fill="{lower}" stroke="{edge}"/>
  <text x="410" y="326" class="middle">DIR: ordinary files on the parallel file system</text>
  <text x="410" y="344" class="middle small">readable by every program, with and without Cairn</text>
</svg>
"""

for name, colours in COLOURS.items():
    nodes = "".join(NODE.format(number=number, x=x, left=x + 20, middle=x + 170, beside=x + 182, **colours)
                    for number, x in [(0, 20), (1, 460)])
    path = pathlib.Path(__file__).with_name(f"overview-{name}.svg")
    path.write_text(PICTURE.format(nodes=nodes, **colours))
