"""TEI XML: words or running text of bodies, with title, author, date and language."""

from __future__ import annotations

import codecs
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from xml.parsers import expat

import polars as pl

from pipeline.errors import DataError
from pipeline.formats import lines, unicode
from pipeline.formats.base import LINE, Batch, SkippedPart, reader
from pipeline.formats.compression import open_bytes
from pipeline.formats.corpora import rules
from pipeline.formats.corpora.blocks import SIGN, FrameBlock, Grammar
from pipeline.formats.corpora.languages import (
    CODES,
    NO_RULES,
    WITHOUT_BLANKS,
    guess_language,
    language_name,
)
from pipeline.formats.corpora.plain_text import (
    LANGUAGE,
    SPLITTER,
    TOKEN,
    LanguageCode,
    TextLayout,
    TextOptions,
    text_rows,
)
from pipeline.formats.corpora.rules import (
    DOCUMENT,
    ENTRY,
    NAME,
    PARAGRAPH,
    ROW,
    SOME,
    SPACE_AFTER,
    UNIT,
    Attributes,
    CuttingPattern,
    LemmaOptions,
    Pattern,
)
from pipeline.formats.corpora.splitting import CorpusFile
from pipeline.formats.lines import TEXT

# Elements

_DOCUMENTS = {"TEI", "TEI.2"}
_PARTS = {"front", "body", "back"}
_ROOTS = {*_DOCUMENTS, "teiCorpus", "teiCorpus.2"}
_BLOCKS = """
    ab annotationBlock argument byline castGroup castItem castList cell closer dateline
    div div0 div1 div2 div3 div4 div5 div6 div7 docAuthor docDate docEdition docImprint docTitle
    epigraph epilogue figure floatingText group head imprimatur item label lg list opener p
    performance postscript prologue row salute set signed sp spGrp speaker stage table text
    titlePage titlePart trailer u
"""
_PARAGRAPHS = frozenset(_BLOCKS.split())
"""Elements that end a paragraph at their beginning and end."""
_BREAKS = {"lb", "pb", "cb", "gb", "milestone"}
_OTHER_READINGS = {"sic", "orig", "abbr", "am"}
"""Alternatives in a `choice` to corrected, regular and full forms."""
_WORDS = {"w", "pc"}
_METADATA = ("title", "author", "date", "language")
_OUTSIDE = "text outside w"
ELEMENT = "element "
"""Prefix for counts of skipped elements."""

_CODES = {
    "eng": "en", "deu": "de", "ger": "de", "fra": "fr", "fre": "fr", "ita": "it", "spa": "es",
    "por": "pt", "nld": "nl", "dut": "nl", "cat": "ca", "ces": "cs", "cze": "cs", "dan": "da",
    "swe": "sv", "nor": "no", "nob": "nb", "fin": "fi", "hun": "hu", "pol": "pl", "rus": "ru",
    "ukr": "uk", "ell": "el", "gre": "el", "ron": "ro", "rum": "ro", "slv": "sl", "slk": "sk",
    "hrv": "hr", "srp": "sr", "bul": "bg", "tur": "tr", "lit": "lt", "lav": "lv", "est": "et",
    "zho": "zh", "chi": "zh", "jpn": "ja", "tha": "th", "oci": "oc",
}  # fmt: skip
"""ISO 639-2 to ISO 639-1."""


def language_code(language: str | None) -> str:
    """Return the ISO 639-1 code of a language in a header; "" without rules.

    Examples
    --------
    >>> language_code("fr-CA"), language_code("deu"), language_code("la"), language_code(None)
    ('fr', 'de', '', '')
    """
    first = (language or "").lower().replace("_", "-").partition("-")[0]
    code = _CODES.get(first, first)
    return code if code in CODES else ""


class TeiOptions(LemmaOptions):
    """Options for TEI XML."""

    attributes: Attributes = ("lemma", "pos", "msd")
    """Attributes of ``w`` and ``pc`` elements to read as token attributes."""
    parts: tuple[Literal["front", "body", "back"], ...] = ("body",)
    """Parts of a text to read."""
    skip: tuple[str, ...] = ("note", "fw", "del", "figDesc")
    """Elements to skip with their content, besides ``sic``, ``orig``, ``abbr`` in a ``choice``."""
    language: LanguageCode = ""
    """ISO 639-1 code; "" takes it from the header or detects it, "none" applies no rules.
    """
    tokenizer: Literal["pattern", "icu"] = "pattern"
    """As for plain text."""
    tokens: Pattern = TOKEN
    """As for plain text."""
    splitter: CuttingPattern = SPLITTER
    """As for plain text."""
    abbreviations: tuple[str, ...] = ()
    """As for plain text."""
    clitics: Literal["auto", "split", "keep"] = "auto"
    """As for plain text."""

    def text(self) -> TextOptions:
        """Return the options for plain text."""
        own = {name: getattr(self, name) for name in TextOptions.model_fields if name in _SHARED}
        return TextOptions(**own)


_SHARED = frozenset(TextOptions.model_fields) & frozenset(TeiOptions.model_fields)


# Contents of elements: running text, sentences or words


@dataclass
class _Document:
    """The metadata of the document being read."""

    name: str = ""
    about: dict[str, list[str]] = field(default_factory=dict)
    date: tuple[int, str] | None = None
    fresh: bool = True
    code: str | None = None

    def metadata(self) -> dict[str, str | None]:
        """Return title, author, date and language; null if missing."""
        own = {name: "; ".join(self.about.get(name, ())) or None for name in _METADATA}
        return own | {"date": self.date[1] if self.date else None}


@dataclass
class _Word:
    """The word being read."""

    attributes: dict[str, str | None]
    join: str
    pieces: list[str] = field(default_factory=list)
    inner: bool = False


@dataclass(frozen=True)
class _Token:
    """A word: form, attributes in order, and true if joined to the previous word.

    None means preceding white space, False no evidence.
    """

    form: str
    values: tuple[str | None, ...]
    glued: bool | None


@dataclass(frozen=True)
class _Entry:
    """A paragraph or sentence before tokenization: its text or words."""

    line: int
    text: str
    words: tuple[_Token, ...]
    kind: Literal["split", "line"]
    paragraph: bool
    begins: bool
    document: _Document


class _Reader:
    """Parses a file in pieces, and returns completed entries."""

    def __init__(self, path: Path, options: TeiOptions) -> None:
        self._path, self._options = path, options
        self._open: list[str] = []
        self._header: list[str] | None = None
        self._ignored: int = 0
        self._texts = self._inside = 0
        self._sentence = False
        self._fresh = True
        self._pieces: list[str] = []
        self._value: list[str] = []
        self._words: list[_Token] = []
        self._word: list[_Word] = []
        self._join = ""
        self._gap = False
        self._line = 1
        self._document = _Document()
        self._entries: list[_Entry] = []
        self.size = 0
        self.replaced: Counter[str] = Counter()
        self._parser = self._make_parser()

    def _make_parser(self) -> expat.XMLParserType:
        parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text
        parser.EntityDeclHandler = self._refuse_entity
        parser.DefaultHandler = self._other
        return parser

    def feed(self, content: bytes, *, last: bool) -> None:
        """Parse a piece."""
        try:
            self._parser.Parse(content, last)
        except expat.ExpatError as error:
            what = expat.ErrorString(error.code)
            raise DataError(
                f"{self._path}: line {error.lineno}, character {error.offset + 1}: not well-formed "
                f"XML: {what}\nCorrect it there; an XML editor or validator finds all errors."
            ) from error

    def _refuse_entity(self, name: str, *_: object) -> None:
        raise DataError(
            f"{self._place()} entity declarations ({name!r}) are not allowed, since they can "
            "expand without limit or read other files\nReplace entities by their text, with an "
            "XML tool that resolves them."
        )

    def _place(self) -> str:
        return f"{self._path}: line {self._parser.CurrentLineNumber}:"

    def _other(self, data: str) -> None:
        if data.startswith("&") and data.endswith(";"):
            raise DataError(
                f"{self._place()} the entity {data} is declared in another file, which is not read"
                "\nReplace it by the character, with an XML tool that reads this file."
            )

    # Elements

    def _start(self, tag: str, attributes: Mapping[str, str]) -> None:
        name = tag.rpartition(":")[2]
        if not self._open and name not in _ROOTS:
            raise DataError(
                f"{self._place()} the first element is <{tag}>, so this is not TEI\nUse a TEI "
                "file, or convert it to text."
            )
        above = self._open[-1] if self._open else ""
        self._open.append(name)
        if self._ignored:
            self._ignored += 1
        elif self._header is not None:
            self._header.append(name)
            self._start_header(attributes)
        elif name == "teiHeader":
            self._header = []
        elif name in _DOCUMENTS:
            self._document = _Document(attributes.get("xml:id", ""))
            self._add_language(attributes)
        elif name == "text":
            self._texts += 1
            self._add_language(attributes)
        elif name in _PARTS and self._texts:
            self._flush(paragraph=True)
            self._inside += name in self._options.parts
            self._ignored = name not in self._options.parts
        elif self._inside:
            self._start_text(name, above, attributes)

    def _start_text(self, name: str, above: str, attributes: Mapping[str, str]) -> None:
        if name in self._options.skip or (above == "choice" and name in _OTHER_READINGS):
            self._ignored = 1
            self.replaced[ELEMENT + name] += 1
        elif name in _WORDS:
            self._line = self._line if self._words else self._parser.CurrentLineNumber
            known = {each: attributes.get(each) or None for each in self._options.attributes}
            self._word.append(_Word(known, attributes.get("join", "")))
        elif name in _BREAKS:
            if attributes.get("break") != "no" and not self._word:
                self._pieces.append(" ")
        elif name == "s":
            self._flush()
            self._sentence = True
        elif name in _PARAGRAPHS:
            self._flush(paragraph=True)

    def _end(self, tag: str) -> None:
        name = tag.rpartition(":")[2]
        self._open.pop()
        if self._ignored:
            self._ignored -= 1
        elif self._header is not None:
            if self._header:
                self._end_header()
                self._header.pop()
            else:
                self._header = None
        elif name == "text":
            self._texts -= 1
        elif name in _PARTS and self._inside:
            self._flush(paragraph=True)
            self._inside -= 1
        elif self._inside:
            self._end_text(name)

    def _end_text(self, name: str) -> None:
        if name in _WORDS:
            self._end_word()
        elif name == "s":
            self._flush()
            self._sentence = False
        elif name in _PARAGRAPHS:
            self._flush(paragraph=True)
        elif name == "l":
            self._pieces.append(" ")

    def _end_word(self) -> None:
        word = self._word.pop()
        form = " ".join("".join(word.pieces).split())
        if self._word:
            self._word[-1].inner = True
        if word.inner or not form:
            return
        joined = word.join in {"left", "both"} or self._join in {"right", "both"}
        glued = True if joined else None if self._gap else False
        values = tuple(word.attributes[name] for name in self._options.attributes)
        self._words.append(_Token(form, values, glued))
        self._join, self._gap = word.join, False

    def _text(self, data: str) -> None:
        if self._ignored or (self._header is None and not self._inside):
            return
        if self._header is not None:
            self._value.append(data)
        elif self._word:
            self._word[-1].pieces.append(data)
        else:
            self._pieces.append(data)
            self._gap = self._gap or data[:1].isspace() or data[-1:].isspace()

    # Headers

    def _start_header(self, attributes: Mapping[str, str]) -> None:
        self._value = []
        path = "/".join(self._header or ())
        if path.endswith("langUsage/language"):
            self._add_language({"xml:lang": attributes.get("ident", "")})
        elif path.endswith("/date") and attributes.get("when"):
            self._add_date(path, attributes["when"])

    def _end_header(self) -> None:
        path, value = "/".join(self._header or ()), " ".join("".join(self._value).split())
        about = self._document.about
        if path == "fileDesc/titleStmt/title" and value:
            about.setdefault("title", [value])
        elif path == "fileDesc/titleStmt/author" and value:
            about.setdefault("author", []).append(value)
        elif path.endswith("/date") and value:
            self._add_date(path, value)
        self._value = []

    def _add_date(self, path: str, value: str) -> None:
        """Keep the first date of highest rank: creation, source, publication."""
        places = ("profileDesc/creation/", "fileDesc/sourceDesc/", "fileDesc/publicationStmt/")
        rank = next((rank for rank, each in enumerate(places) if path.startswith(each)), None)
        known = self._document.date
        if rank is not None and (known is None or rank < known[0]):
            self._document.date = (rank, value)

    def _add_language(self, attributes: Mapping[str, str]) -> None:
        if code := attributes.get("xml:lang"):
            self._document.about.setdefault("language", [code])

    # Entries

    def _flush(self, *, paragraph: bool = False) -> None:
        """Complete the present paragraph or sentence."""
        text, words = "".join(self._pieces).split(), tuple(self._words)
        self._pieces, self._words, self._join, self._gap = [], [], "", False
        if words and text:
            self.replaced[ELEMENT + _OUTSIDE] += 1
        if words or text:
            document, own = self._document, "" if words else " ".join(text)
            kind: Literal["split", "line"] = "line" if self._sentence else "split"
            self._entries.append(
                _Entry(self._line, own, words, kind, self._fresh, document.fresh, document)
            )
            self.size += sum(map(len, text)) + sum(len(word.form) for word in words)
            self._fresh = document.fresh = False
        self._fresh = self._fresh or paragraph
        self._line = self._parser.CurrentLineNumber

    def take(self) -> list[_Entry]:
        """Return entries completed since the last call."""
        entries, self._entries, self.size = self._entries, [], 0
        return entries


# Rows: entries as tokens


@dataclass(frozen=True)
class _Rows:
    """Converts entries to rows."""

    path: Path
    options: TeiOptions
    names: Collection[str] | None = None

    @property
    def columns(self) -> list[str]:
        """The requested attributes of tokens."""
        every = [*self._lists, *_METADATA]
        return [name for name in every if self.names is None or name in {*self.names, "form"}]

    @property
    def _lists(self) -> list[str]:
        """The attributes of individual words."""
        return ["form", *self.options.attributes, SPACE_AFTER]

    def schema(self) -> pl.Schema:
        """Return the columns of the rows."""
        texts, lists = pl.String(), pl.List(pl.String())
        own = {name: texts if name in _METADATA else lists for name in self.columns}
        places = {LINE: pl.Int64(), ENTRY: pl.Int64(), UNIT: pl.UInt32(), NAME: texts}
        marks = dict.fromkeys([ROW, SOME, DOCUMENT, PARAGRAPH], pl.Boolean())
        return pl.Schema({**places, **own, **marks})

    def make(self, entries: Sequence[_Entry], before: int, replaced: Counter[str]) -> pl.DataFrame:
        """Return the rows of some entries, one per sentence, with the columns of `schema`."""
        numbered = list(enumerate(entries, start=before))
        groups: dict[tuple[str, str], list[tuple[int, _Entry]]] = {}
        for number, entry in numbered:
            if not entry.words:
                code = self._code(entry.document, entries, replaced)
                groups.setdefault((code, entry.kind), []).append((number, entry))
        parts = [self._of_text(code, kind, own, replaced) for (code, kind), own in groups.items()]
        parts.append(self._of_words([each for each in numbered if each[1].words], replaced))
        rows = pl.concat(parts).sort(ENTRY, maintain_order=True).with_row_index(UNIT)
        first = pl.col(ENTRY).ne_missing(pl.col(ENTRY).shift())
        marked = rows.join(_about(numbered), on=ENTRY, how="left", maintain_order="left")
        marks = [pl.when(first).then(name) for name in (DOCUMENT, PARAGRAPH, NAME)]
        return marked.with_columns(marks).select(*self.schema())

    def _code(self, document: _Document, entries: Sequence[_Entry], replaced: Counter[str]) -> str:
        """Return the code of a document's language: from options, header or text."""
        if document.code is None:
            code = self.options.language or language_code(document.metadata()["language"])
            if not code:
                own = " ".join(each.text for each in entries if each.document is document)
                code = guess_language(own[:_FOR_LANGUAGE])
                replaced[LANGUAGE + language_name(code)] += 1
            document.code = code
            self._require_blanks(code)
        return document.code

    def _require_blanks(self, code: str) -> None:
        usual = self.options.tokenizer == "pattern" and self.options.tokens == TOKEN
        if usual and code in WITHOUT_BLANKS:
            raise DataError(
                f"{self.path}: {language_name(code)} is written without blanks between words, and"
                ' there are no <w> elements\nUse a tokenizer: tokenizer = "icu". To read text'
                f' between blanks as one word: language = "{NO_RULES}".'
            )

    def _of_text(
        self, code: str, kind: str, own: Sequence[tuple[int, _Entry]], replaced: Counter[str]
    ) -> pl.DataFrame:
        sentences: Literal["split", "line"] = "line" if kind == "line" else "split"
        layout = TextLayout(self.options.text(), code, sentences, 0)
        frame = pl.LazyFrame({
            LINE: [entry.line for _, entry in own], ENTRY: [number for number, _ in own],
            TEXT: [self._normal(entry.text, replaced) for _, entry in own],
        })  # fmt: skip
        size = pl.col("form").list.len()
        nothing = pl.lit(None, pl.String()).repeat_by(size)
        rows = text_rows(frame, layout).with_columns(
            nothing.alias(name) for name in self.options.attributes
        )
        return rows.select(self._column_names()).collect()

    def _column_names(self) -> list[str]:
        own = [name for name in self.columns if name not in _METADATA]
        return [LINE, ENTRY, *own, SOME, ROW]

    def _of_words(self, own: Sequence[tuple[int, _Entry]], replaced: Counter[str]) -> pl.DataFrame:
        names = self.options.attributes
        every = ("form", *names, SPACE_AFTER)
        lists: dict[str, list[list[str | None]]] = {name: [] for name in every}
        for _, entry in own:
            forms = [self._normal(word.form, replaced) for word in entry.words]
            lists["form"].append([*forms])
            for place, name in enumerate(names):
                values = [word.values[place] for word in entry.words]
                lists[name].append(
                    self._lemmas(values, forms, replaced) if name == rules.LEMMA else values
                )
            lists[SPACE_AFTER].append(_spaces(entry.words))
        kind = pl.List(pl.String())
        places = {LINE: [entry.line for _, entry in own], ENTRY: [number for number, _ in own]}
        schema = {LINE: pl.Int64(), ENTRY: pl.Int64(), **dict.fromkeys(lists, kind)}
        rows = pl.DataFrame({**places, **lists}, schema=schema)
        yes = pl.lit(value=True)
        return rows.with_columns(yes.alias(SOME), yes.alias(ROW)).select(self._column_names())

    def _lemmas(
        self, values: Sequence[str | None], forms: Sequence[str], replaced: Counter[str]
    ) -> list[str | None]:
        """Return lemmas, with placeholders replaced by forms."""
        none = self.options.placeholders
        for value, form in zip(values, forms, strict=True):
            if value in none and value != form:
                replaced[f"{rules.LEMMA} {value}"] += 1
        return [
            form if value in none else value if value is None else self._normal(value, Counter())
            for value, form in zip(values, forms, strict=True)
        ]

    def _normal(self, text: str, replaced: Counter[str]) -> str:
        if self.options.normalise == "none":
            return text
        counts: Counter[str] = Counter()
        normal = unicode.normalise(text, counts)
        replaced.update({SIGN + kind: number for kind, number in counts.items()})
        return normal


_FOR_LANGUAGE = 1 << 17
"""Number of characters used for language detection."""


def _spaces(words: Sequence[_Token]) -> list[str | None]:
    """Return the text after each word: empty if joined.

    A sentence without any white space between words has no evidence of spacing, so spaces are
    assumed.
    """
    after = [word.glued for word in words[1:]]
    has_evidence = any(glued is not False for glued in after)
    return [*("" if glued or (has_evidence and glued is False) else None for glued in after), None]


def _about(entries: Sequence[tuple[int, _Entry]]) -> pl.DataFrame:
    """Return the marks and document of each entry."""
    rows = [
        (
            number, entry.document.name, entry.begins or None, entry.paragraph or None,
            *entry.document.metadata().values(),
        )
        for number, entry in entries
    ]  # fmt: skip
    schema = {
        ENTRY: pl.Int64(), NAME: pl.String(), DOCUMENT: pl.Boolean(), PARAGRAPH: pl.Boolean(),
        **dict.fromkeys(_METADATA, pl.String()),
    }  # fmt: skip
    return pl.DataFrame(rows, schema=schema, orient="row")


_BLANK = codecs.BOM_UTF8 + b" \t\r\n"
"""Bytes of a file without text."""
_SHARE, _LEAST = 4, 1 << 16
"""Share of the usual bytes read at a time: text between tags needs more memory."""


def _blocks(maker: _Rows, size: int) -> Iterator[FrameBlock]:
    """Yield the rows of a file in blocks that end with a paragraph or sentence; if empty, none."""
    path, size = maker.path, max(size // _SHARE, min(size, _LEAST))
    lines.require_matching_suffix(path)
    xml, before = _Reader(path, maker.options), 0
    with open_bytes(path) as file:
        content = file.read(size)
        blank = True
        while True:
            more = file.read(size)
            blank = blank and not content.strip(_BLANK)
            if blank and not more:
                return
            xml.feed(content, last=not more)
            if xml.size >= size or not more:
                entries = xml.take()
                replaced = +xml.replaced
                xml.replaced.clear()
                rows = maker.make(entries, before, replaced)
                before += len(entries)
                yield FrameBlock(rows, replaced=replaced)
            if not more:
                return
            content = more


def _open(path: Path, options: TeiOptions, names: Collection[str] | None = None) -> CorpusFile:
    maker = _Rows(path, options, names)
    empty = pl.LazyFrame(schema=maker.schema())
    grammar = Grammar(
        rows=lambda query: query if ENTRY in query.collect_schema() else empty,
        attributes=maker.columns,
    )
    return CorpusFile(path, lambda size: _blocks(maker, size), grammar, options.lenient)


def _check(path: Path, options: TeiOptions) -> Sequence[SkippedPart]:
    return _open(path, options).check()


def _read(path: Path, options: TeiOptions, columns: Sequence[str], size: int) -> Iterator[Batch]:
    return _open(path, options, columns).batches(columns, size)


@reader(
    "tei", suffixes=[".xml", ".tei"], check=_check, options=TeiOptions, kind="corpus", read=_read
)
def scan_tei(path: Path, options: TeiOptions) -> pl.LazyFrame:
    """TEI XML: the bodies of texts, tokenized or with word markup.

    ``w`` and ``pc`` are tokens, ``s`` are sentences. Text without such markup is tokenized and
    split like plain text. A ``TEI`` element is a document named by its ``xml:id``; ``title``,
    ``author``, ``date`` and ``language`` of its header are attributes of its tokens. Entity
    declarations are an error.

    References
    ----------
    https://tei-c.org/release/doc/tei-p5-doc/en/html/
    """
    return _open(path, options).scan()
