"""The number of rounds that a pilot asks for: some rounds that no figure uses."""

import math
import statistics

from . import figures as figures_module
from . import ratios, store


def plan(wanted, run, records):
    """The record that fixes the number of rounds, from the results of the pilot's rounds."""
    counted = [{**record, "warmup": False} for record in records]
    found = figures_module.Figures(store.Results(run, counted, [], None))
    worst, widest = "", 0.0
    for key in found.series:
        spread = deviation(found, *key)
        if spread is not None and spread > widest:
            kernel, access, ranks, system = key
            worst, widest = f"{kernel} {access} on {system}, {ranks} ranks", spread
    return {
        "record": "plan",
        "rounds": ratios.rounds_for(widest, wanted["precision"], wanted["least"], wanted["most"]),
        "pilot": wanted,
        "deviation": round(widest, 6),
        "widest": worst,
    }


def deviation(found, kernel, access, ranks, system):
    """Standard deviation of the logarithms of what is judged: ratios, or rates without baseline."""
    mine = found.counted(kernel, access, ranks, system)
    if mine is None:
        return None
    values = mine.rates
    if found.baseline is not None:
        base = found.counted(kernel, access, ranks, found.baseline)
        if base is None or system == found.baseline:
            return None
        values = {
            each: mine.rates[each] / base.rates[each] for each in mine.rates if each in base.rates
        }
    return statistics.stdev(map(math.log, values.values())) if len(values) > 1 else None
