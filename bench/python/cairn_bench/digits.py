"""Numbers as tables show them: three significant digits and no exponent."""

import decimal

LARGEST, SMALLEST = 1e6, 1e-6  # an interval that reaches further is shown as open


def three(value, rounding=decimal.ROUND_HALF_EVEN):
    """640, 4150, 12.3, 0.0870"""
    # A binary fraction may differ from the value behind the twelfth digit.
    exact = decimal.Decimal(f"{value:.12g}")
    if not exact.is_finite() or exact == 0:
        return f"{value:.3g}"
    found = _to_three_digits(exact, rounding)
    if found.adjusted() > exact.adjusted():  # 9.996 became 10.00
        found = _to_three_digits(found, rounding)
    return f"{found:f}"


def _to_three_digits(exact, rounding):
    with decimal.localcontext() as context:
        context.prec = 400  # a rate of 1e300 has as many digits before the point
        return exact.quantize(decimal.Decimal((0, (1,), exact.adjusted() - 2)), rounding)


def up(value):
    """Rounded up."""
    return three(value, decimal.ROUND_CEILING)


def outward(low, high):
    """Both ends of an interval of ratios, rounded so that the interval does not become smaller."""
    return (
        three(low, decimal.ROUND_FLOOR) if low >= SMALLEST else "0",
        up(high) if high <= LARGEST else "inf",
    )
