"""Simulate samples in two phases: power and size of a test, on candidates that are all judged.

python benchmarks/active_samples.py [--samples 2000] [--labels 180+130] [--populations krenn]

Samples are designed for one question, the difference of two measures. A model of the labels of the
first phase (ranks and words) places the second one, and predicts. Printed are, for each population
and for true labels and labels without a difference (as many true positives in both difference sets,
at random places): how often the test at 5 % finds a difference, how often the limits contain the
true one, and the standard deviation of the estimate beside the estimated one; for comparison the
same of one phase of the same size.
"""

from __future__ import annotations

import argparse
from typing import NamedTuple

import numpy as np
from coverage_parts.phased_samples import Questions
from coverage_parts.populations import population

from pipeline.kernels.numeric import BoolArray
from pipeline.kernels.survey.study import Study
from pipeline.kernels.survey.tables import pair_estimates

QUESTIONS = {
    "krenn": ("t_score", "chi_squared", 1000),
    "streusle": ("log_likelihood", "mi", 1000),
    "eltec": ("t_score", "mi", 500),
    "invented": ("t_score", "mi", 500),
}


class Setting(NamedTuple):
    """A question about a population."""

    questions: Questions
    one: str
    other: str
    n: int

    @property
    def sides(self) -> tuple[BoolArray, BoolArray]:
        """The candidates in only one of the two lists."""
        everyone, names = self.questions.everyone, (self.one, self.other)
        first, second = (everyone.of(name) <= self.n for name in names)
        return first & ~second, second & ~first

    def truth(self, tp: BoolArray) -> float:
        """Return the difference of the precisions."""
        first, second = self.sides
        return float(tp[first].sum() - tp[second].sum()) / self.n

    def equal_labels(self, bits: np.random.Generator) -> BoolArray:
        """Return labels without a difference: both sets get the mean number of true positives."""
        first, second = self.sides
        tp = self.questions.everyone.tp.copy()
        half = round(self.truth(tp) * self.n / 2)
        more, fewer = (first, second) if half > 0 else (second, first)
        tp[bits.choice(np.flatnonzero(more & tp), abs(half), replace=False)] = False
        tp[bits.choice(np.flatnonzero(fewer & ~tp), abs(half), replace=False)] = True
        return tp

    def outcome(self, study: Study, true: float) -> tuple[float, ...]:
        """Return whether a sample finds a difference, limits hold, the error, the variance."""
        row = pair_estimates(study, pairs=[(self.one, self.other)], at=[self.n])
        d, variance, lower, upper, p = row.select(
            "difference", "variance", "lower", "upper", "p_value"
        ).row(0)
        return p <= 0.05, lower <= true <= upper, d - true, variance


def setting_of(name: str) -> Setting:
    """Return the setting of a population."""
    one, other, n = QUESTIONS[name]
    questions = Questions(
        population(name), (one, other), ((one, other),), (n,),
        {"precision": 0.0, "baseline": 0.0}, floor=0.0, effects=True, assisted=True,
    )  # fmt: skip
    return Setting(questions, one, other, n)


def simulate(
    setting: Setting, sizes: tuple[int, int], *, samples: int, equal: bool
) -> dict[str, dict[str, float]]:
    """Return power or size, coverage and deviations over many samples, in one and two phases."""
    rows: dict[str, list[tuple[float, ...]]] = {"one phase": [], "two phases": []}
    bits = np.random.default_rng(7)
    for number in range(samples):
        tp = setting.equal_labels(bits) if equal else setting.questions.everyone.tp
        true = setting.truth(tp)
        one = setting.questions.one_phase(tp, sum(sizes), number)
        two = setting.questions.two_phases(tp, sizes, number)
        rows["one phase"].append(setting.outcome(one, true))
        rows["two phases"].append(setting.outcome(two, true))
    results = {way: np.array(each, dtype=np.float64) for way, each in rows.items()}
    return {
        way: {
            "significant": each[:, 0].mean(), "covered": each[:, 1].mean(),
            "bias": each[:, 2].mean(), "deviation": each[:, 2].std(),
            "estimated": np.sqrt(each[:, 3].mean()),
        }
        for way, each in results.items()
    }  # fmt: skip


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=2000)
    parser.add_argument("--labels", nargs="+", default=["180+130"])
    parser.add_argument("--populations", nargs="+", default=list(QUESTIONS), choices=QUESTIONS)
    options = parser.parse_args()
    for name in options.populations:
        setting = setting_of(name)
        true = 100 * setting.truth(setting.questions.everyone.tp)
        print(f"{name}: {setting.one} - {setting.other} at {setting.n}: {true:+.1f} points")
        for labels in options.labels:
            first, second = map(int, labels.split("+"))
            for equal in (False, True):
                results = simulate(setting, (first, second), samples=options.samples, equal=equal)
                print(f"  {labels}, {'no difference' if equal else 'true labels'}")
                for way, each in results.items():
                    values = ", ".join(f"{key} {value:.4f}" for key, value in each.items())
                    print(f"    {way}: {values}", flush=True)


if __name__ == "__main__":
    main()
