"""Judgements and predictions of candidates, from tables, lists and dictionaries."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import Annotated, Literal, TypeAlias

import polars as pl
from pydantic import Field, field_validator, model_validator

from pipeline.errors import ConfigError, DataError, Problem, did_you_mean
from pipeline.expressions import expression
from pipeline.kernels import cells
from pipeline.kernels.annotation.gold import (
    WORDS,
    Covered,
    judge_by_list,
    list_coverage,
    spelling,
    two_words,
)
from pipeline.kernels.cells import NO_WORD, Kind, NumberFormat, is_error, label_lists
from pipeline.kernels.machine import (
    duplicate_faults,
    probability,
    provenance,
    unknown_candidate_faults,
)
from pipeline.kernels.sampling import candidate_id
from pipeline.stages.base import FAULTS, Of, Outputs, StageConfig, Tables, TableSource, stage
from pipeline.stages.inputs import (
    NumberOptions,
    list_absent_values,
    named_columns,
    require,
    with_label_texts,
)
from schemas import CandidateIds, Coverage, GoldCoverage, Judgements, JudgesProvenance, Predictions

Unit: TypeAlias = Literal["l1", "l2"]
_UNITS: tuple[Unit, ...] = ("l1", "l2")
_NO_LABEL = "is a spreadsheet error, not a label"
_JUDGEMENT_SPELLING = f"is not a judgement ({', '.join(cells.TRUE)} or {', '.join(cells.FALSE)})"


# Judgements


class LabelColumn(StageConfig):
    """A column of labels, with those of true positives."""

    column: str
    """Name of the column; empty fields are unjudged."""
    labels: tuple[str, ...] = Field(min_length=1)
    """Labels of true positives; all other labels are false positives."""


class JoinTable(StageConfig):
    """Join judgements from an annotated table to candidates."""

    path: TableSource
    """Files with one row per annotated pair."""
    candidates: Annotated[str, Of(CandidateIds)]
    """The candidates to judge."""
    columns: dict[Unit, str] = Field(default_factory=dict)
    """Names of l1 and l2 in the file, if different."""
    categories: dict[str, str | LabelColumn] = Field(default={"TP": "TP"}, min_length=1)
    """From categories to columns with 1 or 0 (empty = unjudged), or to { column = ..., labels =
    [...] }.
    """
    where: str = ""
    """SQL condition on the file's columns that selects rows: "answer <> 'ignore'"."""
    unions: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Further categories that unite others: true if any is true, false if all are false."""

    @field_validator("where")
    @classmethod
    def _check_where(cls, where: str) -> str:
        if where:
            expression(where)
        return where

    @model_validator(mode="after")
    def _unites_categories(self) -> JoinTable:
        for name, parts in self.unions.items():
            unknown = [part for part in parts if part not in self.categories]
            if name in self.categories or unknown or not parts:
                names = ", ".join(self.categories)
                raise ValueError(f"the union {name!r} needs a new name, and parts among {names}")
        return self

    def judgements(self) -> dict[str, pl.Expr]:
        """Return the judgement of a row in each category; null if there is none."""
        return {
            category: cells.judgement(source) if isinstance(source, str) else _is_positive(source)
            for category, source in self.categories.items()
        }

    def label_counts(self, rows: pl.LazyFrame) -> dict[str, dict[str, int]]:
        """Return how often the files have each label, by category with labels."""
        some = self._select_rows(rows)
        return {
            category: dict(
                some.select(label=_labels(source).list.explode()).drop_nulls()
                .group_by("label").len().sort("label").collect().iter_rows()
            )
            for category, source in self.categories.items()
            if isinstance(source, LabelColumn)
        }  # fmt: skip

    def _select_rows(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        some = rows.filter(expression(self.where)) if self.where else rows
        return with_label_texts(some, map(_column, self.categories.values()))

    def pairs(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        """Return file, line, l1 and l2 of the rows of the files that have a judgement."""
        texts = self._select_rows(rows)
        units = {unit: pl.col(self.columns.get(unit, unit)).cast(pl.String) for unit in _UNITS}
        known = pl.any_horizontal(each.is_not_null() for each in self.judgements().values())
        return texts.filter(known).select("file", "line", **units)


@stage("join.table", config=JoinTable, outputs={"judgements": Judgements, "coverage": Coverage})
def join_table(config: JoinTable, tables: Tables) -> Outputs:
    """Keep judgements on candidates; conflicting judgements on a pair are faults.

    Raises
    ------
    ConfigError
        If a label of true positives does not occur.
    DataError
        If no pair of the file is a candidate.
    """
    columns = {category: _column(source) for category, source in config.categories.items()}
    raw = with_label_texts(tables["path"], columns.values())
    fields = expression(config.where).meta.root_names() if config.where else []
    judged_by = [(f"categories.{new}", name) for new, name in columns.items()]
    further = [*judged_by, *(("where", name) for name in fields)]
    names = named_columns(raw.collect_schema(), config.columns, _UNITS, further=further)
    raw = raw.filter(expression(config.where)) if config.where else raw
    _require_labels(raw, config.categories)
    judgements = config.judgements()
    spelt = _fixed_spellings(config.categories, judgements)
    units = {name: cells.text_or_null(name) for name in names.values()}
    pairs = raw.with_columns(candidate_id(*names.values()))
    long = pl.concat(
        pairs.select("file", "line", "id", category=pl.lit(category), tp=judgement)
        for category, judgement in judgements.items()
    ).drop_nulls(["id", "tp"])
    twice = pl.col("tp").n_unique() > 1
    one = long.group_by("category", "id").agg(pl.col("tp").first(), two=twice).collect().lazy()
    candidates = tables["candidates"].select("id")
    judged = one.join(candidates, on="id", how="semi").select("category", "id", "tp")
    whole = pl.concat([judged, *(_union(judged, *each) for each in config.unions.items())])
    bad = [
        cells.faults(raw, parsed=units, problem=NO_WORD, required=True),
        *(
            [cells.faults(raw, parsed=spelt, problem=_JUDGEMENT_SPELLING, required=False)]
            if spelt
            else []
        ),
        *_errors_of_labels(raw, config.categories),
        _contradictions(long, one, columns),
    ]
    if pl.concat(bad).limit(1).collect().is_empty():
        require_overlap(raw, names, one, tables["candidates"])
    return {
        "judgements": whole.sort("category", "id"),
        "coverage": _coverage(one, candidates, list(columns)),
        FAULTS: pl.concat(bad),
    }


def _column(source: str | LabelColumn) -> str:
    return source.column if isinstance(source, LabelColumn) else source


def _labels(source: LabelColumn) -> pl.Expr:
    """Return the labels of each row; null if there are none."""
    return label_lists(pl.col(source.column).cast(pl.String))


def _is_positive(source: LabelColumn) -> pl.Expr:
    """Return true if a label means a true positive; null without a label."""
    labels, positive = _labels(source), list(source.labels)
    return labels.list.eval(pl.element().is_in(positive)).list.any()


def _require_labels(raw: pl.LazyFrame, categories: Mapping[str, str | LabelColumn]) -> None:
    """Reject labels of true positives that do not occur.

    Raises
    ------
    ConfigError
        With the existing labels.
    """
    problems: list[Problem] = []
    for name, source in categories.items():
        if isinstance(source, LabelColumn):
            counted = raw.select(label=_labels(source).explode()).drop_nulls().group_by("label")
            values = counted.len().sort("len", "label", descending=[True, False]).collect()
            place, column = f"categories.{name}.labels", f"the column {source.column!r}"
            problems += list_absent_values(
                place,
                source.labels,
                values["label"],
                what="label",
                where=f"{column} of {_file(raw)}",
            )
    if problems:
        raise ConfigError("labels", problems)


def _file(raw: pl.LazyFrame) -> str:
    """Return the source of rows, for a message."""
    files = raw.select(pl.col("file").unique()).collect().to_series().sort()
    return str(files[0]) if files.len() == 1 else f"the {files.len():,} files"


def _errors_of_labels(
    raw: pl.LazyFrame, categories: Mapping[str, str | LabelColumn]
) -> list[pl.LazyFrame]:
    """Return labels that are spreadsheet errors."""
    names = {each.column for each in categories.values() if isinstance(each, LabelColumn)}
    texts = {name: pl.col(name).cast(pl.String) for name in sorted(names)}
    labels = {name: pl.when(~is_error(text)).then(text) for name, text in texts.items()}
    return [cells.faults(raw, parsed=labels, problem=_NO_LABEL, required=False)] if labels else []


# Pairs of a file that are not candidates

_CAUSES: Mapping[str, Callable[[pl.Expr], pl.Expr]] = {
    "in capital letters": lambda word: word.str.to_lowercase(),
    "in blanks around the words": lambda word: word.str.strip_chars(),
    "in the signs between parts of a word": lambda word: word.str.replace_all(r"[\s_\p{Pd}]+", " "),
    "in their Unicode form": lambda word: word.str.normalize("NFKC"),
}
"""Possible spelling differences, with the normalisation that removes them."""
_EXAMPLES = 3


def require_overlap(
    raw: pl.LazyFrame, names: Mapping[Unit, str], known: pl.LazyFrame, candidates: pl.LazyFrame
) -> None:
    """Reject a file without any candidate among its pairs, probably because of spelling.

    Parameters
    ----------
    raw : LazyFrame
        Rows of the file, with column file.
    names : mapping of str to str
        Names of l1 and l2 in the file.
    known : LazyFrame
        Judged pairs of the file, with id.
    candidates : LazyFrame
        The candidates, with id.

    Raises
    ------
    DataError
        With three pairs from each side and the likely cause.
    """
    both = known.join(candidates.select("id"), on="id", how="semi").limit(1).collect()
    if both.height or known.limit(1).collect().is_empty():
        return
    words = {each: pl.col(name).cast(pl.String) for each, name in names.items()}
    reject_without_overlap(raw.select("file", **words), candidates)


def reject_without_overlap(pairs: pl.LazyFrame, candidates: pl.LazyFrame) -> None:
    """Reject files none of whose pairs is a candidate, if there are candidates.

    Parameters
    ----------
    pairs : LazyFrame
        file, l1 and l2, as the files spell them.
    candidates : LazyFrame
        The candidates, with l1 and l2 if they have two units.

    Raises
    ------
    DataError
        With three pairs from each side and the likely cause.
    """
    size = int(candidates.select(pl.len()).collect().item())
    ours = pairs.select(_UNITS).unique(maintain_order=True)
    number = int(ours.select(pl.len()).collect().item())
    if not size or not number:
        return
    lines = [f"none of the {number:,} pairs in {_file(pairs)} is among the {size:,} candidates"]
    lines.append(f"  there: {_format_pairs(ours)}")
    if {*_UNITS} <= {*candidates.collect_schema().names()}:
        theirs = candidates.select(pl.col(_UNITS).cast(pl.String))
        lines += [f"  here: {_format_pairs(theirs)}", f"  {_cause(ours, theirs)}"]
    raise DataError("\n".join([*lines, "Use the same spelling in both."]))


def _format_pairs(pairs: pl.LazyFrame) -> str:
    words = [pl.col(unit).str.strip_chars().str.to_lowercase() for unit in _UNITS]
    rows = pairs.sort(*words).head(_EXAMPLES).select(_UNITS).collect().rows()
    return "; ".join(f"{left!r} {right!r}" for left, right in rows)


def _cause(ours: pl.LazyFrame, theirs: pl.LazyFrame) -> str:
    """Return the difference in spelling that explains most mismatches, and their number."""

    def count_shared(makers: Iterable[Callable[[pl.Expr], pl.Expr]], *, swapped: bool) -> int:
        left, right = ({unit: pl.col(unit) for unit in _UNITS} for _ in range(2))
        if swapped:
            right = {"l1": pl.col("l2"), "l2": pl.col("l1")}
        for make in makers:
            left = {unit: make(word) for unit, word in left.items()}
            right = {unit: make(word) for unit, word in right.items()}
        one, two = ours.select(**left).unique(), theirs.select(**right).unique()
        return int(one.join(two, on=_UNITS, how="semi").select(pl.len()).collect().item())

    every = [make for _, make in sorted(_CAUSES.items(), reverse=True)]
    counts = {what: count_shared([make], swapped=False) for what, make in _CAUSES.items()}
    counts["in the order of the two words"] = count_shared([], swapped=True)
    several = {
        "in several of these: capital letters, blanks, signs between parts, Unicode form": False,
        "in the order of the two words, and in case, blanks, signs or Unicode form": True,
    }
    if not any(counts.values()):
        counts = {what: count_shared(every, swapped=swapped) for what, swapped in several.items()}
    what, most = max(counts.items(), key=lambda each: each[1])
    if not most:
        return "they differ in more than case, blanks, order, signs between parts and Unicode form"
    return f"{most:,} differ only {what}"


def _fixed_spellings(
    categories: Mapping[str, str | LabelColumn], parsed: Mapping[str, pl.Expr]
) -> dict[str, pl.Expr]:
    """Return the columns with a fixed spelling of values, with their parsed values."""
    return {
        source: parsed[category]
        for category, source in categories.items()
        if isinstance(source, str)
    }


def _union(judged: pl.LazyFrame, name: str, parts: tuple[str, ...]) -> pl.LazyFrame:
    """Return the judgements of a union of categories; unjudged parts are open."""
    some = judged.filter(pl.col("category").is_in(parts)).group_by("id").agg(
        true=pl.col("tp").any(), all=pl.col("category").n_unique() == len(set(parts))
    )  # fmt: skip
    decided = some.filter(pl.col("true") | pl.col("all"))
    return decided.select(pl.lit(name).alias("category"), "id", tp="true")


def _contradictions(long: pl.LazyFrame, one: pl.LazyFrame, columns: dict[str, str]) -> pl.LazyFrame:
    twice = long.join(one.filter("two"), on=["category", "id"], how="semi")
    return twice.select(
        "file",
        "line",
        column=pl.col("category").replace(columns),
        value=pl.col("tp").cast(pl.String),
        problem=pl.lit("conflicts with another judgement on this pair"),
    )


def _coverage(one: pl.LazyFrame, known: pl.LazyFrame, categories: list[str]) -> pl.LazyFrame:
    every = pl.LazyFrame({"category": categories})
    inside = one.join(known, on="id", how="semi").group_by("category")
    judged = inside.agg(n_judged=pl.len().cast(pl.Int64), n_true=pl.col("tp").sum().cast(pl.Int64))
    outside = one.join(known, on="id", how="anti").group_by("category")
    unmatched = outside.agg(n_unmatched=pl.len().cast(pl.Int64))
    size = known.select(n_candidates=pl.len().cast(pl.Int64))
    counted = every.join(size, how="cross").join(judged, on="category", how="left")
    order = ("category", "n_candidates", "n_judged", "n_true", "n_unmatched")
    full = counted.join(unmatched, on="category", how="left").select(order)
    return full.with_columns(pl.exclude("category").fill_null(0)).sort("category")


# Predictions of machines: labels or probabilities

Place: TypeAlias = Literal["id", "l1", "l2", "judge"]
_PREDICTION_SPELLING = (
    f"is not a probability in [0, 1] or a label ({', '.join(cells.TRUE)} or "
    f"{', '.join(cells.FALSE)})"
)


class JoinMachine(NumberOptions):
    """Join predictions of models or programs to candidates; they never count as judgements."""

    path: TableSource
    """Files with one row per pair and judge."""
    candidates: Annotated[str, Of(CandidateIds)]
    """The predicted candidates."""
    columns: dict[Place, str] = Field(default_factory=dict)
    """Names of l1, l2, id and judge in the file, if different. Rows are identified by pair, or by
    id if named here or without pairs.
    """
    categories: dict[str, str | LabelColumn] = Field(default_factory=dict)
    """From categories to columns with probabilities or labels 1 and 0, or to { column = ..., labels
    = [...] }. Default: TP from column `probability` or `label`.
    """
    judge: str | None = Field(default=None, min_length=1)
    """Name of the judge (default: the file's column `judge`)."""
    provenance: tuple[str, ...] = ()
    """Columns that document the predictions, e.g. model, version, prompt (default: all other
    columns).
    """
    others: Literal["refuse", "skip"] = "refuse"
    """Treatment of rows about pairs that are not candidates."""

    def number_columns(self, schema: pl.Schema) -> dict[str, Kind]:
        """Return the probability columns."""
        columns = _columns(self, schema).values()
        return {each: "number" for each in columns if isinstance(each, str)}


@stage(
    "join.machine",
    config=JoinMachine,
    outputs={"predictions": Predictions, "judges_provenance": JudgesProvenance},
)
def join_machine(config: JoinMachine, tables: Tables) -> Outputs:
    """Read the predictions, with faults for unusable rows."""
    columns = _columns(config, tables["path"].collect_schema())
    raw = with_label_texts(tables["path"], map(_column, columns.values()))
    schema = raw.collect_schema()
    units = _units(config, schema)
    by = None if config.judge else config.columns.get("judge", "judge")
    _require(config, schema, units, columns, by)
    _require_labels(raw, columns)
    judge = pl.lit(config.judge) if by is None else cells.text_or_null(by).str.strip_chars()
    key = candidate_id(*units) if len(units) > 1 else pl.col(units[0]).cast(pl.String).alias("id")
    forms = config.formats(raw)
    parsed = {category: _prediction(source, forms) for category, source in columns.items()}
    rows = raw.with_columns(key).with_columns(**{"~judge": judge})
    if len(units) > 1:
        names: dict[Unit, str] = dict(zip(_UNITS, units, strict=True))
        require_overlap(raw, names, rows.select("id").drop_nulls(), tables["candidates"])
    known = rows.join(tables["candidates"].select("id"), on="id", how="semi")
    long = pl.concat(
        known.select("id", category=pl.lit(name), judge="~judge", prediction=each)
        for name, each in parsed.items()
    )
    used = {*units, *map(_column, columns.values()), "file", "line", "id", "l1", "l2", by}
    provenance_columns = config.provenance or [name for name in schema.names() if name not in used]
    return {
        "predictions": long.drop_nulls().select(*Predictions.columns()),
        "judges_provenance": provenance(known, provenance_columns),
        FAULTS: pl.concat([
            _unreadable(raw, columns, parsed, [*units, *([by] if by else [])], forms),
            *_errors_of_labels(raw, columns),
            duplicate_faults(rows, units),
            *(
                [unknown_candidate_faults(rows, tables["candidates"], units)]
                if config.others == "refuse" else []
            ),
        ]),
    }  # fmt: skip


def _units(config: JoinMachine, schema: pl.Schema) -> list[str]:
    """Return the columns that identify a candidate: a pair, or an id."""
    pair = [config.columns.get("l1", "l1"), config.columns.get("l2", "l2")]
    name = config.columns.get("id", "id")
    by_id = "id" in config.columns or (name in schema and not set(pair) <= set(schema))
    return [name] if by_id else pair


def _columns(config: JoinMachine, schema: pl.Schema) -> Mapping[str, str | LabelColumn]:
    """Return the given prediction columns, or the one found in the file."""
    if config.categories:
        return config.categories
    return {"TP": "label" if "label" in schema and "probability" not in schema else "probability"}


def _require(
    config: JoinMachine,
    schema: pl.Schema,
    units: list[str],
    columns: Mapping[str, str | LabelColumn],
    by: str | None,
) -> None:
    """Check that the file has the required columns."""
    places = ("id",) if len(units) == 1 else ("l1", "l2")
    options = [(f"columns.{place}", name) for place, name in zip(places, units, strict=True)]
    options += [(f"categories.{name}", _column(each)) for name, each in columns.items()]
    options += [("judge", by)] if by else []
    require(schema, [*options, *(("provenance", name) for name in config.provenance)])


def _prediction(source: str | LabelColumn, forms: Mapping[str, NumberFormat]) -> pl.Expr:
    if isinstance(source, str):
        return probability(source, forms[source])
    return _is_positive(source).cast(pl.Float64)


def _unreadable(
    raw: pl.LazyFrame,
    columns: Mapping[str, str | LabelColumn],
    parsed: Mapping[str, pl.Expr],
    names: list[str],
    forms: Mapping[str, NumberFormat],
) -> pl.LazyFrame:
    """Return required values that are empty, and invalid predictions."""
    filled = {name: cells.text_or_null(name) for name in names}
    spelt = _fixed_spellings(columns, parsed)
    bad = [cells.faults(raw, parsed=filled, problem=NO_WORD, required=True)]
    if spelt:
        bad.append(
            cells.faults(
                raw, parsed=spelt, problem=_PREDICTION_SPELLING, required=False, forms=forms
            )
        )
    return pl.concat(bad)


# A list or dictionary as gold standard: judgements of the candidates whose words it covers.


EntryPlace: TypeAlias = Literal["l1", "l2", "entry"]


class JoinGold(StageConfig):
    """Judge candidates by a list or dictionary, complete for the words that it covers."""

    path: TableSource
    """Lists with one entry of two words per row."""
    candidates: Annotated[str, Of(CandidateIds)]
    """The candidates to judge."""
    covered: Covered
    """Candidates outside the list that count as false: those whose l1, l2 or ``either`` word the
    list has in the same place, or ``all``.
    """
    columns: dict[EntryPlace, str] = Field(default_factory=dict)
    """Names of l1 and l2 in the file, if different; or { entry = ... }: one column, whose entries
    are divided at blanks, hyphens and underscores.
    """
    compare: tuple[str, str] = WORDS
    """Columns of the candidates to compare with the two words."""
    either_order: bool = False
    """Ignore the order of the two words."""
    case: Literal["lower", "as_it_is"] = "as_it_is"
    """``lower`` ignores case."""
    category: str = Field(default="TP", min_length=1)
    """Name of the category of pairs that any file lists."""
    by_file: bool = False
    """One category per file instead, with its name: bbi.tsv makes bbi."""

    @model_validator(mode="after")
    def _words_or_entries(self) -> JoinGold:
        if "entry" in self.columns and len(self.columns) > 1:
            raise ValueError("columns: give either entry, or l1 and l2")
        if self.by_file and "category" in self.model_fields_set:
            raise ValueError("by_file = true names categories after files: omit category")
        return self

    def pairs(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        """Return file, line, l1 and l2 as spelt in the lists; null if a row has not two words."""
        places: tuple[EntryPlace, ...] = ("entry",) if "entry" in self.columns else ("l1", "l2")
        names = named_columns(rows.collect_schema(), self.columns, places)
        texts = [cells.text_or_null(name) for name in names.values()]
        first, second = two_words(texts[0]) if len(texts) == 1 else texts
        return rows.select("file", "line", l1=first, l2=second)


@stage(
    "join.gold",
    config=JoinGold,
    outputs={"judgements": Judgements, "coverage": GoldCoverage, "covered": CandidateIds},
)
def join_gold(config: JoinGold, tables: Tables) -> Outputs:
    """Judge candidates that are listed, and those whose words are.

    Raises
    ------
    ConfigError
        If candidates lack a column to compare, or two files have the same name.
    DataError
        If no row has two words, or no entry is a candidate.
    """
    _require_columns(config, tables["candidates"].collect_schema().names())
    as_written = config.pairs(tables["path"])
    lower = config.case == "lower"
    words = [spelling(pl.col(word), lower=lower) for word in WORDS]
    rows = as_written.with_columns(*words, category=_category(config, as_written)).collect().lazy()
    compared = zip(WORDS, config.compare, strict=True)
    table = tables["candidates"].select("id", **{word: pl.col(name) for word, name in compared})
    candidates = table.with_columns(*words)
    entries = rows.drop_nulls(WORDS).select("category", *WORDS).unique()
    _require_entries(rows)
    judgements = judge_by_list(
        entries, candidates, covered=config.covered, either_order=config.either_order
    ).collect()
    if not judgements["tp"].any():
        reject_without_overlap(as_written.drop_nulls(WORDS), table)
    coverage = list_coverage(rows, candidates, judgements.lazy(), either_order=config.either_order)
    judged = tables["candidates"].select("id").join(judgements.lazy(), on="id", how="semi")
    return {
        "judgements": judgements,
        "coverage": coverage.select(*GoldCoverage.columns()),
        "covered": judged.sort("id"),
    }


def _require_columns(config: JoinGold, there: Sequence[str]) -> None:
    """Reject columns to compare that the candidates lack."""
    problems = [
        Problem("compare", f"the candidates have no column {name!r}", did_you_mean(name, there))
        for name in config.compare
        if name not in there
    ]
    if problems:
        raise ConfigError("compare", problems)


def _category(config: JoinGold, rows: pl.LazyFrame) -> pl.Expr:
    """Return the category of each row."""
    if not config.by_file:
        return pl.lit(config.category)
    files = rows.select(pl.col("file").unique()).collect().to_series().sort().to_list()
    names = {file: PurePath(file).name.partition(".")[0] for file in files}
    for name in names.values():
        same = [file for file in files if names[file] == name]
        if len(same) > 1:
            what = f"{len(same)} files would make one category {name!r}: {', '.join(same)}"
            raise ConfigError("path", [Problem("path", what, "rename one of them")])
    return pl.col("file").replace_strict(names, return_dtype=pl.String)


def _require_entries(rows: pl.LazyFrame) -> None:
    """Reject lists without a row of two words."""
    readable = pl.all_horizontal(pl.col(WORDS).is_not_null())
    every, some, file = (
        rows.select(pl.len(), readable.sum(), pl.col("file").first()).collect().row(0)
    )
    if every and not some:
        raise DataError(
            f"none of the {every:,} rows of {file} has two words\n"
            'Name the columns, { l1 = "...", l2 = "..." }, or that of entries such as "ad hoc", '
            '{ entry = "..." }.'
        )
