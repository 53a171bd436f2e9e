"""The grammar of expressions: PostgreSQL expressions are parsed, limited in size, and rewritten.

Every function is a name with arguments. The parser's knowledge of functions is disabled: it would
reorder arguments or replace functions.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, ClassVar, cast

from sqlglot import exp
from sqlglot.dialects.postgres import Postgres
from sqlglot.errors import ParseError, SqlglotError
from sqlglot.parsers.postgres import PostgresParser

from pipeline.expressions.functions import (
    AGGREGATES,
    FUNCTIONS,
    NotByRow,
    RefusedText,
    regular_expression,
    unknown,
)

# Limits: the size of an expression and its functions.

Node = exp.Expr

LONGEST = 20_000
"""Maximum number of characters."""
DEEPEST = 16
"""Maximum nesting of operators, brackets and functions; Polars parses three times this depth."""
MOST = 300
"""Maximum number of operators, functions and branches: with a thousand, Polars hangs or crashes."""

_PATTERN = 15
"""Weight of a regular expression, which may take 10 MB."""

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
"""Left-associative operators: their symbols and kinds."""
_LEAVES = (exp.Column, exp.Identifier, exp.Literal, exp.Boolean, exp.Null, exp.Paren, exp.DataType)


def check_limits(tree: Node) -> None:
    """Reject an expression that is too large or calls a function that is not allowed.

    Raises
    ------
    RefusedText
        With the position of the function or of the part that is too deep.
    """
    for call in tree.find_all(exp.Anonymous):
        _check_name(call)
    _check_depth(tree)
    if sum(not isinstance(each, _LEAVES) for each in tree.walk()) > MOST or _size(tree) > MOST:
        raise RefusedText(
            f"it has more than {MOST} operators and functions: use IN for a long list, and "
            f"alternatives (a|b) in a regular expression, which counts as {_PATTERN}"
        )


def kind(node: Node) -> str:
    """Return the kind of a left-associative operator, if the node is one."""
    return CHAINED.get(type(node), ("", ""))[1]


def is_literal(node: Node) -> bool:
    """Return true if a node is a number, a text, TRUE, FALSE or NULL."""
    number = node.this if isinstance(node, exp.Neg) else node
    return isinstance(number, exp.Literal | exp.Boolean | exp.Null)


def start(node: Node) -> int | None:
    """Return the start of a node in the text, if the parser keeps it."""
    return min((each.meta["start"] for each in node.walk() if "start" in each.meta), default=None)


def _check_name(call: exp.Anonymous) -> None:
    name = call.name.upper()
    if not isinstance(call.this, str):
        raise RefusedText("function names in quotation marks are not allowed", start(call))
    if name in AGGREGATES:
        raise NotByRow(name, start(call))
    if name not in FUNCTIONS:
        raise RefusedText(f"{name} is {unknown(name)}", start(call))


def _check_depth(tree: Node) -> None:
    depths = {id(tree.parent): 0}
    for node in tree.walk():
        depths[id(node)] = depths[id(node.parent)] + (not _continues(node))
        if depths[id(node)] > DEEPEST:
            raise RefusedText(f"it is nested more than {DEEPEST} deep", start(node))


def _continues(node: Node) -> bool:
    """Return true if a node is the left operand of an operator of its kind."""
    above = node.parent
    return above is not None and above.this is node and kind(above) == kind(node) != ""


def _size(tree: Node) -> int:
    """Count operators and functions with the copies that Polars makes."""
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
    is_regexp_like = isinstance(node, exp.Anonymous) and node.name.upper() == "REGEXP_LIKE"
    return _PATTERN if is_regexp_like or isinstance(node, exp.RegexpLike | exp.RegexpILike) else 1


def _copies(node: Node) -> int:
    """Return the number of copies of the first operand that Polars makes."""
    if isinstance(node, exp.In):
        listed = node.expressions
        return 1 if all(map(is_literal, listed)) else len(listed)
    if isinstance(node, exp.Case):
        return len(node.args["ifs"]) if node.this else 1
    return 2 if isinstance(node, exp.Between) else 1


_Parsers = dict[str, Callable[..., Any]]
_IN_TEXT = "written"


def _select(parsers: _Parsers, *names: str) -> _Parsers:
    return {name: parsers[name] for name in names}


class Expressions(Postgres):
    """PostgreSQL expressions, with names in backticks as in Polars."""

    class Tokenizer(Postgres.Tokenizer):
        """No leading keyword starts a statement."""

        IDENTIFIERS: ClassVar[list[str | tuple[str, str]]] = ['"', "`"]
        COMMANDS: ClassVar[set[Any]] = set()

    class Parser(PostgresParser):
        """CASE and casts are the only keywords with their own grammar."""

        FUNCTIONS: ClassVar[_Parsers] = {}
        FUNCTION_PARSERS: ClassVar[_Parsers] = _select(
            PostgresParser.FUNCTION_PARSERS, "CAST", "TRY_CAST"
        )
        NO_PAREN_FUNCTIONS: ClassVar[dict[Any, Any]] = {}
        NO_PAREN_FUNCTION_PARSERS: ClassVar[_Parsers] = _select(
            PostgresParser.NO_PAREN_FUNCTION_PARSERS, "CASE"
        )

        def _parse_paren(self) -> exp.Expr | None:
            """Mark brackets of the text: the parser adds others."""
            node = super()._parse_paren()
            if isinstance(node, exp.Paren):
                node.meta[_IN_TEXT] = True
            return node


_DIALECT = Expressions()


def tree(text: str) -> exp.Expr:
    """Return the expression in a text.

    Raises
    ------
    RefusedText
        If it cannot be parsed, or has several expressions.
    """
    try:
        expressions = _DIALECT.parse_into(exp.Condition, text)
    except ParseError as error:
        raise _parse_error(error, text) from error
    except SqlglotError as error:
        raise RefusedText("a quotation mark or comment is not closed") from error
    except RecursionError as error:
        raise RefusedText("it is nested too deeply") from error
    whole = [each for each in expressions if each is not None]
    if len(whole) != 1:
        raise RefusedText("it is more than one expression" if whole else "it is empty")
    return _remove_added_parens(whole[0])


def _remove_added_parens(node: exp.Expr) -> exp.Expr:
    """Remove brackets that the parser added: they would hide ambiguities."""
    root = exp.Paren(this=node)
    for paren in [*root.this.find_all(exp.Paren)]:
        if not paren.meta.get(_IN_TEXT):
            paren.replace(paren.this)
    return cast("exp.Expr", root.this)


def _parse_error(error: ParseError, text: str) -> RefusedText:
    """Name the word at which parsing failed."""
    details = error.errors[0] if error.errors else {}
    word, line, end = details.get("highlight"), details.get("line"), details.get("col")
    if not word or line is None or end is None:
        return RefusedText("it cannot be parsed")
    before = sum(len(each) + 1 for each in text.split("\n")[: line - 1])
    return RefusedText(f"it cannot be parsed at {word!r}", before + end - len(word))


# Write an expression from its tree: unknown parts are rejected, and brackets surround everything
# that another parser might group differently.

_COMPARISONS: dict[type[Node], str] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.NullSafeEQ: "IS NOT DISTINCT FROM",
    exp.NullSafeNEQ: "IS DISTINCT FROM",
}
_PATTERNS: dict[type[Node], tuple[str, str]] = {
    exp.Like: ("LIKE", "NOT LIKE"),
    exp.ILike: ("ILIKE", "NOT ILIKE"),
    exp.RegexpLike: ("~", "!~"),
    exp.RegexpILike: ("~*", "!~*"),
}
_CONDITIONS = (*_COMPARISONS, *_PATTERNS, exp.Is, exp.In, exp.Between, exp.Not, exp.And, exp.Or)
"""Nested without brackets, these are ambiguous."""
_ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod)
_CLOSED = (exp.Column, exp.Paren, exp.Anonymous, exp.Cast, exp.TryCast, exp.Case)
"""Expressions with an unambiguous end."""
_TYPES = {
    exp.DType.TINYINT: "TINYINT",
    exp.DType.SMALLINT: "SMALLINT",
    exp.DType.INT: "INTEGER",
    exp.DType.BIGINT: "BIGINT",
    exp.DType.FLOAT: "REAL",
    exp.DType.DOUBLE: "DOUBLE",
    exp.DType.TEXT: "VARCHAR",
    exp.DType.VARCHAR: "VARCHAR",
    exp.DType.BOOLEAN: "BOOLEAN",
}
_WRITTEN = {
    *("this", "expression", "expressions", "low", "high", "ifs", "true", "default", "to"),
    *("negate", "is_string", "quoted", "typed", "safe"),
}
"""Parts of nodes that are written or irrelevant; nodes with other parts are rejected."""
_SEVERAL_WAYS = "it is ambiguous; add brackets"
_LITERAL = ("REGEXP_LIKE", "REPLACE")
"""Functions whose arguments after the first must be text literals."""
_NUMBER = re.compile(r"(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_NAMES: dict[type[Node], str] = {
    **dict.fromkeys((exp.Subquery, exp.Select, exp.Exists), "a subquery"),
    **dict.fromkeys((exp.Parameter, exp.Placeholder), "a parameter"),
    **dict.fromkeys(
        (exp.ByteString, exp.HexString, exp.BitString, exp.RawString, exp.National),
        "a text that is not in single quotation marks",
    ),
    exp.Window: "a window function (OVER)",
    exp.Lambda: "a lambda",
    exp.Star: "*",
    exp.Pow: "^ (POW gives powers)",
    exp.Bracket: "an index",
    exp.Tuple: "a row of values",
    exp.Concat: "two adjacent texts",
    exp.In: "IN with a subquery or without a list in brackets",
    exp.Column: 'a name with a dot ("a.b" is the name of one column)',
}
"""Names of rejected parts; others have the parser's names."""


def rewrite(text: str) -> str:
    """Return an equivalent text of allowed parts only.

    Raises
    ------
    RefusedText
        If it cannot be parsed, is too large, or has a part that is not allowed.
    """
    if len(text) > LONGEST:
        raise RefusedText(f"it has {len(text):,} characters, more than the maximum of {LONGEST:,}")
    whole = tree(text)
    check_limits(whole)
    return write(whole)


def write(node: Node) -> str:
    """Return the text of an expression, keeping its brackets.

    Raises
    ------
    RefusedText
        If it has a part that is not allowed.
    """
    writer = _WRITERS.get(type(node))
    if writer is None or {part for part, value in node.args.items() if value} - _WRITTEN:
        raise RefusedText(f"{_name(node)} is not allowed here", start(node))
    return writer(node)


def _name(node: Node) -> str:
    parsed = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(node).__name__).lower()
    return _NAMES.get(type(node), parsed)


def _operand(node: Node, apart: tuple[type[Node], ...] = ()) -> str:
    """Write an operand, in brackets unless its end is unambiguous."""
    if isinstance(node, apart):
        raise RefusedText(_SEVERAL_WAYS, start(node))
    return write(node) if isinstance(node, _CLOSED) or is_literal(node) else f"({write(node)})"


def _chain(node: Node) -> str:
    """Write a chain of operators of one kind."""
    mixed = (*_ARITHMETIC, *_CONDITIONS) if kind(node) == "text" else (exp.DPipe, *_CONDITIONS)
    apart = () if isinstance(node, exp.And | exp.Or) else mixed
    parts = [_operand(node.expression, apart), CHAINED[type(node)][0]]
    while kind(node.this) == kind(node):
        node = node.this
        _require_end(node.expression)
        parts += [_operand(node.expression, apart), CHAINED[type(node)][0]]
    _require_end(node.this)
    return " ".join([_operand(node.this, apart), *reversed(parts)])


def _require_end(node: Node) -> None:
    """Reject a left operand that ends with IS DISTINCT FROM, which may absorb what follows."""
    last = node
    while isinstance(last, exp.And | exp.Or | exp.Not):
        last = last.this if isinstance(last, exp.Not) else last.expression
    if isinstance(last, exp.NullSafeEQ | exp.NullSafeNEQ):
        raise RefusedText(_SEVERAL_WAYS, start(last))


def _comparison(node: Node) -> str:
    left, right = (_operand(part, _CONDITIONS) for part in (node.this, node.expression))
    return f"{left} {_COMPARISONS[type(node)]} {right}"


def _pattern(node: Node, *, denied: bool = False) -> str:
    word = _PATTERNS[type(node)][denied or bool(node.args.get("negate"))]
    pattern = node.expression.unnest()
    if not pattern.is_string:
        raise RefusedText(f"{word} takes a text in single quotation marks", start(node))
    if "~" in word:
        regular_expression(pattern.name)
    return f"{_operand(node.this, _CONDITIONS)} {word} {write(pattern)}"


def _is(node: Node, *, denied: bool = False) -> str:
    if not isinstance(node.expression, exp.Null | exp.Boolean):
        raise RefusedText("IS takes NULL, TRUE or FALSE", start(node))
    word = "IS NOT" if denied or node.args.get("negate") else "IS"
    return f"{_operand(node.this, _CONDITIONS)} {word} {write(node.expression)}"


def _in(node: Node, *, denied: bool = False) -> str:
    listed = ", ".join(map(write, node.expressions))
    return f"{_operand(node.this, _CONDITIONS)} {'NOT ' * denied}IN ({listed})"


def _between(node: Node, *, denied: bool = False) -> str:
    ends = (node.this, node.args["low"], node.args["high"])
    this, low, high = (_operand(part, _CONDITIONS) for part in ends)
    return f"{this} {'NOT ' * denied}BETWEEN {low} AND {high}"


def _not(node: Node) -> str:
    """Write a negation, with SQL's own form if there is one, e.g. NOT IN."""
    denied = node.this
    writer = _NEGATED.get(type(denied))
    if writer is None or denied.args.get("negate"):
        return f"NOT {_operand(denied)}"
    return writer(denied, denied=True)


def _negative(node: Node) -> str:
    part = node.this
    bare = isinstance(part, (*_CLOSED, exp.Literal))
    return f"-{write(part)}" if bare else f"-({write(part)})"


def _call(node: Node) -> str:
    name, arguments = node.name.upper(), node.expressions
    function = FUNCTIONS[name]
    if not function.least <= len(arguments) <= function.most:
        raise RefusedText(f"{name} takes {function.arguments}, not {len(arguments)}", start(node))
    if name in _LITERAL and not all(each.is_string for each in arguments[1:]):
        raise RefusedText(f"{name} takes texts in single quotation marks", start(node))
    if name == "REGEXP_LIKE":
        regular_expression(arguments[1].name)
    if name == "REPLACE" and len(arguments[2].name) > len(arguments[1].name):
        raise RefusedText(
            "the replacement of REPLACE must not be longer than the text replaced", start(node)
        )
    return f"{name}({', '.join(map(write, arguments))})"


def _case(node: Node) -> str:
    parts = [_operand(node.this)] if node.this else []
    for each in node.args["ifs"]:
        parts.append(f"WHEN {_operand(each.this)} THEN {_operand(each.args['true'])}")
    if default := node.args.get("default"):
        parts.append(f"ELSE {_operand(default)}")
    return f"CASE {' '.join(parts)} END"


def _cast(node: Node) -> str:
    to = node.args["to"]
    if to.this not in _TYPES or to.expressions:
        known = ", ".join(dict.fromkeys(_TYPES.values()))
        raise RefusedText(f"a cast to {to.sql()} is not allowed; use {known}", start(node))
    name = "TRY_CAST" if isinstance(node, exp.TryCast) else "CAST"
    return f"{name}({write(node.this)} AS {_TYPES[to.this]})"


def _column(node: Node) -> str:
    name = node.name
    if not isinstance(node.this, exp.Identifier):
        raise RefusedText("* is not allowed here", start(node))
    # Polars takes these for patterns of names.
    if name in {"", "*"} or (name.startswith("^") and name.endswith("$")):
        raise RefusedText(f"{name!r} is not a column name", start(node))
    return '"{}"'.format(name.replace('"', '""'))


def _literal(node: Node) -> str:
    if node.is_string:
        return "'{}'".format(node.name.replace("'", "''"))
    if not _NUMBER.fullmatch(node.name):
        raise RefusedText(f"{node.name!r} is not a number", start(node))
    return node.name


_NEGATED: dict[type[Node], Callable[..., str]] = {
    exp.In: _in,
    exp.Between: _between,
    exp.Is: _is,
    **dict.fromkeys(_PATTERNS, _pattern),
}
_WRITERS: dict[type[Node], Callable[[Node], str]] = {
    **dict.fromkeys(CHAINED, _chain),
    **dict.fromkeys(_COMPARISONS, _comparison),
    **_NEGATED,
    exp.Not: _not,
    exp.Neg: _negative,
    exp.Paren: lambda node: f"({write(node.this)})",
    exp.Anonymous: _call,
    exp.Case: _case,
    exp.Cast: _cast,
    exp.TryCast: _cast,
    exp.Column: _column,
    exp.Literal: _literal,
    exp.Boolean: lambda node: "TRUE" if node.this else "FALSE",
    exp.Null: lambda _node: "NULL",
}
