"""The SQL that is read: PostgreSQL's, in which every function is a name with arguments.

The parser's own knowledge of functions is left out: it would put arguments into another order, or
one function for another.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, cast

from sqlglot import exp
from sqlglot.dialects.postgres import Postgres
from sqlglot.errors import ParseError, SqlglotError
from sqlglot.parsers.postgres import PostgresParser

from pipeline.expressions.refusal import Refused

_Parsers = dict[str, Callable[..., Any]]
_WRITTEN = "written"


def _kept(parsers: _Parsers, *names: str) -> _Parsers:
    return {name: parsers[name] for name in names}


class Expressions(Postgres):
    """Expressions of PostgreSQL, and names in backticks as Polars has them."""

    class Tokenizer(Postgres.Tokenizer):
        """No word at the beginning makes a command of what follows."""

        IDENTIFIERS: ClassVar[list[str | tuple[str, str]]] = ['"', "`"]
        COMMANDS: ClassVar[set[Any]] = set()

    class Parser(PostgresParser):
        """Of all words with a grammar of their own, CASE and casts alone."""

        FUNCTIONS: ClassVar[_Parsers] = {}
        FUNCTION_PARSERS: ClassVar[_Parsers] = _kept(
            PostgresParser.FUNCTION_PARSERS, "CAST", "TRY_CAST"
        )
        NO_PAREN_FUNCTIONS: ClassVar[dict[Any, Any]] = {}
        NO_PAREN_FUNCTION_PARSERS: ClassVar[_Parsers] = _kept(
            PostgresParser.NO_PAREN_FUNCTION_PARSERS, "CASE"
        )

        def _parse_paren(self) -> exp.Expr | None:
            """Mark brackets that stand in the text: the parser adds some of its own."""
            found = super()._parse_paren()
            if isinstance(found, exp.Paren):
                found.meta[_WRITTEN] = True
            return found


_DIALECT = Expressions()


def tree(text: str) -> exp.Expr:
    """Return the one expression that a text consists of.

    Raises
    ------
    Refused
        If it cannot be read, or is several.
    """
    try:
        found = _DIALECT.parse_into(exp.Condition, text)
    except ParseError as error:
        raise _unread(error, text) from error
    except SqlglotError as error:
        raise Refused("a quotation mark or a comment is not closed") from error
    except RecursionError as error:
        raise Refused("it is nested too deeply") from error
    whole = [each for each in found if each is not None]
    if len(whole) != 1:
        raise Refused("it is more than one expression" if whole else "it is empty")
    return _as_written(whole[0])


def _as_written(node: exp.Expr) -> exp.Expr:
    """Take out the brackets that the parser added: they would hide what can be read twice."""
    root = exp.Paren(this=node)
    for found in [*root.this.find_all(exp.Paren)]:
        if not found.meta.get(_WRITTEN):
            found.replace(found.this)
    return cast("exp.Expr", root.this)


def _unread(error: ParseError, text: str) -> Refused:
    """Say at which word reading ended."""
    said = error.errors[0] if error.errors else {}
    word, line, end = said.get("highlight"), said.get("line"), said.get("col")
    if not word or line is None or end is None:
        return Refused("it cannot be read")
    before = sum(len(each) + 1 for each in text.split("\n")[: line - 1])
    return Refused(f"it cannot be read at {word!r}", before + end - len(word))
