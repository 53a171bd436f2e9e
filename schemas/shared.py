"""Columns that many tables have, to inherit from."""

from __future__ import annotations

from schemas.base import Table
from schemas.declaration import column


class ByCategory(Table):
    """A table with rows for each category."""

    category: str = column("category of true positives", key=True)


class ByMeasure(ByCategory):
    """A table with rows for each measure too."""

    measure: str = column("measure that ranks the candidates", key=True)


class ByList(ByMeasure):
    """A table with a row for each n-best list."""

    n: int = column("size of the n-best list; candidates", key=True, ge=1)


class ByPair(ByCategory):
    """A table with a row for each two n-best lists of one size."""

    measure_1: str = column("first measure", key=True)
    measure_2: str = column("second measure", key=True)
    n: int = column("size of both n-best lists; candidates", key=True, ge=1)


class Differences(Table):
    """What was drawn and judged of the difference sets of two lists."""

    size: int = column("|D1| = |D2|; candidates", ge=0)
    n_1: int = column("judged draws in D1, with multiplicity", ge=0)
    k_1: int = column("true positives among n_1", ge=0)
    n_2: int = column("judged draws in D2, with multiplicity", ge=0)
    k_2: int = column("true positives among n_2", ge=0)


class Draws(Table):
    """What was drawn and judged of an n-best list."""

    n_sampled: int = column("judged draws in the list, with multiplicity", ge=0)
    k_sampled: int = column("true positives among them, with multiplicity", ge=0)


class Limits(Table):
    """The interval of an estimated proportion."""

    lower: float = column("lower limit of the interval; proportion", ge=0, le=1)
    upper: float = column("upper limit of the interval; proportion", ge=0, le=1)


class ByRun(Table):
    """A table with rows for each run of each system."""

    system: str = column("what made the clusters", key=True)
    run: str = column("run of the system", key=True)


class BySentence(Table):
    """A table with rows for each sentence of each file."""

    file: str = column("input file, as the experiment names it", key=True)
    sentence: int = column("sentence of the file, from 1", key=True, ge=1)
