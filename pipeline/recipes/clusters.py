"""Induced clusters against gold classes, from files alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from pipeline.api.results import Run
from pipeline.errors import ConfigError, Problem
from pipeline.formats.base import format_of
from pipeline.recipes.recipe import Recipe, perform, save
from pipeline.recipes.table_files import TableFile, table_file
from pipeline.runner.events import Listener

_ITEM = ("item", "word", "form", "type", "token", "lemma")
_GOLD = ("gold", "class", "tag", "upos", "pos", "category", "label")
_CLUSTER = ("cluster", "induced", "tag", "state", "class", "label")
_COUNT = ("f", "freq", "frequency", "count", "tokens", "n")
_CORPORA = ("conllu", "vertical")
"""Formats that hold a corpus and nothing else."""


@dataclass(frozen=True)
class Tagged:
    """How tags are read.

    Parameters
    ----------
    tag : str
        Attribute of a corpus with the gold class.
    cluster : str
        Attribute of a tagged corpus with the induced class.
    item : str
        Attribute of a corpus that tells items apart.
    exclude : sequence of str
        Gold classes that are left out.
    fold : bool
        Whether items are put into lower case.
    prefix : int or None
        Cut the names of clusters to so many characters.
    columns : mapping of str to str
        What item, gold, cluster and f are called in tables.
    """

    tag: str = "upos"
    cluster: str = "upos"
    item: str = "form"
    exclude: Sequence[str] = ()
    fold: bool = False
    prefix: int | None = None
    columns: Mapping[str, str] | None = None

    def named(self, *ours: str) -> dict[str, str]:
        """Return what of these is called how."""
        return {name: column for name, column in (self.columns or {}).items() if name in ours}


def clusters(
    gold: str | Path,
    *induced: str | Path,
    tag: str = "upos",
    cluster: str = "upos",
    item: str = "form",
    exclude: Sequence[str] = (),
    fold: bool = False,
    prefix: int | None = None,
    columns: Mapping[str, str] | None = None,
    runs: str | Path | None = None,
    experiment: str | Path | None = None,
    report: bool = True,
    listeners: Sequence[Listener] = (),
) -> Run:
    """Evaluate induced clusters of words against gold classes, by types and by tokens.

    Parameters
    ----------
    gold : path
        A tagged corpus (CoNLL-U, vertical), or a table of words with their classes.
    *induced : path
        A system each: a table of words with their clusters, Brown's paths, blocks of words, or the
        same corpus with induced tags. The name of the file names the system.
    tag, cluster : str
        Attributes of corpora with the gold class, and with the induced one.
    item : str
        Attribute of a corpus that tells words apart: "form" or "lemma".
    exclude : sequence of str
        Gold classes that do not count, such as PUNCT.
    fold : bool
        Whether words are put into lower case.
    prefix : int, optional
        Cut the names of clusters to so many characters: Brown's paths to bits.
    columns : mapping of str to str, optional
        What item, gold, cluster and f are called in tables, where that cannot be told.
    runs, experiment, report, listeners
        As of `evaluate`.

    Returns
    -------
    Run
        ``run.table("systems.table")``, all measures; ``run.table("types")``, and where the gold has
        frequencies and each word one cluster ``run.table("tokens")``.

    Raises
    ------
    LexassayError
        If a file is wrong.

    References
    ----------
    Reichart, Abend & Rappoport 2010, Type level clustering evaluation.
    """
    read = Tagged(tag, cluster, item, exclude, fold, prefix, columns)
    recipe = recipe_of(Path(gold), [Path(each) for each in induced], read)
    if experiment is not None:
        save(recipe, Path(experiment))
    return perform(recipe, runs=Path(runs) if runs else None, report=report, listeners=listeners)


def recipe_of(gold: Path, induced: Sequence[Path], read: Tagged) -> Recipe:
    """Return the experiment that evaluates.

    Raises
    ------
    ConfigError
        If no system is named, or one needs a gold corpus.
    """
    if not induced:
        raise ConfigError("clusters", [Problem("INDUCED", "no system is named", "name a file")])
    standard, counted = _gold(gold, read)
    stages: dict[str, dict[str, Any]] = {"gold": standard}
    names = _names(induced)
    taggings, dictionaries = [], []
    for name, path in names.items():
        stage, single = _system(name, path, gold, read)
        stages[name] = stage
        if stage["use"] == "join.tagging":
            taggings.append(name)
        elif counted and single:
            dictionaries.append(name)
    systems = {"gold": "gold", "systems": list(names)}
    stages["types"] = {"use": "evaluate.type_level", **systems}
    levels = {"type_level": "types"}
    if taggings or dictionaries:
        tokens = {"taggings": taggings, "dictionaries": dictionaries, "gold": "gold"}
        stages["tokens"] = {"use": "evaluate.token_level", **tokens}
        levels["token_level"] = "tokens"
    stages["systems"] = {"use": "evaluate.systems", **levels}
    about = gold.name.partition(".")[0]
    return Recipe("clusters", about, stages, title=f"Clusters against {about}")


def _names(paths: Sequence[Path]) -> dict[str, Path]:
    """Name systems by their files; a number after what is there already."""
    taken = {"gold", "types", "tokens", "systems"}
    names: dict[str, Path] = {}
    for path in paths:
        stem = "".join(sign if sign.isalnum() else "_" for sign in path.name.partition(".")[0])
        stem, number = stem or "system", 2
        name = stem
        while name in taken or name in names:
            name, number = f"{stem}_{number}", number + 1
        names[name] = path
    return names


def _is_corpus(path: Path) -> bool:
    try:
        return format_of(path.name, kind="corpus").name in _CORPORA
    except ValueError:
        return False


def _gold(path: Path, read: Tagged) -> tuple[dict[str, Any], bool]:
    """Return the stage with the gold classes, and whether it has frequencies."""
    if _is_corpus(path):
        tags = {"tag": read.tag, "item": read.item, "exclude": list(read.exclude)}
        return {"use": "extract.gold", "corpus": path, **tags, "fold": read.fold}, True
    table = table_file(path, named=read.named("item", "gold", "f"))
    found = {"item": table.column(*_ITEM), "gold": table.column(*_GOLD)}
    count = table.look_for(*_COUNT)
    if count and count in table.numbers():
        found["f"] = count
    options = {"columns": table.other_names(**found), "exclude": list(read.exclude)}
    return {
        "use": "extract.gold_table", "path": table.source, **options, "fold": read.fold,
    }, "f" in found  # fmt: skip


def _system(name: str, path: Path, gold: Path, read: Tagged) -> tuple[dict[str, Any], bool]:
    """Return the stage with the clusters of a system, and whether each word has one."""
    if _is_corpus(path):
        if not _is_corpus(gold):
            what = f"{path} is a tagged corpus, but the gold standard {gold} is a table"
            raise ConfigError("clusters", [Problem("GOLD", what, "name the gold corpus")])
        tags = {"tag": read.tag, "item": read.item, "exclude": list(read.exclude)}
        both = {"gold": gold, "induced": path, "cluster": read.cluster, **tags}
        return {"use": "join.tagging", "system": name, **both, "fold": read.fold}, True
    table = table_file(path, named=read.named("item", "cluster"))
    found = {"item": table.column(*_ITEM), "cluster": table.column(*_CLUSTER)}
    options = {"columns": table.other_names(**found), "prefix": read.prefix, "fold": read.fold}
    stage = {"use": "extract.clusters", "system": name, "path": table.source, **options}
    return stage, _single(table, found["item"], fold=read.fold)


def _single(table: TableFile, item: str, *, fold: bool) -> bool:
    """Tell whether no word stands there twice."""
    words = table.file.format.scan(table.file.path, table.file.options).select(
        pl.col(item).cast(pl.String)
    )
    column = words.collect().to_series()
    return not (column.str.to_lowercase() if fold else column).is_duplicated().any()
