"""Names of input files, as an experiment writes them, as names of runs."""

from __future__ import annotations

import polars as pl

_NAME = r"([^/\\]*?)(?:\.[^./\\]*?)?(?:\.gz|\.zst)?\)?$"
"""The last part of a path without its endings; a file found by a glob stands in brackets."""


def bare_name(column: str) -> pl.Expr:
    """Return the name of a file without folder and endings.

    Parameters
    ----------
    column : str
        Column with what the experiment calls the file: a path, or ``glob (name)``.

    Examples
    --------
    >>> files = pl.DataFrame({"file": ["data:c/brown.paths.gz", "x/*.tsv (run.1.tsv)", "a"]})
    >>> files.select(bare_name("file")).to_series().to_list()
    ['brown', 'run.1', 'a']
    """
    bracketed = pl.col(column).str.extract(r"\(([^()]*)\)$")
    return pl.coalesce(bracketed, column).str.extract(_NAME)
