"""CoNLL-U and CoNLL-U Plus: words with attributes and heads, without ranges and empty nodes."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import accumulate
from operator import attrgetter
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from pipeline.errors import DataError
from pipeline.formats import content, lines
from pipeline.formats.base import LINE
from pipeline.formats.compression import without_suffix
from pipeline.formats.corpora import rules
from pipeline.formats.corpora.blocks import ParsedBlock, Scan, changes, count_before
from pipeline.formats.corpora.corpus_format import corpus_format
from pipeline.formats.corpora.rules import (
    ABOUT,
    ABOUT_PARAGRAPH,
    ALONE,
    BLANK,
    DOCUMENT,
    HEAD,
    LEMMA,
    NAME,
    PARAGRAPH,
    POSITION,
    RAW_HEAD,
    ROW,
    SPACE_AFTER,
    SURFACE,
    UNIT,
    LemmaOptions,
    Lemmas,
    Rule,
    Unique,
)
from pipeline.formats.lines import ByteLines, Places, Rows, Spans

# Fields and comments.

ATTRIBUTES = ("form", "lemma", "upos", "xpos", "feats", HEAD, "deprel", "deps", "misc")
ID = "~id"
FIELDS = (ID, *rules.raw(ATTRIBUTES))

LEXICAL = ("smwe", "lexcat", "lexlemma", "ss", "ss2", "wmwe", "wcat", "wlemma", "lextag")
"""The additional columns of STREUSLE's files, which do not name them."""
_LEXICAL_SUFFIX = ".conllulex"
_COLUMNS = re.compile(r"#\s*global\.columns\s*=(.*)")

NOT_A_WORD = r"^[0-9]+(?:-[0-9]+|\.[0-9]+)$"
"""The ID of a range or an empty node."""


def comment_marks(comment: pl.Expr) -> list[pl.Expr]:
    """Return `DOCUMENT`, `NAME` and `PARAGRAPH` of comments, null for others.

    Examples
    --------
    >>> lines = pl.DataFrame({"line": ["# newdoc id = a", "# newpar", "# text = b"]})
    >>> lines.select(comment_marks(pl.col("line"))).rows()
    [(True, 'a', False), (None, None, True), (None, None, None)]
    """
    event = comment.str.extract(r"^#\s*(new(?:doc|par)(?:\s.*)?)$")
    document, paragraph = event.str.starts_with("newdoc"), event.str.starts_with("newpar")
    return [
        pl.when(document).then(pl.lit(value=True)).alias(DOCUMENT),
        event.str.extract(r"\sid\s*=\s*(.*)$").str.strip_chars_end().alias(NAME),
        pl.when(event.is_not_null()).then(paragraph).alias(PARAGRAPH),
    ]


# Byte scan: fast reading of blocks without errors or rare features

_NONE = "_"


def scan_block(
    content: bytes,
    before: int,
    columns: Collection[str],
    placeholders: Sequence[str] = rules.PLACEHOLDERS,
    fields: Sequence[str] = FIELDS,
) -> ParsedBlock | None:
    """Return the contents of a block if it is certainly valid, else None.

    Parameters
    ----------
    content : bytes
        Whole sentences: UTF-8 without carriage returns.
    before : int
        Number of lines before it.
    columns : collection of str
        Requested columns, except surface forms.
    placeholders : sequence of str
        Placeholders of lemmas.
    fields : sequence of str
        Fields of a line.
    """
    if {SURFACE, SPACE_AFTER} & set(columns):
        return None
    block = _Block(ByteLines(content), before, fields)
    return block.parse(columns, placeholders) if block.is_certain() else None


@dataclass(frozen=True)
class _Block:
    """The lines of a block, and derived values."""

    lines: ByteLines
    before: int
    fields: Sequence[str]

    @cached_property
    def _is_comment(self) -> npt.NDArray[np.bool_]:
        return np.equal(self.lines.first, ord("#"))

    @cached_property
    def _row_lines(self) -> Places:
        """Lines with words, ranges or empty nodes."""
        return np.flatnonzero(self.lines.tabs == self._tabs)

    @property
    def _tabs(self) -> int:
        return len(self.fields) - 1

    def _field(self, rows: Rows, name: str) -> Spans:
        return rows.field(self.fields.index(name))

    @cached_property
    def _rows(self) -> Rows:
        return self.lines.rows(self._row_lines)

    @cached_property
    def _ids(self) -> Places:
        """The ID of each row; -1 if not a whole number."""
        return self.lines.numbers(self._rows.field(0))

    @cached_property
    def _unit(self) -> Places:
        """Number of blank lines before each row."""
        return np.cumsum(self.lines.is_blank, dtype=np.int64)[self._row_lines]

    @cached_property
    def _is_word(self) -> npt.NDArray[np.bool_]:
        return np.greater_equal(self._ids, 0)

    @cached_property
    def _words(self) -> Rows:
        return self._rows.where(self._is_word)

    @cached_property
    def _position(self) -> Places:
        return self._ids[self._is_word]

    @cached_property
    def _first(self) -> npt.NDArray[np.bool_]:
        """True for the first word of each sentence."""
        return changes(self._unit[self._is_word])

    @cached_property
    def _head(self) -> Places:
        """The head of each word; -1 if not a whole number."""
        return self.lines.numbers(self._field(self._words, RAW_HEAD))

    def is_certain(self) -> bool:
        """Return true if it satisfies all rules."""
        return self._are_lines() and self._are_in_order() and self._are_heads()

    def _are_lines(self) -> bool:
        tabs = self.lines.tabs
        bare = (tabs == 0) & (self._is_comment | self.lines.is_blank)
        return bool((bare | ((tabs == self._tabs) & ~self._is_comment)).all())

    def _are_in_order(self) -> bool:
        """Return true if words are numbered from 1 in each sentence, and other rows are valid."""
        before = np.append([0], self._position)[:-1]
        expected = np.where(self._first, 1, before + 1)
        others = self.lines.texts(self._rows.where(~self._is_word).field(0))
        shaped = others.str.contains(NOT_A_WORD).fill_null(value=False)
        return bool((self._position == expected).all() and shaped.all())

    def _are_heads(self) -> bool:
        """Return true if each head is a position in its sentence, 0 or empty."""
        if RAW_HEAD not in self.fields:
            return True
        starts = np.flatnonzero(self._first)
        sizes = np.diff(starts, append=self._position.size)
        raw = self._field(self._words.where(self._head < 0), RAW_HEAD)
        none = (raw.lengths == 0) | self.lines.is_only(raw, _NONE)
        return bool((self._head <= np.repeat(sizes, sizes)).all() and none.all())

    def parse(self, columns: Collection[str], placeholders: Sequence[str]) -> ParsedBlock:
        """Return its words, and the beginnings of documents and paragraphs."""
        sentence = np.cumsum(changes(self._unit))
        marks = self._document_marks()
        tokens = {
            LINE: self._row_lines[self._is_word] + (self.before + 1),
            "sentence": sentence[self._is_word],
            POSITION: self._position,
        }
        series = [pl.Series(name, values) for name, values in tokens.items()]
        series += [self._nth(marks, mark) for mark in (DOCUMENT, PARAGRAPH)]
        plain = {*self.fields} - {LEMMA}
        series += [self._attribute(name) for name in columns if name in plain]
        replaced: dict[str, int] = {}
        if LEMMA in columns:
            lemma, replaced = self._lemma(placeholders)
            series.append(lemma)
        if HEAD in columns:
            own = pl.Series(HEAD, self._head)
            series.append(own.set(own < 0, None))
        return ParsedBlock(
            pl.DataFrame(series),
            marks.filter(pl.col(DOCUMENT).is_not_null()).select(LINE, DOCUMENT, NAME),
            marks.filter(pl.col(PARAGRAPH).is_not_null()).select(LINE, PARAGRAPH),
            int(sentence[-1]) if sentence.size else 0,
            None,
            replaced=replaced,
        )

    def _document_marks(self) -> pl.DataFrame:
        """Return the comments that begin documents or paragraphs, by line."""
        lines = np.flatnonzero(self._is_comment)
        places = lines + (self.before + 1)
        comments = pl.DataFrame({LINE: places, ID: self.lines.texts(self.lines.whole(lines))})
        likely = comments.lazy().filter(pl.col(ID).str.contains("new", literal=True))
        marks = likely.select(LINE, *comment_marks(pl.col(ID)))
        return marks.filter(pl.col(PARAGRAPH).is_not_null()).collect()

    def _nth(self, marks: pl.DataFrame, mark: str) -> pl.Series:
        """Return the number of marks before each word."""
        lines = marks.filter(pl.col(mark).is_not_null()).get_column(LINE).to_numpy()
        return count_before(mark, lines, self._row_lines[self._is_word] + (self.before + 1))

    def _attribute(self, name: str) -> pl.Series:
        """Return a field of the words: null if empty or ``_``, unless both form and lemma are."""
        spans = self._field(self._words, name)
        none = self.lines.is_only(spans, _NONE)
        if name == "form" and LEMMA in self.fields and none.any():
            none &= ~self.lines.is_only(self._field(self._words, LEMMA), _NONE)
        return self.lines.texts(spans, ~none).alias(name)

    def _lemma(self, placeholders: Sequence[str]) -> tuple[pl.Series, dict[str, int]]:
        """Return the lemmas, with placeholders replaced by forms, and their number."""
        spans, forms = self._field(self._words, LEMMA), self._field(self._words, "form")
        own, replaced = spans, dict[str, int]()
        rows, values = self.lines.find(spans, placeholders)
        if rows.size:
            own, instead = spans.replace(rows, forms), forms.at(rows)
            form = self.lines.texts(instead, ~self.lines.is_only(instead, _NONE))
            both = (values == _NONE) & form.is_null() & pl.Series(instead.lengths > 0)
            replaced = rules.count_replaced(values.filter(~both & values.ne_missing(form)))
        none = self.lines.is_only(own, _NONE)
        if none.any():
            none &= ~(self.lines.is_only(spans, _NONE) & self.lines.is_only(forms, _NONE))
        return self.lines.texts(own, ~none).alias(LEMMA), replaced


# Surface forms: from ranges, MISC, and ``# text`` if it fits the words

_RANGE = r"^([1-9][0-9]*)-([0-9]+)$"
_NO_SPACE = r"(?:^|\|)(?:SpaceAfter=No|SpacesAfter=(?:No)?)(?:\||$)"
_TEXT = r"^#\s*text\s*=\s*(.*?)\s*$"
_KIND = pl.Struct({SURFACE: pl.String(), SPACE_AFTER: pl.String()})

Written: TypeAlias = tuple[str, str]
"""The surface of a word or range, with following white space."""


def add_surface(lines: pl.LazyFrame, *, identity: str) -> pl.LazyFrame:
    """Add `SURFACE` and `SPACE_AFTER`, if requested.

    Parameters
    ----------
    lines : LazyFrame
        Lines with their marks, form and misc.
    identity : str
        The column with ID, or a comment.
    """
    own = lines.with_columns(
        _range(pl.col(identity), 1, "~begin"), _range(pl.col(identity), 2, "~end")
    )
    is_range, comment = pl.col("~end").is_not_null(), ~pl.col(ROW) & ~pl.col(BLANK)
    text = pl.when(comment).then(identity).str.extract(_TEXT)
    form = pl.when(pl.col("form") != "_").then("form")
    known = {
        "~begin": pl.when(is_range).then("~begin").when(BLANK).then(0),
        "~end": pl.when(is_range).then("~end").when(BLANK).then(0),
        "~range": pl.when(is_range).then(form.fill_null("")).when(BLANK).then(pl.lit("")),
        "~misc": pl.when(is_range).then(pl.col("misc").fill_null("")).when(BLANK).then(pl.lit("")),
        "~sentence_text": pl.when(text.is_not_null()).then(text).when(BLANK).then(pl.lit("")),
    }
    own = own.with_columns(each.forward_fill().alias(name) for name, each in known.items())
    both = own.with_columns(_surface(), _space_after())
    columns = (UNIT, POSITION, "form", SURFACE, SPACE_AFTER, "~sentence_text")
    fitted = pl.struct(columns).map_batches(_fit_text, return_dtype=_KIND)
    names = [
        name for name in both.collect_schema().names() if name not in {*known, SURFACE, SPACE_AFTER}
    ]
    return both.with_columns(fitted.alias("~written")).select(
        *names, pl.col("~written").struct.unnest()
    )


def _range(identity: pl.Expr, group: int, name: str) -> pl.Expr:
    return identity.str.extract(_RANGE, group).cast(pl.Int64, strict=False).alias(name)


def _surface() -> pl.Expr:
    begins, inside = pl.col(POSITION) == pl.col("~begin"), _inside()
    range_ = pl.when(pl.col("~range") != "").then("~range")
    within = pl.when(range_.is_not_null()).then(pl.lit(""))
    return pl.when(begins).then(range_).when(inside).then(within).alias(SURFACE)


def _space_after() -> pl.Expr:
    """Return "" for no space; in a range, only at its last word."""
    last = pl.when(pl.col(POSITION) == pl.col("~end")).then("~misc")
    misc = pl.when(_inside()).then(last).otherwise("misc")
    return pl.when(misc.str.contains(_NO_SPACE)).then(pl.lit("")).alias(SPACE_AFTER)


def _inside() -> pl.Expr:
    return pl.col(POSITION).is_between("~begin", "~end").fill_null(value=False)


def _fit_text(lines: pl.Series) -> pl.Series:
    """Take surface and spaces from ``# text``, if it has the same characters."""
    rows = lines.struct.unnest()
    others = _find_differing(rows)
    if others.is_empty():
        return rows.select(SURFACE, SPACE_AFTER).to_struct()
    columns = {name: rows.get_column(name).to_list() for name in (SURFACE, SPACE_AFTER)}
    for numbers, words, text in others.iter_rows():
        heads = [place for place, word in enumerate(words) if word]
        parts = align([words[place] for place in heads], text) or ()
        for place, after, (part, space) in zip(
            heads, [*heads[1:], len(words)], parts, strict=False
        ):
            if part != words[place]:
                columns[SURFACE][numbers[place]] = part
            columns[SPACE_AFTER][numbers[after - 1]] = space
    return pl.DataFrame(columns, schema=dict(_KIND)).to_struct()


def _find_differing(rows: pl.DataFrame) -> pl.DataFrame:
    """Return row numbers, words and text of sentences whose text differs from the words."""
    word = pl.coalesce(SURFACE, "form", pl.lit("_")).alias("shown")
    inner = pl.when(pl.col(SURFACE).shift(-1) == "").then(pl.lit(""))  # on the last word of a range
    space = pl.coalesce(inner, SPACE_AFTER, pl.lit(" "))
    words = rows.with_row_index("row").filter(pl.col(POSITION).is_not_null())
    words = words.with_columns(word, space.alias("space"))
    sentences = words.group_by(UNIT).agg(
        text=pl.col("~sentence_text").first(),
        joined=(pl.col("shown") + pl.col("space")).str.join("").str.strip_chars_end(),
    )
    differ = sentences.filter((pl.col("text") != "") & (pl.col("text") != pl.col("joined")))
    others = words.join(differ, on=UNIT, maintain_order="left")
    listed = others.group_by(UNIT, maintain_order=True).agg("row", "shown", pl.col("text").first())
    return listed.drop(UNIT)


def align(words: Sequence[str], text: str) -> list[Written] | None:
    """Return the text of each word, and the white space after it.

    None if text and words have different characters, ignoring white space.

    Examples
    --------
    >>> align(["10000", "€", "."], "10 000 €.")
    [('10 000', ' '), ('€', ''), ('.', '')]
    >>> align(["do", "not"], "don't") is None
    True
    """
    sizes = [len("".join(word.split())) for word in words]
    if "".join("".join(words).split()) != "".join(text.split()) or not all(sizes):
        return None
    solid = [place for place, sign in enumerate(text) if not sign.isspace()]
    starts = [0, *accumulate(sizes)]
    ends = [solid[start - 1] + 1 for start in starts[1:]]
    begins = [*(solid[start] for start in starts[:-1]), len(text)]
    return [
        (text[begin:end], text[end:after])
        for begin, end, after in zip(begins, ends, begins[1:], strict=False)
    ]


_SENT_ID = r"^#\s*sent_id\s*=\s*(.*?)\s*$"
_UNKNOWN = -1


class ConlluOptions(LemmaOptions):
    """Options for CoNLL-U files."""

    unique_sent_id: bool = False
    """Report a duplicate ``# sent_id`` within a file as an error."""
    metadata: tuple[str, ...] = ()
    """Further comment keys (``# key = value``) to read as attributes.
    """
    columns: tuple[str, ...] = ()
    """Column names, ``id`` first, of a file with non-standard columns (default: from ``#
    global.columns``).
    """


@dataclass(frozen=True)
class Layout:
    """The options of a file, and its columns in order: `ID`, then attributes."""

    options: ConlluOptions
    fields: tuple[str, ...] = FIELDS
    keys: tuple[tuple[str, str], ...] = ()

    @property
    def attributes(self) -> tuple[str, ...]:
        """Attributes of a token."""
        own = (HEAD if name == RAW_HEAD else name for name in self.fields[1:])
        return (*own, SURFACE, SPACE_AFTER, *(name for name, _ in self.keys))

    @property
    def patterns(self) -> dict[str, str]:
        """Regular expressions of comments by attribute."""
        return {name: _pattern_of(key) for name, key in self.keys}


def _find_layout(path: Path, options: ConlluOptions) -> Layout:
    """Find the columns, from options, first line or extension, and the metadata keys."""
    lines.require_matching_suffix(path)
    begin = content.first_lines(path)
    fields = FIELDS
    if options.columns:
        fields = _fields(path, options.columns, "columns = [...]")
    elif match := _COLUMNS.match(next(iter(begin), "")):
        fields = _fields(path, match[1].split(), "line 1")
    elif without_suffix(path.name).lower().endswith(_LEXICAL_SUFFIX):
        fields = (*FIELDS, *LEXICAL)
    return Layout(options, fields, tuple(_keys(begin, options, fields).items()))


# Metadata: comments as attributes

_KEYS = ("sent_id", "newdoc id", "newpar id")
"""Keys of Universal Dependencies, attributes of every file."""
_KEY = re.compile(r"#\s*([^=\s](?:[^=]*[^=\s])?)\s*=")
_OF_SENTENCE = r"^#\s*(?:newpar|sent_id|text)\b"
"""Comments after which metadata belongs to a sentence instead of its document."""


def _keys(begin: Sequence[str], options: ConlluOptions, fields: Sequence[str]) -> dict[str, str]:
    """Return comment keys by attribute, except names in use."""
    own = (comment[1] for line in begin if (comment := _KEY.match(line)))
    names = {*fields, *rules.PLACE, "file", HEAD, SURFACE, SPACE_AFTER, "global_columns"}
    keys = dict[str, str]()
    for key in (*_KEYS, *options.metadata, *own):
        keys.setdefault(_attribute_of(key), key)
    return {name: key for name, key in keys.items() if name and name not in names}


def _attribute_of(key: str) -> str:
    """Return the attribute name of a key: lower case, ``newdoc id`` as newdoc."""
    name = re.sub(r"\W+", "_", key.lower().removesuffix(" id") if key in _KEYS else key.lower())
    return name.strip("_")


def _pattern_of(key: str) -> str:
    """Return the regular expression for the value of a key, in any spelling."""
    between = r"(?:[^\w=]|_)"
    words = rf"{between}+".join(re.findall(r"[^\W_]+", key))
    return rf"(?i)^#{between}*{words}{between}*=\s*(.*?)\s*$"


def about_documents(comment: pl.Expr) -> list[pl.Expr]:
    """Return `ABOUT` and `ABOUT_PARAGRAPH` of comments.

    Comments after ``# newdoc`` describe the document, up to the first comment of a sentence.

    Parameters
    ----------
    comment : Expr
        The comment; null on other lines.
    """
    begins = comment.str.contains(r"^#\s*newdoc\b")
    ends = comment.str.contains(_OF_SENTENCE) | comment.is_null()
    inside = pl.when(begins).then(pl.lit(value=True)).when(ends).then(pl.lit(value=False))
    about = inside.forward_fill().fill_null(value=False)
    paragraph = comment.str.contains(r"^#\s*newpar\b")
    return [
        pl.when(about).then(comment).alias(ABOUT),
        pl.when(paragraph).then(comment).alias(ABOUT_PARAGRAPH),
    ]


def sentence_metadata(comment: pl.Expr, patterns: Mapping[str, str]) -> list[pl.Expr]:
    """Return the comments of each sentence, on all its lines."""
    own = pl.when(pl.col(ABOUT).is_null() & pl.col(ABOUT_PARAGRAPH).is_null()).then(comment)
    return [
        own.str.extract(pattern).drop_nulls().first().over(UNIT).alias(name)
        for name, pattern in patterns.items()
    ]


def _fields(path: Path, columns: Sequence[str], place: str) -> tuple[str, ...]:
    """Return attribute names of columns: lower case, with underscores for colons."""
    names = tuple(re.sub(r"\W+", "_", name.lower()) for name in columns)
    try:
        rules.check_names(names)
        if names[:1] != ("id",) or "form" not in names:
            raise ValueError("the first column must be ID, and another must be FORM")
    except ValueError as error:
        listed = ", ".join(columns)
        advice = 'Name them: columns = ["id", "form", "lemma", ...]'
        raise DataError(f"{path}: {place}: the columns {listed}: {error}\n{advice}") from error
    return (ID, *rules.raw(names[1:]))


def _cut(content: bytes, _layout: Layout) -> int:
    return rules.after_blank_line(content)


def _rules(_layout: Layout) -> list[Rule]:
    """Return the rules of ID."""
    identity, first = pl.col(ID), rules.first_in_unit()
    word = pl.col(POSITION).is_not_null()
    shaped = pl.when(~word).then(identity).str.contains(NOT_A_WORD)
    unknown = ~shaped.fill_null(value=False)  # except words, which come first
    number = pl.when(word).then(POSITION).when(unknown).then(_UNKNOWN).when(first).then(0)
    before = number.forward_fill().shift()
    expected = pl.when(first).then(1).when(before >= 0).then(before + 1)
    twice = pl.when(pl.col(POSITION).is_between(1, expected - 1)).then(pl.lit("duplicate ID"))
    order = pl.lit("not the ID ") + expected.cast(pl.String) + " that should follow"
    order = twice.otherwise(order)
    return [
        Rule(~shaped | identity.is_null(), "ID is not a number, range or decimal", ID),
        Rule(pl.col(POSITION) != expected, order, ID),
    ]


def _unique(layout: Layout) -> Unique | None:
    name = pl.col(ID).str.extract(_SENT_ID)
    has_name = ~pl.col(ROW) & pl.col(ALONE) & name.is_not_null()
    is_required = layout.options.unique_sent_id
    return Unique([name], "duplicate sent_id", name, has_name) if is_required else None


def _scan(layout: Layout) -> Scan | None:
    own = partial(scan_block, placeholders=layout.options.placeholders, fields=layout.fields)
    return None if layout.options.unique_sent_id else own


def _lemmas(layout: Layout) -> Lemmas | None:
    return Lemmas("form", layout.options.placeholders) if LEMMA in layout.fields else None


@corpus_format(
    "conllu",
    suffixes=[".conllu", ".conll", ".conllup", ".cupt", _LEXICAL_SUFFIX],
    cut=_cut,
    between=b"\n",
    attributes=attrgetter("attributes"),  # lambdas cannot be pickled for other machines
    fields=attrgetter("fields"),
    rules=_rules,
    unique=_unique,
    scan=_scan,
    options=ConlluOptions,
    layout=_find_layout,
    lemmas=_lemmas,
    metadata=attrgetter("patterns"),
    remedy="set columns = [...] for other columns, or"
    ' format = "vertical" for a word and its tag on each line',
)
def conllu_rows(lines: pl.LazyFrame, layout: Layout) -> pl.LazyFrame:
    """CoNLL-U: one row per word, without multiword ranges and empty nodes.

    ``_`` and empty fields are null, except for tokens with both form and lemma ``_``. Placeholders
    of lemmas are replaced by the form, see `placeholders`. ``# newdoc`` begins a document, named by
    its number (``#2``) without an id, and ``# newpar`` a paragraph.

    In CoNLL-U Plus, the first line names the columns: ``# global.columns = ID FORM ...
    PARSEME:MWE`` gives the attributes ``form`` ... ``parseme_mwe``.

    References
    ----------
    https://universaldependencies.org/format.html; CoNLL-U Plus: .../ext-format.html
    """
    fields = layout.fields
    lines = lines.with_columns(
        pl.lit(None, pl.String()).alias(name) for name in (LEMMA, "misc") if name not in fields
    )
    is_comment = pl.col(ID).str.starts_with("#").fill_null(value=False)
    form, lemma = pl.col("form"), pl.col("lemma")
    plain = [name for name in fields if name not in {ID, RAW_HEAD, "form", LEMMA}]
    known = pl.when((lemma != "_") | (form == "_")).then(lemma)
    comment = pl.when(is_comment).then(ID)
    marked = lines.with_columns(
        pl.col(BLANK).cum_sum().alias(UNIT),
        (~pl.col(BLANK) & ~is_comment).alias(ROW),
        pl.col(ID).cast(pl.Int64, strict=False).alias(POSITION),
        *comment_marks(comment),
        *about_documents(comment),
        pl.when((form != "_") | (lemma == "_")).then(form),
        lemma if _NONE in layout.options.placeholders else known,
        *(pl.when(pl.col(name) != "_").then(name) for name in plain),
    )
    metadata = sentence_metadata(comment, layout.patterns)
    return add_surface(marked.with_columns(metadata), identity=ID)
