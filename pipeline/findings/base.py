"""Findings: sentences with their numbers, and the finders that make them from tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, asdict, dataclass, field
from typing import Any, Literal, TypeAlias, TypeVar

import polars as pl
from pydantic import BaseModel, ConfigDict

from pipeline.errors import NotMadeYet
from pipeline.findings import phrases
from pipeline.registry import Registry
from schemas import Findings


class StageOptions(BaseModel):
    """Base of the options of a stage that are looked at: their types, never their defaults.

    Those are the stage's own: what it was told comes in full.
    """

    model_config = ConfigDict(frozen=True)


S = TypeVar("S", bound=StageOptions)


@dataclass(frozen=True)
class StageView:
    """A stage with what it was told, what it made, and the stages of its run.

    Parameters
    ----------
    name : str
        Name of the stage in the experiment.
    use : str
        The stage's kind, "evaluate.precision".
    config : mapping
        The stage's options as the experiment gives them, defaults filled in.
    table : callable
        Opens a table of the run: "precision" is the stage's own table, "stage.table" or
        "stage" any other stage's.
    inputs : mapping of str to str
        Option to the table that it names, "stage.table"; ``option.0``, ``option.1`` ... if it
        lists several.
    among : mapping of str to StageView
        The stages of the run that are done, by name, in the order of their making.
    title : str
        What the experiment calls it, for people; empty if it does not say.
    """

    name: str
    use: str
    config: Mapping[str, Any]
    table: Callable[[str], pl.LazyFrame]
    _: KW_ONLY
    inputs: Mapping[str, str] = field(default_factory=dict)
    among: Mapping[str, StageView] = field(default_factory=dict, repr=False, compare=False)
    title: str = ""

    def options_as(self, options: type[S]) -> S:
        """Return what the stage was told of these options.

        Parameters
        ----------
        options : type of StageOptions
            Fields named as the stage's.

        Examples
        --------
        >>> class Margin(StageOptions):
        ...     margin: float
        >>> stage = StageView("tests", "evaluate.comparison", {"margin": 0.1, "n": 9}, print)
        >>> stage.options_as(Margin)
        Margin(margin=0.1)
        """
        return options.model_validate(self.config)

    def given(self, option: str) -> StageView | None:
        """Return the stage whose table an option names; None if it names none that is done.

        Examples
        --------
        >>> stages = {"ranks": StageView("ranks", "score.rank", {}, print)}
        >>> stage = StageView("full", "evaluate.precision", {}, print,
        ...                   inputs={"ranks": "ranks.ranks"}, among=stages)
        >>> stage.given("ranks").use, stage.given("sample")
        ('score.rank', None)
        """
        return self.among.get(self.inputs.get(option, "").partition(".")[0])

    def readers(self, use: str) -> Iterator[StageView]:
        """Yield the stages of a kind that read a table of this one."""
        for other in self.among.values():
            read = {table.partition(".")[0] for table in other.inputs.values()}
            if other.use == use and self.name in read:
                yield other


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


def caution(about: str, text: str, value: float | None = None, **further: str | int) -> Finding:
    """Return what to know before believing the answers, as a sentence."""
    return Finding(kind="caution", about=about, text=phrases.sentence(text), value=value, **further)  # type: ignore[arg-type]  # fields of several types


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


# Findings of a run, in the order of reading, and as a table.


@dataclass(frozen=True)
class StageFinding:
    """A finding of a stage.

    Parameters
    ----------
    stage : str
        The stage.
    finding : Finding
        What was found.
    """

    stage: str
    finding: Finding


def collect_findings(
    stages: Mapping[str, StageView], *, order: Sequence[str] = ()
) -> tuple[StageFinding, ...]:
    """Return the findings of a run: answers first, then what to know before believing them.

    Parameters
    ----------
    stages : mapping of str to StageView
        The stages that are done.
    order : sequence of str
        Stages in the order of their answers, and no others; all in their own order if empty.
    """
    names = [name for name in (order or stages) if name in stages]
    found = [told for name in names for told in _stage_findings(stages[name])]
    seen: dict[str, StageFinding] = {}
    for told in found:
        # Two stages on the same judgements say the same of them: once is enough.
        seen.setdefault(told.finding.text if told.finding.kind == "caution" else repr(told), told)
    return tuple(sorted(seen.values(), key=lambda told: told.finding.kind == "caution"))


def _stage_findings(stage: StageView) -> Iterator[StageFinding]:
    for each in _finders_of(stage.use):
        try:
            yield from [StageFinding(stage.name, finding) for finding in each.findings(stage)]
        except NotMadeYet:
            continue  # it looks at a table that waits for somebody


def _finders_of(use: str) -> list[Finder]:
    fitting = [FINDERS.get(name) for name in FINDERS if use in FINDERS.get(name).stages]
    return sorted(fitting, key=lambda each: (each.place, each.name))


def as_table(told: Sequence[StageFinding]) -> pl.DataFrame:
    """Return findings as a table, `schemas.Findings`.

    Examples
    --------
    >>> one = Finding(about="baseline", text="Baseline 11.1 %.", value=0.111)
    >>> as_table([StageFinding("full", one)]).select("order", "stage", "text").rows()
    [(1, 'full', 'Baseline 11.1 %.')]
    """
    rows = [
        {"order": place, "stage": each.stage, **asdict(each.finding)}
        for place, each in enumerate(told, start=1)
    ]
    columns = Findings.columns()
    return pl.DataFrame([{name: row[name] for name in columns} for row in rows], schema=columns)
