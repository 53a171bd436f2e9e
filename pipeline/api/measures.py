"""Measures from arrays and mappings: proportions, clusterings, lexicons."""

from __future__ import annotations

import math
import warnings
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, NoReturn, TypeAlias, get_args

import numpy as np
import polars as pl

from pipeline.api.convert import (
    as_given,
    as_labels,
    as_memberships,
    as_whole,
    require_all,
    require_as_long,
    require_no_weights,
    require_same_size,
    translate_errors,
)
from pipeline.errors import ConfigError, Problem
from pipeline.kernels.clustering.encoding import (
    FEWEST_LABELS,
    MOST_DECIMALS,
    Noise,
    decimal_labels,
    is_noise,
    noise_labels,
    own_cluster,
)
from pipeline.kernels.clustering.measure import OVERLAPPING_MEASURES, TYPE_LEVEL
from pipeline.kernels.clustering.overlapping.measures import overlapping_scores, without_weights
from pipeline.kernels.clustering.senses import FUZZY, WhichSenses, WithoutCluster, sense_scores
from pipeline.kernels.clustering.token.measures import token_scores
from pipeline.kernels.clustering.types.evaluation import MAPPING_KINDS, evaluate_type_level
from pipeline.kernels.lexicon.l_measure import (
    best_match_f,
    entropy,
    f_star,
    l_star,
    lemma_scores,
    lexicon_overlaps,
    matches,
)
from pipeline.kernels.statistics.exact_tests import TESTS, read_alternative
from pipeline.kernels.statistics.intervals import INTERVALS
from pipeline.registry import as_names


def token_measures(
    labels_true: Any,
    labels_pred: Any,
    *,
    measures: str | Sequence[str] = ("all",),
    noise: Any = (),
    noise_as: Noise = "excluded",
) -> dict[str, float]:
    """Return measures of a clustering of tokens against gold classes.

    Each position is a token; n_ck tokens have class c and cluster k. Many-to-one is ``1/N sum_k
    max_c n_ck``, V is ``2 h c / (h + c)`` with ``h = 1 - H(C|K) / H(C)``; for the others see
    docs/clustering.md.

    Parameters
    ----------
    labels_true, labels_pred : array_like, shape (tokens,)
        Class and cluster of each token: text, numbers or categories.
    measures : str or sequence of str
        Names or aliases, also those of scikit-learn, or "all".
    noise : array_like
        Labels in `labels_pred` of tokens without a cluster: [-1] of DBSCAN and HDBSCAN.
    noise_as : str
        Noise is "excluded" with its gold classes, or "clusters": each token is one of its own.

    Returns
    -------
    dict of str to float
        Values by name of the measure; NaN where undefined, for example without tokens.

    Raises
    ------
    ConfigError
        If a measure is unknown.
    DataError
        If the lengths differ or a label is missing.

    References
    ----------
    Reichart, Abend & Rappoport, Type Level Clustering Evaluation (2010), section 2; Rosenberg &
    Hirschberg, V-Measure (2007).

    Examples
    --------
    >>> token_measures(["N", "N", "V", "V"], [1, 1, 1, 2], measures=["purity", "1-1", "ari"])
    {'many_to_one': 0.75, 'one_to_one': 0.75, 'adjusted_rand': 0.0}
    >>> token_measures(["N", "V", "V"], [0, -1, -1], measures="1-1", noise=[-1])
    {'one_to_one': 1.0}
    """
    columns = {"gold": as_labels(labels_true, "labels_true")}
    columns["cluster"] = as_labels(labels_pred, "labels_pred")
    require_as_long(labels_true=len(columns["gold"]), labels_pred=len(columns["cluster"]))
    for labels in columns.values():
        require_all(labels, "label them, or drop these tokens from both arrays")
    tokens = _without_noise(pl.DataFrame(columns).with_row_index("item"), noise, noise_as)
    tokens = tokens.drop_nulls("cluster")
    cells = tokens.group_by("gold", "cluster").agg(f=pl.len().cast(pl.Int64))
    with translate_errors("token_measures"):
        return _values(token_scores(cells, measures=as_names(measures)))


def type_measures(
    labels_true: Any,
    labels_pred: Any,
    *,
    items: Any = None,
    measures: str | Sequence[str] = TYPE_LEVEL,
    mappings: str | Sequence[str] = MAPPING_KINDS,
    noise: Any = (),
    noise_as: Noise = "excluded",
    restarts: int | None = None,
    kicks: int | None = None,
    certificate_seconds: float | None = None,
    seed: str = "clustering",
) -> pl.DataFrame:
    """Return MacroI, MicroI and MicroC of clusters of word types, under their best mappings.

    A mapping h gives each cluster a class; a word type i has classes A_i and clusters B_i. MacroI
    is ``2 sum |A_i & h(B_i)| / sum (|A_i| + |h(B_i)|)``, MicroI the mean of ``2 |A_i & h(B_i)| /
    (|A_i| + |h(B_i)|)``, MicroC the mean F of the merged clusters of each class, weighted by size.

    Parameters
    ----------
    labels_true, labels_pred : sequence, shape (n,)
        A label or a collection of labels per word type, without weights. Types without a class
        are excluded; those without a cluster have F = 0.
    items : array_like, shape (n,), optional
        The word type of each token: a type has all classes and clusters of its tokens.
    measures : str or sequence of str
        Names of type measures, or "all".
    mappings : str or sequence of str
        "1-1" (each class has at most one cluster) or "M-1" (several).
    noise, noise_as
        As for `token_measures`; an excluded word type is one without a cluster.
    restarts, kicks : int, optional
        Random starts of the search for an M-1 mapping, and random changes of the best one, each
        followed by a climb (default: as many as the data need; 0 is fastest).
    certificate_seconds : float, optional
        Time per measure for a proof that an M-1 mapping is optimal, or a bound (default: none).
    seed : str
        Seed of the search.

    Returns
    -------
    DataFrame
        A row per measure and mapping: value, recall, precision, certificate (of an optimal
        mapping), bound and gap (how far a better mapping can be above the value; null where not
        known), and numbers of types. Rows "floor" assign one class to all.

    Raises
    ------
    ConfigError
        If a measure is unknown.
    DataError
        If the lengths differ, an item is missing, labels have weights, no type has a class, or a
        number is out of range.

    References
    ----------
    Reichart, Abend & Rappoport, Type Level Clustering Evaluation (2010), section 3.

    Examples
    --------
    >>> classes = ["N", ("N", "V"), "V", ("N", "V")]
    >>> clusters = [0, (0, 1), 1, 2]
    >>> made = type_measures(classes, clusters, measures=["MacroI"])
    >>> made.select("measure", "mapping", pl.col("value").round(3)).rows()
    [('MacroI', '1-1', 0.727), ('MacroI', 'M-1', 0.909), ('MacroI', 'floor', 0.6)]
    """
    for name, values in (("labels_true", labels_true), ("labels_pred", labels_pred)):
        require_no_weights(values, name)
    gold, induced = _entries(labels_true, labels_pred, items)
    induced = _without_noise(induced, noise, noise_as)
    with translate_errors("type_measures"):
        evaluation = evaluate_type_level(
            gold, induced, measures=as_names(measures), mappings=as_names(mappings), worst=0,
            restarts=restarts, kicks=kicks, certificate_seconds=certificate_seconds, seed=seed,
        )  # fmt: skip
    return evaluation.summary


def overlapping_measures(
    labels_true: Any,
    labels_pred: Any,
    *,
    items: Any = None,
    measures: str | Sequence[str] = ("all",),
    noise: Any = (),
    noise_as: Noise = "excluded",
    seed: str = "",
) -> dict[str, float]:
    """Return measures of clusters against classes that may overlap.

    BCubed precision is the mean over items, and over the items that share a cluster with each, of
    ``min(shared clusters, shared classes) / shared clusters``; recall swaps classes and clusters.
    Omega is the chance-corrected agreement on how many groups two items share.

    Parameters
    ----------
    labels_true, labels_pred, items
        As for `type_measures`. A label may be a mapping from labels to weights, which the fuzzy
        measures use.
    measures : str or sequence of str
        Names or aliases of overlapping measures, or "all" without the fuzzy ones.
    noise, noise_as
        As for `type_measures`.
    seed : str
        Seed of the sample of items for element-centric similarity in large data.

    Returns
    -------
    dict of str to float
        Values by name of the measure; NaN where undefined, for example without items.

    Raises
    ------
    ConfigError
        If a measure is unknown.
    DataError
        If the lengths differ, an item is missing, labels have weights that a measure does not use,
        or the data are too large.

    References
    ----------
    Amigó, Gonzalo, Artiles & Verdejo, A comparison of extrinsic clustering evaluation metrics
    based on formal constraints (2009), section 5; Collins & Dent, Omega (1988).

    Examples
    --------
    >>> overlapping_measures(["N", ("N", "V")], [(1,), (1, 2)], measures=["omega", "bcubed_f"])
    {'omega': 1.0, 'bcubed_f': 1.0}
    >>> overlapping_measures(["s", "s"], [{"x": 3, "y": 1}, "x"], measures="fuzzy_bcubed_recall")
    {'fuzzy_bcubed_recall': 1.0}
    """
    with translate_errors("overlapping_measures"):
        without = without_weights(OVERLAPPING_MEASURES.resolve(as_names(measures)))
    if without or items is not None:
        for name, values in (("labels_true", labels_true), ("labels_pred", labels_pred)):
            require_no_weights(values, name, without)
    gold, induced = _entries(labels_true, labels_pred, items)
    induced = _without_noise(induced, noise, noise_as)
    gold, induced = gold.drop_nulls("gold"), induced.drop_nulls("cluster")
    with translate_errors("overlapping_measures"):
        return _values(overlapping_scores(gold, induced, measures=as_names(measures), seed=seed))


def sense_measures(
    words: Any,
    labels_true: Any,
    labels_pred: Any,
    *,
    measures: str | Sequence[str] = FUZZY,
    token_measures: str | Sequence[str] = (),
    senses: WhichSenses = "all",
    without_cluster: WithoutCluster = "zero",
    noise: Any = (),
    noise_as: Noise = "excluded",
) -> pl.DataFrame:
    """Return measures of induced word senses: of the instances of each word, averaged over words.

    Fuzzy B-Cubed compares instances i and j by the weights w of common senses, divided by the
    largest of the instance: ``C = sum_k 1 - |w_k(i) - w_k(j)|``. Precision is the mean over i, and
    over the j that agree in clusters, of ``min(C_clusters, C_gold) / C_clusters``; recall swaps the
    two. F is that of the mean precision and recall.

    Parameters
    ----------
    words : array_like, shape (n,)
        The target word of each instance.
    labels_true, labels_pred : sequence, shape (n,)
        A sense of each instance, a collection of senses, or a mapping from senses to weights; None
        if there is none.
    measures : str or sequence of str
        Names or aliases of overlapping measures; only the fuzzy ones use weights.
    token_measures : str or sequence of str
        Names or aliases of token measures, for one sense per instance.
    senses : str
        "all", or "heaviest": the sense with the largest weight, the first by name of equal weights.
    without_cluster : str
        Instances without a cluster score 0 in measures without weights, so that a word has the
        score of its other instances times their share ("zero"); they are excluded ("drop"); or
        those of a word form one cluster ("cluster"). Fuzzy measures count them in any case. Where
        less is better, as for VI, "zero" is "cluster".
    noise, noise_as
        As for `token_measures`; an excluded instance is one without a cluster.

    Returns
    -------
    DataFrame
        A row per measure: value (mean over words), weighted (by instances), n_words.

    Raises
    ------
    ConfigError
        If a measure or an option is unknown.
    DataError
        If the lengths differ, a word is missing, labels have weights that a measure does not use,
        or, with token measures, an instance has several senses.

    References
    ----------
    Jurgens & Klapaftis, SemEval-2013 task 13: Word Sense Induction for Graded and Non-Graded Senses
    (2013); Manandhar et al., SemEval-2010 task 14 (2010).

    Examples
    --------
    >>> words = ["add", "add", "add", "ask", "ask"]
    >>> gold, induced = ["s", "s", "t", "u", "u"], [{"a": 4, "b": 1}, "a", "b", "c", "c"]
    >>> made = sense_measures(words, gold, induced, measures="fuzzy_bcubed")
    >>> made.select("measure", pl.col("value").round(4), "n_words").rows()
    [('fuzzy_bcubed_f', 0.7895, 2)]
    """
    for option, value, known in (
        ("senses", senses, get_args(WhichSenses)),
        ("without_cluster", without_cluster, get_args(WithoutCluster)),
    ):
        if value not in known:
            problem = Problem(option, f"{value!r} is unknown", f"give {' or '.join(known)}")
            raise ConfigError("sense_measures", [problem])
    labels = as_labels(words, "words")
    require_all(labels, "give the word of each instance")
    sizes = {"labels_true": len(labels_true), "labels_pred": len(labels_pred), "words": len(labels)}
    require_as_long(**sizes)
    by = pl.DataFrame({"item": pl.Series(range(len(labels)), dtype=pl.Int64), "by": labels})
    gold, induced = (
        as_memberships(each, name, of).join(by, on="item").cast({"item": pl.String})
        for each, name, of in (
            (labels_true, "labels_true", "gold"),
            (labels_pred, "labels_pred", "cluster"),
        )
    )
    induced = _without_noise(induced, noise, noise_as)
    with translate_errors("sense_measures"):
        evaluation = sense_scores(
            gold.drop_nulls("gold"),
            induced.drop_nulls("cluster"),
            measures=as_names(measures),
            token_measures=as_names(token_measures),
            senses=senses,
            without_cluster=without_cluster,
        )
    return evaluation.scores.select("measure", "value", "weighted", "n_words")


def _entries(labels_true: Any, labels_pred: Any, items: Any) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return item and gold, and item and cluster: a row per label, null where missing."""
    inputs = {"labels_true": (labels_true, "gold"), "labels_pred": (labels_pred, "cluster")}
    if items is None:
        require_as_long(**{name: len(values) for name, (values, _) in inputs.items()})
        gold, induced = (as_memberships(each, name, of) for name, (each, of) in inputs.items())
        return gold.cast({"item": pl.String}), induced.cast({"item": pl.String})
    types = as_labels(items, "items")
    require_all(types, "give the word type of each token")
    labels = {name: as_labels(each, name) for name, (each, _) in inputs.items()}
    require_as_long(**{name: len(each) for name, each in labels.items()}, items=len(types))
    gold, induced = (
        pl.DataFrame({"item": types, of: labels[name]}).unique() for name, (_, of) in inputs.items()
    )
    return gold, induced


def _without_noise(induced: pl.DataFrame, noise: Any, noise_as: Noise) -> pl.DataFrame:
    """Return item and cluster: of noise null, or a cluster of its own."""
    if noise_as not in get_args(Noise):
        problem = Problem("noise_as", f"{noise_as!r} is unknown", "give excluded or clusters")
        raise ConfigError("noise", [problem])
    with translate_errors("noise"):
        labels = noise_labels(noise)
    cluster = pl.col("cluster")
    own = own_cluster(cluster, pl.col("item")) if noise_as == "clusters" else None
    noisy = is_noise(cluster, labels)
    _warn_of_labels(induced["cluster"], labels)
    return induced.with_columns(cluster=pl.when(noisy).then(own).otherwise(cluster))


def _warn_of_labels(cluster: pl.Series, noise: Sequence[str]) -> None:
    """Warn of measurements in place of labels, and of noise that does not occur."""
    labels = cluster.unique().to_frame()
    decimals = labels.select(decimal_labels(pl.col("cluster"))).to_series()
    if len(cluster) >= FEWEST_LABELS and len(decimals) >= MOST_DECIMALS * len(cluster):
        such_as = ", ".join(decimals.head(3))
        what = f"{len(decimals):,} distinct numbers with decimals, for example {such_as}"
        text = f"labels_pred has {what}: these look like measurements, not like clusters"
        warnings.warn(text, stacklevel=3)
    if noise and not labels.select(is_noise(pl.col("cluster"), noise).any()).item():
        such = " or ".join(map(repr, noise))
        warnings.warn(f"labels_pred has no label of noise, {such}", stacklevel=3)


def _values(scores: pl.DataFrame) -> dict[str, float]:
    rows = scores.select("measure", pl.col("value").fill_null(math.nan))
    return dict(rows.iter_rows())


# Intervals and tests for proportions, on numbers and arrays.


def precision_interval(
    k: Any,
    n: Any,
    *,
    interval: str = "clopper_pearson",
    confidence: float = 0.95,
    population: Any = None,
) -> tuple[Any, Any]:
    """Return confidence limits for a proportion, for example the precision of an n-best list.

    k of n randomly sampled candidates are true positives. Clopper-Pearson limits are the p with
    ``P(X >= k) = alpha / 2`` and ``P(X <= k) = alpha / 2``, where X is binomial (n, p).

    Parameters
    ----------
    k, n : number or array_like of int
        Successes and trials, ``0 <= k <= n``; a number is broadcast.
    interval : str
        "clopper_pearson" (exact), "wilson", "wilson_corrected", "jeffreys", or "hypergeometric"
        (exact for a sample without replacement from a list of known length).
    confidence : float
        Confidence level in (0, 1).
    population : number or array_like of int, optional
        Size of the population, for "hypergeometric" only.

    Returns
    -------
    lower, upper : float or array of float
        In [0, 1]; 0 and 1 where n = 0; in the kind of the input.

    Raises
    ------
    ConfigError
        If the interval is unknown.
    DataError
        If counts are missing, impossible or of unequal length, or the population is missing.

    References
    ----------
    Clopper & Pearson, The Use of Confidence or Fiducial Limits Illustrated in the Case of the
    Binomial (1934); Evert & Krenn, Using small random samples for the manual evaluation of
    statistical association measures (2005).

    Examples
    --------
    >>> lower, upper = precision_interval(5, 10)
    >>> round(lower, 4), round(upper, 4)
    (0.1871, 0.8129)
    >>> lower, upper = precision_interval([5, 50], [10, 100], interval="wilson")
    >>> lower.round(3).tolist()
    [0.237, 0.404]
    """
    function = "precision_interval"
    counts = {"k": as_whole(k, "k"), "n": as_whole(n, "n")}
    if population is not None:
        counts["population"] = as_whole(population, "population")
    require_same_size(function, **counts)
    with translate_errors(function):
        limits = INTERVALS.get(interval)(
            counts["k"], counts["n"], confidence=confidence, population=counts.get("population")
        )
    inputs = (k, n, population)
    lower, upper = (np.asarray(each, dtype=np.float64) for each in limits)
    return as_given(lower, "lower", *inputs), as_given(upper, "upper", *inputs)


def fisher(k1: Any, n1: Any, k2: Any, n2: Any, *, alternative: str = "two-sided") -> Any:
    """Return p-values of Fisher's exact test of equal proportions.

    The sum of the hypergeometric probabilities of all tables [[k1, k2], [n1 - k1, n2 - k2]] with
    the same margins that are no more probable than the observed one, as in R.

    Parameters
    ----------
    k1, n1, k2, n2 : number or array_like of int
        Successes and sizes of the two groups; numbers are broadcast.
    alternative : str
        "two-sided", "greater" (the first proportion is larger) or "less".

    Returns
    -------
    float or array of float
        In [0, 1], NaN where a group is empty; in the kind of the input.

    Raises
    ------
    ConfigError
        If the alternative is unknown.
    DataError
        If counts are missing, impossible or of unequal length.

    References
    ----------
    Fisher, The Design of Experiments (1935), chapter II.

    Examples
    --------
    Of 8 cups, 3 of 4 and 1 of 4 were called "milk first".

    >>> round(fisher(3, 4, 1, 4), 4), round(fisher(3, 4, 1, 4, alternative="greater"), 4)
    (0.4857, 0.2429)
    """
    inputs = {"k1": k1, "n1": n1, "k2": k2, "n2": n2}
    return _p_values("fisher", inputs, "fisher", alternative)


def difference_test(
    k1: Any, n1: Any, k2: Any, n2: Any, *, test: str = "fisher", alternative: str = "two-sided"
) -> Any:
    """Return p-values of an exact test of equal proportions.

    For two n-best lists, the groups are the candidates in one list only: candidates in both are not
    independent.

    Parameters
    ----------
    k1, n1, k2, n2, alternative
        As for `fisher`.
    test : str
        "fisher"; "fisher_mid_p" (less conservative, close to the level); "boschloo" (groups of at
        most 10,000 in total; rarely less powerful than Fisher's); "boschloo_minlike" (never less
        powerful).

    Returns
    -------
    float or array of float
        As for `fisher`.

    Raises
    ------
    ConfigError
        If the test or alternative is unknown.
    DataError
        If counts are missing, impossible or of unequal length.

    References
    ----------
    Lancaster, Significance Tests in Discrete Distributions (1961); Boschloo, Raised Conditional
    Level of Significance for the 2 x 2-Table when Testing the Equality of Two Probabilities (1970).

    Examples
    --------
    >>> [round(difference_test(3, 4, 1, 4, test=each), 4) for each in ("fisher_mid_p", "boschloo")]
    [0.2571, 0.2891]
    """
    inputs = {"k1": k1, "n1": n1, "k2": k2, "n2": n2}
    return _p_values("difference_test", inputs, test, alternative)


def _p_values(function: str, inputs: Mapping[str, Any], test: str, alternative: str) -> Any:
    counts = {name: as_whole(values, name) for name, values in inputs.items()}
    require_same_size(function, **counts)
    shape = np.broadcast_shapes(*(each.shape for each in counts.values()))
    columns = (np.broadcast_to(each, shape).ravel() for each in counts.values())
    with translate_errors(function):
        p = TESTS.get(test).p_values(*columns, alternative=read_alternative(alternative))
    return as_given(p.reshape(shape), "p", *inputs.values())


# The L-measure of a lexicon, from lemmas and their forms.


Forms: TypeAlias = str | Collection[str] | None
Lexicon: TypeAlias = Mapping[str, Forms] | Iterable[tuple[str, Forms]]


@dataclass(frozen=True, repr=False)
class LMeasure:
    """The quality of a lexicon against the gold; None where undefined.

    Parameters
    ----------
    l_star : float or None
        L*: mean L of the best matches of the shared lemmas, weighted by their gold forms.
    f_star : float or None
        F*: the same over all gold lemmas.
    entropy : float or None
        E* of the lexicon's clusters in bits; 0 if none mixes gold lemmas.
    best_match : float or None
        F1 of the one-to-one assignment; surplus lemmas lower it.
    coverage : float or None
        Proportion of the gold lemmas that the lexicon has.
    lemmas : DataFrame
        The shared lemmas: match, n_gold, n_match, n_common, precision, recall, L, weight and
        contribution (these sum to L*).
    """

    l_star: float | None
    f_star: float | None
    entropy: float | None
    best_match: float | None
    coverage: float | None
    lemmas: pl.DataFrame = field(compare=False)

    def __repr__(self) -> str:
        values = {each.name: getattr(self, each.name) for each in fields(self)[:-1]}
        parts = [
            f"{name}={None if value is None else round(value, 4)}" for name, value in values.items()
        ]
        return f"LMeasure({', '.join(parts)}, lemmas: {self.lemmas.height:,})"


_SHOWN = (
    "lemma", "match", "n_gold", "n_match", "n_common",
    "precision", "recall", "L", "weight", "contribution",
)  # fmt: skip


def l_measure(gold: Lexicon, lexicon: Lexicon) -> LMeasure:
    """Return the L-measure of a lexicon against the gold.

    The cluster of a lemma is the set of its forms. With recall r and precision p of the
    best-matching cluster, ``L_i = 2 r p / (r + p)``, and ``L* = sum_i n_i L_i / n`` over the shared
    lemmas, where n_i is the number of gold forms and n their sum.

    Parameters
    ----------
    gold, lexicon : mapping of str to collection of str, or sequence of pairs
        Lemma to forms, compared exactly; None or an empty collection for a lemma without forms. Of
        pairs, a lemma has the forms of all: ``[("go", "goes"), ("go", "went")]``.

    Returns
    -------
    LMeasure
        L*, F*, E* and a table of the shared lemmas.

    Raises
    ------
    ConfigError
        If an argument is neither a mapping nor pairs, or a lemma or form is empty or not text.

    References
    ----------
    Dalli, Adaptation of the F-measure to Cluster Based Lexicon Quality Evaluation, section 4.

    Examples
    --------
    >>> gold = {"go": ["go", "goes", "went", "gone"], "be": ["be", "is", "was"]}
    >>> lexicon = {"go": ["go", "goes", "goed"], "be": ["be", "is", "was"], "we": ["went"]}
    >>> l_measure(gold, lexicon)
    LMeasure(l_star=0.7551, f_star=0.7551, entropy=0.0, best_match=0.7143, coverage=1.0, lemmas: 2)
    """
    right, other = _wordlist(gold, "gold"), _wordlist(lexicon, "lexicon")
    lemmas = right.select(pl.col("lemma").n_unique()).collect().item()
    overlaps = lexicon_overlaps(right, other).collect()
    every = matches(overlaps.lazy(), right, other).collect()
    both = lemma_scores(every.lazy().drop_nulls("n_same")).select(_SHOWN).collect().sort("lemma")
    forms = [each.select(pl.col("form").count()).collect().item() for each in (right, other)]
    return LMeasure(
        l_star=l_star(both["n_gold"], both["L"], float(both["n_gold"].sum())),
        f_star=f_star(every),
        entropy=entropy(overlaps, right, other).value,
        best_match=best_match_f(overlaps, gold_forms=forms[0], lexicon_forms=forms[1]),
        coverage=both.height / lemmas if lemmas else None,
        lemmas=both,
    )


def _wordlist(lexicon: Lexicon, name: str) -> pl.LazyFrame:
    """Return a row per form of a lemma; null where it has none."""
    entries = dict[Any, set[Any]]()
    for lemma, forms in _pairs(lexicon, name):
        entries.setdefault(lemma, set()).update({forms} if isinstance(forms, str) else forms or ())
    rows = [(lemma, form) for lemma, forms in entries.items() for form in forms]
    bare = [(lemma, None) for lemma, forms in entries.items() if not forms]
    texts = [*rows, *((lemma, lemma) for lemma, _ in bare)]
    wrong = [row for row in texts if not all(isinstance(text, str) and text for text in row)]
    if wrong:
        some = "; ".join(f"{lemma!r}: {form!r}" for lemma, form in wrong[:3])
        what = f"{len(wrong):,} of {len(texts):,} lemmas or forms are empty or not text"
        _refuse(name, f"{what}, for example {some}", "map lemmas to forms as text")
    schema = {"lemma": pl.String, "form": pl.String}
    return pl.LazyFrame([*rows, *bare], schema=schema, orient="row")


def _pairs(lexicon: Any, name: str) -> Sequence[tuple[Any, Any]]:
    """Return lemmas with forms, one or several."""
    remedy = "give a mapping of lemmas to forms, or pairs of a lemma and a form"
    if not isinstance(lexicon, Mapping | Iterable) or isinstance(lexicon, str | pl.DataFrame):
        _refuse(name, f"is of type {type(lexicon).__name__}", remedy)
    pairs = list(lexicon.items() if isinstance(lexicon, Mapping) else lexicon)
    wrong = [place for place, each in enumerate(pairs) if not _is_pair(each)]
    if wrong:
        some = ", ".join(f"{pairs[place]!r} at position {place}" for place in wrong[:3])
        what = f"{len(wrong):,} of {len(pairs):,} are not a lemma with its form or forms"
        _refuse(name, f"{what}, for example {some}", remedy)
    return pairs


def _is_pair(each: Any) -> bool:
    if not isinstance(each, tuple | list) or len(each) != 2:
        return False
    lemma, forms = each
    several = isinstance(forms, Collection) and all(isinstance(form, Hashable) for form in forms)
    return isinstance(lemma, Hashable) and (forms is None or several)


def _refuse(name: str, what: str, remedy: str) -> NoReturn:
    raise ConfigError("l_measure", [Problem(name, what, remedy)])
