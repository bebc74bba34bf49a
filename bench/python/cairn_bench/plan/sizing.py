"""Sizes that make a run take a wanted time: the matrix's `target_s`, for all its rounds together.

Every cell runs at two small scales. The time of a round is taken as a constant and a part that
grows with the scale. The scale is a rounded one, so that later runs on the same machine mostly do
the same work. """

import math

SMALL = (1 / 16, 1 / 4)
STEPS = (1, 3 / 4, 1 / 2, 3 / 8, 1 / 4, 3 / 16, 1 / 8, 3 / 32, 1 / 16)


def line(walls):
    """(constant, growing part) of a round, from its cells' seconds at the two small scales.

    It is fitted to their sums: noise of one cell is not taken for growth, as it would be if each
    cell that seems to shrink were taken for constant.
    """
    both = set(walls[0]) & set(walls[1])
    sums = [sum(one[key] for key in both) for one in walls]
    first, second = SMALL
    slope = max(0.0, (sums[1] - sums[0]) / (second - first))
    return max(0.0, sums[0] - slope * first), slope


def seconds(found, scale, rounds, limits_s):
    """What the rounds take, as predicted. limits_s: of all limits in one round, at any scale."""
    fixed, slope = found
    return rounds * (fixed + slope * scale + limits_s)


def choose(walls, target_s, rounds, limits_s):
    """The record of the choice: the largest scale that fits, or the smallest there is."""
    found = line(walls)
    scale = next(
        (step for step in STEPS if seconds(found, step, rounds, limits_s) <= target_s), STEPS[-1]
    )
    return {
        "target_s": target_s,
        "scale": scale,
        "predicted_s": round(seconds(found, scale, rounds, limits_s), 1),
        "at_full_size_s": round(seconds(found, 1, rounds, limits_s), 1),
    }


def text(choice):
    return (
        f"sizes: {choice['scale']:g} of the matrix's; about {clock(choice['predicted_s'])} of "
        f"{clock(choice['target_s'])} (full size: about {clock(choice['at_full_size_s'])})"
    )


def clock(value):
    whole = math.ceil(value)
    return f"{whole // 60}:{whole % 60:02d}"
