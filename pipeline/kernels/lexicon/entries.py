"""Entries of a dictionary of any size as its wordlist and its lemmas, in parts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from pipeline.kernels.lexicon.wordlists import canonical, firsts, sizes
from pipeline.kernels.parts import by_range, spill_of
from pipeline.spill import Spill

ENTRY = pl.Schema(
    {"file": pl.String, "line": pl.Int64, "lemma": pl.String, "form": pl.String, "own": pl.String}
)
"""An entry: `own` is the lemma as a form of itself, null where it is to be none."""
_LEMMA = pl.Schema(
    {"place": pl.String, "first": pl.String, "first_line": pl.Int64, "lemma": pl.String,
     "n_rows": pl.Int64, "n_forms": pl.Int64}
)  # fmt: skip


@dataclass
class Counts:
    """What was found in the entries; adds up while they are listed."""

    repeated: int = 0
    """Entries whose lemma and form stand in another one, too."""
    lemmas: int = 0
    without_forms: int = 0
    """Lemmas that have none."""
    forms: int = 0
    """Forms, each counted once per lemma."""


def listed_in_parts(
    entries: Spill, counts: Counts
) -> Iterator[tuple[pl.DataFrame | None, pl.DataFrame | None]]:
    """Yield parts of the wordlist, in order of lemma and form, then of the lemmas in their order.

    Parameters
    ----------
    entries : Spill
        One bucket of `ENTRY`, all with a lemma, in any order; it is empty afterwards.
    counts : Counts
        Is told of what is there.

    Yields
    ------
    wordlist, lemmas : DataFrame or None
        One of the two: lemma, form as of `wordlists.canonical`, or lemma, position, n_rows as of
        `wordlists.lex`, and n_forms.

    Examples
    --------
    >>> rows = [("d", 1, "ra", "rat", None), ("d", 2, "dar", None, None)]
    >>> entries = spill_of(1, ENTRY)
    >>> entries.add(pl.DataFrame(rows, schema=ENTRY, orient="row"), pl.lit(0))
    >>> [[table.rows() for table in pair if table is not None]
    ...  for pair in listed_in_parts(entries, Counts())]
    [[[('dar', None), ('ra', 'rat')]], [[('ra', 1, 1, 1), ('dar', 2, 1, 0)]]]
    """
    with spill_of(1, _LEMMA) as places:
        with by_range(entries, by="lemma") as by_lemma:
            entries.clear()
            for part in by_lemma:
                rows = part.collect()
                forms = _forms(rows).sort("lemma", "form")
                lemmas = _lemmas(rows, forms)
                _count(counts, rows, lemmas)
                places.add(lemmas, pl.lit(0))
                yield forms, None
        yield from ((None, each) for each in _in_order(places))


def canonical_in_parts(rows: Spill) -> Iterator[pl.DataFrame]:
    """Yield what `canonical` returns in order of lemma and form, no more than there is room for.

    Parameters
    ----------
    rows : Spill
        One bucket of lemma and form, all with a lemma, in any order; it is empty afterwards.
    """
    with by_range(rows, by="lemma") as by_lemma:
        rows.clear()
        for part in by_lemma:
            yield canonical(part).collect().sort("lemma", "form")


def _forms(rows: pl.DataFrame) -> pl.DataFrame:
    own = rows.lazy().drop_nulls("own").select("lemma", form="own")
    return canonical(pl.concat([rows.lazy().select("lemma", "form"), own])).collect()


def _lemmas(rows: pl.DataFrame, forms: pl.DataFrame) -> pl.DataFrame:
    """Return the lemmas of some rows, each with the place where it first stands."""
    number = pl.col("first_line").cast(pl.String).str.zfill(20)
    place = pl.concat_str("first", pl.lit("\0"), number)
    found = firsts(rows.lazy()).join(sizes(forms.lazy(), name="n_forms"), on="lemma")
    return found.with_columns(place=place).select(*_LEMMA).collect()


def _count(counts: Counts, rows: pl.DataFrame, lemmas: pl.DataFrame) -> None:
    filled = rows.select("lemma", "form").drop_nulls()
    counts.repeated += filled.height - filled.n_unique()
    counts.lemmas += lemmas.height
    counts.without_forms += int((lemmas["n_forms"] == 0).sum())
    counts.forms += int(lemmas["n_forms"].sum())


def _in_order(lemmas: Spill) -> Iterator[pl.DataFrame]:
    """Yield the lemmas in the order of their first appearance, numbered."""
    before = 0
    with by_range(lemmas, by="place") as by_place:
        for part in by_place:
            ordered = part.sort("first", "first_line", "lemma")
            place = pl.int_range(before + 1, before + pl.len() + 1, dtype=pl.Int64)
            found = ordered.select("lemma", "n_rows", "n_forms", position=place)
            rows = found.select("lemma", "position", "n_rows", "n_forms").collect()
            before += rows.height
            yield rows
