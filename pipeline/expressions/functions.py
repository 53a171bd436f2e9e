"""The functions that a condition or a formula may use; there are no others.

None of them makes more of its row than is there: what pads or repeats a text is left out.
"""

from __future__ import annotations

from dataclasses import dataclass

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
