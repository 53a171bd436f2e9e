"""No test of a difference rejects too often under its own null hypothesis: the small simulation."""

from __future__ import annotations

import importlib.util
import os
import pickle
import random
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import fastexcel
import numpy as np
import polars as pl
import pytest

import pipeline as lx
from pipeline.cli.main import main
from pipeline.engine import ProcessEngine
from pipeline.errors import (
    ConfigError,
    DataError,
    LexassayError,
    StageFailed,
    WaitsForPerson,
    WorkerLost,
)

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "difference_tests.py"
SAMPLES = 2000
MOST = 0.055 + 3.5 * (0.055 * 0.945 / SAMPLES) ** 0.5
"""5.5 %, and the error of the simulation over its cells."""


@pytest.fixture(scope="module")
def simulation() -> ModuleType:
    spec = importlib.util.spec_from_file_location("difference_tests_benchmark", BENCHMARK)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "cell", [(30, 0.1, 0.2), (30, 0.5, 0.4), (100, 0.2, 0.05), (100, 0.5, 0.2)]
)
def test_tests_keep_their_size_under_their_null_hypothesis(
    simulation: ModuleType, cell: tuple[int, float, float]
) -> None:
    sizes = simulation.sizes(*cell, SAMPLES)
    assert len(sizes) == 6
    assert {name: share for name, share in sizes.items() if share > MOST} == {}


def test_tests_detect_differences_of_candidates(simulation: ModuleType) -> None:
    """If labels are random, the candidates do differ, and a test of them has to find it."""
    random = np.random.default_rng(2)
    size, n, true = 100, 90, 40
    lot = random.hypergeometric(true, 2 * size - true, size, 400)
    k1, k2 = simulation.draw_counts(random, size, n, lot, true - lot)
    finite: Callable[..., np.ndarray] = simulation.finite_population_test
    assert (finite(k1, n, k2, n, size=size) <= 0.05).mean() > 0.3


@pytest.mark.parametrize("rate", [0.3, 1.0])
def test_tests_of_clusters_of_many_sizes_keep_their_size(
    simulation: ModuleType, rate: float
) -> None:
    sizes = np.repeat([1, 2, 4, 8, 24], [60, 20, 10, 5, 2])
    true = sizes * (np.arange(len(sizes)) % 3 == 0)
    first = np.arange(len(sizes)) % 2 == 0
    counts = np.array([[sizes * side, true * side] for side in (first, ~first)])
    shares = [simulation.clustered_size(counts, rate, 500, number)[0] for number in range(4)]
    assert np.mean(shares) <= MOST


# SQL in an experiment never reads a file: it is refused at `plan`, with its option.

SECRET = "the first line of a file"
PAIRS = """
[stages.pairs]
use = "extract.pairs"
corpus = "t.conllu"
relation = "dependency"
dependency = {{ where = "{dependency}", through = "{through}" }}
left = {{ where = "{left}", matches = "{matches}" }}
right = {{ attach = {{ p = "{attach}" }}, label = "{{p.lemma}}" }}
"""
SCORES = """
[stages.scores]
use = "score.association"
candidates = "pairs"
measures = ["t_score"]
formulas = {{ mine = "{formula}" }}
[stages.ranks]
use = "score.rank"
scores = "scores"
[stages.gold]
use = "join.table"
path = "gold.tsv"
candidates = "pairs"
[stages.subset]
use = "evaluate.subset"
ranks = "ranks"
judgements = "gold"
subset = "scores"
where = "{subset}"
"""
OTHERS = """
[stages.words]
use = "extract.lexicon"
path = "words.tsv"
where = "{lexicon}"
[stages.tuples]
use = "extract.tuples"
corpus = "t.conllu"
length = 3
relation = "adjacent"
unit = {{ where = "{unit}" }}
[stages.tuple_scores]
use = "score.tuples"
tuples = "tuples"
measures = ["mi"]
formulas = {{ mine = "{tuple_formula}" }}
[sweep]
collect = ["scores"]
over = {{ seed = [1, 2] }}
where = "{sweep}"
"""
GOOD = {
    "dependency": "deprel = 'obj'", "through": "upos = 'ADP'", "left": "upos = 'VERB'",
    "matches": "^\\\\p{L}", "attach": "deprel = 'case'", "formula": "o11 / e11",
    "subset": "f > 1", "lexicon": "pos = 'V'", "unit": "upos <> 'PUNCT'",
    "tuple_formula": "o / e", "sweep": "f > 1",
}  # fmt: skip
PLACES = {
    "dependency": "stages.pairs.dependency", "through": "stages.pairs.dependency",
    "left": "stages.pairs.left.where", "attach": "stages.pairs.right.attach.p",
    "formula": "stages.scores.formulas", "subset": "stages.subset.where",
    "lexicon": "stages.words.where", "unit": "stages.tuples.unit.where",
    "tuple_formula": "stages.tuple_scores.formulas.mine", "sweep": "sweep.where",
}  # fmt: skip


@pytest.fixture
def folder_hostile_conditions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "secret.csv").write_text(f"{SECRET}\n1\n")
    token = "1\tx\tx\tVERB\t_\t_\t0\troot\t_\t_"
    (tmp_path / "t.conllu").write_text(f"{token}\n\n")
    (tmp_path / "words.tsv").write_text("lemma\tform\tpos\nx\ty\tV\n")
    (tmp_path / "gold.tsv").write_text("l1\tl2\tTP\nx\tx\t1\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def plan(folder: Path, capsys: pytest.CaptureFixture[str], **texts: str) -> tuple[int, str]:
    content = 'name = "x"\n' + (PAIRS + SCORES + OTHERS).format(**{**GOOD, **texts})
    (folder / "x.toml").write_text(content)
    code = main(["plan", "x.toml"])
    output = capsys.readouterr()
    return code, " ".join((output.out + output.err).split())


def test_the_experiment_without_hostile_conditions_is_valid(
    folder_hostile_conditions: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert plan(folder_hostile_conditions, capsys)[0] == 0


@pytest.mark.parametrize("place", PLACES)
def test_conditions_that_read_files_are_refused(
    place: str, folder_hostile_conditions: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hostile = f"f IN (SELECT x FROM read_csv('{folder_hostile_conditions}/secret.csv'))"
    code, output = plan(folder_hostile_conditions, capsys, **{place: hostile})
    assert code == 2
    assert f"{PLACES[place]}: " in output
    assert "READ_CSV is not an allowed function; allowed are ABS" in output
    assert SECRET not in output


@pytest.mark.parametrize("place", PLACES)
def test_conditions_that_allocate_memory_are_refused(
    place: str, folder_hostile_conditions: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hostile = "LENGTH(LPAD(form, 1000000000, 'x')) > 1"
    code, output = plan(folder_hostile_conditions, capsys, **{place: hostile})
    assert (code, "LPAD is not an allowed function" in output) == (2, True)


def test_huge_regular_expressions_of_labels_are_refused(
    folder_hostile_conditions: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, output = plan(folder_hostile_conditions, capsys, matches="(\\\\pL{500}){500}")
    assert (code, "left.matches: " in output) == (2, True)
    assert "is not a valid regular expression: it is too large" in output


def test_formulas_in_python_that_read_files_are_refused() -> None:
    table = pl.DataFrame({"f": [146], "f1": [382], "f2": [4047], "N": [406159]})
    hostile = "o11 IN (SELECT x FROM read_csv('/etc/passwd'))"
    with pytest.raises(ConfigError, match="READ_CSV is not an allowed function"):
        lx.score(table, measures=[], formulas={"mine": hostile})


# The experiment on Krenn's data: every published cell.

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
CELLS = {
    "t_score": (38.0, 30.2, 28.1, 21.95),
    "log_likelihood": (42.0, 30.4, 27.1, 23.35),
    "chi_squared_corr": (24.0, 24.6, 23.9, 23.35),
}


@pytest.fixture(scope="module")
def folder_krenn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("krenn")


@pytest.fixture
def krenn_run(folder_krenn: Path, public_data: Callable[[str], Path]) -> lx.Run:
    public_data("collocations/krenn_pp_verb.ds")
    return lx.run(ROOT / "configs" / "krenn.toml", runs=folder_krenn, report=False)


@pytest.mark.long
def test_the_full_evaluation_has_the_published_precisions(krenn_run: lx.Run) -> None:
    cuts = krenn_run.table("full.cuts")
    for measure, cells in CELLS.items():
        precisions = cuts.filter(measure=measure).sort("n").get_column("precision").to_list()
        assert [100 * value for value in precisions] == pytest.approx(cells, abs=1e-12)


def test_the_baseline_has_the_published_value(krenn_run: lx.Run) -> None:
    base = krenn_run.table("full.baseline").row(0, named=True)
    assert (base["k_sampled"], base["n_candidates"]) == (566, 5102)
    assert round(100 * base["precision"], 2) == 11.09


def test_the_annotation_covers_all_candidates(krenn_run: lx.Run) -> None:
    assert krenn_run.table("judgements.coverage").rows() == [("TP", 5102, 5102, 566, 0)]


def test_the_chapter_has_these_numbers(krenn_run: lx.Run) -> None:
    spec = importlib.util.spec_from_file_location("update", DOCS / "update_reproduction.py")
    assert spec is not None
    assert spec.loader is not None
    update = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(update)
    text = (DOCS / "reproduction.md").read_text(encoding="utf-8")
    assert text == update.update_chapter(text, krenn_run), "run: python docs/update_reproduction.py"


def test_samples_have_the_requested_size(krenn_run: lx.Run) -> None:
    assert krenn_run.table("sample").height == 510
    assert krenn_run.table("sample_replaced").get_column("multiplicity").sum() == 510
    assert krenn_run.table("sample_replaced").height < 510
    last = krenn_run.table("sampled").filter(pl.col("n") == 5102)
    assert last.get_column("n_sampled").unique().to_list() == [510]


def test_tables_have_every_n(krenn_run: lx.Run) -> None:
    for stage in ("full", "sampled", "sampled_replaced"):
        table = krenn_run.table(stage)
        assert table.group_by("measure").len().get_column("len").unique().to_list() == [5102]
        assert table.get_column("measure").n_unique() == 7
    assert krenn_run.table("full_comparison").height == 21 * 5102


def test_precisions_of_ucs_scores_are_equal(
    krenn_run: lx.Run, public_data: Callable[[str], Path]
) -> None:
    """The scores of UCS rank the candidates like ours."""
    ucs = pl.read_csv(public_data("collocations/krenn_pp_verb.ds"), separator="\t", quote_char=None)
    scores = krenn_run.table("scores").join(ucs, on=["l1", "l2"])
    for name, column in {"t_score": "am.t.score", "mi": "am.MI", "dice": "am.Dice"}.items():
        ours = scores.sort(name, descending=True).get_column("b.TP").head(1000).sum()
        theirs = scores.sort(column, descending=True).get_column("b.TP").head(1000).sum()
        assert ours == theirs


# Krenn's candidates by verbs: differences if true positives cluster.

STAGES = """
name = "verbs"
[stages.c]
use = "extract.table"
path = "{path}"
[stages.j]
use = "join.table"
path = "{path}"
candidates = "c"
categories = {{ TP = "b.TP" }}
[stages.s]
use = "score.association"
candidates = "c"
measures = ["t_score", "log_likelihood", "chi_squared"]
[stages.r]
use = "score.rank"
scores = "s"
[stages.p]
use = "evaluate.precision"
ranks = "r"
judgements = "j"
clusters = "c"
[stages.t]
use = "evaluate.comparison"
ranks = "r"
judgements = "j"
clusters = "c"
every = 0
"""


@pytest.fixture
def krenn_verbs_run(tmp_path: Path, public_data: Callable[[str], Path]) -> lx.Run:
    path = public_data("collocations/krenn_pp_verb.ds")
    (tmp_path / "x.toml").write_text(STAGES.format(path=path))
    return lx.run(tmp_path / "x.toml", runs=tmp_path / "runs", report=False)


@pytest.mark.long
def test_lists_by_t_score_have_these_design_effects(krenn_verbs_run: lx.Run) -> None:
    lists = krenn_verbs_run.table("p.clustered").filter(measure="t_score").sort("n")
    assert lists["clusters"].to_list() == [51, 165, 280, 469]
    assert lists["design_effect"].to_list() == pytest.approx([3.1, 8.6, 12.2, 17], rel=0.1)


@pytest.mark.long
@pytest.mark.parametrize(
    ("pair", "n", "fisher", "clustered"),
    [(("chi_squared", "t_score"), 1000, 0.00063, (0.14, 0.26)),
     (("log_likelihood", "t_score"), 2000, 0.0008, (0.0004, 0.002))],
)  # fmt: skip
def test_differences_have_these_p_values_and_design_effects(
    krenn_verbs_run: lx.Run,
    pair: tuple[str, str],
    n: int,
    fisher: float,
    clustered: tuple[float, float],
) -> None:
    at = (pl.col("measure_1") == pair[0], pl.col("measure_2") == pair[1], pl.col("n") == n)
    assert krenn_verbs_run.table("t.cuts").filter(*at)["p_value"].item() == pytest.approx(
        fisher, rel=0.01
    )
    assert (
        clustered[0]
        < krenn_verbs_run.table("t.clustered").filter(*at)["p_value"].item()
        < clustered[1]
    )


# Limits at declared looks hold at all of them together: the small simulation.

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
SAMPLES_LOOKS, SIZE = 800, 400
ERROR = 100 * (0.05 * 0.95 / SAMPLES_LOOKS) ** 0.5
SIZES = [40, 80, 120, 160]
SCORE = np.random.default_rng(1).normal(size=SIZE)
OTHER = SCORE + np.random.default_rng(2).normal(size=SIZE)
TRUE = (np.random.default_rng(3).random(SIZE) < 1 / (1 + np.exp(1 - SCORE))).astype(float)


@pytest.fixture(scope="module")
def looks() -> Iterator[ModuleType]:
    spec = importlib.util.spec_from_file_location("simulated_looks", BENCHMARKS / "looks.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["simulated_looks"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["simulated_looks"]


def estimands(looks: ModuleType) -> Any:
    one, other = (np.argsort(np.argsort(-each)) < 100 for each in (SCORE, OTHER))
    only = one & ~other
    questions = {
        "list": (one, None, 1.0),
        "difference": (only, other & ~one, only.sum() / 100),
        "baseline": (np.ones(SIZE, dtype=bool), None, 1.0),
    }
    return looks.Population(TRUE, questions)


def missed_share(table: Any, question: str, plan: str) -> float:
    return float(table.filter(question=question, plan=plan)["missed"].item())


@pytest.mark.long
@pytest.mark.parametrize("design", ["simple", "designed"])
def test_limits_keep_their_level_at_all_looks_together(looks: ModuleType, design: str) -> None:
    questions = estimands(looks)
    x = np.ones(SIZE) if design == "simple" else looks.designed_sizes(questions)
    method = looks.of_counts("hypergeometric_shortest") if design == "simple" else looks.of_design
    results = looks.evaluate_looks(questions, method, x, SIZES, samples=SAMPLES_LOOKS, seed=5)
    for question in questions.questions:
        for plan in ("obrien_fleming", "pocock"):
            assert missed_share(results, question, plan) < 5 + 3 * ERROR, (question, plan)
    assert missed_share(results, "baseline", "none") > 5 + 3 * ERROR


def test_exact_limits_are_conservative(looks: ModuleType) -> None:
    questions = estimands(looks)
    method = looks.of_counts("clopper_pearson")
    results = looks.evaluate_looks(
        questions, method, np.ones(SIZE), SIZES, samples=SAMPLES_LOOKS, seed=6
    )
    for question in questions.questions:
        for plan in ("obrien_fleming", "pocock"):
            assert missed_share(results, question, plan) < 5, (question, plan)


@pytest.mark.long
def test_confidence_sequences_keep_their_level_after_each_draw(looks: ModuleType) -> None:
    results = looks.at_any_time(estimands(looks), SIZE, 120, 7)
    assert results.height == 3
    assert (results["missed"] <= 5 + 3 * ERROR * (SAMPLES_LOOKS / 120) ** 0.5).all()


# The same digests from any shards, buckets, batches and workers; killed workers replaced.

UPOS = ["NOUN", "VERB", "ADP", "ADJ"]
RELATIONS = {
    "sentence": 'relation = "sentence"',
    "dependency": 'relation = "dependency"\ndependency = { label = "obj", governor = "either" }',
    "adjacent": 'relation = "adjacent"\nadjacent = { gap = 2 }',
    "surface": 'relation = "surface"\nsurface = { left = 3, right = 2 }',
    "windows": 'relation = "surface"\nsurface = { left = 2, right = 2, count = "windows" }',
    "nodes": 'relation = "surface"\nsurface = { left = 2, right = 1, count = "nodes" }',
    "paragraph": 'relation = "textual"\ntextual = { within = "paragraph" }',
    "document": 'relation = "textual"\ntextual = { within = "document" }',
}
WAYS = {
    "shard of each file": "shard = 1",
    "little memory": 'memory = "1MB"\nshard = 1',
    "little memory, one shard": 'memory = "1MB"',
    "two processes": 'engine = "processes"\nworkers = 2\nmemory = "2MB"\nshard = "40KB"',
}


def corpus(folder: Path, files: int = 3, sentences: int = 250) -> None:
    """Write CoNLL-U files with documents and paragraphs of all lengths."""
    draw = random.Random("scale")
    for number in range(files):
        lines = []
        for _ in range(sentences):
            if draw.random() < 0.03:
                lines.append(f"# newdoc id = {draw.choice('abc')}")
            if draw.random() < 0.2:
                lines.append("# newpar")
            length = draw.randint(1, 9)
            for place in range(1, length + 1):
                lemma = f"w{min(int(draw.paretovariate(0.8)), 300)}"
                head = draw.choice([h for h in range(length + 1) if h != place])
                kind, label = draw.choice(UPOS), draw.choice(["obj", "case"])
                lines.append(f"{place}\t{lemma}\t{lemma}\t{kind}\t_\t_\t{head}\t{label}\t_\t_")
            lines.append("")
        (folder / f"{number}.conllu").write_text("\n".join(lines) + "\n")


def digests(folder: Path, relation: str, way: str, runs: str) -> dict[str, str]:
    (folder / "scale.toml").write_text(f"""
name = "scale"
[run]
{way}
[stages.candidates]
use = "extract.pairs"
corpus = "*.conllu"
examples = 2
min_frequency = 2
{relation}
left = {{ where = "upos = 'NOUN'" }}
right = {{ where = "upos <> 'ADP'" }}
[stages.scores]
use = "score.association"
candidates = "candidates"
measures = ["t_score", "log_likelihood"]
""")
    run = lx.run(folder / "scale.toml", runs=folder / runs, report=False)
    assert run.table("candidates").height > 30
    return {
        f"{stage}.{table}": digest
        for stage, manifest in run.manifests.items()
        for table, digest in manifest.digests().items()
    }


@pytest.mark.parametrize("relation", sorted(RELATIONS))
@pytest.mark.long
def test_digests_are_equal_however_the_experiment_is_run(relation: str, tmp_path: Path) -> None:
    corpus(tmp_path)
    plain = digests(tmp_path, RELATIONS[relation], "", "plain")
    for number, way in enumerate(WAYS.values()):
        if "processes" in way and relation not in {"sentence", "document"}:
            continue
        assert digests(tmp_path, RELATIONS[relation], way, f"runs{number}") == plain, way
    parts = list((tmp_path / "runs1" / "scale" / "candidates").glob("*/candidates/*.parquet"))
    assert len(parts) > 1
    assert {path.name for path in tmp_path.glob("*/scale/*/.*")} == {".lock"}


def test_counts_of_two_corpora_are_added(tmp_path: Path) -> None:
    corpus(tmp_path, files=2)
    for name in ("scale", "0", "1"):
        source = "*.conllu" if name == "scale" else f"{name}.conllu"
        (tmp_path / f"{name}.toml").write_text(f"""
name = "x{name}"
[stages.candidates]
use = "extract.pairs"
corpus = "{source}"
left = {{ where = "upos = 'NOUN'" }}
right = {{ where = "upos = 'VERB'" }}
""")
    tables = {
        name: lx.run(tmp_path / f"{name}.toml", runs=tmp_path / "runs", report=False).table(
            "candidates"
        )
        for name in ("scale", "0", "1")
    }
    summed: dict[tuple[str, str], tuple[int, int]] = {}
    for name in ("0", "1"):
        for l1, l2, f, documents in tables[name].select("l1", "l2", "f", "documents").rows():
            before = summed.get((l1, l2), (0, 0))
            summed[l1, l2] = (before[0] + f, before[1] + documents)
    whole = tables["scale"].select("l1", "l2", "f", "documents").rows()
    assert {(l1, l2): (f, documents) for l1, l2, f, documents in whole} == summed


def test_the_budget_is_read_or_refused(tmp_path: Path) -> None:
    corpus(tmp_path, files=1, sentences=5)
    with pytest.raises(ConfigError, match="not an amount of memory, for example 500MB"):
        digests(tmp_path, RELATIONS["sentence"], 'memory = "much"', "runs")


def die_once(folder: str) -> str:
    """Die in the first worker that runs this."""
    mark = Path(folder) / "died"
    if not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return folder


def fail(_item: int) -> int:
    raise DataError("this cannot be read")


@pytest.mark.long
def test_the_task_of_a_killed_worker_is_repeated(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in "abc"]
    for folder in folders:
        folder.mkdir()
    with ProcessEngine(workers=2) as engine:
        assert sorted(engine.map(die_once, [str(each) for each in folders])) == sorted(
            map(str, folders)
        )
    assert all((folder / "died").exists() for folder in folders)


@pytest.mark.uncounted("a worker that dies cannot write its counts")
@pytest.mark.long
def test_workers_that_always_die_are_an_error() -> None:
    with ProcessEngine(workers=2) as engine, pytest.raises(WorkerLost, match="3 workers died"):
        list(engine.map(os._exit, [7, 8]))


@pytest.mark.long
def test_exceptions_of_tasks_arrive_unchanged() -> None:
    with ProcessEngine(workers=2) as engine, pytest.raises(DataError, match="cannot be read"):
        list(engine.map(fail, [1, 2]))


@pytest.mark.parametrize(
    "error",
    [
        ConfigError("x", []),
        StageFailed("s", ValueError("v")),
        WaitsForPerson("f", 2),
    ],
)
def test_errors_can_be_pickled(error: Exception) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.__dict__) == (type(error), str(error), error.__dict__)


# A preliminary sample chooses a list, which is delivered once and never overwritten.

CONFIG = Path(__file__).parents[2] / "configs" / "tuning.toml"


def run(folder: Path, **settings: object) -> lx.Run:
    own = {"sheets": str(folder / "sheets")}
    return lx.run(CONFIG, runs=folder / "runs", settings=own | settings, deliver=True, report=False)


def lists(folder: Path) -> list[Path]:
    return sorted((folder / "sheets" / "tuning-list").glob("[!.]*"))


@pytest.mark.long
def test_the_list_is_delivered_with_its_estimates(tmp_path: Path) -> None:
    run_ = run(tmp_path)
    choice = run_.table("choice").row(0, named=True)
    assert choice["precision"] >= 0.3
    assert choice["lower_simultaneous"] < choice["lower"] <= choice["precision"]
    (file,) = lists(tmp_path)
    assert file.name.startswith(f"{choice['measure']}-{choice['n']}-best-")
    book = fastexcel.read_excel(file)
    assert book.sheet_names == ["List", "About"]
    rows = book.load_sheet("List").to_polars()
    assert rows["rank"].to_list() == list(range(1, choice["n"] + 1))
    judged = run_.table("judgements").join(rows.select("id"), on="id")
    assert rows["verdict"].drop_nulls().len() == judged.height == choice["n_sampled"]
    assert (rows["verdict"] == "+").sum() == choice["k_sampled"]
    about = "\n".join(map(str, book.load_sheet("About", header_row=None).to_polars().rows()))
    assert f"{100 * choice['precision']:.1f} %, from {choice['n_sampled']} judged" in about
    assert f"among {choice['considered']} lists" in about


@pytest.mark.long
def test_a_delivered_list_is_not_overwritten(tmp_path: Path) -> None:
    run(tmp_path)
    (file,) = lists(tmp_path)
    file.write_bytes(b"my notes")
    run(tmp_path)
    assert lists(tmp_path) == [file]
    assert file.read_bytes() == b"my notes"
    run(tmp_path, **{"stages.choice.min_precision": 0.25})
    assert len(lists(tmp_path)) == 2
    assert file.read_bytes() == b"my notes"


@pytest.mark.long
def test_csv_is_delivered_with_a_description(tmp_path: Path) -> None:
    run_ = run(tmp_path, **{"stages.list.kind": "csv"})
    table, text = lists(tmp_path)
    assert (table.suffix, text.suffix) == (".csv", ".txt")
    rows = pl.read_csv(table)
    assert rows.height == run_.table("choice")["n"].item()
    assert rows["f"].dtype == pl.Int64
    assert "estimated precision: " in text.read_text()


@pytest.mark.long
def test_unreachable_criteria_are_refused(tmp_path: Path) -> None:
    with pytest.raises(LexassayError, match=r"no list reaches min_precision = 0.99; the best are"):
        run(tmp_path, **{"stages.choice.min_precision": 0.99})
    where = "stage sampled: 1 error\n  - stages.sampled.measures: 'tscore' has not been ranked"
    with pytest.raises(ConfigError, match=where):
        run(tmp_path, **{"stages.sampled.measures": ["tscore"]})
    with pytest.raises(ConfigError, match="exactly one of size, min_precision, min_recall"):
        run(tmp_path, **{"stages.choice.size": 100})
