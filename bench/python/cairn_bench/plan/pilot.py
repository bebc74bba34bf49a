"""The matrix's `pilot`: some rounds that no figure uses fix the number of the others."""

DEFAULTS = {"rounds": 5, "precision": 0.05, "least": 5, "most": 20}


def settings(matrix):
    """The matrix's `pilot` with its defaults, or None."""
    return {**DEFAULTS, **matrix["pilot"]} if matrix.get("pilot") else None


def problem(wanted):
    """Returns the mistake in the settings, or None."""
    if wanted["least"] <= wanted["most"]:
        return None
    return f"pilot.least: {wanted['least']} is more than pilot.most: {wanted['most']}"
