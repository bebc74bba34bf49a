"""Tables of the page. On a narrow screen each line is a card, and each cell names its column."""

from .markup import fill, joined

ENDS = fill("</tbody></table></div>")


def begin(heads, kind=None):
    """Where a table begins, up to its body. kind: its class."""
    return fill(
        '<div class="wide" tabindex="0"><table{}><thead><tr>{}</tr></thead><tbody>',
        fill(' class="{}"', kind) if kind else "",
        joined(fill('<th scope="col">{}</th>', head) for head in heads),
    )


def line(heads, name, cells, about=None, kinds=()):
    """A line of a table. about: what stands below the name. kinds: classes of the cells."""
    below = "" if about is None else fill("<small>{}</small>", about)
    kinds = [*kinds, *[""] * (len(cells) - len(kinds))]
    return fill(
        '<tr><th scope="row">{}{}</th>{}</tr>',
        name,
        below,
        joined(
            fill('<td data-label="{}"{}>{}</td>', head, class_of(kind), cell)
            for head, cell, kind in zip(heads[1:], cells, kinds)
        ),
    )


def class_of(kind):
    return fill(' class="{}"', kind) if kind else ""


def whole_line(heads, name, text):
    """A line whose cells are one text."""
    return fill(
        '<tr><th scope="row">{}</th><td class="text" colspan="{}">{}</td></tr>',
        name,
        len(heads) - 1,
        text,
    )


def table(heads, lines, kind=None):
    """[] without lines."""
    lines = list(lines)
    return [begin(heads, kind), *lines, ENDS] if lines else []


def smalls(texts):
    return joined(fill("<small>{}</small>", each) for each in texts if each)


def wide(chart):
    return fill('<div class="wide" tabindex="0">{}</div>', chart) if chart else ""


def legend(colours):
    """{name: colour} beside a chart."""
    return fill(
        '<p class="legend">{}</p>',
        joined(
            (
                fill(
                    '<span><svg width="12" height="12" role="img" aria-label="{name}">'
                    '<rect width="12" height="12" fill="{colour}"/></svg> {name}</span>',
                    name=name,
                    colour=colour,
                )
                for name, colour in colours.items()
            ),
            " ",
        ),
    )
