"""Checks of what users give a stage: columns of files, guidelines, names and answers of people."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Annotated, TypeAlias, TypeVar

import polars as pl
from pydantic import AfterValidator

from pipeline import errors
from pipeline.errors import ConfigError, Problem, WaitsForPerson, did_you_mean
from pipeline.kernels.annotation import adjudication
from pipeline.kernels.annotation.adjudication import of_round
from pipeline.kernels.annotation.sheets import by_fold, fold, unify_names
from pipeline.kernels.number_format import Decimal, Kind, NumberFormat, number_formats
from pipeline.stages.base import StageConfig

Name = TypeVar("Name", bound=str)

_MOST_VALUES = 12
"""Values that a message lists."""
_PLACES = ("file", "line", "doc", "paragraph", "sentence", "position")


class NoSuchColumn(ConfigError):
    """A file has not the columns, or attributes, that the options name, or none of use."""


def require(schema: pl.Schema, wanted: Iterable[tuple[str, str]]) -> None:
    """Check that a file has the columns that an option asks for.

    Parameters
    ----------
    schema : Schema
        What the file has.
    wanted : iterable of (str, str)
        Path of the option within the stage, and the column it names.

    Raises
    ------
    ConfigError
        With one problem for each column that is absent or holds no plain values.
    """
    has = [name for name in schema.names() if name not in {"file", "line"}]
    problems: list[Problem] = []
    for option, name in wanted:
        if name not in has:
            what = f"the file has no column {name!r}"
            problems.append(Problem(option, what, did_you_mean(name, has)))
        elif held := errors.no_plain_values(schema[name]):
            what = f"column {name!r} holds {held}, neither text nor numbers"
            problems.append(Problem(option, what, "write it as text"))
    if problems:
        raise NoSuchColumn("columns", problems)


def named_columns(
    schema: pl.Schema,
    columns: Mapping[Name, str],
    wanted: Iterable[Name],
    *,
    further: Iterable[tuple[str, str]] = (),
) -> dict[Name, str]:
    """Return what a file calls its columns, and check that it has them.

    Parameters
    ----------
    schema : Schema
        What the file has.
    columns : mapping of str to str
        The option columns: our names to those of the file, where they differ.
    wanted : iterable of str
        Our names.
    further : iterable of (str, str)
        Columns that other options name, as for `require`.

    Raises
    ------
    ConfigError
        As `require` does.
    """
    names = {each: columns.get(each, each) for each in wanted}
    require(schema, [*((f"columns.{each}", name) for each, name in names.items()), *further])
    return names


def require_attributes(schema: pl.Schema, used: dict[str, set[str]]) -> None:
    """Check that the tokens have the attributes that the options use.

    Raises
    ------
    ConfigError
        With one problem per option and absent attribute.
    """
    attributes = [name for name in schema.names() if name not in _PLACES]
    problems = [
        Problem(option, f"the tokens have no attribute {name!r}", did_you_mean(name, attributes))
        for option, names in used.items()
        for name in sorted(names - set(schema.names()))
    ]
    if problems:
        raise NoSuchColumn("attributes", problems)


def list_absent_values(
    option: str, named: Iterable[str], values: pl.Series, *, what: str, where: str
) -> list[Problem]:
    """Return a problem for each value that an option names and that occurs nowhere.

    Parameters
    ----------
    option : str
        Path of the option.
    named : iterable of str
        What it names.
    values : Series of String
        The values that there are, those that are commonest first.
    what, where : str
        What they are, and of what, for the message.

    Examples
    --------
    >>> found = pl.Series(["free", "SVC"])
    >>> print(*list_absent_values("labels", ["svc"], found, what="label", where="the file"))
    labels: the label 'svc' occurs nowhere in the file; did you mean SVC? It has free, SVC
    """
    has = values.to_list()
    shown = ", ".join(has[:_MOST_VALUES]) + (", ..." if len(has) > _MOST_VALUES else "")
    problems = []
    for name in dict.fromkeys(named):
        if has and name not in has:
            near = did_you_mean(name, has)
            meant = f"{near} It has {shown}" if near.endswith("?") else f"it has {shown}"
            text = f"the {what} {name!r} occurs nowhere in {where}"
            problems.append(Problem(option, text, meant))
    return problems


def with_label_texts(rows: pl.LazyFrame, columns: Iterable[str]) -> pl.LazyFrame:
    """Return rows with lists of labels as text, which `pipeline.kernels.cells` reads."""
    schema = rows.collect_schema()
    lists = [name for name in columns if schema.get(name) == pl.List(pl.String)]
    choices = {name: pl.struct(pl.col(name).alias("choices")) for name in lists}
    return rows.with_columns(
        pl.when(pl.col(name).is_not_null()).then(choice.struct.json_encode()).alias(name)
        for name, choice in choices.items()
    )


# Numbers of files


class NumberOptions(StageConfig):
    """Options of a stage that reads numbers from a file."""

    decimal: Decimal | None = None
    """What stands before decimals, a point or a comma. If not given, each column of text tells by
    all its rows, and one in which both are possible is refused."""
    missing: tuple[str, ...] = ()
    """Texts that stand for no number, beside the empty field, such as ["NA"]."""

    def number_columns(self, schema: pl.Schema) -> dict[str, Kind]:
        """Return the columns of a file that hold numbers, each with what they are."""
        raise NotImplementedError

    def formats(self, rows: pl.LazyFrame) -> dict[str, NumberFormat]:
        """Return how each of these columns is written."""
        kinds = self.number_columns(rows.collect_schema())
        return number_formats(rows, kinds, decimal=self.decimal, missing=self.missing)


# Guidelines of labels

MOST = 10_000
"""Characters of a guideline: a cell holds three times as many, and nobody reads them there."""


def check_guidelines(guidelines: Mapping[str, str], labels: Collection[str]) -> None:
    """Check that guidelines are of labels, and say something.

    Parameters
    ----------
    guidelines : mapping of str to str
        Label to when it is given.
    labels : collection of str
        The labels that there are.

    Raises
    ------
    ValueError
        If one is of no label, naming the nearest; if one is blank, too long or no text.

    Examples
    --------
    >>> check_guidelines({"SVG": "A verb that lost its meaning."}, ["SVC", "free"])
    Traceback (most recent call last):
    ...
    ValueError: there is no label 'SVG'; did you mean SVC?
    """
    for label, text in guidelines.items():
        if label not in labels:
            raise ValueError(f"there is no label {label!r}; {did_you_mean(label, labels)}")
        if not text.strip():
            raise ValueError(f"the guideline of {label!r} is blank; write one, or leave it out")
        if len(text) > MOST:
            what = f"the guideline of {label!r} has {len(text):,} characters, more than {MOST:,}"
            raise ValueError(f"{what}; shorten it, or name a document in it")


# Names of people: two that differ in case or blanks alone would mean one person


def distinct(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names.

    Raises
    ------
    ValueError
        If one is blank or holds a control character, or two mean the same: they differ in case,
        blanks or Unicode form alone.

    Examples
    --------
    >>> distinct(("a1", "A1 "))
    Traceback (most recent call last):
    ...
    ValueError: two names differ in case or blanks alone: 'a1', 'A1 '
    """
    for name in names:
        if not fold(name) or any(unicodedata.category(sign) == "Cc" for sign in name):
            raise ValueError(f"{name!r} is no name: it is blank or holds a control character")
    first = by_fold(names)
    for name in names:
        if first[fold(name)] != name or names.count(name) > 1:
            same = [each for each in names if fold(each) == fold(name)]
            shown = ", ".join(map(repr, same))
            raise ValueError(f"two names differ in case or blanks alone: {shown}")
    return names


Names: TypeAlias = Annotated[tuple[str, ...], AfterValidator(distinct)]
"""Names of people, or labels, that cannot be taken for each other."""


def with_asked_names(rows: pl.LazyFrame, people: Sequence[str]) -> pl.LazyFrame:
    """Return rows of sheets with the names of those who were asked, whatever was typed."""
    return unify_names(rows, people)


def first_round(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Leave out what somebody decided who saw the labels of others."""
    return of_round(rows, "annotation")


def counted_answers(
    rows: pl.LazyFrame, seen: pl.DataFrame, *, log: str, answer: str
) -> pl.LazyFrame:
    """Return rows of sheets and of a log of decisions with the answers alone that count."""
    return adjudication.merge_answers(rows, seen.lazy(), log=log, answer=answer)


class Asks(StageConfig):
    """Options of a stage that reads what people filled in."""

    former: Names = ()
    """Who was asked formerly, and is no longer: their answers count, too. Answers of anybody else
    whom no sheet asks are refused."""

    def known(self, *tables: pl.LazyFrame) -> list[str]:
        """Return who was asked: the annotators of the tables and the former ones."""
        asked = [
            name
            for table in tables
            for name in table.select(pl.col("annotator").unique().sort()).collect().to_series()
        ]
        return list(by_fold([*asked, *self.former]).values())


# Missing answers

_EXAMPLES = 3
_REMEDY = "set partial = true to continue without them"


def wait_for(rows: pl.LazyFrame, *, folder: str, missing: int, what: str) -> WaitsForPerson:
    """Return the error that says whose rows are empty, and which.

    Parameters
    ----------
    rows : LazyFrame
        The rows of the sheets that are to be filled in: annotator, order, shown (what people
        know the row by).
    folder : str
        The folder of the sheets.
    missing : int
        How many answers are missing; fewer than rows where one answer of several people is enough.
    what : str
        What an answer is, in the singular.

    Examples
    --------
    >>> rows = pl.LazyFrame({"annotator": ["anna"], "order": [1], "shown": ["take care"]})
    >>> print(wait_for(rows, folder="x", missing=1, what="label"))
    x: waiting for 1 label from "anna", for example take care; set partial = true ...thout them
    """
    ordered = rows.select("annotator", "order", "shown").sort("order", "annotator").collect()
    whose = ordered.group_by("annotator").len().sort("annotator")
    first = ordered["shown"].unique(maintain_order=True).head(_EXAMPLES)
    return WaitsForPerson(
        folder, missing, what, dict(whose.iter_rows()), first.to_list(), remedy=_REMEDY
    )
