"""What the report calls the measures of clusters, and their order."""

from __future__ import annotations

from collections.abc import Iterable

from pipeline.kernels.clustering.measure import (
    OVERLAPPING_MEASURES,
    TOKEN_MEASURES,
    TYPE_LEVEL,
    TYPE_MEASURES,
)

FIRST = (
    *("many_to_one", "one_to_one", "v", "vi", "nvi", "meila_heckerman", "misclassification_index"),
    *("van_dongen", "mirkin", "nmi", "ami", "rand", "adjusted_rand"),
    *("bcubed_f", "bcubed_precision", "bcubed_recall", "nmi_lfk", "nmi_max", "omega"),
    "element_centric",
)
"""The measures of tokens and of overlapping clusters that are shown before others."""

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
