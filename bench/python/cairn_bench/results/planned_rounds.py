"""The number of rounds that a pilot asks for: some rounds that no figure uses."""

import collections
import math
import statistics

from . import figures as figures_module
from . import ratios, store


def plan(wanted, run, records):
    """The record that fixes the number of rounds, from the results of the pilot's rounds."""
    counted = [{**record, "warmup": False} for record in records]
    found = figures_module.Figures(store.Results(run, counted, [], None))
    spreads = {key: deviation(found, *key) for key in found.series}
    spreads = {key: spread for key, spread in spreads.items() if spread is not None}
    # As many as an interval of the results will hold for together.
    families = collections.Counter(key[3] for key in spreads)
    comparisons = max(families.values(), default=1) if found.baseline is not None else 1
    worst, widest = "", 0.0
    for (kernel, access, ranks, system), spread in spreads.items():
        if spread > widest:
            worst, widest = f"{kernel} {access} on {system}, {ranks} ranks", spread
    return {
        "record": "plan",
        "rounds": ratios.rounds_for(
            widest, wanted["precision"], wanted["least"], wanted["most"], comparisons
        ),
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
        common = ratios.common_rounds(mine.rates, base.rates)
        values = {each: mine.rates[each] / base.rates[each] for each in common}
    logs = [math.log(value) for value in values.values() if value > 0]
    return statistics.stdev(logs) if len(logs) > 1 else None
