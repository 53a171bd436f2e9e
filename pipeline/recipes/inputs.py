"""Input files of commands: corpora and tables, with formats, attributes and columns."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import takewhile
from pathlib import Path
from typing import Any, NamedTuple, cast

import polars as pl
from pydantic import ValidationError

from pipeline.errors import ConfigError, DataError, Problem, did_you_mean, no_file, no_plain_values
from pipeline.formats import content
from pipeline.formats.base import FORMATS, format_of, reading
from pipeline.formats.compression import UNPACK, is_archive
from pipeline.formats.corpora.languages import NO_RULES, guess_language
from pipeline.formats.corpora.plain_text import (
    TextLayout,
    TextOptions,
    text_layout,
    text_tokens,
)
from pipeline.formats.corpora.tei import TeiOptions, language_code
from pipeline.formats.lines import open_text, separator_of
from pipeline.formats.spreadsheets.read import WorkbookOptions, count_worksheet_columns
from pipeline.formats.tables import DelimitedOptions, count_columns
from pipeline.formats.unicode import normalise
from pipeline.kernels import cells
from pipeline.kernels.cells import Decimal, Kind, NumberFormat, number_formats
from pipeline.kernels.cooccurrence.tokens import OWN_CASE
from pipeline.runner.inputs import Places, SourceFile, find, search_files
from pipeline.stages.base import CorpusSource, TableSource

# Corpora

TEXT = r"[\p{L}\p{N}]"
"""Pattern that distinguishes words from punctuation marks."""
_WORDS = ("form", "word", "token")
"""Names of attributes with the word form."""
_PLACES = ("file", "line", "doc", "paragraph", "sentence", "position")
_BLOCK = 1 << 18
"""Bytes examined at the beginning of a file."""


@dataclass(frozen=True)
class CorpusFiles:
    """Files of one format with the attributes of their tokens.

    Parameters
    ----------
    source : mapping
        Their source in an experiment.
    files : tuple of SourceFile
        The files.
    head : DataFrame
        The first tokens of the first file with tokens.
    notes : tuple of str
        Decisions about how to read them.
    """

    source: Mapping[str, Any]
    files: tuple[SourceFile, ...]
    head: pl.DataFrame
    notes: tuple[str, ...] = ()

    @cached_property
    def attributes(self) -> frozenset[str]:
        """The attributes with values at the beginning of the first file."""
        names = (name for name in self.head.columns if name not in _PLACES)
        return frozenset(name for name in names if self.head[name].null_count() < self.head.height)

    @property
    def word(self) -> str:
        """The attribute with the word forms."""
        names = [name for name in _WORDS if name in self.attributes]
        own = [name for name in self.files[0].schema() if name in self.attributes]
        return (names or own or ["form"])[0]

    @property
    def lemma(self) -> str:
        """The attribute with the lemmas, or with the word forms if there are none."""
        return "lemma" if "lemma" in self.attributes else self.word

    @cached_property
    def language(self) -> str:
        """Of plain text and TEI, from the first file; of others only if its case is special."""
        file = self.files[0]
        if isinstance(file.options, TeiOptions):
            languages = self.head.get_column("language").drop_nulls().to_list()
            return file.options.language or language_code(languages[0] if languages else None)
        if not isinstance(file.options, TextOptions):
            language = guess_language(" ".join(self.head.get_column(self.word).drop_nulls()))
            return language if language in OWN_CASE else ""
        language = text_layout(file.path, file.options).language
        return "" if language == NO_RULES else language

    @property
    def plain(self) -> bool:
        """True for plain text, and for TEI without word markup."""
        options = self.files[0].options
        marked = isinstance(options, TeiOptions) and {*options.attributes} & self.attributes
        return isinstance(options, TextOptions | TeiOptions) and not marked

    @property
    def parsed(self) -> bool:
        """True if tokens have heads and relations."""
        return {"head", "deprel"} <= self.attributes

    def spell(self, text: str) -> str:
        """Return a typed text, normalised like the corpus (see `normalise`)."""
        return text if self.files[0].options.normalise == "none" else normalise(text)

    def tokens(self, text: str) -> list[str]:
        """Return the tokens of a typed text, tokenized like the corpus.

        Parameters
        ----------
        text : str
            A sequence of words, as in plain text, or separated by blanks for other formats.
        """
        file, text = self.files[0], self.spell(text)
        if isinstance(file.options, TextOptions):
            layout = text_layout(file.path, file.options)
        elif isinstance(file.options, TeiOptions) and self.plain:
            layout = TextLayout(file.options.text(), self.language, "split", 0)
        else:
            return text.split()
        tokens = text_tokens(text, layout) or text.split()
        if file.options.normalise == "none":
            return tokens
        # An elided word: in the corpus, a letter follows its apostrophe.
        return [each[:-1] + "'" if each[1:].endswith("’") else each for each in tokens]

    def lacks(self, attribute: str, *, heads: bool) -> list[Problem]:
        """Return a problem if an attribute or heads are missing.

        Parameters
        ----------
        attribute : str
            Attribute that labels words.
        heads : bool
            Syntactic relations are required.
        """
        problems = []
        if attribute not in self.attributes:
            have = ", ".join(sorted(self.attributes)) or "none"
            what = f"no token at the beginning of the corpus has {attribute!r}"
            problems.append(Problem("--attribute", what, f"available are {have}"))
        if heads and not self.parsed:
            what = "the corpus has no heads and relations"
            problems.append(Problem("--relation", what, "use span, adjacent or sentence"))
        return problems

    def values(self, attribute: str, where: pl.Expr | None = None) -> list[str]:
        """Return the values of an attribute at the beginning, most frequent first."""
        tokens = self.head if where is None else self.head.filter(where)
        counted = tokens.drop_nulls(attribute).group_by(attribute).len()
        return counted.sort("len", attribute, descending=[True, False])[attribute].to_list()


def corpus_files(
    paths: Sequence[str | Path],
    *,
    read_as: str | None = None,
    options: Mapping[str, Any] | None = None,
) -> CorpusFiles:
    """Find the files of a corpus and inspect the beginning of the first.

    Parameters
    ----------
    paths : sequence of path
        Files, patterns, and folders (all readable files in them).
    read_as : str, optional
        The format, if not clear from extensions and first lines.
    options : mapping, optional
        Reader options; ``attributes`` are column names in any format.

    Raises
    ------
    ConfigError
        If there is no such file, no format for it, several formats, or an ambiguous format.
    DataError
        If the first file cannot be read.
    """
    if not paths:
        raise ConfigError("corpus", [Problem("PATH", "no file is given", "name a file or folder")])
    matches = [each for path in paths for each in _expand(Path(path), read_as)]
    kinds = sorted({_format(path, read_as) for path in matches} - {""})
    if len(kinds) > 1:
        what = f"the files have several formats: {', '.join(kinds)}"
        raise ConfigError("corpus", [Problem("PATH", what, "give files of one format")])
    decided = _decide(matches, read_as, options or {})
    kind = decided.format or kinds[0] if kinds else ""
    own = {"format": decided.format, **_reader_options(kind, decided.options)}
    source = {"path": matches, **{key: value for key, value in own.items() if value is not None}}
    with _paths_as_given(matches):
        files = _files(source)
        head = next((each for each in map(_head, files) if not each.is_empty()), None)
        if head is None:
            some = "" if len(files) == 1 else f", nor has any of {len(files) - 1:,} other files"
            raise DataError(f"{files[0].path} has no words{some}\nGive a file with words.")
        return CorpusFiles(source, tuple(files), head, decided.notes)


def as_given(text: str, paths: Collection[Path]) -> str:
    """Return a message with paths as given, not absolute.

    Parameters
    ----------
    text : str
        The message.
    paths : collection of Path
        The paths as given, which may be patterns.

    Examples
    --------
    >>> as_given(f"{Path('d/a.txt').absolute()}: line 1", [Path("d/*.txt")])
    'd/a.txt: line 1'
    """
    folders = [Path(*takewhile(_is_plain, each.parts)) for each in paths]
    for path in sorted({*paths, *folders}, key=lambda each: -len(str(each.absolute()))):
        text = text.replace(path.absolute().as_posix(), str(path))
    return text


def _is_plain(part: str) -> bool:
    """Return true if a part of a path has no wildcards."""
    return not {*"*?["} & {*part}


@contextmanager
def _paths_as_given(paths: Sequence[Path]) -> Iterator[None]:
    """Show the paths in errors as given."""
    try:
        yield
    except ConfigError as error:
        problems = [replace(each, what=as_given(each.what, paths)) for each in error.problems]
        raise ConfigError(error.source, problems) from error
    except DataError as error:
        raise DataError(as_given(str(error), paths)) from error


# Detection of formats from first lines

_TAG = re.compile(r"<([A-Za-z][\w.-]*)[\s>/]")
_DOCUMENTS = ("text", "doc", "document", "file")
_LINES = 20_000
"""Number of lines examined."""
_FEWEST_ROWS = 3
"""Minimum number of lines with fields for a table."""
_COMMENT = "# "
"""Prefixes of skipped lines in a token table."""


@dataclass(frozen=True)
class Decision:
    """The format and reader options of files.

    Parameters
    ----------
    format : str or None
        The format; None: by extension.
    options : mapping
        Options of the reader.
    notes : tuple of str
        Decisions, and how to change them.
    """

    format: str | None
    options: Mapping[str, Any]
    notes: tuple[str, ...] = ()


def _decide(paths: Sequence[Path], read_as: str | None, reader: Mapping[str, Any]) -> Decision:
    """Return the format from the first lines of the first file; the others must agree."""
    files = list(_existing(paths))
    if not files:  # opening the file raises the message
        return Decision(read_as, reader)
    decided = _decide_file(files[0], read_as, reader)
    if read_as is None and decided.format is None and _format(files[0], None) == "text":
        for file in files[1:]:
            if _holds_fields(content.first_lines(file, _FEWEST_ROWS)):
                what = f"its lines have fields separated by tabs, but {files[0]} is plain text"
                problem = Problem(
                    str(file), what, "give files of one format, or add --read-as text"
                )
                raise ConfigError("corpus", [problem])
    return decided


def _existing(paths: Sequence[Path]) -> Iterator[Path]:
    """Yield the files matched by paths and patterns."""
    for path in paths:
        if path.is_file():
            yield path
        elif any(mark in str(path) for mark in "*?["):
            matches = search_files(Path(path.anchor), str(path.relative_to(path.anchor)))
            yield from (each for each in matches if each.is_file())


def _decide_file(path: Path, read_as: str | None, reader: Mapping[str, Any]) -> Decision:
    name = _format(path, read_as)
    if name not in {"text", "tokens", "vertical"}:
        return Decision(read_as, reader)
    lines = content.first_lines(path, _LINES)
    if name == "text" and not (read_as is None and _holds_fields(lines)):
        return Decision(read_as, {"sentences": "auto", **reader})
    if name == "tokens":
        return _decide_table(path, read_as, lines, reader)
    rows = content.token_lines(lines)
    if name == "text" and not ("attributes" in reader or content.is_treetagger(rows)):
        raise _unclear_text(path, rows[0])
    return _vertical(path, lines, reader, "vertical" if name == "text" else read_as)


def _holds_fields(lines: Sequence[str]) -> bool:
    """Return true if all lines except tags have the same number of fields, at least two."""
    rows = content.token_lines(lines)
    return len(rows) >= _FEWEST_ROWS and content.width_of(rows) > 1


def _unclear_text(path: Path, row: Sequence[str]) -> ConfigError:
    names = content.usual_names(len(row))
    fields = ", ".join(f"{name} {field!r}" for name, field in zip(names, row, strict=True))
    what = (
        f"every line has {len(row)} fields separated by tabs: this may be plain text, or one token "
        f"per line, for example {fields}"
    )
    remedy = f"add --attributes {','.join(names)} or --read-as text"
    return ConfigError("corpus", [Problem(str(path), what, remedy)])


def _decide_table(
    path: Path, read_as: str | None, lines: Sequence[str], reader: Mapping[str, Any]
) -> Decision:
    """Return reader options for a token table, with or without header."""
    own = dict(reader)
    if "attributes" in own:
        own["columns"] = own.pop("attributes")
    body = [line for line in lines if line.strip() and not line.startswith(_COMMENT)]
    if "columns" in own or "header" in own or not body:
        return Decision(read_as, own)
    rows = [line.split("\t") for line in body]
    names, kind = content.usual_names(len(rows[0])), content.judge_header(rows)
    if kind == "header":
        note = (
            f"{path}: the first line is a header ({', '.join(rows[0])}); to read it as a token, "
            "add --reader header=false"
        )
        return Decision(read_as, own, (note,))
    tagged = content.is_treetagger(content.token_lines(body))
    if tagged and read_as is None and body == [line for line in lines if line.strip()]:
        return _vertical(path, lines, own, "vertical")
    if kind == "unclear":
        fields = ", ".join(f"{name} {field!r}" for name, field in zip(names, rows[0], strict=True))
        what = f"the first line may be a header or a token ({fields})"
        remedy = f"add --reader header=true, or --attributes {','.join(names)} if it is a token"
        raise ConfigError("corpus", [Problem(str(path), what, remedy)])
    note = (
        f"{path}: the first line is a token, and the columns are named {', '.join(names)}; to "
        "change this, add --attributes, or --reader header=true"
    )
    return Decision(read_as, {**own, "columns": names}, (note,))


def _vertical(
    path: Path, lines: Sequence[str], reader: Mapping[str, Any], read_as: str | None
) -> Decision:
    """Return reader options for a file with one token per line: columns and sentence boundaries.

    Without a sentence structure, sentences end with taggers' end-of-sentence tags, or at blank
    lines.
    """
    rows = content.token_lines(lines)
    width = max(map(len, rows), default=1)
    tagged = content.is_treetagger(rows)
    usual = content.TREETAGGER if tagged else content.usual_names(width)
    names = list(reader.get("attributes", usual))
    tags = {tag[1] for line in lines if (tag := _TAG.match(line))}
    places = {"sentence": "s", "paragraph": "p"}
    own: dict[str, Any] = {option: name if name in tags else "" for option, name in places.items()}
    own["document"] = next((name for name in _DOCUMENTS if name in tags), "")
    marked = own["sentence"] or "" in map(str.strip, lines)
    ends = [] if marked else _sentence_tags(rows, names)
    if ends and not reader.get("sentence"):
        own["sentence_tags"] = ends
    what = [] if "attributes" in reader else [f"columns {', '.join(names)}"]
    what += [f"sentences end with tag {' or '.join(ends)}"] if ends else []
    options = {"attributes": names, **own, **reader}
    if not what:
        return Decision(read_as, options)
    how = "one token per line, as written by TreeTagger" if tagged else "one token per line"
    remedies = [] if "attributes" in reader else ["change columns with --attributes"]
    remedies += ["ignore these tags with --reader sentence_tags=[]"] if ends else []
    remedies += ["read as plain text with --read-as text"] if _format(path, None) == "text" else []
    note = f"{path}: {how}: {', '.join(what)}; {', '.join(remedies)}"
    return Decision(read_as, options, (note,))


def _sentence_tags(rows: Sequence[Sequence[str]], names: Sequence[str]) -> list[str]:
    """Return the end-of-sentence tags in use."""
    if "pos" not in names:
        return []
    place = names.index("pos")
    tags = {row[place] for row in rows if place < len(row)}
    return [tag for tag in content.SENTENCE_TAGS if tag in tags]


def _reader_options(kind: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return reader options; reject unknown ones except for the language."""
    fields = FORMATS.get(kind).options.model_fields if kind else options
    problems = [
        Problem(name, f"files of format {kind} do not use it", "omit it")
        for name in options
        if name not in fields and name != "language"
    ]
    if problems:
        raise ConfigError("corpus", problems)
    return {name: value for name, value in options.items() if name in fields}


def _expand(path: Path, read_as: str | None) -> list[Path]:
    """Return the path, or for a folder the pattern or list of its files."""
    if not path.is_dir():
        return [path]
    inside = [each for each in search_files(path, "**/*") if each.is_file()]
    files = [each for each in inside if _format(each, read_as)]
    if not files and (archives := [each.name for each in inside if is_archive(each.name)]):
        what = f"the folder has only archives: {', '.join(archives[:3])}"
        raise ConfigError("corpus", [Problem(str(path), what, UNPACK)])
    if not files:
        endings = sorted(end for name in FORMATS for end in FORMATS.get(name).suffixes
                         if FORMATS.get(name).kind == "corpus")  # fmt: skip
        what = (
            f"the folder has no files with extension {', '.join(endings)}, with or without .gz or "
            ".zst"
        )
        remedy = "name other files, or add e.g. --read-as text"
        raise ConfigError("corpus", [Problem(str(path), what, remedy)])
    for pattern in (path / f"*{files[0].suffix}", path / f"**/*{files[0].suffix}"):
        if search_files(path, pattern.relative_to(path).as_posix()) == files:
            return [pattern]
    return files


def _format(file: Path, read_as: str | None) -> str:
    """Return the format of a file; empty if no corpus reader accepts it."""
    try:
        return format_of(file.name, name=read_as, kind="corpus").name
    except ValueError:
        return ""


def _files(source: Mapping[str, Any]) -> list[SourceFile]:
    values = {**source, "path": [each.absolute().as_posix() for each in source["path"]]}
    try:
        return find(CorpusSource.model_validate(values), Places(Path()), where="PATH")
    except ValidationError as error:
        problems = [Problem("PATH", each["msg"]) for each in error.errors()]
        raise ConfigError("corpus", problems) from error


def _head(file: SourceFile) -> pl.DataFrame:
    """Return the tokens at the beginning of a file."""
    names = [name for name in file.schema() if name != "file"]
    first = next(iter(file.batches(names, _BLOCK)), None)
    return pl.DataFrame(schema=names) if first is None else first.tokens


@dataclass(frozen=True)
class WordChoice:
    """Selection and labels of words.

    Parameters
    ----------
    attribute : str or None
        Attribute that labels words; by default the lemma if available, else the word form.
    case, punctuation : bool
        Distinguish upper and lower case; include punctuation marks.
    language : str
        ISO 639-1 code of the language; "" for the detected language of plain text.
    stop_words : Path or None
        File with words to exclude: one per line, or a table with a column word.
    """

    attribute: str | None = None
    case: bool = False
    punctuation: bool = False
    language: str = ""
    stop_words: Path | None = None

    def unit(self, attribute: str, corpus: CorpusFiles | None = None) -> dict[str, Any]:
        """Return the unit definition of an experiment.

        Parameters
        ----------
        attribute : str
            Attribute that labels words.
        corpus : CorpusFiles, optional
            The corpus.
        """
        language = self.language or (corpus.language if corpus else "")
        fold = language if language in OWN_CASE else True
        options: dict[str, Any] = {"label": f"{{{attribute}}}", "fold": not self.case and fold}
        return options if self.punctuation else {**options, "matches": TEXT}

    def stop_word_source(self) -> dict[str, Any]:
        """Return the stop-word source of an experiment."""
        if self.stop_words is None:
            return {}
        path = self.stop_words
        if not path.is_file():
            what, remedy = no_file(path)
            problem = Problem("--stop-words", f"{path}: {what}", remedy)
            raise ConfigError("stop words", [problem])
        with reading(path), open_text(path) as text:
            first = text.readline().strip("\ufeff\r\n")
        if "word" in re.split(r"[\t,;]", first):
            return {"stop_words": table_file(path).source}
        return {"stop_words": {"path": path, "format": "tsv", "columns": ["word"]}}


ANY_WORDS = WordChoice()
"""All words, case-insensitive."""


# Tables and their columns

_MOST_COLUMNS = 40
"""Maximum number of columns listed in a message."""
_LOOKED_AT = 1_000
"""Rows examined to classify a column."""
_NUMBERS = 0.5
"""Minimum share of numbers in a numeric column."""
_NOTHING = ("na", "n/a", "nan", "null", "none", "-", ".", "#n/a", "#nv")
"""Common texts for missing values, ignored in classifying a column."""
_KINDS = {
    "unimorph": "UniMorph: lemma, form and features",
    "brown": "Brown's clusters: path, word and frequency",
}
"""Names of formats in notes."""
_WITHOUT_HEADER = ("csv", "tsv", "workbook")
"""Formats whose files may lack a header."""
USUAL = {
    "l1": ("node", "word1", "w1", "lemma1", "left"),
    "l2": ("collocate", "collocation", "word2", "w2", "lemma2", "right"),
    "f": ("freq", "frequency", "cooc", "o11", "joint", "cooccurrence", "cooccurrences", "freq12"),
    "f1": ("r1", "freq1", "frequency1", "f_node", "node_freq", "node_frequency", "fa"),
    "f2": ("c1", "freq2", "frequency2", "f_collocate", "f_coll", "coll_freq", "word_freq", "fb"),
    "N": ("n", "size", "total", "corpus_size", "tokens"),
}
"""Columns of candidates, and their names in other programs."""
RENAME = "rename columns to {ours} in the file, or add this header above a first line of data"
"""What to do about columns of a file that no option can name."""
_NAMES = frozenset({
    "l1", "l2", "word", "lemma", "form", "token", "type", "item", "cluster", "gold", "class", "tag",
    "pos", "upos", "label", "f", "freq", "frequency", "count", "rank", "id", "node", "collocate",
    "term", "ngram", "year",
})  # fmt: skip
"""Column names that identify a header with numbers among its names."""


@dataclass(frozen=True)
class TableOptions:
    """Options for tables read by a command.

    Parameters
    ----------
    columns : mapping of str to str
        Names of our columns in the files.
    header : bool or None
        The first line is a header; None: detected.
    decimal : str or None
        Decimal mark; None: detected for each column.
    missing : sequence of str
        Texts for missing numbers.
    read_as : str, or mapping of str to str
        Format of all files, or of some by path.
    reader : mapping
        Reader options; each file uses those of its format.
    advice : str
        What to do about columns that are not found, with their names as {ours} or {pairs}.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    header: bool | None = None
    decimal: Decimal | None = None
    missing: Sequence[str] = ()
    read_as: str | Mapping[str, str] | None = None
    reader: Mapping[str, Any] = field(default_factory=dict)
    advice: str = "add --columns {pairs}"

    def select(self, *ours: str) -> TableOptions:
        """Return a copy restricted to some columns."""
        columns = {name: column for name, column in self.columns.items() if name in ours}
        return replace(self, columns=columns)

    def format_of(self, path: Path) -> str | None:
        """Return the format given for a file, if any."""
        if isinstance(self.read_as, Mapping):
            return self.read_as.get(str(path), self.read_as.get(path.name))
        return self.read_as

    def require_used(self, paths: Sequence[Path]) -> None:
        """Reject formats for unread files, unknown formats and unknown reader options.

        Raises
        ------
        ConfigError
            With the nearest names.
        """
        each = self.read_as if isinstance(self.read_as, Mapping) else {"": self.read_as}
        known = [name for name in FORMATS if FORMATS.get(name).kind in {"table", "corpus"}]
        problems = [
            Problem("--read-as", f"there is no format {name!r}", did_you_mean(name, known))
            for name in each.values()
            if name is not None and name not in known
        ]
        names = {name for path in paths for name in (str(path), path.name)}
        problems += [
            Problem(
                "--read-as",
                f"{name!r} is not among the input files",
                did_you_mean(name, sorted(names)),
            )
            for name in each
            if name and name not in names
        ]
        options = {name for kind in known for name in FORMATS.get(kind).options.model_fields}
        problems += [
            Problem("--reader", f"no format has an option {name!r}", did_you_mean(name, options))
            for name in self.reader
            if name not in options
        ]
        if problems:
            raise ConfigError("files", problems)

    @property
    def numbers(self) -> dict[str, Any]:
        """The options for stages that read numbers."""
        options = {"decimal": self.decimal, "missing": list(self.missing)}
        return {name: value for name, value in options.items() if value}


@dataclass(frozen=True)
class TableFile:
    """A file with named columns.

    Parameters
    ----------
    source : mapping
        Its source in an experiment.
    file : SourceFile
        The file.
    head : DataFrame
        Its first rows as text; null for missing values.
    options : TableOptions
        Options for tables.
    notes : tuple of str
        Decisions about the file.
    """

    source: Mapping[str, Any]
    file: SourceFile
    head: pl.DataFrame
    options: TableOptions = field(default_factory=TableOptions)
    notes: tuple[str, ...] = ()

    @property
    def columns(self) -> list[str]:
        """Column names."""
        return self.head.columns

    def column(self, ours: str, *others: str) -> str:
        """Return the file's name of a column.

        Parameters
        ----------
        ours : str
            Our name of the column.
        *others : str
            Other common names; case, points and blanks are ignored.

        Raises
        ------
        ConfigError
            If there is none, with a list of columns.
        """
        name = self.look_for(ours, *others)
        if name is None:
            raise ConfigError("columns", self.problems_of((ours, *others)))
        return name

    def look_for(self, ours: str, *others: str) -> str | None:
        """Return the file's name of a column, None if there is none.

        A name that was given counts in the files that have it.
        """
        if (theirs := self.options.columns.get(ours)) in self.columns:
            return theirs
        plain = {_plain(name): name for name in reversed(self.columns)}
        return next(
            (plain[_plain(name)] for name in (ours, *others) if _plain(name) in plain), None
        )

    def problems_of(self, *columns: Sequence[str]) -> list[Problem]:
        """Return a problem if there are columns, each with its usual names, that the file lacks."""
        absent = [names[0] for names in columns if self.look_for(*names) is None]
        if not absent:
            return []
        ours = ", ".join(absent)
        advice = self.options.advice + self._header_advice
        if {*absent} & {*self.options.columns}:
            advice = RENAME + "; the names after --columns are those of another file"
        advice = advice.format(ours=ours, pairs=",".join(f"{name}=NAME" for name in absent))
        listed = ", ".join(self.columns[:_MOST_COLUMNS])
        what = f"has no column for {ours}"
        return [Problem(str(self.source["path"]), what, f"it has {listed}; {advice}")]

    @property
    def _header_advice(self) -> str:
        """What to do if column names are data; empty if no option can say so."""
        may_be_data = self.file.format.name in _WITHOUT_HEADER and "columns" not in self.source
        is_open = self.options.header is None and self.options.advice == TableOptions.advice
        return " or --no-header if the first line is data" if may_be_data and is_open else ""

    def numbers(self, *but: str) -> list[str]:
        """Return the numeric columns, except some.

        At least half of the values are numbers; invalid values are reported on reading.
        """
        return [name for name in self.values if name not in but]

    def flags(self) -> list[str]:
        """Return the columns of 1 and 0."""
        columns = {name: {*values.drop_nulls()} for name, values in self.values.items()}
        return [name for name, values in columns.items() if values and values <= {0.0, 1.0}]

    @cached_property
    def values(self) -> Mapping[str, pl.Series]:
        """The first values of each numeric column; null if not a number."""
        digits = self.head.select(pl.all().str.contains(r"\d").any().fill_null(value=False))
        kinds: dict[str, Kind] = {name: "number" for name in self.columns if digits[name].item()}
        own = self.options
        forms = number_formats(self.head.lazy(), kinds, decimal=own.decimal, missing=own.missing)
        return {name: values for name, form in forms.items()
                if (values := self._numbers(name, form)) is not None}  # fmt: skip

    def _numbers(self, name: str, form: NumberFormat) -> pl.Series | None:
        """Return the numbers of a column; None if it is not numeric."""
        text = pl.col(name)
        nothing = form.is_empty(text) | text.str.strip_chars().str.to_lowercase().is_in(_NOTHING)
        table = self.head.select(cells.number(name, pl.String(), form), filled=~nothing)
        values, filled = table[name], int(table["filled"].sum())
        return values if form.unclear or 0 < _NUMBERS * filled <= values.count() else None

    def other_names(self, **columns: str) -> dict[str, str]:
        """Return renamed columns, as in options called columns."""
        return {ours: theirs for ours, theirs in columns.items() if ours != theirs}


def table_file(
    path: str | Path,
    options: TableOptions | None = None,
    *,
    reader: Mapping[str, Any] | None = None,
    lexicon: bool = False,
) -> TableFile:
    """Inspect the beginning of a table.

    Parameters
    ----------
    path : path
        The file.
    options : TableOptions, optional
        Options for tables.
    reader : mapping, optional
        Reader options.
    lexicon : bool
        Recognise UniMorph lines (lemma, form, features) even if the extension is that of a table.

    Raises
    ------
    ConfigError
        If the file or its reader does not exist.
    DataError
        If it cannot be read.
    """
    options = options or TableOptions()
    source, notes = _decide_format({"path": Path(path), **(reader or {})}, options, lexicon=lexicon)
    file = _file(source)
    known = file.format.options.model_fields
    own = {name: value for name, value in options.reader.items() if name in known}
    if file.format.name == "unimorph" and options.header is not None:
        own["header"] = options.header
    source = {**own, **source}
    file = _file(source)
    is_csv = file.format.name == "csv" and "separator" not in source
    if is_csv and isinstance(file.options, DelimitedOptions):
        separator = separator_of(file.path, skip=file.options.skip)
        if separator != ",":
            source["separator"] = separator
            file = _file(source)
    may_lack_header = file.format.name in _WITHOUT_HEADER and "columns" not in source
    if may_lack_header and options.header is False:
        with _paths_as_given([source["path"]]):
            source = _without_header(source, _count_columns(file))
        file = _file(source)
        may_lack_header = False
    table = TableFile(source, file, _table_head(file, source["path"]), options, notes)
    return _detect_header(table) if may_lack_header and options.header is None else table


def _count_columns(file: SourceFile) -> int:
    """Return the number of columns of a table without header."""
    if isinstance(file.options, DelimitedOptions):
        return count_columns(file.path, file.format.name, file.options)
    return count_worksheet_columns(file.path, cast(WorkbookOptions, file.options))


def _decide_format(
    source: dict[str, Any], options: TableOptions, *, lexicon: bool
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the source of a table with its format and notes, if its extension is not clear."""
    path = source["path"]
    name = options.format_of(path)
    if name or "format" in source or not path.is_file():
        return {**source, "format": name} if name else source, ()
    try:
        ending = format_of(path.name, kind="table").name
    except ValueError:
        ending = ""
    kind: str | None = None
    if not ending:
        kind = content.table_format(path)
    elif lexicon and ending == "tsv":
        lines = content.first_lines(path)
        header = bool(lines) and bool(content.unimorph_header(lines[0]))
        kind = "unimorph" if content.is_unimorph(lines) and not header else None
    if not kind:
        return source, ()
    note = f"{path}: read as {_KINDS.get(kind, kind.upper())} (to change this: --read-as)"
    return {**source, "format": kind}, (note,)


class RequiredColumns(NamedTuple):
    """The columns that a command looks for in a file, each with its usual names, ours first."""

    table: TableFile
    columns: Sequence[Sequence[str]]
    optional: Sequence[Sequence[str]] = ()


def require_columns(command: str, options: TableOptions, files: Sequence[RequiredColumns]) -> None:
    """Reject names of columns that no file has, and files without a column, all at once.

    Raises
    ------
    ConfigError
        With the columns of the files.
    """
    headers: dict[str, list[str]] = {}
    problems = []
    for table, columns, optional in files:
        problems += table.problems_of(*columns)
        for ours, *_ in (*columns, *optional):
            headers.setdefault(ours, []).extend(table.columns)
    if absent := absent_names(options, headers):
        raise ConfigError(command, absent)
    if problems:
        raise ConfigError(command, problems)


def absent_names(options: TableOptions, headers: Mapping[str, Sequence[str]]) -> list[Problem]:
    """Return the problems of given names of columns that no file has.

    Parameters
    ----------
    options : TableOptions
        With the given names.
    headers : mapping of str to sequence of str
        The columns of the files, by the columns that a command looks for in them.
    """
    problems = []
    for ours, theirs in options.columns.items():
        if ours not in headers:
            what, remedy = f"there is no column {ours!r}", did_you_mean(ours, headers)
        elif theirs not in headers[ours]:
            what = f"no file has a column {theirs!r}"
            remedy = did_you_mean(theirs, headers[ours])
        else:
            continue
        problems.append(Problem(f"--columns {ours}", what, remedy))
    return problems


def require_rows(table: TableFile) -> None:
    """Reject a table with nothing but a header.

    Raises
    ------
    DataError
        Naming the file.
    """
    if table.head.is_empty():
        listed = ", ".join(table.columns[:_MOST_COLUMNS])
        what = f"{table.source['path']}: the table has no rows, only columns {listed}"
        raise DataError(f"{what}\nGive a file with rows.")


def _table_head(file: SourceFile, path: Path) -> pl.DataFrame:
    """Return the first rows as text; if there are none, the check of the file may say why."""
    with _paths_as_given([path]), reading(file.path):
        try:
            head = _first_rows(file)
        except pl.exceptions.PolarsError:
            file.check()
            raise
        if head.is_empty():
            file.check()
        return head


def _first_rows(file: SourceFile) -> pl.DataFrame:
    plan = file.format.scan(file.path, file.options)
    schema = plan.collect_schema()
    texts = [
        pl.lit(None, pl.String).alias(name) if no_plain_values(schema[name])
        else pl.col(name).cast(pl.String) for name in schema if name != "line"
    ]  # fmt: skip
    return plan.head(_LOOKED_AT).select(texts).collect()


def _detect_header(table: TableFile) -> TableFile:
    """Return a table without header, with names for its columns.

    The first line is a row if it has numbers where the others have numbers, unless it contains
    known column names.
    """
    if any(_plain(name) in _NAMES for name in table.columns):
        return table
    names = pl.DataFrame({name: [name] for name in table.columns})
    first = replace(table, head=names)
    numeric_columns = table.numbers() if table.head.height else first.numbers()
    if not numeric_columns or not {*numeric_columns} <= {*first.numbers()}:
        return table
    table = _with_columns(table)
    listed = ", ".join(table.columns[:_MOST_COLUMNS])
    what = f"{table.source['path']}: the first line is not a header"
    note = f"{what}: columns are named {listed} (to change this: --header)"
    return replace(table, notes=(*table.notes, note))


def _with_columns(table: TableFile) -> TableFile:
    """Return a table without header, with names for its columns."""
    source = _without_header(table.source, len(table.columns))
    file = _file(source)
    return replace(table, source=source, file=file, head=_table_head(file, source["path"]))


def _without_header(source: Mapping[str, Any], width: int) -> dict[str, Any]:
    """Return the source of a table without header, with names for its columns."""
    return {**source, "columns": [f"column_{number}" for number in range(1, width + 1)]}


def _file(source: Mapping[str, Any]) -> SourceFile:
    if not source["path"].is_file():
        what, remedy = no_file(source["path"])
        raise ConfigError("input", [Problem(str(source["path"]), what, remedy)])
    values = {**source, "path": source["path"].absolute().as_posix()}
    try:
        return find(TableSource.model_validate(values), Places(Path()), where="FILE")[0]
    except ValidationError as error:
        raise ConfigError(
            "input", [Problem(values["path"], each["msg"]) for each in error.errors()]
        ) from error


def _plain(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())


def pairs(words: Sequence[str], *, option: str) -> dict[str, str]:
    """Parse words of the form ``a=b``.

    Raises
    ------
    ConfigError
        With each invalid word.

    Examples
    --------
    >>> pairs(["f=freq"], option="--columns")
    {'f': 'freq'}
    """
    split = [word.partition("=") for word in words]
    wrong = [Problem(option, f"{''.join(each)!r} does not name a column", "e.g. f=freq")
             for each in split if not all(each)]  # fmt: skip
    if wrong:
        raise ConfigError("columns", wrong)
    return {ours.strip(): theirs.strip() for ours, _, theirs in split}
