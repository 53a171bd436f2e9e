"""Input files of commands: corpora and tables, their formats, attributes and columns."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl
from pydantic import ValidationError

from pipeline.errors import ConfigError, DataError, Problem, did_you_mean, no_plain_values
from pipeline.formats import content
from pipeline.formats.base import FORMATS, format_of, reading
from pipeline.formats.corpora.languages import NO_RULES
from pipeline.formats.corpora.plain_text import (
    TextLayout,
    TextOptions,
    text_layout,
    text_tokens,
)
from pipeline.formats.corpora.tei import TeiOptions, language_code
from pipeline.formats.lines import open_text, separator_of
from pipeline.formats.unicode import normalise
from pipeline.kernels import numeric
from pipeline.kernels.cooccurrence.tokens import OWN_CASE
from pipeline.kernels.number_format import Decimal, Kind, NumberFormat, number_formats
from pipeline.runner.inputs import Places, SourceFile, find
from pipeline.stages.base import CorpusSource, TableSource

# Corpora

TEXT = r"[\p{L}\p{N}]"
"""What a word has to hold, so that it is no punctuation mark."""
_WORDS = ("form", "word", "token")
"""What attributes with the word as it stands are called."""
_PLACES = ("file", "line", "doc", "paragraph", "sentence", "position")
_BLOCK = 1 << 18
"""Bytes of a file that are looked at."""


@dataclass(frozen=True)
class CorpusFiles:
    """Files of one format, and the attributes of their tokens.

    Parameters
    ----------
    source : mapping
        What an experiment says of them.
    files : tuple of SourceFile
        The files.
    head : DataFrame
        The tokens at the beginning of the first file.
    notes : tuple of str
        What was decided about how they are read.
    """

    source: Mapping[str, Any]
    files: tuple[SourceFile, ...]
    head: pl.DataFrame
    notes: tuple[str, ...] = ()

    @cached_property
    def attributes(self) -> frozenset[str]:
        """The attributes that hold something at the beginning of the first file."""
        held = (name for name in self.head.columns if name not in _PLACES)
        return frozenset(name for name in held if self.head[name].null_count() < self.head.height)

    @property
    def word(self) -> str:
        """The attribute that has the words as they stand."""
        named = [name for name in _WORDS if name in self.attributes]
        own = [name for name in self.files[0].schema() if name in self.attributes]
        return (named or own or ["form"])[0]

    @property
    def lemma(self) -> str:
        """The attribute with the lemmas; that with the words if there are none."""
        return "lemma" if "lemma" in self.attributes else self.word

    @cached_property
    def language(self) -> str:
        """The language of plain text and TEI, as its first file has it; "" of other corpora."""
        file = self.files[0]
        if isinstance(file.options, TeiOptions):
            said = self.head.get_column("language").drop_nulls().to_list()
            return file.options.language or language_code(said[0] if said else None)
        if not isinstance(file.options, TextOptions):
            return ""
        language = text_layout(file.path, file.options).language
        return "" if language == NO_RULES else language

    @property
    def plain(self) -> bool:
        """Whether it is plain text; so is TEI in which no words are marked."""
        options = self.files[0].options
        marked = isinstance(options, TeiOptions) and {*options.attributes} & self.attributes
        return isinstance(options, TextOptions | TeiOptions) and not marked

    @property
    def parsed(self) -> bool:
        """Whether its tokens have heads and the names of relations."""
        return {"head", "deprel"} <= self.attributes

    def spell(self, text: str) -> str:
        """Return a text that somebody typed as the corpus has it, see `normalise`."""
        return text if self.files[0].options.normalise == "none" else normalise(text)

    def tokens(self, text: str) -> list[str]:
        """Return the tokens of a text that somebody typed, as they are found in the corpus.

        Parameters
        ----------
        text : str
            Words that follow each other, as plain text has them, elsewhere with blanks between.
        """
        file, text = self.files[0], self.spell(text)
        if isinstance(file.options, TextOptions):
            layout = text_layout(file.path, file.options)
        elif isinstance(file.options, TeiOptions) and self.plain:
            layout = TextLayout(file.options.text(), self.language, "split", 0)
        else:
            return text.split()
        found = text_tokens(text, layout) or text.split()
        if file.options.normalise == "none":
            return found
        # An elided word alone: in the corpus its apostrophe stands before a letter.
        return [each[:-1] + "'" if each[1:].endswith("’") else each for each in found]

    def lacks(self, attribute: str, *, heads: bool) -> list[Problem]:
        """Return what is asked for and not there: an attribute, or heads.

        Parameters
        ----------
        attribute : str
            What words are called by.
        heads : bool
            Whether syntactic relations are needed.
        """
        problems = []
        if attribute not in self.attributes:
            have = ", ".join(sorted(self.attributes)) or "none"
            what = f"no token has {attribute!r} at the beginning of the corpus"
            problems.append(Problem("--attribute", what, f"there are {have}"))
        if heads and not self.parsed:
            what = "the corpus has no heads and names of relations"
            problems.append(Problem("--relation", what, "use span, adjacent or sentence"))
        return problems

    def values(self, attribute: str, where: pl.Expr | None = None) -> list[str]:
        """Return the values of an attribute at the beginning, the most frequent first."""
        tokens = self.head if where is None else self.head.filter(where)
        counted = tokens.drop_nulls(attribute).group_by(attribute).len()
        return counted.sort("len", attribute, descending=[True, False])[attribute].to_list()


def corpus_files(
    paths: Sequence[str | Path],
    *,
    read_as: str | None = None,
    options: Mapping[str, Any] | None = None,
) -> CorpusFiles:
    """Find the files of a corpus and look at the beginning of the first.

    Parameters
    ----------
    paths : sequence of path
        Files, patterns, and folders, which stand for all files in them that a reader knows.
    read_as : str, optional
        The format, where neither the endings nor the first lines tell.
    options : mapping, optional
        Options of the reader; ``attributes`` are the names of the columns in any format.

    Raises
    ------
    ConfigError
        If there is no such file, no format for it, or files are of several formats; if it is not
        certain how they are to be read.
    DataError
        If the first file cannot be read.
    """
    if not paths:
        raise ConfigError("corpus", [Problem("PATH", "no file is named", "name one, or a folder")])
    found = [each for path in paths for each in _expanded(Path(path), read_as)]
    kinds = sorted({_format(path, read_as) for path in found} - {""})
    if len(kinds) > 1:
        what = f"the files are of several formats: {', '.join(kinds)}"
        raise ConfigError("corpus", [Problem("PATH", what, "name those of one format")])
    decided = _decide(found, read_as, options or {})
    kind = decided.format or kinds[0] if kinds else ""
    own = {"format": decided.format, **_known(kind, decided.options)}
    source = {"path": found, **{key: value for key, value in own.items() if value is not None}}
    files = _files(source)
    return CorpusFiles(source, tuple(files), _head(files[0]), decided.notes)


# How files are read, by their first lines

_TAG = re.compile(r"<([A-Za-z][\w.-]*)[\s>/]")
_DOCUMENTS = ("text", "doc", "document", "file")
_LINES = 20_000
"""Lines that are looked at."""
_FEWEST_ROWS = 3
"""Lines of fields from which on a text is taken for a table."""
_COMMENT = "# "
"""What the lines of a token table begin with that are passed over."""


@dataclass(frozen=True)
class Decision:
    """How files are read.

    Parameters
    ----------
    format : str or None
        The format; None: their endings tell.
    options : mapping
        Options of the reader.
    notes : tuple of str
        What was decided, and how to decide otherwise.
    """

    format: str | None
    options: Mapping[str, Any]
    notes: tuple[str, ...] = ()


def _decide(paths: Sequence[Path], read_as: str | None, given: Mapping[str, Any]) -> Decision:
    """Return how files are read, by the first lines of the first; the others have to be alike."""
    files = list(_existing(paths))
    if not files:  # the message is that of who opens them
        return Decision(read_as, given)
    decided = _decide_file(files[0], read_as, given)
    if read_as is None and decided.format is None and _format(files[0], None) == "text":
        for file in files[1:]:
            if _holds_fields(content.first_lines(file, _FEWEST_ROWS)):
                what = f"its lines are fields with tabs between, those of {files[0]} are plain text"
                problem = Problem(str(file), what, "name files of one format, or --read-as text")
                raise ConfigError("corpus", [problem])
    return decided


def _existing(paths: Sequence[Path]) -> Iterator[Path]:
    """Yield the files that paths and patterns stand for."""
    for path in paths:
        if path.is_file():
            yield path
        elif any(mark in str(path) for mark in "*?["):
            found = sorted(Path(path.anchor).glob(str(path.relative_to(path.anchor))))
            yield from (each for each in found if each.is_file())


def _decide_file(path: Path, read_as: str | None, given: Mapping[str, Any]) -> Decision:
    name = _format(path, read_as)
    if name not in {"text", "tokens", "vertical"}:
        return Decision(read_as, given)
    lines = content.first_lines(path, _LINES)
    if name == "text" and not (read_as is None and _holds_fields(lines)):
        return Decision(read_as, {"sentences": "auto", **given})
    if name == "tokens":
        return _decide_table(path, read_as, lines, given)
    rows = content.token_lines(lines)
    if name == "text" and not ("attributes" in given or content.is_treetagger(rows)):
        raise _unclear_text(path, rows[0])
    return _vertical(path, lines, given, "vertical" if name == "text" else read_as)


def _holds_fields(lines: Sequence[str]) -> bool:
    """Return whether all lines but tags have the same number of fields, two or more."""
    rows = content.token_lines(lines)
    return len(rows) >= _FEWEST_ROWS and content.width_of(rows) > 1


def _unclear_text(path: Path, row: Sequence[str]) -> ConfigError:
    names = content.usual_names(len(row))
    shown = ", ".join(f"{name} {field!r}" for name, field in zip(names, row, strict=True))
    what = (
        f"every line has {len(row)} fields with tabs between: it may be plain text, or a token a"
        f" line, such as {shown}"
    )
    remedy = f"say --attributes {','.join(names)}, or --read-as text"
    return ConfigError("corpus", [Problem(str(path), what, remedy)])


def _decide_table(
    path: Path, read_as: str | None, lines: Sequence[str], given: Mapping[str, Any]
) -> Decision:
    """Return how a token table is read: whether its first line is a header, or a token."""
    own = dict(given)
    if "attributes" in own:
        own["columns"] = own.pop("attributes")
    kept = [line for line in lines if line.strip() and not line.startswith(_COMMENT)]
    if "columns" in own or "header" in own or not kept:
        return Decision(read_as, own)
    rows = [line.split("\t") for line in kept]
    names, found = content.usual_names(len(rows[0])), content.judge_header(rows)
    if found == "header":
        note = (
            f"{path}: the first line names the columns, {', '.join(rows[0])};"
            " --reader header=false takes it for a token"
        )
        return Decision(read_as, own, (note,))
    tagged = content.is_treetagger(content.token_lines(kept))
    if tagged and read_as is None and kept == [line for line in lines if line.strip()]:
        return _vertical(path, lines, own, "vertical")
    if found == "unclear":
        shown = ", ".join(f"{name} {field!r}" for name, field in zip(names, rows[0], strict=True))
        what = f"the first line may name the columns or be a token ({shown})"
        remedy = f"say --reader header=true, or --attributes {','.join(names)} if it is a token"
        raise ConfigError("corpus", [Problem(str(path), what, remedy)])
    note = (
        f"{path}: the first line is a token, and the columns are called {', '.join(names)};"
        " --attributes names them, --reader header=true takes the line for a header"
    )
    return Decision(read_as, {**own, "columns": names}, (note,))


def _vertical(
    path: Path, lines: Sequence[str], given: Mapping[str, Any], read_as: str | None
) -> Decision:
    """Return how a file with a token a line is read: its columns, and what its sentences are.

    Structures that do not occur are none; without one for sentences these end with tags that
    taggers give the mark at the end, or at blank lines.
    """
    rows = content.token_lines(lines)
    width = max(map(len, rows), default=1)
    tagged = content.is_treetagger(rows)
    usual = content.TREETAGGER if tagged else content.usual_names(width)
    names = list(given.get("attributes", usual))
    tags = {tag[1] for line in lines if (tag := _TAG.match(line))}
    places = {"sentence": "s", "paragraph": "p"}
    own: dict[str, Any] = {option: name if name in tags else "" for option, name in places.items()}
    own["document"] = next((name for name in _DOCUMENTS if name in tags), "")
    marked = own["sentence"] or "" in map(str.strip, lines)
    ends = [] if marked else _sentence_tags(rows, names)
    if ends and not given.get("sentence"):
        own["sentence_tags"] = ends
    what = [] if "attributes" in given else [f"the columns are called {', '.join(names)}"]
    what += [f"sentences end with the tag {' or '.join(ends)}"] if ends else []
    options = {"attributes": names, **own, **given}
    if not what:
        return Decision(read_as, options)
    how = "a token a line, as TreeTagger writes it" if tagged else "a token a line"
    remedies = [] if "attributes" in given else ["--attributes names others"]
    remedies += ["--reader sentence_tags=[] lets none end so"] if ends else []
    remedies += ["--read-as text reads plain text"] if _format(path, None) == "text" else []
    note = f"{path}: {how}: {', '.join(what)}; {', '.join(remedies)}"
    return Decision(read_as, options, (note,))


def _sentence_tags(rows: Sequence[Sequence[str]], names: Sequence[str]) -> list[str]:
    """Return the tags that end sentences, of those that taggers have for it."""
    if "pos" not in names:
        return []
    place = names.index("pos")
    tags = {row[place] for row in rows if place < len(row)}
    return [tag for tag in content.SENTENCE_TAGS if tag in tags]


def _known(kind: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options of the reader; refuse those that it has not, but for the language."""
    fields = FORMATS.get(kind).options.model_fields if kind else options
    problems = [
        Problem(name, f"files of the format {kind} are read without it", "omit it")
        for name in options
        if name not in fields and name != "language"
    ]
    if problems:
        raise ConfigError("corpus", problems)
    return {name: value for name, value in options.items() if name in fields}


def _expanded(path: Path, read_as: str | None) -> list[Path]:
    """Return a path itself, or of a folder a pattern or a list of the files to be read."""
    if not path.is_dir():
        return [path]
    inside = [
        each for each in sorted(path.rglob("*")) if each.is_file() and not _hidden(each, path)
    ]
    files = [each for each in inside if _format(each, read_as)]
    if not files:
        endings = sorted(end for name in FORMATS for end in FORMATS.get(name).suffixes
                         if FORMATS.get(name).kind == "corpus")  # fmt: skip
        what = (
            f"the folder has no files that end in {', '.join(endings)}, with or without .gz or .zst"
        )
        remedy = "name other files, or say what they are: --read-as text"
        raise ConfigError("corpus", [Problem(str(path), what, remedy)])
    for pattern in (path / f"*{files[0].suffix}", path / f"**/*{files[0].suffix}"):
        if sorted(path.glob(pattern.relative_to(path).as_posix())) == files:
            return [pattern]
    return files


def _hidden(file: Path, folder: Path) -> bool:
    return any(part.startswith(".") for part in file.relative_to(folder).parts)


def _format(file: Path, read_as: str | None) -> str:
    """Return the name of the format of a file; nothing if no reader of corpora knows it."""
    try:
        return format_of(file.name, name=read_as, kind="corpus").name
    except ValueError:
        return ""


def _files(source: Mapping[str, Any]) -> list[SourceFile]:
    written = {**source, "path": [each.absolute().as_posix() for each in source["path"]]}
    try:
        return find(CorpusSource.model_validate(written), Places(Path()), where="PATH")
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
    """Which words count, and what they are called.

    Parameters
    ----------
    attribute : str or None
        The attribute to look at; None: the lemma where there is one, else the word.
    case, punctuation : bool
        Whether capital and small letters differ; whether punctuation marks are words.
    language : str
        ISO 639-1 code of the language of the words; "" for that of plain text.
    stop_words : Path or None
        File with words that do not count: a word a line, or a table with a column word.
    """

    attribute: str | None = None
    case: bool = False
    punctuation: bool = False
    language: str = ""
    stop_words: Path | None = None

    def unit(self, attribute: str, corpus: CorpusFiles | None = None) -> dict[str, Any]:
        """Return what an experiment says of the words that count.

        Parameters
        ----------
        attribute : str
            What words are called by.
        corpus : CorpusFiles, optional
            Their corpus.
        """
        language = self.language or (corpus.language if corpus else "")
        fold = language if language in OWN_CASE else True
        options: dict[str, Any] = {"label": f"{{{attribute}}}", "fold": not self.case and fold}
        return options if self.punctuation else {**options, "matches": TEXT}

    def excluded(self) -> dict[str, Any]:
        """Return what an experiment says of the words that do not count."""
        if self.stop_words is None:
            return {}
        path = self.stop_words
        if not path.is_file():
            problem = Problem("--stop-words", f"there is no file {path}", "name a list of words")
            raise ConfigError("stop words", [problem])
        with reading(path), open_text(path) as text:
            first = text.readline().strip("\ufeff\r\n")
        if "word" in re.split(r"[\t,;]", first):
            return {"stop_words": {"path": path}}
        return {"stop_words": {"path": path, "format": "tsv", "columns": ["word"]}}


ANY_WORDS = WordChoice()
"""Every word, whatever its case."""


# Tables and their columns

_MOST_COLUMNS = 40
"""Columns that a message lists."""
_LOOKED_AT = 1_000
"""Rows whose values tell what a column holds."""
_NUMBERS = 0.5
"""Share of the values of a column that are numbers if it is meant to hold numbers."""
_NOTHING = ("na", "n/a", "nan", "null", "none", "-", ".", "#n/a", "#nv")
"""What stands for no value, for whoever wrote a column; these do not tell what it is meant for."""
_KINDS = {
    "unimorph": "UniMorph: lemma, form and features",
    "brown": "Brown's clusters: path, word and frequency",
}
"""What a note calls formats."""
_WITHOUT_HEADER = ("csv", "tsv", "workbook")
"""Formats whose files may lack a header."""
_NAMES = frozenset({
    "l1", "l2", "word", "lemma", "form", "token", "type", "item", "cluster", "gold", "class", "tag",
    "pos", "upos", "label", "f", "freq", "frequency", "count", "rank", "id", "node", "collocate",
    "term", "ngram", "year",
})  # fmt: skip
"""Names of columns, by which a header with numbers among its names is told from a row."""


@dataclass(frozen=True)
class TableOptions:
    """What somebody says of tables that a command reads.

    Parameters
    ----------
    columns : mapping of str to str
        What the files call our columns: our name to theirs.
    header : bool or None
        Whether the first line names the columns; None: the file tells.
    decimal : str or None
        What stands before decimals; None: each column tells.
    missing : sequence of str
        Texts that stand for no number.
    read_as : str, or mapping of str to str
        The format of all files, or of some by their paths.
    reader : mapping
        Options of readers; each file takes those that its format has.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    header: bool | None = None
    decimal: Decimal | None = None
    missing: Sequence[str] = ()
    read_as: str | Mapping[str, str] | None = None
    reader: Mapping[str, Any] = field(default_factory=dict)

    def select(self, *ours: str) -> TableOptions:
        """Return the same with some of the columns alone."""
        held = {name: column for name, column in self.columns.items() if name in ours}
        return replace(self, columns=held)

    def format_of(self, path: Path) -> str | None:
        """Return the format that is said of a file, if any is."""
        if isinstance(self.read_as, Mapping):
            return self.read_as.get(str(path), self.read_as.get(path.name))
        return self.read_as

    def require_used(self, paths: Sequence[Path]) -> None:
        """Refuse formats of files that are not read, and formats and reader options that are none.

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
        held = {name for path in paths for name in (str(path), path.name)}
        problems += [
            Problem("--read-as", f"no file {name!r} is read", did_you_mean(name, sorted(held)))
            for name in each
            if name and name not in held
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
        """The options of a stage that reads numbers."""
        given = {"decimal": self.decimal, "missing": list(self.missing)}
        return {name: value for name, value in given.items() if value}


@dataclass(frozen=True)
class TableFile:
    """A file with named columns.

    Parameters
    ----------
    source : mapping
        What an experiment says of it.
    file : SourceFile
        The file.
    head : DataFrame
        Its first rows, as text; null where no text, number or the like stands.
    options : TableOptions
        What somebody says of it.
    notes : tuple of str
        What was decided of the file.
    """

    source: Mapping[str, Any]
    file: SourceFile
    head: pl.DataFrame
    options: TableOptions = field(default_factory=TableOptions)
    notes: tuple[str, ...] = ()

    @property
    def columns(self) -> list[str]:
        """The names of its columns."""
        return self.head.columns

    def column(self, ours: str, *others: str) -> str:
        """Return the column that stands for something.

        Parameters
        ----------
        ours : str
            What it is called here.
        *others : str
            What others call it; capital letters, points and blanks do not matter.

        Raises
        ------
        ConfigError
            If there is none, with the columns that there are.
        """
        found = self.look_for(ours, *others)
        if found is None:
            what = f"{self.file.path} has no column that stands for {ours}"
            listed = ", ".join(self.columns[:_MOST_COLUMNS])
            near = did_you_mean(ours, self.columns)
            remedy = f"it has {listed}; {near}; say --columns {ours}=NAME"
            raise ConfigError("columns", [Problem(ours, what, remedy)])
        return found

    def look_for(self, ours: str, *others: str) -> str | None:
        """Return the column that stands for something, None if there is none."""
        if ours in self.options.columns:
            return self.options.columns[ours]
        plain = {_plain(name): name for name in reversed(self.columns)}
        return next(
            (plain[_plain(name)] for name in (ours, *others) if _plain(name) in plain), None
        )

    def numbers(self, *but: str) -> list[str]:
        """Return the columns that are meant to hold numbers, without some of them.

        Half of what stands in them are numbers, or more: the rest are mistakes, and for whoever
        reads the column to refuse.
        """
        return [name for name in self.values if name not in but]

    def flags(self) -> list[str]:
        """Return the columns whose numbers are 1 and 0."""
        found = {name: {*values.drop_nulls()} for name, values in self.values.items()}
        return [name for name, values in found.items() if values and values <= {0.0, 1.0}]

    @cached_property
    def values(self) -> Mapping[str, pl.Series]:
        """The numbers at the beginning of each column of numbers; null for what is none."""
        digits = self.head.select(pl.all().str.contains(r"\d").any().fill_null(value=False))
        kinds: dict[str, Kind] = {name: "number" for name in self.columns if digits[name].item()}
        said = self.options
        forms = number_formats(self.head.lazy(), kinds, decimal=said.decimal, missing=said.missing)
        return {name: values for name, form in forms.items()
                if (values := self._numbers(name, form)) is not None}  # fmt: skip

    def _numbers(self, name: str, form: NumberFormat) -> pl.Series | None:
        """Return the numbers of a column; None if it is not meant to hold any."""
        text = pl.col(name)
        nothing = form.is_empty(text) | text.str.strip_chars().str.to_lowercase().is_in(_NOTHING)
        found = self.head.select(numeric.number(name, pl.String(), form), filled=~nothing)
        values, filled = found[name], int(found["filled"].sum())
        return values if form.unclear or 0 < _NUMBERS * filled <= values.count() else None

    def other_names(self, **found: str) -> dict[str, str]:
        """Return what has another name in the file, as options called columns say it."""
        return {ours: theirs for ours, theirs in found.items() if ours != theirs}


def table_file(
    path: str | Path,
    options: TableOptions | None = None,
    *,
    reader: Mapping[str, Any] | None = None,
    lexicon: bool = False,
) -> TableFile:
    """Look at the head of a table.

    Parameters
    ----------
    path : path
        The file.
    options : TableOptions, optional
        What is said of it.
    reader : mapping, optional
        Options of the reader.
    lexicon : bool
        Whether lines are looked at for lemma, form and features, as UniMorph writes them, even if
        the ending stands for a table.

    Raises
    ------
    ConfigError
        If there is no such file, no reader for it, or no column that is named.
    DataError
        If it cannot be read.
    """
    said = options or TableOptions()
    source, notes = _decide_format({"path": Path(path), **(reader or {})}, said, lexicon=lexicon)
    file = _file(source)
    known = file.format.options.model_fields
    own = {name: value for name, value in said.reader.items() if name in known}
    if file.format.name == "unimorph" and said.header is not None:
        own["header"] = said.header
    given = {**own, **source}
    if file.format.name == "csv" and "separator" not in given:
        separator = separator_of(file.path, skip=given.get("skip", 0))
        own |= {} if separator == "," else {"separator": separator}
    if own:
        source = {**own, **source}
        file = _file(source)
    found = TableFile(source, file, _table_head(file), said, notes)
    if file.format.name in _WITHOUT_HEADER and "columns" not in source:
        found = _detect_header(found) if said.header is None else found
        if said.header is False:
            found = _with_columns(found)
    held = found.columns
    absent = [
        Problem(f"--columns {ours}", f"{path} has no column {theirs!r}", did_you_mean(theirs, held))
        for ours, theirs in said.columns.items()
        if theirs not in held
    ]
    if absent:
        raise ConfigError("columns", absent)
    return found


def _decide_format(
    source: dict[str, Any], said: TableOptions, *, lexicon: bool
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the source of a table with its format, and notes, where its ending does not tell."""
    path = source["path"]
    named = said.format_of(path)
    if named or "format" in source or not path.is_file():
        return {**source, "format": named} if named else source, ()
    try:
        ending = format_of(path.name, kind="table").name
    except ValueError:
        ending = ""
    found: str | None = None
    if not ending:
        found = content.table_format(path)
    elif lexicon and ending == "tsv":
        lines = content.first_lines(path)
        header = bool(lines) and bool(content.unimorph_header(lines[0]))
        found = "unimorph" if content.is_unimorph(lines) and not header else None
    if not found:
        return source, ()
    note = f"{path}: read as {_KINDS.get(found, found.upper())} (--read-as reads it otherwise)"
    return {**source, "format": found}, (note,)


def require_rows(table: TableFile) -> None:
    """Refuse a table that has a header and nothing else.

    Raises
    ------
    DataError
        Naming the file.
    """
    if table.head.is_empty():
        listed = ", ".join(table.columns[:_MOST_COLUMNS])
        what = f"{table.source['path']}: the table has no rows, only the columns {listed}"
        raise DataError(f"{what}\nName a file with rows.")


def _table_head(file: SourceFile) -> pl.DataFrame:
    plan = file.format.scan(file.path, file.options)
    schema = plan.collect_schema()
    texts = [
        pl.lit(None, pl.String).alias(name) if no_plain_values(schema[name])
        else pl.col(name).cast(pl.String) for name in schema if name != "line"
    ]  # fmt: skip
    return plan.head(_LOOKED_AT).select(texts).collect()


def _detect_header(table: TableFile) -> TableFile:
    """Return a table whose first line is a row, as others are, with names for its columns.

    It is one if it has numbers where the others have numbers, and no text there; unless some of it
    is what columns are called.
    """
    if any(_plain(name) in _NAMES for name in table.columns):
        return table
    names = pl.DataFrame({name: [name] for name in table.columns})
    first = replace(table, head=names)
    numeric_columns = table.numbers() if table.head.height else first.numbers()
    if not numeric_columns or not {*numeric_columns} <= {*first.numbers()}:
        return table
    found = _with_columns(table)
    listed = ", ".join(found.columns[:_MOST_COLUMNS])
    what = f"{table.source['path']}: the first line is a row, and names no columns"
    note = f"{what}: they are called {listed} (--header if it does name them)"
    return replace(found, notes=(*found.notes, note))


def _with_columns(table: TableFile) -> TableFile:
    """Return a table without header, with names for its columns."""
    names = [f"column_{number}" for number in range(1, len(table.columns) + 1)]
    source = {**table.source, "columns": names}
    file = _file(source)
    return replace(table, source=source, file=file, head=_table_head(file))


def _file(source: Mapping[str, Any]) -> SourceFile:
    written = {**source, "path": source["path"].absolute().as_posix()}
    try:
        return find(TableSource.model_validate(written), Places(Path()), where="FILE")[0]
    except ValidationError as error:
        raise ConfigError(
            "table", [Problem("FILE", each["msg"]) for each in error.errors()]
        ) from error


def _plain(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())


def pairs(words: Sequence[str], *, option: str) -> dict[str, str]:
    """Return what ``a=b`` says, word by word.

    Raises
    ------
    ConfigError
        With each word that is none.

    Examples
    --------
    >>> pairs(["f=freq"], option="--columns")
    {'f': 'freq'}
    """
    split = [word.partition("=") for word in words]
    wrong = [Problem(option, f"{''.join(each)!r} names no column", "e.g. f=freq")
             for each in split if not all(each)]  # fmt: skip
    if wrong:
        raise ConfigError("columns", wrong)
    return {ours.strip(): theirs.strip() for ours, _, theirs in split}
