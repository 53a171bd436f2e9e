"""``score`` on files of other programs: semicolons, workbooks, other names of columns."""

from __future__ import annotations

import datetime
import gzip
import io
import math
import os
from pathlib import Path

import polars as pl
import pytest
from openpyxl import load_workbook
from xlsxwriter import Workbook

from pipeline.cli.from_files import OURS, nearest
from pipeline.cli.main import main
from pipeline.formats.lines import separator_of
from tests.small_experiment import SMALL
from tests.stages.run_stage import TABLES, write_table

ROWS = [("in", "Kraft", 12, 20, 30, 1000), ("im", "Gange", 7, 9, 40, 1000)]
HEAD = ("l1", "l2", "f", "f1", "f2", "N")
OTHER = ("Node", "Collocate", "Freq", "F_node", "C1", "Corpus_Size")
SAME = "l1=Node,l2=Collocate,f=Freq,f1=F_node,f2=C1,N=Corpus_Size"


def text(head: tuple[str, ...] = HEAD, separator: str = ",", end: str = "\n") -> str:
    return "".join(separator.join(map(str, row)) + end for row in [head, *ROWS])


def score_rows(
    path: Path, capsys: pytest.CaptureFixture[str], *words: str
) -> list[tuple[object, ...]]:
    assert main(["score", str(path), "--measures", "mi", "--format", "csv", *words]) == 0
    table = pl.read_csv(io.StringIO(capsys.readouterr().out))
    return table.select(*HEAD, "mi").rows()


@pytest.fixture
def expected_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> list[tuple[object, ...]]:
    (tmp_path / "plain.csv").write_text(text())
    rows = score_rows(tmp_path / "plain.csv", capsys)
    assert [row[:6] for row in rows] == ROWS
    return rows


@pytest.mark.parametrize("separator", [";", "\t", ","])
@pytest.mark.parametrize("packed", [False, True])
def test_any_common_separator_is_recognised(
    separator: str, packed: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    expected_rows: list[tuple[object, ...]],
) -> None:  # fmt: skip
    content = ("\ufeff" + text(separator=separator, end="\r\n")).encode()
    path = tmp_path / ("t.csv.gz" if packed else "t.csv")
    path.write_bytes(gzip.compress(content) if packed else content)
    assert separator_of(path) == separator
    assert score_rows(path, capsys) == expected_rows


def test_workbooks_are_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], expected_rows: list[tuple[object, ...]]
) -> None:
    with Workbook(str(tmp_path / "t.xlsx")) as book:
        sheet = book.add_worksheet("Collocates")
        for number, row in enumerate([OTHER, *ROWS]):
            sheet.write_row(number, 0, row)
    assert score_rows(tmp_path / "t.xlsx", capsys, "--columns", SAME) == expected_rows


def test_columns_with_other_names_are_mapped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], expected_rows: list[tuple[object, ...]]
) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text(OTHER, ";"))
    assert score_rows(path, capsys, "--columns", SAME) == expected_rows
    path.write_text("\n".join(line.rpartition(";")[0] for line in text(OTHER, ";").splitlines()))
    mapping = SAME.replace("Corpus_Size", "1000")
    assert score_rows(path, capsys, "--columns", mapping) == expected_rows


def test_collocates_of_one_node_are_scored_with_constants(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "t.csv"
    path.write_text("Collocate,Freq,Coll\nKraft,12,30\nGange,7,40\n")
    mapping = "l2=Collocate,f=Freq,f2=Coll,f1=20,N=1000"
    words = ["score", str(path), "--measures", "frequency", "--format", "csv", "--columns"]
    assert main([*words, mapping]) == 0
    table = pl.read_csv(io.StringIO(capsys.readouterr().out))
    assert table.select("l2", *HEAD[2:]).rows() == [("Kraft", 12, 20, 30, 1000), ("Gange", 7, 20, 40, 1000)]  # fmt: skip
    assert main([*words, mapping.replace("f1=20,", "")]) == 1
    assert "column f1: missing; if it is constant, --columns f1=NUMBER" in capsys.readouterr().err
    assert main([*words, mapping.replace("f2=Coll", "f2=30")]) == 1
    assert "column f2: no column '30'" in capsys.readouterr().err


def test_missing_columns_are_reported_with_suggestions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "t.csv").write_text(text(OTHER))
    assert main(["score", str(tmp_path / "t.csv")]) == 1
    message = capsys.readouterr().err
    for ours, theirs in zip(HEAD[2:], OTHER[2:], strict=True):
        assert f"column {ours}: missing; did you mean --columns {ours}={theirs}?" in message
    assert f"the file has {', '.join(OTHER)};" in message
    assert main(["score", str(tmp_path / "t.csv"), "--columns", SAME.replace("Freq", "Frek")]) == 1
    message = capsys.readouterr().err
    assert "no column 'Frek'; did you mean --columns f=Freq?" in message


SPECIAL = {
    "pipe": "pipe.tsv: it is a pipe, which can be read only once; write its content to a file first",
    "/dev/zero": "/dev/zero: it is a device, not a file; give a file",
}


@pytest.mark.parametrize(
    "words",
    [
        ["score", "{}"],
        ["collocates", "a", "{}"],
        ["candidates", "{}"],
        ["candidates", "t.txt", "--stop-words", "{}"],
        ["keywords", "{}", "t.txt"],
        ["keywords", "t.txt", "{}"],
        ["evaluate", "{}", "t.tsv"],
        ["evaluate", "t.tsv", "{}"],
        ["clusters", "t.tsv", "{}"],
        ["lexicon", "{}", "t.tsv"],
        ["lexicon", "t.tsv", "{}"],
        ["new", "collocations", "mine", "--from", "{}"],
        ["plan", "x.toml", "--set", "stages.candidates.path='{}'"],
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("kind", SPECIAL)
def test_pipes_and_devices_are_refused_by_name(
    kind: str,
    words: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """For example <(zcat x) and /dev/stdin; nothing is read from them."""
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe.tsv")
    (tmp_path / "t.txt").write_text("a b a b\n")
    (tmp_path / "t.tsv").write_text("item\tcluster\tl1\tl2\tmi\na\tb\ta\tb\t1\n")
    (tmp_path / "x.toml").write_text(SMALL)
    (tmp_path / "pairs.tsv").write_text(text(HEAD))
    place = "pipe.tsv" if kind == "pipe" else kind
    assert main([each.format(place) for each in words]) in {1, 2}
    assert SPECIAL[kind].partition(": ")[2] in capsys.readouterr().err


VERTICAL = "The\tDT\tthe\nzarp\tNN\t<unknown>\nruns\tVVZ\trun\n"


@pytest.mark.long
def test_notes_on_reading_name_an_option_of_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Notes name an option of the command, and the option has the stated effect."""
    path = tmp_path / "t.vert"
    path.write_text(VERTICAL)
    words = ["candidates", str(path), "--attributes", "word,pos,lemma", "--min-f", "1"]
    words += ["--format", "csv", "--runs", str(tmp_path / "runs")]
    for more, expected in (([], {"zarp"}), (["--reader", "placeholders=[]"], {"<unknown>"})):
        assert main([*words, *more]) == 0
        out, err = capsys.readouterr()
        assert expected <= {line.split(",")[0] for line in out.splitlines()}
        assert ("1 token without a lemma (<unknown> 1)" in err) == (not more)
        assert ("--reader placeholders=[]" in err) == (not more)
    path.write_text(VERTICAL + "\nfoo\n")
    assert main(words) == 1
    assert "--reader lenient=true" in capsys.readouterr().err
    assert main([*words, "--reader", "lenient=true"]) == 0
    assert "skipped 1 sentence, 1 token in all" in capsys.readouterr().err
    assert main([*words, "--reader", "lenient"]) == 2
    assert "--reader: 1 error\n  - lenient: 'lenient' is not of the form" in capsys.readouterr().err


RANKED = "l1,l2,score\na,b,1.5\nc,d,2\n"
CONFLICT = "l1,l2,TP\na,b,1\na,b,0\nc,d,0\n"
ERRORS: list[tuple[list[str], dict[str, str], list[str]]] = [
    (["collocates", "a", "d/t.conllu"], {"d/t.conllu": "x\ty\n"}, ["lexassay: d/t.conllu: 1 line"]),
    (["collocates", "a", "d"], {"d/t.conllu": "x\ty\n"}, ["lexassay: d/t.conllu: 1 line"]),
    (
        ["collocates", "a", "d"],
        {"d/a.conllu": "1\ta" + 8 * "\t_" + "\n\n", "d/b.conllu": "x\ty\n"},
        ["lexassay: d/b.conllu: 1 line"],
    ),
    (["collocates", "a", "t.txt"], {}, ["- PATH: t.txt: file not found"]),
    (
        ["evaluate", "t.tsv", "j.csv"],
        {"t.tsv": "l1\tl2\na\tb\tc\n", "j.csv": CONFLICT},
        ["lexassay: t.tsv: the number of fields in 1 line", "--reader separator=..."],
    ),
    (
        ["evaluate", "r.csv", "j.csv"],
        {"r.csv": RANKED, "j.csv": 'l1,l2\n1,"x\n'},
        ["lexassay: j.csv: line 2: a quotation mark that is not closed\nDouble"],
    ),
    (
        ["evaluate", "r.csv", "j.csv"],
        {"r.csv": RANKED, "j.csv": CONFLICT},
        ["lexassay: evaluate: 2 values", "  - j.csv: column TP", "and run again.\n"],
    ),
]
"""Command, files, and parts of the message."""


@pytest.mark.parametrize("case", ERRORS)
def test_errors_name_paths_as_typed_and_options_of_the_command(
    case: tuple[list[str], dict[str, str], list[str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    words, files, parts = case
    monkeypatch.chdir(tmp_path)
    for name, content in files.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(content)
    assert main([*words, "--runs", "runs"]) in {1, 2}
    message = capsys.readouterr().err
    assert [part for part in parts if part not in message] == []
    assert str(tmp_path) not in message
    assert "stage" not in message


def test_a_table_of_tokens_needs_sentences(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    pl.DataFrame({"form": ["a", "b"]}).write_parquet("t.parquet")
    assert main(["collocates", "a", "t.parquet"]) == 1
    assert "a sentence begins: --reader sentence=..." in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [["candidates"], ["collocates", "old"], ["keywords", "other.txt"], ["score"]],
)
def test_an_output_is_checked_before_the_input(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    there = tmp_path / "there.csv"
    there.write_text("mine")
    assert main([*words, "missing.txt", "--output", str(there)]) == 2
    assert "there.csv: already exists; add --overwrite" in capsys.readouterr().err
    assert main([*words, "missing.txt", "--output", str(tmp_path / "no" / "x.csv")]) == 2
    assert "no does not exist; create it first" in capsys.readouterr().err
    assert there.read_text() == "mine"


def test_common_names_of_columns_are_recognised() -> None:
    assert [nearest(ours, OTHER) for ours in OURS] == list(OTHER)
    assert nearest("f1", ["banana"]) is None


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        ("g=Freq", "unknown column 'g'; valid: N, f, f1, f2, l1, l2"),
        ("f", "'f' is not of the form OURS=THEIRS; e.g. --columns f=freq"),
        ("f=l1", "the file already has a column f"),
        (
            "N=9223372036854775808",
            "--columns N=9223372036854775808: is 2^63 or more; give a column, or",
        ),
    ],
)
def test_invalid_mappings_of_columns_are_refused(
    mapping: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "t.csv").write_text(text())
    assert main(["score", str(tmp_path / "t.csv"), "--columns", mapping]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("1,5", "column f: is not a whole number (write 1200, without separators"),
        ("1.200,0x", "column f: is not a whole number"),
        (
            "12.000",
            "column f: is ambiguous: the mark may separate decimals or thousands; give --decimal",
        ),
    ],
)
def test_ambiguous_marks_between_digits_are_refused(
    value: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "t.csv").write_text(text(separator=";").replace(";12;", f";{value};"))
    assert main(["score", str(tmp_path / "t.csv")]) == 1
    error = capsys.readouterr().err
    assert message in error
    assert f"line 2: {value!r}" in error


@pytest.mark.parametrize("value", ["1.000", "1 000", "1'000", "1,000", "1\u202f000"])
def test_marks_between_thousands_are_read(
    value: str, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    expected_rows: list[tuple[object, ...]],
) -> None:  # fmt: skip
    content = text(separator=";").replace(";1000", f";{value}")
    (tmp_path / "t.csv").write_text(content)
    words = ["--decimal", ","] if value == "1.000" else []
    assert score_rows(tmp_path / "t.csv", capsys, *words) == expected_rows


def test_marks_between_thousands_are_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], expected_rows: list[tuple[object, ...]]
) -> None:
    (tmp_path / "t.csv").write_text(text(separator=";").replace(";1000", ";1,000"))
    assert main(["score", str(tmp_path / "t.csv"), "--measures", "mi"]) == 0
    note = "t.csv: column N: commas stand between thousands (--decimal changes this)"
    assert note in capsys.readouterr().err
    assert main(["score", str(tmp_path / "t.csv"), "--decimal", "x"]) == 2
    assert "'x' is not a decimal mark; give . or ," in capsys.readouterr().err
    (tmp_path / "t.csv").write_text(text().partition("\n")[2])
    assert main(["score", str(tmp_path / "t.csv"), "--measures", "mi"]) == 1
    message = capsys.readouterr().err
    assert "t.csv: the first line is not a header: columns are named column_1" in message
    names = ",".join(f"{ours}=column_{number}" for number, ours in enumerate(HEAD, start=1))
    assert score_rows(tmp_path / "t.csv", capsys, "--columns", names) == expected_rows


SIX = [("kick", "bucket", 6, 20, 30, 5000)]


@pytest.mark.parametrize("dtype", [pl.Float64(), pl.Decimal(12, 2), pl.Int16()])
@pytest.mark.parametrize("name", TABLES)
def test_whole_numbers_of_any_type_are_counts(
    name: str, dtype: pl.DataType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """MI = log10(O / E), E = 20 x 30 / 5000 = .12, and 6 / .12 = 50."""
    table = pl.DataFrame(SIX, schema=list(HEAD), orient="row")
    write_table(table.with_columns(pl.col(HEAD[2:]).cast(dtype)), tmp_path / name)
    assert score_rows(tmp_path / name, capsys) == [(*SIX[0], pytest.approx(math.log10(50)))]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (pl.Series(["3.50", "4.00"]).cast(pl.Decimal(9, 2)), "in 1 row\n      line 1: 3.50"),
        (pl.Series([6.0, math.nan]), "in 1 row\n      line 2: nan"),
        (pl.Series([6.0, math.inf]), "in 1 row\n      line 2: inf"),
        (pl.Series([True, False]), "in 2 rows\n      line 1: True"),
        (pl.Series([datetime.date(2024, 1, 31)] * 2), "in 2 rows\n      line 1: 2024-01-31"),
        (
            pl.Series([datetime.timedelta(1)] * 2),
            "column f: has time spans instead of whole numbers",
        ),
        (pl.Series([7, 2**63], dtype=pl.UInt64), "below 2^63 in 1 row\n      line 2: 92233720"),
        (pl.Series([7, -3]), "(0 or more) in 1 row\n      line=2, f=-3"),
    ],
)
def test_columns_of_other_types_are_refused_as_counts(
    values: pl.Series, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = pl.DataFrame(ROWS, schema=list(HEAD), orient="row").with_columns(f=values)
    table.write_parquet(tmp_path / "t.parquet")
    assert main(["score", str(tmp_path / "t.parquet")]) == 1
    assert f"{tmp_path / 't.parquet'} lacks columns, or has unusable values:\n  - column f: " in (
        error := capsys.readouterr().err
    )
    assert message in error


def test_a_limit_of_memory_is_respected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress((text() + text().partition("\n")[2] * 200_000).encode()))
    words = ["score", str(path), "--measures", "mi", "--rows", "1"]
    assert main([*words, "--memory", "1MB"]) == 1
    message = capsys.readouterr().err
    assert 'raise the limit: --memory "' not in message
    assert "raise the limit: --memory " in message
    assert main([*words, "--memory", "some"]) == 2
    assert "'some' is not an amount of memory; e.g. 500MB or 2GB" in capsys.readouterr().err


# Workbooks as output of all commands with a table


@pytest.mark.parametrize(
    "words",
    [
        ["candidates", "a.txt", "--min-f", "1"],
        ["collocates", "old", "a.txt", "--min-f", "1"],
        ["keywords", "a.txt", "b.txt", "--min-f", "1"],
        ["score", "t.csv", "--measures", "mi"],
        ["size", "--candidates", "500", "--precision", "0.3"],
    ],
    ids=lambda words: words[0],
)
def test_tables_can_be_saved_as_workbooks(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "a.txt").write_text("The old house. The old barn.\n")
    (tmp_path / "b.txt").write_text("The new house.\n")
    (tmp_path / "t.csv").write_text(text())
    assert main([*words, "--format", "csv"]) == 0
    expected = pl.read_csv(io.StringIO(capsys.readouterr().out), infer_schema=False)
    assert main([*words, "--output", "x.xlsx"]) == 0
    rows = list(load_workbook(tmp_path / "x.xlsx").active.iter_rows(values_only=True))
    assert rows[0] == tuple(expected.columns)
    assert len(rows) == expected.height + 1
    assert rows[1][0] == expected.row(0)[0] or float(rows[1][0]) == float(expected.row(0)[0])
    assert main([*words, "--output", "x.xlsx.gz"]) == 2
    assert "workbooks are already compressed" in capsys.readouterr().err
