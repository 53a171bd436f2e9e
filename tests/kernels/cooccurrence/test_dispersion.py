"""Dispersion of words over parts: published figures, exact fractions, laws."""

from __future__ import annotations

import math
from fractions import Fraction

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.cooccurrence.counting import MEASURES, evenness

Corpus = list[tuple[int, int]]
"""Frequency of the word and size, part by part."""


def evenness_of(corpus: Corpus, *, word: str = "a") -> dict[str, float]:
    counts = [(word, part, f) for part, (f, _) in enumerate(corpus) if f]
    sizes = [(part, size) for part, (_, size) in enumerate(corpus)]
    table = evenness(
        pl.LazyFrame(
            counts, schema={"word": pl.String, "part": pl.Int64, "f": pl.Int64}, orient="row"
        ),
        pl.LazyFrame(sizes, schema={"part": pl.Int64, "size": pl.Int64}, orient="row"),
    )
    return table.collect().row(0, named=True)


def slow(corpus: Corpus) -> dict[str, float | None]:
    """Apply the published formulas to all parts."""
    f, total, n = sum(v for v, _ in corpus), sum(s for _, s in corpus), len(corpus)
    if n == 1:
        return dict.fromkeys(MEASURES)
    dp = sum(abs(Fraction(v, f) - Fraction(s, total)) for v, s in corpus) / 2
    p = [Fraction(v, s) for v, s in corpus]
    mean = sum(p) / n
    variance = sum((each - mean) ** 2 for each in p) / n
    return {
        "dp": float(dp),
        "dp_norm": float(dp / (1 - Fraction(min(s for _, s in corpus), total))),
        "juilland_d": 1 - math.sqrt(variance / mean**2 / (n - 1)),
    }


def test_the_letters_of_gries_have_their_published_values() -> None:
    """Gries 2008 and 2020: "a" in five parts; Lijffijt & Gries 2012 for the normalised DP."""
    a = evenness_of([(1, 9), (2, 10), (3, 10), (4, 10), (5, 11)])
    assert (a["f"], a["N"], a["documents"], a["parts"]) == (15, 50, 5, 5)
    assert a["dp"] == pytest.approx(0.18, abs=1e-15)
    assert round(a["dp_norm"], 7) == 0.2195122
    assert round(a["juilland_d"], 3) == 0.785


def test_allemand_has_its_published_values() -> None:
    """Lyne 1985; D from the R package tlda, DP by its definition."""
    sizes = [8143, 8058, 8271, 8125, 7959, 7941, 8146, 8001, 8003, 7930]
    allemand = evenness_of(list(zip([2, 0, 1, 1, 3, 0, 3, 0, 0, 0], sizes, strict=True)))
    assert allemand["documents"] == 5
    assert round(allemand["juilland_d"], 7) == 0.6038797
    assert allemand["dp"] == pytest.approx(
        sum(
            abs(v / 10 - s / 80577)
            for v, s in zip([2, 0, 1, 1, 3, 0, 3, 0, 0, 0], sizes, strict=True)
        )
        / 2
    )


corpora = st.lists(
    st.tuples(st.integers(0, 60), st.integers(60, 5000)), min_size=1, max_size=12
).filter(lambda corpus: any(v for v, _ in corpus))


@given(corpus=corpora)
def test_measures_agree_with_exact_fractions(corpus: Corpus) -> None:
    here, there = evenness_of(corpus), slow(corpus)
    for name in MEASURES:
        expected = there[name]
        assert here[name] == (expected if expected is None else pytest.approx(expected, abs=1e-12))


@given(corpus=corpora, data=st.data())
def test_the_order_of_parts_does_not_matter(corpus: Corpus, data: st.DataObject) -> None:
    """To the last bit, since digests depend on it."""
    assert evenness_of(corpus) == evenness_of(data.draw(st.permutations(corpus)))


def test_huge_counts_do_not_wrap() -> None:
    size = 4 * 10**11
    even = evenness_of([(10**10, size), (10**10, size)])
    assert (even["dp"], even["dp_norm"], even["juilland_d"]) == (0.0, 0.0, 1.0)
    apart = evenness_of([(10**10, size), (0, size)])
    assert (apart["dp"], apart["dp_norm"], apart["juilland_d"]) == (0.5, 1.0, 0.0)


def test_one_part_has_no_dispersion() -> None:
    alone = evenness_of([(3, 10)])
    assert [alone[name] for name in MEASURES] == [None] * 3
    assert (alone["f"], alone["documents"], alone["parts"]) == (3, 1, 1)


def test_tables_without_words_are_empty() -> None:
    empty = {"word": pl.String, "part": pl.Int64, "f": pl.Int64}
    sizes = pl.LazyFrame(schema={"part": pl.Int64, "size": pl.Int64})
    assert evenness(pl.LazyFrame(schema=empty), sizes).collect().is_empty()
