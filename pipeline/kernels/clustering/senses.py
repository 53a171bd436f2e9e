"""Word sense induction: measures of the instances of each word, averaged over words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import polars as pl
import scipy

from pipeline.errors import DataError
from pipeline.kernels.clustering.encoding import WEIGHT, Sparse, check_labels, refuse_weights
from pipeline.kernels.clustering.measure import (
    OVERLAPPING_MEASURES,
    TOKEN_MEASURES,
    ClusterMeasure,
)
from pipeline.kernels.clustering.overlapping.measures import harmonic_mean, without_weights
from pipeline.kernels.clustering.overlapping.memberships import (
    Degrees,
    Memberships,
    count_patterns,
    patterns,
    relative_weights,
)
from pipeline.kernels.clustering.token.contingency import Contingency
from pipeline.kernels.numeric import FloatArray, IntArray, check_bootstrap, codes, summary
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
WithoutCluster: TypeAlias = Literal["zero", "drop", "cluster"]
"""What measures without weights do about instances without a cluster."""


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
    without_cluster: WithoutCluster = "zero",
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
        For measures that use no weights: instances without a cluster score 0, so that a word has
        the score of its other instances times their share ("zero"); they are excluded ("drop"); or
        those of a word form one cluster ("cluster"). Fuzzy measures count them in any case. See
        Notes.
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

    Notes
    -----
    With "zero" no score is above the share of instances that have a cluster; words without any
    score 0, as do undefined values of words that lack some. SemEval-2010 required an answer for
    each instance and has no rule. One cluster would raise pair recall, and clusters of single
    instances would raise V. Of measures where less is better, 0 would be a reward: "zero" then is
    "cluster".

    References
    ----------
    Manandhar et al., SemEval-2010 task 14 (2010); Jurgens & Klapaftis, SemEval-2013 task 13 (2013).

    Examples
    --------
    >>> gold = {"by": list("aabb"), "item": list("wxyz"), "gold": list("sstu")}
    >>> induced = {"by": list("aabb"), "item": list("wxyz"), "cluster": list("1211")}
    >>> gold, induced = pl.DataFrame(gold), pl.DataFrame(induced)
    >>> tables = sense_scores(gold, induced, measures=["bcubed_f"], token_measures=["v"])
    >>> tables.scores.select("measure", pl.col("value").round(4), "n_words").rows()
    [('bcubed_f', 0.6667, 2), ('v', 0.0, 2)]
    """
    if replicates:
        check_bootstrap(confidence=confidence, replicates=replicates)
    overlapping = OVERLAPPING_MEASURES.resolve(measures)
    by_tokens = TOKEN_MEASURES.resolve(token_measures)
    _check_words(gold, induced)
    sizes = _sizes(gold, induced)
    for table, label in ((gold, "gold"), (induced, "cluster")):
        if WEIGHT in table.columns:
            relative_weights(table, label)
        if senses == "all" and (why := without_weights(overlapping)):
            refuse_weights(table, label, why)
    if senses == "heaviest":
        ties = [_ties(table, label) for table, label in ((gold, "gold"), (induced, "cluster"))]
        sizes |= dict(zip(TIES, ties, strict=True))
        gold, induced = heaviest_senses(gold, "gold"), heaviest_senses(induced, "cluster")
    elif by_tokens:
        _require_one_sense(gold, "gold")
        _require_one_sense(induced, "cluster")
    parts = {part for name in overlapping for part in OF_MEANS.get(name, ())}
    computed = [*overlapping, *sorted(parts - {*overlapping})]
    own = gold.group_by("by").agg(instances=pl.col("item").n_unique().cast(pl.Int64)).sort("by")
    words, instances = own["by"], own["instances"].to_numpy()
    values = dict(_word_scores(gold, induced, [*computed, *by_tokens], without_cluster, seed))
    drawn = _draw_words(len(words), replicates, seed)
    scores = [
        (
            name,
            _mean(name, values, np.ones((1, len(words))))[0],
            _mean(name, values, instances[None, :])[0],
            *(summary(_mean(name, values, drawn), confidence=confidence) if replicates else _NONE),
            int((~np.isnan(values[name])).sum()),
        )
        for name in (*overlapping, *by_tokens)
    ]
    by_word = [
        own.select("by", measure=pl.lit(name), value=pl.Series(values[name]), instances="instances")
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


# Scores of each word


def _word_scores(
    gold: pl.DataFrame, induced: pl.DataFrame, names: Sequence[str], fate: WithoutCluster, seed: str
) -> Iterator[tuple[str, FloatArray]]:
    """Yield measures with their values by word, sorted; NaN where undefined."""
    instances = gold.select("by", "item").unique()
    lacking = instances.join(induced, on="item", how="anti")
    with_cluster = gold.join(lacking, on="item", how="anti") if lacking.height else gold
    one_cluster = lacking.with_columns(cluster=pl.lit(ALONE))
    tables = {
        "fuzzy": (gold, induced),
        "zero": (with_cluster, induced),
        "drop": (with_cluster, induced),
        "cluster": (gold, pl.concat([induced, one_cluster], how="diagonal")),
    }
    several: dict[str, list[ClusterMeasure[Any]]] = {}
    for name in names:
        registry = OVERLAPPING_MEASURES if name in OVERLAPPING_MEASURES else TOKEN_MEASURES
        measure = registry.get(name)
        own: str = "cluster" if fate == "zero" and measure.better == "lower" else fate
        several.setdefault("fuzzy" if measure.weights else own, []).append(measure)
    sizes = dict(instances.group_by("by").len().sort("by").iter_rows())
    places = {word: place for place, word in enumerate(sizes)}
    for own, those in several.items():
        values = np.full((len(places), len(those)), 0.0 if own == "zero" else np.nan)
        for word in _words(*tables[own]):
            scores = np.array(_scores(word, those, seed))
            share = word.own / sizes[word.by]
            if own == "zero" and share < 1.0:
                scores = np.nan_to_num(scores) * share
            values[places[word.by]] = scores
        yield from zip((measure.name for measure in those), values.T, strict=True)


class _Side(NamedTuple):
    """The senses of a word's instances: numbers of instances and senses in order, and degrees."""

    items: IntArray
    codes: IntArray
    names: Sequence[str]
    degrees: FloatArray


class _Word(NamedTuple):
    """A word: its instances with a gold sense, which come first, and all instances."""

    by: str
    own: int
    items: int
    gold: _Side
    induced: _Side


def _words(gold: pl.DataFrame, induced: pl.DataFrame) -> Iterator[_Word]:
    """Yield the words with gold senses; numbers of all words are made at once, for speed."""
    own = gold.select("by", "item", other=pl.lit(0)).unique()
    others = induced.join(own, on="item", how="anti").join(own, on="by", how="semi")
    items = pl.concat([own, others.select("by", "item", other=pl.lit(1)).unique()]).sort(
        "by", "other", "item"
    )
    items = items.with_columns(
        word=pl.col("by").rle_id().cast(pl.Int64),
        place=pl.int_range(pl.len(), dtype=pl.Int64).over("by"),
    )
    sizes = items.group_by("by").agg(own=(pl.col("other") == 0).sum(), items=pl.len()).sort("by")
    items, many = items.select("item", "word", "place"), sizes.height
    sides = _sides(gold, "gold", items, many), _sides(induced, "cluster", items, many)
    for (by, inside, every), first, second in zip(sizes.iter_rows(), *sides, strict=True):
        yield _Word(by, inside, every, first, second)


def _sides(table: pl.DataFrame, label: str, items: pl.DataFrame, words: int) -> Iterator[_Side]:
    """Yield one side of each word."""
    weighed = WEIGHT in table.columns
    degrees = relative_weights(table, label) if weighed else table.select("item", label)
    rows = degrees.join(items, on="item")
    code, names = codes(rows[label])
    word, place = rows["word"].to_numpy(), rows["place"].to_numpy()
    degree = rows[WEIGHT].to_numpy() if weighed else np.ones(rows.height)
    order = np.lexsort((code, place, word))
    steps = np.diff(np.stack([word, place, code])[:, order], prepend=-1)
    # A repeated row counts once.
    order = order[steps.any(axis=0)]
    word, place, code, degree = word[order], place[order], code[order], degree[order]
    ends = np.searchsorted(word, np.arange(1, words + 1))
    labels = names.to_list()
    start = 0
    for end in ends.tolist():
        used, own = np.unique(code[start:end], return_inverse=True)
        senses = [labels[each] for each in used.tolist()]
        yield _Side(place[start:end], own.astype(np.int64), senses, degree[start:end])
        start = end


def _scores(word: _Word, measures: Sequence[ClusterMeasure[Any]], seed: str) -> list[float]:
    """Return the measures of a word; NaN where undefined."""
    tables: dict[bool, Memberships | Contingency] = {}
    values = []
    for measure in measures:
        by_tokens = measure.family != "overlapping"
        if by_tokens not in tables:
            tables[by_tokens] = _contingency(word) if by_tokens else _memberships(word, seed)
        values.append(measure.score(tables[by_tokens]))
    return values


def _memberships(word: _Word, seed: str) -> Memberships:
    sides = word.gold, _of_own(word)
    first, second = (patterns(side.items, side.codes, side.names, word.own) for side in sides)
    graded = partial(_degrees, word)
    counted = count_patterns(first, second)
    return Memberships(first[0], second[0], *counted, word.items - word.own, graded, seed)


def _degrees(word: _Word) -> Degrees:
    return Degrees(_matrix(word.gold, word.items), _matrix(word.induced, word.items), word.own)


def _matrix(side: _Side, items: int) -> Sparse:
    starts = np.concatenate([[0], np.cumsum(np.bincount(side.items, minlength=items))])
    shape = (items, len(side.names))
    return scipy.sparse.csr_array((side.degrees, side.codes, starts), shape=shape)


def _contingency(word: _Word) -> Contingency:
    """Count instances with a gold sense by sense and cluster; each has one of both."""
    gold, induced = word.gold, _of_own(word)
    width = max(1, len(induced.names))
    cells, counts = np.unique(gold.codes * width + induced.codes, return_counts=True)
    labels = tuple(gold.names), tuple(induced.names)
    return Contingency(*labels, *np.divmod(cells, width), counts.astype(np.int64))


def _of_own(word: _Word) -> _Side:
    """Return the induced senses of the instances with a gold sense."""
    side = word.induced
    has_gold = side.items < word.own
    if has_gold.all():
        return side
    used, code = np.unique(side.codes[has_gold], return_inverse=True)
    names = [side.names[each] for each in used.tolist()]
    return _Side(side.items[has_gold], code.astype(np.int64), names, side.degrees[has_gold])


# Averages over words


def _mean(
    name: str, values: Mapping[str, FloatArray], weights: FloatArray | IntArray
) -> FloatArray:
    """Return a mean over the words that have a value, for each row of weights; NaN without any."""
    if name in OF_MEANS:
        parts = (_mean(part, values, weights) for part in OF_MEANS[name])
        return np.array([harmonic_mean(*both) for both in zip(*parts, strict=True)])
    own = values[name]
    weights = weights * ~np.isnan(own)
    whole = weights.sum(axis=1).astype(np.float64)
    sums = (weights * np.nan_to_num(own)).sum(axis=1)
    mean = np.full(len(weights), np.nan)
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
    counts = most.group_by("item").agg(pl.col(label).n_unique())
    return counts.filter(pl.col(label) > 1).height


def _by_weight(table: pl.DataFrame) -> pl.DataFrame:
    weight = pl.col(WEIGHT) if WEIGHT in table.columns else pl.lit(None, pl.Float64)
    return table.with_columns(weight.cast(pl.Float64).fill_null(1.0).alias(WEIGHT))


def _require_one_sense(table: pl.DataFrame, label: str) -> None:
    """Reject instances with several senses, for token measures."""
    instances = (
        table.group_by("item")
        .agg(pl.col(label).unique().sort())
        .filter(pl.col(label).list.len() > 1)
    )
    if instances.height:
        item, senses = instances.sort("item").row(0)
        raise DataError(
            f"{label}: {count_text(instances.height, 'instance')} with several senses, for example "
            f"{item!r}: {', '.join(senses[:3])}; token measures use one sense per instance: set "
            'senses = "heaviest", or omit them'
        )
