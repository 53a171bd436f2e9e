"""Dispersion of words over corpus parts of different sizes."""

from __future__ import annotations

import polars as pl

MEASURES = ("dp", "dp_norm", "juilland_d")
_WIDE = pl.Int128()
"""Holds products of two frequencies."""


def evenness(counts: pl.LazyFrame, sizes: pl.LazyFrame) -> pl.LazyFrame:
    """Return the dispersion of each word over the parts of a corpus.

    With v_i its frequency in part i of size s_i, f = sum v_i, N = sum s_i, p_i = v_i / s_i and n
    parts:

        DP      = 1/2 sum |v_i / f - s_i / N|
        DPnorm  = DP / (1 - min s_i / N)
        D       = 1 - sd(p) / mean(p) / sqrt(n - 1), sd with the divisor n

    Parameters
    ----------
    counts : LazyFrame
        word, f >= 1, and columns that identify the part.
    sizes : LazyFrame
        The same columns, and size >= 1, for every part.

    Returns
    -------
    LazyFrame
        word, f, N, documents (parts with the word), parts (n), and `MEASURES`: 0 for words spread
        in proportion to sizes, approaching 1 for words in few parts (D is reversed). All are null
        for a single part.

    Notes
    -----
    The numerator of DP is a sum of whole numbers: both halves of the deviations are equal, so that
    DP = sum max(0, v_i N - s_i f) / (f N), and only parts with the word count.

    References
    ----------
    Gries 2008, Dispersions and adjusted frequencies in corpora; Lijffijt & Gries 2012, Correction;
    Juilland & Chang-Rodriguez 1964, for p_i in place of v_i Gries 2020, Analyzing dispersion.

    Examples
    --------
    >>> counts = pl.LazyFrame({"word": ["a", "a"], "part": [1, 2], "f": [1, 2]})
    >>> sizes = pl.LazyFrame({"part": [1, 2, 3], "size": [10, 10, 20]})
    >>> evenness(counts, sizes).select("documents", pl.col("dp").round(4)).collect().row(0)
    (2, 0.5)
    """
    part = [name for name in sizes.collect_schema() if name != "size"]
    corpus = sizes.select(
        N=pl.col("size").sum(), parts=pl.len().cast(pl.Int64), _smallest=pl.col("size").min()
    )
    # Sorted by what is added up, so that the sums are the same whatever the parts are called.
    placed = counts.join(sizes, on=part).join(corpus, how="cross").sort("word", "size", "f")
    words = placed.group_by("word", maintain_order=True).agg(
        pl.sum("f"),
        pl.col("N", "parts", "_smallest").first(),
        documents=pl.len().cast(pl.Int64),
        _excess_sum=_excess_sum(),
        _squared_variation=_squared_variation(),
    )
    # Sums of fractions are the same in any buckets if no group is added up in parts.
    words = words.collect(engine="in-memory").lazy()
    several = pl.when(pl.col("parts") > 1)
    return words.select(
        "word",
        "f",
        "N",
        "documents",
        "parts",
        **{k: several.then(v) for k, v in _measures().items()},
    )


def _excess_sum() -> pl.Expr:
    """Return sum max(0, v N - s f) over the parts of a word."""
    here = pl.col("f").cast(_WIDE) * pl.col("N").cast(_WIDE)
    even = pl.col("size").cast(_WIDE) * pl.col("f").sum().cast(_WIDE)
    return pl.when(here > even).then(here - even).otherwise(pl.lit(0, _WIDE)).sum()


def _squared_variation() -> pl.Expr:
    """Return sd(p)^2 / mean(p)^2; each part without the word adds mean(p)^2 to the squares."""
    p, parts = pl.col("f") / pl.col("size"), pl.col("parts").first().cast(pl.Float64)
    mean = p.sum() / parts
    squares = (p - mean).pow(2).sum() + (parts - pl.len()) * mean.pow(2)
    return squares / parts / mean.pow(2)


def _measures() -> dict[str, pl.Expr]:
    """Return the measures, from whole numbers and the squared coefficient of variation."""
    f, total, excess = (pl.col(name).cast(pl.Float64) for name in ("f", "N", "_excess_sum"))
    rest = (pl.col("N") - pl.col("_smallest")).cast(pl.Float64)
    variation = (pl.col("_squared_variation") / (pl.col("parts") - 1)).sqrt()
    return {
        "dp": excess / (f * total),
        "dp_norm": (excess / (f * rest)).clip(0.0, 1.0),
        "juilland_d": pl.when(pl.col("documents") > 1)
        .then((1.0 - variation).clip(0.0, 1.0))
        .otherwise(0.0),
    }
