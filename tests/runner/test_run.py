"""Names with patterns, remarks, failures and stages that wait, in whole runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated

import polars as pl
import pytest

import pipeline as lx
from pipeline.errors import (
    ConfigError,
    DataError,
    StageFailed,
    StageWarnings,
    StoreError,
    WaitsForPerson,
)
from pipeline.runner import counting, inputs, task
from pipeline.runner.events import Event, Listener
from pipeline.runner.run import StoredRemarks
from pipeline.runner.store.artefacts import add_checksum, read_checksummed
from pipeline.stages.base import Of, Outputs, StageConfig, Tables, stage
from schemas import Candidates
from tests.runner.commands import Driver, call
from tests.runner.extensions import waiting
from tests.runner.laboratory import Laboratory, change, write
from tests.small_experiment import SMALL
from tests.test_errors import LIBRARY

ROWS = [(f"a{i}", f"b{i % 3}", 3 + i, 40, 60, 1000, i % 2) for i in range(12)]
PAIRS = pl.DataFrame(ROWS, schema=["l1", "l2", "f", "f1", "f2", "N", "TP"], orient="row")


@pytest.mark.parametrize("name", ["pairs[1].tsv", "pairs[1].csv", "pairs[1].parquet", "?.tsv"])
@pytest.mark.parametrize("runs", ["runs[1]", "runs*", "r?ns"])
def test_files_with_pattern_characters_in_names_are_read(
    name: str, runs: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for path, rows in ((name, PAIRS), (name.replace("[1]", "1").replace("?", "x"), PAIRS.head(2))):
        write_names_with_patterns(tmp_path / path, rows)
    escaped = name.replace("[", "[[]").replace("?", "[?]")
    (tmp_path / "x.toml").write_text(SMALL.replace("pairs.tsv", escaped))
    outcome = call(["run", "x.toml", "--runs", runs, "--no-report"])
    assert outcome.code == 0, outcome.text
    assert call(["show", "x.toml", "candidates", "--runs", runs, "--output", "shown.csv"]).code == 0
    assert call(["score", name, "--measures", "mi", "--output", "scored.csv"]).code == 0
    assert [len(pl.read_csv(tmp_path / f"{table}.csv")) for table in ("shown", "scored")] == [
        12,
        12,
    ]


def write_names_with_patterns(path: Path, rows: pl.DataFrame) -> None:
    if path.suffix == ".parquet":
        rows.write_parquet(path)
    else:
        rows.write_csv(path, separator="," if path.suffix == ".csv" else "\t")


# Remarks in whole runs: stored, repeated, made strict, and the last good report.

SAMPLED = """
[stages.sample]
use = "sample.random"
candidates = "candidates"
size = {size}

[stages.sampled]
use = "evaluate.precision"
ranks = "ranks"
judgements = "judgements"
sample = "sample"
cuts = [3]
"""
HEAD = "l1\tl2\tf\tf1\tf2\tN\tTP\n"


def build(folder: Path, *, size: int = 4, rows: int = 8, further: str = "") -> Path:
    pairs = (f"a{i}\tb{i}\t{i + 2}\t{20 + i}\t{30 + i}\t900\t{i % 2}\n" for i in range(rows))
    folder.mkdir(exist_ok=True)
    (folder / "pairs.tsv").write_text(HEAD + "".join(pairs))
    config = folder / "small.toml"
    config.write_text(SMALL + SAMPLED.format(size=size) + further)
    return config


class ListenerRemarks:
    """Keeps the remarks that are emitted."""

    def __init__(self) -> None:
        self.told: list[tuple[str, str]] = []

    def __call__(self, event: Event) -> None:
        if event.kind == "remark":
            self.told.append((event.stage, event.facts["check"]))


def test_remarks_are_stored_and_reported_at_every_run(tmp_path: Path) -> None:
    config = build(tmp_path, size=20)
    first, second = ListenerRemarks(), ListenerRemarks()
    lx.run(config, runs=tmp_path / "runs", report=False, listeners=[first])
    run = lx.run(config, runs=tmp_path / "runs", report=False, listeners=[second])
    assert ("sample", "few_drawn") in first.told
    assert first.told == second.told
    (one,) = run.remarks["sample"]
    assert one.numbers == {"asked": 20, "drawn": 8}
    assert run.record is not None
    assert run.record.stages["sample"].remarks == (one,)
    assert lx.show(config, runs=tmp_path / "runs").remarks["sample"] == (one,)


def test_a_sample_knows_the_list_sizes_of_later_stages(tmp_path: Path) -> None:
    run = lx.run(build(tmp_path, size=4), runs=tmp_path / "runs", report=False)
    (one,) = run.remarks["sample"]
    assert one.check == "few_expected"
    assert one.such_as == ("1.5 of the 3 best",)
    again = build(tmp_path, size=4)
    again.write_text(again.read_text().replace("cuts = [3]", "cuts = [8]"))
    assert "sample" not in lx.run(again, runs=tmp_path / "runs", report=False).remarks


def test_a_remark_is_computed_once_and_read_afterwards(tmp_path: Path) -> None:
    config = build(tmp_path, size=20)
    lx.run(config, runs=tmp_path / "runs", report=False)
    (stored_file,) = (tmp_path / "runs" / "small" / "sample").glob("*/remarks.json")
    content = read_checksummed(stored_file.read_bytes(), StoredRemarks)
    (one,) = content.remarks
    other = one.model_copy(update={"text": "as it was kept"})
    stored_file.write_bytes(add_checksum(content.model_copy(update={"remarks": (other,)})))
    run = lx.run(config, runs=tmp_path / "runs", report=False)
    assert run.remarks["sample"][0].text == "as it was kept"


@pytest.mark.parametrize("damage", ["", "{", '{"mark": "x", "remarks": [{}]}'])
def test_damaged_remarks_are_computed_again(tmp_path: Path, damage: str) -> None:
    config = build(tmp_path, size=20)
    lx.run(config, runs=tmp_path / "runs", report=False)
    (stored_file,) = (tmp_path / "runs" / "small" / "sample").glob("*/remarks.json")
    stored_file.write_text(damage)
    run = lx.run(config, runs=tmp_path / "runs", report=False)
    assert run.remarks["sample"][0].check == "few_drawn"


@pytest.mark.long
def test_a_threshold_in_the_experiment_reruns_no_stage(tmp_path: Path) -> None:
    lx.run(build(tmp_path, size=20), runs=tmp_path / "runs", report=False)
    for further, heard in (("12", True), ("13", False), ("false", False)):
        config = build(tmp_path, size=20, further=f"[remarks]\nfew_drawn = {further}\n")
        run = lx.run(config, runs=tmp_path / "runs", report=False)
        assert ("sample" in run.remarks) == heard
        assert run.record is not None
        assert {stage.outcome for stage in run.record.stages.values()} == {"reused"}


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("few_drown = 3", "did you mean few_drawn"),
        ("few_drawn = true", "few_drawn"),
        ("few_drawn = -1", "should be 0.0 or more"),
        ('few_drawn = "3"', "few_drawn"),
    ],
)
def test_an_invalid_threshold_is_refused(tmp_path: Path, line: str, words: str) -> None:
    config = build(tmp_path, further=f"[remarks]\n{line}\n")
    with pytest.raises(ConfigError, match="remarks") as caught:
        lx.check(config)
    assert words in str(caught.value)


def test_a_strict_run_fails_and_keeps_its_results(tmp_path: Path) -> None:
    config = build(tmp_path, rows=0)
    with pytest.raises(StageWarnings, match="no_candidates") as caught:
        lx.run(config, runs=tmp_path / "runs", strict=True)
    assert caught.value.stage == "candidates"
    assert not (tmp_path / "runs" / "small" / "report").exists()
    run = lx.run(config, runs=tmp_path / "runs", report=False)
    assert run.record is not None
    assert run.record.stages["candidates"].outcome == "reused"


def test_a_strict_run_ignores_notes(tmp_path: Path) -> None:
    run = lx.run(build(tmp_path, size=20), runs=tmp_path / "runs", report=False, strict=True)
    assert run.remarks["sample"][0].level == "note"


@pytest.mark.long
def test_a_report_beyond_the_memory_limit_keeps_the_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Drawing charts needs additional memory: the limit named in the error suffices."""
    monkeypatch.setenv(inputs.LIBRARIES_VARIABLE, str(230 << 20))
    config, page = build(tmp_path), tmp_path / "runs" / "small" / "report" / "index.html"
    settings = {"run.memory": "300MB"}
    with pytest.raises(DataError, match="the report is not written: .* about 437MB .* 300.0 MB"):
        lx.run(config, runs=tmp_path / "runs", settings=settings)
    assert not page.exists()
    settings = {"run.memory": "437MB"}
    run = lx.run(config, runs=tmp_path / "runs", settings=settings)
    assert page.exists()
    assert run.record is not None
    assert {each.outcome for each in run.record.stages.values()} == {"reused"}


@pytest.mark.long
def test_a_report_with_new_warnings_keeps_the_last_good_one(tmp_path: Path) -> None:
    results = tmp_path / "runs" / "small"
    stored_file = results / "report-last-good" / "index.html"
    lx.run(build(tmp_path), runs=tmp_path / "runs")
    good = (results / "report" / "index.html").read_text()
    assert not stored_file.exists()
    assert "no candidates" not in good

    lx.run(build(tmp_path, rows=0), runs=tmp_path / "runs")
    assert "there are no candidates" in (results / "report" / "index.html").read_text()
    assert stored_file.read_text() == good

    lx.run(build(tmp_path, rows=0, size=5), runs=tmp_path / "runs")
    assert stored_file.read_text() == good

    lx.run(build(tmp_path), runs=tmp_path / "runs")
    assert (results / "report" / "index.html").read_text() == good
    assert not stored_file.exists()


@pytest.mark.long
def test_a_run_with_other_settings_keeps_the_report(tmp_path: Path) -> None:
    results = tmp_path / "runs" / "small"
    stored_file = results / "report-last-good" / "index.html"
    config = build(tmp_path)
    lx.run(config, runs=tmp_path / "runs")
    good = (results / "report" / "index.html").read_text()
    for size in (5, 6):
        lx.run(config, runs=tmp_path / "runs", settings={"stages.sample.size": size})
        assert stored_file.read_text() == good
    lx.run(config, runs=tmp_path / "runs")
    assert (results / "report" / "index.html").read_text() == good
    assert not stored_file.exists()


@pytest.mark.long
def test_a_report_of_an_earlier_version_counts_as_good(tmp_path: Path) -> None:
    results = tmp_path / "runs" / "small"
    lx.run(build(tmp_path), runs=tmp_path / "runs")
    (results / "report" / ".flaws").unlink()
    lx.run(build(tmp_path, rows=0), runs=tmp_path / "runs")
    assert (results / "report-last-good" / "index.html").is_file()


@pytest.mark.long
def test_the_page_lists_cautions(tmp_path: Path) -> None:
    run = lx.run(build(tmp_path, size=20), runs=tmp_path / "runs")
    assert run.report is not None
    page = run.report.read_text()
    assert "Cautions" in page
    assert "8 of the 20 requested candidates" in page


# Messages of a run about its stages.

POOL = """
[stages.pool]
use = "score.pool"
ranks = "ranks"
depth = 5
"""
OWN = """
[stages.own]
use = "own.stage"
candidates = "candidates"
"""


@pytest.mark.long
def test_limits_of_validity_are_stated_at_every_run(laboratory: Laboratory) -> None:
    laboratory.config.write_text(laboratory.config.read_text() + POOL)
    for _ in range(2):
        output = laboratory.run().err
        assert "pool: note: the pool has" in output
        assert "estimates apply to the 5 best of the pooled measures" in output
    assert laboratory.outcomes()["pool"] == "reused"


class Own(StageConfig):
    """Pass candidates on."""

    candidates: Annotated[str, Of(Candidates)]
    """The candidates."""


@pytest.mark.long
@pytest.mark.usefixtures("own_stages")
def test_a_stage_may_wait_for_something_other_than_sheets(laboratory: Laboratory) -> None:
    """Its own message is kept, although the runner does not know the place."""

    def wait(_config: Own, tables: Tables) -> Outputs:
        if tables["candidates"].select(pl.len()).collect().item():
            raise WaitsForPerson("the printed dictionary", 2, "page")
        return {"candidates": tables["candidates"]}

    stage("own.stage", config=Own, outputs={"candidates": Candidates})(wait)
    laboratory.config.write_text(laboratory.config.read_text() + OWN)
    outcome = laboratory.call("run")
    assert outcome.code == 3
    assert "the printed dictionary: waiting for 2 pages\n" in outcome.out
    assert laboratory.record().stages["own"].note == "the printed dictionary: waiting for 2 pages"


# Files and results removed or changed during a run: the error names them and the remedy.

SHEETS = """
[stages.sheet]
use = "sheet.annotation"
candidates = "candidates"
sample = "sample"
folder = "one"
labels = ["yes", "no"]

[stages.judged]
use = "join.sheets"
sheet = "sheet"
labels = "sheet.labels"
folder = "one"
categories = { TP = ["yes"] }
"""


def at(kind: str, stage: str, act: Callable[[], object]) -> Listener:
    """Return a listener that acts on an event of a stage."""

    def listen(event: Event) -> None:
        if (event.kind, event.stage) == (kind, stage):
            act()

    return listen


def run(laboratory: Laboratory, *listeners: Listener) -> str:
    """Return the message of a run that fails."""
    with pytest.raises((DataError, StoreError)) as error:
        lx.run(laboratory.config, runs=laboratory.runs, report=False, listeners=listeners)
    message = str(error.value)
    assert not LIBRARY.search(message), message
    return message


def test_an_input_removed_before_it_is_read_is_reported(laboratory: Laboratory) -> None:
    gold = laboratory.folder / "gold.tsv"
    message = run(laboratory, at("stage_started", "gold", gold.unlink))
    assert message == f"{gold}: cannot be read: the file or its folder does not exist"


def test_an_input_removed_while_it_is_read_is_reported(
    laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    gold, collected = laboratory.folder / "gold.tsv", counting.collect_tables

    def late(outputs: Outputs) -> object:
        if "judgements" in outputs:
            gold.unlink()
        return collected(outputs)

    monkeypatch.setattr(task, "collect_tables", late)
    assert run(laboratory) == f"{gold}: cannot be read: the file or its folder does not exist"


def test_an_input_replaced_by_a_folder_is_reported(laboratory: Laboratory) -> None:
    gold = laboratory.folder / "gold.tsv"

    def replace() -> None:
        gold.unlink()
        gold.mkdir()

    message = run(laboratory, at("stage_done", "sample", replace))
    assert message == f"{gold}: cannot be read: it is a folder, not a file"


@pytest.mark.long
@pytest.mark.parametrize("damage", ["gone", "changed"])
def test_results_damaged_during_the_run_are_reported(laboratory: Laboratory, damage: str) -> None:
    def act() -> None:
        part = next(laboratory.root.glob("scores/*/scores/*.parquet"))
        content = part.read_bytes()
        part.unlink()
        if damage == "changed":
            part.write_bytes(content[:50] + bytes(50) + content[100:])

    message = run(laboratory, at("stage_done", "scores", act))
    assert message.startswith(f"the results of stage scores in {laboratory.root}/scores/")
    assert message.endswith("run again to restore them")
    laboratory.run()


@pytest.mark.long
def test_sheets_removed_during_the_run_are_reported(laboratory: Laboratory) -> None:
    laboratory.config.write_text(laboratory.config.read_text() + SHEETS)
    config, runs = laboratory.config, laboratory.runs
    assert lx.run(config, runs=runs, report=False).waits
    sheet = next(laboratory.folder.glob("sheets/small/one/*"))
    with pytest.raises(DataError, match=r"appeared or disappeared during the run; .* run again"):
        lx.run(
            config,
            runs=runs,
            report=False,
            force=["judged"],
            listeners=[at("message", "judged", sheet.unlink)],
        )


def test_damaged_results_cannot_be_shown(finished_laboratory: Laboratory) -> None:
    results = lx.show(finished_laboratory.config, runs=finished_laboratory.runs)
    part = next(finished_laboratory.artefact("scores").rglob("*.parquet"))
    part.write_bytes(part.read_bytes()[:-10])
    with pytest.raises(StoreError, match="the results of stage scores in .* are damaged"):
        results.table("scores")


@pytest.mark.parametrize(
    ("raised", "message"),
    [
        (MemoryError(), "stage gold failed: out of memory; close other programs"),
        (OSError(5, "Input/output error"), "stage gold failed: input or output error of the disk"),
        (RecursionError(), "stage gold failed: nesting or references"),
        (RuntimeError("can't start new thread"), "stage gold failed: out of memory; close other"),
        (SystemExit(0), f"stage gold failed: exit(0) in {__file__}, line "),
    ],
)
def test_failures_of_the_machine_are_not_called_defects(
    laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch, raised: BaseException, message: str
) -> None:
    collected = counting.collect_tables

    def fail(outputs: Outputs) -> object:
        if "judgements" in outputs:
            raise raised
        return collected(outputs)

    monkeypatch.setattr(task, "collect_tables", fail)
    with pytest.raises(StageFailed) as error:
        lx.run(laboratory.config, runs=laboratory.runs, report=False)
    assert str(error.value).startswith(message)
    assert not LIBRARY.search(str(error.value))


FULL = "underlying IO error: No space left on device (os error 28)"


@pytest.mark.parametrize(
    "raised",
    [
        pl.exceptions.ComputeError(f"parquet: File out of specification: {FULL}"),
        pytest.param(OSError(28, "No space left on device"), marks=pytest.mark.long),
        pytest.param(OSError(f"{FULL}: /tmp/spill.ipc"), marks=pytest.mark.long),
    ],
)
def test_a_disk_that_fills_up_during_a_stage_is_reported(
    laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch, raised: Exception
) -> None:
    """Spilled rows of a stage do not fit: no defect, whatever the message of Polars."""
    collected = counting.collect_tables

    def fail(outputs: Outputs) -> object:
        if "judgements" in outputs:
            raise raised
        return collected(outputs)

    monkeypatch.setattr(task, "collect_tables", fail)
    with pytest.raises(StoreError, match="stage gold: the disk is full .* run the same command"):
        lx.run(laboratory.config, runs=laboratory.runs, report=False)


# A stage that waits for a person: all others are done, and it continues with the filled sheet.

DOWNSTREAM = {"precision", "comparison"}
INDEPENDENT = {"candidates", "scores", "sample", "ranks"}


@pytest.fixture
def driver(tmp_path: Path) -> Iterator[Driver]:
    driver = Driver(path=[waiting(tmp_path / "plugin")])
    driver.ready()
    yield driver
    driver.close()


def fill(laboratory: Laboratory, *, missing: int) -> None:
    """Write the sheet: the judgements of ``gold.tsv``, without the last ones."""
    header, *rows = (laboratory.folder / "gold.tsv").read_text().splitlines()
    n_labelled = len(rows) - missing
    empty = [row.rpartition("\t")[0] + "\t" for row in rows[n_labelled:]]
    lines = [header.replace("TP", "label"), *rows[:n_labelled], *empty]
    write(laboratory.folder / "sheet.tsv", lines)


@pytest.mark.long
def test_a_run_continues_when_the_sheet_is_filled(laboratory: Laboratory, driver: Driver) -> None:
    laboratory.run()
    full = laboratory.digests()
    change(laboratory.config, "join.table", "waiting.labels")
    change(laboratory.config, "gold.tsv", "sheet.tsv")
    waits = Laboratory(laboratory.folder, laboratory.folder / "waits")

    fill(waits, missing=120)
    result = driver.do(waits.words("run"))
    assert result.code == 3, result.text
    assert "sheet.tsv: waiting for 120 labels" in result.out
    outcomes = waits.outcomes()
    assert {name for name, outcome in outcomes.items() if outcome == "done"} == INDEPENDENT
    assert outcomes["gold"] == "waits"
    assert {outcomes[name] for name in DOWNSTREAM} == {"skipped"}
    assert "depends on gold" in result.err
    assert waits.record().outcome == "waits"
    assert not any((waits.root / name).exists() for name in DOWNSTREAM)

    fill(waits, missing=1)
    result = driver.do(waits.words("run"))
    assert result.code == 3
    assert "sheet.tsv: waiting for 1 label\n" in result.out
    assert set(waits.outcomes().values()) == {"reused", "waits", "skipped"}

    fill(waits, missing=0)
    result = driver.do(waits.words("run"))
    assert result.code == 0, result.text
    assert "waiting" not in result.out
    assert waits.reran() == {"gold", *DOWNSTREAM}
    assert waits.digests()["precision"] == full["precision"]
    assert waits.digests()["comparison"] == full["comparison"]


@pytest.mark.long
def test_the_report_shows_available_results_of_a_waiting_run(
    laboratory: Laboratory, driver: Driver
) -> None:
    """One branch is shown while another one waits."""
    labels = '[stages.labels]\nuse = "waiting.labels"\npath = "sheet.tsv"\ncandidates = "scores"\n'
    laboratory.config.write_text(laboratory.config.read_text() + labels)
    fill(laboratory, missing=7)
    outcome = driver.do(laboratory.words("run", "--report"))
    assert outcome.code == 3, outcome.text
    assert "sheet.tsv: waiting for 7 labels" in outcome.out
    page = laboratory.root / "report" / "index.html"
    assert f"report: {page}" in outcome.out
    assert page.is_file()
    assert laboratory.outcomes()["comparison"] == "done"


def test_a_second_experiment_of_the_same_name_is_named_before_its_report_replaces_one(
    tmp_path: Path,
) -> None:
    """Not if the file was moved, has another name by now, or is the same by another path."""
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        PAIRS.write_csv(tmp_path / folder / "pairs.tsv", separator="\t")
        (tmp_path / folder / "x.toml").write_text(SMALL)
    first, second = tmp_path / "a" / "x.toml", tmp_path / "b" / "x.toml"

    def messages(file: Path) -> list[str]:
        events: list[Event] = []
        lx.run(file, runs=tmp_path / "runs", report=False, listeners=[events.append])
        return [str(each.facts["text"]) for each in events if each.kind == "message"]

    assert not any("same name" in text for text in messages(first) + messages(first))
    [text] = [text for text in messages(second) if "same name" in text]
    assert f"was of {first}, which has the same name 'small'; this run replaces its" in text
    (tmp_path / "c").symlink_to(tmp_path / "b")
    assert messages(tmp_path / "c" / "x.toml") == []
    assert messages(second) == []
    second.write_text(SMALL.replace('"small"', '"other"'))
    assert not any("same name" in text for text in messages(first))
    first.rename(tmp_path / "a" / "moved.toml")
    assert messages(tmp_path / "a" / "moved.toml") == []
