"""From ranks and judgements to precision and comparison."""

from __future__ import annotations

import polars as pl
import pytest
from pydantic import ValidationError

from pipeline.errors import ConfigError
from pipeline.kernels.statistics.finite_population import hypergeometric
from pipeline.kernels.statistics.intervals import clopper_pearson
from schemas import Precision
from schemas.validate import validate
from tests.stages.run_stage import run_stage

IDS = [f"x{i}" for i in range(8)]
SCORES = pl.DataFrame({"id": IDS, "a": [8.0, 7, 6, 5, 4, 3, 2, 1], "b": [1.0, 2, 3, 4, 5, 6, 7, 8]})
VERDICTS = pl.DataFrame({"category": "TP", "id": IDS, "tp": [True] * 3 + [False] * 5})
RANKS = run_stage("score.rank", {"seed": "s"}, scores=SCORES)["ranks"]


def test_full_annotation_gives_exact_precision() -> None:
    tables = run_stage("evaluate.precision", {"cuts": [2, 4, 99]}, ranks=RANKS, judgements=VERDICTS)
    cuts = tables["cuts"].select("measure", "n", "precision", "recall").rows()
    assert cuts == [("a", 2, 1, 2 / 3), ("a", 4, 0.75, 1), ("b", 2, 0, 0), ("b", 4, 0, 0)]
    assert tables["precision"].height == 16
    assert tables["baseline"].select("precision", "n_candidates", "sampled").row(0) == (
        0.375,
        8,
        False,
    )


def test_draws_have_multiplicities_and_may_be_unjudged() -> None:
    sample = pl.DataFrame(
        {"id": ["x0", "x7", "x4"], "multiplicity": [2, 1, 1], "position": [1, 2, 3]}
    )
    some = VERDICTS.filter(pl.col("id") != "x4")
    tables = run_stage(
        "evaluate.precision", {"cuts": [8]}, ranks=RANKS, judgements=some, sample=sample
    )
    row = tables["cuts"].filter(measure="a").row(0, named=True)
    assert (row["n_sampled"], row["k_sampled"], row["precision"]) == (3, 2, 2 / 3)
    base = tables["baseline"].row(0, named=True)
    assert (base["n_drawn"], base["n_unjudged"], base["sampled"]) == (4, 1, True)


def test_conflicting_and_missing_judgements_are_distinguished() -> None:
    sample = pl.DataFrame(
        {"id": ["x0", "x7", "x4"], "multiplicity": [1, 1, 2], "position": [1, 2, 3]}
    )
    differ = pl.when(pl.col("id") != "x4").then("tp").alias("tp")
    judgements = VERDICTS.filter(pl.col("id") != "x7").with_columns(differ)
    tables = run_stage("evaluate.precision", {}, ranks=RANKS, judgements=judgements, sample=sample)
    base = tables["baseline"].row(0, named=True)
    counts = [base[f"n_{name}"] for name in ("drawn", "sampled", "unjudged", "undecided")]
    assert counts == [4, 1, 1, 2]


def test_worst_cases_are_computed_if_draws_are_unjudged() -> None:
    differ = VERDICTS.with_columns(tp=pl.when(pl.col("id") != "x4").then("tp"))
    config = {"cuts": [4, 8, 99]}
    tables = run_stage("evaluate.precision", config, ranks=RANKS, judgements=differ)
    cases = tables["worst_case"].select(
        "measure", "n", "n_unjudged", "precision_if_false", "precision_if_true"
    )
    assert cases.rows() == [
        ("a", 8, 1, 0.375, 0.5),
        ("b", 4, 1, 0.0, 0.25),
        ("b", 8, 1, 0.375, 0.5),
    ]
    limits = clopper_pearson([3, 4], 8)
    row = tables["worst_case"].row(0, named=True)
    assert [row["lower_if_false"], row["upper_if_true"]] == [limits[0][0], limits[1][1]]
    whole = run_stage("evaluate.precision", config, ranks=RANKS, judgements=VERDICTS)
    assert whole["worst_case"].is_empty()


def test_precision_is_corrected_by_known_rates() -> None:
    inputs = {"ranks": RANKS, "judgements": VERDICTS}
    tables = run_stage("evaluate.precision", {"cuts": [4], "specificity": 0.9}, **inputs)
    row = tables["corrected"].filter(measure="a").row(0, named=True)
    assert row["corrected"] == pytest.approx((0.75 - 0.1) / 0.9)
    assert (row["sensitivity"], row["n_true"]) == (1.0, None)
    finite = {"cuts": [8], "sensitivity": 0.8, "interval": "hypergeometric"}
    whole = run_stage("evaluate.precision", finite, **inputs)["corrected"].row(0, named=True)
    assert whole["lower_corrected"] < whole["corrected"] < whole["upper_corrected"]
    assert run_stage("evaluate.precision", {"cuts": [4]}, **inputs)["corrected"].is_empty()


def test_precision_is_corrected_by_a_table_of_truth() -> None:
    truth = VERDICTS.with_columns(tp=pl.col("id").is_in(["x0", "x1", "x3"]))
    tables = run_stage("evaluate.precision", {"cuts": [8]}, ranks=RANKS, judgements=VERDICTS,
                     truth=truth.head(7))  # fmt: skip
    row = tables["corrected"].row(0, named=True)
    assert (row["n_true"], row["n_false"]) == (3, 4)
    assert (row["sensitivity"], row["specificity"]) == (2 / 3, 0.75)
    assert row["corrected"] == pytest.approx((0.375 - 0.25) / (2 / 3 - 0.25))
    with pytest.raises(ConfigError, match="no candidate is both judged and in `truth`"):
        run_stage("evaluate.precision", {}, ranks=RANKS, judgements=VERDICTS, truth=truth.clear())


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"sensitivity": 0.9, "truth": "truth"}, "either truth, or sensitivity and specificity"),
        ({"sensitivity": 0.4, "specificity": 0.5}, "add up to 0.9, but must exceed 1"),
        ({"sensitivity": 0.0}, "greater than 0"),
    ],
)
def test_invalid_options_of_corrections_are_refused(
    config: dict[str, object], message: str
) -> None:
    with pytest.raises(ValidationError, match=message):
        run_stage("evaluate.precision", config, ranks=RANKS, judgements=VERDICTS)


def test_a_simultaneous_band_has_thresholds() -> None:
    inputs = {"ranks": RANKS, "judgements": VERDICTS}
    config = {"cuts": [2, 8], "thresholds": [0.7, 0.3], "replicates": 200, "seed": "s"}
    plain = run_stage("evaluate.precision", config, **inputs)
    assert plain["band_thresholds"].is_empty()
    tables = run_stage("evaluate.precision", config | {"band": "simultaneous"}, **inputs)
    result = tables["band_thresholds"]
    assert result.select("measure", "threshold", "first_n", "last_n").rows() == [
        ("a", 0.3, 2, 8), ("a", 0.7, 2, 8), ("b", 0.3, 2, 8), ("b", 0.7, 2, 8),
    ]  # fmt: skip
    none = run_stage("evaluate.precision", {"cuts": [2, 8], "band": "simultaneous"}, **inputs)
    assert none["band_thresholds"].is_empty()
    assert tables["thresholds"].equals(plain["thresholds"])


def test_a_finite_interval_depends_on_the_size_of_the_list() -> None:
    sample = pl.DataFrame({"id": ["x0", "x7", "x4"], "multiplicity": 1, "position": [1, 2, 3]})
    config = {"cuts": [8], "interval": "hypergeometric"}
    tables = run_stage(
        "evaluate.precision", config, ranks=RANKS, judgements=VERDICTS, sample=sample
    )
    first = tables["precision"].filter(measure="a", n=1).row(0, named=True)
    assert (first["lower"], first["upper"]) == (1.0, 1.0)  # the only candidate is judged
    limits = hypergeometric(1, 3, population=8)
    assert tables["cuts"].select("lower", "upper").row(0) == tuple(map(float, limits))
    assert tables["baseline"].select("lower", "upper").row(0) == tuple(map(float, limits))
    assert tables["baseline"]["interval"].to_list() == ["hypergeometric"]


def test_a_finite_interval_may_exclude_the_estimate() -> None:
    # 98 of 99 judged candidates of 100: 98 / 99 is no proportion of 100, the interval is [.99, .99]
    ids = [f"y{i:02}" for i in range(100)]
    scores = pl.DataFrame({"id": ids, "a": [float(-i) for i in range(100)]})
    ranks = run_stage("score.rank", {"seed": "s"}, scores=scores)["ranks"]
    judgements = pl.DataFrame({"category": "TP", "id": ids, "tp": [False] + [True] * 99})
    sample = pl.DataFrame({"id": ids[:99], "multiplicity": 1, "position": range(1, 100)})
    config = {"cuts": [100], "interval": "hypergeometric"}
    tables = run_stage(
        "evaluate.precision", config, ranks=ranks, judgements=judgements, sample=sample
    )
    row = tables["cuts"].row(0, named=True)
    assert (row["lower"], row["precision"], row["upper"]) == (0.99, 98 / 99, 0.99)
    assert validate([tables["precision"]], Precision, name="precision") == 100


def test_a_finite_interval_refuses_draws_with_replacement() -> None:
    sample = pl.DataFrame({"id": ["x0", "x7"], "multiplicity": [2, 1], "position": [1, 2]})
    config = {"interval": "hypergeometric"}
    with pytest.raises(ConfigError, match="1 candidate drawn more than once, for example x0"):
        run_stage("evaluate.precision", config, ranks=RANKS, judgements=VERDICTS, sample=sample)


def test_measures_are_compared_at_every_n_and_at_the_cuts() -> None:
    config = {"cuts": [3, 50], "alpha": 0.2}
    tables = run_stage("evaluate.comparison", config, ranks=RANKS, judgements=VERDICTS)
    assert tables["comparison"].select("n").to_series().to_list() == list(range(1, 9))
    row = tables["cuts"].row(0, named=True)
    assert (row["k_1"], row["n_1"], row["k_2"], row["n_2"]) == (3, 3, 0, 3)
    assert row["p_value"] == pytest.approx(0.1)
    assert row["difference"] == 1
    assert row["significant"]
    assert tables["cuts"].height == 1


def test_measures_and_pairs_can_be_selected() -> None:
    tables = run_stage("evaluate.precision", {"measures": ["b"]}, ranks=RANKS, judgements=VERDICTS)
    assert tables["precision"]["measure"].unique().to_list() == ["b"]
    config = {"pairs": [["b", "a"]]}
    tables = run_stage("evaluate.comparison", config, ranks=RANKS, judgements=VERDICTS)
    assert tables["comparison"].select("measure_1", "measure_2").unique().rows() == [("b", "a")]
    with pytest.raises(ConfigError, match="'c' has not been ranked"):
        run_stage("evaluate.comparison", {"pairs": [["a", "c"]]}, ranks=RANKS, judgements=VERDICTS)
    with pytest.raises(ConfigError, match="'t_scor' has not been ranked"):
        run_stage("evaluate.precision", {"measures": ["t_scor"]}, ranks=RANKS, judgements=VERDICTS)


@pytest.mark.parametrize("use", ["evaluate.precision", "evaluate.comparison"])
def test_tables_without_rows_give_no_rows(use: str) -> None:
    tables = run_stage(use, {}, ranks=RANKS.clear(), judgements=VERDICTS.clear())
    assert all(frame.height == 0 for frame in tables.values())


def test_ranking_requires_scores() -> None:
    with pytest.raises(ConfigError, match="there are no score columns"):
        run_stage("score.rank", {}, scores=SCORES.select("id"))


def test_a_one_sided_test_can_be_selected() -> None:
    config = {"cuts": [3], "test": "fisher_mid_p", "alternative": "greater"}
    tables = run_stage("evaluate.comparison", config, ranks=RANKS, judgements=VERDICTS)
    assert tables["cuts"]["p_value"].item() == pytest.approx(0.5 / 20)
    turned = run_stage(
        "evaluate.comparison",
        {**config, "pairs": [["b", "a"]]},
        ranks=RANKS,
        judgements=VERDICTS,
    )
    assert turned["cuts"]["p_value"].item() == pytest.approx(1 - 0.5 / 20)
    with pytest.raises(ValueError, match="'fishers'; did you mean fisher,"):
        run_stage("evaluate.comparison", {"test": "fishers"}, ranks=RANKS, judgements=VERDICTS)


def test_measures_are_compared_with_the_baseline() -> None:
    tables = run_stage("evaluate.comparison", {"cuts": [3, 8]}, ranks=RANKS, judgements=VERDICTS)
    assert tables["baseline"].height == 16
    row = tables["baseline_cuts"].filter(measure="a", n=3).row(0, named=True)
    assert (row["k_1"], row["n_1"], row["k_2"], row["n_2"]) == (3, 3, 0, 5)
    assert row["p_value"] == pytest.approx(1 / 56)
    assert row["p_adjusted"] == pytest.approx(2 / 56)  # lists of all candidates are not tested
    assert row["difference"] == pytest.approx(5 / 8)
    assert row["significant"]


def test_best_measures_require_two_sided_tests_of_all_pairs() -> None:
    config = {"cuts": [3], "alpha": 0.2}
    tables = run_stage("evaluate.comparison", config, ranks=RANKS, judgements=VERDICTS)
    assert tables["best"].select("measure", "best").rows() == [("a", True)]
    one_sided = run_stage(
        "evaluate.comparison", config | {"alternative": "less"}, ranks=RANKS, judgements=VERDICTS
    )
    assert one_sided["best"].is_empty()
    strict = run_stage(
        "evaluate.comparison", {"cuts": [3], "alpha": 0.05}, ranks=RANKS, judgements=VERDICTS
    )
    assert strict["best"].select("measure", "best").rows() == [("a", True), ("b", False)]
    some = run_stage(
        "evaluate.comparison", {"pairs": [["a", "b"]]}, ranks=RANKS, judgements=VERDICTS
    )
    assert some["best"].height == 0  # no declared cut is within 8 candidates


def test_steps_of_n_include_the_cuts() -> None:
    for every, expected in ((3, [3, 5, 6]), (0, [5])):
        config = {"cuts": [5, 9], "every": every}
        tables = run_stage("evaluate.comparison", config, ranks=RANKS, judgements=VERDICTS)
        assert tables["comparison"]["n"].to_list() == expected
        assert tables["baseline"].filter(measure="a")["n"].to_list() == expected


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"pairs": [["a", "a"]]}, "'a' would be compared with itself"),
        ({"pairs": [["a", "b"], ["b", "a"], ["a", "b"]]}, "a and b is listed twice"),
        ({"cuts": [0, 2]}, "must be at least 1, not 0"),
    ],
)
def test_invalid_options_of_tests_are_refused(config: dict[str, list[int]], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        run_stage("evaluate.comparison", config, ranks=RANKS, judgements=VERDICTS)


def test_recall_may_refer_to_a_gold_standard() -> None:
    """Two of three entries are candidates, one of them is not ranked."""
    pairs = pl.DataFrame({"id": IDS, "l1": IDS, "l2": "y"})
    entries = pl.DataFrame({"l1": ["x0", "x3", "z"], "l2": "y"})
    gold = run_stage("join.gold", {"covered": "all"}, path=entries, candidates=pairs)
    ranks = run_stage("score.rank", {"seed": "s"}, scores=SCORES.head(3))["ranks"]
    tables = {
        "ranks": ranks,
        "judgements": gold["judgements"],
        "positives": gold["coverage"],
    }
    by_name = {
        base: run_stage("evaluate.precision", {"cuts": [3], "base": base, "recall": True}, **tables)
        for base in ("gold", "candidates")
    }
    assert by_name["gold"]["cuts"]["recall"].to_list() == pytest.approx([1 / 3] * 2)
    assert by_name["candidates"]["cuts"]["recall"].to_list() == [0.5] * 2
    last = by_name["gold"]["recall"].filter(measure="a", n=3).row(0, named=True)
    assert (last["k_sampled"], last["positives"]) == (1, 3)
    assert (last["lower"], last["upper"]) == pytest.approx(
        [float(each[0]) for each in clopper_pearson([1], [3], confidence=0.95)]
    )
    assert (
        by_name["gold"]["precision"]
        .drop("recall")
        .equals(
            run_stage(
                "evaluate.precision", {"cuts": [3]}, ranks=ranks, judgements=gold["judgements"]
            )["precision"].drop("recall")
        )
    )
    with pytest.raises(ConfigError, match="requires judgements of all ranked candidates, but 2 of"):
        run_stage("evaluate.precision", {}, **tables | {"judgements": gold["judgements"].head(1)})
    with pytest.raises(ValidationError, match="base requires positives"):
        run_stage("evaluate.precision", {"base": "candidates"}, ranks=RANKS, judgements=VERDICTS)
