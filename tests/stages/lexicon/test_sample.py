"""Lemmas keyed in twice, annotators and notes, and lemmas drawn by size."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from pydantic import ValidationError

from pipeline.errors import ConfigError, WaitsForPerson
from pipeline.kernels.sampling import candidate_id
from pipeline.kernels.survey.design import inclusion
from pipeline.stages.base import FAULTS, STAGES
from pipeline.stages.lexicon.sample import _list_forms
from schemas import KeyedEntries
from tests.stages.lexicon.test_extract import quality, run_on_lists, sample, values, words_by_stages
from tests.stages.run_stage import run_stage

Row = tuple[str | None, str, str | None, str | None]


def join(
    *rows: Row, overlap: bool = False, rounds: list[str | None] | None = None, **options: Any
) -> dict[str, pl.DataFrame]:
    """Join rows of annotator, lemma, forms, note.

    Anna has the lemma ra and ben has dar; with overlap each has both.
    """
    names = ("annotator", "lemma", "forms", "note")
    frame = pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")
    line = pl.int_range(2, pl.len() + 2, dtype=pl.Int64)
    entries = frame.with_columns(file=pl.lit("k.csv"), line=line).with_columns(
        candidate_id("lemma")
    )
    further = [pl.Series("round", rounds, dtype=pl.String)] if rounds else []
    judgements = [("anna", 1, "ra"), ("ben", 1, "dar"), ("anna", 2, "dar"), ("ben", 2, "ra")]
    columns = ["annotator", "order", "lemma"]
    sheet = pl.DataFrame(judgements if overlap else judgements[:2], schema=columns, orient="row")
    return run_stage(
        "join.keying", {"partial": True} | options,
        sheet=sheet.with_columns(candidate_id("lemma")).select("annotator", "order", "id", "lemma"),
        entries=entries.select(*KeyedEntries.columns(), *further),
    )  # fmt: skip


def problems(tables: dict[str, pl.DataFrame]) -> list[tuple[Any, ...]]:
    return tables[FAULTS].sort("line").select("file", "line", "column", "problem").rows()


def test_a_typo_of_a_second_keying_is_no_gold_form() -> None:
    errors = problems(join(("anna", "ra", "ra, rajt", None), ("Anna ", "ra", "ra, rjat", None)))
    assert [each[:3] for each in errors] == [("k.csv", 2, "forms"), ("k.csv", 3, "forms")]
    message = "ra, rajt (k.csv, line 2); ra, rjat (k.csv, line 3); keep one"
    assert {each[3] for each in errors} == {f"anna has conflicting forms for this lemma: {message}"}


@pytest.mark.parametrize("again", ["ra, rajt", "rajt; ra", " rajt\nra "])
def test_equal_keyings_are_counted_once(again: str) -> None:
    tables = join(("anna", "ra", "ra, rajt", None), ("anna", "ra", again, None))
    assert not problems(tables)
    assert tables["gold"].height == 2


def test_keyings_are_compared_after_normalisation() -> None:
    rows: list[Row] = [("anna", "ra", "ra", None), ("anna", "ra", "RA", None)]
    assert len(problems(join(*rows))) == 2
    assert not problems(join(*rows, case="lower"))


# Two people key in the same lemmas

DIFFERENT: list[Row] = [
    ("anna", "ra", "ra, rajt", None),
    ("ben", "ra", "ra; rait", "smudged"),
    ("anna", "dar", "dar", None),
    ("ben", "dar", "dar", None),
]


def test_different_forms_are_not_united() -> None:
    with pytest.raises(WaitsForPerson, match="waiting for 1 decision; people keyed in different"):
        join(*DIFFERENT)
    tables = join(*DIFFERENT, undecided="exclude")
    assert not problems(tables)
    assert tables["gold"].rows() == [("dar", "dar")]
    assert tables["keyed"]["lemma"].to_list() == ["dar"]
    assert tables["disagreements"].sort("annotator").rows() == [
        ("ra", "anna", "ra, rajt"), ("ra", "ben", "ra, rait"),
    ]  # fmt: skip


def message(*rows: Row, **options: Any) -> list[str]:
    with pytest.raises(WaitsForPerson) as caught:
        join(*rows, **options)
    return [line.strip() for line in str(caught.value).splitlines()]


def test_the_message_states_the_agreement_and_the_forms() -> None:
    first, agreement, forms, rules, others = message(*DIFFERENT)
    assert first == "entries: waiting for 1 decision; people keyed in different forms."
    # Wilson's limits of 1 of 2; forms: 2 (1 + 1) of 2 + 2 + 1 + 1
    text = "anna and ben agree on 1 of 2 lemmas (50.0 % [9.5, 90.5]); agreement of forms: 66.7 % ["
    assert agreement.startswith(text)
    assert forms == "Forms that not all of them have: ra (anna: rajt; ben: rait)."
    assert 'rule = "expert" and expert = "NAME"' in rules
    assert 'rule = "union"' in rules
    assert "majority" not in rules  # of two
    assert 'undecided = "exclude"' in others
    assert '"Two people" in docs/lexicon.md' in others


def test_the_message_lists_the_first_of_many_lemmas() -> None:
    lemmas = [f"l{n}" for n in range(1, 8)]
    rows: list[Row] = [("anna", "ra", "a1,a2,a3,a4,a5,ra", None), ("ben", "ra", "-", None)]
    rows += [("anna", "dar", "dar, daru", None), ("ben", "dar", "dar", None)]
    forms = message(*rows)[2]
    assert forms.endswith("dar (anna: daru), ra (anna: a1, a2, a3, a4 and 2 more; ben: -).")
    apart = {lemma: {"anna": ["x"]} for lemma in lemmas}
    assert _list_forms(apart).endswith("l5 (anna: x), and 2 more lemmas")


def test_the_message_covers_three_annotators() -> None:
    rows = [*DIFFERENT, ("carla", "ra", "ra", None), ("carla", "dar", "dar", None)]
    _, every, *pairs, forms, rules, _ = message(*rows, former=("carla",))
    assert every.startswith("All people agree on 1 of 2 lemmas (50.0 %")
    assert [each.split(" agree")[0] for each in pairs] == [
        "anna and ben", "anna and carla", "ben and carla",
    ]  # fmt: skip
    assert forms == "Forms that not all of them have: ra (anna: rajt; ben: rait)."
    assert 'rule = "majority"' in rules
    again = message(*rows, former=("carla",), rule="majority")
    assert not any("majority" in line for line in again)


def test_conflicting_decisions_do_not_settle_a_lemma() -> None:
    third: list[Row] = [("carla", "ra", "ra", None), ("dan", "ra", "ra, rat", None)]
    forms = message(*DIFFERENT, *third, rounds=[None] * 4 + ["adjudication"] * 2)[2]
    assert forms == "Forms that not all of them have: ra (anna: rajt; ben: rait; dan: rat)."
    # anna has not decided yet
    own: Row = ("ben", "ra", "ra, rajt", None)
    forms = message(*DIFFERENT, own, rounds=[None] * 4 + ["adjudication"])[2]
    assert forms == "Forms that not all of them have: ra (anna: rajt; ben: rait)."


@pytest.mark.parametrize(
    ("options", "forms"),
    [
        ({"rule": "union"}, ["ra", "rait", "rajt"]),
        ({"rule": "expert", "expert": "Ben"}, ["ra", "rait"]),
        ({"rule": "majority", "undecided": "exclude"}, []),
    ],
)
def test_a_rule_can_decide_conflicts(options: dict[str, Any], forms: list[str]) -> None:
    tables = join(*DIFFERENT, **options)
    assert tables["gold"].filter(lemma="ra")["form"].sort().to_list() == forms
    assert tables["gold"].filter(lemma="dar")["form"].to_list() == ["dar"]


def test_the_majority_of_three_annotators_can_decide() -> None:
    tables = join(*DIFFERENT, ("carla", "ra", "rait,ra", None), former=("carla",), rule="majority")
    assert tables["gold"].filter(lemma="ra")["form"].sort().to_list() == ["ra", "rait"]
    pairs = tables["agreement"].filter(statistic="lemmas").sort("annotator_1", "annotator_2")
    assert pairs.select("annotator_1", "annotator_2", "lemmas", "estimate").rows() == [
        ("*", "*", 2, 0.5), ("anna", "ben", 2, 0.5), ("anna", "carla", 1, 0.0),
        ("ben", "carla", 1, 1.0),
    ]  # fmt: skip


def test_agreement_of_two_annotators_is_computed() -> None:
    tables = join(*DIFFERENT, undecided="exclude")
    assert tables["compared"].sort("lemma").rows() == [
        ("dar", "anna", "ben", 1, 1, 1, 1.0, "", ""),
        ("ra", "anna", "ben", 2, 2, 1, 0.5, "rajt", "rait"),
    ]
    lemmas, forms = tables["agreement"].sort("statistic", descending=True).to_dicts()
    assert (lemmas["lemmas"], lemmas["estimate"]) == (2, 0.5)
    assert forms["estimate"] == pytest.approx(2 * 2 / 6)
    assert 0 <= forms["lower"] < forms["estimate"] < forms["upper"] <= 1


def test_an_absent_lemma_may_conflict_with_its_forms() -> None:
    tables = join(("anna", "ra", "ra", None), ("ben", "ra", "-", None), undecided="exclude")
    assert not problems(tables)
    assert tables["disagreements"].sort("annotator")["forms"].to_list() == ["ra", "-"]
    assert tables["compared"]["agreement"].to_list() == [0.0]
    both = join(("anna", "ra", "-", None), ("ben", "ra", "–", None))
    assert both["keyed"].select("lemma", "found").rows() == [("ra", False)]
    assert both["compared"]["agreement"].to_list() == [1.0]
    assert both["agreement"].filter(statistic="forms").row(0)[3:7] == (0, None, None, None)


def test_the_headword_may_be_implied() -> None:
    rows: list[Row] = [("anna", "ra", "ra, rajt", None), ("ben", "ra", "rajt", None)]
    with pytest.raises(WaitsForPerson):
        join(*rows)
    assert join(*rows, lemma_is_form=True)["gold"]["form"].sort().to_list() == ["ra", "rajt"]


def test_a_round_of_adjudication_can_decide() -> None:
    decision: Row = ("carla", "ra", "ra, rajt", "page 7")
    tables = join(*DIFFERENT, decision, rounds=[None] * 4 + ["adjudication"])
    assert not problems(tables)
    assert tables["gold"].filter(lemma="ra")["form"].sort().to_list() == ["ra", "rajt"]
    first = "anna: ra, rajt; ben: ra, rait"
    assert tables["resolutions"].rows() == [("ra", "ra, rajt", "carla", "page 7", first)]
    assert tables["disagreements"].height == 2
    assert tables["keyings"].filter(annotator="carla").is_empty()
    typo = problems(join(*DIFFERENT, decision, rounds=[None] * 4 + ["adjudicaton"], former=("carla",),
                         undecided="exclude"))  # fmt: skip
    assert [each[2:] for each in typo] == [("round", "is not a round; did you mean adjudication?")]


def test_a_second_sheet_can_decide() -> None:
    first = join(*DIFFERENT, undecided="exclude")
    laid_out = run_stage(
        "sheet.keying",
        {"folder": "third", "annotators": ("carla",), "seed": "s"},
        sample=first["disagreements"],
        lexicon=words_by_stages([("ra", "ra")]),
    )["sheet"]
    assert laid_out.select("annotator", "lemma", "keyed_forms", "lexicon_forms").rows() == [
        ("carla", "ra", "anna: ra, rajt; ben: ra, rait", "ra")
    ]
    entry = laid_out.select(
        "annotator", "id", "lemma", file=pl.lit("c.csv"), line=pl.lit(2, pl.Int64),
        forms=pl.lit("rait, ra"), note=pl.lit(None, pl.String),
    )  # fmt: skip
    tables = run_stage(
        "join.keying", {}, sheet=laid_out, entries=entry.select(list(KeyedEntries.columns())),
        earlier=first["keyings"],
    )  # fmt: skip
    assert tables["gold"].sort("lemma", "form").rows() == [
        ("dar", "dar"), ("ra", "ra"), ("ra", "rait"),
    ]  # fmt: skip
    assert tables["keyed"]["lemma"].sort().to_list() == ["dar", "ra"]
    assert tables["keyings"].sort(pl.all()).equals(first["keyings"].sort(pl.all()))


def test_with_overlap_the_stage_waits_for_both_annotators() -> None:
    with pytest.raises(WaitsForPerson, match=r'waiting for 1 lemma from "ben", for example dar'):
        join(*DIFFERENT[:3], overlap=True, partial=False)


@pytest.mark.parametrize(("overlap", "rows"), [(0.0, 40), (1.0, 80), (0.5, 60)])
def test_the_overlap_is_a_share_of_the_lemmas(overlap: float, rows: int) -> None:
    lemmas = words_by_stages([(f"l{n}", f"l{n}s") for n in range(40)])
    draws = sample({"rate": 1.0}, gold=lemmas, lexicons={"x": lemmas})
    options = {"folder": "k", "annotators": ("anna", "ben"), "overlap": overlap, "seed": "s"}
    laid_out = run_stage("sheet.keying", options, sample=draws, lexicon=lemmas)["sheet"]
    assert laid_out["lemma"].n_unique() == 40
    assert laid_out.height == rows
    assert "keyed_forms" not in laid_out.columns


def test_an_expert_requires_the_rule_of_experts() -> None:
    with pytest.raises(ValidationError, match='expert = NAME requires rule = "expert"'):
        join(expert="anna")


def test_unknown_and_missing_annotators_are_faults() -> None:
    errors = problems(join(("anne", "ra", "ra", None), (None, "dar", "dar", None)))
    assert [each[:3] for each in errors] == [("k.csv", 2, "annotator"), ("k.csv", 3, "annotator")]
    assert "did you mean anna, ben?" in errors[0][3]
    assert "name the annotator of the forms" in errors[1][3]
    assert not problems(join(("anne", "ra", "ra", None), former=("anne",)))


def test_a_note_on_a_lemma_without_forms_is_kept() -> None:
    tables = join(("anna", "ra", None, "page is torn"))
    assert tables["notes"].select("lemma", "note").rows() == [("ra", "page is torn")]


# Lemmas drawn in proportion to their paradigms: the sample, L* from it, differences


def paradigms(sizes: list[int]) -> pl.DataFrame:
    return words_by_stages(
        [(f"l{i:04}", f"w{i}.{j}") for i, n in enumerate(sizes) for j in range(n)]
    )


SIZES = [1 + (i * 7) % 13 for i in range(200)] + [60, 90]
GOLD = paradigms(SIZES)


def lacking(many: int) -> pl.DataFrame:
    """Return the gold without some of its forms, but with a form of each lemma."""
    rows = [row for row in GOLD.rows() if _number(row[1]) % 11 >= many or row[1].endswith(".0")]
    return words_by_stages(rows)


def _number(form: str) -> int:
    lemma, _, place = form[1:].partition(".")
    return int(lemma) * 5 + int(place) * (1 + int(lemma) % 3)


WORSE, WORST = lacking(3), lacking(6)
BY_SIZE, SIMPLE = {"size": 40, "design": "size"}, {"size": 40, "design": "simple"}


def test_lemmas_are_drawn_by_size_by_default() -> None:
    tables = {"gold": GOLD, "lexicons": {"x": GOLD}}
    default, simple = sample({"size": 40}, **tables), sample(SIMPLE, **tables)
    assert default.equals(sample(BY_SIZE, **tables))
    assert default["pi"].n_unique() > 1
    assert simple["pi"].unique().to_list() == [40 / 202]


@pytest.mark.parametrize("design", [{"design": "simple"}, {}])
def test_a_list_may_be_declared_a_simple_sample(design: dict[str, Any]) -> None:
    draws = sample(
        {"lemmas": ["l0001", "l0200"], "drawn": True, **design}, gold=GOLD, lexicons={"x": GOLD}
    )
    assert draws["pi"].unique().to_list() == [2 / 202]


@pytest.mark.parametrize(
    ("config", "large"),
    [
        # mean 1,572 / 202 forms: the two of 60 and 90 have five times as many
        ({"size": 40}, ("large", 2, 2, 150.0, 150.0)),
        ({"size": 202, "design": "simple"}, ("large", 2, 2, 150.0, 150.0)),
        ({"lemmas": ["l0001", "l0200"]}, ("large", 2, 1, 150.0, 60.0)),
        ({"lemmas": ["l0001"], "drawn": True}, ("large", 2, 0, 150.0, 0.0)),
    ],
)
def test_large_lemmas_and_their_forms_are_counted(
    config: dict[str, Any], large: tuple[str, int, int, float, float]
) -> None:
    tables = run_on_lists(
        "sample.lemmas", {"seed": "s", **config}, gold=GOLD, lexicons={"x": WORSE}
    )
    sizes, draws = tables["sizes"], tables["sample"]["lemma"].to_list()
    assert sizes.row(0) == large
    assert sizes["n_lemmas"].sum() == 202
    assert sizes["n_drawn"].sum() == len(draws)
    assert sizes["forms"].sum() == sum(SIZES)
    assert sizes["forms_drawn"].sum() == sum(SIZES[int(lemma[1:])] for lemma in draws)


def test_without_a_gold_sizes_are_means_of_the_lexicons() -> None:
    one, two = paradigms([30, 1, 2, 2, 1, 1]), paradigms([25, 1, 2, 1, 1, 1])
    tables = run_on_lists("sample.lemmas", {"seed": "s", "size": 6}, lexicons={"x": one, "y": two})
    assert tables["sizes"].rows() == [("large", 0, 0, 0.0, 0.0), ("other", 6, 6, 34.0, 34.0)]


def by_size(**config: Any) -> pl.DataFrame:
    return sample(BY_SIZE | config, gold=GOLD, lexicons={"x": GOLD})


def test_lemmas_are_drawn_in_proportion_to_the_gold() -> None:
    draws = by_size()
    assert (draws.height, draws["stratum"].unique().to_list()) == (40, ["all"])
    assert draws["position"].to_list() == list(range(1, 41))
    chances = inclusion(np.array(SIZES, dtype=float), size=40)
    expected = {f"l{i:04}": chance for i, chance in enumerate(chances)}
    assert draws["pi"].to_list() == pytest.approx([expected[lemma] for lemma in draws["lemma"]])
    assert draws.filter(pi=1.0)["lemma"].sort().to_list() == ["l0200", "l0201"]
    assert draws["pi"].is_sorted(descending=True) is False
    assert draws["drawn"].all()


def test_a_larger_sample_keeps_a_smaller_one() -> None:
    small, large = by_size(size=40), by_size(size=60)
    assert set(small["lemma"]) < set(large["lemma"])
    assert by_size(size=500).height == len(SIZES)
    assert by_size(size=500)["pi"].unique().to_list() == [1.0]


def test_equal_paradigms_give_the_simple_sample() -> None:
    gold = paradigms([3] * 50)
    draws = [
        sample({"size": 9, "design": design}, gold=gold, lexicons={"x": gold})
        for design in ("simple", "size")
    ]
    assert draws[0].equals(draws[1])


def test_without_a_gold_the_mean_size_of_the_lexicons_is_used() -> None:
    one, two = paradigms([9, 1, 2, 2]), paradigms([3, 1, 2, 6])
    draws = sample({"size": 2, "design": "size"}, lexicons={"x": one, "y": two})
    chances = inclusion(np.array([6.0, 1.0, 2.0, 4.0]), size=2)
    probabilities = [chances[int(lemma[1:])] for lemma in draws["lemma"]]
    assert draws["pi"].to_list() == pytest.approx(probabilities)


def test_lemmas_without_forms_can_be_drawn() -> None:
    bare = words_by_stages([("a", None), ("b", "x"), ("b", "y")])
    draws = sample({"rate": 1.0, "design": "size"}, gold=bare, lexicons={"x": bare})
    assert draws["lemma"].sort().to_list() == ["a", "b"]


def test_without_common_lemmas_none_is_drawn() -> None:
    result = sample(
        {"rate": 0.5, "design": "size"},
        gold=words_by_stages([("a", "x")]),
        lexicons={"x": GOLD},
    )
    assert result.height == 0


@pytest.mark.parametrize("options", [{"lemmas": ["l0001"]}, {"path": "l.tsv"}])
def test_a_list_with_a_design_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="design = 'size' requires rate or size"):
        STAGES.get("sample.lemmas").config.model_validate(
            {"lexicons": ["x"], "design": "size", **options}
        )


def test_l_star_is_weighted_by_inclusion_probabilities() -> None:
    tables = quality(GOLD, WORSE, sample=by_size())
    results, truth = values(tables), values(quality(GOLD, WORSE))
    row = tables["quality"].filter(statistic="L*").row(0, named=True)
    assert row["lower"] < row["value"] < row["upper"]
    assert row["lower"] < truth["L*"] < row["upper"]
    assert tables["lemmas"]["contribution"].sum() == pytest.approx(results["L*"])
    assert tables["lemmas"]["base_total"].unique().to_list() == [sum(SIZES)]
    assert tables["lemmas"]["weight"].sum() == pytest.approx(1.0)
    assert tables["intervals"].select("method", "used", "chosen").rows() == [
        ("beta", "beta", True), ("t", "t", False), ("linearised", "linearised", False),
    ]  # fmt: skip
    lemmas = tables["lemmas"]
    certain = lemmas.filter(pi=1.0)
    known = (certain["n_gold"] * certain["L"]).sum()
    rest = lemmas.filter(pl.col("pi") < 1)
    by_hand = (known + (sum(SIZES) - 150) * rest["L"].mean()) / sum(SIZES)
    assert results["L*"] == pytest.approx(by_hand)  # the others were drawn by size: all weigh alike


def test_means_weight_lemmas_by_inclusion_probabilities() -> None:
    tables = quality(GOLD, WORSE, sample=by_size())
    lemmas = tables["lemmas"].sort("lemma")
    certain = lemmas["pi"].to_numpy() == 1
    weight = np.where(certain, 1.0, 0.0)
    rest = 1 / lemmas["pi"].to_numpy()[~certain]
    weight[~certain] = (len(SIZES) - 2) * rest / rest.sum()
    for name, column in (("mean L", "L"), ("mean precision", "precision")):
        assert values(tables)[name] == pytest.approx(
            np.average(lemmas[column].to_numpy(), weights=weight)
        )
    L = lemmas["L"].to_numpy()
    spread = np.average((L - np.average(L, weights=weight)) ** 2, weights=weight)
    assert values(tables)["population variance of L"] == pytest.approx(spread)
    assert values(tables)["variance of L"] == pytest.approx(spread * 40 / 39)
    cov = np.cov(L, lemmas["recall"].to_numpy(), aweights=weight)
    r = cov[0, 1] / np.sqrt(cov[0, 0] * cov[1, 1])
    assert values(tables)["r(L, R)"] == pytest.approx(r)


def test_a_sample_of_all_lemmas_is_exact() -> None:
    everyone = by_size(size=500)
    result, truth = values(quality(GOLD, WORSE, sample=everyone)), values(quality(GOLD, WORSE))
    assert result == pytest.approx(truth)


def test_the_bootstrap_requires_equal_probabilities() -> None:
    with pytest.raises(ConfigError, match=r"interval: percentile .* those of 40 lemmas"):
        quality(GOLD, WORSE, {"interval": "percentile"}, sample=by_size())
    with pytest.raises(ConfigError, match="n: 5,887 replaces a sum over lemmas"):
        quality(GOLD, WORSE, {"n": 5887}, sample=by_size())


@pytest.mark.parametrize("method", ["t", "beta"])
def test_a_simple_sample_may_have_t_intervals(method: str) -> None:
    """Equal chances: the linearised standard error, and Student's quantile."""
    draws = sample(SIMPLE, gold=GOLD, lexicons={"x": GOLD})
    tables = quality(GOLD, WORSE, {"interval": method, "replicates": 100}, sample=draws)
    rows = {row["method"]: row for row in tables["intervals"].to_dicts()}
    assert [*rows] == ["bootstrap_t", "percentile", "linearised", method]
    assert rows[method]["chosen"]
    error = rows["linearised"]["standard_error"]
    assert rows[method]["standard_error"] == pytest.approx(error)
    if method == "t":
        half = 2.022690920036762 * error  # t of 39 degrees of freedom
        assert rows["t"]["upper"] == pytest.approx(rows["t"]["estimate"] + half)


def score_lexicons(draws: pl.DataFrame, **config: Any) -> dict[str, pl.DataFrame]:
    return {
        name: quality(GOLD, lexicon, config, sample=draws)["lemmas"]
        for name, lexicon in {"x": WORSE, "y": WORST}.items()
    }


def test_differences_are_estimated_on_the_same_lemmas() -> None:
    scores = score_lexicons(by_size())
    tables = run_on_lists("evaluate.lexicons", {"seed": "s"}, lexicons=scores)
    row = tables["differences"].row(0, named=True)
    stars = {each["lexicon"]: each for each in tables["lexicons"].to_dicts()}
    assert row["difference"] == pytest.approx(stars["x"]["l_star"] - stars["y"]["l_star"])
    assert row["lower"] < row["difference"] < row["upper"]
    truth = [values(quality(GOLD, lexicon))["L*"] or 0.0 for lexicon in (WORSE, WORST)]
    assert row["lower"] < truth[0] - truth[1] < row["upper"]
    one, two = (each["standard_error"] for each in stars.values())
    assert row["standard_error"] < np.hypot(one, two)
    assert row["upper"] - row["difference"] == pytest.approx(row["difference"] - row["lower"])
    assert stars["x"]["L"] == pytest.approx(
        values(quality(GOLD, WORSE, sample=by_size()))["mean L"]
    )


def test_simultaneous_limits_hold_for_all_pairs() -> None:
    """Each of three pairs has limits at a level of 1 - 0.05 / 3, and the verdict that follows."""
    draws = by_size()
    scores = score_lexicons(draws)
    three = {**scores, "z": quality(GOLD, WORST, sample=draws)["lemmas"]}
    pair = {"x": three["x"], "y": three["y"]}
    wide = run_on_lists(
        "evaluate.lexicons", {"seed": "s", "confidence": 1 - 0.05 / 3}, lexicons=pair
    )
    result = run_on_lists("evaluate.lexicons", {"seed": "s"}, lexicons=three)["differences"]
    first = result.filter(first="x", second="y").row(0, named=True)
    alone = wide["differences"].row(0, named=True)
    for end in ("lower", "upper"):
        assert first[f"{end}_family"] == pytest.approx(alone[end])
        assert alone[f"{end}_family"] == alone[end]
    assert first["verdict"] == "better"
    assert result.filter(first="y", second="z")["verdict"].to_list() == ["open"]
    turned = run_on_lists(
        "evaluate.lexicons", {"seed": "s"}, lexicons=dict(reversed(three.items()))
    )
    assert set(turned["differences"]["verdict"]) == {"worse", "open"}


def test_differences_use_published_weights() -> None:
    """Sums of unions, not those of the gold: each ratio has its own."""
    scores = score_lexicons(by_size(), weights="published")
    table = run_on_lists("evaluate.lexicons", {"seed": "s"}, lexicons=scores)["differences"]
    whole = {
        name: values(quality(GOLD, lexicon, {"weights": "published"}))["L*"] or 0.0
        for name, lexicon in {"x": WORSE, "y": WORST}.items()
    }
    row = table.row(0, named=True)
    assert row["lower"] < whole["x"] - whole["y"] < row["upper"]


def test_samples_with_other_probabilities_cannot_be_compared() -> None:
    lemmas = by_size()
    even = lemmas.with_columns(pi=pl.lit(40 / 202))
    scores = {"x": score_lexicons(lemmas)["x"], "y": score_lexicons(even)["y"]}
    with pytest.raises(
        ConfigError, match="x and y have the same lemmas with different inclusion probabilities"
    ):
        run_on_lists("evaluate.lexicons", {"seed": "s"}, lexicons=scores)


def test_the_total_size_is_estimated_for_several_lexicons() -> None:
    """The sum of the sizes is not that of all lemmas of gold and x."""
    fewer = GOLD.filter(pl.col("lemma") != "l0200")
    draws = sample(BY_SIZE, gold=GOLD, lexicons={"x": WORSE, "y": fewer})
    table = quality(GOLD, WORSE, sample=draws)["lemmas"]
    assert table["base_total"].null_count() == table.height


def test_a_printed_gold_gives_the_sizes_after_the_draw() -> None:
    draws = sample(BY_SIZE, lexicons={"x": WORSE})
    known = draws.sort("lemma")["lemma"].gather_every(3)
    gold = GOLD.filter(~pl.col("lemma").is_in(known.implode()))
    tables = quality(gold, WORSE, {"complete": False}, sample=draws)
    lemmas = tables["lemmas"]
    w = lemmas["n_gold"] / lemmas["pi"]
    assert values(tables)["L*"] == pytest.approx((w * lemmas["L"]).sum() / w.sum())
    share = (1 / lemmas["pi"]).sum() / (1 / draws["pi"]).sum()
    whole = draws["population"][0]
    assert lemmas["population"].unique().to_list() == [round(whole * share)]
    assert lemmas["base_total"].null_count() == lemmas.height
    mean = np.average(lemmas["L"].to_numpy(), weights=1 / lemmas["pi"].to_numpy())
    assert values(tables)["mean L"] == pytest.approx(mean)


def test_lemmas_looked_up_so_far_have_smaller_probabilities() -> None:
    draws = sample(BY_SIZE, lexicons={"x": GOLD})
    looked_up = draws.sort("position").head(20)["lemma"]
    keyed = looked_up.to_frame().with_columns(
        found=pl.lit(value=True), n_forms=pl.lit(1, pl.Int64), note=pl.lit(None, pl.String)
    )
    config = {"complete": False}
    table = quality(GOLD, WORSE, config, sample=draws, looked_up=keyed)["lemmas"]
    assert table.height == 20
    certain = draws.filter(pi=1.0).height
    expected = draws.with_columns(
        pi=pl.when(pl.col("pi") < 1).then(pl.col("pi") * (20 - certain) / (40 - certain))
        .otherwise(1.0)
    )  # fmt: skip
    both = table.join(expected, on="lemma", suffix="_wanted")
    assert both["pi"].to_list() == pytest.approx(both["pi_wanted"].to_list())


def test_widths_of_both_designs_are_listed() -> None:
    for drawn in (by_size(), sample(SIMPLE, gold=GOLD, lexicons={"x": GOLD})):
        tables = quality(GOLD, WORSE, {"replicates": 100}, sample=drawn)["widths"].sort("rate")
        whole = tables.filter(rate=1.0).row(0, named=True)
        assert (whole["standard_error"], whole["by_size_error"]) == (0.0, 0.0)
        assert tables["by_size_error"].is_sorted(descending=True)
        assert tables["by_size_width"].is_not_null().all()
