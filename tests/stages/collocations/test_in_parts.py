"""What is looked at in parts, to bound the memory, is what the whole gives."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import pipeline as lx
from pipeline.errors import DataError
from pipeline.kernels import partitions
from pipeline.kernels.nbest import precision
from pipeline.runner import inputs
from pipeline.stages.collocations import extract_corpus

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
    found = {name: run.table(f"c.{name}") for name in names}
    return {name: table.sort(table.columns) for name, table in found.items()}


def smaller(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extract_corpus, "AT_A_TIME", 3)
    monkeypatch.setattr(inputs, "MANY", 3)


PAIRS = 'use = "extract.pairs"\nleft = { label = "{form}" }\nright = { label = "{form}" }\n'
TUPLES = 'use = "extract.tuples"\nlength = 3\nunit = { label = "{form}" }\nrelation = "adjacent"\n'


@pytest.mark.parametrize(
    "stage", [*(PAIRS + each for each in RELATIONS), TUPLES + "adjacent = { gap = 2 }"]
)
def test_parts_of_a_batch(stage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = tables(tmp_path, stage)
    smaller(monkeypatch)
    parts = tables(tmp_path, stage)
    assert {name: table.equals(parts[name]) for name, table in whole.items()} == dict.fromkeys(
        whole, True
    )


@pytest.mark.parametrize(
    "stage",
    [
        PAIRS + 'relation = "surface"\nsurface = { left = %d, right = %d }',
        PAIRS + 'relation = "surface"\nsurface = { left = %d, right = %d, count = "windows" }',
    ],
)
def test_a_span_ends_with_the_sentence(stage: str, tmp_path: Path) -> None:
    long, longer = (tables(tmp_path, stage % (each, each)) for each in (6, 10**18))
    assert long["candidates"].equals(longer["candidates"])


def long_sentence(folder: Path, run: str, words: int) -> Path:
    (folder / "a.txt").write_text(" ".join(f"w{number}" for number in range(words)) + "\n")
    stage = PAIRS + 'relation = "sentence"'
    (folder / "x.toml").write_text(
        f'name = "x"\n[run]\n{run}\n[stages.c]\ncorpus = "a.txt"\n{stage}\n'
    )
    return folder / "x.toml"


def test_more_pairs_than_there_is_room_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a limit they would be held; with one they go to the disk."""
    monkeypatch.setattr(extract_corpus, "_ROW", 1 << 20)
    told = r"(?s)a.txt: .* 80 tokens.*\(6,400\).*memory ="
    with pytest.raises(DataError, match=told):
        lx.run(long_sentence(tmp_path, "", 80), runs=tmp_path / "runs", report=False)
    limited_ = long_sentence(tmp_path, 'memory = "1GB"', 80)
    run = lx.run(limited_, runs=tmp_path / "runs", report=False)
    assert run.table("c.candidates").height == 80 * 79


def test_pairs_that_would_take_days(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extract_corpus, "ENDLESS_PAIRS", 6_000)
    with pytest.raises(DataError, match=r"(?s)6,400, would take days.*cut the text"):
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
          "g.sizes", "v.precision", "v.cuts", "v.comparison")  # fmt: skip


@pytest.mark.parametrize("sampled", [False, True])
@pytest.mark.long
def test_ranks_and_lists_in_parts(
    sampled: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some lists at a time, or some candidates, too, where memory is limited: the same tables."""
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
        "v": 'use = "evaluate.stratified"\nranks = "r"\njudgements = "j"\nsample = "g"\n'
        'strata = "g.strata"\nevery = 7\ncuts = [30, 90]\ninterval = "bootstrap"\nreplicates = 50',
    } | {name: f"{each}\n" + 'sample = "d"' * sampled for name, each in EVALUATED.items()}
    text = "".join(f"[stages.{name}]\n{each}\n" for name, each in stages.items())
    (tmp_path / "x.toml").write_text('name = "x"\n' + text)
    made = []
    for lists, memory in ((1_000_000, None), (40, None), (40, "1GB")):
        monkeypatch.setattr(precision, "_ROWS", lists)
        if memory:
            monkeypatch.setattr(partitions, "ROW", (1 << 30) // 60)
        run = lx.run(
            tmp_path / "x.toml", runs=tmp_path / f"{lists}{memory}", report=False,
            settings={"run.memory": memory} if memory else {},
        )  # fmt: skip
        made.append({name: run.table(name) for name in TABLES})
    for name in TABLES:
        assert made[0][name].height, name
        for other in made[1:]:
            assert other[name].equals(made[0][name]), name
