"""Wordforms that paradigm tables generate."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from pipeline.kernels.parts import batches, most_rows

STEM = "~"
"""Where the stem goes in an ending that is no mere suffix: ``n~u``."""


def generated(entries: pl.LazyFrame, endings: pl.LazyFrame) -> pl.LazyFrame:
    """Return the wordforms of lemmas that name their paradigm.

    Parameters
    ----------
    entries : LazyFrame
        lemma, stem, paradigm.
    endings : LazyFrame
        paradigm, ending: a suffix, null or empty for the bare stem; or a pattern with ``~``
        where the stem goes, for prefixes and circumfixes.

    Returns
    -------
    LazyFrame
        lemma, form, a row for each ending; none for an entry whose paradigm has no endings.

    Examples
    --------
    >>> entries = pl.LazyFrame({"lemma": ["kiteb"], "stem": ["ktib"], "paradigm": ["I"]})
    >>> endings = pl.LazyFrame({"paradigm": ["I", "I"], "ending": ["na", "ni~"]})
    >>> generated(entries, endings).sort("form").collect()["form"].to_list()
    ['ktibna', 'niktib']
    """
    both = entries.join(endings.with_columns(pl.col("ending").fill_null("")), on="paradigm")
    whole = pl.col("ending").str.contains(STEM, literal=True)
    before = pl.when(whole).then(pl.col("ending").str.splitn(STEM, 2).struct[0]).otherwise(
        pl.lit("")
    )  # fmt: skip
    after = pl.when(whole).then(pl.col("ending").str.splitn(STEM, 2).struct[1]).otherwise("ending")
    return both.select("lemma", form=pl.concat_str(before, "stem", after))


def generated_in_parts(entries: pl.LazyFrame, endings: pl.LazyFrame) -> Iterator[pl.DataFrame]:
    """Yield what `generated` returns, about as many rows at a time as there is room for.

    Parameters
    ----------
    entries, endings : LazyFrame
        As for `generated`. The endings are held.

    Yields
    ------
    DataFrame
        lemma, form; one without rows where there are no entries. An entry is never divided.
    """
    table = endings.select("paradigm", "ending").collect()
    lengths = table.group_by("paradigm").agg(n=pl.len().cast(pl.Int64))
    for batch in batches(entries):
        known = batch.join(lengths, on="paradigm", maintain_order="left")
        numbered = known.with_columns(part=pl.col("n").cum_sum() // most_rows())
        parts = numbered.partition_by("part", maintain_order=True) or [numbered]
        yield from (generated(each.lazy(), table.lazy()).collect() for each in parts)
