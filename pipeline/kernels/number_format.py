"""How a column of text writes its numbers: decimal marks, marks between thousands, per cent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import polars as pl

Kind: TypeAlias = Literal["count", "number"]
"""What a column holds: whole numbers, or any."""
Decimal: TypeAlias = Literal[".", ","]
"""What stands before decimals."""

_MINUS = "\u2212"
_MARKS = {
    ".": r"\.",
    ",": ",",
    " ": "[ \u00a0\u2009\u202f]",
    "'": "['\u2019\u02bc]",
}
"""Mark to the signs that it is written by."""
_EXPONENT = r"([eE][+-]?\d+)?"
_INFINITE = r"(?i)^[+-]?inf(inity)?$"
_NAMES = {".": "points", ",": "commas", " ": "blanks", "'": "apostrophes"}
NO_NUMBER = "is not a number (texts for missing numbers: option missing)"
"""What is wrong with a field that is not read."""
UNCLEAR = "has a mark for either decimals or thousands (to decide: option decimal)"
"""What is wrong with a field of a column whose format is unclear."""


@dataclass(frozen=True)
class NumberFormat:
    """How the numbers of a column are written.

    Parameters
    ----------
    decimal : str
        What stands before decimals, a point or a comma.
    thousands : str
        What stands between thousands: nothing, a point, a comma, a blank or an apostrophe.
    percent : bool
        Whether each ends in a per cent sign.
    missing : tuple of str
        Texts that stand for no number, beside the empty one.
    known : bool
        Whether somebody has said what stands before decimals: then 1.000 is one, or a thousand.
    unclear : bool
        Whether nobody can tell what the marks of the column are. Then numbers without a mark are
        read, and no others.

    Examples
    --------
    >>> texts = pl.DataFrame({"f": ["1.234,5", "\u22122", "NA", "x"]})
    >>> german = NumberFormat(",", ".", missing=("NA",))
    >>> texts.select(german.plain(pl.col("f"))).to_series().to_list()
    ['1234.5', '-2', None, None]
    """

    decimal: Decimal = "."
    thousands: str = ""
    percent: bool = False
    missing: tuple[str, ...] = ()
    known: bool = False
    unclear: bool = False

    def is_empty(self, text: pl.Expr) -> pl.Expr:
        """Return whether there is no number."""
        bare = text.str.strip_chars()
        return text.is_null() | (bare == "") | bare.is_in(list(self.missing))

    def plain(self, text: pl.Expr) -> pl.Expr:
        """Return the numbers as programs write them, without a per cent sign; null for the rest.

        The text of a plain format stays as it is but for a minus sign (U+2212) and blanks round it.

        Parameters
        ----------
        text : Expr
            The column, text.
        """
        bare = _bare(text)
        there = pl.when(~self.is_empty(text))
        if self.unclear:
            return there.then(pl.when(~bare.str.contains(r"[.,]")).then(bare))
        if self.is_plain:
            return there.then(bare.str.replace(r"\.0+$", "") if self.known else bare)
        number = bare.str.replace(r"\s*%$", "") if self.percent else bare
        if self.thousands:
            number = number.str.replace_all(_MARKS[self.thousands], "")
        point = number.str.replace(",", ".", literal=True) if self.decimal == "," else number
        return there.then(pl.when(self.fits(text, "number")).then(point))

    def fits(self, text: pl.Expr, kind: Kind) -> pl.Expr:
        """Return whether texts are numbers, or counts, that are written so; null where empty.

        Parameters
        ----------
        text : Expr
            The column, text.
        kind : str
            "count" or "number".
        """
        mark = _MARKS[self.decimal]
        whole = r"\d+"
        if self.thousands:
            whole = rf"([1-9]\d{{0,2}}({_MARKS[self.thousands]}\d{{3}})+|\d+)"
        end = r"\s*%$" if self.percent else "$"
        bare = _bare(text)
        if kind == "count":
            exponent = _EXPONENT if self.is_plain else ""
            return bare.str.contains(rf"^[+-]?{whole}({mark}0*)?{exponent}{end}")
        decimals = rf"^[+-]?({whole}({mark}\d*)?|{mark}\d+){_EXPONENT}{end}"
        return bare.str.contains(decimals) | bare.str.contains(_INFINITE)

    @property
    def is_plain(self) -> bool:
        """Whether numbers are written as programs write them, as far as that is clear."""
        return not (self.thousands or self.percent or self.unclear) and self.decimal == "."

    def __str__(self) -> str:
        said = []
        if self.decimal == ",":
            said.append("commas stand before decimals")
        if self.thousands:
            said.append(f"{_NAMES[self.thousands]} stand between thousands")
        if self.percent:
            said.append("per cent are hundredths")
        if self.unclear:
            said.append("what its marks are is unclear")
        return ", ".join(said) or "plain numbers"


def _bare(text: pl.Expr) -> pl.Expr:
    return text.str.strip_chars().str.replace(_MINUS, "-", literal=True)


PLAIN = NumberFormat()
"""Numbers as programs write them: a point before decimals, nothing between thousands."""
_POINT, _COMMA = NumberFormat(",", "."), NumberFormat(".", ",")
"""Formats with a point, and with a comma, between thousands."""


def _formats(kind: Kind, decimal: Decimal | None) -> Iterator[NumberFormat]:
    """Yield the formats that a column may have, those without thousands first."""
    marks: Sequence[Decimal] = (".", ",") if decimal is None else (decimal,)
    for percent in (False, True) if kind == "number" else (False,):
        for thousands in ("", ",", ".", " ", "'"):
            for mark in marks:
                if mark != thousands:
                    yield NumberFormat(mark, thousands, percent)


def number_formats(
    rows: pl.LazyFrame,
    kinds: Mapping[str, Kind],
    *,
    decimal: Decimal | None = None,
    missing: Sequence[str] = (),
) -> dict[str, NumberFormat]:
    """Tell how columns of text write their numbers, each from all its rows.

    A format is that of a column if all its fields can be read so. If none is, it is the one by
    which most can be read: the rest are errors, and what is read never depends on them. If two are
    and differ, the format is unclear: 1,234 is a thousand and more, or one and a bit. A count has
    no decimals but zeros, so that 1,234 is clear, and 1.234 is where other counts have no mark;
    1.000 may be what a program makes of one.

    Parameters
    ----------
    rows : LazyFrame
        The rows; read twice at the most.
    kinds : mapping of str to str
        Column to "count" or "number".
    decimal : str, optional
        What stands before decimals, if that is known.
    missing : sequence of str
        Texts that stand for no number.

    Returns
    -------
    dict of str to NumberFormat
        Column to its format; `PLAIN`, with what is missing, for one that holds no text.

    Examples
    --------
    >>> rows = pl.LazyFrame({"f": ["1,200", "900"], "mi": ["0,5", "1,234"]})
    >>> for column, form in number_formats(rows, {"f": "count", "mi": "number"}).items():
    ...     print(f"{column}: {form}")
    f: commas stand between thousands
    mi: commas stand before decimals
    """
    schema = rows.collect_schema()
    usual = replace(PLAIN, missing=tuple(missing), known=decimal is not None)
    found = dict.fromkeys(kinds, usual)
    texts = [name for name in kinds if schema[name] == pl.String]
    if texts and decimal is None:
        clear = {name: _is_clear(usual, pl.col(name), kind) for name, kind in kinds.items()}
        plain = rows.select(clear[name].alias(name) for name in texts).collect(engine="streaming")
        texts = [name for name in texts if not plain[name].item()]
    for name in texts:
        form = _tell(rows, name, kinds[name], decimal, usual)
        found[name] = replace(form, missing=usual.missing, known=usual.known)
    return found


def _is_clear(usual: NumberFormat, text: pl.Expr, kind: Kind) -> pl.Expr:
    """Return whether all of a column is plain, and cannot be read otherwise."""
    plain = PLAIN.fits(text, kind)
    if kind == "count":
        plain &= ~_bare(text).str.contains(r"\.000$")
    return (plain | usual.is_empty(text)).all()


def _tell(
    rows: pl.LazyFrame, name: str, kind: Kind, decimal: Decimal | None, usual: NumberFormat
) -> NumberFormat:
    """Return the format of a column that is not plain throughout."""
    text = pl.col(name)
    there = ~usual.is_empty(text)
    forms = list(_formats(kind, decimal))
    bare = _bare(text)
    counts = rows.select(
        *((form.fits(text, kind) & there).sum().alias(str(at)) for at, form in enumerate(forms)),
        filled=there.sum(),
        # In a count, a point is between thousands for sure if others have none, or several.
        shown=(there & (~bare.str.contains(r"\.") | bare.str.contains(r"\..*\."))).any(),
        marked=(there & bare.str.contains(r"\.")).any(),
    )
    (found,) = counts.collect(engine="streaming").rows(named=True)
    fitting = [form for at, form in enumerate(forms) if found[str(at)] == found["filled"]]
    if not fitting:
        return forms[max(range(len(forms)), key=lambda at: (found[str(at)], -at))]
    if decimal is not None:
        return fitting[0]
    if kind == "number":
        decimals = replace(PLAIN, decimal=",")
        both = {decimals, _COMMA} <= {*fitting}
        return replace(PLAIN, unclear=True) if both else fitting[0]
    if _POINT in fitting and found["marked"] and (PLAIN in fitting or not found["shown"]):
        return replace(PLAIN, unclear=True)
    return next(form for form in (PLAIN, _COMMA, *fitting) if form in fitting)
