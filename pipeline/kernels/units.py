"""Units: selected by the attributes of a token, labelled by its own and related tokens'."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import polars as pl

from pipeline.kernels.labels import fields, label

SENTENCE = ["file", "sentence"]
"""Columns that tell sentences apart."""


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
        The label, see `pipeline.kernels.labels`.
    attach : mapping of str to Related
        Related tokens by the name that the template calls them.
    """

    where: pl.Expr
    template: str
    attach: Mapping[str, Related] = field(default_factory=dict)


def units(tokens: pl.LazyFrame, unit: Unit) -> pl.LazyFrame:
    """Return the units of a corpus.

    Parameters
    ----------
    tokens : LazyFrame
        file, sentence, position, attributes; with related tokens also head.
    unit : Unit
        What to look for.

    Returns
    -------
    LazyFrame
        file, sentence, position, head (where the tokens have it) and unit (the label). A token
        without a required related token, or with a null in its label, is no unit.

    Examples
    --------
    >>> tokens = pl.LazyFrame({"file": ["f"] * 2, "sentence": [1, 1], "position": [1, 2],
    ...     "head": [2, 0], "lemma": ["in", "Frage"], "upos": ["ADP", "NOUN"]})
    >>> prep = Related(where=pl.col("upos") == "ADP")
    >>> noun = Unit(pl.col("upos") == "NOUN", "{prep.lemma}:{lemma}", {"prep": prep})
    >>> units(tokens, noun).select("unit").collect().item()
    'in:Frage'
    """
    found = tokens.filter(unit.where)
    for name, related in unit.attach.items():
        found = _attach(found, tokens, name, related, _wanted(unit.template, name))
    optional = frozenset(name for name, related in unit.attach.items() if related.optional)
    kept = [*SENTENCE, "position", *(["head"] if "head" in tokens.collect_schema() else [])]
    named = found.select(*kept, unit=label(unit.template, optional=optional))
    return named.filter(pl.col("unit").is_not_null())


def _wanted(template: str, name: str) -> list[str]:
    """Return the attributes that a template asks of one related token."""
    asked = (each.partition(".") for each in fields(template))
    return list(dict.fromkeys(rest for first, dot, rest in asked if dot and first == name))


def _attach(
    found: pl.LazyFrame, tokens: pl.LazyFrame, name: str, related: Related, attributes: list[str]
) -> pl.LazyFrame:
    """Join the attributes of a related token as columns ``name.attribute``."""
    place, link = ("position", "head") if related.side == "dependents" else ("head", "position")
    columns = {f"{name}.{attribute}": pl.col(attribute) for attribute in attributes}
    others = tokens.filter(related.where).select(
        *SENTENCE, pl.col(link).alias(place), pl.col("position").alias("_order"), **columns
    )
    if not related.each:
        others = others.sort("_order").unique([*SENTENCE, place], keep="first", maintain_order=True)
    how: Literal["left", "inner"] = "left" if related.optional else "inner"
    return found.join(others.drop("_order"), on=[*SENTENCE, place], how=how)
