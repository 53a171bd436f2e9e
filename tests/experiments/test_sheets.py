"""People in the loop: sheets are written once, filled in, joined, and kept for later samples."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import openpyxl
import polars as pl
import pytest

import pipeline as lx
from pipeline.cli.main import main
from pipeline.errors import ConfigError, DataError
from pipeline.formats.spreadsheets import list_sheets
from pipeline.runner.inputs import sheet_files

EXPERIMENT_SHEETS = """
name = "small"

[stages.candidates]
use = "extract.pairs"
corpus = "corpus.conllu"
left = { where = "upos = 'NOUN'", label = "{lemma}" }
right = { where = "upos = 'VERB'", label = "{lemma}" }
examples = 2

[stages.scores]
use = "score.association"
candidates = "candidates"
measures = ["mi", "t_score"]

[stages.ranks]
use = "score.rank"
scores = "scores"

[stages.sample]
use = "sample.random"
candidates = "candidates"
size = 6

[stages.sheet]
use = "sheet.annotation"
candidates = "candidates"
sample = "sample"
examples = "candidates.examples"
folder = "pairs"
labels = ["SVC", "free"]
annotators = ["anna", "ben"]
overlap = 0.5

[stages.judgements]
use = "join.sheets"
sheet = "sheet"
labels = "sheet.labels"
folder = "pairs"
categories = { TP = ["SVC"] }

[stages.sampled]
use = "evaluate.precision"
ranks = "ranks"
judgements = "judgements"
sample = "sample"
cuts = [5]
"""
NOUNS_SHEETS = ["nan", "007", "=SUM(A1)", "كتاب", "2-3", "+x", "TRUE", "a b"]


def sentence_sheets(noun: str, verb: str) -> str:
    rows = [
        f"1\t{noun}\t{noun}\tNOUN\t_\t_\t2\tnsubj\t_\t_",
        f"2\t{verb}s\t{verb}\tVERB\t_\t_\t0\troot\t_\t_",
    ]
    return "\n".join(rows) + "\n\n"


def pair_sheets(folder: Path) -> list[Path]:
    return list_sheets(folder / "sheets" / "small" / "pairs")


def rows(folder: Path) -> pl.DataFrame:
    return pl.concat(
        file.scan() for file in sheet_files(folder / "sheets" / "small" / "pairs")
    ).collect()


def rows_per_annotator(folder: Path) -> dict[str, int]:
    """Return the number of rows of each annotator."""
    return dict(rows(folder)["annotator"].value_counts().iter_rows())


def fill_sheets(path: Path, label: str = "SVC", *, only: int | None = None) -> None:
    """Enter a label in the rows of a sheet, saved as by a spreadsheet program."""
    book = openpyxl.load_workbook(path)
    page = book.worksheets[0]
    header = next(row for row in page.iter_rows() if any(c.value == "id" for c in row))
    column = next(cell.column for cell in header if cell.value == "label")
    last = page.max_row if only is None else header[0].row + only
    for number in range(header[0].row + 1, last + 1):
        page.cell(number, column).value = label
    book.save(path)


@pytest.mark.long
def test_a_run_waits_for_sheets_and_continues_when_filled(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "x.toml", "--no-report"]) == 3
    output = capsys.readouterr()
    count = rows(folder).height
    whose = ", ".join(f'{n} from "{who}"' for who, n in sorted(rows_per_annotator(folder).items()))
    text = f"sheets/small/pairs: waiting for {count} labels ({whose}), for example "
    assert text in output.out
    assert "not run: depends on judgements" in output.err
    assert [path.name for path in pair_sheets(folder)] == ["001-anna.xlsx", "002-ben.xlsx"]
    fill_sheets(pair_sheets(folder)[0])
    assert main(["run", "x.toml", "--no-report"]) == 3
    remaining = rows_per_annotator(folder)["ben"]
    assert f'waiting for {remaining} labels from "ben", for example ' in capsys.readouterr().out
    fill_sheets(pair_sheets(folder)[1], "svc ")
    assert main(["run", "x.toml", "--no-report"]) == 0
    run = lx.show("x.toml")
    assert run.table("sampled.baseline").row(0, named=True)["k_sampled"] == 6


def test_sheets_are_blind_and_contain_odd_words(waiting: Path) -> None:
    table = rows(waiting)
    filled = {each.name for each in table if each.null_count() < table.height}
    assert filled == {"file", "line", "annotator", "id", "l1", "l2"}
    of_tuples = {"l3", "l4", "l5", "l6"}
    assert set(table.columns) == filled | {"label", "note", "round"} | of_tuples
    candidates = lx.show("x.toml").table("candidates")
    both = table.join(candidates, on="id", suffix="_true")
    assert both.height == table.height
    assert both.select((pl.col("l1") == pl.col("l1_true")).all()).item()
    page = openpyxl.load_workbook(pair_sheets(waiting)[0]).worksheets[0]
    texts = [str(cell.value) for row in page.iter_rows() for cell in row if cell.value]
    assert any("[[" in text for text in texts)
    assert not any(name in texts for name in ("mi", "t_score", "score", "f"))


def test_existing_sheets_are_never_overwritten(waiting: Path) -> None:
    fill_sheets(pair_sheets(waiting)[0])
    before = {path: path.read_bytes() for path in pair_sheets(waiting)}
    main(["run", "x.toml", "--no-report", "--force", "sheet"])
    main(["run", "x.toml", "--no-report", "--set", 'stages.sheet.instructions="other"'])
    assert {path: path.read_bytes() for path in pair_sheets(waiting)} == before


@pytest.mark.long
def test_a_larger_sample_writes_a_sheet_of_the_new_rows(waiting: Path) -> None:
    for path in pair_sheets(waiting):
        fill_sheets(path)
    first = rows(waiting)
    assert (
        main(["run", "x.toml", "--no-report", "--deliver", "--set", "stages.sample.size=10"]) == 3
    )
    later = rows(waiting).filter(~pl.col("file").is_in(first["file"].unique().implode()))
    assert later.height > 0
    assert not set(later["id"]) & set(first["id"])
    for path in pair_sheets(waiting)[2:]:
        fill_sheets(path, "free")
    assert main(["run", "x.toml", "--no-report", "--set", "stages.sample.size=10"]) == 0
    base = lx.show("x.toml", settings={"stages.sample.size": 10}).table("sampled.baseline")
    assert base.row(0, named=True)["k_sampled"] == 6
    assert main(["run", "x.toml", "--no-report", "--set", "stages.sample.size=3"]) == 0
    smaller = lx.show("x.toml", settings={"stages.sample.size": 3})
    ids = set(smaller.table("sheet")["id"])
    others = smaller.table("judgements.others")
    assert set(others["id"]) == set(rows(waiting)["id"]) - ids
    assert others["file"].is_in([path.name for path in pair_sheets(waiting)]).all()


def test_partial_annotation_can_be_evaluated(waiting: Path) -> None:
    fill_sheets(pair_sheets(waiting)[0], only=2)
    assert main(["run", "x.toml", "--no-report", "--set", "stages.judgements.partial=true"]) == 0
    run = lx.show("x.toml", settings={"stages.judgements.partial": True})
    assert run.table("sampled.baseline").row(0, named=True)["n_sampled"] == 2


def test_faults_name_sheet_and_row_and_prevent_the_join(waiting: Path) -> None:
    path = pair_sheets(waiting)[0]
    fill_sheets(path)
    book = openpyxl.load_workbook(path)
    page = book.worksheets[0]
    header = {cell.value: cell.column for cell in page[1]}
    page.cell(2, header["label"]).value = "SVK"
    page.cell(3, header["l1"]).value = "something else"
    book.save(path)
    before = path.read_bytes()
    with pytest.raises(DataError) as error:
        lx.run("x.toml", report=False)
    message = str(error.value)
    assert f"pairs/{path.name}: column label (1 value): is not a label; did you mean SVC" in message
    assert "line 2: 'SVK'" in message
    assert "do not belong together" in message
    assert path.read_bytes() == before
    with pytest.raises(Exception, match="does not exist yet"):
        lx.show("x.toml").table("judgements")


@pytest.mark.long
def test_csv_with_semicolons_and_a_byte_order_mark_is_read(folder: Path) -> None:
    main(["run", "x.toml", "--no-report", "--deliver", "--set", 'stages.sheet.kind="csv"'])
    for path in pair_sheets(folder):
        table = pl.read_csv(path, infer_schema=False).with_columns(label=pl.lit("SVC"))
        text = table.write_csv(separator=";", quote_style="always")
        path.write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    assert main(["run", "x.toml", "--no-report", "--set", 'stages.sheet.kind="csv"']) == 0


def test_deleted_rows_are_written_to_a_new_sheet(waiting: Path) -> None:
    path = pair_sheets(waiting)[0]
    deleted = rows(waiting).filter(file=path.name).height
    path.unlink()
    fill_sheets(pair_sheets(waiting)[0])
    assert main(["run", "x.toml", "--no-report"]) == 3
    assert 0 < rows(waiting).filter(pl.col("annotator") == "anna").height <= deleted


@pytest.mark.long
def test_the_rule_decides_if_annotators_differ(folder: Path) -> None:
    main(["run", "x.toml", "--no-report", "--deliver", "--set", "stages.sheet.overlap=1"])
    fill_sheets(pair_sheets(folder)[0], "SVC")
    fill_sheets(pair_sheets(folder)[1], "free")
    settings = {"stages.sheet.overlap": 1}
    undecided = lx.run("x.toml", report=False, settings=settings).table("sampled.baseline")
    row = undecided.row(0, named=True)
    assert (row["n_undecided"], row["n_unjudged"], row["n_drawn"]) == (6, 0, 6)
    rule = {"stages.judgements.rule": "expert", "stages.judgements.expert": "anna"}
    expert = lx.run("x.toml", report=False, settings=settings | rule).table("sampled.baseline")
    assert expert.row(0, named=True)["k_sampled"] == 6
    rule["stages.judgements.expert"] = "ana"
    with pytest.raises(ConfigError, match="has no annotator 'ana'; did you mean anna"):
        lx.check("x.toml", settings=settings | rule)
    lx.check("x.toml", settings=settings | rule | {"stages.judgements.former": ["Ana "]})


@pytest.mark.parametrize("option", [[], ["--no-deliver"]])
def test_variants_of_an_experiment_write_no_sheets(
    waiting: Path, capsys: pytest.CaptureFixture[str], option: list[str]
) -> None:
    before = {path: path.read_bytes() for path in pair_sheets(waiting)}
    capsys.readouterr()
    assert main(["run", "x.toml", "--no-report", *option, "--set", "stages.sample.size=10"]) == 3
    output = capsys.readouterr().err
    assert {path: path.read_bytes() for path in pair_sheets(waiting)} == before
    assert "would write a sheet with" in output
    assert "(with --deliver)" in output
    assert lx.run("x.toml", report=False, settings={"stages.sample.size": 10}).waits
    assert {path: path.read_bytes() for path in pair_sheets(waiting)} == before
    assert lx.run("x.toml", report=False, settings={"stages.sample.size": 10}, deliver=True).waits
    assert len(pair_sheets(waiting)) > len(before)


def test_commands_report_the_progress_of_each_annotator(
    waiting: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fill_sheets(pair_sheets(waiting)[0], only=2)
    fill_sheets(pair_sheets(waiting)[1])
    anna, ben = rows_per_annotator(waiting)["anna"], rows_per_annotator(waiting)["ben"]
    for command in ("status", "sheets"):
        capsys.readouterr()
        assert main([command, "x.toml"]) == 0
        output = capsys.readouterr().out
        assert re.search(rf"pairs/anna +2 of {anna} done; last saved 20\d\d-", output)
        assert re.search(rf"pairs/ben +{ben} of {ben} done; last saved", output)


@pytest.mark.long
def test_gc_keeps_sheets_and_results_that_are_needed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """While an annotator is not done, unused results are removed, but no work of people."""
    main(["run", "x.toml", "--no-report", "--set", "stages.candidates.examples=1"])
    main(["run", "x.toml", "--no-report"])
    fill_sheets(pair_sheets(folder)[0], only=1)
    (folder / "runs" / "small" / "sheet" / "notes.txt").write_text("typed by a person")
    before = {path: path.read_bytes() for path in pair_sheets(folder)}
    capsys.readouterr()
    assert main(["gc", "x.toml"]) == 0
    output = capsys.readouterr().out
    assert "kept: all results of judgements, sampled" in output
    assert re.search(r"removed, [1-9]\d* folder", output)
    assert {path: path.read_bytes() for path in pair_sheets(folder)} == before
    assert (folder / "runs" / "small" / "sheet" / "notes.txt").read_text() == "typed by a person"
    fill_sheets(pair_sheets(folder)[0])
    fill_sheets(pair_sheets(folder)[1])
    assert main(["run", "x.toml", "--no-report"]) == 0


@pytest.mark.long
def test_an_incomplete_report_is_written_while_judgements_wait(folder: Path) -> None:
    views = '[report.views.ranks]\njudgements = "judgements"\n'
    (folder / "x.toml").write_text(EXPERIMENT_SHEETS + views)
    assert main(["run", "x.toml"]) == 3
    page = (folder / "runs" / "small" / "report" / "index.html").read_text()
    assert "This report is incomplete" in page
    assert re.search(r"judgements</strong>: waiting for 8 labels \(\d from &#34;anna&#34;", page)
    assert "<strong>sampled</strong>: depends on judgements" in page
    assert "Candidates are not marked: judgements has no judgements yet." in page
    assert "Not available yet: depends on judgements." in page
    assert "small/pairs" not in page.partition("Provenance</h2>")[0]
    run = lx.run("x.toml")
    assert [wait.missing for wait in run.waits] == [8]
    assert run.report
    for path in pair_sheets(folder):
        fill_sheets(path)
    assert main(["run", "x.toml"]) == 0
    page = run.report.read_text()
    assert "not whole" not in page
    assert "true positive (TP)" in page


@pytest.mark.long
def test_labels_count_even_if_the_examples_differ(folder: Path) -> None:
    """As in an earlier version: examples do not identify a row."""
    assert main(["run", "x.toml", "--no-report"]) == 3
    texts = lx.run("x.toml", report=False).table("candidates.examples").get_column("text").to_list()
    for sheet in pair_sheets(folder):
        fill_sheets(sheet)
    before = {path: path.read_bytes() for path in pair_sheets(folder)}
    experiment = EXPERIMENT_SHEETS.replace("examples = 2", 'examples = 2\nform = "lemma"')
    (folder / "x.toml").write_text(experiment)
    run = lx.run("x.toml", report=False)
    assert run.table("candidates.examples").get_column("text").to_list() != texts
    assert not run.waits
    assert {path: path.read_bytes() for path in pair_sheets(folder)} == before


def test_sheets_show_the_words_as_in_the_corpus(folder: Path) -> None:
    words = [
        "1\tL'\tle\tDET\t_\t_\t2\tdet\t_\tSpaceAfter=No",
        "2\tincidence\tincidence\tNOUN\t_\t_\t6\tnsubj\t_\t_",
        "3-4\tdes\t_\t_\t_\t_\t_\t_\t_\t_",
        "3\tde\tde\tADP\t_\t_\t5\tcase\t_\t_",
        "4\tles\tle\tDET\t_\t_\t5\tdet\t_\t_",
        "5\tsymptômes\tsymptôme\tNOUN\t_\t_\t2\tnmod\t_\t_",
        "6\tbaisse\tbaisser\tVERB\t_\t_\t0\troot\t_\tSpaceAfter=No",
        "7\t.\t.\tPUNCT\t_\t_\t6\tpunct\t_\t_",
    ]
    (folder / "corpus.conllu").write_text("\n".join(words) + "\n\n")
    short = EXPERIMENT_SHEETS.replace("size = 6", "size = 2").replace(
        "examples = 2", "examples = 2\nexample_width = 28"
    )
    (folder / "x.toml").write_text(short)
    table = lx.run("x.toml", report=False).table("sheet.sheet")
    assert set(table.get_column("example_1")) == {
        "L'[[incidence]] des […] [[baisse]].",
        "[…] des [[symptômes]] [[baisse]].",
    }


# A second round: a third person decides where two disagree.

ROUND = """
[stages.agreement]
use = "evaluate.agreement"
annotations = "judgements.annotations"

[stages.third]
use = "sheet.annotation"
candidates = "candidates"
sample = "agreement.disagreements"
folder = "third"
labels = ["SVC", "free"]
annotators = ["carla"]

[stages.decided]
use = "join.sheets"
sheet = "third"
labels = "third.labels"
folder = "third"
earlier = "judgements.annotations"
rule = "expert"
expert = "carla"
categories = { TP = ["SVC"] }
"""
WHOLE = EXPERIMENT_SHEETS.replace("overlap = 0.5", "overlap = 1").replace(
    'judgements = "judgements"', 'judgements = "decided"'
)


@pytest.fixture
def folder_adjudication_round(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    corpus = "".join(
        sentence_sheets(noun, verb) for noun in NOUNS_SHEETS for verb in ("take", "give")
    )
    (tmp_path / "corpus.conllu").write_text(corpus, encoding="utf-8")
    (tmp_path / "x.toml").write_text(WHOLE + ROUND)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.long
def test_a_third_person_decides_disagreements(
    folder_adjudication_round: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sheets = folder_adjudication_round / "sheets" / "small"
    assert main(["run", "x.toml", "--no-report"]) == 3
    anna, ben = list_sheets(sheets / "pairs")
    fill_sheets(anna, "SVC")
    fill_sheets(ben, "free")
    fill_sheets(ben, "SVC", only=2)
    assert main(["run", "x.toml", "--no-report"]) == 3
    assert 'small/third: waiting for 4 labels from "carla"' in capsys.readouterr().out
    (carla,) = list_sheets(sheets / "third")
    fill_sheets(carla, "free")
    fill_sheets(carla, "SVC", only=1)
    assert main(["run", "x.toml", "--no-report"]) == 0
    run = lx.show("x.toml")
    first, decided = run.table("judgements"), run.table("decided")
    assert first["tp"].null_count() == 4
    assert decided.height == first.height == 6
    assert decided["tp"].null_count() == 0
    assert decided["tp"].sum() == 3  # two labels by both, one by the third
    agreed = first.drop_nulls("tp")
    assert agreed.join(decided, on=list(agreed.columns)).height == agreed.height
    assert run.table("decided.annotations").height == 6 * 2 + 4
    assert run.table("sampled.baseline").row(0, named=True)["k_sampled"] == 3


@pytest.mark.long
def test_later_agreement_overrides_the_third_person(
    folder_adjudication_round: Path,
) -> None:
    """Carla decided while they disagreed; their later common label counts."""
    sheets = folder_adjudication_round / "sheets" / "small"
    main(["run", "x.toml", "--no-report"])
    anna, ben = list_sheets(sheets / "pairs")
    fill_sheets(anna, "SVC")
    fill_sheets(ben, "free")
    main(["run", "x.toml", "--no-report"])
    fill_sheets(list_sheets(sheets / "third")[0], "SVC")
    assert main(["run", "x.toml", "--no-report"]) == 0
    assert lx.show("x.toml").table("decided")["tp"].all()
    fill_sheets(anna, "free")
    assert main(["run", "x.toml", "--no-report"]) == 0
    run = lx.show("x.toml")
    assert not run.table("decided")["tp"].any()
    assert run.table("decided.others").height == 6


@pytest.mark.long
def test_a_label_of_the_second_round_replaces_the_first(
    folder_adjudication_round: Path,
) -> None:
    """A joint round: one of the two enters the label on which both agreed."""
    text = (folder_adjudication_round / "x.toml").read_text().replace("carla", "anna")
    (folder_adjudication_round / "x.toml").write_text(text)
    sheets = folder_adjudication_round / "sheets" / "small"
    main(["run", "x.toml", "--no-report"])
    anna, ben = list_sheets(sheets / "pairs")
    fill_sheets(anna, "SVC")
    fill_sheets(ben, "free")
    main(["run", "x.toml", "--no-report"])
    fill_sheets(list_sheets(sheets / "third")[0], "free")
    assert main(["run", "x.toml", "--no-report"]) == 0
    labels = lx.show("x.toml").table("decided.annotations")
    assert labels.height == 6 * 2
    assert labels.filter(pl.col("label") == "SVC").is_empty()


@pytest.mark.long
def test_agreement_needs_no_second_round(folder_adjudication_round: Path) -> None:
    main(["run", "x.toml", "--no-report"])
    for path in list_sheets(folder_adjudication_round / "sheets" / "small" / "pairs"):
        fill_sheets(path, "SVC")
    assert main(["run", "x.toml", "--no-report"]) == 0
    assert list_sheets(folder_adjudication_round / "sheets" / "small" / "third") == []
    assert lx.show("x.toml").table("decided")["tp"].to_list() == [True] * 6


# A dictionary on paper: the run waits for keying sheets, and continues with the typed forms.

EXPERIMENT_KEYING = """
name = "small"
[stages.lexicon]
use = "extract.lexicon"
path = "lexicon.tsv"
[stages.sample]
use = "sample.lemmas"
lexicons = ["lexicon"]
rate = RATE
[stages.sheet]
use = "sheet.keying"
lexicon = "lexicon"
sample = "sample"
folder = "small"
kind = "xlsx"
[stages.keyed]
use = "join.keying"
sheet = "sheet"
folder = "small"
[stages.overlaps]
use = "score.lexicon"
gold = "keyed"
lexicon = "lexicon"
[stages.quality]
use = "evaluate.lexicon"
gold = "keyed"
lexicon = "lexicon"
overlaps = "overlaps"
sample = "sample"
complete = false
[report.views.quality]
figures = false
"""


@pytest.fixture
def folder_keying(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    rows = [(f"l{i}", form) for i in range(8) for form in (f"l{i}", f"l{i}s", f"l{i}ed")]
    text = "lemma\tform\n" + "".join(f"{lemma}\t{form}\n" for lemma, form in rows)
    (tmp_path / "lexicon.tsv").write_text(text)
    (tmp_path / "x.toml").write_text(EXPERIMENT_KEYING.replace("RATE", "0.5"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def keying_sheets(folder: Path) -> list[Path]:
    return list_sheets(folder / "sheets" / "small" / "small")


def fill_keying(path: Path, template: str) -> list[str]:
    """Enter forms in every row, {} for the lemma; return the forms of the lexicon."""
    book = openpyxl.load_workbook(path)
    page = book.worksheets[0]
    header = next(row for row in page.iter_rows() if any(c.value == "id" for c in row))
    at = {cell.value: cell.column for cell in header}
    forms = []
    for number in range(header[0].row + 1, page.max_row + 1):
        lemma = page.cell(number, at["lemma"]).value
        page.cell(number, at["forms in the dictionary"]).value = template.format(lemma)
        forms.append(page.cell(number, at["forms in the lexicon"]).value)
    book.save(path)
    return forms


@pytest.mark.long
def test_a_run_waits_for_keyed_forms_and_continues(
    folder_keying: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "x.toml", "--no-report"]) == 3
    assert "sheets/small/small: waiting for 4 lemmas" in capsys.readouterr().out
    assert len(keying_sheets(folder_keying)) == 1
    lexicon_forms = fill_keying(keying_sheets(folder_keying)[0], "{0}, {0}s; {0}en, {0}es")
    assert all(forms.count(", ") == 2 for forms in lexicon_forms)
    before = keying_sheets(folder_keying)[0].read_bytes()
    assert main(["run", "x.toml", "--no-report"]) == 0
    row = lx.show("x.toml").table("quality.lemmas").row(0, named=True)
    assert (row["n_gold"], row["n_match"], row["n_common"], row["population"]) == (4, 3, 2, 8)
    assert keying_sheets(folder_keying)[0].read_bytes() == before


@pytest.mark.long
def test_a_larger_sample_writes_the_new_lemmas_alone(folder_keying: Path) -> None:
    assert main(["run", "x.toml", "--no-report"]) == 3
    fill_keying(keying_sheets(folder_keying)[0], "{0}")
    (folder_keying / "x.toml").write_text(EXPERIMENT_KEYING.replace("RATE", "1.0"))
    assert main(["run", "x.toml", "--no-report"]) == 3
    assert len(keying_sheets(folder_keying)) == 2
    assert len(fill_keying(keying_sheets(folder_keying)[1], "-")) == 4
    assert main(["run", "x.toml", "--no-report"]) == 0
    keyed = lx.show("x.toml").table("keyed.keyed")
    assert (keyed.height, keyed["found"].sum()) == (8, 4)
    assert lx.show("x.toml").table("quality.lemmas")["population"].unique().to_list() == [4]


def test_a_wrong_row_of_a_keying_sheet_is_reported(
    folder_keying: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["run", "x.toml", "--no-report"])
    fill_keying(keying_sheets(folder_keying)[0], "{0}, -")
    assert main(["run", "x.toml", "--no-report"]) == 1
    output = capsys.readouterr().err
    assert "column forms (4 values): contains forms and a -" in output
    assert "001-annotator.xlsx" in output


# Annotators: their names, their progress, and runs that wait for them.

SWEEP = """
[sweep]
collect = ["%s"]

[sweep.over]
"stages.sample.size" = [2, 3]
"""


def rename(path: Path, annotator: str | None) -> None:
    """Replace the name of the annotator by another name, or by none."""
    book = openpyxl.load_workbook(path)
    page = book.worksheets[0]
    head = next(row for row in page.iter_rows() if any(cell.value == "id" for cell in row))
    column = next(cell.column for cell in head if cell.value == "annotator")
    for number in range(head[0].row + 1, page.max_row + 1):
        page.cell(number, column).value = annotator
    book.save(path)


def note(path: Path, text: str) -> None:
    """Write a note in the first row."""
    book = openpyxl.load_workbook(path)
    page = book.worksheets[0]
    head = next(row for row in page.iter_rows() if any(cell.value == "id" for cell in row))
    column = next(cell.column for cell in head if cell.value == "note")
    page.cell(head[0].row + 1, column).value = text
    book.save(path)


@pytest.mark.long
def test_labels_without_an_annotator_are_faults(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["run", "x.toml", "--no-report"])
    for path in pair_sheets(folder):
        fill_sheets(path)
    rename(pair_sheets(folder)[0], None)
    assert main(["run", "x.toml", "--no-report"]) == 1
    output = capsys.readouterr().err
    assert "001-anna.xlsx: column annotator" in output
    assert "is empty: name the annotator of the label in this row" in output


@pytest.mark.long
def test_unknown_annotators_are_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["run", "x.toml", "--no-report"])
    for path in pair_sheets(folder):
        fill_sheets(path)
    rename(pair_sheets(folder)[1], "benn")
    assert main(["run", "x.toml", "--no-report"]) == 1
    output = capsys.readouterr().err
    assert "002-ben.xlsx: column annotator" in output
    assert "is not an annotator: did you mean ben, anna?" in output
    path = folder / "x.toml"
    judgements = '[stages.judgements]\nformer = ["benn"]'
    path.write_text(path.read_text().replace("[stages.judgements]", judgements))
    assert main(["run", "x.toml", "--no-report", "--set", "stages.judgements.partial=true"]) == 0


@pytest.mark.long
def test_case_and_blanks_of_names_do_not_matter(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["run", "x.toml", "--no-report"])
    for path in pair_sheets(folder):
        fill_sheets(path)
    rename(pair_sheets(folder)[1], " BEN")
    assert main(["sheets", "x.toml"]) == 0
    match = re.search(r"pairs/ben +(\d+) of (\d+) done", capsys.readouterr().out)
    assert match is not None
    assert match[1] == match[2]
    assert main(["run", "x.toml", "--no-report"]) == 0
    assert len(pair_sheets(folder)) == 2
    labelled = lx.show("x.toml").table("judgements.annotations")
    assert sorted(labelled["annotator"].unique()) == ["anna", "ben"]


@pytest.mark.long
def test_a_note_on_a_row_without_a_label_is_in_the_report(folder: Path) -> None:
    main(["run", "x.toml", "--no-report"])
    note(pair_sheets(folder)[0], "what is this?")
    assert main(["run", "x.toml", "--set", "stages.judgements.partial=true"]) == 0
    assert lx.show("x.toml", settings={"stages.judgements.partial": True}).table(
        "judgements.notes"
    )["note"].to_list() == ["what is this?"]  # fmt: skip
    page = (folder / "runs" / "small" / "report" / "index.html").read_text()
    assert "what is this?" in page


@pytest.mark.long
def test_progress_is_reported_if_earlier_stages_have_to_run(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["run", "x.toml", "--no-report"])
    path = folder / "x.toml"
    path.write_text(path.read_text().replace("examples = 2", "examples = 1"))
    capsys.readouterr()
    assert main(["sheets", "x.toml"]) == 0
    output = capsys.readouterr().out
    assert re.search(r"pairs/anna +0 of \d+ done; not started", output)
    fill_sheets(pair_sheets(folder)[0], only=1)
    assert main(["status", "x.toml"]) == 0
    assert re.search(r"pairs/anna +1 of \d+ done; last saved 20", capsys.readouterr().out)


@pytest.mark.long
def test_a_sweep_waits_only_for_required_labels(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every point runs, and reports the sheets it would write, if stacked tables need no label."""
    (folder / "x.toml").write_text(EXPERIMENT_SHEETS + SWEEP % "sample")
    assert main(["run", "x.toml", "--no-report"]) == 0
    assert capsys.readouterr().err.count("sheet: would write a sheet") >= 2
    stacked = pl.read_parquet(folder / "runs/small/sweep/sample.parquet")
    assert stacked.height == 2 + 3
    assert not pair_sheets(folder)
    (folder / "x.toml").write_text(EXPERIMENT_SHEETS + SWEEP % "sampled")
    assert main(["run", "x.toml", "--no-report"]) == 3


@pytest.mark.long
def test_an_incomplete_report_does_not_replace_a_complete_one(folder: Path) -> None:
    main(["run", "x.toml", "--no-report"])
    for path in pair_sheets(folder):
        fill_sheets(path)
    assert main(["run", "x.toml"]) == 0
    results = folder / "runs" / "small"
    whole = (results / "report" / "index.html").read_bytes()
    text = EXPERIMENT_SHEETS.replace("size = 6", "size = 8")
    (folder / "x.toml").write_text(text)
    assert main(["run", "x.toml"]) == 3
    assert (results / "report-last-good" / "index.html").read_bytes() == whole
    for path in pair_sheets(folder):
        fill_sheets(path)
    assert main(["run", "x.toml"]) == 0
    assert not (results / "report-last-good").exists()


@pytest.mark.long
def test_a_file_that_is_no_sheet_is_reported_and_ignored(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["run", "x.toml", "--no-report"])
    stray = pair_sheets(folder)[0].with_name("remember.txt")
    stray.write_text("call ben\nabout the sheet\n")
    pair_sheets(folder)[0].with_name("001-anna.numbers").write_bytes(b"PK")
    capsys.readouterr()
    assert main(["run", "x.toml", "--no-report"]) == 3
    what = "001-anna.numbers: is not read: save the sheet as .xlsx, .ods or .csv"
    assert what in capsys.readouterr().err
    for path in pair_sheets(folder):
        if path != stray:
            fill_sheets(path)
    capsys.readouterr()
    assert main(["sheets", "x.toml"]) == 0
    output = capsys.readouterr().out
    assert re.search(r"pairs/anna +(\d+) of \1 done", output)
    assert re.search(r"ignored .*remember.txt: is not a sheet: no row has a column id", output)
    assert re.search(f"ignored .*{what}", output)
    assert main(["run", "x.toml", "--no-report"]) == 0
    assert "remember.txt, line 1: is not a sheet" in capsys.readouterr().err


@pytest.mark.long
def test_a_sheet_with_a_damaged_header_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["run", "x.toml", "--no-report"])
    for path in pair_sheets(folder):
        fill_sheets(path)
    anna = pair_sheets(folder)[0]
    book = openpyxl.load_workbook(anna)
    head = next(row for row in book.worksheets[0].iter_rows() if row[0].value == "l1")
    next(cell for cell in head if cell.value == "id").value = "number"
    book.save(anna)
    capsys.readouterr()
    assert main(["sheets", "x.toml"]) == 0
    output = capsys.readouterr().out
    assert re.search(r"pairs/ben +(\d+) of \1 done", output)
    assert "ignored " in output
    assert main(["run", "x.toml", "--no-report"]) == 1
    assert "Restore the header from the original sheet" in capsys.readouterr().err


def test_a_waiting_run_names_the_option_to_continue(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "x.toml", "--no-report"]) == 3
    assert "; set partial = true to continue without them" in capsys.readouterr().out


# Places of sheets: the same for any working folder, and the places of earlier versions.


@pytest.fixture
def folder_sheet_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    corpus = "".join(sentence_sheets(n, v) for n in NOUNS_SHEETS for v in ("take", "give"))
    (tmp_path / "corpus.conllu").write_text(corpus, encoding="utf-8")
    (tmp_path / "x.toml").write_text(EXPERIMENT_SHEETS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.long
def test_sheets_are_beside_the_experiment_for_any_working_folder(
    folder_sheet_places: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two people and a coordinator, each with a working folder and results of their own."""
    assert main(["run", "x.toml", "--runs", "elsewhere", "--no-report"]) == 3
    paths = pair_sheets(folder_sheet_places)
    assert [path.name for path in paths] == ["001-anna.xlsx", "002-ben.xlsx"]
    fill_sheets(paths[0])
    deeper = folder_sheet_places / "deeper"
    deeper.mkdir()
    monkeypatch.chdir(deeper)
    assert main(["run", "../x.toml", "--no-report"]) == 3
    assert (
        main(
            [
                "run",
                str(folder_sheet_places / "x.toml"),
                "--runs",
                str(folder_sheet_places / "third"),
                "--no-report",
            ]
        )
        == 3
    )
    assert pair_sheets(folder_sheet_places) == paths
    fill_sheets(paths[1])
    assert main(["run", "../x.toml", "--no-report"]) == 0
    assert [
        path for path in folder_sheet_places.rglob("*.xlsx") if "lock" not in path.name
    ] == paths


def test_an_option_sets_the_folder_of_sheets(folder_sheet_places: Path, tmp_path: Path) -> None:
    (folder_sheet_places / "x.toml").write_text('sheets = "to people"\n' + EXPERIMENT_SHEETS)
    assert main(["run", "x.toml", "--no-report"]) == 3
    assert len(list_sheets(folder_sheet_places / "to people" / "pairs")) == 2
    assert not (folder_sheet_places / "sheets").exists()


def test_a_folder_that_cannot_be_written_is_reported(
    folder_sheet_places: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder_sheet_places / "sheets").write_text("in the way")
    assert main(["run", "x.toml", "--no-report"]) == 1
    output = capsys.readouterr().err
    assert "sheets/small/pairs" in output
    assert 'sheets = "DIR"' in output


def move_to(place: Path, folder: Path) -> list[Path]:
    """Move the sheets to the place of an earlier version."""
    place.mkdir(parents=True)
    return [path.rename(place / path.name) for path in pair_sheets(folder)]


@pytest.mark.long
@pytest.mark.parametrize("place", ["sheets/pairs", "runs/sheets/pairs"])
def test_sheets_in_a_former_place_count_and_can_be_moved(
    folder_sheet_places: Path, capsys: pytest.CaptureFixture[str], place: str
) -> None:
    main(["run", "x.toml", "--no-report"])
    for path in move_to(folder_sheet_places / place, folder_sheet_places):
        fill_sheets(path)
    capsys.readouterr()
    assert main(["run", "x.toml", "--no-report"]) == 0
    assert f"the sheets in {place} count" in capsys.readouterr().err
    assert pair_sheets(folder_sheet_places) == []
    assert main(["sheets", "x.toml"]) == 0
    assert pair_sheets(folder_sheet_places) == []
    saved = {path.stat().st_mtime for path in list_sheets(folder_sheet_places / place)}
    assert main(["sheets", "x.toml", "--move"]) == 0
    assert list_sheets(folder_sheet_places / place) == []
    assert {path.stat().st_mtime for path in pair_sheets(folder_sheet_places)} == saved
    capsys.readouterr()
    assert main(["run", "x.toml", "--no-report"]) == 0
    assert "count" not in capsys.readouterr().err


@pytest.mark.long
def test_equal_labels_in_both_places_count_once(folder_sheet_places: Path) -> None:
    main(["run", "x.toml", "--no-report"])
    for path in pair_sheets(folder_sheet_places):
        fill_sheets(path)
    former = folder_sheet_places / "sheets" / "pairs"
    former.mkdir()
    for path in pair_sheets(folder_sheet_places):
        shutil.copy(path, former)
    assert main(["run", "x.toml", "--no-report"]) == 0
    both = lx.show("x.toml").table("judgements.annotations")
    assert both.height == both.select("id", "annotator").n_unique()
    assert main(["sheets", "x.toml", "--move"]) == 0
    assert len(pair_sheets(folder_sheet_places)) == 4  # none was overwritten
    assert main(["run", "x.toml", "--no-report"]) == 0


@pytest.mark.long
def test_two_different_labels_in_two_places_are_reported(
    folder_sheet_places: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["run", "x.toml", "--no-report"])
    former = folder_sheet_places / "sheets" / "pairs"
    former.mkdir()
    for path in pair_sheets(folder_sheet_places):
        shutil.copy(path, former)
        fill_sheets(path, "SVC")
        fill_sheets(former / path.name, "free")
    assert main(["run", "x.toml", "--no-report"]) == 1
    output = capsys.readouterr().err
    assert "anna gave several labels to one candidate; keep one" in output
    assert "SVC (001-anna.xlsx, line 2)" in output
    assert "former place 1: 001-anna.xlsx" in output
