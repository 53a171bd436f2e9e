"""Clusters from dictionaries: Brown paths, blocks, tables; systems and runs."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from pipeline.errors import ConfigError, DataError
from pipeline.kernels.clustering.encoding import OWN
from tests.stages.run_stage import SmallRun, counts, faults, run_stage

STAGE = '[stages.c]\nuse = "extract.clusters"\nsystem = "S"\n'
BROWN = "0010\tdog\t3\n0011\tDog\t2\n11\trun\t1\n"


def test_brown_paths_may_be_cut_and_folded(tmp_path: Path) -> None:
    small = SmallRun(tmp_path, {"b.paths": BROWN})
    whole = small.run(STAGE + 'path = "b.paths"')["c.entries"]
    assert whole.rows() == [
        ("S", "b", "Dog", "0011", 2), ("S", "b", "dog", "0010", 3), ("S", "b", "run", "11", 1),
    ]  # fmt: skip
    cut = small.run(STAGE + 'path = "b.paths"\nprefix = 3\nfold = true')
    assert cut["c.entries"].rows() == [("S", "b", "dog", "001", 5), ("S", "b", "run", "11", 1)]
    both = small.run(STAGE + 'path = "b.paths"\nfold = true')
    assert counts(both["c.sizes"]) == {"items": 2, "clusters": 3, "items in several clusters": 1}


def test_each_file_is_a_run_unless_the_run_is_named(tmp_path: Path) -> None:
    small = SmallRun(tmp_path, {"r/1.blocks": "dog\n\nrun\n", "r/2.blocks": "dog\nrun\n"})
    runs = small.run(STAGE + 'path = "r/*"')["c.entries"]
    assert runs.select("run", "item", "cluster", "f").rows() == [
        ("1", "dog", "1", None), ("1", "run", "2", None),
        ("2", "dog", "1", None), ("2", "run", "1", None),
    ]  # fmt: skip
    one = small.run(STAGE + 'path = "r/*"\nrun = "x"')["c.entries"]
    assert one.select("run", "item", "cluster").rows() == [
        ("x", "dog", "1"), ("x", "run", "1"), ("x", "run", "2"),
    ]  # fmt: skip


def test_files_with_equal_names_are_refused(tmp_path: Path) -> None:
    small = SmallRun(tmp_path, {"a/x.paths": BROWN, "b/x.paths": BROWN})
    with pytest.raises(
        ConfigError, match=r"run: 2 files have the same names: a/x.paths, b/x.paths"
    ):
        small.run(STAGE + 'path = ["a/x.paths", "b/x.paths"]')


def test_clusters_are_read_from_any_table(tmp_path: Path) -> None:
    small = SmallRun(tmp_path, {"t.tsv": "dog\t1 2\nrun\t2\n", "c.csv": "word,c,p\ndog,7,.5\n"})
    source = 'path = { path = "t.tsv", columns = ["item", "cluster"] }\nseparator = " "'
    assert small.run(STAGE + source)["c.entries"].select("item", "cluster").rows() == [
        ("dog", "1"), ("dog", "2"), ("run", "2"),
    ]  # fmt: skip
    options = 'path = "c.csv"\ncolumns = { item = "word", cluster = "c" }'
    assert small.run(STAGE + options)["c.entries"].select("run", "item", "cluster").rows() == [
        ("c", "dog", "7")
    ]


def test_clark_clusters_are_read_with_and_without_a_header(tmp_path: Path) -> None:
    small = SmallRun(
        tmp_path, {"c.tsv": "word\tcluster\tp\ndog\t7\t.5\n", "c.txt": "dog 7 .5\n# 8 1e-05\n"}
    )
    table = small.run(STAGE + 'path = "c.tsv"\ncolumns = { item = "word" }')["c.entries"]
    assert table.select("item", "cluster", "f").rows() == [("dog", "7", None)]
    names = 'format = "tsv", separator = " ", columns = ["item", "cluster", "p"]'
    plain = small.run(STAGE + 'path = { path = "c.txt", ' + names + " }")["c.entries"]
    assert plain.select("item", "cluster", "f").rows() == [("#", "8", None), ("dog", "7", None)]


WEIGHTS = "item\t{label}\t{weight}\ndog\t001\t.5\ndog\t000\t.25\nrun\t01\t\n"


@pytest.mark.parametrize("weight", ["weight", "Weights"])
@pytest.mark.parametrize(
    ("use", "label"), [("extract.clusters", "cluster"), ("extract.gold_table", "gold")]
)
def test_weights_are_read_on_request(use: str, label: str, weight: str, tmp_path: Path) -> None:
    """Clusters merged by a prefix add up their weights and their counts."""
    small = SmallRun(tmp_path, {"t.tsv": WEIGHTS.format(label=label, weight=weight)})
    options = f'[stages.c]\nuse = "{use}"\npath = "t.tsv"\n'
    options += 'system = "S"\n' if label == "cluster" else ""
    result = small.run(options)["c.entries"].select("item", label, "weight")
    assert result.rows() == [("dog", "000", 0.25), ("dog", "001", 0.5), ("run", "01", None)]
    if label == "cluster":
        cut = small.run(options + "prefix = 2\n")["c.entries"].select("item", label, "weight")
        assert cut.rows() == [("dog", "00", 0.75), ("run", "01", None)]
    small = SmallRun(tmp_path, {"t.tsv": f"item\t{label}\tweight\ndog\t1\tx\n"})
    with pytest.raises(
        DataError, match=r"t.tsv: column weight \(1 value\): is not a number.*\n +line 2: 'x'"
    ):
        small.run(options)


def test_a_column_named_weight_may_hold_counts(tmp_path: Path) -> None:
    small = SmallRun(tmp_path, {"t.tsv": "item\tcluster\tweight\ndog\t1\t3\n"})
    table = small.run(STAGE + 'path = "t.tsv"\ncolumns.f = "weight"')["c.entries"]
    assert table.select("item", "f").rows() == [("dog", 3)]
    assert "weight" not in table.columns


def test_invalid_values_are_reported_with_their_line(tmp_path: Path) -> None:
    small = SmallRun(tmp_path, {"b.paths": "00\t\t1\n\tb\t1\n01\tc\tx\n"})
    with pytest.raises(DataError) as error:
        small.run(STAGE + 'path = "b.paths"')
    wrong = "(1 value): is empty or a spreadsheet error"
    for text in [f"column item {wrong}", "line 1", f"column cluster {wrong}", "line 2",
                 "column f (1 value): is not a count of 1 or more, or is too large to sum", "line 3: 'x'"]:  # fmt: skip
        assert text in str(error.value)


def test_a_missing_column_is_reported(tmp_path: Path) -> None:
    small = SmallRun(tmp_path, {"t.tsv": "word\tcluster\na\t1\n"})
    with pytest.raises(ConfigError, match=r"columns.item: the file has no column 'item'"):
        small.run(STAGE + 'path = "t.tsv"')


@pytest.mark.parametrize("use", ["extract.clusters", "extract.gold_table"])
def test_counts_too_large_to_sum_are_refused(tmp_path: Path, use: str) -> None:
    label = "gold" if use == "extract.gold_table" else "cluster"
    rows = f"item\t{label}\tf\na\t1\t{2**63 - 1}\na\t1\t7\nb\t2\t1\n"
    small = SmallRun(tmp_path, {"t.tsv": rows})
    system = "" if use == "extract.gold_table" else 'system = "c"\n'
    with pytest.raises(DataError, match="too large to sum"):
        small.run(f'[stages.c]\nuse = "{use}"\n{system}path = "t.tsv"')


# Gold entries from corpora and from tag dictionaries

CORPUS = """form	lemma	upos
The	the	DET
dog	dog	NOUN
dogs	dog	VERB
.		PUNCT

the	the	DET
Dog		X
?\t?\t

"""
STAGE_EXTRACT_GOLD = '[stages.gold]\nuse = "extract.gold"\ncorpus = "c.tsv"\n'


def gold(folder: Path, options: str = "", *, content: str = CORPUS) -> dict[str, pl.DataFrame]:
    return SmallRun(folder, {"c.tsv": content}).run(STAGE_EXTRACT_GOLD + options)


def test_forms_are_unchanged_by_default(tmp_path: Path) -> None:
    tables = gold(tmp_path)
    assert tables["gold.entries"].rows() == [
        (".", "PUNCT", 1), ("Dog", "X", 1), ("The", "DET", 1), ("dog", "NOUN", 1),
        ("dogs", "VERB", 1), ("the", "DET", 1),
    ]  # fmt: skip
    assert counts(tables["gold.sizes"]) == {
        "tokens": 7, "tokens without a gold tag": 1, "tokens without an item": 0,
        "tokens that count": 6, "items": 6, "classes": 5,
    }  # fmt: skip
    assert tables["gold.sentences"].is_empty()


def test_lemmas_can_be_folded_and_filtered(tmp_path: Path) -> None:
    options = 'item = "lemma"\nexclude = ["PUNCT"]\nfold = true\nmin_frequency = 2\n'
    tables = gold(tmp_path, options)
    assert tables["gold.entries"].rows() == [
        ("dog", "NOUN", 1), ("dog", "VERB", 1), ("the", "DET", 2),
    ]  # fmt: skip
    assert counts(tables["gold.sizes"]) == {
        "tokens": 7, "tokens without a gold tag": 1, "tokens without an item": 2,
        "tokens of the excluded class PUNCT": 0,
        "tokens of items seen less than 2 times": 0, "tokens that count": 4, "items": 2,
        "classes": 3,
    }  # fmt: skip


def test_excluded_tokens_do_not_count_towards_frequency(tmp_path: Path) -> None:
    content = "form\tupos\n-\tPUNCT\n-\tPUNCT\n-\tSYM\na\tX\na\tX\n"
    tables = gold(tmp_path, 'exclude = ["PUNCT"]\nmin_frequency = 2\n', content=content)
    assert tables["gold.entries"].rows() == [("a", "X", 2)]
    assert counts(tables["gold.sizes"])["tokens of items seen less than 2 times"] == 1
    assert counts(tables["gold.sizes"])["tokens of the excluded class PUNCT"] == 2


def test_sentences_contain_only_counted_tokens(tmp_path: Path) -> None:
    tables = gold(
        tmp_path, 'sentences = true\nfold = true\nexclude = ["PUNCT"]\nmin_frequency = 2\n'
    )
    assert tables["gold.sentences"].drop("file").rows() == [
        (1, "dog", "NOUN", 1), (1, "the", "DET", 1), (2, "dog", "X", 1), (2, "the", "DET", 1),
    ]  # fmt: skip


def test_results_do_not_depend_on_shards_and_batches(tmp_path: Path) -> None:
    text = "form\tupos\n" + "".join(f"w{i % 7}\tT{i % 3}\n\n" for i in range(4000))
    files = {f"c/{i}.tsv": text for i in range(3)}
    small = SmallRun(tmp_path, files)
    stage = STAGE_EXTRACT_GOLD.replace("c.tsv", "c/*.tsv") + "sentences = true\n"
    whole = small.run(stage)
    cut = small.run(stage.replace("[stages", '[run]\nmemory = "1MB"\nshard = "1B"\n[stages', 1))
    assert whole["gold.entries"]["f"].sum() == 12_000
    assert all(cut[name].equals(table) for name, table in whole.items())


@pytest.mark.long
def test_repeatedly_merged_parts_have_all_counts(tmp_path: Path) -> None:
    content = "form\tupos\n" + "".join(f"w{i % 500}\tN\n\n" for i in range(60_000))
    small = SmallRun(tmp_path, {"c.tsv": content})
    for sentences in ("", "sentences = true\n"):
        tables = small.run(f'[run]\nmemory = "1MB"\n{STAGE_EXTRACT_GOLD}{sentences}')
        assert tables["gold.entries"].height == 500
        assert tables["gold.entries"]["f"].sum() == 60_000


def test_an_unknown_attribute_is_reported_before_reading(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"gold.tag: the tokens have no attribute 'xpos'.*upos"):
        gold(tmp_path, 'tag = "xpos"')


def test_a_corpus_without_counted_tokens_is_refused(tmp_path: Path) -> None:
    content = "form\tupos\na\t\nb\tX\n"
    with pytest.raises(DataError) as error:
        gold(tmp_path, 'exclude = ["X"]', content=content)
    for text in [
        "all 2 tokens are excluded",
        "1 tokens of the excluded class X",
        "1 tokens without a gold",
    ]:
        assert text in str(error.value)


ROWS = pl.DataFrame({"item": ["Run", "run", "run", "dog"], "gold": ["N", "N", "V", "N"]})


def table(raw: pl.DataFrame, **options: object) -> dict[str, pl.DataFrame]:
    return run_stage("extract.gold_table", options, path=raw)


def test_a_dictionary_needs_no_counts() -> None:
    tables = table(ROWS, fold=True)
    assert sorted(tables["entries"].rows()) == [("dog", "N", 1), ("run", "N", 1), ("run", "V", 1)]
    assert counts(tables["sizes"])["items"] == 2


def test_counts_of_a_dictionary_are_added_up() -> None:
    raw = ROWS.with_columns(n=pl.Series(["1", "2", "3", "1"]))
    tables = table(raw, fold=True, columns={"f": "n"}, min_frequency=2, exclude=["V"])
    assert tables["entries"].rows() == [("run", "N", 3)]
    both = table(raw.with_columns(n=pl.lit("1")), columns={"f": "n"}, min_frequency=2)
    assert sorted(both["entries"].rows()) == [("run", "N", 1), ("run", "V", 1)]
    assert counts(tables["sizes"]) == {
        "items in the table": 2, "items of classes that are not excluded": 2, "items": 1,
        "classes": 1,
    }  # fmt: skip


def test_a_field_may_have_several_classes() -> None:
    raw = pl.DataFrame({"word": ["run", "dog"], "tags": ["N|V", "N"]})
    tables = table(raw, columns={"item": "word", "gold": "tags"}, separator="|")
    assert sorted(tables["entries"].rows()) == [("dog", "N", 1), ("run", "N", 1), ("run", "V", 1)]


def test_each_class_may_have_a_column() -> None:
    raw = pl.DataFrame({"item": ["run", "dog"], "f": ["2", "1"], "V": ["5", None], "X": ["", "0"]})
    tables = table(raw, classes=["f", "V", "X"])
    assert sorted(tables["entries"].rows()) == [("dog", "f", 1), ("run", "V", 5), ("run", "f", 2)]


def test_invalid_values_are_faults() -> None:
    raw = pl.DataFrame({"item": [None, "b", "c"], "gold": ["N", " ", "N"], "f": ["1", "2", "0"]})
    assert faults(table(raw)) == [(2, "item", None), (3, "gold", " "), (4, "f", "0")]
    parts = pl.DataFrame({"item": ["a"], "gold": ["N||V"]})
    assert faults(table(parts, separator="|")) == [(2, "gold", "N||V")]
    wide = pl.DataFrame({"item": ["a", None], "N": ["-1", "1"], "V": ["x", "1"]})
    assert faults(table(wide, classes=["N", "V"])) == [
        (2, "N", "-1"), (2, "V", "x"), (3, "item", None),
    ]  # fmt: skip


def test_a_class_that_never_occurs_is_omitted() -> None:
    wide = pl.DataFrame({"item": ["dog", "run"], "N": ["3", "1"], "V": ["0", "2"], "X": ["", "0"]})
    entries = table(wide, classes=["N", "V", "X"])["entries"]
    assert sorted(entries.select("item", "gold").rows()) == [
        ("dog", "N"),
        ("run", "N"),
        ("run", "V"),
    ]


KEY = "add.v add.v.1 s%1/4 t/1\nadd.v Add.v.2 t/2\nask.v ask.v.1 u/1 u/2\n"
KEY_OPTIONS = 'path = "k.key"\ncolumns = {{ {0} = "sense", by = "word" }}\nfold = true\n'


def test_senseval_keys_have_words_and_weights(tmp_path: Path) -> None:
    small = SmallRun(tmp_path, {"k.key": KEY})
    table = small.run(STAGE + KEY_OPTIONS.format("cluster"))["c.entries"]
    assert table.select("run", "item", "cluster", "by", "weight").rows() == [
        ("k", "add.v.1", "s%1", "add.v", 4.0), ("k", "add.v.1", "t", "add.v", 1.0),
        ("k", "add.v.2", "t", "add.v", 2.0), ("k", "ask.v.1", "u", "ask.v", 3.0),
    ]  # fmt: skip
    stage = '[stages.c]\nuse = "extract.gold_table"\n'
    gold = small.run(stage + KEY_OPTIONS.format("gold"))["c.entries"]
    assert gold.select("item", "gold", "by", "f").rows()[0] == ("add.v.1", "s%1", "add.v", 1)


def test_the_word_of_an_item_is_required_if_configured(tmp_path: Path) -> None:
    small = SmallRun(tmp_path, {"c.csv": "item,cluster,word\na.1,x,a\na.2,x,\n"})
    with pytest.raises(DataError, match="word"):
        small.run(STAGE + 'path = "c.csv"\ncolumns = { by = "word" }')
    assert "by" not in small.run(STAGE + 'path = "c.csv"')["c.entries"].columns
    with pytest.raises(ConfigError, match="columns.by"):
        small.run(STAGE + 'path = "c.csv"\ncolumns = { by = "lemma" }')


# Noise of DBSCAN: excluded, or each item a cluster of its own

NOISY = "item\tcluster\ndog\t0\nrun\t-1\nthe\t-1\nan\t-1.0\ncat\t0\n"


def test_noise_is_excluded(tmp_path: Path) -> None:
    small = SmallRun(tmp_path, {"d.tsv": NOISY})
    tables = small.run(STAGE + 'path = "d.tsv"\nnoise = ["-1"]')
    assert tables["c.entries"].select("item", "cluster").rows() == [("cat", "0"), ("dog", "0")]
    assert counts(tables["c.sizes"])["noise items, excluded"] == 3
    assert counts(tables["c.sizes"])["clusters"] == 1


def test_each_noise_item_may_be_a_cluster(tmp_path: Path) -> None:
    small = SmallRun(tmp_path, {"d.tsv": NOISY})
    tables = small.run(STAGE + 'path = "d.tsv"\nnoise = [-1]\nnoise_as = "clusters"\nprefix = 1')
    entries = tables["c.entries"].sort("item").select("item", "cluster").rows()
    assert entries == [
        ("an", f"-1.0{OWN}an"), ("cat", "0"), ("dog", "0"), ("run", f"-1{OWN}run"),
        ("the", f"-1{OWN}the"),
    ]  # fmt: skip
    assert counts(tables["c.sizes"])["noise items, each a cluster of its own"] == 3
