"""All candidates of a corpus: pairs of words by a relation, with their frequencies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import polars as pl

from pipeline.errors import ConfigError, DataError
from pipeline.recipes.corpus_files import CorpusFiles, corpus_files, unit
from pipeline.recipes.listing import PAIRS, best, rows, scored
from pipeline.recipes.recipe import Recipe, perform, save
from pipeline.runner.events import Listener

PairRelation: TypeAlias = Literal["adjacent", "sentence", "span", "dependency"]
RELATIONS: tuple[PairRelation, ...] = ("adjacent", "sentence", "span", "dependency")


@dataclass(frozen=True)
class Wanted:
    """Which pairs are wanted.

    Parameters
    ----------
    relation : str
        "adjacent", "sentence", "span" (from the left word to the right one) or "dependency".
    left, right : str
        Conditions on the tokens, in SQL; every token if empty.
    dependency : sequence of str
        Names of the syntactic relations; all if empty. The left word governs the right one.
    span : (int, int)
        Tokens before and after the left word, for "span".
    min_frequency : int
        Least number of pair tokens.
    measures : sequence of str
        Association measures; the first orders the list.
    attribute : str or None
        What words are called by; None: the lemma where there is one.
    case, punctuation : bool
        Whether capital and small letters differ; whether punctuation marks are words.
    """

    relation: PairRelation
    left: str = ""
    right: str = ""
    dependency: Sequence[str] = ()
    span: tuple[int, int] = (5, 5)
    min_frequency: int = 3
    measures: Sequence[str] = ("frequency",)
    attribute: str | None = None
    case: bool = False
    punctuation: bool = False


def candidates(
    *paths: str | Path,
    relation: PairRelation = "adjacent",
    left: str = "",
    right: str = "",
    dependency: Sequence[str] = (),
    span: int | tuple[int, int] = 5,
    measures: Sequence[str] = ("frequency",),
    min_frequency: int = 3,
    top: int | None = None,
    attribute: str | None = None,
    case: bool = False,
    punctuation: bool = False,
    read_as: str | None = None,
    reader: Mapping[str, Any] | None = None,
    runs: str | Path | None = None,
    experiment: str | Path | None = None,
    listeners: Sequence[Listener] = (),
) -> pl.DataFrame:
    """Return the pairs of words of a corpus that stand in a relation, with their frequencies.

    Parameters
    ----------
    *paths : path
        Files, folders and patterns: plain text, CoNLL-U, vertical text, token tables.
    relation : {"adjacent", "sentence", "span", "dependency"}
        What belongs together.
    left, right : str
        Conditions on the tokens, in SQL, such as ``upos = 'ADJ'``; every token if empty.
    dependency : sequence of str
        Names of the relations in which left governs right; all if empty.
    span : int or (int, int)
        Tokens on either side of the left word, for "span".
    measures : sequence of str
        Association measures, see `measures`; the first orders the list.
    min_frequency : int
        Least f.
    top : int, optional
        How many rows; all if None.
    attribute, case, punctuation, read_as, reader, runs, experiment, listeners
        As of `collocates`.

    Returns
    -------
    DataFrame
        l1, l2, f, f1, f2, N, documents, and a column for each measure.

    Raises
    ------
    LexassayError
        If the corpus cannot be read, has not what is asked for, or holds no such pair.

    References
    ----------
    Evert 2008, Corpora and collocations, section 3 (kinds of co-occurrence).
    """
    both = (span, span) if isinstance(span, int) else span
    wanted = Wanted(
        relation, left, right, dependency, both, min_frequency, measures,
        attribute, case, punctuation,
    )  # fmt: skip
    recipe = recipe_of(wanted, corpus_files(paths, read_as=read_as, options=reader))
    if experiment is not None:
        save(recipe, Path(experiment))
    run = perform(recipe, runs=Path(runs) if runs else None, listeners=listeners)
    found = rows(run, measures)
    if found.is_empty():
        what = f"candidates: no pair occurs at least {min_frequency} times"
        raise DataError(f"{what}; lower the least frequency (--min-f), or ask for other words")
    return best(found, top)


def recipe_of(wanted: Wanted, corpus: CorpusFiles) -> Recipe:
    """Return the experiment that counts the pairs.

    Raises
    ------
    ConfigError
        If the corpus has no such attribute, or no syntactic relations that are asked for.
    """
    attribute = wanted.attribute or corpus.lemma
    if problems := corpus.lacks(attribute, heads=wanted.relation == "dependency"):
        raise ConfigError("candidates", problems)
    word = unit(attribute, case=wanted.case, punctuation=wanted.punctuation)
    pairs = {
        "use": "extract.pairs",
        "corpus": corpus.source,
        **_related(wanted),
        "left": {**word, "where": wanted.left or None},
        "right": {**word, "where": wanted.right or None},
        "min_frequency": wanted.min_frequency,
    }
    first = corpus.files[0].path.name.partition(".")[0]
    stages = {PAIRS: pairs, **scored(wanted.measures)}
    return Recipe("candidates", first, stages, title=f"Candidates of {first}")


def _related(wanted: Wanted) -> dict[str, Any]:
    if wanted.relation == "dependency":
        of_all = {"where": "deprel <> ''"}
        kind = {"label": list(wanted.dependency)} if wanted.dependency else of_all
        return {"relation": "dependency", "dependency": {**kind, "governor": "left"}}
    if wanted.relation == "span":
        before, after = wanted.span
        return {"relation": "surface", "surface": {"left": before, "right": after}}
    return {"relation": wanted.relation}
