"""Evaluation of files: results equal those of experiments written by hand."""

from __future__ import annotations

import datetime
import gzip
import re
import shutil
import textwrap
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import lexassay as lx
from pipeline.cli.main import main
from pipeline.errors import ConfigError, DataError
from pipeline.recipes.collocations import collocates
from pipeline.recipes.evaluation import clusters, evaluate, lexicon
from tests.stages.run_stage import write_table

# Clusters and lexicons from files: results equal those of experiments written by hand.

STARTERS = Path(__file__).parents[2] / "pipeline" / "cli" / "starters"


@pytest.fixture
def files_clusters(tmp_path: Path) -> Path:
    shutil.copytree(STARTERS / "clustering", tmp_path / "clustering")
    shutil.copytree(STARTERS / "lexicon", tmp_path / "lexicon")
    return tmp_path


@pytest.mark.long
def test_systems_evaluated_on_a_corpus_equal_the_experiment(files_clusters: Path) -> None:
    here = files_clusters / "clustering"
    by_hand = lx.run(here / "experiment.toml", runs=files_clusters / "runs", report=False)
    run = clusters(
        here / "corpus.conllu", here / "tree.paths", exclude=["PUNCT"], prefix=3,
        runs=files_clusters / "cache", report=False,
    )  # fmt: skip
    columns = ["measure", "mapping", "value"]
    expected = by_hand.table("types").filter(system="tree").select(columns)
    assert run.table("types").select(columns).rows() == expected.rows()
    tokens = by_hand.table("tokens").filter(system="tree").select("measure", "value")
    assert run.table("tokens").select("measure", "value").rows() == tokens.rows()


@pytest.mark.long
def test_a_table_of_classes_is_the_gold_standard_of_a_tagging(files_clusters: Path) -> None:
    here = files_clusters / "clustering"
    run = clusters(
        here / "tags.tsv", here / "tree.paths", runs=files_clusters / "cache", report=False
    )
    assert set(run.table("types")["system"]) == {"tree"}
    induced = here / "induced.conllu"
    text = (here / "corpus.conllu").read_text().replace("NOUN", "N1").replace("VERB", "V2")
    induced.write_text(text)
    run = clusters(here / "corpus.conllu", induced, runs=files_clusters / "cache", report=False)
    (accuracy,) = run.table("tokens").filter(measure="one_to_one")["value"]
    assert accuracy == 1.0
    with pytest.raises(ConfigError, match="is a tagged corpus, but the gold standard"):
        clusters(here / "tags.tsv", induced, runs=files_clusters / "cache")


def test_words_in_two_clusters_rule_out_token_measures(
    files_clusters: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (files_clusters / "gold.csv").write_text("word,class,freq\na,N,3\nb,V,2\n")
    (files_clusters / "mine.csv").write_text("word,cluster\na,1\na,2\nb,2\n")
    words = [
        "clusters",
        str(files_clusters / "gold.csv"),
        str(files_clusters / "mine.csv"),
        "--no-report",
    ]
    assert main([*words, "--runs", str(files_clusters / "r")]) == 0
    output = capsys.readouterr().out
    assert "MacroI 1-1" in output
    assert "no token measures" in output


def test_a_repeated_row_is_one_cluster(
    files_clusters: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (files_clusters / "gold.csv").write_text("word,class,freq\na,N,3\nb,V,2\n")
    (files_clusters / "twice.csv").write_text("word,cluster\na,1\na,1\nb,2\n")
    (files_clusters / "both.csv").write_text("word,cluster\na,1\na,2\nb,2\n")
    paths = [str(files_clusters / f"{name}.csv") for name in ("gold", "twice", "both")]
    assert main(["clusters", *paths, "--no-report", "--runs", str(files_clusters / "r")]) == 0
    output = capsys.readouterr()
    assert "many_to_one" in output.out
    assert "no token measures, as 1 word has several clusters, for example 'a'" in (
        output.out + output.err
    )
    assert "no token measures: the gold" not in output.out


def test_systems_of_the_same_name_are_numbered(files_clusters: Path) -> None:
    (files_clusters / "gold.csv").write_text("word,class\na,N\nb,V\n")
    for folder in ("one", "two"):
        (files_clusters / folder).mkdir()
        (files_clusters / folder / "gold.csv").write_text("word,cluster\na,1\nb,2\n")
    paths = [files_clusters / folder / "gold.csv" for folder in ("one", "two")]
    run = clusters(files_clusters / "gold.csv", *paths, runs=files_clusters / "r", report=False)
    assert set(run.table("types")["system"]) == {"gold_2", "gold_3"}


@pytest.mark.long
def test_a_lexicon_is_evaluated_with_two_dictionaries(files_clusters: Path) -> None:
    (files_clusters / "gold.csv").write_text("headword,form\ngo,go\ngo,goes\ngo,went\nbe,be\n")
    (files_clusters / "more.csv").write_text("lemma,word\nbe,is\n")
    (files_clusters / "mine.csv").write_text("lemma,form\ngo,go\ngo,goed\nbe,be\nbe,is\n")
    run = lexicon(
        [files_clusters / "gold.csv", files_clusters / "more.csv"],
        files_clusters / "mine.csv",
        runs=files_clusters / "r",
        report=False,
    )
    quality = dict(run.table("quality").select("statistic", "value").rows())
    # go: 1 of 2 and 1 of 3, L = .4, 3 forms; be: L = 1, 2 forms.
    assert quality["L*"] == pytest.approx((3 * 0.4 + 2 * 1) / 5, abs=1e-12)
    only = lexicon(
        files_clusters / "gold.csv",
        files_clusters / "mine.csv",
        size=1,
        runs=files_clusters / "r",
        report=False,
    )
    assert only.table("quality.lemmas").height == 1
    assert list(run.project.nodes)[:4] == ["gold_2", "more", "gold", "mine"]
    assert list(only.project.nodes)[:2] == ["gold", "mine"]
    assert run.project.nodes["quality"].title == "Quality of the lexicon mine"


def test_column_names_apply_to_the_files_that_have_them(files_clusters: Path) -> None:
    (files_clusters / "gold.csv").write_text("Stichwort,Form\ngo,go\ngo,goes\n")
    (files_clusters / "mine.csv").write_text("lemma,form\ngo,go\n")
    names = {"lemma": "Stichwort", "form": "Form"}
    files = files_clusters / "gold.csv", files_clusters / "mine.csv"
    run = lexicon(*files, columns=names, runs=files_clusters / "r", report=False)
    assert run.table("quality.lemmas")["n_gold"].to_list() == [2]
    with pytest.raises(ConfigError, match="no file has a column 'Stichwrt'.*Stichwort"):
        lexicon(*files, columns={"lemma": "Stichwrt"}, runs=files_clusters / "r", report=False)


def test_a_name_of_a_column_counts_in_the_files_that_have_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "gold.tsv").write_text("Wort\tKlasse\tFrequenz\nhund\tN\t3\ngehen\tV\t4\n")
    (tmp_path / "system.tsv").write_text("item\tcluster\nhund\t1\ngehen\t2\n")
    words = ["clusters", *(str(tmp_path / name) for name in ("gold.tsv", "system.tsv"))]
    words += ["--no-report", "--runs", str(tmp_path / "r")]
    assert main(words) == 2
    err = capsys.readouterr().err
    assert "gold.tsv: has no column for item, gold; it has Wort, Klasse, Frequenz" in err
    assert "add --columns item=NAME,gold=NAME" in err
    assert main([*words, "--columns", "item=Wort,gold=Klasse"]) == 0
    out, err = capsys.readouterr()
    assert "if Frequenz has word frequencies, add --columns f=Frequenz" in err
    assert "no token measures: they require word frequencies in the gold (column f)" in out
    assert main([*words, "--columns", "item=Wort,gold=Klasse,f=Frequenz"]) == 0
    assert "no token measures" not in capsys.readouterr().out
    (tmp_path / "system.tsv").write_text("Mot\tcluster\nhund\t1\ngehen\t2\n")
    assert main([*words, "--columns", "item=Wort,gold=Klasse"]) == 2
    assert "rename columns to item in the file" in capsys.readouterr().err


def test_the_command_shows_the_lemmas_that_cost_most(
    files_clusters: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (files_clusters / "gold.csv").write_text("lemma,form\ngo,go\ngo,goes\nbe,be\n")
    (files_clusters / "mine.csv").write_text("lemma,form\ngo,go\nbe,be\n")
    words = [
        "lexicon",
        str(files_clusters / "gold.csv"),
        str(files_clusters / "mine.csv"),
        "--no-report",
    ]
    assert main([*words, "--runs", str(files_clusters / "r")]) == 0
    output = capsys.readouterr().out
    assert "L*" in output
    assert output.index("go ") < output.rindex("be ")
    assert main([*words, "--rate", "0.5", "--size", "1"]) == 2
    assert "use one of the two" in capsys.readouterr().err


ROOT = Path(__file__).parents[2]
MEASURES = ["t_score", "mi"]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Scores and judgements of the invented candidates, with other names."""
    folder = tmp_path_factory.mktemp("files")
    table = pl.read_csv(ROOT / "data" / "candidates.tsv", separator="\t")
    scored = lx.score(table, measures=MEASURES)
    names = {"l1": "node", "l2": "collocate"}
    scored.select("l1", "l2", "f", *MEASURES).rename(names).write_csv(folder / "ranked.csv")
    table.select("l1", "l2", "TP").write_csv(folder / "judged.tsv", separator="\t")
    return folder


@pytest.mark.long
def test_evaluate_equals_the_experiment(files: Path, tmp_path: Path) -> None:
    run = evaluate(files / "ranked.csv", files / "judged.tsv", cuts=(100, 500), runs=tmp_path, report=False)  # fmt: skip
    rows = run.table("precision.cuts").sort("measure", "n")
    table = pl.read_csv(ROOT / "data" / "candidates.tsv", separator="\t")
    scored = lx.score(table, measures=MEASURES)
    for measure, n, share in rows.select("measure", "n", "precision").rows():
        cut = scored.sort(measure, descending=True)[measure][n - 1]
        sure, tied = scored.filter(pl.col(measure) > cut), scored.filter(pl.col(measure) == cut)
        least = sure["TP"].sum() + max(0, n - sure.height - tied["TP"].len() + tied["TP"].sum())
        most = sure["TP"].sum() + min(n - sure.height, tied["TP"].sum())
        assert least <= round(share * n) <= most
    assert rows["n"].unique().sort().to_list() == [100, 500]
    assert sorted(run.table("comparison.cuts")["n"].unique()) == [100, 500]


@pytest.mark.long
def test_judgements_drawn_at_random_give_estimates(files: Path, tmp_path: Path) -> None:
    draws = pl.read_csv(files / "judged.tsv", separator="\t").sample(400, seed=1)
    draws.write_csv(tmp_path / "drawn.csv")
    with pytest.raises(DataError, match=r"400 of 3,685 ranked pairs are judged\. If these were"):
        evaluate(files / "ranked.csv", tmp_path / "drawn.csv", runs=tmp_path / "r", report=False)
    run = evaluate(
        files / "ranked.csv",
        tmp_path / "drawn.csv",
        sampled=True,
        runs=tmp_path / "r",
        report=False,
    )
    (base,) = run.table("precision.baseline").rows(named=True)
    assert (base["n_sampled"], base["n_candidates"]) == (400, 3685)
    assert base["precision"] == draws["TP"].sum() / 400


def test_rows_in_order_are_a_ranking(tmp_path: Path) -> None:
    (tmp_path / "list.csv").write_text("w1,w2\nkick,bucket\npull,strings\nbuy,bread\n")
    (tmp_path / "gold.csv").write_text("w1,w2,label\nkick,bucket,idiom\npull,strings,idiom\nbuy,bread,free\n")  # fmt: skip
    with pytest.raises(
        ConfigError, match="'label' contains labels: idiom, free; say which labels mark"
    ):
        evaluate(tmp_path / "list.csv", tmp_path / "gold.csv", runs=tmp_path / "r")
    run = evaluate(
        tmp_path / "list.csv", tmp_path / "gold.csv", positive=["idiom"], cuts=[2, 3],
        runs=tmp_path / "r", report=False,
    )  # fmt: skip
    assert run.table("precision.cuts")["precision"].to_list() == [1.0, 2 / 3]
    alone = evaluate(
        tmp_path / "list.csv", tmp_path / "gold.csv", positive="idiom", cuts=[2, 3],
        runs=tmp_path / "r", report=False,
    )  # fmt: skip
    assert alone.table("precision.cuts").equals(run.table("precision.cuts"))


@pytest.mark.long
@pytest.mark.parametrize("separator", [";", "\t"])
def test_semicolons_and_tabs_in_csv_are_recognised(separator: str, tmp_path: Path) -> None:
    ranked, gold = tmp_path / "list.csv", tmp_path / "gold.csv"
    ranked.write_text("w1,w2\na,b\nc,d\n".replace(",", separator))
    gold.write_text("w1,w2,TP\na,b,1\nc,d,0\n".replace(",", separator))
    run = evaluate(ranked, gold, cuts=[1, 2], runs=tmp_path / "r", report=False)
    assert run.table("precision.cuts")["precision"].to_list() == [1.0, 0.5]
    assert main(["evaluate", str(ranked), str(gold), "--runs", str(tmp_path / "r"), "--no-report",
                 "--save", str(tmp_path / "saved.toml")]) == 0  # fmt: skip
    assert (
        lx.run(tmp_path / "saved.toml", runs=tmp_path / "s", report=False)
        .table("precision.cuts")
        .height
    )


@pytest.mark.parametrize("side", ["gold.csv", "mine.csv"])
def test_weights_of_clusters_are_refused(
    side: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "gold.csv").write_text("word,tag\nrun,N\nrun,V\ndog,N\n")
    (tmp_path / "mine.csv").write_text("word,cluster\nrun,1\nrun,2\ndog,1\n")
    label = (tmp_path / side).read_text().splitlines()
    weights = ("weight", ".3", ".7", "1")
    lines = (f"{one},{two}\n" for one, two in zip(label, weights, strict=True))
    (tmp_path / side).write_text("".join(lines))
    words = ["clusters", str(tmp_path / "gold.csv"), str(tmp_path / "mine.csv"), "--no-report"]
    assert main([*words, "--runs", str(tmp_path / "r")]) == 1
    output = capsys.readouterr().err
    assert f"stages.{side.removesuffix('.csv')} has weights of" in output
    assert "2 other than 1, for example 0.3 of 'run' in" in output
    assert "Remove the column weight from its file" in output


def test_single_names_need_not_be_in_a_list(tmp_path: Path) -> None:
    rows = "l1,l2,mi,other,TP\na,x,2,1,1\nb,y,1,2,0\n"
    (tmp_path / "list.csv").write_text(rows)
    run = evaluate(tmp_path / "list.csv", tmp_path / "list.csv", scores="mi", cuts=[1],
                   runs=tmp_path / "r", report=False)  # fmt: skip
    assert run.table("precision.cuts").select("measure", "precision").rows() == [("mi", 1.0)]
    (tmp_path / "gold.tsv").write_text("word\ttag\na\tN\nb\tV\n.\tPUNCT\n")
    (tmp_path / "mine.tsv").write_text("word\tcluster\na\t1\nb\t2\n.\t2\n")
    run = clusters(tmp_path / "gold.tsv", tmp_path / "mine.tsv", exclude="PUNCT",
                   runs=tmp_path / "r", report=False)  # fmt: skip
    assert run.table("gold")["gold"].to_list() == ["N", "V"]


@pytest.mark.parametrize(("rows", "sizes"), [
    (1, [1]), (30, [30]), (50, [50]), (320, [50, 100, 200]), (1000, [50, 100, 200, 500, 1000]),
    (2500, [50, 100, 200, 500, 1000, 2000]),
])  # fmt: skip
def test_list_sizes_fit_the_list(rows: int, sizes: list[int], tmp_path: Path) -> None:
    table = pl.DataFrame({"l1": [f"a{i}" for i in range(rows)], "l2": "b", "TP": 1})
    table.write_csv(tmp_path / "list.csv")
    run = evaluate(tmp_path / "list.csv", tmp_path / "list.csv", runs=tmp_path / "r", report=False)
    assert run.table("precision.cuts")["n"].to_list() == sizes


@pytest.mark.parametrize("name", ["id", '""'])
def test_row_numbers_are_not_scores(name: str, tmp_path: Path) -> None:
    """UCS has a column id, write.csv in R one without a name."""
    (tmp_path / "list.csv").write_text(f"{name},l1,l2,mi\n1,a,x,3\n2,b,y,2\n3,c,z,5\n")
    (tmp_path / "gold.csv").write_text("l1,l2,TP\na,x,0\nb,y,1\nc,z,1\n")
    run = evaluate(tmp_path / "list.csv", tmp_path / "gold.csv", cuts=[1],
                   runs=tmp_path / "r", report=False)  # fmt: skip
    assert run.table("precision.cuts").select("measure", "precision").rows() == [("mi", 1.0)]


def test_ranks_and_judgements_of_ucs_are_not_scores(tmp_path: Path) -> None:
    (tmp_path / "list.ds").write_text(
        "l1\tl2\tam.MI\tr.MI\tb.TP\tn.x\na\tx\t3\t2\t0\t7\nb\ty\t5\t1\t1\t8\n"
    )
    (tmp_path / "gold.csv").write_text("l1,l2,TP\na,x,0\nb,y,1\n")
    run = evaluate(tmp_path / "list.ds", tmp_path / "gold.csv", cuts=[1],
                   runs=tmp_path / "r", report=False)  # fmt: skip
    assert run.table("precision.cuts").select("measure", "precision").rows() == [("am.MI", 1.0)]


@pytest.mark.long
@pytest.mark.parametrize("dtype", [pl.Float64(), pl.Decimal(9, 2), pl.Boolean(), pl.Int8()])
@pytest.mark.parametrize("name", ["t.csv", "t.jsonl", "t.parquet", "t.xlsx"])
def test_judgements_of_any_type_and_format_are_read(
    name: str, dtype: pl.DataType, tmp_path: Path
) -> None:
    """Two of three are true, the best is not. A judgement column beside scores is not a score."""
    judged = pl.Series("TP", [0.0, 1.0, 1.0]).cast(dtype)
    ranked = pl.DataFrame({"l1": ["a", "b", "c"], "l2": "x", "mi": [3, 2, 1], "same": judged})
    write_table(ranked, tmp_path / f"ranked{name}")
    write_table(ranked.select("l1", "l2", judged), tmp_path / name)
    run = evaluate(tmp_path / f"ranked{name}", tmp_path / name, cuts=[1, 3], runs=tmp_path / "r",
                   report=False)  # fmt: skip
    table = run.table("precision.cuts").select("measure", "precision").rows()
    assert table == [("mi", 0.0), ("mi", 2 / 3)]


def test_unused_columns_may_have_any_type(tmp_path: Path) -> None:
    ranked = pl.DataFrame({"l1": ["a", "b"], "l2": "x", "mi": [3, 2], "TP": [1, 0]})
    odd = {"time": datetime.timedelta(1), "list": [1], "raw": b"1"}
    ranked.with_columns(**{name: pl.lit(value) for name, value in odd.items()}).write_parquet(
        tmp_path / "t.parquet"
    )
    run = evaluate(tmp_path / "t.parquet", tmp_path / "t.parquet", cuts=[1], runs=tmp_path / "r",
                   report=False)  # fmt: skip
    assert run.table("precision.cuts").select("measure", "precision").rows() == [("mi", 1.0)]


@pytest.mark.long
def test_the_lowest_score_can_be_first(tmp_path: Path) -> None:
    (tmp_path / "list.csv").write_text("l1,l2,p\na,x,0.5\nb,y,0.001\nc,z,0.01\n")
    (tmp_path / "gold.csv").write_text("l1,l2,TP\na,x,0\nb,y,1\nc,z,1\n")
    for ascending, share in (([], 0.5), (["p"], 1.0), ("p", 1.0)):
        run = evaluate(
            tmp_path / "list.csv", tmp_path / "gold.csv", ascending=ascending, cuts=[2],
            runs=tmp_path / "r", report=False,
        )  # fmt: skip
        assert run.table("precision.cuts")["precision"].to_list() == [share]


@pytest.mark.long
def test_the_command_prints_the_table_and_names_the_page(
    files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["evaluate", str(files / "ranked.csv"), str(files / "judged.tsv"), "--n", "100"]
    saved = tmp_path / "saved.toml"
    assert main([*words, "--runs", str(tmp_path / "r"), "--save", str(saved)]) == 0
    output = capsys.readouterr().out
    assert "t_score" in output
    page = Path(output.splitlines()[-1].removeprefix("report: "))
    assert "<svg" in page.read_text() or "vega" in page.read_text()
    assert list((page.parent / "figures").glob("*.svg"))
    again = lx.run(saved, runs=tmp_path / "own", report=False)
    assert again.table("precision.cuts")["n"].unique().to_list() == [100]


WORDS = [("pull", "strings"), ("kick", "bucket"), ("pull", "weight"), ("buy", "bread"),
         ("buy", "time"), ("eat", "bread"), ("spill", "beans"), ("eat", "time")]  # fmt: skip


def combine(labels: str, folder: Path, *options: str) -> int:
    """Run the command on ordered scores of pairs, with a judgement each: 1, 0 or none."""
    ranked = [f"{l1},{l2},{9 - n}" for n, (l1, l2) in enumerate(WORDS * 4)]
    ranked = [f"{n}{each}" for n, each in enumerate(ranked)]
    judged = [",".join([*each.split(",")[:2], tp.strip("-")])
              for each, tp in zip(ranked, labels, strict=True)]  # fmt: skip
    (folder / "ranked.csv").write_text("\n".join(["l1,l2,mi", *ranked, ""]))
    (folder / "judged.csv").write_text("\n".join(["l1,l2,TP", *judged, ""]))
    words = ["evaluate", str(folder / "ranked.csv"), str(folder / "judged.csv"), "--combine"]
    return main([*words, "--n", "8", "--no-report", "--runs", str(folder / "r"), *options])


@pytest.mark.long
def test_a_combination_is_evaluated_beside_the_scores(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved = tmp_path / "saved.toml"
    assert combine("11010010" * 4, tmp_path, "--save", str(saved)) == 0
    output = capsys.readouterr().out
    assert (
        "combination: learned from 32 labels with 16 true positives; cross-fitted average" in output
    )
    assert "single measure (MI)" in output
    again = lx.show(saved, runs=tmp_path / "own")
    assert again.project.experiment.stages["combined"]["candidates"] == "scores"
    assert "sample" not in again.project.experiment.stages["combined"]


@pytest.mark.long
def test_a_combination_learns_from_a_sample(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert combine("1-0-1-0-" * 4, tmp_path, "--sampled") == 0
    assert "learned from 16 labels with 8 true positives" in capsys.readouterr().out


@pytest.mark.long
@pytest.mark.parametrize(
    ("labels", "options", "message"),
    [
        ("0" * 32, [], "has only false ones: a model requires true and"),
        ("1" * 32, [], "has only true ones: a model requires true and"),
        ("1" + "-" * 31, ["--sampled"], "- --combine: a training set of 1 judgement has"),
        ("10" + "-" * 30, ["--sampled"], "judge more pairs, of both kinds, or omit --combine"),
        ("-" * 32, ["--sampled"], "no pair has a judgement in column 'TP'"),
        ("1100" + "-" * 28, [], "4 of 32 ranked pairs are judged. If these were drawn at random"),
    ],
)
def test_unsuitable_labels_for_a_combination_are_refused(
    labels: str,
    options: list[str],
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert combine(labels, tmp_path, *options) in (1, 2)
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--score", "tscore"], "there is no column 'tscore'"),
        (["--columns", "l1=noun"], "no file has a column 'noun'"),
        (["--columns", "11=noun"], "there is no column '11'; valid: TP, l1, l2"),
        (["--columns", "l1"], "'l1' does not name a column"),
        (["--n", "0"], "'0' is not a whole number of at least 1"),
    ],
)
def test_errors_in_options_are_reported(
    files: Path,
    tmp_path: Path,
    options: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["evaluate", str(files / "ranked.csv"), str(files / "judged.tsv"), *options]
    assert main([*words, "--runs", str(tmp_path)]) == 2
    assert message in capsys.readouterr().err


def test_an_unrecognised_column_is_requested(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:  # fmt: skip
    (tmp_path / "list.csv").write_text("first,second,mi\nkick,bucket,1\n")
    assert main(["evaluate", str(tmp_path / "list.csv"), str(tmp_path / "list.csv")]) == 2
    output = capsys.readouterr().err
    assert "list.csv: has no column for l1, l2; it has first, second, mi" in output
    assert "--columns l1=NAME,l2=NAME or --no-header if the first line is data" in output
    words = ["evaluate", str(tmp_path / "list.csv"), str(tmp_path / "list.csv"), "--no-header"]
    assert main(words) == 2
    output = capsys.readouterr().err
    assert "it has column_1, column_2, column_3; add --columns l1=NAME,l2=NAME\n" in output


def test_pairs_across_a_line_end_are_counted(tmp_path: Path) -> None:
    filling = " ".join(["house of river nobody lived", *["in another winter"] * 3])
    for name, gap in (("lines", " "), ("wrapped", "\n")):
        parts = [textwrap.fill(filling, 30).replace("\n", gap)] * 40
        (tmp_path / f"{name}.txt").write_text("\n\n".join(parts))
    tables = [
        collocates("winter", tmp_path / f"{name}.txt", relation="adjacent", runs=tmp_path / "r")
        for name in ("lines", "wrapped")
    ]
    assert tables[0].select("collocate", "f").equals(tables[1].select("collocate", "f"))
    assert tables[0].height > 0


@pytest.mark.long
@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.jsonl", "a.parquet", "a.xlsx"])
def test_equivalent_spellings_match_in_every_format(name: str, tmp_path: Path) -> None:
    words = {"l1": ["cafe\u0301", "l\u2019an", "so\u00adlo"], "l2": ["noir", "neuf", "a\u00a0b"]}
    ranked = pl.DataFrame({**words, "mi": [3.0, 2.0, 1.0]})
    write_table(ranked, tmp_path / name)
    judged = {"l1": ["caf\u00e9", "l'an", "solo"], "l2": ["noir", "neuf", "a b"], "tp": [1, 0, 1]}
    pl.DataFrame(judged).write_csv(tmp_path / "judged.csv")
    run = evaluate(tmp_path / name, tmp_path / "judged.csv", cuts=[3], runs=tmp_path / "runs")
    rows = run.table("precision")
    assert rows.filter(measure="mi", n=3)["precision"].to_list() == pytest.approx([2 / 3])


def test_lexicons_are_normalised_as_configured(tmp_path: Path) -> None:
    (tmp_path / "l.tsv").write_text("lemma\tform\ncafe\u0301\tcafe\u0301s\n")
    stage = '[stages.l]\nuse = "extract.lexicon"\npath = "l.tsv"\n'
    for form, lemma in (("NFC", "caf\u00e9"), ("as_it_is", "cafe\u0301")):
        (tmp_path / "x.toml").write_text(f'name = "x"\n{stage}unicode = "{form}"\n')
        run = lx.run(tmp_path / "x.toml", runs=tmp_path / "runs", report=False)
        assert run.table("l")["lemma"].to_list() == [lemma]


# Files whose extensions do not reveal their format

LEXICON = "Haus\tHauses\tN;GEN;SG\nHaus\tH\u00e4user\tN;NOM;PL\ngehen\tging\tV;PST;3;SG\n"


@pytest.mark.parametrize("name", ["deu", "deu.args", "deu.tsv", "deu.txt", "deu.gz"])
@pytest.mark.parametrize("header", ["", "lemma\tform\tfeats\n"])
def test_unimorph_is_recognised_by_its_lines(name: str, header: str, tmp_path: Path) -> None:
    text = (header + LEXICON).encode()
    (tmp_path / "gold.unimorph").write_bytes(text)
    (tmp_path / name).write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    run = lexicon(tmp_path / "gold.unimorph", tmp_path / name, runs=tmp_path / "r", report=False)
    table = dict(run.table("quality").select("statistic", "value").iter_rows())
    assert (table["gold lemmas"], table["lexicon lemmas"], table["L*"]) == (2, 2, 1)


def test_two_columns_without_names_are_refused(tmp_path: Path) -> None:
    """Two columns without names may be anything: no row is silently taken for a header."""
    (tmp_path / "deu").write_text("gehen\tging\ngehen\tgeht\n")
    with pytest.raises(ConfigError, match="no column for lemma"):
        lexicon(tmp_path / "deu", tmp_path / "deu", runs=tmp_path / "r", report=False)
    run = lexicon(tmp_path / "deu", tmp_path / "deu", read_as="unimorph", runs=tmp_path / "r",
                  report=False)  # fmt: skip
    assert run.table("deu").height == 2


@pytest.mark.parametrize("name", ["gold.tsv", "gold.csv"])
def test_a_first_line_of_data_may_have_the_same_text_twice(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    separator = "\t" if name.endswith("tsv") else ";"
    (tmp_path / name).write_text("chat|chat\nchat|chats\n".replace("|", separator))
    files, runs = [tmp_path / name, tmp_path / name], tmp_path / "r"
    names = {"lemma": "column_1", "form": "column_2"}
    run = lexicon(*files, header=False, columns=names, runs=runs, report=False)
    assert run.table("quality.lemmas")["n_gold"].to_list() == [2]
    words = ["lexicon", *map(str, files), "--no-report", "--runs", str(runs)]
    assert main(words) == 1
    err = capsys.readouterr().err
    assert f"{name}: line 1 has duplicate column names: chat" in err
    assert "if the line is data, add --no-header." in err
    assert main([*words, "--no-header", "--columns", "lemma=column_1,form=column_2"]) == 0


def test_clusters_are_recognised_by_their_lines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "gold").write_text("item\tgold\tf\ndog\tN\t3\nrun\tV\t4\n")
    (tmp_path / "paths").write_text("00\tdog\t3\n01\trun\t4\n")
    words = ["clusters", str(tmp_path / "gold"), str(tmp_path / "paths"), "--no-report"]
    words += ["--runs", str(tmp_path / "r")]
    assert main(words) == 0
    out, err = capsys.readouterr()
    assert "paths: read as Brown's clusters: path, word and frequency" in err
    assert "gold: read as TSV" in err
    assert "many_to_one" in out
    assert main([*words, "--read-as", "tsv"]) == 2
    err = capsys.readouterr().err
    assert "no column for item" in err
    assert main([*words, "--read-as", "paths=brown", "--prefix", "1"]) == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--read-as", "unimorf"], "there is no format 'unimorf'; did you mean unimorph"),
        (["--read-as", "other=brown"], "'other' is not among the input files"),
        (["--read-as", "brown", "--read-as", "gold=tsv"], "is given twice"),
        (
            ["--reader", "seperator=;"],
            "no format has an option 'seperator'; did you mean separator",
        ),
        (["--normalise", "NFX"], "normalise"),
    ],
)
@pytest.mark.parametrize("command", ["score", "evaluate", "clusters", "lexicon"])
def test_unknown_formats_and_options_are_refused(
    command: str,
    options: list[str],
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "gold").write_text("item\tgold\tf\ndog\tN\t3\nrun\tV\t4\n")
    files = [str(tmp_path / "gold")] * (1 if command == "score" else 2)
    assert main([command, *files, *options]) == 2
    assert message in capsys.readouterr().err


def test_each_file_is_read_with_the_options_of_its_format(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "ranked.txt").write_text("l1|l2|mi\na|x|2\nb|y|1\n")
    (tmp_path / "judged.jsonl").write_text(
        '{"l1": "a", "l2": "x", "TP": 1}\n{"l1": "b", "l2": "y", "TP": 0}\n'
    )
    words = ["evaluate", str(tmp_path / "ranked.txt"), str(tmp_path / "judged.jsonl"), "--n", "1"]
    words += ["--no-report", "--runs", str(tmp_path / "r")]
    assert main(words) == 2
    err = capsys.readouterr().err
    assert f"{tmp_path / 'ranked.txt'}: no format has the extension" in err
    assert "--read-as FORMAT" in err
    assert main([*words, "--read-as", "ranked.txt=csv", "--reader", "separator=|"]) == 0
    assert "100" in capsys.readouterr().out
    (tmp_path / "ranked.txt").write_text("l1;l2;mi\na;x;2\nb;y;1\n")
    assert main(words) == 0
    assert "ranked.txt: read as CSV (to change this: --read-as)" in capsys.readouterr().err


def test_a_tagged_corpus_may_be_the_output_of_a_tagger(tmp_path: Path) -> None:
    lines = ["the\tDT\tthe", "dog\tNN\tdog", "runs\tVBZ\trun", ".\tSENT\t."] * 3
    (tmp_path / "gold.tt").write_text("\n".join(lines) + "\n")
    (tmp_path / "paths").write_text("00\tdog\t3\n01\truns\t4\n10\tthe\t3\n11\t.\t3\n")
    run = clusters(tmp_path / "gold.tt", tmp_path / "paths", tag="pos", item="word",
                   runs=tmp_path / "r", report=False)  # fmt: skip
    table = run.table("systems.table").filter(pl.col("measure").is_in(["MicroI M-1"]))
    assert table["mean"].to_list() == [1.0]


def test_words_that_differ_in_apostrophes_keep_their_clusters(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "gold.tsv").write_text("item\tgold\tf\n'em\tN\t3\n\u2019em\tN\t2\nrun\tV\t4\n")
    (tmp_path / "c.paths").write_text("00\t'em\t3\n01\t\u2019em\t2\n11\trun\t4\n")
    words = ["clusters", str(tmp_path / "gold.tsv"), str(tmp_path / "c.paths"), "--no-report"]
    words += ["--runs", str(tmp_path / "r")]
    assert main(words) == 0
    out, err = capsys.readouterr()
    assert "2 words differ only in apostrophes" in err
    assert "many_to_one" in out
    assert main([*words, "--normalise", "NFC"]) == 0
    out, err = capsys.readouterr()
    assert "differ only in apostrophes" not in err
    assert "no token measures" in out


# Senseval keys

GOLD_KEY = "add.v add.v.1 s/4 t/1\nadd.v add.v.2 s/2\nask.v ask.v.1 u/1\nask.v ask.v.2 u/1\n"
SYSTEM_KEY = (
    "add.v add.v.1 t.1/.5\nadd.v add.v.2 t.1/.5 t.2/.5\nask.v ask.v.1 t.1\nask.v ask.v.2 t.2\n"
)


def test_senseval_keys_are_recognised_by_their_extension(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "gold.key").write_text(GOLD_KEY)
    (tmp_path / "system.key.gz").write_bytes(gzip.compress(SYSTEM_KEY.encode()))
    words = ["clusters", str(tmp_path / "gold.key"), str(tmp_path / "system.key.gz")]
    assert main([*words, "--no-report", "--runs", str(tmp_path / "r")]) == 0
    out = capsys.readouterr().out
    for text in ("Graded senses: means over words", "fuzzy_nmi", "The heaviest sense", "bcubed_f"):
        assert text in out
    run = clusters(*words[1:], runs=tmp_path / "r", report=False)
    scores = run.table("senses.scores").filter(measure="fuzzy_bcubed_f")
    # Both instances of add share a sense and a cluster, those of ask a sense only: P 1/2, R 1/2.
    assert scores.select("system", "value", "n_words").rows() == [("system", 0.5, 2)]
    assert set(run.table("heaviest.words")["by"]) == {"add.v", "ask.v"}


def test_a_key_of_few_instances_has_low_scores(tmp_path: Path) -> None:
    (tmp_path / "gold.key").write_text("add.v 1 s\nadd.v 2 s\nadd.v 3 t\nask.v 4 u\nask.v 5 u\n")
    (tmp_path / "few.key").write_text("add.v 1 c1\n")
    run = clusters(tmp_path / "gold.key", tmp_path / "few.key", runs=tmp_path / "r", report=False)
    scores = run.table("heaviest.scores")
    assert scores["value"].max() == pytest.approx(1 / 6)
    assert scores["n_words"].to_list() == [2] * 7


@pytest.mark.long
def test_keys_of_semeval_2013_have_their_published_scores(
    public_data: Callable[[str], Path], tmp_path: Path
) -> None:
    files = [
        public_data(f"wsi/semeval2013_{name}.key.gz")
        for name in ("gold", "aiku_base", "unimelb_5p")
    ]
    run = clusters(*files, runs=tmp_path, report=False)
    table = run.table("senses.scores").filter(measure="fuzzy_bcubed_f")["value"].to_list()
    assert table == pytest.approx([0.3902851443, 0.4588365055], abs=1e-9)


def test_keys_and_tables_cannot_be_compared(tmp_path: Path) -> None:
    (tmp_path / "gold.key").write_text(GOLD_KEY)
    (tmp_path / "c.tsv").write_text("item\tcluster\nadd.v.1\t1\n")
    with pytest.raises(ConfigError, match="gold.key is a Senseval key, but .*c.tsv is not"):
        clusters(tmp_path / "gold.key", tmp_path / "c.tsv", runs=tmp_path / "r")
    with pytest.raises(ConfigError, match="there is no column 'item'"):
        clusters(
            tmp_path / "gold.key",
            tmp_path / "gold.key",
            columns={"item": "instance"},
            runs=tmp_path / "r",
        )


# Noise, runs of a system, and words without a cluster in the command

GOLD_WORDS = "word,class,freq\na,N,4\nb,N,3\nc,V,2\nd,V,1\n"


def clusters_output(
    folder: Path, capsys: pytest.CaptureFixture[str], *files: str, code: int = 0
) -> str:
    (folder / "gold.csv").write_text(GOLD_WORDS)
    words = [
        "clusters",
        str(folder / "gold.csv"),
        *files,
        "--no-report",
        "--runs",
        str(folder / "r"),
    ]
    assert main(words) == code
    output = capsys.readouterr()
    return output.out if code == 0 else output.err


def test_noise_and_unclustered_words_are_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = tmp_path / "mine.csv"
    mine.write_text("word,cluster\na,0\nb,0\nc,-1\n")
    output = clusters_output(tmp_path, capsys, str(mine), "--noise", "-1")
    assert "mine: 1 noise word, excluded" in output
    assert "mine: 2 of 4 words (50.0%) have no cluster, for example 'c', 'd'" in output
    output = clusters_output(tmp_path, capsys, str(mine), "--noise=-1", "--noise-as", "clusters")
    assert "mine: 1 noise word, each a cluster of its own" in output
    assert "mine: 1 of 4 words (25.0%) has no cluster, for example 'd'" in output
    output = clusters_output(tmp_path, capsys, str(mine), "--noise-as", "own", code=2)
    assert "--noise-as: unknown choice 'own'" in output


def test_systems_are_reported_in_the_order_of_the_arguments(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "gold.key").write_text(GOLD_KEY)
    for name in ("one", "all"):
        (tmp_path / f"{name}.key").write_text("add.v add.v.1 t.1\n")
    files = [str(tmp_path / f"{name}.key") for name in ("gold", "one", "all")]
    assert main(["clusters", *files, "--no-report", "--runs", str(tmp_path / "r")]) == 0
    output = capsys.readouterr().out
    assert re.search(r"measure .* one .* all ", output)
    message = (
        "3 of 4 instances (75.0%) have no cluster, for example 'add.v.2', 'ask.v.1', 'ask.v.2'"
    )
    lines = [line for line in output.splitlines() if "have no cluster" in line]
    assert lines == [f"one: {message}", f"all: {message}"]


def test_words_are_printed_unescaped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "gold.csv").write_text("word,class,freq\na,N,4\n\\\\,N,3\n")
    (tmp_path / "mine.csv").write_text("word,cluster\na,0\n")
    files = [str(tmp_path / f"{name}.csv") for name in ("gold", "mine")]
    assert main(["clusters", *files, "--no-report", "--runs", str(tmp_path / "r")]) == 0
    assert r"no cluster, for example '\\'" + "\n" in capsys.readouterr().out


def test_several_files_can_be_runs_of_one_system(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [tmp_path / name for name in ("one.csv", "two.csv")]
    for file, last in zip(files, "01", strict=True):
        file.write_text(f"word,cluster\na,0\nb,0\nc,1\nd,{last}\n")
    runs = f"hdp={files[0]},{files[1]}"
    output = clusters_output(tmp_path, capsys, runs, "--format", "csv")
    rows = dict(line.split(",") for line in output.splitlines())
    assert rows["measure"] == "hdp"
    alone = clusters_output(tmp_path, capsys, *map(str, files), "--format", "csv")
    each = {name: values for name, *values in (line.split(",") for line in alone.splitlines())}
    one, two = map(float, each["many_to_one"])
    assert float(rows["many_to_one"]) == pytest.approx((one + two) / 2)
    files[1].write_text("item;tag\na;0\n")
    output = clusters_output(tmp_path, capsys, runs, code=2)
    assert "two.csv has another format than" in output
    assert "system 'hdp' has no file" in clusters_output(tmp_path, capsys, "hdp=", code=2)
    twice = f"hdp={files[0]},{files[0]}"
    output = clusters_output(tmp_path, capsys, twice, code=2)
    assert "system 'hdp' has the same file twice" in output
    output = clusters_output(tmp_path, capsys, *(f"hdp={file}" for file in files), code=2)
    assert "2 systems are named 'hdp'" in output


def test_a_list_in_place_of_a_file_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"\['k.tsv'\] is not a file; runs of a system"):
        clusters("g.tsv", ["k.tsv"])  # type: ignore[arg-type]


def test_files_without_extensions_are_recognised(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine, prose = tmp_path / "mine", tmp_path / "prose"
    mine.write_text("word,cluster\na,0\nb,0\nc,1\nd,1\n")
    assert "MacroI 1-1" in clusters_output(tmp_path, capsys, str(mine))
    prose.write_text("It rains.\n")
    output = clusters_output(tmp_path, capsys, str(prose), code=2)
    assert "'prose' has no extension that tells its format; name it: --read-as FORMAT" in output
    output = clusters_output(tmp_path, capsys, str(mine), "--lenient", code=2)
    assert "--lenient: applies to tagged corpora, but all files are tables" in output
    tokens = [f"{n}\t{word}\t_\tN\t" + "\t".join("______") for n, word in enumerate("ab", 1)]
    (tmp_path / "corpus").write_text("\n".join([*tokens, "", ""]))
    run = clusters(tmp_path / "corpus", mine, runs=tmp_path / "r", report=False)
    assert run.table("gold")["item"].to_list() == ["a", "b"]


def test_an_experiment_is_saved_if_it_succeeds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine, saved = tmp_path / "mine.csv", tmp_path / "x.toml"
    mine.write_text("word,cluster\na,0\n")
    options = [str(mine), "--save", str(saved)]
    assert "MIA" in clusters_output(tmp_path, capsys, *options, "--exclude", "MIA", code=2)
    assert not saved.exists()
    clusters_output(tmp_path, capsys, *options)
    assert saved.exists()
    assert "already exists" in clusters_output(tmp_path, capsys, *options, code=2)


def test_fields_with_several_forms_are_split(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gold, lists = tmp_path / "gold.csv", tmp_path / "lists.csv"
    gold.write_text("lemma,form\ngo,go\ngo,goes\ngo,went\nox,ox\nox,oxen\n")
    lists.write_text('lemma,form\ngo,"go, goes, went"\nox,ox\n')
    words = ["lexicon", str(gold), str(lists), "--no-report", "--runs", str(tmp_path / "runs")]
    assert main(words) == 0
    whole = capsys.readouterr()
    assert "if they are lists of forms, add --forms-separator ','" in whole.err
    assert re.search(r"L\* +│ +0\.266667 ", whole.out)  # only ox: L = 2/3, 2 of 5 forms
    assert main([*words, "--forms-separator", ","]) == 0
    split = capsys.readouterr()
    assert "lists of forms" not in split.err
    assert re.search(r"L\* +│ +0\.866667 ", split.out)
