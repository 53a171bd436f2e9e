"""A finding: a sentence with its numbers; and the finders, which make them from tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from pipeline.findings.stage import StageView
from pipeline.registry import Registry

Kind: TypeAlias = Literal["answer", "caution"]
"""What was asked, or what to know before believing it."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A sentence that was computed, with the numbers that it gives.

    Parameters
    ----------
    about : str
        What is said, in a word: "best", "baseline", "ties".
    text : str
        The sentence.
    value : float or None
        Its number: a proportion, a coefficient or a count.
    kind : {"answer", "caution"}
        What was asked, or what to know before believing it.
    question : str
        What it answers: findings of a stage with the same question are one paragraph.
    category, name, other : str or None
        Category of true positives; what it is about; what that is held against.
    n : int or None
        Size of the list, or number of items.
    lower, upper : float or None
        Limits of `value`.
    p_adjusted : float or None
        Of the test that it rests on.
    figure : str or None
        The figure that shows it, by its name in the stage's view; "stage.name" of another's.
    names : tuple of str
        All that it is about, if there are several; in sentences some may only be counted.

    Raises
    ------
    ValueError
        If the sentence has no number.

    Examples
    --------
    >>> Finding(about="baseline", text="Baseline 11.1 %.", value=0.111).kind
    'answer'
    >>> Finding(about="best", text="MI is best.")
    Traceback (most recent call last):
    ...
    ValueError: a finding without a number: 'MI is best.'
    """

    about: str
    text: str
    value: float | None = None
    kind: Kind = "answer"
    question: str = ""
    category: str | None = None
    name: str | None = None
    other: str | None = None
    n: int | None = None
    lower: float | None = None
    upper: float | None = None
    p_adjusted: float | None = None
    figure: str | None = None
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not re.search(r"\d", self.text):
            raise ValueError(f"a finding without a number: {self.text!r}")


Found: TypeAlias = Iterable[Finding]
"""What a finder gives."""


@dataclass(frozen=True)
class Finder:
    """A registered finder.

    Parameters
    ----------
    name : str
        Its own.
    find : callable
        stage -> findings.
    stages : tuple of str
        The kinds of stages that it reads.
    place : int
        Where its findings stand: those of a lower place are read first.
    """

    name: str
    find: Callable[[StageView], Found]
    stages: tuple[str, ...]
    place: int = 50

    def findings(self, stage: StageView) -> Iterator[Finding]:
        """Yield what it finds in a stage."""
        yield from self.find(stage)


FINDERS: Registry[Finder] = Registry("finder", "pipeline.findings")

finder = FINDERS.decorator(Finder)
"""Registers a function stage -> findings as a finder of its own name."""
