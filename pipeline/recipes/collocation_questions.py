"""What is asked of the neighbours of a word, and the experiment that answers it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from pipeline.errors import ConfigError, Problem
from pipeline.recipes.corpus_files import CorpusFiles, unit
from pipeline.recipes.listing import EXAMPLES, PAIRS, scored
from pipeline.recipes.recipe import Recipe

Relation: TypeAlias = Literal["span", "adjacent", "sentence", "dependency"]
RELATIONS: tuple[Relation, ...] = ("span", "adjacent", "sentence", "dependency")
Count: TypeAlias = Literal["positions", "windows", "nodes"]
COUNTS: tuple[Count, ...] = ("positions", "windows", "nodes")
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
    count : str
        What f, f1, f2 and N count of spans.
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
    count: Count = "positions"
    measures: Sequence[str] = MEASURES
    min_frequency: int = 3
    attribute: str | None = None
    case: bool = False
    punctuation: bool = False


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
    about = {"use": "extract.pairs", "corpus": corpus.source, **_related(relation, asked)}
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
    if asked.count != "positions" and (asked.relation or "span") not in {"span", "adjacent"}:
        what = f"{asked.count!r} is about spans, not about {asked.relation}"
        problems.append(Problem("--count", what, "leave it out, or say --relation span"))
    if problems:
        raise ConfigError("collocates", problems)


def _is(attribute: str, asked: Question) -> str:
    """Return the condition on a token that it is the node."""
    text = "'" + asked.node.replace("'", "''") + "'"
    return f"{attribute} = {text}" if asked.case else f"LOWER({attribute}) = LOWER({text})"


def _related(relation: Relation, asked: Question) -> dict[str, Any]:
    if relation == "dependency":
        either = {"where": "deprel <> 'punct'", "governor": "either", "named": True}
        return {"relation": "dependency", "dependency": either}
    if relation == "sentence":
        return {"relation": "textual", "textual": {"within": "sentence"}}
    left, right = (1, 1) if relation == "adjacent" else asked.span
    own = {} if asked.count == "positions" else {"count": asked.count}
    return {"relation": "surface", "surface": {"left": left, "right": right, **own}}
