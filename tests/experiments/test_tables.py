"""The meaning of cells of tables, in every format, stage and command that reads them."""

from __future__ import annotations

import gzip
import json
import math
import re
from pathlib import Path
from typing import Any

import openpyxl
import polars as pl
import pytest

import lexassay as lx
from pipeline.cli.main import main
from pipeline.errors import LexassayError
from pipeline.kernels.lexicon.keying import keying_faults
from pipeline.kernels.sampling import candidate_id
from tests.stages.run_stage import SmallRun, faults, run_stage

# Files of one table in all formats

FORMATS = ("csv", "tsv", "jsonl", "xlsx", "parquet")
Row = tuple[object, ...]


def write(path: Path, head: tuple[str, ...], rows: list[Row]) -> Path:
    """Write a table in the format of the file's extension; None is an empty cell."""
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


# Words: texts that look like missing values, numbers or formulas are words; errors are not.

ODD = ("null", "NA", "nan", "None", "true", "1e5", "-", "=1+1", "#", "N/A")
COUNTED = [(word, "b", 5, 20, 30, 5000) for word in ODD]
HEAD = ("l1", "l2", "f", "f1", "f2", "N")


@pytest.mark.parametrize("kind", FORMATS)
def test_odd_words_are_read_as_words(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path / f"t.{kind}", HEAD, list(COUNTED))
    assert main(["score", str(path), "--measures", "mi", "--format", "json"]) == 0
    assert [row["l1"] for row in json.loads(capsys.readouterr().out)] == list(ODD)
    tables = SmallRun(tmp_path, {}).run(f'[stages.c]\nuse = "extract.table"\npath = "t.{kind}"')
    assert sorted(tables["c.candidates"]["l1"]) == sorted(ODD)


STAGES = {
    "extract.table": (HEAD, ("a", "b", 5, 20, 30, 5000), ("l1", "l2"), ""),
    "extract.scores": (("l1", "l2", "mi"), ("a", "b", 1.5), ("l1", "l2"), 'scores = {mi = "mi"}'),
    "extract.pair_tokens": (("l1", "l2"), ("a", "b"), ("l1", "l2"), ""),
    "extract.word_table": (("word", "f"), ("a", 5), ("word",), ""),
    "extract.clusters": (("item", "cluster"), ("a", "1"), ("item", "cluster"), 'system = "s"'),
    "extract.gold_table": (("item", "gold"), ("a", "N"), ("item", "gold"), ""),
    "extract.lexicon": (("lemma", "form"), ("go", "goes"), ("lemma",), ""),
}
"""Stage to the columns of its table, a valid row, the columns of words, its options."""
WRONG = [
    (use, column, value)
    for use, (_, _, words, _) in STAGES.items()
    for column in words
    for value in (None, "#N/A")
] + [("extract.lexicon", "form", "#NAME?")]


@pytest.mark.parametrize(("use", "column", "value"), WRONG)
def test_every_stage_refuses_errors_as_words(
    use: str, column: str, value: str | None, tmp_path: Path
) -> None:
    head, right, _, options = STAGES[use]
    wrong = tuple(value if name == column else each for name, each in zip(head, right, strict=True))
    small = SmallRun(tmp_path, {})
    for kind in ("jsonl", "xlsx"):
        write(tmp_path / f"t.{kind}", head, [right, wrong])
        with pytest.raises(LexassayError) as error:
            small.run(f'[stages.c]\nuse = "{use}"\npath = "t.{kind}"\n{options}')
        quoted = repr(value) if value else "empty"
        message = str(error.value)
        assert f"t.{kind}: column {column} (1 value): is empty or" in message
        assert f"line {line_of(kind, 1)}: {quoted}" in message


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
"""Command to the columns of a table, a row, the column that has an error, its arguments."""
OTHERS = {
    "judged.csv": "l1,l2,TP\na,b,1\n", "list.csv": "l1,l2,mi\na,b,1.5\n", "words.csv": "word,f\na,5\n",
    "mine.csv": "word,cluster\na,1\n", "gold.csv": "word,class\na,N\n",
    "forms.csv": "lemma,form\ngo,goes\n",
}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with the other file of each command."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name, content in OTHERS.items():
        (tmp_path / name).write_text(content)
    return tmp_path


@pytest.mark.parametrize("case", COMMANDS)
@pytest.mark.parametrize("value", ["#NAME?", None])
def test_every_command_refuses_errors_as_words(
    case: str, value: str | None, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    head, right, column, words = COMMANDS[case]
    wrong = tuple(value if name == column else each for name, each in zip(head, right, strict=True))
    write(folder / "t.xlsx", head, [right, wrong])
    assert main([word.replace("T", "t.xlsx") if word == "T" else word for word in words]) == 1
    output = capsys.readouterr().err
    assert "t.xlsx" in output
    assert f"column {column}" in output
    assert f"line 3: {repr(value) if value else 'empty'}" in output


def test_errors_as_words_of_a_frame_are_refused() -> None:
    counts = {"f": [5], "f1": [20], "f2": [30], "N": [5000]}
    assert lx.score(pl.DataFrame({"l1": ["NA"], "l2": ["b"], **counts}), measures=["mi"]).height
    for word in (None, "", "#N/A"):
        with pytest.raises(
            LexassayError, match="column l1: is empty or a spreadsheet error.*\n *row 0"
        ):
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
"""Stage to its options, other tables, a valid row, and a column of words."""


@pytest.mark.parametrize("use", TABLES)
@pytest.mark.parametrize("value", [None, "#NAME?", " "])
def test_errors_as_words_are_faults(use: str, value: str | None) -> None:
    options, tables, right, column = TABLES[use]
    rows = pl.DataFrame([right, right | {column: value}], infer_schema_length=None)
    places = faults(run_stage(use, options | {"path": "p"}, path=rows, **tables))
    assert (3, column, value) in places


def test_endings_and_forms_damaged_by_a_spreadsheet_are_faults() -> None:
    place = {"line": [2], "file": ["t.tsv"]}
    entries = pl.DataFrame({"lemma": ["go"], "stem": ["go"], "paradigm": ["v"], **place})
    endings = pl.DataFrame({"paradigm": ["v"], "ending": ["#NAME?"], **place})
    config = {"entries": "e", "paradigms": "p"}
    tables = run_stage("extract.paradigms", config, entries=entries, paradigms=endings)
    assert faults(tables) == [(2, "ending", "#NAME?")]
    row = {"file": "a.csv", "line": 2, "annotator": "a", "lemma": "ra", "forms": "#NAME?"}
    keyed = keying_faults(pl.LazyFrame([row]).with_columns(candidate_id("lemma"))).collect()
    assert keyed["problem"].str.contains("like -ness").to_list() == [True]


def test_empty_lemmas_of_a_list_are_refused(tmp_path: Path) -> None:
    small = SmallRun(tmp_path, {"l.csv": "lemma,form\ngo,goes\n", "t.csv": "lemma,n\ngo,1\n,2\n"})
    gold = '[stages.g]\nuse = "extract.lexicon"\npath = "l.csv"\n'
    with pytest.raises(
        LexassayError, match=r"t\.csv: column lemma \(1 value\): is empty or.*\n.*line 3: empty"
    ):
        small.run(f'{gold}[stages.s]\nuse = "sample.lemmas"\nlexicons = ["g"]\npath = "t.csv"')


def test_errors_as_stop_words_are_refused(tmp_path: Path) -> None:
    small = SmallRun(tmp_path, {"a.txt": "The old house.\n", "stop.tsv": "word\nthe\n#N/A\n"})
    stages = '[stages.c]\nuse = "extract.pairs"\ncorpus = "a.txt"\nrelation = "adjacent"\n'
    word = '{ label = "{form}" }'
    with pytest.raises(LexassayError, match="stop.tsv: line 3: column word: is empty or.*'#N/A'"):
        small.run(f'{stages}left = {word}\nright = {word}\nstop_words = "stop.tsv"')


# Numbers: one cell never changes the meaning of a numeric column.

RANKED = [f"w{i}" for i in range(8)]
SCORES = [0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5]
"""The last are the best, and true."""


def ranked_list(texts: list[str], separator: str = "\t") -> str:
    rows = [
        f"{word}{separator}v{separator}{text}" for word, text in zip(RANKED, texts, strict=True)
    ]
    return "\n".join([separator.join(("l1", "l2", "mi")), *rows]) + "\n"


JUDGED_LIST = "l1\tl2\tTP\n" + "".join(f"w{i}\tv\t{int(i > 3)}\n" for i in range(8))
SCORE_FORMATS = {
    "comma": [f"{score}".replace(".", ",") for score in SCORES],
    "minus": [f"{score - 4}".replace("-", "\u2212") for score in SCORES],
    "percent": [f"{score} %" for score in SCORES],
    "thousands": [f"{1000 * score:,.1f}" for score in SCORES],
    "German": ["1.000,5", *(f"{i}.000,0" for i in range(2, 9))],
}
EVALUATE = ["evaluate", "list.tsv", "judged.tsv", "--n", "4", "--no-report"]


@pytest.mark.parametrize("case", SCORE_FORMATS)
def test_formats_of_scores_are_recognised(
    case: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "list.tsv").write_text(ranked_list(SCORE_FORMATS[case]))
    (folder / "judged.tsv").write_text(JUDGED_LIST)
    assert main(EVALUATE) == 0
    output = capsys.readouterr()
    assert re.search(r"│ mi +│ +4 │ +100 │", output.out)
    assert ("column mi: " in output.err) == (case != "minus")
    assert ("set --decimal if this is wrong" in output.err) == (case != "minus")


@pytest.mark.long
@pytest.mark.parametrize("cell", ["NA", "#DIV/0!", "12 %", "1.5.1", "-", "n.a."])
@pytest.mark.parametrize("score", [[], ["--score", "mi"]])
def test_cells_that_are_no_score_are_refused(
    cell: str, score: list[str], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "list.tsv").write_text(
        ranked_list([*map(str, SCORES[:3]), cell, *map(str, SCORES[4:])])
    )
    (folder / "judged.tsv").write_text(JUDGED_LIST)
    assert main([*EVALUATE, *score]) == 1
    output = capsys.readouterr().err
    assert "evaluate: 1 value of the input cannot be used:" in output
    assert "  - list.tsv: column mi (1 value): is not a number" in output
    assert f"line 5: {cell!r}" in output
    assert "--missing" in output
    assert main([*EVALUATE, *score, "--missing", cell]) == 0


@pytest.mark.long
def test_ambiguous_marks_of_scores_ask_for_an_option(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "list.tsv").write_text(ranked_list([f"{i},{i}00" for i in range(1, 9)]))
    (folder / "judged.tsv").write_text(JUDGED_LIST)
    assert main(EVALUATE) == 1
    assert (
        "column mi (8 values): is ambiguous: the mark may separate decimals or thousands; give the option --decimal"
        in capsys.readouterr().err
    )
    for decimal in (".", ","):
        assert main([*EVALUATE, "--decimal", decimal]) == 0


def test_the_use_of_the_order_of_rows_is_reported(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = ranked_list(["x"] * 8).replace("\tx", "").replace("\tmi", "")
    (folder / "list.tsv").write_text(rows)
    (folder / "judged.tsv").write_text(JUDGED_LIST)
    assert main(EVALUATE) == 0
    assert "list.tsv: no score column found, so the order of rows" in capsys.readouterr().err


COUNT_STAGES = {
    "extract.table": (HEAD, ("a", "b", "{}", "9000", "9000", "90000"), "f", "c.candidates", "f"),
    "extract.word_table": (("word", "f"), ("a", "{}"), "f", "c.words", "f"),
    "extract.clusters": (("item", "cluster", "f"), ("a", "1", "{}"), "f", "c.entries", "f"),
    "extract.gold_table": (("item", "gold", "f"), ("a", "N", "{}"), "f", "c.entries", "f"),
}
"""Stage to the columns, a row with a count, its column, and its place in the output."""


@pytest.mark.long
@pytest.mark.parametrize("use", COUNT_STAGES)
@pytest.mark.parametrize("kind", ["tsv", "jsonl", "xlsx", "parquet"])
def test_formats_of_counts_are_recognised(use: str, kind: str, tmp_path: Path) -> None:
    head, row, column, table, name = COUNT_STAGES[use]
    small = SmallRun(tmp_path, {})
    stage = f'[stages.c]\nuse = "{use}"\npath = "t.{kind}"\n'
    stage += 'system = "s"\n' if use == "extract.clusters" else ""
    write(tmp_path / f"t.{kind}", head, [tuple(each.format("1,200") for each in row)])
    assert small.run(stage)[table][name].to_list() == [1200]
    for cell in ("1,2", "12x", "NA", "6 %") if kind == "tsv" else ("#DIV/0!",):
        write(tmp_path / f"t.{kind}", head, [tuple(each.format(cell) for each in row)])
        with pytest.raises(LexassayError) as error:
            small.run(stage)
        assert f"t.{kind}: column {column} (1 value): is no" in str(error.value)
        assert repr(cell) in str(error.value)
    write(tmp_path / f"t.{kind}", head, [tuple(each.format("6.000") for each in row)])
    with pytest.raises(
        LexassayError, match=r"column f \(1 value\): is ambiguous: .*option decimal"
    ):
        small.run(stage)
    assert small.run(f'{stage}decimal = "."')[table][name].to_list() == [6]
    assert small.run(f'{stage}decimal = ","')[table][name].to_list() == [6000]


# Frequency lists: with any name and in any format.

WORDS = {"the": 1200, "of": 900, "tea": 3}
ROWS = "the\t1200\nof\t900\ntea\t3\n"
ANTCONC = "#Word Types: 3\n#Word Tokens: 2103\n#Search Hits: 0\n1\t1200\tthe\t\n2\t900\tof\t\n3\t3\ttea\t\n"
ANTCONC_4 = (
    "Type\tPOS\tHeadword\tRank\tFreq\tRange\tNormFreq\n"
    "the\t\tthe\t1\t1200\t3\t570613.4\nof\t\tof\t2\t900\t3\t427960.1\ntea\t\ttea\t3\t3\t1\t1426.5\n"
)
SKETCH_ENGINE = (
    '"academic use only"\n"corpus","preloaded/x, y"\n"subcorpus","-"\n\n'
    "Item,Frequency,Relative frequency\nthe,1200,570613.4\nof,900,427960.1\ntea,3,1426.5\n"
)
LISTS = {
    "usual.tsv": "word\tf\n" + ROWS,
    "usual.csv": "word,freq\n" + ROWS.replace("\t", ","),
    "semicolons.csv": "Wort;Anzahl\n" + ROWS.replace("\t", ";"),
    "other-names.tsv": "Wort\tHäufigkeit\n" + ROWS,
    "no-header.tsv": ROWS,
    "no-header.csv": ROWS.replace("\t", ","),
    "no-header.tab.gz": ROWS,
    "tabs.txt": ROWS,
    "tabs-header.txt": "Lemma\tTokens\n" + ROWS,
    "words-first.txt": ROWS.replace("\t", " "),
    "words-first-header.txt": "word count\n" + ROWS.replace("\t", "  "),
    "counts-first.txt": "".join(f"{n:7} {word}\n" for word, n in WORDS.items()),
    "counts-first.tsv": "".join(f"{n}\t{word}\n" for word, n in WORDS.items()),
    "antconc.txt": ANTCONC,
    "antconc.tsv": ANTCONC,
    "antconc4.txt": ANTCONC_4,
    "antconc4.tsv": ANTCONC_4,
    "sketch.csv": SKETCH_ENGINE,
    "thousands.tsv": "word\tfreq\n" + ROWS.replace("1200", "1,200"),
    "thousands.txt": ROWS.replace("1200", "1,200").replace("\t", " "),
    "floats.tsv": ROWS.replace("\n", ".0\n"),
    "ranks.tsv": "rank\tword\tcount\n" + "".join(f"{i}\t{row}\n" for i, row in enumerate(ROWS.split("\n")[:3], 1)),
    "classes.tsv": "".join(f"{word}\tX\t{n}\n" for word, n in WORDS.items()),
    "crlf.tsv": ROWS.replace("\n", "\r\n"),
    "mark.csv": "\ufeff" + ROWS.replace("\t", ","),
}  # fmt: skip
LISTS_WITH_HEADERS = {
    "usual.tsv",
    "usual.csv",
    "antconc4.tsv",
    "sketch.csv",
    "thousands.tsv",
    "ranks.tsv",
}
"""Lists whose columns have recognised names."""


@pytest.mark.long
@pytest.mark.parametrize("name", LISTS)
def test_frequency_lists_of_any_layout_are_read(
    name: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content = LISTS[name].encode()
    (folder / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    (folder / "r.tsv").write_text("word\tf\nthe\t120\nof\t80\ntea\t30\n")
    assert main(["keywords", name, "r.tsv", "--min-f", "1", "--format", "json"]) == 0
    output = capsys.readouterr()
    assert {row["keyword"]: row["f"] for row in json.loads(output.out)} == WORDS
    assert (f"{name}: frequency list" in output.err) == (name not in LISTS_WITH_HEADERS)


@pytest.mark.parametrize("kind", ["xlsx", "jsonl", "parquet"])
def test_frequency_lists_of_other_formats_are_read(
    kind: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(folder / f"t.{kind}", ("Wort", "Anzahl"), list(WORDS.items()))
    assert main(["keywords", f"t.{kind}", f"t.{kind}", "--min-f", "1", "--format", "json"]) == 0
    assert {row["keyword"]: row["f"] for row in json.loads(capsys.readouterr().out)} == WORDS


def test_a_worksheet_without_a_header_is_a_frequency_list(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (first, *rows) = WORDS.items()
    write(folder / "t.xlsx", first, list(rows))  # type: ignore[arg-type]
    assert main(["keywords", "t.xlsx", "t.xlsx", "--min-f", "1", "--format", "json"]) == 0
    assert {row["keyword"]: row["f"] for row in json.loads(capsys.readouterr().out)} == WORDS


CORPORA = {
    "prose.txt": "In 1984 there were few.\nThe year 1985\nwas better than 1984.\nAll went well.\n",
    "numbered.txt": "1 the\n2 old\n3 house\n4 fell\n",
    "short.txt": "Chapter 1\n",
    "tagged.txt": "the\tDT\tthe\nold\tJJ\told\nhouse\tNN\thouse\n",
    "tokens.tsv": "form\tsentence\nthe\t1\nold\t1\nhouse\t2\n",
    "heads.tsv": "form\thead\tdeprel\nold\t2\tamod\nhouse\t0\troot\n",
}


@pytest.mark.parametrize("name", CORPORA)
def test_corpora_are_not_taken_for_frequency_lists(
    name: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / name).write_text(CORPORA[name])
    assert main(["keywords", name, name, "--min-f", "1"]) == 0
    assert "frequency list" not in capsys.readouterr().err


REPEATED = "".join(f"w{i % 3}\t{i % 5}\n" for i in range(40))
REFUSED = {
    "two.tsv": ("word\ta\tb\nthe\t7\t1200\nof\t8\t900\n", [], "several columns hold whole numbers: a, b; select"),
    "none.csv": ("word,tag\nthe,DT\n", [], "no column for f; it has word, tag"),
    "text.csv": ("word,freq\nthe,many\nof,few\n", [], "column 'freq' does not contain numbers"),
    "named.csv": ("word,freq,n2\nthe,a,5\n", ["--columns", "f=freq"], "'freq' does not contain numbers"),
    "absent.csv": ("word,freq\nthe,5\n", ["--columns", "f=Zahl"], "no file has a column 'Zahl'"),
    "repeated.tsv": (REPEATED, [], "may be a frequency list or a token table"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_unclear_frequency_lists_ask_for_an_option(
    name: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content, options, message = REFUSED[name]
    (folder / name).write_text(content)
    (folder / "r.tsv").write_text("word\tf\nthe\t120\nof\t80\n")
    assert main(["keywords", name, "r.tsv", *options]) == 2
    output = capsys.readouterr().err
    assert message in output
    assert name in output or "Zahl" in output
    assert "--columns" in output


@pytest.mark.long
def test_options_define_the_columns_of_a_frequency_list(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "t.tsv").write_text("a\tx\t7\nb\ty\t9\n")
    words = ["keywords", "t.tsv", "t.tsv", "--min-f", "1", "--format", "json"]

    def keyword_counts(*options: str) -> dict[str, int]:
        assert main([*words, *options]) == 0
        return {row["keyword"]: row["f"] for row in json.loads(capsys.readouterr().out)}

    assert keyword_counts() == {"a": 7, "b": 9}
    assert keyword_counts("--columns", "word=column_2") == {"x": 7, "y": 9}
    assert keyword_counts("--header") == {"b": 9}
    assert keyword_counts("--read-as", "tokens") == {"a": 1, "b": 1}
    (folder / "t.tsv").write_text("word\tf\nb\t9\n")
    assert main([*words, "--no-header", "--columns", "word=column_1,f=column_2"]) == 1
    output = capsys.readouterr().err
    assert "t.tsv: column column_2 (1 value): is not a whole number" in output
    assert "line 1: 'f'" in output


def test_a_workbook_without_header_may_repeat_values_in_its_first_row(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [("old", "man", 5, 9, 9, 100), ("new", "man", 5, 7, 9, 100)]
    frame = pl.DataFrame(rows, orient="row")
    frame.write_excel(folder / "t.xlsx", include_header=False)
    assert main(["score", "t.xlsx", "--measures", "mi"]) == 1
    output = capsys.readouterr().err
    assert "row 1 has duplicate column names: 9" in output
    assert "or if the line is data, add --no-header" in output
    names = (f"{name}=column_{i}" for i, name in enumerate(("l1", "l2", "f", "f1", "f2", "N"), 1))
    words = ["--no-header", "--columns", ",".join(names), "--measures", "mi", "--format", "json"]
    assert main(["score", "t.xlsx", *words]) == 0
    scores = json.loads(capsys.readouterr().out)
    expected = [math.log10(5 * 100 / (9 * 9)), math.log10(5 * 100 / (7 * 9))]
    assert [row["mi"] for row in scores] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("name", "text", "options"),
    [
        ("t.csv", "made by hand\nItem,Frequency\na,7\nb,9\n", ["skip=1"]),
        ("t.csv", '"corpus","x"\n"subcorpus","-"\n\nItem,Frequency\na,7\nb,9\n', ["skip=3"]),
        ("t.tsv", "% by hand\nItem\tFrequency\na\t7\nb\t9\n", ["comment=%"]),
        ("t.csv", "Item|Frequency\na|7\nb|9\n", ["separator=|"]),
        ("t.txt", "by hand\nItem\tFrequency\na\t7\nb\t9\n", ["skip=1"]),
    ],
)
def test_options_of_the_reader_apply_to_frequency_lists(
    name: str, text: str, options: list[str], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / name).write_text(text)
    (folder / "r.txt").write_text("a b b c.\n")
    words = [word for each in options for word in ("--reader", each)]
    command = ["keywords", name, "r.txt", "--min-f", "1", "--format", "json", *words]
    assert main(command) == 0, capsys.readouterr().err
    assert {row["keyword"]: row["f"] for row in json.loads(capsys.readouterr().out)} == {
        "a": 7,
        "b": 9,
    }
    assert main([*command, "--reader", "skip=x"]) == 2 - name.endswith("txt")
    assert "This is a bug" not in capsys.readouterr().err


@pytest.mark.long
def test_wrong_counts_of_frequency_lists_are_refused(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "r.tsv").write_text("word\tf\nthe\t120\nof\t80\n")
    names = ("usual.csv", "no-header.tsv", "tabs-header.txt", "words-first.txt", "antconc.txt")
    for name in (*names, "sketch.csv"):
        (folder / name).write_text(LISTS[name].replace("900", "9x0", 1))
        assert main(["keywords", name, "r.tsv", "--min-f", "1"]) == 1, name
        output = capsys.readouterr().err
        assert name in output
        assert "'9x0'" in output, name


# Labels: options name labels that occur, spelt as in the file; lists in cells are labels.

THREE = "l1,l2,mi\na,x,3\nb,y,2\nc,z,1\n"
PAIRS_OF_THREE = (("a", "x"), ("b", "y"), ("c", "z"))
LABELLED = "l1,l2,label\na,x,SVC\nb,y,free\nc,z,free\n"
OCCURS = {
    "evaluate": (["evaluate", "three.csv", "labels.csv", "--positive", "svc"], "--positive: the label 'svc'", "labels.csv", "did you mean SVC? It has free, SVC"),
    "one of two": (["evaluate", "three.csv", "labels.csv", "--positive", "SVC,LVC"], "--positive: the label 'LVC'", "labels.csv", "It has free, SVC"),
    "clusters, table": (["clusters", "tags.csv", "mine.csv", "--exclude", "PUNKT"], "--exclude: the class 'PUNKT'", "", "did you mean PUNCT? It has"),
    "clusters, corpus": (["clusters", "c.conllu", "mine.csv", "--exclude", "PUNKT"], "--exclude: the class 'PUNKT'", "attribute 'upos'", "did you mean PUNCT? It has"),
    "tagging": (["clusters", "c.conllu", "d.conllu", "--exclude", "nonsense"], "--exclude: the class 'nonsense'", "", "it has"),
}  # fmt: skip
CONLLU = "1\tdogs\tdog\tNOUN\t_\t_\t0\troot\t_\t_\n2\t.\t.\tPUNCT\t_\t_\t1\tpunct\t_\t_\n\n"


@pytest.mark.parametrize("case", OCCURS)
def test_labels_in_options_have_to_occur(
    case: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words, message, where, listed = OCCURS[case]
    (folder / "three.csv").write_text(THREE)
    (folder / "labels.csv").write_text(LABELLED)
    (folder / "tags.csv").write_text("word,class\na,NOUN\n.,PUNCT\n")
    for name in ("c.conllu", "d.conllu"):
        (folder / name).write_text(CONLLU)
    assert main([*words, "--no-report"]) == 2
    output = capsys.readouterr().err
    assert f"{message} does not occur in" in output
    assert where in output
    assert listed in output


STAGES_OF_LABELS = {
    "join.table": 'categories = {{ TP = {{ column = "label", labels = ["{}"] }} }}',
    "join.machine": 'judge = "m"\ncategories = {{ TP = {{ column = "label", labels = ["{}"] }} }}',
}


@pytest.mark.parametrize("use", STAGES_OF_LABELS)
def test_labels_in_an_experiment_have_to_occur(use: str, tmp_path: Path) -> None:
    small = SmallRun(tmp_path, {"three.csv": THREE, "labels.csv": LABELLED})
    scores = '[stages.s]\nuse = "extract.scores"\npath = "three.csv"\nscores = {mi = "mi"}\n'
    join = f'{scores}[stages.j]\nuse = "{use}"\npath = "labels.csv"\ncandidates = "s"\n'
    small.run(join + STAGES_OF_LABELS[use].format("SVC"))
    with pytest.raises(
        LexassayError, match="categories.TP.labels: the label 'nonsense' does not occur"
    ):
        small.run(join + STAGES_OF_LABELS[use].format("nonsense"))


CELLS = {
    "JSON": ('["SVC"]', '["free"]'),
    "Python": ("['SVC']", "['free', 'odd']"),
    "Label Studio": ('{"choices": ["SVC"]}', '{"choices": ["free", "odd"]}'),
    "several": ('["odd", "SVC"]', '["odd"]'),
    "blanks": (" SVC", "free "),
}


@pytest.mark.long
@pytest.mark.parametrize("case", CELLS)
@pytest.mark.parametrize("kind", FORMATS)
def test_lists_in_cells_are_read_as_labels(
    case: str, kind: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Three pairs are judged, the last without a label."""
    (folder / "three.csv").write_text("l1,l2,mi\na,x,3\nb,y,2\n")
    yes, no = CELLS[case]
    rows: list[Row] = [
        (*pair, label) for pair, label in zip(PAIRS_OF_THREE, (yes, no, "[]"), strict=True)
    ]
    write(folder / f"t.{kind}", ("l1", "l2", "label"), rows)
    words = ["evaluate", "three.csv", f"t.{kind}", "--no-report", "--n", "1,2"]
    assert main(words) == 2
    assert "contains labels: " in capsys.readouterr().err
    assert main([*words, "--positive", "SVC"]) == 0
    shares = re.findall(r"│ mi +│ +\d │ +([\d.]+) │", capsys.readouterr().out)
    assert shares == ["100", "50"]


EXPORTS: dict[str, list[dict[str, object]]] = {
    "doccano": [
        {"label": ["SVC"], "Comments": []}, {"label": ["free"], "Comments": []},
        {"label": ["free", "odd"], "Comments": ["why?"]},
    ],
    "Prodigy, choice": [
        {"options": [{"id": "SVC", "text": "SVC"}], "accept": accept, "answer": answer}
        for accept, answer in ((["SVC"], "accept"), (["free"], "accept"), (["SVC"], "ignore"))
    ],
    "Prodigy, binary": [
        {"label": "SVC", "answer": answer} for answer in ("accept", "reject", "ignore")
    ],
    "Label Studio": [
        {"choices": {"choices": ["SVC"]}}, {"choices": {"choices": ["free"]}}, {"choices": None},
    ],
}  # fmt: skip
"""Tool to its output beside the words of three pairs; the last pair is not in the list."""


@pytest.mark.parametrize("case", EXPORTS)
def test_exports_of_annotation_tools_are_read(
    case: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "two.csv").write_text("l1,l2,mi\na,x,3\nb,y,2\n")
    rows = [{"l1": l1, "l2": l2} | row
            for (l1, l2), row in zip(PAIRS_OF_THREE, EXPORTS[case], strict=True)]  # fmt: skip
    (folder / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    words = ["evaluate", "two.csv", "t.jsonl", "--no-report", "--n", "1,2"]
    positive = [] if "binary" in case else ["--positive", "SVC"]
    assert main([*words, *positive]) == 0
    shares = re.findall(r"│ mi +│ +\d │ +([\d.]+) │", capsys.readouterr().out)
    assert shares == ["100", "50"]


def test_lists_as_words_and_errors_as_labels_are_refused(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "three.csv").write_text(THREE)
    (folder / "t.jsonl").write_text('{"l1": ["a"], "l2": "x", "TP": 1}\n')
    assert main(["evaluate", "three.csv", "t.jsonl"]) == 1
    assert """line 1: '["a"]'""" in capsys.readouterr().err
    write(folder / "t.xlsx", ("l1", "l2", "label"), [("a", "x", "SVC"), ("b", "y", "#NAME?")])
    assert main(["evaluate", "three.csv", "t.xlsx", "--positive", "SVC"]) == 1
    output = capsys.readouterr().err
    assert "column label (1 value): is a spreadsheet error, not a label" in output
    assert "line 3: '#NAME?'" in output


def test_lists_of_classes_and_clusters_are_read(tmp_path: Path) -> None:
    small = SmallRun(tmp_path, {"g.tsv": 'item\tgold\na\t["N", "V"]\nb\tN\n[\t[\n'})
    tables = small.run('[stages.g]\nuse = "extract.gold_table"\npath = "g.tsv"')
    assert sorted(tables["g.entries"].select("item", "gold").rows()) == [
        ("[", "["), ("a", "N"), ("a", "V"), ("b", "N"),
    ]  # fmt: skip
    pl.DataFrame({"item": ["a"], "cluster": [["1", "2"]]}).write_parquet(tmp_path / "c.parquet")
    tables = small.run('[stages.c]\nuse = "extract.clusters"\nsystem = "s"\npath = "c.parquet"')
    assert sorted(tables["c.entries"]["cluster"]) == ["1", "2"]


# Pairs of two files that have none in common

COMMON = {
    "case": ("l1,l2,TP\nA,X,1\nB,Y,0\n", "2 differ only in capital letters"),
    "padding": ("l1,l2,TP\na , x,1\nb , y,0\n", "2 differ only in blanks around the words"),
    "order": ("l1,l2,TP\nx,a,1\ny,b,0\n", "2 differ only in the order of the two words"),
    "separator": (
        "l1,l2,TP\nin_Frage,k,1\n",
        "1 differ only in the signs between parts of a word",
    ),
    "Unicode": ("l1,l2,TP\nof\ufb01ce,m,1\n", "1 differ only in their Unicode form"),
    "several": ("l1,l2,TP\nX ,A,1\n", "1 differ only in the order of the two words, and in case"),
    "other words": ("l1,l2,TP\nq,r,1\n", "they differ in more than case"),
}
LISTED_PAIRS = "l1,l2,mi\na,x,3\nb,y,2\nin Frage,k,1\noffice,m,0.5\n"


@pytest.mark.parametrize("case", COMMON)
@pytest.mark.parametrize("options", [[], ["--sampled"]])
def test_files_without_a_common_pair_are_refused(
    case: str, options: list[str], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content, cause = COMMON[case]
    (folder / "list.csv").write_text(LISTED_PAIRS)
    (folder / "t.csv").write_text(content)
    assert main(["evaluate", "list.csv", "t.csv", "--no-report", *options]) == 1
    output = capsys.readouterr().err
    assert re.search(r"none of the \d pairs in t\.csv is among the 4 candidates", output)
    assert re.search(r"  there: '.*\n  here: '", output)
    assert cause in output


@pytest.mark.parametrize("options", [[], ["--sampled"]])
@pytest.mark.parametrize(
    ("files", "message"),
    [
        (("l1,l2,mi\n", "l1,l2,TP\na,x,1\n"), "list.csv: the table has no rows"),
        ((LISTED_PAIRS, "l1,l2,TP\n"), "t.csv: the table has no rows, only columns l1, l2, TP"),
        ((LISTED_PAIRS, "l1,l2,TP\na,x,\n"), "t.csv: no pair has a judgement in column 'TP'"),
    ],
)
def test_tables_without_rows_or_judgements_are_refused(
    options: list[str], files: tuple[str, str], message: str, folder: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    for name, content in zip(("list.csv", "t.csv"), files, strict=True):
        (folder / name).write_text(content)
    assert main(["evaluate", "list.csv", "t.csv", "--no-report", *options]) == 1
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("use", ["join.table", "join.machine"])
def test_stages_refuse_files_without_a_common_pair(use: str, tmp_path: Path) -> None:
    small = SmallRun(
        tmp_path, {"t.csv": "l1,l2,TP,probability\nA,X,1,0.5\n", "list.csv": LISTED_PAIRS}
    )
    scores = '[stages.s]\nuse = "extract.scores"\npath = "list.csv"\nscores = {mi = "mi"}\n'
    own = 'judge = "m"\nothers = "skip"\n' if use == "join.machine" else ""
    with pytest.raises(LexassayError, match=r"none of the 1 pairs in t\.csv.*\n.*'A' 'X'\n"):
        small.run(f'{scores}[stages.j]\nuse = "{use}"\npath = "t.csv"\ncandidates = "s"\n{own}')


def test_simulated_labels_have_to_match_the_sheet() -> None:
    sheet = JUDGED.select("id", "l1", "l2", annotator=pl.lit("x"), order=1)
    labels = pl.DataFrame({"l1": ["A"], "l2": ["B"], "label": ["SVC"]})
    with pytest.raises(LexassayError, match="1 differ only in capital letters"):
        run_stage("sheet.simulated", {"path": "p"}, sheet=sheet, path=labels)


@pytest.mark.parametrize(
    ("words", "head"),
    [
        (["clusters", "T", "mine.csv"], "word,class,f"),
        (["clusters", "gold.csv", "T"], "word,cluster"),
        (["lexicon", "forms.csv", "T"], "lemma,form"),
        (["keywords", "T", "words.csv"], "word,f"),
    ],
)
def test_tables_without_rows_are_refused(
    words: list[str], head: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "t.csv").write_text(f"{head}\n")
    assert main(["t.csv" if word == "T" else word for word in words]) == 1
    assert "t.csv: the table has no rows, only columns" in capsys.readouterr().err
