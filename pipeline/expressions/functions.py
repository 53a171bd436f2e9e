"""The functions allowed in conditions and formulas, and the errors for others.

Functions that lengthen a text (padding, repetition) are excluded.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass

import polars as pl

MANY = 100
"""Maximum number of arguments of a variadic function."""


@dataclass(frozen=True)
class Function:
    """The signature of a function.

    Parameters
    ----------
    kind : str
        Its category in the reference.
    least, most : int
        Minimum and maximum number of arguments.
    copies : int
        Maximum number of times that Polars copies an argument.
    """

    kind: str
    least: int = 1
    most: int = 1
    copies: int = 1

    @property
    def arguments(self) -> str:
        """The number of arguments, in words."""
        few = f"{self.least} to {self.most}" if self.least < self.most else f"{self.most}"
        return f"{few} argument{'s' if self.most != 1 else ''}"


NUMBERS, TEXT, CHOICE = "numbers", "text", "choice"

FUNCTIONS = {
    **dict.fromkeys(("ABS", "SIGN", "CEIL", "CEILING", "FLOOR"), Function(NUMBERS)),
    **dict.fromkeys(("ROUND", "TRUNC"), Function(NUMBERS, 1, 2)),
    **dict.fromkeys(("MOD", "DIV", "POW", "POWER", "LOG", "ATAN2"), Function(NUMBERS, 2, 2)),
    **dict.fromkeys(("SQRT", "CBRT", "EXP", "LN", "LOG2", "LOG10", "LOG1P"), Function(NUMBERS)),
    **dict.fromkeys(("SIN", "COS", "TAN", "ASIN", "ACOS", "ATAN"), Function(NUMBERS)),
    "PI": Function(NUMBERS, 0, 0),
    **dict.fromkeys(("LOWER", "UPPER", "INITCAP", "REVERSE"), Function(TEXT)),
    **dict.fromkeys(("LENGTH", "CHAR_LENGTH", "OCTET_LENGTH"), Function(TEXT)),
    "TRIM": Function(TEXT),
    **dict.fromkeys(("LTRIM", "RTRIM"), Function(TEXT, 1, 2)),
    **dict.fromkeys(("STARTS_WITH", "ENDS_WITH", "STRPOS"), Function(TEXT, 2, 2)),
    **dict.fromkeys(("LEFT", "RIGHT"), Function(TEXT, 2, 2, copies=3)),
    **dict.fromkeys(("SUBSTR", "SUBSTRING"), Function(TEXT, 2, 3, copies=3)),
    "SPLIT_PART": Function(TEXT, 3, 3, copies=4),
    "CONCAT": Function(TEXT, 1, MANY),
    "REPLACE": Function(TEXT, 3, 3),
    "REGEXP_LIKE": Function(TEXT, 2, 3),
    **dict.fromkeys(("COALESCE", "GREATEST", "LEAST"), Function(CHOICE, 1, MANY)),
    "IFNULL": Function(CHOICE, 2, 2),
    "NULLIF": Function(CHOICE, 2, 2, copies=2),
    "IF": Function(CHOICE, 3, 3),
}
"""Signatures by name, in capitals."""

AGGREGATES = frozenset({
    *("ARRAY_AGG", "STRING_AGG", "GROUP_CONCAT", "BIT_AND", "BIT_OR", "BIT_XOR"),
    *("SUM", "TOTAL", "COUNT", "MIN", "MAX", "FIRST", "LAST", "AVG", "MEAN", "MEDIAN"),
    *("STDDEV", "STDDEV_POP", "STDDEV_SAMP", "VAR", "VAR_POP", "VAR_SAMP", "VARIANCE"),
    *("CORR", "COVAR", "COVAR_POP", "COVAR_SAMP"),
    *("APPROX_QUANTILE", "QUANTILE_CONT", "QUANTILE_DISC", "NTILE", "RANK", "DENSE_RANK"),
    *("ROW_NUMBER", "LAG", "LEAD", "FIRST_VALUE", "LAST_VALUE", "NTH_VALUE"),
})  # fmt: skip
"""Functions of many rows, which have an error message of their own."""


# Errors.

_SHOWN = 100
"""Maximum number of characters of a text quoted in a message."""


class RefusedText(ValueError):
    """The reason for rejecting a text, with the position if known."""

    def __init__(self, why: str, start: int | None = None) -> None:
        self.start = start
        super().__init__(why)


class NotByRow(RefusedText):
    """A function of many rows, by its name."""


def quote(text: str) -> str:
    """Return a text in quotation marks, truncated if long.

    Examples
    --------
    >>> quote("f > 1")
    "'f > 1'"
    """
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}...")


def place(text: str, start: int | None) -> str:
    r"""Return the position of a character, for the end of a message.

    Examples
    --------
    >>> place("f > 1", 4), place("f > 1 AND\nx", 10), place("f", None)
    (' (column 5)', ' (line 2, column 1)', '')
    """
    if start is None:
        return ""
    before = text[:start].split("\n")
    line = f"line {len(before)}, " if len(before) > 1 else ""
    return f" ({line}column {len(before[-1]) + 1})"


def unknown(name: str) -> str:
    """Return the message for a function that is not allowed, with the allowed ones, nearest first.

    Examples
    --------
    >>> unknown("STARTSWITH")[:61]
    'not an allowed function; allowed are STARTS_WITH, ABS, ACOS, '
    """
    near = difflib.get_close_matches(name, FUNCTIONS, n=3, cutoff=0.7)
    ordered = [*near, *sorted(set(FUNCTIONS) - set(near))]
    return f"not an allowed function; allowed are {', '.join(ordered)}"


def regular_expression(pattern: str) -> str:
    """Return a regular expression, if Polars accepts it.

    Parameters
    ----------
    pattern : str
        The user's pattern.

    Raises
    ------
    ValueError
        If it is invalid or needs too much memory.

    Examples
    --------
    >>> regular_expression("^[A-Z]")
    '^[A-Z]'
    >>> regular_expression("(a")
    Traceback (most recent call last):
    ...
    ValueError: '(a' is not a valid regular expression: unclosed group
    """
    try:
        pl.select(pl.lit("").str.contains(pattern))
    except pl.exceptions.PolarsError as error:
        raise ValueError(
            f"{quote(pattern)} is not a valid regular expression: {_why(error)}"
        ) from error
    return pattern


def _why(error: pl.exceptions.PolarsError) -> str:
    text = str(error)
    if "size limit" in text:
        return "it is too large, usually because of nested repetitions"
    messages = [line for line in text.splitlines() if line.startswith("error: ")]
    return messages[-1].removeprefix("error: ") if messages else text.partition("\n")[0]
