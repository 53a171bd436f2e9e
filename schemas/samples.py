"""A random sample of candidates."""

from __future__ import annotations

from schemas.candidates import Identified
from schemas.declaration import column


class Sample(Identified, further=()):
    """The sampled candidates, each once, with its multiplicity."""

    multiplicity: int = column("times drawn; 1 without replacement", ge=1)
    position: int = column("1-based order of the first draw", ge=1)
