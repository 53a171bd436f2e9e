"""Vertical text of the Corpus Workbench: a token a line, structures as tags between them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Self

import polars as pl
from pydantic import Field, model_validator

from pipeline.formats import attributes, laws, lines, structures
from pipeline.formats.attributes import Attributes
from pipeline.formats.base import CorpusOptions, Skipped, reader
from pipeline.formats.laws import UNIT, Law, Rows
from pipeline.formats.lines import TEXT
from pipeline.formats.structures import TAG

_REMEDY = "name the file's columns and structures: attributes, sentence, paragraph, document"


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
    entities: bool = True
    """Whether ``&lt;`` ``&gt;`` ``&amp;`` ``&quot;`` ``&apos;`` stand for a character."""

    @model_validator(mode="after")
    def _apart(self) -> Self:
        named = tuple(name for name in self.structures().values() if name)
        attributes.distinct(named)
        return self

    def structures(self) -> dict[int, str]:
        """Return level to name, sentence first."""
        return dict(enumerate([self.sentence, self.paragraph, self.document]))


def _check(path: Path, options: VerticalOptions) -> Sequence[Skipped]:
    lines.gate(path)
    rows = _judged(path, options)
    return laws.verdict(path, rows, lenient=options.lenient, remedy=_REMEDY)


@reader(
    "vertical", suffixes=[".vrt", ".vert"], check=_check, options=VerticalOptions, kind="corpus"
)
def scan_vertical(path: Path, options: VerticalOptions) -> pl.LazyFrame:
    """CWB vertical text: tokens with tab-separated attributes, tags on lines of their own.

    A tag is a line without tabs that begins with ``<`` and a letter, ``/``, ``?`` or ``!``, and
    ends with ``>``. Tags of other structures, and blank lines, are passed over. An empty
    attribute is null.

    References
    ----------
    Evert & the CWB Development Team, The IMS Open Corpus Workbench: Corpus Encoding and
    Management Manual, section 2 (vertical format).
    """
    if options.lenient:
        plan = laws.sound(_judged(path, options))
    else:
        names = attributes.raw(options.attributes)
        alone = pl.col(names[1]).is_null() if len(names) > 1 else pl.lit(value=True)
        tagged = _tagged(lines.fields(path, names), alone, options)
        plan = _tokens(tagged, pl.col(names[0]).is_null(), options)
    return plan.select(attributes.columns(options.attributes))


def _judged(path: Path, options: VerticalOptions) -> Rows:
    names = attributes.raw(options.attributes)
    whole = lines.split(lines.lines(path, lenient=options.lenient), names)
    alone = ~pl.col(TEXT).str.contains("\t", literal=True)
    tagged = _tagged(whole, alone, options)
    others = structures.flaws(tagged, options.structures())
    return Rows(_tokens(tagged, pl.col(TEXT) == "", options), _laws(options), others)


def _tagged(plan: pl.LazyFrame, alone: pl.Expr, options: VerticalOptions) -> pl.LazyFrame:
    """Tell tags from tokens, and carry what the tags say to the tokens."""
    first = pl.col(attributes.raw(options.attributes)[0])
    plan = plan.with_columns(structures.tags(first, alone))
    plan = plan.with_columns(structures.events(options.structures()))
    return plan.with_columns(
        structures.unit(sentences=bool(options.sentence)),
        structures.paragraph(),
        structures.document(options.document_id, entities=options.entities),
    )


def _tokens(tagged: pl.LazyFrame, blank: pl.Expr, options: VerticalOptions) -> pl.LazyFrame:
    names = attributes.raw(options.attributes)
    tokens = tagged.filter(pl.col(TAG).is_null() & ~blank.fill_null(value=False))
    return tokens.with_columns(
        attributes.sentence_number(),
        attributes.running_position(),
        *(structures.decoded(pl.col(name)) for name in names if options.entities),
        *attributes.heads(options.attributes),
    )


def _laws(options: VerticalOptions) -> list[Law]:
    first = pl.col(attributes.raw(options.attributes)[0])
    outside = Law(
        pl.col(UNIT).is_null(), pl.lit(f"a token outside any <{options.sentence}>"), pl.col(TEXT)
    )
    empty = Law(first.is_null(), pl.lit("the first field is empty"), pl.col(TEXT))
    names = options.attributes
    return [*laws.field_laws(len(names)), empty, *attributes.head_laws(names), outside]
