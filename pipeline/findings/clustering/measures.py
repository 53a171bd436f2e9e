"""Measures of clusters in sentences: what they are called, which one leads, how a value is said."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, TypeAlias

from pipeline.findings import words
from pipeline.kernels.clustering.measure import (
    OVERLAPPING_MEASURES,
    TOKEN_MEASURES,
    TYPE_LEVEL,
    TYPE_MEASURES,
    ClusterMeasure,
    lower_is_better,
)
from pipeline.registry import Registry

Level: TypeAlias = Literal["types", "tokens", "overlaps"]
"""What a measure counts: types; tokens; or types whose classes and clusters overlap."""

SAID: dict[Level, str] = {
    "types": "by types", "tokens": "by tokens", "overlaps": "by overlapping classes",
}  # fmt: skip
"""What findings call the levels."""

_MAPPINGS = ("M-1", "1-1")
_LEADING: dict[Level, tuple[str, ...]] = {
    "types": tuple(f"{name} {kind}" for kind in _MAPPINGS for name in TYPE_LEVEL),
    "tokens": ("many_to_one", "v", "one_to_one", "nvi", "vi"),
    "overlaps": ("bcubed_f", "nmi_max", "omega"),
}
_REGISTRIES: tuple[Registry[ClusterMeasure[Any]], ...] = (TOKEN_MEASURES, OVERLAPPING_MEASURES)


def level_of(measure: str) -> Level:
    """Return what a measure counts; one of types is named with its mapping.

    Examples
    --------
    >>> level_of("MacroI M-1"), level_of("v"), level_of("omega")
    ('types', 'tokens', 'overlaps')
    """
    if " " in measure:
        return "types"
    return "overlaps" if measure in OVERLAPPING_MEASURES else "tokens"


def ordered(level: Level, measures: Iterable[str]) -> list[str]:
    """Return the measures of a level, the one that findings look at first.

    Examples
    --------
    >>> ordered("tokens", ["vi", "rand", "v", "MacroI M-1"])
    ['v', 'vi', 'rand']
    >>> ordered("types", ["MacroI 1-1", "MicroC M-1", "v"])
    ['MicroC M-1', 'MacroI 1-1']
    """
    order = _LEADING[level]
    mine = {name for name in measures if level_of(name) == level}
    return sorted(mine, key=lambda name: (order.index(name) if name in order else len(order), name))


def title(measure: str) -> str:
    """Return what sentences call a measure.

    Examples
    --------
    >>> title("MacroI M-1"), title("many_to_one"), title("bcubed_f"), title("of_a_plugin")
    ('MacroI M-1', 'M-1 accuracy', 'BCubed F', 'of a plugin')
    """
    if level_of(measure) == "types":
        name, _, mapping = measure.rpartition(" ")
        return f"{TYPE_MEASURES.title(name)} {mapping}"
    return _registry(measure).title(measure)


def value(measure: str, number: float) -> str:
    """Return a value of a measure: a proportion in per cent, a coefficient, or a number.

    Examples
    --------
    >>> value("v", 0.7777), value("omega", -0.0459), value("vi", 2.6436)
    ('77.8 %', '−.05', '2.64')
    """
    if is_proportion(measure):
        return words.per_cent(number)
    known = _known(measure)
    up_to_one = known is not None and known.range.replace(" ", "").endswith(",1]")
    return words.coefficient(number) if up_to_one else words.number(number, 2)


def limited(measure: str, number: float, lower: float | None, upper: float | None) -> str:
    """Return a value of a measure with its limits, if there are any.

    Examples
    --------
    >>> limited("v", 0.7777, 0.7733, 0.7839), limited("vi", 0.8917, 0.8695, 0.9097)
    ('77.8 % [77.3, 78.4]', '0.89 [0.87, 0.91]')
    """
    if is_proportion(measure):
        return words.estimate(number, lower, upper)
    if lower is None or upper is None:
        return value(measure, number)
    return f"{value(measure, number)} [{value(measure, lower)}, {value(measure, upper)}]"


def is_proportion(measure: str) -> bool:
    """Return whether all values of a measure lie between 0 and 1."""
    known = _known(measure)
    return level_of(measure) == "types" or (
        known is not None and known.range.strip("[]()").replace(" ", "") == "0,1"
    )


def lower_values_are_good(measure: str) -> bool:
    """Return whether a low value of a measure is a good one."""
    return level_of(measure) != "types" and measure in LOWER


LOWER = lower_is_better(TOKEN_MEASURES) | lower_is_better(OVERLAPPING_MEASURES)
"""The measures of which low values are good."""


def _registry(measure: str) -> Registry[ClusterMeasure[Any]]:
    return TOKEN_MEASURES if measure in TOKEN_MEASURES else OVERLAPPING_MEASURES


def _known(measure: str) -> ClusterMeasure[Any] | None:
    registry: Sequence[Registry[ClusterMeasure[Any]]] = _REGISTRIES
    return next((each.get(measure) for each in registry if measure in each), None)
