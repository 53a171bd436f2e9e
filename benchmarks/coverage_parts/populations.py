"""Candidates that are annotated in full: two public sets, and one that the project made."""

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
FOLDS = 10
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
    words : array of int, shape (2, candidates)
        Codes of the words of each pair.
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


def ranked(table: pl.DataFrame) -> Population:
    """Score and rank candidates l1, l2, f, f1, f2, N, tp."""
    candidates = table.with_columns(candidate_id("l1", "l2"))
    scores = score(candidates.lazy(), measures=MEASURES)
    ids, _, ranks = rank_matrix(rank(scores, measures=MEASURES, seed="coverage"))
    known = candidates.select("id", "l1", "l2", tp=pl.col("tp").cast(pl.Boolean))
    labels = ids.rename("id").to_frame().join(known, on="id", how="left", maintain_order="left")
    words = np.stack([codes(labels[each].cast(pl.String))[0] for each in ("l1", "l2")])
    return Population(ids, ranks, labels["tp"].to_numpy(), words)


def _krenn() -> pl.DataFrame:
    table = pl.read_csv(_public("krenn_pp_verb.ds"), separator="\t", quote_char=None)
    return table.with_columns(tp=pl.col("b.TP"))


def _streusle() -> pl.DataFrame:
    table = pl.read_csv(_public("streusle_bigram.tsv.gz"), separator="\t", quote_char=None)
    return table.filter(pl.col("f") >= 2).with_columns(tp=pl.col("TP"))


def _invented() -> pl.DataFrame:
    return pl.read_csv(INVENTED, separator="\t", quote_char=None).with_columns(tp=pl.col("TP"))


_READERS: dict[str, Callable[[], pl.DataFrame]] = {
    "krenn": _krenn,
    "streusle": _streusle,
    "invented": _invented,
}
NAMES = tuple(_READERS)
"""krenn and streusle are the candidates of configs/krenn.toml and configs/streusle.toml, invented
those of configs/demo.toml."""


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
    return ranked(_READERS[name]())


@lru_cache(maxsize=4)
def features(name: str) -> FloatArray:
    """Return what predictions are made of: normal scores of the ranks, (candidates, measures)."""
    return np.ascontiguousarray(normal_scores(population(name).ranks).T)


@lru_cache(maxsize=4)
def folds(name: str) -> IntArray:
    """Return the fold of each candidate."""
    return folds_of(population(name).ids, folds=FOLDS, seed="coverage")
