"""The sample of lemmas to evaluate a lexicon by."""

from __future__ import annotations

from typing import Annotated

import polars as pl
from pydantic import Field, model_validator

from pipeline.errors import ConfigError, Problem
from pipeline.kernels.lexicon.lemma_sample import (
    Design,
    paradigm_sizes,
    sample_by_size,
    simple_sample,
)
from pipeline.kernels.lexicon.wordlists import common_in_parts
from pipeline.kernels.sampling import sample_size
from pipeline.stages.base import (
    FAULTS,
    Of,
    Outputs,
    Seeded,
    Tables,
    TableSource,
    several,
    stage,
)
from pipeline.stages.columns import require
from schemas import LemmaSample, WordList

_NOT_COMMON = "is not a lemma of the gold and of every lexicon"


class SampleLemmas(Seeded):
    """Draw lemmas that the gold and all lexicons have, or take a list of them."""

    gold: Annotated[str | None, Of(WordList)] = None
    """The gold; left out if it is on paper, to be keyed in for the lemmas drawn."""
    lexicons: Annotated[tuple[str, ...], Of(WordList)] = Field(min_length=1)
    """The lexicon to evaluate, or several to compare: they are judged by the same lemmas."""
    rate: float | None = Field(default=None, gt=0, le=1)
    """Sampling rate lambda: this share of the common lemmas is drawn, one at least. Give rate,
    size, lemmas or path."""
    size: int | None = Field(default=None, ge=1)
    """Number of lemmas to draw."""
    design: Design = "simple"
    """How rate and size draw: ``simple``, all lemmas with the same chance; or ``size``, in
    proportion to their forms in the gold, the largest for certain: far fewer lemmas make L* as
    sure. Without a gold the forms of the lexicon count, of several their mean."""
    lemmas: tuple[str, ...] = ()
    """The lemmas to take."""
    path: TableSource | None = None
    """File with the lemmas to take, in a column lemma."""
    drawn: bool = False
    """Whether the lemmas of a list were drawn at random: only then are there intervals."""

    @model_validator(mode="after")
    def _one_of_four(self) -> SampleLemmas:
        choices = (self.rate, self.size, self.lemmas or None, self.path)
        if sum(each is not None for each in choices) != 1:
            raise ValueError("give one of rate, size, lemmas and path")
        if self.drawn and (self.rate or self.size):
            raise ValueError("drawn goes with lemmas or path: what rate and size give is drawn")
        if self.design != "simple" and not (self.rate or self.size):
            raise ValueError(f"design = {self.design!r} goes with rate or size, not with a list")
        return self


@stage("sample.lemmas", config=SampleLemmas, outputs={"sample": LemmaSample})
def sample_lemmas(config: SampleLemmas, tables: Tables) -> Outputs:
    """Draw without replacement, fixed by the seed: a smaller sample is part of a larger one."""
    gold = tables["gold"] if config.gold else None
    lexicons = several(tables, "lexicons", config.lexicons)
    shared = common_in_parts(*([] if gold is None else [gold]), *lexicons)
    if config.path is not None:
        return _from_file(tables["path"], shared, drawn=config.drawn)
    if config.lemmas:
        return {"sample": _named(config, shared, dry=shared.is_empty())}
    size = config.size or sample_size(shared.height, rate=config.rate or 1.0)
    if config.design == "size":
        weighed = paradigm_sizes(shared.lazy(), gold, lexicons)
        drawn = sample_by_size(weighed, size=size, seed=config.seed)
    else:
        drawn = simple_sample(shared, size=size, seed=config.seed)
    return {"sample": _sample(drawn, shared, drawn=True)}


def _sample(chosen: pl.DataFrame, shared: pl.DataFrame, *, drawn: bool) -> pl.DataFrame:
    """Return the table; of a list that was drawn all lemmas have had the same chance."""
    if "pi" not in chosen.columns:
        chance = chosen.height / max(1, shared.height) if drawn else None
        chosen = chosen.with_columns(pi=pl.lit(chance, pl.Float64))
    return chosen.select(
        "lemma", "position", population=pl.lit(shared.height, pl.Int64), drawn=pl.lit(drawn),
        pi="pi", stratum=pl.lit("all"),
    )  # fmt: skip


def _numbered(lemmas: pl.DataFrame) -> pl.DataFrame:
    once = lemmas.unique("lemma", maintain_order=True)
    return once.select("lemma", position=pl.int_range(1, pl.len() + 1, dtype=pl.Int64))


def _named(config: SampleLemmas, shared: pl.DataFrame, *, dry: bool) -> pl.DataFrame:
    asked = _numbered(pl.DataFrame({"lemma": list(config.lemmas)}))
    unknown = asked.join(shared, on="lemma", how="anti", maintain_order="left")["lemma"]
    if dry:
        return _sample(asked.clear(), shared, drawn=config.drawn)
    if len(unknown):
        what = f"{len(unknown):,} of {asked.height:,} lemmas are not in the gold and every lexicon"
        such = f"such as {', '.join(map(repr, unknown.head(3)))}"
        raise ConfigError("lemmas", [Problem("lemmas", f"{what}, {such}", "leave them out")])
    return _sample(asked, shared, drawn=config.drawn)


def _from_file(raw: pl.LazyFrame, shared: pl.DataFrame, *, drawn: bool) -> Outputs:
    require(raw.collect_schema(), [("path", "lemma")])
    rows = raw.with_columns(pl.col("lemma").str.strip_chars()).drop_nulls("lemma")
    unknown = rows.join(shared.lazy(), on="lemma", how="anti").select(
        "file", "line", column=pl.lit("lemma"), value="lemma", problem=pl.lit(_NOT_COMMON)
    )
    asked = _numbered(rows.sort("file", "line").select("lemma").collect())
    lemmas = asked.join(shared, on="lemma", how="semi")
    return {"sample": _sample(lemmas, shared, drawn=drawn), FAULTS: unknown}
