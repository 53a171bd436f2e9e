"""Checks and their remarks: a check is a function from the tables of a stage to remarks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Annotated, Any, Literal, TypeAlias

import polars as pl
from pydantic import BaseModel, ConfigDict, Field

from pipeline import errors
from pipeline.errors import LexassayError
from pipeline.registry import NameIn, Registry
from schemas.errors import count_text

Level: TypeAlias = Literal["info", "note", "warning"]
"""Levels: worth knowing, worth checking, probably a mistake."""
LEVELS: tuple[Level, ...] = ("warning", "note", "info")
"""All levels, the most serious first."""
_PROSE = re.compile(r"[a-z]+,? (?!=)")
EXAMPLES = 3
"""Examples per remark."""


class Remark(BaseModel):
    """A warning about suspicious data of a stage; kept with its results, shown at every run.

    Examples
    --------
    >>> print(Remark(level="note", check="few_sampled", text="79 of 100 were drawn",
    ...              such_as=("aasvoel",), remedy="draw fewer", numbers={"drawn": 79}))
    note: 79 of 100 were drawn, for example aasvoel; draw fewer [few_sampled]
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    check: str = ""
    """Name of the check, as in ``[remarks]``."""
    level: Level
    """The level."""
    text: str
    """The observation, with its numbers."""
    such_as: tuple[str, ...] = ()
    """Examples."""
    remedy: str = ""
    """What to do."""
    numbers: dict[str, float] = {}
    """The numbers of the text by name, for programs."""

    @property
    def finding(self) -> str:
        """The observation, with the examples."""
        return self.text + (f", for example {', '.join(self.such_as)}" if self.such_as else "")

    @property
    def advice(self) -> str:
        """What to do, as a sentence; an option at its beginning keeps its spelling."""
        text = self.remedy
        sentence = text[:1].upper() + text[1:] if _PROSE.match(text) else text
        return sentence if sentence.endswith(tuple(".?!")) else f"{sentence}."

    def __str__(self) -> str:
        remedy = f"; {self.remedy}" if self.remedy else ""
        return f"{self.level}: {self.finding}{remedy} [{self.check}]"


def remark(
    level: Level, text: str, *, such_as: Iterable[object] = (), remedy: str = "", **numbers: float
) -> Remark:
    """Return a remark; the name of its check is added later.

    Parameters
    ----------
    level : {"info", "note", "warning"}
        The level.
    text : str
        The observation, with its numbers.
    such_as : iterable
        Examples; the first three are kept.
    remedy : str
        What to do.
    numbers : float
        The numbers of the text, by name.
    """
    examples = tuple(str(each) for each in such_as)[:EXAMPLES]
    return Remark(level=level, text=text, such_as=examples, remedy=remedy, numbers=numbers)


NUMBERS = (
    "extract.scores",
    "extract.table",
    "extract.word_table",
    "extract.clusters",
    "extract.gold_table",
    "join.machine",
)
"""The stages that read numbers from a file."""


def _no_tokens(_option: str, _most: int, *_names: str) -> pl.DataFrame:
    return pl.DataFrame()


@dataclass(frozen=True)
class CheckInput:
    """Input of a check: a finished stage with its inputs and outputs.

    Parameters
    ----------
    use : str
        Its kind, "sample.random".
    config : Any
        Its options.
    inputs : mapping of str to LazyFrame
        The tables that its options name, and the rows of tables that it reads from files.
    outputs : mapping of str to LazyFrame
        The tables that it has made.
    tokens : callable
        (option, most, *names) -> about that many of the first tokens of the corpus in an option,
        with these attributes where it has them, else with all.
    skipped : int
        Number of unreadable places in the input, which were skipped.
    skipped_sentences, skipped_tokens : int
        Number of sentences and tokens skipped with them.
    skipped_examples : tuple of str
        The first of these places.
    replaced : mapping of str to int
        What readers replaced, for example "lemma <unknown>", and the number of tokens.
    filled : set of str or None
        Attributes read from the corpus that have a value; None: unknown.
    later_cuts : tuple of int
        The list sizes at which later stages evaluate this sample or these ranks, ascending.
    """

    use: str
    config: Any
    inputs: Mapping[str, pl.LazyFrame] = field(default_factory=dict)
    outputs: Mapping[str, pl.LazyFrame] = field(default_factory=dict)
    tokens: Callable[..., pl.DataFrame] = _no_tokens
    skipped: int = 0
    skipped_sentences: int = 0
    skipped_tokens: int = 0
    skipped_examples: tuple[str, ...] = ()
    replaced: Mapping[str, int] = field(default_factory=dict)
    filled: frozenset[str] | None = None
    later_cuts: tuple[int, ...] = ()

    def rows(self, table: str) -> int:
        """Return the number of rows of a table that the stage has made."""
        return int(self.outputs[table].select(pl.len()).collect().item())


Found: TypeAlias = Iterable[Remark]
"""Result of a check."""


@dataclass(frozen=True)
class Check:
    """A registered check.

    Parameters
    ----------
    name : str
        Its name in ``[remarks]``.
    run : callable
        (stage, threshold) -> remarks.
    stages : sequence of str
        The kinds of stages that it checks; all if empty.
    threshold : float
        The default threshold.
    means : str
        Meaning and unit of the threshold.
    """

    name: str
    run: Callable[[CheckInput, float], Found]
    _: KW_ONLY
    stages: Sequence[str]
    threshold: float
    means: str

    @property
    def doc(self) -> str:
        """The first line of its docstring."""
        return (self.run.__doc__ or "").strip().splitlines()[0]

    def remarks(self, stage: CheckInput, threshold: float) -> Iterator[Remark]:
        """Yield its remarks, with its name."""
        for each in self.run(stage, threshold):
            yield each.model_copy(update={"check": self.name})


CHECKS: Registry[Check] = Registry("check", "pipeline.remarks")

check = CHECKS.decorator(Check)
"""Registers a function (stage, threshold) -> remarks as a check of its own name."""


# Run all checks of a stage, each with its threshold.

Threshold: TypeAlias = Annotated[float, Field(ge=0, strict=True)] | Literal[False]
Thresholds: TypeAlias = dict[Annotated[str, NameIn(CHECKS)], Threshold]
"""``[remarks]``: threshold of a check, by its name; false disables it."""


def run_checks(stage: CheckInput, thresholds: Mapping[str, float | bool]) -> tuple[Remark, ...]:
    """Return the remarks of all checks of a stage, the most serious first.

    Parameters
    ----------
    stage : CheckInput
        The stage, with its inputs and outputs.
    thresholds : mapping of str to float or False
        The thresholds that the experiment sets.
    """
    remarks: list[Remark] = []
    for name in CHECKS:
        each = CHECKS.get(name)
        threshold = thresholds.get(name, each.threshold)
        if threshold is not False and (not each.stages or stage.use in each.stages):
            remarks += _run_check(each, stage, threshold)
    return tuple(sorted(remarks, key=lambda one: LEVELS.index(one.level)))


def _run_check(each: Check, stage: CheckInput, threshold: float) -> list[Remark]:
    """Return the remarks of one check; if it fails, a remark that says so."""
    try:
        return list(each.remarks(stage, threshold))
    except LexassayError:
        raise
    except Exception as error:  # the results are valid in any case
        why = errors.explain(error).replace("\n", ". ")
        text = f"this check failed: {why.removesuffix('.')}"
        switch = f"[remarks] {each.name} = false disables it"
        return [remark("note", text, remedy=switch).model_copy(update={"check": each.name})]


@check(stages=NUMBERS, threshold=1, means="columns")
def number_format(stage: CheckInput, threshold: float) -> Found:
    """Report the number format of a file, if it is not the usual one."""
    rows = stage.inputs["path"]
    formats = {name: form for name, form in stage.config.formats(rows).items() if not form.is_plain}
    if stage.config.decimal is not None or len(formats) < threshold:
        return
    for name, form in formats.items():
        marked = rows.filter(pl.col(name).str.contains(r"\d\D+\d|%")).select(name).head(EXAMPLES)
        yield remark(
            "note",
            f"column {name}: {form}",
            such_as=map(repr, marked.collect().to_series()),
            remedy="set the option decimal if this is wrong",
        )


@check(stages=(), threshold=1, means="faults of the input")
def skipped_input(stage: CheckInput, threshold: float) -> Found:
    """Count skipped input that could not be read: sentences with their tokens, and lines."""
    if stage.skipped < threshold:
        return
    sentences, tokens = stage.skipped_sentences, stage.skipped_tokens
    others = stage.skipped - sentences
    lost = [count_text(sentences, "sentence")] if sentences else []
    outside = count_text(others, "line or file", "lines or files")
    lost += [f"{outside} outside sentences"] if others else []
    yield remark(
        "note",
        f"skipped {' and '.join(lost)}, {count_text(tokens, 'token')} in all",
        such_as=stage.skipped_examples,
        remedy="correct them in the file to include them",
        places=stage.skipped,
        sentences=sentences,
        tokens=tokens,
    )


_LEMMA, _LANGUAGE, _LINES, _SIGN = "lemma ", "language ", "lines ", "sign "
_ELEMENT, _CUT = "element ", "wrapped lines as "
_UNKNOWN = "an unknown language"
"""Categories that readers count, see `pipeline.formats.base.Batch`."""


@check(stages=(), threshold=1, means="tokens")
def placeholders(stage: CheckInput, threshold: float) -> Found:
    """Count tokens with a placeholder as lemma, for example `<unknown>`, replaced by the form."""
    counts = _counts(stage, _LEMMA)
    tokens = sum(counts.values())
    if tokens < threshold or not counts:
        return
    listed = ", ".join(f"{value} {count:,}" for value, count in counts.items())
    yield remark(
        "note",
        f"{count_text(tokens, 'token')} without a lemma ({listed}): the form replaces it",
        remedy="placeholders = [] keeps these as lemmas",
        tokens=tokens,
    )


def _counts(stage: CheckInput, kind: str) -> dict[str, int]:
    """Return the counts of readers in a category, the highest first."""
    counts = [
        (name.removeprefix(kind), count)
        for name, count in stage.replaced.items()
        if name.startswith(kind)
    ]
    return dict(sorted(counts, key=lambda each: (-each[1], each[0])))


@check(stages=(), threshold=1, means="files")
def text_layout(stage: CheckInput, threshold: float) -> Found:
    """Report the detected language of plain text, and whether its lines were joined."""
    languages, lines = _counts(stage, _LANGUAGE), _counts(stage, _LINES)
    ends = sum(_counts(stage, _CUT).values())
    files = sum((languages or lines).values())
    if not lines and not ends and [*languages] == [_UNKNOWN]:
        return  # with one sentence per line, the language is irrelevant
    if files < threshold:
        return
    wrapped = lines.get("wrapped", 0)
    of_all = ", ".join(f"{name} {count:,}" for name, count in languages.items())
    language = next(iter(languages)) if len(languages) == 1 else of_all
    parts = [
        *([f"plain text in {language}"] if languages else []),
        *([f"{wrapped:,} of {count_text(files, 'file')}: wrapped lines, which are joined"]
          if wrapped else []),
        *(["each line is a paragraph"] if lines and not wrapped else []),
        *([f"{ends:,} of {count_text(files, 'file')}: lines look wrapped, but each ends a sentence"]
          if ends else []),
    ]  # fmt: skip
    remedy = " or ".join([*(["language"] if languages else []), *(["sentences"] if lines else [])])
    join = '; sentences = "auto" joins wrapped lines' if ends else ""
    yield remark(
        "note", "; ".join(parts), remedy=f"set {remedy} of the corpus if this is wrong{join}",
        files=files, wrapped=wrapped,
    )  # fmt: skip


@check(stages=(), threshold=1, means="elements")
def elements(stage: CheckInput, threshold: float) -> Found:
    """Count TEI elements whose text is skipped, for example notes."""
    counts = _counts(stage, _ELEMENT)
    if sum(counts.values()) >= threshold:
        yield remark(
            "note",
            f"the text of some elements is skipped: {_list_counts(counts)}",
            remedy="the option skip of the corpus lists skipped elements",
            elements=sum(counts.values()),
        )


def _list_counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.items())


@check(stages=(), threshold=1, means="signs")
def normalised(stage: CheckInput, threshold: float) -> Found:
    """Count characters that Unicode normalisation changed."""
    counts = _counts(stage, _SIGN)
    if sum(counts.values()) >= threshold:
        listed = [
            count_text(count, re.sub(r"s\b", "", name, count=1), name)
            for name, count in counts.items()
        ]
        yield remark(
            "note",
            f"text was normalised: {', '.join(listed)}",
            remedy='normalise = "none" keeps the original',
            signs=sum(counts.values()),
        )
