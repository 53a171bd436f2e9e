"""Plain text: language, lines, sentences by language rules, tokens by regular expression."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Literal

import polars as pl
from pydantic import AfterValidator

from pipeline.errors import (
    ConfigError,
    DataError,
    LexassayError,
    Problem,
    did_you_mean,
)
from pipeline.formats.base import CorpusOptions, reading
from pipeline.formats.compression import open_bytes
from pipeline.formats.corpora import rules
from pipeline.formats.corpora.blocks import BOM
from pipeline.formats.corpora.corpus_format import corpus_format
from pipeline.formats.corpora.languages import (
    CODES,
    NO_RULES,
    WITHOUT_BLANKS,
    Language,
    abbreviation_patterns,
    guess_language,
    language_name,
    language_of,
    number_patterns,
)
from pipeline.formats.corpora.rules import (
    DOCUMENT,
    NAME,
    PARAGRAPH,
    ROW,
    SOME,
    SPACE_AFTER,
    UNIT,
    CuttingPattern,
    NamingPattern,
    Pattern,
    readable,
)
from pipeline.formats.lines import TEXT
from pipeline.formats.unicode import normalise
from pipeline.release import install_text

_WORD = r"[\pL\pM\pN][\pL\pM\pN\x{AD}\x{200C}\x{200D}]*"
TOKEN = rf"\pN+(?:[.,]\pN+)+|{_WORD}(?:['’‐‑-]{_WORD})*|[^\s\pL\pM\pN\pC]"
"""Numbers with inner points or commas; words, with inner apostrophes or hyphens; any other visible
character.
"""
_MARKS = ".!?…‼⁇⁈⁉؟۔։።।॥။។"
_CLOSE = r"""(?:["'“”‘’«»‹›)\]}_*]|\s[»›])"""
_OPEN = r"""["'“”„‘’‚«»‹›(\[{¿¡—–_*-]"""
"""Most quotation marks open in some languages and close in others: «so» and »so«, “so” and „so“."""
_BEGIN = r"[\p{Lu}\p{Lt}\p{Lo}\pN]"
SPLITTER = rf"((?:[{_MARKS}]){_CLOSE}*)\s+((?:{_OPEN}\s?)*{_BEGIN})"
"""An end mark with closing marks, white space, then a capital letter or digit (any letter, in
scripts without capitals).
"""
_IDEOGRAPHIC = r"""([。！？｡]+[」』”’"'）》】]*)([^\n])"""
"""End marks without following white space."""

BETWEEN_SPACES = r"\S+"
"""Regular expression for text between white space."""
_NOT_ALONE = r"[^\S ]|  "

_NOTHING = pl.lit(None, pl.String())
_SENTENCE, _TOKENS = "~sentence", "~tokens"
_STOP = "\x01"
"""Replaces the full stop of an abbreviation, which neither ends a sentence nor is a token."""
_CUT = "\x03"
"""Zero-width separator between a word and its clitic."""
_ENGLISH_CLITIC = r"(?i)(\pL)(n['’]t|['’](?:s|re|ve|ll|d|m))\b"


# Options


def _check_language(code: str) -> str:
    if code and code not in {NO_RULES, *CODES}:
        raise ValueError(f"unknown language {code!r}; {did_you_mean(code, CODES)}")
    return code


LanguageCode = Annotated[str, AfterValidator(_check_language)]


class TextOptions(CorpusOptions):
    """Options for plain text."""

    language: LanguageCode = ""
    """ISO 639-1 code; "" detects it, "none" applies no rules."""
    tokenizer: Literal["pattern", "icu"] = "pattern"
    """"pattern": tokens match `tokens`. "icu": ICU word breaks, with dictionaries for Chinese,
    Japanese, Thai, Khmer, Lao and Burmese; requires the package icu4py.
    """
    tokens: Pattern = TOKEN
    """Regular expression of tokens. Default: numbers, words with inner apostrophes or hyphens,
    other single characters.
    """
    sentences: Literal["line", "split", "wrapped", "auto"] = "line"
    """"line": each line is a sentence. "split": each line is a paragraph, split into sentences by
    `splitter`. "wrapped": paragraphs are separated by blank lines. "auto": "wrapped" for lines of
    uniform width, else "split".
    """
    splitter: CuttingPattern = SPLITTER
    """Regular expression of sentence boundaries with two groups: end and beginning of a
    sentence.
    """
    abbreviations: tuple[str, ...] = ()
    """Further abbreviations, without full stop: ["Bd"]."""
    clitics: Literal["auto", "split", "keep"] = "auto"
    """"auto": words before an apostrophe are separate tokens in French, Italian, Catalan and
    Occitan (l' homme). "split": so are English clitics (do n't, Anna 's). "keep": apostrophes are
    part of words.
    """
    join_hyphens: bool = False
    """Join words hyphenated at the end of wrapped lines."""
    document: NamingPattern = ""
    """Regular expression of lines that begin a document, whose group is its name: ``^### (.*)$``.
    ``""`` for none.
    """


# Detection from the beginning of a file

_BYTES = 1 << 18
"""Bytes examined at the beginning of a file."""
_FOR_LANGUAGE = 1 << 17
_WIDTHS = range(30, 201)
"""Range of the longest lines of a wrapped text."""
_FEWEST, _MANY, _LEAST_WORDS = 3, 20, 4
"""Minimum number of inner lines of a wrapped text (also without sentence ends), and of their
words.
"""
_MOSTLY_FULL, _INNER, _GOES_ON = 0.78, 0.5, 0.4
"""Minimum median length of inner lines, relative to the longest; share of inner lines; share of
inner lines that end inside a sentence. In over a hundred English novels, the last is .61 to .93 for
wrapped files and 0 to .22 for others.
"""
_NO_ROOM, _INNER_FULL, _GOES_ON_FULL = 0.9, 0.25, 0.15
"""Share of lines ending inside a sentence for which the next word does not fit, and two lower
thresholds if this is high: for dialogues with short paragraphs, and for German, where many lines
begin with a capital letter inside sentences.
"""
_NO_BLANKS = 0.95
"""Share of inner lines above which paragraphs are not separated by blank lines."""
_ENDS = re.compile(rf"[{_MARKS}:;。！？]{_CLOSE}*[—–-]*$")
_MARK = re.compile(f"[{_MARKS}。！？]")
_CASED = re.compile(r"[^\W\d_]")
_LETTERS = re.compile(r"[^\W\d_\u0e01-\u0e3a]+|[\u0e01-\u0e5b]+")
_LONGEST_WORDS = {"zh": 4.0, "ja": 5.0}
"""Maximum mean word length in scripts with blanks between words; otherwise `_LONG`."""
_LONG = 12.0


@dataclass(frozen=True)
class Beginning:
    """Properties detected at the beginning of a file.

    Parameters
    ----------
    language : str
        Language code; "" if unclear.
    wrapped : bool
        Lines have a uniform width.
    margin : int
        This width if paragraphs end in short lines instead of blank ones, else 0.
    run : float
        Mean number of letters between blanks and other characters.
    """

    language: str
    wrapped: bool
    margin: int
    run: float


def read_beginning(path: Path) -> Beginning:
    """Detect language and line width from the beginning of a file.

    Lines have a uniform width, as in Project Gutenberg's books, if most lines with a successor are
    nearly as long as the longest, and many of them end inside a sentence, so that the next line
    begins in lower case.

    Parameters
    ----------
    path : Path
        (Compressed) text in UTF-8.
    """
    stat = path.stat()
    return _beginning(path, stat.st_mtime_ns, stat.st_size)


@lru_cache(1024)
def _beginning(path: Path, _time: int, _size: int) -> Beginning:
    text = ""
    with suppress(LexassayError, OSError), reading(path), open_bytes(path) as opened:
        text = normalise(opened.read(_BYTES).removeprefix(BOM).decode(errors="replace"))
    wrapped, margin = _line_width([line.strip() for line in text.splitlines()])
    letters = [sum(map(len, _LETTERS.findall(chunk))) for chunk in text.split()]
    mean = sum(letters) / max(1, sum(map(bool, letters)))
    return Beginning(guess_language(text[:_FOR_LANGUAGE]), wrapped, margin, mean)


def _line_width(lines: list[str]) -> tuple[bool, int]:
    """Return true if lines have a uniform width, and the margin if paragraphs lack blank lines."""
    inner = [(line, after) for line, after in pairwise(lines) if line and after]
    some = sum(map(bool, lines))
    if len(inner) < _FEWEST:
        return False, 0
    if len(inner) < _MANY and not any(_MARK.search(line) for line in lines):
        return False, 0  # a few lines without sentence ends may be one sentence each
    lengths = sorted(len(line) for line, _ in inner)
    longest, median = lengths[int(len(inner) * 0.98)], lengths[len(inner) // 2]
    amid = [(line, after) for line, after in inner if not _ENDS.search(line)]
    go_on = sum(_continues(after) for _, after in amid)
    no_room = sum(len(line) + 1 + len(after.split()[0]) > longest for line, after in amid)
    full = no_room >= _NO_ROOM * len(amid)
    least, fewest = (_GOES_ON_FULL, _INNER_FULL) if full else (_GOES_ON, _INNER)
    words = sum(line.count(" ") + 1 for line, _ in inner)
    wrapped = (
        longest in _WIDTHS
        and median >= _MOSTLY_FULL * longest
        and len(inner) >= fewest * some
        and go_on >= least * len(inner)
        and words >= _LEAST_WORDS * len(inner)
    )
    return wrapped, longest if wrapped and len(inner) > _NO_BLANKS * (some - 1) else 0


def _continues(line: str) -> bool:
    """Return true if a line may continue a sentence: it does not begin with a capital letter."""
    first = _CASED.search(line)
    return first is not None and not first[0].isupper() and not first[0].istitle()


@dataclass(frozen=True)
class TextLayout:
    """Reading instructions of a file: options, completed by detection.

    Parameters
    ----------
    options : TextOptions
        The options.
    language : str
        Language code; "" for none.
    sentences : str
        "line", "split" or "wrapped".
    margin : int
        As in `Beginning`.
    is_cut : bool
        Lines look wrapped, but each is read as a sentence or paragraph.
    """

    options: TextOptions
    language: str
    sentences: Literal["line", "split", "wrapped"]
    margin: int
    is_cut: bool = False

    @property
    def own(self) -> Language:
        """The rules of the language."""
        return language_of(self.language)

    @property
    def tokens(self) -> str:
        """Regular expression of tokens, with elided words of the language."""
        pattern = self.options.tokens
        if pattern != TOKEN or self.options.clitics == "keep":
            return pattern
        if self.own.elided:
            return rf"(?i:{self.own.elided})['’]|{pattern}"
        return rf"(?i:n['’]t|['’](?:s|re|ve|ll|d|m))\b|{pattern}" if self.divides else pattern

    @property
    def divides(self) -> bool:
        """True if English clitics are separated."""
        return self.options.clitics == "split" and self.language == "en"

    @property
    def splitter(self) -> str:
        """Regular expression of boundaries, with end marks of the language."""
        pattern, marks = self.options.splitter, self.own.marks
        return pattern.replace(_MARKS, _MARKS + marks) if pattern == SPLITTER else pattern


def text_layout(path: Path, options: TextOptions) -> TextLayout:
    """Return the reading instructions of a file."""
    language, sentences, margin, is_cut = options.language, options.sentences, 0, False
    if not language or sentences in {"auto", "wrapped"} or language in WITHOUT_BLANKS:
        beginning = read_beginning(path)
        is_cut = beginning.wrapped and sentences in {"line", "split"}
        language = language or beginning.language
        if sentences == "auto" and beginning.wrapped:
            sentences = "wrapped"
        margin = beginning.margin if sentences == "wrapped" else 0
        pattern = options.tokenizer == "pattern" and options.tokens == TOKEN
        if pattern and lacks_blanks(path, language):
            raise DataError(
                f"{path}: {language_name(language)} is written without blanks between words, and"
                f" this text has on average {beginning.run:.1f} letters between blanks\n"
                'Use a tokenizer: tokenizer = "icu". To read text between blanks as one word:'
                f' language = "{NO_RULES}".'
            )
    sentences = "split" if sentences == "auto" else sentences
    return TextLayout(options, language, sentences, margin, is_cut)


def lacks_blanks(path: Path, language: str = "") -> bool:
    """Return true for a text without blanks between words, in a language written so.

    Parameters
    ----------
    path : Path
        (Compressed) text in UTF-8.
    language : str
        Its language; detected by default.
    """
    beginning = read_beginning(path)
    language = language or beginning.language
    return language in WITHOUT_BLANKS and beginning.run > _LONGEST_WORDS.get(language, _LONG)


def text_facts(layout: TextLayout) -> dict[str, int]:
    """Return facts about a file, for `pipeline.formats.base.Batch`."""
    options = layout.options
    wrapped = options.sentences == "auto"
    facts = {f"{LANGUAGE}{language_name(layout.language)}": 1} if not options.language else {}
    facts |= {f"{CUT}{layout.sentences}": 1} if layout.is_cut else {}
    return facts | ({f"{LINES}{layout.sentences}": 1} if wrapped else {})


LANGUAGE, LINES, CUT = "language ", "lines ", "wrapped lines as "
"""Names of counts in `text_facts`."""


# Rows


def _cut(content: bytes, layout: TextLayout) -> int:
    if layout.sentences != "wrapped":
        return rules.after_last_line(content)
    return (
        _after_short_line(content, layout.margin)
        if layout.margin
        else rules.after_blank_line(content)
    )


def _after_short_line(content: bytes, margin: int) -> int:
    """Return the end of the last line that ends a paragraph, see `_ends_paragraph`."""
    end = content.rfind(b"\n", 0, max(0, content.rfind(b"\n")))  # the next line is known
    while end > 0:
        start = content.rfind(b"\n", 0, end)
        line, after = (
            content[a + 1 : b].decode(errors="replace").strip()
            for a, b in ((start, end), (end, _line_end(content, end + 1)))
        )
        first = after.split(maxsplit=1)[:1]
        if not line or (first and _ENDS.search(line) and len(line) + 1 + len(first[0]) <= margin):
            return end + 1
        end = start
    return 0


def _line_end(content: bytes, start: int) -> int:
    end = content.find(b"\n", start)
    return len(content) if end < 0 else end


@corpus_format(
    "text",
    suffixes=[".txt"],
    cut=_cut,
    between=b"\n",
    attributes=["form", SPACE_AFTER],
    options=TextOptions,
    layout=text_layout,
    facts=text_facts,
)
def text_rows(lines: pl.LazyFrame, layout: TextLayout) -> pl.LazyFrame:
    """Plain text in UTF-8, tokenized by a regular expression.

    The only attribute is form; ``space_after`` is the text before the next token of the sentence.
    Full stops of abbreviations are not tokens.
    """
    options = layout.options
    name = pl.col(TEXT).str.extract(options.document) if options.document else _NOTHING
    begins = readable() & name.is_not_null()
    lines = lines.with_columns(
        pl.when(begins).then(pl.lit(value=True)).alias(DOCUMENT),
        name.alias(NAME),
        pl.when(readable() & ~begins).then(TEXT).alias(_SENTENCE),
    )
    lines = _join_paragraphs(lines, layout) if layout.sentences == "wrapped" else lines
    by_line, own_tokens = layout.sentences == "line", options.tokens != TOKEN
    if not (by_line and own_tokens):
        lines = lines.with_columns(_mark_abbreviations(layout))
    lines = lines if by_line else _split_sentences(lines, layout)
    if own_tokens:  # which may contain full stops
        lines = lines.with_columns(pl.col(_SENTENCE).str.replace_all(_STOP, ".", literal=True))
    lines = lines.with_row_index(UNIT)
    if options.tokenizer == "icu":
        lines = lines.with_columns(_icu_tokens(layout.language)).unnest(_TOKENS)
        some = (pl.col("form").list.len() > 0).fill_null(value=False).alias(SOME)
    else:
        forms = _extract_tokens(pl.col(_SENTENCE), layout.tokens).alias("form")
        lines = lines.with_columns(forms, _space_after_tokens(layout))
        some = pl.col(_SENTENCE).str.contains(layout.tokens).fill_null(value=False).alias(SOME)
    row = ~readable() | some
    return lines.with_columns(some, row.alias(ROW), pl.when(some).then(UNIT))


def text_tokens(text: str, layout: TextLayout) -> list[str]:
    """Return the tokens of a typed text, as in a file.

    Parameters
    ----------
    text : str
        Some words, normalised by `normalise`.
    layout : TextLayout
        Reading instructions of the file.

    Examples
    --------
    >>> text_tokens("Mr. Fox", TextLayout(TextOptions(), "en", "split", 0))
    ['Mr', 'Fox']
    >>> text_tokens("l'homme", TextLayout(TextOptions(), "fr", "split", 0))
    ["l'", 'homme']
    """
    line = pl.LazyFrame({"line": [1], TEXT: [text]})
    rows = text_rows(line, replace(layout, sentences="line")).select("form").collect()
    return [*rows.item()]


def _icu_tokens(language: str) -> pl.Expr:
    """Return the tokens of each text by ICU word breaks, and the text after each."""
    segments = _word_breaker(language)

    def tokens(text: str | None) -> dict[str, list[str]] | None:
        if text is None:
            return None
        forms: list[str] = []
        gaps: list[str] = []
        for segment in segments(text):
            if segment.isspace() or segment in {_STOP, _CUT}:
                if gaps:
                    gaps[-1] += segment.replace(_STOP, ".")
            else:
                forms.append(segment)
                gaps.append("")
        return {"form": forms, SPACE_AFTER: gaps}

    lists = pl.List(pl.String())
    kind = pl.Struct({"form": lists, SPACE_AFTER: lists})
    return pl.col(_SENTENCE).map_elements(tokens, return_dtype=kind).alias(_TOKENS)


def _word_breaker(language: str) -> Callable[[str], Iterable[str]]:
    """Return the word-break iterator of a language."""
    try:
        from icu4py.breakers import WordBreaker  # noqa: PLC0415  an extra
    except ImportError as error:
        what = "word breaks by ICU require the package icu4py, which is not installed"
        problem = Problem("tokenizer", what, install_text("icu4py"))
        raise ConfigError("tokenizer", [problem]) from error
    locale = language if language not in {"", NO_RULES} else "en"
    return lambda text: WordBreaker(text, locale)


def _extract_tokens(text: pl.Expr, pattern: str) -> pl.Expr:
    """Return the tokens of each text, by splitting at white space if possible."""
    if pattern != BETWEEN_SPACES:
        return text.str.extract_all(pattern)
    return text.map_batches(
        _split_at_blanks, return_dtype=pl.List(pl.String()), is_elementwise=True
    )


def _split_at_blanks(texts: pl.Series) -> pl.Series:
    """Split at blanks, which is fast, if they are single and the only white space."""
    ends = texts.str.starts_with(" ").any() or texts.str.ends_with(" ").any()
    if ends or texts.str.contains(_NOT_ALONE).any() or (texts == "").any():
        return texts.str.extract_all(BETWEEN_SPACES)
    return texts.str.split(" ")


def _space_after_tokens(layout: TextLayout) -> pl.Expr:
    """Return the text after each token, using line ends as token placeholders."""
    between = pl.col(_SENTENCE).str.replace_all(layout.tokens, "\n")
    between = between.str.replace_all(_STOP, ".", literal=True)
    between = between.str.replace_all(_CUT, "", literal=True) if layout.divides else between
    return between.str.split("\n").list.slice(1).alias(SPACE_AFTER)


def _join_paragraphs(lines: pl.LazyFrame, layout: TextLayout) -> pl.LazyFrame:
    """Move the text of a paragraph to its first line."""
    text = pl.col(_SENTENCE).str.strip_chars()
    some = text.str.contains(r"\S").fill_null(value=False)
    first = some & ~some.shift(1, fill_value=False)
    if layout.margin:
        first |= some & _ends_paragraph(text, layout.margin).shift(1, fill_value=False)
    whole = pl.when(some).then(text).str.join("\n").over(first.cum_sum())
    if layout.options.join_hyphens:
        whole = whole.str.replace_all(r"(\pL)[-‐\x{AD}]\n(\p{Ll})", "${1}${2}")
    if layout.options.normalise != "none":  # otherwise soft hyphens are kept
        whole = whole.str.replace_all("\xad\n", "", literal=True)
    joined = whole.str.replace_all("\n", " ", literal=True)
    return lines.with_columns(pl.when(first).then(joined).alias(_SENTENCE))


def _ends_paragraph(text: pl.Expr, margin: int) -> pl.Expr:
    """Return true if a line ends a paragraph, since the next word would have fitted."""
    word = text.shift(-1).str.extract(r"^(\S+)", 1).str.len_chars()
    return (
        text.str.contains(_ENDS.pattern) & (text.str.len_chars() + 1 + word <= margin)
    ).fill_null(value=False)


def _mark_abbreviations(layout: TextLayout) -> pl.Expr:
    """Replace full stops inside sentences by a mark that is not a token."""
    text = pl.col(_SENTENCE)
    for pattern in abbreviation_patterns(layout.language, layout.options.abbreviations):
        text = text.str.replace_all(pattern, "${1}" + _STOP)
    for pattern in number_patterns(layout.language):
        text = text.str.replace_all(pattern, "${1}" + _STOP + "${2}")
    if layout.divides:
        text = text.str.replace_all(_ENGLISH_CLITIC, "${1}" + _CUT + "${2}")
    return text.alias(_SENTENCE)


def _split_sentences(lines: pl.LazyFrame, layout: TextLayout) -> pl.LazyFrame:
    """Split each line at boundaries, marked by line ends."""
    text = pl.col(_SENTENCE)
    begins = pl.when(text.str.contains(r"\S")).then(pl.lit(value=True)).alias(PARAGRAPH)
    sentences = text.str.replace_all(layout.splitter, "${1}\n${2}")
    if layout.options.splitter == SPLITTER:
        sentences = sentences.str.replace_all(_IDEOGRAPHIC, "${1}\n${2}")
    return lines.with_columns(begins, sentences.str.split("\n").alias(_SENTENCE)).explode(_SENTENCE)
