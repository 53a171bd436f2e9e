"""Rules of corpus files: the columns of a block, what its rows must satisfy, error messages."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeAlias

import polars as pl
from pydantic import AfterValidator

from pipeline.errors import DataError
from pipeline.formats import lines
from pipeline.formats.base import LINE, CorpusOptions, SkippedPart
from pipeline.formats.lines import TEXT
from schemas.errors import count_text

BLANK = "~blank"
"""Input of a format: true for lines that are empty or contain only blanks and tabs."""
ALONE = "~alone"
"""Input of a format: true for lines with a single field."""
LAST = "~last"
"""The last field of a line as written."""

ENTRY = "~entry"
"""Number of the entry of a row, if a line has several entries."""

UNIT = "~unit"
"""Identifies units (sentences), which are accepted or skipped as a whole; null outside units."""
ROW = "~row"
"""True for lines that are rows; by default all lines."""
POSITION = "position"
"""1-based position of a token in its unit, null for rows without token; by default tokens are
counted.
"""
SOME = "~some"
"""For lines with lists of tokens: true if not empty; by default computed from the lists."""
HEAD = "head"
"""Attribute with the position of a token's head."""
RAW_HEAD = "~raw_head"
"""`HEAD` as written."""

LEMMA = "lemma"
"""Attribute with the lemma."""

FORMS = ("form", "word", "token")
"""Names of the attribute with the word form."""

SURFACE = "surface"
"""Attribute with the surface of a token if it differs from the form; "" if included in the previous
token, null if equal to the form.
"""
SPACE_AFTER = "space_after"
"""Attribute with the text between a token and the next; null for one space."""

DOCUMENT = "~document"
"""True on a line where a document begins, false where one ends, null elsewhere."""
NAME = "~name"
"""Name of the document that begins; null or empty: it is named by its number, ``#2``."""
PARAGRAPH = "~paragraph"
"""True on a line where a paragraph begins, false where one ends, null elsewhere."""
ABOUT, ABOUT_PARAGRAPH = "~about", "~about_paragraph"
"""Metadata of the open document or paragraph as written in a line; null elsewhere. Source of
metadata attributes, see `Grammar`.
"""
KEY = "~key"
"""Key whose change begins a paragraph."""


# Attributes, numbers and heads.

PLACE = {
    LINE: pl.Int64(),
    "doc": pl.String(),
    "paragraph": pl.Int64(),
    "sentence": pl.Int64(),
    POSITION: pl.Int64(),
}
"""The first columns of all corpora."""


def check_names(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return valid attribute names.

    Raises
    ------
    ValueError
        If a name is duplicate, empty, or a column that the reader adds.
    """
    clashes = [name for name in names if name in {"file", *PLACE}]
    if clashes:
        raise ValueError(f"{clashes[0]!r} is a column that the reader adds; choose another name")
    return lines.distinct(names)


Attributes: TypeAlias = Annotated[tuple[str, ...], AfterValidator(check_names)]
"""Unique attribute names, other than those that the reader adds."""


def raw(names: Iterable[str]) -> list[str]:
    """Return the names of fields for reading: `RAW_HEAD` for `HEAD`."""
    return [RAW_HEAD if name == HEAD else name for name in names]


def first_in_unit() -> pl.Expr:
    """Return true for the first row of each `UNIT`; false outside units."""
    return pl.col(UNIT).ne_missing(pl.col(UNIT).shift()) & pl.col(UNIT).is_not_null()


def numbers(lists: Sequence[str] = ()) -> list[pl.Expr]:
    """Return sentence (counting units with rows) and `POSITION` (counting tokens).

    Parameters
    ----------
    lists : sequence of str
        List columns, if rows have several tokens; positions are then lists, too.

    Examples
    --------
    >>> rows = pl.DataFrame({UNIT: [1, 1, 2], "form": [["a", "b"], ["c"], ["d"]]})
    >>> rows.select(numbers()).rows()
    [(1, 1), (1, 2), (2, 1)]
    >>> rows.select(numbers(["form"])).rows()
    [(1, [1, 2]), (1, [3]), (2, [1])]
    """
    size = pl.col(lists[0]).list.len().cast(pl.Int64) if lists else pl.lit(1, pl.Int64)
    before = size.fill_null(0).cum_sum() - size if lists else pl.int_range(pl.len())
    first = before - pl.when(first_in_unit()).then(before).forward_fill() + 1
    place = pl.int_ranges(first, first + size, dtype=pl.Int64) if lists else first
    sentence = first_in_unit().cum_sum().cast(pl.Int64)
    return [sentence.alias("sentence"), place.alias(POSITION)]


def heads(names: Collection[str]) -> list[pl.Expr]:
    """Return `HEAD` if `RAW_HEAD` is among names, null for no head."""
    text = pl.col(RAW_HEAD).str.replace(r"\.0*$", "")  # 2.0, for heads stored as floats
    return [text.cast(pl.Int64, strict=False).alias(HEAD)] if RAW_HEAD in names else []


def no_spaces(names: Collection[str]) -> list[pl.Expr]:
    """Return `SPACE_AFTER` from a column of a table: "" for No, false or 0.

    Examples
    --------
    >>> rows = pl.DataFrame({"space_after": ["No", "false", "Yes", None]})
    >>> rows.select(no_spaces(rows.columns)).to_series().to_list()
    ['', '', None, None]
    """
    none = pl.col(SPACE_AFTER).str.to_lowercase().is_in(["no", "false", "0"])
    space = pl.when(none).then(pl.lit("")).alias(SPACE_AFTER)
    return [space] if SPACE_AFTER in names else []


def columns(attributes: Iterable[str]) -> list[str]:
    """Return the columns of a token table, in order."""
    return [*PLACE, *attributes]


# Placeholders of lemmas, written by taggers for unknown words

PLACEHOLDERS = ("_", "<unknown>", "__UNDEF__", "@card@", "@ord@")
"""CoNLL-U; TreeTagger, for unknown words and numbers; Corpus Workbench."""


class LemmaOptions(CorpusOptions):
    """Options of readers whose tokens may have lemmas."""

    placeholders: tuple[str, ...] = PLACEHOLDERS
    """Values of lemma to replace by the form."""


@dataclass(frozen=True)
class Lemmas:
    """Replacement of placeholder lemmas.

    Parameters
    ----------
    form : str or None
        Attribute that replaces a placeholder; None: null.
    placeholders : sequence of str
        The placeholder values.

    Examples
    --------
    >>> tokens = pl.DataFrame({"form": ["7", "_", "ran"], "lemma": ["@card@", "_", "run"]})
    >>> filled, replaced = Lemmas("form", ["_", "@card@"]).fill(tokens)
    >>> filled["lemma"].to_list(), replaced
    (['7', '_', 'run'], {'lemma @card@': 1})
    """

    form: str | None
    placeholders: Sequence[str]

    def columns(self, names: Collection[str]) -> set[str]:
        """Return further columns required for these."""
        return {self.form} if self.form and self.placeholders and LEMMA in names else set()

    def fill(self, tokens: pl.DataFrame) -> tuple[pl.DataFrame, dict[str, int]]:
        """Return the tokens with placeholders replaced, and their number."""
        if not (self.placeholders and LEMMA in tokens.columns):
            return tokens, {}
        lemma = tokens.get_column(LEMMA)
        none = lemma.is_in(list(self.placeholders))
        rows = none.arg_true()
        if rows.is_empty():
            return tokens, {}
        form = tokens.get_column(self.form) if self.form else pl.Series([None], dtype=pl.String())
        filled = form.zip_with(none, lemma).alias(LEMMA)
        values = lemma.gather(rows)
        replaced = count_replaced(values.filter(values.ne_missing(filled.gather(rows))))
        return tokens.with_columns(filled), replaced


def count_replaced(lemmas: pl.Series) -> dict[str, int]:
    """Return the number of each placeholder, as in `Batch`.

    Examples
    --------
    >>> count_replaced(pl.Series(["_", "_"]))
    {'lemma _': 2}
    """
    counted = lemmas.value_counts(sort=True, name="count")
    return {f"{LEMMA} {value}": count for value, count in counted.iter_rows()}


def form_of(names: Sequence[str]) -> str | None:
    """Return the attribute with the form: form, word or token, or the first one.

    None if this is the lemma.

    Examples
    --------
    >>> form_of(["id", "word", "lemma"]), form_of(["lemma", "pos"])
    ('word', None)
    """
    forms = [name for name in FORMS if name in names]
    first = [*forms, *names][:1]
    return first[0] if first and first != [LEMMA] else None


# Ends of units, where a file can be split


def after_last_line(content: bytes) -> int:
    r"""Return the end of the last complete line.

    Examples
    --------
    >>> after_last_line(b"one\ntwo")
    4
    """
    return content.rfind(b"\n") + 1


_WHITE = rb"\n[ \t]+\r?(?=\n)"  # the next chunk may begin with the rest of the line end


def after_blank_line(content: bytes) -> int:
    r"""Return the end of the last blank line after another line.

    Without empty lines, the last line of only blanks and tabs.

    Examples
    --------
    >>> after_blank_line(b"one\ntwo\n\nthree\n"), after_blank_line(b"one\n")
    (9, 0)
    >>> after_blank_line(b"one\n \t\ntwo\n")
    7
    """
    end = content.rfind(b"\n\n") + 2
    later = content.rfind(b"\n\r\n", max(0, end - 2)) + 3
    if later > 2 or end > 1:
        return later if later > 2 else end
    return max((match.end() + 1 for match in re.finditer(_WHITE, content)), default=0)


# Regular expressions in options.


def groups(pattern: str) -> int:
    """Return the number of groups of a regular expression.

    Raises
    ------
    ValueError
        If it is invalid.

    Examples
    --------
    >>> groups(r"^### (.*)$")
    1
    """
    try:
        dtype = pl.select(pl.lit("").str.extract_groups(pattern)).to_series().dtype
    except pl.exceptions.ComputeError as error:
        raise ValueError(f"not a valid regular expression: {error}") from error
    return len(dtype.fields) if isinstance(dtype, pl.Struct) else 0


def _check_pattern(pattern: str) -> str:
    groups(pattern)
    return pattern


def _check_one_group(pattern: str) -> str:
    if pattern and groups(pattern) != 1:
        raise ValueError(f"must have one group in round brackets, not {groups(pattern)}")
    return pattern


def _check_two_groups(pattern: str) -> str:
    if groups(pattern) != 2:
        raise ValueError(f"must have two groups in round brackets, not {groups(pattern)}")
    return pattern


Pattern: TypeAlias = Annotated[str, AfterValidator(_check_pattern)]
"""A regular expression for Polars (Rust syntax, without look-around)."""
NamingPattern: TypeAlias = Annotated[str, AfterValidator(_check_one_group)]
"""A regular expression with one group, or empty."""
CuttingPattern: TypeAlias = Annotated[str, AfterValidator(_check_two_groups)]
"""A regular expression with two groups."""


# Rules and violations

NOT_UTF8 = "not UTF-8"
BARE_RETURN = "contains a carriage return without a line feed, possibly a line end"

TOKENS = "~tokens"
"""Number of tokens skipped with a violation."""

_EXAMPLES = 3
_WIDTH = 80


@dataclass(frozen=True)
class Rule:
    """A rule for rows.

    Parameters
    ----------
    broken : Expr
        Boolean, evaluated over all rows of a block in order; null counts as valid.
    says : str or Expr
        The message, as text or expression.
    value : str or Expr
        The offending value, as column or expression. `TEXT` is the whole line.
    among : Expr, optional
        Lines of the block to which it applies, if not the rows.
    """

    broken: pl.Expr
    says: str | pl.Expr
    value: str | pl.Expr = TEXT
    among: pl.Expr | None = None


@dataclass(frozen=True)
class Unique:
    """Values that must be unique in a file.

    Parameters
    ----------
    key : sequence of str or Expr
        The values compared.
    says, value, among
        As in `Rule`; evaluated over the first row of each unit unless `among` is given.
    """

    key: Sequence[str | pl.Expr]
    says: str
    value: str | pl.Expr
    among: pl.Expr | None = None


def text_rules() -> list[Rule]:
    """Return the rules of a line of text from `lines.lines`."""
    binary = pl.col(TEXT).str.contains("\0", literal=True)
    return [
        Rule(pl.col(TEXT).is_null(), NOT_UTF8),
        Rule(binary, "contains a NUL byte: binary or UTF-16"),
        # On any line: a comment may be followed by a token.
        Rule(pl.col(TEXT).str.contains("\r", literal=True), BARE_RETURN, among=pl.lit(value=True)),
    ]


def field_rules(width: int) -> list[Rule]:
    """Return the rules of a line of `width` tab-separated fields from `lines.split`."""
    count = pl.col(TEXT).str.count_matches("\t", literal=True) + 1
    says = pl.lit(f"expected {width} fields, found ") + count.cast(pl.String)
    return [*text_rules(), Rule(count != width, says)]


def head_rules() -> list[Rule]:
    """Return the rules for heads: whole numbers, positions in the sentence or 0."""
    head, position = pl.col(HEAD), pl.col(POSITION)
    bad = position.is_not_null() & (pl.col(RAW_HEAD) != "_") & (head.is_null() | (head < 0))
    size = position.max().over(UNIT)
    says = pl.lit("head outside its sentence, whose last token is ") + size.cast(pl.String)
    return [
        Rule(bad, "head is not a whole number", RAW_HEAD),
        Rule(head > size, says, HEAD),
    ]


def readable() -> pl.Expr:
    """Return true if `TEXT` is valid text."""
    return pl.col(TEXT).is_not_null() & ~pl.col(TEXT).str.contains("\0", literal=True)


def are_broken(lines: pl.DataFrame, rows: pl.DataFrame, rules: Sequence[Rule]) -> bool:
    """Return true if a block violates any rule, given its lines and rows."""
    return any(
        frame.lazy().select(pl.any_horizontal(each.broken.any() for each in own)).collect().item()
        for frame, own in _rules_by_frame(lines, rows, rules)
    )


def violations(
    lines: pl.DataFrame,
    rows: pl.DataFrame,
    rules: Sequence[Rule],
    *,
    of_lines: Sequence[Rule],
) -> pl.DataFrame:
    """Return the first violation in each line: `LINE`, `UNIT`, problem, value, `TOKENS`.

    Parameters
    ----------
    lines, rows : DataFrame
        Its lines, and those that are `ROW`, with all columns.
    rules : sequence of Rule
        Rules for rows.
    of_lines : sequence of Rule
        Rules for lines; violations exempt a line from other rules.
    """
    # The first error of a line counts: errors of lines come before those of fields.
    own = reversed(_rules_by_frame(lines, lines.filter(ROW), of_lines))
    judged = [*own, *_rules_by_frame(lines, rows, rules)]
    broken = pl.concat(_find_broken(frame, those) for frame, those in judged if those)
    first = broken.unique(LINE, keep="first", maintain_order=True).sort(LINE)
    return first.with_columns(_lost_tokens(first, rows).alias(TOKENS))


def _lost_tokens(violations: pl.DataFrame, rows: pl.DataFrame) -> pl.Series:
    """Return the number of tokens skipped with each violation: all of its unit, or its own."""
    position = pl.col(POSITION)
    listed = rows.schema[POSITION] == pl.List
    # A row with an unreadable position counts as a token.
    one = position.is_not_null() | pl.col(LINE).is_in(violations.get_column(LINE).implode())
    counted = rows.select(UNIT, LINE, tokens=position.list.len() if listed else one.cast(pl.UInt32))
    of_unit, of_line = (
        violations.select(key).join(
            counted.group_by(key).agg(pl.sum("tokens")), on=key, how="left", maintain_order="left"
        )
        for key in (UNIT, LINE)
    )
    inside = violations.get_column(UNIT).is_not_null()
    return of_unit["tokens"].zip_with(inside, of_line["tokens"]).fill_null(0).cast(pl.Int64)


def keys(lines: pl.DataFrame, rows: pl.DataFrame, unique: Unique) -> pl.DataFrame:
    """Return unique values with their `LINE`, as ``key``."""
    frame = rows.filter(first_in_unit()) if unique.among is None else lines.filter(unique.among)
    return frame.select(LINE, pl.struct(unique.key).alias("key"))


def valid(rows: pl.DataFrame, violations: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of valid units."""
    return rows.join(violations, on=UNIT, how="anti", nulls_equal=True, maintain_order="left")


def skipped_parts(violations: pl.DataFrame) -> tuple[SkippedPart, ...]:
    """Return the first violation of each unit, and all violations outside units.

    The first violation counts for the whole unit, which is skipped with its tokens.
    """
    again = pl.col(UNIT).is_not_null() & ~pl.col(UNIT).is_first_distinct()
    return tuple(_as_skipped(violations.filter(~again)))


def rules_error(path: Path, violations: pl.DataFrame, remedy: str) -> DataError:
    """Return the error for invalid lines of a file, with their number and three examples."""
    examples = "".join(f"\n  {each}" for each in _as_skipped(violations.head(_EXAMPLES)))
    advice = f", or {remedy}" if remedy else ""
    return DataError(
        f"{path}: {count_text(violations.height, 'line')} cannot be used:{examples}\n"
        f"Correct them{advice}, or set lenient = true to skip the sentences concerned."
    )


def report_no_tokens(path: Path, *, lenient: bool) -> tuple[SkippedPart, ...]:
    """Report a file without tokens.

    Raises
    ------
    DataError
        Unless lenient.
    """
    if lenient:
        return (SkippedPart(1, "the file is empty: it has no tokens"),)
    raise DataError(
        f"{path}: line 1: the file is empty: it has no tokens\n"
        "Omit it, or set lenient = true to skip such files."
    )


def _rules_by_frame(
    lines: pl.DataFrame, rows: pl.DataFrame, rules: Sequence[Rule]
) -> list[tuple[pl.DataFrame, list[Rule]]]:
    """Return the frames on which rules are evaluated: one for rows, one for each other rule."""
    own = [rule for rule in rules if rule.among is None]
    others = [(lines.filter(rule.among), [rule]) for rule in rules if rule.among is not None]
    return [*([(rows, own)] if own else []), *others]


def _find_broken(frame: pl.DataFrame, rules: Sequence[Rule]) -> pl.DataFrame:
    flags = {f"~{index}": rule for index, rule in enumerate(rules)}
    flagged = frame.with_columns(rule.broken.alias(name) for name, rule in flags.items())
    says = {name: _as_text(rule.says, literal=True) for name, rule in flags.items()}
    value = {name: _as_text(rule.value).fill_null("") for name, rule in flags.items()}
    return flagged.select(
        LINE,
        UNIT,
        pl.coalesce(pl.when(name).then(text) for name, text in says.items()).alias("problem"),
        pl.coalesce(pl.when(name).then(text) for name, text in value.items()).alias("value"),
    ).filter(pl.col("problem").is_not_null())


def _as_text(value: str | pl.Expr, *, literal: bool = False) -> pl.Expr:
    if isinstance(value, str):
        return pl.lit(value) if literal else pl.col(value).cast(pl.String)
    return value


def _as_skipped(violations: pl.DataFrame) -> list[SkippedPart]:
    inside = pl.col(UNIT).is_not_null().cast(pl.Int64)
    rows = violations.select(LINE, "problem", "value", inside, TOKENS).iter_rows()
    return [
        SkippedPart(line, problem, value[:_WIDTH], *lost) for line, problem, value, *lost in rows
    ]
