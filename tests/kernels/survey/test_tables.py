""""""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.survey.bands import equal_chances, list_bands, pair_bands
from pipeline.kernels.survey.study import Study, assist_predictions, build_study, model_features
from pipeline.kernels.survey.tables import (
    estimate_tables,
    list_estimates,
    pair_estimates,
    span_sums,
    window_estimates,
)
from tests.kernels.survey.slow import Member, slow_estimate

NAMES = ("a", "b", "c")
LOST = pl.col("id").replace("x3", "x4")
PAIRS = list(combinations(NAMES, 2))
Drawn = dict[str, Member]


@st.composite
def samples(draw: st.DrawFn) -> tuple[dict[str, list[str]], Drawn]:
    """Three rankings of up to ten candidates, the draws and their chances."""
    ids = [f"c{number}" for number in range(draw(st.integers(1, 10)))]
    orders = {name: draw(st.permutations(ids)) for name in NAMES}
    chances = [Fraction(1), Fraction(1, 2), Fraction(1, 8)]
    members = {}
    for name in ids:
        pi = draw(st.sampled_from(chances))
        y = draw(st.sampled_from([0, 1, None]))
        members[name] = Member(y, pi, draw(st.integers(0, 1)))
    return orders, members


def frames(case: tuple[dict[str, list[str]], Drawn]) -> tuple[pl.DataFrame, ...]:
    orders, members = case
    rows = [
        (name, each, place) for name, order in orders.items() for place, each in enumerate(order, 1)
    ]
    ranks = pl.DataFrame(rows, schema=["measure", "id", "rank"], orient="row")
    draws = pl.DataFrame(
        [
            (name, None if each.y is None else bool(each.y), float(each.pi))
            for name, each in members.items()
            if each.y is not None or each.pi == 1
        ],
        schema={"id": pl.String, "tp": pl.Boolean, "pi": pl.Float64},
        orient="row",
    )
    strata = [(name, f"h{each.stratum}") for name, each in members.items()]
    return ranks, draws, pl.DataFrame(strata, schema=["id", "stratum"], orient="row")


def near(value: float | None, slow: Fraction | None) -> None:
    if slow is None:
        assert value is None
    else:
        assert value == pytest.approx(float(slow), rel=1e-9, abs=1e-12)


@given(samples())
def test_tables_agree_with_single_sets(case: tuple[dict[str, list[str]], Drawn]) -> None:
    orders, members = case
    ranks, draws, strata = frames(case)
    cuts = range(1, len(members) + 1)
    lists, pairs = estimate_tables(ranks, draws, at=cuts, pairs=PAIRS, candidates=strata)
    assert lists.height == 3 * len(cuts)
    assert pairs.height == len(PAIRS) * len(cuts)
    for row in lists.iter_rows(named=True):
        inside = [members[each] for each in orders[row["measure"]][: row["n"]]]
        theta, variance = slow_estimate(inside)
        near(row["estimate"], theta)
        near(row["variance"], variance)
        assert row["certain"] == sum(each.pi == 1 for each in inside)
        assert row["unjudged"] == sum(each.pi == 1 and each.y is None for each in inside)
        assert 0 <= row["lower"] <= row["upper"] <= 1
    for row in pairs.iter_rows(named=True):
        one, other = (set(orders[row[f"measure_{side}"]][: row["n"]]) for side in (1, 2))
        assert row["size"] == len(one - other)
        sides = [
            slow_estimate([members[each] for each in members_of_set])
            for members_of_set in (one - other, other - one)
        ]
        (first, v1), (second, v2) = sides
        if one == other:
            assert (row["difference"], row["lower"], row["upper"]) == (0, 0, 0)
            assert row["p_value"] is None
            continue
        scale = Fraction(len(one - other), row["n"])
        both_defined = first is not None and second is not None
        near(row["difference"], scale * (first - second) if both_defined else None)
        near(row["variance"], None if v1 is None or v2 is None else scale**2 * (v1 + v2))
        assert -1 <= row["lower"] <= row["upper"] <= 1
        assert (row["p_value"] is None) == (not both_defined)


def small() -> tuple[pl.DataFrame, pl.DataFrame]:
    ids = [f"x{number}" for number in range(8)]
    ranks = pl.DataFrame({
        "measure": ["mi"] * 8 + ["dice"] * 8, "id": ids + ids[::-1], "rank": [*range(1, 9)] * 2,
    })  # fmt: skip
    draws = pl.DataFrame({"id": ids[::2], "tp": [True, False, True, None], "pi": 0.5})
    return ranks, draws


def test_tables_are_sorted_and_by_category() -> None:
    ranks, draws = small()
    both = pl.concat([draws.with_columns(category=pl.lit(name)) for name in ("B", "A")])
    lists, pairs = estimate_tables(
        ranks.sample(fraction=1, shuffle=True, seed=1), both, at=[8, 4], pairs=[("mi", "dice")]
    )
    assert lists.select("category", "measure", "n").rows() == [
        (category, measure, n) for category in "AB" for measure in ("dice", "mi") for n in (4, 8)
    ]
    alone = list_estimates(build_study(ranks, draws), at=[4, 8])
    assert lists.filter(category="A").drop("category").equals(alone)
    assert pairs["category"].to_list() == ["A", "A", "B", "B"]


def test_reversed_pairs_have_opposite_differences() -> None:
    ranks, draws = small()
    study = build_study(ranks, draws)
    there = pair_estimates(study, pairs=[("mi", "dice")], at=[2, 4]).rows(named=True)
    back = pair_estimates(study, pairs=[("dice", "mi")], at=[2, 4]).rows(named=True)
    for one, other in zip(there, back, strict=True):
        assert one["lower"] == pytest.approx(-other["upper"])
        assert one["p_value"] == pytest.approx(other["p_value"])
        assert one["tau_1"] == other["tau_2"]


def test_unjudged_draws_stay_open_and_are_counted() -> None:
    ranks, draws = small()
    result = (
        list_estimates(build_study(ranks, draws), at=[8]).filter(measure="mi").row(0, named=True)
    )
    assert (result["draws"], result["unjudged"], result["certain"]) == (3, 1, 0)
    assert result["estimate"] == pytest.approx(2 / 3)


def test_empty_samples_have_trivial_limits_and_no_questions_no_rows() -> None:
    ranks, draws = small()
    lists, pairs = estimate_tables(ranks, draws.clear(), at=[8], pairs=[("mi", "dice")])
    assert lists.select("estimate", "lower", "upper").unique().rows() == [(None, 0.0, 1.0)]
    assert pairs["difference"].to_list() == [0.0]
    lists, pairs = estimate_tables(ranks, draws, at=[])
    assert (lists.height, pairs.height) == (0, 0)


def test_predictions_of_a_judge_are_used() -> None:
    size, random = 600, np.random.default_rng(5)
    ids = [f"x{number:03}" for number in range(size)]
    truth = random.random(size) < 0.4
    ranks = pl.DataFrame({"measure": "mi", "id": ids, "rank": range(1, size + 1)})
    indices = random.permutation(size)[:100]
    draws = pl.DataFrame(
        {"id": [ids[each] for each in indices], "tp": truth[indices], "pi": 100 / 600}
    )
    guess = np.where(random.random(size) < 0.9, truth, ~truth).astype(float)
    judge = pl.DataFrame({"id": ids, "prediction": guess})
    plain = list_estimates(build_study(ranks, draws), at=[size]).row(0, named=True)
    helped = list_estimates(build_study(ranks, draws, candidates=judge, seed="s"), at=[size]).row(
        0, named=True
    )
    assert plain["tau"] == 0
    assert 0.5 < helped["tau"] <= 1
    assert helped["variance"] < 0.6 * plain["variance"]
    assert helped["upper"] - helped["lower"] < 0.85 * (plain["upper"] - plain["lower"])
    # out of fold predictions of the draws themselves come first
    own = draws.with_columns(prediction=pl.lit(0.5), fold=pl.int_range(100) % 5)
    result = list_estimates(build_study(ranks, own, candidates=judge), at=[size]).row(0, named=True)
    assert result["tau"] == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"draws": {"pi": 0.0}}, "pi outside .* in 4 draws"),
        ({"draws": {"pi": None}}, "pi outside .* in 4 draws"),
        ({"draws": {"id": "x1"}}, "1 candidate drawn twice, for example x1"),
        (
            {"draws": {"id": pl.col("id") + "?"}},
            r"no ranks for 4 draws, for example x0\?, x2\?, x4\?",
        ),
        ({"draws": {"prediction": 0.5}}, "only the draws have predictions"),
        ({"draws": {"stratum": pl.col("id")}}, "the draws are from 4 strata"),
        ({"candidates": {"prediction": 1.5}}, "8 predictions outside"),
        ({"candidates": {"id": pl.col("id").replace("x3", "x4")}}, "1 are missing, for example x3"),
        ({"candidates": {"stratum": pl.lit(None, pl.String)}}, "no stratum for 8 candidates"),
        (
            {"ranks": {"id": pl.when(measure="mi").then(LOST).otherwise("id")}},
            "1 missing rank, for example that of x3 under mi",
        ),
    ],
)
def test_inconsistent_tables_are_refused(change: dict[str, dict[str, Any]], message: str) -> None:
    ranks, draws = small()
    tables = {"ranks": ranks, "draws": draws, "candidates": draws.select("id").clear()}
    tables["candidates"] = ranks.select(pl.col("id").unique().sort())
    for name, columns in change.items():
        changed = {
            key: value if isinstance(value, pl.Expr) else pl.lit(value)
            for key, value in columns.items()
        }
        tables[name] = tables[name].with_columns(**changed)
    with pytest.raises(ValueError, match=message):
        build_study(tables["ranks"], tables["draws"], candidates=tables["candidates"])


def test_candidates_ranked_twice_are_refused() -> None:
    ranks, draws = small()
    with pytest.raises(ValueError, match="1 duplicate rank, for example that of x0 under mi"):
        build_study(pl.concat([ranks, ranks.head(1)]), draws)


def test_questions_that_cannot_be_answered_are_refused() -> None:
    ranks, draws = small()
    ids = ranks["id"].unique().sort()
    pool = pl.DataFrame({"id": ids, "pi": [0.5] * 6 + [0.0] * 2})
    study = build_study(ranks, draws.head(3), candidates=pool)
    with pytest.raises(ValueError, match=r"3 questions .* dice at 6 \(2 of them\), dice at 8"):
        list_estimates(study, at=[6, 8])
    assert pair_estimates(study, pairs=[("mi", "dice")], at=[8]).height == 1
    with pytest.raises(ValueError, match="mi against dice at 2"):
        pair_estimates(study, pairs=[("mi", "dice")], at=[2])
    with pytest.raises(ValueError, match=r"2 list sizes are outside 1\.\.8, for example 0, 9"):
        list_estimates(study, at=[0, 9, 4])
    with pytest.raises(ValueError, match="no ranks for mu"):
        pair_estimates(study, pairs=[("mi", "mu")], at=[2])
    with pytest.raises(ValueError, match="no draws"):
        estimate_tables(ranks, draws.clear().with_columns(category=pl.lit("A")), at=[1])


# Windows against sets added up one by one; bands against the limits of single sizes.

SIZE = 60


def of(tables: dict[str, pl.DataFrame]) -> Study:
    return build_study(tables["ranks"], tables["draws"], candidates=tables["candidates"])


def random_study(seed: int, *, strata: bool = False) -> tuple[dict[str, pl.DataFrame], Study]:
    bits = np.random.default_rng(seed)
    ids = [f"c{place:02}" for place in range(SIZE)]
    ranks = pl.concat(
        pl.DataFrame({"measure": name, "id": ids, "rank": bits.permutation(SIZE) + 1})
        for name in ("a", "b")
    )
    pi = bits.uniform(0.2, 1.0, SIZE)
    pi[:5] = 1.0
    stratum = ["x" if place % 2 and strata else "y" for place in range(SIZE)]
    every = pl.DataFrame({"id": ids, "pi": pi, "stratum": stratum, "prediction": bits.random(SIZE)})
    tp = pl.Series(bits.random(SIZE) < 0.4)
    draws = every.select("id", "pi", "stratum", tp=tp).filter(pl.Series(bits.random(SIZE) < pi))
    tables = {"ranks": ranks, "draws": draws, "candidates": every}
    return tables, of(tables)


@given(st.integers(0, 10_000), st.integers(1, 30), st.integers(1, 9), st.booleans())
def test_windows_equal_lists_of_their_members(
    seed: int, window: int, every: int, strata: bool
) -> None:
    """A window is an n-best list if its members are ranked first."""
    tables, study = random_study(seed, strata=strata)
    result = window_estimates(study, window=window, every=every)
    assert result["first_rank"].unique().to_list() == list(range(1, SIZE - window + 2, every))
    row = result.sample(1, seed=seed).row(0, named=True)
    inside = pl.col("rank").is_between(row["first_rank"], row["last_rank"])
    moved = tables["ranks"].filter(measure=row["measure"]).sort(~inside, "rank").with_columns(
        rank=pl.int_range(1, SIZE + 1)
    )  # fmt: skip
    other = of(tables | {"ranks": moved})
    listed = list_estimates(other, at=[window]).row(0, named=True)
    for name in ("estimate", "lower", "upper", "variance", "n_eff", "tau"):
        assert row[name] == (None if listed[name] is None else pytest.approx(listed[name]))
    for name in ("n_sampled", "k_sampled", "draws", "certain", "unjudged"):
        assert row[name] == listed[name]


def test_spans_without_units_have_sums_of_zero() -> None:
    ranks = np.array([2, 4, 4])
    columns, cell = np.array([[1.0, 2.0, 4.0]]), np.array([0, 1, 0])
    result = span_sums(ranks, np.array([1, 2, 3, 5]), 2, columns, cell, cells=2)
    assert result[0].tolist() == [[1.0, 0.0], [1.0, 0.0], [4.0, 2.0], [0.0, 0.0]]


def test_windows_that_do_not_fit_are_refused() -> None:
    study = random_study(1)[1]
    assert window_estimates(study, window=SIZE + 1).is_empty()
    assert window_estimates(study, window=SIZE).height == 2
    with pytest.raises(ValueError, match="at least 1 rank"):
        window_estimates(study, window=0)


@pytest.mark.parametrize("seed", range(5))
def test_bands_equal_limits_at_their_level(seed: int) -> None:
    study = random_study(seed)[1]
    at = range(20, 51)
    result = list_bands(study, at=at, replicates=500, seed="s")
    for (measure,), rows in result.group_by("measure"):
        level = rows["level"].unique().item()
        assert 0.95 < level < 0.9999
        alone = list_estimates(study, at=at, confidence=level).filter(measure=measure)
        assert rows.sort("n")["lower_band"].to_list() == alone["lower"].to_list()
    pairs = [("a", "b")]
    apart = pair_bands(study, pairs=pairs, at=at, replicates=500, seed="s")
    level = apart["level"].unique().item()
    alone = pair_estimates(study, pairs=pairs, at=at, confidence=level)
    assert apart["upper_band"].to_list() == alone["upper"].to_list()


def test_each_list_and_pair_may_have_its_own_level() -> None:
    study = random_study(3)[1]
    levels = np.array([[0.9, 0.99], [0.95, 0.5]])
    result = list_estimates(study, at=[20, 30], confidence=levels)
    for place, (measure, n) in enumerate(result.select("measure", "n").rows()):
        alone = list_estimates(study, at=[n], confidence=float(levels.ravel()[place]))
        assert result["upper"][place] == alone.filter(measure=measure)["upper"].item()
    apart = pair_estimates(study, pairs=[("a", "b")], at=[20, 30], confidence=[[0.9], [0.99]])
    assert (
        apart["lower"][0]
        == pair_estimates(study, pairs=[("a", "b")], at=[20], confidence=0.9)["lower"].item()
    )
    with pytest.raises(ValueError, match="not 1"):
        list_estimates(study, at=[20], confidence=[[0.9], [1.0]])


def test_equal_chances_depend_on_the_members_and_not_the_draws() -> None:
    study = random_study(4)[1]
    pairs = [("a", "b")]
    constant = equal_chances(study, np.full(SIZE, 0.3), pairs=pairs, at=[10, SIZE])
    assert constant["equal"].to_list() == [True, True]
    one = np.full(SIZE, 0.3)
    ranks = study.ranks
    only_a = np.flatnonzero((ranks[0] <= 10) & (ranks[1] > 10))
    one[only_a[0]] = 0.31
    equal = equal_chances(study, one, pairs=pairs, at=[10, SIZE])["equal"].to_list()
    assert equal == [False, True]
    one[only_a] = 0.31  # all of D1 alike, unlike D2
    assert equal_chances(study, one, pairs=pairs, at=[10])["equal"].item()


def test_predictions_are_used_if_they_are_informative() -> None:
    bits = np.random.default_rng(2)
    ids = pl.Series([f"c{place:03}" for place in range(200)])
    ranks = bits.permutation(200)[None] + 1
    tp = bits.random(200) < np.where(ranks[0] < 60, 0.9, 0.1)
    draws = pl.DataFrame({"id": ids, "tp": tp}).sample(80, seed=1)
    judge = np.where(tp, 0.8, 0.3)[None]
    none = np.zeros((0, 200))
    assert assist_predictions(ids, ranks, draws, none, assist="none", seed="s")[0] is None
    few = draws.head(20)
    assert assist_predictions(ids, ranks, few, none, assist="scores", seed="s")[0] is None
    scores = assist_predictions(ids, ranks, draws, none, assist="scores", seed="s")[0]
    stacked = assist_predictions(ids, ranks, draws, judge, assist="stacked", seed="s")[0]
    assert scores is not None
    assert stacked is not None
    assert 0.3 < np.corrcoef(scores, tp)[0, 1] < np.corrcoef(stacked, tp)[0, 1]
    with pytest.raises(ValueError, match="with 0 judges"):
        assist_predictions(ids, ranks, draws, none, assist="stacked", seed="s")
    with pytest.raises(ValueError, match="with 2 judges"):
        assist_predictions(ids, ranks, draws, np.zeros((2, 200)), assist="predictions", seed="s")
    assert model_features(ranks, judge).shape == (200, 2)
