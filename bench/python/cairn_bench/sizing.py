"""Sizes that make a run take a wanted time: the matrix's `target_s`, for all its rounds together.

Every cell runs at two small scales. Its time is taken as a constant and a part that grows with the
scale. The scale is a rounded one, so that later runs on the same machine mostly do the same work.
"""

import math

SMALL = (1 / 16, 1 / 4)
STEPS = (1, 3 / 4, 1 / 2, 3 / 8, 1 / 4, 3 / 16, 1 / 8, 3 / 32, 1 / 16)
LIMIT_S = 1.0  # of one limit: mostly the start of its ranks


def lines(walls):
    """[(constant, growing part)] of each cell, from its seconds at the two small scales."""
    found = []
    first, second = SMALL
    for key in walls[0]:
        if key not in walls[1]:
            continue
        slope = max(0.0, (walls[1][key] - walls[0][key]) / (second - first))
        found.append((max(0.0, walls[0][key] - slope * first), slope))
    return found


def seconds(found, scale, rounds, limits):
    """What the rounds take, as predicted."""
    return rounds * (sum(fixed + slope * scale for fixed, slope in found) + limits * LIMIT_S)


def choose(walls, target_s, rounds, limits):
    """The record of the choice: the largest scale that fits, or the smallest there is."""
    found = lines(walls)
    scale = next(
        (step for step in STEPS if seconds(found, step, rounds, limits) <= target_s), STEPS[-1]
    )
    return {
        "target_s": target_s,
        "scale": scale,
        "predicted_s": round(seconds(found, scale, rounds, limits), 1),
        "at_full_size_s": round(seconds(found, 1, rounds, limits), 1),
    }


def text(choice):
    return (
        f"sizes: {choice['scale']:g} of the matrix's; about {clock(choice['predicted_s'])} of "
        f"{clock(choice['target_s'])} (full size: about {clock(choice['at_full_size_s'])})"
    )


def clock(value):
    whole = math.ceil(value)
    return f"{whole // 60}:{whole % 60:02d}"
