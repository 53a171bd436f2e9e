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
from pipeline.formats.base import LINE, CorpusOptions, Skipped
from pipeline.formats.lines import TEXT

BLANK = "~blank"
"""Given to a format: whether a line is empty, or holds blanks and tabs alone."""
ALONE = "~alone"
"""Given to a format: whether a line has one field alone."""
LAST = "~last"
"""The last field of a line as it is written."""

ENTRY = "~entry"
"""Number of what a row comes from, if several of these stand on a line of the file."""

UNIT = "~unit"
"""What tells units (sentences) apart: they stand or fall as one; null outside of units."""
ROW = "~row"
"""Whether a line is a row, to be judged; without this column all are."""
POSITION = "position"
"""The 1-based place of a token in its unit, null for a row that is no token; without this column
tokens are counted."""
SOME = "~some"
"""Of a line with lists of tokens: whether it holds any; without this column the lists are asked."""
HEAD = "head"
"""The attribute that is the position of a token's head."""
RAW_HEAD = "~raw_head"
"""`HEAD` as it is written."""

LEMMA = "lemma"
"""The attribute with the lemma of a token."""

FORMS = ("form", "word", "token")
"""What the attribute with the word as it stands is called."""

SURFACE = "surface"
"""The attribute with what is written for a token in place of its form; "" if it is written within
the token before, null if as its form."""
SPACE_AFTER = "space_after"
"""The attribute with what stands between a token and the next; null for one space."""

DOCUMENT = "~document"
"""True on a line where a document begins, false where one ends, null elsewhere."""
NAME = "~name"
"""The name of the document that begins; null or empty: it is called by its number, ``#2``."""
PARAGRAPH = "~paragraph"
"""True on a line where a paragraph begins, false where one ends, null elsewhere."""
ABOUT, ABOUT_PARAGRAPH = "~about", "~about_paragraph"
"""What a line says of the document, or of the paragraph, that has begun, as it is written; null
elsewhere. Attributes of metadata, see `Grammar`, are looked up there."""
KEY = "~key"
"""What a paragraph goes by where a change begins one: the same as the last before, it goes on."""


# Attributes, numbers and heads.

PLACE = {
    LINE: pl.Int64(),
    "doc": pl.String(),
    "paragraph": pl.Int64(),
    "sentence": pl.Int64(),
    POSITION: pl.Int64(),
}
"""The first columns of every corpus."""


def check_names(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return names of attributes.

    Raises
    ------
    ValueError
        If one comes twice, is empty, or is a column that the reader makes.
    """
    taken = [name for name in names if name in {"file", *PLACE}]
    if taken:
        raise ValueError(f"{taken[0]!r} is a column that the reader makes; choose another name")
    return lines.distinct(names)


Attributes: TypeAlias = Annotated[tuple[str, ...], AfterValidator(check_names)]
"""Names of attributes, each once, none of them a column that the reader makes."""


def raw(names: Iterable[str]) -> list[str]:
    """Return the names under which fields are read: `HEAD` as `RAW_HEAD`."""
    return [RAW_HEAD if name == HEAD else name for name in names]


def first_in_unit() -> pl.Expr:
    """Return whether a row is the first of its `UNIT`; false outside of units."""
    return pl.col(UNIT).ne_missing(pl.col(UNIT).shift()) & pl.col(UNIT).is_not_null()


def numbers(lists: Sequence[str] = ()) -> list[pl.Expr]:
    """Return sentence, counting the units that have rows, and `POSITION`, counting tokens.

    Parameters
    ----------
    lists : sequence of str
        Columns with lists, if a row holds several tokens; its positions are a list, too.

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
    """Return `HEAD`, if `RAW_HEAD` is among names: null where there is none."""
    text = pl.col(RAW_HEAD).str.replace(r"\.0*$", "")  # 2.0, where heads were kept as floats
    return [text.cast(pl.Int64, strict=False).alias(HEAD)] if RAW_HEAD in names else []


def no_spaces(names: Collection[str]) -> list[pl.Expr]:
    """Return `SPACE_AFTER`, if it is a column of a table: "" where it says No, false or 0.

    Examples
    --------
    >>> rows = pl.DataFrame({"space_after": ["No", "false", "Yes", None]})
    >>> rows.select(no_spaces(rows.columns)).to_series().to_list()
    ['', '', None, None]
    """
    none = pl.col(SPACE_AFTER).str.to_lowercase().is_in(["no", "false", "0"])
    found = pl.when(none).then(pl.lit("")).alias(SPACE_AFTER)
    return [found] if SPACE_AFTER in names else []


def columns(attributes: Iterable[str]) -> list[str]:
    """Return the columns of a token table, in order."""
    return [*PLACE, *attributes]


# Lemmas that are none: what taggers write for a word that they do not know.

PLACEHOLDERS = ("_", "<unknown>", "__UNDEF__", "@card@", "@ord@")
"""CoNLL-U; TreeTagger, of unknown words and of numbers; the Corpus Workbench."""


class LemmaOptions(CorpusOptions):
    """Options of the readers whose tokens may have lemmas."""

    placeholders: tuple[str, ...] = PLACEHOLDERS
    """Values of the attribute lemma that say that a token has none: the form of the token stands
    in their place, and a remark counts them. ``[]`` takes them for lemmas."""


@dataclass(frozen=True)
class Lemmas:
    """Where a token's lemma may be a placeholder.

    Parameters
    ----------
    form : str or None
        The attribute that stands in its place; None: nothing does.
    placeholders : sequence of str
        The values that are no lemmas.

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
        """Return the further columns that are needed where these are wanted."""
        return {self.form} if self.form and self.placeholders and LEMMA in names else set()

    def fill(self, tokens: pl.DataFrame) -> tuple[pl.DataFrame, dict[str, int]]:
        """Return the tokens with forms for lemmas that are none, and how many these were."""
        if not (self.placeholders and LEMMA in tokens.columns):
            return tokens, {}
        lemma = tokens.get_column(LEMMA)
        none = lemma.is_in(list(self.placeholders))
        rows = none.arg_true()
        if rows.is_empty():
            return tokens, {}
        form = tokens.get_column(self.form) if self.form else pl.Series([None], dtype=pl.String())
        filled = form.zip_with(none, lemma).alias(LEMMA)
        written = lemma.gather(rows)
        replaced = count_replaced(written.filter(written.ne_missing(filled.gather(rows))))
        return tokens.with_columns(filled), replaced


def count_replaced(lemmas: pl.Series) -> dict[str, int]:
    """Return how many of each placeholder there are, as `Batch` has it.

    Examples
    --------
    >>> count_replaced(pl.Series(["_", "_"]))
    {'lemma _': 2}
    """
    counted = lemmas.value_counts(sort=True, name="count")
    return {f"{LEMMA} {value}": count for value, count in counted.iter_rows()}


def form_of(names: Sequence[str]) -> str | None:
    """Return which of some attributes is the form: form, word or token, or the first one.

    None if that is the lemma.

    Examples
    --------
    >>> form_of(["id", "word", "lemma"]), form_of(["lemma", "pos"])
    ('word', None)
    """
    named = [name for name in FORMS if name in names]
    first = [*named, *names][:1]
    return first[0] if first and first != [LEMMA] else None


# Ends of units: where a part of a file can be cut.


def after_last_line(content: bytes) -> int:
    r"""Return the end of the last line that is whole.

    Examples
    --------
    >>> after_last_line(b"one\ntwo")
    4
    """
    return content.rfind(b"\n") + 1


_WHITE = rb"\n[ \t]+\r?(?=\n)"  # the next may begin with that line end


def after_blank_line(content: bytes) -> int:
    r"""Return the end of the last blank line after another line.

    Where no line is empty, it is the last that holds blanks and tabs alone.

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
    return max((found.end() + 1 for found in re.finditer(_WHITE, content)), default=0)


# Regular expressions in options.


def groups(pattern: str) -> int:
    """Return how many groups a regular expression has.

    Raises
    ------
    ValueError
        If it is none.

    Examples
    --------
    >>> groups(r"^### (.*)$")
    1
    """
    try:
        dtype = pl.select(pl.lit("").str.extract_groups(pattern)).to_series().dtype
    except pl.exceptions.ComputeError as error:
        raise ValueError(f"no regular expression: {error}") from error
    return len(dtype.fields) if isinstance(dtype, pl.Struct) else 0


def _check_pattern(pattern: str) -> str:
    groups(pattern)
    return pattern


def _check_one_group(pattern: str) -> str:
    if pattern and groups(pattern) != 1:
        raise ValueError(f"needs one group in round brackets, has {groups(pattern)}")
    return pattern


def _check_two_groups(pattern: str) -> str:
    if groups(pattern) != 2:
        raise ValueError(f"needs two groups in round brackets, has {groups(pattern)}")
    return pattern


Pattern: TypeAlias = Annotated[str, AfterValidator(_check_pattern)]
"""A regular expression as Polars reads it (the syntax of Rust's regex: no look-around)."""
NamingPattern: TypeAlias = Annotated[str, AfterValidator(_check_one_group)]
"""A regular expression with one group, or nothing."""
CuttingPattern: TypeAlias = Annotated[str, AfterValidator(_check_two_groups)]
"""A regular expression with two groups."""


# Rules and what breaks them.

NOT_UTF8 = "not UTF-8"
BARE_RETURN = "holds a carriage return without a line feed, which may be meant as a line end"

TOKENS = "~tokens"
"""Of a violation: how many tokens are left out with it."""

_EXAMPLES = 3
_WIDTH = 80


@dataclass(frozen=True)
class Rule:
    """One thing that can be wrong with a row.

    Parameters
    ----------
    broken : Expr
        Boolean, evaluated over all rows of a block in order; null counts as kept.
    says : str or Expr
        What is wrong, as text or what makes it.
    value : str or Expr
        What stands there: a column, or what makes it. `TEXT` is the whole line.
    among : Expr, optional
        Which lines of the block it is evaluated over, if not over the rows.
    """

    broken: pl.Expr
    says: str | pl.Expr
    value: str | pl.Expr = TEXT
    among: pl.Expr | None = None


@dataclass(frozen=True)
class Unique:
    """What may not come twice in a file.

    Parameters
    ----------
    key : sequence of str or Expr
        What is compared.
    says, value, among
        As in `Rule`; it is evaluated over the first row of each unit, if not among other lines.
    """

    key: Sequence[str | pl.Expr]
    says: str
    value: str | pl.Expr
    among: pl.Expr | None = None


def text_rules() -> list[Rule]:
    """Return the rules of a line of text, as `lines.lines` gives it."""
    binary = pl.col(TEXT).str.contains("\0", literal=True)
    return [
        Rule(pl.col(TEXT).is_null(), NOT_UTF8),
        Rule(binary, "holds a NUL byte: binary, or UTF-16"),
        # On any line: what follows a comment may be a token.
        Rule(pl.col(TEXT).str.contains("\r", literal=True), BARE_RETURN, among=pl.lit(value=True)),
    ]


def field_rules(width: int) -> list[Rule]:
    """Return the rules of a line of `width` tab-separated fields, as `lines.split` gives it."""
    count = pl.col(TEXT).str.count_matches("\t", literal=True) + 1
    says = count.cast(pl.String) + f" field(s), not {width}"
    return [*text_rules(), Rule(count != width, says)]


def head_rules() -> list[Rule]:
    """Return the rules that a head is a whole number, and a position in its sentence or 0."""
    head, position = pl.col(HEAD), pl.col(POSITION)
    bad = position.is_not_null() & (pl.col(RAW_HEAD) != "_") & (head.is_null() | (head < 0))
    size = position.max().over(UNIT)
    says = pl.lit("head outside its sentence of ") + size.cast(pl.String) + " token(s)"
    return [
        Rule(bad, "head is no whole number", RAW_HEAD),
        Rule(head > size, says, HEAD),
    ]


def readable() -> pl.Expr:
    """Return whether `TEXT` is text at all."""
    return pl.col(TEXT).is_not_null() & ~pl.col(TEXT).str.contains("\0", literal=True)


def are_broken(lines: pl.DataFrame, rows: pl.DataFrame, rules: Sequence[Rule]) -> bool:
    """Return whether any rule is broken in a block, given its lines and its rows."""
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
    """Return the first thing wrong with each line: `LINE`, `UNIT`, problem, value, `TOKENS`.

    Parameters
    ----------
    lines, rows : DataFrame
        Its lines, and those of them that are `ROW`, with what is known of them.
    rules : sequence of Rule
        What the rows must keep to.
    of_lines : sequence of Rule
        What their lines must keep to; what breaks these is not asked for more.
    """
    # Of two errors in a line the first counts: that of the line, before those of its fields.
    own = reversed(_rules_by_frame(lines, lines.filter(ROW), of_lines))
    judged = [*own, *_rules_by_frame(lines, rows, rules)]
    broken = pl.concat(_find_broken(frame, those) for frame, those in judged if those)
    first = broken.unique(LINE, keep="first", maintain_order=True).sort(LINE)
    return first.with_columns(_lost_tokens(first, rows).alias(TOKENS))


def _lost_tokens(violations: pl.DataFrame, rows: pl.DataFrame) -> pl.Series:
    """Return how many tokens are left out with each violation: all of its unit, or its own."""
    position = pl.col(POSITION)
    listed = rows.schema[POSITION] == pl.List
    # A row whose position cannot be read is taken for a token.
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
    """Return what may not come twice, with its `LINE`, as ``key``."""
    frame = rows.filter(first_in_unit()) if unique.among is None else lines.filter(unique.among)
    return frame.select(LINE, pl.struct(unique.key).alias("key"))


def valid(rows: pl.DataFrame, violations: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of the units in which nothing is wrong."""
    return rows.join(violations, on=UNIT, how="anti", nulls_equal=True, maintain_order="left")


def skipped(violations: pl.DataFrame) -> tuple[Skipped, ...]:
    """Return the first thing wrong in each unit, and each thing wrong outside of units.

    The first one counts for the whole unit, which is left out with its tokens.
    """
    again = pl.col(UNIT).is_not_null() & ~pl.col(UNIT).is_first_distinct()
    return tuple(_as_skipped(violations.filter(~again)))


def rules_error(path: Path, violations: pl.DataFrame, remedy: str) -> DataError:
    """Return the error that says which lines of a file are wrong: how many, three examples."""
    shown = "".join(f"\n  {each}" for each in _as_skipped(violations.head(_EXAMPLES)))
    advice = f", or {remedy}" if remedy else ""
    return DataError(
        f"{path}: {violations.height:,} line(s) cannot be used:{shown}\n"
        f"Mend them{advice}, or set lenient = true to leave out the sentences concerned."
    )


def report_no_tokens(path: Path, *, lenient: bool) -> tuple[Skipped, ...]:
    """Say that a file has no tokens.

    Raises
    ------
    DataError
        If not lenient.
    """
    if lenient:
        return (Skipped(1, "the file is empty: it has no tokens"),)
    raise DataError(
        f"{path}: line 1: the file is empty: it has no tokens\n"
        "Take it out, or set lenient = true to pass over such files."
    )


def _rules_by_frame(
    lines: pl.DataFrame, rows: pl.DataFrame, rules: Sequence[Rule]
) -> list[tuple[pl.DataFrame, list[Rule]]]:
    """Return what the rules are evaluated over: those of rows together, others one by one."""
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


def _as_text(given: str | pl.Expr, *, literal: bool = False) -> pl.Expr:
    if isinstance(given, str):
        return pl.lit(given) if literal else pl.col(given).cast(pl.String)
    return given


def _as_skipped(violations: pl.DataFrame) -> list[Skipped]:
    inside = pl.col(UNIT).is_not_null().cast(pl.Int64)
    rows = violations.select(LINE, "problem", "value", inside, TOKENS).iter_rows()
    return [Skipped(line, problem, value[:_WIDTH], *lost) for line, problem, value, *lost in rows]
