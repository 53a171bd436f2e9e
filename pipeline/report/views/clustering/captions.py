"""What the report says of measures of clusters: their names, and how to read them."""

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

HOW_TYPES = (
    "Word types are counted, each once, however often it occurs. A type may have several classes "
    "and several clusters. A mapping gives each cluster a class: under 1-1 no two clusters the "
    "same one, under M-1 any. Every measure has the mapping that maximises it. MacroI (which is "
    "also MacroC) is the F score over all memberships, MicroI the mean F score of the types, "
    "MicroC the mean F score of the classes that clusters are mapped to, weighted by what is "
    "mapped to them."
)
UNSEEN = (
    "MicroC does not see classes that no cluster is mapped to, and so can be high although whole "
    "classes are missed; MacroI sees them. Read MicroC with the number of uncovered classes, and "
    "all three with the floor: what mapping every cluster to the largest class would give."
)
CLIMBS = (
    "1-1 mappings are exact. An M-1 mapping is exact where every type has one cluster and the "
    "measure is MacroI or MicroI. Else it is the best of several climbs, a lower bound of what is "
    "possible: the table says how many of the starts reached it, and the gap to a bound that no "
    "mapping exceeds, where one is known. Certificate: exact by the method; proven by a search "
    "that found none better (MacroI only, with certificate_seconds); or not proven."
)
HOW_TOKENS = (
    "Tokens are counted: a frequent word weighs as much as all that it occurs. M-1 accuracy maps "
    "each cluster to the class of most of its tokens, 1-1 accuracy no two clusters to one class. "
    "Of measures with ↓ low values are good. M-1 accuracy and homogeneity grow with the number of "
    "clusters: compare systems with about as many."
)
HOW_SYSTEMS = (
    "Each figure is the mean over the runs of a system, ± the standard deviation where it has "
    "several; the rank follows in brackets, 1 is the best. Of measures with ↓ low values are good; "
    "correlations take them the other way round, so that a positive one always says that two "
    "measures prefer the same systems."
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
    known = list(TITLES)
    return (1, 0, known.index(name), "") if name in known else (2, 0, 0, name)
