"""``show``: selected rows and columns, words beside ids, the list of tables."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import polars as pl
import pytest

from pipeline.cli import output
from pipeline.cli.main import main
from tests.small_experiment import SMALL

EXPERIMENT = (
    SMALL
    + """
[stages.sample]
use = "sample.random"
candidates = "candidates"
size = 4

[stages.full]
use = "evaluate.precision"
ranks = "ranks"
judgements = "judgements"
cuts = [1, 2]
"""
)


@pytest.fixture(scope="module")
def finished_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with an experiment that has run."""
    folder = tmp_path_factory.mktemp("show")
    (folder / "x.toml").write_text(EXPERIMENT)
    lines = [f"a{i}\tb{i % 3}\t{i + 1}\t{i + 3}\t{40 - i}\t90\t{i % 2}" for i in range(12)]
    head = "l1\tl2\tf\tf1\tf2\tN\tTP"
    (folder / "pairs.tsv").write_text("\n".join([head, *lines]) + "\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert main(["run", "x.toml", "--no-report", "--quiet"]) == 0
    return folder


@pytest.fixture(autouse=True)
def _there(finished_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(finished_run)


def show_rows(capsys: pytest.CaptureFixture[str], *words: str) -> list[list[str]]:
    """Return the CSV output: the names of the columns, then the rows."""
    assert main(["show", "x.toml", *words, "--format", "csv"]) == 0
    return list(csv.reader(io.StringIO(capsys.readouterr().out)))


def test_rows_are_sorted(capsys: pytest.CaptureFixture[str]) -> None:
    rows = show_rows(capsys, "scores", "--sort", "l2,f:desc", "--columns", "l2,f")
    assert rows[0] == ["l2", "f"]
    expected = sorted(((f"b{i % 3}", i + 1) for i in range(12)), key=lambda row: (row[0], -row[1]))
    assert [(second, int(f)) for second, f in rows[1:]] == expected


def test_equal_rows_are_in_the_order_of_the_key(capsys: pytest.CaptureFixture[str]) -> None:
    rows = show_rows(capsys, "scores", "--sort", "l2", "--columns", "l2,id")[1:]
    assert rows == sorted(rows)


def test_only_the_first_rows_are_shown_on_request(capsys: pytest.CaptureFixture[str]) -> None:
    top = show_rows(capsys, "scores", "--sort", "f:desc", "--top", "2", "--columns", "l1,f")
    assert top[1:] == [["a11", "12"], ["a10", "11"]]
    assert main(["show", "x.toml", "scores", "--top", "5", "--rows", "2"]) == 0
    output = capsys.readouterr().out
    assert "scores: 5 rows" in output
    assert "3 more rows" in output
    assert main(["show", "x.toml", "scores", "--top", "2", "--rows", "1"]) == 0
    assert "1 more row;" in capsys.readouterr().out
    assert main(["show", "x.toml", "scores", "--top", "1"]) == 0
    assert "scores: 1 row " in f"{capsys.readouterr().out.splitlines()[0]} "


def test_missing_values_come_last_in_both_directions(capsys: pytest.CaptureFixture[str]) -> None:
    for way in ("", ":desc"):
        values = [row[0] for row in show_rows(
            capsys, "full", "--sort", f"lower{way}", "--columns", "lower"
        )[1:]]  # fmt: skip
        filled = [float(each) for each in values if each]
        assert filled == sorted(filled, reverse=bool(way))
        assert values[: len(filled)] == [each for each in values if each]


def test_rows_are_filtered_by_a_condition(capsys: pytest.CaptureFixture[str]) -> None:
    condition = "f >= 5 AND l2 IN ('b0', 'b1')"
    rows = show_rows(capsys, "scores", "--where", condition, "--columns", "l1")[1:]
    assert {each for (each,) in rows} == {f"a{i}" for i in range(12) if i >= 4 and i % 3 < 2}


def test_columns_are_selected_by_name_and_pattern_in_order(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert show_rows(capsys, "scores", "--columns", "mi, f*,l?,f")[0] == [
        "mi", "f", "f1", "f2", "l1", "l2",
    ]  # fmt: skip


def test_words_are_shown_beside_ids_in_printed_tables(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "x.toml", "ranks"]) == 0
    output = capsys.readouterr().out
    assert re.search(r"id\s+┃ l1\s+┃ l2\s+┃\s+score", output)
    assert "│ a11 │" in output
    assert main(["show", "x.toml", "ranks", "--raw-ids"]) == 0
    assert "l1" not in capsys.readouterr().out


def test_words_are_added_to_files_only_on_request(capsys: pytest.CaptureFixture[str]) -> None:
    plain = show_rows(capsys, "sample")
    assert plain[0] == ["id", "multiplicity", "position", "pi", "stratum"]
    worded = show_rows(capsys, "sample", "--words")
    assert worded[0] == ["id", "l1", "l2", "multiplicity", "position", "pi", "stratum"]
    assert [[row[0], *row[3:]] for row in worded] == plain
    scores = {row[0]: row[1:3] for row in show_rows(capsys, "scores")[1:]}
    assert all(scores[row[0]] == row[1:3] for row in worded[1:])


def test_conditions_may_use_words_that_are_not_shown(capsys: pytest.CaptureFixture[str]) -> None:
    rows = show_rows(capsys, "ranks", "--where", "l1 = 'a3' AND measure = 'mi'", "--sort", "l2")
    assert len(rows) == 2
    assert "l1" not in rows[0]
    assert show_rows(capsys, "ranks", "--columns", "rank,l1", "--where", "l1 = 'a3'")[0] == [
        "rank", "l1",
    ]  # fmt: skip


def test_tables_without_ids_are_unchanged_by_words(capsys: pytest.CaptureFixture[str]) -> None:
    assert show_rows(capsys, "full.cuts", "--words") == show_rows(capsys, "full.cuts")


@pytest.mark.long
def test_tables_are_listed_with_rows_and_descriptions(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "x.toml", "--format", "json"]) == 0
    tables = {row["table"]: row for row in json.loads(capsys.readouterr().out)}
    assert tables["ranks"]["rows"] == 24
    assert tables["full.cuts"]["rows"] == 4
    assert tables["sample"]["what"].startswith("A simple random sample")
    assert all(row["what"] for row in tables.values())
    for name, row in tables.items():
        assert main(["show", "x.toml", name, "--format", "json"]) == 0
        assert row["rows"] in (None, len(json.loads(capsys.readouterr().out)))
    assert main(["show", "x.toml", "--set", "stages.sample.size=5"]) == 0
    assert re.search(r"│ sample +│ +│ A simple random sample", capsys.readouterr().out)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["scores", "--sort", "scor"], "sort: no column 'scor'; did you mean t_score"),
        (["scores", "--sort", "f:down"], "sort: 'f:down': unknown order 'down'; valid: asc, desc"),
        (["scores", "--columns", "l1,t_scor"], "no column 't_scor'; did you mean t_score"),
        (["scores", "--columns", "q*"], "columns: no column matches 'q*'"),
        (["scores", "--where", "ff > 1"], "where: no column 'ff'; did you mean f"),
        (["scores", "--where", "f > 'x'"], "its types do not fit"),
        (["scores", "--where", "f + 1"], "its types do not fit"),
        (["scores", "--where", "f >"], "where: 'f >' is not a Polars SQL condition"),
        (
            ["scores", "--where", "f = (SELECT max(f) FROM scores)"],
            "is not an expression of a single row",
        ),
        (["scores", "--top", "0"], "'--top': it should be greater than or equal to 1"),
        (["--where", "f > 1"], "name a table; lexassay show CONFIG lists them"),
    ],
)
def test_invalid_requests_are_explained(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show", "x.toml", *words]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert "Traceback" not in error


def test_columns_that_do_not_fit_the_terminal_are_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "50")
    assert main(["show", "x.toml", "scores"]) == 0
    *table, note = capsys.readouterr().out.splitlines()
    assert max(map(len, table)) <= 50
    assert note.startswith("columns not shown: mi, t_score; --columns NAMES chooses, --format csv")
    assert main(["show", "x.toml", "scores", "--columns", "l1,mi"]) == 0
    assert "not shown" not in capsys.readouterr().out


def test_output_to_a_file_keeps_all_columns(capsys: pytest.CaptureFixture[str]) -> None:
    wide = pl.DataFrame({f"a_long_name_{i}": [i] for i in range(30)})
    output.print_table(wide)
    assert "not shown" not in capsys.readouterr().out


def test_misspelt_findings_get_a_suggestion(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "x.toml", "finding"]) == 2
    assert "did you mean findings?" in capsys.readouterr().err


def test_findings_are_printed_as_text(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [row[0] for row in show_rows(capsys, "findings", "--columns", "text")[1:]]
    monkeypatch.setenv("COLUMNS", "40")
    assert main(["show", "x.toml", "findings"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 40
    joined = " ".join(line.strip() for line in lines)
    assert joined == " ".join(f"{place}. {text} [full]" for place, text in enumerate(texts, 1))
    assert main(["show", "x.toml", "findings", "--rows", "1", "--where", '"order" > 1']) == 0
    output = capsys.readouterr().out
    assert output.startswith("2. ")
    assert f"{len(texts) - 2} more finding" in output
    assert main(["show", "x.toml", "findings", "--where", "kind = 'none'"]) == 0
    assert capsys.readouterr().out == "no findings\n"
    assert main(["show", "x.toml", "findings", "--set", "seed=another"]) == 0
    assert re.fullmatch(
        r"no findings: \d stages without current results; run the experiment\n",
        capsys.readouterr().out,
    )


def test_findings_can_be_shown_as_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    rows = show_rows(
        capsys, "findings", "--columns", "order,kind,text", "--where", "kind = 'answer'"
    )
    assert rows[0] == ["order", "kind", "text"]
    assert [row[0] for row in rows[1:]] == [str(place) for place in range(1, len(rows))]
    assert all(re.search(r"\d", row[2]) for row in rows[1:])
    assert "The baseline is 50.0 % [21.1, 78.9]." in {row[2] for row in rows[1:]}
