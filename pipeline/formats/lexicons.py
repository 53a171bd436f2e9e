"""Lexicons: UniMorph, blocks of wordforms, the output of morphological generators, treebanks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import polars as pl
from pydantic import Field

from pipeline.errors import DataError
from pipeline.formats import content, lines
from pipeline.formats.base import LINE, FormatOptions, SkippedPart, format_of, reader, reading
from pipeline.formats.corpora.conllu import ConlluOptions
from pipeline.formats.lines import TEXT
from schemas.errors import count_text

_EXAMPLES = 3
_ANALYSIS = r"^((?:\\.|[^\\:])*)(?::([<>]))?:((?:\\.|[^\\<:])*)((?:<[^<>]*>)*)(.*)$"
"""form, direction, lemma, tags, and the rest, e.g. the queue of a multiword."""


class UnimorphOptions(FormatOptions):
    """Options for UniMorph files."""

    comment: str | None = None
    """Skip lines with this prefix."""
    header: bool | None = None
    """The first line is a header (default: if its fields are lemma, form, features)."""


class BlockOptions(FormatOptions):
    """Options for blocks of wordforms."""

    head: Literal["form", "name"] = "form"
    """The first line of a block is the lemma: ``form`` counts it as a wordform, ``name`` does
    not.
    """
    comment: str | None = None
    """Skip lines with this prefix, also within blocks."""


class AnalysisOptions(FormatOptions):
    """Options for the output of a morphological generator."""

    directions: tuple[Literal["both", "generation", "analysis"], ...] = Field(
        default=("both", "generation", "analysis"), min_length=1
    )
    """Entries to read: ``both`` directions, ``generation`` (``form:>:lemma``), ``analysis``
    (``form:<:lemma``).
    """


def _refuse_lines(path: Path, wrong: pl.LazyFrame, problem: str, remedy: str) -> None:
    """Raise an error for unreadable lines."""
    with reading(path):
        bad = wrong.select(LINE, TEXT).collect().sort(LINE)
    if bad.height:
        rows = bad.head(_EXAMPLES).rows()
        examples = "".join(f"\n  line {line}: {str(text)[:80]!r}" for line, text in rows)
        raise DataError(
            f"{path}: {count_text(bad.height, 'invalid line')} ({problem}):{examples}\n{remedy}"
        )


def _texts(path: Path, comment: str | None) -> pl.LazyFrame:
    """Return the lines except comments."""
    every = lines.lines(path)
    return every.filter(~pl.col(TEXT).str.starts_with(comment)) if comment else every


def _unimorph_rows(path: Path, options: UnimorphOptions) -> tuple[pl.LazyFrame, list[str]]:
    """Return the lines with text except the header, and the column names."""
    begin = content.first_lines(path)
    pairs = (each for each in enumerate(begin, 1) if each[1].strip())
    rows = (each for each in pairs if not (options.comment and each[1].startswith(options.comment)))
    number, first = next(rows, (0, ""))
    names = [] if options.header is False else content.unimorph_header(first)
    filled = _texts(path, options.comment).filter(pl.col(TEXT).str.strip_chars() != "")
    if names or options.header:
        filled = filled.filter(pl.col(LINE) != number)
    return filled, names or ["lemma", "form", "features"]


def _check_unimorph(path: Path, options: UnimorphOptions) -> Sequence[SkippedPart]:
    lines.check_ends(path)
    text, _ = _unimorph_rows(path, options)
    fields = pl.col(TEXT).str.count_matches("\t", literal=True)
    remedy = "Write lemma, form and features, separated by tabs."
    wrong = text.filter(~fields.is_in([1, 2, 3]))
    _refuse_lines(path, wrong, "not lemma, form and features", remedy)
    return ()


@reader("unimorph", suffixes=[".unimorph"], check=_check_unimorph, options=UnimorphOptions)
def scan_unimorph(path: Path, options: UnimorphOptions) -> pl.LazyFrame:
    """UniMorph: lemma, form and features separated by tabs; blank lines are allowed.

    Columns lemma, form, features and pos (the first feature). Features are optional, and a fourth
    field (segments) is ignored. A header determines the order.

    References
    ----------
    https://unimorph.github.io
    """
    filled, names = _unimorph_rows(path, options)
    table = lines.split(filled, names)
    features = pl.col("features") if "features" in names else pl.lit(None, pl.String)
    return table.select(
        LINE, "lemma", "form", features.alias("features"),
        pos=features.str.splitn(";", 2).struct[0],
    )  # fmt: skip


def _check_blocks(path: Path, options: BlockOptions) -> Sequence[SkippedPart]:
    lines.check_ends(path)
    wrong = _texts(path, options.comment).filter(pl.col(TEXT).str.contains("\t", literal=True))
    _refuse_lines(
        path, wrong, "with a tab", "Write one form per line, and a blank line after each lemma."
    )
    return ()


@reader("wordform_blocks", suffixes=[".wordforms"], check=_check_blocks, options=BlockOptions)
def scan_blocks(path: Path, options: BlockOptions) -> pl.LazyFrame:
    """One wordform per line, in blocks separated by blank lines, with the lemma first.

    Columns lemma and form. With head = "name", a lemma without forms has a null form.
    """
    text = _texts(path, options.comment).with_columns(pl.col(TEXT).str.strip_chars())
    blank = pl.col(TEXT) == ""
    numbered = text.with_columns(block=blank.cum_sum()).filter(~blank)
    first = pl.col("block").ne_missing(pl.col("block").shift())
    table = numbered.with_columns(
        first=first, lemma=pl.when(first).then(TEXT).forward_fill(), form=pl.col(TEXT)
    )
    if options.head == "form":
        return table.select(LINE, "lemma", "form")
    bare = pl.when(~pl.col("first")).then("form").alias("form")
    return table.select(LINE, "lemma", bare)


def _check_analyses(path: Path, _options: AnalysisOptions) -> Sequence[SkippedPart]:
    lines.check_ends(path)
    wrong = lines.lines(path).filter(
        (pl.col(TEXT).str.strip_chars() != "") & ~pl.col(TEXT).str.contains(_ANALYSIS)
    )
    _refuse_lines(path, wrong, "not form:lemma<tags>", "Remove other kinds of lines from the file.")
    return ()


@reader("analyses", suffixes=[".expanded"], check=_check_analyses, options=AnalysisOptions)
def scan_analyses(path: Path, options: AnalysisOptions) -> pl.LazyFrame:
    r"""Output of a morphological generator, ``form:lemma<tags>``, as written by lt-expand.

    Columns form, lemma, tags, pos (the first tag) and direction. A colon or bracket after a
    backslash is part of the word. The invariable part of a multiword, ``take<vblex># care``,
    belongs to the lemma: ``take# care``. Text after ``+`` belongs to another word and is ignored.
    """
    filled = lines.lines(path).filter(pl.col(TEXT).str.strip_chars() != "")
    rest = pl.col(TEXT).str.extract(_ANALYSIS, 5).str.extract(r"^(#[^+]*)").fill_null("")
    parts = filled.select(
        LINE, lemma=_unescape(3) + rest, form=_unescape(1),
        tags=pl.col(TEXT).str.extract(_ANALYSIS, 4),
        direction=pl.col(TEXT).str.extract(_ANALYSIS, 2)
        .replace_strict({">": "generation", "<": "analysis"}, default="both"),
    )  # fmt: skip
    pos = pl.col("tags").str.extract(r"^<([^<>]*)>")
    rows = parts.filter(pl.col("direction").is_in(options.directions))
    return rows.select(LINE, "lemma", "form", "tags", "direction", pos=pos)


def _unescape(group: int) -> pl.Expr:
    return pl.col(TEXT).str.extract(_ANALYSIS, group).str.replace_all(r"\\(.)", "${1}")


def _check_treebank(path: Path, options: ConlluOptions) -> Sequence[SkippedPart]:
    return format_of("", name="conllu").check(path, options)


@reader("treebank", suffixes=[], check=_check_treebank, options=ConlluOptions)
def scan_treebank(path: Path, options: ConlluOptions) -> pl.LazyFrame:
    """CoNLL-U as a lexicon: lemma, form, upos, xpos and feats of every word of the treebank.

    Lemmas among the `placeholders` are null, so that the word has no entry.
    """
    as_written = options.model_copy(update={"placeholders": ()})
    tokens = format_of("", name="conllu").scan(path, as_written)
    lemma = pl.col("lemma")
    none = lemma.is_in(list(options.placeholders)) & lemma.ne_missing(pl.col("form"))
    known = pl.when(~none.fill_null(value=False)).then(lemma).alias("lemma")
    return tokens.select(LINE, known, "form", "upos", "xpos", "feats")
