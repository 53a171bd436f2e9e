"""A random sample of candidates."""

from __future__ import annotations

from typing import ClassVar

import pandera.polars as pa
import polars as pl

from schemas.candidates import Identified


class Sample(Identified):
    """The sampled candidates, each once, with its multiplicity."""

    _open: ClassVar[tuple[type[pl.DataType], ...]] = ()

    multiplicity: int = pa.Field(ge=1, description="times drawn; 1 without replacement")
    position: int = pa.Field(ge=1, description="1-based order of the first draw")

    class Config:
        """Exactly these columns."""

        strict = True
