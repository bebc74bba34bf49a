"""Formulas by which kernels say their bytes: arithmetic on the keys of a matrix and on `ranks`.

A formula has Python's syntax, of which it may use numbers, words, names, + - * / // % **,
comparisons, and `A if B else C`; and the functions in FUNCTIONS. A key that the cell lacks is None.
"""

import ast
import functools
import operator

OPERATORS = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow,
}
COMPARISONS = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge,
}


def rows(ranks):
    """Rows of the most even grid of so many ranks."""
    return next(count for count in range(int(ranks**0.5), 0, -1) if ranks % count == 0)


FUNCTIONS = {"min": min, "max": max, "round": round, "rows": rows}


@functools.cache
def parsed(text):
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError as error:
        raise ValueError(f"formula '{text}': {error.msg}") from error


def value(text, names):
    """The value of a formula, or ValueError. names: {key: value}."""
    return of(parsed(text), names, text)


def of(node, names, text):
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float, str)):
        return node.value
    if isinstance(node, ast.Name):
        return names.get(node.id)
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        sides = (of(side, names, text) for side in (node.left, node.right))
        return OPERATORS[type(node.op)](*sides)
    if isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARISONS and len(node.ops) == 1:
        sides = (of(side, names, text) for side in (node.left, node.comparators[0]))
        return COMPARISONS[type(node.ops[0])](*sides)
    if isinstance(node, ast.IfExp):
        return of(node.body if of(node.test, names, text) else node.orelse, names, text)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        if node.func.id in FUNCTIONS:
            return FUNCTIONS[node.func.id](*(of(each, names, text) for each in node.args))
    raise ValueError(f"formula '{text}': {ast.unparse(node)}: not a part of formulas")


def names_in(text):
    """The keys that a formula uses."""
    functions = {id(node.func) for node in ast.walk(parsed(text)) if isinstance(node, ast.Call)}
    return {
        node.id for node in ast.walk(parsed(text))
        if isinstance(node, ast.Name) and id(node) not in functions
    }
