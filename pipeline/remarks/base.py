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
from pipeline.registry import Named, Registry

Level: TypeAlias = Literal["info", "note", "warning"]
"""How much it matters: worth knowing, to be looked at, probably a mistake."""
LEVELS: tuple[Level, ...] = ("warning", "note", "info")
"""All of them, what matters most first."""
_PROSE = re.compile(r"[a-z]+,? (?!=)")
EXAMPLES = 3
"""Examples that a remark has."""


class Remark(BaseModel):
    """What looks wrong in the data of a stage; kept with its results, told at every run.

    Examples
    --------
    >>> print(Remark(level="note", check="few_sampled", text="79 of 100 were drawn",
    ...              such_as=("aasvoel",), remedy="ask for fewer", numbers={"drawn": 79}))
    note: 79 of 100 were drawn, such as aasvoel; ask for fewer [few_sampled]
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    check: str = ""
    """What found it: the name by which its threshold is set."""
    level: Level
    """How much it matters."""
    text: str
    """What there is, with its numbers."""
    such_as: tuple[str, ...] = ()
    """Examples."""
    remedy: str = ""
    """What to do about it."""
    numbers: dict[str, float] = {}
    """The numbers of the text by name, for programs."""

    @property
    def finding(self) -> str:
        """What there is, with the examples."""
        return self.text + (f", such as {', '.join(self.such_as)}" if self.such_as else "")

    @property
    def advice(self) -> str:
        """What to do about it, as a sentence; an option at its beginning keeps its spelling."""
        text = self.remedy
        sentence = text[:1].upper() + text[1:] if _PROSE.match(text) else text
        return sentence if sentence.endswith(tuple(".?!")) else f"{sentence}."

    def __str__(self) -> str:
        remedy = f"; {self.remedy}" if self.remedy else ""
        return f"{self.level}: {self.finding}{remedy} [{self.check}]"


def remark(
    level: Level, text: str, *, such_as: Iterable[object] = (), remedy: str = "", **numbers: float
) -> Remark:
    """Return what a check has to say; whose word it is, is put in when it is heard.

    Parameters
    ----------
    level : {"info", "note", "warning"}
        How much it matters.
    text : str
        What there is, with its numbers.
    such_as : iterable
        Examples, of which the first three are kept.
    remedy : str
        What to do about it.
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
    """What a check may look at: a stage that is done, with what it was given and what it made.

    Parameters
    ----------
    use : str
        Its kind, "sample.random".
    config : Any
        Its options.
    inputs : mapping of str to LazyFrame
        The tables that its options name, and the rows of the files that it reads as tables.
    outputs : mapping of str to LazyFrame
        The tables that it made.
    tokens : callable
        (option, most, *names) -> about so many of the first tokens of the corpus that an option
        names, with these attributes where it has them, else with all.
    left_out : int
        Places of the input that could not be read and were left out.
    left_out_sentences, left_out_tokens : int
        How many were left out with them.
    left_out_examples : tuple of str
        The first of them.
    replaced : mapping of str to int
        What readers took for something else, and how many tokens have it: "lemma <unknown>".
    filled : set of str or None
        Attributes of the corpus that the stage reads and that have a value; None: not known.
    """

    use: str
    config: Any
    inputs: Mapping[str, pl.LazyFrame] = field(default_factory=dict)
    outputs: Mapping[str, pl.LazyFrame] = field(default_factory=dict)
    tokens: Callable[..., pl.DataFrame] = _no_tokens
    left_out: int = 0
    left_out_sentences: int = 0
    left_out_tokens: int = 0
    left_out_examples: tuple[str, ...] = ()
    replaced: Mapping[str, int] = field(default_factory=dict)
    filled: frozenset[str] | None = None

    def rows(self, table: str) -> int:
        """Return how many rows a table has that the stage made."""
        return int(self.outputs[table].select(pl.len()).collect().item())


Look = CheckInput
"""The name that extensions of before use."""


Found: TypeAlias = Iterable[Remark]
"""What a check gives."""


@dataclass(frozen=True)
class Check:
    """A registered check.

    Parameters
    ----------
    name : str
        By which its threshold is set.
    run : callable
        (stage, threshold) -> remarks.
    stages : sequence of str
        The kinds of stages whose results it looks at; all if empty.
    threshold : float
        From where on it says something, if the experiment does not set another.
    means : str
        What the threshold is, and its unit.
    """

    name: str
    run: Callable[[CheckInput, float], Found]
    _: KW_ONLY
    stages: Sequence[str]
    threshold: float
    means: str

    @property
    def doc(self) -> str:
        """The first line of its docstring: what it finds."""
        return (self.run.__doc__ or "").strip().splitlines()[0]

    def remarks(self, stage: CheckInput, threshold: float) -> Iterator[Remark]:
        """Yield what it finds, under its name."""
        for each in self.run(stage, threshold):
            yield each.model_copy(update={"check": self.name})


CHECKS: Registry[Check] = Registry("check", "pipeline.remarks")

check = CHECKS.decorator(Check)
"""Registers a function (stage, threshold) -> remarks as a check of its own name."""


# Run all checks of a stage, each with its threshold.

Threshold: TypeAlias = Annotated[float, Field(ge=0, strict=True)] | Literal[False]
Thresholds: TypeAlias = dict[Annotated[str, Named(CHECKS)], Threshold]
"""``[remarks]``: check to its threshold, or to false if it is to say nothing."""


def run_checks(stage: CheckInput, thresholds: Mapping[str, float | bool]) -> tuple[Remark, ...]:
    """Return what the checks of a stage have to say, what matters most first.

    Parameters
    ----------
    stage : CheckInput
        The stage, with what it was given and what it made.
    thresholds : mapping of str to float or False
        Those that an experiment sets.
    """
    found: list[Remark] = []
    for name in CHECKS:
        each = CHECKS.get(name)
        threshold = thresholds.get(name, each.threshold)
        if threshold is not False and (not each.stages or stage.use in each.stages):
            found += _run_check(each, stage, threshold)
    return tuple(sorted(found, key=lambda one: LEVELS.index(one.level)))


def _run_check(each: Check, stage: CheckInput, threshold: float) -> list[Remark]:
    """Return the remarks of one check; one that fails does not take the results with it."""
    try:
        return list(each.remarks(stage, threshold))
    except LexassayError:
        raise
    except Exception as error:  # whatever it is: the results stand
        why = errors.explain(error).replace("\n", ". ")
        text = f"this check could not be made: {why.removesuffix('.')}"
        switch = f"[remarks] {each.name} = false leaves it out"
        return [remark("note", text, remedy=switch).model_copy(update={"check": each.name})]


@check(stages=NUMBERS, threshold=1, means="columns")
def number_format(stage: CheckInput, threshold: float) -> Found:
    """Say how the numbers of a file are written, where not as programs write them."""
    rows = stage.inputs["path"]
    found = {name: form for name, form in stage.config.formats(rows).items() if not form.is_plain}
    if stage.config.decimal is not None or len(found) < threshold:
        return
    for name, form in found.items():
        marked = rows.filter(pl.col(name).str.contains(r"\d\D+\d|%")).select(name).head(EXAMPLES)
        yield remark(
            "note",
            f"the column {name} is read so: {form}",
            such_as=map(repr, marked.collect().to_series()),
            remedy="the option decimal says otherwise",
        )


@check(stages=(), threshold=1, means="faults of the input")
def left_out(stage: CheckInput, threshold: float) -> Found:
    """Count what could not be read and was left out: sentences with their tokens, and lines."""
    if stage.left_out < threshold:
        return
    sentences, tokens = stage.left_out_sentences, stage.left_out_tokens
    others = stage.left_out - sentences
    lost = [f"{sentences:,} sentence(s)"] if sentences else []
    lost += [f"{others:,} line(s) or file(s) outside of sentences"] if others else []
    yield remark(
        "note",
        f"left out {' and '.join(lost)}, {tokens:,} token(s) in all",
        such_as=stage.left_out_examples,
        remedy="mend them in the file if they are to count",
        places=stage.left_out,
        sentences=sentences,
        tokens=tokens,
    )


_LEMMA, _LANGUAGE, _LINES, _SIGN = "lemma ", "language ", "lines ", "sign "
_ELEMENT = "element "
_UNKNOWN = "an unknown language"
"""What readers count under, see `pipeline.formats.base.Batch`."""


@check(stages=(), threshold=1, means="tokens")
def placeholders(stage: CheckInput, threshold: float) -> Found:
    """Count tokens whose lemma is none, such as <unknown>: their form stands in its place."""
    found = _counts(stage, _LEMMA)
    tokens = sum(found.values())
    if tokens < threshold or not found:
        return
    listed = ", ".join(f"{value} {count:,}" for value, count in found.items())
    yield remark(
        "note",
        f"{tokens:,} token(s) have no lemma ({listed}): the form stands in its place",
        remedy="placeholders = [] takes these for lemmas",
        tokens=tokens,
    )


def _counts(stage: CheckInput, kind: str) -> dict[str, int]:
    """Return what readers have counted under a kind, the most frequent first."""
    found = [
        (name.removeprefix(kind), count)
        for name, count in stage.replaced.items()
        if name.startswith(kind)
    ]
    return dict(sorted(found, key=lambda each: (-each[1], each[0])))


@check(stages=(), threshold=1, means="files")
def text_layout(stage: CheckInput, threshold: float) -> Found:
    """Say in which language plain text was found to be, and whether its lines were joined."""
    languages, lines = _counts(stage, _LANGUAGE), _counts(stage, _LINES)
    files = sum((languages or lines).values())
    if not lines and [*languages] == [_UNKNOWN]:
        return  # of one sentence a line, no language decides what ends a sentence
    if files < threshold:
        return
    wrapped = lines.get("wrapped", 0)
    of_all = ", ".join(f"{name} {count:,}" for name, count in languages.items())
    language = next(iter(languages)) if len(languages) == 1 else of_all
    said = [
        *([f"plain text in {language}"] if languages else []),
        *([f"{wrapped:,} of {files:,} file(s) have lines of a set width, which are joined"]
          if wrapped else []),
        *(["a line is a paragraph"] if lines and not wrapped else []),
    ]  # fmt: skip
    remedy = " and ".join([*(["language"] if languages else []), *(["sentences"] if lines else [])])
    yield remark(
        "note", "; ".join(said), remedy=f"the option {remedy} of the corpus says otherwise",
        files=files, wrapped=wrapped,
    )  # fmt: skip


@check(stages=(), threshold=1, means="elements")
def elements(stage: CheckInput, threshold: float) -> Found:
    """Count elements of TEI whose text is left out, such as notes."""
    found = _counts(stage, _ELEMENT)
    if sum(found.values()) >= threshold:
        yield remark(
            "note",
            f"the text of some elements is left out: {_list_counts(found)}",
            remedy="the option skip of the corpus names what is left out",
            elements=sum(found.values()),
        )


def _list_counts(found: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in found.items())


@check(stages=(), threshold=1, means="signs")
def normalised(stage: CheckInput, threshold: float) -> Found:
    """Count signs that were written otherwise, so that what looks the same is the same."""
    found = _counts(stage, _SIGN)
    if sum(found.values()) >= threshold:
        yield remark(
            "note",
            f"text was normalised: {_list_counts(found)}",
            remedy='normalise = "none" keeps it as it is written',
            signs=sum(found.values()),
        )
