"""Word sense induction: measures of the instances of each word, averaged over words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import polars as pl

from pipeline.errors import DataError
from pipeline.kernels.clustering.encoding import WEIGHT, check_labels
from pipeline.kernels.clustering.measure import OVERLAPPING_MEASURES, TOKEN_MEASURES
from pipeline.kernels.clustering.overlapping.measures import harmonic_mean, overlapping_scores
from pipeline.kernels.clustering.token.measures import token_scores
from pipeline.kernels.numeric import FloatArray, IntArray, check_bootstrap, summary
from pipeline.kernels.sampling import seeded_generator
from schemas.errors import count_text

FUZZY = ("fuzzy_bcubed_precision", "fuzzy_bcubed_recall", "fuzzy_bcubed_f", "fuzzy_nmi")
"""Default measures, those of SemEval-2013 task 13."""
SINGLE = ("bcubed_precision", "bcubed_recall", "bcubed_f")
SINGLE_TOKENS = ("v", "pair_f", "pair_precision", "pair_recall")
"""Measures of one sense per instance, as in SemEval-2010 task 14."""
OF_MEANS: Mapping[str, tuple[str, str]] = MappingProxyType({"fuzzy_bcubed_f": FUZZY[:2]})
"""F scores that are those of the mean precision and recall, as in the task."""
ALONE = "(none)"
"""Name of the cluster of instances without one."""
TIES = ("instances with several heaviest gold senses", "instances with several heaviest clusters")
WhichSenses: TypeAlias = Literal["all", "heaviest"]


class SenseTables(NamedTuple):
    """Scores of induced senses.

    Parameters
    ----------
    scores : pl.DataFrame
        measure, value (mean over words), weighted (by instances), lower, upper, standard_error,
        undefined, n_words.
    words : pl.DataFrame
        by, measure, value, instances.
    sizes : pl.DataFrame
        what, count: words and instances, and those that a side lacks.
    """

    scores: pl.DataFrame
    words: pl.DataFrame
    sizes: pl.DataFrame


def sense_scores(
    gold: pl.DataFrame,
    induced: pl.DataFrame,
    *,
    measures: Sequence[str] = FUZZY,
    token_measures: Sequence[str] = (),
    senses: WhichSenses = "all",
    without_cluster: Literal["drop", "cluster"] = "drop",
    replicates: int = 0,
    confidence: float = 0.95,
    seed: str = "",
) -> SenseTables:
    """Compare the instances of each word, and average the scores over words.

    Parameters
    ----------
    gold, induced : pl.DataFrame
        String columns by (the word), item (the instance) and gold or cluster, and optionally
        `WEIGHT`; a row per sense. Instances without a gold sense only count as others in fuzzy
        measures; words without gold senses do not count.
    measures : sequence of str
        Names or aliases in `OVERLAPPING_MEASURES`.
    token_measures : sequence of str
        Names or aliases in `TOKEN_MEASURES`; instances are tokens with one sense.
    senses : str
        "all", or "heaviest": the sense with the largest weight of each instance, the first by name
        of equal weights.
    without_cluster : str
        For token measures: exclude instances without a cluster ("drop"), or treat those of a word
        as one cluster ("cluster"). Overlapping measures count them as items without a cluster.
    replicates : int
        Number of bootstrap samples of words, for limits; 0 for none.
    confidence : float
        Confidence level in (0, 1).
    seed : str
        Fixes the samples.

    Returns
    -------
    SenseTables
        Means over the words that have a value. The F of fuzzy B-Cubed is that of the mean precision
        and recall, as in the task.

    Raises
    ------
    ValueError
        If an option is out of range.
    DataError
        For missing labels, instances of two words, weights that a measure does not use, and, with
        token measures, instances with several senses.

    References
    ----------
    Manandhar et al., SemEval-2010 task 14 (2010); Jurgens & Klapaftis, SemEval-2013 task 13 (2013).

    Examples
    --------
    >>> gold = {"by": list("aabb"), "item": list("wxyz"), "gold": list("sstu")}
    >>> induced = {"by": list("aabb"), "item": list("wxyz"), "cluster": list("1211")}
    >>> gold, induced = pl.DataFrame(gold), pl.DataFrame(induced)
    >>> found = sense_scores(gold, induced, measures=["bcubed_f"], token_measures=["v"])
    >>> found.scores.select("measure", pl.col("value").round(4), "n_words").rows()
    [('bcubed_f', 0.6667, 2), ('v', 0.0, 2)]
    """
    if replicates:
        check_bootstrap(confidence=confidence, replicates=replicates)
    overlapping = OVERLAPPING_MEASURES.resolve(measures)
    by_tokens = TOKEN_MEASURES.resolve(token_measures)
    _check_words(gold, induced)
    sizes = _sizes(gold, induced)
    if senses == "heaviest":
        ties = [_ties(table, label) for table, label in ((gold, "gold"), (induced, "cluster"))]
        sizes |= dict(zip(TIES, ties, strict=True))
        gold, induced = heaviest_senses(gold, "gold"), heaviest_senses(induced, "cluster")
    elif by_tokens:
        _require_one_sense(gold, "gold")
        _require_one_sense(induced, "cluster")
    parts = {part for name in overlapping for part in OF_MEANS.get(name, ())}
    computed = [*overlapping, *sorted(parts - {*overlapping})]
    words = list(_words(gold, induced))
    rows = [
        overlapping_scores(word.gold, word.induced, measures=computed, seed=seed)["value"].to_list()
        + _token_values(word, by_tokens, without_cluster)
        for word in words
    ]
    names = [*computed, *by_tokens]
    values = np.array(rows, dtype=np.float64).reshape(len(words), len(names))
    instances = np.array([word.gold["item"].n_unique() for word in words], dtype=np.int64)
    found = dict(zip(names, values.T, strict=True))
    drawn = _draw_words(len(words), replicates, seed)
    scores = [
        (
            name,
            _mean(name, found, np.ones((1, len(words))))[0],
            _mean(name, found, instances[None, :])[0],
            *(summary(_mean(name, found, drawn), confidence=confidence) if replicates else _NONE),
            int((~np.isnan(found[name])).sum()),
        )
        for name in (*overlapping, *by_tokens)
    ]
    own = pl.DataFrame({"by": [word.by for word in words], "instances": instances})
    by_word = [
        own.select("by", measure=pl.lit(name), value=pl.Series(found[name]), instances="instances")
        for name in (*overlapping, *by_tokens)
    ]
    return SenseTables(
        pl.DataFrame(scores, schema=_SCORES, orient="row").fill_nan(None),
        pl.concat([pl.DataFrame(schema=_WORDS), *by_word]).fill_nan(None),
        pl.DataFrame({"what": list(sizes), "count": list(sizes.values())}),
    )


_NONE = (None, None, None, 0)
_WORDS = {"by": pl.String, "measure": pl.String, "value": pl.Float64, "instances": pl.Int64}
_SCORES = {
    "measure": pl.String,
    **dict.fromkeys(("value", "weighted", "lower", "upper", "standard_error"), pl.Float64),
    **dict.fromkeys(("undefined", "n_words"), pl.Int64),
}


class _Word(NamedTuple):
    """The senses of the instances of a word: item and gold, item and cluster, weight."""

    by: str
    gold: pl.DataFrame
    induced: pl.DataFrame


def _words(gold: pl.DataFrame, induced: pl.DataFrame) -> Iterator[_Word]:
    own = induced.partition_by("by", as_dict=True, include_key=False)
    none = induced.drop("by").clear()
    for key, rows in sorted(gold.partition_by("by", as_dict=True, include_key=False).items()):
        yield _Word(str(key[0]), rows, own.get(key, none))


def _token_values(word: _Word, names: Sequence[str], without_cluster: str) -> list[float | None]:
    if not names:
        return []
    tokens = word.gold.select("item", "gold").join(
        word.induced.select("item", "cluster"), on="item", how="left"
    )
    cluster = pl.col("cluster")
    cells = tokens.with_columns(
        cluster.fill_null(ALONE) if without_cluster == "cluster" else cluster
    ).drop_nulls("cluster")
    counts = cells.group_by("gold", "cluster").agg(f=pl.len().cast(pl.Int64))
    return token_scores(counts, measures=names)["value"].to_list()


# Averages over words


def _mean(
    name: str, values: Mapping[str, FloatArray], weights: FloatArray | IntArray
) -> FloatArray:
    """Return a mean over the words that have a value, for each row of weights; NaN without any."""
    if name in OF_MEANS:
        parts = (_mean(part, values, weights) for part in OF_MEANS[name])
        return np.array([harmonic_mean(*both) for both in zip(*parts, strict=True)])
    own = values[name]
    held = weights * ~np.isnan(own)
    whole = held.sum(axis=1).astype(np.float64)
    sums = (held * np.nan_to_num(own)).sum(axis=1)
    mean = np.full(len(held), np.nan)
    np.divide(sums, whole, out=mean, where=whole > 0)
    return mean


def _draw_words(words: int, replicates: int, seed: str) -> IntArray:
    """Return how often each word is drawn, shape (replicates, words)."""
    bits = seeded_generator(seed=seed, purpose="words")
    draws = [bits.integers(words, size=words) for _ in range(replicates if words else 0)]
    rows = [np.bincount(draw, minlength=words) for draw in draws]
    return np.array(rows, dtype=np.int64).reshape(len(rows), words)


# Words, instances and their senses


def _check_words(gold: pl.DataFrame, induced: pl.DataFrame) -> None:
    """Reject missing labels, and instances of several words."""
    for table, label in ((gold, "gold"), (induced, "cluster")):
        check_labels(table, ["by", "item", label])
    both = pl.concat([gold.select("item", "by"), induced.select("item", "by")]).unique()
    several = both.filter(pl.len().over("item") > 1).sort("item", "by")
    if several.height:
        item, words = several["item"][0], several.filter(item=several["item"][0])["by"].to_list()
        raise DataError(
            f"{count_text(several['item'].n_unique(), 'instance')} of several words, for example "
            f"{item!r} of {', '.join(words[:3])}; use a name for one instance only"
        )


def _sizes(gold: pl.DataFrame, induced: pl.DataFrame) -> dict[str, int]:
    own, other = gold.select("by", "item").unique(), induced.select("by", "item").unique()
    return {
        "words": own["by"].n_unique(),
        "words without an instance in a cluster": own["by"].n_unique()
        - own.join(other, on="by", how="semi")["by"].n_unique(),
        "instances": own.height,
        "instances without a cluster": own.join(other, on="item", how="anti").height,
        "instances without a gold sense": other.join(own, on="item", how="anti").height,
    }


def heaviest_senses(table: pl.DataFrame, label: str) -> pl.DataFrame:
    """Return the sense with the largest weight of each instance, the first by name of equal ones.

    Parameters
    ----------
    table : pl.DataFrame
        item, the label, and optionally `WEIGHT` (null is no weight), which the result omits.
    label : str
        "gold" or "cluster".

    Examples
    --------
    >>> senses = {"item": ["i", "i", "j", "j"], "gold": ["s", "t", "u", "t"]}
    >>> heaviest_senses(pl.DataFrame(senses | {"weight": [1, 4, 2, 2]}), "gold").rows()
    [('i', 't'), ('j', 't')]
    """
    ordered = _by_weight(table).sort("item", WEIGHT, label, descending=[False, True, False])
    return ordered.unique("item", keep="first", maintain_order=True).drop(WEIGHT)


def _ties(table: pl.DataFrame, label: str) -> int:
    """Count the instances with several heaviest senses."""
    most = _by_weight(table).filter(pl.col(WEIGHT) == pl.max(WEIGHT).over("item"))
    held = most.group_by("item").agg(pl.col(label).n_unique())
    return held.filter(pl.col(label) > 1).height


def _by_weight(table: pl.DataFrame) -> pl.DataFrame:
    weight = pl.col(WEIGHT) if WEIGHT in table.columns else pl.lit(None, pl.Float64)
    return table.with_columns(weight.cast(pl.Float64).fill_null(1.0).alias(WEIGHT))


def _require_one_sense(table: pl.DataFrame, label: str) -> None:
    """Reject instances with several senses, for token measures."""
    held = (
        table.group_by("item")
        .agg(pl.col(label).unique().sort())
        .filter(pl.col(label).list.len() > 1)
    )
    if held.height:
        item, senses = held.sort("item").row(0)
        raise DataError(
            f"{label}: {count_text(held.height, 'instance')} with several senses, for example "
            f"{item!r}: {', '.join(senses[:3])}; token measures use one sense per instance: set "
            'senses = "heaviest", or omit them'
        )
