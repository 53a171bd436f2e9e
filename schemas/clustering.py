"""Gold classes and induced clusters of items and tokens, and the scores of clusterings."""

from __future__ import annotations

import polars as pl

from schemas.base import ByRun, BySentence, Table, column, rule

# Type level: mappings, measures, scores of classes and items

MAPPINGS = ("1-1", "M-1", "floor")


class TypeLevel(ByRun):
    """Type-level measures of each system and run, under each kind of mapping.

    Rows with the mapping "floor" map every cluster to the largest class, a baseline for any
    clustering. MicroC ignores classes without a cluster, MacroI does not.
    """

    measure: str = column("measure; MacroI = MacroC", key=True)
    mapping: str = column("1-1, M-1 or floor", key=True, isin=MAPPINGS)
    value: float = column("value of the measure; proportion", ge=0, le=1)
    recall: float = column(
        "precision over all memberships, items or clusters; proportion", ge=0, le=1
    )
    precision: float = column(
        "recall, likewise; null if nothing is induced; proportion", nullable=True, ge=0, le=1
    )
    certificate: str = column(
        "why no mapping is better: by the method, by a search, or not proven",
        nullable=True,
        isin=["exact", "proven", "not proven"],
    )
    bound: float = column(
        "no mapping of the kind is better; null if unknown", nullable=True, ge=0, le=1
    )
    gap: float = column("bound - value; null if unknown", nullable=True, ge=0, le=1)
    n_open_clusters: int = column(
        "clusters whose class may differ in a better mapping; null if unknown",
        nullable=True,
        ge=0,
    )
    starts: int = column("hill climbs; null if none was needed", nullable=True, ge=1)
    starts_reaching_best: int = column("hill climbs that ended at this value", nullable=True, ge=0)
    lower: float = column(
        "lower limit, by bootstrap over items; proportion", nullable=True, ge=0, le=1
    )
    upper: float = column(
        "upper limit, by bootstrap over items; proportion", nullable=True, ge=0, le=1
    )
    interval: str = column(
        "true if bootstrap samples kept the mapping; null without limits",
        nullable=True,
        isin=["fixed", "refitted"],
    )
    n_items: int = column("items with a gold entry", ge=1)
    n_dropped: int = column("items with clusters but without a gold entry; excluded", ge=0)
    n_without_cluster: int = column("items with a gold entry but without a cluster", ge=0)
    n_in_several: int = column("items with a gold entry and several clusters", ge=0)
    n_classes: int = column("gold classes", ge=1)
    n_clusters: int = column("clusters that contain items with a gold entry", ge=0)
    n_clusters_dropped: int = column("clusters without any item with a gold entry", ge=0)
    n_uncovered: int = column("classes to which no cluster is mapped", ge=0)

    bound_holds = rule("value <= bound", pl.col("value") <= pl.col("bound"))

    counts_are_ordered = rule(
        "n_without_cluster + n_in_several <= n_items, n_uncovered <= n_classes, "
        "n_open_clusters <= n_clusters",
        pl.col("n_without_cluster") + pl.col("n_in_several") <= pl.col("n_items"),
        pl.col("n_open_clusters") <= pl.col("n_clusters"),
        pl.col("n_uncovered") <= pl.col("n_classes"),
        pl.col("starts_reaching_best") <= pl.col("starts"),
    )


class ByMapping(ByRun):
    """A table with rows for each optimal mapping."""

    measure: str = column("measure maximised by the mapping", key=True)
    mapping: str = column("1-1 or M-1", key=True, isin=MAPPINGS[:2])


class ClusterMapping(ByMapping):
    """The class of each cluster under the optimal mapping of each measure."""

    cluster: str = column("induced cluster", key=True)
    gold: str = column("class; null if the cluster is unmapped", nullable=True)
    n_ij: int = column("items in both; 0 if unmapped", ge=0)
    n_i: int = column("items in the class", nullable=True, ge=1)
    n_j: int = column("items in the cluster", ge=1)

    overlap_lies_in_both = rule(
        "n_ij <= min(n_i, n_j)",
        (pl.col("n_ij") <= pl.col("n_i")).fill_null(pl.col("n_ij") == 0),
        pl.col("n_ij") <= pl.col("n_j"),
    )


class ClassScores(ByMapping):
    """Recall, precision and F of each class, compared with the union of its clusters."""

    gold: str = column("gold class", key=True)
    clusters: int = column("clusters mapped to the class", ge=0)
    n_ij: int = column("items in the class and in one of these clusters", ge=0)
    n_i: int = column("items in the class", ge=1)
    n_j: int = column("items in the union of these clusters", ge=0)
    recall: float = column("n_ij / n_i; proportion", ge=0, le=1)
    precision: float = column(
        "n_ij / n_j; null if uncovered; proportion", nullable=True, ge=0, le=1
    )
    f: float = column("2 n_ij / (n_i + n_j); proportion", ge=0, le=1)
    uncovered: bool = column("no cluster is mapped to the class")

    overlap_lies_in_both = rule(
        "n_ij <= min(n_i, n_j)",
        pl.col("n_ij") <= pl.col("n_i"),
        pl.col("n_ij") <= pl.col("n_j"),
    )


class ItemScores(ByMapping):
    """The score of each item, lowest first."""

    rank: int = column("1 = lowest f; ties are ordered by name", key=True, ge=1)
    item: str = column("item, e.g. a word type")
    gold: str = column("its gold classes, sorted, separated by spaces")
    mapped: str = column("classes of its clusters; may be empty")
    common: int = column("classes in both sets", ge=0)
    f: float = column(
        "2 common / (|A| + |h(B)|), with unmapped clusters in |h(B)|; proportion", ge=0, le=1
    )


# Overlaps of classes and clusters, and the items with the lowest scores


class ClusterOverlaps(ByRun):
    """Items or tokens shared by each class and cluster; pairs without any are omitted."""

    gold: str = column("gold class", key=True)
    cluster: str = column("induced cluster", key=True)
    n_ij: int = column("items or tokens in both", ge=1)
    n_i: int = column("items or tokens in the class", ge=1)
    n_j: int = column("items or tokens in the cluster", ge=1)

    overlap_lies_in_both = rule(
        "n_ij <= min(n_i, n_j)", pl.col("n_ij") <= pl.min_horizontal("n_i", "n_j")
    )


class WorstItems(ItemScores):
    """The items with the lowest scores; ties are ordered by tokens, most first."""

    tokens: int = column("tokens of the item in the gold standard; tokens", ge=0)


# Token level, overlapping clusters, comparison of systems, shares of classes


class TokenLevel(ByRun):
    """Token-level measures of each run of a system, with optional bootstrap intervals."""

    measure: str = column("token-level measure", key=True)
    value: float = column("its value; null = undefined", nullable=True)
    lower: float = column("lower limit; null = no interval", nullable=True)
    upper: float = column("upper limit; null = no interval", nullable=True)
    standard_error: float = column("standard deviation over bootstrap samples", nullable=True, ge=0)
    undefined: int = column("bootstrap samples without a value; excluded", ge=0)

    limits_are_ordered = rule("lower <= upper", pl.col("lower") <= pl.col("upper"))


class TokenMapping(ByRun):
    """The class of each cluster under each token-level mapping."""

    mapping: str = column("kind of mapping", key=True, isin=["many_to_one", "one_to_one"])
    cluster: str = column("induced cluster", key=True)
    gold: str = column("class; null = unmapped", nullable=True)
    n_ij: int = column("tokens of the cluster in this class", ge=0)
    n_i: int = column("tokens of the class; 0 = unmapped", ge=0)
    n_j: int = column("tokens of the cluster", ge=1)


class OverlappingScores(ByRun):
    """Measures of clusterings whose items may have several classes and clusters."""

    measure: str = column("measure for overlapping clusterings", key=True)
    value: float = column("its value; null = undefined", nullable=True, le=1)
    lower: float = column("lower limit; null = no interval", nullable=True)
    upper: float = column("upper limit; null = no interval", nullable=True)
    standard_error: float = column(
        "standard deviation over bootstrap samples, or standard error of a value from a sample of"
        " items; null = exact",
        nullable=True,
        ge=0,
    )
    undefined: int = column("bootstrap samples without a value; excluded", ge=0)

    limits_are_ordered = rule("lower <= upper", pl.col("lower") <= pl.col("upper"))


class SenseScores(ByRun):
    """Measures of induced word senses, averaged over words, with optional bootstrap intervals."""

    measure: str = column("overlapping or token-level measure", key=True)
    value: float = column("mean over the words that have a value; null = none", nullable=True)
    weighted: float = column(
        "the same, with words weighted by their instances; null = none", nullable=True
    )
    lower: float = column("lower limit of value; null = no interval", nullable=True)
    upper: float = column("upper limit of value; null = no interval", nullable=True)
    standard_error: float = column("standard deviation over bootstrap samples", nullable=True, ge=0)
    undefined: int = column("bootstrap samples without a value; excluded", ge=0)
    n_words: int = column("words that have a value", ge=0)

    limits_are_ordered = rule("lower <= upper", pl.col("lower") <= pl.col("upper"))


class WordSenseScores(ByRun):
    """Measures of the induced senses of each word."""

    by: str = column("target word", key=True)
    measure: str = column("overlapping or token-level measure", key=True)
    value: float = column("its value; null = undefined", nullable=True)
    instances: int = column("instances of the word in the gold standard", ge=1)


class SystemTable(Table):
    """Mean and standard deviation over runs, and rank, of each system under each measure."""

    measure: str = column("type-level, token-level or overlapping measure", key=True)
    system: str = column("system that induced the clusters", key=True)
    mean: float = column("mean over runs that have a value", nullable=True)
    sd: float = column(
        "sample standard deviation over runs; null for fewer than two", nullable=True, ge=0
    )
    n_runs: int = column("runs that have a value", ge=0)
    rank: float = column("1 = best; tied means share their average rank", nullable=True, ge=1)


class MeasureCorrelations(Table):
    """Rank correlations of two measures over systems."""

    measure_1: str = column("first measure", key=2)
    measure_2: str = column("second measure; each pair is listed in both orders", key=3)
    method: str = column("rho, or tau-b", key=1, isin=["spearman", "kendall"])
    correlation: float = column(
        "null = undefined, e.g. where all values are equal", nullable=True, ge=-1, le=1
    )
    n_systems: int = column("systems with values of both measures", ge=0)


class ClassShares(Table):
    """Types and tokens of each class."""

    gold: str = column("class; * = all items together", key=True)
    types: int = column("items of the class; types", ge=0)
    tokens: int = column("tokens of the class; tokens", ge=0)
    share_types: float = column("types / all types", nullable=True, ge=0, le=1)
    share_tokens: float = column("tokens / all tokens", nullable=True, ge=0, le=1)


class FrequentTypes(Table):
    """Tokens and classes of the k most frequent types; equal frequencies are ordered by name."""

    gold: str = column("class; * = all items together", key=True)
    k: int = column("number of most frequent types", key=True, ge=1)
    tokens: int = column("tokens of these types in the class", ge=0)
    share_tokens: float = column(
        "share of the tokens of the class; proportion", nullable=True, ge=0, le=1
    )
    classes: int = column(
        "classes that one of these types has; null for a single class", nullable=True, ge=1
    )


class FrequencyBands(Table):
    """Types, tokens and classes of bands of ranks by frequency.

    Types with one class and with several stand apart. Equal frequencies are ordered by name.
    """

    first_rank: int = column("rank of the most frequent type of the band", key=True, ge=1)
    last_rank: int = column("rank of the least frequent type", key=True, ge=1)
    words: str = column(
        "types that count in the row", key=True, isin=["all", "one class", "several classes"]
    )
    types: int = column("types; types", ge=0)
    tokens: int = column("their tokens; tokens", ge=0)
    share_tokens: float = column("tokens / all tokens", nullable=True, ge=0, le=1)
    classes: int = column("classes that one of these types has", ge=0)
    classes_per_type: float = column("mean number of classes of a type", nullable=True, ge=1)
    f_max: int = column("tokens of the most frequent of these types", nullable=True, ge=0)
    f_min: int = column("tokens of the least frequent of these types", nullable=True, ge=0)

    band_holds_types = rule(
        "types <= last_rank - first_rank + 1, f_min <= f_max",
        pl.col("types") <= pl.col("last_rank") - pl.col("first_rank") + 1,
        pl.col("f_min") <= pl.col("f_max"),
    )


# Entries of items, and counts of tagged tokens


class GoldEntries(Table, further=(pl.Float64, pl.String)):
    """The gold entry of each item, A_i: one row per class.

    An optional column ``weight`` gives the degree of membership, ``by`` the target word of an
    instance.
    """

    item: str = column("word type", key=True, min_length=1)
    gold: str = column("one of its gold classes", key=True, min_length=1)
    f: int = column("tokens of the item in the class; 1 if the source has no counts; tokens", ge=1)


class InducedEntries(Table, further=(pl.Float64, pl.String)):
    """The induced entry of each item, B_i, in each run of a system: one row per cluster.

    An optional column ``weight`` gives the degree of membership, ``by`` the target word of an
    instance.
    """

    system: str = column("system that induced the clusters", key=True, min_length=1)
    run: str = column("run of the system", key=True, min_length=1)
    item: str = column("word type", key=True, min_length=1)
    cluster: str = column("one of its clusters", key=True, min_length=1)
    f: int = column(
        "tokens of the item in the cluster; null = no counts in the source; tokens",
        nullable=True,
        ge=1,
    )


class TaggedTypes(Table):
    """Joint counts over the tokens of a tagging, sufficient for all measures.

    The cluster is null for tokens that the system did not tag.
    """

    system: str = column("system that induced the clusters", key=True, min_length=1)
    run: str = column("run of the system", key=True, min_length=1)
    item: str = column("word type", key=True, min_length=1)
    gold: str = column("gold class of the tokens", key=True, min_length=1)
    cluster: str = column(
        "cluster of the tokens; null = none", key=True, nullable=True, min_length=1
    )
    f: int = column("tokens of the item with both; tokens", ge=1)


class TokenTags(Table):
    """Tokens of one shard by item, gold tag and cluster, before exclusions."""

    run: str = column("run of the system; empty for a gold standard", key=True)
    item: str = column("word type; null = none", key=True, nullable=True)
    gold: str = column("gold tag; null = none", key=True, nullable=True)
    cluster: str = column("cluster; null = none", key=True, nullable=True)
    f: int = column("tokens with all three; tokens", ge=1)


class TokenSentences(BySentence):
    """The tokens of one shard as in `TokenTags`, by sentence."""

    run: str = column("run of the system; empty for a gold standard", key=True)
    file: str
    sentence: int
    item: str = column("word type; null = none", key=True, nullable=True)
    gold: str = column("gold tag; null = none", key=True, nullable=True)
    cluster: str = column("cluster; null = none", key=True, nullable=True)
    f: int = column("tokens of the sentence with all three; tokens", ge=1)


class GoldSentences(BySentence):
    """Tokens of each sentence by item and gold class, for bootstrap samples of sentences."""

    item: str = column("word type", key=True)
    gold: str = column("gold class of the tokens", key=True)
    f: int = column("tokens of the sentence with both; tokens", ge=1)


class TaggedSentences(ByRun, BySentence):
    """Tokens of each sentence by gold class and cluster, for bootstrap samples of sentences."""

    gold: str = column("gold class of the tokens", key=True)
    cluster: str = column("cluster; null = none", key=True, nullable=True)
    f: int = column("tokens of the sentence with both; tokens", ge=1)


class SystemSize(ByRun):
    """What was read and what was excluded, for each run of a system."""

    what: str = column("items, clusters, tokens without a tag ...", key=True)
    count: int = column("count", ge=0)
