"""Tokens and units: numbers of tokens and sentences, labels of units, and units of tokens."""

from __future__ import annotations

import string
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Literal, NamedTuple

import numpy as np
import polars as pl

from pipeline.kernels.numeric import IntArray

# Labels of units: templates such as ``{prep.lemma}:{lemma}`` as expressions


_MOST_FIELDS = 100
"""Attributes of a label: each is a column of its own in a query."""


def fields(template: str) -> list[str]:
    """Return the attributes of a template, in order.

    Parameters
    ----------
    template : str
        Text with ``{attribute}`` for the unit's own attributes and ``{name.attribute}`` for
        those of a related token; ``{{`` and ``}}`` stand for braces.

    Raises
    ------
    ValueError
        If braces do not match, a field is empty or has a conversion, or there are more than 100.

    Examples
    --------
    >>> fields("{prep.lemma}:{lemma}")
    ['prep.lemma', 'lemma']
    """
    attributes = []
    for _text, name, specification, conversion in _parse_template(template):
        if name is None:
            continue
        if not name or specification or conversion:
            raise ValueError(f"{template!r}: write {{attribute}} or {{name.attribute}}")
        attributes.append(name)
    if not attributes:
        raise ValueError(f"{template!r} contains no attribute: all units would have the same label")
    if len(attributes) > _MOST_FIELDS:
        many = f"{len(attributes):,} attributes"
        raise ValueError(f"the label has {many}, but may have at most {_MOST_FIELDS}")
    return attributes


def _parse_template(template: str) -> list[tuple[str, str | None, str | None, str | None]]:
    """Return the text before each field, and the field."""
    try:
        return list(string.Formatter().parse(template))
    except ValueError as error:
        raise ValueError(
            f"{template!r} has an unpaired brace: write {{attribute}}; literal braces are doubled"
        ) from error


def label(template: str, *, optional: frozenset[str] = frozenset()) -> pl.Expr:
    """Return the label of each row.

    Parameters
    ----------
    template : str
        As for `fields`; the columns have the names of the fields.
    optional : set of str
        Related tokens that may be absent: their attributes are then empty.

    Returns
    -------
    Expr
        String; null where an attribute that is not optional is null, and where the label would be
        blank.

    Examples
    --------
    >>> frame = pl.DataFrame({"prep.lemma": ["in"], "lemma": ["Frage"]})
    >>> frame.select(label("{prep.lemma}:{lemma}")).item()
    'in:Frage'
    """
    fields(template)
    parts: list[pl.Expr] = []
    for text, name, _specification, _conversion in _parse_template(template):
        if text:
            parts.append(pl.lit(text))
        if name:
            column = pl.col(name).cast(pl.String)
            absent = name.partition(".")[0] in optional and "." in name
            parts.append(column.fill_null("") if absent else column)
    whole = pl.concat_str(parts) if len(parts) > 1 else parts[0]
    return whole.map_batches(_null_if_blank, return_dtype=pl.String(), is_elementwise=True)


def _null_if_blank(texts: pl.Series) -> pl.Series:
    """Return texts, null where blank; most columns hold no such text, so look for one first."""
    doubtful = (texts < "!") | (texts > "~")  # what begins otherwise begins with no white space
    if not doubtful.any():
        return texts
    blank = texts.filter(doubtful).str.strip_chars() == ""
    if not blank.any():
        return texts
    filled = pl.when(pl.col("text").str.strip_chars() != "").then("text")
    return texts.to_frame("text").select(filled).to_series()


TOKEN, PLACE = "token", "place"
"""Columns with the 0-based number of a token and of its sentence among those at hand."""


def number_tokens(tokens: pl.LazyFrame, *, in_order: bool = False) -> pl.LazyFrame:
    """Give numbers to the tokens and their sentences.

    Parameters
    ----------
    tokens : LazyFrame
        file, sentence, position (1, 2, 3 ... in each sentence) and attributes.
    in_order : bool
        Whether the rows are in order already.

    Returns
    -------
    LazyFrame
        The tokens in order, with `TOKEN` and `PLACE` (Int64).

    Examples
    --------
    >>> rows = {"file": ["f"] * 3, "sentence": [7, 7, 9], "position": [1, 2, 1]}
    >>> number_tokens(pl.LazyFrame(rows)).select("token", "place").collect().rows()
    [(0, 0), (1, 0), (2, 1)]
    """
    ordered = tokens if in_order else tokens.sort("file", "sentence", "position")
    changes = [pl.col(name) != pl.col(name).shift() for name in ("file", "sentence")]
    place = pl.any_horizontal(changes).fill_null(value=False).cum_sum()
    return ordered.with_columns(
        pl.int_range(pl.len(), dtype=pl.Int64).alias(TOKEN), place.cast(pl.Int64).alias(PLACE)
    )


def longest(tokens: pl.DataFrame) -> int:
    """Return the length of the longest sentence in tokens; 0 without sentences.

    Examples
    --------
    >>> longest(pl.DataFrame({"place": [0, 0, 1]}))
    2
    """
    most: int | None = tokens.get_column(PLACE).rle().struct.field("len").max()  # type: ignore[assignment]
    return most or 0


def head_token() -> pl.Expr:
    """Return the number of a token's head; null for the root, or if unknown."""
    head = pl.col("head")
    return pl.when(head > 0).then(pl.col(TOKEN) + head - pl.col("position"))


# Units found by their token


class TokenIndex(NamedTuple):
    """The units at each token.

    Parameters
    ----------
    units : DataFrame
        The units, in the order of their tokens.
    rows : list of arrays of int, each of shape (tokens,)
        The row of `units` at each token, -1 for none. Of several units at a token, the first is in
        the first array, the second in the second.
    """

    units: pl.DataFrame
    rows: list[IntArray]


def token_index(units: pl.DataFrame, size: int) -> TokenIndex:
    """Index units by their token.

    Parameters
    ----------
    units : DataFrame
        As the function `units` gives them.
    size : int
        Number of tokens.

    Examples
    --------
    >>> index = token_index(pl.DataFrame({"token": [2, 0, 2], "unit": ["b", "a", "c"]}), 3)
    >>> [rows.tolist() for rows in index.rows]
    [[0, -1, 1], [-1, -1, 2]]
    """
    ordered = in_order(units)
    return TokenIndex(ordered, list(_index_rows(ordered.get_column(TOKEN).to_numpy(), size)))


def in_order(units: pl.DataFrame) -> pl.DataFrame:
    """Return the units in the order of their tokens."""
    return units if units.get_column(TOKEN).is_sorted() else units.sort(TOKEN)


def _index_rows(token: IntArray, size: int) -> Iterator[IntArray]:
    row = np.arange(len(token))
    while len(row):
        index = np.full(size, -1, dtype=np.int64)
        # Of several rows the first is kept: the last assignment is that of the first row.
        index[token[row[::-1]]] = row[::-1]
        yield index
        row = row[1:][np.diff(token[row]) == 0]  # those on the token of the row before them


# Units selected by attributes of tokens

LABELS = "lexassay labels"
"""Name of the categories of labels: as long as any are held, the same label has the same number."""
LABEL = pl.Categorical(pl.Categories(LABELS))
"""The type of a column of labels."""
ELEMENTS = "\x1f"
"""Between the labels of a unit that contributes several: the separator of `candidate_id`."""


@dataclass(frozen=True)
class RelatedToken:
    """A token related to the unit's token by a dependency.

    Parameters
    ----------
    where : Expr
        Condition on the related token.
    side : str
        "dependents": it depends on the unit's token; "head": the unit's token depends on it.
    optional : bool
        Whether a unit without it is kept.
    each : bool
        Whether every such token makes a unit, or only the first.
    """

    where: pl.Expr
    side: Literal["dependents", "head"] = "dependents"
    optional: bool = False
    each: bool = False


@dataclass(frozen=True)
class Unit:
    """How units are selected and labelled.

    Parameters
    ----------
    where : Expr
        Condition on the token.
    template : str
        The label, see `pipeline.kernels.cooccurrence.tokens`.
    attach : mapping of str to RelatedToken
        Related tokens by their names in the template.
    fold : bool or str
        Whether to lower-case labels; a language code: by the rules of the language, see
        `fold_case`.
    matches : str
        Regular expression searched in the label; any label if empty.
    exclude : sequence of str
        Labels to exclude.
    followed_by : sequence of str
        Regular expressions for the labels of the next tokens of the sentence.
    name : str
        One name for all units instead of their labels, if not empty.
    further : sequence of str
        Templates of further elements. The label then joins all of them with `ELEMENTS`; each must
        match and must not be excluded.
    """

    where: pl.Expr
    template: str
    attach: Mapping[str, RelatedToken] = field(default_factory=dict)
    fold: bool | str = False
    matches: str = ""
    exclude: Sequence[str] = ()
    further: Sequence[str] = ()
    followed_by: Sequence[str] = ()
    name: str = ""

    @property
    def width(self) -> int:
        """Number of tokens of a unit."""
        return 1 + len(self.followed_by)

    @property
    def templates(self) -> tuple[str, ...]:
        """The templates of all elements."""
        return (self.template, *self.further)

    def label(self) -> pl.Expr:
        """Return the label, null where there is no unit."""
        elements = [self._element(template) for template in self.templates]
        label = pl.concat_str(elements, separator=ELEMENTS) if self.further else elements[0]
        return pl.when(label.is_not_null()).then(pl.lit(self.name)) if self.name else label

    def condition(self) -> pl.Expr:
        """Return the condition on a token and those after it; the tokens are in order."""
        text = fold_case(label(self.template), self.fold) if self.fold else label(self.template)
        after = [
            text.shift(-place).str.contains(pattern).fill_null(value=False)
            & (pl.col("position").shift(-place) == pl.col("position") + place)
            for place, pattern in enumerate(self.followed_by, start=1)
        ]
        return pl.all_horizontal(self.where, *after) if after else self.where

    def _element(self, template: str) -> pl.Expr:
        optional = frozenset(name for name, each in self.attach.items() if each.optional)
        element = label(template, optional=optional)
        element = fold_case(element, self.fold) if self.fold else element
        condition = element.str.contains(self.matches) if self.matches else pl.lit(value=True)
        if self.exclude:
            condition &= ~element.is_in(list(self.exclude))
        return pl.when(condition).then(element) if self.matches or self.exclude else element


_DOTTED = {"tr", "az"}
"""Languages in which the capital of i has a dot, and that of dotless i has none."""
OWN_CASE = {*_DOTTED, "lt"}
"""Languages with their own rules for lower case."""


def fold_case(text: pl.Expr, language: bool | str = True) -> pl.Expr:
    """Return text in lower case, by the rules of Unicode and of a language.

    *Maße* and *Masse* remain distinct.

    Parameters
    ----------
    text : Expr
        String.
    language : bool or str
        ISO 639-1 code: "tr" and "az" have two kinds of i, "lt" keeps a dot. "full": Unicode's full
        case folding, in which ß is ss, ſ is s, and every sigma alike.

    References
    ----------
    The Unicode Standard, section 5.18, and CaseFolding.txt.

    Examples
    --------
    >>> words = pl.DataFrame({"a": ["İSTANBUL", "IŞIK"]})
    >>> words.select(fold_case(pl.col("a"), "tr"))["a"].to_list()
    ['istanbul', 'ışık']
    >>> words.select(fold_case(pl.lit("ΛΟΓΟΣ"))).item(0, 0)
    'λογος'
    >>> words.select(fold_case(pl.lit("Straße ﬁſh"), "full")).item(0, 0)
    'strasse fish'
    """
    if language in _DOTTED:
        return text.str.replace_many(["İ", "I\u0307", "I"], ["i", "i", "ı"]).str.to_lowercase()
    lower = text.str.to_lowercase()
    if language == "full":
        return lower.str.replace_many(_full_folding())
    return lower.str.replace_all("i\u0307", "i", literal=True) if language == "lt" else lower


@cache
def _full_folding() -> dict[str, str]:
    """Return the small letters that full case folding changes."""
    letters = map(chr, range(sys.maxunicode + 1))
    small = (letter for letter in letters if letter.lower() == letter)
    return {letter: letter.casefold() for letter in small if letter.casefold() != letter}


def units(tokens: pl.LazyFrame, unit: Unit) -> pl.LazyFrame:
    """Return the units of a corpus.

    Parameters
    ----------
    tokens : LazyFrame
        Tokens as `number_tokens` gives them, with attributes; with related tokens also head.
    unit : Unit
        The unit.

    Returns
    -------
    LazyFrame
        place, token and unit: the label, as a Categorical (`LABELS`). A token without a required
        related token, or with a null in its label, is not a unit.

    Examples
    --------
    >>> from pipeline.kernels.cooccurrence.tokens import number_tokens
    >>> tokens = pl.LazyFrame({"file": ["f"] * 2, "sentence": [1, 1], "position": [1, 2],
    ...     "head": [2, 0], "lemma": ["in", "Frage"], "upos": ["ADP", "NOUN"]})
    >>> prep = RelatedToken(where=pl.col("upos") == "ADP")
    >>> noun = Unit(pl.col("upos") == "NOUN", "{prep.lemma}:{lemma}", {"prep": prep})
    >>> units(number_tokens(tokens), noun).select("unit").collect().item()
    'in:Frage'
    """
    rows = tokens.filter(unit.condition())
    for name, related in unit.attach.items():
        rows = _join_related(rows, tokens, name, related, _attributes_of(unit.templates, name))
    table = rows.select(PLACE, TOKEN, unit=unit.label()).drop_nulls("unit")
    return table.with_columns(pl.col("unit").cast(pl.Categorical(pl.Categories(LABELS))))


def _attributes_of(templates: Sequence[str], name: str) -> list[str]:
    """Return the attributes of one related token in the templates."""
    parts = (each.partition(".") for template in templates for each in fields(template))
    return list(dict.fromkeys(rest for first, dot, rest in parts if dot and first == name))


def _join_related(
    rows: pl.LazyFrame,
    tokens: pl.LazyFrame,
    name: str,
    token: RelatedToken,
    attributes: list[str],
) -> pl.LazyFrame:
    """Join the attributes of a related token as columns ``name.attribute``."""
    below = token.side == "dependents"
    columns = {f"{name}.{attribute}": pl.col(attribute) for attribute in attributes}
    others = tokens.filter(token.where).select(
        (head_token() if below else pl.col(TOKEN)).alias("_at"),
        pl.col(TOKEN).alias("_order"),
        **columns,
    )
    others = others.drop_nulls("_at")
    if not token.each:
        others = others.sort("_order").unique("_at", keep="first", maintain_order=True)
    how: Literal["left", "inner"] = "left" if token.optional else "inner"
    table = rows.with_columns((pl.col(TOKEN) if below else head_token()).alias("_at"))
    return table.join(others.drop("_order"), on="_at", how=how).drop("_at")
