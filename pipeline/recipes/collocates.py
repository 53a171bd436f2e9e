"""Collocates of a word: in a span, in a sentence, or by syntactic relation as in a word sketch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import polars as pl

from pipeline.api.results import Run
from pipeline.errors import ConfigError, DataError, Problem
from pipeline.recipes.corpus_files import CorpusFiles, corpus_files, unit
from pipeline.recipes.listing import EXAMPLES, PAIRS, best, rows, scored
from pipeline.recipes.recipe import Recipe, perform, save
from pipeline.runner.events import Listener

Relation: TypeAlias = Literal["span", "adjacent", "sentence", "dependency"]
RELATIONS: tuple[Relation, ...] = ("span", "adjacent", "sentence", "dependency")
MEASURES = ("log_likelihood", "log_dice", "mi_log2")
"""The measures if none are named; the first orders the list."""
SPAN = 5


@dataclass(frozen=True)
class Question:
    """What is asked of a corpus.

    Parameters
    ----------
    node : str
        The word.
    relation : str or None
        "span", "adjacent" (the words beside it), "sentence" or "dependency"; None: "dependency"
        where the corpus is parsed, else "span".
    span : (int, int)
        Tokens before and after the node.
    measures : sequence of str
        Association measures; the first orders the list.
    min_frequency : int
        Least number of pair tokens.
    attribute : str or None
        The attribute to look at; None: the lemma where there is one, else the word.
    case : bool
        Whether capital and small letters differ.
    punctuation : bool
        Whether punctuation marks are collocates.
    """

    node: str
    relation: Relation | None = None
    span: tuple[int, int] = (SPAN, SPAN)
    measures: Sequence[str] = MEASURES
    min_frequency: int = 3
    attribute: str | None = None
    case: bool = False
    punctuation: bool = False


def collocates(
    node: str,
    *paths: str | Path,
    relation: Relation | None = None,
    span: int | tuple[int, int] = SPAN,
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
        corpus is parsed, else "span".
    span : int or (int, int)
        Tokens to the left and to the right, within the sentence.
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
    both = (span, span) if isinstance(span, int) else span
    asked = Question(
        node, relation, both, measures, min_frequency, attribute, case, punctuation
    )  # fmt: skip
    corpus = corpus_files(paths, read_as=read_as, options=reader)
    recipe = recipe_of(asked, corpus)
    if experiment is not None:
        save(recipe, Path(experiment))
    run = perform(recipe, runs=Path(runs) if runs else None, listeners=listeners)
    found = _found(run, asked)
    return best(found, top, by=["relation"] if "relation" in found.columns else [])


def recipe_of(asked: Question, corpus: CorpusFiles) -> Recipe:
    """Return the experiment that answers a question.

    Raises
    ------
    ConfigError
        If the corpus has no such attribute, or no syntactic relations that are asked for.
    """
    attribute = asked.attribute or corpus.lemma
    _require(asked, corpus, attribute)
    word = unit(attribute, case=asked.case, punctuation=asked.punctuation)
    relation = asked.relation or ("dependency" if corpus.parsed else "span")
    about = {"use": "extract.pairs", "corpus": corpus.source, **_related(relation, asked.span)}
    node = {"left": {**word, "where": _is(attribute, asked)}, "right": word}
    shown = {"examples": 1, "form": corpus.word}
    least = {"min_frequency": asked.min_frequency}
    if relation != "dependency":
        stages = {PAIRS: {**about, **node, **least, **shown}}
    else:  # counted for all words, whose frequencies are needed; examples of the node alone
        every = {PAIRS: {**about, "left": word, "right": word, **least}}
        stages = {**every, EXAMPLES: {**about, **node, **least, **shown}}
    title = f"Collocates of {asked.node}"
    return Recipe("collocates", asked.node, {**stages, **scored(asked.measures)}, title=title)


def _require(asked: Question, corpus: CorpusFiles, attribute: str) -> None:
    problems = []
    if not asked.node.strip() or asked.node.split() != [asked.node]:
        what = "is no single word"
        problems.append(Problem("NODE", f"{asked.node!r} {what}", "name one word"))
    problems += corpus.lacks(attribute, heads=asked.relation == "dependency")
    if asked.span[0] + asked.span[1] < 1 or min(asked.span) < 0:
        problems.append(Problem("--span", "no token is in such a span", "use 5, or 0,3"))
    if problems:
        raise ConfigError("collocates", problems)


def _is(attribute: str, asked: Question) -> str:
    """Return the condition on a token that it is the node."""
    text = "'" + asked.node.replace("'", "''") + "'"
    return f"{attribute} = {text}" if asked.case else f"LOWER({attribute}) = LOWER({text})"


def _related(relation: Relation, span: tuple[int, int]) -> dict[str, Any]:
    if relation == "dependency":
        either = {"where": "deprel <> 'punct'", "governor": "either", "named": True}
        return {"relation": "dependency", "dependency": either}
    if relation == "sentence":
        return {"relation": "textual", "textual": {"within": "sentence"}}
    left, right = (1, 1) if relation == "adjacent" else span
    return {"relation": "surface", "surface": {"left": left, "right": right}}


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
