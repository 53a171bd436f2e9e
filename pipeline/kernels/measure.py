"""What an association measure is, and the registry that finds them by name or alias."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import polars as pl

from pipeline.errors import ConfigError, Problem
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
    """

    name: str
    score: Callable[..., pl.Expr]
    family: Family
    formula: str
    range: str
    reference: str
    sided: Sidedness = "none"
    ucs: str = ""
    aliases: tuple[str, ...] = ()
    symmetric: bool = True

    @property
    def spellings(self) -> tuple[str, ...]:
        """Every name that finds the measure, its own first."""
        others = (self.ucs, *self.aliases)
        return tuple(dict.fromkeys(name for name in (self.name, *others) if name))


MEASURES: Registry[Measure] = Registry("measure", "pipeline.kernels.association.measures")


def measure(
    *,
    family: Family,
    formula: str,
    range: str,  # noqa: A002  the word of the field
    reference: str,
    sided: Sidedness = "none",
    ucs: str = "",
    aliases: Sequence[str] = (),
    symmetric: bool = True,
) -> Callable[[Callable[[], pl.Expr]], Callable[[], pl.Expr]]:
    """Register a function () -> expression as an association measure named after it.

    Parameters
    ----------
    family, formula, range, reference, sided, ucs, aliases, symmetric
        As in `Measure`.

    Returns
    -------
    decorator
        Gives the function back unchanged.

    Examples
    --------
    >>>     >>> MEASURES.get("t_score").formula
    '(O11 - E11) / sqrt(O11)'
    """

    def register(function: Callable[[], pl.Expr]) -> Callable[[], pl.Expr]:
        made = Measure(
            function.__name__, function, family, formula, range, reference,
            sided, ucs, tuple(aliases), symmetric,
        )  # fmt: skip
        MEASURES.add(made.name, made, function.__module__)
        return function

    return register


def spellings(registry: Registry[Measure] = MEASURES) -> dict[str, str]:
    """Return every accepted spelling with the name that it stands for.

    Parameters
    ----------
    registry : Registry
        The measures of pairs, or those of tuples.

    Raises
    ------
    ConfigError
        If two measures claim the same spelling.
    """
    found: dict[str, str] = {}
    for name in registry:
        for spelling in registry.get(name).spellings:
            holder = found.setdefault(spelling, name)
            if holder != name:
                what = f"stands for {holder} and for {name}"
                raise ConfigError("measures", [Problem(spelling, what, "rename one of them")])
    return found


def resolve(names: Sequence[str], registry: Registry[Measure] = MEASURES) -> list[str]:
    """Return the standard names of the measures asked for, each once, in their order.

    Parameters
    ----------
    names : sequence of str
        Names or aliases; ``all`` stands for every measure.
    registry : Registry
        The measures of pairs, or those of tuples.

    Raises
    ------
    KeyError
        For an unknown name, with the nearest valid ones.

    Examples
    --------
    >>> resolve(["G2", "t.score", "LL"])
    ['log_likelihood', 't_score']
    """
    known = spellings(registry)
    wanted = [name for asked in names for name in (registry if asked == "all" else [asked])]
    return list(dict.fromkeys(known.get(name) or registry.get(name).name for name in wanted))


TUPLE_MEASURES: Registry[Measure] = Registry(
    "tuple measure", "pipeline.kernels.association.tuple_measures"
)

_Score: TypeAlias = Callable[[int], pl.Expr]


def tuple_measure(
    *,
    family: Family,
    formula: str,
    range: str,  # noqa: A002  the word of the field
    reference: str,
    sided: Sidedness = "none",
    ucs: str = "",
    aliases: Sequence[str] = (),
) -> Callable[[_Score], _Score]:
    """Register a function of the number of units as a measure of tuples named after it.

    It bears the name of the measure of pairs that it equals for two units.

    Parameters
    ----------
    family, formula, range, reference, sided, ucs, aliases
        As in `pipeline.kernels.measure.Measure`. In the formula O and E are those of the
        whole tuple, E = N (f1/N) (f2/N) ... (fk/N).

    Returns
    -------
    decorator
        Gives the function back unchanged.

    Examples
    --------
    >>> TUPLE_MEASURES.get("t_score").formula
    '(O - E) / sqrt(O)'
    """

    def register(function: _Score) -> _Score:
        made = Measure(
            function.__name__, function, family, formula, range, reference,
            sided, ucs, tuple(aliases),
        )  # fmt: skip
        TUPLE_MEASURES.add(made.name, made, function.__module__)
        return function

    return register
