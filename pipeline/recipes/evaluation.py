"""A ranked list and its judgements: n-best precision, tests between scores, the graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.api.results import Run
from pipeline.errors import ConfigError, DataError, Problem
from pipeline.recipes.recipe import Recipe, perform, save
from pipeline.recipes.table_files import TableFile, table_file
from pipeline.runner.events import Listener

CUTS = (50, 100, 200, 500, 1000, 2000)
"""List sizes that the table shows."""
_OF_UCS = ("r.", "b.", "n.")
"""What columns of UCS data sets begin with that are ranks, judgements, further numbers."""
LEFT = ("l1", "w1", "word1", "node", "left", "base", "form1")
RIGHT = ("l2", "w2", "word2", "collocate", "right", "form2")
_JUDGED = ("TP", "b.TP", "true_positive", "judgement", "label", "gold")
_COUNTS = ("f", "f1", "f2", "N", "O11", "E11", "documents", "rank", "id", "")
"""Columns of numbers that are no scores; R writes the numbers of rows without a name."""
_TRUE = {"1", "0", "true", "false", "yes", "no", ""}


@dataclass(frozen=True)
class Judged:
    """What two files say.

    Parameters
    ----------
    ranked, judgements : TableFile
        The files.
    scores : sequence of str
        Columns of the ranked one with scores; all that hold numbers and are no counts if empty,
        and the order of its rows if there are none.
    ascending : sequence of str
        Those whose lowest value comes first.
    positive : sequence of str
        Labels that count as true positives; empty where judgements are 1 and 0.
    sampled : bool
        Whether the judged candidates were drawn at random.
    cuts : sequence of int
        List sizes to compare at.
    """

    ranked: TableFile
    judgements: TableFile
    scores: Sequence[str] = ()
    ascending: Sequence[str] = ()
    positive: Sequence[str] = ()
    sampled: bool = False
    cuts: Sequence[int] = CUTS


def evaluate(
    ranked: str | Path,
    judgements: str | Path,
    *,
    scores: Sequence[str] = (),
    ascending: Sequence[str] = (),
    positive: Sequence[str] = (),
    sampled: bool = False,
    cuts: Sequence[int] | None = None,
    columns: Mapping[str, str] | None = None,
    runs: str | Path | None = None,
    experiment: str | Path | None = None,
    report: bool = True,
    listeners: Sequence[Listener] = (),
) -> Run:
    """Evaluate ranked pairs by the judgements of another file: n-best precision, with intervals.

    Parameters
    ----------
    ranked : path
        A table of pairs with scores, or in the order of their ranks: CSV, TSV, UCS, Parquet.
    judgements : path
        A table of pairs with a judgement each: 1 or 0, yes or no, or labels, see `positive`.
    scores : sequence of str
        Columns with scores; all with numbers that are no counts if empty.
    ascending : sequence of str
        Those whose lowest value comes first, such as p-values.
    positive : sequence of str
        The labels of true positives, where judgements are labels.
    sampled : bool
        Whether the judged pairs were drawn at random from the ranked ones: precision is then
        estimated. If not, all ranked pairs have to be judged.
    cuts : sequence of int, optional
        The list sizes; those of `CUTS` up to the length of the list if not given, or its length.
    columns : mapping of str to str, optional
        What l1, l2 and TP are called in the files, where that cannot be told.
    runs : path, optional
        Folder of the results; a cache folder of the user if not given.
    experiment : path, optional
        Write the experiment to this file, too.
    report : bool
        Whether to write the page with the graph.
    listeners : sequence of callable
        Are told what happens.

    Returns
    -------
    Run
        ``run.table("precision.cuts")``, ``run.table("precision")`` for every n, and
        ``run.table("comparison.cuts")`` where there are several scores.

    Raises
    ------
    DataError
        If only some pairs are judged, and nobody says that these were drawn at random.
    LexassayError
        If a file is wrong.

    References
    ----------
    Evert & Krenn, sections 3 and 4.
    """
    named = dict(columns or {})
    given = table_file(ranked, named=_of(named, "l1", "l2")), table_file(judgements, named=named)
    sizes = tuple(_usual(given[0].head.height) if cuts is None else cuts)
    asked = Judged(*given, scores, ascending, positive, sampled, sizes)
    recipe = recipe_of(asked)
    if experiment is not None:
        save(recipe, Path(experiment))
    where = Path(runs) if runs else None
    run = perform(recipe, runs=where, report=report, listeners=listeners)
    if not sampled:
        _require_all(run)
    return run


def _usual(rows: int) -> Sequence[int]:
    """Return the list sizes for a list with so many rows at its beginning, a thousand at most."""
    return CUTS if rows >= CUTS[-2] else [n for n in CUTS if n <= rows] or [max(rows, 1)]


def _of(named: Mapping[str, str], *ours: str) -> dict[str, str]:
    return {name: column for name, column in named.items() if name in ours}


def recipe_of(asked: Judged) -> Recipe:
    """Return the experiment that evaluates."""
    ranked, judged = asked.ranked, asked.judgements
    units = _units(ranked)
    scores = _scores(asked, *units.values())
    listed = {} if scores else {"order": "rank"}
    evaluated = {"ranks": "ranks", "judgements": "judgements", "cuts": list(asked.cuts)}
    if asked.sampled:
        evaluated["sample"] = "sample"
    stages: dict[str, dict[str, Any]] = {
        "scores": {
            "use": "extract.scores",
            "path": ranked.source,
            "columns": ranked.other_names(**units),
            "scores": scores,
            "ascending": [_measure(name) for name in asked.ascending],
            **listed,
        },
        "judgements": {
            "use": "join.table",
            "path": judged.source,
            "candidates": "scores",
            "columns": judged.other_names(**_units(judged)),
            "categories": {"TP": _judgement(asked)},
        },
        "ranks": {"use": "score.rank", "scores": "scores"},
    }
    if asked.sampled:
        sample = {"candidates": "scores", "judgements": "judgements"}
        stages["sample"] = {"use": "sample.judged", **sample}
    stages["precision"] = {"use": "evaluate.precision", **evaluated}
    if len(scores) > 1:
        stages["comparison"] = {"use": "evaluate.comparison", **evaluated, "every": 0}
    about = ranked.file.path.name.partition(".")[0]
    return Recipe("evaluate", about, stages, title=f"N-best precision of {about}")


def _units(table: TableFile) -> dict[str, str]:
    return {"l1": table.column(*LEFT), "l2": table.column(*RIGHT)}


def _scores(asked: Judged, *units: str) -> dict[str, str]:
    """Return measure to column; what is asked for has to be there."""
    ranked = asked.ranked
    absent = [name for name in (*asked.scores, *asked.ascending) if name not in ranked.columns]
    if absent:
        listed = ", ".join(ranked.columns)
        problems = [Problem("--score", f"there is no column {name!r}", f"there are {listed}")
                    for name in absent]  # fmt: skip
        raise ConfigError("evaluate", problems)
    own = (*units, *(name for name in ranked.columns if name.lower() in _lower(_COUNTS)))
    own += tuple(name for name in ranked.columns if name.startswith(_OF_UCS))
    judged = [each for each in (ranked.look_for(*_JUDGED),) if each]
    wanted = [*asked.scores, *asked.ascending] or ranked.numbers(*own, *judged, *ranked.flags())
    return {_measure(name): name for name in dict.fromkeys(wanted)}


def _lower(names: Sequence[str]) -> set[str]:
    return {name.lower() for name in names}


def _measure(column: str) -> str:
    """Return the name of a measure from that of its column."""
    return f"{column}_" if column in {"id", "l1", "l2"} else column


def _judgement(asked: Judged) -> str | dict[str, Any]:
    """Return the column of judgements; with the labels of true positives, if it holds labels."""
    column = asked.judgements.column(*_JUDGED)
    if asked.positive:
        return {"column": column, "labels": list(asked.positive)}
    values = asked.judgements.head[column].drop_nulls().str.strip_chars().str.to_lowercase()
    labels = values.filter(~values.is_in(list(_TRUE))).unique(maintain_order=True)
    if labels.len():
        what = f"the column {column!r} holds labels: {', '.join(labels.head(8).to_list())}"
        remedy = "say which of them are true positives: --positive LABEL"
        raise ConfigError("evaluate", [Problem("judgements", what, remedy)])
    return column


def _require_all(run: Run) -> None:
    """Refuse to take what is judged for all that there is.

    Raises
    ------
    DataError
        If some ranked pairs are not judged.
    """
    (row,) = run.table("precision.baseline").filter(category="TP").rows(named=True)
    candidates, judged = row["n_candidates"], row["n_sampled"]
    if judged < candidates:
        raise DataError(
            f"evaluate: {judged:,} of {candidates:,} ranked pairs are judged. If these were drawn"
            " at random, say --sampled; if they are the pairs that somebody chose, or the best of"
            " a list, they say nothing about the others: evaluate a file with these alone."
        )
