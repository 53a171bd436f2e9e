"""The L-measure: best matches of lemmas, L* and F*, entropy and one-to-one assignment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from pipeline.kernels.lexicon.wordlists import Both, sizes
from pipeline.kernels.numeric import BoolArray, FloatArray, IntArray
from pipeline.kernels.overlaps import f_score, match_most, overlaps
from pipeline.kernels.partitions import (
    Ranges,
    batches,
    bucket_of,
    buckets_for,
    count_rows,
    most_rows,
    parts_of,
    ranges_of,
    spill_of,
)
from pipeline.memory import Spill

# Forms of gold and lexicon, aligned by lemma

_FORMS = pl.Schema({"lemma": pl.String, "form": pl.String})


def align(matched: pl.LazyFrame, gold: pl.LazyFrame, lexicon: pl.LazyFrame) -> pl.LazyFrame:
    """Return every form of each lemma or its match, with its sides.

    Parameters
    ----------
    matched : LazyFrame
        lemma (of the gold), match (of the lexicon).
    gold, lexicon : LazyFrame
        lemma, form, from `canonical`.

    Returns
    -------
    LazyFrame
        lemma, form, gold, lexicon (Boolean), unordered.

    Examples
    --------
    >>> matched = pl.LazyFrame({"lemma": ["ra"], "match": ["ra"]})
    >>> gold = pl.LazyFrame({"lemma": ["ra", "ra"], "form": ["ra", "rajt"]})
    >>> lexicon = pl.LazyFrame({"lemma": ["ra", "ra"], "form": ["ra", "rat"]})
    >>> align(matched, gold, lexicon).sort("form").collect().rows()
    [('ra', 'ra', True, True), ('ra', 'rajt', True, False), ('ra', 'rat', False, True)]
    """
    pairs = matched.select("lemma", "match")
    own = pairs.join(gold.drop_nulls("form"), on="lemma").select("lemma", "form", gold=True)
    other = lexicon.drop_nulls("form").rename({"lemma": "match"})
    theirs = pairs.join(other, on="match").select("lemma", "form", lexicon=True)
    return side_by_side(own, theirs)


def side_by_side(own: pl.LazyFrame, theirs: pl.LazyFrame) -> pl.LazyFrame:
    """Return the forms of the gold and of the matches as `align` does.

    Parameters
    ----------
    own, theirs : LazyFrame
        lemma, form, and gold, or lexicon, that is true.
    """
    both = own.join(theirs, on=["lemma", "form"], how="full", coalesce=True)
    return both.with_columns(pl.col("gold", "lexicon").fill_null(value=False))


def align_in_parts(
    matched: pl.LazyFrame, gold: pl.LazyFrame, lexicon: pl.LazyFrame, ranges: Ranges
) -> Iterator[pl.LazyFrame]:
    """Yield the result of `align` for each range of gold lemmas.

    Parameters
    ----------
    matched, gold, lexicon : LazyFrame
        As for `align`.
    ranges : Ranges
        Ranges of lemmas. Forms of a match in another range are included.
    """
    pairs = matched.select("lemma", "match")
    others = pairs.filter(pl.col("match") != pl.col("lemma")).collect()
    with spill_of(len(ranges), _FORMS) as brought:
        for number in range(len(ranges) if others.height else 0):
            forms = ranges.of(lexicon, number, by="lemma").drop_nulls("form")
            rows = others.lazy().join(forms, left_on="match", right_on="lemma")
            brought.add(rows.select("lemma", "form").collect(), ranges.number("lemma"))
        for number in range(len(ranges)):
            mine, here, there = (
                ranges.of(each, number, by="lemma") for each in (pairs, gold, lexicon)
            )
            same = mine.filter(pl.col("match") == pl.col("lemma"))
            own = mine.join(here.drop_nulls("form"), on="lemma").select("lemma", "form")
            theirs = same.join(there.drop_nulls("form"), on="lemma").select("lemma", "form")
            every = pl.concat([theirs, brought.bucket(number)])
            yield side_by_side(own.with_columns(gold=True), every.with_columns(lexicon=True))


def list_differences(forms: pl.LazyFrame) -> pl.LazyFrame:
    """Return the missing and spurious forms of each lemma as alphabetical text.

    Parameters
    ----------
    forms : LazyFrame
        As `align` gives it.

    Returns
    -------
    LazyFrame
        lemma, n_missing, missing, n_spurious, spurious; lemmas with forms on some side.

    Examples
    --------
    >>> rows = {"lemma": ["ra", "ra"], "form": ["rat", "rajt"], "gold": True, "lexicon": False}
    >>> list_differences(pl.LazyFrame(rows)).collect().rows()
    [('ra', 2, 'rajt, rat', 0, '')]
    """
    missing = pl.col("form").filter(pl.col("gold") & ~pl.col("lexicon"))
    spurious = pl.col("form").filter(pl.col("lexicon") & ~pl.col("gold"))
    return forms.group_by("lemma").agg(
        n_missing=missing.len().cast(pl.Int64),
        missing=missing.sort().str.join(", "),
        n_spurious=spurious.len().cast(pl.Int64),
        spurious=spurious.sort().str.join(", "),
    )


# Best matches and their scores


def lexicon_overlaps(gold: pl.LazyFrame, lexicon: pl.LazyFrame) -> pl.LazyFrame:
    """Count the forms shared by each gold lemma and each lexicon lemma.

    Parameters
    ----------
    gold, lexicon : LazyFrame
        lemma, form, from `canonical`.

    Returns
    -------
    LazyFrame
        gold, lemma, n_ij, n_i, n_j for pairs with n_ij >= 1, unordered.

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
    """Return the pair with the highest L(i,j) for each gold lemma.

    ``L(i,j) = 2 r p / (r + p) = 2 n_ij / (n_i + n_j)``

    Ties: the same lemma comes first, then the smallest key.

    Parameters
    ----------
    table : LazyFrame
        As `lexicon_overlaps` gives it.

    Returns
    -------
    LazyFrame
        lemma (gold), match (lexicon), n_common, n_match, for gold lemmas with a form in the
        lexicon; unordered.

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
    same = (pl.col("lemma") == pl.col("gold")).any()
    preferred = pl.when(same).then(pl.col("gold").first()).otherwise(pl.col("lemma").min())
    first = tied.group_by("gold").agg(lemma=preferred)
    rows = tied.join(first, on=["gold", "lemma"])
    return rows.select(lemma="gold", match="lemma", n_common="n_ij", n_match="n_j")


def matches(table: pl.LazyFrame, gold: pl.LazyFrame, lexicon: pl.LazyFrame) -> pl.LazyFrame:
    """Return the best match of every gold lemma, and the same lemma of the lexicon.

    Parameters
    ----------
    table : LazyFrame
        The overlaps of `gold` and `lexicon`.
    gold, lexicon : LazyFrame
        lemma, form, from `canonical`.

    Returns
    -------
    LazyFrame
        lemma; match (null if the lexicon lacks the lemma and all its forms); n_gold, n_match,
        n_common: forms of both and in common; n_same (null if the lexicon lacks the lemma),
        n_same_common: the same for the lexicon's entry of this lemma. Unordered.
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
    """Return part / whole, 0 if the whole is 0.

    Examples
    --------
    >>> pl.DataFrame({"a": [1, 0], "b": [2, 0]}).select(share("a", "b")).to_series().to_list()
    [0.5, 0.0]
    """
    of = pl.col(whole).cast(pl.Float64)
    return pl.when(of > 0).then(pl.col(part).cast(pl.Float64) / of).otherwise(0.0)


def l_value(common: str, gold: str, other: str) -> pl.Expr:
    """Return ``L = 2 common / (gold + other)``, 0 if both sets are empty.

    In [0, 1]; 1 for equal sets, 0 for disjoint sets.

    Examples
    --------
    >>> missier = pl.DataFrame({"common": [7], "gold": [10], "lexicon": [7]})
    >>> missier.select(l_value("common", "gold", "lexicon")).item() == 14 / 17
    True
    """
    both = (pl.col(gold) + pl.col(other)).cast(pl.Float64)
    return pl.when(both > 0).then(2.0 * pl.col(common).cast(pl.Float64) / both).otherwise(0.0)


Weights: TypeAlias = Literal["gold", "published"]


def lemma_scores(
    table: pl.LazyFrame, *, weights: Weights = "gold", n: int | None = None
) -> pl.LazyFrame:
    """Return precision, recall, L and contribution of each sampled lemma.

    ``r = n_common / n_gold, p = n_common / n_match, L = 2 r p / (r + p)``;
    contribution ``(size / n) L``, and L* is the sum of the contributions.

    Parameters
    ----------
    table : LazyFrame
        The rows of `matches` for the sampled lemmas.
    weights : str
        "gold": size = n_gold, and n is the sum of the sizes. "published": size = n_match, the
        size of the best-matching cluster, and n is the sum of the sizes of the unions of the
        two form sets: this reproduces the paper's worked example.
    n : int, optional
        Replaces the sum.

    Returns
    -------
    LazyFrame
        The columns of `table`, and precision, recall, L, same_precision, same_recall, same_l (null
        if the lexicon lacks the lemma), size, base (contribution to n), weight (size / n, 0 if n is
        0), contribution; unordered.

    References
    ----------
    Dalli, Adaptation of the F-measure to Cluster Based Lexicon Quality Evaluation, section 4.

    Examples
    --------
    >>> missier = pl.LazyFrame({"n_gold": [10], "n_match": [7], "n_common": [7], "n_same": [7],
    ...     "n_same_common": [7]})
    >>> scores = lemma_scores(missier, weights="published", n=5887).collect()
    >>> scores["L"].item() == 14 / 17, round(scores["contribution"].item(), 9)
    (True, 0.000979226)
    """
    size, base = lemma_sizes(weights)
    has = pl.col("n_same").is_not_null()
    scored = table.with_columns(
        precision=share("n_common", "n_match"),
        recall=share("n_common", "n_gold"),
        L=l_value("n_common", "n_gold", "n_match"),
        same_precision=pl.when(has).then(share("n_same_common", "n_same")),
        same_recall=pl.when(has).then(share("n_same_common", "n_gold")),
        same_l=pl.when(has).then(l_value("n_same_common", "n_gold", "n_same")),
        size=size, base=base,
    )  # fmt: skip
    whole = pl.col("base").sum() if n is None else pl.lit(n, pl.Int64)
    weight = pl.when(whole > 0).then(pl.col("size").cast(pl.Float64) / whole.cast(pl.Float64))
    weighted = scored.with_columns(weight=weight.otherwise(0.0))
    return weighted.with_columns(contribution=pl.col("weight") * pl.col("L"))


def lemma_sizes(weights: Weights) -> tuple[pl.Expr, pl.Expr]:
    """Return the weight of the L of a lemma, and its contribution to n.

    Parameters
    ----------
    weights : str
        As for `lemma_scores`.
    """
    if weights == "gold":
        return pl.col("n_gold"), pl.col("n_gold")
    return pl.col("n_match"), pl.col("n_gold") + pl.col("n_match") - pl.col("n_common")


def l_star(size: npt.ArrayLike, values: npt.ArrayLike, n: float) -> float | None:
    """Return ``L* = sum_i size_i L_i / n``, None if n is 0.

    Parameters
    ----------
    size, values : array_like, shape (lemmas,)
        The size and L of each lemma, in a deterministic order, which affects float sums.
    n : float
        Usually the sum of the sizes.

    Examples
    --------
    >>> l_star([10, 4], [0.5, 1.0], 14)
    0.6428571428571429
    """
    weighted = np.asarray(size, dtype=np.float64) * np.asarray(values, dtype=np.float64)
    return float(weighted.sum() / n) if n > 0 else None


# Cluster measures of whole lexicons: F* and entropy


@dataclass(frozen=True)
class Entropy:
    """The entropy of a lexicon, and the parts without entropy.

    Parameters
    ----------
    value : float or None
        E* >= 0 in bits; None if no lemma of the lexicon shares a form with the gold.
    outside : int
        Lexicon lemmas without any gold form, which have no entropy.
    unknown : int
        Distinct forms of the lexicon that are not in the gold.
    """

    value: float | None
    outside: int
    unknown: int


def f_star(table: pl.DataFrame) -> float | None:
    """Return ``F* = sum_i (n_i / n) max_j F(i,j)`` over the whole gold.

    Parameters
    ----------
    table : DataFrame
        The rows of `matches` for every lemma of the gold.

    Returns
    -------
    float or None
        In [0, 1], 1 if every gold lemma has an equal cluster; None if the gold has no forms. Equals
        L* if all gold lemmas are in the lexicon and sampled.

    References
    ----------
    Larsen & Aone, Fast and effective text mining using linear-time document clustering (1999).

    Examples
    --------
    >>> f_star(pl.DataFrame({"lemma": ["a"], "n_gold": [2], "n_match": [1], "n_common": [1]}))
    0.6666666666666666
    """
    ordered = table.sort("lemma").select("n_gold", value=best_values())
    return l_star(ordered["n_gold"], ordered["value"], float(ordered["n_gold"].sum()))


def best_values() -> pl.Expr:
    """Return ``max_j F(i,j)`` of each lemma of `matches`."""
    return l_value("n_common", "n_gold", "n_match")


def entropy(table: pl.DataFrame, gold: pl.LazyFrame, lexicon: pl.LazyFrame) -> Entropy:
    """Return the entropy of the lexicon's clusters over gold lemmas.

    ``E(j) = -sum_i p_ij log2 p_ij, p_ij = n_ij / sum_i n_ij, E* = sum_j (n_j / n) E(j)``

    Parameters
    ----------
    table : DataFrame
        The overlaps of `gold` and `lexicon`.
    gold, lexicon : LazyFrame
        lemma, form, from `canonical`.

    Returns
    -------
    Entropy
        E* is 0 if no cluster mixes gold lemmas. Clusters without gold forms have no entropy: they
        are counted separately, and n is the sum of n_j of the others.

    Notes
    -----
    A form of several gold lemmas counts for each, so the n_ij of a cluster may sum to more than
    n_j: they are divided by their own sum.

    Examples
    --------
    >>> gold = pl.LazyFrame({"lemma": ["a", "b"], "form": ["x", "y"]})
    >>> lexicon = pl.LazyFrame({"lemma": ["c", "c", "d"], "form": ["x", "y", "z"]})
    >>> rows = {"gold": ["a", "b"], "lemma": ["c", "c"], "n_ij": [1, 1], "n_j": [2, 2]}
    >>> entropy(pl.DataFrame(rows), gold, lexicon)
    Entropy(value=1.0, outside=1, unknown=1)
    """
    forms = lexicon.select("form").drop_nulls()
    strange = forms.join(gold.select("form"), on="form", how="anti")
    unknown = strange.select(pl.col("form").n_unique())
    lemmas = lexicon.select(pl.col("lemma").n_unique())
    unknown_forms, all_lemmas = (each.item() for each in pl.collect_all([unknown, lemmas]))
    return entropy_of([clusters(table)], lemmas=all_lemmas, unknown=unknown_forms)


def clusters(table: pl.DataFrame) -> tuple[IntArray, FloatArray]:
    """Return the forms of each cluster that shares some with the gold, and its entropy in bits.

    Parameters
    ----------
    table : DataFrame
        lemma, n_ij, n_j: overlaps, all of the lemmas that it names.
    """
    # Names need no order: what is added up is put in order of its own size, so that equal
    # tables give equal sums.
    ordered = table.select("lemma", "n_ij", "n_j").sort("lemma", "n_ij")
    cluster, n_ij, n_j = (
        each.to_numpy().astype(np.int64)
        for each in (ordered["lemma"].rle_id(), ordered["n_ij"], ordered["n_j"])
    )
    first = np.flatnonzero(np.diff(cluster, prepend=-1))
    if not first.size:
        return np.zeros(0, dtype=np.int64), np.zeros(0)
    return n_j[first], _entropies(n_ij.astype(np.float64), first)


def entropy_of(
    parts: Sequence[tuple[IntArray, FloatArray]], *, lemmas: int, unknown: int
) -> Entropy:
    """Return the entropy of a lexicon from its `clusters`, all or some at a time.

    Parameters
    ----------
    parts : sequence of pairs of arrays
        In any order.
    lemmas, unknown : int
        Lemmas of the lexicon, and distinct forms of it that the gold has not.
    """
    sizes, bits = (np.concatenate(each) for each in zip(*parts, strict=True))
    if not sizes.size:
        return Entropy(None, lemmas, unknown)
    weighted = np.sort(sizes * bits)
    return Entropy(float(weighted.sum() / sizes.sum()), lemmas - len(sizes), unknown)


def _entropies(n_ij: FloatArray, first: IntArray) -> FloatArray:
    """Return the entropy of each run of rows that begins at a place of `first`."""
    sums = np.add.reduceat(n_ij, first)
    p = n_ij / np.repeat(sums, np.diff(np.append(first, len(n_ij))))
    # + 0.0 makes the -0.0 of a pure cluster 0.
    return np.asarray(-np.add.reduceat(p * np.log2(p), first) + 0.0)


# Best matches of a large gold, range by range


@dataclass
class MatchTotals:
    """What all ranges of lemmas add up to; of each lemma of the gold two numbers are held."""

    gold_lemmas: int = 0
    gold_forms: int = 0
    lexicon_lemmas: int = 0
    lexicon_forms: int = 0
    common: int = 0
    bases: int = 0
    parts: list[pl.DataFrame] = field(default_factory=list)
    sizes: list[IntArray] = field(default_factory=list)
    values: list[FloatArray] = field(default_factory=list)

    @property
    def both(self) -> Both:
        """The lemmas that both have, with the matches of those that are evaluated."""
        return Both(pl.concat(self.parts), self.common, self.bases)

    @property
    def f_star(self) -> float | None:
        """F*, see `f_star`."""
        n, values = (np.concatenate(each) for each in (self.sizes, self.values))
        return l_star(n, values, float(self.gold_forms))


def match_lemmas(
    table: pl.LazyFrame,
    gold: pl.LazyFrame,
    lexicon: pl.LazyFrame,
    *,
    ranges: Ranges,
    sample: pl.DataFrame | None,
    weights: Weights,
) -> MatchTotals:
    """Return the matches of the lemmas that both have, or of those of a sample.

    Parameters
    ----------
    table, gold, lexicon : LazyFrame
        As for `matches`.
    ranges : Ranges
        Of the gold's lemmas.
    sample : DataFrame, optional
        Column lemma.
    weights : str
        As for `l_measure.lemma_scores`.
    """
    totals = MatchTotals()
    for number in range(len(ranges)):
        pairs = ranges.of(table, number, by="gold")
        mine, other = (ranges.of(each, number, by="lemma") for each in (gold, lexicon))
        every = matches(pairs, mine, other).sort("lemma").collect()
        counts = other.select(pl.col("lemma").n_unique(), pl.col("form").count()).collect()
        _add_matches(totals, every, weights)
        totals.lexicon_lemmas += counts.item(0, "lemma")
        totals.lexicon_forms += counts.item(0, "form")
        rows = every.drop_nulls("n_same")
        if sample is not None:
            rows = rows.join(sample, on="lemma", how="semi", maintain_order="left")
        totals.parts.append(rows)
    return totals


def _add_matches(totals: MatchTotals, every: pl.DataFrame, weights: Weights) -> None:
    """Add the matches of a range of lemmas, in their order."""
    common = every.drop_nulls("n_same")
    totals.gold_lemmas += every.height
    totals.gold_forms += int(every["n_gold"].sum())
    totals.common += common.height
    totals.bases += int(common.select(lemma_sizes(weights)[1].sum()).item())
    totals.sizes.append(every["n_gold"].to_numpy())
    totals.values.append(every.select(best_values()).to_series().to_numpy())


# Best one-to-one assignment of lemmas


def best_match_f(table: pl.DataFrame, *, gold_forms: int, lexicon_forms: int) -> float | None:
    """Return ``2 sum n_ij / (sum_i n_i + sum_j n_j)`` over the assignment with most in common.

    Parameters
    ----------
    table : DataFrame
        gold, lemma, n_ij.
    gold_forms, lexicon_forms : int
        The sums of n_i and n_j over all lemmas, matched or not.

    Returns
    -------
    float or None
        In [0, 1]; 1 if the two are the same partition up to the names of lemmas. Unlike L*, it
        falls with every cluster too many. None if neither has forms.

    Examples
    --------
    >>> rows = {"gold": ["a", "a", "b"], "lemma": ["x", "y", "x"], "n_ij": [2, 1, 2]}
    >>> best_match_f(pl.DataFrame(rows), gold_forms=5, lexicon_forms=5)
    0.6
    """
    both = gold_forms + lexicon_forms
    if not both:
        return None
    i, j = (name_codes(table[name]).to_numpy().astype(np.int64) for name in ("gold", "lemma"))
    n = table["n_ij"].to_numpy().astype(np.int64)
    return 2.0 * int(n[assign_pairs(i, j, n)].sum()) / both


def name_codes(names: pl.Series) -> pl.Series:
    """Return a number for each name, the same for equal names, in no order of theirs.

    Examples
    --------
    >>> name_codes(pl.Series(["b", "a", "b"])).n_unique()
    2
    """
    return names.cast(pl.Categorical).to_physical()


def assign_pairs(i: IntArray, j: IntArray, n: IntArray) -> IntArray:
    """Return the rows of a best assignment, in order.

    Parameters
    ----------
    i, j, n : array of int, shape (pairs,)
        Numbers of the two lemmas, and the forms that they share.
    """
    parts: list[IntArray] = []
    rows = np.arange(len(n))
    while rows.size:
        sure = rows[_certain_pairs(i[rows], j[rows], n[rows])]
        if not sure.size:
            parts.append(rows[match_most(i[rows], j[rows], n[rows])])
            break
        parts.append(sure)
        rows = rows[~(np.isin(i[rows], i[sure]) | np.isin(j[rows], j[sure]))]
    return np.sort(np.concatenate([np.zeros(0, dtype=np.int64), *parts]))


def _certain_pairs(i: IntArray, j: IntArray, n: IntArray) -> IntArray:
    """Return the pairs that some best assignment holds, no two with a lemma in common."""
    sure = np.flatnonzero(n >= greatest_of_others(i, n) + greatest_of_others(j, n))
    # Equal pairs may compete for a lemma: the first in order of rows is taken.
    keep: IntArray = np.arange(len(sure))
    for side in (i, j):
        _, first = np.unique(side[sure][keep], return_index=True)
        keep = keep[np.sort(first)]
    return np.asarray(sure[keep], dtype=np.int64)


def greatest_of_others(side: IntArray, n: IntArray) -> IntArray:
    """Return for each pair the greatest n among the other pairs of its lemma, 0 if none."""
    order = np.lexsort((-n, side))
    begins = np.flatnonzero(np.diff(side[order], prepend=-1))
    lengths = np.diff(np.append(begins, len(n)))
    second = np.where(lengths > 1, n[order][np.minimum(begins + 1, len(n) - 1)], 0)
    others = np.repeat(n[order][begins], lengths)
    others[begins] = second
    greatest = np.empty_like(n)
    greatest[order] = others
    return greatest


# Overlaps of large lexicons: partitioned by form, then by lemma

_SIDE = {"form": pl.String, "n": pl.Int64}
_PAIRS = {"gold": pl.String, "lemma": pl.String, "n_ij": pl.Int64, "n_i": pl.Int64, "n_j": pl.Int64}


def overlaps_in_parts(gold: pl.LazyFrame, lexicon: pl.LazyFrame) -> Iterator[pl.DataFrame]:
    """Yield what `lexicon_overlaps` returns, in ranges of the gold's lemmas, in order.

    Each form goes, with its lemma and the size of the lemma, into a bucket by a hash of the form;
    what the lemmas of a bucket share goes into ranges of the gold's lemma, where it is added up.

    Parameters
    ----------
    gold, lexicon : LazyFrame
        lemma, form, as `wordlists.canonical` gives them.

    Examples
    --------
    >>> gold = pl.LazyFrame({"lemma": ["ra", "ra"], "form": ["ra", "rajt"]})
    >>> lexicon = pl.LazyFrame({"lemma": ["ra"], "form": ["rajt"]})
    >>> [each.rows() for each in overlaps_in_parts(gold, lexicon)]
    [[('ra', 'ra', 1, 2, 1)]]
    """
    ranges = ranges_of("lemma", gold)
    buckets = buckets_for(count_rows(gold, lexicon))
    with spill_of(len(ranges), pl.Schema(_PAIRS)) as pairs:
        with (
            _split_by_form(gold, "gold", buckets) as left,
            _split_by_form(lexicon, "lemma", buckets) as right,
        ):
            for one, two in zip(left, right, strict=True):
                for counts in _count_shared(one, two):
                    pairs.add(counts, ranges.number("gold"))
        for each in pairs:
            # Where forms are shared by many lemmas, there are far more pairs than forms.
            for part in parts_of(each, by="gold"):
                yield _sum_pairs(part).sort("gold", "lemma").collect()


def _split_by_form(table: pl.LazyFrame, name: str, buckets: int) -> Spill:
    """Divide the forms of a lexicon by a hash, each beside its lemma and the size of the lemma."""
    spill = spill_of(buckets, pl.Schema({name: pl.String, **_SIDE}))
    ranges, size = ranges_of("lemma", table), pl.len().over("lemma").cast(pl.Int64)
    for number in range(len(ranges)):
        forms = ranges.of(table, number, by="lemma").select("lemma", "form").drop_nulls()
        rows = forms.with_columns(n=size).rename({"lemma": name}).collect()
        spill.add(rows, bucket_of("form", buckets))
    return spill


def _count_shared(gold: pl.LazyFrame, lexicon: pl.LazyFrame) -> Iterator[pl.DataFrame]:
    """Yield pairs of lemmas with the forms of a bucket that they share, some forms at a time."""
    right = lexicon.rename({"n": "n_j"}).collect()
    times = right.group_by("form").agg(times=pl.len().cast(pl.Int64))
    left = gold.rename({"n": "n_i"}).join(times.lazy(), on="form").collect()
    numbered = left.with_columns((pl.col("times").cum_sum() // most_rows()).alias("~part"))
    for part in numbered.drop("times").partition_by("~part", include_key=False):
        joined = part.lazy().join(right.lazy(), on="form")
        yield _sum_pairs(joined.with_columns(n_ij=pl.lit(1, pl.Int64))).collect()


def _sum_pairs(pairs: pl.LazyFrame) -> pl.LazyFrame:
    sizes = (pl.col(name).first() for name in ("n_i", "n_j"))
    return pairs.group_by("gold", "lemma").agg(pl.col("n_ij").sum(), *sizes)


# Cluster measures of large lexicons: only integers are held in memory

Numbers: TypeAlias = npt.NDArray[np.int32]


def entropy_in_parts(
    table: pl.LazyFrame, gold: pl.LazyFrame, lexicon: pl.LazyFrame, *, lemmas: int
) -> Entropy:
    """Return what `entropy` does, in parts.

    Parameters
    ----------
    table : LazyFrame
        The overlaps of `gold` and `lexicon`.
    gold, lexicon : LazyFrame
        lemma, form, from `canonical`.
    lemmas : int
        Lemmas of the lexicon.
    """
    buckets = buckets_for(count_rows(table))
    with _split_by_hash(table.select("lemma", "n_ij", "n_j"), "lemma", buckets) as parts:
        groups = [clusters(part.collect()) for part in parts]
    return entropy_of(groups, lemmas=lemmas, unknown=_count_unknown(gold, lexicon))


def _count_unknown(gold: pl.LazyFrame, lexicon: pl.LazyFrame) -> int:
    """Return how many distinct forms of the lexicon are not in the gold."""
    forms = [each.select("form").drop_nulls() for each in (gold, lexicon)]
    buckets, unknown = buckets_for(count_rows(*forms)), 0
    known, others = (_split_by_hash(each, "form", buckets) for each in forms)
    with known, others:
        for one, two in zip(known, others, strict=True):
            strange = two.join(one, on="form", how="anti")
            unknown += int(strange.select(pl.col("form").n_unique()).collect().item())
    return unknown


def _split_by_hash(table: pl.LazyFrame, column: str, buckets: int) -> Spill:
    """Divide a table by a hash of a column."""
    spill = spill_of(buckets, table.collect_schema())
    for batch in batches(table):
        spill.add(batch, bucket_of(column, buckets))
    return spill


class Pairs(NamedTuple):
    """Pairs of lemmas, as numbers of them; arrays of shape (pairs,)."""

    i: Numbers
    j: Numbers
    n: Numbers
    """Forms in common."""
    sure: BoolArray
    """Whether some best assignment holds the pair, and no other such pair of its lemma j."""


def best_match_in_parts(
    table: pl.LazyFrame, *, gold_forms: int, lexicon_forms: int
) -> float | None:
    """Return what `best_match_f` does, in parts.

    Parameters
    ----------
    table : LazyFrame
        gold, lemma, n_ij.
    gold_forms, lexicon_forms : int
        The sums of n_i and n_j over all lemmas, matched or not.

    Examples
    --------
    >>> rows = {"gold": ["a", "a", "b"], "lemma": ["x", "y", "x"], "n_ij": [2, 1, 2]}
    >>> best_match_in_parts(pl.LazyFrame(rows), gold_forms=5, lexicon_forms=5)
    0.6
    """
    both = gold_forms + lexicon_forms
    return 2.0 * _assignment_total(_number_pairs(table)) / both if both else None


def _assignment_total(pairs: Pairs) -> int:
    """Return the sum of n over a best assignment: first the sure pairs, then what they leave."""
    i, j, n = pairs.i, pairs.j, pairs.n
    sure = np.flatnonzero(pairs.sure)
    rows = sure[np.unique(i[sure], return_index=True)[1]]
    free = np.ones(len(n), dtype=bool)
    for side in (i, j):
        is_used = np.zeros(int(side.max(initial=-1)) + 1, dtype=bool)
        is_used[side[rows]] = True
        free &= ~is_used[side]
    rest = np.flatnonzero(free)
    parts = [each[rest].astype(np.int64) for each in (i, j, n)]
    return int(n[rows].sum(dtype=np.int64)) + int(parts[2][assign_pairs(*parts)].sum())


def _number_pairs(table: pl.LazyFrame) -> Pairs:
    """Return all pairs: those of each lemma of the gold together, then of each other lemma."""
    schema = {"lemma": pl.String, "i": pl.Int64, "n": pl.Int64, "other": pl.Int64}
    buckets, before = buckets_for(count_rows(table)), 0
    ranges, parts = ranges_of("gold", table), []
    with spill_of(buckets, pl.Schema(schema)) as by_lemma:
        for number in range(len(ranges)):
            part = ranges.of(table, number, by="gold")
            rows = part.select("gold", "lemma", "n_ij").sort("gold").collect()
            i, n = _side_numbers(rows, "gold", "n_ij", before)
            frame = rows.select(
                "lemma", i=pl.Series(i), n=pl.Series(n), other=greatest_of_others(i, n)
            )
            by_lemma.add(frame, bucket_of("lemma", buckets))
            before = int(i.max(initial=before - 1)) + 1
        before = 0
        for each in by_lemma:
            rows = each.sort("lemma").collect()
            j, n = _side_numbers(rows, "lemma", "n", before)
            parts.append(_mark_sure(rows["i"].to_numpy(), j, n, rows["other"].to_numpy()))
            before = int(j.max(initial=before - 1)) + 1
    return Pairs(*(np.concatenate(each) for each in zip(*parts, strict=True)))


def _side_numbers(rows: pl.DataFrame, side: str, n: str, before: int) -> tuple[IntArray, IntArray]:
    """Return a number for each lemma of a side, from `before`, and n; the rows are in order."""
    number = rows[side].rle_id().to_numpy().astype(np.int64) + before
    return number, rows[n].to_numpy().astype(np.int64)


def _mark_sure(i: IntArray, j: IntArray, n: IntArray, others: IntArray) -> Pairs:
    """Return the pairs of all lemmas j of a bucket, at most one of them sure for each j.

    A pair whose n is at least the greatest other n of both its lemmas together stands in some
    best assignment, see `_certain_pairs`.
    """
    good = np.flatnonzero(n >= others + greatest_of_others(j, n))
    sure = np.zeros(len(n), dtype=bool)
    sure[good[np.unique(j[good], return_index=True)[1]]] = True
    return Pairs(i.astype(np.int32), j.astype(np.int32), n.astype(np.int32), sure)
