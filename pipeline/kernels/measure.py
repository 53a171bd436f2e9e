"""What an association measure is, and the registries that find them by name or alias."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Literal, TypeAlias

import polars as pl

from pipeline.registry import Registry

Family: TypeAlias = Literal[
    "likelihood", "exact test", "asymptotic test", "point estimate",
    "conservative estimate", "information theory", "heuristic",
]  # fmt: skip
Sidedness: TypeAlias = Literal["one-sided", "two-sided", "signed", "none"]


@dataclass(frozen=True)
class Measure:
    """A registered association measure.

    Parameters
    ----------
    name : str
        The field's standard name in snake case.
    score : callable
        () -> expression over the columns of `pipeline.kernels.association.contingency`; of a
        measure of tuples, number of units -> expression over those of
        `pipeline.kernels.association.tuple_tables`.
    family, formula, range, reference, sided
        What ``lexassay measures`` lists; `range` in interval notation.
    ucs : str
        Name in the UCS toolkit, empty if it has none.
    aliases : sequence of str
        Other names that people type.
    symmetric : bool
        Whether swapping l1 and l2 leaves the score as it is.

    Examples
    --------
    >>> MEASURES.get("t_score").formula, TUPLE_MEASURES.get("t_score").formula
    ('(O11 - E11) / sqrt(O11)', '(O - E) / sqrt(O)')
    """

    name: str
    score: Callable[..., pl.Expr]
    _: KW_ONLY
    family: Family
    formula: str
    range: str
    reference: str
    sided: Sidedness = "none"
    ucs: str = ""
    aliases: Sequence[str] = ()
    symmetric: bool = True

    @property
    def spellings(self) -> tuple[str, ...]:
        """Every name that finds the measure, its own first."""
        others = (self.ucs, *self.aliases)
        return tuple(dict.fromkeys(name for name in (self.name, *others) if name))


MEASURES: Registry[Measure] = Registry(
    "measure", "pipeline.kernels.association.measures", spellings=lambda each: each.spellings
)
TUPLE_MEASURES: Registry[Measure] = Registry(
    "tuple measure",
    "pipeline.kernels.association.tuple_measures",
    spellings=lambda each: each.spellings,
)

measure = MEASURES.decorator(Measure)
"""Registers a function () -> expression as the association measure named after it."""

tuple_measure = TUPLE_MEASURES.decorator(Measure)
"""Registers a function of the number of units as the measure of tuples named after it.

It bears the name of the measure of pairs that it equals for two units. In the formula O and E are
those of the whole tuple, E = N (f1/N) (f2/N) ... (fk/N).
"""
