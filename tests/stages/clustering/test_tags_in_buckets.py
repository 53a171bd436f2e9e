"""Tags that are counted in buckets are those that are counted as a whole."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

import pipeline as lx
from pipeline.errors import DataError
from pipeline.runner import inputs

FEW, MANY = 'memory = "2MB"', 'memory = "1MB"\nshard = 1'
GOLD = 'use = "extract.gold"\n'
TAGGING = 'use = "extract.tagging"\nsystem = "S"\ncluster = ["t1", "t2"]\nuntagged = true\n'
CORPUS = 'corpus = "*.tsv"\nitem = "lemma"\n'
DIVIDED = {GOLD: ["entries"], TAGGING: ["tagged", "entries", "gold"]}
LATE = 'min_frequency = 3\nexclude = ["T2"]\n'
WAYS = ["", "sentences = true\n", LATE, f"fold = true\nsentences = true\n{LATE}"]


def build(folder: Path, *, clusters: int = 7) -> list[list[str]]:
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


def made(folder: Path, stage: str, run: str, runs: str) -> lx.Run:
    (folder / "x.toml").write_text(f'name = "x"\n[run]\n{run}\n[stages.t]\n{CORPUS}{stage}')
    return lx.run(folder / "x.toml", runs=folder / runs, report=False)


def parts(run: lx.Run, table: str) -> int:
    return len(run.manifests["t"].tables[table].parts)


@pytest.fixture(autouse=True)
def _as_if_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Divide the counts as those of long corpora are."""
    monkeypatch.setattr(inputs, "_SPREAD", 50)


@pytest.mark.long
@pytest.mark.parametrize("stage", [GOLD, TAGGING])
@pytest.mark.parametrize("options", WAYS)
def test_the_same_with_and_without_a_limit(stage: str, options: str, tmp_path: Path) -> None:
    build(tmp_path)
    whole, few, many = (
        made(tmp_path, stage + options, run, f"runs{number}")
        for number, run in enumerate(["", FEW, MANY])
    )
    for table in DIVIDED[stage]:
        assert parts(whole, table) == 1 < parts(few, table) < parts(many, table)
    digests = [run.manifests["t"].digests() for run in (whole, few, many)]
    assert digests[0] == digests[1] == digests[2]
    assert bool(whole.table("t.sentences").height) == ("sentences" in options)


@pytest.mark.long
@pytest.mark.parametrize(("first", "then"), [("", MANY), (MANY, ""), (FEW, MANY)])
def test_another_threshold_in_other_buckets(first: str, then: str, tmp_path: Path) -> None:
    """Counts that are there are divided further, or read in the buckets that they have."""
    build(tmp_path)
    stage = f"{TAGGING}sentences = true\n"
    made(tmp_path, stage, first, "runs")
    found = made(tmp_path, stage + LATE, then, "runs")
    fresh = made(tmp_path, stage + LATE, "", "fresh")
    assert found.manifests["t"].digests() == fresh.manifests["t"].digests()
    assert len(list((tmp_path / "runs/x/t/counts").glob("*/manifest.json"))) == 1
    assert parts(found, "tagged") > 1


def test_what_counts_is_what_a_loop_counts(tmp_path: Path) -> None:
    rows = [row[:3] for row in build(tmp_path) if row[0] and row[1] not in {"", "T2"}]
    often = Counter(item for item, _, _ in rows)
    kept = [row for row in rows if often[row[0]] >= 3]
    run = made(tmp_path, TAGGING + LATE, MANY, "runs")
    sizes = run.table("t.sizes").filter(run="t1").select("what", "count")
    counts = dict(sizes.iter_rows())
    assert counts["tokens that count"] == len(kept)
    assert counts["tokens of items seen less than 3 times"] == len(rows) - len(kept)
    assert counts["items"] == len({item for item, _, _ in kept})
    assert counts["classes"] == len({gold for _, gold, _ in kept}) == 3
    assert counts["clusters"] == len({cluster for _, _, cluster in kept} - {""}) == 7
    assert counts["tokens that count but have no cluster"] == sum(not row[2] for row in kept)
    tagged = run.table("t.tagged").filter(run="t1").select("item", "gold", "cluster", "f")
    assert {(item, gold, cluster or ""): f for item, gold, cluster, f in tagged.iter_rows()} == (
        Counter((item, gold, cluster) for item, gold, cluster in kept)
    )


@pytest.mark.parametrize(
    "stage",
    [
        f'{GOLD}exclude = ["T0", "T1", "T2", "T3"]\n',
        TAGGING.replace("untagged = true", ""),
        f"{TAGGING}min_frequency = 100_000\n",
    ],
)
@pytest.mark.long
def test_what_is_refused_is_refused_in_the_same_words(stage: str, tmp_path: Path) -> None:
    build(tmp_path)
    said = []
    for number, run in enumerate(["", MANY]):
        with pytest.raises(DataError) as refused:
            made(tmp_path, stage, run, f"runs{number}")
        said.append(str(refused.value))
    assert said[0] == said[1]
