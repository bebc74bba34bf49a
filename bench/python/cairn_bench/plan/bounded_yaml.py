"""A YAML text of bounded depth and size. A few lines with aliases can stand for billions of values,
or for themselves."""

import yaml

from ..errors import Mistake
from ..files import MOST_LEVELS, refuse

MOST_NODES = 10_000  # with those that aliases stand for


def parse(path, text):
    """(value, node) of a YAML text. Raises Mistake, also for a text whose aliases stand for more
    than MOST_NODES, or for themselves."""
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        check_size(path, node)
        return yaml.safe_load(text), node
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else 1
        raise Mistake(
            f"{path}:{line}: not YAML: {getattr(error, 'problem', None) or error}"
        ) from error
    except ValueError:  # an invalid date or number
        found = dict.fromkeys(invalid(node))
        raise Mistake([f"{path}:{line}: not YAML: {text}" for line, text in found]) from None
    except RecursionError:
        raise Mistake(f"{path}: more than {MOST_LEVELS} levels") from None


def invalid(node):
    """(line, text) of each value below a node that looks like a date or a number and is none."""
    if isinstance(node, yaml.ScalarNode):
        try:
            yaml.SafeLoader("").construct_document(node)
        except ValueError as error:
            yield node.start_mark.line + 1, f"{node.value}: {error}"
        return
    pairs = isinstance(node, yaml.MappingNode)
    for each in [each for pair in node.value for each in pair] if pairs else node.value:
        yield from invalid(each)


def check_size(path, root):
    """Refuses a document that is too deep or too large once its aliases are replaced."""
    sizes = {}  # of finished nodes, with all below them

    def size_of(node, level):
        if node in sizes:
            return sizes[node]
        if level > MOST_LEVELS:  # also what holds itself
            refuse(
                f"{path}:{node.start_mark.line + 1}",
                f"more than {MOST_LEVELS} levels, or an alias for what it is part of",
            )
        size = 1
        if isinstance(node, yaml.CollectionNode):
            pairs = isinstance(node, yaml.MappingNode)
            inner = [each for pair in node.value for each in pair] if pairs else node.value
            size += sum(size_of(each, level + 1) for each in inner)
        if size > MOST_NODES:
            line = node.start_mark.line + 1
            refuse(f"{path}:{line}", f"stands for more than {MOST_NODES} values")
        sizes[node] = size
        return size

    if root is not None:
        size_of(root, 1)
