"""Findings: sentences with their numbers, and the finders that make them from tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, asdict, dataclass, field
from typing import Any, Literal, TypeAlias, TypeVar

import polars as pl
from pydantic import BaseModel, ConfigDict

from pipeline.errors import NotMadeYet
from pipeline.findings import phrases
from pipeline.registry import Registry
from schemas import Findings


class StageOptions(BaseModel):
    """Base class for the options of a stage that a finder or view reads, without defaults.

    `StageView.config` has a value for every option, so the stage's own defaults apply.
    """

    model_config = ConfigDict(frozen=True)


S = TypeVar("S", bound=StageOptions)


@dataclass(frozen=True)
class StageView:
    """A stage with its options, its tables, and the other stages of its run.

    Parameters
    ----------
    name : str
        Name of the stage in the experiment.
    use : str
        The stage's kind, "evaluate.precision".
    config : mapping
        The stage's options from the experiment, with defaults filled in.
    table : callable
        Opens a table of the run: "precision" is a table of this stage, "stage.table" or "stage"
        a table of another one.
    inputs : mapping of str to str
        From option to table, "stage.table"; ``option.0``, ``option.1`` ... for an option that
        lists several.
    stages : mapping of str to StageView
        The finished stages of the run by name, in the order in which they ran.
    title : str
        The title of the stage in the experiment; empty if it has none.
    labels : mapping of str to str
        Display names, from the options of its view.
    delivered : str
        Name of the file with the list that the stage delivered; empty if there is none.
    """

    name: str
    use: str
    config: Mapping[str, Any]
    table: Callable[[str], pl.LazyFrame]
    _: KW_ONLY
    inputs: Mapping[str, str] = field(default_factory=dict)
    stages: Mapping[str, StageView] = field(default_factory=dict, repr=False, compare=False)
    title: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    delivered: str = ""

    def options_as(self, options: type[S]) -> S:
        """Return the values of these options.

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

    def source_stage(self, option: str) -> StageView | None:
        """Return the stage whose table an option names; None if it names no finished stage.

        Examples
        --------
        >>> stages = {"ranks": StageView("ranks", "score.rank", {}, print)}
        >>> stage = StageView("full", "evaluate.precision", {}, print,
        ...                   inputs={"ranks": "ranks.ranks"}, stages=stages)
        >>> stage.source_stage("ranks").use, stage.source_stage("sample")
        ('score.rank', None)
        """
        return self.stages.get(self.inputs.get(option, "").partition(".")[0])

    def consumers(self, use: str) -> Iterator[StageView]:
        """Yield the stages of a kind that read a table of this one."""
        for other in self.stages.values():
            sources = {table.partition(".")[0] for table in other.inputs.values()}
            if other.use == use and self.name in sources:
                yield other


Kind: TypeAlias = Literal["answer", "caution"]
"""An answer to a question, or a caution about answers."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A sentence with the numbers that it states.

    Parameters
    ----------
    about : str
        The subject of the sentence in one word: "best", "baseline", "ties".
    text : str
        The sentence.
    value : float or None
        Its number: a proportion, a coefficient or a count.
    kind : {"answer", "caution"}
        An answer to a question, or a caution about answers.
    question : str
        The question that it answers: findings of a stage with the same question form a paragraph.
    category, name, other : str or None
        Category of true positives; the measure, system or lexicon; the one it is compared with.
    n : int or None
        Size of the list, or number of items.
    lower, upper : float or None
        Limits of `value`.
    p_adjusted : float or None
        The adjusted p-value of the test behind it.
    figure : str or None
        The name of a figure in the stage's view that shows it; "stage.name" for another stage.
    names : tuple of str
        All names that it is about, if there are several; the sentence may list only some of them.

    Raises
    ------
    ValueError
        If the sentence has no number.

    Examples
    --------
    >>> Finding(about="baseline", text="The baseline is 11.1 %.", value=0.111).kind
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


def make_caution(
    about: str, text: str, value: float | None = None, **further: str | int
) -> Finding:
    """Return a finding of kind "caution"."""
    return Finding(kind="caution", about=about, text=phrases.sentence(text), value=value, **further)  # type: ignore[arg-type]  # fields of several types


FinderResult: TypeAlias = Iterable[Finding]
"""What a finder returns."""


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
        The order of its findings: those of a lower place come first.
    """

    name: str
    find: Callable[[StageView], FinderResult]
    stages: tuple[str, ...]
    place: int = 50

    def findings(self, stage: StageView) -> Iterator[Finding]:
        """Yield the findings of a stage."""
        yield from self.find(stage)


FINDERS: Registry[Finder] = Registry("finder", "pipeline.findings")

finder = FINDERS.decorator(Finder)
"""Registers a function stage -> findings as a finder of its own name."""


# Findings of a run, in their order, and as a table.


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
    """Return the findings of a run: answers first, then cautions.

    Parameters
    ----------
    stages : mapping of str to StageView
        The finished stages.
    order : sequence of str
        The stages whose findings to return, in this order; all in their own order if empty.
    """
    names = [name for name in (order or stages) if name in stages]
    findings = [finding for name in names for finding in _stage_findings(stages[name])]
    unique: dict[str, StageFinding] = {}
    for each in findings:
        # Two stages with the same judgements give the same cautions: one is enough.
        is_caution = each.finding.kind == "caution"
        unique.setdefault(each.finding.text if is_caution else repr(each), each)
    return tuple(sorted(unique.values(), key=lambda each: each.finding.kind == "caution"))


def _stage_findings(stage: StageView) -> Iterator[StageFinding]:
    for each in _finders_of(stage.use):
        try:
            yield from [StageFinding(stage.name, finding) for finding in each.findings(stage)]
        except NotMadeYet:
            continue  # the finder reads a table that is waiting for sheets


def _finders_of(use: str) -> list[Finder]:
    fitting = [FINDERS.get(name) for name in FINDERS if use in FINDERS.get(name).stages]
    return sorted(fitting, key=lambda each: (each.place, each.name))


MOST_LEADS = 5
"""The number of sentences beside the table at the top of a page."""
_OF_PAIRS = ("worse", "worse_finite", "pair", "together")
_IN_TABLE = {"best", "highest", "next", "range"}


def leading_sentences(findings: Sequence[StageFinding], stages: Collection[str]) -> list[str]:
    """Return the sentences for a page that opens with the table of these stages.

    The table shows what is best; the sentences give sizes and tests of differences: first the
    delivered or chosen list of any stage, then what a combination finds and results for all sizes,
    then for each size the measures that are worse (else the most significant pair, else the
    measures that do not differ), then the rest.

    Parameters
    ----------
    findings : sequence of StageFinding
        In their order.
    stages : collection of str
        The stage of the table, and those that test its rows.

    Examples
    --------
    >>> found = [StageFinding("tests", Finding(about=about, text=f"{about} 1.", category="TP", n=n))
    ...          for about, n in (("best", 9), ("together", 9), ("worse", 9), ("best", 99))]
    >>> leading_sentences(found, ["tests"])
    ['n = 9: worse 1.']
    """
    mine = [each.finding for each in findings if each.stage in stages]
    answers = [each for each in mine if each.kind == "answer" and each.about not in _IN_TABLE]
    pairs = [each for each in answers if each.about in _OF_PAIRS and each.n is not None]
    overall = [each for each in answers if each.about in ("combination", "throughout")]
    category = next((each.category for each in (*pairs, *overall)), None)
    by_size: dict[int, list[Finding]] = {}
    for each in pairs:
        if each.category == category and each.n is not None:
            by_size.setdefault(each.n, []).append(each)
    lists = delivered_or_chosen(findings)
    rest = [each for each in answers if each not in (*pairs, *overall, *lists)]
    sentences = [
        *(each.text for each in lists),
        *(each.text for each in overall if each.category in (category, None)),
        *(_with_size(n, min(group, key=_place_of_pair).text) for n, group in by_size.items()),
        *(each.text for each in rest),
    ]
    return sentences[:MOST_LEADS]


def delivered_or_chosen(findings: Sequence[StageFinding]) -> list[Finding]:
    """Return the findings on delivered lists, then on chosen ones of the other categories.

    Parameters
    ----------
    findings : sequence of StageFinding
        In their order.
    """
    delivered = [each.finding for each in findings if each.finding.about == "delivered"]
    categories = {each.category for each in delivered}
    choices = [each.finding for each in findings if each.finding.about == "chosen"]
    return [*delivered, *(each for each in choices if each.category not in categories)]


def _with_size(n: int, text: str) -> str:
    """Return a sentence with the list size, unless it begins with it."""
    return text if text.startswith(f"For {n:,} candidates") else f"n = {n:,}: {text}"


def _place_of_pair(each: Finding) -> tuple[int, float]:
    return _OF_PAIRS.index(each.about), 1.0 if each.p_adjusted is None else each.p_adjusted


def as_table(findings: Sequence[StageFinding]) -> pl.DataFrame:
    """Return findings as a table, `schemas.Findings`.

    Examples
    --------
    >>> one = Finding(about="baseline", text="The baseline is 11.1 %.", value=0.111)
    >>> as_table([StageFinding("full", one)]).select("order", "stage", "text").rows()
    [(1, 'full', 'The baseline is 11.1 %.')]
    """
    rows = [
        {"order": place, "stage": each.stage, **asdict(each.finding)}
        for place, each in enumerate(findings, start=1)
    ]
    columns = Findings.columns()
    return pl.DataFrame([{name: row[name] for name in columns} for row in rows], schema=columns)
