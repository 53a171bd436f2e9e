"""Differences with their limits, by population and by clusters, and the best measures."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from pydantic import ValidationError

from pipeline.errors import ConfigError
from pipeline.kernels.statistics.differences import difference_limits
from pipeline.kernels.statistics.exact_tests import holm
from pipeline.kernels.statistics.finite_population import finite_population_test
from pipeline.kernels.statistics.intervals import clopper_pearson
from pipeline.stages.collocations import evaluate_comparison
from tests.stages.run_stage import run_stage

N = 120
IDS = [f"x{place:03}" for place in range(N)]
SCORES = pl.DataFrame({
    "id": IDS,
    "a": [float(-place) for place in range(N)],
    "b": [float(-((place + 40) % N)) for place in range(N)],
    "c": [float(place % 7) - place / 1000 for place in range(N)],
})  # fmt: skip
RANKS = run_stage("score.rank", {"seed": "s"}, scores=SCORES)["ranks"]
JUDGEMENTS = pl.DataFrame({
    "category": "TP", "id": IDS, "tp": [place % 3 == 0 or place < 30 for place in range(N)],
})  # fmt: skip
SAMPLE = pl.DataFrame({"id": IDS[::2], "multiplicity": 1, "position": range(1, N // 2 + 1)})
VERBS = pl.DataFrame({"id": IDS, "l2": [f"v{place % 20}" for place in range(N)]})
CONFIG = {"cuts": [40, 80, 999], "every": 0}


def compare(
    config: dict[str, Any] | None = None, **tables: pl.DataFrame
) -> dict[str, pl.DataFrame]:
    inputs = {"ranks": RANKS, "judgements": JUDGEMENTS, "sample": SAMPLE} | tables
    return run_stage("evaluate.comparison", CONFIG | (config or {}), **inputs)


def test_each_pair_cut_and_population_has_a_row() -> None:
    rows = compare()["differences"]
    assert rows.height == 3 * 2 * 2
    assert set(rows["population"]) == {"finite", "super"}
    methods = dict(rows.select("population", "interval").unique().iter_rows())
    assert methods == {"finite": "hypergeometric", "super": "clopper_pearson"}


@pytest.mark.parametrize("population", ["finite", "super"])
def test_limits_and_tests_equal_those_of_the_kernels(population: str) -> None:
    tables = compare({"population": population})
    rows, cuts = tables["differences"], tables["cuts"]
    assert rows.select(cuts.columns[:10]).equals(cuts.select(cuts.columns[:10]))
    counts = [cuts[name].to_numpy() for name in ("k_1", "n_1", "k_2", "n_2")]
    size = cuts["size"].to_numpy()
    method = {"finite": "hypergeometric", "super": "clopper_pearson"}[population]
    lower, upper = difference_limits(
        *counts, size=size, list_size=cuts["n"].to_numpy(), method=method
    )
    assert rows["lower"].to_list() == lower.tolist()
    assert rows["upper"].to_list() == upper.tolist()
    p = cuts["p_value"].to_numpy()
    if population == "finite":
        p = finite_population_test(*counts, size=size)
    assert rows["p_value"].to_list() == p.tolist()
    assert rows["p_adjusted"].to_list() == pytest.approx(holm(p))


def test_full_annotation_is_exact_for_these_candidates() -> None:
    inputs = {"ranks": RANKS, "judgements": JUDGEMENTS}
    rows = run_stage("evaluate.comparison", CONFIG, **inputs)["differences"]
    finite, beyond = (rows.filter(population=each) for each in ("finite", "super"))
    assert finite["lower"].to_list() == pytest.approx(finite["difference"].to_list())
    assert finite["upper"].to_list() == pytest.approx(finite["difference"].to_list())
    assert set(finite["p_value"]) <= {0.0, 1.0}
    assert (beyond["upper"] - beyond["lower"]).min() > 0.05


def test_equivalence_is_tested_on_request() -> None:
    without = compare()["differences"]
    assert without["p_equivalent"].null_count() == without.height
    assert not without["equivalent"].any()
    inputs = {"ranks": RANKS, "judgements": JUDGEMENTS}
    rows = run_stage("evaluate.comparison", CONFIG | {"equivalence": 0.5}, **inputs)["differences"]
    known = rows.filter(population="finite")
    assert known["equivalent"].to_list() == (known["difference"].abs() < 0.5).to_list()
    assert rows["p_equivalent"].null_count() == 0


@pytest.mark.long
def test_the_margin_changes_the_test() -> None:
    low, high = (compare({"margin": margin})["differences"] for margin in (0.0, 0.2))
    assert (high["p_margin"] >= low["p_margin"]).all()
    assert (high["p_margin"] > low["p_margin"]).any()


AGAIN = SAMPLE.with_columns(multiplicity=pl.when(pl.col("position") == 3).then(2).otherwise(1))


def test_repeated_draws_rule_out_the_finite_population() -> None:
    assert set(compare(sample=AGAIN)["differences"]["population"]) == {"super"}
    for population in ("finite", "both"):
        with pytest.raises(ConfigError, match="1 candidate drawn more than once, for example x004"):
            compare({"population": population}, sample=AGAIN)


def test_an_interval_applies_only_to_its_population() -> None:
    rows = compare({"difference_interval": "wilson"})["differences"]
    methods = dict(rows.select("population", "interval").unique().iter_rows())
    assert methods == {"finite": "hypergeometric", "super": "wilson"}
    with pytest.raises(ValidationError, match="'wilson' is an interval for population 'super'"):
        compare({"difference_interval": "wilson", "population": "finite"})


@pytest.mark.long
def test_additional_questions_do_not_change_the_tests() -> None:
    plain = compare({})
    tables = compare(
        {"equivalence": 0.1, "population": "finite", "clusters": "clusters"}, clusters=VERBS
    )
    for name in ("comparison", "cuts", "baseline", "baseline_cuts"):
        assert plain[name].equals(tables[name]), name


@pytest.mark.long
def test_tests_by_clusters_have_the_same_differences() -> None:
    assert compare()["clustered"].is_empty()
    tables = compare({"clusters": "clusters", "resamples": 500}, clusters=VERBS)
    rows, cuts = tables["clustered"], tables["cuts"]
    assert rows.select(cuts.columns[:9]).equals(cuts.select(cuts.columns[:9]))
    assert rows["difference"].to_list() == pytest.approx(cuts["difference"].to_list())
    assert set(rows["cluster"]) == {"l2"}
    assert rows["clusters"].max() == 10  # every second candidate: the verbs with an even number


def test_clusters_of_one_candidate_have_no_effect() -> None:
    own = VERBS.with_columns(l2="id")
    rows = compare({"clusters": "clusters"}, clusters=own)["clustered"]
    assert rows["design_effect"].mean() == pytest.approx(1.0, abs=0.12)


@pytest.mark.long
def test_missing_clusters_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"(?s)cluster: .*no column 'verb'.*l2"):
        compare({"clusters": "clusters", "cluster": "verb"}, clusters=VERBS)
    some = VERBS.with_columns(l2=pl.when(pl.col("id") > "x001").then("l2"))
    with pytest.raises(
        ConfigError, match="2 ranked candidates have no 'l2', for example x000, x001"
    ):
        compare({"clusters": "clusters"}, clusters=some)


def test_precision_is_estimated_by_clusters() -> None:
    inputs = {"ranks": RANKS, "judgements": JUDGEMENTS, "sample": SAMPLE}
    config = {"cuts": [40, 80, 999]}
    plain = run_stage("evaluate.precision", config, **inputs)
    tables = run_stage(
        "evaluate.precision", config | {"clusters": "clusters"}, clusters=VERBS, **inputs
    )
    assert plain["clustered"].is_empty()
    for name in set(plain) - {"clustered"}:
        assert plain[name].equals(tables[name]), name
    columns = ["category", "measure", "n", "n_sampled", "k_sampled", "precision"]
    assert tables["clustered"].select(columns).equals(tables["cuts"].select(columns))


def test_holm_keeps_no_measure_that_bonferroni_excludes() -> None:
    by_name = {each: compare({"correction": each})["best"] for each in ("bonferroni", "holm")}
    keys = ["category", "n", "measure"]
    assert by_name["holm"].join(by_name["bonferroni"], on=keys, how="anti").is_empty()


@pytest.mark.parametrize("correction", ["bonferroni", "holm", "benjamini_hochberg"])
@pytest.mark.parametrize("clusters", [False, True])
def test_all_tables_have_one_verdict(correction: str, clusters: bool) -> None:
    """The best, the tests at the cuts and the differences agree on each pair."""
    more = {"clusters": "clusters"} if clusters else {}
    tables = compare(
        {"correction": correction, **more}, **({"clusters": VERBS} if clusters else {})
    )
    keys = ["category", "measure_1", "measure_2", "n"]
    table = tables["cuts"].select(*keys, "verdict", "p_adjusted", "significant")
    wider = tables["differences"].filter(population="super").select(*keys, "verdict", "p_adjusted")
    assert table.drop("significant").equals(wider)
    assert table["significant"].equals(table["verdict"].is_in(["better", "worse"]))
    tests = tables["clustered"] if clusters else tables["cuts"]
    verdicts = {row[1:4]: row[4] for row in tests.select(*keys, "verdict").rows()}
    turned = {"better": "worse", "worse": "better"}
    verdicts |= {(b, a, n): turned.get(each, each) for (a, b, n), each in verdicts.items()}
    best = tables["best"]
    for n in best["n"].unique():
        among_best, first = (
            set(some.filter(n=n)["measure"]) for some in (best, best.filter("best"))
        )
        every = {name for one, other, at in verdicts if at == n for name in (one, other)}
        worse = {name for name in every
                 if any(verdicts.get((name, one, n)) == "worse" for one in first)}  # fmt: skip
        assert among_best == every - worse


def test_against_a_reference_p_values_are_adjusted_for_its_tests_only() -> None:
    one = compare({"reference": "b", "correction": "bonferroni"})
    every = compare({"correction": "bonferroni"})["cuts"]
    cuts = one["cuts"]
    assert cuts.select("measure_1", "measure_2").unique().sort("measure_1").rows() == [
        ("a", "b"), ("c", "b"),
    ]  # fmt: skip
    p, adjusted = cuts["p_value"], cuts["p_adjusted"]
    assert adjusted.to_list() == pytest.approx((p * 4).clip(0, 1).to_list())
    same = every.filter(measure_1="a", measure_2="b")
    assert cuts.filter(measure_1="a")["p_value"].equals(same["p_value"])
    assert one["best"].is_empty()
    assert one["differences"].height == 2 * 2 * 2
    assert set(one["baseline"]["measure"]) == {"a", "b", "c"}


def test_eighty_measures_can_be_compared_with_a_reference() -> None:
    names = [f"m{number:02}" for number in range(81)]
    moved = {name: [float(-((i + 3 * at) % N)) for i in range(N)] for at, name in enumerate(names)}
    ranks = run_stage("score.rank", {}, scores=pl.DataFrame({"id": IDS, **moved}))["ranks"]
    tables = compare({"reference": "m40", "every": 1, "correction": "bonferroni"}, ranks=ranks)
    assert tables["comparison"].height == 80 * N
    cuts = tables["cuts"]
    assert cuts.height == 80 * 2
    expected = (cuts["p_value"] * cuts["p_value"].count()).clip(0, 1)  # missing tests do not count
    assert cuts["p_adjusted"].to_list() == pytest.approx(expected.to_list())


def test_clusters_can_be_combined_with_a_reference() -> None:
    own = {"reference": "a", "clusters": "clusters", "cluster": "l2", "resamples": 100}
    table = compare(own, clusters=VERBS)["clustered"]
    assert table.select("measure_1", "measure_2").unique().sort("measure_1").rows() == [
        ("b", "a"), ("c", "a"),
    ]  # fmt: skip


def test_invalid_references_are_refused() -> None:
    with pytest.raises(ValidationError, match="give either pairs or reference"):
        compare({"reference": "a", "pairs": [["a", "b"]]})
    with pytest.raises(ConfigError, match="reference: 'x' has not been ranked"):
        compare({"reference": "x"})
    with pytest.raises(ConfigError, match="'c' is not among the measures.*add it to measures"):
        compare({"reference": "c", "measures": ["a", "b"]})


def test_without_candidates_or_judgements_tables_are_empty() -> None:
    for tables in ({"ranks": RANKS.clear()}, {"judgements": JUDGEMENTS.clear()}):
        result = compare({"clusters": "clusters", "equivalence": 0.1}, clusters=VERBS, **tables)
        assert all(table.is_empty() for table in result.values())


def test_unjudged_draws_give_the_limits_of_the_worst_case() -> None:
    one = JUDGEMENTS.head(1)
    tables = compare({"clusters": "clusters"}, judgements=one, clusters=VERBS)
    row = tables["differences"].filter(measure_1="a", measure_2="b", n=40, population="super").row(
        0, named=True
    )  # fmt: skip
    share = row["size"] / 40
    assert (row["difference"], row["p_margin"]) == (None, 1.0)
    # the one draw of D1 is a true positive: Clopper and Pearson's lower limit for 1 of 1 is alpha / 2
    assert (row["lower"], row["upper"]) == pytest.approx((-0.975 * share, share))
    assert tables["clustered"]["p_value"].null_count() == tables["clustered"].height


# A filter's output against the n-best lists of its size

IDS_EVALUATE_SUBSET = [f"x{i}" for i in range(8)]
SCORES_EVALUATE_SUBSET = pl.DataFrame(
    {"id": IDS_EVALUATE_SUBSET, "a": [8.0, 7, 6, 5, 4, 3, 2, 1], "b": [1.0, 2, 3, 4, 5, 6, 7, 8]}
)
VERDICTS = pl.DataFrame(
    {"category": "TP", "id": IDS_EVALUATE_SUBSET, "tp": [True] * 3 + [False] * 5}
)
RANKS_EVALUATE_SUBSET = run_stage("score.rank", {"seed": "s"}, scores=SCORES_EVALUATE_SUBSET)[
    "ranks"
]


def evaluate(
    subset: pl.DataFrame = SCORES_EVALUATE_SUBSET, **config: Any
) -> dict[str, pl.DataFrame]:
    tables = {"ranks": RANKS_EVALUATE_SUBSET, "judgements": VERDICTS, "subset": subset}
    return run_stage("evaluate.subset", config, **tables)


def test_the_set_has_a_precision_with_limits() -> None:
    tables = evaluate(where="a > 4 AND b < 4", name="rare")
    row = tables["subsets"].row(0, named=True)
    assert (row["subset"], row["n"], row["precision"], row["recall"]) == ("rare", 3, 1.0, 1.0)
    lower, upper = clopper_pearson(3, 3)
    assert (row["lower"], row["upper"]) == (pytest.approx(float(lower)), float(upper))


def test_the_set_is_compared_with_lists_of_its_size() -> None:
    table = evaluate(where="a > 5", alpha=0.25)["comparison"]
    rows = table.select("measure", "n", "size", "n_1", "k_1", "k_2", "difference").rows()
    assert rows == [("a", 3, 0, 0, 0, 0, 0.0), ("b", 3, 3, 3, 3, 0, 1.0)]
    assert table["p_value"].to_list() == [None, pytest.approx(0.1)]
    assert table["p_adjusted"].to_list() == [None, pytest.approx(0.1)]  # one test in the family
    assert table["significant"].to_list() == [False, True]


def test_a_fully_judged_set_has_an_exact_interval() -> None:
    row = evaluate(where="a > 4", interval="hypergeometric")["subsets"].row(0, named=True)
    assert (row["lower"], row["upper"]) == (0.75, 0.75)


def test_members_that_are_not_candidates_are_not_counted() -> None:
    tables = evaluate(pl.DataFrame({"id": ["x0", "x0", "stranger"]}))
    assert tables["subsets"].select("n", "n_sampled", "k_sampled").row(0) == (1, 1, 1)


def test_an_empty_set_has_no_precision() -> None:
    tables = evaluate(where="a > 99")
    assert tables["subsets"].select("n", "precision", "lower", "upper").row(0) == (
        0,
        None,
        0.0,
        1.0,
    )
    assert tables["comparison"].height == 0


def test_invalid_options_of_a_set_are_refused() -> None:
    with pytest.raises(ValidationError, match="is not a Polars SQL condition"):
        evaluate(where="a >")
    with pytest.raises(ConfigError, match="no column 'c'"):
        evaluate(where="c > 1")
    with pytest.raises(ConfigError, match="'a' is the name of a measure"):
        evaluate(name="a")


def test_a_pool_has_no_lists_beyond_its_depth() -> None:
    ranks = run_stage("score.pool", {"depth": 3}, ranks=RANKS_EVALUATE_SUBSET)["ranks"]
    tables = {"ranks": ranks, "judgements": VERDICTS, "subset": SCORES_EVALUATE_SUBSET}
    table = run_stage("evaluate.subset", {"where": "a > 5"}, **tables)["comparison"]
    assert table.equals(evaluate(where="a > 5")["comparison"])
    with pytest.raises(ConfigError, match="has 6 members, but pooled lists only 3;"):
        run_stage("evaluate.subset", {}, **tables)


def test_all_list_sizes_are_tested_unless_there_are_too_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    config = {"cuts": [40, 80]}
    every = run_stage("evaluate.comparison", config, ranks=RANKS, judgements=JUDGEMENTS)
    assert every["comparison"].height == 3 * N
    monkeypatch.setattr(evaluate_comparison, "MOST_ROWS", 3 * N - 1)
    few = run_stage("evaluate.comparison", config, ranks=RANKS, judgements=JUDGEMENTS)
    assert few["comparison"].height == 3 * 2
    assert few["baseline"].height == 3 * 2
    assert few["comparison"].equals(every["comparison"].filter(pl.col("n").is_in([40, 80])))
    assert all(few[name].equals(every[name]) for name in ("cuts", "best", "differences"))
    tables = run_stage(
        "evaluate.comparison", config | {"every": 1}, ranks=RANKS, judgements=JUDGEMENTS
    )
    assert tables["comparison"].equals(every["comparison"])
