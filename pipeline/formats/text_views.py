"""Texts that lie somewhere among bytes, as a column, without a look at each in Python."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

Places = npt.NDArray[np.int64]

PADDING = 12
"""Bytes that have to stand behind the last text."""

_INLINE = 12
"""Bytes of a text that stand in its view; of a longer one the first four do."""
_SHARE = 8
"""If this part of the bytes, or more, is long texts, these are not copied."""


def _masks() -> npt.NDArray[np.uint32]:
    """Return which bytes of twelve belong to a text, by its length; to a longer one, four."""
    bits = np.zeros((_INLINE + 2, _INLINE), np.uint8)
    for length in range(_INLINE + 1):
        bits[length, :length] = 255
    bits[-1, :4] = 255
    return bits.view(np.uint32)


_MASKS = _masks()


def texts(
    content: npt.NDArray[np.uint8],
    starts: Places,
    lengths: Places,
    *,
    valid: npt.NDArray[np.bool_],
) -> pl.Series:
    """Return texts as a column of strings.

    Parameters
    ----------
    content : ndarray of uint8, shape (b + PADDING,)
        UTF-8, and `PADDING` bytes.
    starts, lengths : ndarray of int64, shape (n,)
        Where each text begins, and its bytes; it ends before the padding.
    valid : ndarray of bool, shape (n,)
        Which of them are there; others are null.

    Returns
    -------
    Series of String, shape (n,)

    References
    ----------
    Apache Arrow Columnar Format, "Variable-size Binary View Layout": 16 bytes a text, its length
    and, up to twelve bytes, the text itself; else its first four, a buffer, and its place there.

    Examples
    --------
    >>> content = np.frombuffer(b"a rather long word" + bytes(PADDING), np.uint8)
    >>> starts, lengths = np.array([0, 2, 2]), np.array([1, 16, 6])
    >>> texts(content, starts, lengths, valid=np.array([True, True, False])).to_list()
    ['a', 'rather long word', None]
    """
    views = np.empty((starts.size, 4), np.uint32)
    views[:, 0] = lengths
    anywhere = np.ndarray(content.size - _INLINE + 1, f"V{_INLINE}", content, strides=(1,))
    twelve = anywhere[starts].view(np.uint32).reshape(-1, 3)
    np.bitwise_and(twelve, _MASKS[np.minimum(lengths, _INLINE + 1)], out=views[:, 1:])
    long = np.flatnonzero(lengths > _INLINE)
    held, places = _held(content, starts[long], lengths[long])
    views[long, 3] = places
    nulls = None if valid.all() else pa.py_buffer(np.packbits(valid, bitorder="little"))
    buffers = [nulls, pa.py_buffer(views), pa.py_buffer(held)]
    return pl.Series(_Exported(pa.Array.from_buffers(pa.string_view(), starts.size, buffers)))


@dataclass(frozen=True)
class _Exported:
    """An array as any library gives it: for one of pyarrow's own Polars imports much else."""

    array: pa.Array

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]:
        """Return its schema and the array, as the Arrow PyCapsule interface has them."""
        exported: tuple[object, object] = self.array.__arrow_c_array__(requested_schema)
        return exported


def _held(
    content: npt.NDArray[np.uint8], starts: Places, lengths: Places
) -> tuple[npt.NDArray[np.uint8], Places]:
    """Return bytes that have the long texts, few others besides, and where each begins there."""
    size = int(lengths.sum())
    if size * _SHARE > content.size:
        return content, starts
    places = np.cumsum(lengths) - lengths
    return content[np.arange(size) + np.repeat(starts - places, lengths)], places
