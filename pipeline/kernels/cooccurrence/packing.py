"""Several small whole numbers in one: keys that are cheap to group by."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import polars as pl

_BITS = 64


@dataclass(frozen=True)
class Packing:
    """Where the number of each position lies in as few 64-bit words as hold them in order.

    Parameters
    ----------
    places : tuple of (int, int, int)
        For each position the word, the first bit in it, and how many bits.
    """

    places: tuple[tuple[int, int, int], ...]

    @classmethod
    def of(cls, sizes: Sequence[int]) -> Packing:
        """Return a packing for numbers from 0 to size - 1.

        Parameters
        ----------
        sizes : sequence of int
            How many numbers there are at each position.

        Examples
        --------
        >>> Packing.of([1000, 1000, 2**60]).places
        ((0, 0, 10), (0, 10, 10), (1, 0, 60))
        """
        places, word, free = [], 0, 0
        for size in sizes:
            bits = max(1, (size - 1).bit_length())
            if free + bits > _BITS:
                word, free = word + 1, 0
            places.append((word, free, bits))
            free += bits
        return cls(tuple(places))

    @property
    def names(self) -> list[str]:
        """The names of the words."""
        return [f"_word_{word}" for word in sorted({word for word, _, _ in self.places})]

    def words(self, codes: Sequence[pl.Expr]) -> list[pl.Expr]:
        """Return the words that hold the numbers of all positions.

        Parameters
        ----------
        codes : sequence of Expr
            The number at each position.
        """
        by_word: dict[int, pl.Expr] = {}
        for code, (word, first, _) in zip(codes, self.places, strict=True):
            shifted = code.cast(pl.UInt64) * pl.lit(2**first, pl.UInt64)
            by_word[word] = by_word[word] + shifted if word in by_word else shifted
        return [each.alias(name) for each, name in zip(by_word.values(), self.names, strict=True)]

    def part(self, positions: Collection[int]) -> list[pl.Expr]:
        """Return the words with the numbers of some positions alone, the others 0.

        Parameters
        ----------
        positions : collection of int
            Which, from 0.

        Examples
        --------
        >>> two = Packing.of([4, 4])
        >>> words = pl.DataFrame({"a": [1], "b": [2]}).select(two.words([pl.col("a"), pl.col("b")]))
        >>> words.item(), words.select(two.part([1])).item()
        (9, 8)
        """
        masks: dict[int, int] = {}
        for position in sorted(positions):
            word, first, bits = self.places[position]
            masks[word] = masks.get(word, 0) | ((2**bits - 1) << first)
        return [
            (pl.col(f"_word_{word}") & pl.lit(mask, pl.UInt64)).alias(f"_part_{word}")
            for word, mask in masks.items()
        ]


def packed(frame: pl.DataFrame, columns: Sequence[str]) -> tuple[pl.DataFrame, Packing]:
    """Return the words of text or Categorical columns, and how they are packed.

    Parameters
    ----------
    frame : DataFrame
        With these columns, String or Categorical, without nulls.
    columns : sequence of str
        Their names, one a position.

    Examples
    --------
    >>> words, packing = packed(pl.DataFrame({"a": ["x", "y"], "b": ["u", "u"]}), ["a", "b"])
    >>> words.height, packing.names
    (2, ['_word_0'])
    """
    codes = frame.select(coded(name, frame.schema[name]) for name in columns)
    sizes = [1 + int(number or 0) for number in codes.max().row(0)]
    packing = Packing.of(sizes)
    return codes.select(packing.words([pl.col(name) for name in columns])), packing


def coded(name: str, dtype: pl.DataType) -> pl.Expr:
    """Return a text or Categorical column as whole numbers."""
    column = pl.col(name)
    labels = column.cast(pl.Categorical(pl.Categories.random())) if dtype == pl.String else column
    return labels.to_physical()
