"""Checks of a stage's inputs: columns of files, guidelines, names and answers."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Annotated, Self, TypeAlias, TypeVar

import polars as pl
from pydantic import AfterValidator, model_validator

from pipeline import errors
from pipeline.errors import ConfigError, Problem, WaitsForPerson, did_you_mean
from pipeline.kernels.annotation import adjudication, sheets
from pipeline.kernels.annotation.adjudication import of_round
from pipeline.kernels.annotation.sheets import by_fold, fold, transfers, unify_names
from pipeline.kernels.cells import Decimal, Kind, NumberFormat, number_formats
from pipeline.stages.base import StageConfig, StageReference

Name = TypeVar("Name", bound=str)

_MOST_VALUES = 12
"""Maximum number of values listed in a message."""
_SEPARATORS = {";": "semicolons", "\t": "tabs", ",": "commas"}
_PLACES = ("file", "line", "doc", "paragraph", "sentence", "position")


class NoSuchColumn(ConfigError):
    """A file lacks columns or attributes named by the options, or has unusable ones."""


def require(schema: pl.Schema, columns: Iterable[tuple[str, str]]) -> None:
    """Check that a file has the columns named by an option.

    Parameters
    ----------
    schema : Schema
        Schema of the file.
    columns : iterable of (str, str)
        Path of the option within the stage, and the column that it names.

    Raises
    ------
    ConfigError
        With one problem per missing column or column without plain values.
    """
    has = [name for name in schema.names() if name not in {"file", "line"}]
    columns = list(columns)
    separator = _other_separator(has, {name for _, name in columns})
    problems: list[Problem] = []
    for option, name in columns:
        if name not in has:
            what = f"the file has no column {name!r}"
            problems.append(Problem(option, what, separator or did_you_mean(name, has)))
        elif kind := errors.no_plain_values(schema[name]):
            what = f"column {name!r} contains {kind}, not text or numbers"
            problems.append(Problem(option, what, "convert it to text"))
    if problems:
        raise NoSuchColumn("columns", problems)


def _other_separator(has: Sequence[str], names: set[str]) -> str:
    """Return the remedy for a header that was read as one column; empty if it was not.

    Examples
    --------
    >>> _other_separator(["l1;l2"], {"l1", "f"})
    'columns are separated by semicolons: write { path = ..., separator = ";" }'
    >>> _other_separator(["a;b"], {"l1"}), _other_separator(["l1;l2", "f"], {"l1"})
    ('', '')
    """
    if len(has) != 1:
        return ""
    for separator, plural in _SEPARATORS.items():
        fields = has[0].split(separator)
        if len(fields) > 1 and not names.isdisjoint(field.strip(' "') for field in fields):
            text = json.dumps(separator)
            return f"columns are separated by {plural}: write {{ path = ..., separator = {text} }}"
    return ""


def named_columns(
    schema: pl.Schema,
    columns: Mapping[Name, str],
    keys: Iterable[Name],
    *,
    further: Iterable[tuple[str, str]] = (),
) -> dict[Name, str]:
    """Return the file's names of columns, and check that they exist.

    Parameters
    ----------
    schema : Schema
        Schema of the file.
    columns : mapping of str to str
        The option columns: from our names to those in the file.
    keys : iterable of str
        Our column names.
    further : iterable of (str, str)
        Columns named by other options, as for `require`.

    Raises
    ------
    ConfigError
        As for `require`.
    """
    names = {each: columns.get(each, each) for each in keys}
    require(schema, [*((f"columns.{each}", name) for each, name in names.items()), *further])
    return names


def require_attributes(schema: pl.Schema, used: dict[str, set[str]]) -> None:
    """Check that the tokens have the attributes used by the options.

    Raises
    ------
    ConfigError
        With one problem per option and missing attribute.
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
    option: str, names: Iterable[str], values: pl.Series, *, what: str, where: str
) -> list[Problem]:
    """Return a problem for each value of an option that does not occur.

    Parameters
    ----------
    option : str
        Path of the option.
    names : iterable of str
        Its values.
    values : Series of String
        The existing values, most frequent first.
    what, where : str
        Their kind and their source, for the message.

    Examples
    --------
    >>> labels = pl.Series(["free", "SVC"])
    >>> print(*list_absent_values("labels", ["svc"], labels, what="label", where="the file"))
    labels: the label 'svc' does not occur in the file; did you mean SVC? It has free, SVC
    """
    has = values.to_list()
    listing = ", ".join(has[:_MOST_VALUES]) + (", ..." if len(has) > _MOST_VALUES else "")
    problems = []
    for name in dict.fromkeys(names):
        if has and name not in has:
            near = did_you_mean(name, has)
            advice = f"{near} It has {listing}" if near.endswith("?") else f"it has {listing}"
            text = f"the {what} {name!r} does not occur in {where}"
            problems.append(Problem(option, text, advice))
    return problems


def with_label_texts(rows: pl.LazyFrame, columns: Iterable[str]) -> pl.LazyFrame:
    """Return rows with lists of labels as text, for `pipeline.kernels.cells`."""
    schema = rows.collect_schema()
    lists = [name for name in columns if schema.get(name) == pl.List(pl.String)]
    choices = {name: pl.struct(pl.col(name).alias("choices")) for name in lists}
    return rows.with_columns(
        pl.when(pl.col(name).is_not_null()).then(choice.struct.json_encode()).alias(name)
        for name, choice in choices.items()
    )


# Numbers of files


class NumberOptions(StageConfig):
    """Options of a stage that reads numbers from files."""

    decimal: Decimal | None = None
    """Decimal mark, "." or ","; detected by default."""
    missing: tuple[str, ...] = ()
    """Texts for missing numbers besides the empty field, e.g. ["NA"]."""

    def number_columns(self, schema: pl.Schema) -> dict[str, Kind]:
        """Return the numeric columns of a file with their kinds."""
        raise NotImplementedError

    def formats(self, rows: pl.LazyFrame) -> dict[str, NumberFormat]:
        """Return the number format of each of these columns."""
        kinds = self.number_columns(rows.collect_schema())
        return number_formats(rows, kinds, decimal=self.decimal, missing=self.missing)


# Guidelines of labels

MOST = 10_000
"""Maximum number of characters of a guideline."""


def check_guidelines(guidelines: Mapping[str, str], labels: Collection[str]) -> None:
    """Check that guidelines belong to labels and are not blank.

    Parameters
    ----------
    guidelines : mapping of str to str
        Guidelines by label.
    labels : collection of str
        The known labels.

    Raises
    ------
    ValueError
        If a label is unknown (with the nearest), or a guideline is blank, too long or not text.

    Examples
    --------
    >>> check_guidelines({"SVG": "A verb that lost its meaning."}, ["SVC", "free"])
    Traceback (most recent call last):
    ...
    ValueError: unknown label 'SVG'; did you mean SVC?
    """
    for label, text in guidelines.items():
        if label not in labels:
            raise ValueError(f"unknown label {label!r}; {did_you_mean(label, labels)}")
        if not text.strip():
            raise ValueError(f"the guideline of {label!r} is blank; write one, or omit it")
        if len(text) > MOST:
            what = f"the guideline of {label!r} has {len(text):,} characters, more than {MOST:,}"
            raise ValueError(f"{what}; shorten it, or refer to a document")


# Names of people, which must differ in more than case or blanks


def distinct(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names if they are valid.

    Raises
    ------
    ValueError
        If a name is blank or contains a control character, or two names differ only in case, blanks
        or Unicode form.

    Examples
    --------
    >>> distinct(("a1", "A1 "))
    Traceback (most recent call last):
    ...
    ValueError: two names differ only in case or blanks: 'a1', 'A1 '
    """
    for name in names:
        if not fold(name) or any(unicodedata.category(sign) == "Cc" for sign in name):
            raise ValueError(
                f"{name!r} is not a valid name: it is blank or contains a control character"
            )
    first = by_fold(names)
    for name in names:
        if first[fold(name)] != name or names.count(name) > 1:
            same = [each for each in names if fold(each) == fold(name)]
            text = ", ".join(map(repr, same))
            raise ValueError(f"two names differ only in case or blanks: {text}")
    return names


Names: TypeAlias = Annotated[tuple[str, ...], AfterValidator(distinct)]
"""Distinct names of people or labels."""


def with_asked_names(rows: pl.LazyFrame, people: Sequence[str]) -> pl.LazyFrame:
    """Return rows of sheets, with typed names replaced by those of the annotators."""
    return unify_names(rows, people)


def first_round(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Drop decisions of adjudicators."""
    return of_round(rows, "annotation")


def counted_answers(
    rows: pl.LazyFrame, base: pl.DataFrame, tasks: pl.DataFrame, *, log: str, answer: str
) -> pl.LazyFrame:
    """Return only the valid answers of sheets and decision logs."""
    return adjudication.merge_answers(rows, base.lazy(), tasks.lazy(), log=log, answer=answer)


def compare_answers(
    rows: pl.LazyFrame, base: pl.DataFrame, tasks: pl.DataFrame, *, log: str, answer: str
) -> pl.LazyFrame:
    """Return what becomes of each answer in a sheet."""
    return adjudication.compare_cells(rows, base.lazy(), tasks.lazy(), log=log, answer=answer)


def answers_in_conflict(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Return id and annotator of answers that do not count because of a conflict."""
    if adjudication.CONFLICT not in rows.collect_schema():
        rows = rows.with_columns(pl.lit(value=False).alias(adjudication.CONFLICT))
    return rows.filter(adjudication.CONFLICT).select("id", "annotator").unique()


def reassign(sheet: pl.DataFrame, moves: pl.DataFrame) -> pl.DataFrame:
    """Return a table of sheets with the cards that were given to others."""
    return sheets.reassign(sheet.lazy(), moves.lazy()).collect()


class JoinsAnswers(StageConfig):
    """Options of a stage that joins people's answers and decides where they differ."""

    former: Names = ()
    """Former annotators, whose answers still count."""
    if TYPE_CHECKING:  # each stage explains these options in its own words
        folder: str | None
        entries: str | None
        earlier: str | None
        rule: str
        expert: str | None

    def known_annotators(self, *tables: pl.LazyFrame) -> list[str]:
        """Return the annotators of the tables and the former annotators."""
        annotators = [
            name
            for table in tables
            for name in table.select(pl.col("annotator").unique().sort()).collect().to_series()
        ]
        return list(by_fold([*annotators, *self.former]).values())

    def sheet_and_known(
        self, sheet: pl.LazyFrame, entries: pl.LazyFrame, *further: pl.LazyFrame
    ) -> tuple[pl.LazyFrame, list[str]]:
        """Return who is asked for what after all transfers of cards, and who may answer.

        Everybody who was ever given a card may: a later experiment may ask others, and answers
        that were given stay.

        Parameters
        ----------
        sheet : LazyFrame
            The table of sheets.
        entries : LazyFrame
            The rows of the sheets' folder, with the transfers.
        *further : LazyFrame
            Other tables of annotators.
        """
        moves = transfers(entries)
        return sheets.reassign(sheet, moves), self.known_annotators(sheet, *further, moves)

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        if (self.folder is None) == (self.entries is None):
            raise ValueError("give either folder or entries")
        return self

    @model_validator(mode="after")
    def _expert_is_named(self) -> Self:
        if (self.rule == "expert") != (self.expert is not None):
            raise ValueError('expert = NAME requires rule = "expert"')
        return self


def check_expert(config: JoinsAnswers, referred: Mapping[str, StageReference]) -> Iterator[Problem]:
    """Report an expert without a sheet, whom the majority would silently replace."""
    sheet = referred.get("sheet")
    annotators = getattr(sheet.config, "annotators", None) if sheet else None
    if config.expert is None or sheet is None or annotators is None:
        return
    known = (*annotators, *config.former)
    if config.earlier is None and fold(config.expert) not in by_fold(known):
        what = f"stage {sheet.stage!r} has no annotator {config.expert!r}"
        yield Problem("expert", what, did_you_mean(config.expert, known))


# Missing answers

_EXAMPLES = 3
_REMEDY = "set partial = true to continue without them"


def wait_for(
    rows: pl.LazyFrame,
    contested: pl.LazyFrame,
    entries: pl.LazyFrame,
    *,
    folder: str,
    missing: int,
    what: str,
) -> WaitsForPerson:
    """Return the error that lists empty rows by annotator.

    Parameters
    ----------
    rows : LazyFrame
        The rows to be filled in: annotator, id, order, shown (the text that identifies the row).
    contested : LazyFrame
        annotator and id of rows with answers in conflict: the runner names them.
    entries : LazyFrame
        All rows of the sheets: annotator, id, file, line, and note if there are notes.
    folder : str
        Folder of the sheets.
    missing : int
        Number of missing answers; less than the number of rows if one of several answers suffices.
    what : str
        The name of an answer, in the singular.

    Examples
    --------
    >>> row = {"annotator": ["anna"], "id": ["x"], "order": [1], "shown": ["take care"]}
    >>> rows = pl.LazyFrame(row)
    >>> places = rows.with_columns(file=pl.lit("x/001-anna.csv"), line=pl.lit(7))
    >>> print(wait_for(rows, rows.clear(), places, folder="x", missing=1, what="label"))
    x: waiting for 1 label from "anna", for example take care (001-anna.csv, line 7); set ...
    >>> print(wait_for(rows, rows, places, folder="x", missing=1, what="label"))
    x: waiting for 1 label from "anna"; 1 of them in conflict; set partial = true ...thout them
    """
    ordered = rows.select("annotator", "id", "order", "shown").sort("order", "annotator").collect()
    whose = ordered.group_by("annotator").len().sort("annotator")
    empty = ordered.join(contested.collect(), on=["annotator", "id"], how="anti")
    first = empty.sort("order", "annotator").unique("shown", keep="first", maintain_order=True)
    first = first.head(_EXAMPLES)
    notes = [
        f"{count:,} of them {text}"
        for count, text in (
            (ordered.height - empty.height, "in conflict"),
            (_count_noted(empty, entries), "with a note"),
        )
        if count
    ]
    remedy = "; ".join([*notes, _REMEDY])
    return WaitsForPerson(
        folder, missing, what, dict(whose.iter_rows()), first["shown"].to_list(), remedy=remedy,
        places=_places(first, entries),
    )  # fmt: skip


def _count_noted(rows: pl.DataFrame, entries: pl.LazyFrame) -> int:
    """Return how many rows have a note in their sheet: their annotator could not decide."""
    if "note" not in entries.collect_schema():
        return 0
    noted = entries.filter(pl.col("note").str.strip_chars() != "").select("annotator", "id")
    return rows.lazy().join(noted, on=["annotator", "id"], how="semi").collect().height


def _places(rows: pl.DataFrame, entries: pl.LazyFrame) -> str:
    """Return the files and lines of rows in sheets; empty if they are in none."""
    in_sheets = entries.filter(pl.col("file").str.contains(r"\.(csv|tsv|xlsx|ods|xls)$"))
    table = in_sheets.join(rows.lazy(), on=["annotator", "id"], how="semi").collect()
    lines = table.group_by("file").agg(pl.col("line").unique().sort()).sort("file")
    return "; ".join(
        f"{PurePath(file).name}, {'line' if len(at) == 1 else 'lines'} {_and_text(at)}"
        for file, at in lines.select("file", "line").iter_rows()
    )


def _and_text(numbers: Sequence[int]) -> str:
    *others, last = (str(number) for number in numbers)
    return f"{', '.join(others)} and {last}" if others else last
