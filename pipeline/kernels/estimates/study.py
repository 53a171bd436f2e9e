"""Ranks, a sample and what is known of all candidates, as arrays that sums are made of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from pipeline.kernels.arrays import BoolArray, FloatArray, IntArray, codes
from pipeline.kernels.estimates.moments import draw_moments
from pipeline.kernels.estimates.predictions import folds_of


@dataclass(frozen=True)
class Study:
    """Candidates with their ranks, and a sample of them.

    Places are rows of `ids`. The cell of a draw is ``stratum * folds + fold``.
    """

    ids: pl.Series
    measures: pl.Series
    ranks: IntArray
    """Shape (measures, candidates)."""
    stratum: IntArray
    strata: int
    folds: int
    rest: FloatArray
    """Of all candidates, shape (columns, candidates): 1 where it is uncertain, 1 where it could
    not be drawn, and with predictions those of the uncertain ones without a judgement."""
    places: IntArray
    cell: IntArray
    moments: FloatArray
    """Of the judged uncertain draws, shape (fields, draws)."""
    chances: FloatArray
    """Of the same draws, inside (0, 1)."""
    known: IntArray
    known_columns: FloatArray
    """Certain and unjudged draws, shape (5, draws): certain ones that are hits, misses, unjudged;
    certain; unjudged."""

    @property
    def predicted(self) -> bool:
        """Whether there are predictions."""
        return len(self.rest) > 2


def study(
    ranks: pl.DataFrame | pl.LazyFrame,
    draws: pl.DataFrame | pl.LazyFrame,
    *,
    candidates: pl.DataFrame | pl.LazyFrame | None = None,
    folds: int = 10,
    seed: str = "",
) -> Study:
    """Put ranks and a sample together.

    Parameters
    ----------
    ranks : pl.DataFrame or pl.LazyFrame
        Table `Ranks`: all candidates under each measure.
    draws : pl.DataFrame or pl.LazyFrame
        id, tp (null = not judged) and pi, the chance that it was drawn with, in (0, 1], 1 for
        certain ones; each candidate once. With predictions also prediction, in [0, 1], made out of
        fold, and fold (whole numbers); without a fold they get one by the seed, and without a
        prediction that of `candidates`.
    candidates : pl.DataFrame or pl.LazyFrame, optional
        id of all candidates and what is known of them: stratum, where the size of the sample was
        fixed in each; prediction; pi, which is 0 for those that could not be drawn. Without it
        there is one stratum, and every candidate could be drawn.
    folds : int
        How many folds are made where they are not given.
    seed : str
        Fixes those folds.

    Returns
    -------
    Study

    Raises
    ------
    ValueError
        If ids are drawn twice, or not ranked, or ranked by some measures alone; if a chance, or a
        prediction, is out of range; if draws have predictions but other candidates have none.

    Examples
    --------
    >>> ranks = pl.DataFrame({"measure": "mi", "id": list("abcd"), "rank": [1, 2, 3, 4]})
    >>> draws = pl.DataFrame({"id": ["a", "c"], "tp": [True, False], "pi": [1.0, 0.5]})
    >>> found = study(ranks, draws)
    >>> found.rest.tolist(), found.places.tolist()
    ([[0.0, 1.0, 1.0, 1.0], [0.0, 0.0, 0.0, 0.0]], [2])
    """
    ids, measures, matrix = rank_matrix(ranks)
    sample = _sample(ids, draws.lazy().collect())
    known = _known(ids, candidates)
    stratum, strata = _strata(ids, known, sample)
    prediction = _predictions(known, sample)
    fold, count = _folds(sample, folds, seed, predicted=prediction is not None)
    place, pi = sample["place"].to_numpy(), sample["pi"].to_numpy()
    judged, certain = sample["tp"].is_not_null().to_numpy(), pi == 1
    y = sample["tp"].fill_null(value=False).cast(pl.Float64).to_numpy()
    used, kept = judged & ~certain, certain | ~judged
    guess = 0.0 if prediction is None else prediction[place[used]]
    return Study(
        ids=ids,
        measures=measures,
        ranks=matrix,
        stratum=stratum,
        strata=strata,
        folds=count,
        rest=_rest(len(ids), known, place[certain], place[used], prediction),
        places=place[used],
        cell=stratum[place[used]] * count + fold[used],
        moments=draw_moments(y[used], pi[used], prediction=guess),
        chances=pi[used],
        known=place[kept],
        known_columns=_known_columns(judged, certain, y)[:, kept],
    )


def _known_columns(judged: BoolArray, certain: BoolArray, y: FloatArray) -> FloatArray:
    """Return the rows of `Study.known_columns`, for all draws."""
    hits, misses = certain & judged & (y == 1), certain & judged & (y == 0)
    return np.stack([hits, misses, certain & ~judged, certain, ~judged]).astype(np.float64)


def rank_matrix(
    ranks: pl.DataFrame | pl.LazyFrame,
) -> tuple[pl.Series, pl.Series, IntArray]:
    """Return the ids and the measures, sorted, and the rank of each id under each measure.

    Raises
    ------
    ValueError
        If a measure doesn't rank all candidates, each once: how many, and three examples.

    Examples
    --------
    >>> ranks = pl.DataFrame({"measure": ["mi", "mi"], "id": ["b", "a"], "rank": [1, 2]})
    >>> rank_matrix(ranks)[2].tolist()
    [[2, 1]]
    """
    table = ranks.lazy().select("measure", "id", "rank").collect()
    place, ids = codes(table["id"])
    measure, measures = codes(table["measure"])
    found = np.zeros((len(measures), len(ids)), dtype=np.int64)
    found[measure, place] = table["rank"].to_numpy()
    missing = np.argwhere(found == 0)
    if len(missing):
        shown = ", ".join(f"{ids[int(i)]} under {measures[int(m)]}" for m, i in missing[:3])
        raise ValueError(f"{len(missing):,} ranks are missing, such as that of {shown}")
    if table.height != found.size:
        twice = table.filter(pl.struct("measure", "id").is_duplicated()).sort("measure", "id")
        rows = twice.select("id", "measure").unique(maintain_order=True).head(3).rows()
        shown = ", ".join(f"{name} under {measure}" for name, measure in rows)
        raise ValueError(
            f"{table.height - found.size:,} ranks too many, such as that of {shown}: a measure "
            "ranks each candidate once"
        )
    return ids, measures, found


def _sample(ids: pl.Series, draws: pl.DataFrame) -> pl.DataFrame:
    """Find the places of the draws, in their order."""
    twice = draws.filter(pl.col("id").is_duplicated())["id"].unique().sort()
    if len(twice):
        shown = ", ".join(twice.head(3))
        raise ValueError(f"{len(twice):,} candidates are drawn twice, such as {shown}")
    places = pl.DataFrame({"id": ids, "place": np.arange(len(ids))})
    found = draws.join(places, on="id", how="left").sort("place")
    lost = found.filter(pl.col("place").is_null())["id"]
    if len(lost):
        raise ValueError(f"{len(lost):,} draws have no ranks, such as {', '.join(lost.head(3))}")
    fine = (pl.col("pi") > 0) & (pl.col("pi") <= 1)
    wrong = found.filter(fine.not_() | pl.col("pi").is_null() | pl.col("pi").is_nan())
    if wrong.height:
        shown = ", ".join(f"{pi} of {name}" for name, pi in wrong.select("id", "pi").head(3).rows())
        raise ValueError(
            f"{wrong.height:,} draws have a chance outside (0, 1], such as {shown}; what was "
            "certain to be drawn has pi = 1"
        )
    return found


def _known(ids: pl.Series, candidates: pl.DataFrame | pl.LazyFrame | None) -> pl.DataFrame:
    """Put what is known of the candidates in the order of the ids."""
    every = ids.rename("id").to_frame()
    if candidates is None:
        return every
    table = candidates.lazy().collect()
    lacking = every.join(table, on="id", how="anti")["id"]
    if len(lacking) or table["id"].is_duplicated().any():
        shown = ", ".join(lacking.head(3)) or "an id that stands there twice"
        raise ValueError(
            f"the table of candidates has not each ranked one once: {len(lacking):,} are missing, "
            f"such as {shown}"
        )
    return every.join(table, on="id", how="left", maintain_order="left")


def _strata(ids: pl.Series, known: pl.DataFrame, sample: pl.DataFrame) -> tuple[IntArray, int]:
    if "stratum" in known.columns:
        none = known.filter(pl.col("stratum").is_null())["id"]
        if len(none):
            shown = ", ".join(none.head(3))
            raise ValueError(f"{len(none):,} candidates have no stratum, such as {shown}")
        stratum, names = codes(known["stratum"])
        return stratum, len(names)
    several = sample["stratum"].n_unique() if "stratum" in sample.columns else 1
    if several > 1:
        raise ValueError(
            f"the draws are from {several} strata, but the strata of the other candidates are not "
            "known: give the table of candidates a column stratum"
        )
    return np.zeros(len(ids), dtype=np.int64), 1


def _predictions(known: pl.DataFrame, sample: pl.DataFrame) -> FloatArray | None:
    """Return one prediction of each candidate: for the draws their own, where they have one."""
    own = "prediction" in sample.columns
    if "prediction" not in known.columns:
        if own:
            raise ValueError(
                "the draws have predictions, the other candidates have none: give the table of "
                "candidates a column prediction"
            )
        return None
    found = known["prediction"].cast(pl.Float64).to_numpy().copy()
    if own:
        found[sample["place"].to_numpy()] = sample["prediction"].cast(pl.Float64).to_numpy()
    wrong = np.flatnonzero(~((found >= 0) & (found <= 1)))
    if wrong.size:
        names = known["id"].to_list()
        shown = ", ".join(f"{found[place]} of {names[place]}" for place in wrong[:3])
        raise ValueError(f"{wrong.size:,} predictions are not in [0, 1], such as {shown}")
    return found


def _folds(sample: pl.DataFrame, folds: int, seed: str, *, predicted: bool) -> tuple[IntArray, int]:
    if not predicted:
        return np.zeros(sample.height, dtype=np.int64), 1
    if "fold" not in sample.columns:
        return folds_of(sample["id"], folds=folds, seed=seed), folds
    present, fold = np.unique(sample["fold"].to_numpy(), return_inverse=True)
    return fold.astype(np.int64), max(1, len(present))


def _rest(
    size: int,
    known: pl.DataFrame,
    certain: IntArray,
    judged: IntArray,
    prediction: FloatArray | None,
) -> FloatArray:
    uncertain: BoolArray = np.ones(size, dtype=np.bool_)
    uncertain[certain] = False
    never = np.zeros(size, dtype=np.bool_)
    if "pi" in known.columns:
        never = (known["pi"] == 0).fill_null(value=False).to_numpy()
    columns = [uncertain.astype(np.float64), never.astype(np.float64)]
    if prediction is not None:
        open_ = uncertain.copy()
        open_[judged] = False
        columns.append(np.where(open_, prediction, 0.0))
    return np.stack(columns)
