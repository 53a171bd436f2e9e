"""Hold planned half-widths against those of samples: Krenn's candidates, all of them judged.

python benchmarks/planned_labels.py [--samples 200] [--pilot 300]

First the share of the variance within lists that a model of the ranks explains, out of fold, with
full annotation, on two data sets. Then for three sizes and five plans: the half-widths that a plan
expects of each question, from the full annotation or from a pilot, and the mean half-width of the
estimates over as many samples. Printed are the smallest, the median and the largest ratio of
planned to actual over the questions whose sets have 15 draws or more, and who is off by more than
10 %. Then how often samples that are planned for one of three true differences, with a power of
80 %, find it.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

import pipeline as lx
from pipeline.api.results import Run
from pipeline.kernels.numeric import FloatArray, IntArray
from pipeline.kernels.survey.allocation import set_sums
from pipeline.kernels.survey.design import inclusion, sequential_poisson
from pipeline.kernels.survey.planning import PLANS, strata_of
from pipeline.kernels.survey.study import Study, assist_predictions, build_study, rank_matrix
from pipeline.kernels.survey.tables import list_estimates, pair_estimates
from pipeline.sizing.design import (
    Assumptions,
    Goal,
    Planner,
    QuestionOverrides,
    prepare_plans,
    question_table,
)

CONFIG = Path(__file__).parent.parent / "configs" / "krenn-design.toml"
OTHER = CONFIG.with_name("streusle.toml")
LISTS = (500, 1000, 2000)
SIZES = (250, 528, 1000)
ENOUGH, FAR = 15, 0.1
DIFFERENCES = (
    ("t_score", "chi_squared", 1000), ("log_likelihood", "mi", 500), ("log_likelihood", "mi", 1000),
)  # fmt: skip


def planner_of(run: Run, pilot: str, goal: Goal, *questions: str) -> Planner:
    """Return the plans of these questions of the experiment, all by default."""
    return prepare_plans(
        run,
        QuestionOverrides(),
        goal,
        Assumptions(),
        questions=questions,
        pilot=pilot,
        category=None,
    )


def planned_widths(planner: Planner, plan: str, size: int) -> FloatArray:
    """Return the expected half-widths."""
    levels = np.full(planner.selection.questions.height, 0.05)
    return planner.target.value_at(planner.at[plan](size), levels)


def draw_places(pi: FloatArray, strata: IntArray, u: FloatArray) -> IntArray:
    """Return the places drawn: a fixed number in each stratum."""
    parts = []
    for name in np.unique(strata):
        (own,) = np.nonzero(strata == name)
        size = round(pi[own].sum())
        parts.append(own[sequential_poisson(pi[own], u[own], size=size)])
    return np.concatenate(parts)


def half_widths(planner: Planner, study: Study) -> FloatArray:
    """Return half the distance of the limits of each question; NaN without any."""
    selection, at = planner.selection, [int(n) for n in planner.selection.sets.n]
    lists = list_estimates(study, at=[*at, len(study.ids)])
    half = (pl.col("upper") - pl.col("lower")) / 2
    whole = lists.filter(n=len(study.ids)).head(1).select(half)
    parts = [lists.filter(pl.col("n").is_in(at)).select(half)]
    compared = pair_estimates(study, pairs=selection.pairs, at=at)
    for one, two in selection.pairs:
        parts.append(compared.filter(measure_1=one, measure_2=two).sort("n").select(half))
    return pl.concat([*parts, whole]).to_series().to_numpy()


def actual(planner: Planner, plan: str, size: int, truth: pl.Series, samples: int) -> FloatArray:
    """Return the mean half-width of each question over many samples."""
    bits, ids = np.random.default_rng(size), planner.selection.sets.ids
    pi = inclusion(planner.x[plan], size=size)
    strata = strata_of(planner.selection.sets)
    strata = strata if plan == "stratified" else np.zeros_like(strata)
    if plan == "stratified":  # whole numbers in each stratum
        counts = np.bincount(strata)
        pi = (np.round(np.bincount(strata, weights=pi)) / counts)[strata]
    _, _, matrix = rank_matrix(planner.selection.every)
    candidates = pl.DataFrame({"id": ids, "pi": pi, "stratum": strata.astype(str)})
    widths = []
    for _ in range(samples):
        places = draw_places(pi, strata, bits.random(len(pi)))
        draws = pl.DataFrame(
            {"id": ids.gather(places), "tp": truth.gather(places), "pi": pi[places]}
        )
        known = candidates
        if plan == "assisted":
            guess, fold = assist_predictions(
                ids, matrix, draws, np.zeros((0, len(ids))), assist="scores", seed="s"
            )
            if guess is not None:
                known = candidates.with_columns(prediction=pl.Series(guess))
                draws = draws.with_columns(fold=pl.Series(fold))
        widths.append(
            half_widths(planner, build_study(planner.selection.ranks, draws, candidates=known))
        )
    return np.asarray(np.nanmean(widths, axis=0))


def show_power(
    planner: Planner, plan: str, pair: tuple[str, str, int], truth: pl.Series, samples: int
) -> None:
    """Print the labels for a power of 80 %, and how often so many find the difference."""
    one, two, n = pair
    name, ids = f"{one} - {two} at {n}", planner.selection.sets.ids
    size = int(question_table(planner, plan, None).filter(question=name)["labels"].item())
    bits, pi = np.random.default_rng(size), inclusion(planner.x[plan], size=size)
    candidates, hits = pl.DataFrame({"id": ids, "pi": pi}), 0
    for _ in range(samples):
        places = sequential_poisson(pi, bits.random(len(pi)), size=size)
        draws = pl.DataFrame(
            {"id": ids.gather(places), "tp": truth.gather(places), "pi": pi[places]}
        )
        study = build_study(planner.selection.ranks, draws, candidates=candidates)
        hits += int(pair_estimates(study, pairs=[(one, two)], at=[n])["lower"].item() > 0)
    print(f"{name}: {size:,} labels, {plan}, found in {hits / samples:.0%}", flush=True)


def fewest(planner: Planner, plan: str, size: int) -> FloatArray:
    """Return the expected draws of each question, of a difference those of the smaller side."""
    sums = set_sums(planner.selection.sets, [inclusion(planner.x[plan], size=size)])[0]
    least = np.full(planner.selection.questions.height, np.inf)
    np.minimum.at(least, planner.expectations.estimands.question, sums)
    return least


def compare(planner: Planner, plan: str, size: int, widths: FloatArray, source: str) -> None:
    """Print planned against actual."""
    expected, many = planned_widths(planner, plan, size), fewest(planner, plan, size) >= ENOUGH
    some = many & (widths > 1e-9)
    ratio = expected[some] / widths[some]
    names = planner.selection.questions["question"].to_numpy()[some]
    far = np.abs(ratio - 1) > FAR
    text = ", ".join(
        f"{name} {each:.2f}" for name, each in zip(names[far], ratio[far], strict=True)
    )
    low, middle, high = np.quantile(ratio, [0, 0.5, 1])
    print(f"{source:>8} {plan:>10} {size:5} {some.sum():3} {low:6.2f} {middle:6.2f} {high:6.2f}"
          f" {far.sum():3}  {text}", flush=True)  # fmt: skip


def show_explained(run: Run, name: str) -> None:
    """Print the share of variance that predictions explain within lists and difference sets."""
    for kind in ("precision", "difference"):
        planner = prepare_plans(
            run, QuestionOverrides(n=LISTS), Goal(0.05), Assumptions(), questions=(kind,),
            pilot="full", category=None,
        )  # fmt: skip
        low, middle, high = np.quantile(planner.explained[planner.mask], [0, 0.5, 1])
        print(f"{name}, {kind}: median {middle:.2f}, {low:.2f} to {high:.2f}", flush=True)


def main() -> int:
    """Plan, draw, estimate, print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--pilot", type=int, default=300)
    options = parser.parse_args()
    if "LEXASSAY_DATA" not in os.environ:
        print("LEXASSAY_DATA is not set: the simulation needs Krenn's candidates, see README.md")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        settings = {"stages.designed.size": options.pilot}
        result = lx.run(CONFIG, runs=folder, report=False, settings=settings)
        tests = {
            pair: planner_of(result, "full", Goal(power=0.8), "{} - {} at {}".format(*pair))
            for pair in DIFFERENCES
        }
        plans = {name: planner_of(result, stage, Goal(0.05)) for name, stage in
                 (("all", "full"), ("pilot", "answers"))}  # fmt: skip
        judged = result.table("judgements").select("id", "tp")
        other = lx.run(OTHER, runs=folder, report=False)
        for run, name in ((result, CONFIG.name), (other, OTHER.name)):
            show_explained(run, name)
    ids = plans["all"].selection.sets.ids.rename("id").to_frame()
    truth = ids.join(judged, on="id", how="left", maintain_order="left")["tp"]
    print("  source       plan  size  of    low median   high off")
    for plan in PLANS:
        for size in SIZES:
            widths = actual(plans["all"], plan, size, truth, options.samples)
            for source, each in plans.items():
                compare(each, plan, size, widths, source)
    for plan in ("simple", "pooled", "designed"):
        for pair, each in tests.items():
            show_power(each, plan, pair, truth, options.samples)
    return 0


if __name__ == "__main__":
    sys.exit(main())
