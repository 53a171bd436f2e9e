"""Simulate samples in two phases: power and size of a test, on candidates that are all judged.

python benchmarks/active_samples.py [--samples 1000] [--labels 180+130 150+160]

A first phase is drawn for one question, the difference of two measures. A model of its labels
(ranks and words) places the second one. Printed are, for each population and for true labels and
labels without a difference (as many true positives in both difference sets, at random places):
how often the test at 5 % finds a difference, how often the limits contain the true one, and the
standard deviation of the estimate beside the estimated one. For comparison: one phase of the same
size, and a second phase for which the labels of the first are only known.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import polars as pl
from coverage_parts.populations import Population, population

from pipeline.kernels.numeric import BoolArray, FloatArray, IntArray
from pipeline.kernels.survey.allocation import estimands, question_sets
from pipeline.kernels.survey.design import declared_questions, design_sample
from pipeline.kernels.survey.phases import phased_study
from pipeline.kernels.survey.study import Study, assist_predictions, study
from pipeline.kernels.survey.tables import pair_estimates

QUESTIONS = {
    "krenn": ("t_score", "chi_squared", 1000),
    "streusle": ("log_likelihood", "mi", 1000),
    "invented": ("t_score", "mi", 500),
}
WAYS = ("one phase", "first phase known", "two phases")
_FOLDS = 10


class Setting(NamedTuple):
    """A population and a question about it."""

    given: Population
    one: str
    other: str
    n: int

    @property
    def sides(self) -> tuple[BoolArray, BoolArray]:
        """The candidates in only one of the two lists."""
        first, second = (self.given.of(name) <= self.n for name in (self.one, self.other))
        return first & ~second, second & ~first

    def truth(self, tp: BoolArray) -> float:
        """Return the difference of the precisions."""
        first, second = self.sides
        return float(tp[first].sum() - tp[second].sum()) / self.n

    def equal_labels(self, bits: np.random.Generator) -> BoolArray:
        """Return labels without a difference: both sets get the mean number of true positives."""
        first, second = self.sides
        tp = self.given.tp.copy()
        half = round(self.truth(tp) * self.n / 2)
        more, fewer = (first, second) if half > 0 else (second, first)
        tp[bits.choice(np.flatnonzero(more & tp), abs(half), replace=False)] = False
        tp[bits.choice(np.flatnonzero(fewer & ~tp), abs(half), replace=False)] = True
        return tp

    def design(
        self, size: int, p: FloatArray, judged: BoolArray, *, seed: str, assisted: bool
    ) -> tuple[FloatArray, IntArray]:
        """Return the chances of all candidates, and the places of the new draws."""
        pair, ids = (self.one, self.other), self.given.ids
        questions = declared_questions(
            measures=list(pair), pairs=[pair], at=[self.n], candidates=len(ids),
            weights={"precision": 0.0, "baseline": 0.0},
        )  # fmt: skip
        ranks = {name: self.given.of(name) for name in pair}
        sets = question_sets(ids, ranks, pairs=[pair], n=np.array([self.n]))
        made = design_sample(
            estimands(sets, p=p, judged=judged, assisted=assisted), questions, sizes=[size],
            floor=0.0, baseline_width=1.25, confidence=0.95, seed=seed,
        )  # fmt: skip
        drawn = np.asarray(ids.is_in(made.sample["id"].implode())) & ~judged
        return made.inclusion["pi"].to_numpy(), np.flatnonzero(drawn)

    def draws(self, tp: BoolArray, places: IntArray) -> pl.DataFrame:
        """Return the judged draws."""
        return pl.DataFrame({"id": self.given.ids.gather(places), "tp": tp[places]})

    def predict(self, draws: pl.DataFrame, seed: str) -> tuple[FloatArray, IntArray]:
        """Return predictions from the ranks and the words."""
        found, fold = assist_predictions(
            self.given.ids, self.given.ranks, draws, np.zeros((0, self.given.size)),
            assist="scores", folds=_FOLDS, seed=seed, effects=self.given.words,
        )  # fmt: skip
        assert found is not None
        return found, fold

    def ranked(self) -> pl.DataFrame:
        """Return the ranks of the two measures."""
        return pl.concat(
            pl.DataFrame({"measure": name, "id": self.given.ids, "rank": self.given.of(name)})
            for name in (self.one, self.other)
        )


def studies(
    setting: Setting, ranks: pl.DataFrame, tp: BoolArray, sizes: tuple[int, int], seed: str
) -> Iterator[Study]:
    """Yield the sample in one phase, with a first phase that is known, and in two phases."""
    ids, every = setting.given.ids, np.ones(setting.given.size)
    nobody = np.zeros(setting.given.size, dtype=np.bool_)
    rate = 0.3 * every

    pi, places = setting.design(sum(sizes), rate, nobody, seed=f"{seed} whole", assisted=False)
    draws = setting.draws(tp, places).with_columns(pi=pi[places])
    found, fold = setting.predict(draws, seed)
    candidates = pl.DataFrame({"id": ids, "prediction": found})
    yield study(ranks, draws.with_columns(fold=fold), candidates=candidates)

    pi, first = setting.design(sizes[0], rate, nobody, seed=f"{seed} first", assisted=False)
    expected, _ = setting.predict(setting.draws(tp, first), seed)
    judged = nobody.copy()
    judged[first] = True
    later, second = setting.design(sizes[1], expected, judged, seed=f"{seed} second", assisted=True)
    draws = setting.draws(tp, np.concatenate([first, second]))
    found, fold = setting.predict(draws, seed)
    draws = draws.with_columns(fold=fold)
    candidates = pl.DataFrame({"id": ids, "prediction": found})
    chances = np.concatenate([np.ones(len(first)), later[second]])
    yield study(
        ranks, draws.with_columns(pi=chances),
        candidates=candidates.with_columns(pi=pl.Series(later)),
    )  # fmt: skip
    drawn = np.stack([judged, nobody])
    drawn[1, second] = True
    phases = pl.concat(
        pl.DataFrame({
            "phase": number, "id": ids, "pi": chance, "stratum": "all", "drawn": mine,
            "expected": expected,
        })
        for number, chance, mine in zip((1, 2), (pi, later), drawn, strict=True)
    )  # fmt: skip
    yield phased_study(ranks, draws, phases=phases, candidates=candidates)


def simulate(
    setting: Setting, sizes: tuple[int, int], *, samples: int, equal: bool
) -> dict[str, dict[str, float]]:
    """Return power, coverage and deviations of each way over many samples."""
    rows: dict[str, list[tuple[float, ...]]] = {way: [] for way in WAYS}
    ranks, bits = setting.ranked(), np.random.default_rng(7)
    for number in range(samples):
        tp = setting.equal_labels(bits) if equal else setting.given.tp
        true = setting.truth(tp)
        made = studies(setting, ranks, tp, sizes, f"{number}")
        for way, one in zip(WAYS, made, strict=True):
            row = pair_estimates(one, pairs=[(setting.one, setting.other)], at=[setting.n])
            d, variance, lower, upper, p = row.select(
                "difference", "variance", "lower", "upper", "p_value"
            ).row(0)
            rows[way].append((p <= 0.05, lower <= true <= upper, d - true, variance))
    found = {way: np.array(each, dtype=np.float64) for way, each in rows.items()}
    return {
        way: {
            "significant": each[:, 0].mean(), "covered": each[:, 1].mean(),
            "bias": each[:, 2].mean(), "deviation": each[:, 2].std(),
            "estimated": np.sqrt(each[:, 3].mean()),
        }
        for way, each in found.items()
    }  # fmt: skip


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=1000)
    parser.add_argument("--labels", nargs="+", default=["180+130", "150+160"])
    parser.add_argument("--populations", nargs="+", default=list(QUESTIONS), choices=QUESTIONS)
    wanted = parser.parse_args()
    for name in wanted.populations:
        setting = Setting(population(name), *QUESTIONS[name])
        true = 100 * setting.truth(setting.given.tp)
        print(f"{name}: {setting.one} - {setting.other} at {setting.n}: {true:+.1f} points")
        for labels in wanted.labels:
            first, second = map(int, labels.split("+"))
            for equal in (False, True):
                found = simulate(setting, (first, second), samples=wanted.samples, equal=equal)
                print(f"  {labels}, {'no difference' if equal else 'true labels'}")
                for way, each in found.items():
                    values = ", ".join(f"{key} {value:.4f}" for key, value in each.items())
                    print(f"    {way}: {values}", flush=True)


if __name__ == "__main__":
    main()
