"""Gold classes and induced clusters of items and tokens, and the scores of clusterings."""

from __future__ import annotations

import polars as pl

from schemas.base import ByRun, BySentence, Table, column, rule

# Type level: mappings, measures, scores of classes and items

MAPPINGS = ("1-1", "M-1", "floor")


class TypeLevel(ByRun):
    """The type-level measures of each system and run, under each kind of mapping.

    A row with the mapping "floor" has every cluster mapped to the largest class: what any
    clustering reaches. MicroC does not see classes that no cluster is mapped to, MacroI does.
    """

    measure: str = column("measure; MacroI equals MacroC", key=True)
    mapping: str = column("1-1, M-1 or floor", key=True, isin=MAPPINGS)
    value: float = column("the measure under its mapping; proportion", ge=0, le=1)
    recall: float = column("over all memberships, items or clusters; proportion", ge=0, le=1)
    precision: float = column(
        "likewise; null where nothing is induced; proportion", nullable=True, ge=0, le=1
    )
    certificate: str = column(
        "whether no mapping is better: by the method, by a search, or not known",
        nullable=True,
        isin=["exact", "proven", "not proven"],
    )
    bound: float = column(
        "no mapping of the kind is better; null if unknown", nullable=True, ge=0, le=1
    )
    gap: float = column("bound - value; null if unknown", nullable=True, ge=0, le=1)
    n_open_clusters: int = column(
        "clusters that may have another class in a better mapping; null if unknown",
        nullable=True,
        ge=0,
    )
    starts: int = column("climbs; null where none was needed", nullable=True, ge=1)
    starts_reaching_best: int = column("climbs that ended at the value", nullable=True, ge=0)
    lower: float = column(
        "lower limit, by bootstrap over items; proportion", nullable=True, ge=0, le=1
    )
    upper: float = column(
        "upper limit, by bootstrap over items; proportion", nullable=True, ge=0, le=1
    )
    interval: str = column(
        "whether the samples kept the mapping; null without limits",
        nullable=True,
        isin=["fixed", "refitted"],
    )
    n_items: int = column("items with a gold entry", ge=1)
    n_dropped: int = column("items with clusters but no gold entry, left out", ge=0)
    n_without_cluster: int = column("items with a gold entry but no cluster", ge=0)
    n_in_several: int = column("items with a gold entry and several clusters", ge=0)
    n_classes: int = column("gold classes", ge=1)
    n_clusters: int = column("clusters with items that have a gold entry", ge=0)
    n_clusters_dropped: int = column("clusters all of whose items were dropped", ge=0)
    n_uncovered: int = column("classes that no cluster is mapped to", ge=0)

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
    """A table with rows for each best mapping."""

    measure: str = column("measure that the mapping maximises", key=True)
    mapping: str = column("1-1 or M-1", key=True, isin=MAPPINGS[:2])


class ClusterMapping(ByMapping):
    """The class that each cluster is mapped to, under the best mapping of each measure."""

    cluster: str = column("induced cluster", key=True)
    gold: str = column("class; null if the cluster is left unmapped", nullable=True)
    n_ij: int = column("items in both; 0 if unmapped", ge=0)
    n_i: int = column("items in the class", nullable=True, ge=1)
    n_j: int = column("items in the cluster", ge=1)

    overlap_lies_in_both = rule(
        "n_ij <= min(n_i, n_j)",
        (pl.col("n_ij") <= pl.col("n_i")).fill_null(pl.col("n_ij") == 0),
        pl.col("n_ij") <= pl.col("n_j"),
    )


class ClassScores(ByMapping):
    """Recall, precision and F of each class against the union of the clusters mapped to it."""

    gold: str = column("gold class", key=True)
    clusters: int = column("clusters mapped to the class", ge=0)
    n_ij: int = column("items in the class and in such a cluster", ge=0)
    n_i: int = column("items in the class", ge=1)
    n_j: int = column("items in the union of such clusters", ge=0)
    recall: float = column("n_ij / n_i; proportion", ge=0, le=1)
    precision: float = column(
        "n_ij / n_j; null if uncovered; proportion", nullable=True, ge=0, le=1
    )
    f: float = column("2 n_ij / (n_i + n_j); proportion", ge=0, le=1)
    uncovered: bool = column("true if no cluster is mapped to the class")

    overlap_lies_in_both = rule(
        "n_ij <= min(n_i, n_j)",
        pl.col("n_ij") <= pl.col("n_i"),
        pl.col("n_ij") <= pl.col("n_j"),
    )


class ItemScores(ByMapping):
    """The score of each item, the worst first."""

    rank: int = column("1 is the lowest f; equal ones in the order of names", key=True, ge=1)
    item: str = column("item, e.g. a word type")
    gold: str = column("its gold classes, sorted, with spaces between")
    mapped: str = column("classes that its clusters are mapped to; may be empty")
    common: int = column("classes in both", ge=0)
    f: float = column(
        "2 common / (|A| + |h(B)|), unmapped clusters in |h(B)|; proportion", ge=0, le=1
    )


# Overlaps of classes and clusters, and the items with the lowest scores


class ClusterOverlaps(ByRun):
    """How many items, or tokens, each class shares with each cluster; a row where they share."""

    gold: str = column("gold class", key=True)
    cluster: str = column("induced cluster", key=True)
    n_ij: int = column("items in both, or tokens", ge=1)
    n_i: int = column("items in the class, or tokens", ge=1)
    n_j: int = column("items in the cluster, or tokens", ge=1)

    overlap_lies_in_both = rule(
        "n_ij <= min(n_i, n_j)", pl.col("n_ij") <= pl.min_horizontal("n_i", "n_j")
    )


class WorstItems(ItemScores):
    """The items with the lowest scores, those with most tokens first where scores are equal."""

    tokens: int = column("tokens of the item in the gold standard; tokens", ge=0)


# Token level, overlapping clusters, comparison of systems, shares of classes


class TokenLevel(ByRun):
    """Token-level measures of each run of each system, with bootstrap intervals if asked for."""

    measure: str = column("token-level measure", key=True)
    value: float = column("its value; null = undefined", nullable=True)
    lower: float = column("lower limit; null = no interval", nullable=True)
    upper: float = column("upper limit; null = no interval", nullable=True)
    standard_error: float = column("standard deviation over bootstrap samples", nullable=True, ge=0)
    undefined: int = column("bootstrap samples without a value; left out", ge=0)

    limits_are_ordered = rule("lower <= upper", pl.col("lower") <= pl.col("upper"))


class TokenMapping(ByRun):
    """The class that each cluster is mapped to, under each mapping of the token level."""

    mapping: str = column("kind of mapping", key=True, isin=["many_to_one", "one_to_one"])
    cluster: str = column("induced cluster", key=True)
    gold: str = column("class; null = left without one", nullable=True)
    n_ij: int = column("tokens of the cluster in this class", ge=0)
    n_i: int = column("tokens of the class; 0 = left without one", ge=0)
    n_j: int = column("tokens of the cluster", ge=1)


class OverlappingScores(ByRun):
    """Measures of clusterings whose items may have several classes and several clusters."""

    measure: str = column("measure for overlapping clusterings", key=True)
    value: float = column("its value; null = undefined", nullable=True, le=1)
    standard_error: float = column(
        "of a value taken from a sample of items; null = exact", nullable=True, ge=0
    )


class SystemTable(Table):
    """Systems by measures: mean and standard deviation over runs, and the rank."""

    measure: str = column("type-level, token-level or overlapping measure", key=True)
    system: str = column("what induced the clusters", key=True)
    mean: float = column("mean over the runs that have a value", nullable=True)
    sd: float = column("sample standard deviation over runs; null below two", nullable=True, ge=0)
    n_runs: int = column("runs that have a value", ge=0)
    rank: float = column("1 = best; equal means share the mean of their ranks", nullable=True, ge=1)


class MeasureCorrelations(Table):
    """Rank correlations between two measures over systems."""

    measure_1: str = column("first measure", key=2)
    measure_2: str = column("second measure; every pair comes in both orders", key=3)
    method: str = column("rho, or tau-b", key=1, isin=["spearman", "kendall"])
    correlation: float = column(
        "null = undefined, e.g. where all values are equal", nullable=True, ge=-1, le=1
    )
    n_systems: int = column("systems with a value of both measures", ge=0)


class ClassShares(Table):
    """How many types and tokens the classes have."""

    gold: str = column("class; * = all items together", key=True)
    types: int = column("items of the class; types", ge=0)
    tokens: int = column("tokens of the class; tokens", ge=0)
    share_types: float = column("types / all types", nullable=True, ge=0, le=1)
    share_tokens: float = column("tokens / all tokens", nullable=True, ge=0, le=1)


class FrequentTypes(Table):
    """Which share of the tokens the k most frequent types have."""

    gold: str = column("class; * = all items together", key=True)
    k: int = column("number of the most frequent types", key=True, ge=1)
    tokens: int = column("tokens of these types in the class", ge=0)
    share_tokens: float = column("share of the tokens of the class", nullable=True, ge=0, le=1)


# Entries of items, and counts of tagged tokens


class GoldEntries(Table, further=(pl.Float64,)):
    """The gold entry of each item, A_i: one row for each of its classes.

    A further column ``weight`` says how much an item belongs to a class, where its source does.
    """

    item: str = column("word type", key=True, min_length=1)
    gold: str = column("one of its gold classes", key=True, min_length=1)
    f: int = column("tokens of the item in the class; 1 where nothing is counted; tokens", ge=1)


class InducedEntries(Table, further=(pl.Float64,)):
    """The induced entry of each item, B_i, in each run of a system: a row for each cluster.

    A further column ``weight`` says how much an item belongs to a cluster, where its source does.
    """

    system: str = column("what made the clusters", key=True, min_length=1)
    run: str = column("run of the system", key=True, min_length=1)
    item: str = column("word type", key=True, min_length=1)
    cluster: str = column("one of its clusters", key=True, min_length=1)
    f: int = column(
        "tokens of the item in the cluster; null = the source counts none; tokens",
        nullable=True,
        ge=1,
    )


class TaggedTypes(Table):
    """Joint counts over the tokens of a tagging: all that a measure looks at.

    A cluster is null for tokens that the system left without one.
    """

    system: str = column("what made the clusters", key=True, min_length=1)
    run: str = column("run of the system", key=True, min_length=1)
    item: str = column("word type", key=True, min_length=1)
    gold: str = column("gold class of the tokens", key=True, min_length=1)
    cluster: str = column(
        "cluster of the tokens; null = they have none", key=True, nullable=True, min_length=1
    )
    f: int = column("tokens of the item with both; tokens", ge=1)


class TokenTags(Table):
    """Tokens of one shard by what their file says of them, before anything is dropped."""

    run: str = column("run of the system; empty in a gold standard", key=True)
    item: str = column("word type; null = the token has none", key=True, nullable=True)
    gold: str = column("gold tag; null = the token has none", key=True, nullable=True)
    cluster: str = column("cluster; null = the token has none", key=True, nullable=True)
    f: int = column("tokens with all three; tokens", ge=1)


class TokenSentences(BySentence):
    """The tokens of one shard as in `TokenTags`, sentence by sentence."""

    run: str = column("run of the system; empty in a gold standard", key=True)
    file: str
    sentence: int
    item: str = column("word type; null = the token has none", key=True, nullable=True)
    gold: str = column("gold tag; null = the token has none", key=True, nullable=True)
    cluster: str = column("cluster; null = the token has none", key=True, nullable=True)
    f: int = column("tokens of the sentence with all three; tokens", ge=1)


class GoldSentences(BySentence):
    """Tokens of each sentence by item and gold class, to draw sentences again."""

    item: str = column("word type", key=True)
    gold: str = column("gold class of the tokens", key=True)
    f: int = column("tokens of the sentence with both; tokens", ge=1)


class TaggedSentences(ByRun, BySentence):
    """Tokens of each sentence by gold class and cluster, to draw sentences again."""

    gold: str = column("gold class of the tokens", key=True)
    cluster: str = column("cluster; null = they have none", key=True, nullable=True)
    f: int = column("tokens of the sentence with both; tokens", ge=1)


class SystemSize(ByRun):
    """What was read of each run of a system, and what was dropped."""

    what: str = column("items, clusters, tokens without a tag ...", key=True)
    count: int = column("how many", ge=0)
