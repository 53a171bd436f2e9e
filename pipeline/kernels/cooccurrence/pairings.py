"""Pairings: a tuple seen as a pair of two groups of its units."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from pipeline.kernels.cooccurrence.tuples import elements
from pipeline.kernels.parts import divided, parts_needed
from schemas.tuples import frequency_name, signature


def paired(
    tuples: pl.LazyFrame,
    *,
    first: Sequence[int],
    second: Sequence[int],
    separator: str,
) -> pl.LazyFrame:
    """Return tuples as pairs: l1 and l2 are groups of elements, f1 and f2 their frequencies.

    Since f, f1, f2 and N count the same tuple tokens, they are the frequency signature of the
    pairs (elements of the first group, elements of the second).

    Parameters
    ----------
    tuples : LazyFrame
        l1 ... lk and the columns of `schemas.tuples.signature`; any others are kept.
    first, second : sequence of int
        1-based positions, all of them, each in one group; labels have them in this order.
    separator : str
        What stands between the elements of a group.

    Returns
    -------
    LazyFrame
        l1, l2, f, f1, f2, N and the columns kept; scores, which are those of the tuple, are
        called tuple_mi and so on.

    Examples
    --------
    >>> rows = {"l1": ["in"], "l2": ["Frage"], "l3": ["stellen"], "f": [2], "f1": [3], "f2": [4]}
    >>> rows |= {"f3": [5], "f_12": [3], "f_13": [2], "f_23": [2], "N": [9]}
    >>> paired(pl.LazyFrame(rows), first=[1, 2], second=[3], separator=" ").collect().row(0)
    ('in Frage', 'stellen', 2, 3, 5, 9)
    """
    size = len(first) + len(second)
    groups = {"1": first, "2": second}
    labels = {
        f"l{name}": pl.concat_str([f"l{i}" for i in group], separator=separator)
        for name, group in groups.items()
    }
    counts = {
        f"f{name}": pl.col(frequency_name(sorted(group), size)) for name, group in groups.items()
    }
    own = {*elements(size), *signature(size)}
    further = {
        f"tuple_{name}" if dtype.is_float() else name: pl.col(name)
        for name, dtype in tuples.collect_schema().items()
        if name not in own
    }
    return tuples.select(**labels, f="f", **counts, N="N", **further)


def ambiguous(
    tuples: pl.LazyFrame, *, first: Sequence[int], second: Sequence[int], separator: str
) -> pl.DataFrame:
    """Return the labels that stand for more than one group of elements.

    "in bezug auf" may be ("in bezug", "auf") and ("in", "bezug auf"), if elements hold the
    separator.

    Parameters
    ----------
    tuples, first, second, separator
        As for `paired`.

    Returns
    -------
    DataFrame
        label: each once, in order.
    """
    repeated = [pl.DataFrame(schema={"label": pl.String})]
    for group in (first, second):
        names = [f"l{i}" for i in group]
        rows = tuples.select(*names, label=pl.concat_str(names, separator=separator))
        for (part,) in divided(rows, number=parts_needed(rows), by="label"):
            kinds = part.unique().group_by("label").len()
            repeated.append(kinds.filter(pl.col("len") > 1).select("label"))
    return pl.concat(repeated).unique().sort("label")
