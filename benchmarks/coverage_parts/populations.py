"""Candidates that are annotated in full: three public sets, and five that the project made."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from pipeline.kernels.association.scoring import score
from pipeline.kernels.nbest.ranking import rank
from pipeline.kernels.numeric import BoolArray, FloatArray, IntArray, codes
from pipeline.kernels.sampling import candidate_id
from pipeline.kernels.survey.study import folds_of, normal_scores, rank_matrix

MEASURES = ("chi_squared", "dice", "frequency", "log_likelihood", "mi", "t_score")
PAIRS = tuple(itertools.combinations(MEASURES, 2))
CUTS = (50, 100, 500, 1000, 2000)
FOLDS = 5
"""Stages take ten, which doubles the time."""
INVENTED = Path(__file__).parents[2] / "data" / "candidates.tsv"


class Population(NamedTuple):
    """Candidates with their ranks and true labels.

    Parameters
    ----------
    ids : Series
        The candidates, sorted.
    ranks : array of int, shape (measures, candidates)
        In the order of `MEASURES`.
    tp : array of bool, shape (candidates,)
        The annotation.
    words : array of int, shape (words, candidates)
        Codes of the words of each pair; of a PP-verb pair the preposition, the noun and the verb.
    """

    ids: pl.Series
    ranks: IntArray
    tp: BoolArray
    words: IntArray

    @property
    def size(self) -> int:
        """Return the number of candidates."""
        return len(self.tp)

    def of(self, measure: str) -> IntArray:
        """Return the ranks under a measure."""
        return np.asarray(self.ranks[MEASURES.index(measure)])


def rank_candidates(table: pl.DataFrame) -> Population:
    """Score and rank candidates l1, l2, f, f1, f2, N, tp."""
    candidates = table.with_columns(candidate_id("l1", "l2"))
    scores = score(candidates.lazy(), measures=MEASURES)
    ids, _, ranks = rank_matrix(rank(scores, measures=MEASURES, seed="coverage"))
    known = candidates.select("id", "l1", "l2", tp=pl.col("tp").cast(pl.Boolean))
    labels = ids.rename("id").to_frame().join(known, on="id", how="left", maintain_order="left")
    pairs = labels.select(pl.col("l1").cast(pl.String).str.split(":"), "l2")
    split = pairs.select(pl.col("l1").list.first(), last=pl.col("l1").list.last(), l2="l2")
    words = np.stack([codes(column.cast(pl.String))[0] for column in split])
    return Population(ids, ranks, labels["tp"].to_numpy(), words)


def _krenn() -> pl.DataFrame:
    table = pl.read_csv(_public("krenn_pp_verb.ds"), separator="\t", quote_char=None)
    return table.with_columns(tp=pl.col("b.TP"))


def _streusle() -> pl.DataFrame:
    table = pl.read_csv(_public("streusle_bigram.tsv.gz"), separator="\t", quote_char=None)
    return table.filter(pl.col("f") >= 2).with_columns(tp=pl.col("TP"))


def _invented_table() -> pl.DataFrame:
    return pl.read_csv(INVENTED, separator="\t", quote_char=None).with_columns(tp=pl.col("TP"))


def _eltec() -> pl.DataFrame:
    table = pl.read_csv(_public("eltec_deu_pnv.tsv.gz"), separator="\t", quote_char=None)
    return table.filter(pl.col("krenn_TP").is_not_null()).with_columns(tp=pl.col("krenn_TP"))


class Shape(NamedTuple):
    """A population of random numbers: six rankings of a latent quality, and labels."""

    noise: tuple[float, ...]
    """Standard deviation of each measure around the quality, which has 1."""
    common: float
    """Standard deviation of the noise that all measures share."""
    true: float
    """Share of true positives."""
    slope: float
    """Of their log odds in the quality; infinite if exactly the best are true."""


_SPREAD = (0.3, 0.5, 0.8, 1.2, 2.0, 4.0)
_SHAPES = {
    "clustered": Shape((0.0, 0.1, 0.3, 0.6, 1.0, 2.0), common=0.0, true=0.1, slope=np.inf),
    "rare": Shape(_SPREAD, common=0.0, true=0.01, slope=2.0),
    "frequent": Shape(_SPREAD, common=0.0, true=0.99, slope=2.0),
    "alike": Shape((0.02, 0.02, 0.04, 0.04, 0.08, 0.08), common=0.5, true=0.2, slope=1.0),
}
_INVENTED_SIZE = 4000


def _random(name: str) -> Population:
    """Return candidates of a shape, always the same."""
    shape, size = _SHAPES[name], _INVENTED_SIZE
    bits = np.random.default_rng([1964, list(_SHAPES).index(name)])
    quality = bits.normal(size=size)
    common = quality + shape.common * bits.normal(size=size)
    scores = common + np.array(shape.noise)[:, None] * bits.normal(size=(len(MEASURES), size))
    odds = quality if np.isinf(shape.slope) else shape.slope * quality + bits.logistic(size=size)
    tp = odds.argsort().argsort() >= size - round(shape.true * size)
    ranks = (-scores).argsort(axis=1).argsort(axis=1) + 1
    ids = pl.Series("id", [f"x{number:04}" for number in range(size)])
    return Population(ids, ranks, tp, bits.integers(0, 400, size=(2, size)))


PUBLIC_TABLES: dict[str, Callable[[], pl.DataFrame]] = {
    "krenn": _krenn,
    "streusle": _streusle,
    "eltec": _eltec,
    "invented": _invented_table,
}
NAMES = (*PUBLIC_TABLES, *_SHAPES)
"""krenn and streusle are the candidates of configs/krenn.toml and configs/streusle.toml, eltec the
judged ones of configs/german-novels.toml, invented those of configs/demo.toml. The others are
random numbers: true positives that fill the top of the best list, 1 % and 99 % of true positives,
and measures that hardly differ."""


def _public(name: str) -> Path:
    path = Path(os.environ.get("LEXASSAY_DATA") or "LEXASSAY_DATA") / "collocations" / name
    if not path.is_file():
        raise FileNotFoundError(
            f"{path} is not there: LEXASSAY_DATA names the folder of public data, see README.md"
        )
    return path


@lru_cache(maxsize=4)
def population(name: str) -> Population:
    """Return a population by name.

    Raises
    ------
    FileNotFoundError
        If its file is not there.
    """
    return rank_candidates(PUBLIC_TABLES[name]()) if name in PUBLIC_TABLES else _random(name)


def cuts_of(everyone: Population, cuts: tuple[int, ...] = CUTS) -> tuple[int, ...]:
    """Return the list sizes below the number of candidates."""
    return tuple(n for n in cuts if n < everyone.size)


@lru_cache(maxsize=4)
def features(name: str) -> FloatArray:
    """Return what predictions are made of: normal scores of the ranks, (candidates, measures)."""
    return np.ascontiguousarray(normal_scores(population(name).ranks).T)


@lru_cache(maxsize=4)
def folds(name: str) -> IntArray:
    """Return the fold of each candidate."""
    return folds_of(population(name).ids, folds=FOLDS, seed="coverage")
