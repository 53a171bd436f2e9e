"""Small evaluations of lexicons, made by the stages' own kernels from a handful of forms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from pipeline.findings.base import StageView
from pipeline.kernels.lexicon.l_measure import lexicon_overlaps
from pipeline.stages.base import STAGES
from schemas import LemmaSample, LexiconComparison, LexiconDifferences, LexiconLemmas, WordList
from tests.findings.stages import stage, table

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
    named = {option: option for option in frames}
    config = kind.config.model_validate({**named, "seed": "x", "replicates": 100, **options})
    made = kind.run(config, {option: frame.lazy() for option, frame in frames.items()})
    tables = {option: rows.lazy().collect() for option, rows in made.items()}
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
    """Return the stage that compares lexicons: L* of each, and the difference of each two."""
    rows = [{"lexicon": name, "n_lemmas": 40, "l_star": value} for name, value in values.items()]
    pairs = [
        {"first": first, "second": second, "difference": gap, "standard_error": 0.01, "lower": low,
         "upper": high, "confidence": 0.95, "n_first": 10, "n_second": 25, "n_equal": 5}
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
