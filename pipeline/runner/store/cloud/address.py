"""Addresses of object stores, also where a path has swallowed one of their slashes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

SCHEMES = ("s3", "gs", "az", "memory")
"""What an address begins with; "memory" is a store that ends with its process, for tests."""
_ADDRESS = re.compile(rf"({'|'.join(SCHEMES)}):/+([^/]+)/*(.*)")


class Address(NamedTuple):
    """A place on an object store: what all keys below it begin with."""

    scheme: str
    bucket: str
    prefix: str = ""

    @property
    def home(self) -> str:
        """The address of the bucket."""
        return f"{self.scheme}://{self.bucket}"

    def key(self, name: str) -> str:
        """Return the name of an object as the bucket has it.

        Examples
        --------
        >>> Address("s3", "words", "runs").key("scores/3f2a")
        'runs/scores/3f2a'
        """
        return "/".join(filter(None, [self.prefix, name]))

    def text(self, name: str = "") -> str:
        """Return the address of an object, or of the place itself.

        Examples
        --------
        >>> Address("s3", "words", "runs").text("scores")
        's3://words/runs/scores'
        """
        return "/".join(filter(None, [self.home, self.key(name)]))


def address_of(place: str | Path) -> Address | None:
    """Return the address that a path means; None of a path of this machine.

    Parameters
    ----------
    place : str or path
        A path makes one slash of two: ``s3:/bucket`` is taken for ``s3://bucket``.

    Examples
    --------
    >>> address_of("s3://words/runs/pilot/")
    Address(scheme='s3', bucket='words', prefix='runs/pilot')
    >>> address_of("runs/s3") is None
    True
    """
    found = _ADDRESS.fullmatch(str(place))
    return Address(found[1], found[2], found[3].strip("/")) if found else None
