"""Tuple tokens: units that follow each other, and pairs whose units have several elements."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from pipeline.errors import DataError
from pipeline.kernels.arrays import IntArray
from pipeline.kernels.cooccurrence.token_index import TokenIndex, token_index
from pipeline.kernels.cooccurrence.tokens import PLACE, TOKEN, longest
from pipeline.kernels.cooccurrence.units import ELEMENTS, LABELS


def elements(size: int) -> list[str]:
    """Return the columns of the elements: l1, l2 ...

    Examples
    --------
    >>> elements(3)
    ['l1', 'l2', 'l3']
    """
    return [f"l{position}" for position in range(1, size + 1)]


def adjacent_tuples(
    units: Sequence[pl.DataFrame], tokens: pl.DataFrame, *, gap: int = 0
) -> pl.DataFrame:
    """Return every sequence of units that follow each other in a sentence.

    Parameters
    ----------
    units : sequence of DataFrame
        The units that may stand at each position, as `units.units` gives them.
    tokens : DataFrame
        `TOKEN` and `PLACE` of all tokens, in order.
    gap : int
        Tokens that may stand between two neighbours; 0: none.

    Returns
    -------
    DataFrame
        place, l1 ... lk (Categorical), token_1 ... token_k: each choice of tokens once, and
        where a token bears several units, each choice of units.

    Examples
    --------
    >>> tokens = pl.DataFrame({"token": [0, 1, 2], "place": [0, 0, 0]})
    >>> words = tokens.with_columns(unit=pl.Series(["a", "b", "c"], dtype=pl.Categorical))
    >>> adjacent_tuples([words, words], tokens).select("l1", "l2").rows()
    [('a', 'b'), ('b', 'c')]
    """
    place, gap = tokens.get_column(PLACE).to_numpy(), min(gap, longest(tokens))
    dense = [token_index(each, len(place)) for each in units]
    at = dense[0].units.get_column(TOKEN).to_numpy()
    chains, ends = [np.arange(len(at))], [at]
    for each in dense[1:]:
        kept, index, at = _followers(each, ends[-1], place, gap)
        chains = [*(chain[kept] for chain in chains), index]
        ends = [*(end[kept] for end in ends), at]
    labels = [
        each.units.get_column("unit").gather(chain).alias(f"l{number}")
        for number, (each, chain) in enumerate(zip(dense, chains, strict=True), start=1)
    ]
    where = [pl.Series(f"token_{number}", end) for number, end in enumerate(ends, start=1)]
    return pl.DataFrame([pl.Series(PLACE, place[ends[0]]), *labels, *where])


def _followers(
    units: TokenIndex, at: IntArray, place: IntArray, gap: int
) -> tuple[IntArray, IntArray, IntArray]:
    """Return which of the tokens `at` have a unit after them, which unit, and on which token."""
    nothing = np.zeros(0, dtype=np.int64)
    followers = [(nothing, nothing, nothing)]
    for distance in range(1, gap + 2):
        after = at + distance
        inside = after < len(place)
        inside[inside] = place[after[inside]] == place[at[inside]]
        rows = np.flatnonzero(inside)
        for row in units.rows:
            index = row[after[rows]]
            hit = index >= 0
            followers.append((rows[hit], index[hit], after[rows[hit]]))
    kept, index, tokens = (np.concatenate(each) for each in zip(*followers, strict=True))
    return kept, index, tokens


def pair_tuples(pairs: pl.DataFrame, *, left: int, right: int) -> pl.DataFrame:
    """Take the units of pairs apart into their elements.

    Parameters
    ----------
    pairs : DataFrame
        See `pipeline.kernels.cooccurrence.pairs.COLUMNS`; labels of several elements as `Unit`
        makes them.
    left, right : int
        How many elements the units have.

    Returns
    -------
    DataFrame
        place, l1 ... lk (Categorical), token_1, token_2: the elements of the left unit, then
        those of the right one.

    Raises
    ------
    DataError
        If an element holds the character that separates them, U+001F.
    """
    split = [*_split(pairs.get_column("l1"), left), *_split(pairs.get_column("l2"), right)]
    named = [column.alias(name) for column, name in zip(split, elements(len(split)), strict=True)]
    return pl.DataFrame([pairs.get_column(PLACE), *named, *pairs.select("^token_.*$")])


def _split(labels: pl.Series, number: int) -> list[pl.Series]:
    """Split each distinct label once."""
    if number == 1:
        return [labels]
    kinds = labels.unique().to_frame("label")
    text = kinds.select(pl.col("label").cast(pl.String)).to_series()
    _require_parts(text, number)
    parts = text.str.split_exact(ELEMENTS, number - 1).struct.unnest()
    coded = [each.cast(pl.Categorical(pl.Categories(LABELS))) for each in parts]
    joined = labels.to_frame("label").join(
        kinds.with_columns(coded), on="label", how="left", maintain_order="left"
    )
    return joined.drop("label").get_columns()


def _require_parts(text: pl.Series, number: int) -> None:
    wrong = text.filter(text.str.count_matches(ELEMENTS, literal=True) != number - 1)
    if len(wrong):
        examples = ", ".join(map(repr, wrong.sort().head(3)))
        what = f"{len(wrong):,} label(s) hold the control character U+001F: {examples}"
        raise DataError(f"units of tuples: {what}; remove it from the corpus")


def together(counts: pl.DataFrame, *, size: int) -> pl.DataFrame:
    r"""Return counts with the column units in place of l1 ... lk, `ELEMENTS` between them.

    Parameters
    ----------
    counts : DataFrame
        l1 ... lk, and what else is known of each tuple.
    size : int
        k.

    Raises
    ------
    DataError
        If a unit holds the character that separates them, U+001F.

    Examples
    --------
    >>> together(pl.DataFrame({"l1": ["a"], "l2": ["b"], "f": [1]}), size=2).row(0)
    ('a\x1fb', 1)
    """
    texts = [pl.col(name).cast(pl.String) for name in elements(size)]
    units = pl.concat_str(texts, separator=ELEMENTS).alias("units")
    named = counts.select(units, pl.exclude(elements(size)))
    _require_parts(named.get_column("units"), size)
    return named


def apart(counts: pl.LazyFrame, *, size: int) -> pl.LazyFrame:
    r"""Return counts with the columns l1 ... lk in place of units.

    Examples
    --------
    >>> apart(pl.LazyFrame({"units": ["a\x1fb"], "f": [1]}), size=2).collect().row(0)
    ('a', 'b', 1)
    """
    parts = pl.col("units").cast(pl.String).str.split_exact(ELEMENTS, size - 1)
    named = parts.struct.rename_fields(elements(size)).alias("units")
    return counts.with_columns(named).unnest("units")
