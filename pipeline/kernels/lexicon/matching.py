"""The lexicon's best match for each lemma of the gold, and how good it is."""

from __future__ import annotations

import polars as pl

from pipeline.kernels.lexicon.wordlists import sizes
from pipeline.kernels.overlaps import f_score, overlaps


def lexicon_overlaps(gold: pl.LazyFrame, lexicon: pl.LazyFrame) -> pl.LazyFrame:
    """Count the forms that each lemma of the gold shares with each lemma of the lexicon.

    Parameters
    ----------
    gold, lexicon : LazyFrame
        lemma, form, as `canonical` gives them.

    Returns
    -------
    LazyFrame
        gold, lemma, n_ij, n_i, n_j for pairs with n_ij >= 1, in no order.

    Examples
    --------
    >>> gold = pl.LazyFrame({"lemma": ["ra", "ra"], "form": ["ra", "rajt"]})
    >>> lexicon = pl.LazyFrame({"lemma": ["ra"], "form": ["rajt"]})
    >>> lexicon_overlaps(gold, lexicon).collect().rows()
    [('ra', 'ra', 1, 2, 1)]
    """
    renamed = gold.rename({"lemma": "gold"})
    return overlaps(
        renamed, lexicon, member="form", gold_group="gold", group="lemma", distinct=True
    )


def best(table: pl.LazyFrame) -> pl.LazyFrame:
    """Return the pair with the greatest L(i,j) for each lemma of the gold.

    ``L(i,j) = 2 r p / (r + p) = 2 n_ij / (n_i + n_j)``

    Equal values: the same lemma comes first, then the smallest key.

    Parameters
    ----------
    table : LazyFrame
        As `lexicon_overlaps` gives it.

    Returns
    -------
    LazyFrame
        lemma (of the gold), match (of the lexicon), n_common, n_match; only lemmas of the gold
        that share a form with some lemma of the lexicon; in no order.

    Examples
    --------
    >>> table = pl.LazyFrame(
    ...     {"gold": ["a", "a"], "lemma": ["x", "a"], "n_ij": [1, 1], "n_i": [2, 2], "n_j": [1, 1]}
    ... )
    >>> best(table).collect().rows()
    [('a', 'a', 1, 1)]
    """
    scored = table.select("gold", "lemma", "n_ij", "n_j", f=f_score())
    most = scored.group_by("gold").agg(most=pl.col("f").max())
    tied = scored.join(most, on="gold").filter(pl.col("f") == pl.col("most"))
    itself = (pl.col("lemma") == pl.col("gold")).any()
    least = pl.col("lemma").min()
    first = tied.group_by("gold").agg(
        lemma=pl.when(itself).then(pl.col("gold").first()).otherwise(least)
    )
    chosen = tied.join(first, on=["gold", "lemma"])
    return chosen.select(lemma="gold", match="lemma", n_common="n_ij", n_match="n_j")


def matches(table: pl.LazyFrame, gold: pl.LazyFrame, lexicon: pl.LazyFrame) -> pl.LazyFrame:
    """Return the best match of every lemma of the gold, and the same lemma beside it.

    Parameters
    ----------
    table : LazyFrame
        The overlaps of `gold` and `lexicon`.
    gold, lexicon : LazyFrame
        lemma, form, as `canonical` gives them.

    Returns
    -------
    LazyFrame
        lemma; match (null if no lemma of the lexicon shares a form and the lexicon lacks the
        lemma); n_gold, n_match, n_common: forms of both and in common; n_same (null if the
        lexicon lacks the lemma), n_same_common: the same for the lexicon's own cluster of this
        lemma. In no order.
    """
    same = table.filter(pl.col("gold") == pl.col("lemma"))
    joined = (
        sizes(gold, name="n_gold")
        .join(best(table), on="lemma", how="left")
        .join(sizes(lexicon, name="n_same"), on="lemma", how="left")
        .join(same.select("lemma", n_same_common="n_ij"), on="lemma", how="left")
    )
    alone = pl.when(pl.col("n_same").is_not_null()).then("lemma")
    return joined.select(
        "lemma", "n_gold",
        match=pl.coalesce("match", alone),
        n_match=pl.coalesce("n_match", "n_same", pl.lit(0, pl.Int64)),
        n_common=pl.col("n_common").fill_null(0),
        n_same="n_same",
        n_same_common=pl.col("n_same_common").fill_null(0),
    )  # fmt: skip


def share(part: str, whole: str) -> pl.Expr:
    """Return part / whole, 0 where the whole is 0: a set without forms has nothing right.

    Examples
    --------
    >>> pl.DataFrame({"a": [1, 0], "b": [2, 0]}).select(share("a", "b")).to_series().to_list()
    [0.5, 0.0]
    """
    of = pl.col(whole).cast(pl.Float64)
    return pl.when(of > 0).then(pl.col(part).cast(pl.Float64) / of).otherwise(0.0)


def l_value(common: str, gold: str, other: str) -> pl.Expr:
    """Return ``L = 2 common / (gold + other)``, 0 where both sets are empty.

    In [0, 1]; 1 if the sets are equal, 0 if they share nothing.

    Examples
    --------
    >>> missier = pl.DataFrame({"common": [7], "gold": [10], "lexicon": [7]})
    >>> missier.select(l_value("common", "gold", "lexicon")).item() == 14 / 17
    True
    """
    both = (pl.col(gold) + pl.col(other)).cast(pl.Float64)
    return pl.when(both > 0).then(2.0 * pl.col(common).cast(pl.Float64) / both).otherwise(0.0)
