"""Columns that a file calls otherwise than we do: which is which, and what was meant."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence

import polars as pl

from pipeline.errors import ConfigError, Problem, did_you_mean
from pipeline.formats.base import LINE
from pipeline.kernels.association.contingency import SIGNATURE
from schemas import SchemaViolation, Violation

OURS = ("l1", "l2", *SIGNATURE)
"""What ``--columns`` gives a name for."""
_USUAL = {
    "l1": ("node", "word1", "w1", "lemma1", "left"),
    "l2": ("collocate", "collocation", "word2", "w2", "lemma2", "right"),
    "f": ("freq", "frequency", "o11", "joint", "cooccurrence", "cooccurrences", "freq12"),
    "f1": ("r1", "freq1", "frequency1", "f_node", "node_freq", "node_frequency", "fa"),
    "f2": ("c1", "freq2", "frequency2", "f_collocate", "coll_freq", "word_freq", "fb"),
    "N": ("n", "size", "total", "corpus_size", "tokens"),
}
"""What other programs call them."""
_CONSTANT = ("f1", "N")
"""What may be the same in all rows, and no column: the frequency of one node, the corpus size."""
_NEAR = 0.5


def column_names(given: Sequence[str]) -> dict[str, str]:
    """Return the file's name of each of our columns that ``--columns`` names.

    Raises
    ------
    ConfigError
        For what is not ``f=freq``, and for names that we do not have.

    Examples
    --------
    >>> column_names(["f=freq", "N=1000000"])
    {'f': 'freq', 'N': '1000000'}
    """
    problems = []
    for each in given:
        ours, equals, theirs = (part.strip() for part in each.partition("="))
        if not (equals and theirs):
            what = f"{each!r} does not say which column is which"
            problems.append(Problem("--columns", what, "e.g. --columns f=freq,f1=f_node"))
        elif ours not in OURS:
            problems.append(
                Problem("--columns", f"{ours!r} is no column", did_you_mean(ours, OURS))
            )
    if problems:
        raise ConfigError("score", problems)
    return {
        ours.strip(): theirs.strip() for ours, _, theirs in (each.partition("=") for each in given)
    }


def renamed(table: pl.LazyFrame, names: Mapping[str, str], *, file: str) -> pl.LazyFrame:
    """Return the table with our names; a number for f1 or N is that number in all rows.

    Raises
    ------
    SchemaViolation
        If columns are absent, with those that there are and the nearest.
    """
    has = [name for name in table.collect_schema().names() if name != LINE]
    numbers = {
        ours: int(theirs)
        for ours, theirs in names.items()
        if ours in _CONSTANT and theirs not in has and theirs.isdecimal()
    }
    wanted = {ours: names.get(ours, ours) for ours in (*SIGNATURE, *names) if ours not in numbers}
    if absent := {ours: theirs for ours, theirs in wanted.items() if theirs not in has}:
        raise SchemaViolation(file, _absent(absent, has))
    moved = {theirs: ours for ours, theirs in wanted.items() if ours != theirs}
    taken = [ours for theirs, ours in moved.items() if ours in has and ours not in moved]
    if taken:
        what = f"the file has a column {', '.join(taken)} already"
        raise ConfigError("score", [Problem("--columns", what, "rename it, or take that one")])
    added = [pl.lit(value, pl.Int64).alias(ours) for ours, value in numbers.items()]
    return table.rename(moved).with_columns(added)


def _absent(absent: Mapping[str, str], has: Sequence[str]) -> list[Violation]:
    """Return what to say of absent columns: the nearest of each, and all that there are."""
    wrong = []
    for ours, theirs in absent.items():
        near = nearest(theirs if theirs != ours else ours, has)
        remedy = f"; did you mean --columns {ours}={near}?" if near else ""
        if ours in _CONSTANT and not near:
            remedy = f"; --columns {ours}=NUMBER, if it is the same everywhere"
        what = "missing" if theirs == ours else f"there is no column {theirs!r}"
        wrong.append(Violation(what + remedy, ours, 0))
    listed = f"the file has {', '.join(has)}; --columns f=NAME,f1=NAME ... says which is which"
    return [*wrong, Violation(listed, None, 0)]


def nearest(name: str, has: Sequence[str]) -> str | None:
    """Return the column that is meant by a name of ours, or by one that is spelled wrong.

    Examples
    --------
    >>> nearest("f", ["Word", "Freq"]), nearest("N", ["n"]), nearest("f1", ["x"])
    ('Freq', 'n', None)
    """
    spelled = {each.lower(): each for each in has}
    for usual in (name.lower(), *_USUAL.get(name, ())):
        if usual in spelled:
            return spelled[usual]
    near = difflib.get_close_matches(name.lower(), spelled, n=1, cutoff=_NEAR)
    return spelled[near[0]] if near and len(name) > 2 else None
