"""What the report calls the measures of clusters, and their order."""

from __future__ import annotations

from collections.abc import Iterable

from pipeline.kernels.clustering.measure import (
    OVERLAPPING_MEASURES,
    TOKEN_MEASURES,
    TYPE_LEVEL,
    TYPE_MEASURES,
)
from pipeline.report.page.cells import decimals, share

FIRST = (
    *("many_to_one", "one_to_one", "v", "vi", "nvi", "meila_heckerman", "misclassification_index"),
    *("van_dongen", "mirkin", "nmi", "ami", "rand", "adjusted_rand"),
    *("bcubed_f", "bcubed_precision", "bcubed_recall", "nmi_lfk", "nmi_max", "omega"),
    "element_centric",
)
"""The measures of tokens and of overlapping clusters that are shown before others."""

_UNIT = ("[0, 1]", "(0, 1]", "[0, 1)")

UNSEEN = (
    "MicroC does not see classes that no cluster is mapped to, and so can be high although whole "
    "classes are missed; MacroI sees them. Read MicroC with the number of uncovered classes, and "
    "all three with the floor: what mapping every cluster to the largest class would give."
)


def title(measure: str) -> str:
    """Return what figures call a measure; an arrow says that low values are good.

    Examples
    --------
    >>> title("vi"), title("MacroI M-1"), title("not_known")
    ('VI ↓', 'MacroI M-1', 'not known')
    """
    if is_type_level(measure):
        name, _, mapping = measure.rpartition(" ")
        return f"{TYPE_MEASURES.title(name)} {mapping}"
    registry = TOKEN_MEASURES if measure in TOKEN_MEASURES else OVERLAPPING_MEASURES
    low = measure in registry and registry.get(measure).better == "lower"
    return registry.title(measure) + (" ↓" if low else "")


def is_proportion(measure: str) -> bool:
    """Return whether the values of a measure are shown in per cent: those from 0 to 1.

    Examples
    --------
    >>> is_proportion("v"), is_proportion("MacroI M-1"), is_proportion("vi"), is_proportion("ami")
    (True, True, False, False)
    """
    if is_type_level(measure):
        return True
    registry = TOKEN_MEASURES if measure in TOKEN_MEASURES else OVERLAPPING_MEASURES
    return measure in registry and registry.get(measure).range in _UNIT


def scale(measure: str) -> float:
    """Return by what values of a measure are multiplied where they are shown.

    Examples
    --------
    >>> scale("v"), scale("vi")
    (100.0, 1.0)
    """
    return 100.0 if is_proportion(measure) else 1.0


def in_unit(measure: str, value: float | None) -> str:
    """Return a value of a measure for reading: proportions in per cent.

    Examples
    --------
    >>> in_unit("v", 0.65432), in_unit("vi", 1.5), in_unit("v", None)
    ('65.43', '1.5000', '–')
    """
    return share(value) if is_proportion(measure) else decimals(value)


def with_unit(measure: str) -> str:
    """Return what a column of a measure is called.

    Examples
    --------
    >>> with_unit("v"), with_unit("vi")
    ('V (%)', 'VI ↓')
    """
    return title(measure) + (" (%)" if is_proportion(measure) else "")


def ordered(measures: Iterable[str]) -> list[str]:
    """Return measures in the order of the report: types by mapping, then tokens, then others.

    Examples
    --------
    >>> ordered(["v", "MicroI 1-1", "mine", "MacroI M-1", "MacroI 1-1", "many_to_one"])
    ['MacroI M-1', 'MacroI 1-1', 'MicroI 1-1', 'many_to_one', 'v', 'mine']
    """
    return sorted(set(measures), key=_place)


def is_type_level(measure: str) -> bool:
    """Return whether a measure counts types: it is named with its mapping, "MacroI M-1"."""
    return " " in measure


def under_others(measures: Iterable[str]) -> str:
    """Say which measures of types are scored under the mappings of another one.

    Examples
    --------
    >>> under_others(["MacroI", "MicroC"])
    ''
    """
    known = [TYPE_MEASURES.get(name) for name in sorted(set(measures)) if name in TYPE_MEASURES]
    return "".join(
        f" {TYPE_MEASURES.title(each.name)} has the mappings of {each.mapped_by} instead."
        for each in known
        if each.mapped_by != each.name
    )


def _place(measure: str) -> tuple[int, int, int, str]:
    if is_type_level(measure):
        name, _, mapping = measure.rpartition(" ")
        return (0, 0 if mapping == "M-1" else 1, _at(name, TYPE_LEVEL), name)
    return (1, 0, _at(measure, FIRST), measure)


def _at(name: str, order: tuple[str, ...]) -> int:
    return order.index(name) if name in order else len(order)
