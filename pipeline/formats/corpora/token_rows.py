"""The lines of a tab-separated token table as rows: what they say, what they must keep to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import polars as pl

from pipeline.formats import lines
from pipeline.formats.base import LINE, Check
from pipeline.formats.corpora import attributes
from pipeline.formats.corpora import fast_checks as quick
from pipeline.formats.corpora import places as keyed
from pipeline.formats.corpora import rules as laws
from pipeline.formats.corpora.blocks import Blockwise, Finish, Parsed
from pipeline.formats.corpora.carry import NOTHING_BEFORE, Carry
from pipeline.formats.corpora.fast_checks import LAST
from pipeline.formats.corpora.rules import Law, Rows
from pipeline.formats.lines import TEXT

_BLOCK, _NO_TOKEN = "~block", "~no_token"


class Marks(Protocol):
    """How lines that are no tokens are told from others, see `TokenOptions`."""

    @property
    def comment(self) -> str:
        """How a line that is passed over begins."""
        ...

    @property
    def document(self) -> str:
        """Regular expression of a line that begins a document."""
        ...


@dataclass(frozen=True)
class Layout:
    """The columns of a file, and the line of its header (0: none)."""

    names: tuple[str, ...]
    header: int

    @property
    def fields(self) -> list[str]:
        """The names under which the fields are read."""
        return [keyed.role(name) for name in attributes.raw(self.names)]


class Signs(NamedTuple):
    """Which lines are blank, and which have one field alone."""

    blank: pl.Expr
    alone: pl.Expr


def quick_signs(layout: Layout) -> Signs:
    """Return which lines are blank and which have one field, as seen from the fields."""
    fields = layout.fields
    alone = pl.col(fields[1]).is_null() if len(fields) > 1 else pl.lit(value=True)
    return Signs(pl.col(fields[0]).is_null(), alone)


def careful_signs() -> Signs:
    """Return the same, as seen from the lines."""
    text = pl.col(TEXT)
    return Signs(text == "", ~text.str.contains("\t", literal=True))


def unjudged(plan: pl.LazyFrame, layout: Layout, options: Marks) -> pl.LazyFrame:
    """Return the tokens of a file whose lines have been checked, given as fields."""
    return tokens_of(marked(plan, layout, options, quick_signs(layout)), layout)


def whole_file(whole: pl.LazyFrame, layout: Layout, options: Marks) -> Rows:
    """Return the tokens of a whole file, given as lines, and all that they must keep to."""
    plan = lines.split(whole, layout.fields)
    tokens = tokens_of(marked(plan, layout, options, careful_signs()), layout)
    return replace(judged(tokens, layout), others=keyed.scattered(tokens, layout.names))


def judged(tokens: pl.LazyFrame, layout: Layout) -> Rows:
    """Return tokens and the laws of each."""
    first = pl.col(layout.fields[0])
    empty = Law(first.is_null(), pl.lit("the first field is empty"), pl.col(TEXT))
    own = [*laws.field_laws(len(layout.names)), empty, *keyed.sentence_law(layout.names)]
    found = [*own, *attributes.head_laws(layout.names)]
    return Rows(tokens, found)


def marked(
    plan: pl.LazyFrame,
    layout: Layout,
    options: Marks,
    signs: Signs,
    carry: Carry = NOTHING_BEFORE,
) -> pl.LazyFrame:
    """Tell tokens from other lines, and carry the documents' names."""
    first, never = pl.col(layout.fields[0]), pl.lit(value=False)
    name = pl.lit(None, pl.String())
    if options.document:
        name = pl.when(signs.alone).then(first).str.extract(options.document)
    begins = name.is_not_null()
    comment = first.str.starts_with(options.comment) if options.comment else never
    apart = (signs.blank | begins).fill_null(value=False)
    no_token = (apart | comment).fill_null(value=False) | (pl.col(LINE) <= layout.header)
    return plan.with_columns(
        apart.cum_sum().alias(_BLOCK),
        no_token.alias(_NO_TOKEN),
        attributes.document_name(name, begins, carry),
        attributes.documents_begun(begins, carry),
    )


def tokens_of(marked: pl.LazyFrame, layout: Layout, carry: Carry = NOTHING_BEFORE) -> pl.LazyFrame:
    """Drop what is no token; number sentences and paragraphs, convert the heads."""
    plan = marked.filter(~pl.col(_NO_TOKEN))
    plan = keyed.placed(plan, layout.names, pl.col(_BLOCK), carry)
    return plan.with_columns(attributes.heads(layout.names))


def blockwise(layout: Layout, check: Check) -> Blockwise:
    """Return how a file of this layout is read in blocks."""

    def cut(content: bytes, _options: Marks) -> int:
        return keyed.cut(content, layout.names)

    def quickly(content: bytes, options: Marks, columns: Sequence[str]) -> Finish:
        return lambda carry: finished(content, options, columns, carry)

    def finished(
        content: bytes, options: Marks, columns: Sequence[str], carry: Carry
    ) -> Parsed | None:
        fields = layout.fields
        kept = [name for name in fields if name in _needed(columns, layout)]
        plan = lines.fields(content, fields, before=carry.lines)
        plan = plan.select(LINE, *kept, pl.col(fields[-1]).alias(LAST))
        every = marked(plan, layout, options, quick_signs(layout), carry).collect()
        tokens = tokens_of(every.lazy(), layout, carry).collect()
        kept_laws = quick.is_text(content) and _is_lawful(content, tokens, layout, carry)
        return _parsed(every, tokens, layout, carry) if kept_laws else None

    def carefully(content: bytes, options: Marks, carry: Carry) -> Parsed:
        whole = lines.lines_of(content, before=carry.lines).lazy()
        plan = lines.split(whole, layout.fields)
        every = marked(plan, layout, options, careful_signs(), carry).collect()
        tokens = tokens_of(every.lazy(), layout, carry).collect()
        rows = judged(tokens.lazy(), layout)
        skipped = laws.skips(rows)
        found = _parsed(every, tokens, layout, carry)
        return replace(found, tokens=laws.sound(rows).collect(), skipped=skipped)

    return Blockwise(cut, quickly, carefully, check)


def _parsed(every: pl.DataFrame, tokens: pl.DataFrame, layout: Layout, carry: Carry) -> Parsed:
    after = carry.after(every, tokens, lines=every.height)
    last = keyed.last_of(tokens, layout.names) or carry.last
    return Parsed(tokens, replace(after, last=last), keys=keyed.sentences(tokens, layout.names))


def _needed(columns: Sequence[str], layout: Layout) -> set[str]:
    """Return the fields to read, those that laws and numbers rest on included."""
    fields = layout.fields
    own = {keyed.role(name) for name in layout.names if name in keyed.ROLES}
    return {*attributes.raw(columns), *fields[:2], fields[-1], attributes.RAW_HEAD, *own}


def _is_lawful(content: bytes, tokens: pl.DataFrame, layout: Layout, carry: Carry) -> bool:
    first = tokens.get_column(layout.fields[0])
    keys = [role for role in keyed.sentence_key(layout.names) if role == keyed.role("sentence")]
    whole = quick.has_fields(content, tokens, width=len(layout.names), before=carry.lines)
    missing = first.has_nulls() or any(tokens.get_column(key).has_nulls() for key in keys)
    return whole and not missing and quick.heads_inside(tokens)
