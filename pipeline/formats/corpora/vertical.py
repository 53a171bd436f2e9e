"""Vertical text of the Corpus Workbench: a token a line, structures as tags between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Self

import polars as pl
from pydantic import Field, model_validator

from pipeline.formats import delimited, lines
from pipeline.formats.base import Batch, CorpusOptions, Skipped, reader
from pipeline.formats.corpora import attributes, structures
from pipeline.formats.corpora import fast_checks as quick
from pipeline.formats.corpora import rules as laws
from pipeline.formats.corpora.attributes import Attributes
from pipeline.formats.corpora.blocks import Blockwise, Finish, Parsed, judged
from pipeline.formats.corpora.carry import NOTHING_BEFORE, Carry
from pipeline.formats.corpora.fast_checks import LAST
from pipeline.formats.corpora.rules import UNIT, Law, Rows
from pipeline.formats.corpora.structures import TAG
from pipeline.formats.lines import TEXT

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
        delimited.distinct(named)
        return self

    def structures(self) -> dict[int, str]:
        """Return level to name, sentence first."""
        return dict(enumerate([self.sentence, self.paragraph, self.document]))


def _check(path: Path, options: VerticalOptions) -> Sequence[Skipped]:
    lines.gate(path)
    every = _lines(lines.lines(path, lenient=options.lenient), options, NOTHING_BEFORE)
    return laws.verdict(path, _judged(every, options), lenient=options.lenient, remedy=_REMEDY)


def _read(
    path: Path, options: VerticalOptions, columns: Sequence[str], size: int
) -> Iterator[Batch]:
    return _BLOCKWISE.read(path, options, columns, size)


@reader(
    "vertical",
    suffixes=[".vrt", ".vert"],
    check=_check,
    options=VerticalOptions,
    kind="corpus",
    read=_read,
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
        every = _lines(lines.lines(path, lenient=True), options, NOTHING_BEFORE)
        plan = laws.sound(_judged(every, options))
    else:
        every = _tagged(lines.fields(path, _fields(options)), _alone(options), options)
        plan = _tokens(every, pl.col(_fields(options)[0]).is_null(), options)
    return plan.select(attributes.columns(options.attributes))


def _fields(options: VerticalOptions) -> list[str]:
    return attributes.raw(options.attributes)


def _alone(options: VerticalOptions) -> pl.Expr:
    """Return whether a line has one field, as seen from the fields."""
    names = _fields(options)
    return pl.col(names[1]).is_null() if len(names) > 1 else pl.lit(value=True)


def _lines(whole: pl.LazyFrame, options: VerticalOptions, carry: Carry) -> pl.LazyFrame:
    """Return every line with its text, told apart."""
    alone = ~pl.col(TEXT).str.contains("\t", literal=True)
    return _tagged(lines.split(whole, _fields(options)), alone, options, carry)


def _judged(tagged: pl.LazyFrame, options: VerticalOptions, carry: Carry = NOTHING_BEFORE) -> Rows:
    """Return the tokens of such lines, and all that they must keep to."""
    others = structures.flaws(tagged, options.structures())
    tokens = _tokens(tagged, pl.col(TEXT) == "", options, carry)
    return Rows(tokens, _laws(options), others)


def _tagged(
    plan: pl.LazyFrame, alone: pl.Expr, options: VerticalOptions, carry: Carry = NOTHING_BEFORE
) -> pl.LazyFrame:
    """Tell tags from tokens, and carry what the tags say to the tokens."""
    first = pl.col(_fields(options)[0])
    plan = plan.with_columns(structures.tags(first, alone))
    plan = plan.with_columns(structures.events(options.structures()))
    return plan.with_columns(
        structures.unit(sentences=bool(options.sentence)),
        *structures.paragraph(carry),
        *structures.document(options.document_id, entities=options.entities, carry=carry),
    )


def _tokens(
    tagged: pl.LazyFrame,
    blank: pl.Expr,
    options: VerticalOptions,
    carry: Carry = NOTHING_BEFORE,
) -> pl.LazyFrame:
    tokens = tagged.filter(pl.col(TAG).is_null() & ~blank.fill_null(value=False))
    return tokens.with_columns(
        attributes.sentence_number(carry),
        attributes.running_position(),
        *(structures.decoded(pl.col(name)) for name in _fields(options) if options.entities),
        *attributes.heads(options.attributes),
    )


def _cut(content: bytes, options: VerticalOptions) -> int:
    return structures.cut(content, options.structures())


def _quick(content: bytes, options: VerticalOptions, _columns: Sequence[str]) -> Finish:
    return lambda carry: _quickly(content, options, carry)


def _quickly(content: bytes, options: VerticalOptions, carry: Carry) -> Parsed | None:
    names = _fields(options)
    plan = lines.fields(content, names, before=carry.lines).with_columns(
        pl.col(names[-1]).alias(LAST)
    )
    every = _tagged(plan, _alone(options), options, carry).collect()
    tokens = _tokens(every.lazy(), pl.col(names[0]).is_null(), options, carry).collect()
    flaws = structures.flaws(every.lazy(), options.structures())
    lawful = (
        quick.is_text(content)
        and quick.has_fields(content, tokens, width=len(names), before=carry.lines)
        and not any(tokens.get_column(name).has_nulls() for name in (UNIT, names[0]))
        and quick.heads_inside(tokens)
        and (flaws is None or flaws.collect().is_empty())
    )
    return Parsed(tokens, carry.after(every, tokens, lines=every.height)) if lawful else None


def _careful(content: bytes, options: VerticalOptions, carry: Carry) -> Parsed:
    whole = lines.lines_of(content, before=carry.lines).lazy()
    every = _lines(whole, options, carry).collect()
    return judged(_judged(every.lazy(), options, carry), every=every, carry=carry)


_BLOCKWISE = Blockwise(_cut, _quick, _careful, _check)


def _laws(options: VerticalOptions) -> list[Law]:
    first = pl.col(attributes.raw(options.attributes)[0])
    outside = Law(
        pl.col(UNIT).is_null(), pl.lit(f"a token outside any <{options.sentence}>"), pl.col(TEXT)
    )
    empty = Law(first.is_null(), pl.lit("the first field is empty"), pl.col(TEXT))
    names = options.attributes
    return [*laws.field_laws(len(names)), empty, *attributes.head_laws(names), outside]
