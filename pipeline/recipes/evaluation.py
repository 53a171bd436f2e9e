"""Evaluations from files: n-best lists, clusters and lexicons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias, get_args

import polars as pl

from pipeline.api.results import Run
from pipeline.errors import ConfigError, DataError, Problem
from pipeline.formats.base import FORMATS, format_of
from pipeline.formats.content import first_lines, is_conllu
from pipeline.formats.unicode import normalise_column, normalise_series
from pipeline.kernels.cells import Decimal, judgement, label_lists
from pipeline.kernels.clustering.encoding import Noise, is_noise, noise_labels
from pipeline.kernels.clustering.senses import SINGLE, SINGLE_TOKENS
from pipeline.recipes.base import Recipe, run_recipe
from pipeline.recipes.inputs import (
    CorpusFiles,
    RequiredColumns,
    TableFile,
    TableOptions,
    corpus_files,
    require_columns,
    require_rows,
    table_file,
)
from pipeline.registry import as_names
from pipeline.runner.events import Listener
from schemas import SystemSize
from schemas.errors import count_text

# Clusters and gold classes

_ITEM = ("item", "word", "form", "type", "token", "lemma")
_GOLD = ("gold", "class", "tag", "upos", "pos", "category", "label")
_CLUSTER = ("cluster", "induced", "tag", "state", "class", "label")
_COUNT = ("f", "freq", "frequency", "count", "tokens", "n")
_CORPORA = ("conllu", "vertical")
"""Formats that only contain corpora."""
_KEY = "senseval"


@dataclass(frozen=True)
class TagReadingOptions:
    """Options for reading tags.

    Parameters
    ----------
    tag : str
        Corpus attribute with the gold class.
    cluster : str
        Corpus attribute with the induced class.
    item : str
        Corpus attribute that identifies items.
    exclude : sequence of str
        Gold classes to exclude.
    fold : bool
        Convert items to lower case.
    prefix : int or None
        Truncate cluster names to this number of characters.
    noise, noise_as
        As for `clusters`.
    tables : TableOptions
        Options for reading tables; their columns are item, gold, cluster and f.
    """

    tag: str = "upos"
    cluster: str = "upos"
    item: str = "form"
    exclude: Sequence[str] = ()
    fold: bool = False
    prefix: int | None = None
    noise: Sequence[str] = ()
    noise_as: Noise = "excluded"
    tables: TableOptions = field(default_factory=TableOptions)

    @property
    def noise_options(self) -> dict[str, Any]:
        """The options of stages that read clusters."""
        return {"noise": list(self.noise), "noise_as": self.noise_as} if self.noise else {}


Induced: TypeAlias = str | Path | Mapping[str, Sequence[str | Path]]
"""The file of a system, or the files of its runs by its name."""


@dataclass(frozen=True)
class System:
    """The files of a system, one for each run.

    Parameters
    ----------
    name : str
        Its name in the experiment.
    paths : sequence of Path
        One or several files.
    """

    name: str
    paths: Sequence[Path]


def clusters(
    gold: str | Path,
    *induced: Induced,
    tag: str = "upos",
    cluster: str = "upos",
    item: str = "form",
    exclude: str | Sequence[str] = (),
    fold: bool = False,
    prefix: int | None = None,
    noise: Any = (),
    noise_as: Noise = "excluded",
    columns: Mapping[str, str] | None = None,
    header: bool | None = None,
    decimal: Decimal | None = None,
    read_as: str | Mapping[str, str] | None = None,
    reader: Mapping[str, Any] | None = None,
    runs: str | Path | None = None,
    save: str | Path | None = None,
    report: bool = True,
    listeners: Sequence[Listener] = (),
) -> Run:
    """Evaluate induced word clusters against gold classes, at type and token level.

    Senseval keys are evaluated word by word: graded senses by fuzzy B-Cubed and fuzzy NMI, and the
    heaviest sense of each instance by V, pairs and BCubed.

    Parameters
    ----------
    gold : path
        A tagged corpus (CoNLL-U, vertical), a table of words and classes, or a Senseval key.
    *induced : path or mapping of str to sequence of path
        One file per system, or the files of its runs by its name: a table of words and clusters,
        Brown paths, blocks of words, the same corpus with induced tags, or Senseval keys if gold is
        one.
    tag, cluster : str
        Corpus attributes with the gold class and with the induced class.
    item : str
        Corpus attribute that identifies words: "form" or "lemma".
    exclude : str or sequence of str
        Gold classes to exclude, e.g. PUNCT.
    fold : bool
        Convert words to lower case.
    prefix : int, optional
        Truncate cluster names to this number of characters: Brown's paths to bits.
    noise : label or sequence of labels
        Labels of words without a cluster: -1 of DBSCAN and HDBSCAN.
    noise_as : str
        Noise is "excluded", as words without a cluster, or "clusters": each is one of its own.
    columns : mapping of str to str, optional
        Names of the columns item, gold, cluster and f in tables, if not recognised.
    header : bool, optional
        Tables have a header; detected by default. Unnamed columns are called column_1, column_2 ...
    decimal : {".", ","}, optional
        Decimal mark in tables; detected by default.
    read_as, reader, runs, save, report, listeners
        As for `evaluate`.

    Returns
    -------
    Run
        ``run.table("systems.table")`` has all measures; of Senseval keys ``senses.scores`` and
        ``heaviest.scores``.

    Raises
    ------
    LexassayError
        If a file is invalid.

    References
    ----------
    Reichart, Abend & Rappoport 2010, Type level clustering evaluation.
    """
    tables = TableOptions(columns or {}, header, decimal, (), read_as, reader or {})
    try:
        noisy = noise_labels(noise)
        if noise_as not in get_args(Noise):
            raise ValueError(f"noise_as = {noise_as!r}: give excluded or clusters")
    except ValueError as error:
        raise ConfigError("clusters", [Problem("noise", str(error))]) from None
    reading = TagReadingOptions(
        tag, cluster, item, as_names(exclude), fold, prefix, noisy, noise_as, tables
    )
    recipe = clusters_recipe(Path(gold), systems_of(induced), reading)
    return run_recipe(recipe, runs=runs, experiment=save, report=report, listeners=listeners)


def clusters_recipe(gold: Path, systems: Sequence[System], reading: TagReadingOptions) -> Recipe:
    """Return the experiment that evaluates.

    Raises
    ------
    ConfigError
        If there is no system, or a tagged corpus lacks a gold corpus.
    """
    if not systems:
        raise ConfigError("clusters", [Problem("INDUCED", "no system is given", "name a file")])
    induced = [path for each in systems for path in each.paths]
    reading.tables.require_used([gold, *induced])
    keys = [path for path in (gold, *induced) if _is_key(path, reading)]
    if keys:
        if others := [path for path in (gold, *induced) if path not in keys]:
            what = f"{keys[0]} is a Senseval key, but {others[0]} is not"
            remedy = f"give keys only; if it is one: --read-as {others[0].name}={_KEY}"
            raise ConfigError("clusters", [Problem("FILES", what, remedy)])
        if reading.tables.reader.get("lenient"):
            what = "applies to tagged corpora, but all files are Senseval keys"
            raise ConfigError("clusters", [Problem("--lenient", what, "correct the lines named")])
        return _senses_recipe(gold, systems, reading)
    paths = [gold, *induced]
    corpora = [path for path in paths if _corpus_format(path, reading)]
    files = [
        (gold, (_ITEM, _GOLD), (_COUNT,)),
        *((path, (_ITEM, _CLUSTER), ()) for path in induced),
    ]
    tables = [
        RequiredColumns(table_file(path, reading.tables), *columns)
        for path, *columns in files
        if path not in corpora
    ]
    require_columns("clusters", reading.tables, tables)
    reading, notes = _keep_apart(induced, reading)
    if reading.tables.reader.get("lenient") and not corpora:
        what = "applies to tagged corpora, but all files are tables"
        raise ConfigError("clusters", [Problem("--lenient", what, "correct the lines named")])
    tagged = _corpus([gold], reading)
    standard, counted, said_of_gold = _gold(gold, tagged, reading)
    notes += said_of_gold
    stages: dict[str, dict[str, Any]] = {"gold": standard}
    taggings, dictionaries = [], []
    for each in systems:
        name = each.name
        stage, single, system_notes = _system(each, gold, tagged, reading)
        notes += system_notes
        stages[name] = stage
        if stage["use"] == "join.tagging":
            taggings.append(name)
        elif counted and single:
            dictionaries.append(name)
    compared = {"gold": "gold", "systems": [each.name for each in systems]}
    stages["types"] = {"use": "evaluate.type_level", **compared}
    levels = {"type_level": "types"}
    if taggings or dictionaries:
        tokens = {"taggings": taggings, "dictionaries": dictionaries, "gold": "gold"}
        stages["tokens"] = {"use": "evaluate.token_level", **tokens}
        levels["token_level"] = "tokens"
    stages["systems"] = {"use": "evaluate.systems", **levels}
    about = gold.name.partition(".")[0]
    title = f"Clusters against {about}"
    options = {f"{name}.exclude": "--exclude" for name in stages}
    return Recipe("clusters", about, stages, title, notes, options)


def without_cluster(run: Run) -> pl.DataFrame:
    """Return gold words without a cluster in each run of a system.

    Returns
    -------
    DataFrame
        system, run, words (in the gold standard), lacking (without a cluster), such_as (the most
        frequent three). One row per run that lacks some.
    """
    (evaluation,) = (run.project.nodes[name] for name in ("types", "senses")
                     if name in run.project.nodes)  # fmt: skip
    gold = run.table("gold").group_by("item").agg(pl.sum("f"))
    gold = gold.sort("f", "item", descending=[True, False])
    rows = []
    inputs = evaluation.inputs.items()
    for name in [each.stage for option, each in inputs if option.startswith("systems.")]:
        entries = run.table(f"{name}.entries")
        for (each,), part in entries.group_by("run", maintain_order=True):
            lacking = gold.join(part, on="item", how="anti", maintain_order="left")["item"]
            if len(lacking):
                rows.append((name, each, gold.height, len(lacking), lacking.head(3).to_list()))
    names = ["system", "run", "words", "lacking", "such_as"]
    return pl.DataFrame(rows, schema=names, orient="row").sort("system", "run")


def noise_counts(run: Run) -> pl.DataFrame:
    """Return system, run, what and count of noise items."""
    tables = [
        run.table(f"{name}.sizes")
        for name, node in run.project.nodes.items()
        if node.stage.name in {"extract.clusters", "join.tagging"}
    ]
    rows = [each.filter(pl.col("what").str.starts_with("noise ")) for each in tables]
    return pl.concat(rows) if rows else SystemSize.zero_rows().collect()


def _is_key(path: Path, reading: TagReadingOptions) -> bool:
    try:
        return format_of(path.name, name=reading.tables.format_of(path), kind="table").name == _KEY
    except ValueError:
        return False


def _senses_recipe(gold: Path, systems: Sequence[System], reading: TagReadingOptions) -> Recipe:
    """Return the experiment that evaluates the senses of each word."""
    induced = [path for each in systems for path in each.paths]
    paths = (gold, *induced)
    tables = {path: table_file(path, reading.tables) for path in paths}
    bare = [RequiredColumns(table, ()) for table in tables.values()]
    require_columns("clusters", reading.tables, bare)
    stages: dict[str, dict[str, Any]] = {
        "gold": {
            "use": "extract.gold_table",
            "path": tables[gold].source,
            "columns": {"gold": "sense", "by": "word"},
            "exclude": list(reading.exclude),
            "fold": reading.fold,
        }
    }
    for each in systems:
        stages[each.name] = {
            "use": "extract.clusters",
            "system": each.name,
            "path": _one_source([tables[path] for path in each.paths]),
            "columns": {"cluster": "sense", "by": "word"},
            "prefix": reading.prefix,
            "fold": reading.fold,
            **reading.noise_options,
        }
    compared = {"gold": "gold", "systems": [each.name for each in systems]}
    stages["senses"] = {"use": "evaluate.senses", **compared}
    stages["heaviest"] = {
        **stages["senses"],
        "senses": "heaviest",
        "measures": list(SINGLE),
        "token_measures": list(SINGLE_TOKENS),
    }
    about = gold.name.partition(".")[0]
    title = f"Word senses against {about}"
    notes = tuple(note for table in tables.values() for note in table.notes)
    return Recipe("clusters", about, stages, title, notes, {"gold.exclude": "--exclude"})


def systems_of(induced: Sequence[Induced]) -> list[System]:
    """Return the systems with their names: as given, or after their file."""
    pairs = []
    for each in induced:
        if isinstance(each, Mapping):
            pairs += [(name, [Path(path) for path in paths]) for name, paths in each.items()]
        elif isinstance(each, str | Path):
            pairs.append(("", [Path(each)]))
        else:
            what, remedy = f"{each!r} is not a file", "runs of a system: {'name': [file, file]}"
            raise ConfigError("clusters", [Problem("INDUCED", what, remedy)])
    problems = [
        *(Problem("INDUCED", f"system {name!r} has no file", "name its files")
          for name, paths in pairs if not paths),
        *(Problem("INDUCED", f"system {name!r} has the same file twice", "name each run once")
          for name, paths in pairs if len({*paths}) < len(paths)),
        *(Problem("INDUCED", f"{count} systems are named {name!r}",
                  "choose other names, or give runs of one system together: name=FILE,FILE")
          for name, count in Counter(name for name, _ in pairs if name).items() if count > 1),
    ]  # fmt: skip
    if problems:
        raise ConfigError("clusters", problems)
    own = [name or paths[0].name.partition(".")[0] for name, paths in pairs]
    names = _distinct(own, {"gold", "types", "tokens", "systems", "senses", "heaviest"})
    return [System(name, paths) for name, (_, paths) in zip(names, pairs, strict=True)]


def _distinct(texts: Sequence[str], stages: Collection[str]) -> list[str]:
    """Return names of stages from texts, unlike those of other stages; duplicates get a number.

    Examples
    --------
    >>> _distinct(["a-b", "gold", "a_b"], {"gold"})
    ['a_b', 'gold_2', 'a_b_2']
    """
    names: list[str] = []
    for each in texts:
        stem = "".join(sign if sign.isalnum() else "_" for sign in each)
        stem, number = stem or "system", 2
        name = stem
        while name in stages or name in names:
            name, number = f"{stem}_{number}", number + 1
        names.append(name)
    return names


def _one_source(tables: Sequence[TableFile]) -> dict[str, Any]:
    """Return the source of the runs of a system, which are read in the same way."""
    first, *others = ((table.file.format.name, table.columns) for table in tables)
    for table, other in zip(tables[1:], others, strict=True):
        if other != first:
            what = f"{table.source['path']} has another format than {tables[0].source['path']}"
            remedy = "give the runs of a system in one format, with the same columns"
            raise ConfigError("clusters", [Problem("INDUCED", what, remedy)])
    paths = [table.source["path"] for table in tables]
    return {**tables[0].source, "path": paths if others else paths[0]}


def _corpus_format(path: Path, reading: TagReadingOptions) -> str | None:
    """Return the format of a tagged corpus; None for a table."""
    format_name = reading.tables.format_of(path)
    try:
        kind = format_of(path.name, name=format_name, kind="corpus").name
    except ValueError:
        without_ending = not format_name and not path.suffix and path.is_file()
        return "conllu" if without_ending and is_conllu(first_lines(path)) else None
    return kind if format_name or kind in _CORPORA else None


def _corpus(paths: Sequence[Path], reading: TagReadingOptions) -> CorpusFiles | None:
    """Return a tagged corpus; None for a table."""
    path = paths[0]
    kind = _corpus_format(path, reading)
    if kind is None:
        return None
    fields = {"attributes", *FORMATS.get(kind).options.model_fields}
    own = {name: value for name, value in reading.tables.reader.items() if name in fields}
    format_name = reading.tables.format_of(path) or (None if path.suffix else kind)
    return corpus_files(paths, read_as=format_name, options=own)


def _gold(
    path: Path, corpus: CorpusFiles | None, reading: TagReadingOptions
) -> tuple[dict[str, Any], bool, tuple[str, ...]]:
    """Return the stage of the gold classes, true if it has frequencies, and notes."""
    if corpus:
        tags = {"tag": reading.tag, "item": reading.item, "exclude": list(reading.exclude)}
        stage = {"use": "extract.gold", "corpus": corpus.source, **tags, "fold": reading.fold}
        return stage, True, corpus.notes
    table = table_file(path, reading.tables)
    require_rows(table)
    columns = {"item": table.column(*_ITEM), "gold": table.column(*_GOLD)}
    count = table.look_for(*_COUNT)
    notes = table.notes
    if count and count in table.numbers():
        columns["f"] = count
    elif maybe := table.numbers(*columns.values()):
        advice = table.options.advice.format(ours="f", pairs=f"f={maybe[0]}")
        notes += (f"{path}: no column for f; if {maybe[0]} has word frequencies, {advice}",)
    options = {"columns": table.other_names(**columns), "exclude": list(reading.exclude)}
    stage = {"use": "extract.gold_table", "path": table.source, **options, "fold": reading.fold}
    return stage | reading.tables.numbers, "f" in columns, notes


def _system(
    system: System, gold: Path, standard: CorpusFiles | None, reading: TagReadingOptions
) -> tuple[dict[str, Any], bool, tuple[str, ...]]:
    """Return the stage of a system's clusters, true if each word has one cluster, and notes."""
    name = system.name
    if corpus := _corpus(system.paths, reading):
        if standard is None:
            what = f"{system.paths[0]} is a tagged corpus, but the gold standard {gold} is a table"
            raise ConfigError("clusters", [Problem("GOLD", what, "give the gold corpus")])
        tags = {"tag": reading.tag, "item": reading.item, "exclude": list(reading.exclude)}
        both = {
            "gold": standard.source,
            "induced": corpus.source,
            "cluster": reading.cluster,
            **tags,
        }
        stage = {"use": "join.tagging", "system": name, **both, "fold": reading.fold}
        return stage | reading.noise_options, True, corpus.notes
    tables = [table_file(path, reading.tables) for path in system.paths]
    for table in tables:
        require_rows(table)
    source, table = _one_source(tables), tables[0]
    columns = {"item": table.column(*_ITEM), "cluster": table.column(*_CLUSTER)}
    options = {
        "columns": table.other_names(**columns),
        "prefix": reading.prefix,
        "fold": reading.fold,
    }
    stage = {"use": "extract.clusters", "system": name, "path": source, **options}
    notes = [note for each in tables for note in each.notes]
    several = {word for each in tables for word in _in_several(each, columns, reading)}
    if several:
        examples = ", ".join(map(repr, sorted(several)[:3]))
        notes.append(
            f"{name}: no token measures, as {count_text(len(several), 'word')} "
            f"{'has' if len(several) == 1 else 'have'} several clusters, for example {examples}"
        )
    return stage | reading.noise_options | reading.tables.numbers, not several, tuple(notes)


def _keep_apart(
    induced: Sequence[Path], reading: TagReadingOptions
) -> tuple[TagReadingOptions, tuple[str, ...]]:
    """Return reader options: without normalisation if it would merge words.

    Such words have separate clusters, and token-level measures need one cluster per word.
    """
    if "normalise" in reading.tables.reader:
        return reading, ()
    for path in induced:
        if _corpus_format(path, reading):
            continue
        table = table_file(path, reading.tables)
        item = table.column(*_ITEM)
        alike = _columns(table, item).select(item, plain=normalise_column(pl.col(item)))
        twins = alike.unique().filter(pl.len().over("plain") > 1).sort("plain", item)
        if twins.height:
            own = replace(reading.tables, reader={**reading.tables.reader, "normalise": "none"})
            examples = ", ".join(map(repr, twins[item].head(4)))
            note = (
                f"{path}: {twins.height:,} words differ only in apostrophes, hyphens or invisible "
                f"characters, for example {examples}; all files are read without normalisation "
                "(--normalise NFC merges such words)"
            )
            return replace(reading, tables=own), (note,)
    return reading, ()


def _columns(table: TableFile, *columns: str) -> pl.DataFrame:
    """Return columns of a table as text without normalisation."""
    rows = table.file.format.scan(table.file.path, table.file.options)
    return rows.select(pl.col(columns).cast(pl.String)).collect()


def _in_several(
    table: TableFile, columns: Mapping[str, str], reading: TagReadingOptions
) -> list[str]:
    """Return words with several clusters."""
    words, labels = _columns(table, columns["item"], columns["cluster"]).get_columns()
    if table.file.options.normalise != "none":
        words = normalise_series(words)
    pairs = pl.DataFrame({
        "item": words.str.to_lowercase() if reading.fold else words,
        "cluster": labels.str.slice(0, reading.prefix),
    }).unique()  # fmt: skip
    if reading.noise and reading.noise_as == "excluded":
        pairs = pairs.filter(~is_noise(pl.col("cluster"), reading.noise))
    return pairs.filter(pl.col("item").is_duplicated())["item"].unique().sort().to_list()


# Lexicons and dictionaries

_LEMMA = ("lemma", "headword", "base", "entry", "citation")
_FORM = ("form", "wordform", "word", "inflected", "forms")


def lexicon(
    gold: str | Path | Sequence[str | Path],
    computed: str | Path,
    *,
    rate: float | None = None,
    size: int | None = None,
    case: bool = True,
    forms_separator: str = "",
    columns: Mapping[str, str] | None = None,
    header: bool | None = None,
    read_as: str | Mapping[str, str] | None = None,
    reader: Mapping[str, Any] | None = None,
    runs: str | Path | None = None,
    save: str | Path | None = None,
    report: bool = True,
    listeners: Sequence[Listener] = (),
) -> Run:
    """Evaluate a lexicon against one dictionary or the union of several, by the L-measure.

    Parameters
    ----------
    gold : path, or several
        Dictionaries: tables of lemma and form, UniMorph, blocks of wordforms.
    computed : path
        The lexicon, in any of these formats.
    rate : float, optional
        Proportion of lemmas to sample, with inclusion probabilities proportional to their number of
        forms; without rate or size, all lemmas are compared.
    size : int, optional
        Number of lemmas to sample, in the same way.
    case : bool
        Distinguish upper and lower case.
    forms_separator : str
        Separator of several forms in a field.
    columns : mapping of str to str, optional
        Names of the columns lemma and form in the files, if not recognised.
    header : bool, optional
        Tables have a header; detected by default. Unnamed columns are called column_1, column_2 ...
    read_as, reader, runs, save, report, listeners
        As for `evaluate`.

    Returns
    -------
    Run
        ``run.table("quality")`` has L*, F*, entropy and coverage with limits;
        ``run.table("quality.lemmas")`` has the missing and spurious forms of each lemma.

    Raises
    ------
    LexassayError
        If a file is invalid.

    References
    ----------
    Dalli, A., The L-measure for lexicon evaluation.
    """
    golds = [gold] if isinstance(gold, str | Path) else [*gold]
    recipe = lexicon_recipe(
        [Path(each) for each in golds], Path(computed), rate=rate, size=size, case=case,
        forms_separator=forms_separator,
        tables=TableOptions(columns or {}, header, read_as=read_as, reader=reader or {}),
    )  # fmt: skip
    return run_recipe(recipe, runs=runs, experiment=save, report=report, listeners=listeners)


def lexicon_recipe(
    golds: Sequence[Path],
    computed: Path,
    *,
    rate: float | None,
    size: int | None,
    case: bool,
    forms_separator: str,
    tables: TableOptions,
) -> Recipe:
    """Return the experiment that evaluates.

    Raises
    ------
    ConfigError
        If there is no dictionary, or both rate and size are given.
    """
    if not golds:
        raise ConfigError("lexicon", [Problem("GOLD", "no dictionary is given", "name a file")])
    if rate is not None and size is not None:
        problem = Problem("--rate", "cannot be combined with --size", "use one of the two")
        raise ConfigError("lexicon", [problem])
    tables.require_used([*golds, computed])
    read = [table_file(path, tables, lexicon=True) for path in (*golds, computed)]
    require_columns("lexicon", tables, [RequiredColumns(each, (_LEMMA, _FORM)) for each in read])
    several = {"gold"} if len(golds) > 1 else set()
    *names, lexicon = _distinct(
        [path.name.partition(".")[0] for path in (*golds, computed)],
        {"overlaps", "sample", "quality", *several},
    )
    gold = "gold" if several else names[0]
    lexicons = [_read(each, case=case, forms_separator=forms_separator) for each in read]
    stages: dict[str, dict[str, Any]] = {
        name: stage for name, (stage, _) in zip(names, lexicons[:-1], strict=True)
    }
    if several:
        stages[gold] = {"use": "extract.union", "lexicons": names}
    stages[lexicon] = lexicons[-1][0]
    compared = {"gold": gold, "lexicon": lexicon}
    stages["overlaps"] = {"use": "score.lexicon", **compared}
    drawn: dict[str, Any] = {}
    if rate is not None or size is not None:
        sample = {"gold": gold, "lexicons": [lexicon], "rate": rate, "size": size}
        stages["sample"] = {"use": "sample.lemmas", **sample}
        drawn = {"sample": "sample"}
    options = {"use": "evaluate.lexicon", **compared, "overlaps": "overlaps", **drawn}
    about = computed.name.partition(".")[0]
    notes = tuple(note for _, texts in lexicons for note in texts)
    title = f"Quality of the lexicon {about}"
    stages["quality"] = options | {"title": title}
    return Recipe("lexicon", about, stages, title, notes)


def _read(
    table: TableFile, *, case: bool, forms_separator: str
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the stage that reads a file, and notes."""
    require_rows(table)
    columns = {"lemma": table.column(*_LEMMA), "form": table.column(*_FORM)}
    spelling = {} if case else {"case": "lower"}
    spelling |= {"forms_separator": forms_separator} if forms_separator else {}
    names = {"columns": table.other_names(**columns)}
    stage = {"use": "extract.lexicon", "path": table.source, **names, **spelling}
    return stage, table.notes


CUTS = (50, 100, 200, 500, 1000, 2000)
"""Default list sizes."""
_OF_UCS = ("r.", "b.", "n.")
"""Prefixes of rank, judgement and other columns in UCS data sets."""
LEFT = ("l1", "w1", "word1", "node", "left", "base", "form1")
RIGHT = ("l2", "w2", "word2", "collocate", "right", "form2")
_JUDGED = (
    "TP", "b.TP", "true_positive", "judgement", "label", "gold", "choices", "choice", "accept",
    "answer",
)  # fmt: skip
_ANSWERS = {"accept", "reject", "ignore"}
"""Values of Prodigy's column answer."""
_COUNTS = ("f", "f1", "f2", "N", "O11", "E11", "documents", "rank", "id", "")
"""Numeric columns that are not scores; R writes unnamed row numbers."""


@dataclass(frozen=True)
class JudgedRanking:
    """A ranking and judgements from two files.

    Parameters
    ----------
    ranked, judgements : TableFile
        The files.
    scores : sequence of str
        Score columns of the ranked file; if empty, all numeric columns but counts, or the order of
        rows if there are none.
    ascending : sequence of str
        Scores that rank low values first.
    positive : sequence of str
        Labels of true positives; empty if judgements are 1 and 0.
    sampled : bool
        The judged candidates were drawn at random.
    cuts : sequence of int
        List sizes to evaluate.
    combine : bool
        Also evaluate a combination of the scores and words, learned from the judgements.
    """

    ranked: TableFile
    judgements: TableFile
    scores: Sequence[str] = ()
    ascending: Sequence[str] = ()
    positive: Sequence[str] = ()
    sampled: bool = False
    cuts: Sequence[int] = CUTS
    combine: bool = False


def evaluate(
    ranked: str | Path,
    judgements: str | Path,
    *,
    scores: str | Sequence[str] = (),
    ascending: str | Sequence[str] = (),
    positive: str | Sequence[str] = (),
    sampled: bool = False,
    combine: bool = False,
    cuts: Sequence[int] | None = None,
    columns: Mapping[str, str] | None = None,
    header: bool | None = None,
    decimal: Decimal | None = None,
    missing: Sequence[str] = (),
    read_as: str | Mapping[str, str] | None = None,
    reader: Mapping[str, Any] | None = None,
    runs: str | Path | None = None,
    save: str | Path | None = None,
    report: bool = True,
    listeners: Sequence[Listener] = (),
) -> Run:
    """Evaluate ranked pairs by judgements from another file: n-best precision with intervals.

    Parameters
    ----------
    ranked : path
        Pairs with scores or in rank order: CSV, TSV, UCS, Parquet.
    judgements : path
        Pairs with judgements: 1 or 0, yes or no, or labels.
    scores : str or sequence of str
        Score columns; if empty, all numeric columns but counts.
    ascending : str or sequence of str
        Scores that rank low values first, e.g. p-values.
    positive : str or sequence of str
        Labels of true positives, if judgements are labels.
    sampled : bool
        The judged pairs are a random sample; otherwise all ranked pairs must be judged.
    combine : bool
        Also evaluate a combination of all scores and of the words l1 and l2, learned from the
        judgements; no pair is ranked by a model that saw its own judgement.
    cuts : sequence of int, optional
        List sizes.
    columns : mapping of str to str, optional
        Names of the columns l1, l2 and TP in the files, if not recognised.
    header : bool, optional
        Tables have a header; detected by default. Unnamed columns are called column_1, column_2 ...
    decimal : {".", ","}, optional
        Decimal mark in tables; detected by default.
    missing : sequence of str
        Texts that mean "no score" besides the empty field, e.g. NA.
    read_as : str or mapping of str to str, optional
        Format of the files, or of some of them by path; detected by default.
    reader : mapping, optional
        Reader options, e.g. ``{"separator": ";"}``; each file uses those of its format.
    runs : path, optional
        Results folder; by default the user's cache folder, where unused results expire.
    save : path, optional
        File to which to write the experiment.
    report : bool
        Write the report.
    listeners : sequence of callable
        Called with every event.

    Returns
    -------
    Run
        ``run.table("precision.cuts")``, ``run.table("precision")`` for every n, and
        ``run.table("comparison.cuts")`` for several scores; ``run.table("combined.fit")`` for a
        combination.

    Raises
    ------
    DataError
        If only some pairs are judged, and `sampled` is false.
    LexassayError
        If a file is invalid.

    References
    ----------
    Evert & Krenn (2005), sections 3 and 4.
    """
    options = TableOptions(columns or {}, header, decimal, missing, read_as, reader or {})
    options.require_used([Path(ranked), Path(judgements)])
    tables = table_file(ranked, options), table_file(judgements, options)
    for table in tables:
        require_rows(table)
    both = (
        RequiredColumns(tables[0], (LEFT, RIGHT)),
        RequiredColumns(tables[1], (LEFT, RIGHT, _JUDGED)),
    )
    require_columns("evaluate", options, both)
    sizes = tuple(_default_cuts(tables[0].head.height) if cuts is None else cuts)
    named_columns = as_names(scores), as_names(ascending)
    ranking = JudgedRanking(*tables, *named_columns, as_names(positive), sampled, sizes, combine)
    recipe = evaluation_recipe(ranking)
    return run_recipe(
        recipe, runs=runs, experiment=save, report=report, listeners=listeners,
        accept=lambda run: _require_judged(run, ranking),
    )  # fmt: skip


def _default_cuts(rows: int) -> Sequence[int]:
    """Return default list sizes, given the number of rows at its beginning (at most 1,000)."""
    return CUTS if rows >= CUTS[-2] else [n for n in CUTS if n <= rows] or [max(rows, 1)]


def evaluation_recipe(ranking: JudgedRanking) -> Recipe:
    """Return the experiment that evaluates."""
    ranked, judged = ranking.ranked, ranking.judgements
    units = _units(ranked)
    scores = _scores(ranking, *units.values())
    listed = {} if scores else {"order": "rank"}
    judged_by = {"judgements": "judgements", **({"sample": "sample"} if ranking.sampled else {})}
    ranks = "combined" if ranking.combine else "ranks"
    evaluated = {"ranks": ranks, **judged_by, "cuts": list(ranking.cuts)}
    stages: dict[str, dict[str, Any]] = {
        "scores": {
            "use": "extract.scores",
            "path": ranked.source,
            "columns": ranked.other_names(**units),
            "scores": scores,
            "ascending": [_measure(name) for name in ranking.ascending],
            **listed,
            **ranked.options.numbers,
        },
        "judgements": {
            "use": "join.table",
            "path": judged.source,
            "candidates": "scores",
            "columns": judged.other_names(**_units(judged)),
            **_judgement(ranking),
        },
        "ranks": {"use": "score.rank", "scores": "scores"},
    }
    if ranking.sampled:
        sample = {"candidates": "scores", "judgements": "judgements"}
        stages["sample"] = {"use": "sample.judged", **sample}
    if ranking.combine:
        stages["combined"] = {
            "use": "score.combination", "ranks": "ranks", "candidates": "scores", **judged_by,
        }  # fmt: skip
    stages["precision"] = {"use": "evaluate.precision", **evaluated}
    if len(scores) > 1 or ranking.combine:
        stages["comparison"] = {"use": "evaluate.comparison", **evaluated, "every": 0}
    about = ranked.file.path.name.partition(".")[0]
    notes = (*ranked.notes, *judged.notes)
    if not scores:
        order = "no score column found, so the order of rows is the ranking (measure rank)"
        notes += (f"{ranked.source['path']}: {order}; select scores with --score NAME",)
    return Recipe(
        "evaluate",
        about,
        stages,
        f"N-best precision of {about}",
        notes,
        options={
            "judgements.categories": "--positive",
            "scores.scores": "--score",
            "combined.judgements": "--combine",
        },
        remedies={
            "scores": "If this is not a score, select the score columns with --score NAME.",
            "combined.judgements": "judge more pairs, of both kinds, or omit --combine",
        },
    )


def _units(table: TableFile) -> dict[str, str]:
    return {"l1": table.column(*LEFT), "l2": table.column(*RIGHT)}


def _scores(ranking: JudgedRanking, *units: str) -> dict[str, str]:
    """Return the column of each measure; requested columns must exist."""
    ranked = ranking.ranked
    absent = [name for name in (*ranking.scores, *ranking.ascending) if name not in ranked.columns]
    if absent:
        listed = ", ".join(ranked.columns)
        problems = [Problem("--score", f"there is no column {name!r}", f"available are {listed}")
                    for name in absent]  # fmt: skip
        raise ConfigError("evaluate", problems)
    counts = {name.lower() for name in _COUNTS}
    own = (*units, *(name for name in ranked.columns if name.lower() in counts))
    own += tuple(name for name in ranked.columns if name.startswith(_OF_UCS))
    judged = [each for each in (ranked.look_for(*_JUDGED),) if each]
    names = [*ranking.scores, *ranking.ascending] or ranked.numbers(*own, *judged, *ranked.flags())
    return {_measure(name): name for name in dict.fromkeys(names)}


def _measure(column: str) -> str:
    """Return the name of the measure in a column."""
    return f"{column}_" if column in {"id", "l1", "l2"} else column


def _judgement(ranking: JudgedRanking) -> dict[str, Any]:
    """Return the options for judgements and the labels of true positives."""
    table = ranking.judgements
    column = table.column(*_JUDGED)
    answers = _labels(table, "answer") if "answer" in table.columns else []
    where = {"where": "answer <> 'ignore'"} if answers and {*answers} <= _ANSWERS else {}
    labels = _labels(table, column)
    if where and column != "accept":
        if column != "answer" and len(labels) > 1:
            what = f"{table.source['path']} has answers for several labels: {', '.join(labels[:8])}"
            remedy = "extract the rows of one label to a file"
            raise ConfigError("evaluate", [Problem("judgements", what, remedy)])
        return {"categories": {"TP": {"column": "answer", "labels": ["accept"]}}, **where}
    if ranking.positive:
        return {"categories": {"TP": {"column": column, "labels": list(ranking.positive)}}, **where}
    frame = pl.DataFrame({"label": labels}, schema={"label": pl.String})
    unknown = frame.filter(judgement("label").is_null())["label"]
    if unknown.len():
        what = f"column {column!r} contains labels: {', '.join(unknown.head(8))}"
        remedy = "say which labels mark true positives: --positive LABEL"
        raise ConfigError("evaluate", [Problem("judgements", what, remedy)])
    return {"categories": {"TP": column}, **where}


def _labels(table: TableFile, column: str) -> list[str]:
    """Return the labels at the beginning of a column, including those in lists."""
    labels = table.head.select(label_lists(pl.col(column)).explode().alias("label"))
    return labels["label"].drop_nulls().unique(maintain_order=True).to_list()


def _require_judged(run: Run, ranking: JudgedRanking) -> None:
    """Reject empty judgements, and incomplete judgements that are not a random sample.

    Raises
    ------
    DataError
        If no ranked pair is judged, or only some are and `sampled` is false.
    """
    path = ranking.judgements.source["path"]
    coverage = run.table("judgements.coverage").row(0, named=True)
    if not coverage["n_judged"]:
        column = ranking.judgements.column(*_JUDGED)
        raise DataError(
            f"evaluate: {path}: no pair has a judgement in column {column!r}; name the right "
            "column with --columns TP=NAME"
        )
    if ranking.sampled:
        return
    (row,) = run.table("precision.baseline").filter(category="TP").rows(named=True)
    candidates, judged = row["n_candidates"], row["n_sampled"]
    if judged < candidates:
        raise DataError(
            f"evaluate: {judged:,} of {candidates:,} ranked pairs are judged. If these were drawn "
            "at random, add --sampled. If they were selected, or are the best of a list, they are "
            "not representative of the others: evaluate a file that contains only the judged "
            "pairs."
        )
