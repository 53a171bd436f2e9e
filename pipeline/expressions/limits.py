"""How large an expression may be, and which functions it may call."""

from __future__ import annotations

from sqlglot import exp

from pipeline.expressions.functions import AGGREGATES, FUNCTIONS
from pipeline.expressions.refusal import NotByRow, Refused, unknown

Node = exp.Expr

LONGEST = 20_000
"""The most characters of a text."""
DEEPEST = 16
"""The most operators, brackets and functions within each other: Polars reads thrice as deep."""
MOST = 300
"""The most operators, functions and branches: with a thousand, Polars hangs or crashes."""

_PATTERN = 15
"""What a regular expression counts: it may take 10 MB."""

CHAINED: dict[type[Node], tuple[str, str]] = {
    exp.Or: ("OR", "or"),
    exp.And: ("AND", "and"),
    exp.Add: ("+", "sum"),
    exp.Sub: ("-", "sum"),
    exp.Mul: ("*", "product"),
    exp.Div: ("/", "product"),
    exp.Mod: ("%", "product"),
    exp.DPipe: ("||", "text"),
}
"""Operators that are read from left to right: how they are written, and their kind."""
_LEAVES = (exp.Column, exp.Identifier, exp.Literal, exp.Boolean, exp.Null, exp.Paren, exp.DataType)


def check_limits(tree: Node) -> None:
    """Refuse what calls a function that is not allowed, or is too large.

    Raises
    ------
    Refused
        With the place of the function, or of what is too deep.
    """
    for call in tree.find_all(exp.Anonymous):
        _check_name(call)
    _check_depth(tree)
    if sum(not isinstance(each, _LEAVES) for each in tree.walk()) > MOST or _size(tree) > MOST:
        raise Refused(
            f"it has more than {MOST} operators and functions: IN takes a long list, "
            f"and a regular expression, which counts as {_PATTERN}, several words: a|b"
        )


def kind(node: Node) -> str:
    """Return what kind of operator that is read from left to right a node is, if any."""
    return CHAINED.get(type(node), ("", ""))[1]


def is_literal(node: Node) -> bool:
    """Tell whether a node is a number, a text, TRUE, FALSE or NULL."""
    number = node.this if isinstance(node, exp.Neg) else node
    return isinstance(number, exp.Literal | exp.Boolean | exp.Null)


def start(node: Node) -> int | None:
    """Return where a node begins in the text, as far as the parser keeps it."""
    return min((each.meta["start"] for each in node.walk() if "start" in each.meta), default=None)


def _check_name(call: exp.Anonymous) -> None:
    name = call.name.upper()
    if not isinstance(call.this, str):
        raise Refused("a function in quotation marks is not allowed here", start(call))
    if name in AGGREGATES:
        raise NotByRow(name, start(call))
    if name not in FUNCTIONS:
        raise Refused(f"{name} is {unknown(name)}", start(call))


def _check_depth(tree: Node) -> None:
    depths = {id(tree.parent): 0}
    for node in tree.walk():
        depths[id(node)] = depths[id(node.parent)] + (not _continues(node))
        if depths[id(node)] > DEEPEST:
            raise Refused(f"it is nested more than {DEEPEST} deep", start(node))


def _continues(node: Node) -> bool:
    """Tell whether a node is the left part of an operator of its kind."""
    above = node.parent
    return above is not None and above.this is node and kind(above) == kind(node) != ""


def _size(tree: Node) -> int:
    """Count operators and functions as often as Polars writes them out."""
    sizes: dict[int, int] = {}
    for node in reversed(list(tree.walk())):
        own = _own(node)
        first, *others = [sizes[id(part)] for part in node.iter_expressions()] or [0]
        if isinstance(node, exp.Anonymous):
            sizes[id(node)] = own + FUNCTIONS[node.name.upper()].copies * (first + sum(others))
        else:
            sizes[id(node)] = _copies(node) * (own + first) + sum(others)
    return sizes[id(tree)]


def _own(node: Node) -> int:
    if isinstance(node, _LEAVES):
        return 0
    named = isinstance(node, exp.Anonymous) and node.name.upper() == "REGEXP_LIKE"
    return _PATTERN if named or isinstance(node, exp.RegexpLike | exp.RegexpILike) else 1


def _copies(node: Node) -> int:
    """Return how often Polars writes out the first part of an operator."""
    if isinstance(node, exp.In):
        listed = node.expressions
        return 1 if all(map(is_literal, listed)) else len(listed)
    if isinstance(node, exp.Case):
        return len(node.args["ifs"]) if node.this else 1
    return 2 if isinstance(node, exp.Between) else 1
