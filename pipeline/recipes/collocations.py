"""Collocates, keywords and candidate pairs of corpora: experiments and result tables."""

from __future__ import annotations

import itertools
import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

import polars as pl

from pipeline.api.results import Run
from pipeline.errors import ConfigError, DataError, Problem
from pipeline.formats.base import format_of, reading
from pipeline.formats.lines import open_text
from pipeline.formats.tables import DelimitedOptions
from pipeline.kernels.cells import Decimal
from pipeline.kernels.cooccurrence.tokens import fold_case
from pipeline.kernels.measure import MEASURES as MEASURES_OF_PAIRS
from pipeline.recipes.base import EXAMPLES, PAIRS, Recipe, best, rows, run_recipe, score_stage
from pipeline.recipes.inputs import (
    ANY_WORDS,
    CorpusFiles,
    TableFile,
    TableOptions,
    WordChoice,
    absent_names,
    corpus_files,
    require_rows,
    table_file,
)
from pipeline.registry import as_names
from pipeline.runner.events import Listener

# Collocates of a word

Relation: TypeAlias = Literal["span", "adjacent", "sentence", "dependency"]
RELATIONS: tuple[Relation, ...] = ("span", "adjacent", "sentence", "dependency")
Within: TypeAlias = Literal["sentence", "paragraph", "document"]
WITHIN: tuple[Within, ...] = ("sentence", "paragraph", "document")
Count: TypeAlias = Literal["nodes", "positions"]
COUNTS: tuple[Count, ...] = ("nodes", "positions")
"""Not "windows", whose f1, f2 and N are of all pairs: those of one node have N = f1."""
COLLOCATE_MEASURES = ("log_likelihood", "log_dice", "mi_log2")
"""Default measures; the first orders the list."""
SPAN = 5


@dataclass(frozen=True)
class Question:
    """A request for collocates.

    Parameters
    ----------
    node : str
        The node, see `node_unit`.
    relation : str or None
        "span", "adjacent", "sentence" or "dependency"; by default "dependency" for a parsed corpus,
        else "span".
    span : (int, int)
        Tokens before and after the node.
    count : str or None
        Unit of f, f1, f2 and N for spans; "nodes" by default.
    measures : sequence of str
        Association measures; the first orders the list.
    min_frequency : int
        Minimum number of pair tokens.
    within : str or None
        Boundary of spans; by default "document" in plain text, else "sentence".
    words : WordChoice
        Words that can be collocates.
    """

    node: str
    relation: Relation | None = None
    span: tuple[int, int] = (SPAN, SPAN)
    count: Count | None = None
    measures: Sequence[str] = COLLOCATE_MEASURES
    min_frequency: int = 3
    within: Within | None = None
    words: WordChoice = ANY_WORDS


def collocates_recipe(question: Question, corpus: CorpusFiles) -> Recipe:
    """Return the experiment for a request.

    Raises
    ------
    ConfigError
        If the corpus lacks the attribute or the syntactic relations.
    """
    attribute = question.words.attribute or corpus.lemma
    _require(question, corpus, attribute)
    word = question.words.unit(attribute, corpus)
    relation = question.relation or ("dependency" if corpus.parsed else "span")
    within = question.within or ("document" if corpus.plain else "sentence")
    about = {
        "use": "extract.pairs",
        "corpus": corpus.source,
        **_collocate_relation(relation, question, within),
        **question.words.stop_word_source(),
    }
    node = {"left": node_unit(question.node, word, corpus), "right": word}
    examples = {"examples": 1, "form": corpus.word}
    least = {"min_frequency": question.min_frequency}
    if relation != "dependency":
        stages = {PAIRS: {**about, **node, **least, **examples}}
    else:  # all words are counted, since their frequencies are needed; examples only for the node
        every = {PAIRS: {**about, "left": word, "right": word, **least}}
        stages = {**every, EXAMPLES: {**about, **node, **least, **examples}}
    title = f"Collocates of {question.node}"
    scored = {**stages, **score_stage(question.measures)}
    notes = (*corpus.notes, *_where_spans_end(question.within, within, relation))
    options = {f"{PAIRS}.left.where": "NODE", f"{EXAMPLES}.left.where": "NODE", **_ATTRIBUTE}
    return Recipe("collocates", question.node, scored, title, notes, options)


def _where_spans_end(option: Within | None, within: Within, relation: str) -> tuple[str, ...]:
    """Return a note if spans cross sentence boundaries by default."""
    if option or within == "sentence" or relation != "span":
        return ()
    return (
        f"spans cross sentence boundaries within a {within} (to prevent this: --within sentence)",
    )


_CONDITION = re.compile(r"(\w+)=(\S+)")
_WILDCARDS = {"*": ".*", "?": "."}


def node_unit(node: str, word: Mapping[str, Any], corpus: CorpusFiles) -> dict[str, Any]:
    """Return the unit definition of a node.

    Parameters
    ----------
    node : str
        A word; a sequence of words ("blue eyes"), written as in plain text ("Mr. Fox", "l'homme"),
        or separated by blanks in other formats; wildcards * and ? ("eye*"); a regular expression
        for the whole word ("/eyes?/"); or conditions on attributes ("lemma=eye upos=NOUN").
    word : mapping
        The unit definition of words, see `WordChoice.unit`.
    corpus : CorpusFiles
        The corpus.

    Raises
    ------
    ConfigError
        If a condition names an attribute that the corpus lacks.
    """
    fold = word["fold"]
    own = {"label": word["label"], "fold": fold}
    if conditions := _CONDITION.findall(node):
        if problems := [each for name, _ in conditions for each in corpus.lacks(name, heads=False)]:
            raise ConfigError("collocates", [replace(each, where="NODE") for each in problems])
        where = " AND ".join(
            _equals(name, corpus.spell(value), fold=bool(fold)) for name, value in conditions
        )
        return {**own, "where": where, "name": node}
    if node[0] == node[-1] == "/" and len(node) > 2:
        any_case = "(?i)" if fold is True else ""
        return {**own, "matches": f"{any_case}^(?:{corpus.spell(node[1:-1])})$", "name": node}
    first, *others = (_pattern(_fold(each, fold)) for each in _words_of(node, corpus))
    followed = {"followed_by": others} if others else {}
    plain = not others and not {*_WILDCARDS} & {*node}
    return {**own, "matches": first, **followed, **({} if plain else {"name": node})}


def _equals(name: str, value: str, *, fold: bool) -> str:
    text = "'" + value.replace("'", "''") + "'"
    return f"LOWER({name}) = LOWER({text})" if fold else f"{name} = {text}"


_LETTERS = str.maketrans({"*": "\ua840", "?": "\ua841"})
"""Letters that replace wildcards during tokenization."""
_SIGNS = {code: sign for sign, code in zip("*?", map(ord, "\ua840\ua841"), strict=True)}


def _words_of(node: str, corpus: CorpusFiles) -> list[str]:
    """Return the words of a node, tokenized like the corpus."""
    wild = itertools.groupby(node.split(), key=lambda word: bool({*_WILDCARDS} & {*word}))
    return [
        part for is_wild, words in wild
        for word in (words if is_wild else [" ".join(words)])
        for part in (_divide_wild(word, corpus) if is_wild else corpus.tokens(word))
    ]  # fmt: skip


def _divide_wild(word: str, corpus: CorpusFiles) -> list[str]:
    """Tokenize a word with wildcards: l'hom* is l' and hom*; 使* is one token."""
    parts = [part.translate(_SIGNS) for part in corpus.tokens(word.translate(_LETTERS))]
    alone = any({*part} <= {*_WILDCARDS} for part in parts)
    return [corpus.spell(word)] if alone else parts


def _fold(word: str, fold: bool | str) -> str:
    return pl.select(fold_case(pl.lit(word), fold)).item() if fold else word


def _pattern(word: str) -> str:
    """Return the regular expression for the labels that a word of a node matches."""
    return "^" + "".join(_WILDCARDS.get(sign, re.escape(sign)) for sign in word) + "$"


def _require(question: Question, corpus: CorpusFiles, attribute: str) -> None:
    problems = []
    if not question.node.strip():
        problems.append(Problem("NODE", "the word is empty", "give one"))
    sketch = (question.relation or ("dependency" if corpus.parsed else "span")) == "dependency"
    if sketch and (set(question.node) & {*" *?=", "/"}):
        what = f"{question.node!r} is not a single word, as syntactic relations require"
        problems.append(Problem("NODE", what, "use --relation span"))
    if question.within and (question.relation or "span") != "span":
        what = f"{question.within!r} limits spans, which relation {question.relation} does not use"
        problems.append(Problem("--within", what, "omit it, or use --relation span"))
    problems += corpus.lacks(attribute, heads=question.relation == "dependency")
    if question.span[0] + question.span[1] < 1 or min(question.span) < 0:
        problems.append(Problem("--span", "the span is empty", "use e.g. 5 or 0,3"))
    if question.count and (question.relation or "span") not in {"span", "adjacent"}:
        what = f"{question.count!r} applies to spans, not to relation {question.relation}"
        problems.append(Problem("--count", what, "omit it, or use --relation span"))
    if question.count not in {None, *COUNTS}:
        what = f"{question.count!r} is no way to count the pairs of one node"
        problems.append(Problem("--count", what, f"use {' or '.join(COUNTS)}"))
    if problems:
        raise ConfigError("collocates", problems)


def _collocate_relation(relation: Relation, question: Question, within: Within) -> dict[str, Any]:
    if relation == "dependency":
        either = {"where": "deprel <> 'punct'", "governor": "either", "named": True}
        return {"relation": "dependency", "dependency": either}
    if relation == "sentence":
        return {"relation": "textual", "textual": {"within": "sentence"}}
    left, right = (1, 1) if relation == "adjacent" else question.span
    ends = {} if relation == "adjacent" or within == "sentence" else {"within": within}
    surface = {"left": left, "right": right, "count": question.count or "nodes", **ends}
    return {"relation": "surface", "surface": surface}


def collocates(
    node: str,
    *paths: str | Path,
    relation: Relation | None = None,
    span: int | tuple[int, int] | None = None,
    count: Count | None = None,
    within: Within | None = None,
    measures: str | Sequence[str] = COLLOCATE_MEASURES,
    min_frequency: int = 3,
    top: int | None = 50,
    attribute: str | None = None,
    case: bool = False,
    punctuation: bool = False,
    language: str = "",
    stop_words: str | Path | None = None,
    read_as: str | None = None,
    reader: Mapping[str, Any] | None = None,
    runs: str | Path | None = None,
    save: str | Path | None = None,
    listeners: Sequence[Listener] = (),
) -> pl.DataFrame:
    """Return the collocates of a word in a corpus, strongest first.

    Parameters
    ----------
    node : str
        A word, a sequence of words ("blue eyes"), wildcards ("eye*"), a regular expression
        ("/eyes?/"), or conditions on attributes ("lemma=eye upos=NOUN").
    *paths : path
        Files, folders and patterns: plain text, CoNLL-U, vertical text, token tables, TEI.
    relation : {"span", "adjacent", "sentence", "dependency"}, optional
        Kind of co-occurrence. Default: "dependency" (by relation, as in a word sketch) if the
        corpus is parsed and no span is given, else "span".
    span : int or (int, int), optional
        Tokens to the left and right (default: 5).
    count : {"nodes", "positions"}, optional
        Unit of f and f1 for spans, see docs/measures.md. Default: "nodes", as in most corpus tools.
    within : {"sentence", "paragraph", "document"}, optional
        Boundary of spans. Default: "document" in plain text, else "sentence".
    measures : str or sequence of str
        Association measures, see `measures`; the first orders the list.
    min_frequency : int
        Minimum co-occurrence frequency f.
    top : int, optional
        Maximum number of rows, in a word sketch per relation; all if None.
    attribute : str, optional
        Token attribute to count: "lemma", "form" ... Default: the lemma if available.
    case : bool
        Distinguish upper and lower case.
    punctuation : bool
        Include punctuation marks.
    language : str
        ISO 639-1 code that determines tokenization of plain text and comparison of letters; ""
        detects the language of plain text.
    stop_words : path, optional
        File with words to exclude: one per line, or a table with a column word.
    read_as : str, optional
        Format of the files, if not clear from their extensions.
    reader : mapping, optional
        Reader options, e.g. ``{"separator": ";"}``; each file uses those of its format.
    runs : path, optional
        Results folder; by default the user's cache folder, where unused results expire.
    save : path, optional
        File to which to write the experiment.
    listeners : sequence of callable
        Called with every event.

    Returns
    -------
    DataFrame
        collocate, f, f1 (of the node), f2 (of the collocate), a column for each measure, and an
        example. A word sketch has a first column relation: ``obj(*, house)`` if the node is the
        object, ``amod(house, *)`` if it is modified.

    Raises
    ------
    DataError
        If the word does not occur, if nothing co-occurs with it often enough, or if the corpus
        cannot be read.
    ConfigError
        If files or attributes are missing.

    References
    ----------
    Evert 2008, Corpora and collocations, sections 3.1 and 3.2 (kinds of co-occurrence).
    """
    both = (span, span) if isinstance(span, int) else span or (SPAN, SPAN)
    if relation is None and (span is not None or count or within):
        relation = "span"
    words = _words(attribute, language, stop_words, case=case, punctuation=punctuation)
    names = as_names(measures)
    question = Question(node, relation, both, count, names, min_frequency, within, words)
    corpus = corpus_files(paths, read_as=read_as, options=_reader(reader, language))
    recipe = collocates_recipe(question, corpus)
    run = run_recipe(recipe, runs=runs, experiment=save, listeners=listeners)
    table = _collocate_rows(run, question, corpus)
    return best(table, top, by=["relation"] if "relation" in table.columns else [])


def _words(
    attribute: str | None,
    language: str,
    stop_words: str | Path | None,
    *,
    case: bool,
    punctuation: bool,
) -> WordChoice:
    excluded = Path(stop_words) if stop_words else None
    return WordChoice(attribute, case, punctuation, language, excluded)


def _reader(options: Mapping[str, Any] | None, language: str) -> dict[str, Any]:
    return {**({"language": language} if language else {}), **(options or {})}


def _collocate_rows(run: Run, question: Question, corpus: CorpusFiles) -> pl.DataFrame:
    """Return one row per collocate of the node, ordered by the first measure."""
    fold = question.words.unit(corpus.lemma, corpus)["fold"]
    node = _fold(corpus.spell(question.node.strip()), fold)
    sketch = run.project.experiment.stages[PAIRS]["relation"] == "dependency"
    table = rows(run, question.measures, _is_relation_of(node) if sketch else None)
    if table.is_empty():
        raise DataError(_no_collocates(run, question))
    output = table.rename({"l1": "relation"}) if sketch else table.drop("l1")
    return output.rename({"l2": "collocate"})


def _is_relation_of(node: str) -> pl.Expr:
    """Return true if l1 is the node in a relation: ``obj(node, *)`` or ``obj(*, node)``."""
    ends = (f"({node}, *)", f"(*, {node})")
    return pl.any_horizontal(pl.col("l1").str.ends_with(end) for end in ends)


def _no_collocates(run: Run, question: Question) -> str:
    sizes = dict(run.table(f"{PAIRS}.corpus").rows())
    return (
        f"collocates: nothing co-occurs at least {question.min_frequency} times with "
        f"{question.node!r} in {sizes.get('tokens', 0):,} tokens; check the spelling in the "
        "corpus, or lower the minimum frequency (--min-f)"
    )


# Keywords of a corpus compared with another

KEYWORD_MEASURES = ("keyness_ll", "log_ratio", "percent_diff")
"""Default measures; the first orders the list."""
_WORD = ("word", "lemma", "form", "token", "type", "item")
_COUNT = ("f", "freq", "frequency", "count", "tokens", "n")
_TOKENS = ("form", "lemma", "upos", "xpos", "feats", "head", "deprel", "space_after")
"""Columns that only token tables have."""
_NO_COUNTS = (
    "rank", "id", "no", "nr", "number", "line", "doc", "paragraph", "sentence", "position", "head",
    "range", "length", "year",
)  # fmt: skip
"""Columns of whole numbers that are not word counts."""


@dataclass(frozen=True)
class KeynessOptions:
    """How words are counted.

    Parameters
    ----------
    measures : sequence of str
        Measures of keyness; the first orders the list.
    min_frequency : int
        Minimum frequency in the target.
    words : WordChoice
        Words to count; their attribute is the lemma if both corpora have it.
    """

    measures: Sequence[str] = KEYWORD_MEASURES
    min_frequency: int = 3
    words: WordChoice = ANY_WORDS


def keywords(
    target: str | Path,
    reference: str | Path,
    *,
    measures: str | Sequence[str] = KEYWORD_MEASURES,
    min_frequency: int = 3,
    top: int | None = 50,
    attribute: str | None = None,
    case: bool = False,
    punctuation: bool = False,
    language: str = "",
    stop_words: str | Path | None = None,
    read_as: str | None = None,
    reader: Mapping[str, Any] | None = None,
    columns: Mapping[str, str] | None = None,
    header: bool | None = None,
    decimal: Decimal | None = None,
    runs: str | Path | None = None,
    save: str | Path | None = None,
    listeners: Sequence[Listener] = (),
) -> pl.DataFrame:
    """Return the keywords of a corpus compared with another, strongest first.

    Parameters
    ----------
    target : path
        The corpus: a file, a folder, or a frequency list (words and their counts).
    reference : path
        The reference corpus or frequency list.
    measures : str or sequence of str
        Measures of keyness, see `measures`; the first orders the list.
    min_frequency : int
        Minimum frequency in the target.
    top : int, optional
        Maximum number of rows; all if None.
    attribute : str, optional
        Token attribute to count. Default: the lemma if both corpora have it.
    case, punctuation, language, stop_words, reader, runs, save, listeners
        As for `collocates`.
    read_as : str, optional
        Format of the files, if not clear from their extensions; they are then read as corpora.
    columns : mapping of str to str, optional
        Names of the columns word and f in frequency lists, if not recognised.
    header : bool, optional
        Tables have a header; detected by default. Unnamed columns are called column_1, column_2 ...
    decimal : {".", ","}, optional
        Decimal mark in tables; detected by default.

    Returns
    -------
    DataFrame
        keyword, f, f_reference, per_million, per_million_reference, documents, dp_norm (0:
        evenly spread, 1: in one document), and a column for each measure.

    Raises
    ------
    LexassayError
        If a corpus cannot be read, or no word is frequent enough.

    References
    ----------
    Rayson & Garside 2000, Comparing corpora using frequency profiling; Gabrielatos 2018, Keyness
    analysis; Gries 2008, Dispersions and adjusted frequencies in corpora.
    """
    words = _words(attribute, language, stop_words, case=case, punctuation=punctuation)
    keyness, options = (
        KeynessOptions(as_names(measures), min_frequency, words),
        _reader(reader, language),
    )
    of_tables = {
        name: each for name, each in options.items() if name in DelimitedOptions.model_fields
    }
    tables = TableOptions(columns or {}, header, decimal, reader=of_tables)
    recipe = keywords_recipe(
        Path(target), Path(reference), keyness, read_as=read_as, reader=options, tables=tables
    )
    run = run_recipe(recipe, runs=runs, experiment=save, listeners=listeners)
    table = rows(run, keyness.measures)
    if table.is_empty():
        what = f"keywords: no word of {target} occurs {min_frequency} times or more"
        raise DataError(f"{what}; lower the minimum frequency (--min-f)")
    counts = ["f", "f_reference", "per_million", "per_million_reference", "documents", "dp_norm"]
    scores = MEASURES_OF_PAIRS.resolve(keyness.measures)
    return best(table.select(pl.col("l2").alias("keyword"), *counts, *scores), top)


def keywords_recipe(
    target: Path,
    reference: Path,
    options: KeynessOptions,
    *,
    read_as: str | None = None,
    reader: Mapping[str, Any] | None = None,
    tables: TableOptions | None = None,
) -> Recipe:
    """Return the experiment that compares the words of two corpora.

    Raises
    ------
    ConfigError
        If a corpus lacks the attribute, or a list lacks the column.
    """
    both = {"target": target, "reference": reference}
    tables = tables or TableOptions()
    lists = {} if read_as else _word_lists(both, tables)
    if lists:  # what they use is not meant for a corpus
        reader = {name: each for name, each in (reader or {}).items() if name not in tables.reader}
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
            stages[name] = {"use": "extract.word_table", **own, "fold": not options.words.case}
            stages[name] |= tables.numbers
            continue
        attribute = options.words.attribute or ("lemma" if lemmas else corpus.word)
        if attribute not in corpus.attributes:
            have = ", ".join(sorted(corpus.attributes))
            what = f"no token at the beginning of {path} has {attribute!r}"
            raise ConfigError("keywords", [Problem("--attribute", what, f"available are {have}")])
        unit, excluded = options.words.unit(attribute, corpus), options.words.stop_word_source()
        counted = {"use": "extract.words", "corpus": corpus.source}
        stages[name] = {**counted, "unit": unit, **excluded}
    least = {"min_frequency": options.min_frequency}
    sides = {"target": "target", "reference": "reference"}
    stages[PAIRS] = {"use": "extract.keywords", **sides, **least}
    about = f"{target.name.partition('.')[0]}-{reference.name.partition('.')[0]}"
    title = f"Keywords of {target.name} against {reference.name}"
    notes = [note for each in lists.values() for note in each.notes]
    notes += [note for corpus in corpora.values() if corpus for note in corpus.notes]
    every = {**stages, **score_stage(options.measures)}
    return Recipe("keywords", about, every, title, tuple(notes))


# Frequency lists: tables of words and whole numbers with any column names

_LINES = 1_000
"""Number of lines used to recognise a list."""
_MOST_LINES = 0.5
"""Minimum share of lines of a list that consist of a word and a number."""
_SAME = 0.9
"""Minimum share of lines of a table with the same number of tabs."""
_REPEATED = 0.5
"""Share of distinct words below which an unnamed list may be a token table."""
_FEWEST = 20
"""Minimum number of rows for this check."""
_COMMENT = re.compile(r"#\w[\w ]*: *\d+\s*$")
"""Header line of an AntConc list: #Word Types: 3."""
_CORPUS, _SUBCORPUS = (re.compile(rf'"?{word}"?[,;\t]', re.IGNORECASE)
                       for word in ("corpus", "subcorpus"))  # fmt: skip
"""Header lines of a Sketch Engine list."""
_WHOLE = re.compile(r"\d+([.,'\u2019\u00a0\u202f]\d{3})*(\.0+)?")


class _WordList(NamedTuple):
    """A frequency list with the names of its columns."""

    table: TableFile
    names: dict[str, str]
    notes: tuple[str, ...]


def _word_lists(paths: Mapping[str, Path], options: TableOptions) -> dict[str, _WordList]:
    """Return the frequency lists among the files; reject column names that none has."""
    lists: dict[str, _WordList] = {}
    names: list[str] = []
    for name, path in paths.items():
        reader = _list_reader(path, options)
        if reader is None:
            continue
        bare = table_file(path, options.select(), reader=reader)
        names += bare.columns
        own = {ours: theirs for ours, theirs in options.columns.items() if theirs in bare.columns}
        table = replace(bare, options=replace(options, columns=own))
        if word_list := _as_list(path, table):
            lists[name] = word_list
    if absent := absent_names(options, {"word": names, "f": names}):
        raise ConfigError("keywords", absent)
    return lists


def _list_reader(path: Path, options: TableOptions) -> dict[str, Any] | None:
    """Return reader options for a file that may be a list, without given ones; None for text."""
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
    above = {"skip": skip} if skip and "skip" not in options.reader else {}
    if name:
        return above
    own = options.reader.get("skip")
    skip = own if isinstance(own, int) else skip
    return _text_reader([line for line in lines[skip:] if line.strip()], above, options.header)


def _count_lines_above(lines: Sequence[str]) -> int:
    """Return the number of header lines from other programs."""
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
    """Return reader options for lines that form a list; None otherwise."""
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
    has_header = not any(map(str.isdigit, lines[0])) if header is None else header
    own = {"first": "f"} if first > last else {}
    return {"format": "word_counts", **own, **({"header": True} if has_header else {})}


def _is_whole(text: str) -> bool:
    return _WHOLE.fullmatch(text) is not None


def _as_list(path: Path, table: TableFile) -> _WordList | None:
    """Return a table as a frequency list; None for a corpus.

    Raises
    ------
    ConfigError
        If it is not a corpus and lacks the columns or has several candidates.
    """
    recognised = table.look_for(*_COUNT)
    count = recognised if recognised in table.values else None
    if count is None and "f" in table.options.columns:
        raise ConfigError("keywords", [_no_numbers(path, str(recognised))])
    corpus = _format_name(path, "corpus")
    sentence = table.options.reader.get("sentence", "sentence")
    is_corpus = bool(corpus) and (corpus != "token_parquet" or sentence in table.columns)
    if not is_corpus:
        require_rows(table)
    attributes = {*map(str.lower, table.columns)} & {*_TOKENS}
    if count is None and not (is_corpus and attributes):
        count = _count_column(path, table)
    if count is None:
        if is_corpus:
            return None
        table.column(*_COUNT)  # lists the columns
        raise ConfigError("keywords", [_no_numbers(path, str(recognised))])
    filled = [name for name in table.columns if table.head[name].null_count() < table.head.height]
    texts = [name for name in filled if name not in table.values]
    word = table.look_for(*_WORD) or next(iter(texts), None) or table.column(*_WORD)
    names = table.other_names(word=word, f=count)
    if count == recognised and word in {table.look_for(*_WORD), "word"} and not _is_text(table):
        return _WordList(table, names, table.notes)
    _require_few_repeated(path, table.head[word], is_corpus=is_corpus and not table.options.columns)
    is_explicit = table.options.header is not None
    counted = table.source.get("format") == "word_counts"
    headed = table.source.get("header", False) if counted else not table.notes
    without = "" if headed or is_explicit else " without a header"
    what = f"frequency list{without}: words in {word}, counts in {count}"
    others = [
        *([] if is_explicit else ["--no-header" if headed else "--header"]),
        "--columns word=NAME,f=NAME",
        *([f"--read-as {corpus}"] if is_corpus else []),
    ]
    note = f"{path}: {what} (to change this: {' or '.join(others)})"
    return _WordList(table, names, (note,))


def _format_name(path: Path, kind: Literal["table", "corpus"]) -> str:
    """Return the format of a file; empty if no format of this kind has its extension."""
    try:
        return format_of(path.name, kind=kind).name
    except ValueError:
        return ""


def _is_text(table: TableFile) -> bool:
    return "format" in table.source


def _count_column(path: Path, table: TableFile) -> str | None:
    """Return the only column of whole numbers that can be counts; None if there is none."""
    whole = {
        name: values
        for name, values in table.values.items()
        if name.lower() not in _NO_COUNTS and _holds_counts(values)
    }
    ranks = {name for name, values in whole.items()
             if values.to_list() == list(range(1, values.len() + 1))}  # fmt: skip
    columns = [name for name in whole if name not in ranks] or list(whole)
    if len(columns) > 1:
        what = f"{path}: several columns hold whole numbers: {', '.join(columns)}"
        problem = Problem("--columns", what, f"select the counts, e.g. --columns f={columns[0]}")
        raise ConfigError("keywords", [problem])
    return columns[0] if columns else None


def _holds_counts(values: pl.Series) -> bool:
    some = values.drop_nulls()
    return bool(((some == some.floor()) & (some >= 0)).all())


def _no_numbers(path: Path, column: str) -> Problem:
    what = f"{path}: column {column!r} does not contain numbers"
    return Problem("--columns", what, "name another one: --columns f=NAME")


def _require_few_repeated(path: Path, words: pl.Series, *, is_corpus: bool) -> None:
    """Reject an ambiguous file in which most words are repeated, as in a token table."""
    if is_corpus and words.len() >= _FEWEST and words.n_unique() < _REPEATED * words.len():
        what = f"{path}: may be a frequency list or a token table"
        remedy = "add --read-as tokens or --columns word=NAME,f=NAME"
        raise ConfigError("keywords", [Problem("PATH", what, remedy)])


# Candidate pairs of a corpus

PairRelation: TypeAlias = Literal["adjacent", "sentence", "span", "dependency"]
PAIR_RELATIONS: tuple[PairRelation, ...] = ("adjacent", "sentence", "span", "dependency")


@dataclass(frozen=True)
class PairRequest:
    """A request for candidate pairs.

    Parameters
    ----------
    relation : str
        "adjacent", "sentence", "span" or "dependency".
    left, right : str
        SQL conditions on the tokens; all tokens if empty.
    dependency : sequence of str
        Names of syntactic relations in which left governs right; all if empty.
    span : (int, int)
        Tokens before and after the left word, for "span".
    min_frequency : int
        Minimum number of pair tokens.
    measures : sequence of str
        Association measures; the first orders the list.
    within : str or None
        Boundary of spans; by default "document" in plain text, else "sentence".
    words : WordChoice
        Words that can form pairs.
    """

    relation: PairRelation
    left: str = ""
    right: str = ""
    dependency: Sequence[str] = ()
    span: tuple[int, int] = (5, 5)
    min_frequency: int = 3
    measures: Sequence[str] = ("frequency",)
    within: Within | None = None
    words: WordChoice = ANY_WORDS


def candidates(
    *paths: str | Path,
    relation: PairRelation = "adjacent",
    left: str = "",
    right: str = "",
    dependency: str | Sequence[str] = (),
    span: int | tuple[int, int] = 5,
    measures: str | Sequence[str] = ("frequency",),
    min_frequency: int = 3,
    top: int | None = None,
    attribute: str | None = None,
    case: bool = False,
    punctuation: bool = False,
    within: Within | None = None,
    language: str = "",
    stop_words: str | Path | None = None,
    read_as: str | None = None,
    reader: Mapping[str, Any] | None = None,
    runs: str | Path | None = None,
    save: str | Path | None = None,
    listeners: Sequence[Listener] = (),
) -> pl.DataFrame:
    """Return the word pairs of a corpus in a relation, with their frequencies.

    Parameters
    ----------
    *paths : path
        Files, folders and patterns: plain text, CoNLL-U, vertical text, token tables, TEI.
    relation : {"adjacent", "sentence", "span", "dependency"}
        Kind of co-occurrence.
    left, right : str
        SQL conditions on the tokens, e.g. ``upos = 'ADJ'``; all tokens if empty.
    dependency : str or sequence of str
        Names of relations in which left governs right; all if empty.
    span : int or (int, int)
        Tokens on either side of the left word, for "span".
    measures : str or sequence of str
        Association measures, see `measures`; the first orders the list.
    min_frequency : int
        Minimum co-occurrence frequency f.
    top : int, optional
        Maximum number of rows; all if None.
    attribute, case, punctuation, within, language, stop_words
        As for `collocates`.
    read_as, reader, runs, save, listeners
        As for `collocates`.

    Returns
    -------
    DataFrame
        l1, l2, f, f1, f2, N, documents, and a column for each measure.

    Raises
    ------
    LexassayError
        If the corpus cannot be read, lacks attributes, or has no such pair.

    References
    ----------
    Evert 2008, Corpora and collocations, section 3 (kinds of co-occurrence).
    """
    both = (span, span) if isinstance(span, int) else span
    words = _words(attribute, language, stop_words, case=case, punctuation=punctuation)
    request = PairRequest(
        relation, left, right, as_names(dependency), both, min_frequency, as_names(measures),
        within, words,
    )  # fmt: skip
    corpus = corpus_files(paths, read_as=read_as, options=_reader(reader, language))
    recipe = candidates_recipe(request, corpus)
    run = run_recipe(recipe, runs=runs, experiment=save, listeners=listeners)
    table = rows(run, request.measures)
    if table.is_empty():
        what = f"candidates: no pair occurs {min_frequency} times or more"
        raise DataError(f"{what}; lower the minimum frequency (--min-f), or relax the conditions")
    return best(table, top)


def candidates_recipe(request: PairRequest, corpus: CorpusFiles) -> Recipe:
    """Return the experiment that counts the pairs.

    Raises
    ------
    ConfigError
        If the corpus lacks the attribute or the syntactic relations.
    """
    attribute = request.words.attribute or corpus.lemma
    problems = corpus.lacks(attribute, heads=request.relation == "dependency")
    if request.within and request.relation != "span":
        what = f"{request.within!r} limits spans, which relation {request.relation} does not use"
        problems.append(Problem("--within", what, "omit it, or use --relation span"))
    if problems:
        raise ConfigError("candidates", problems)
    word = request.words.unit(attribute, corpus)
    within = request.within or ("document" if corpus.plain else "sentence")
    pairs = {
        "use": "extract.pairs",
        "corpus": corpus.source,
        **_pair_relation(request, within),
        **request.words.stop_word_source(),
        "left": {**word, "where": request.left or None},
        "right": {**word, "where": request.right or None},
        "min_frequency": request.min_frequency,
    }
    paths = [file.path for file in corpus.files]
    above = Path(os.path.commonpath(paths)).name  # the name of the file, if there is one
    about = (above or paths[0].name).partition(".")[0]
    stages = {PAIRS: pairs, **score_stage(request.measures)}
    notes = (*corpus.notes, *_where_spans_end(request.within, within, request.relation))
    options = {
        "pairs.left.where": "--left",
        "pairs.right.where": "--right",
        "pairs.dependency": "--dependency",
        **_ATTRIBUTE,
    }
    return Recipe("candidates", about, stages, f"Candidates of {about}", notes, options)


_ATTRIBUTE = {f"{PAIRS}.{side}.label": "--attribute" for side in ("left", "right")}


def _pair_relation(request: PairRequest, within: Within) -> dict[str, Any]:
    if request.relation == "dependency":
        of_all = {"where": "deprel <> ''"}
        kind = {"label": list(request.dependency)} if request.dependency else of_all
        return {"relation": "dependency", "dependency": {**kind, "governor": "left"}}
    if request.relation == "span":
        before, after = request.span
        ends = {} if within == "sentence" else {"within": within}
        return {"relation": "surface", "surface": {"left": before, "right": after, **ends}}
    return {"relation": request.relation}
