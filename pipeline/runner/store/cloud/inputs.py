"""Input files on an object store: found by an address with a pattern, fetched to a machine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import takewhile
from pathlib import Path

from pipeline.runner.store.cloud.address import Address
from pipeline.runner.store.cloud.bucket import Bucket, bucket_at
from pipeline.runner.store.cloud.cache import fetched

_MARKS = "*?["


@dataclass(frozen=True)
class Remote:
    """An input file on an object store.

    Parameters
    ----------
    home : str
        The address of the bucket.
    key : str
        The object.
    """

    home: str
    key: str

    def fetched(self) -> Path:
        """Return its copy on this machine, which is made if need be.

        Raises
        ------
        OSError
            If it is gone, or the store does not answer.
        """
        return fetched(bucket_at(self.home), self.home, self.key)


def found(address: Address) -> list[Remote]:
    """Return the objects that an address means, in the order of their keys.

    Parameters
    ----------
    address : Address
        Of one object; of a folder, all right in it; or with ``*``, ``?`` and ``[...]`` in any part.

    Raises
    ------
    OSError
        If the store does not answer.
    """
    bucket, written = bucket_at(address.home), address.prefix
    keys = sorted(_matching(bucket, written) if _is_pattern(written) else _named(bucket, written))
    return [Remote(address.home, key) for key in keys]


def _named(bucket: Bucket, key: str) -> Iterator[str]:
    if key and bucket.head(key):
        yield key
    else:
        yield from (meta.key for meta in bucket.level(key)[1])


def _matching(bucket: Bucket, written: str) -> Iterator[str]:
    pattern = written.split("/")
    start = "/".join(takewhile(lambda part: not _is_pattern(part), pattern))
    flat = start == written.rpartition("/")[0]
    for meta in bucket.level(start)[1] if flat else bucket.beneath(start):
        parts = meta.key.split("/")
        if len(parts) == len(pattern) and all(map(fnmatchcase, parts, pattern)):
            yield meta.key


def _is_pattern(text: str) -> bool:
    return any(mark in text for mark in _MARKS)
