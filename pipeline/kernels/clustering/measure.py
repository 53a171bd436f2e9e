"""What a measure of clusterings is, and the registries that find them by name or alias."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, ParamSpec, TypeAlias

from pipeline.registry import Registry

Family: TypeAlias = Literal[
    "mapping", "information theory", "pair counting", "set matching", "overlapping"
]
Better: TypeAlias = Literal["higher", "lower"]
P = ParamSpec("P")


@dataclass(frozen=True)
class ClusterMeasure:
    """A registered measure of a clustering against gold classes.

    Parameters
    ----------
    name : str
        The field's standard name in snake case.
    score : callable
        Contingency table -> float; for overlapping data, memberships -> float. NaN where the
        measure is undefined.
    title : str
        What a table or a chart calls it.
    family, formula, range, reference
        What a list of measures shows; `range` in interval notation, natural logarithm.
    better : str
        Whether a higher or a lower value is better.
    symmetric : bool
        Whether swapping classes and clusters leaves the value as it is.
    aliases : sequence of str
        Other names that people type.
    """

    name: str
    score: Callable[..., float]
    title: str
    family: Family
    formula: str
    range: str
    reference: str
    better: Better = "higher"
    symmetric: bool = False
    aliases: tuple[str, ...] = ()


TOKEN_MEASURES: Registry[ClusterMeasure] = Registry(
    "token-level measure", "pipeline.kernels.clustering.token"
)
OVERLAPPING_MEASURES: Registry[ClusterMeasure] = Registry(
    "overlapping measure", "pipeline.kernels.clustering.overlapping"
)


def cluster_measure(
    *,
    title: str,
    family: Family,
    formula: str,
    range: str,  # noqa: A002  the word of the field
    reference: str,
    better: Better = "higher",
    symmetric: bool = False,
    aliases: Sequence[str] = (),
) -> Callable[[Callable[P, float]], Callable[P, float]]:
    """Register a function as a measure of clusterings named after it.

    Parameters
    ----------
    title, family, formula, range, reference, better, symmetric, aliases
        As in `ClusterMeasure`. The family ``overlapping`` goes into a registry of its own.

    Returns
    -------
    decorator
        Gives the function back unchanged.

    Examples
    --------
    >>> TOKEN_MEASURES.get("vi").better
    'lower'
    """
    registry = OVERLAPPING_MEASURES if family == "overlapping" else TOKEN_MEASURES

    def register(function: Callable[P, float]) -> Callable[P, float]:
        made = ClusterMeasure(
            function.__name__, function, title, family, formula, range, reference,
            better, symmetric, tuple(aliases),
        )  # fmt: skip
        registry.add(made.name, made, function.__module__)
        return function

    return register


def resolve(names: Sequence[str], registry: Registry[ClusterMeasure]) -> list[str]:
    """Return the standard names of the measures asked for, each once, in their order.

    Parameters
    ----------
    names : sequence of str
        Names or aliases; ``all`` stands for every measure.
    registry : Registry
        `TOKEN_MEASURES` or `OVERLAPPING_MEASURES`.

    Raises
    ------
    KeyError
        For an unknown name, with the nearest valid ones.

    Examples
    --------
    >>> resolve(["V", "M-1"], TOKEN_MEASURES)
    ['v', 'many_to_one']
    """
    known = {alias: name for name in registry for alias in registry.get(name).aliases}
    wanted = [name for asked in names for name in (registry if asked == "all" else [asked])]
    return list(dict.fromkeys(known.get(name) or registry.get(name).name for name in wanted))


def lower_is_better(registry: Registry[ClusterMeasure]) -> frozenset[str]:
    """Return the measures of which a lower value is better.

    Examples
    --------
    >>> "vi" in lower_is_better(TOKEN_MEASURES), "v" in lower_is_better(TOKEN_MEASURES)
    (True, False)
    """
    return frozenset(name for name in registry if registry.get(name).better == "lower")
