"""Taggings: both tags in one corpus, or in two corpora that must align."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import polars as pl
import pytest

import pipeline as lx
from pipeline import memory
from pipeline.errors import ConfigError, DataError
from pipeline.formats.corpora import splitting
from pipeline.formats.corpora.blocks import block_size
from pipeline.kernels import partitions
from pipeline.kernels.clustering.encoding import sum_counts
from pipeline.runner import inputs
from pipeline.stages.clustering.tagging import require_same_tokens
from tests.stages.run_stage import SmallRun, counts

# Stages evaluated together must count the same tokens as the same items

CORPUS = "form\tlemma\tupos\txpos\tt\nDog\tdog\tN\tn\t1\n.\t.\tP\t.\t3\n\nruns\trun\tV\tv\t2\nruns\trun\tN\tn\t1\n"
GOLD_COUNTED_ALIKE = '[stages.gold]\nuse = "extract.gold"\ncorpus = "c.tsv"\n'
TAGS = '[stages.tags]\nuse = "extract.tagging"\nsystem = "S"\ncorpus = "c.tsv"\ncluster = "t"\n'
TYPES = '[stages.types]\nuse = "evaluate.type_level"\ngold = "gold"\nsystems = ["tags"]\n'
TOKENS = '[stages.tokens]\nuse = "evaluate.token_level"\ntaggings = ["tags"]\n'
OVERLAPPING = TYPES.replace("types", "both").replace("type_level", "overlapping")


@pytest.fixture
def small(tmp_path: Path) -> SmallRun:
    return SmallRun(tmp_path, {"c.tsv": CORPUS, "other.tsv": CORPUS.replace("V\tv", "N\tn")})


DIFFERENT = {
    "item": ("", 'item = "lemma"\n', "item = lemma, not form"),
    "fold": ("fold = true\n", "", "fold = false, not true"),
    "exclude": ('exclude = ["P"]\n', "", r'exclude = \[\], not \["P"\]'),
    "min_frequency": ("", "min_frequency = 2\n", "min_frequency = 2, not 1"),
}


@pytest.mark.parametrize("option", sorted(DIFFERENT))
def test_options_that_differ_from_gold_are_refused_before_reading(
    option: str, small: SmallRun
) -> None:
    gold, tags, message = DIFFERENT[option]
    with pytest.raises(ConfigError, match=f"'tags' and stage 'gold' count differently: {message};"):
        small.run(GOLD_COUNTED_ALIKE + gold + TAGS + tags + TYPES)


@pytest.mark.parametrize("evaluation", [TYPES, OVERLAPPING, TOKENS + 'gold = "gold"\n'])
def test_every_evaluation_compares_the_options(evaluation: str, small: SmallRun) -> None:
    with pytest.raises(ConfigError) as error:
        small.run(GOLD_COUNTED_ALIKE + TAGS + "fold = true\n" + evaluation)
    assert str(error.value).count("and stage 'gold' count differently") == 1
    small.run(GOLD_COUNTED_ALIKE + TAGS + evaluation)


@pytest.mark.long
def test_some_options_may_differ(small: SmallRun) -> None:
    small.run(
        GOLD_COUNTED_ALIKE + 'exclude = ["P", "V"]\n' + TAGS + 'exclude = ["V", "P"]\n' + TYPES
    )
    other_tags = 'tag = "xpos"\nexclude = ["."]\n'
    small.run(GOLD_COUNTED_ALIKE + 'exclude = ["P"]\n' + TAGS + other_tags + TYPES)
    small.run(GOLD_COUNTED_ALIKE + "min_frequency = 2\n" + TAGS + TYPES)


def test_a_dictionary_of_classes_is_not_compared(tmp_path: Path) -> None:
    small = SmallRun(tmp_path, {"c.tsv": CORPUS, "d.tsv": "item\tgold\nDog\tN\n"})
    table = '[stages.gold]\nuse = "extract.gold_table"\npath = "d.tsv"\nfold = true\n'
    scores = small.run(table + TAGS + "fold = true\n" + TYPES)["types.scores"]
    assert scores["n_dropped"].unique().to_list() == [2]


def test_a_tagging_of_another_text_than_gold_is_refused(small: SmallRun) -> None:
    other = GOLD_COUNTED_ALIKE.replace("c.tsv", "other.tsv")
    with pytest.raises(DataError) as error:
        small.run(other + TAGS + TOKENS + 'gold = "gold"\n')
    for text in [
        "system S, run t and gold have different tokens", "4 and 4 tokens",
        "2 pairs of item and class", "'runs' N: 1 and 2; 'runs' V: 1 and 0", "Read the same text",
    ]:  # fmt: skip
        assert text in str(error.value)


def test_taggings_of_different_texts_are_not_compared(small: SmallRun) -> None:
    second = TAGS.replace("stages.tags", "stages.more").replace('"S"', '"T"')
    both = TOKENS.replace('["tags"]', '["tags", "more"]')
    small.run(TAGS + second + both)
    with pytest.raises(DataError, match="system T, run t and system S, run t have different"):
        small.run(TAGS + second.replace("c.tsv", "other.tsv") + both)


def test_different_tag_sets_are_not_compared(small: SmallRun) -> None:
    with pytest.raises(DataError, match="8 pairs of item and class"):
        small.run(GOLD_COUNTED_ALIKE + TAGS + 'tag = "xpos"\n' + TOKENS + 'gold = "gold"\n')


@pytest.mark.parametrize("rows", [1, 2, 5, 100])
def test_tokens_are_compared_in_parts_as_in_one(rows: int) -> None:
    items = [f"w{number}" for number in range(12)]
    gold = pl.DataFrame({"item": items, "gold": "N", "f": range(1, 13)})
    require_same_tokens(gold.lazy(), gold.lazy(), name="a", other="b", rows=rows)
    nothing = gold.clear().lazy()
    require_same_tokens(nothing, nothing, name="a", other="b", rows=rows)
    more = gold.with_columns(pl.col("f") + (pl.col("f") > 8) * pl.col("f"))
    message = (
        r"a and b .*: 120 and 78 tokens; 4 pairs of .*"
        r"'w11' N: 24 and 12; 'w10' N: 22 and 11; 'w9' N: 20 and 10\n"
    )
    with pytest.raises(DataError, match=message):
        require_same_tokens(more.lazy(), gold.lazy(), name="a", other="b", rows=rows)


BOTH = """form	upos	t1	t2
dog	N	a	1
run	V	b	1
.	P		2

run	N	a	1
dog	N	b	1
"""
GOLD = "1\tdog\t_\tN\t_\t_\t_\t_\t_\t_\n2\trun\t_\tV\t_\t_\t_\t_\t_\t_\n\n1\trun\t_\tN\t_\t_\t_\t_\t_\t_\n"
ONE = '[stages.t]\nuse = "extract.tagging"\nsystem = "S"\ncorpus = "c.tsv"\n'
TWO = '[stages.t]\nuse = "join.tagging"\nsystem = "S"\ngold = "g.conllu"\ncluster = "tag"\n'
SIDE = 'induced = { path = "%s", columns = ["form", "tag"] }\n'


def columns(*places: int) -> str:
    """Return some columns of the corpus with both tags."""
    lines = [line.split("\t") if line else [] for line in BOTH.split("\n")]
    return "\n".join("\t".join(line[place] for place in places if line) for line in lines)


def rows(table: pl.DataFrame) -> list[tuple[object, ...]]:
    return table.drop("system").rows()


def test_a_corpus_may_have_two_runs(tmp_path: Path) -> None:
    small = SmallRun(tmp_path, {"c.tsv": BOTH})
    tables = small.run(ONE + 'cluster = ["t1", "t2"]\nexclude = ["P"]\n')
    assert rows(tables["t.tagged"]) == [
        ("t1", "dog", "N", "a", 1), ("t1", "dog", "N", "b", 1), ("t1", "run", "N", "a", 1),
        ("t1", "run", "V", "b", 1), ("t2", "dog", "N", "1", 2), ("t2", "run", "N", "1", 1),
        ("t2", "run", "V", "1", 1),
    ]  # fmt: skip
    assert rows(tables["t.entries"]) == [
        ("t1", "dog", "a", 1), ("t1", "dog", "b", 1), ("t1", "run", "a", 1), ("t1", "run", "b", 1),
        ("t2", "dog", "1", 2), ("t2", "run", "1", 2),
    ]  # fmt: skip
    assert tables["t.gold"].rows() == [("dog", "N", 2), ("run", "N", 1), ("run", "V", 1)]
    assert counts(tables["t.sizes"].filter(run="t1"))["tokens of the excluded class P"] == 1


def test_the_frequency_of_an_item_is_that_of_one_run(tmp_path: Path) -> None:
    small = SmallRun(tmp_path, {"c.tsv": BOTH})
    with pytest.raises(DataError, match="all 5 tokens are excluded"):
        small.run(ONE + 'cluster = ["t1", "t2"]\nmin_frequency = 3\n')


def test_tokens_without_an_induced_tag_are_refused_or_kept(tmp_path: Path) -> None:
    small = SmallRun(tmp_path, {"c.tsv": BOTH})
    with pytest.raises(
        DataError, match=r"S: there are tokens without an induced tag: run t1: 1, for example '.'\n"
    ):
        small.run(ONE + 'cluster = "t1"\n')
    tables = small.run(ONE + 'cluster = "t1"\nuntagged = true\nsentences = true\n')
    assert tables["t.tagged"].filter(item=".").drop("system").rows() == [("t1", ".", "P", None, 1)]
    assert "." not in tables["t.entries"]["item"]
    assert tables["t.gold"].filter(item=".").height == 1
    assert counts(tables["t.sizes"])["tokens that count but have no cluster"] == 1
    assert tables["t.sentences"].drop("system", "run", "file").rows() == [
        (1, "N", "a", 1), (1, "P", None, 1), (1, "V", "b", 1), (2, "N", "a", 1), (2, "N", "b", 1),
    ]  # fmt: skip


def test_a_run_without_any_induced_tag_is_refused(tmp_path: Path) -> None:
    small = SmallRun(tmp_path, {"c.tsv": BOTH.replace("\t1\n", "\t\n").replace("\t2\n", "\t\n")})
    message = r"S: runs without induced tags \(1\): run t2: none of 5\nCheck"
    with pytest.raises(DataError, match=message):
        small.run(ONE + 'cluster = ["t1", "t2"]\nuntagged = true\n')


def test_gold_and_induced_tags_may_be_in_two_files(tmp_path: Path) -> None:
    small = SmallRun(tmp_path, {"g.conllu": GOLD, "i.tsv": "dog\tx\nrun\ty\n\nrun\tx\n"})
    tables = small.run(TWO + SIDE % "i.tsv")
    assert rows(tables["t.tagged"]) == [
        ("i", "dog", "N", "x", 1), ("i", "run", "N", "x", 1), ("i", "run", "V", "y", 1),
    ]  # fmt: skip
    assert tables["t.gold"].rows() == [("dog", "N", 1), ("run", "N", 1), ("run", "V", 1)]


def test_one_file_and_two_give_the_same_tables(tmp_path: Path) -> None:
    gold, side = (columns(0, 1), columns(0, 3))
    small = SmallRun(tmp_path, {"c.tsv": BOTH, "g.tsv": gold, "t2.tsv": side})
    one = small.run(ONE + 'cluster = "t2"\nsentences = true\n')
    two = TWO.replace("g.conllu", "g.tsv").replace('"tag"', '"t2"')
    both = small.run(two + 'induced = "t2.tsv"\nsentences = true\n')
    for name, table in one.items():
        both_columns = [column for column in table.columns if column != "file"]
        assert both[name].select(both_columns).equals(table.select(both_columns)), name


def test_several_files_are_several_runs(tmp_path: Path) -> None:
    tags = {f"i/{i}.tsv": f"dog\tx\nrun\t{i}\nrun\tx\n" for i in "ab"}
    small = SmallRun(tmp_path, {"g.conllu": GOLD, **tags})
    tables = small.run(TWO + SIDE % "i/*")
    assert tables["t.tagged"].group_by("run").agg(pl.sum("f")).sort("run").rows() == [
        ("a", 3), ("b", 3),
    ]  # fmt: skip
    assert tables["t.tagged"].filter(gold="V")["cluster"].to_list() == ["a", "b"]
    assert tables["t.gold"]["f"].to_list() == [1, 1, 1]


def test_several_files_may_be_one_run(tmp_path: Path) -> None:
    small = SmallRun(
        tmp_path, {"g.conllu": GOLD, "i/1.tsv": "dog\tx\nrun\ty\n", "i/2.tsv": "run\tx\n"}
    )
    tables = small.run(TWO + SIDE % "i/*" + 'run = "whole"\n')
    assert tables["t.tagged"]["f"].to_list() == [1, 1, 1]


WRONG = {
    "another token": (
        "dog\tx\nruns\ty\n\nrun\tx\n",
        ["i.tsv: column form (1 value): is not the token of the gold standard",
         "line 2: 'runs (sentence 1, token 2, i.tsv, line 2), gold run (sentence 1, token 2, g.con"],
    ),
    "too few": ("dog\tx\nrun\ty\n", ["(1 value): comes in the gold standard after the last token",
                                     "run (sentence 2, token 1, g.conllu, line 4)"]),
    "too many": ("dog\tx\nrun\ty\nrun\tz\nrun\tw\n", ["(1 value): comes after the last token of the gold",
                                                      "line 4: 'run (sentence 1, token 4"]),
    "an empty tag": ("dog\tx\nrun\t\nrun\tz\n", ["tokens without an induced tag: run i: 1, for example 'run'"]),
}  # fmt: skip


@pytest.mark.parametrize("case", sorted(WRONG))
def test_misaligned_files_are_reported_with_the_place(case: str, tmp_path: Path) -> None:
    content, message = WRONG[case]
    small = SmallRun(tmp_path, {"g.conllu": GOLD, "i.tsv": content})
    with pytest.raises(DataError) as error:
        small.run(TWO + SIDE % "i.tsv")
    for words in message:
        assert words in str(error.value)


def test_without_forms_only_positions_are_compared(tmp_path: Path) -> None:
    small = SmallRun(tmp_path, {"g.conllu": GOLD, "i.tsv": "x\ny\n\nx\n", "j.tsv": "x\ny\nx\n"})
    side = 'compare = ""\ninduced = { path = "%s", columns = ["tag"] }\n'
    assert small.run(TWO + side % "i.tsv")["t.tagged"].height == 3
    with pytest.raises(DataError, match=r"column position \(1 value\): is not the token"):
        small.run(TWO + side % "j.tsv")


def test_unknown_attributes_are_refused(tmp_path: Path) -> None:
    small = SmallRun(tmp_path, {"c.tsv": BOTH, "g.conllu": GOLD, "i.tsv": "dog\tx\n"})
    with pytest.raises(ConfigError, match=r"t.cluster: the tokens have no attribute 't3'.*t1"):
        small.run(ONE + 'cluster = "t3"\n')
    with pytest.raises(ConfigError, match=r"t.compare: the tokens have no attribute 'lemma'"):
        small.run(TWO + SIDE % "i.tsv" + 'compare = "lemma"\n')
    with pytest.raises(ConfigError, match=r"t.cluster: name one or several distinct"):
        small.run(ONE + 'cluster = ["t1", "t1"]\n')


# A tagging joined in parts under a limit of memory equals that of a corpus with both tags

HEAD = '\nsystem = "S"\ntag = "tag"\ncluster = "cluster"\nexclude = ["t3"]\nmin_frequency = 2\n'
ONE_TAGGING_IN_PARTS = f'use = "extract.tagging"\ncorpus = "both.tsv"{HEAD}'
TWO_TAGGING_IN_PARTS = (
    f'use = "join.tagging"\ngold = "gold.tsv"\ninduced = "induced.tsv"\nrun = "cluster"{HEAD}'
)


def build(folder: Path) -> None:
    draw = random.Random(7)
    rows = [
        (f"w{int(draw.paretovariate(0.8)) % 90}", f"t{draw.randrange(5)}", f"c{draw.randrange(7)}")
        for _ in range(3_000)
    ]
    for name, columns in {"both": (0, 1, 2), "gold": (0, 1), "induced": (0, 2)}.items():
        head = "\t".join(("form", "tag", "cluster")[k] for k in columns)
        lines = ["\t".join(row[k] for k in columns) for row in rows]
        cut = ("\n".join(lines[at : at + 9]) for at in range(0, len(lines), 9))
        (folder / f"{name}.tsv").write_text(head + "\n" + "\n\n".join(cut) + "\n")


def run_tagging(folder: Path, stage: str, *, memory: str = "", sentences: bool = False) -> lx.Run:
    (folder / "x.toml").write_text(
        f'name = "x"\n[run]\n{memory}\n[stages.t]\n{stage}sentences = {str(sentences).lower()}\n'
    )
    runs = folder / ("limited" if memory else "whole")
    return lx.run(folder / "x.toml", runs=runs, report=False, force=["t"])


@pytest.fixture
def _small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "LEAST", 200 * partitions.ROW)
    monkeypatch.setattr(partitions, "ROW", 6_000)


@pytest.mark.usefixtures("_small_parts")
@pytest.mark.parametrize("sentences", [pytest.param(False, marks=pytest.mark.long), True])
def test_joining_in_parts_gives_the_same_tables(*, sentences: bool, tmp_path: Path) -> None:
    build(tmp_path)
    both = run_tagging(tmp_path, ONE_TAGGING_IN_PARTS, sentences=sentences)
    run = run_tagging(tmp_path, TWO_TAGGING_IN_PARTS, memory='memory = "1MB"', sentences=sentences)
    assert len(run.manifests["t"].tables["tagged"].parts) > 2
    assert len(run.manifests["t"].tables["sizes"].parts) == 1
    for name in ("tagged", "entries", "gold", "sizes"):
        assert run.manifests["t"].digests()[name] == both.manifests["t"].digests()[name]
    mine, theirs = (each.table("t.sentences").drop("file") for each in (run, both))
    assert mine.sort(mine.columns).equals(theirs.sort(theirs.columns))
    assert bool(mine.height) is sentences


def test_both_sides_share_the_memory_of_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build(tmp_path)
    limits = list[int | None]()

    def record_memory(memory: int | None) -> int:
        limits.append(memory)
        return block_size(memory)

    monkeypatch.setattr(splitting, "block_size", record_memory)
    run_tagging(tmp_path, TWO_TAGGING_IN_PARTS, memory='memory = "1GB"')
    whole = max(each for each in limits if each is not None)  # each is checked separately
    assert {*limits} == {whole, whole // 2}


@pytest.mark.usefixtures("_small_parts")
def test_faults_of_all_batches_are_reported(tmp_path: Path) -> None:
    build(tmp_path)
    path = tmp_path / "induced.tsv"
    lines = path.read_text().split("\n")
    filled = [place for place, line in enumerate(lines) if line]
    for place in (filled[1], filled[1500], filled[-1]):
        lines[place] = "other\tc1"
    path.write_text("\n".join(lines))
    with pytest.raises(DataError, match="3 value|3 x") as error:
        run_tagging(tmp_path, TWO_TAGGING_IN_PARTS, memory='memory = "1MB"')
    for place in (filled[1], filled[1500], filled[-1]):
        assert f"line {place + 1}" in str(error.value)


@pytest.mark.usefixtures("_small_parts")
def test_a_side_that_ends_early_is_refused(tmp_path: Path) -> None:
    build(tmp_path)
    path = tmp_path / "induced.tsv"
    path.write_text("\n".join(path.read_text().split("\n")[:-5]) + "\n")
    with pytest.raises(DataError, match="after the last token of this run"):
        run_tagging(tmp_path, TWO_TAGGING_IN_PARTS, memory='memory = "1MB"')


def test_each_part_has_all_rows_of_its_items(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "LEAST", 10 * partitions.ROW)
    rows = {
        "run": [""] * 60,
        "item": [*(f"i{n % 20}" for n in range(57)), None, None, None],
        "gold": [f"g{n % 3}" for n in range(60)],
        "cluster": [None if n % 4 else "c" for n in range(60)],
        "f": [1] * 60,
    }
    counts = pl.DataFrame(rows)
    with memory.with_limit(1), partitions.spill_of(1, counts.schema) as laid:
        laid.add(counts, pl.lit(0))
        added = [each.collect() for each in sum_counts(laid, by=["item"])]
    assert len(added) > 3
    assert sum(each["item"].n_unique() for each in added) == counts["item"].n_unique()
    key = ["run", "item", "gold", "cluster"]
    expected = counts.group_by(key).agg(pl.col("f").sum()).sort(key)
    assert pl.concat(added).sort(key).equals(expected.select(pl.concat(added).columns))


# Tags counted in buckets equal those counted as a whole

FEW, MANY = 'memory = "2MB"', 'memory = "1MB"\nshard = 1'
GOLD_IN_BUCKETS = 'use = "extract.gold"\n'
TAGGING = 'use = "extract.tagging"\nsystem = "S"\ncluster = ["t1", "t2"]\nuntagged = true\n'
CORPUS_IN_BUCKETS = 'corpus = "*.tsv"\nitem = "lemma"\n'
DIVIDED = {GOLD_IN_BUCKETS: ["entries"], TAGGING: ["tagged", "entries", "gold"]}
LATE = 'min_frequency = 3\nexclude = ["T2"]\n'
OPTION_SETS = ["", "sentences = true\n", LATE, f"fold = true\nsentences = true\n{LATE}"]


def build_in_buckets(folder: Path, *, clusters: int = 7) -> list[list[str]]:
    """Write two corpora, some of whose tokens lack an item, a tag or a cluster."""
    draw, every = random.Random(7), []
    for number in range(2):
        lines = ["form\tlemma\tupos\tt1\tt2"]
        for _ in range(400):
            for _ in range(draw.randint(1, 9)):
                item = f"{draw.choice('wW')}{min(int(draw.paretovariate(0.6)), 900)}"
                row = [item, f"T{draw.randrange(4)}", f"{draw.randrange(clusters)}", "x"]
                every.append([value if draw.random() > 0.03 else "" for value in row])
                lines.append("\t".join(["-", *every[-1]]))
            lines.append("")
        (folder / f"{number}.tsv").write_text("\n".join(lines) + "\n")
    return every


def run_in_buckets(folder: Path, stage: str, run: str, runs: str) -> lx.Run:
    (folder / "x.toml").write_text(
        f'name = "x"\n[run]\n{run}\n[stages.t]\n{CORPUS_IN_BUCKETS}{stage}'
    )
    return lx.run(folder / "x.toml", runs=folder / runs, report=False)


def parts(run: lx.Run, table: str) -> int:
    return len(run.manifests["t"].tables[table].parts)


@pytest.fixture
def _divide_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Divide the counts as for long corpora."""
    monkeypatch.setattr(inputs, "_SPREAD", 50)


@pytest.mark.usefixtures("_divide_counts")
@pytest.mark.long
@pytest.mark.parametrize("stage", [GOLD_IN_BUCKETS, TAGGING])
@pytest.mark.parametrize("options", OPTION_SETS)
def test_a_memory_limit_does_not_change_the_tables(
    stage: str, options: str, tmp_path: Path
) -> None:
    build_in_buckets(tmp_path)
    whole, few, many = (
        run_in_buckets(tmp_path, stage + options, run, f"runs{number}")
        for number, run in enumerate(["", FEW, MANY])
    )
    for table in DIVIDED[stage]:
        assert parts(whole, table) == 1 < parts(few, table) < parts(many, table)
    digests = [run.manifests["t"].digests() for run in (whole, few, many)]
    assert digests[0] == digests[1] == digests[2]
    assert bool(whole.table("t.sentences").height) == ("sentences" in options)


@pytest.mark.usefixtures("_divide_counts")
@pytest.mark.long
@pytest.mark.parametrize(("first", "then"), [("", MANY), (MANY, ""), (FEW, MANY)])
def test_counts_are_reused_with_other_thresholds_and_buckets(
    first: str, then: str, tmp_path: Path
) -> None:
    """Existing counts are divided further, or read in their own buckets."""
    build_in_buckets(tmp_path)
    stage = f"{TAGGING}sentences = true\n"
    run_in_buckets(tmp_path, stage, first, "runs")
    result = run_in_buckets(tmp_path, stage + LATE, then, "runs")
    fresh = run_in_buckets(tmp_path, stage + LATE, "", "fresh")
    assert result.manifests["t"].digests() == fresh.manifests["t"].digests()
    assert len(list((tmp_path / "runs/x/t/counts").glob("*/manifest.json"))) == 1
    assert parts(result, "tagged") > 1


@pytest.mark.usefixtures("_divide_counts")
@pytest.mark.long
def test_counts_equal_those_of_a_loop(tmp_path: Path) -> None:
    rows = [row[:3] for row in build_in_buckets(tmp_path) if row[0] and row[1] not in {"", "T2"}]
    often = Counter(item for item, _, _ in rows)
    columns = [row for row in rows if often[row[0]] >= 3]
    run = run_in_buckets(tmp_path, TAGGING + LATE, MANY, "runs")
    sizes = run.table("t.sizes").filter(run="t1").select("what", "count")
    counts = dict(sizes.iter_rows())
    assert counts["tokens that count"] == len(columns)
    assert counts["tokens of items seen less than 3 times"] == len(rows) - len(columns)
    assert counts["items"] == len({item for item, _, _ in columns})
    assert counts["classes"] == len({gold for _, gold, _ in columns}) == 3
    assert counts["clusters"] == len({cluster for _, _, cluster in columns} - {""}) == 7
    assert counts["tokens that count but have no cluster"] == sum(not row[2] for row in columns)
    tagged = run.table("t.tagged").filter(run="t1").select("item", "gold", "cluster", "f")
    assert {(item, gold, cluster or ""): f for item, gold, cluster, f in tagged.iter_rows()} == (
        Counter((item, gold, cluster) for item, gold, cluster in columns)
    )


@pytest.mark.usefixtures("_divide_counts")
@pytest.mark.parametrize(
    "stage",
    [
        f'{GOLD_IN_BUCKETS}exclude = ["T0", "T1", "T2", "T3"]\n',
        TAGGING.replace("untagged = true", ""),
        f"{TAGGING}min_frequency = 100_000\n",
    ],
)
@pytest.mark.long
def test_errors_do_not_depend_on_the_buckets(stage: str, tmp_path: Path) -> None:
    build_in_buckets(tmp_path)
    messages = []
    for number, run in enumerate(["", MANY]):
        with pytest.raises(DataError) as refused:
            run_in_buckets(tmp_path, stage, run, f"runs{number}")
        messages.append(str(refused.value))
    assert messages[0] == messages[1]


def test_noise_tokens_are_excluded_or_clusters_of_their_own(tmp_path: Path) -> None:
    """Noise tokens have no cluster, or each has its own: 1 is the tag of two dogs and two runs."""
    small = SmallRun(tmp_path, {"c.tsv": BOTH})
    tags = ONE + 'cluster = "t2"\nnoise = ["1"]\n'
    tables = small.run(tags)
    assert rows(tables["t.entries"]) == [("t2", ".", "2", 1)]
    assert counts(tables["t.sizes"])["tokens that count but have no cluster"] == 4
    assert counts(tables["t.sizes"])["noise tokens, excluded"] == 4
    own = small.run(tags + 'noise_as = "clusters"\n')
    assert own["t.entries"]["cluster"].n_unique() == 5
    assert own["t.entries"].filter(item="dog")["f"].to_list() == [1, 1]
    assert counts(own["t.sizes"])["clusters"] == 5
    assert counts(own["t.sizes"])["noise tokens, each a cluster of its own"] == 4


def test_noise_in_a_separate_file_is_excluded_or_clustered(tmp_path: Path) -> None:
    small = SmallRun(tmp_path, {"g.conllu": GOLD, "i.tsv": "dog\t-1\nrun\t3\n\nrun\t-1\n"})
    tags = TWO + SIDE % "i.tsv" + 'noise = ["-1"]\n'
    assert rows(small.run(tags)["t.entries"]) == [("i", "run", "3", 1)]
    own = small.run(tags + 'noise_as = "clusters"\n')["t.entries"]
    assert own["cluster"].n_unique() == 3
