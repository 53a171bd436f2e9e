"""Answers in conflict: a sheet and the annotation log both changed, and differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from pipeline.errors import WaitsForPerson
from pipeline.formats.annotation_rows import (
    DecisionOptions,
    first_answers,
    sheet_answers,
    units_of_items,
)
from pipeline.runner.inputs import ANSWERS, SourceFile
from pipeline.stages.inputs import compare_answers

_ROUND = "round"
_SHOWN = 10
"""Conflicts in a message."""


class OpenConflicts(WaitsForPerson):
    """Sheets and annotation pages differ; stages run without these answers."""


@dataclass(frozen=True)
class SheetAnswer:
    """An answer in a sheet.

    Parameters
    ----------
    file : str
        The sheet.
    line : int
        Its row.
    answer : str or None
        As typed; None: the cell is empty.
    note : str or None
        The note beside it.
    """

    file: str
    line: int
    answer: str | None
    note: str | None = None

    @property
    def place(self) -> str:
        """File and row."""
        return f"{self.file}, row {self.line:,}"


@dataclass(frozen=True)
class Conflict:
    """The answers of one person to one item, between which somebody must decide.

    Parameters
    ----------
    annotator, id : str
        Person and item, as the log spells them.
    units : tuple of str
        The units of the item.
    sheets : tuple of SheetAnswer
        The answers that changed in sheets.
    answer : str or None
        The answer in the log; None: there is none.
    note : str or None
        Its note.
    source : str
        The sheet that it came from; empty: the page.
    at : str
        When it was given or withdrawn, UTC; empty: never.
    settled : bool
        Whether adjudicators have seen it: it stays, and counts.
    """

    annotator: str
    id: str
    units: tuple[str, ...]
    sheets: tuple[SheetAnswer, ...]
    answer: str | None = None
    note: str | None = None
    source: str = ""
    at: str = ""
    settled: bool = False

    def __str__(self) -> str:
        """Return person, item, all answers and their places."""
        by_answer: dict[str, list[str]] = {}
        for each in self.sheets:
            by_answer.setdefault(_quote_answer(each.answer), []).append(each.place)
        parts = [f"{text} in {' and '.join(places)}" for text, places in by_answer.items()]
        page = f"{_quote_answer(self.answer)} on the page"
        if self.source:
            page += f" (imported from {self.source})"
        if self.settled:
            page += ", which counts: adjudicators have seen it"
        return f"{self.annotator}, {' '.join(self.units)}: {'; '.join([*parts, page])}"


def _quote_answer(answer: str | None) -> str:
    return "no answer" if answer is None else repr(answer)


def typed_answers(files: Sequence[SourceFile], answer: str) -> pl.DataFrame:
    """Return the rows of sheets with the columns that are compared.

    Parameters
    ----------
    files : sequence of SourceFile
        The sheets.
    answer : str
        The column of answers.
    """
    names = ["file", "line", "annotator", "id", answer, "note"]
    schema = {name: pl.Int64 if name == "line" else pl.String for name in names}
    parts = [pl.LazyFrame(schema=schema)]
    for file in files:
        rows = file.scan()
        parts.append(rows.select(*names, *({_ROUND} & {*rows.collect_schema()})))
    return pl.concat(parts, how="diagonal").collect()


def compare(rows: pl.DataFrame, log: SourceFile) -> tuple[pl.DataFrame, list[Conflict]]:
    """Compare the answers of sheets with those of a log.

    Parameters
    ----------
    rows : DataFrame
        As from `typed_answers`.
    log : SourceFile
        The log of their folder.

    Returns
    -------
    DataFrame, list of Conflict
        What becomes of each answer, see
        `pipeline.kernels.annotation.adjudication.compare_cells`; and
        the conflicts, by annotator in the order of the cards.
    """
    if not isinstance(log.options, DecisionOptions):
        raise TypeError(f"{log.label} is no annotation log")
    answers, tasks = (read(log.path, log.options) for read in (sheet_answers, first_answers))
    cells = compare_answers(
        rows.lazy(), answers, tasks, log=log.label, answer=ANSWERS[log.format.name]
    ).collect()
    apart = cells.filter(pl.col("outcome").is_in(["conflict", "settled"]))
    sheets: dict[tuple[str, str], list[SheetAnswer]] = {}
    for row in apart.iter_rows(named=True):
        answer = (row["answer"] or "").strip() or None
        entry = SheetAnswer(row["file"], row["line"], answer, row["note"])
        sheets.setdefault((row["annotator"], row["id"]), []).append(entry)
    units = units_of_items(log.path, {item for _, item in sheets})
    return cells, [
        Conflict(
            task["annotator"], task["id"], units[task["id"]],
            tuple(sheets[who]), task["answer"], task["note"], task["source"], task["at"] or "",
            task["settled"],
        )
        for task in tasks.iter_rows(named=True)
        if (who := (task["annotator"], task["id"])) in sheets
    ]  # fmt: skip


def find_conflicts(files: Sequence[SourceFile]) -> list[Conflict]:
    """Return the conflicts between the sheets of a folder and the logs beside them.

    Parameters
    ----------
    files : sequence of SourceFile
        The sheets and the logs.
    """
    logs = [file for file in files if isinstance(file.options, DecisionOptions)]
    sheets = [file for file in files if not isinstance(file.options, DecisionOptions)]
    if not logs or not sheets:
        return []
    conflicts: dict[tuple[str, str], Conflict] = {}
    for log in logs:
        for each in compare(typed_answers(sheets, ANSWERS[log.format.name]), log)[1]:
            conflicts.setdefault((each.annotator, each.id), each)
    return list(conflicts.values())


def wait_for_decisions(conflicts: Sequence[Conflict], *, folder: str, name: str) -> OpenConflicts:
    """Return the error that lists conflicts, each once.

    Parameters
    ----------
    conflicts : sequence of Conflict
        One or more.
    folder : str
        Path of the folder of the sheets.
    name : str
        The folder in the experiment.

    Examples
    --------
    >>> typed = SheetAnswer("001-anna.csv", 2, "free")
    >>> found = [Conflict("anna", "x", ("take", "care"), (typed,), "SVC")]
    >>> print(wait_for_decisions(found, folder="sheets/e/pairs", name="pairs"))
    sheets/e/pairs: waiting for 1 decision; sheets and pages differ, and count as missing:
      anna, take care: 'free' in 001-anna.csv, row 2; 'SVC' on the page
      To keep one answer of each, run lexassay annotate CONFIG pairs and open the coordinator's page, or correct the cell
    """  # noqa: E501
    return OpenConflicts(
        folder, len(conflicts), "decision", remedy="\n  ".join(_lines(conflicts, name))
    )


def _lines(conflicts: Sequence[Conflict], name: str) -> Iterator[str]:
    yield "sheets and pages differ, and count as missing:"
    yield from map(str, conflicts[:_SHOWN])
    if (more := len(conflicts) - _SHOWN) > 0:
        yield f"and {more:,} more"
    yield (
        f"To keep one answer of each, run lexassay annotate CONFIG {name} and open the"
        " coordinator's page, or correct the cell"
    )
