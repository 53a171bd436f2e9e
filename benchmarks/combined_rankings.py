"""Compare combinations with single measures, and their estimates with the truth.

    python benchmarks/combined_rankings.py lists [--populations krenn ...] [--rates .05 .1 .15 .2]
    python benchmarks/combined_rankings.py estimates [--rates .1] [--samples 1000]
    python benchmarks/combined_rankings.py designed [--rates .1] [--samples 500]
    python benchmarks/combined_rankings.py calibration [--samples 500]
    python benchmarks/combined_rankings.py delivery [--rates .05 .1] [--samples 50]

`lists`: true precision of n-best lists and average precision, mean over random samples of labels.
The same sample chooses single measures; "in hindsight" is the best measure in each column.
`estimates`: mean estimate of a list's precision and mean truth, coverage of the limits by Clopper
and Pearson, and of resubstitution: a model that saw the labels. `designed`: the same for samples
with unequal chances, designed for the lists and differences of six single measures. `calibration`:
how often the test of two lists rejects that the combination is as good as another list where that
is so. `delivery`: true positives of the delivered lists before and after half as many further
labels, of the most probable candidates or of random ones, which the refit learns from or which are
only listed.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import polars as pl
from coverage_parts.estimation import enough_draws, estimate_sets
from coverage_parts.populations import MEASURES, PUBLIC_TABLES, population
from coverage_parts.samples import chances, draw_samples, numbers

from pipeline.kernels.association.scoring import score
from pipeline.kernels.nbest.combination import (
    Labels,
    best_measure,
    choose_single,
    cross_fit,
    fit_all,
    percentiles,
)
from pipeline.kernels.nbest.ranking import rank
from pipeline.kernels.numeric import BoolArray, FloatArray, IntArray, codes
from pipeline.kernels.ridge_logistic import Features
from pipeline.kernels.sampling import candidate_id
from pipeline.kernels.statistics.exact_tests import fisher
from pipeline.kernels.statistics.intervals import clopper_pearson
from pipeline.kernels.survey.limits import limits
from pipeline.kernels.survey.study import normal_scores, rank_matrix

SEVEN = ("chi_squared", "chi_squared_corr", "dice", "frequency", "log_likelihood", "mi", "t_score")
SIZES = (100, 500, 1000, 2000)
FOLDS = 10
NAMES = ("krenn", "streusle", "eltec", "invented", "alike")


class Data(NamedTuple):
    """Candidates that are annotated in full."""

    measures: list[str]
    ranks: IntArray
    """Shape (measures, candidates)."""
    words: IntArray
    tp: FloatArray

    def some(self, names: tuple[str, ...]) -> IntArray:
        """Return the ranks under some measures; all if none of them is ranked."""
        rows = [place for place, name in enumerate(self.measures) if name in names]
        return self.ranks[rows] if rows else self.ranks


def read(name: str) -> Data:
    """Return a population with all measures, or an invented one with its six."""
    if name not in PUBLIC_TABLES:
        everyone = population(name)
        return Data(list(MEASURES), everyone.ranks, everyone.words, everyone.tp.astype(np.float64))
    table = PUBLIC_TABLES[name]().with_columns(candidate_id("l1", "l2"))
    scores = score(table.lazy(), measures=["all"], seed="s").drop(
        "random", "fisher_left_pv", strict=False
    )
    own = [
        each
        for each, kind in scores.collect_schema().items()
        if kind == pl.Float64 and each not in table
    ]
    ids, measures, ranks = rank_matrix(rank(scores.lazy(), measures=own, seed="combined"))
    labels = ids.rename("id").to_frame().join(table, on="id", how="left", maintain_order="left")
    words = np.stack([codes(labels[each].cast(pl.String))[0] for each in ("l1", "l2")])
    return Data(measures.to_list(), ranks, words, labels["tp"].cast(pl.Float64).to_numpy())


class Sample(NamedTuple):
    """A random sample of labels, and the folds of all candidates."""

    labels: Labels
    fold: IntArray
    judged: BoolArray

    @classmethod
    def draw(cls, tp: FloatArray, rate: float, bits: np.random.Generator) -> Sample:
        """Draw a share of the candidates without replacement."""
        places = np.sort(bits.choice(len(tp), round(rate * len(tp)), replace=False))
        judged = np.zeros(len(tp), dtype=np.bool_)
        judged[places] = True
        labels = Labels(places, tp[places], np.ones(len(places)))
        return cls(labels, bits.integers(0, FOLDS, len(tp)), judged)


def rankings(data: Data, sample: Sample) -> Iterator[tuple[str, FloatArray]]:
    """Yield the scores of each way to rank."""
    seven = data.some(SEVEN)
    for name, ranks in (("7", seven), ("all", data.ranks)):
        best = best_measure(ranks, sample.labels)
        yield f"single chosen of {name}", -ranks[best].astype(np.float64)
    ways = {
        "all ranks": (data.ranks, data.words[:0]), "7 ranks + words": (seven, data.words),
        "all ranks + words": (data.ranks, data.words),
    }  # fmt: skip
    for name, (ranks, words) in ways.items():
        features = Features(normal_scores(ranks).T, words)
        yield f"combination, {name}", cross_fit(features, sample.labels, sample.fold).scores


def order_of(scores: FloatArray, bits: np.random.Generator) -> IntArray:
    """Return the candidates, best first, equal ones at random."""
    return np.lexsort((bits.random(len(scores)), -scores))


def average_precision(y: FloatArray) -> float:
    """Return the average precision of labels in the order of a ranking."""
    true = y > 0
    return float((np.cumsum(y) / np.arange(1, len(y) + 1))[true].mean())


def lists(name: str, rate: float, samples: int) -> None:
    """Print the mean true precision of each way to rank."""
    data = read(name)
    shares: dict[str, list[list[float]]] = {}
    sizes = [size for size in SIZES if size <= len(data.tp)]
    for number in range(samples):
        bits = np.random.default_rng([number, round(1000 * rate)])
        sample = Sample.draw(data.tp, rate, bits)
        for way, scores in rankings(data, sample):
            y = data.tp[order_of(scores, bits)]
            row = [*(y[:size].mean() for size in sizes), average_precision(y)]
            shares.setdefault(way, []).append(row)
    single = [data.tp[np.argsort(ranks)] for ranks in data.ranks]
    values = [[*(y[:size].mean() for size in sizes), average_precision(y)] for y in single]
    shares["best single in hindsight"] = [np.max(values, axis=0).tolist()]
    for way, rows in shares.items():
        mean = 100.0 * np.mean(rows, axis=0)
        error = 100.0 * np.std(rows, axis=0) / max(len(rows) - 1, 1) ** 0.5
        text = "  ".join(f"{m:5.1f} ±{2 * e:4.1f}" for m, e in zip(mean, error, strict=True))
        print(f"{name:9} {rate:4.0%}  {way:26} {text}", flush=True)


def estimates(name: str, rate: float, samples: int) -> None:
    """Print the bias of the estimated precision, and the coverage of its limits."""
    data = read(name)
    cross: dict[int, list[list[float]]] = {100: [], 500: []}
    again: dict[int, list[list[float]]] = {100: [], 500: []}
    features = Features(normal_scores(data.some(SEVEN)).T, data.words)
    for number in range(samples):
        bits = np.random.default_rng([number, round(1000 * rate), 7])
        sample = Sample.draw(data.tp, rate, bits)
        fit = cross_fit(features, sample.labels, sample.fold)
        final = fit_all(features, sample.labels, ridge=float(np.median(fit.ridges)))
        refit = percentiles(final.log_odds(features))
        for own, scores in ((cross, fit.scores), (again, refit)):
            order = order_of(scores, bits)
            for size, rows in own.items():
                top = order[:size]
                drawn = top[sample.judged[top]]
                rows.append([data.tp[top].mean(), data.tp[drawn].sum(), len(drawn)])
    for kind, own in (("cross-fitted", cross), ("resubstitution", again)):
        for size, rows in own.items():
            truth, k, n = np.array(rows).T
            low, high = clopper_pearson(k, n, confidence=0.95)
            some = n > 0
            estimate = k[some] / n[some]
            bias = (estimate - truth[some]).mean()
            error = (estimate - truth[some]).std() / len(estimate) ** 0.5
            covered = ((low <= truth) & (truth <= high)).mean()
            text = f"estimate {estimate.mean():.1%}, truth {truth.mean():.1%}"
            spread = f"bias {100 * bias:+.1f} ±{200 * error:.1f}, coverage {covered:.1%}"
            print(f"{name:9} {rate:4.0%}  {kind:14} n = {size}: {text}, {spread}", flush=True)


def designed_samples(name: str, rate: float, samples: int) -> None:
    """Print bias and coverage where the sample is designed for lists of single measures."""
    everyone = population(name)
    tp, sizes = everyone.tp, (100, 500)
    features = Features(normal_scores(everyone.ranks).T, everyone.words)
    judged = round(rate * everyone.size)
    pi = chances(name, "designed", judged)
    shares: dict[int, list[list[float]]] = {size: [] for size in sizes}
    for number in range(samples):
        bits = np.random.default_rng([number, round(1000 * rate), 17])
        draws = draw_samples(pi, numbers(everyone.size, number, 1), size=judged)
        places = np.flatnonzero(draws[0])
        labels = Labels(places, tp[places].astype(np.float64), 1.0 / pi[places])
        fold = bits.integers(0, FOLDS, everyone.size)
        order = order_of(cross_fit(features, labels, fold).scores, bits)
        members = np.zeros((len(sizes), everyone.size), dtype=np.bool_)
        for row, size in enumerate(sizes):
            members[row, order[:size]] = True
        some = enough_draws(pi, members)
        estimates = estimate_sets(tp, pi, draws, members)
        lower, upper = limits(estimates, confidence=0.95)
        for row, size in enumerate(sizes):
            at, low, high = (each[0, row] for each in (estimates.estimate, lower, upper))
            if some[row] and np.isfinite(at):
                shares[size].append([tp[members[row]].mean(), at, low, high])
    for size, rows in shares.items():
        if not rows:
            continue
        truth, at, low, high = np.array(rows).T
        error = (at - truth).std() / len(rows) ** 0.5
        covered = ((low <= truth) & (truth <= high)).mean()
        text = f"estimate {at.mean():.1%}, truth {truth.mean():.1%}"
        spread = f"bias {100 * (at - truth).mean():+.1f} ±{200 * error:.1f}"
        print(
            f"{name:9} {rate:4.0%}  designed n = {size}: {text}, {spread}, coverage {covered:.1%} "
            f"of {len(rows)}, width {(high - low).mean():.2f}",
            flush=True,
        )


def calibration(name: str, rate: float, samples: int) -> None:
    """Print how often Fisher's test rejects that the combination is as good as another list.

    Two hypotheses are true by construction: all lists have the same expected precision where labels
    are shuffled among the candidates, and a list that is made to hold as many true positives as
    that of the combination, in an order that the labels of the sample do not change, is as good. A
    model has learned if it predicts the labels of other folds better than their mean does.
    """
    data = read(name)
    seven = data.some(SEVEN)
    features = Features(normal_scores(seven).T, data.words)
    names = [each for each in data.measures if each in SEVEN] or data.measures
    fixed = {name: np.argsort(ranks) for name, ranks in zip(names, seven, strict=True)}
    rejected: dict[tuple[str, int], IntArray] = defaultdict(lambda: np.zeros(2, np.int64))
    learned: Counter[str] = Counter()
    for number in range(samples):
        bits = np.random.default_rng([number, round(1000 * rate), 11])
        for labels in ("shuffled", "true"):
            tp = bits.permutation(data.tp) if labels == "shuffled" else data.tp
            sample = Sample.draw(tp, rate, bits)
            fitted = cross_fit(features, sample.labels, sample.fold)
            learned[labels] += fitted.gain > 0
            ranking = order_of(fitted.scores, bits)
            single = order_of(choose_single(seven, sample.labels, sample.fold)[0], bits)
            anyhow = bits.permutation(len(tp))
            for size in (100, 500):
                others = {"chosen measure": single, **fixed}
                if labels == "true":
                    true, false = anyhow[tp[anyhow] > 0], anyhow[tp[anyhow] == 0]
                    k = int(tp[ranking[:size]].sum())
                    others = {"equal list": np.concatenate([true[:k], false[: size - k]])}
                for other, order in others.items():
                    low = p_value(tp, sample.judged, ranking[:size], order[:size]) <= 0.05
                    rejected[f"{labels} labels, {other}", size] += [low, low and fitted.gain > 0]
    for labels, count in learned.items():
        print(f"{name:9} {rate:4.0%}  {labels} labels: learned in {count / samples:.1%}")
    for (kind, size), counts in rejected.items():
        each, frequency = counts / samples
        text = f"{each:.1%} of {samples:,} rejected, {frequency:.1%} where it has learned"
        print(f"{name:9} {rate:4.0%}  n = {size}  {kind}: {text}", flush=True)


def p_value(tp: FloatArray, judged: BoolArray, first: IntArray, second: IntArray) -> float:
    """Return the p-value of Fisher's test on the judged candidates that one list alone has."""
    drawn = [
        part[judged[part]] for part in (np.setdiff1d(first, second), np.setdiff1d(second, first))
    ]
    counts = [(float(tp[part].sum()), len(part)) for part in drawn]
    return float(np.asarray(fisher(*(np.array([float(x)]) for pair in counts for x in pair)))[0])


def delivered_list(odds: FloatArray, labels: Labels, size: int) -> IntArray:
    """Return the list: judged true positives, then the most probable unjudged candidates."""
    known = labels.per_candidate(len(odds))
    order = np.lexsort((-odds, np.isnan(known)))
    rest: IntArray = order[known[order] != 0.0]
    return rest[:size]


def delivery(name: str, rate: float, samples: int) -> None:
    """Print the true positives of delivered lists, by what is judged beside the sample."""
    data = read(name)
    features = Features(normal_scores(data.some(SEVEN)).T, data.words)
    sizes = [size for size in (200, 500, 1000) if size < len(data.tp)]
    counts: dict[str, list[list[int]]] = {}
    for number in range(samples):
        bits = np.random.default_rng([number, round(1000 * rate), 13])
        sample = Sample.draw(data.tp, rate, bits)
        ridge = float(np.median(cross_fit(features, sample.labels, sample.fold).ridges))
        odds = fit_all(features, sample.labels, ridge=ridge).log_odds(features)
        open_ = np.flatnonzero(~sample.judged)
        more = len(sample.labels.y) // 2
        best = open_[np.argsort(-odds[open_], kind="stable")][:more]
        every = {
            kind: Labels(places, data.tp[places], np.ones(len(places)))
            for kind, further in (("best", best), ("random", bits.choice(open_, more, False)))
            for places in [np.sort(np.concatenate([sample.labels.places, further]))]
        }
        again = {kind: fit_all(features, each, ridge=ridge) for kind, each in every.items()}
        lists = {
            "sample only": (odds, sample.labels),
            "best judged, listed only": (odds, every["best"]),
            "best judged, learned": (again["best"].log_odds(features), every["best"]),
            "random judged, learned": (again["random"].log_odds(features), every["random"]),
        }
        for way, (scores, labels) in lists.items():
            row = [int(data.tp[delivered_list(scores, labels, size)].sum()) for size in sizes]
            counts.setdefault(way, []).append(row)
    for way, rows in counts.items():
        mean, error = np.mean(rows, axis=0), np.std(rows, axis=0) / max(samples - 1, 1) ** 0.5
        text = "  ".join(
            f"{m:6.1f} ±{2 * e:4.1f} of {n}" for m, e, n in zip(mean, error, sizes, strict=True)
        )
        print(f"{name:9} {rate:4.0%}  {way:26} {text}", flush=True)


def main() -> int:
    """Run one of the five."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument(
        "what", choices=("lists", "estimates", "designed", "calibration", "delivery")
    )
    parser.add_argument("--populations", nargs="+", default=list(NAMES))
    parser.add_argument("--rates", nargs="+", type=float)
    parser.add_argument("--samples", type=int)
    options = parser.parse_args()
    run, samples = {
        "lists": (lists, 50), "estimates": (estimates, 1000), "designed": (designed_samples, 500),
        "calibration": (calibration, 1000), "delivery": (delivery, 50),
    }[options.what]  # fmt: skip
    samples = options.samples or samples
    rates = options.rates or ([0.05, 0.1, 0.15, 0.2] if options.what == "lists" else [0.1])
    for name in options.populations:
        for rate in rates:
            try:
                run(name, rate, samples)
            except FileNotFoundError as absent:
                print(f"{name} is skipped: {absent}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
