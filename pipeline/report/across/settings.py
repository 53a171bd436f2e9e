"""The settings of a sweep: what they are called, their values, and which points are shown."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import Any

from pipeline.findings import words
from pipeline.findings.names import called

Point = Mapping[str, Any]
"""Dotted path of each setting to its value there."""

_LISTED = 8
"""So many values of a setting are named in a sentence."""


@dataclass(frozen=True)
class Setting:
    """A setting that is varied.

    Parameters
    ----------
    path : str
        Its dotted path in the experiment.
    name : str
        What it is called: the last word of its path, more of it where two would be called alike.
    values : tuple of str
        Its values as text, in the order of the sweep.
    numbers : tuple of float
        The same as numbers; empty if one of them is none.
    """

    path: str
    name: str
    values: tuple[str, ...]
    numbers: tuple[float, ...]

    @property
    def varies(self) -> bool:
        """Whether it has more than one value."""
        return len(self.values) > 1

    def said(self) -> str:
        """Return what it is and which values it takes.

        Examples
        --------
        >>> Setting("stages.sample.rate", "rate", ("0.1", "0.2"), (0.1, 0.2)).said()
        'rate of sample: 0.1 and 0.2'
        >>> many = tuple(str(each) for each in range(1, 101))
        >>> Setting("seed", "seed", many, tuple(map(float, many))).said()
        'seed: 1 to 100 (100 values)'
        """
        words_of = self.path.split(".")
        stage = words_of[1] if words_of[0] == "stages" and len(words_of) > 2 else ""
        option = ".".join(words_of[2:] if stage else words_of)
        head = f"{option} of {called(stage)}" if stage else option
        if len(self.values) > _LISTED and self.is_even:
            span = f"{self.values[0]} to {self.values[-1]} ({len(self.values):,} values)"
            return f"{head}: {span}"
        return f"{head}: {words.listed(self.values, most=_LISTED)}"

    @property
    def is_even(self) -> bool:
        """Whether its values are numbers with the same step from each to the next."""
        steps = {round(high - low, 9) for low, high in pairwise(self.numbers)}
        return len(steps) == 1


def identity(value: Any) -> str:
    """Return what tells a value from others: 1 is not "1".

    Examples
    --------
    >>> identity(1), identity("1"), identity(["mi"])
    ('1', '"1"', '["mi"]')
    """
    return json.dumps(value, default=str, ensure_ascii=False)


def text(value: Any) -> str:
    """Return a value as people read it, on one line.

    Examples
    --------
    >>> text(0.2), text(True), text(["mi", "dice"]), text({"TP": ["yes"]}), text("")
    ('0.2', 'yes', 'mi, dice', '{"TP": ["yes"]}', '(empty)')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if (
        isinstance(value, list)
        and value
        and not any(isinstance(each, list | dict) for each in value)
    ):
        return called(", ".join(map(str, value)))
    return called(value if isinstance(value, str) else identity(value))


def settings_of(points: Sequence[Point]) -> list[Setting]:
    """Return the settings of a sweep.

    Parameters
    ----------
    points : sequence of mapping
        All combinations.

    Examples
    --------
    >>> points = [{"stages.a.seed": 1, "seed": 3}, {"stages.a.seed": 2, "seed": 3}]
    >>> [(each.name, each.values) for each in settings_of(points)]
    [('a.seed', ('1', '2')), ('seed', ('3',))]
    """
    paths = list(points[0]) if points else []
    short = {path: path.rpartition(".")[2] for path in paths}
    often = Counter(short.values())
    found = []
    for path in paths:
        values = {identity(point[path]): point[path] for point in points}
        numbers = [each for each in values.values() if _is_number(each)]
        name = short[path] if often[short[path]] < 2 else path.removeprefix("stages.")
        found.append(
            Setting(
                path,
                called(name),
                tuple(text(each) for each in values.values()),
                tuple(map(float, numbers)) if len(numbers) == len(values) else (),
            )
        )
    return found


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def places(points: Sequence[Point]) -> list[dict[str, int]]:
    """Return the place of every point's value among the values of each setting, by path."""
    order = {
        path: {each: place for place, each in enumerate(dict.fromkeys(
            identity(point[path]) for point in points))}
        for path in (points[0] if points else ())
    }  # fmt: skip
    return [{path: order[path][identity(value)] for path, value in p.items()} for p in points]


def label(point: Point, settings: Sequence[Setting]) -> str:
    """Return what a point is called: the settings that vary, with their values.

    Examples
    --------
    >>> points = [{"stages.a.rate": 0.1, "seed": 3}, {"stages.a.rate": 0.2, "seed": 3}]
    >>> label(points[1], settings_of(points))
    'rate = 0.2'
    """
    shown = [each for each in settings if each.varies]
    return ", ".join(f"{each.name} = {text(point[each.path])}" for each in shown)


def kept(counts: Sequence[int], most: int) -> list[int]:
    """Return how many values of each setting are shown, so that there are at most so many points.

    Examples
    --------
    >>> kept([3, 100], 24), kept([2, 3], 24), kept([5, 5, 5], 24), kept([], 24)
    ([3, 8], [2, 3], [2, 3, 3], [])
    """
    found = list(counts)
    while prod(found) > most:
        largest = found.index(max(found))
        found[largest] -= 1
    return found
