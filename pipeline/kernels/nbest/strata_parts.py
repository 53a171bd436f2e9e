"""Strata of more candidates than there is room for, and samples that are drawn within them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from pipeline.kernels.nbest.judging import ranked_candidates
from pipeline.kernels.nbest.strata import by_best_rank, require_ascending, strata_by_score
from pipeline.kernels.parts import batches, divided, parts_needed, spill_of
from pipeline.kernels.sampling import as_sample, shuffled
from pipeline.kernels.sampling_parts import smaller

_BEST = pl.Schema({"id": pl.String, "rank": pl.Int64})


def strata_by_rank_in_parts(
    ranks: pl.LazyFrame, *, measures: Sequence[str], boundaries: Sequence[int]
) -> Iterator[pl.DataFrame]:
    """Yield what `strata.strata_by_rank` returns, part by part, in no order.

    Parameters
    ----------
    ranks, measures, boundaries
        As there; every measure has ranks.

    Raises
    ------
    ValueError
        If the boundaries do not ascend from 1 or more.

    Examples
    --------
    >>> ranks = pl.LazyFrame({"measure": ["mi"] * 2, "id": ["a", "b"], "rank": [2, 1]})
    >>> (part,) = strata_by_rank_in_parts(ranks, measures=["mi"], boundaries=[1])
    >>> sorted(part.rows())
    [('a', '2-2'), ('b', '1-1')]
    """
    require_ascending(boundaries)
    own = ranks.filter(pl.col("measure").is_in(list(measures)))
    end = max(boundaries, default=0)
    listed = own.filter(pl.col("rank") <= end).select(*_BEST)  # the others are in the last stratum
    every, last = ranked_candidates(own).select("id"), 0
    with spill_of(1, _BEST) as laid:
        for some, ids in divided(listed, every, number=parts_needed(listed, every), by="id"):
            ranked = some.group_by("id").agg(pl.col("rank").min())
            best = ids.join(ranked, on="id", how="left").with_columns(
                pl.col("rank").fill_null(end + 1)
            )
            last += best.height
            laid.put(best, 0)
        for best in laid.frames(0):
            yield by_best_rank(best, boundaries, last=last)


def strata_by_score_in_parts(
    scores: pl.LazyFrame, *, column: str, boundaries: Sequence[float]
) -> Iterator[pl.DataFrame]:
    """Yield what `strata.strata_by_score` returns, part by part, in the order of the scores' rows.

    Parameters
    ----------
    scores, column, boundaries
        As there.

    Examples
    --------
    >>> scores = pl.LazyFrame({"id": ["a", "b"], "mi": [0.5, 3.0]})
    >>> (part,) = strata_by_score_in_parts(scores, column="mi", boundaries=[3.0])
    >>> part.rows()
    [('a', '[-inf, 3)'), ('b', '[3, inf)')]
    """
    for batch in batches(scores.select("id", column)):
        yield strata_by_score(batch, column=column, boundaries=boundaries)


class Drawing:
    """Draws as `strata.stratified` does while strata come in parts: what is held is the sample.

    Parameters
    ----------
    sizes : mapping of str to int
        Draws per stratum.
    counts : mapping of str to int
        Candidates in each stratum.
    seed : str
        Fixes the draw.

    Examples
    --------
    >>> drawing = Drawing({"1-2": 1}, {"1-2": 2}, seed="s")
    >>> drawing.add(pl.DataFrame({"id": ["a", "b"], "stratum": "1-2"}))
    >>> drawing.sample().select("multiplicity", "position", "pi", "stratum").rows()
    [(1, 1, 0.5, '1-2')]
    """

    def __init__(self, sizes: Mapping[str, int], counts: Mapping[str, int], *, seed: str) -> None:
        self._sizes, self._counts, self._seed = sizes, counts, seed
        none = shuffled(pl.DataFrame(schema={"id": pl.String}), seed=seed)
        self._best = dict.fromkeys(sorted(counts), none)

    def add(self, strata: pl.DataFrame) -> None:
        """Take in id and stratum of some candidates."""
        for (name,), part in strata.partition_by("stratum", as_dict=True).items():
            rows = shuffled(part, seed=self._seed)
            size = self._sizes.get(str(name), 0)
            self._best[str(name)] = smaller(self._best[str(name)], rows, size=size)

    def sample(self) -> pl.DataFrame:
        """Return the table `StratifiedSample`, when all have been taken in."""
        one = pl.lit(1, pl.Int64)
        none = as_sample(pl.DataFrame(schema={"id": pl.String}), multiplicity=one, pi=0.0)
        parts = [
            as_sample(best, multiplicity=one, pi=best.height / max(1, self._counts[name]))
            .with_columns(stratum=pl.lit(name))
            for name, best in self._best.items()
        ]  # fmt: skip
        position = pl.int_range(1, pl.len() + 1, dtype=pl.Int64)
        return pl.concat([none, *parts]).with_columns(position=position)
