"""Stages with tables that a test provides, and the findings that a finder returns for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from pipeline.findings.base import FINDERS, Finding, StageView
from pipeline.kernels.clustering.measure import (
    OVERLAPPING_MEASURES,
    TOKEN_MEASURES,
    lower_is_better,
)
from pipeline.kernels.clustering.systems import measure_correlations, system_table
from pipeline.kernels.clustering.types.evaluation import evaluate_type_level
from pipeline.kernels.lexicon.l_measure import lexicon_overlaps
from pipeline.stages.base import STAGES
from schemas import (
    ClassScores,
    ClusterMapping,
    GoldEntries,
    InducedEntries,
    LemmaSample,
    LexiconComparison,
    LexiconDifferences,
    LexiconLemmas,
    Table,
    TypeLevel,
    WordList,
)
from tests.report.report_frames import defaults

Frames = Mapping[str, pl.DataFrame]


def stage(
    use: str,
    tables: Frames,
    *,
    name: str = "shown",
    inputs: Mapping[str, str] | None = None,
    among: Sequence[StageView] = (),
    **config: Any,
) -> StageView:
    """Return a stage that opens these tables, among other stages; other options have defaults."""
    others = {other.name: other for other in among}
    return StageView(
        name, use, defaults(use) | config, lambda table: tables[table].lazy(),
        inputs=inputs or {}, stages=others,
    )  # fmt: skip


def table(model: type[Table], rows: Sequence[Mapping[str, Any]], **same: Any) -> pl.DataFrame:
    """Return a table with these rows; columns that are not named are null."""
    return pl.DataFrame([{**same, **row} for row in rows], schema=model.columns())


def findings_of(finder: str, of: StageView) -> list[Finding]:
    """Return the findings of a finder for a stage."""
    return list(FINDERS.get(finder).findings(of))


def texts(finder: str, of: StageView, about: str = "") -> list[str]:
    """Return the sentences of a finder; those about one subject, if it is named."""
    return [each.text for each in findings_of(finder, of) if about in ("", each.about)]


LOWER = lower_is_better(TOKEN_MEASURES) | lower_is_better(OVERLAPPING_MEASURES)
GOLD_ENTRIES = table(GoldEntries, [
    {"item": "dog", "gold": "N", "f": 9}, {"item": "cat", "gold": "N", "f": 5},
    {"item": "run", "gold": "N", "f": 1}, {"item": "run", "gold": "V", "f": 7},
    {"item": "eat", "gold": "V", "f": 3}, {"item": "in", "gold": "P", "f": 20},
])  # fmt: skip
Clusters = Mapping[str, Mapping[str, str]]
"""System to item to its clusters, one letter each."""
RIGHT = {"dog": "1", "cat": "1", "run": "12", "eat": "2", "in": "3"}
COARSE = {"dog": "1", "cat": "1", "run": "1", "eat": "1", "in": "1"}


def entries(system: str, clusters: Mapping[str, str], *, run: str = "1") -> pl.DataFrame:
    rows = [
        {"system": system, "run": run, "item": item, "cluster": cluster, "f": None}
        for item, several in clusters.items() for cluster in several
    ]  # fmt: skip
    return table(InducedEntries, rows)


def type_stage(
    clusters: Clusters, *, runs: Sequence[str] = ("1",), among: Sequence[StageView] = ()
) -> StageView:
    """Return the stage that evaluates these systems by types."""
    tables: dict[str, pl.DataFrame] = {"gold.gold": GOLD_ENTRIES}
    parts: dict[str, list[pl.DataFrame]] = {"scores": [], "mapping": [], "classes": []}
    for place, (system, mine) in enumerate(clusters.items()):
        induced = pl.concat([entries(system, mine, run=run) for run in runs])
        tables[f"s{place}.entries"] = induced
        names = {"system": pl.lit(system)}
        for run in runs:
            result = evaluate_type_level(
                GOLD_ENTRIES.select("item", "gold"),
                induced.filter(run=run).select("item", "cluster"),
                restarts=1,
                kicks=0,
            )
            for name, rows in zip(
                parts, (result.summary, result.mapping, result.classes), strict=True
            ):
                parts[name].append(rows.with_columns(**names, run=pl.lit(run)))
    models = {"scores": TypeLevel, "mapping": ClusterMapping, "classes": ClassScores}
    for name, model in models.items():
        columns = model.columns()
        empty = pl.DataFrame(schema=columns)
        tables[name] = pl.concat([empty, *(part.select(*columns) for part in parts[name])])
    inputs = {f"systems.{place}": f"s{place}.entries" for place in range(len(clusters))}
    return stage(
        "evaluate.type_level", tables, name="types", inputs={"gold": "gold.gold", **inputs},
        among=among,
    )  # fmt: skip


def systems_stage(values: Mapping[str, Mapping[str, Sequence[float | None]]]) -> StageView:
    """Return the stage that compares systems: measure to system to a value for each run."""
    rows = [
        {"system": system, "run": str(run), "measure": measure, "value": value}
        for measure, systems in values.items()
        for system, runs in systems.items() for run, value in enumerate(runs)
    ]  # fmt: skip
    scores = pl.DataFrame(
        rows,
        schema={"system": pl.String, "run": pl.String, "measure": pl.String, "value": pl.Float64},
    )
    tables = {
        "table": system_table(scores, lower_is_better=LOWER),
        "correlations": measure_correlations(scores, lower_is_better=LOWER),
    }
    return stage("evaluate.systems", tables, name="systems")


Words = Mapping[str, str]
"""Lemma to its forms, with blanks between."""
GOLD: Words = {"a": "a1 a2 a3 a4", "b": "b1 b2", "c": "c1 c2 c3 c4", "d": "d1 d2"}


def wordlist(words: Words) -> pl.DataFrame:
    rows = [
        {"lemma": lemma, "form": form or None}
        for lemma, forms in words.items() for form in (forms.split() or [""])
    ]  # fmt: skip
    return table(WordList, rows)


def lexicon_stage(
    gold: Words,
    lexicon: Words,
    *,
    lemmas: Sequence[str] | None = None,
    population: int = 0,
    drawn: bool = True,
    pi: Sequence[float] | None = None,
    name: str = "quality",
    **options: Any,
) -> StageView:
    """Return the stage that evaluates a lexicon; on these lemmas, if they are named."""
    inputs = {"gold": wordlist(gold), "lexicon": wordlist(lexicon)}
    frames = {**inputs, "overlaps": overlaps(inputs)}
    if lemmas is not None:
        whole = population or len(lemmas)
        chances: Sequence[float | None] = pi or [len(lemmas) / whole if drawn else None] * len(
            lemmas
        )
        frames["sample"] = table(LemmaSample, [
            {"lemma": lemma, "position": place, "population": whole, "drawn": drawn,
             "pi": chance, "stratum": "all"}
            for place, (lemma, chance) in enumerate(zip(lemmas, chances, strict=True), 1)
        ])  # fmt: skip
    kind = STAGES.get("evaluate.lexicon")
    references = {option: option for option in frames}
    config = kind.config.model_validate({**references, "seed": "x", "replicates": 100, **options})
    result = kind.run(config, {option: frame.lazy() for option, frame in frames.items()})
    tables = {option: rows.lazy().collect() for option, rows in result.items()}
    named_tables = {f"{option}.table": frame for option, frame in frames.items()}
    return stage(
        "evaluate.lexicon", {**tables, **named_tables}, name=name,
        inputs={option: f"{option}.table" for option in frames},
        **config.model_dump(mode="json"),
    )  # fmt: skip


def overlaps(inputs: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    return lexicon_overlaps(inputs["gold"].lazy(), inputs["lexicon"].lazy()).collect()


def comparison_stage(
    values: Mapping[str, float | None],
    differences: Mapping[tuple[str, str], tuple[float, float | None, float | None]],
    *,
    among: Sequence[StageView] = (),
    pi: Sequence[float] = (),
) -> StageView:
    """Return the stage that compares lexicons: L* of each, and the difference of each pair.

    The limits of a difference are those of the family.
    """
    rows = [{"lexicon": name, "n_lemmas": 40, "l_star": value} for name, value in values.items()]
    pairs = [
        {"first": first, "second": second, "difference": gap, "standard_error": 0.01, "lower": low,
         "upper": high, "confidence": 0.95, "n_first": 10, "n_second": 25, "n_equal": 5,
         "lower_family": -1.0 if low is None else low, "upper_family": 1.0 if high is None else high}
        for (first, second), (gap, low, high) in differences.items()
    ]  # fmt: skip
    tables = {
        "lexicons": table(LexiconComparison, rows),
        "differences": table(LexiconDifferences, pairs),
        "lemmas": table(LexiconLemmas, [{"pi": each} for each in pi]),
    }
    return stage(
        "evaluate.lexicons", tables, name="comparison", lexicons=list(values), confidence=0.95,
        among=among,
    )  # fmt: skip
