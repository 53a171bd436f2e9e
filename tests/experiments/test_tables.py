"""What a cell of a table means, in every format, stage and command that reads one."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import openpyxl
import polars as pl
import pytest

import lexassay as lx
from pipeline.cli.main import main
from pipeline.errors import LexassayError
from pipeline.kernels.lexicon.wordlists import keying_faults
from pipeline.kernels.sampling import candidate_id
from tests.stages.run_stage import SmallRun, faults, run_stage

# Files of one table in all formats

FORMATS = ("csv", "tsv", "jsonl", "xlsx", "parquet")
Row = tuple[object, ...]


def write(path: Path, head: tuple[str, ...], rows: list[Row]) -> Path:
    """Write a table in the format of the file's ending; None is nothing."""
    kind = path.suffix.removeprefix(".")
    if kind == "xlsx":
        book = openpyxl.Workbook()
        for number, row in enumerate([head, *rows], start=1):
            for place, value in enumerate(row, start=1):
                cell = book.active.cell(number, place)
                cell.value = value
                if isinstance(value, str) and value:
                    cell.data_type = "e" if re.fullmatch(r"#.*[/?!].*", value) else "s"
        book.save(path)
        return path
    frame = pl.DataFrame(rows, schema=list(head), orient="row", strict=False)
    if kind == "jsonl":
        lines = (json.dumps(dict(zip(head, row, strict=True))) for row in rows)
        path.write_text("\n".join(lines) + "\n")
    elif kind == "parquet":
        frame.write_parquet(path)
    else:
        frame.write_csv(path, separator="," if kind == "csv" else "\t", quote_style="necessary")
    return path


def line_of(kind: str, row: int) -> int:
    """Return the line that a message names for a row, from 0."""
    return row + (1 if kind in {"jsonl", "parquet"} else 2)


# Words: what looks like nothing, a number or a formula is a word; an error is none.

ODD = ("null", "NA", "nan", "None", "true", "1e5", "-", "=1+1", "#", "N/A")
COUNTED = [(word, "b", 5, 20, 30, 5000) for word in ODD]
HEAD = ("l1", "l2", "f", "f1", "f2", "N")


@pytest.mark.parametrize("kind", FORMATS)
def test_odd_words_survive(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path / f"t.{kind}", HEAD, list(COUNTED))
    assert main(["score", str(path), "--measures", "mi", "--format", "json"]) == 0
    assert [row["l1"] for row in json.loads(capsys.readouterr().out)] == list(ODD)
    made = SmallRun(tmp_path, {}).run(f'[stages.c]\nuse = "extract.table"\npath = "t.{kind}"')
    assert sorted(made["c.candidates"]["l1"]) == sorted(ODD)


STAGES = {
    "extract.table": (HEAD, ("a", "b", 5, 20, 30, 5000), ("l1", "l2"), ""),
    "extract.scores": (("l1", "l2", "mi"), ("a", "b", 1.5), ("l1", "l2"), 'scores = {mi = "mi"}'),
    "extract.pair_tokens": (("l1", "l2"), ("a", "b"), ("l1", "l2"), ""),
    "extract.word_table": (("word", "f"), ("a", 5), ("word",), ""),
    "extract.clusters": (("item", "cluster"), ("a", "1"), ("item", "cluster"), 'system = "s"'),
    "extract.gold_table": (("item", "gold"), ("a", "N"), ("item", "gold"), ""),
    "extract.lexicon": (("lemma", "form"), ("go", "goes"), ("lemma",), ""),
}
"""Stage to the columns of its table, a row that is right, the columns of words, its options."""
WRONG = [
    (use, column, value)
    for use, (_, _, words, _) in STAGES.items()
    for column in words
    for value in (None, "#N/A")
] + [("extract.lexicon", "form", "#NAME?")]


@pytest.mark.parametrize(("use", "column", "value"), WRONG)
def test_what_is_no_word_is_refused_by_every_stage(
    use: str, column: str, value: str | None, tmp_path: Path
) -> None:
    head, right, _, options = STAGES[use]
    wrong = tuple(value if name == column else each for name, each in zip(head, right, strict=True))
    small = SmallRun(tmp_path, {})
    for kind in ("jsonl", "xlsx"):
        write(tmp_path / f"t.{kind}", head, [right, wrong])
        with pytest.raises(LexassayError) as error:
            small.run(f'[stages.c]\nuse = "{use}"\npath = "t.{kind}"\n{options}')
        shown = repr(value) if value else "empty"
        said = str(error.value)
        assert f"t.{kind}: column {column}: 1 x is no word" in said
        assert f"line {line_of(kind, 1)}: {shown}" in said


PAIRS = ("l1", "l2")
COMMANDS = {
    "score": (HEAD, ("a", "b", 5, 20, 30, 5000), "l1", ["score", "T", "--measures", "mi"]),
    "score, other names": (
        ("word1", "word2", *HEAD[2:]), ("a", "b", 5, 20, 30, 5000), "word2",
        ["score", "T", "--measures", "mi"],
    ),
    "evaluate": ((*PAIRS, "mi"), ("a", "b", 1.5), "l1", ["evaluate", "T", "judged.csv"]),
    "evaluate, judged": ((*PAIRS, "TP"), ("a", "b", 1), "l2", ["evaluate", "list.csv", "T"]),
    "keywords": (("word", "f"), ("a", 5), "word", ["keywords", "T", "words.csv"]),
    "clusters, gold": (("word", "class"), ("a", "N"), "word", ["clusters", "T", "mine.csv"]),
    "clusters": (("word", "cluster"), ("a", "1"), "word", ["clusters", "gold.csv", "T"]),
    "lexicon": (("lemma", "form"), ("go", "goes"), "lemma", ["lexicon", "T", "forms.csv"]),
}  # fmt: skip
"""Command to the columns of a table, a row, the column of words that has an error, its words."""
OTHERS = {
    "judged.csv": "l1,l2,TP\na,b,1\n", "list.csv": "l1,l2,mi\na,b,1.5\n", "words.csv": "word,f\na,5\n",
    "mine.csv": "word,cluster\na,1\n", "gold.csv": "word,class\na,N\n",
    "forms.csv": "lemma,form\ngo,goes\n",
}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the other file of each command, from which the commands are called."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name, content in OTHERS.items():
        (tmp_path / name).write_text(content)
    return tmp_path


@pytest.mark.parametrize("case", COMMANDS)
@pytest.mark.parametrize("value", ["#NAME?", None])
def test_what_is_no_word_is_refused_by_every_command(
    case: str, value: str | None, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    head, right, column, words = COMMANDS[case]
    wrong = tuple(value if name == column else each for name, each in zip(head, right, strict=True))
    write(folder / "t.xlsx", head, [right, wrong])
    assert main([word.replace("T", "t.xlsx") if word == "T" else word for word in words]) == 1
    said = capsys.readouterr().err
    assert "t.xlsx" in said
    assert f"column {column}: " in said
    assert f"line 3: {repr(value) if value else 'empty'}" in said


def test_words_of_a_frame_are_words() -> None:
    counts = {"f": [5], "f1": [20], "f2": [30], "N": [5000]}
    assert lx.score(pl.DataFrame({"l1": ["NA"], "l2": ["b"], **counts}), measures=["mi"]).height
    for word in (None, "", "#N/A"):
        with pytest.raises(LexassayError, match="column l1: is no word.*\n *row 0"):
            lx.score(
                pl.DataFrame(
                    {"l1": [word], "l2": ["b"], **counts}, schema_overrides={"l1": pl.String}
                )
            )


JUDGED = pl.DataFrame({"l1": ["a", "a"], "l2": ["b", "c"]}).with_columns(candidate_id("l1", "l2"))
TABLES: dict[str, tuple[dict[str, Any], dict[str, pl.DataFrame], dict[str, object], str]] = {
    "join.table": ({"candidates": "c"}, {"candidates": JUDGED}, {"l1": "a", "l2": "b", "TP": "1"}, "l2"),
    "join.machine": (
        {"candidates": "c", "judge": "m"}, {"candidates": JUDGED},
        {"l1": "a", "l2": "b", "probability": "0.5"}, "l1",
    ),
    "sheet.simulated": (
        {"sheet": "s"},
        {"sheet": JUDGED.select("id", "l1", "l2", annotator=pl.lit("x"), order=1)},
        {"l1": "a", "l2": "b", "label": "SVC"}, "l1",
    ),
}  # fmt: skip
"""Stage to its options, other tables, a row that is right, and a column of words."""


@pytest.mark.parametrize("use", TABLES)
@pytest.mark.parametrize("value", [None, "#NAME?", " "])
def test_what_is_no_word_is_a_fault(use: str, value: str | None) -> None:
    options, tables, right, column = TABLES[use]
    rows = pl.DataFrame([right, right | {column: value}], infer_schema_length=None)
    found = faults(run_stage(use, options | {"path": "p"}, path=rows, **tables))
    assert (3, column, value) in found


def test_endings_and_forms_that_a_spreadsheet_spoilt_are_faults() -> None:
    place = {"line": [2], "file": ["t.tsv"]}
    entries = pl.DataFrame({"lemma": ["go"], "stem": ["go"], "paradigm": ["v"], **place})
    endings = pl.DataFrame({"paradigm": ["v"], "ending": ["#NAME?"], **place})
    config = {"entries": "e", "paradigms": "p"}
    made = run_stage("extract.paradigms", config, entries=entries, paradigms=endings)
    assert faults(made) == [(2, "ending", "#NAME?")]
    row = {"file": "a.csv", "line": 2, "annotator": "a", "lemma": "ra", "forms": "#NAME?"}
    keyed = keying_faults(pl.LazyFrame([row]).with_columns(candidate_id("lemma"))).collect()
    assert keyed["problem"].str.contains("such as -ness").to_list() == [True]


def test_lemmas_of_a_list_are_words(tmp_path: Path) -> None:
    small = SmallRun(tmp_path, {"l.csv": "lemma,form\ngo,goes\n", "t.csv": "lemma,n\ngo,1\n,2\n"})
    gold = '[stages.g]\nuse = "extract.lexicon"\npath = "l.csv"\n'
    with pytest.raises(
        LexassayError, match=r"t\.csv: column lemma: 1 x is no word.*\n.*line 3: empty"
    ):
        small.run(f'{gold}[stages.s]\nuse = "sample.lemmas"\nlexicons = ["g"]\npath = "t.csv"')


def test_stop_words_are_words(tmp_path: Path) -> None:
    small = SmallRun(tmp_path, {"a.txt": "The old house.\n", "stop.tsv": "word\nthe\n#N/A\n"})
    stages = '[stages.c]\nuse = "extract.pairs"\ncorpus = "a.txt"\nrelation = "adjacent"\n'
    word = '{ label = "{form}" }'
    with pytest.raises(LexassayError, match="stop.tsv: line 3: column word: is no word.*'#N/A'"):
        small.run(f'{stages}left = {word}\nright = {word}\nstop_words = "stop.tsv"')
