"""Candidates and scores from tables; candidates of two corpora merged as if counted together."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from pydantic import ValidationError

import pipeline as lx
from pipeline.errors import ConfigError, DataError
from pipeline.kernels import partitions
from pipeline.kernels.association.scoring import score
from pipeline.kernels.nbest import precision
from pipeline.kernels.sampling import candidate_id
from pipeline.runner import inputs
from pipeline.stages.base import FAULTS, STAGES, iterate_pieces
from pipeline.stages.collocations import extract_corpus, extract_tables
from tests.kernels.room_for import room_for
from tests.stages.run_stage import SmallRun, faults, run_stage

TEXTS = {"a": "the cat sat on the mat\nthe cat ran\n", "b": "a cat sat\nthe cat sat on a dog\n"}


def experiment(folder: Path, least: int = 1) -> lx.Run:
    for name, text in TEXTS.items():
        (folder / f"{name}.txt").write_text(text)
    (folder / "b.tsv").write_text("word\n" + TEXTS["b"].replace("\n", "\n\n").replace(" ", "\n"))
    stages = "".join(
        f"""
[stages.{name}]
use = "extract.pairs"
corpus = {corpus}
relation = "adjacent"
left = {{ label = "{{{word}}}" }}
right = {{ label = "{{{word}}}" }}
min_frequency = {least}
"""
        for name, corpus, word in (
            ("a", '"a.txt"', "form"),
            ("b", '"b.tsv"', "word"),
            ("whole", '"*.txt"', "form"),
        )
    )
    (folder / "x.toml").write_text(
        f'name = "x"\n{stages}\n[stages.both]\nuse = "extract.merge"\nfirst = "a"\nsecond = "b"\n'
    )
    return lx.run(folder / "x.toml", runs=folder / "runs")


def test_merged_corpora_equal_one_counted_together(tmp_path: Path) -> None:
    run = experiment(tmp_path)
    assert run.table("both").height > 8
    assert run.manifests["both"].digests() == {
        "candidates": run.manifests["whole"].digests()["candidates"]
    }


def test_thresholds_before_merging_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"of N = 7 pair tokens") as error:
        experiment(tmp_path, least=2)
    assert "min_frequency = 1" in str(error.value)


def test_tables_without_documents_can_be_merged() -> None:
    signature = {"f": [2], "f1": [2], "f2": [2], "N": [2]}
    table = pl.DataFrame({"id": ["x"], "l1": ["a"], "l2": ["b"], **signature})
    tables = run_stage("extract.merge", {"min_frequency": 2}, first=table, second=table)
    assert not faults(tables)
    assert tables["candidates"].select("l1", "f", "f1", "f2", "N").rows() == [("a", 4, 4, 4, 4)]


def test_sample_sizes_too_large_to_sum_are_refused() -> None:
    row = {"id": ["a"], "l1": ["a"], "l2": ["b"]} | {
        each: [2**62] for each in ("f", "f1", "f2", "N")
    }
    table = pl.DataFrame(row)
    tables = run_stage("extract.merge", {}, first=table, second=table)
    assert [fault[1:] for fault in faults(tables)] == [("N", f"{2**63} pair tokens in both")]


# Scores computed by another program

PAIRS = pl.DataFrame(
    {
        "w1": ["a", "b", "c"],
        "w2": ["x", "y", "z"],
        "MI": ["0.5", "", "-inf"],
        "p": ["0.1", "0", "1"],
    }
)
NAMES = {"l1": "w1", "l2": "w2"}


def test_scores_are_read_and_undefined_ones_are_null() -> None:
    tables = run_stage("extract.scores", {"columns": NAMES, "scores": {"mi": "MI"}}, path=PAIRS)
    assert tables["scores"].sort("l1").select("l1", "l2", "mi").rows() == [
        ("a", "x", 0.5), ("b", "y", None), ("c", "z", -math.inf),
    ]  # fmt: skip


def test_the_lowest_score_is_first_if_configured() -> None:
    config = {"columns": NAMES, "scores": {"p": "p"}, "ascending": ["p"]}
    table = run_stage("extract.scores", config, path=PAIRS)["scores"]
    ranks = run_stage("score.rank", {"seed": "s"}, scores=table)["ranks"]
    first = ranks.sort("rank").join(table, on="id", maintain_order="left")["l1"]
    assert first.to_list() == ["b", "a", "c"]


def test_the_order_of_the_file_can_be_a_measure() -> None:
    table = run_stage("extract.scores", {"columns": NAMES, "order": "theirs"}, path=PAIRS)["scores"]
    ranks = run_stage("score.rank", {"seed": "s"}, scores=table)["ranks"]
    assert ranks["measure"].unique().to_list() == ["theirs"]
    first = ranks.sort("rank").join(table, on="id", maintain_order="left")["l1"]
    assert first.to_list() == ["a", "b", "c"]


def test_values_that_are_not_numbers_are_faults() -> None:
    wrong = PAIRS.with_columns(MI=pl.Series(["0,5", "1", "x"]), w1=pl.Series(["a", None, "c"]))
    tables = run_stage("extract.scores", {"columns": NAMES, "scores": {"mi": "MI"}}, path=wrong)
    assert faults(tables) == [(3, "w1", None), (4, "MI", "x")]
    assert tables["scores"]["mi"].drop_nulls().to_list() == [0.5]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "name score columns"),
        ({"scores": {"l1": "MI"}}, "l1 is not allowed as the name of a measure"),
        ({"scores": {"mi": "MI"}, "order": "mi"}, "mi is not allowed as the name of a measure"),
        ({"scores": {"mi": "MI"}, "ascending": ["p"]}, "ascending: p is not among the scores"),
    ],
)
def test_options_without_effect_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        STAGES.get("extract.scores").config.model_validate({"path": "a.tsv", **options})


def test_a_missing_column_is_reported() -> None:
    with pytest.raises(ConfigError, match=r"scores\.mi"):
        run_stage("extract.scores", {"columns": NAMES, "scores": {"mi": "mi"}}, path=PAIRS)


def test_judged_candidates_can_be_the_sample() -> None:
    judged = pl.DataFrame(
        {
            "category": ["TP", "TP", "F", "TP"],
            "id": ["b", "c", "c", "zz"],
            "tp": [True, None, False, True],
        }
    )
    candidates = pl.DataFrame({"id": ["a", "b", "c"]})
    table = run_stage("sample.judged", {}, candidates=candidates, judgements=judged)["sample"]
    assert table.rows() == [("b", 1, 1, 2 / 3, "all"), ("c", 1, 2, 2 / 3, "all")]
    active = pl.DataFrame({"id": ["a", "c"]})
    random = run_stage(
        "sample.judged", {}, candidates=candidates, judgements=judged, exclude=active
    )["sample"]
    assert random.rows() == [("b", 1, 1, 1 / 3, "all")]


# Candidates from tables

PAIRS_EXTRACT_TABLE = pl.DataFrame(
    {"l1": ["a", "b"], "l2": ["x", "y"], "f": ["3", "9"], "f1": ["5", "9"], "f2": ["4", "12"],
     "N": ["50", "50"], "am.x": ["0.5", "-inf"]}
)  # fmt: skip


def test_texts_become_counts() -> None:
    tables = run_stage("extract.table", {}, path=PAIRS_EXTRACT_TABLE)["candidates"].sort("l1")
    assert tables.select("f", "f1", "f2", "N").rows() == [(3, 5, 4, 50), (9, 9, 12, 50)]
    assert tables["id"].n_unique() == 2


def test_numbers_of_any_type_become_counts() -> None:
    table = PAIRS_EXTRACT_TABLE.with_columns(
        pl.col("f").cast(pl.UInt8), pl.col("f1", "N").cast(pl.Float64)
    )
    rows = run_stage("extract.table", {}, path=table)["candidates"]
    assert rows.equals(run_stage("extract.table", {}, path=PAIRS_EXTRACT_TABLE)["candidates"])


def test_columns_may_have_other_names_and_be_kept() -> None:
    renamed = PAIRS_EXTRACT_TABLE.rename({"l1": "PP", "f": "freq"})
    config = {"columns": {"l1": "PP", "f": "freq"}, "keep": {"ucs_x": "am.x"}}
    tables = run_stage("extract.table", config, path=renamed)["candidates"].sort("l1")
    assert tables["ucs_x"].to_list() == [0.5, float("-inf")]
    assert tables["f"].to_list() == [3, 9]


def test_the_threshold_does_not_change_the_marginals() -> None:
    table = run_stage("extract.table", {"min_frequency": 4}, path=PAIRS_EXTRACT_TABLE)["candidates"]
    assert table.select("l1", "f1", "N").rows() == [("b", 9, 50)]


def test_faults_have_line_column_and_value() -> None:
    wrong = PAIRS_EXTRACT_TABLE.with_columns(
        f=pl.Series(["3.5", "x"]),
        N=pl.Series([None, "50"]),
        l1=pl.Series(["", "b"]).replace("", None),
    )
    tables = run_stage("extract.table", {}, path=wrong)
    assert faults(tables) == [(2, "N", None), (2, "f", "3.5"), (2, "l1", None), (3, "f", "x")]
    assert tables["candidates"].height == 0


def test_negative_counts_are_faults_despite_the_threshold() -> None:
    tables = run_stage(
        "extract.table", {}, path=PAIRS_EXTRACT_TABLE.with_columns(f=pl.Series(["-1", "9"]))
    )
    assert faults(tables) == [(2, "f", "-1")]
    table = PAIRS_EXTRACT_TABLE.with_columns(pl.col("f").cast(pl.Int64) * -1)
    assert [value for *_, value in faults(run_stage("extract.table", {}, path=table))] == [
        "-3",
        "-9",
    ]


def test_a_missing_column_is_reported_with_a_suggestion() -> None:
    with pytest.raises(
        ConfigError, match=r"columns.f2: the file has no column 'f2'; did you mean f1?"
    ):
        run_stage("extract.table", {}, path=PAIRS_EXTRACT_TABLE.drop("f2"))
    with pytest.raises(ConfigError, match=r"keep.mine: the file has no column 'am.y'"):
        run_stage("extract.table", {"keep": {"mine": "am.y"}}, path=PAIRS_EXTRACT_TABLE)


def test_a_table_without_rows_gives_no_candidates() -> None:
    assert (
        run_stage("extract.table", {}, path=PAIRS_EXTRACT_TABLE.clear())["candidates"].height == 0
    )


@pytest.mark.parametrize("blank", [" ", "", "\u00a0", None])
@pytest.mark.parametrize(
    "use", ["extract.table", "extract.pair_tokens", "join.table", "sheet.simulated"]
)
def test_a_blank_unit_is_a_fault(use: str, blank: str | None) -> None:
    rows = PAIRS_EXTRACT_TABLE.with_columns(
        l1=pl.Series(["a", blank], dtype=pl.String), TP=pl.lit("1")
    )
    known = PAIRS_EXTRACT_TABLE.select("l1", "l2").with_columns(candidate_id("l1", "l2"))
    sheet = known.select(
        pl.lit("a").alias("annotator"), pl.lit(1, pl.Int64).alias("order"), "id", "l1", "l2"
    )
    tables: dict[str, dict[str, pl.DataFrame]] = {
        "join.table": {"candidates": known}, "sheet.simulated": {"sheet": sheet},
    }  # fmt: skip
    config = {"label": "TP"} if use == "sheet.simulated" else {}
    outputs = run_stage(use, config, path=rows, **tables.get(use, {}))
    assert faults(outputs) == [(3, "l1", blank)]


# Processing in parts, to limit the memory, gives the result of the whole

TEXT = "a b a c d b\nb a a\n\nd c b a d\n"
RELATIONS = [
    'relation = "sentence"',
    'relation = "adjacent"\nadjacent = { gap = 2 }',
    'relation = "surface"\nsurface = { left = 2, right = 3 }',
    'relation = "surface"\nsurface = { left = 2, right = 3, count = "windows" }',
    'relation = "surface"\nsurface = { left = 2, right = 1, count = "nodes" }',
    'relation = "textual"',
    'relation = "textual"\ntextual = { within = "document" }',
]


def tables(folder: Path, stage: str, text: str = TEXT) -> dict[str, pl.DataFrame]:
    (folder / "a.txt").write_text(text)
    (folder / "x.toml").write_text(
        f'name = "x"\n[stages.c]\ncorpus = "a.txt"\nexamples = 2\n{stage}\n'
    )
    run = lx.run(folder / "x.toml", runs=folder / "runs", report=False, force=["c"])
    names = ["candidates" if "pairs" in stage else "tuples", "examples", "corpus"]
    by_name = {name: run.table(f"c.{name}") for name in names}
    return {name: table.sort(table.columns) for name, table in by_name.items()}


def smaller(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extract_corpus, "AT_A_TIME", 3)
    monkeypatch.setattr(inputs, "MANY", 3)


PAIRS_IN_PARTS = (
    'use = "extract.pairs"\nleft = { label = "{form}" }\nright = { label = "{form}" }\n'
)
TUPLES = 'use = "extract.tuples"\nlength = 3\nunit = { label = "{form}" }\nrelation = "adjacent"\n'


@pytest.mark.parametrize(
    "stage", [*(PAIRS_IN_PARTS + each for each in RELATIONS), TUPLES + "adjacent = { gap = 2 }"]
)
def test_parts_of_a_batch_give_the_same_tables(
    stage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = tables(tmp_path, stage)
    smaller(monkeypatch)
    parts = tables(tmp_path, stage)
    assert {name: table.equals(parts[name]) for name, table in whole.items()} == dict.fromkeys(
        whole, True
    )


@pytest.mark.parametrize(
    "stage",
    [
        PAIRS_IN_PARTS + 'relation = "surface"\nsurface = { left = %d, right = %d }',
        PAIRS_IN_PARTS
        + 'relation = "surface"\nsurface = { left = %d, right = %d, count = "windows" }',
    ],
)
def test_a_span_ends_with_the_sentence(stage: str, tmp_path: Path) -> None:
    long, longer = (tables(tmp_path, stage % (each, each)) for each in (6, 10**18))
    assert long["candidates"].equals(longer["candidates"])


def long_sentence(folder: Path, run: str, words: int) -> Path:
    (folder / "a.txt").write_text(" ".join(f"w{number}" for number in range(words)) + "\n")
    stage = PAIRS_IN_PARTS + 'relation = "sentence"'
    (folder / "x.toml").write_text(
        f'name = "x"\n[run]\n{run}\n[stages.c]\ncorpus = "a.txt"\n{stage}\n'
    )
    return folder / "x.toml"


@pytest.mark.long
def test_pairs_that_exceed_the_memory_are_refused_or_spilled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a limit they would be in memory; with a limit they are written to disk."""
    monkeypatch.setattr(extract_corpus, "_ROW", 1 << 20)
    message = r"(?s)a.txt: .* 80 tokens.*\(6,400\).*memory ="
    with pytest.raises(DataError, match=message):
        lx.run(long_sentence(tmp_path, "", 80), runs=tmp_path / "runs", report=False)
    limited_ = long_sentence(tmp_path, 'memory = "1GB"', 80)
    run = lx.run(limited_, runs=tmp_path / "runs", report=False)
    assert run.table("c.candidates").height == 80 * 79


def test_pairs_that_would_take_days_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extract_corpus, "ENDLESS_PAIRS", 6_000)
    with pytest.raises(DataError, match=r"(?s)6,400, would take days.*split the text"):
        lx.run(long_sentence(tmp_path, 'memory = "1GB"', 80), runs=tmp_path / "r", report=False)


EVALUATED = {
    "e": """use = "evaluate.comparison"
ranks = "r"
judgements = "j"
every = 20
cuts = [100]""",
    "p": """use = "evaluate.precision"
ranks = "r"
judgements = "j"
window = 7
recall = true
cut = 60
thresholds = [0.2, 0.6]
band = "simultaneous"
band_range = [40, 90]
replicates = 100""",
    "u": """use = "evaluate.subset"
ranks = "r"
judgements = "j"
subset = "c"
where = "f > 2"
interval = "wilson"
""",
    "a": """use = "evaluate.average_precision"
ranks = "r"
judgements = "j"
""",
}
TABLES = ("e.comparison", "e.cuts", "e.best", "e.baseline", "e.baseline_cuts", "r.ranks",
          "p.precision", "p.local", "p.recall", "p.cut", "p.thresholds", "p.bands",
          "p.band_thresholds", "p.worst_case", "p.baseline", "p.cuts",
          "u.subsets", "u.comparison", "a.average_precision", "d.sample", "g.sample", "g.strata",
          "g.sizes", "v.precision", "v.cuts", "v.differences")  # fmt: skip


@pytest.mark.parametrize("sampled", [False, True])
@pytest.mark.long
def test_ranks_and_lists_in_parts_give_the_same_tables(
    sampled: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With limited memory some lists, or some candidates, are processed at a time."""
    data = Path(__file__).parents[3] / "data" / "candidates.tsv"
    lines = data.read_text().splitlines(keepends=True)[:200]
    (tmp_path / "candidates.tsv").write_text("".join(lines))
    (tmp_path / "judged.tsv").write_text("".join(lines[:150]))
    stages = {
        "c": 'use = "extract.table"\npath = "candidates.tsv"',
        "j": 'use = "join.table"\npath = "judged.tsv"\ncandidates = "c"\n'
        'categories = { TP = "TP", figurative = "figurative" }',
        "s": 'use = "score.association"\ncandidates = "c"\nmeasures = ["mi", "dice", "frequency"]',
        "r": 'use = "score.rank"\nscores = "s"',
        "d": 'use = "sample.random"\ncandidates = "c"\nsize = 90\nreplacement = true',
        "g": 'use = "sample.stratified"\nranks = "r"\nboundaries = [20, 70]\nsizes = [9, 20, 40]',
        "v": 'use = "evaluate.designed"\nranks = "r"\njudgements = "j"\nsample = "g"\n'
        'inclusion = "g.strata"\nevery = 7\ncuts = [30, 90]',
    } | {name: f"{each}\n" + 'sample = "d"' * sampled for name, each in EVALUATED.items()}
    text = "".join(f"[stages.{name}]\n{each}\n" for name, each in stages.items())
    (tmp_path / "x.toml").write_text('name = "x"\n' + text)
    results = []
    for lists, memory in ((1_000_000, None), (40, None), (40, "1GB")):
        monkeypatch.setattr(precision, "_MOST_LISTS", lists)
        if memory:
            monkeypatch.setattr(partitions, "ROW", (1 << 30) // 60)
        run = lx.run(
            tmp_path / "x.toml", runs=tmp_path / f"{lists}{memory}", report=False,
            settings={"run.memory": memory} if memory else {},
        )  # fmt: skip
        results.append({name: run.table(name) for name in TABLES})
    for name in TABLES:
        assert results[0][name].height, name
        for other in results[1:]:
            assert other[name].equals(results[0][name]), name


# Numbers printed by other programs, from counts by their conventions

TEXT_KNOWN_TOOLS = "rain fell heavy rain and rain fell on heavy heavy rain\nrain fell\nheavy fell\n"
SPAN = """
[stages.pairs]
use = "extract.pairs"
corpus = "a.txt"
relation = "surface"
surface = {{ left = {left}, right = {right}, count = "nodes" }}
left = {{ label = "{{form}}" }}
right = {{ label = "{{form}}" }}
{more}
[stages.scores]
use = "score.association"
candidates = "pairs"
measures = ["log_dice", "mi_log2", "t_score", "minimum_sensitivity"]
"""


def score_spans(
    folder: Path, left: int, right: int, more: str = "", text: str = TEXT_KNOWN_TOOLS
) -> dict[Any, Any]:
    run = SmallRun(folder, {"a.txt": text})
    table = run.run(SPAN.format(left=left, right=right, more=more))["scores.scores"]
    return {(row["l1"], row["l2"]): row for row in table.to_dicts()}


def concordance(left: int, right: int) -> tuple[Counter[tuple[str, str]], Counter[str], int]:
    """f_AB is the number of lines in the concordance of A with B in the span."""
    together, words = Counter[tuple[str, str]](), Counter[str]()
    for line in TEXT_KNOWN_TOOLS.splitlines():
        tokens = line.split()
        words.update(tokens)
        for at, node in enumerate(tokens):
            span = tokens[max(0, at - left) : at] + tokens[at + 1 : at + 1 + right]
            together.update((node, other) for other in set(span))
    return together, words, words.total()


@pytest.mark.parametrize("span", [(5, 5), (1, 0), (0, 2), (3, 1)])
def test_counts_equal_those_of_a_concordance(span: tuple[int, int], tmp_path: Path) -> None:
    """As in a span of Sketch Engine: f_A and f_B are corpus frequencies, N all tokens."""
    together, words, n = concordance(*span)
    scores = score_spans(tmp_path, *span)
    assert scores.keys() == together.keys()
    for (a, b), row in scores.items():
        f_ab, f_a, f_b = together[a, b], words[a], words[b]
        assert (row["nodes"], row["f1"], row["f2"], row["N"]) == (f_ab, f_a, f_b, n)
        assert row["f"] == min(f_ab, f_b)
        if f_ab <= f_b:
            assert row["log_dice"] == pytest.approx(14 + math.log2(2 * f_ab / (f_a + f_b)))
            assert row["mi_log2"] == pytest.approx(math.log2(f_ab * n / (f_a * f_b)))
            assert row["t_score"] == pytest.approx((f_ab - f_a * f_b / n) / math.sqrt(f_ab))


def test_a_collocate_in_the_spans_of_two_nodes_is_counted_once(tmp_path: Path) -> None:
    """f_AB = 2 of f_B = 1: logDice would be 14.415, above its maximum; f is cut to f2."""
    scores = score_spans(tmp_path, 1, 1, text="a b a\n")
    row = scores["a", "b"]
    assert (row["nodes"], row["f"], row["f1"], row["f2"], row["N"]) == (2, 1, 2, 1, 3)
    assert row["log_dice"] == pytest.approx(14 + math.log2(2 / 3))
    assert scores["b", "a"]["nodes"] == 1


def test_the_threshold_applies_to_the_reduced_frequency(tmp_path: Path) -> None:
    assert not score_spans(tmp_path, 1, 1, "min_frequency = 2", text="a b a\n")


def test_bigrams_equal_those_of_nltk(tmp_path: Path) -> None:
    """PMI of neighbours: log2 of f N / (f1 f2), all of them word frequencies of the text."""
    words = TEXT_KNOWN_TOOLS.splitlines()[0].split()
    bigrams, each = Counter(pairwise(words)), Counter(words)
    scores = score_spans(tmp_path, 0, 1, text=" ".join(words) + "\n")
    for (a, b), f in bigrams.items():
        expected = math.log2(f * len(words) / (each[a] * each[b]))
        assert scores[a, b]["mi_log2"] == pytest.approx(expected)


def test_mutual_information_equals_that_of_english_corpora_org() -> None:
    """Purple and color in the BNC, span 3 + 3, as that site explains its MI: 11.30."""
    signature = {"l1": "purple", "l2": "color", "f": 22, "f1": 1246 * 6, "f2": 112, "N": 96_263_399}
    table = pl.LazyFrame({name: [value] for name, value in signature.items()})
    scores = score(table, measures=["mi_log2", "mi"]).collect()
    assert scores.select(pl.col("mi_log2").round(2)).item() == 11.30
    assert scores["mi"].item() == pytest.approx(scores["mi_log2"].item() * math.log10(2))


SKETCHES = """
[stages.triples]
use = "extract.tuples"
corpus = "a.conllu"
relation = "dependency"
dependency = { where = "deprel <> 'root'" }
left = { label = "{lemma}" }
right = { labels = ["{deprel}", "{lemma}"] }
[stages.sketches]
use = "extract.pairing"
tuples = "triples"
pairing = [[1, 2], [3]]
[stages.scores]
use = "score.association"
candidates = "sketches"
measures = ["log_dice"]
[stages.named]
use = "extract.pairs"
corpus = "a.conllu"
relation = "dependency"
dependency = { where = "deprel <> 'root'", named = true }
left = { label = "{lemma}" }
right = { label = "{lemma}" }
[stages.pairs]
use = "extract.pairs"
corpus = "a.conllu"
relation = "dependency"
dependency = { label = "obj" }
left = { label = "{lemma}" }
right = { label = "{lemma}" }
"""
TRIPLES = [
    ("drink", "obj", "tea"), ("drink", "obj", "tea"), ("drink", "obj", "beer"),
    ("drink", "nsubj", "tea"), ("sell", "obj", "tea"), ("like", "nsubj", "dog"),
]  # fmt: skip


def test_a_word_sketch_counts_over_all_relations(tmp_path: Path) -> None:
    """||w1, R, *|| is 3, ||*, *, w2|| is 4 over all relations; the pairs of obj alone have 3."""
    rows = "1\t{0}\t{0}\tVERB\t_\t_\t0\troot\t_\t_\n2\t{2}\t{2}\tNOUN\t_\t_\t1\t{1}\t_\t_\n\n"
    run = SmallRun(tmp_path, {"a.conllu": "".join(rows.format(*each) for each in TRIPLES)})
    tables = run.run(SKETCHES)
    signature = ("f", "f1", "f2", "N")
    sketch = tables["scores.scores"].filter(l1="drink obj", l2="tea")
    assert sketch.select(signature).row(0) == (2, 3, 4, 6)
    assert sketch["log_dice"].item() == pytest.approx(14 + math.log2(2 * 2 / (3 + 4)))
    row = tables["named.candidates"].filter(l1="obj(drink, *)", l2="tea")
    assert row.select(signature).row(0) == (2, 3, 4, 6)
    pairs = tables["pairs.candidates"].filter(l1="drink", l2="tea")
    assert pairs.select(signature).row(0) == (2, 3, 3, 4)


# Tables read, merged and joined in parts, to limit the memory, equal those of the whole

MOST = 60


def numbers(first: int) -> pl.DataFrame:
    return pl.DataFrame({"n": pl.int_range(first, first + 1000, eager=True)})


def pairs(first: int) -> pl.DataFrame:
    n = pl.col("n")
    f = pl.col("f")
    rows = numbers(first).select(
        l1=pl.format("a{}", n % 31), l2=pl.format("b{}", n // 2), f=n % 7 + 1
    )
    counted = rows.with_columns(f1=f.sum().over("l1"), f2=f.sum().over("l2"), N=f.sum())
    return counted.select(candidate_id("l1", "l2"), pl.all(), documents=pl.lit(1, pl.Int64))


def words(first: int) -> pl.DataFrame:
    listed = numbers(first).select(word=pl.format("w{}", "n"), f=pl.col("n") % 50 + 1)
    return listed.select(candidate_id("word"), pl.all(), N=pl.col("f").sum())


def sentences() -> pl.DataFrame:
    one, text = pl.lit(1, pl.Int64), pl.format("[[{}]]", "word")
    some = words(0).filter(pl.col("f") > 9)
    return some.select("id", number=one, doc=pl.lit(""), text=text, draw_key="f")


def tuples() -> pl.DataFrame:
    third = pl.format("c{}", pl.int_range(pl.len()) % 7)
    triples = pairs(0).select("l1", "l2", l3=third, f="f")
    parts = [["l1"], ["l2"], ["l3"], ["l1", "l2"], ["l1", "l3"], ["l2", "l3"]]
    names = ["f1", "f2", "f3", "f_12", "f_13", "f_23"]
    f = pl.col("f").sum()
    summed = {name: f.over(part) for name, part in zip(names, parts, strict=True)}
    counted = triples.with_columns(**summed, N=f)
    return counted.select(candidate_id("l1", "l2", "l3"), pl.all())


def of_tuples() -> pl.DataFrame:
    return tuples().select(
        "id", number=pl.lit(1, pl.Int64), doc=pl.lit(""), text="l3", draw_key="f"
    )


def add_places(rows: pl.DataFrame) -> pl.LazyFrame:
    line = pl.int_range(1, pl.len() + 1, dtype=pl.Int64)
    return rows.lazy().with_columns(file=pl.lit("a.tsv"), line=line)


CASES: dict[str, tuple[dict[str, Any], dict[str, pl.DataFrame]]] = {
    "extract.table": (
        {"keep": {"x": "documents"}, "min_frequency": 2},
        {"path": pairs(0).drop("id").cast(pl.String)},
    ),
    "extract.word_table": ({"fold": True}, {"path": pl.concat([words(0), words(500)]).drop("id")}),
    "extract.merge": ({"min_frequency": 2}, {"first": pairs(0), "second": pairs(400)}),
    "extract.scores": (
        {"scores": {"mi": "f1"}, "ascending": ["mi"], "order": "rank"},
        {"path": pairs(0).drop("id")},
    ),
    "extract.pairing": (
        {"pairing": [[3, 1], [2]]},
        {"tuples": tuples(), "examples": of_tuples()},
    ),
    "extract.keywords": (
        {"min_frequency": 0},
        {"target": words(0), "reference": words(300), "examples": sentences()},
    ),
}


SLOW = {"extract.merge", "extract.keywords"}


@pytest.mark.parametrize(
    "use",
    [pytest.param(use, marks=[pytest.mark.long] if use in SLOW else []) for use in CASES],
)
def test_tables_in_parts_equal_those_of_the_whole(use: str) -> None:
    config, tables = CASES[use]
    whole = run_stage(use, config, **tables)
    with room_for(MOST):
        rows = run_stage(use, config, **tables)
    for name, table in whole.items():
        assert name == FAULTS or table.height > 500
        assert rows[name].sort(table.columns).equals(table.sort(table.columns)), name


@pytest.mark.parametrize("use", CASES)
@pytest.mark.long
def test_no_part_greatly_exceeds_the_memory(use: str) -> None:
    """The bounds are estimated from some rows, so that they are not exact."""
    options, tables = CASES[use]
    stage = STAGES.get(use)
    config = stage.config.model_validate({name: name for name in tables} | options)
    main = next(iter(stage.outputs))
    lazy = {name: add_places(frame) for name, frame in tables.items()}
    with room_for(MOST):
        result = [
            piece[main].lazy().collect()
            for piece in iterate_pieces(stage.make(config, lazy))
            if main in piece
        ]
    assert len(result) > 500 // MOST
    assert max(part.height for part in result) < 3 * MOST
    assert pl.concat(result)["id"].is_sorted()


@pytest.mark.long
def test_faults_of_units_precede_those_of_counts() -> None:
    """In whichever part of the file they are."""
    rows = pairs(0).drop("id").cast(pl.String).with_row_index()
    wrong = rows.with_columns(
        l2=pl.when(pl.col("index") == 900).then(pl.lit(" ")).otherwise("l2"),
        f=pl.when(pl.col("index") == 100).then(pl.lit("-1")).otherwise("f"),
    ).drop("index")  # fmt: skip
    with room_for(MOST):
        tables = run_stage("extract.table", {}, path=wrong)
    assert faults(tables) == [(102, "f", "-1"), (902, "l2", " ")]
    assert tables[FAULTS]["line"].to_list() == [902, 102]


def test_counts_too_large_to_sum_are_faults() -> None:
    """They are added up over the parts of a file."""
    listed = pl.DataFrame({"word": [f"w{n}" for n in range(100)], "f": [2**53 // 50] * 100})
    with room_for(10):
        tables = run_stage("extract.word_table", {}, path=listed)
    assert [line for line, *_ in faults(tables)] == list(range(52, 102))


@pytest.mark.parametrize(
    ("use", "options"),
    [
        ("extract.table", {"keep": {"more": "c7"}}),
        ("extract.scores", {"scores": {"more": "c7"}}),
    ],
)
def test_only_the_required_columns_of_a_wide_table_are_read(
    use: str, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    columns: list[str] = []

    def record_columns(table: pl.LazyFrame) -> Any:
        for batch in partitions.batches(table):
            columns.extend(batch.columns)
            yield batch

    monkeypatch.setattr(extract_tables, "batches", record_columns)
    counts = dict.fromkeys(["f", "f1", "f2", "N"], "1")
    further = {f"c{number}": "5" for number in range(1_000)}
    row = {"l1": "a", "l2": "b", **counts, **further}
    tables = run_stage(use, options, path=pl.DataFrame([row]))
    assert [each["more"].to_list() for each in tables.values() if "more" in each.columns] == [[5.0]]
    assert len(set(columns)) < 20
