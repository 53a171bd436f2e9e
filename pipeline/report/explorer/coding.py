"""Columns as bytes: few of them, and fast to read in the page.

A number of several bytes stands as several planes, all of its lowest bytes first: equal columns of
bytes compress better than mixed ones.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from pipeline.report.explorer.block import Kind

Ints: TypeAlias = npt.NDArray[np.int64]
Coded: TypeAlias = tuple[dict[str, Any], bytes]
"""How to read a column, and its bytes."""

DIGITS = 4
"""Significant digits of a number."""
SHARE_SCALE = 10_000
"""A share is a whole number of these parts: per cent with two decimals."""
_SPECIAL = -(2**15)
"""The power of what is no number: the mantissa says which."""
_NULL, _UP, _DOWN = 0, 1, 2
_LEAST = 1e-300
"""What is nearer to zero is zero."""
_LARGEST = 2**48 - 2
_REPEATED = 2
"""Texts that occur so often on average are listed once."""


def coded(values: pl.Series, kind: Kind) -> Coded:
    r"""Return how to read a column, and its bytes.

    Parameters
    ----------
    values : Series
        Texts, whole numbers, numbers or yes and no; null where nothing is known.
    kind : str
        What they are, see `Kind`. Numbers keep four significant digits and shares four decimals.

    Raises
    ------
    ValueError
        If a count or a rank is negative or above 2^48 - 2.

    Examples
    --------
    >>> coded(pl.Series([3, None, 300]), "count")
    ({'as': 'whole', 'width': 2}, b'\x04\x00-\x00\x00\x01')
    >>> coded(pl.Series(["b", "a", None]), "label")
    ({'as': 'text', 'bytes': 9, 'width': 1}, b'["a","b"]\x02\x01\x00')
    """
    if kind in {"text", "label"}:
        return _texts(values.cast(pl.String))
    if kind == "number":
        return _numbers(values.cast(pl.Float64))
    if kind == "share":
        return _shares(values.cast(pl.Float64))
    if kind == "flag":
        values = values.cast(pl.Int64)
    return _whole(values, kind)


def in_order(texts: Sequence[str]) -> list[str]:
    """Return texts in the order of the page: letters with and without marks side by side.

    Examples
    --------
    >>> in_order(["zu", "Öl", "offen", "Ohr"])
    ['offen', 'Ohr', 'Öl', 'zu']
    """
    return sorted(texts, key=lambda text: (_plain(text), text.casefold(), text))


def _plain(text: str) -> str:
    if text.isascii():
        return text.lower()
    apart = unicodedata.normalize("NFKD", text.casefold())
    return "".join(letter for letter in apart if not unicodedata.combining(letter))


def _texts(values: pl.Series) -> Coded:
    """Return texts as numbers of an ordered list, so that to sort them is to sort numbers."""
    known = values.drop_nulls().unique().to_list()
    if _REPEATED * len(known) > len(values) > 255:
        listed = _json(values.to_list())
        return {"as": "list", "bytes": len(listed)}, listed
    ordered = in_order(known)
    places: Mapping[str, int] = {text: place for place, text in enumerate(ordered, 1)}
    codes = np.fromiter((places.get(text, 0) for text in values), np.int64, len(values))
    width = _width(len(ordered))
    listed = _json(ordered)
    return {"as": "text", "bytes": len(listed), "width": width}, listed + _planes(codes, width)


def _json(texts: Sequence[str | None]) -> bytes:
    return json.dumps(texts, ensure_ascii=False, separators=(",", ":")).encode()


def _whole(values: pl.Series, kind: Kind) -> Coded:
    low, high = values.min(), values.max()
    if low is not None and (low < 0 or high > _LARGEST):  # type: ignore[operator]  # of numbers
        raise ValueError(
            f"column {values.name!r}: a {kind} from 0 to {_LARGEST:,} can stand in the page, "
            f"not {low!r} to {high!r}; give it as a number"
        )
    codes = (values + 1).fill_null(0).cast(pl.Int64).to_numpy()
    width = _width(int(codes.max(initial=0)))
    return {"as": "whole", "width": width}, _planes(codes, width)


def _shares(values: pl.Series) -> Coded:
    parts = (values.fill_nan(None) * SHARE_SCALE).round(mode="half_away_from_zero")
    least = parts.min()
    if least is not None and not 0 <= least <= parts.max() <= _LARGEST:  # type: ignore[operator]
        return _decimals(values)
    how, content = _whole(parts.cast(pl.Int64), "share")
    return {**how, "scale": SHARE_SCALE}, content


def _numbers(values: pl.Series) -> Coded:
    """Return numbers, whole ones as such: a frequency that is called a score."""
    known = values.fill_nan(None).drop_nulls()
    whole = known.is_finite() & (known >= 0) & (known <= _LARGEST) & (known == known.round())
    if len(known) and whole.all():
        return _whole(values.fill_nan(None).cast(pl.Int64), "number")
    return _decimals(values)


def _decimals(values: pl.Series) -> Coded:
    """Return numbers as a mantissa times a power of ten, two planes each."""
    numbers = values.fill_nan(None).to_numpy()
    size = np.abs(numbers)
    usual = np.isfinite(numbers) & (size >= _LEAST)
    power = np.zeros(len(numbers), np.int64)
    power[usual] = np.floor(np.log10(size[usual])).astype(np.int64) - DIGITS + 1
    mantissa = np.zeros(len(numbers), np.int64)
    mantissa[usual] = np.rint(numbers[usual] * 10.0 ** -power[usual].astype(np.float64))
    for test, stands_for in ((np.isnan, _NULL), (np.isposinf, _UP), (np.isneginf, _DOWN)):
        mantissa[test(numbers)], power[test(numbers)] = stands_for, _SPECIAL
    return {"as": "decimal"}, _planes(mantissa & 0xFFFF, 2) + _planes(power & 0xFFFF, 2)


def _width(largest: int) -> int:
    return max(1, (largest.bit_length() + 7) // 8)


def _planes(codes: Ints, width: int) -> bytes:
    """Return the lowest bytes of all numbers, then the next."""
    return b"".join(((codes >> (8 * place)) & 0xFF).astype(np.uint8).tobytes()
                    for place in range(width))  # fmt: skip
