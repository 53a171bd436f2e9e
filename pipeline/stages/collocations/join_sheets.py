"""From filled sheets to judgements: checked, adjudicated, kept for every later sample."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

import polars as pl
from pydantic import Field, model_validator

from pipeline.errors import ConfigError, Problem, did_you_mean
from pipeline.kernels.annotation.adjudication import adjudicate, intersection
from pipeline.kernels.annotation.names import by_fold, fold, named, unasked
from pipeline.kernels.annotation.resolution import resolutions, settled
from pipeline.kernels.annotation.rounds import of_round, unknown_rounds
from pipeline.kernels.annotation.sheet_checks import faults, normalise, notes, with_ids
from pipeline.stages.base import FAULTS, FilledSheets, Of, Outputs, Referred, Tables, stage
from pipeline.stages.collocations.sheet_annotation import SheetAnnotation
from pipeline.stages.collocations.sheet_labels import (
    contradictions,
    labels_of,
    of_units,
    units_of,
    with_earlier,
)
from pipeline.stages.people import Asks
from pipeline.stages.waiting import wait_for
from schemas import (
    Adjudicated,
    Annotations,
    Judgements,
    Labels,
    Resolutions,
    SheetEntries,
    SheetRows,
)


class JoinSheets(Asks):
    """Join the filled annotation sheets."""

    sheet: Annotated[str, Of(SheetRows)]
    """What was to be annotated."""
    labels: Annotated[str, Of(Labels)]
    """The labels that were offered."""
    folder: Annotated[str | None, FilledSheets()] = Field(default=None, pattern=r"^[\w-]+$")
    """Folder of the sheets, and of what people decide in the browser."""
    entries: Annotated[str | None, Of(SheetEntries)] = None
    """Or a table of what stands in them, such as a simulated annotator gives."""
    earlier: Annotated[str | None, Of(Annotations)] = None
    """Labels of an earlier round, which count beside these, such as those of the people who
    disagreed where the sheets are of a third who decides. Of two labels of one person, this
    round's counts."""
    categories: dict[str, tuple[str, ...]] = Field(min_length=1)
    """Category of true positives to the labels that stand for it."""
    rule: Literal["majority", "unanimous", "expert", "intersection"] = "majority"
    """Whose label stands where annotators differ; by intersection, a true positive is what every
    annotator gives a label of the category."""
    expert: str | None = None
    """The expert's name, if the rule is expert."""
    partial: bool = False
    """Go on although labels are missing; candidates without a label do not count."""

    @model_validator(mode="after")
    def _one_of_two(self) -> JoinSheets:
        if (self.folder is None) == (self.entries is None):
            raise ValueError("give either folder or entries")
        return self

    @model_validator(mode="after")
    def _expert_is_named(self) -> JoinSheets:
        if (self.rule == "expert") != (self.expert is not None):
            raise ValueError('expert = NAME goes with rule = "expert"')
        return self


def _expert_is_asked(config: JoinSheets, referred: Mapping[str, Referred]) -> Iterator[Problem]:
    """Tell of an expert whom no sheet asks: the majority would decide in the expert's name."""
    sheet = referred.get("sheet")
    if config.expert is None or sheet is None or not isinstance(sheet.config, SheetAnnotation):
        return
    known = (*sheet.config.annotators, *config.former)
    if config.earlier is None and fold(config.expert) not in by_fold(known):
        what = f"stage {sheet.stage!r} asks nobody called {config.expert!r}"
        yield Problem("expert", what, did_you_mean(config.expert, known))


@stage(
    "join.sheets",
    config=JoinSheets,
    agree=_expert_is_asked,
    outputs={
        "judgements": Judgements,
        "annotations": Annotations,
        "adjudicated": Adjudicated,
        "resolutions": Resolutions,
        "others": SheetEntries,
        "notes": SheetEntries,
    },
)
def join_sheets(config: JoinSheets, tables: Tables) -> Outputs:
    """Check every row that came back, wait for missing labels, then adjudicate.

    What people decided who saw the first labels is no annotation, and stands whatever the rule
    says.
    """
    labels = tables["labels"].collect().get_column("label").to_list()
    _check_categories(config, labels)
    sheet, before = tables["sheet"], tables.get("earlier", Annotations.zero_rows())
    known = config.known(sheet, before)
    entries = of_units(tables["entries" if config.entries else "folder"], units_of(sheet))
    entries = with_ids(named(entries, known))
    own, seen = of_round(entries, "annotation"), of_round(entries, "adjudication")
    before = named(before, known).unique(["id", "annotator", "label"])
    first = labels_of(normalise(own, labels=labels))
    wrong = pl.concat([
        unknown_rounds(entries),
        faults(own, labels=labels, units=units_of(sheet)),
        faults(seen, labels=labels, units=units_of(sheet)),
        unasked(own.join(sheet, on="id", how="semi"), known=known, answer="label"),
        contradictions(before),
    ])  # fmt: skip
    if not config.partial and wrong.limit(1).collect().is_empty():
        _wait(config.folder or str(config.entries), sheet, first)
    votes = first
    if "earlier" in tables:
        votes = with_earlier(first.join(sheet, on="id", how="semi"), before)
    resolved = resolutions(votes, labels_of(normalise(seen, labels=labels)))
    by_rule = _adjudicated(config, votes, by_fold(known))
    decided = settled(by_rule, resolved)
    return {
        "judgements": pl.concat(
            _judgements(config, votes, decided, resolved, positive).select(
                pl.lit(name).alias("category"), "id", "tp"
            )
            for name, positive in config.categories.items()
        ),
        "annotations": votes,
        "adjudicated": decided,
        "resolutions": resolved,
        # Rows of candidates that this sample does not ask for: of earlier samples, or strangers.
        "others": entries.join(sheet, on="id", how="anti"),
        "notes": notes(entries),
        FAULTS: wrong,
    }


def _adjudicated(config: JoinSheets, each: pl.LazyFrame, spelt: Mapping[str, str]) -> pl.LazyFrame:
    rule = "unanimous" if config.rule == "intersection" else config.rule
    expert = config.expert and spelt.get(fold(config.expert), config.expert)
    return adjudicate(each, rule=rule, expert=expert)


def _judgements(
    config: JoinSheets,
    each: pl.LazyFrame,
    decided: pl.LazyFrame,
    resolved: pl.LazyFrame,
    positive: tuple[str, ...],
) -> pl.LazyFrame:
    """Return id and judgement in one category."""
    tp = pl.col("label").is_in(list(positive))
    if config.rule == "intersection":
        by_rule = intersection(each, positive=positive)
        return settled(by_rule, resolved.select("id", tp=tp), column="tp")
    return decided.select("id", tp=tp)


def _wait(folder: str, sheet: pl.LazyFrame, given: pl.LazyFrame) -> None:
    """Wait for labels to come: a candidate needs as many annotators as its sheets ask for."""
    needs = sheet.group_by("id").agg(needed=pl.col("annotator").n_unique().cast(pl.Int64))
    has = given.group_by("id").agg(given=pl.col("annotator").n_unique().cast(pl.Int64))
    lacks = (pl.col("needed") - pl.col("given").fill_null(0)).alias("lacks")
    short = needs.join(has, on="id", how="left").select("id", lacks).filter(pl.col("lacks") > 0)
    missing = int(short.select(pl.col("lacks").sum()).collect().item() or 0)
    if missing:
        empty = sheet.join(short, on="id", how="semi").join(
            given, on=["id", "annotator"], how="anti"
        )
        shown = empty.with_columns(shown=pl.concat_str(units_of(sheet), separator=" "))
        raise wait_for(shown, folder=folder, missing=missing, what="label")


def _check_categories(config: JoinSheets, labels: list[str]) -> None:
    if not labels:
        return  # a dry run
    problems = [
        Problem(f"categories.{name}", f"there is no label {label!r}", did_you_mean(label, labels))
        for name, positive in config.categories.items()
        for label in positive
        if label not in labels
    ]
    if problems:
        raise ConfigError("categories", problems)
