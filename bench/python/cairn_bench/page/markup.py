"""HTML in which every value is escaped, unless it is HTML that fill() or joined() has made.

The first argument of fill() is a literal of the code, so what a record says is never HTML.
tests/structure/shown_values_test.py holds all modules to that.
"""

import html
import string

from ..terminal import printable


class Markup(str):
    """HTML. Adding or formatting makes a plain text of it, which the next fill() escapes."""


class _Template(string.Formatter):
    def format_field(self, value, format_spec):
        return escaped(value if isinstance(value, Markup) else format(value, format_spec))


def escaped(value):
    """Any value as HTML: the only place where a text becomes HTML."""
    return value if isinstance(value, Markup) else Markup(html.escape(printable(value)))


def fill(literal, *values, **named):
    """`literal` with values in the place of {}, {:.1f} or {name}."""
    return Markup(_Template().vformat(literal, values, named))


def joined(parts, between=""):
    return Markup(escaped(between).join(map(escaped, parts)))


def lines_of(parts):
    """The parts, each on a line of its own."""
    return Markup("\n".join(map(escaped, parts)))


def of_package(path):
    """A file of this package, such as the style of the page."""
    return Markup(path.read_text(encoding="utf-8"))
