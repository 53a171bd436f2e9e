"""Vertical text of the Corpus Workbench: a token a line, structures as tags between them."""

from __future__ import annotations

from typing import Self

import polars as pl
from pydantic import Field, model_validator

from pipeline.formats import delimited
from pipeline.formats.base import CorpusOptions
from pipeline.formats.corpora import attributes, structures
from pipeline.formats.corpora.attributes import Attributes
from pipeline.formats.corpora.corpus_format import corpus_format
from pipeline.formats.corpora.marks import ALONE, BLANK, ROW, SPACE_AFTER, UNIT
from pipeline.formats.corpora.rules import Rule
from pipeline.formats.corpora.structures import TAG


class VerticalOptions(CorpusOptions):
    """How a vertical file is read."""

    attributes: Attributes = Field(min_length=1)
    """Names of the tab-separated columns, e.g. ``["word", "pos", "lemma"]``."""
    sentence: str = "s"
    """Structure that holds a sentence; ``""``: a sentence is what stands between the tags of
    paragraphs and documents."""
    paragraph: str = "p"
    """Structure that holds a paragraph; ``""`` for none."""
    document: str = "text"
    """Structure that holds a document; ``""`` for none."""
    document_id: str = "id"
    """Attribute of the document's tag that names it."""
    glue: str = "g"
    """Empty structure (``<g/>``) that stands between tokens without a space; ``""`` for none."""
    entities: bool = True
    """Whether ``&lt;`` ``&gt;`` ``&amp;`` ``&quot;`` ``&apos;`` stand for a character."""

    @model_validator(mode="after")
    def _apart(self) -> Self:
        named = tuple(name for name in self.structures().values() if name)
        delimited.distinct(named)
        return self

    def structures(self) -> dict[int, str]:
        """Return level to name, sentence first."""
        return dict(enumerate([self.sentence, self.paragraph, self.document]))


def _attributes(options: VerticalOptions) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*options.attributes, SPACE_AFTER]))


def _fields(options: VerticalOptions) -> list[str]:
    return attributes.raw(options.attributes)


def _cut(content: bytes, options: VerticalOptions) -> int:
    return structures.cut(content, options.structures())


def _rules(options: VerticalOptions) -> list[Rule]:
    first = pl.col(_fields(options)[0])
    return [
        Rule(first.is_null(), "the first field is empty"),
        Rule(pl.col(UNIT).is_null(), f"a token outside any <{options.sentence}>"),
        *structures.rules(options.structures()),
    ]


@corpus_format(
    "vertical",
    suffixes=[".vrt", ".vert"],
    cut=_cut,
    attributes=_attributes,
    fields=_fields,
    rules=_rules,
    options=VerticalOptions,
    remedy="name the file's columns and structures: attributes, sentence, paragraph, document",
)
def vertical_rows(lines: pl.LazyFrame, options: VerticalOptions) -> pl.LazyFrame:
    """CWB vertical text: tokens with tab-separated attributes, tags on lines of their own.

    A tag is a line without tabs that begins with ``<`` and a letter, ``/``, ``?`` or ``!``, and
    ends with ``>``. Tags of other structures, and blank lines, are passed over. An empty
    attribute is null.

    References
    ----------
    Evert & the CWB Development Team, The IMS Open Corpus Workbench: Corpus Encoding and
    Management Manual, section 2 (vertical format).
    """
    fields = _fields(options)
    lines = lines.with_columns(structures.tags(pl.col(fields[0]), pl.col(ALONE)))
    lines = lines.with_columns(structures.events(options.structures()))
    row = pl.col(TAG).is_null() & ~pl.col(BLANK)
    glue = attributes.no_spaces(fields) or [structures.no_space(options.glue, row)]
    return lines.with_columns(
        row.alias(ROW),
        structures.unit(sentences=bool(options.sentence)),
        *structures.marks(options.document_id, entities=options.entities),
        *(structures.decoded(pl.col(name)) for name in fields if options.entities),
    ).with_columns(glue)
