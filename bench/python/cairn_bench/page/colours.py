"""Colours with one meaning each on the whole page and in the figures for papers.

A phase has its colour by its name, a system by its place in the matrix. Both sets are told apart by
people who see few colours (Paul Tol's "light" and "bright"). Charts of phases are stacked bars,
those of systems are lines.
"""

PHASES = {
    "open": "#77AADD",
    "transfer": "#44BB99",
    "sync": "#EE8866",
    "close": "#BBBBBB",
    "header": "#EEDD88",
    "allocate": "#AAAA00",
    "subset": "#FFAABB",
    "replace": "#BBCC33",
}
OTHER_PHASES = ("#99DDFF", "#CC99BB", "#D0B39A", "#8FA8A8")  # in the order of their names
SYSTEMS = ("#4477AA", "#EE6677", "#228833", "#CCBB44", "#66CCEE", "#AA3377", "#888888")


def of_phases(found):
    """{phase: colour} of all phases that the figures have."""
    names = {
        name
        for series in found.series.values()
        for phases in series.phases.values()
        for name in phases
    }
    others = sorted(names - set(PHASES))
    named = {name: colour for name, colour in PHASES.items() if name in names}
    return named | {
        name: OTHER_PHASES[number % len(OTHER_PHASES)] for number, name in enumerate(others)
    }


def of_systems(found):
    """{system: colour} in the matrix's order."""
    return {
        system: SYSTEMS[number % len(SYSTEMS)] for number, system in enumerate(found.system_order)
    }
