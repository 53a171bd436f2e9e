"""Vertical text of the Corpus Workbench: one token per line, with structure tags."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Self

import polars as pl
from pydantic import Field, model_validator

from pipeline.formats import lines
from pipeline.formats.base import LINE
from pipeline.formats.corpora import rules
from pipeline.formats.corpora.corpus_format import corpus_format
from pipeline.formats.corpora.rules import (
    ALONE,
    BLANK,
    DOCUMENT,
    NAME,
    PARAGRAPH,
    ROW,
    SPACE_AFTER,
    UNIT,
    Attributes,
    LemmaOptions,
    Lemmas,
    Rule,
)

# Structures: positions, contents and nesting of tags

POS = "pos"
"""Attribute with the tag of a token, which may end sentences."""
TAG = "~tag"
"""Column with tag lines, null for tokens."""

_ENTITIES = {"&lt;": "<", "&gt;": ">", "&quot;": '"', "&apos;": "'", "&amp;": "&"}
_LEVEL, _OPENS = "~level", "~opens"
_SHAPE = r"^<[\pL_/?!].*>$"


def tags(field: pl.Expr, alone: pl.Expr) -> pl.Expr:
    """Return `TAG`: a line without tabs that begins ``<x``, ``</``, ``<?`` or ``<!``, ends ``>``.

    Parameters
    ----------
    field : Expr
        The first field of the line.
    alone : Expr
        True if it is the only field.

    Examples
    --------
    >>> lines = pl.DataFrame({"word": ["<s>", "<3", "</text >", "a>"]})
    >>> lines.select(tags(pl.col("word"), pl.lit(value=True)))[TAG].to_list()
    ['<s>', None, '</text >', None]
    """
    # Regular expressions skip nulls: only possible tags reach them.
    likely = pl.when(field.str.starts_with("<") & alone).then(field).str.strip_chars_end()
    return pl.when(likely.str.contains(_SHAPE)).then(likely).alias(TAG)


def decode_entities(value: pl.Expr) -> pl.Expr:
    """Return text with the five entities of XML decoded once.

    Examples
    --------
    >>> pl.select(decode_entities(pl.lit("&lt;s&gt; &amp;amp;"))).item()
    '<s> &amp;'
    """
    return value.map_batches(_decode, return_dtype=pl.String(), is_elementwise=True)


def _decode(texts: pl.Series) -> pl.Series:
    """Decode entities; most columns have none, and searching is cheaper."""
    some = texts.str.contains("&", literal=True).any()
    return texts.str.replace_many(_ENTITIES) if some else texts


def events(names: Mapping[int, str]) -> list[pl.Expr]:
    """Return level and direction of the tags of these structures, null for other lines.

    Parameters
    ----------
    names : mapping of int to str
        Structure names by level (0 sentence, 1 paragraph, 2 document); "" for none.
    """
    name = pl.col(TAG).str.extract(r"^</?([^\s/>]+)")
    whole = ~pl.col(TAG).str.ends_with("/>")
    level = pl.lit(None, pl.Int64)
    for number, structure in names.items():
        level = pl.when(whole & (name == structure)).then(number).otherwise(level)
    opens = pl.when(level.is_not_null()).then(~pl.col(TAG).str.starts_with("</"))
    return [level.cast(pl.Int64).alias(_LEVEL), opens.alias(_OPENS)]


def unit(*, sentences: bool, ends: pl.Expr | None = None) -> pl.Expr:
    """Return `UNIT`: the number of the sentence of a token or opening tag; else null.

    Without sentence structures, units lie between tags or blank lines.

    Parameters
    ----------
    sentences : bool
        There is a sentence structure.
    ends : Expr, optional
        True for lines that end a sentence, without a sentence structure.
    """
    level, opens = pl.col(_LEVEL), pl.col(_OPENS)
    begins = ((level == 0) & opens).fill_null(value=False)
    if sentences:
        inside = pl.when(begins).then(begins.cum_sum()).when(level.is_not_null()).then(0)
        number = inside.forward_fill()
    else:
        number = (level.is_not_null() | pl.col(BLANK)).cum_sum() + 1
        if ends is not None:
            number += ends.fill_null(value=False).shift(1, fill_value=False).cum_sum()
    return pl.when((number > 0) & (begins | pl.col(TAG).is_null())).then(number).alias(UNIT)


def marks(attribute: str, *, entities: bool) -> list[pl.Expr]:
    """Return beginnings and ends of documents and paragraphs, and document names.

    Parameters
    ----------
    attribute : str
        Attribute of document tags with the name.
    entities : bool
        Decode entities.
    """
    level, opens = pl.col(_LEVEL), pl.col(_OPENS)
    quoted = rf"""\s{re.escape(attribute)}\s*=\s*(?:"([^"]*)"|'([^']*)')"""
    tag = pl.when((level == 2) & opens).then(TAG)
    name = pl.coalesce(tag.str.extract(quoted, 1), tag.str.extract(quoted, 2))
    return [
        pl.when(level == 2).then(opens).alias(DOCUMENT),
        (decode_entities(name) if entities else name).alias(NAME),
        pl.when(level >= 1).then(opens & (level == 1)).alias(PARAGRAPH),
    ]


def no_space(name: str, row: pl.Expr) -> pl.Expr:
    """Return `SPACE_AFTER`: "" for a token followed by an empty tag of this name.

    Parameters
    ----------
    name : str
        The structure; "" for none.
    row : Expr
        True for tokens.
    """
    glue = pl.col(TAG).str.contains(rf"^<{re.escape(name)}(?:\s.*)?/>$") & bool(name)
    first = pl.when(row).then(pl.lit(value=False)).when(glue).then(pl.lit(value=True))
    return pl.when(first.backward_fill().shift(-1)).then(pl.lit("")).alias(SPACE_AFTER)


def cut(
    content: bytes, names: Mapping[int, str], ends: Sequence[bytes] = (), place: int = 0
) -> int:
    """Return the end of the last complete structure of the highest level.

    Parameters
    ----------
    content : bytes
        A part of a file that begins outside all structures.
    names : mapping of int to str
        As for `events`. The highest occurring structure counts; without any, sentences end at blank
        lines.
    ends : sequence of bytes
        Field values that end a sentence.
    place : int
        Index of this field, from 0.
    """
    for level in sorted(names, reverse=True):
        name = re.escape(names[level].encode())
        if names[level] and re.search(rb"^<" + name + rb"[\s>]", content, re.MULTILINE):
            return _last_end(content, b"\n</" + names[level].encode())
    if names[0]:
        return 0
    return rules.after_blank_line(content) or max(
        (_after_field(content, value, place) for value in ends), default=0
    )


def _after_field(content: bytes, value: bytes, place: int) -> int:
    """Return the end of the last line with this field value, or 0."""
    at = len(content)
    while (at := content.rfind(b"\t" + value, 0, at)) >= 0:
        start, end = content.rfind(b"\n", 0, at) + 1, content.find(b"\n", at) + 1
        fields = content[start:end].rstrip(b"\r\n").split(b"\t")
        if end and fields[place : place + 1] == [value]:
            return end
    return 0


def _last_end(content: bytes, tag: bytes) -> int:
    """Return the end of the line of the last such tag."""
    at = len(content)
    while (at := content.rfind(tag, 0, at)) >= 0:
        rest = content[at + len(tag) : at + len(tag) + 1]
        end = content.find(b"\n", at + 1) + 1
        if end and rest in b" \t\r>":
            return end
    return 0


def structure_rules(names: Mapping[int, str]) -> list[Rule]:
    """Return the rules for nesting of tags.

    A structure must be closed before the next of its kind, or an enclosing one, begins or ends.

    Parameters
    ----------
    names : mapping of int to str
        As for `events`.
    """
    return [_nesting_rule(level, name) for level, name in names.items() if name]


def _nesting_rule(level: int, name: str) -> Rule:
    """Check the tags of a level by those before and after, on this level or above."""
    own, opens = pl.col(_LEVEL) == level, pl.col(_OPENS)
    closed = (own & ~opens).shift(-1).fill_null(value=False)
    opened = (own & opens).shift().fill_null(value=False)
    end = pl.col(LINE).shift(-1).cast(pl.String).fill_null("end of file")
    unclosed = pl.lit(f"<{name}> is not closed where the next begins or ends: ") + end
    says = pl.when(opens).then(unclosed).otherwise(pl.lit(f"</{name}> closes nothing"))
    broken = own & ((opens & ~closed) | (~opens & ~opened))
    return Rule(broken, says, TAG, among=pl.col(_LEVEL) >= level)


class VerticalOptions(LemmaOptions):
    """Options for vertical files."""

    attributes: Attributes = Field(min_length=1)
    """Names of the columns, e.g. ``["word", "pos", "lemma"]``."""
    sentence_tags: tuple[str, ...] = ()
    """Values of ``pos`` that end sentences if ``sentence = ""``, e.g. ``["SENT"]``.
    """
    sentence: str = "s"
    """Sentence structure; with ``""``, sentences end at blank lines and other tags."""
    paragraph: str = "p"
    """Paragraph structure; ``""`` for none."""
    document: str = "text"
    """Document structure; ``""`` for none."""
    document_id: str = "id"
    """Attribute of document tags with the name."""
    glue: str = "g"
    """Empty structure (``<g/>``) between tokens without a space; ``""`` for none."""
    entities: bool = True
    """Decode the five entities of XML."""

    @model_validator(mode="after")
    def _require_distinct(self) -> Self:
        names = tuple(name for name in self.structures().values() if name)
        lines.distinct(names)
        if self.sentence_tags and (self.sentence or POS not in self.attributes):
            raise ValueError(f'sentence_tags requires sentence = "" and an attribute {POS}')
        return self

    def structures(self) -> dict[int, str]:
        """Return structure names by level, sentence first."""
        return dict(enumerate([self.sentence, self.paragraph, self.document]))


def _attributes(options: VerticalOptions) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*options.attributes, SPACE_AFTER]))


def _fields(options: VerticalOptions) -> list[str]:
    return rules.raw(options.attributes)


def _lemmas(options: VerticalOptions) -> Lemmas:
    return Lemmas(rules.form_of(options.attributes), options.placeholders)


def _cut(content: bytes, options: VerticalOptions) -> int:
    if not options.sentence_tags:
        return cut(content, options.structures())
    ends = [tag.encode() for tag in options.sentence_tags]
    return cut(content, options.structures(), ends, options.attributes.index(POS))


def _rules(options: VerticalOptions) -> list[Rule]:
    first = pl.col(_fields(options)[0])
    return [
        Rule(first.is_null(), "the first field is empty"),
        Rule(pl.col(UNIT).is_null(), f"a token outside any <{options.sentence}>"),
        *structure_rules(options.structures()),
    ]


@corpus_format(
    "vertical",
    suffixes=[".vrt", ".vert", ".tt"],
    cut=_cut,
    attributes=_attributes,
    fields=_fields,
    rules=_rules,
    options=VerticalOptions,
    lemmas=_lemmas,
    remedy="name the file's columns and structures: attributes, sentence, paragraph, document",
)
def vertical_rows(lines: pl.LazyFrame, options: VerticalOptions) -> pl.LazyFrame:
    """CWB vertical text: tokens with tab-separated attributes, and tags on separate lines.

    A tag is a line without tabs that begins with ``<`` and a letter, ``/``, ``?`` or ``!``, and
    ends with ``>``. Tags of other structures are skipped, and so are blank lines if there is a
    sentence structure. Empty attributes are null.

    References
    ----------
    Evert & the CWB Development Team, The IMS Open Corpus Workbench: Corpus Encoding and
    Management Manual, section 2 (vertical format).
    """
    fields = _fields(options)
    lines = lines.with_columns(tags(pl.col(fields[0]), pl.col(ALONE)))
    lines = lines.with_columns(events(options.structures()))
    row = pl.col(TAG).is_null() & ~pl.col(BLANK)
    tags_of_ends = list(options.sentence_tags)
    ends = row & pl.col(POS).is_in(tags_of_ends) if tags_of_ends else None
    glue = rules.no_spaces(fields) or [no_space(options.glue, row)]
    return lines.with_columns(
        row.alias(ROW),
        unit(sentences=bool(options.sentence), ends=ends),
        *marks(options.document_id, entities=options.entities),
        *(decode_entities(pl.col(name)) for name in fields if options.entities),
    ).with_columns(glue)
