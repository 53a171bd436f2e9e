"""Measures of clusterings: their definition, and registries that find them by name or alias."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Generic, Literal, TypeAlias, TypeVar

from pipeline.registry import Registry

Family: TypeAlias = Literal[
    "mapping", "information theory", "pair counting", "set matching", "overlapping"
]
Better: TypeAlias = Literal["higher", "lower"]
S = TypeVar("S", bound=Callable[..., Any])

TYPE_LEVEL = ("MacroI", "MicroI", "MicroC")
"""Default type-level measures, in report order."""


@dataclass(frozen=True)
class ClusterMeasure(Generic[S]):
    """A registered measure of a clustering against gold classes.

    Parameters
    ----------
    name : str
        The field's standard name in snake case.
    score : callable
        Contingency table -> float; for overlapping data, memberships -> float. NaN where the
        measure is undefined.
    title : str
        Its title in the report, with an arrow if low values are better (default: the name).
    family, formula, range, reference
        Texts for lists of measures; `range` in interval notation, natural logarithm.
    better : str
        Direction of better values.
    symmetric : bool
        True if swapping classes and clusters does not change the value.
    aliases : sequence of str
        Other accepted names.
    weights : bool
        True if the measure uses weights of memberships; others refuse them.
    is_in_all : bool
        False if "all" omits the measure.
    """

    name: str
    score: S
    _: KW_ONLY
    title: str = ""
    family: Family
    formula: str
    range: str
    reference: str
    better: Better = "higher"
    symmetric: bool = False
    aliases: Sequence[str] = ()
    weights: bool = False
    is_in_all: bool = True


@dataclass(frozen=True)
class TypeMeasure(ClusterMeasure[S]):
    """A registered measure of the type level: items under a mapping of clusters to classes.

    Parameters
    ----------
    score : callable
        (patterns, mapping) -> `pipeline.kernels.clustering.types.measures.Score`, in [0, 1].
    mapped_by : str
        The measure that determines its mappings: one of `TYPE_LEVEL`.
    """

    _: KW_ONLY
    mapped_by: str


def _aliases(each: ClusterMeasure[Any]) -> Sequence[str]:
    return each.aliases


TYPE_MEASURES: Registry[TypeMeasure[Any]] = Registry(
    "type-level measure", "pipeline.kernels.clustering.types", spellings=_aliases
)
TOKEN_MEASURES: Registry[ClusterMeasure[Any]] = Registry(
    "token-level measure", "pipeline.kernels.clustering.token", spellings=_aliases
)
OVERLAPPING_MEASURES: Registry[ClusterMeasure[Any]] = Registry(
    "overlapping measure", "pipeline.kernels.clustering.overlapping", spellings=_aliases
)

type_measure = TYPE_MEASURES.named_decorator(TypeMeasure)
"""Register a function of patterns and a mapping as a type-level measure."""

token_measure = TOKEN_MEASURES.decorator(ClusterMeasure)
"""Register a function of a contingency table as a token-level measure of its name."""

overlapping_measure = OVERLAPPING_MEASURES.decorator(ClusterMeasure)
"""Register a function of memberships as an overlapping measure of its name."""


def is_proportion(measure: str) -> bool:
    """Return whether all values of a measure are between 0 and 1, and so shown in per cent.

    A measure of types has its mapping in its name, and is a proportion.

    Examples
    --------
    >>> is_proportion("v"), is_proportion("MacroI M-1"), is_proportion("vi"), is_proportion("ami")
    (True, True, False, False)
    """
    registry = TOKEN_MEASURES if measure in TOKEN_MEASURES else OVERLAPPING_MEASURES
    known = registry.get(measure) if measure in registry else None
    limits = known.range.strip("[]()").split(",") if known else []
    return " " in measure or [each.strip() for each in limits] == ["0", "1"]


def lower_is_better(registry: Registry[ClusterMeasure[Any]]) -> frozenset[str]:
    """Return the measures for which lower values are better.

    Examples
    --------
    >>> "vi" in lower_is_better(TOKEN_MEASURES), "v" in lower_is_better(TOKEN_MEASURES)
    (True, False)
    """
    return frozenset(name for name in registry if registry.get(name).better == "lower")
