"""Collocates of a word: in a span, in a sentence, or by syntactic relation as in a word sketch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from pipeline.api.results import Run
from pipeline.errors import DataError
from pipeline.recipes.collocation_questions import (
    MEASURES,
    SPAN,
    Count,
    Question,
    Relation,
    recipe_of,
)
from pipeline.recipes.corpus_files import corpus_files
from pipeline.recipes.listing import PAIRS, best, rows
from pipeline.recipes.recipe import perform, save
from pipeline.runner.events import Listener


def collocates(
    node: str,
    *paths: str | Path,
    relation: Relation | None = None,
    span: int | tuple[int, int] | None = None,
    count: Count = "positions",
    measures: Sequence[str] = MEASURES,
    min_frequency: int = 3,
    top: int | None = 50,
    attribute: str | None = None,
    case: bool = False,
    punctuation: bool = False,
    read_as: str | None = None,
    reader: Mapping[str, Any] | None = None,
    runs: str | Path | None = None,
    experiment: str | Path | None = None,
    listeners: Sequence[Listener] = (),
) -> pl.DataFrame:
    """Return the collocates of a word in a corpus, the strongest first.

    Parameters
    ----------
    node : str
        The word.
    *paths : path
        Files, folders and patterns: plain text, CoNLL-U, vertical text, token tables.
    relation : {"span", "adjacent", "sentence", "dependency"}, optional
        What belongs together; "dependency", relation by relation as in a word sketch, where the
        corpus is parsed and nothing is said of spans, else "span".
    span : int or (int, int), optional
        Tokens to the left and to the right, within the sentence; 5 if not given.
    count : {"positions", "windows", "nodes"}
        What f, f1, f2 and N count of spans; "nodes" as corpus tools do, f the nodes with the
        collocate in their span and f1, f2 the frequencies in the corpus.
    measures : sequence of str
        Association measures, see `measures`; the first orders the list.
    min_frequency : int
        Least f: how often the two occur together.
    top : int, optional
        How many rows, of a word sketch for each relation; all if None.
    attribute : str, optional
        What of a token counts: "lemma", "form" ...; the lemma where there is one.
    case : bool
        Whether capital and small letters differ.
    punctuation : bool
        Whether punctuation marks are collocates.
    read_as : str, optional
        Format of the files, where their endings do not tell.
    reader : mapping, optional
        Options of the reader, such as ``{"attributes": ["word", "pos", "lemma"]}``.
    runs : path, optional
        Folder of the results; a cache folder of the user if not given.
    experiment : path, optional
        Write the experiment to this file, too.
    listeners : sequence of callable
        Are told what happens.

    Returns
    -------
    DataFrame
        collocate, f, f1 (of the node), f2 (of the collocate), a column for each measure, and an
        example; first of all relation, of a word sketch: ``obj(*, house)`` where the node is the
        object, ``amod(house, *)`` where it is modified.

    Raises
    ------
    DataError
        If the word does not occur, or nothing as often with it; if the corpus cannot be read.
    ConfigError
        If there are no such files, or they have not what is asked for.

    References
    ----------
    Evert 2008, Corpora and collocations, sections 3.1 and 3.2 (kinds of co-occurrence).
    """
    both = (span, span) if isinstance(span, int) else span or (SPAN, SPAN)
    if relation is None and (span is not None or count != "positions"):
        relation = "span"
    asked = Question(
        node, relation, both, count, measures, min_frequency, attribute, case, punctuation
    )  # fmt: skip
    corpus = corpus_files(paths, read_as=read_as, options=reader)
    recipe = recipe_of(asked, corpus)
    if experiment is not None:
        save(recipe, Path(experiment))
    run = perform(recipe, runs=Path(runs) if runs else None, listeners=listeners)
    found = _found(run, asked)
    return best(found, top, by=["relation"] if "relation" in found.columns else [])


def _found(run: Run, asked: Question) -> pl.DataFrame:
    """Return one row for each collocate of the node, in the order of the first measure."""
    node = asked.node if asked.case else asked.node.lower()
    sketch = run.project.experiment.stages[PAIRS]["relation"] == "dependency"
    found = rows(run, asked.measures, _around(node) if sketch else None)
    if found.is_empty():
        raise DataError(_nothing(run, asked))
    named = found.rename({"l1": "relation"}) if sketch else found.drop("l1")
    return named.rename({"l2": "collocate"})


def _around(node: str) -> pl.Expr:
    """Tell whether l1 is the node in some relation: ``obj(node, *)`` or ``obj(*, node)``."""
    ends = (f"({node}, *)", f"(*, {node})")
    return pl.any_horizontal(pl.col("l1").str.ends_with(end) for end in ends)


def _nothing(run: Run, asked: Question) -> str:
    sizes = dict(run.table(f"{PAIRS}.corpus").rows())
    return (
        f"collocates: nothing occurs at least {asked.min_frequency} times with {asked.node!r} in"
        f" {sizes.get('tokens', 0):,} tokens; look how the word is written there, or lower the"
        " least frequency (--min-f)"
    )
