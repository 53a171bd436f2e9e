"""Which colour and which dashes belong to a name, in all charts of a report."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from pipeline.report.charts.parts.colours import BRIGHT, GREY, NAMED
from pipeline.report.charts.parts.options import Look, Slot

DASHES = (
    (1, 0), (7, 3), (2, 2), (10, 3, 2, 3), (4, 2), (14, 3), (6, 2, 1.5, 2, 1.5, 2),
)  # fmt: skip
"""As many as there are colours: each colour has its own, so that lines differ without colours."""
KINDS = 4
"""How many strokes there are of one colour."""
TONES = (("#000000", 1.3), ("#9a9a9a", 2.4), ("#000000", 2.6), ("#767676", 1.3))
"""Grey and width in black and white: one for each stroke of a colour."""
COVERING_DASHES = ((9, 6), (3, 6), (14, 6), (1, 6))
"""For lines that lie on others; one that nothing else of that colour has."""

_FAMILIES = {
    "blue": ("log_likelihood", "simple_ll", "log_likelihood_tt", "keyness_ll"),
    "red": ("t_score", "t_score_pv", "poisson_pv", "poisson_stirling"),
    "green": ("mi", "npmi", "mi3", "local_mi"),
    "pink": ("chi_squared", "chi_squared_corr", "chi_squared_tt", "phi"),
    "black": ("frequency", "random", "fisher_pv", "binomial_pv"),
    "gold": ("dice", "log_dice", "jaccard", "minimum_sensitivity"),
    "sky": ("z_score", "z_score_corr", "odds_ratio", "log_ratio"),
}
FIXED = {
    name: Slot(NAMED.index(colour), kind)
    for colour, names in _FAMILIES.items()
    for kind, name in enumerate(names)
}
"""The common association measures: their variants share a colour and differ in the dashes."""
SERIES = {"precision": Slot(0, 0), "recall": Slot(1, 0), "L": Slot(2, 0)}
"""What the graphs of lemmas show."""


@dataclass(frozen=True)
class Stroke:
    """How one line is drawn."""

    colour: str
    dash: tuple[float, ...] = (1, 0)
    width: float = 1.6


BASELINE = Stroke(GREY, (1, 0), 1.1)
BASELINE_LIMIT = Stroke(GREY, (1.5, 3), 1.1)


def slots(
    names: Iterable[str],
    pinned: Mapping[str, str] | None = None,
    *,
    taken: Collection[Slot] = (),
) -> dict[str, Slot]:
    """Give each name a colour and dashes of its own, whatever their order.

    A pinned name has its colour; a common measure has its own (`FIXED`); any other begins at a
    colour that its letters give, and takes the first that is free: first all colours, then other
    dashes. With more names than `NAMED` times `KINDS`, some are alike.

    Parameters
    ----------
    names : iterable of str
        All names of a report.
    pinned : mapping of str to str
        Name -> one of `NAMED`.
    taken : collection of Slot
        What is given away.

    Examples
    --------
    >>> slots(["mi", "context"]) == slots(["context", "mi", "mi"])
    True
    >>> slots(["mi", "mine"], {"mine": "green"})
    {'mine': Slot(colour=2, kind=0), 'mi': Slot(colour=2, kind=1)}
    """
    wanted = pinned or {}
    order = sorted(set(names))
    found: dict[str, Slot] = {}
    for name in [each for each in order if each in wanted]:
        found[name] = _free(
            Slot(NAMED.index(wanted[name]), 0), [*taken, *found.values()], across=False
        )
    for name in [each for each in order if each in FIXED and each not in found]:
        found[name] = _free(FIXED[name], [*taken, *found.values()], across=False)
    for name in [each for each in order if each not in found]:
        digest = hashlib.sha256(name.encode("utf-8", "replace")).digest()
        found[name] = _free(Slot(digest[0] % len(NAMED), 0), [*taken, *found.values()], across=True)
    return found


def _free(wanted: Slot, taken: Iterable[Slot], *, across: bool) -> Slot:
    """Return the slot, or the next that is free: other colours first if `across`, else dashes."""
    used = set(taken)
    colours = [(wanted.colour + step) % len(NAMED) for step in range(len(NAMED))]
    kinds = [(wanted.kind + step) % KINDS for step in range(KINDS)]
    if across:
        order = [Slot(colour, kind) for kind in kinds for colour in colours]
    else:
        order = [Slot(colour, kind) for colour in colours for kind in kinds]
    return next((slot for slot in order if slot not in used), wanted)


def strokes(names: Sequence[str], look: Look) -> dict[str, Stroke]:
    """Return the stroke of each name: that of the report, or one of its own.

    Examples
    --------
    >>> strokes(["t_score", "dice"], Look())["dice"].colour
    '#be8c00'
    """
    known = {name: slot for name, slot in look.slots.items() if name in set(names)}
    others = slots([name for name in names if name not in known], taken=known.values())
    return {name: stroke((known | others)[name], look) for name in names}


def by_place(names: Sequence[str], look: Look) -> dict[str, Stroke]:
    """Return strokes by the place among the names: for lines that are no measure or system.

    Examples
    --------
    >>> by_place(["n = 500", "n = 1,000"], Look())["n = 500"].colour
    '#0060a0'
    """
    every = [Slot(colour, kind) for kind in range(KINDS) for colour in range(len(NAMED))]
    return {name: stroke(every[place % len(every)], look) for place, name in enumerate(names)}


def stroke(slot: Slot, look: Look) -> Stroke:
    """Return a slot as it is drawn in this style."""
    if look.style == "print":
        grey, width = TONES[slot.kind]
        return Stroke(grey, DASHES[slot.colour], width)
    return Stroke(BRIGHT[slot.colour], DASHES[(slot.colour + 2 * slot.kind) % len(DASHES)])


def thin(given: Mapping[str, Stroke], look: Look) -> dict[str, Stroke]:
    """Return the strokes of the true curves: thin and whole, grey in black and white."""
    if look.style == "print":
        return {name: replace(stroke, colour=GREY, width=0.6) for name, stroke in given.items()}
    return {name: replace(stroke, dash=(1, 0), width=0.8) for name, stroke in given.items()}
