"""Annotation sheets and n-best lists: layout, joining of answers, and simulated answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

import polars as pl
from pydantic import Field, ValidationInfo, field_validator, model_validator

from pipeline.errors import ConfigError, Problem, did_you_mean
from pipeline.kernels import cells
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
    without_transfers,
)
from pipeline.kernels.cells import NO_WORD
from pipeline.kernels.machine import simulate_predictions
from pipeline.kernels.nbest.combination import (
    Evidence,
    evidence,
    list_by_refit,
    unjudged_precision,
)
from pipeline.kernels.sampling import candidate_id
from pipeline.stages.base import (
    FAULTS,
    FilledSheets,
    NBestList,
    Of,
    Outputs,
    SeedOptions,
    Sheets,
    StageConfig,
    StageReference,
    Tables,
    TableSource,
    stage,
)
from pipeline.stages.collocations.evaluate_precision import EvaluateChoice
from pipeline.stages.collocations.judgements import Unit, require_overlap
from pipeline.stages.inputs import (
    JoinsAnswers,
    Names,
    answers_in_conflict,
    check_expert,
    check_guidelines,
    require,
    wait_for,
)
from schemas import (
    AboutCandidates,
    AdjudicatedLabels,
    Annotations,
    Candidates,
    Choice,
    Combinations,
    Examples,
    Judgements,
    JudgesProvenance,
    Labels,
    ListParts,
    ListRows,
    Predictions,
    Ranks,
    Refit,
    Resolutions,
    Sample,
    SheetEntries,
    SheetRows,
)
from schemas.candidates import arity, names_of_units, unit_names

# Layout of annotation sheets


class SheetAnnotation(SeedOptions):
    """Make blind annotation sheets of a sample, in random order."""

    candidates: Annotated[str, Of(Combinations)]
    """Candidate pairs or tuples, for their units."""
    sample: Annotated[str, Of(AboutCandidates)]
    """Candidates to annotate: a sample or any other table of candidates."""
    examples: Annotated[str | None, Of(Examples)] = None
    """Example sentences."""
    folder: str = Field(pattern=r"^[\w-]+$")
    """Folder of the sheets; existing sheets are never overwritten."""
    labels: Names = Field(min_length=1)
    """Labels to choose from."""
    annotators: Names = Field(default=("annotator",), min_length=1)
    """Names of the annotators."""
    overlap: float = Field(default=0.0, ge=0, le=1)
    """Share of candidates assigned to all annotators."""
    shown: int = Field(default=3, ge=0)
    """Number of examples per candidate."""
    kind: Literal["xlsx", "csv"] = "xlsx"
    """File format."""
    instructions: str = ""
    """Instructions to annotators."""
    guidelines: dict[str, str] = Field(default_factory=dict)
    """Guidelines by label, shown with the instructions."""

    @field_validator("guidelines")
    @classmethod
    def _guidelines_are_of_labels(
        cls, guidelines: dict[str, str], info: ValidationInfo
    ) -> dict[str, str]:
        if "labels" in info.data:  # otherwise invalid labels have been reported
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
    """Assign the sampled candidates and add their examples."""
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
    """Spread the examples of a candidate over columns."""
    nth = [
        pl.col("text").filter(pl.col("number") == number).first().alias(name)
        for number, name in enumerate(names, start=1)
    ]
    return examples.group_by("id").agg(nth)


# Entries of filled sheets


def units_of(sheet: pl.LazyFrame) -> tuple[str, ...]:
    """Return the unit columns of a sheet, starting with l1."""
    return names_of_units(arity(sheet.collect_schema().names()))


def of_units(entries: pl.LazyFrame, units: tuple[str, ...]) -> pl.LazyFrame:
    """Return entries with these units only: a sheet of pairs may have an unrelated column l3."""
    there = entries.collect_schema().names()
    absent = [pl.lit(None, pl.String).alias(unit) for unit in units if unit not in there]
    round_ = [ROUND] if ROUND in there else []
    further = [unit for unit in units if unit not in SheetEntries.columns()]
    return entries.with_columns(absent).select(*SheetEntries.columns(), *further, *round_)


def labels_of(entries: pl.LazyFrame) -> pl.LazyFrame:
    """Return one label per person and id, with all remarks."""
    person = ["id", "annotator"]
    each = entries.sort("file", "line").group_by(person, maintain_order=True)
    # A copy of the sheet repeats the label, and its remarks count, too.
    remarks = pl.col("note").drop_nulls().unique(maintain_order=True)
    one = each.agg(
        label=pl.col("label").drop_nulls().first(),
        note=pl.when(remarks.len() > 0).then(remarks.str.join("; ")),
    )
    return one.drop_nulls("label")


def with_earlier(now: pl.LazyFrame, before: pl.LazyFrame) -> pl.LazyFrame:
    """Add the labels of an earlier round, except where a person changed them.

    Annotators of this round count for the candidates of this round.
    """
    before = before.select(now.collect_schema().names())
    return pl.concat([now, before.join(now, on=["id", "annotator"], how="anti")])


def contradictions(before: pl.LazyFrame) -> pl.LazyFrame:
    """Return ids with several earlier labels from one person (in different spellings)."""
    twice = before.filter(pl.len().over("id", "annotator") > 1)
    problem = pl.format("{} gave {} several labels: keep one", "annotator", "id")
    return twice.select(
        file=pl.lit("table of the option 'earlier'"), line=pl.lit(0, pl.Int64),
        column=pl.lit("label"), value="label", problem=problem,
    )  # fmt: skip


# From filled sheets to judgements


class JoinSheets(JoinsAnswers):
    """Join completed annotation sheets."""

    sheet: Annotated[str, Of(SheetRows)]
    """Stage that made the sheets."""
    labels: Annotated[str, Of(Labels)]
    """The labels offered."""
    folder: Annotated[str | None, FilledSheets()] = Field(default=None, pattern=r"^[\w-]+$")
    """Folder of the sheets and of decisions made in the browser."""
    entries: Annotated[str | None, Of(SheetEntries)] = None
    """Alternative to folder: a table of entries, e.g. from a simulated annotator."""
    earlier: Annotated[str | None, Of(Annotations)] = None
    """Labels of an earlier round, added to these, e.g. if a third annotator resolves disagreement.
    """
    categories: dict[str, tuple[str, ...]] = Field(min_length=1)
    """From categories of true positives to their labels."""
    rule: Literal["majority", "unanimous", "expert", "intersection"] = "majority"
    """Adjudication rule. With intersection, a true positive needs a label of the category from
    every annotator.
    """
    expert: str | None = None
    """Name of the expert, for rule = "expert"."""
    partial: bool = False
    """Continue despite missing labels; unlabelled candidates are ignored."""


@stage(
    "join.sheets",
    config=JoinSheets,
    agree=check_expert,
    outputs={
        "judgements": Judgements,
        "annotations": Annotations,
        "adjudicated": AdjudicatedLabels,
        "resolutions": Resolutions,
        "others": SheetEntries,
        "notes": SheetEntries,
    },
)
def join_sheets(config: JoinSheets, tables: Tables) -> Outputs:
    """Check all returned rows, wait for missing labels, then adjudicate.

    Cards that the coordinator gave to others are theirs, whatever the sheet says. Decisions of
    adjudicators are not annotations, and take precedence over the rule.
    """
    labels = tables["labels"].collect().get_column("label").to_list()
    _check_categories(config, labels)
    before = tables.get("earlier", Annotations.zero_rows())
    returned = tables["entries" if config.entries else "folder"]
    sheet, known = config.sheet_and_known(tables["sheet"], returned, before)
    rows = with_ids(unify_names(without_transfers(returned), known))
    entries = of_units(rows, units_of(sheet))
    own, decisions = of_round(entries, "annotation"), of_round(entries, "adjudication")
    before = unify_names(before, known).unique(["id", "annotator", "label"])
    first = labels_of(normalise(own, labels=labels))
    wrong = pl.concat([
        unknown_rounds(entries),
        faults(own, labels=labels, units=units_of(sheet)),
        faults(decisions, labels=labels, units=units_of(sheet)),
        unassigned_faults(own.join(sheet, on="id", how="semi"), known=known, answer="label"),
        contradictions(before),
    ])  # fmt: skip
    if not config.partial and wrong.limit(1).collect().is_empty():
        folder = config.folder or str(config.entries)
        _wait(folder, sheet, first, answers_in_conflict(rows), own)
    votes = first
    if "earlier" in tables:
        votes = with_earlier(first.join(sheet, on="id", how="semi"), before)
    resolved = resolutions(votes, labels_of(normalise(decisions, labels=labels)))
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
        # Rows of candidates outside this sample, e.g. of earlier samples.
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


def _wait(
    folder: str,
    sheet: pl.LazyFrame,
    answers: pl.LazyFrame,
    contested: pl.LazyFrame,
    entries: pl.LazyFrame,
) -> None:
    """Wait for missing labels: each candidate needs all annotators of its sheets."""
    needs = sheet.group_by("id").agg(needed=pl.col("annotator").n_unique().cast(pl.Int64))
    has = answers.group_by("id").agg(given=pl.col("annotator").n_unique().cast(pl.Int64))
    lacks = (pl.col("needed") - pl.col("given").fill_null(0)).alias("lacks")
    short = needs.join(has, on="id", how="left").select("id", lacks).filter(pl.col("lacks") > 0)
    missing = int(short.select(pl.col("lacks").sum()).collect().item() or 0)
    if missing:
        empty = sheet.join(short, on="id", how="semi").join(
            answers, on=["id", "annotator"], how="anti"
        )
        cards = empty.with_columns(shown=pl.concat_str(units_of(sheet), separator=" "))
        raise wait_for(cards, contested, entries, folder=folder, missing=missing, what="label")


def _check_categories(config: JoinSheets, labels: list[str]) -> None:
    if not labels:
        return  # a dry run
    problems = [
        Problem(f"categories.{name}", f"unknown label {label!r}", did_you_mean(label, labels))
        for name, positive in config.categories.items()
        for label in positive
        if label not in labels
    ]
    if problems:
        raise ConfigError("categories", problems)


# The chosen n-best list, for lexicographers


class SheetList(StageConfig):
    """Deliver the chosen n-best list, with estimated precision and known judgements."""

    choice: Annotated[str, Of(Choice)]
    """The chosen measure and list size."""
    ranks: Annotated[str, Of(Ranks)]
    """The rankings."""
    candidates: Annotated[str, Of(Candidates)]
    """The candidates, for units and further columns."""
    judgements: Annotated[str | None, Of(Judgements)] = None
    """Known judgements, shown beside the candidates. With refit, also those outside the sample,
    e.g. of sample.active.
    """
    refit: Annotated[str | None, Of(Refit)] = None
    """Table refit of the combination. If it was chosen, the list has the judged true positives,
    then the unjudged candidates by the model of all labels.
    """
    sample: Annotated[str | None, Of(Sample, same_as="refit")] = None
    """With refit: the random sample that estimates the precision of the unjudged candidates
    (default: that of the combination).
    """
    folder: str = Field(pattern=r"^[\w-]+$")
    """Folder of the list; existing lists are never overwritten."""
    columns: tuple[str, ...] = ("f",)
    """Further columns of the candidates to show."""
    examples: Annotated[str | None, Of(Examples)] = None
    """Example sentences."""
    shown: int = Field(default=1, ge=0)
    """Number of examples per candidate."""
    kind: Literal["xlsx", "csv"] = "xlsx"
    """File format."""

    @model_validator(mode="after")
    def _only_with_a_refit(self) -> SheetList:
        if self.refit is None and self.sample is not None:
            raise ValueError("sample requires refit")
        return self


def _of_one_combination(
    _config: SheetList, referred: Mapping[str, StageReference]
) -> Iterator[Problem]:
    """Report a refit that is not of the combination among the rankings and the choice."""
    refit, ranks, choice = (referred.get(name) for name in ("refit", "ranks", "choice"))
    if refit is None or ranks is None:
        return
    if refit.stage != ranks.stage:
        what = f"is of stage {refit.stage!r}, but the rankings are of stage {ranks.stage!r}"
        remedy = f'use ranks = "{refit.stage}" and a choice from these rankings'
        yield Problem("refit", what, remedy)
        return
    if getattr(refit.config, "sample", None) and "sample" not in referred:
        what = f"the draws that stage {refit.stage!r} learned from have different chances"
        remedy = "name a simple random sample, which estimates the unjudged candidates"
        yield Problem("sample", what, remedy)
    if choice is None or not isinstance(choice.config, EvaluateChoice):
        return
    source = choice.config.ranks.partition(".")[0]
    if source != refit.stage:
        what = f"stage {choice.stage!r} chose from the rankings of {source!r}, not {refit.stage!r}"
        yield Problem("choice", what, f'use ranks = "{refit.stage}" there')
    category, learned = choice.config.category, getattr(refit.config, "category", None)
    if category and learned and category != learned:
        what = f"the refit learned category {learned!r}, but the list is chosen for {category!r}"
        yield Problem("refit", what, "use the same category in both stages")


@stage(
    "sheet.list",
    config=SheetList,
    outputs={"list": ListRows, "about": Choice, "parts": ListParts},
    agree=_of_one_combination,
    delivers=lambda config: NBestList(config.folder, config.kind),
)
def sheet_list(config: SheetList, tables: Tables) -> Outputs:
    """Add units, columns, judgements and examples to the chosen list."""
    schema = tables["candidates"].collect_schema()
    require(schema, [("columns", name) for name in config.columns])
    choice = tables["choice"].collect()
    best = (
        tables["ranks"]
        .join(choice.lazy().select("measure", "n", "category"), on="measure")
        .filter(pl.col("rank") <= pl.col("n"))
        .select("rank", "id", "score", "category")
        .collect()
    )
    _require_ranked(choice, best)
    parts, verdicts = ListParts.zero_rows().collect(), _verdicts(tables)
    if "refit" in tables and _combination_of(tables) in choice["measure"]:
        best, parts = _by_refit(tables, choice.row(0, named=True))
        verdicts = verdicts.filter(verdict="?")
    further = [name for name in config.columns if name not in ListRows.columns()]
    units = tables["candidates"].select("id", "l1", "l2", *further)
    rows = best.lazy().join(units, on="id").join(verdicts, on=["category", "id"], how="left")
    if "known" in best.columns:
        rows = rows.with_columns(verdict=pl.coalesce("known", "verdict"))
    part = []
    if "refit" in tables:
        judged = pl.col("verdict").is_in(["+", "-"]).fill_null(value=False)
        part = [pl.when(judged).then(pl.lit("judged")).otherwise(pl.lit("unjudged")).alias("part")]
    names = [f"example_{number}" for number in range(1, config.shown + 1)]
    names = names if "examples" in tables else []
    if names:
        rows = rows.join(_example_columns(tables["examples"], names), on="id", how="left")
    listed = rows.sort("rank").select(*ListRows.columns(), *part, *further, *names).collect()
    _require_all(best, listed)
    return {"list": listed, "about": choice, "parts": parts}


def _combination_of(tables: Tables) -> str | None:
    """Return the name of the refit's combination among the measures; None without candidates."""
    names = tables["refit"].select("measure").limit(1).collect()["measure"]
    return str(names[0]) if len(names) else None


def _by_refit(tables: Tables, choice: Mapping[str, Any]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the rows of the list by the model of all labels, and the precision of its parts."""
    category = choice["category"]
    refit = tables["refit"].select("id", "probability", "refit_rank", "tp", "sampled").collect()
    others = tables.get("judgements", Judgements.zero_rows())
    mine = others.filter(category=category).select("id", other="tp").drop_nulls().collect()
    labels = refit.join(mine, on="id", how="left", maintain_order="left")
    known = labels.with_columns(tp=pl.coalesce("tp", "other"))
    best = list_by_refit(known, choice["n"])
    judged, unjudged = best["tp"].count(), best["tp"].null_count()
    draws = None
    if unjudged:
        drawn = refit.filter("sampled").select("id", multiplicity=pl.lit(1))
        if "sample" in tables:
            sample = tables["sample"].select("id", "multiplicity").collect()
            drawn = drawn.select("id").join(sample, on="id")
        ranks = tables["ranks"].filter(measure=_combination_of(tables)).sort("rank").select("id")
        every = ranks.collect().join(
            known.select("id", "tp").join(drawn, on="id", how="left"),
            on="id", how="left", maintain_order="left",
        )  # fmt: skip
        draws = evidence(every.with_columns(pl.col("multiplicity").fill_null(0)), unjudged)
    rows = best.with_columns(
        category=pl.lit(category), known=pl.when("tp").then(pl.lit("+"))
    ).drop("tp")  # fmt: skip
    return rows, _parts(choice, judged, draws)


def _parts(choice: Mapping[str, Any], judged: int, draws: Evidence | None) -> pl.DataFrame:
    """Return the precision of the judged part, of the unjudged part, and of both together."""
    confidence, considered = choice["confidence"], choice["considered"]
    level = 1.0 - (1.0 - confidence) / considered
    unjudged = draws.unjudged if draws else 0
    estimate: tuple[float | None, float, float, float, float] = (1.0,) * 5
    if draws:
        _, low, high = unjudged_precision(draws, confidence=level)
        estimate = (*unjudged_precision(draws, confidence=confidence), low, high)
    whole = tuple(
        None if each is None else (judged + unjudged * each) / (judged + unjudged)
        for each in estimate
    )
    rows = []
    parts = (
        ("judged", judged, (1.0,) * 5), ("list", judged + unjudged, whole),
        ("unjudged", unjudged, estimate),
    )  # fmt: skip
    for part, n, values in parts:
        own = draws if part != "judged" else None
        counts = (own.n_sampled, own.k_sampled, own.depth) if own else (0, 0, 0)
        if n:
            rows.append({
                "category": choice["category"], "part": part, "n": n, "considered": considered,
                "confidence": confidence, **dict(zip(_LIMITS, values, strict=True)),
                **dict(zip(("n_sampled", "k_sampled", "depth"), counts, strict=True)),
            })  # fmt: skip
    return pl.DataFrame(rows, schema=ListParts.columns())


_LIMITS = ("precision", "lower", "upper", "lower_simultaneous", "upper_simultaneous")


def _require_ranked(choice: pl.DataFrame, best: pl.DataFrame) -> None:
    """Reject rankings that are shorter than the chosen list."""
    for measure, n in choice.select("measure", "n").iter_rows():
        if best.height < n:
            what = f"they have only {best.height:,} of the {n:,} chosen candidates of {measure!r}"
            remedy = "use the rankings from which the list was chosen"
            raise ConfigError("list", [Problem("ranks", what, remedy)])


def _require_all(best: pl.DataFrame, listed: pl.DataFrame) -> None:
    """Reject candidates that do not have all listed ones."""
    absent = best.join(listed, on="id", how="anti").sort("rank")
    if absent.height:
        cases = ", ".join(absent["id"].head(3))
        what = f"{absent.height:,} of the {best.height:,} listed candidates are missing"
        remedy = "use the candidates that were ranked"
        raise ConfigError("list", [Problem("candidates", f"{what}, for example {cases}", remedy)])


def _verdicts(tables: Tables) -> pl.LazyFrame:
    judgements = tables.get("judgements", Judgements.zero_rows())
    known = pl.when("tp").then(pl.lit("+")).otherwise(pl.lit("-"))
    sign = pl.when(pl.col("tp").is_null()).then(pl.lit("?")).otherwise(known)
    return judgements.select("category", "id", verdict=sign)


# Simulated annotators: sheets completed with known labels


class SheetSimulated(StageConfig):
    """Complete the sheets from a table of labels, to simulate annotation."""

    sheet: Annotated[str, Of(SheetRows)]
    """The sheets to complete."""
    path: TableSource
    """File with columns l1, l2 (l3 ...) and label; missing candidates remain unlabelled."""
    label: str | dict[str, str] = Field(default="label")
    """Label column, or one for each annotator: { first = "judge_1", second = "judge_2" }."""


def _annotators_are_asked(
    config: SheetSimulated, referred: Mapping[str, StageReference]
) -> Iterator[Problem]:
    """Yield annotators with a label column but no sheet, and the reverse."""
    sheet = referred["sheet"]
    if isinstance(config.label, str) or not isinstance(sheet.config, SheetAnnotation):
        return
    annotators, names = sheet.config.annotators, tuple(config.label)
    if unknown := [name for name in names if name not in annotators]:
        what = f"stage {sheet.stage!r} has no annotator {unknown[0]!r}"
        yield Problem("label", what, did_you_mean(unknown[0], annotators))
    elif missing := [name for name in annotators if name not in names]:
        yield Problem("label", f"names no column for annotator {missing[0]!r}", "add it")


@stage(
    "sheet.simulated",
    config=SheetSimulated,
    outputs={"entries": SheetEntries},
    agree=_annotators_are_asked,
)
def sheet_simulated(config: SheetSimulated, tables: Tables) -> Outputs:
    """Add the known label to each row of the sheet.

    Raises
    ------
    DataError
        If no pair of the file is in the sheets.
    """
    raw = tables["path"]
    units = units_of(tables["sheet"])
    by_annotator = {"": config.label} if isinstance(config.label, str) else config.label
    columns = [*(("path", unit) for unit in units), *(("label", c) for c in by_annotator.values())]
    require(raw.collect_schema(), columns)
    known = raw.with_columns(candidate_id(*units)).unique("id")
    if len(units) == 2:
        names: dict[Unit, str] = {"l1": "l1", "l2": "l2"}
        require_overlap(raw, names, known.select("id").drop_nulls(), tables["sheet"])
    labels = pl.concat(
        known.select("id", annotator=pl.lit(name), label=pl.col(column).cast(pl.String))
        for name, column in by_annotator.items()
    )
    keys = ["id"] if isinstance(config.label, str) else ["id", "annotator"]
    rows = tables["sheet"].join(labels, on=keys, how="left").select(
        file=pl.concat_str(pl.col("annotator"), pl.lit(" (simulated)")),
        line=pl.col("order") + 1,
        annotator="annotator", id="id", l1="l1", l2="l2", label="label",
        note=pl.lit(None, pl.String), **{unit: pl.col(unit) for unit in units[2:]},
    )  # fmt: skip
    filled = {name: cells.text_or_null(name) for name in units}
    wrong = cells.faults(raw, parsed=filled, problem=NO_WORD, required=True)
    return {"entries": rows, FAULTS: wrong}


# Simulated machines: predictions with known error rates


class SimulatedJudge(StageConfig):
    """Accuracy of a simulated machine."""

    sensitivity: float = Field(ge=0, le=1)
    """Share of true positives predicted as true."""
    specificity: float = Field(ge=0, le=1)
    """Share of false positives predicted as false."""
    says: Literal["label", "probability"] = "label"
    """Output labels 0 and 1, or probabilities (0.5 or more for label 1)."""


class SheetSimulatedMachine(SeedOptions):
    """Simulate predictions with given sensitivity and specificity from known judgements."""

    judgements: Annotated[str, Of(Judgements)]
    """The truth; unjudged candidates get no prediction."""
    judges: dict[str, SimulatedJudge] = Field(min_length=1)
    """Simulated machines by name."""


@stage(
    "sheet.simulated_machine",
    config=SheetSimulatedMachine,
    outputs={"predictions": Predictions, "judges_provenance": JudgesProvenance},
)
def sheet_simulated_machine(config: SheetSimulatedMachine, tables: Tables) -> Outputs:
    """Add random errors, by seed, machine and candidate."""
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
