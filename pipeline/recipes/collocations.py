"""Collocates, keywords and candidate pairs of corpora: their experiments and tables of results."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

import polars as pl

from pipeline.api.results import Run
from pipeline.errors import ConfigError, DataError, Problem, did_you_mean
from pipeline.formats.base import format_of, reading
from pipeline.formats.lines import open_text
from pipeline.kernels.measure import MEASURES as MEASURES_OF_PAIRS
from pipeline.kernels.number_format import Decimal
from pipeline.recipes.base import EXAMPLES, PAIRS, Recipe, best, perform, rows, score_stage
from pipeline.recipes.inputs import (
    CorpusFiles,
    TableFile,
    TableOptions,
    corpus_files,
    require_rows,
    table_file,
    unit,
)
from pipeline.runner.events import Listener

# Collocates of a word

Relation: TypeAlias = Literal["span", "adjacent", "sentence", "dependency"]
RELATIONS: tuple[Relation, ...] = ("span", "adjacent", "sentence", "dependency")
Count: TypeAlias = Literal["positions", "windows", "nodes"]
COUNTS: tuple[Count, ...] = ("positions", "windows", "nodes")
COLLOCATE_MEASURES = ("log_likelihood", "log_dice", "mi_log2")
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
    measures: Sequence[str] = COLLOCATE_MEASURES
    min_frequency: int = 3
    attribute: str | None = None
    case: bool = False
    punctuation: bool = False


def collocates_recipe(asked: Question, corpus: CorpusFiles) -> Recipe:
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
    about = {
        "use": "extract.pairs",
        "corpus": corpus.source,
        **_collocate_relation(relation, asked),
    }
    node = {"left": {**word, "where": _node_condition(attribute, asked)}, "right": word}
    shown = {"examples": 1, "form": corpus.word}
    least = {"min_frequency": asked.min_frequency}
    if relation != "dependency":
        stages = {PAIRS: {**about, **node, **least, **shown}}
    else:  # counted for all words, whose frequencies are needed; examples of the node alone
        every = {PAIRS: {**about, "left": word, "right": word, **least}}
        stages = {**every, EXAMPLES: {**about, **node, **least, **shown}}
    title = f"Collocates of {asked.node}"
    return Recipe("collocates", asked.node, {**stages, **score_stage(asked.measures)}, title=title)


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


def _node_condition(attribute: str, asked: Question) -> str:
    """Return the condition on a token that it is the node."""
    text = "'" + asked.node.replace("'", "''") + "'"
    return f"{attribute} = {text}" if asked.case else f"LOWER({attribute}) = LOWER({text})"


def _collocate_relation(relation: Relation, asked: Question) -> dict[str, Any]:
    if relation == "dependency":
        either = {"where": "deprel <> 'punct'", "governor": "either", "named": True}
        return {"relation": "dependency", "dependency": either}
    if relation == "sentence":
        return {"relation": "textual", "textual": {"within": "sentence"}}
    left, right = (1, 1) if relation == "adjacent" else asked.span
    own = {} if asked.count == "positions" else {"count": asked.count}
    return {"relation": "surface", "surface": {"left": left, "right": right, **own}}


def collocates(
    node: str,
    *paths: str | Path,
    relation: Relation | None = None,
    span: int | tuple[int, int] | None = None,
    count: Count = "positions",
    measures: Sequence[str] = COLLOCATE_MEASURES,
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
    """Return the collocates of a word in a corpus, the strongest first.

    Parameters
    ----------
    node : str
        The word.
    *paths : path
        Files, folders and patterns: plain text, CoNLL-U, vertical text, token tables.
    relation : {"span", "adjacent", "sentence", "dependency"}, optional
        What belongs together; "dependency", relation by relation as in a word sketch, where the
        corpus is parsed and nothing is said of spans, else "span".
    span : int or (int, int), optional
        Tokens to the left and to the right, within the sentence; 5 if not given.
    count : {"positions", "windows", "nodes"}
        What f, f1, f2 and N count of spans; "nodes" as corpus tools do, f the nodes with the
        collocate in their span and f1, f2 the frequencies in the corpus.
    measures : sequence of str
        Association measures, see `measures`; the first orders the list.
    min_frequency : int
        Least f: how often the two occur together.
    top : int, optional
        How many rows, of a word sketch for each relation; all if None.
    attribute : str, optional
        What of a token counts: "lemma", "form" ...; the lemma where there is one.
    case : bool
        Whether capital and small letters differ.
    punctuation : bool
        Whether punctuation marks are collocates.
    read_as : str, optional
        Format of the files, where their endings do not tell.
    reader : mapping, optional
        Options of the reader, such as ``{"attributes": ["word", "pos", "lemma"]}``.
    runs : path, optional
        Folder of the results; a cache folder of the user if not given.
    experiment : path, optional
        Write the experiment to this file, too.
    listeners : sequence of callable
        Are told what happens.

    Returns
    -------
    DataFrame
        collocate, f, f1 (of the node), f2 (of the collocate), a column for each measure, and an
        example; first of all relation, of a word sketch: ``obj(*, house)`` where the node is the
        object, ``amod(house, *)`` where it is modified.

    Raises
    ------
    DataError
        If the word does not occur, or nothing as often with it; if the corpus cannot be read.
    ConfigError
        If there are no such files, or they have not what is asked for.

    References
    ----------
    Evert 2008, Corpora and collocations, sections 3.1 and 3.2 (kinds of co-occurrence).
    """
    both = (span, span) if isinstance(span, int) else span or (SPAN, SPAN)
    if relation is None and (span is not None or count != "positions"):
        relation = "span"
    asked = Question(
        node, relation, both, count, measures, min_frequency, attribute, case, punctuation
    )  # fmt: skip
    corpus = corpus_files(paths, read_as=read_as, options=reader)
    recipe = collocates_recipe(asked, corpus)
    run = perform(recipe, runs=runs, experiment=experiment, listeners=listeners)
    found = _collocate_rows(run, asked)
    return best(found, top, by=["relation"] if "relation" in found.columns else [])


def _collocate_rows(run: Run, asked: Question) -> pl.DataFrame:
    """Return one row for each collocate of the node, in the order of the first measure."""
    node = asked.node if asked.case else asked.node.lower()
    sketch = run.project.experiment.stages[PAIRS]["relation"] == "dependency"
    found = rows(run, asked.measures, _is_relation_of(node) if sketch else None)
    if found.is_empty():
        raise DataError(_no_collocates(run, asked))
    named = found.rename({"l1": "relation"}) if sketch else found.drop("l1")
    return named.rename({"l2": "collocate"})


def _is_relation_of(node: str) -> pl.Expr:
    """Tell whether l1 is the node in some relation: ``obj(node, *)`` or ``obj(*, node)``."""
    ends = (f"({node}, *)", f"(*, {node})")
    return pl.any_horizontal(pl.col("l1").str.ends_with(end) for end in ends)


def _no_collocates(run: Run, asked: Question) -> str:
    sizes = dict(run.table(f"{PAIRS}.corpus").rows())
    return (
        f"collocates: nothing occurs at least {asked.min_frequency} times with {asked.node!r} in"
        f" {sizes.get('tokens', 0):,} tokens; look how the word is written there, or lower the"
        " least frequency (--min-f)"
    )


# Keywords of a corpus against another one

KEYWORD_MEASURES = ("keyness_ll", "log_ratio", "percent_diff")
"""The measures if none are named; the first orders the list."""
_WORD = ("word", "lemma", "form", "token", "type", "item")
_COUNT = ("f", "freq", "frequency", "count", "tokens", "n")
_TOKENS = ("form", "lemma", "upos", "xpos", "feats", "head", "deprel", "space_after")
"""Columns of token tables, which are no lists."""
_NO_COUNTS = (
    "rank", "id", "no", "nr", "number", "line", "doc", "paragraph", "sentence", "position", "head",
    "range", "length", "year",
)  # fmt: skip
"""Columns of whole numbers that are no counts of words."""


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

    measures: Sequence[str] = KEYWORD_MEASURES
    min_frequency: int = 3
    attribute: str | None = None
    case: bool = False
    punctuation: bool = False


def keywords(
    target: str | Path,
    reference: str | Path,
    *,
    measures: Sequence[str] = KEYWORD_MEASURES,
    min_frequency: int = 3,
    top: int | None = 50,
    attribute: str | None = None,
    case: bool = False,
    punctuation: bool = False,
    read_as: str | None = None,
    reader: Mapping[str, Any] | None = None,
    columns: Mapping[str, str] | None = None,
    header: bool | None = None,
    decimal: Decimal | None = None,
    runs: str | Path | None = None,
    experiment: str | Path | None = None,
    listeners: Sequence[Listener] = (),
) -> pl.DataFrame:
    """Return the words that are typical of a corpus beside another one, the strongest first.

    Parameters
    ----------
    target : path
        The corpus: a file, a folder, or a frequency list: a table with a column of words and one of
        whole numbers, with or without a header, or lines of a word and its count.
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
    case, punctuation, reader, runs, experiment, listeners
        As of `collocates`.
    read_as : str, optional
        Format of the files, where their endings do not tell; they are corpora then, and no lists.
    columns : mapping of str to str, optional
        What word and f are called in frequency lists, where that cannot be told.
    header : bool, optional
        Whether the first line of a frequency list names its columns; the file tells if not given.
        Columns without a name are called column_1, column_2 ...
    decimal : {".", ","}, optional
        What stands before decimals in counts; the column tells if not given.

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
    tables = TableOptions(columns or {}, header, decimal)
    recipe = keywords_recipe(
        Path(target), Path(reference), asked, read_as=read_as, reader=reader, tables=tables
    )
    run = perform(recipe, runs=runs, experiment=experiment, listeners=listeners)
    found = rows(run, measures)
    if found.is_empty():
        what = f"keywords: no word of {target} occurs {min_frequency} times"
        raise DataError(f"{what}; lower the least frequency (--min-f)")
    shown = ["f", "f_reference", "per_million", "per_million_reference", "documents", "dp_norm"]
    scores = MEASURES_OF_PAIRS.resolve(measures)
    return best(found.select(pl.col("l2").alias("keyword"), *shown, *scores), top)


def keywords_recipe(
    target: Path,
    reference: Path,
    asked: Compared,
    *,
    read_as: str | None = None,
    reader: Mapping[str, Any] | None = None,
    tables: TableOptions | None = None,
) -> Recipe:
    """Return the experiment that compares the words of two corpora.

    Raises
    ------
    ConfigError
        If a corpus has no such attribute, or a list no such column.
    """
    both = {"target": target, "reference": reference}
    said = tables or TableOptions()
    lists = {} if read_as else _word_lists(both, said)
    corpora = {
        name: None if name in lists else corpus_files([path], read_as=read_as, options=reader)
        for name, path in both.items()
    }
    lemmas = all(each is None or each.lemma == "lemma" for each in corpora.values())
    stages: dict[str, dict[str, Any]] = {}
    for name, path in both.items():
        corpus = corpora[name]
        if corpus is None:
            own = {"path": lists[name].table.source, "columns": lists[name].names}
            stages[name] = {"use": "extract.word_table", **own, "fold": not asked.case}
            stages[name] |= said.numbers
            continue
        attribute = asked.attribute or ("lemma" if lemmas else corpus.word)
        if attribute not in corpus.attributes:
            have = ", ".join(sorted(corpus.attributes))
            what = f"no token of {path} has {attribute!r} at its beginning"
            raise ConfigError("keywords", [Problem("--attribute", what, f"there are {have}")])
        word = unit(attribute, case=asked.case, punctuation=asked.punctuation)
        stages[name] = {"use": "extract.words", "corpus": corpus.source, "unit": word}
    least = {"min_frequency": asked.min_frequency}
    sides = {"target": "target", "reference": "reference"}
    stages[PAIRS] = {"use": "extract.keywords", **sides, **least}
    about = f"{target.name.partition('.')[0]}-{reference.name.partition('.')[0]}"
    title = f"Keywords of {target.name} against {reference.name}"
    notes = tuple(note for each in lists.values() for note in each.notes)
    return Recipe("keywords", about, {**stages, **score_stage(asked.measures)}, title, notes)


# Frequency lists: tables of words and whole numbers, whatever they are called

_LINES = 1_000
"""Lines from which is told whether a text is a list."""
_MOST_LINES = 0.5
"""Share of the lines of a list that are a word and a number, or more: the rest are mistakes."""
_SAME = 0.9
"""Share of the lines of a table that have as many tabs, or more."""
_REPEATED = 0.5
"""Share of different words below which a list without names may be a token table."""
_FEWEST = 20
"""Rows from which that is looked at."""
_COMMENT = re.compile(r"#\w[\w ]*: *\d+\s*$")
"""A line above a list of AntConc: #Word Types: 3."""
_CORPUS, _SUBCORPUS = (re.compile(rf'"?{word}"?[,;\t]', re.IGNORECASE)
                       for word in ("corpus", "subcorpus"))  # fmt: skip
"""Lines above a list of Sketch Engine."""
_WHOLE = re.compile(r"\d+([.,'\u2019\u00a0\u202f]\d{3})*(\.0+)?")


class _WordList(NamedTuple):
    """A frequency list, and what it calls its words and counts."""

    table: TableFile
    names: dict[str, str]
    notes: tuple[str, ...]


def _word_lists(paths: Mapping[str, Path], said: TableOptions) -> dict[str, _WordList]:
    """Return those of the files that are lists; refuse a name of a column that none has."""
    lists, held = {}, set()
    for name, path in paths.items():
        reader = _list_reader(path, said.header)
        if reader is None:
            continue
        bare = table_file(path, said.select(), reader=reader)
        held |= {*bare.columns}
        own = {ours: theirs for ours, theirs in said.columns.items() if theirs in bare.columns}
        table = replace(bare, options=replace(said, columns=own))
        if found := _as_list(path, table):
            lists[name] = found
    absent = [
        Problem(f"--columns {ours}", f"no file has a column {theirs!r}", did_you_mean(theirs, held))
        for ours, theirs in said.columns.items()
        if theirs not in held
    ]
    if absent:
        raise ConfigError("keywords", absent)
    return lists


def _list_reader(path: Path, header: bool | None) -> dict[str, Any] | None:
    """Return the options of the reader of a file that may be a list; None if it is text."""
    if not path.is_file():
        return None
    name = _format_name(path, "table")
    if not name and _format_name(path, "corpus") not in {"", "text"}:
        return None
    if name not in {"", "csv", "tsv"}:
        return {}
    with reading(path), open_text(path) as text:
        lines = list(itertools.islice(text, _LINES))
    skip = _count_lines_above(lines)
    above = {"skip": skip} if skip else {}
    if name:
        return above
    return _text_reader([line for line in lines[skip:] if line.strip()], above, header)


def _count_lines_above(lines: Sequence[str]) -> int:
    """Return how many lines other programs have put above a list."""
    comments = len(list(itertools.takewhile(_COMMENT.match, lines)))
    if comments:
        return comments
    for number, line in enumerate(lines[:3]):
        after = lines[number + 1 : number + 2]
        if _CORPUS.match(line) and after and _SUBCORPUS.match(after[0]):
            blank = itertools.takewhile(lambda each: not each.strip(), lines[number + 2 :])
            return number + 2 + len(list(blank))
    return 0


def _text_reader(
    lines: Sequence[str], above: dict[str, Any], header: bool | None
) -> dict[str, Any] | None:
    """Return the options of the reader for lines of text that are a list; None if they are none."""
    if len(lines) < 2:
        return None
    tabs = Counter(line.count("\t") for line in lines)
    (most, often), *_ = tabs.most_common(1)
    if most and often >= _SAME * len(lines):
        rows = [line.rstrip("\r\n").split("\t") for line in lines if line.count("\t") == most]
        columns = zip(*rows[1:], strict=True)
        counted = any(sum(map(_is_whole, each)) >= _MOST_LINES * len(each) for each in columns)
        return {"format": "tsv", **above} if counted else None
    fields = [line.split() for line in lines]
    last = sum(len(each) == 2 and _is_whole(each[1]) for each in fields)
    counts = [
        each[0]
        for line, each in zip(lines, fields, strict=True)
        if (len(each) == 2 or (len(each) > 2 and line[0].isspace())) and _is_whole(each[0])
    ]
    numbered = [int(each) for each in counts if each.isdecimal()] == list(range(1, len(counts) + 1))
    first = 0 if numbered else len(counts)
    if max(first, last) < _MOST_LINES * len(lines) or above:
        return None
    named = not any(map(str.isdigit, lines[0])) if header is None else header
    own = {"first": "f"} if first > last else {}
    return {"format": "word_counts", **own, **({"header": True} if named else {})}


def _is_whole(text: str) -> bool:
    return _WHOLE.fullmatch(text) is not None


def _as_list(path: Path, table: TableFile) -> _WordList | None:
    """Return a table as a list; None if it is a corpus.

    Raises
    ------
    ConfigError
        If it is no corpus and has no such columns, or several could be meant.
    """
    recognised = table.look_for(*_COUNT)
    count = recognised if recognised in table.values else None
    if count is None and "f" in table.options.columns:
        raise ConfigError("keywords", [_no_numbers(path, str(recognised))])
    is_corpus = bool(_format_name(path, "corpus"))
    if not is_corpus:
        require_rows(table)
    named = {*map(str.lower, table.columns)} & {*_TOKENS}
    if count is None and not (is_corpus and named):
        count = _count_column(path, table)
    if count is None:
        if is_corpus:
            return None
        table.column(*_COUNT)  # says which columns there are
        raise ConfigError("keywords", [_no_numbers(path, str(recognised))])
    filled = [name for name in table.columns if table.head[name].null_count() < table.head.height]
    texts = [name for name in filled if name not in table.values]
    word = table.look_for(*_WORD) or next(iter(texts), None) or table.column(*_WORD)
    names = table.other_names(word=word, f=count)
    if count == recognised and word in {table.look_for(*_WORD), "word"} and not _is_text(table):
        return _WordList(table, names, table.notes)
    _require_few_repeated(path, table.head[word], is_corpus=is_corpus and not table.options.columns)
    given = table.options.header is not None
    counted = table.source.get("format") == "word_counts"
    headed = table.source.get("header", False) if counted else not table.notes
    without = "" if headed or given else " without a header"
    what = f"a list of words and counts{without}: {word} has the words, {count} the counts"
    others = [
        *([] if given else ["--no-header" if headed else "--header"]),
        "--columns word=NAME,f=NAME",
        *([f"--read-as {_format_name(path, 'corpus')}"] if is_corpus else []),
    ]
    note = f"{path}: {what} ({', '.join(others)} read it otherwise)"
    return _WordList(table, names, (note,))


def _format_name(path: Path, kind: Literal["table", "corpus"]) -> str:
    """Return the name of the format of a file; nothing if none of this kind has its ending."""
    try:
        return format_of(path.name, kind=kind).name
    except ValueError:
        return ""


def _is_text(table: TableFile) -> bool:
    return "format" in table.source


def _count_column(path: Path, table: TableFile) -> str | None:
    """Return the one column of whole numbers that can be counts; None if there is none."""
    whole = {
        name: values
        for name, values in table.values.items()
        if name.lower() not in _NO_COUNTS and _holds_counts(values)
    }
    ranks = {name for name, values in whole.items()
             if values.to_list() == list(range(1, values.len() + 1))}  # fmt: skip
    found = [name for name in whole if name not in ranks] or list(whole)
    if len(found) > 1:
        what = f"{path}: several columns hold whole numbers: {', '.join(found)}"
        problem = Problem("--columns", what, f"say which has the counts: --columns f={found[0]}")
        raise ConfigError("keywords", [problem])
    return found[0] if found else None


def _holds_counts(values: pl.Series) -> bool:
    some = values.drop_nulls()
    return bool(((some == some.floor()) & (some >= 0)).all())


def _no_numbers(path: Path, column: str) -> Problem:
    what = f"{path}: the column {column!r} does not hold numbers"
    return Problem("--columns", what, "say which does: --columns f=NAME")


def _require_few_repeated(path: Path, words: pl.Series, *, is_corpus: bool) -> None:
    """Refuse to guess where most words come again, as they do in a token table."""
    if is_corpus and words.len() >= _FEWEST and words.n_unique() < _REPEATED * words.len():
        what = f"{path}: may be a list of words and counts, or a token table"
        remedy = "say --read-as tokens, or --columns word=NAME,f=NAME"
        raise ConfigError("keywords", [Problem("PATH", what, remedy)])


# Candidate pairs of a corpus

PairRelation: TypeAlias = Literal["adjacent", "sentence", "span", "dependency"]
PAIR_RELATIONS: tuple[PairRelation, ...] = ("adjacent", "sentence", "span", "dependency")


@dataclass(frozen=True)
class Wanted:
    """Which pairs are wanted.

    Parameters
    ----------
    relation : str
        "adjacent", "sentence", "span" (from the left word to the right one) or "dependency".
    left, right : str
        Conditions on the tokens, in SQL; every token if empty.
    dependency : sequence of str
        Names of the syntactic relations; all if empty. The left word governs the right one.
    span : (int, int)
        Tokens before and after the left word, for "span".
    min_frequency : int
        Least number of pair tokens.
    measures : sequence of str
        Association measures; the first orders the list.
    attribute : str or None
        What words are called by; None: the lemma where there is one.
    case, punctuation : bool
        Whether capital and small letters differ; whether punctuation marks are words.
    """

    relation: PairRelation
    left: str = ""
    right: str = ""
    dependency: Sequence[str] = ()
    span: tuple[int, int] = (5, 5)
    min_frequency: int = 3
    measures: Sequence[str] = ("frequency",)
    attribute: str | None = None
    case: bool = False
    punctuation: bool = False


def candidates(
    *paths: str | Path,
    relation: PairRelation = "adjacent",
    left: str = "",
    right: str = "",
    dependency: Sequence[str] = (),
    span: int | tuple[int, int] = 5,
    measures: Sequence[str] = ("frequency",),
    min_frequency: int = 3,
    top: int | None = None,
    attribute: str | None = None,
    case: bool = False,
    punctuation: bool = False,
    read_as: str | None = None,
    reader: Mapping[str, Any] | None = None,
    runs: str | Path | None = None,
    experiment: str | Path | None = None,
    listeners: Sequence[Listener] = (),
) -> pl.DataFrame:
    """Return the pairs of words of a corpus that stand in a relation, with their frequencies.

    Parameters
    ----------
    *paths : path
        Files, folders and patterns: plain text, CoNLL-U, vertical text, token tables.
    relation : {"adjacent", "sentence", "span", "dependency"}
        What belongs together.
    left, right : str
        Conditions on the tokens, in SQL, such as ``upos = 'ADJ'``; every token if empty.
    dependency : sequence of str
        Names of the relations in which left governs right; all if empty.
    span : int or (int, int)
        Tokens on either side of the left word, for "span".
    measures : sequence of str
        Association measures, see `measures`; the first orders the list.
    min_frequency : int
        Least f.
    top : int, optional
        How many rows; all if None.
    attribute, case, punctuation, read_as, reader, runs, experiment, listeners
        As of `collocates`.

    Returns
    -------
    DataFrame
        l1, l2, f, f1, f2, N, documents, and a column for each measure.

    Raises
    ------
    LexassayError
        If the corpus cannot be read, has not what is asked for, or holds no such pair.

    References
    ----------
    Evert 2008, Corpora and collocations, section 3 (kinds of co-occurrence).
    """
    both = (span, span) if isinstance(span, int) else span
    wanted = Wanted(
        relation, left, right, dependency, both, min_frequency, measures,
        attribute, case, punctuation,
    )  # fmt: skip
    recipe = candidates_recipe(wanted, corpus_files(paths, read_as=read_as, options=reader))
    run = perform(recipe, runs=runs, experiment=experiment, listeners=listeners)
    found = rows(run, measures)
    if found.is_empty():
        what = f"candidates: no pair occurs at least {min_frequency} times"
        raise DataError(f"{what}; lower the least frequency (--min-f), or ask for other words")
    return best(found, top)


def candidates_recipe(wanted: Wanted, corpus: CorpusFiles) -> Recipe:
    """Return the experiment that counts the pairs.

    Raises
    ------
    ConfigError
        If the corpus has no such attribute, or no syntactic relations that are asked for.
    """
    attribute = wanted.attribute or corpus.lemma
    if problems := corpus.lacks(attribute, heads=wanted.relation == "dependency"):
        raise ConfigError("candidates", problems)
    word = unit(attribute, case=wanted.case, punctuation=wanted.punctuation)
    pairs = {
        "use": "extract.pairs",
        "corpus": corpus.source,
        **_pair_relation(wanted),
        "left": {**word, "where": wanted.left or None},
        "right": {**word, "where": wanted.right or None},
        "min_frequency": wanted.min_frequency,
    }
    first = corpus.files[0].path.name.partition(".")[0]
    stages = {PAIRS: pairs, **score_stage(wanted.measures)}
    return Recipe("candidates", first, stages, title=f"Candidates of {first}")


def _pair_relation(wanted: Wanted) -> dict[str, Any]:
    if wanted.relation == "dependency":
        of_all = {"where": "deprel <> ''"}
        kind = {"label": list(wanted.dependency)} if wanted.dependency else of_all
        return {"relation": "dependency", "dependency": {**kind, "governor": "left"}}
    if wanted.relation == "span":
        before, after = wanted.span
        return {"relation": "surface", "surface": {"left": before, "right": after}}
    return {"relation": wanted.relation}
