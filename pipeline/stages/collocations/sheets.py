"""Annotation sheets and n-best lists: layout, the join of the answers, and simulated answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

import polars as pl
from pydantic import Field, ValidationInfo, field_validator, model_validator

from pipeline.errors import ConfigError, Problem, did_you_mean
from pipeline.kernels import numeric
from pipeline.kernels.annotation.adjudication import (
    ROUND,
    adjudicate,
    apply_resolutions,
    intersection,
    of_round,
    resolutions,
    unknown_rounds,
)
from pipeline.kernels.annotation.sheets import (
    assign,
    by_fold,
    faults,
    fold,
    normalise,
    notes,
    unassigned_faults,
    unify_names,
    with_ids,
)
from pipeline.kernels.cells import NO_WORD
from pipeline.kernels.machine.savings import simulate_predictions
from pipeline.kernels.sampling import candidate_id
from pipeline.stages.base import (
    FAULTS,
    FilledSheets,
    NBestList,
    Of,
    Outputs,
    Seeded,
    Sheets,
    StageConfig,
    StageReference,
    Tables,
    TableSource,
    stage,
)
from pipeline.stages.collocations.judgements import Unit, require_overlap
from pipeline.stages.inputs import Asks, Names, check_guidelines, require, wait_for
from schemas import (
    AboutCandidates,
    Adjudicated,
    Annotations,
    Candidates,
    Choice,
    Combinations,
    Examples,
    Judgements,
    JudgesProvenance,
    Labels,
    ListRows,
    Predictions,
    Ranks,
    Resolutions,
    SheetEntries,
    SheetRows,
)
from schemas.candidates import arity, names_of_units, unit_names

# Layout of annotation sheets


class SheetAnnotation(Seeded):
    """Lay out the annotation sheets of a sample: blind, in random order."""

    candidates: Annotated[str, Of(Combinations)]
    """The candidates, pairs or tuples, for their units."""
    sample: Annotated[str, Of(AboutCandidates)]
    """What is to be annotated: a sample, or any table of candidates, such as a pool or what
    annotators disagree on."""
    examples: Annotated[str | None, Of(Examples)] = None
    """Sentences to show beside each candidate."""
    folder: str = Field(pattern=r"^[\w-]+$")
    """Folder of the sheets; a sheet that is there is never written again."""
    labels: Names = Field(min_length=1)
    """What the annotator can choose."""
    annotators: Names = Field(default=("annotator",), min_length=1)
    """Who annotates."""
    overlap: float = Field(default=0.0, ge=0, le=1)
    """Share of the candidates that all annotators get."""
    shown: int = Field(default=3, ge=0)
    """Examples to show."""
    kind: Literal["xlsx", "csv"] = "xlsx"
    """Kind of file."""
    instructions: str = ""
    """What the annotator should know."""
    guidelines: dict[str, str] = Field(default_factory=dict)
    """Label to when it is given, a sentence or more; shown with the instructions."""

    @field_validator("guidelines")
    @classmethod
    def _guidelines_are_of_labels(
        cls, guidelines: dict[str, str], info: ValidationInfo
    ) -> dict[str, str]:
        if "labels" in info.data:  # else the labels are wrong, which is said already
            check_guidelines(guidelines, info.data["labels"])
        return guidelines


@stage(
    "sheet.annotation",
    config=SheetAnnotation,
    outputs={"sheet": SheetRows, "labels": Labels},
    delivers=lambda config: Sheets(
        config.folder,
        config.kind,
        "annotation_sheet",
        config.instructions,
        config.labels,
        config.guidelines,
    ),
)
def sheet_annotation(config: SheetAnnotation, tables: Tables) -> Outputs:
    """Assign the sampled candidates and put their examples beside them."""
    assigned = assign(
        tables["sample"].select("id"),
        annotators=config.annotators,
        overlap=config.overlap,
        seed=config.seed,
    )
    candidates = tables["candidates"]
    units = unit_names(candidates.collect_schema().names())
    rows = assigned.join(candidates.select("id", *units), on="id", how="inner")
    names = [f"example_{number}" for number in range(1, config.shown + 1)]
    if "examples" in tables and names:
        rows = rows.join(_example_columns(tables["examples"], names), on="id", how="left")
    columns = ["annotator", "order", "id", *units, *(names if "examples" in tables else [])]
    return {
        "sheet": rows.select(columns),
        "labels": pl.LazyFrame({"label": config.labels}),
    }


def _example_columns(examples: pl.LazyFrame, names: list[str]) -> pl.LazyFrame:
    """Put the examples of a candidate into columns."""
    nth = [
        pl.col("text").filter(pl.col("number") == number).first().alias(name)
        for number, name in enumerate(names, start=1)
    ]
    return examples.group_by("id").agg(nth)


# Entries of filled sheets


def units_of(sheet: pl.LazyFrame) -> tuple[str, ...]:
    """Return the columns of a sheet with the units of its candidates, from l1 on."""
    return names_of_units(arity(sheet.collect_schema().names()))


def of_units(entries: pl.LazyFrame, units: tuple[str, ...]) -> pl.LazyFrame:
    """Return entries with these units alone: a sheet of pairs may have an l3 of somebody's own."""
    there = entries.collect_schema().names()
    absent = [pl.lit(None, pl.String).alias(unit) for unit in units if unit not in there]
    round_ = [ROUND] if ROUND in there else []
    further = [unit for unit in units if unit not in SheetEntries.columns()]
    return entries.with_columns(absent).select(*SheetEntries.columns(), *further, *round_)


def labels_of(typed: pl.LazyFrame) -> pl.LazyFrame:
    """Return one label of each person for an id, with all that the person notes on it."""
    person = ["id", "annotator"]
    each = typed.sort("file", "line").group_by(person, maintain_order=True)
    # A copy of the sheet repeats the label; what is noted there counts as well.
    remarks = pl.col("note").drop_nulls().unique(maintain_order=True)
    one = each.agg(
        label=pl.col("label").drop_nulls().first(),
        note=pl.when(remarks.len() > 0).then(remarks.str.join("; ")),
    )
    return one.drop_nulls("label")


def with_earlier(now: pl.LazyFrame, before: pl.LazyFrame) -> pl.LazyFrame:
    """Add the labels of an earlier round, but for those that somebody gave anew.

    Whoever was asked in this round has a say on what the round still asks for.
    """
    before = before.select(now.collect_schema().names())
    return pl.concat([now, before.join(now, on=["id", "annotator"], how="anti")])


def contradictions(before: pl.LazyFrame) -> pl.LazyFrame:
    """Return the labels of an earlier round that one person, in two spellings, gave one id."""
    twice = before.filter(pl.len().over("id", "annotator") > 1)
    problem = pl.format("{} gives {} several labels: keep one", "annotator", "id")
    return twice.select(
        file=pl.lit("table of the option 'earlier'"), line=pl.lit(0, pl.Int64),
        column=pl.lit("label"), value="label", problem=problem,
    )  # fmt: skip


# From filled sheets to judgements


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


def _expert_is_asked(
    config: JoinSheets, referred: Mapping[str, StageReference]
) -> Iterator[Problem]:
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
    entries = with_ids(unify_names(entries, known))
    own, seen = of_round(entries, "annotation"), of_round(entries, "adjudication")
    before = unify_names(before, known).unique(["id", "annotator", "label"])
    first = labels_of(normalise(own, labels=labels))
    wrong = pl.concat([
        unknown_rounds(entries),
        faults(own, labels=labels, units=units_of(sheet)),
        faults(seen, labels=labels, units=units_of(sheet)),
        unassigned_faults(own.join(sheet, on="id", how="semi"), known=known, answer="label"),
        contradictions(before),
    ])  # fmt: skip
    if not config.partial and wrong.limit(1).collect().is_empty():
        _wait(config.folder or str(config.entries), sheet, first)
    votes = first
    if "earlier" in tables:
        votes = with_earlier(first.join(sheet, on="id", how="semi"), before)
    resolved = resolutions(votes, labels_of(normalise(seen, labels=labels)))
    rule = "unanimous" if config.rule == "intersection" else config.rule
    expert = config.expert and by_fold(known).get(fold(config.expert), config.expert)
    decided = apply_resolutions(adjudicate(votes, rule=rule, expert=expert), resolved)
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
        return apply_resolutions(by_rule, resolved.select("id", tp=tp), column="tp")
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


# The chosen n-best list, for the lexicographer


class SheetList(StageConfig):
    """Deliver the chosen n-best list, with its estimated precision and what is known already."""

    choice: Annotated[str, Of(Choice)]
    """The measure and the list size."""
    ranks: Annotated[str, Of(Ranks)]
    """The rankings."""
    candidates: Annotated[str, Of(Candidates)]
    """The candidates, for their units and further columns."""
    judgements: Annotated[str | None, Of(Judgements)] = None
    """Judgements that are known; they stand beside the candidates."""
    folder: str = Field(pattern=r"^[\w-]+$")
    """Folder of the list, where the annotation sheets' folders are; a list that is there is never
    written over."""
    columns: tuple[str, ...] = ("f",)
    """Further columns of the candidates to show."""
    examples: Annotated[str | None, Of(Examples)] = None
    """Sentences to show beside each candidate."""
    shown: int = Field(default=1, ge=0)
    """Examples to show."""
    kind: Literal["xlsx", "csv"] = "xlsx"
    """Kind of file."""


@stage(
    "sheet.list",
    config=SheetList,
    outputs={"list": ListRows, "about": Choice},
    delivers=lambda config: NBestList(config.folder, config.kind),
)
def sheet_list(config: SheetList, tables: Tables) -> Outputs:
    """Put units, columns, judgements and examples beside the ranks of the chosen list."""
    schema = tables["candidates"].collect_schema()
    require(schema, [("columns", name) for name in config.columns])
    choice = tables["choice"]
    best = (
        tables["ranks"]
        .join(choice.select("measure", "n", "category"), on="measure")
        .filter(pl.col("rank") <= pl.col("n"))
        .select("rank", "id", "score", "category")
    )
    further = [name for name in config.columns if name not in ListRows.columns()]
    units = tables["candidates"].select("id", "l1", "l2", *further)
    rows = best.join(units, on="id").join(_verdicts(tables), on=["category", "id"], how="left")
    names = [f"example_{number}" for number in range(1, config.shown + 1)]
    names = names if "examples" in tables else []
    if names:
        rows = rows.join(_example_columns(tables["examples"], names), on="id", how="left")
    listed = rows.sort("rank").select(*ListRows.columns(), *further, *names).collect()
    _require_all(choice.collect(), best.collect(), listed)
    return {"list": listed, "about": choice}


def _require_all(choice: pl.DataFrame, best: pl.DataFrame, listed: pl.DataFrame) -> None:
    """Refuse to deliver another list than the one that was chosen, or one with holes in it."""
    for measure, n in choice.select("measure", "n").iter_rows():
        if best.height < n:
            what = f"they have {best.height:,} of the {n:,} candidates chosen of {measure!r}"
            remedy = "take the rankings that the choice was made from"
            raise ConfigError("list", [Problem("ranks", what, remedy)])
    absent = best.join(listed, on="id", how="anti").sort("rank")
    if absent.height:
        shown = ", ".join(absent["id"].head(3))
        what = f"{absent.height:,} of the {best.height:,} candidates listed are not there"
        remedy = "take the candidates that have been ranked"
        raise ConfigError("list", [Problem("candidates", f"{what}, such as {shown}", remedy)])


def _verdicts(tables: Tables) -> pl.LazyFrame:
    judgements = tables.get("judgements", Judgements.zero_rows())
    known = pl.when("tp").then(pl.lit("+")).otherwise(pl.lit("-"))
    sign = pl.when(pl.col("tp").is_null()).then(pl.lit("?")).otherwise(known)
    return judgements.select("category", "id", verdict=sign)


# Simulated annotators: sheets filled with known labels


class SheetSimulated(StageConfig):
    """Fill the sheets from a table of labels instead of by hand."""

    sheet: Annotated[str, Of(SheetRows)]
    """What is to be annotated."""
    path: TableSource
    """File with the columns l1, l2 (of tuples l3 ..., too), label; candidates that it lacks stay
    without a label."""
    label: str = Field(default="label")
    """Column of the label."""


@stage("sheet.simulated", config=SheetSimulated, outputs={"entries": SheetEntries})
def sheet_simulated(config: SheetSimulated, tables: Tables) -> Outputs:
    """Put the known label into every row of the sheet.

    Raises
    ------
    DataError
        If no pair of the file is in the sheet.
    """
    raw = tables["path"]
    units = units_of(tables["sheet"])
    columns = [*(("path", unit) for unit in units), ("label", config.label)]
    require(raw.collect_schema(), columns)
    labels = raw.select(candidate_id(*units), label=pl.col(config.label).cast(pl.String))
    if len(units) == 2:
        names: dict[Unit, str] = {"l1": "l1", "l2": "l2"}
        require_overlap(raw, names, labels.select("id").drop_nulls(), tables["sheet"])
    rows = tables["sheet"].join(labels.unique("id"), on="id", how="left").select(
        file=pl.concat_str(pl.col("annotator"), pl.lit(" (simulated)")),
        line=pl.col("order") + 1,
        annotator="annotator", id="id", l1="l1", l2="l2", label="label",
        note=pl.lit(None, pl.String), **{unit: pl.col(unit) for unit in units[2:]},
    )  # fmt: skip
    filled = {name: numeric.text_or_null(name) for name in units}
    wrong = numeric.faults(raw, parsed=filled, problem=NO_WORD, required=True)
    return {"entries": rows, FAULTS: wrong}


# Simulated machines: predictions with known error rates


class SimulatedJudge(StageConfig):
    """How often a simulated machine is right."""

    sensitivity: float = Field(ge=0, le=1)
    """Share of the true positives that it calls so."""
    specificity: float = Field(ge=0, le=1)
    """Share of the false positives that it calls so."""
    says: Literal["label", "probability"] = "label"
    """Labels 0 and 1, or probabilities that are .5 or more where the label would be 1."""


class SheetSimulatedMachine(Seeded):
    """Predict from known judgements, as machines of given sensitivity and specificity would."""

    judgements: Annotated[str, Of(Judgements)]
    """The truth; candidates that nobody judged get no prediction."""
    judges: dict[str, SimulatedJudge] = Field(min_length=1)
    """The machines by their names."""


@stage(
    "sheet.simulated_machine",
    config=SheetSimulatedMachine,
    outputs={"predictions": Predictions, "judges_provenance": JudgesProvenance},
)
def sheet_simulated_machine(config: SheetSimulatedMachine, tables: Tables) -> Outputs:
    """Let each machine err at random, fixed by the seed, its name and the candidate."""
    truth = tables["judgements"].drop_nulls("tp")
    parts = [
        simulate_predictions(
            truth, judge=name, sensitivity=each.sensitivity, specificity=each.specificity,
            labels=each.says == "label", seed=config.seed,
        )
        for name, each in sorted(config.judges.items())
    ]  # fmt: skip
    predictions = pl.concat(parts).sort(*Predictions.key())
    options = [
        (name, option, str(value))
        for name, each in config.judges.items()
        for option, value in each.model_dump().items()
    ]
    option_rows = pl.LazyFrame(options, schema=["judge", "column", "value"], orient="row")
    rows = predictions.group_by("judge").agg(rows=pl.len().cast(pl.Int64))
    provenance = option_rows.join(rows, on="judge", how="inner").sort("judge", "column", "value")
    return {"predictions": predictions, "judges_provenance": provenance}
