"""Commented experiments for ``lexassay new``, built from the user's files."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl
import tomli_w
from pydantic_core import PydanticUndefined

from pipeline.config_model import descriptions
from pipeline.errors import ConfigError, Problem, did_you_mean
from pipeline.formats.compression import without_suffix
from pipeline.formats.corpora.languages import NO_RULES, language_name
from pipeline.formats.corpora.plain_text import TextOptions, lacks_blanks
from pipeline.recipes import evaluation
from pipeline.recipes.base import Recipe
from pipeline.recipes.evaluation import LEFT, RIGHT
from pipeline.recipes.inputs import (
    ANY_WORDS,
    RENAME,
    USUAL,
    CorpusFiles,
    TableFile,
    TableOptions,
    corpus_files,
    table_file,
)
from pipeline.stages.base import STAGES

# Experiments as TOML with comments

_HEAD = """\
{name}: {title}

    lexassay run {file}        run, reusing results that are still valid
    lexassay plan {file}       show what would run, and why
    lexassay status {file}     show the state of each stage

Options after a # show their defaults: remove the # to change them.
"""
_WIDE = 98


def with_comments(
    content: Mapping[str, Any],
    *,
    file: str = "experiment.toml",
    notes: Mapping[str, str] | None = None,
) -> str:
    """Return an experiment as TOML, with option descriptions as comments.

    Parameters
    ----------
    content : mapping
        The experiment as plain data.
    file : str
        The name of its file.
    notes : mapping of str to str, optional
        Further notes by "stage.option".

    Returns
    -------
    str
        The same experiment with comments.
    """
    stages: Mapping[str, Mapping[str, Any]] = content["stages"]
    fields = {key: value for key, value in content.items() if key != "stages"}
    head = _HEAD.format(name=content["name"], title=content["title"], file=file)
    parts = [_comment(head), tomli_w.dumps(fields).strip()]
    notes = notes or {}
    parts += ["\n".join(_stage(name, options, notes)) for name, options in stages.items()]
    return "\n\n".join(parts) + "\n"


def _comment(text: str) -> str:
    return "\n".join(f"# {line}".rstrip() for line in text.strip().splitlines())


def _stage(name: str, options: Mapping[str, Any], notes: Mapping[str, str]) -> Iterator[str]:
    """Yield the lines of a stage: set options, then others."""
    stage = STAGES.get(options["use"])
    yield _comment(stage.doc)
    yield f"[stages.{name}]"
    yield f'use = "{options["use"]}"'
    fields, texts = stage.config.model_fields, descriptions(stage.config)
    for option in (each for each in options if each != "use"):
        note = notes.get(f"{name}.{option}", "")
        text = f"{texts.get(option, '')} {note}"
        yield from _option_lines(option, text, _value(options[option]))
    for option in (each for each in fields if each not in options):
        default = fields[option].get_default(call_default_factory=True)
        value = "" if default in (None, PydanticUndefined) else _value(_plain(default))
        yield from _option_lines(option, texts.get(option, ""), value, mark="#")


def _option_lines(option: str, description: str, value: str, *, mark: str = "") -> Iterator[str]:
    """Yield an option, preceded by its description."""
    text = " ".join(description.split())
    yield from textwrap.wrap(text, _WIDE, initial_indent="# ", subsequent_indent="# ")
    yield f"{mark}{option} = {value}".rstrip()


def _plain(value: Any) -> Any:
    """Return a default as plain data."""
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", exclude_none=True)
    return list(value) if isinstance(value, tuple) else value


def _value(value: Any) -> str:
    """Return a value as TOML, in one line."""
    if isinstance(value, Mapping):
        inner = ", ".join(f"{_key(key)} = {_value(each)}" for key, each in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(_value(each) for each in value)}]"
    return tomli_w.dumps({"x": value}).partition(" = ")[2].strip()


def _key(key: str) -> str:
    return tomli_w.dumps({key: 1}).partition(" = ")[0]


MEASURES = ("frequency", "t_score", "log_likelihood", "mi", "dice")
CUTS = (50, 100, 200, 500, 1000)
POOL_CUTS = (100, 200, 500)
"""List sizes for which 200 labels suffice: the sample is drawn from the lists of the last size."""
_NAMES = USUAL | {"l1": LEFT, "l2": RIGHT}
"""Common names for the columns of candidate tables."""
_LABELS = ("collocation", "free")
_POOL = "pool.ranks"
_OF_VERBS = ("obj", "obl", "nsubj", "dobj", "OBJ", "OA")
"""Names of noun-verb relations in treebanks."""
_SOME = 12
_RENAME = TableOptions(advice=RENAME)
"""``lexassay new`` has no option that names columns."""
Stages: TypeAlias = dict[str, Mapping[str, Any]]
Made: TypeAlias = tuple[Recipe, Mapping[str, str]]
"""An experiment, with notes by stage and option."""


def experiment_template(family: str, files: Sequence[Path], folder: Path) -> str:
    """Return a commented experiment for files, with their columns, attributes and relations.

    Parameters
    ----------
    family : str
        corpus, collocations, clustering or lexicon.
    files : sequence of path
        A corpus; a table of candidates; a gold standard and systems; dictionaries and, last, a
        lexicon.
    folder : Path
        Folder of the experiment, to which paths are relative.

    Raises
    ------
    ConfigError
        If the family is unknown, or a file is unknown or missing.
    """
    if family not in _MAKERS:
        what, remedy = f"unknown family {family!r}", did_you_mean(family, _MAKERS)
        raise ConfigError("new", [Problem("FAMILY", what, remedy)])
    recipe, notes = _MAKERS[family](files)
    return with_comments(recipe.content(folder.absolute()), notes=notes)


def _corpus_experiment(files: Sequence[Path]) -> Made:
    texts = [path for path in files if without_suffix(path.name).endswith(".txt")]
    has_no_blanks = any(path.is_file() and lacks_blanks(path) for path in texts)
    corpus = corpus_files(files, options={"tokenizer": "icu"} if has_no_blanks else {})
    word = ANY_WORDS.unit(corpus.lemma, corpus)
    candidates = {
        "use": "extract.pairs",
        "corpus": corpus.source,
        **_relation_options(corpus),
        "left": {**word, **_where(corpus, "VERB")},
        "right": {**word, **_where(corpus, "NOUN")},
        "min_frequency": 3,
        "examples": 3,
        "form": corpus.word,
    }
    about = files[0].name.partition(".")[0]
    annotated = _annotation_stages("candidates.examples", about)
    listed = _list_stages(about, "candidates.examples")
    stages = {"candidates": candidates, **annotated, **_evaluation_stages(_POOL), **listed}
    recipe = Recipe("corpus", about, stages, title=f"Collocations of {about}")
    return recipe, {"candidates.corpus": _corpus_note(corpus)}


def _corpus_note(corpus: CorpusFiles) -> str:
    """Return a note on the attributes of the tokens."""
    parts = [f"Its tokens have {', '.join(sorted(corpus.attributes))}."]
    if isinstance(corpus.files[0].options, TextOptions):
        parts.append(
            f"It is plain text in {language_name(corpus.language)}. Options to change this:"
            f' language = "{corpus.language or NO_RULES}", sentences = "wrapped",'
            ' abbreviations = ["Bd"], clitics = "keep", tokenizer = "icu", normalise = "none".'
        )
    parts += corpus.notes
    for attribute in ("upos", "deprel"):
        if attribute in corpus.attributes:
            parts.append(f"{attribute} is {', '.join(corpus.values(attribute)[:_SOME])} ...")
    return " ".join(parts)


def _relation_options(corpus: CorpusFiles) -> dict[str, Any]:
    """Return the relation: verbs with their most frequent nouns, in a span, or adjacent words.

    In a span around any word each pair would occur twice, as "a b" and as "b a".
    """
    if not corpus.parsed:
        if "upos" not in corpus.attributes:
            return {"relation": "adjacent"}
        within = {"within": "document"} if corpus.plain else {}
        return {"relation": "surface", "surface": {"left": 5, "right": 5, **within}}
    nouns = pl.col("upos") == "NOUN" if "upos" in corpus.attributes else None
    labels = [name for name in corpus.values("deprel", nouns) if name in _OF_VERBS]
    label = (labels or corpus.values("deprel"))[0]
    return {"relation": "dependency", "dependency": {"label": label, "governor": "left"}}


def _where(corpus: CorpusFiles, tag: str) -> dict[str, str]:
    return {"where": f"upos = '{tag}'"} if "upos" in corpus.attributes else {}


def _table_experiment(files: Sequence[Path]) -> Made:
    if len(files) != 1:
        problem = Problem("--from", f"{len(files)} files", "give one table of candidates")
        raise ConfigError("new", [problem])
    table = table_file(files[0])
    lacking = [ours for ours, others in _NAMES.items() if table.look_for(ours, *others) is None]
    if lacking:
        what = f"{table.source['path']} has no column for {', '.join(lacking)}"
        remedy = (
            f"it has {', '.join(table.columns[:_SOME])}; rename them in the file, or begin with"
            f' lexassay new collocations FOLDER and set columns = {{ {lacking[0]} = "NAME" }} there'
        )
        raise ConfigError("new", [Problem("--from", what, remedy)])
    names = {ours: table.column(ours, *others) for ours, others in _NAMES.items()}
    columns = table.other_names(**names)
    candidates = {"use": "extract.table", "path": table.source, "columns": columns}
    judged = [name for name in table.flags() if name not in names.values()]
    about = files[0].name.partition(".")[0]
    if judged:
        further = {**_judged_stages(table, names, judged), **_evaluation_stages("ranks")}
    else:
        further = {**_annotation_stages(None, about), **_evaluation_stages(_POOL)}
    stages = {"candidates": candidates, **further}
    recipe = Recipe("collocations", about, stages, title=f"Which measure is best for {about}?")
    return recipe, {"candidates.path": f"Its columns are {', '.join(table.columns)}."}


def _judged_stages(table: TableFile, names: Mapping[str, str], judged: Sequence[str]) -> Stages:
    units = table.other_names(l1=names["l1"], l2=names["l2"])
    every = {"path": table.source, "columns": units, "categories": {name: name for name in judged}}
    return {
        **_rank_stages(),
        "sample": {"use": "sample.random", "candidates": "candidates", "rate": 0.2},
        "judgements": {"use": "join.table", "candidates": "candidates", **every},
    }


def _rank_stages() -> Stages:
    scores = {"candidates": "candidates", "measures": list(MEASURES)}
    return {
        "scores": {"use": "score.association", **scores},
        "ranks": {"use": "score.rank", "scores": "scores"},
    }


def _annotation_stages(examples: str | None, about: str) -> Stages:
    """Return the stages for a judged sample."""
    options = {"examples": examples} if examples else {}
    folder = {"folder": _file_stem(about)}
    drawn = {"candidates": "candidates", "sample": "sample", **options, **folder}
    return {
        **_rank_stages(),
        "pool": {"use": "score.pool", "ranks": "ranks", "depth": POOL_CUTS[-1]},
        "sample": {"use": "sample.random", "candidates": "pool", "size": 200},
        "sheet": {"use": "sheet.annotation", **drawn, "labels": list(_LABELS)},
        "judgements": {
            "use": "join.sheets", "sheet": "sheet", "labels": "sheet.labels", **folder,
            "categories": {"TP": [_LABELS[0]]},
        },
    }  # fmt: skip


def _evaluation_stages(ranks: str) -> Stages:
    evaluated = {"ranks": ranks, "judgements": "judgements", "sample": "sample"}
    cuts = list(POOL_CUTS if ranks == _POOL else CUTS)
    return {
        "precision": {"use": "evaluate.precision", **evaluated, "cuts": cuts},
        "comparison": {"use": "evaluate.comparison", **evaluated, "cuts": cuts},
    }


def _list_stages(about: str, examples: str) -> Stages:
    """Return the stages that choose a list and deliver it."""
    inputs = {"ranks": _POOL, "judgements": "judgements", "sample": "sample"}
    listed = {"choice": "choice", "ranks": "ranks", "judgements": "judgements"}
    folder = f"{_file_stem(about)}-list"
    return {
        "choice": {
            "use": "evaluate.choice", **inputs, "sizes": list(POOL_CUTS), "min_precision": 0.3,
        },
        "list": {
            "use": "sheet.list", **listed, "candidates": "scores", "folder": folder,
            "columns": ["f", "f1", "f2"], "examples": examples,
        },
    }  # fmt: skip


def _file_stem(about: str) -> str:
    return "".join(sign if sign.isalnum() else "-" for sign in about)


def _clusters_experiment(files: Sequence[Path]) -> Made:
    if len(files) < 2:
        problem = Problem("--from", f"{len(files)} files", "give the gold standard, then systems")
        raise ConfigError("new", [problem])
    return evaluation.clusters_recipe(
        files[0], evaluation.systems_of(files[1:]), evaluation.TagReadingOptions(tables=_RENAME)
    ), {}


def _lexicon_experiment(files: Sequence[Path]) -> Made:
    if len(files) < 2:
        problem = Problem("--from", f"{len(files)} files", "give dictionaries, then the lexicon")
        raise ConfigError("new", [problem])
    *golds, computed = files
    return evaluation.lexicon_recipe(
        golds, computed, rate=None, size=None, case=True, forms_separator="", tables=_RENAME
    ), {}


_MAKERS: Mapping[str, Callable[[Sequence[Path]], Made]] = {
    "corpus": _corpus_experiment,
    "collocations": _table_experiment,
    "clustering": _clusters_experiment,
    "lexicon": _lexicon_experiment,
}
