"""Token tables by a scan of bytes, against a slow reader and against the rules."""

from __future__ import annotations

import datetime
import gzip
import itertools
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from pipeline.errors import DataError
from pipeline.formats.base import format_of
from pipeline.formats.content import judge_header
from pipeline.formats.corpora.blocks import TextBlock
from pipeline.formats.corpora.token_table import TokenMarks, TokenScan
from tests.formats.corpora import slow_readers
from tests.formats.corpora.corpus_files import ONE_SIZE, read, refusal, scan, skips, write

PLACES = ["line", "doc", "paragraph", "sentence", "position"]
NAMES = ["form", "lemma", "upos"]
COLUMNS = [*PLACES, *NAMES]
SIZES = (1, 100, 1 << 23)
MARKS = TokenMarks("# ", r"^# doc +(.*?) *$")
SCAN = TokenScan(NAMES, MARKS, 0)
TRAPS = (
    "# form\tlemma\tupos\n"
    "# more\ttabs\tthan\tcolumns\n"
    "# doc one two \n"
    "#\t#\t2\n"
    '"\t\t\n'
    "#a\tNA\t_\n"
    "\n\n"
    "# doc no\tdocument\n"
    "a  b\texactly12chr\tjust13letters\n"
    "# a comment between tokens\n"
    "c\t# doc no\t\n"
    "# doc é\n"
    "née\td\t0"
)


def read_token_scan(path: Path, selection: list[str], size: int, **options: Any) -> pl.DataFrame:
    """Read some columns by the scan."""
    format_ = format_of(path.name, name="tokens")
    settings = format_.options.model_validate(
        {"columns": NAMES, "document": MARKS.document, "normalise": "none"} | options
    )
    assert format_.read is not None
    return pl.concat(batch.tokens for batch in format_.read(path, settings, selection, size))


def read_by_rules(path: Path, selection: list[str], size: int, **options: Any) -> pl.DataFrame:
    """Read the same columns by the rules."""
    with patch.object(TextBlock, "try_scan", lambda *_: None):
        return read_token_scan(path, selection, size, **options)


def is_certain(content: str) -> bool:
    """Return whether the scan reads a content."""
    return SCAN(content.encode(), 0, COLUMNS) is not None


def test_the_scan_reads_difficult_lines(tmp_path: Path) -> None:
    assert is_certain(TRAPS)
    path = tmp_path / "t.tsv"
    path.write_text(TRAPS)
    for size in SIZES:
        tokens = read_token_scan(path, COLUMNS, size)
        assert tokens.rows() == [
            (4, "one two", None, 1, 1, "#", "#", "2"),
            (5, "one two", None, 1, 2, '"', None, None),
            (6, "one two", None, 1, 3, "#a", "NA", "_"),
            (10, "one two", None, 2, 1, "a  b", "exactly12chr", "just13letters"),
            (12, "one two", None, 2, 2, "c", "# doc no", None),
            (14, "é", None, 3, 1, "née", "d", "0"),
        ]
        assert tokens.equals(read_by_rules(path, COLUMNS, size))
        for name in COLUMNS:
            assert read_token_scan(path, [name], size).equals(tokens.select(name))


@pytest.mark.parametrize("line", ["a\tb", "a\tb\tc\td", "a", "\tb\tc", "\t\t", "#", " # c", " "])
def test_the_scan_leaves_invalid_lines_to_the_rules(line: str) -> None:
    assert is_certain("a\tb\tc\n\n")
    assert not is_certain(f"a\tb\tc\n{line}\n\na\tb\tc\n")


@pytest.mark.parametrize("name", ["doc", "paragraph", "sentence", "file", "head", "space_after"])
def test_the_scan_does_not_read_columns_of_places_and_numbers(name: str) -> None:
    assert SCAN.is_applicable()
    assert not TokenScan([*NAMES, name], MARKS, 0).is_applicable()
    assert not TokenScan(["form"], MARKS, 0).is_applicable()
    assert not TokenScan(NAMES, TokenMarks("#\t", ""), 0).is_applicable()


def test_the_scan_skips_the_header(tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    path.write_text("\n# doc a\n# b\nword\ttag\n#\tX\n\nb\tY\n")
    for given_names in ({"columns": ()}, {"columns": ["word", "tag"], "header": True}):
        for size in SIZES:
            tokens = read_token_scan(path, [*PLACES, "word"], size, **given_names)
            assert tokens.rows() == [(5, "a", None, 1, 1, "#"), (7, "a", None, 2, 1, "b")]
            assert tokens.equals(read_by_rules(path, [*PLACES, "word"], size, **given_names))


def test_the_scan_finds_no_tokens_in_empty_content() -> None:
    for content in (b"", b"\n\n", b"# doc a\n\n"):
        scanned = SCAN(content, 0, COLUMNS)
        assert scanned is not None
        assert scanned.tokens.is_empty()
        assert scanned.sentences == 0
        assert scanned.documents.height == content.count(b"doc")


SIGNS = st.characters(blacklist_characters="\t\n\r\0", blacklist_categories=["Cs"])
FIELD = st.one_of(
    st.sampled_from(["_", "", "#", "# doc x", "exactly12chr", "just13letters", "@card@"]),
    st.text(SIGNS),
)
FORM = FIELD.filter(lambda form: form and not form.startswith("# "))
ROW = st.builds("{}\t{}\t{}".format, FORM, FIELD, FIELD)
OTHER = st.sampled_from(
    ["", "# ", "# doc a  b", "# doc  x ", "# a\tcomment", "# doc no\tone", "\n"]
)


@given(
    lines=st.lists(st.one_of(ROW, ROW, OTHER), max_size=25),
    first=ROW,
    size=st.sampled_from(SIZES),
    end=st.booleans(),
)
def test_the_scan_agrees_with_the_slow_reader(
    lines: list[str], first: str, size: int, end: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    content = "\n".join([*lines, first]) + "\n" * end
    assert is_certain(content)
    path = tmp_path_factory.mktemp("drawn") / "t.tsv"
    path.write_text(content, newline="")
    tokens = read_token_scan(path, COLUMNS, size)
    expected = slow_readers.tokens(path, NAMES)
    assert tokens.rows() == [tuple(each[name] for name in COLUMNS) for each in expected]
    assert tokens.equals(read_by_rules(path, COLUMNS, size))


def mutations(content: str) -> Iterator[str]:
    """Yield a content with one character removed, and with two others in its place."""
    others = itertools.cycle("\t\n# ")
    for place in range(len(content)):
        for sign in ("", next(others), next(others)):
            yield content[:place] + sign + content[place + 1 :]


@pytest.mark.long
def test_the_scan_agrees_with_the_rules_after_any_mutation(tmp_path: Path) -> None:
    """After a change of one character, the scan leaves a file to the rules or agrees with them."""
    path, certain = tmp_path / "t.tsv", 0
    for content in mutations(TRAPS):
        if is_certain(content):
            certain += 1
            path.write_text(content, newline="")
            tokens = read_token_scan(path, COLUMNS, 1 << 23, header=True)
            assert tokens.equals(read_by_rules(path, COLUMNS, 1 << 23, header=True)), content
    assert certain > 100


@pytest.mark.long
def test_the_scan_of_novels_agrees_with_the_rules(public_data: Callable[[str], Path]) -> None:
    path = public_data("corpora/eltec_eng_level2.tsv.gz")
    given_document = {"document": r"^# ?(?:new)?doc(?: id)?(?: *= *| +)(.*?) *$"}
    for size in (1 << 16, 1 << 23):
        tokens = read_token_scan(path, COLUMNS, size, **given_document)
        assert tokens.equals(read_by_rules(path, COLUMNS, size, **given_document))


# Token tables, tab-separated and Parquet, against a slow reader and each other.

COLUMNS_TOKEN_TABLES = ["form", "lemma", "head"]
TSV: dict[str, Any] = {"name": "tokens"}
PARQUET: dict[str, Any] = {"name": "token_parquet"}
TRAPS_TOKEN_TABLES = (
    "\ufeff# form\tlemma\thead; a comment with tabs\n"
    "# doc one two \n"
    "#\t#\t2\n"
    '"\t\t0\n'
    "#a\tNA\t_\n"
    "\n"
    "\n"
    "# doc no\tdocument\n"
    "a  b\tx\t1\n"
    "# a comment between tokens\n"
    "c\t# doc no\t\n"
    "# doc three\n"
    "# newdoc id = four\n"
    "d\td\t0"
)


@pytest.mark.long
def test_novels_agree_with_the_slow_reader(
    public_data: Callable[[str], Path], tmp_path: Path
) -> None:
    path = public_data("corpora/eltec_eng_level2.tsv.gz")
    columns = ["form", "lemma", "upos"]
    tokens = read(path, **TSV, columns=columns, normalise="none")
    assert tokens.height == 2_649_288
    assert tokens["doc"].n_unique() == 46
    expected = slow_readers.tokens(path, columns, most=50_000)
    assert tokens.head(len(expected)).rows(named=True) == expected
    beginning = [line for _, line in slow_readers.numbered_lines(path, 50_000)]
    copy = write(tmp_path / "t.tsv", "\n".join(beginning))
    again = read(copy, **TSV, columns=columns, lenient=True, normalise="none")
    assert again.rows(named=True) == expected


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("file", ["t.tsv", "t.txt.gz"])
@pytest.mark.parametrize("lenient", [False, True])
def test_unusual_lines_are_read(file: str, ending: str, lenient: bool, tmp_path: Path) -> None:
    path = write(tmp_path / file, TRAPS_TOKEN_TABLES.replace("\n", ending))
    tokens = read(path, **TSV, columns=COLUMNS_TOKEN_TABLES, lenient=lenient)
    assert tokens.rows() == [
        (3, "one two", None, 1, 1, "#", "#", 2),
        (4, "one two", None, 1, 2, '"', None, 0),
        (5, "one two", None, 1, 3, "#a", "NA", None),
        (9, "one two", None, 2, 1, "a  b", "x", 1),
        (11, "one two", None, 2, 2, "c", "# doc no", None),
        (14, "four", None, 3, 1, "d", "d", 0),
    ]


@pytest.mark.parametrize("lenient", [False, True])
def test_the_header_names_the_columns(lenient: bool, tmp_path: Path) -> None:
    path = write(tmp_path / "t.tsv", "\n# a comment\nform\tpos\n#\tX\n\nb\tY\n")
    options: dict[str, Any] = {**TSV, "lenient": lenient}
    tokens = read(path, **options)
    assert tokens.select("line", "sentence", "form", "pos").rows() == [
        (4, 1, "#", "X"),
        (6, 2, "b", "Y"),
    ]
    renamed = read(path, **options, columns=["word", "tag"], header=True)
    assert renamed["word"].to_list() == ["#", "b"]
    data = read(path, **options, columns=["word", "tag"], header=False)
    assert data["word"].to_list() == ["form", "#", "b"]
    unnamed = read(path, **options, header=False)
    assert unnamed.rename({"word": "word", "attribute_2": "tag"}).equals(data)
    strange = write(tmp_path / "u.tsv", "%x\nform\n#\n# a\n### d\nb\n")
    plain = read(strange, **options, comment="%", document="^### (.*)$")
    assert plain.select("doc", "sentence", "form").rows() == [
        ("", 1, "#"),
        ("", 1, "# a"),
        ("d", 2, "b"),
    ]
    bare = read(strange, **options, comment="", document="", header=True)
    assert bare.columns[5:] == ["%x"]
    assert bare["%x"].to_list() == ["form", "#", "# a", "### d", "b"]


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("lenient", [False, True])
def test_tables_of_one_column_are_read(ending: str, lenient: bool, tmp_path: Path) -> None:
    path = write(tmp_path / "t.tsv", "\n#\nb\n\n\nc\n".replace("\n", ending))
    tokens = read(path, **TSV, columns=["form"], lenient=lenient)
    assert tokens.select("line", "sentence", "position", "form").rows() == [
        (2, 1, 1, "#"), (3, 1, 2, "b"), (6, 2, 1, "c"),
    ]  # fmt: skip


KEYED = (
    "doc\tsentence\tparagraph\tposition\tform\n"
    "A\t1\tx\t9\ta\n"
    "A\t1\tx\t9\tb\n"
    "A\t2\tx\t9\tc\n"
    "\n"
    "A\t3\t\t9\td\n"
    "B\t3\ty\t9\te\n"
    "C\t3\ty\t9\tf\n"
    "\t3\ty\t9\tg\n"
)
PLACES_TOKEN_TABLES = [
    ("A", 1, 1, 1, "a"),
    ("A", 1, 1, 2, "b"),
    ("A", 1, 2, 1, "c"),
    ("A", None, 3, 1, "d"),
    ("B", 2, 4, 1, "e"),
    ("C", 3, 5, 1, "f"),
    ("", 4, 6, 1, "g"),
]


@pytest.mark.parametrize("lenient", [False, True])
def test_columns_give_the_places_of_tokens(lenient: bool, tmp_path: Path) -> None:
    columns = ["doc", "paragraph", "sentence", "position", "form"]
    # The first field may not be empty, so the form comes first in the file.
    rows = [line.split("\t") for line in KEYED.splitlines() if line]
    content = "".join("\t".join([row[-1], *row[:-1]]) + "\n" for row in rows)
    path = write(tmp_path / "t.tsv", content)
    tokens = read(path, **TSV, lenient=lenient)
    assert tokens.select(columns).rows() == PLACES_TOKEN_TABLES
    assert tokens.columns == ["line", *columns]
    frame = pl.DataFrame(rows[1:], schema=rows[0], orient="row").with_columns(
        pl.col("sentence").cast(pl.Int32), pl.when(pl.col("doc") != "").then("doc")
    )
    frame.write_parquet(tmp_path / "t.parquet")
    binary = read(tmp_path / "t.parquet", **PARQUET, lenient=lenient)
    assert binary.drop("line").equals(tokens.drop("line"))
    assert binary["line"].to_list() == list(range(1, 8))


@pytest.mark.parametrize("numbers", [pl.Int64(), pl.Float64(), pl.Decimal(9, 2)])
@pytest.mark.parametrize("lenient", [False, True])
def test_parquet_is_read_with_names_of_columns_and_types(
    lenient: bool, numbers: pl.DataType, tmp_path: Path
) -> None:
    frame = pl.DataFrame(
        {
            "chapter": ["1", "1", "2", "2"],
            "sid": [7, 7, 7, 8],
            "form": ["a", "", None, "#"],
            "upos": pl.Series(["X", "Y", "X", None], dtype=pl.Categorical),
            "id": [1, 2, 3, 4],
            "head": [2, 0, None, 1],
            "sentence": ["another", "column", "called", "sentence"],
        }
    )
    frame = frame.with_columns(pl.col("head", "id", "sid").cast(numbers))
    frame.write_parquet(tmp_path / "t.parquet")
    packed = tmp_path / "t.parquet.gz"
    packed.write_bytes(gzip.compress((tmp_path / "t.parquet").read_bytes()))
    for path in (tmp_path / "t.parquet", packed):
        tokens = read(path, **PARQUET, sentence="sid", document="chapter", lenient=lenient)
        assert tokens.rows() == [
            (1, "1", None, 1, 1, "a", "X", "1", 2),
            (2, "1", None, 1, 2, None, "Y", "2", 0),
            (3, "2", None, 2, 1, None, "X", "3", None),
            (4, "2", None, 3, 1, "#", None, "4", 1),
        ]
    with pytest.raises(DataError, match=r"no column 'satz' among chapter, sid.*\n.*sentence ="):
        scan(tmp_path / "t.parquet", **PARQUET, sentence="satz")
    frame.with_columns(pl.lit([1]).alias("list")).write_parquet(tmp_path / "u.parquet")
    with pytest.raises(DataError, match=r"1 column without text or numbers: list \(List"):
        scan(tmp_path / "u.parquet", **PARQUET, sentence="sid")
    wide = pl.Series("wide", [1] * 4, dtype=pl.Int128)
    frame.with_columns(wide).write_parquet(tmp_path / "v.parquet")
    with pytest.raises(DataError, match=r"v.parquet: the type of 1 column .*: wide \(Int128\)\nC"):
        scan(tmp_path / "v.parquet", **PARQUET, sentence="sid")


HEADS: list[tuple[pl.Series, Any]] = [
    (pl.Series([2.0, 0.0]), [2, 0]),
    (pl.Series(["2.00", "0.00"]).cast(pl.Decimal(9, 2)), [2, 0]),
    (pl.Series([1.5, 0.0]), "line {}: head is not a whole number: '1.5'"),
    (pl.Series(["1.50", "0.00"]).cast(pl.Decimal(9, 2)), "head is not a whole number: '1.50'"),
    (pl.Series([True, False]), "line {}: head is not a whole number: 'true'"),
    (
        pl.Series([datetime.date(2024, 1, 31)] * 2),
        "line {}: head is not a whole number: '2024-01-31'",
    ),
    (
        pl.Series([2**63, 0], dtype=pl.UInt64),
        "line {}: head is not a whole number: '92233720368547",
    ),
    (pl.Series([math.nan, math.inf]), "head is not a whole number: 'inf'"),
    (pl.Series([datetime.time(1)] * 2), "line {}: head is not a whole number: '01:00"),
]


@pytest.mark.parametrize(("heads", "expected"), HEADS)
@pytest.mark.parametrize("binary", [False, True])
def test_heads_are_whole_numbers_in_either_format(
    binary: bool, heads: pl.Series, expected: Any, tmp_path: Path
) -> None:
    table = pl.DataFrame({"form": ["a", "b"], "sentence": "1", "head": heads})
    path, options, line = tmp_path / "t", PARQUET if binary else TSV, 1 if binary else 2
    table.write_parquet(path) if binary else table.write_csv(path, separator="\t")
    if isinstance(expected, list):
        assert read(path, **options)["head"].to_list() == expected
    else:
        assert expected.format(line) in refusal(path, **options)


def test_sentences_of_two_files_are_distinct(tmp_path: Path) -> None:
    frame = pl.DataFrame({"file": ["a", "a", "b"], "sentence": [1, 1, 1]})
    frame.write_parquet(tmp_path / "t.parquet")
    assert read(tmp_path / "t.parquet", **PARQUET)["sentence"].to_list() == [1, 1, 2]


def test_a_table_of_tokens_is_read_as_it_was_written(tmp_path: Path) -> None:
    files = [write(tmp_path / f"{name}.tsv", TRAPS_TOKEN_TABLES) for name in "ab"]
    tables = [read(path, **TSV, columns=COLUMNS_TOKEN_TABLES) for path in files]
    renamed = [
        table.select(pl.lit(str(i)).alias("file"), pl.all()) for i, table in enumerate(tables)
    ]
    pl.concat(renamed).write_parquet(tmp_path / "t.parquet")
    tokens = read(tmp_path / "t.parquet", **PARQUET)
    shifted = tables[1].with_columns(pl.col("sentence") + 3)
    assert tokens.drop("line").equals(pl.concat([tables[0], shifted]).drop("line"))


GOOD = "a\tA\t0\nb\tB\t1\n\n"
WRONG = {
    "short line": ("c\tC\n", "expected 3 fields, found 2: 'c\\tC'"),
    "long line": ("c\tC\t0\t\n", "expected 3 fields, found 4"),
    "white line of another kind": ("\u2003\n", "expected 3 fields, found 1"),
    "first field empty": ("\tC\t0\n", "the first field is empty"),
    "head outside": ("c\tC\t4\n", "head outside its sentence, whose last token is 3: '4'"),
    "head no number": ("c\tC\t1.5\n", "head is not a whole number: '1.5'"),
    "not UTF-8": ("\udcff\tC\t0\n", "UTF-8"),
    "UTF-16": ("c\0\tC\t0\n", "NUL"),
}


@pytest.mark.parametrize("file", ["t.tsv", "t.tsv.gz"])
@pytest.mark.parametrize("case", sorted(WRONG))
def test_damaged_lines_are_named_and_skipped(case: str, file: str, tmp_path: Path) -> None:
    damage, problem = WRONG[case]
    content = GOOD + GOOD.removesuffix("\n") + damage + "\n" + GOOD
    path = write(tmp_path / file, content.encode("utf-8", "surrogateescape"))
    message = refusal(path, **TSV, columns=COLUMNS_TOKEN_TABLES)
    for words in [file, "1 line ", "line 6:", problem]:
        assert words in message
    (skip,) = skips(path, **TSV, columns=COLUMNS_TOKEN_TABLES)
    assert skip.line == 6
    assert problem in str(skip)
    tokens = read(path, **TSV, columns=COLUMNS_TOKEN_TABLES, lenient=True)
    assert tokens["sentence"].to_list() == [1, 1, 3, 3]


@pytest.mark.long
def test_damaged_rows_of_parquet_are_named_and_skipped(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    rows = [("1", "2"), ("1", "1"), ("2", "3"), ("3", "x"), (None, "0"), ("1", "0"), ("4", "0")]
    pl.DataFrame(rows, schema=["sentence", "head"], orient="row").write_parquet(path)
    message = refusal(path, **PARQUET)
    problems = {
        3: "head outside its sentence, whose last token is 1: '3'",
        4: "head is not a whole number: 'x'",
        5: "no sentence",
        6: "duplicate sentence",
    }
    assert "4 lines" in message
    skipped = skips(path, **PARQUET)
    assert {skip.line: problems[skip.line] in str(skip) for skip in skipped} == dict.fromkeys(
        problems, True
    )
    assert read(path, **PARQUET, lenient=True)["line"].to_list() == [1, 2, 7]


def test_empty_files_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "t.tsv", "# a comment\n\n")
    assert "line 1: the file is empty" in refusal(path, **TSV, columns=COLUMNS_TOKEN_TABLES)
    assert len(skips(path, **TSV, columns=COLUMNS_TOKEN_TABLES)) == 1
    assert read(path, **TSV, columns=COLUMNS_TOKEN_TABLES, lenient=True).is_empty()
    assert "line 3: the file is empty, without a header\nOmit it." in refusal(path, **TSV)
    pl.DataFrame(schema={"sentence": pl.Int64}).write_parquet(tmp_path / "t.parquet")
    assert "the file is empty" in refusal(tmp_path / "t.parquet", **PARQUET)
    assert len(skips(tmp_path / "t.parquet", **PARQUET)) == 1


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (b"a\tb\ta\n", "line 1: .*duplicate names: a"),
        (b"a\t\n", "'' is not a valid column name"),
        (b"\xff\n", "as UTF-8"),
    ],
)
def test_invalid_headers_are_refused(header: bytes, message: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=message):
        scan(write(tmp_path / "t.tsv", header + b"1\t2\n"), **TSV, header=True)


@pytest.mark.parametrize(
    ("content", "columns", "message"),
    [
        ("The\tDT\tthe\ntea\tNN\ttea\n", [], 'is a token, not a header:\n  as a token: word \'The\', pos'),
        ("The\tDT\ntea\tNN\nthe\tDT\n", [], 'Name the columns: columns = ["word", "attribute_2"]. If it is a'),
        ("The\tDT\ntea\tNN\n", [], "may be a header or a token"),
        ("word\tNN\tword\na\tDT\ta\n", [], "may be a header or a token"),
        ("Word\tTag\nThe\tDT\n", ["form", "pos"], "looks like a header (Word, Tag), although columns = "),
        ("A\tB\nThe\tDT\n", ["a", "b"], "Add header = true to skip it, or header = false"),
    ],
)  # fmt: skip
def test_an_ambiguous_first_line_asks_for_an_option(
    content: str, columns: list[str], message: str, tmp_path: Path
) -> None:
    path = write(tmp_path / "t.tsv", "# a comment\n" + content)
    with pytest.raises(DataError) as refused:
        scan(path, **TSV, columns=columns)
    assert str(refused.value).startswith(f"{path}: line 2 ")
    assert message in str(refused.value)
    tokens = read(path, **TSV, columns=columns, header=False)
    assert tokens.height == content.count("\n")
    assert tokens.columns[5:] == columns or tokens.columns[5] == "word"
    if columns:
        assert read(path, **TSV, columns=columns, header=True).height == content.count("\n") - 1


@pytest.mark.parametrize(
    ("first", "body", "verdict"),
    [
        ("form lemma upos", "a a X", "header"),
        ("Token POS-Tag", "a X", "header"),
        ("Wort Grundform", "a X", "header"),
        ("form x y", "a b c", "header"),
        ("form x y", "a x c", "unclear"),
        ("The DT", "a DT", "data"),
        (", PUN", "a DT", "data"),
        ("a", "b", "unclear"),
        ("12 CARD", "a X", "data"),
    ],
)
def test_headers_are_distinguished_from_tokens(first: str, body: str, verdict: str) -> None:
    assert judge_header([first.split(), body.split()]) == verdict


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"columns": ["a", "a"]}, "duplicate names: a"),
        ({"document": "^doc"}, "one group"),
        ({"document": "("}, "not a valid regular expression"),
    ],
)
def test_invalid_options_are_refused(options: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match=message):
        scan(tmp_path / "t.tsv", **TSV, **options)


CELL = st.text(st.characters(blacklist_characters="\t\n\r\0", blacklist_categories=["Cs"]))
FORM_TOKEN_TABLES = CELL.filter(lambda form: form and not form.startswith(("# ", "#doc", "\ufeff")))
SENTENCES = st.lists(
    st.lists(st.tuples(FORM_TOKEN_TABLES, CELL), min_size=1, max_size=4), min_size=1, max_size=5
)


@given(
    sentences=SENTENCES,
    ending=st.sampled_from(["", "\n", "\n\n"]),
    sizes=ONE_SIZE,
    lenient=st.booleans(),
)
def test_random_tables_are_read_as_they_were_written(
    sentences: list[list[tuple[str, str]]],
    ending: str,
    sizes: list[int],
    lenient: bool,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("drawn")
    blocks = ["\n".join("\t".join(token) for token in sentence) for sentence in sentences]
    path = write(folder / "t.tsv", "\n\n".join(blocks) + ending)
    expected = [
        (number, position, form, tag or None)
        for number, sentence in enumerate(sentences, start=1)
        for position, (form, tag) in enumerate(sentence, start=1)
    ]
    options = {**TSV, "columns": ["form", "tag"], "normalise": "none"}
    tokens = read(path, **options, sizes=sizes, lenient=lenient)
    assert tokens.select("sentence", "position", "form", "tag").rows() == expected
    assert tokens.rows(named=True) == slow_readers.tokens(path, ["form", "tag"])
