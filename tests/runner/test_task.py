"""Order of rows by their key, and errors of a stage that name their place."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from pipeline.cli.main import main
from pipeline.runner.store.local import LocalStorage
from pipeline.runner.task import faults_report, in_order
from pipeline.stages.base import Of, Outputs, StageConfig, Tables, stage
from schemas import Candidates
from tests.runner.commands import call
from tests.runner.laboratory import Laboratory, assert_whole

SHORT = st.text("aAzé€𝔸\x00 ", max_size=4)
LONG = st.text("aAzé€𝔸\x00 ", min_size=8, max_size=11)
TEXTS = st.sampled_from([SHORT, LONG, SHORT | LONG, st.none() | LONG]).flatmap(st.lists)


@given(TEXTS)
def test_the_order_equals_that_of_polars(texts: list[str | None]) -> None:
    frame = pl.DataFrame({"id": texts, "at": range(len(texts))}, schema_overrides={"id": pl.String})
    assert_frame_equal(in_order(frame, ["id", "at"]), frame.sort("id", "at"))


@given(st.lists(st.text("é𝔸z", min_size=8, max_size=9)))
def test_text_is_in_the_order_of_code_points(texts: list[str]) -> None:
    frame = pl.DataFrame({"id": texts}, schema={"id": pl.String})
    assert in_order(frame, ["id"]).to_series().to_list() == sorted(texts)


def test_keys_may_have_any_columns() -> None:
    frame = pl.DataFrame({"n": [2, 1], "id": ["abcdefgh"] * 2})
    assert (
        in_order(frame, ["n"]).rows() == in_order(frame, ["id", "n"]).rows() == frame.rows()[::-1]
    )
    assert in_order(frame, []).rows() == frame.rows()


# Rows of a file that break a rule are reported by file and line; of a repeated key both.

EXPERIMENT = """
name = "small"
[stages.candidates]
use = "extract.table"
path = ["a.tsv", "b.tsv"]
columns = { l1 = "noun" }
"""
HEAD = "noun\tl2\tf\tf1\tf2\tN\n"
LARGE = 2**62


@pytest.fixture
def folder_origins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "x.toml").write_text(EXPERIMENT)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def error_text(
    folder: Path, capsys: pytest.CaptureFixture[str], first: str, second: str = ""
) -> str:
    """Return the error message for two files with these rows."""
    for name, rows in (("a.tsv", first), ("b.tsv", second or "z\tz\t1\t1\t1\t9\n")):
        (folder / name).write_text(HEAD + rows)
    assert main(["run", "x.toml", "--no-report"]) == 1
    return capsys.readouterr().err


def test_each_row_that_breaks_a_rule_is_reported_with_its_line(
    folder_origins: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = "g\tg\t1\t1\t1\t99\n"
    text = error_text(
        folder_origins, capsys, good + "".join(f"l{i}\tr\t9\t3\t9\t99\n" for i in range(5))
    )
    assert "marginals_bound_joint (f <= f1 and f <= f2) in 5 rows" in text
    lines = [line for line in text.splitlines() if "a.tsv, line" in line]
    assert len(lines) == 3
    for line in lines:
        number = int(line.partition("line ")[2].partition(":")[0])
        assert f"l1='l{number - 3}'" in line
    assert "row" not in "".join(lines)


def test_both_places_of_a_repeated_pair_are_reported(
    folder_origins: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = error_text(
        folder_origins, capsys, "a\tb\t1\t2\t3\t99\nc\td\t1\t1\t1\t99\na\tb\t2\t2\t3\t99\n"
    )
    assert "key_is_unique (id) in 1 row" in text
    assert "a.tsv, line 2; a.tsv, line 4: id=" in text
    assert "l1='a', l2='b', f=1" in text
    assert text.endswith("keep one of each duplicate, and run again.\n")
    assert "l1='a', l2='b', f=2" in text


def test_both_places_of_a_pair_in_two_files_are_reported(
    folder_origins: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = error_text(
        folder_origins, capsys, "a\tb\t1\t2\t3\t99\n", "c\td\t1\t1\t1\t9\na\tb\t1\t2\t3\t99\n"
    )
    assert "a.tsv, line 2; b.tsv, line 3: id=" in text


@pytest.mark.parametrize("f2", [LARGE * 2 - 1, LARGE + 5])
def test_marginals_whose_sum_overflows_are_refused(
    folder_origins: Path, capsys: pytest.CaptureFixture[str], f2: int
) -> None:
    text = error_text(folder_origins, capsys, f"a\tb\t3\t{LARGE + 5}\t{f2}\t{2**63 - 1}\n")
    assert "table_fits_sample_size" in text
    assert "a.tsv, line 2" in text


def test_a_scored_file_has_line_numbers(
    folder_origins: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder_origins / "a.tsv").write_text(
        HEAD + f"g\tg\t1\t1\t1\t9\na\tb\t3\t{LARGE + 5}\t{LARGE}\t{LARGE}\n"
    )
    assert main(["score", "a.tsv", "--measures", "mi"]) == 1
    text = capsys.readouterr().err
    assert "a.tsv lacks columns, or has unusable values" in text
    assert "line=3" in text


# One shard: the origin of an error, and reading back written rows.

OWN = """
[stages.own]
use = "own.stage"
candidates = "candidates"
"""


class Own(StageConfig):
    """Pass candidates on."""

    candidates: Annotated[str, Of(Candidates)]
    """The candidates."""


@pytest.mark.long
@pytest.mark.usefixtures("own_stages")
def test_an_unexpected_error_is_attributed_to_the_stage(laboratory: Laboratory) -> None:
    def divide(_config: Own, tables: Tables) -> Outputs:
        rows = tables["candidates"].select(pl.len()).collect().item()
        return {"candidates": tables["candidates"].head(1 // (rows < 100))}

    stage("own.stage", config=Own, outputs={"candidates": Candidates})(divide)
    laboratory.config.write_text(laboratory.config.read_text() + OWN)
    outcome = laboratory.call("run")
    assert outcome.code == 1
    assert "stage own failed: ZeroDivisionError: " in outcome.err
    assert (
        "This is a bug: please report it where you got lexassay, with the experiment" in outcome.err
    )
    assert "Traceback" not in outcome.err
    assert laboratory.outcomes()["own"] == "failed"
    assert_whole(laboratory.root)
    assert "Traceback" in laboratory.call("run", "--debug").err


@pytest.mark.long
@pytest.mark.usefixtures("own_stages")
def test_errors_of_libraries_are_reworded(laboratory: Laboratory) -> None:
    def numbers(_config: Own, tables: Tables) -> Outputs:
        late = pl.col("l1").map_batches(lambda text: text, return_dtype=pl.String())
        return {"candidates": tables["candidates"].with_columns(f=late.cast(pl.Int64))}

    stage("own.stage", config=Own, outputs={"candidates": Candidates})(numbers)
    laboratory.config.write_text(laboratory.config.read_text() + OWN)
    message = laboratory.call("run").err
    assert (
        "stage own failed: a column has values that are not whole numbers, for example 'in:N"
        in message
    )
    assert "Check the conditions and formulas in its options; otherwise this is a bug" in message
    for advice in ("Error:", "You might", "This error occurred", "i64", "strict"):
        assert advice not in message, advice


@pytest.mark.parametrize(("cast", "code"), [("CAST", 1), ("TRY_CAST", 0)])
def test_a_failing_cast_in_a_condition_is_reported(cast: str, code: int, tmp_path: Path) -> None:
    (tmp_path / "c.txt").write_text("a b\n1 2\n")
    (tmp_path / "x.toml").write_text(
        'name = "x"\n[stages.pairs]\nuse = "extract.pairs"\nrelation = "adjacent"\n'
        f'corpus = "c.txt"\nleft = {{ where = "{cast}(form AS BIGINT) > 0", label = "{{form}}" }}\n'
        'right = { label = "{form}" }\n'
    )
    outcome = call(["run", str(tmp_path / "x.toml"), "--runs", str(tmp_path / "r"), "--no-report"])
    assert outcome.code == code
    if code:
        assert "stages.pairs: a CAST in its options fails: column 'form' has" in outcome.err
        assert "Use TRY_CAST" in outcome.err
        assert "defect" not in outcome.err


@pytest.mark.long
def test_rows_lost_in_writing_are_detected(
    laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = LocalStorage.write

    def lose_two(
        self: LocalStorage, key: str, content: bytes | pl.DataFrame, *, new: bool = False
    ) -> None:
        part = content.head(-2) if isinstance(content, pl.DataFrame) else content
        write(self, key, part, new=new)

    with monkeypatch.context() as patch:
        patch.setattr(LocalStorage, "write", lose_two)
        outcome = laboratory.call("run")
    assert outcome.code == 1
    assert "table candidates lacks columns, or has unusable values" in outcome.err
    assert "rows are missing after writing in 2 rows" in outcome.err
    assert not list(Path(laboratory.root, "candidates").glob("[!.]*"))
    laboratory.run()
    assert_whole(laboratory.root)


def test_a_report_of_faults_counts_equal_values() -> None:
    values = ["?", "unsure", "?", "?", "?", None, "x"]
    faults = pl.DataFrame({"line": range(2, 9), "value": values}).with_columns(
        file=pl.lit("a.xlsx"), column=pl.lit("label"), problem=pl.lit("is no label")
    )
    lines = faults_report(faults, "s", {"a.xlsx": "/sheets/a.xlsx"}).splitlines()
    assert lines[1:-1] == [
        "  - /sheets/a.xlsx: column label (7 values): is no label",
        "      lines 2, 4, 5 and 1 more: '?'",
        "      line 3: 'unsure'",
        "      line 7: empty",
        "      and 1 other value",
    ]
