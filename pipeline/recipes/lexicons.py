"""A lexicon against dictionaries, from files alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pipeline.api.results import Run
from pipeline.errors import ConfigError, Problem, did_you_mean
from pipeline.recipes.recipe import Recipe, perform, save
from pipeline.recipes.table_files import table_file
from pipeline.runner.events import Listener

_LEMMA = ("lemma", "headword", "base", "entry", "citation")
_FORM = ("form", "wordform", "word", "inflected", "forms")


def lexicon(
    gold: str | Path | Sequence[str | Path],
    computed: str | Path,
    *,
    rate: float | None = None,
    size: int | None = None,
    case: bool = True,
    columns: Mapping[str, str] | None = None,
    runs: str | Path | None = None,
    experiment: str | Path | None = None,
    report: bool = True,
    listeners: Sequence[Listener] = (),
) -> Run:
    """Evaluate a lexicon by a dictionary, or by the union of several: the L-measure.

    Parameters
    ----------
    gold : path, or several
        Dictionaries: tables of lemma and form, UniMorph, blocks of wordforms.
    computed : path
        The lexicon, in any of these formats.
    rate : float, optional
        Share of the lemmas to draw at random; all are compared if neither rate nor size is given.
    size : int, optional
        Number of lemmas to draw.
    case : bool
        Whether capital and small letters differ.
    columns : mapping of str to str, optional
        What lemma and form are called in the files, where that cannot be told.
    runs, experiment, report, listeners
        As of `evaluate`.

    Returns
    -------
    Run
        ``run.table("quality")``: L*, F*, entropy, coverage, with limits;
        ``run.table("quality.lemmas")``: lemma by lemma, what is missing and spurious.

    Raises
    ------
    LexassayError
        If a file is wrong.

    References
    ----------
    Dalli, A., The L-measure for lexicon evaluation.
    """
    golds = [gold] if isinstance(gold, str | Path) else [*gold]
    recipe = recipe_of(
        [Path(each) for each in golds], Path(computed), rate=rate, size=size, case=case,
        columns=columns or {},
    )  # fmt: skip
    if experiment is not None:
        save(recipe, Path(experiment))
    return perform(recipe, runs=Path(runs) if runs else None, report=report, listeners=listeners)


def recipe_of(
    golds: Sequence[Path],
    computed: Path,
    *,
    rate: float | None,
    size: int | None,
    case: bool,
    columns: Mapping[str, str],
) -> Recipe:
    """Return the experiment that evaluates.

    Raises
    ------
    ConfigError
        If no dictionary is named, or rate and size both are given.
    """
    if not golds:
        raise ConfigError("lexicon", [Problem("GOLD", "no dictionary is named", "name a file")])
    if rate is not None and size is not None:
        problem = Problem("--rate", "does not go with --size", "give one of the two")
        raise ConfigError("lexicon", [problem])
    _require_used(columns, [*golds, computed])
    names = ["gold"] if len(golds) == 1 else [f"gold_{n}" for n in range(1, len(golds) + 1)]
    stages: dict[str, dict[str, Any]] = {
        name: _read(path, columns, case=case) for name, path in zip(names, golds, strict=True)
    }
    if len(golds) > 1:
        stages["gold"] = {"use": "extract.union", "lexicons": names}
    stages["computed"] = _read(computed, columns, case=case)
    compared = {"gold": "gold", "lexicon": "computed"}
    stages["overlaps"] = {"use": "score.lexicon", **compared}
    drawn: dict[str, Any] = {}
    if rate is not None or size is not None:
        sample = {"gold": "gold", "lexicons": ["computed"], "rate": rate, "size": size}
        stages["sample"] = {"use": "sample.lemmas", **sample}
        drawn = {"sample": "sample"}
    stages["quality"] = {"use": "evaluate.lexicon", **compared, "overlaps": "overlaps", **drawn}
    about = computed.name.partition(".")[0]
    return Recipe("lexicon", about, stages, title=f"The lexicon {about}")


def _require_used(columns: Mapping[str, str], paths: Sequence[Path]) -> None:
    """Refuse a name of a column that none of the files has."""
    held = {name: None for path in paths for name in table_file(path).columns}
    absent = [
        Problem(f"--columns {ours}", f"no file has a column {theirs!r}", did_you_mean(theirs, held))
        for ours, theirs in columns.items()
        if theirs not in held
    ]
    if absent:
        raise ConfigError("lexicon", absent)


def _read(path: Path, columns: Mapping[str, str], *, case: bool) -> dict[str, Any]:
    """Return the stage that reads a file; names of columns that it has not are those of others."""
    held = table_file(path).columns
    own = {ours: name for ours, name in columns.items() if name in held}
    table = table_file(path, named={k: v for k, v in own.items() if k in {"lemma", "form"}})
    found = {"lemma": table.column(*_LEMMA), "form": table.column(*_FORM)}
    spelling = {} if case else {"case": "lower"}
    names = {"columns": table.other_names(**found)}
    return {"use": "extract.lexicon", "path": table.source, **names, **spelling}
