"""The intervals contain the true precision at their level: the small simulation."""

from __future__ import annotations

import gzip
import importlib
import importlib.util
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

from pipeline.kernels.nbest.precision import join_judgements, nbest_counts
from pipeline.kernels.nbest.ranking import rank
from pipeline.kernels.nbest.sample_size import expected_width
from pipeline.kernels.sampling import with_replacement, without_replacement
from pipeline.kernels.statistics.exact_tests import TESTS
from pipeline.kernels.statistics.finite_population import finite_population_test
from pipeline.kernels.statistics.intervals import Interval
from pipeline.kernels.survey.design import sequential_poisson
from pipeline.kernels.survey.limits import limits
from pipeline.kernels.survey.study import cross_fit
from pipeline.kernels.survey.tables import estimate_tables

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
CUTS = (40, 150, 300)
SAMPLES = 400
NEVER_BELOW = ("clopper_pearson", "hypergeometric")
ERROR = (0.95 * 0.05 / SAMPLES) ** 0.5


@pytest.fixture(scope="module")
def simulation() -> Iterator[ModuleType]:
    sys.path.insert(0, str(BENCHMARKS))
    spec = importlib.util.spec_from_file_location("coverage_benchmark", BENCHMARKS / "coverage.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["coverage_benchmark"] = module
    spec.loader.exec_module(module)
    yield module
    sys.path.remove(str(BENCHMARKS))


def ranked_candidates() -> tuple[pl.DataFrame, pl.DataFrame]:
    """500 candidates, 120 of them true, under a good measure and a useless one."""
    bits = np.random.default_rng(11)
    true = np.arange(500) < 120
    scores = pl.DataFrame({
        "id": [f"x{i:03}" for i in range(500)],
        "good": true + bits.normal(size=500),
        "none": bits.normal(size=500),
    })  # fmt: skip
    ranks = rank(scores.lazy(), measures=["good", "none"], seed="s").collect()
    return ranks, scores.select("id", tp=pl.Series(true))


@pytest.fixture(scope="module")
def cells(simulation: ModuleType) -> pl.DataFrame:
    kinds = (False, True)
    table: pl.DataFrame = pl.concat(
        simulation.coverage(
            *ranked_candidates(),
            cuts=CUTS,
            rates=(0.1, 0.2),
            samples=SAMPLES,
            replacement=again,
            seed="small",
        )
        for again in kinds
    )
    return table


@pytest.mark.parametrize("replacement", [False, True])
def test_simulated_counts_are_those_of_the_pipeline(
    simulation: ModuleType, replacement: bool
) -> None:
    ranks, judgements = ranked_candidates()
    lists = simulation.nbest_lists(ranks, judgements, CUTS)
    result = simulation.count_samples(
        lists, rates=(0.1, 0.3), samples=3, replacement=replacement, seed="same"
    )
    draw = with_replacement if replacement else without_replacement
    labels = judgements.with_columns(category=pl.lit("TP")).lazy()
    for rate, size in ((0.1, 50), (0.3, 150)):
        for number in range(3):
            sample = draw(lists.ids, size=size, seed=f"same-{number}")
            counts = nbest_counts(ranks.lazy(), join_judgements(sample.lazy(), labels))
            expected = lists.cells.join(
                counts, on=["measure", "n"], how="left", maintain_order="left"
            )
            for name in ("n_sampled", "k_sampled"):
                values = getattr(result[rate], name)[number].tolist()
                assert values == expected[name].to_list()


@pytest.mark.long
def test_exact_intervals_keep_their_level(cells: pl.DataFrame) -> None:
    exact = cells.filter(pl.col("method").is_in(NEVER_BELOW))
    assert exact.height == 36
    assert exact["coverage"].min() >= 0.95 - 3 * ERROR
    means = exact.group_by("method", "replacement", "rate").agg(pl.mean("coverage"))
    assert means["coverage"].min() >= 0.95


@pytest.mark.long
def test_coverage_and_width_agree_with_the_exact_computation(cells: pl.DataFrame) -> None:
    far = []
    for row in cells.iter_rows(named=True):
        size = round(500 * row["rate"])
        exact = expected_width(
            n=row["n"], candidates=500, size=size, precision=row["truth"], method=row["method"],
            replacement=row["replacement"],
        )  # fmt: skip
        error = (exact["coverage"] * (1 - exact["coverage"]) / SAMPLES) ** 0.5
        far.append(abs(row["coverage"] - exact["coverage"]) / max(error, 1 / SAMPLES))
        assert row["width"] == pytest.approx(exact["width"], rel=0.05)
    assert max(far) < 4
    assert sum(z > 2 for z in far) < 0.2 * len(far)


def wald(k: Any, n: Any, *, confidence: Any) -> Any:
    """The textbook interval, which is wrong for few draws."""
    p = k / np.maximum(n, 1)
    half = 1.96 * np.sqrt(p * (1 - p) / np.maximum(n, 1))
    return np.maximum(p - half, 0), np.minimum(p + half, 1)


@pytest.mark.long
def test_a_wrong_interval_has_low_coverage(
    simulation: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    intervals = {"clopper_pearson": Interval("clopper_pearson", wald, reference="")}
    monkeypatch.setattr(simulation, "INTERVALS", intervals)
    table = simulation.coverage(*ranked_candidates(), cuts=CUTS, rates=(0.1,), samples=SAMPLES)
    assert table["coverage"].min() < 0.95 - 3 * ERROR


@pytest.mark.long
def test_intervals_keep_their_level_in_krenns_data(
    simulation: ModuleType, public_data: Callable[[str], Path]
) -> None:
    """The same on real data: seven measures, 150 samples of 10 %."""
    root = public_data("collocations/krenn_pp_verb.ds").parents[1]
    table = simulation.coverage(
        *simulation.krenn(root), cuts=(500, 1000, 2000), rates=(0.1,), samples=150
    )
    assert table.height == 21 * len(simulation.INTERVALS)
    exact = table.filter(pl.col("method").is_in(NEVER_BELOW))
    assert exact["coverage"].min() >= 0.90
    assert exact["coverage"].mean() >= 0.95
    best = table.filter(method="clopper_pearson", measure="t_score", n=1000)
    assert best.select("true", "truth").row(0) == (281, 0.281)


def test_absent_data_are_reported(
    simulation: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.delenv("LEXASSAY_DATA", raising=False)
    assert simulation.main([]) == 2
    assert "LEXASSAY_DATA is not set" in capsys.readouterr().err
    monkeypatch.setenv("LEXASSAY_DATA", str(tmp_path))
    assert simulation.main([]) == 2
    output = capsys.readouterr().err
    assert "krenn_pp_verb.ds is not there" in output
    assert "collocations.de" in output


@pytest.mark.long
def test_the_summary_has_the_worst_list_of_each_interval(
    simulation: ModuleType, cells: pl.DataFrame
) -> None:
    table = simulation.summary(cells)
    assert table.height == cells.select("replacement", "rate", "method").unique().height
    worst = cells.sort("coverage").row(0, named=True)
    key = {name: worst[name] for name in ("replacement", "rate", "method")}
    row = table.filter(**key).row(0, named=True)
    assert (row["lowest"], row["at"]) == (
        round(100 * worst["coverage"], 1), f"{worst['measure']}, {worst['n']}"
    )  # fmt: skip


# Coverage of all methods and designs, cell by cell: the small simulation and its verdicts.

PARTS = (
    "bands", "cells", "estimation", "inferred", "keeping", "labels_needed", "lists_of_designs",
    "looks", "parts", "populations", "reading", "results", "samples", "sets", "simple_samples",
    "stratified_samples", "tests_of_designs", "tests_of_differences",
)  # fmt: skip
SAMPLES_COVERAGE_PARTS = 200


@pytest.fixture(scope="module")
def lab() -> Iterator[Any]:
    """The modules of the simulation by name; benchmarks come last in the path and hide nothing."""
    sys.path.append(str(BENCHMARKS))
    modules = {name: importlib.import_module(f"coverage_parts.{name}") for name in PARTS}
    scripts = {"run": "coverage_run", "chapter": "coverage_chapter"}
    scripts_by_name = {name: importlib.import_module(script) for name, script in scripts.items()}
    yield SimpleNamespace(**modules, **scripts_by_name)
    sys.path.remove(str(BENCHMARKS))


def read_cells(
    lab: Any, part: str, method: str, size: int, samples: int = SAMPLES_COVERAGE_PARTS
) -> pl.DataFrame:
    task = lab.cells.Task(part, method, "invented", size)
    cells = lab.parts.PARTS[part].cells(task, 0, samples)
    return lab.reading.read(pl.DataFrame(cells), few=lab.parts.few(method))


def test_simulated_samples_are_those_of_the_kernel(lab: Any) -> None:
    pi = lab.samples.chances("invented", "designed", 900)
    assert (pi == 1).any()
    u = lab.samples.numbers(len(pi), 3, 2)
    assert (u[1] == lab.samples.numbers(len(pi), 4, 1)[0]).all()
    for row, sample in zip(u, lab.samples.draw_samples(pi, u, size=900), strict=True):
        expected = sequential_poisson(pi, row, size=900)
        assert np.flatnonzero(sample).tolist() == sorted(expected.tolist())


@pytest.mark.parametrize("by", ["none", "good", "scores"])
def test_simulated_estimates_are_those_of_the_stages(lab: Any, by: str) -> None:
    everyone = lab.populations.population("invented")
    task = lab.cells.Task("designs", f"designed, {by}", "invented", 250)
    pi = lab.samples.chances("invented", "designed", 250)
    sample = lab.samples.draw_samples(pi, lab.samples.numbers(len(pi), 0, 1), size=250)
    listed, compared = lab.sets.lists("invented"), lab.sets.differences("invented")
    (outcome,) = lab.lists_of_designs._outcomes(task, 0, 1)
    places = np.flatnonzero(sample[0])
    draws = pl.DataFrame({
        "id": everyone.ids.gather(places), "tp": everyone.tp[places], "pi": pi[places],
    })  # fmt: skip
    candidates, folds = pl.DataFrame({"id": everyone.ids, "pi": pi}), lab.populations.FOLDS
    if by == "good":
        candidates = candidates.with_columns(prediction=lab.lists_of_designs.judge("invented", by))
    if by == "scores":
        fold = lab.populations.folds("invented")
        features = lab.populations.features("invented")
        candidates = candidates.with_columns(
            prediction=cross_fit(features, places, everyone.tp[places], fold[places], folds=folds)
        )
    ranks = pl.concat(
        pl.DataFrame({"measure": name, "id": everyone.ids, "rank": everyone.of(name)})
        for name in lab.populations.MEASURES
    )
    estimates = estimate_tables(
        ranks, draws, at=lab.populations.CUTS, pairs=lab.populations.PAIRS, candidates=candidates,
        folds=folds, seed="coverage",
    )  # fmt: skip
    widths = {
        (row["measure"], row["n"]): row["upper"] - row["lower"] for row in estimates[0].to_dicts()
    }
    widths |= {
        (f"{row['measure_1']} - {row['measure_2']}", row["n"]): row["upper"] - row["lower"]
        for row in estimates[1].to_dicts()
    }
    keys = [*zip(listed.names[:-1], listed.n[:-1], strict=True)]
    keys += zip(compared.names, compared.n, strict=True)
    widths_of_outcome = np.delete(outcome.width[0], len(listed.n) - 1)
    assert widths_of_outcome == pytest.approx([widths[name, int(n)] for name, n in keys], abs=1e-9)


def test_simulated_strata_are_those_of_the_kernel(lab: Any) -> None:
    everyone, listed = lab.populations.population("invented"), lab.sets.lists("invented")
    stratum = lab.stratified_samples.strata(everyone, "even 5 strata")
    counts = lab.stratified_samples.draws_of(np.bincount(stratum), "even 5 strata", 104)
    assert counts.tolist() == [21, 21, 21, 21, 20]
    u = lab.samples.numbers(everyone.size, 0, 2)
    draws = lab.stratified_samples.draw_from_strata(stratum, counts, u)
    estimates, judged = lab.stratified_samples.estimate_from_strata(
        everyone, stratum, draws, listed.members
    )
    (indices,) = np.nonzero(draws[1])
    names = pl.Series(stratum.astype(str))
    sample = pl.DataFrame({
        "id": everyone.ids[indices], "tp": everyone.tp[indices],
        "pi": (counts / np.bincount(stratum))[stratum[indices]],
    })  # fmt: skip
    ranks = pl.concat(
        pl.DataFrame({"measure": name, "id": everyone.ids, "rank": everyone.of(name)})
        for name in lab.populations.MEASURES
    )
    table, _ = estimate_tables(
        ranks, sample, at=lab.populations.CUTS, pairs=[],
        candidates=pl.DataFrame({"id": everyone.ids, "stratum": names}),
    )  # fmt: skip
    rows = {(row["measure"], row["n"]): row for row in table.to_dicts()}
    lower, upper = limits(estimates, confidence=0.95)
    for at, key in enumerate(zip(listed.names[:-1], listed.n[:-1].tolist(), strict=True)):
        row = rows[key]
        assert judged[1, at] == row["n_sampled"]
        estimate = np.nan if row["estimate"] is None else row["estimate"]
        assert estimates.estimate[1, at] == pytest.approx(estimate, nan_ok=True)
        assert (lower[1, at], upper[1, at]) == pytest.approx((row["lower"], row["upper"]))


@pytest.mark.long
@pytest.mark.parametrize(
    ("part", "method", "size"),
    [
        ("simple", "hypergeometric", 250),
        ("simple", "clopper_pearson with replacement", 250),
        ("simple", "mover hypergeometric", 500),
        ("strata", "even 5 strata", 500),
        ("designs", "designed, none", 500),
        ("designs", "designed, perfect", 500),
        ("bands", "cuts, clopper_pearson", 250),
        ("bands", "range, mover korn_graubard, designed", 250),
        ("looks", "obrien_fleming, hypergeometric", 737),
        ("looks", "pocock, korn_graubard, designed", 737),
        ("looks", "confidence_sequence", 737),
        ("tests", "fisher, candidates to come", 1000),
        ("tests", "mover korn_graubard, these candidates", 500),
        ("design_tests", "designed, good", 500),
    ],
)
def test_methods_and_designs_keep_their_level(lab: Any, part: str, method: str, size: int) -> None:
    samples = 40 if part == "bands" or method == "confidence_sequence" else SAMPLES_COVERAGE_PARTS
    cells = read_cells(lab, part, method, size, samples)
    verdict = lab.reading.verdict(cells)
    assert verdict["verdict"] != "fails", cells.head(5)
    assert cells.filter("judged").height == verdict["cells"] > 0
    if part not in {"tests", "design_tests"}:
        assert cells["share"].mean() < 1


def test_limits_of_average_precision_keep_their_level(lab: Any) -> None:
    cells = read_cells(lab, "average", "infAP, designed", 500, 60)
    assert lab.reading.verdict(cells)["verdict"] != "fails"
    assert cells["what"].n_unique() == 4


@pytest.mark.long
def test_looks_without_a_plan_fail(lab: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    method = "obrien_fleming, korn_graubard, designed"
    cells_ = read_cells(lab, "looks", method, 737)
    assert lab.reading.verdict(cells_)["verdict"] != "fails"
    monkeypatch.setattr(lab.looks, "spent_levels", lambda _, V, **__: np.full(V.shape, 0.05))
    assert lab.reading.verdict(read_cells(lab, "looks", method, 737))["verdict"] == "fails"


def cell(share: float, samples: int = 2000, **further: object) -> dict[str, object]:
    return {
        "population": "p", "size": 100, "what": "mi", "n": 50, "kind": "coverage", "truth": 0.5,
        "samples": samples, "hits": round(share * samples), "width": 0.1, "draws": 40.0, **further,
    }  # fmt: skip


def test_cells_are_read_with_the_error_of_the_simulation(lab: Any) -> None:
    # of 300 cells with 2,000 samples one is too low below 92.0 %
    rows = [cell(0.96)] * 297 + [cell(0.919), cell(0.921), cell(0.935)]
    table = lab.reading.read(pl.DataFrame(rows), few=True)
    assert table["low"].to_list()[:3] == [True, False, False]
    assert table["borderline"].to_list()[:4] == [False, True, True, False]
    assert lab.reading.verdict(table)["verdict"] == "fails"
    assert lab.reading.verdict(table)["worst"] == 0.919


def test_only_exact_intervals_have_cells_with_few_draws(lab: Any) -> None:
    rows = pl.DataFrame([cell(0.5, draws=9.9), cell(0.96, draws=10.0)])
    assert lab.reading.verdict(lab.reading.read(rows, few=False))["verdict"] == "holds"
    assert lab.reading.verdict(lab.reading.read(rows, few=True))["verdict"] == "fails"
    assert lab.parts.few("wilson_corrected")
    assert not lab.parts.few("range, wilson")


def test_verdicts_depend_on_the_mean_coverage(lab: Any) -> None:
    def verdict_on(*rows: dict[str, object]) -> object:
        return lab.reading.verdict(lab.reading.read(pl.DataFrame(rows), few=True))["verdict"]

    assert verdict_on(cell(0.944), cell(0.945)) == "fails"
    assert verdict_on(cell(0.945), cell(0.946)) == "holds"
    assert verdict_on(cell(0.999), cell(0.95)) == "cautious"
    assert verdict_on(cell(0.999, draws=29.0), cell(0.95)) == "holds"
    assert verdict_on(cell(1.0, width=0.0), cell(0.95)) == "holds"


def test_sizes_of_tests_fail_if_they_are_high(lab: Any) -> None:
    def low(share: float) -> bool:
        return bool(lab.reading.read(pl.DataFrame([cell(share, kind="test")]), few=True)["low"][0])

    assert [low(0.0), low(0.05), low(0.063), low(0.065)] == [False, False, False, True]


@pytest.mark.long
def test_rejections_agree_with_each_single_test(lab: Any) -> None:
    tables = lab.tests_of_differences.Tables
    bits = np.random.default_rng(0)
    k1, n1, k2, n2 = np.array([
        (bits.integers(0, a + 1), a, bits.integers(0, b + 1), b)
        for a, b in bits.integers(1, 40, (100, 2))
    ]).T  # fmt: skip
    for name in ("boschloo_minlike", "finite_population_test"):
        rejections, _ = lab.tests_of_differences.rejections(
            f"{name}, these candidates", tables(k1, n1, k2, n2, 60, 100)
        )
        every = (
            finite_population_test(k1, n1, k2, n2, size=60)
            if name == "finite_population_test"
            else TESTS.get(name).p_values(k1, n1, k2, n2)
        )
        assert rejections.tolist() == (every < 0.05).tolist()
        assert 10 < rejections.sum() < 90
    full = tables(np.array([30]), np.array([60]), np.array([31]), np.array([60]), 60, 100)
    assert lab.tests_of_differences.rejections("finite_population_test, these candidates", full)[0]


@pytest.mark.long
def test_an_interrupted_run_is_resumed(
    lab: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Job, task = lab.keeping.Job, lab.cells.Task("average", "infAP, simple", "invented", 100)
    part = lab.keeping.PartFile(tmp_path, "average")
    assert part.read() == {}
    jobs = [Job(task, first, 2) for first in (0, 2)]
    part.add(jobs[0], [cell(0.5)])
    part.add(jobs[1], [cell(1.0)])
    whole = part.path.read_bytes()
    part.path.write_bytes(whole[:-5])  # killed while it wrote
    assert list(part.read()) == jobs[:1]
    lab.run.finish(jobs, part, workers=2)
    again = part.read()
    assert list(again) == jobs
    assert again[jobs[0]] == [cell(0.5)]
    assert [row["samples"] for row in again[jobs[1]]] == [2, 2, 2, 2]
    output = capsys.readouterr().err
    assert output.count("average 1/1: infAP, simple, invented, 100") == 1


def test_doubtful_cells_are_judged_by_their_second_samples(lab: Any, tmp_path: Path) -> None:
    task = lab.cells.Task("simple", "wilson", "invented", 100)
    part = lab.keeping.PartFile(tmp_path, "simple")
    own = task._asdict()
    part.add(lab.keeping.Job(task, 0, 2000), [cell(0.935) | own, cell(0.96, n=99) | own])
    first = lab.results.read_results(tmp_path, "simple", samples=2000)
    assert lab.results.doubtful(first) == {task: {("mi", 50)}}
    repeated = [cell(0.951, samples=10_000) | own, cell(0.90, samples=10_000, n=99) | own]
    part.add(lab.keeping.Job(task, 2000, 10_000), repeated)
    rows = lab.results.read_results(tmp_path, "simple", samples=2000)["wilson"].sort("n")
    assert rows["share"].to_list() == [0.951, 0.96]
    assert rows["samples"].to_list() == [10_000, 2000]


def test_a_failing_default_fails_the_run(lab: Any, tmp_path: Path) -> None:
    for method, fails in (("jeffreys", False), ("clopper_pearson", True)):
        task = lab.cells.Task("simple", method, "invented", 100)
        part = lab.keeping.PartFile(tmp_path / method, "simple")
        part.add(lab.keeping.Job(task, 0, 2000), [cell(0.9) | task._asdict()])
        assert lab.run.report_part("simple", tmp_path / method, samples=2000) is fails


def test_absent_populations_are_reported(
    lab: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lab.populations.population.cache_clear()
    monkeypatch.delenv("LEXASSAY_DATA", raising=False)
    assert lab.run.present(["krenn", "invented"]) == ("invented",)
    output = capsys.readouterr().err
    assert "krenn is skipped" in output
    assert "LEXASSAY_DATA names the folder" in output


def test_the_fewest_labels_are_found_by_bisection(lab: Any) -> None:
    fewest = lab.labels_needed.fewest
    for needed in (5, 100, 4000):
        assert needed <= fewest(lambda labels: labels >= needed, 5000) <= 1.01 * needed + 1  # noqa: B023
    assert fewest(lambda _: False, 5000) is None


def question(lab: Any, n: int = 500) -> Any:
    everyone, pair = lab.populations.population("invented"), ("t_score", "chi_squared")
    question_ = lab.sets.differences_of(everyone, (pair,), (n,))
    return lab.labels_needed.Question("invented", everyone, question_, pair)


def test_a_design_for_one_difference_is_a_simple_sample_of_it(lab: Any) -> None:
    question_ = question(lab)
    pi = lab.labels_needed._chances(question_, "question", 100)
    members = question_.differences.members.any(axis=0)
    assert pi[members] == pytest.approx(100 / (2 * question_.size))
    assert not pi[~members].any()


def test_the_labels_for_a_comparison_are_computed(lab: Any) -> None:
    question_ = question(lab)
    look = lab.labels_needed.outcome
    for way in ("fisher, question", "mover, question", "mover, simple", "mover, question, scores"):
        few, many = (look(question_, way, 0, 200, labels) for labels in (60, 300))
        assert few[0] < many[0]
        assert few[1] > many[1]
    simple, designed = (
        look(question_, f"mover, {kind}", 0, 200, 300) for kind in ("simple", "question")
    )
    assert designed[0] > simple[0]
    everybody = look(question_, "mover, question", 0, 10, 2 * question_.size)
    assert everybody == (1.0, 0.0)
    assert look(question_, "mover, question, scores", 0, 10, 2 * question_.size) == (1.0, 0.0)


def stored_cells(lab: Any, folder: Path) -> None:
    """Store two methods, one with a failing cell, and the labels of one comparison."""
    Task, Job = lab.cells.Task, lab.keeping.Job
    for method, share in (("designed, none", 0.9), ("designed, good", 0.95)):
        task = Task("designs", method, "invented", 100)
        rows = [cell(0.96) | task._asdict(), cell(share, n=99) | task._asdict()]
        lab.keeping.PartFile(folder, "designs").add(Job(task, 0, 2000), rows)
    task = Task("labels", "fisher, simple: a - b", "krenn", 500)
    for way, power in (("fisher, simple", None), ("mover, simple", 1234)):
        row = {"way": way, "pair": "a - b", "power": power, "half_width": 9} | task._asdict()
        lab.keeping.PartFile(folder, "labels").add(Job(task, len(way), 2000), [row])


def test_the_chapter_contains_cells_table_chart_and_labels(
    lab: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored_cells(lab, tmp_path)
    for name in ("CHAPTER", "LABELS_CHAPTER", "CELLS", "CHART"):
        place = tmp_path / getattr(lab.chapter, name).name
        place.write_bytes(getattr(lab.chapter, name).read_bytes())
        monkeypatch.setattr(lab.chapter, name, place)
    before = pl.read_csv(gzip.decompress(lab.chapter.CELLS.read_bytes()))
    former = before.filter(part="designs").head(1)  # its cells stay
    before = before.filter(pl.col("part") != "designs").extend(former)
    obsolete = former.with_columns(method=pl.lit("a method of former times"))
    former_cells = pl.concat([before, obsolete])
    lab.chapter.CELLS.write_bytes(gzip.compress(former_cells.write_csv().encode()))
    for _ in range(2):  # the second time the cells of the folder replace those of the first
        assert lab.chapter.main(["--folder", str(tmp_path)]) == 0
    cells = pl.read_csv(gzip.decompress(lab.chapter.CELLS.read_bytes()))
    assert cells.height == before.height + 4
    assert cells.join(before, on=before.columns, how="semi").height == before.height
    text = lab.chapter.CHAPTER.read_text(encoding="utf-8")
    assert "design | 4 | 93.0 to 95.5 | 93.0 to 95.5 | 90.0 | fails: designed, none |" in text
    assert "| precision, `clopper_pearson` (default) | 968 |" in text
    chart = lab.chapter.CHART.read_text(encoding="utf-8")
    assert chart.index("designs: designed, none") < chart.index("designs: designed, good")
    labels = lab.chapter.LABELS_CHAPTER.read_text(encoding="utf-8")
    assert "| a - b, n = 500 | 1,234 | not simulated |" in labels
    assert "| none | not simulated |" in labels


def test_table_and_chart_are_those_of_the_cells(lab: Any) -> None:
    chapter = lab.chapter
    cells = pl.read_csv(gzip.decompress(chapter.CELLS.read_bytes()), schema=chapter.COLUMNS)
    methods = chapter.by_method(cells)
    text = chapter.CHAPTER.read_text(encoding="utf-8")
    assert text == chapter.update_chapter(text, "results", chapter.summary(methods))
    chart = chapter.CHART.read_text(encoding="utf-8")
    assert [key for key in methods if f"{key[0]}: {key[1]}" not in chart] == []
    failing = {key for key, cells_of_method in methods.items() if cells_of_method["low"].any()}
    own = {name for part, name in failing if part == "simple"}
    assert {name.split()[0] for name in own} == {"wilson", "jeffreys"}
    others = {key for key in failing if key[0] != "simple"}
    assert others <= {("bands", "range, wilson")}, "the chapter says that only these fail"


# Sampling lemmas by size estimates L* more precisely, and limits keep their level.

ERROR_LEXICON_COVERAGE = (0.95 * 0.05 / SAMPLES) ** 0.5


@pytest.fixture(scope="module")
def simulation_lexicon_coverage() -> Iterator[ModuleType]:
    path = [*sys.path]
    sys.path.insert(0, str(BENCHMARKS))
    place = BENCHMARKS / "lexicon_coverage.py"
    spec = importlib.util.spec_from_file_location("lexicon_coverage_benchmark", place)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["lexicon_coverage_benchmark"] = module
    spec.loader.exec_module(module)
    yield module
    sys.path[:] = path


def heavy(lemmas: int = 1500) -> pl.DataFrame:
    """Return scores of all lemmas; a few have very large paradigms, matched badly."""
    random = np.random.default_rng(8)
    size = np.rint(random.lognormal(2.2, 0.7, lemmas)).astype(int) + 1
    value = np.where(random.random(lemmas) < 0.5, 1.0, random.beta(5, 2, lemmas))
    size[:6], value[:6] = 300, 0.3
    table = pl.DataFrame({"lemma": [f"l{i:04}" for i in range(lemmas)], "size": size, "L": value})
    return table.with_columns(
        base="size", n_gold="size", drawn=True, population=pl.lit(lemmas, pl.Int64),
        base_total=pl.col("size").sum(),
    )  # fmt: skip


@pytest.mark.long
def test_sampling_by_size_is_more_precise_and_keeps_its_level(
    simulation_lexicon_coverage: ModuleType,
) -> None:
    scores = heavy()
    for count in (30, 93):
        (boot, t), (beta, _) = (
            simulation_lexicon_coverage.coverage(
                scores, count, design, samples=SAMPLES, replicates=200
            )
            for design in ("simple", "size")
        )
        assert beta.spread < 0.6 * t.spread
        assert beta.held > 0.94 - 2.5 * ERROR_LEXICON_COVERAGE
        assert beta.width < boot.width
        assert t.held < 0.9  # the heavy lemmas are in few of the simple samples
        assert beta.without == 0


@pytest.mark.long
@pytest.mark.parametrize("count", [30, 100])
def test_a_few_large_lemmas_need_sampling_by_size(
    simulation_lexicon_coverage: ModuleType, count: int
) -> None:
    """By size the limits cover at least 92.6 %; those of a simple sample hardly ever do."""
    one, two = simulation_lexicon_coverage.few_large()
    large = one.filter(size=1000)
    assert large.height == 0.002 * one.height
    assert large["L"].max() < 0.3
    options = {"samples": 1000, "replicates": 200}
    (beta, _) = simulation_lexicon_coverage.coverage(one, count, "size", **options)
    assert beta.held > 0.926 - 1.64 * (0.926 * 0.074 / 1000) ** 0.5
    difference = simulation_lexicon_coverage.difference_coverage(
        [one, two], count, "size", **options
    )
    assert difference.held > 0.926 - 1.64 * (0.926 * 0.074 / 1000) ** 0.5
    options["samples"] = 200
    (boot, _) = simulation_lexicon_coverage.coverage(one, count, "simple", **options)
    assert boot.held < 0.4


@pytest.mark.long
def test_limits_of_differences_keep_their_level(simulation_lexicon_coverage: ModuleType) -> None:
    scores = heavy()
    other = scores.with_columns(L=pl.col("L") * 0.9)
    result = simulation_lexicon_coverage.difference_coverage(
        [scores, other], 60, "size", samples=SAMPLES
    )
    assert result.held > 0.94 - 3 * ERROR_LEXICON_COVERAGE
    assert "| 60 | size |" in simulation_lexicon_coverage.table([result])


def test_limits_for_the_invented_lexicons_keep_their_level(
    simulation_lexicon_coverage: ModuleType,
) -> None:
    one, two = simulation_lexicon_coverage.invented_scores(600)
    assert one["lemma"].equals(two["lemma"])
    assert 100 < one.height < 600
    (beta, _) = simulation_lexicon_coverage.coverage(one, 30, "size", samples=100)
    assert beta.held > 0.87


@pytest.mark.long
def test_limits_for_the_spanish_lexicons_keep_their_level(
    simulation_lexicon_coverage: ModuleType, public_data: Callable[[str], Path]
) -> None:
    scores, _ = simulation_lexicon_coverage.spanish(
        public_data("lexicon/hunspell_es_ES.tsv.gz").parents[1]
    )
    (beta, t) = simulation_lexicon_coverage.coverage(scores, 93, "size", samples=SAMPLES)
    assert beta.spread == pytest.approx(0.016, abs=0.002)
    assert beta.held > 0.94 - 2.5 * ERROR_LEXICON_COVERAGE
    assert t.held > 0.9
    (boot, _) = simulation_lexicon_coverage.coverage(
        scores, 93, "simple", samples=100, replicates=200
    )
    assert boot.spread > 0.03
