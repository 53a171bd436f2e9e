"""Precision and differences from samples in two phases, by the kernels of the stages.

Three quarters are drawn by a design for all questions, and the rest by a model of their labels.
Methods are "two phases, PREDICTIONS": none, or scores, those of the model fitted to all labels.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import polars as pl

from coverage_parts.cells import Cell, Outcome, Task, batches, limits_hold
from coverage_parts.populations import MEASURES, PAIRS, Population, cuts_of, population
from coverage_parts.samples import BASELINE_WIDTH, FLOOR, draw_samples, numbers
from coverage_parts.sets import differences, filled_sets, lists
from pipeline.kernels.numeric import BoolArray, FloatArray, IntArray
from pipeline.kernels.survey.allocation import build_estimands, question_sets
from pipeline.kernels.survey.design import declared_questions, design_sample
from pipeline.kernels.survey.study import Study, assist_predictions, build_study, phased_study
from pipeline.kernels.survey.tables import list_estimates, pair_estimates

METHODS = ("two phases, none", "two phases, scores")
TOTAL, FIRST = 400, 300
_RATE, _FOLDS = 0.3, 10


@dataclass(frozen=True)
class Questions:
    """A population, and the questions that its samples are designed for.

    Parameters
    ----------
    given : Population
        The candidates.
    measures, pairs, at
        Measures, pairs of these, list sizes.
    weights : dict
        Weights of kinds of questions, as of `sample.design`.
    floor : float
        Least chance of a candidate, as a part of that in a simple sample.
    effects : bool
        Whether the words have effects in models.
    assisted : bool
        Whether predictions help to estimate.
    """

    everyone: Population
    measures: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]
    at: tuple[int, ...]
    weights: dict[str, float]
    floor: float
    effects: bool
    assisted: bool

    @cached_property
    def ranked(self) -> pl.DataFrame:
        """The ranks."""
        return pl.concat(
            pl.DataFrame({"measure": name, "id": self.everyone.ids, "rank": self.everyone.of(name)})
            for name in self.measures
        )

    @cached_property
    def nobody(self) -> BoolArray:
        """No candidate."""
        return np.zeros(self.everyone.size, dtype=np.bool_)

    def design(
        self, size: int, p: FloatArray, judged: BoolArray, *, seed: str, assisted: bool
    ) -> tuple[FloatArray, IntArray]:
        """Return the chances of all candidates, and the places of the new draws."""
        ids = self.everyone.ids
        questions = declared_questions(
            measures=list(self.measures), pairs=list(self.pairs), at=list(self.at),
            candidates=len(ids), weights=self.weights,
        )  # fmt: skip
        ranks = {name: self.everyone.of(name) for name in self.measures}
        sets = question_sets(ids, ranks, pairs=list(self.pairs), n=np.array(self.at))
        tables = design_sample(
            build_estimands(sets, p=p, judged=judged, assisted=assisted), questions, sizes=[size],
            floor=self.floor, baseline_width=BASELINE_WIDTH, confidence=0.95, seed=seed,
        )  # fmt: skip
        new = np.asarray(ids.is_in(tables.sample["id"].implode())) & ~judged
        return tables.inclusion["pi"].to_numpy(), np.flatnonzero(new)

    def first(self, size: int, number: int) -> tuple[FloatArray, IntArray]:
        """Return the chances, the same in all samples, and the draws of a first phase."""
        if size not in self._chances:
            rate = np.full(self.everyone.size, _RATE)
            sample, _ = self.design(size, rate, self.nobody, seed="first", assisted=False)
            self._chances[size] = sample
        pi = self._chances[size]
        return pi, np.flatnonzero(draw_samples(pi, numbers(len(pi), number, 1), size=size)[0])

    @cached_property
    def _chances(self) -> dict[int, FloatArray]:
        return {}

    def draws(self, tp: BoolArray, places: IntArray) -> pl.DataFrame:
        """Return judged draws."""
        return pl.DataFrame({"id": self.everyone.ids.gather(places), "tp": tp[places]})

    def predict(self, draws: pl.DataFrame, seed: str) -> tuple[FloatArray, IntArray]:
        """Return predictions for all candidates, and the folds of the draws."""
        predictions, fold = assist_predictions(
            self.everyone.ids, self.everyone.ranks, draws, np.zeros((0, self.everyone.size)),
            assist="scores", folds=_FOLDS, seed=seed,
            effects=self.everyone.words if self.effects else None,
        )  # fmt: skip
        assert predictions is not None
        return predictions, fold

    def one_phase(self, tp: BoolArray, size: int, number: int) -> Study:
        """Return a sample that is drawn at once."""
        pi, places = self.first(size, number)
        draws = self.draws(tp, places).with_columns(pi=pi[places])
        draws, candidates = self._add_predictions(draws, f"{number}")
        return build_study(self.ranked, draws, candidates=candidates.with_columns(pi=pi))

    def two_phases(self, tp: BoolArray, sizes: tuple[int, int], number: int) -> Study:
        """Return a sample whose second phase is drawn by a model of the labels of the first."""
        pi, first = self.first(sizes[0], number)
        expected, _ = self.predict(self.draws(tp, first), f"{number}")
        mask = np.stack([self.nobody, self.nobody])
        mask[0, first] = True
        later, second = self.design(
            sizes[1], expected, mask[0], seed=f"{number} second", assisted=self.assisted
        )
        mask[1, second] = True
        draws, candidates = self._add_predictions(
            self.draws(tp, np.concatenate([first, second])), f"{number}"
        )
        phases = pl.concat(
            pl.DataFrame({
                "phase": phase, "id": self.everyone.ids, "pi": chance, "stratum": "all",
                "drawn": mine, "expected": expected,
            })
            for phase, chance, mine in zip((1, 2), (pi, later), mask, strict=True)
        )  # fmt: skip
        return phased_study(self.ranked, draws, phases=phases, candidates=candidates)

    def _add_predictions(self, draws: pl.DataFrame, seed: str) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Return the draws and all candidates, with predictions if these help."""
        candidates = self.everyone.ids.to_frame("id")
        if not self.assisted:
            return draws, candidates
        predictions, fold = self.predict(draws, seed)
        return draws.with_columns(fold=fold), candidates.with_columns(prediction=predictions)


def tasks(populations: tuple[str, ...]) -> list[Task]:
    """Return the tasks of this part."""
    return [Task("phases", method, name, TOTAL) for method in METHODS for name in populations]


def cells(task: Task, first: int, samples: int) -> list[Cell]:
    """Fill the cells of a task: all lists, all differences."""
    return filled_sets(task, _outcomes(task, first, samples))


@lru_cache(maxsize=2)
def all_questions(name: str, *, assisted: bool) -> Questions:
    """Return all lists, all differences and the baseline of a population."""
    everyone = population(name)
    return Questions(
        everyone, MEASURES, PAIRS, cuts_of(everyone), {}, FLOOR, effects=False, assisted=assisted
    )


def _outcomes(task: Task, first: int, samples: int) -> Iterator[Outcome]:
    for start, count in batches(first, samples):
        rows = [_one(task, number) for number in range(start, start + count)]
        yield Outcome(*(np.stack(each) for each in zip(*rows, strict=True)))


def _one(task: Task, number: int) -> Outcome:
    questions = all_questions(task.population, assisted=task.method.endswith("scores"))
    listed, compared = lists(task.population), differences(task.population)
    study = questions.two_phases(questions.everyone.tp, (FIRST, TOTAL - FIRST), number)
    size = questions.everyone.size
    every = list_estimates(study, at=[*questions.at, size]).with_columns(
        what=pl.when(pl.col("n") == size).then(pl.lit("baseline")).otherwise("measure")
    )
    pairs = pair_estimates(study, pairs=questions.pairs, at=questions.at).with_columns(
        what=pl.format("{} - {}", "measure_1", "measure_2"),
        draws=pl.min_horizontal("draws_1", "draws_2"),
    )
    columns = ("what", "n", "lower", "upper", "draws")
    estimates = pl.concat([every.select(columns).unique(["what", "n"]), pairs.select(columns)])
    names = pl.DataFrame({
        "what": listed.names + compared.names, "n": np.concatenate([listed.n, compared.n]),
    })  # fmt: skip
    table = names.join(estimates, on=["what", "n"], how="left", maintain_order="left")
    limits = table["lower"].to_numpy(), table["upper"].to_numpy()
    truth = np.concatenate([listed.truth, compared.truth])
    return Outcome(limits_hold(limits, truth), limits[1] - limits[0], table["draws"].to_numpy())
