"""Lists and dictionaries as gold standards: entries of two words, and the candidates they judge."""

from __future__ import annotations

from typing import Literal, TypeAlias

import polars as pl

Covered: TypeAlias = Literal["l1", "l2", "either", "all"]
"""Which candidates outside a list are false."""
WORDS = ("l1", "l2")
_ENTRY = ("category", *WORDS)


def two_words(entry: pl.Expr) -> tuple[pl.Expr, pl.Expr]:
    """Return the words of entries, divided at blanks, hyphens and underscores.

    Both are null unless there are exactly two.

    Examples
    --------
    >>> entries = pl.DataFrame({"entry": ["ad hoc", "ad-hoc", "tea", "in spite of", None]})
    >>> entries.select(l1=two_words(pl.col("entry"))[0], l2=two_words(pl.col("entry"))[1]).rows()
    [('ad', 'hoc'), ('ad', 'hoc'), (None, None), (None, None), (None, None)]
    """
    words = entry.str.extract_all(r"[^\s_\p{Pd}]+")
    both = pl.when(words.list.len() == 2).then(words)
    return both.list.get(0, null_on_oob=True), both.list.get(1, null_on_oob=True)


def spelling(word: pl.Expr, *, lower: bool) -> pl.Expr:
    """Return words as they are compared: in the Unicode form NFC, without blanks around them.

    Examples
    --------
    >>> words = pl.DataFrame({"word": [" Tea", "tea "]})
    >>> words.select(spelling(pl.col("word"), lower=True)).to_series().to_list()
    ['tea', 'tea']
    """
    text = word.cast(pl.String).str.strip_chars().str.normalize("NFC")
    return text.str.to_lowercase() if lower else text


def _entries(pairs: pl.LazyFrame, *, either_order: bool) -> pl.LazyFrame:
    """Return the pairs with one key for both orders, if the order does not count."""
    first, second = pl.col("l1"), pl.col("l2")
    swapped = (first > second) if either_order else pl.lit(value=False)
    return pairs.with_columns(
        key_1=pl.when(swapped).then(second).otherwise(first),
        key_2=pl.when(swapped).then(first).otherwise(second),
    )


def judge_by_list(
    entries: pl.LazyFrame, candidates: pl.LazyFrame, *, covered: Covered, either_order: bool
) -> pl.LazyFrame:
    """Judge candidates by lists that are complete for the words that they cover.

    A candidate is true if it is an entry. It is false if it is none, but its word is covered: an
    entry has that word in the same place (with `either_order`: in any place).

    Parameters
    ----------
    entries : LazyFrame
        category, l1, l2; not null, rows may be repeated.
    candidates : LazyFrame
        id, l1, l2; those with a null word are not judged.
    covered : {"l1", "l2", "either", "all"}
        The word that counts: the first, the second, any of the two; or every candidate is covered.
    either_order : bool
        Whether an entry is also that of the reversed pair.

    Returns
    -------
    LazyFrame
        category, id, tp, sorted; without the candidates that are not judged.

    Examples
    --------
    >>> entries = pl.LazyFrame({"category": ["TP"], "l1": ["strong"], "l2": ["tea"]})
    >>> candidates = pl.LazyFrame(
    ...     {"id": ["a", "b", "c"], "l1": ["strong", "strong", "old"], "l2": ["tea", "man", "man"]}
    ... )
    >>> judge_by_list(entries, candidates, covered="l1", either_order=False).collect().rows()
    [('TP', 'a', True), ('TP', 'b', False)]
    """
    categories = entries.select("category").unique()
    pairs = _entries(candidates.drop_nulls(WORDS), either_order=either_order)
    listed = _entries(entries, either_order=either_order)
    keys = listed.select("category", "key_1", "key_2").unique()
    judged = pairs.join(categories, how="cross").join(
        keys.with_columns(listed=True), on=["category", "key_1", "key_2"], how="left"
    )
    for word in WORDS:
        places = WORDS if either_order else (word,)
        words = pl.concat(entries.select("category", pl.col(each).alias(word)) for each in places)
        flagged = words.unique().with_columns(pl.lit(value=True).alias(f"in_{word}"))
        judged = judged.join(flagged, on=["category", word], how="left")
    inside = {
        "l1": pl.col("in_l1"),
        "l2": pl.col("in_l2"),
        "either": pl.any_horizontal("in_l1", "in_l2"),
        "all": pl.lit(value=True),
    }[covered]
    false = pl.when(inside.fill_null(value=False)).then(statement=False)
    tp = pl.when(pl.col("listed")).then(statement=True).otherwise(false)
    return judged.select("category", "id", tp=tp).drop_nulls("tp").sort("category", "id")


def list_coverage(
    rows: pl.LazyFrame,
    candidates: pl.LazyFrame,
    judgements: pl.LazyFrame,
    *,
    either_order: bool,
) -> pl.LazyFrame:
    """Count entries and candidates of each category.

    Parameters
    ----------
    rows : LazyFrame
        category, file, l1, l2 of all rows of the lists; a word is null where a row has not two.
    candidates, either_order
        As for `judge_by_list`.
    judgements : LazyFrame
        What `judge_by_list` returns.

    Returns
    -------
    LazyFrame
        Table `GoldCoverage`, without its rows for categories that have none.
    """
    known, pairs = rows.drop_nulls(WORDS), candidates.drop_nulls(WORDS)
    keys = ("key_1", "key_2")
    listed = _entries(known, either_order=either_order)
    entries = listed.group_by("category", *keys).agg(pl.col(WORDS).first())
    matches = _entries(pairs, either_order=either_order).select(keys).unique()
    flagged = entries.join(matches.with_columns(found=True), on=keys, how="left")
    for word in WORDS:
        places = WORDS if either_order else (word,)
        words = pl.concat(pairs.select(pl.col(each).alias(word)) for each in places).unique()
        flagged = flagged.join(
            words.with_columns(pl.lit(value=True).alias(f"in_{word}")), on=word, how="left"
        )
    matched = pl.col("found").fill_null(value=False)
    absent = ~pl.all_horizontal(pl.col("in_l1", "in_l2").fill_null(value=False))
    of_entries = flagged.group_by("category").agg(
        n_entries=pl.len(),
        n_matched=matched.sum(),
        n_unmatched=(~matched).sum(),
        n_absent=absent.sum(),
    )
    repeated = listed.group_by("category", "file").agg(
        n_duplicates=pl.len() - pl.struct(keys).n_unique()
    )
    of_rows = rows.group_by("category").agg(
        n_unreadable=pl.any_horizontal(pl.col(WORDS).is_null()).sum()
    )
    of_candidates = judgements.group_by("category").agg(
        n_judged=pl.len(), n_true=pl.col("tp").sum(), n_false=(~pl.col("tp")).sum()
    )
    counted = of_rows.join(candidates.select(n_candidates=pl.len()), how="cross")
    for part in (of_entries, repeated.group_by("category").agg(pl.sum("n_duplicates")),
                 of_candidates):  # fmt: skip
        counted = counted.join(part, on="category", how="left")
    whole = counted.with_columns(pl.exclude("category").fill_null(0).cast(pl.Int64))
    unjudged = pl.col("n_candidates") - pl.col("n_judged")
    return whole.with_columns(n_unjudged=unjudged).sort("category")
