"""The functions that a condition or a formula may use, and the errors that refuse others.

No function makes more of its row than is there: those that pad or repeat a text are left out.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass

import polars as pl

MANY = 100
"""The most arguments of a function that takes any number."""


@dataclass(frozen=True)
class Function:
    """How a function may be called.

    Parameters
    ----------
    kind : str
        What it is for, in the reference.
    least, most : int
        How many arguments it takes.
    copies : int
        How often Polars writes out an argument, at the most.
    """

    kind: str
    least: int = 1
    most: int = 1
    copies: int = 1

    @property
    def arguments(self) -> str:
        """How many arguments it takes, in words."""
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
"""Name, in capitals, to how it may be called."""

AGGREGATES = frozenset({
    *("ARRAY_AGG", "STRING_AGG", "GROUP_CONCAT", "BIT_AND", "BIT_OR", "BIT_XOR"),
    *("SUM", "TOTAL", "COUNT", "MIN", "MAX", "FIRST", "LAST", "AVG", "MEAN", "MEDIAN"),
    *("STDDEV", "STDDEV_POP", "STDDEV_SAMP", "VAR", "VAR_POP", "VAR_SAMP", "VARIANCE"),
    *("CORR", "COVAR", "COVAR_POP", "COVAR_SAMP"),
    *("APPROX_QUANTILE", "QUANTILE_CONT", "QUANTILE_DISC", "NTILE", "RANK", "DENSE_RANK"),
    *("ROW_NUMBER", "LAG", "LEAD", "FIRST_VALUE", "LAST_VALUE", "NTH_VALUE"),
})  # fmt: skip
"""Functions of many rows, refused in words of their own."""


# Errors.

_SHOWN = 100
"""The most characters of a text that a message repeats."""


class Refused(ValueError):
    """Why a text is refused, and from which character on, if that is known."""

    def __init__(self, why: str, start: int | None = None) -> None:
        self.start = start
        super().__init__(why)


class NotByRow(Refused):
    """A function of many rows, by its name."""


def shown(text: str) -> str:
    """Return a text in quotation marks, cut if it is long.

    Examples
    --------
    >>> shown("f > 1")
    "'f > 1'"
    """
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}...")


def place(text: str, start: int | None) -> str:
    r"""Return where a character stands, to be put behind what is named.

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
    """Return what is said of a function that is not allowed: those that are, the nearest first.

    Examples
    --------
    >>> unknown("STARTSWITH")[:61]
    'no function that may be used here: allowed are STARTS_WITH, A'
    """
    near = difflib.get_close_matches(name, FUNCTIONS, n=3, cutoff=0.7)
    ordered = [*near, *sorted(set(FUNCTIONS) - set(near))]
    return f"no function that may be used here: allowed are {', '.join(ordered)}"


def regular_expression(pattern: str) -> str:
    """Return a regular expression that Polars can search for.

    Parameters
    ----------
    pattern : str
        What a user wrote.

    Raises
    ------
    ValueError
        If it is none, or needs more memory than one may.

    Examples
    --------
    >>> regular_expression("^[A-Z]")
    '^[A-Z]'
    >>> regular_expression("(a")
    Traceback (most recent call last):
    ...
    ValueError: '(a' is no regular expression: unclosed group
    """
    try:
        pl.select(pl.lit("").str.contains(pattern))
    except pl.exceptions.PolarsError as error:
        raise ValueError(f"{shown(pattern)} is no regular expression: {_why(error)}") from error
    return pattern


def _why(error: pl.exceptions.PolarsError) -> str:
    text = str(error)
    if "size limit" in text:
        return "it is too large, which repeats within repeats make it"
    found = [line for line in text.splitlines() if line.startswith("error: ")]
    return found[-1].removeprefix("error: ") if found else text.partition("\n")[0]
