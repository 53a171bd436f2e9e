"""What is known so far: the experiment's own stages, on what is judged so far."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from pipeline import causes
from pipeline.annotate.counting import Counted, counted
from pipeline.annotate.looking import look
from pipeline.annotate.questions import Asked, asked
from pipeline.annotate.rows import Row, rows_of
from pipeline.annotate.work import Work
from pipeline.api.results import Run, open_run, perform
from pipeline.errors import LexassayError
from pipeline.formats.decisions.database import read_only
from pipeline.formats.decisions.state import last_entry
from pipeline.runner.config.graph import Node
from pipeline.runner.store import store
from pipeline.stages.base import Tables

FOLDER = ".annotate"
"""Where it is made, beside the results of all experiments."""


@dataclass(frozen=True)
class Said:
    """What a stage says now.

    Parameters
    ----------
    stage : str
        Its title, or its name.
    text : str
        What its limits hold for, when the next look is, or why there are none.
    rows : tuple of Row
        Its questions.
    failed : bool
        Whether the text says why nothing could be made.
    """

    stage: str
    text: str
    rows: tuple[Row, ...] = ()
    failed: bool = False


@dataclass(frozen=True)
class Reckoned:
    """What is known after a decision.

    Parameters
    ----------
    entry : int
        The last decision that is in it.
    at : str
        When it was made, UTC.
    stages : tuple of Said
        What each stage says.
    counted : Counted
        What counts.
    """

    entry: int
    at: str
    stages: tuple[Said, ...]
    counted: Counted

    @property
    def rows(self) -> tuple[Row, ...]:
        """All questions."""
        return tuple(row for each in self.stages for row in each.rows)


class Reckoner:
    """Makes what is known so far in a folder of its own, which goes when it is closed.

    Parameters
    ----------
    work : Work
        The sheet.
    """

    def __init__(self, work: Work) -> None:
        self._work = work
        self._folder: TemporaryDirectory[str] | None = None
        self._asked: Asked | None = None

    @property
    def has_questions(self) -> bool:
        """Whether a stage of the experiment answers questions by this sheet."""
        return bool(asked(self._work, Path()).stages)

    def reckon(self) -> Reckoned:
        """Answer the questions from what is judged now.

        Raises
        ------
        LexassayError
            If a stage that the questions rest on fails, or waits for people.
        """
        with read_only(self._work.database) as connection:
            entry, so_far = last_entry(connection), counted(connection)
        questions = self._questions()
        _forget(questions)
        done = perform(questions.project, settings=questions.settings, deliver=False)
        categories = [
            name
            for join in questions.joins
            if join in questions.project.nodes
            for name in getattr(questions.project.nodes[join].config, "categories", ())
        ]
        said = [_said(node, done, so_far, categories) for node in questions.stages]
        return Reckoned(entry, _now(), tuple(said), so_far)

    def close(self) -> None:
        """Remove the folder."""
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None
            self._asked = None

    def _questions(self) -> Asked:
        if self._asked is None:
            place = self._work.project.root.parent / FOLDER
            place.mkdir(parents=True, exist_ok=True)
            self._folder = TemporaryDirectory(
                prefix=f"{self._work.project.root.name}-", dir=place, ignore_cleanup_errors=True
            )
            self._asked = asked(self._work, Path(self._folder.name))
            _take_over(self._work, self._asked)
        return self._asked


def _take_over(work: Work, questions: Asked) -> None:
    """Give the folder what the project has made already, so that it is not made again."""
    there = open_run(replace(questions.project, root=work.project.root)).manifests
    for name, manifest in there.items():
        key = store.folder_of(name, manifest.fingerprint)
        source = work.project.root / key
        if source.is_dir():
            shutil.copytree(source, questions.project.root / key, copy_function=_link)


def _link(source: str, target: str) -> None:
    """Give a file a second name; what stands in a store is never written again."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def _forget(questions: Asked) -> None:
    """Remove what former labels gave, and the records of these runs."""
    root = questions.project.root
    for name in (*questions.joins, "history"):
        shutil.rmtree(root / name, ignore_errors=True)


def _said(node: Node, done: Run, so_far: Counted, categories: list[str]) -> Said:
    """Return what a stage says now; a sentence in place of its rows if it fails."""
    title = node.title or node.name
    try:
        wait = next((text for name in _inputs(node) if (text := done.why_not(name))), "")
        if wait:
            return Said(title, f"There are no limits yet: {wait}", failed=True)
        tables: Tables = {
            option: done.plan(f"{ref.stage}.{ref.table}") for option, ref in node.inputs.items()
        }
        seen = look(node.config, tables, so_far)
        if isinstance(seen, str):
            return Said(title, seen)
        made = node.stage.run(seen.config, seen.tables)
        return Said(title, seen.said, rows_of(node, seen, made, categories=categories))
    except (LexassayError, ValueError, ArithmeticError, OSError, RuntimeError) as error:
        return Said(title, f"There are no limits: {reason(error)}", failed=True)


def _inputs(node: Node) -> list[str]:
    return [ref.stage for ref in node.inputs.values()]


def reason(error: BaseException) -> str:
    r"""Return what is wrong in one line.

    Examples
    --------
    >>> reason(LexassayError("stage x: two rows are wrong\n  - row 1"))
    'stage x: two rows are wrong; row 1'
    """
    text = str(error) if isinstance(error, LexassayError) else causes.in_words(error)
    lines = (line.strip().removeprefix("- ") for line in text.splitlines())
    return "; ".join(line for line in lines if line)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
