"""Table formats: what they read, what they refuse, guarded CSV and TSV, JSON lines."""

from __future__ import annotations

import csv
import gzip
import io
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
    found = format_of(path.name, kind="table")
    given = found.options.model_validate(options)
    assert found.check(path, given) == ()
    return found.scan(path, given).select(LINE, *columns).collect().rows()


PATHS = b'0010\t"\t3\n0010\t#\t1\n11\tnull\t2\n'
BROWN = [(1, "0010", '"', "3"), (2, "0010", "#", "1"), (3, "11", "null", "2")]


@pytest.mark.parametrize("name", ["b.paths", "b.paths.gz"])
def test_brown(name: str, tmp_path: Path) -> None:
    assert rows(tmp_path / name, PATHS, "cluster", "item", "f") == BROWN


def test_brown_with_a_short_line(tmp_path: Path) -> None:
    with pytest.raises(DataError) as error:
        rows(tmp_path / "b.paths", b"00\ta\t1\n01\tb\n", "item")
    for said in ["1 line", "the 3 in columns", "cluster, item, f", "line 2: 2 fields"]:
        assert said in str(error.value)


def test_brown_without_lines(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="line 1 should contain data"):
        rows(tmp_path / "b.paths", b"", "item")


KEY = b"a a.1 s%1:2::/4 t/.5 !! sure\n\n  a\ta.2  x/y/2\nb b.1 u v\n"


@pytest.mark.parametrize("name", ["k.key", "k.key.gz"])
def test_senseval_keys(name: str, tmp_path: Path) -> None:
    assert rows(tmp_path / name, KEY, "word", "item", "sense", "weight") == [
        (1, "a", "a.1", "s%1:2::", 4.0), (1, "a", "a.1", "t", 0.5), (3, "a", "a.2", "x/y", 2.0),
        (4, "b", "b.1", "u", None), (4, "b", "b.1", "v", None),
    ]  # fmt: skip


def test_the_only_sense_of_an_instance_may_be_repeated(tmp_path: Path) -> None:
    found = rows(tmp_path / "k.key", b"a a.1 s/4 s/2\n", "sense", "weight")
    assert found == [(1, "s", 4.0), (1, "s", 2.0)]


@pytest.mark.parametrize(
    ("content", "said"),
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
def test_senseval_keys_that_are_refused(content: str, said: list[str], tmp_path: Path) -> None:
    with pytest.raises(DataError) as error:
        rows(tmp_path / "k.key", content.encode(), "item")
    for each in ["k.key", *said]:
        assert each in str(error.value)


def test_a_table_without_a_header(tmp_path: Path) -> None:
    named = {"columns": ["word", "cluster"], "comment": "%"}
    found = rows(tmp_path / "t.tsv", b"% two\ndog\t3\n\t4\n", "word", "cluster", **named)
    assert found == [(2, "dog", "3"), (3, None, "4")]


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
    found = rows(tmp_path / "t.csv", f"{header}\n{first}\n".encode(), "word")
    assert [row[1] for row in found] == [row.partition(",")[0] for row in first.splitlines()]


def test_names_for_columns_leave_a_first_row_in_brackets(tmp_path: Path) -> None:
    named = {"columns": ["word", "f"]}
    assert rows(tmp_path / "t.csv", b"(a),(b)\n", "word", "f", **named) == [(1, "(a)", "(b)")]


def test_columns_are_named_once(tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match="duplicate names: word"):
        rows(tmp_path / "t.csv", b"a,b\n", "word", columns=["word", "word"])


BLOCKS = b"\n\ndog\n cat \n \n\nNew York\r\nrun"


def test_blocks(tmp_path: Path) -> None:
    found = rows(tmp_path / "c.blocks", BLOCKS, "item", "cluster")
    assert found == [(3, "dog", "1"), (4, "cat", "1"), (7, "New York", "2"), (8, "run", "2")]


def test_a_cluster_a_line(tmp_path: Path) -> None:
    found = rows(
        tmp_path / "c.clusters.gz", b"dog  cat\n\nrun\n", "item", "cluster", line="cluster"
    )
    assert found == [(1, "dog", "1"), (1, "cat", "1"), (3, "run", "2")]


@pytest.mark.parametrize("content", [b"", b"\n \n"])
def test_blocks_without_words(content: bytes, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="it has no words"):
        rows(tmp_path / "c.blocks", content, "item")


def test_blocks_that_are_not_utf8(tmp_path: Path) -> None:
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
def test_a_formula_has_an_apostrophe_unless_it_is_wanted_raw(text: str) -> None:
    frame = pl.DataFrame({"a": [text, "b"]})
    assert fields(to_csv(frame)) == ["'" + text, "b"]
    assert fields(to_csv(frame, raw=True)) == [text, "b"]


def test_what_no_spreadsheet_runs_stays_to_the_byte() -> None:
    frame = pl.DataFrame({"a": HARMLESS, "n": range(len(HARMLESS)), "x": [-0.5] * len(HARMLESS)})
    assert to_csv(frame) == frame.write_csv().encode()


def back(frame: pl.DataFrame, ending: str) -> list[str | None]:
    separator = "\t" if ending == "tsv" else ","
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"t.{ending}"
        path.write_bytes(to_csv(frame, separator=separator))
        read = format_of(path.name)
        return read.scan(path, read.options()).collect()["a"].to_list()


@given(texts=st.lists(st.sampled_from(DANGEROUS + HARMLESS + ["'=1", "''-x", "'-"]), min_size=1))
def test_our_readers_take_the_guard_off(texts: list[str]) -> None:
    frame = pl.DataFrame({"a": texts, "b": "x"})
    assert [text or "" for text in back(frame, "csv")] == texts
    plain = [text for text in texts if text and not {"\t", "\n", '"'} & set(text)]
    columns = {"a": plain, "b": ["x"] * len(plain)}
    tsv = pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))
    assert [text or "" for text in back(tsv, "tsv")] == plain


def test_apostrophes_of_others_stay(tmp_path: Path) -> None:
    """A file without the mark, or with a formula that has no guard, is not one of ours."""
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
        found = path.read_bytes()
        path.unlink()
        return found
    separator = "," if name.endswith(".csv") else "\t"
    style: Literal["necessary", "never"] = "necessary" if separator == "," else "never"
    text = FRAME_TABLES.write_csv(separator=separator, quote_style=style)
    return (("## a UCS comment\t\tx\n# another\n" if name.endswith(".ds") else "") + text).encode()


def scan_tables(path: Path, **options: object) -> pl.DataFrame:
    found = format_of(path.name)
    given = found.options.model_validate(options)
    assert found.check(path, given) == ()
    return found.scan(path, given).collect()


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.ds", "t.parquet", "t.tab", "T.TSV"])
def test_round_trip_tables(
    name: str, packed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    raw = content(name.lower() if name != "T.TSV" else "t.tsv")
    path = tmp_path / (name + ".gz" if packed else name)
    path.write_bytes(gzip.compress(raw) if packed else raw)
    found = scan_tables(path)
    assert found.select(*ROWS_TABLES).equals(FRAME_TABLES)
    first = {"t.parquet": 1, "t.ds": 4}.get(name, 2)
    assert found[LINE].to_list() == [first, first + 1, first + 2]


def test_empty_field_is_null_and_byte_order_mark_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    path.write_bytes(b"\xef\xbb\xbfl1\tl2\r\n\tb\r\n")
    assert scan_tables(path).select("l1", "l2").rows() == [(None, "b")]


def test_semicolons_and_comments(tmp_path: Path) -> None:
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
        ["3 lines", "the 2 in the header", "line 2", "line 4", "line 5"],
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
    "column twice": ("t.csv", b"a,b,a\n1,2,3\n", ["line 1", "duplicate column names: a"]),
    "no gzip": ("t.csv.gz", b"a,b\n1,2\n", ["gzip"]),
    "cut gzip": ("t.csv.gz", gzip.compress(b"a,b\n" + b"1,2\n" * 5000)[:60], ["gzip"]),
    "no parquet": ("t.parquet", b"hello", ["Parquet"]),
    "cut parquet": ("t.parquet.gz", gzip.compress(b"PAR1xx"), ["Parquet"]),
}


@pytest.mark.parametrize("case", sorted(WRONG))
def test_wrong_file(case: str, tmp_path: Path) -> None:
    name, raw, said = WRONG[case]
    path = tmp_path / name
    path.write_bytes(raw)
    with pytest.raises(DataError) as error:
        scan_tables(path)
    for words in [name, *said]:
        assert words in str(error.value)


def test_unknown_ending() -> None:
    with pytest.raises(ValueError, match=r"extension '.docx'.*format ="):
        format_of("sheet.docx")
    with pytest.raises(ValueError, match=r"unknown format 'tsw'; did you mean tsv"):
        format_of("x", name="tsw")


def test_kind_that_is_wanted() -> None:
    assert format_of("x.conllu").name == format_of("x.conllu", kind="corpus").name == "conllu"
    with pytest.raises(ValueError, match=r"no format has the extension '.conllu'"):
        format_of("x.conllu", kind="table")
    assert format_of("x", name="tokens", kind="corpus").name == "tokens"
    with pytest.raises(ValueError, match=r"'tokens' reads a corpus.*valid:.*parquet"):
        format_of("x", name="tokens", kind="table")


# JSON lines: what is read, and what is refused with its lines.

GOOD = '{"l1": "a", "f": 3}\n'


def write(tmp_path: Path, text: str, name: str = "t.jsonl") -> Path:
    path = tmp_path / name
    raw = text.encode("utf-8", "surrogatepass")
    path.write_bytes(gzip.compress(raw) if name.endswith(".gz") else raw)
    return path


@pytest.mark.parametrize("name", ["t.jsonl", "t.ndjson", "T.JSONL", "t.jsonl.gz", "t.ndjson.gz"])
def test_round_trip(name: str, tmp_path: Path) -> None:
    text = "".join(
        json.dumps(row, ensure_ascii=False) + "\n" for row in FRAME_TABLES.iter_rows(named=True)
    )
    found = scan_tables(write(tmp_path, text, name))
    assert found.select(*ROWS_TABLES).equals(FRAME_TABLES)
    assert found[LINE].to_list() == [1, 2, 3]
    assert format_of(name).name == "jsonl"


def test_values_are_texts_as_they_are_written(tmp_path: Path) -> None:
    text = (
        '{"a": 0.10, "b": true, "c": null, "d": 1e400, "e": 12345678901234567890123}\r\n'
        '{"e": "", "d": "\\u00e4\\n", "c": "null", "b": false, "a": -0}'
    )
    found = scan_tables(write(tmp_path, "\ufeff" + text)).drop(LINE)
    assert found.rows() == [
        ("0.10", "true", None, "1e400", "12345678901234567890123"),
        ("-0", "false", "null", "ä\n", None),
    ]
    assert set(found.dtypes) == {pl.String}


def test_a_column_line_gives_way_to_the_number(tmp_path: Path) -> None:
    found = scan_tables(write(tmp_path, '{"line": 7, "a": "x"}\n'))
    assert found.rows() == [(1, "x")]


@pytest.mark.long
def test_a_query_reads_what_it_asks_for(tmp_path: Path) -> None:
    path = write(tmp_path, "".join(f'{{"a": "{n}", "b": {n}}}\n' for n in range(60_000)))
    form = format_of(path.name)
    query = form.scan(path, form.options())
    assert query.select("b").head(2).collect().rows() == [("0",), ("1",)]
    last = query.filter(pl.col("a") == "59999").select(LINE, "b").collect()
    assert last.rows() == [(60_000, "59999")]
    assert query.select(pl.len()).collect().item() == 60_000


@pytest.mark.parametrize(
    ("line", "said"),
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
def test_a_line_that_is_no_row_is_refused(line: str, said: str, tmp_path: Path) -> None:
    path = write(tmp_path, GOOD + line + "\n" + GOOD)
    with pytest.raises(DataError, match=r"1 line without an object") as refused:
        scan_tables(path)
    assert f"line 2: {said}" in str(refused.value)
    first = write(tmp_path, line + "\n" + GOOD, "first.jsonl")
    with pytest.raises(DataError, match="line"):
        scan_tables(first)


def test_all_bad_lines_are_counted_and_three_shown(tmp_path: Path) -> None:
    path = write(tmp_path, GOOD + "x\n" * 4)
    with pytest.raises(DataError, match=r"4 lines") as refused:
        scan_tables(path)
    assert str(refused.value).count("invalid JSON at character 1") == 3


def test_an_empty_file_and_bare_returns(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="the file is empty: line 1 should hold an object"):
        scan_tables(write(tmp_path, ""))
    with pytest.raises(DataError, match=r"carriage return.*line 1"):
        scan_tables(write(tmp_path, GOOD.replace("\n", "\r") + GOOD))
    path = tmp_path / "bytes.jsonl"
    path.write_bytes(GOOD.encode() + b'{"l1": "\xff", "f": 1}\n')
    with pytest.raises(DataError, match="line 2: byte 0xff"):
        scan_tables(path)
