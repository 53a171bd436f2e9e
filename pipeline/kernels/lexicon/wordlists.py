"""Wordlists: a set of lemmas, each with the set of its wordforms."""

from __future__ import annotations

import polars as pl

from pipeline.kernels.parts import ranges_of


def lex(entries: pl.LazyFrame) -> pl.LazyFrame:
    """Return the lemmas of a dictionary, each once, in the order of their first appearance.

    The dictionary is a sequence of entries in which a lemma may come again, as homographs do.

    Parameters
    ----------
    entries : LazyFrame
        file, line and lemma of each entry; rows without a lemma are no entries.

    Returns
    -------
    LazyFrame
        lemma, position (1-based, in order of file and line), n_rows (Int64); sorted.

    References
    ----------
    Dalli, Adaptation of the F-measure to Cluster Based Lexicon Quality Evaluation, section 3.

    Examples
    --------
    >>> rows = {"file": ["d"] * 3, "line": [2, 1, 3], "lemma": ["ra", "ktieb", "ra"]}
    >>> lex(pl.LazyFrame(rows)).collect().rows()
    [('ktieb', 1, 1), ('ra', 2, 2)]
    """
    place = pl.int_range(1, pl.len() + 1, dtype=pl.Int64).alias("position")
    ordered = firsts(entries).sort("first", "first_line", "lemma")
    return ordered.select("lemma", place, "n_rows")


def firsts(entries: pl.LazyFrame) -> pl.LazyFrame:
    """Return where each lemma of a dictionary first appears.

    Parameters
    ----------
    entries : LazyFrame
        As for `lex`.

    Returns
    -------
    LazyFrame
        lemma, first (a file), first_line, n_rows (Int64); in no order.
    """
    first = pl.col("file").min()
    line = pl.col("line").filter(pl.col("file") == first).min()
    return entries.drop_nulls("lemma").group_by("lemma").agg(
        first=first, first_line=line, n_rows=pl.len().cast(pl.Int64)
    )  # fmt: skip


def canonical(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Return the canonical wordlist: for each lemma the set of its wordforms.

    Parameters
    ----------
    rows : LazyFrame
        lemma and form, repeated or not. A null form says that the lemma is listed, and counts
        only where no other row gives the lemma a form; a row without a lemma does not count.

    Returns
    -------
    LazyFrame
        lemma, form: distinct rows, in no order. A form of several lemmas counts in each.

    Examples
    --------
    >>> rows = {"lemma": ["ra", "ra", "ra", "dar"], "form": ["ra", "rat", None, None]}
    >>> canonical(pl.LazyFrame(rows)).sort("lemma", "form").collect().rows()
    [('dar', None), ('ra', 'ra'), ('ra', 'rat')]
    """
    listed = rows.select("lemma", "form").drop_nulls("lemma")
    full = listed.drop_nulls("form").unique()
    bare = listed.filter(pl.col("form").is_null()).unique().join(full, on="lemma", how="anti")
    return pl.concat([full, bare])


def union(*wordlists: pl.LazyFrame) -> pl.LazyFrame:
    """Return the lemmas of all wordlists, the form sets of equal lemmas united.

    A full outer join on the lemma. Idempotent, commutative and associative; a wordlist
    without lemmas is its identity.

    Parameters
    ----------
    *wordlists : LazyFrame
        lemma, form; at least one.

    Returns
    -------
    LazyFrame
        lemma, form, in no order.

    Examples
    --------
    >>> one, two = (pl.LazyFrame({"lemma": ["ra"], "form": [form]}) for form in ("ra", "rat"))
    >>> union(one, two).sort("form").collect().rows()
    [('ra', 'ra'), ('ra', 'rat')]
    """
    return canonical(pl.concat(each.select("lemma", "form") for each in wordlists))


def common(first: pl.LazyFrame, *others: pl.LazyFrame) -> pl.LazyFrame:
    """Return Y, the lemmas that all wordlists have: it selects lemmas, and changes no form set.

    Examples
    --------
    >>> one = pl.LazyFrame({"lemma": ["ra", "dar"], "form": ["ra", "dar"]})
    >>> two = pl.LazyFrame({"lemma": ["ra"], "form": ["rajt"]})
    >>> common(one, two).collect().rows()
    [('ra',)]
    """
    shared = first.select("lemma").unique()
    for other in others:
        shared = shared.join(other.select("lemma"), on="lemma", how="semi")
    return shared


def common_in_parts(*wordlists: pl.LazyFrame) -> pl.DataFrame:
    """Return what `common` does; no more of the wordlists is held than there is room for."""
    ranges = ranges_of("lemma", *wordlists)
    return pl.concat(
        common(*(ranges.of(each, number, by="lemma") for each in wordlists)).collect()
        for number in range(len(ranges))
    )


def sizes(wordlist: pl.LazyFrame, *, name: str = "n") -> pl.LazyFrame:
    """Return the number of wordforms of each lemma, 0 for one that is listed without any.

    Parameters
    ----------
    wordlist : LazyFrame
        lemma, form, as `canonical` gives it.
    name : str
        What to call the number.
    """
    return wordlist.group_by("lemma").agg(pl.col("form").count().cast(pl.Int64).alias(name))
