"""Keywords: the words of a corpus that are more frequent there than in another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from pipeline.errors import ConfigError, DataError, Problem
from pipeline.formats.base import format_of
from pipeline.kernels.measure import MEASURES as MEASURES_OF_PAIRS
from pipeline.recipes.corpus_files import corpus_files, unit
from pipeline.recipes.listing import PAIRS, best, rows, scored
from pipeline.recipes.recipe import Recipe, perform, save
from pipeline.recipes.table_files import table_file
from pipeline.runner.events import Listener

MEASURES = ("keyness_ll", "log_ratio", "percent_diff")
"""The measures if none are named; the first orders the list."""
_WORD = ("word", "lemma", "form", "token", "type", "item")
_COUNT = ("f", "freq", "frequency", "count", "tokens", "n")


@dataclass(frozen=True)
class Compared:
    """How words are counted.

    Parameters
    ----------
    measures : sequence of str
        Measures of keyness; the first orders the list.
    min_frequency : int
        Least frequency in the target.
    attribute : str or None
        What words are called by; None: the lemma where both corpora have it.
    case, punctuation : bool
        Whether capital and small letters differ; whether punctuation marks are words.
    """

    measures: Sequence[str] = MEASURES
    min_frequency: int = 3
    attribute: str | None = None
    case: bool = False
    punctuation: bool = False


def keywords(
    target: str | Path,
    reference: str | Path,
    *,
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
    """Return the words that are typical of a corpus beside another one, the strongest first.

    Parameters
    ----------
    target : path
        The corpus: a file, a folder, or a frequency list with the columns word and f.
    reference : path
        What it is compared with, likewise.
    measures : sequence of str
        Measures of keyness: keyness_ll, log_ratio, lrc, percent_diff, chi_squared, odds_ratio ...;
        the first orders the list.
    min_frequency : int
        Least frequency in the target.
    top : int, optional
        How many rows; all if None.
    attribute : str, optional
        What of a token counts; the lemma where both corpora have it.
    case, punctuation, read_as, reader, runs, experiment, listeners
        As of `collocates`.

    Returns
    -------
    DataFrame
        keyword, f and f_reference, per_million and per_million_reference, documents with it and
        dp_norm (0: as even as can be, 1: in one document alone; null of a frequency list), and a
        column for each measure.

    Raises
    ------
    LexassayError
        If a corpus cannot be read, or no word is as frequent.

    References
    ----------
    Rayson & Garside 2000, Comparing corpora using frequency profiling; Gabrielatos 2018, Keyness
    analysis; Gries 2008, Dispersions and adjusted frequencies in corpora.
    """
    asked = Compared(measures, min_frequency, attribute, case, punctuation)
    recipe = recipe_of(Path(target), Path(reference), asked, read_as=read_as, reader=reader)
    if experiment is not None:
        save(recipe, Path(experiment))
    run = perform(recipe, runs=Path(runs) if runs else None, listeners=listeners)
    found = rows(run, measures)
    if found.is_empty():
        what = f"keywords: no word of {target} occurs {min_frequency} times"
        raise DataError(f"{what}; lower the least frequency (--min-f)")
    shown = ["f", "f_reference", "per_million", "per_million_reference", "documents", "dp_norm"]
    scores = MEASURES_OF_PAIRS.resolve(measures)
    return best(found.select(pl.col("l2").alias("keyword"), *shown, *scores), top)


def recipe_of(
    target: Path,
    reference: Path,
    asked: Compared,
    *,
    read_as: str | None = None,
    reader: Mapping[str, Any] | None = None,
) -> Recipe:
    """Return the experiment that compares the words of two corpora.

    Raises
    ------
    ConfigError
        If a corpus has no such attribute.
    """
    corpora = {
        name: None if _is_list(path) else corpus_files([path], read_as=read_as, options=reader)
        for name, path in (("target", target), ("reference", reference))
    }
    lemmas = all(each is None or each.lemma == "lemma" for each in corpora.values())
    stages: dict[str, dict[str, Any]] = {}
    for name, path in (("target", target), ("reference", reference)):
        corpus = corpora[name]
        if corpus is None:
            stages[name] = _list(path, asked)
            continue
        attribute = asked.attribute or ("lemma" if lemmas else corpus.word)
        if attribute not in corpus.attributes:
            have = ", ".join(sorted(corpus.attributes))
            what = f"no token of {path} has {attribute!r} at its beginning"
            raise ConfigError("keywords", [Problem("--attribute", what, f"there are {have}")])
        word = unit(attribute, case=asked.case, punctuation=asked.punctuation)
        stages[name] = {"use": "extract.words", "corpus": corpus.source, "unit": word}
    least = {"min_frequency": asked.min_frequency}
    both = {"target": "target", "reference": "reference", **least}
    stages[PAIRS] = {"use": "extract.keywords", **both}
    about = f"{target.name.partition('.')[0]}-{reference.name.partition('.')[0]}"
    title = f"Keywords of {target.name} against {reference.name}"
    return Recipe("keywords", about, {**stages, **scored(asked.measures)}, title=title)


def _is_list(path: Path) -> bool:
    """Tell whether a file is a table of words and how often they occur."""
    try:
        format_of(path.name, kind="table")
    except ValueError:
        return False
    if not path.is_file():
        return False
    table = table_file(path)
    word, count = table.look_for(*_WORD), table.look_for(*_COUNT)
    return word is not None and count is not None and count in table.numbers()


def _list(path: Path, asked: Compared) -> dict[str, Any]:
    table = table_file(path)
    names = table.other_names(word=table.column(*_WORD), f=table.column(*_COUNT))
    return {
        "use": "extract.word_table", "path": table.source, "columns": names, "fold": not asked.case,
    }  # fmt: skip
