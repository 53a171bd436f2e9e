"""What the report calls the measures of clusters, and their order."""

from __future__ import annotations

from collections.abc import Iterable

TITLES = {
    "many_to_one": "M-1 accuracy",
    "one_to_one": "1-1 accuracy",
    "v": "V",
    "vi": "VI ↓",
    "nvi": "NVI ↓",
    "meila_heckerman": "H ↓",
    "misclassification_index": "MI ↓",
    "van_dongen": "D ↓",
    "mirkin": "Mirkin ↓",
    "nmi": "NMI",
    "ami": "AMI",
    "rand": "Rand",
    "adjusted_rand": "ARI",
    "bcubed_f": "BCubed F",
    "bcubed_precision": "BCubed P",
    "bcubed_recall": "BCubed R",
    "nmi_lfk": "NMI LFK",
    "nmi_max": "NMI max",
    "omega": "Omega",
    "element_centric": "element-centric",
}
"""How figures call measures; an arrow says that low values are good. Others keep their names."""
LEVELS = ("MacroI", "MicroI", "MicroC")
"""The measures of the type level, in the order in which they are shown."""

UNSEEN = (
    "MicroC does not see classes that no cluster is mapped to, and so can be high although whole "
    "classes are missed; MacroI sees them. Read MicroC with the number of uncovered classes, and "
    "all three with the floor: what mapping every cluster to the largest class would give."
)


def title(measure: str) -> str:
    """Return what figures call a measure.

    Examples
    --------
    >>> title("vi"), title("MacroI M-1")
    ('VI ↓', 'MacroI M-1')
    """
    return TITLES.get(measure, measure)


def ordered(measures: Iterable[str]) -> list[str]:
    """Return measures in the order of the report: types by mapping, then tokens, then others.

    Examples
    --------
    >>> ordered(["v", "MicroI 1-1", "mine", "MacroI M-1", "MacroI 1-1", "many_to_one"])
    ['MacroI M-1', 'MacroI 1-1', 'MicroI 1-1', 'many_to_one', 'v', 'mine']
    """
    return sorted(set(measures), key=_place)


def is_type_level(measure: str) -> bool:
    """Return whether a measure counts types under a mapping."""
    return measure.partition(" ")[0] in LEVELS


def _place(measure: str) -> tuple[int, int, int, str]:
    name, _, mapping = measure.partition(" ")
    if name in LEVELS:
        return (0, 0 if mapping == "M-1" else 1, LEVELS.index(name), "")
    titled = list(TITLES)
    return (1, 0, titled.index(name), "") if name in titled else (2, 0, 0, name)
