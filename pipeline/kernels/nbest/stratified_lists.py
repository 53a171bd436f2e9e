"""Counts in n-best lists by stratum, added up over parts of the candidates where room is short."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from pipeline.kernels.arrays import IntArray, codes, labels_of
from pipeline.kernels.nbest.lists import first_list, in_lists
from pipeline.kernels.parts import divided, parts_needed


def stratified_lists(
    ranks: pl.LazyFrame, judged: pl.DataFrame, strata: pl.LazyFrame, *, at: Sequence[int]
) -> tuple[pl.DataFrame, list[IntArray]]:
    """Count members, judged draws and true positives of n-best lists by stratum.

    Parameters
    ----------
    ranks : LazyFrame
        Table `Ranks`: all candidates under each measure.
    judged : DataFrame
        category, id, tp (null = not judged): the sampled candidates, each once.
    strata : LazyFrame
        id and stratum of all candidates.
    at : sequence of int
        List sizes; those beyond the candidates of a measure are left out.

    Returns
    -------
    lists : DataFrame
        category, measure and n of each list; no rows without candidates or draws.
    counts : list of three arrays of int, shape (lists, strata)
        Members, draws that are judged, true positives.

    Raises
    ------
    ValueError
        If ranked candidates have no stratum.

    Examples
    --------
    >>> ranks = pl.LazyFrame({"measure": "mi", "id": list("abcd"), "rank": [1, 2, 3, 4]})
    >>> strata = pl.LazyFrame({"id": list("abcd"), "stratum": ["1-1", "2-4", "2-4", "2-4"]})
    >>> judged = pl.DataFrame({"category": "TP", "id": ["a", "d"], "tp": [True, False]})
    >>> lists, (members, draws, hits) = stratified_lists(ranks, judged, strata, at=[1, 4])
    >>> members.tolist(), draws.tolist(), hits.tolist()
    ([[1, 0], [1, 3]], [[1, 0], [1, 1]], [[1, 0], [1, 0]])
    """
    counting = _Counting.of(ranks, judged, strata, at)
    own = ranks.select("measure", "rank", "id")
    beside = strata.select("id", "stratum")
    for some, theirs in divided(own, beside, number=parts_needed(own, beside), by="id"):
        counting.add(some.join(theirs, on="id", how="left"))
    counting.require_strata()
    return counting.lists()


def places_in(labels: pl.Series, column: str) -> pl.Expr:
    """Return the place of each label of a column among these."""
    return pl.col(column).cast(pl.Enum(labels)).to_physical().cast(pl.Int64)


@dataclass
class _Counting:
    """Counts that add up while candidates come; exists as long as that takes."""

    measures: pl.Series
    strata: pl.Series
    categories: pl.Series
    held: IntArray
    n: IntArray
    drawn: pl.DataFrame
    counts: list[IntArray]
    missing: int = 0
    shown: list[str] = field(default_factory=list)

    @classmethod
    def of(
        cls, ranks: pl.LazyFrame, judged: pl.DataFrame, strata: pl.LazyFrame, at: Sequence[int]
    ) -> _Counting:
        """Return counts of nobody yet."""
        sizes = ranks.group_by("measure").agg(pl.len()).sort("measure").collect(engine="streaming")
        names, held = labels_of(strata, "stratum"), sizes["len"].to_numpy().astype(np.int64)
        category, categories = codes(judged["category"])
        n = np.array(sorted({size for size in at if 1 <= size <= held.max(initial=0)}), np.int64)
        shape = (len(sizes), len(n), len(names))
        shapes = [shape, *[(len(categories), *shape)] * 2]
        drawn = judged.select("id", "tp", category=category).drop_nulls("tp")
        zeros = [np.zeros(each, dtype=np.int64) for each in shapes]
        return cls(sizes["measure"], names, categories, held, n, drawn, zeros)

    def add(self, placed: pl.DataFrame) -> None:
        """Take in measure, rank, id and stratum of some candidates."""
        lost = placed.filter(pl.col("stratum").is_null())["id"].unique()
        self.missing += len(lost)
        self.shown = sorted([*self.shown, *lost.sort().head(3)])[:3]
        if self.missing:
            return
        numbered = placed.select(
            "id",
            measure=places_in(self.measures, "measure"),
            first=pl.Series(first_list(placed["rank"], self.n)),
            stratum=places_in(self.strata, "stratum"),
        )
        inside = self.drawn.join(numbered, on="id")
        true = inside["tp"].cast(pl.Int64).to_numpy()
        keys = ("measure", "first", "stratum")
        members, draws, hits = self.counts
        members += in_lists([numbered[key].to_numpy() for key in keys], members.shape)
        places = [inside[key].to_numpy() for key in ("category", *keys)]
        draws += in_lists(places, draws.shape)
        hits += in_lists(places, hits.shape, true)

    def require_strata(self) -> None:
        """Refuse candidates without a stratum."""
        if self.missing:
            shown = ", ".join(self.shown)
            raise ValueError(f"{self.missing:,} candidates have no stratum, such as {shown}")

    def lists(self) -> tuple[pl.DataFrame, list[IntArray]]:
        """Return the lists that there are, and their counts."""
        members, draws, hits = self.counts
        shown = np.nonzero(np.broadcast_to(self.n <= self.held[:, None], draws.shape[:-1]))
        lists = {
            "category": self.categories.gather(shown[0]),
            "measure": self.measures.gather(shown[1]),
            "n": self.n[shown[2]],
        }
        return pl.DataFrame(lists), [members[shown[1:]], draws[shown], hits[shown]]
