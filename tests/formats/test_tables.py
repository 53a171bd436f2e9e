"""Table formats: rows that are read, files that are refused, guarded CSV and TSV, JSON lines."""

from __future__ import annotations

import csv
import gzip
import io
import itertools
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from pipeline.errors import DataError
from pipeline.formats.base import LINE, format_of
from pipeline.formats.tables import to_csv, unguard_formulas


def rows(path: Path, content: bytes, *columns: str, **options: object) -> list[tuple[object, ...]]:
    path.write_bytes(gzip.compress(content) if path.name.endswith(".gz") else content)
    format_ = format_of(path.name, kind="table")
    settings = format_.options.model_validate(options)
    assert format_.check(path, settings) == ()
    return format_.scan(path, settings).select(LINE, *columns).collect().rows()


PATHS = b'0010\t"\t3\n0010\t#\t1\n11\tnull\t2\n'
BROWN = [(1, "0010", '"', "3"), (2, "0010", "#", "1"), (3, "11", "null", "2")]


@pytest.mark.parametrize("name", ["b.paths", "b.paths.gz"])
def test_brown_clusters_are_read(name: str, tmp_path: Path) -> None:
    assert rows(tmp_path / name, PATHS, "cluster", "item", "f") == BROWN


def test_a_short_line_of_brown_clusters_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError) as error:
        rows(tmp_path / "b.paths", b"00\ta\t1\n01\tb\n", "item")
    for phrase in ["1 line", "the 3 in columns", "cluster, item, f", "line 2: 2 fields"]:
        assert phrase in str(error.value)


def test_brown_clusters_without_lines_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="line 1 should contain data"):
        rows(tmp_path / "b.paths", b"", "item")


KEY = b"a a.1 s%1:2::/4 t/.5 !! sure\n\n  a\ta.2  x/y/2\nb b.1 u v\n"


@pytest.mark.parametrize("name", ["k.key", "k.key.gz"])
def test_senseval_keys_are_read(name: str, tmp_path: Path) -> None:
    assert rows(tmp_path / name, KEY, "word", "item", "sense", "weight") == [
        (1, "a", "a.1", "s%1:2::", 4.0), (1, "a", "a.1", "t", 0.5), (3, "a", "a.2", "x/y", 2.0),
        (4, "b", "b.1", "u", None), (4, "b", "b.1", "v", None),
    ]  # fmt: skip


def test_the_only_sense_of_an_instance_may_be_repeated(tmp_path: Path) -> None:
    table = rows(tmp_path / "k.key", b"a a.1 s/4 s/2\n", "sense", "weight")
    assert table == [(1, "s", 4.0), (1, "s", 2.0)]


@pytest.mark.parametrize(
    ("content", "phrases"),
    [
        ("a a.1 s\na a.2\n", ["1 line without a sense", "line 2: 'a a.2'", "at least one sense"]),
        ("a\n!! none\n", ["1 line without a sense", "line 1: 'a'"]),
        ("a x s/k\na y s/-1\na z s/0 t/1\na w s/nan\n",
         ["4 lines with a weight that is not a number above 0", "line 1: 'a x s/k'", "line 3:"]),
        ("a x s/1 t\n", ["1 line with weights of some senses only", "line 1: 'a x s/1 t'"]),
        ("a x c1/3 c1/2 c2/4\nb y s\nc z t u t\n",
         ["2 lines with a sense that occurs twice", "line 1: 'a x c1/3", "line 3", "once"]),
        ("a x /3\n", ["1 line with a sense without a name", "line 1: 'a x /3'", "before the slash"]),
        ("a x s\nb y s\nb x t\n", ["2 lines with an instance that another line has", "line 3"]),
        ("\n \n", ["it has no instances"]),
    ],
)  # fmt: skip
def test_invalid_senseval_keys_are_refused(
    content: str, phrases: list[str], tmp_path: Path
) -> None:
    with pytest.raises(DataError) as error:
        rows(tmp_path / "k.key", content.encode(), "item")
    for each in ["k.key", *phrases]:
        assert each in str(error.value)


def test_a_table_without_a_header_is_read(tmp_path: Path) -> None:
    naming = {"columns": ["word", "cluster"], "comment": "%"}
    table = rows(tmp_path / "t.tsv", b"% two\ndog\t3\n\t4\n", "word", "cluster", **naming)
    assert table == [(2, "dog", "3"), (3, None, "4")]


@pytest.mark.parametrize("units", ["(word),(tokens)", '"[text]"," [1] "', "(a),(b)\n[c],[d]"])
def test_a_row_of_units_below_the_header_is_refused(units: str, tmp_path: Path) -> None:
    content = f"word,f\n{units}\ndog,3\n".encode()
    with pytest.raises(
        DataError, match=r"t\.csv: line 2 looks like units or types, not data: .*\nDelete"
    ):
        rows(tmp_path / "t.csv", content, "word")


@pytest.mark.parametrize("first", ["(sich),3", "(word)", "dog,3\n(a),(b)"])
def test_data_in_brackets_are_not_units(first: str, tmp_path: Path) -> None:
    header = "word,f" if "," in first else "word"
    table = rows(tmp_path / "t.csv", f"{header}\n{first}\n".encode(), "word")
    assert [row[1] for row in table] == [row.partition(",")[0] for row in first.splitlines()]


def test_names_for_columns_keep_a_first_row_in_brackets(tmp_path: Path) -> None:
    naming = {"columns": ["word", "f"]}
    assert rows(tmp_path / "t.csv", b"(a),(b)\n", "word", "f", **naming) == [(1, "(a)", "(b)")]


def test_duplicate_names_of_columns_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match="duplicate names: word"):
        rows(tmp_path / "t.csv", b"a,b\n", "word", columns=["word", "word"])


BLOCKS = b"\n\ndog\n cat \n \n\nNew York\r\nrun"


def test_blocks_of_words_are_clusters(tmp_path: Path) -> None:
    table = rows(tmp_path / "c.blocks", BLOCKS, "item", "cluster")
    assert table == [(3, "dog", "1"), (4, "cat", "1"), (7, "New York", "2"), (8, "run", "2")]


def test_each_line_may_be_a_cluster(tmp_path: Path) -> None:
    table = rows(
        tmp_path / "c.clusters.gz", b"dog  cat\n\nrun\n", "item", "cluster", line="cluster"
    )
    assert table == [(1, "dog", "1"), (1, "cat", "1"), (3, "run", "2")]


@pytest.mark.parametrize("content", [b"", b"\n \n"])
def test_blocks_without_words_are_refused(content: bytes, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="it has no words"):
        rows(tmp_path / "c.blocks", content, "item")


def test_blocks_that_are_not_utf8_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="line 2: byte 0xe4"):
        rows(tmp_path / "c.blocks", b"a\n\xe4\n", "item")


# Texts that a spreadsheet would run are guarded in CSV and TSV, and read back as they were.

DANGEROUS = [
    "=1+1",
    "+cmd",
    "-x",
    "@SUM(A1)",
    " =1",
    "\t=1",
    "＝1+1",
    '=HYPERLINK("http://x")',
    "\nx",
]
HARMLESS = ["a=b", "-", "+", "-5", "+1.5", "-inf", "'tis", "", "007", "1-2", "Frage"]


def fields(raw: bytes) -> list[str]:
    return [
        row[0] if row else ""
        for row in csv.reader(io.StringIO(raw.decode("utf-8-sig"), newline=""))
    ][1:]


@pytest.mark.parametrize("text", DANGEROUS)
def test_formulas_are_guarded_by_an_apostrophe_except_in_raw_output(text: str) -> None:
    frame = pl.DataFrame({"a": [text, "b"]})
    assert fields(to_csv(frame)) == ["'" + text, "b"]
    assert fields(to_csv(frame, raw=True)) == [text, "b"]


def test_harmless_texts_are_written_unchanged() -> None:
    frame = pl.DataFrame({"a": HARMLESS, "n": range(len(HARMLESS)), "x": [-0.5] * len(HARMLESS)})
    assert to_csv(frame) == frame.write_csv().encode()


def back(frame: pl.DataFrame, ending: str) -> list[str | None]:
    separator = "\t" if ending == "tsv" else ","
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"t.{ending}"
        path.write_bytes(to_csv(frame, separator=separator))
        format_ = format_of(path.name)
        return format_.scan(path, format_.options()).collect()["a"].to_list()


@given(texts=st.lists(st.sampled_from(DANGEROUS + HARMLESS + ["'=1", "''-x", "'-"]), min_size=1))
def test_readers_remove_the_guard(texts: list[str]) -> None:
    frame = pl.DataFrame({"a": texts, "b": "x"})
    assert [text or "" for text in back(frame, "csv")] == texts
    plain = [text for text in texts if text and not {"\t", "\n", '"'} & set(text)]
    columns = {"a": plain, "b": ["x"] * len(plain)}
    tsv = pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))
    assert [text or "" for text in back(tsv, "tsv")] == plain


def test_apostrophes_in_other_files_stay(tmp_path: Path) -> None:
    """A file without the mark, or with an unguarded formula, is not one of ours."""
    query = pl.LazyFrame({"a": ["'-x", "b"], "b": ["'-x", "-y"]})
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\n")
    assert unguard_formulas(query, path).collect().equals(query.collect())
    path.write_bytes(b"\xef\xbb\xbfa,b\n")
    assert unguard_formulas(query, path).collect().rows() == [("-x", "'-x"), ("b", "-y")]


# Every table format, plain and gzipped, and files that are wrong.

ROWS_TABLES = {
    "l1": ['a "quoted"', "b", "ä"],
    "l2": ["nan", "007", "=SUM(A1)"],
    "f": ["3", "12", "1"],
}
FRAME_TABLES = pl.DataFrame(ROWS_TABLES)


def content(name: str) -> bytes:
    if name.endswith(".parquet"):
        path = Path(name)
        FRAME_TABLES.write_parquet(path)
        raw = path.read_bytes()
        path.unlink()
        return raw
    separator = "," if name.endswith(".csv") else "\t"
    style: Literal["necessary", "never"] = "necessary" if separator == "," else "never"
    text = FRAME_TABLES.write_csv(separator=separator, quote_style=style)
    return (("## a UCS comment\t\tx\n# another\n" if name.endswith(".ds") else "") + text).encode()


def scan_tables(path: Path, **options: object) -> pl.DataFrame:
    format_ = format_of(path.name)
    settings = format_.options.model_validate(options)
    assert format_.check(path, settings) == ()
    return format_.scan(path, settings).collect()


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.ds", "t.parquet", "t.tab", "T.TSV"])
def test_tables_are_read_as_they_were_written(
    name: str, packed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    raw = content(name.lower() if name != "T.TSV" else "t.tsv")
    path = tmp_path / (name + ".gz" if packed else name)
    path.write_bytes(gzip.compress(raw) if packed else raw)
    table = scan_tables(path)
    assert table.select(*ROWS_TABLES).equals(FRAME_TABLES)
    first = {"t.parquet": 1, "t.ds": 4}.get(name, 2)
    assert table[LINE].to_list() == [first, first + 1, first + 2]


def test_empty_field_is_null_and_byte_order_mark_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    path.write_bytes(b"\xef\xbb\xbfl1\tl2\r\n\tb\r\n")
    assert scan_tables(path).select("l1", "l2").rows() == [(None, "b")]


@given(
    rows=st.lists(st.tuples(*[st.sampled_from(["", "", "", "a", "x y", '"', "=1"])] * 2)),
    blank=st.lists(st.booleans(), min_size=9, max_size=9),
    quoted=st.booleans(),
)
def test_empty_rows_are_skipped_and_lines_keep_their_numbers(
    rows: list[tuple[str, str]], blank: list[bool], quoted: bool
) -> None:
    """A slow twin reads each row with Python."""
    text = io.StringIO()
    style: Literal[1, 0] = csv.QUOTE_ALL if quoted else csv.QUOTE_MINIMAL
    writer = csv.writer(text, lineterminator="\n", quoting=style)
    writer.writerow(["l1", "l2"])
    for row, after in zip(rows, itertools.cycle(blank), strict=False):
        writer.writerow(row)
        text.write("\n" if after else "")
    records = enumerate(csv.reader(io.StringIO(text.getvalue())), start=1)
    expected = [(line, *row) for line, row in records if any(row)][1:]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "t.csv"
        path.write_text(text.getvalue())
        table = scan_tables(path)
        lines = format_of("t.csv").scan(path, format_of("t.csv").options())
        assert lines.select(LINE).collect().rows() == table.select(LINE).rows()
        assert lines.select("l2").head(3).collect().equals(table.select("l2").head(3))
    assert table.with_columns(pl.col("l1", "l2").fill_null("")).rows() == expected


def test_semicolons_and_comments_are_options(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("% made by hand\nl1;l2\na;b\n")
    assert scan_tables(path, separator=";", comment="%").rows() == [(3, "a", "b")]


def test_hash_in_the_data_is_data(tmp_path: Path) -> None:
    path = tmp_path / "t.ds"
    path.write_text("# comment\nl1\tl2\n#\t#x\n")
    assert scan_tables(path).select("l1", "l2").rows() == [("#", "#x")]


WRONG = {
    "short lines": (
        "t.tsv",
        b"a\tb\n1\n1\t2\n\n1\t2\t3\n",
        ["2 lines", "the 2 in the header", "line 2", "line 5"],
    ),
    "as UTF-8": ("t.tsv", b"a\tb\nx\ty\n\xe4\tb\n", ["UTF-8", "line 3", "0xe4"]),
    "header not UTF-8": (
        "t.csv",
        b"\xe4,b\n1,2\n",
        ["UTF-8", "line 1", "In Excel, save it as 'CSV UTF-8'"],
    ),
    "Unicode text": (
        "t.tsv",
        "ä\tb\n1\t2\n".encode("utf-16"),
        ["is UTF-16", "In Excel, save it as 'CSV UTF-8'"],
    ),
    "empty": ("t.csv", b"", ["is empty"]),
    "only comments": ("t.ds", b"# x\n", ["is empty", "line 2"]),
    "columns without a name": ("t.csv", b",a,\n1,2,3\n", ["line 1 has 2 columns without a name"]),
    "a blank line above": ("t.tsv", b"\t\t\na\tb\tc\n", ["line 1 is blank and should name"]),
    "UTF-16 without a mark": ("t.csv", "a,b\n1,2\n".encode("utf-16-le"), ["line 1 has NUL bytes"]),
    "UTF-16 without a mark, umlauts": (
        *("t.csv", "a,b\nä,2\n".encode("utf-16-le"), ["line 1 has NUL bytes"]),
    ),
    "JSON in UTF-16": ("t.jsonl", '{"a": 1}\n'.encode("utf-16-le"), ["line 1 has NUL bytes"]),
    "column twice": (
        "t.csv",
        b"a,b,a\n1,2,3\n",
        ["line 1", "duplicate column names: a", "columns = [...]"],
    ),
    "no gzip": ("t.csv.gz", b"a,b\n1,2\n", ["gzip"]),
    "cut gzip": ("t.csv.gz", gzip.compress(b"a,b\n" + b"1,2\n" * 5000)[:60], ["gzip"]),
    "no parquet": ("t.parquet", b"hello", ["Parquet"]),
    "cut parquet": ("t.parquet.gz", gzip.compress(b"PAR1xx"), ["Parquet"]),
}


@pytest.mark.parametrize("case", sorted(WRONG))
def test_wrong_files_are_refused(case: str, tmp_path: Path) -> None:
    name, raw, phrases = WRONG[case]
    path = tmp_path / name
    path.write_bytes(raw)
    with pytest.raises(DataError) as error:
        scan_tables(path)
    for words in [name, *phrases]:
        assert words in str(error.value)


def test_unknown_extensions_and_formats_are_refused() -> None:
    with pytest.raises(ValueError, match=r"extension '.docx'.*format ="):
        format_of("sheet.docx")
    with pytest.raises(ValueError, match=r"unknown format 'tsw'; did you mean tsv"):
        format_of("x", name="tsw")


def test_formats_of_another_kind_are_refused() -> None:
    assert format_of("x.conllu").name == format_of("x.conllu", kind="corpus").name == "conllu"
    with pytest.raises(ValueError, match=r"no format has the extension '.conllu'"):
        format_of("x.conllu", kind="table")
    assert format_of("x", name="tokens", kind="corpus").name == "tokens"
    with pytest.raises(ValueError, match=r"'tokens' reads a corpus.*valid:.*parquet"):
        format_of("x", name="tokens", kind="table")


# JSON lines: rows that are read, and lines that are refused with their numbers.

GOOD = '{"l1": "a", "f": 3}\n'


def write(tmp_path: Path, text: str, name: str = "t.jsonl") -> Path:
    path = tmp_path / name
    raw = text.encode("utf-8", "surrogatepass")
    path.write_bytes(gzip.compress(raw) if name.endswith(".gz") else raw)
    return path


@pytest.mark.parametrize("name", ["t.jsonl", "t.ndjson", "T.JSONL", "t.jsonl.gz", "t.ndjson.gz"])
def test_json_lines_are_read_as_they_were_written(name: str, tmp_path: Path) -> None:
    text = "".join(
        json.dumps(row, ensure_ascii=False) + "\n" for row in FRAME_TABLES.iter_rows(named=True)
    )
    table = scan_tables(write(tmp_path, text, name))
    assert table.select(*ROWS_TABLES).equals(FRAME_TABLES)
    assert table[LINE].to_list() == [1, 2, 3]
    assert format_of(name).name == "jsonl"


def test_values_are_texts_as_they_are_written(tmp_path: Path) -> None:
    text = (
        '{"a": 0.10, "b": true, "c": null, "d": 1e400, "e": 12345678901234567890123}\r\n'
        '{"e": "", "d": "\\u00e4\\n", "c": "null", "b": false, "a": -0}'
    )
    table = scan_tables(write(tmp_path, "\ufeff" + text)).drop(LINE)
    assert table.rows() == [
        ("0.10", "true", None, "1e400", "12345678901234567890123"),
        ("-0", "false", "null", "ä\n", None),
    ]
    assert set(table.dtypes) == {pl.String}


def test_a_column_line_is_replaced_by_the_line_number(tmp_path: Path) -> None:
    table = scan_tables(write(tmp_path, '{"line": 7, "a": "x"}\n'))
    assert table.rows() == [(1, "x")]


@pytest.mark.long
def test_queries_of_a_large_file_give_the_right_rows(tmp_path: Path) -> None:
    path = write(tmp_path, "".join(f'{{"a": "{n}", "b": {n}}}\n' for n in range(60_000)))
    form = format_of(path.name)
    query = form.scan(path, form.options())
    assert query.select("b").head(2).collect().rows() == [("0",), ("1",)]
    last = query.filter(pl.col("a") == "59999").select(LINE, "b").collect()
    assert last.rows() == [(60_000, "59999")]
    assert query.select(pl.len()).collect().item() == 60_000


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "an empty line"),
        ("{", "invalid JSON at character 2"),
        ('{"l1": "b", "f": 1} {}', "invalid JSON at character 21"),
        ("[1]", "not an object"),
        ('"text"', "not an object"),
        ('{"l1": "b"}', "lacks f"),
        ('{"l1": "b", "g": 1}', "lacks f and has g"),
        ('{"l1": "b", "f": 1, "f": 2}', "duplicate names: f"),
        ('{"l1": "b", "f": NaN}', "NaN is not valid JSON"),
        ('{"l1": "\\ud800", "f": 1}', "a lone surrogate"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_a_line_that_is_no_row_is_refused(line: str, message: str, tmp_path: Path) -> None:
    path = write(tmp_path, GOOD + line + "\n" + GOOD)
    with pytest.raises(DataError, match=r"1 line without an object") as refused:
        scan_tables(path)
    assert f"line 2: {message}" in str(refused.value)
    first = write(tmp_path, line + "\n" + GOOD, "first.jsonl")
    with pytest.raises(DataError, match="line"):
        scan_tables(first)


def test_bad_lines_are_counted_and_three_are_quoted(tmp_path: Path) -> None:
    path = write(tmp_path, GOOD + "x\n" * 4)
    with pytest.raises(DataError, match=r"4 lines") as refused:
        scan_tables(path)
    assert str(refused.value).count("invalid JSON at character 1") == 3


def test_empty_files_and_bare_carriage_returns_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="the file is empty: line 1 should hold an object"):
        scan_tables(write(tmp_path, ""))
    with pytest.raises(DataError, match=r"carriage return.*line 1"):
        scan_tables(write(tmp_path, GOOD.replace("\n", "\r") + GOOD))
    path = tmp_path / "bytes.jsonl"
    path.write_bytes(GOOD.encode() + b'{"l1": "\xff", "f": 1}\n')
    with pytest.raises(DataError, match="line 2: byte 0xff"):
        scan_tables(path)
