"""Experiments built from command options: their text, cache, run and list of results."""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import platformdirs
import polars as pl
import tomli_w

from pipeline.api.results import Run
from pipeline.api.run import run
from pipeline.errors import ConfigError, DataError, Problem
from pipeline.kernels.measure import MEASURES
from pipeline.recipes.inputs import as_given
from pipeline.runner.events import Listener, emit
from pipeline.runner.store.backends import require_local, storage_at
from pipeline.runner.store.digest import canonical, text_digest
from pipeline.runner.task import NO_RESULT

# Cache folder of the user

DAYS = 30
"""How long unused results are kept."""
_SECONDS = 24 * 60 * 60


def cache_folder() -> Path:
    """Return the user's cache folder of lexassay, e.g. ``~/.cache/lexassay`` on Linux."""
    return Path(platformdirs.user_cache_dir("lexassay", appauthor=False))


def remove_old_results(root: Path) -> None:
    """Remove experiments of commands, and their results, that have not been used for long.

    Parameters
    ----------
    root : Path
        The cache folder: ``experiments/NAME`` and the results in NAME.
    """
    oldest = time.time() - DAYS * _SECONDS
    for each in (root / "experiments").glob("*"):
        with suppress(OSError):  # another process may be cleaning up, too
            if max(file.stat().st_mtime for file in each.iterdir()) < oldest:
                shutil.rmtree(root / each.name, ignore_errors=True)
                shutil.rmtree(each, ignore_errors=True)


# Scored candidates as a list

PAIRS, SCORES, EXAMPLES = "pairs", "scores", "contexts"
"""Names of the stages."""
_HIDDEN = ("id", "tie_key")


def score_stage(measures: Sequence[str]) -> dict[str, Mapping[str, Any]]:
    """Return the stage that scores the candidates of the stage `PAIRS`.

    Parameters
    ----------
    measures : sequence of str
        Names or aliases of measures.
    """
    return {SCORES: {"use": "score.association", "candidates": PAIRS, "measures": list(measures)}}


def rows(run: Run, measures: Sequence[str], where: pl.Expr | None = None) -> pl.DataFrame:
    """Return scored candidates with examples, ordered by the first measure.

    Parameters
    ----------
    run : Run
        Run of an experiment with the stages of `score_stage`.
    measures : sequence of str
        The measures, as given; ties are ordered by f, then by the units.
    where : Expr, optional
        The candidates to keep.

    Returns
    -------
    DataFrame
        l1, l2, f, f1, f2, N, documents if counted, the scores, and example if there are any.
    """
    scores = run.query(SCORES)
    candidates = (scores if where is None else scores.filter(where)).collect()
    table = _examples(run, candidates)
    units = [name for name in ("l1", "l2") if name in candidates.columns]
    (first, *_) = MEASURES.resolve(measures)
    return table.sort(
        first, "f", *units, descending=[True, True, *(False for _ in units)], nulls_last=True
    ).drop(*_HIDDEN, strict=False)


def best(frame: pl.DataFrame, top: int | None, *, by: Sequence[str] = ()) -> pl.DataFrame:
    """Return the first rows, or the first of each group, largest group first.

    Parameters
    ----------
    frame : DataFrame
        Rows in order, with f1 if there are groups.
    top : int or None
        Number of rows; all if None.
    by : sequence of str
        The grouping columns.

    Examples
    --------
    >>> frame = pl.DataFrame({"relation": ["a", "b", "b"], "f1": [3, 9, 9]})
    >>> best(frame, 1, by=["relation"])["relation"].to_list()
    ['b', 'a']
    """
    if not by:
        return frame if top is None else frame.head(top)
    number = pl.int_range(pl.len()).over(by)
    selection = frame if top is None else frame.filter(number < top)
    order = selection.with_row_index("_order")
    return order.sort("f1", *by, "_order", descending=[True, *(False for _ in by), False]).drop(
        "_order"
    )


def _examples(run: Run, candidates: pl.DataFrame) -> pl.DataFrame:
    """Add the first example of each candidate."""
    stage = EXAMPLES if EXAMPLES in run.project.nodes else PAIRS
    if not run.project.experiment.stages[stage].get("examples"):
        return candidates
    ours = pl.col("id").is_in(candidates["id"].to_list())
    texts = run.query(f"{stage}.examples").filter(ours, pl.col("number") == 1)
    return candidates.join(texts.select("id", example="text").collect(), on="id", how="left")


_STAGE = re.compile(r"^stage ([^:]+): ")
_OPTION = re.compile(r"\boption (?=decimal\b|missing\b)(\w+)")
FOLDER = "experiments"
"""Folder of the experiments, inside the results folder."""
_IN_A_NAME = 40
_IN_A_MARK = 10


@dataclass(frozen=True)
class Recipe:
    """An experiment that has not been written to a file.

    Parameters
    ----------
    kind : str
        The name of the command.
    about : str
        Its subject, used in its name.
    stages : mapping of str to mapping
        Options by stage, as in the file; local paths are `Path`.
    title : str
        Heading of the report.
    notes : tuple of str
        Decisions made for the user, a sentence each.
    options : mapping of str to str
        From stage options to the command options that they come from.
    remedies : mapping of str to str
        Further advice by stage, for unusable values in its file; by "stage.option", advice in place
        of that of the stage.
    """

    kind: str
    about: str
    stages: Mapping[str, Mapping[str, Any]]
    title: str = ""
    notes: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    remedies: Mapping[str, str] = field(default_factory=dict)

    @property
    def results(self) -> str:
        """The name of its results: equal for all requests about the same files."""
        paths = sorted({str(path.absolute()) for path in _paths(self.stages)})
        return f"{self.kind}-{text_digest(canonical(paths))[:_IN_A_MARK]}"

    @property
    def name(self) -> str:
        """The name of the experiment."""
        words = re.sub(r"[^A-Za-z0-9._-]+", "-", self.about)[:_IN_A_NAME].strip("-._")
        return "-".join(dict.fromkeys(filter(None, [self.kind, words])))

    def content(self, folder: Path | None = None) -> dict[str, Any]:
        """Return the experiment as plain data.

        Parameters
        ----------
        folder : Path, optional
            Folder of its file, to which paths are relative; absolute paths if not given, or if they
            have no folder in common with it.
        """
        head = {"name": self.name, "title": self.title or self.name, "seed": "lexassay"}
        return {**head, "stages": _plain_data(self.stages, folder)}

    def text(self, folder: Path | None = None) -> str:
        """Return the experiment as TOML."""
        return tomli_w.dumps(self.content(folder))


def require_new(file: Path) -> None:
    """Reject a file of an experiment that exists, or does not end in .toml.

    Raises
    ------
    ConfigError
        With the remedy.
    """
    if file.suffix != ".toml":
        raise ConfigError(
            "--save", [Problem(str(file), "does not end in .toml", "use the ending .toml")]
        )
    if file.exists():
        raise ConfigError("--save", [Problem(str(file), "already exists", "choose another name")])


def save(recipe: Recipe, file: Path) -> None:
    """Write an experiment to a new file, with paths relative to its folder.

    Raises
    ------
    ConfigError
        If the file exists, or does not end in .toml.
    StoreError
        If it cannot be written.
    """
    require_new(file)
    storage = storage_at(file.absolute().parent, remedy="choose another file")
    with storage.explain_errors("--save", ""):
        storage.write(file.name, recipe.text(file.absolute().parent).encode())


def run_recipe(
    recipe: Recipe,
    *,
    runs: str | Path | None = None,
    experiment: str | Path | None = None,
    report: bool = False,
    listeners: Sequence[Listener] = (),
    accept: Callable[[Run], None] | None = None,
) -> Run:
    """Run an experiment, reusing earlier results.

    Parameters
    ----------
    recipe : Recipe
        The experiment.
    runs : path, optional
        The folder of its results; by default the user's cache folder, where unused results expire.
    experiment : path, optional
        File to which to write the experiment if the run succeeds.
    report : bool
        Write the report.
    listeners : sequence of callable
        Called with every event.
    accept : callable, optional
        Raises an error if the results answer nothing; then no experiment is written.

    Raises
    ------
    LexassayError
        As for `pipeline.api.run.run`, with the paths and options of the command.
    """
    for note in recipe.notes:
        emit(listeners, "note", text=note)
    if experiment is not None:
        require_new(Path(experiment))
    root = Path(runs) if runs else cache_folder()
    require_local(root, recipe.kind)
    content = recipe.content()
    mark = text_digest(canonical(content))[:_IN_A_MARK]
    key = f"{FOLDER}/{recipe.results}/{content['name']}-{mark}.toml"
    content["name"] = recipe.results
    storage = storage_at(root, remedy="choose another folder with --runs")
    with storage.explain_errors(recipe.kind, ""):
        storage.write(key, tomli_w.dumps(content).encode())
        if not runs:
            remove_old_results(root)
    try:
        result = run(root / key, runs=root, report=report, listeners=listeners)
    except ConfigError as error:
        problems = [
            replace(
                each,
                where=_option(recipe, each.where),
                what=as_given(each.what, [*_paths(recipe.stages)]),
                remedy=recipe.remedies.get(each.where.removeprefix("stages."), each.remedy),
            )
            for each in error.problems
        ]
        raise ConfigError(recipe.kind, problems) from error
    except DataError as error:
        raise DataError(_in_terms_of_command(recipe, str(error))) from error
    if accept is not None:
        accept(result)
    if experiment is not None:
        save(recipe, Path(experiment))
    return result


def _option(recipe: Recipe, where: str) -> str:
    """Return the command option that a stage option comes from, or the stage option."""
    own = where.removeprefix("stages.")
    return next(
        (option for place, option in recipe.options.items() if f"{own}.".startswith(f"{place}.")),
        where,
    )


def _in_terms_of_command(recipe: Recipe, text: str) -> str:
    """Return a stage's message with paths as given and options of the command."""
    stage = _STAGE.match(text)
    text = _STAGE.sub(f"{recipe.kind}: ", as_given(text, [*_paths(recipe.stages)]))
    text = _OPTION.sub(r"option --\1", text).replace(NO_RESULT, "")
    remedy = recipe.remedies.get(stage[1], "") if stage else ""
    return f"{text}\n{remedy}" if remedy else text


def _paths(value: Any) -> Iterator[Path]:
    """Yield every path among the options."""
    if isinstance(value, Path):
        yield value
    elif isinstance(value, Mapping | list | tuple):
        for each in value.values() if isinstance(value, Mapping) else value:
            yield from _paths(each)


def _plain_data(value: Any, folder: Path | None) -> Any:
    """Return options with paths as text, without those that are None."""
    if isinstance(value, Mapping):
        items = ((key, _plain_data(each, folder)) for key, each in value.items())
        return {key: each for key, each in items if each is not None}
    if isinstance(value, list | tuple):
        return [_plain_data(each, folder) for each in value]
    if isinstance(value, Path):
        whole = value.absolute()
        # a path that shares nothing with the experiment is easier to read in full
        if folder is None or os.path.commonpath([whole, folder]) == whole.anchor:
            return whole.as_posix()
        return Path(os.path.relpath(whole, folder)).as_posix()
    return value
