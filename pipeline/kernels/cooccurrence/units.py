"""Units: selected by the attributes of a token, labelled by its own and related tokens'."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import polars as pl

from pipeline.kernels.cooccurrence.labels import fields, label
from pipeline.kernels.cooccurrence.tokens import PLACE, TOKEN, head_token

LABELS = "lexassay labels"
"""Name of the categories of labels: as long as any are held, the same label has the same number."""
LABEL = pl.Categorical(pl.Categories(LABELS))
"""The type of a column of labels."""
ELEMENTS = "\x1f"
"""Between the labels of a unit that contributes several: the separator of `candidate_id`."""


@dataclass(frozen=True)
class Related:
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
        Whether every such token makes a unit, or the first alone.
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
        The label, see `pipeline.kernels.cooccurrence.labels`.
    attach : mapping of str to Related
        Related tokens by the name that the template calls them.
    fold : bool
        Whether labels are put into lower case.
    matches : str
        Regular expression that the label has to match somewhere; any label if empty.
    exclude : sequence of str
        Labels that are no units.
    further : sequence of str
        Templates of further elements. The label is then all of them, `ELEMENTS` between, and
        each of them has to match and must not be excluded.
    """

    where: pl.Expr
    template: str
    attach: Mapping[str, Related] = field(default_factory=dict)
    fold: bool = False
    matches: str = ""
    exclude: Sequence[str] = ()
    further: Sequence[str] = ()

    @property
    def templates(self) -> tuple[str, ...]:
        """The templates of all elements."""
        return (self.template, *self.further)

    def label(self) -> pl.Expr:
        """Return the label, null where there is no unit."""
        elements = [self._element(template) for template in self.templates]
        return pl.concat_str(elements, separator=ELEMENTS) if self.further else elements[0]

    def _element(self, template: str) -> pl.Expr:
        optional = frozenset(name for name, each in self.attach.items() if each.optional)
        element = label(template, optional=optional)
        element = element.str.to_lowercase() if self.fold else element
        kept = element.str.contains(self.matches) if self.matches else pl.lit(value=True)
        if self.exclude:
            kept &= ~element.is_in(list(self.exclude))
        return pl.when(kept).then(element) if self.matches or self.exclude else element


def units(tokens: pl.LazyFrame, unit: Unit) -> pl.LazyFrame:
    """Return the units of a corpus.

    Parameters
    ----------
    tokens : LazyFrame
        Tokens as `places.numbered` gives them, with attributes; with related tokens also head.
    unit : Unit
        What to look for.

    Returns
    -------
    LazyFrame
        place, token and unit: the label, as a Categorical (`LABELS`), since labels are long and
        few. A token without a required related token, or with a null in its label, is no
        unit.

    Examples
    --------
    >>> from pipeline.kernels.cooccurrence.tokens import numbered
    >>> tokens = pl.LazyFrame({"file": ["f"] * 2, "sentence": [1, 1], "position": [1, 2],
    ...     "head": [2, 0], "lemma": ["in", "Frage"], "upos": ["ADP", "NOUN"]})
    >>> prep = Related(where=pl.col("upos") == "ADP")
    >>> noun = Unit(pl.col("upos") == "NOUN", "{prep.lemma}:{lemma}", {"prep": prep})
    >>> units(numbered(tokens), noun).select("unit").collect().item()
    'in:Frage'
    """
    rows = tokens.filter(unit.where)
    for name, related in unit.attach.items():
        rows = _attach(rows, tokens, name, related, _wanted(unit.templates, name))
    named = rows.select(PLACE, TOKEN, unit=unit.label()).drop_nulls("unit")
    return named.with_columns(pl.col("unit").cast(pl.Categorical(pl.Categories(LABELS))))


def _wanted(templates: Sequence[str], name: str) -> list[str]:
    """Return the attributes that templates ask of one related token."""
    asked = (each.partition(".") for template in templates for each in fields(template))
    return list(dict.fromkeys(rest for first, dot, rest in asked if dot and first == name))


def _attach(
    found: pl.LazyFrame, tokens: pl.LazyFrame, name: str, related: Related, attributes: list[str]
) -> pl.LazyFrame:
    """Join the attributes of a related token as columns ``name.attribute``."""
    below = related.side == "dependents"
    columns = {f"{name}.{attribute}": pl.col(attribute) for attribute in attributes}
    others = tokens.filter(related.where).select(
        (head_token() if below else pl.col(TOKEN)).alias("_at"),
        pl.col(TOKEN).alias("_order"),
        **columns,
    )
    others = others.drop_nulls("_at")
    if not related.each:
        others = others.sort("_order").unique("_at", keep="first", maintain_order=True)
    how: Literal["left", "inner"] = "left" if related.optional else "inner"
    placed = found.with_columns((pl.col(TOKEN) if below else head_token()).alias("_at"))
    return placed.join(others.drop("_order"), on="_at", how=how).drop("_at")
