"""Precision and differences from samples in two phases, by the kernels of the stages.

Three quarters are drawn by a design for all questions, and the rest by a model of their labels.
Methods are "two phases, PREDICTIONS": none, or scores, those of the model fitted to all labels.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import polars as pl

from coverage_parts.cells import Cell, Outcome, Task, batches, filled, held
from coverage_parts.populations import MEASURES, PAIRS, Population, cuts_of, population
from coverage_parts.samples import BASELINE_WIDTH, FLOOR
from coverage_parts.sets import differences, lists
from pipeline.kernels.numeric import BoolArray, FloatArray, IntArray
from pipeline.kernels.survey.allocation import estimands, question_sets
from pipeline.kernels.survey.design import declared_questions, design_sample
from pipeline.kernels.survey.phases import phased_study
from pipeline.kernels.survey.study import Study, assist_predictions, study
from pipeline.kernels.survey.tables import list_estimates, pair_estimates

METHODS = ("two phases, none", "two phases, scores")
TOTALS = (400,)
FIRST = 0.75
_RATE, _FOLDS = 0.3, 10


class Questions(NamedTuple):
    """A population and the questions that a sample of it is designed for."""

    given: Population
    measures: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]
    at: tuple[int, ...]
    weights: dict[str, float]
    floor: float = FLOOR

    def design(
        self, size: int, p: FloatArray, judged: BoolArray, *, seed: str, assisted: bool
    ) -> tuple[FloatArray, IntArray]:
        """Return the chances of all candidates, and the places of the new draws."""
        ids = self.given.ids
        questions = declared_questions(
            measures=list(self.measures), pairs=list(self.pairs), at=list(self.at),
            candidates=len(ids), weights=self.weights,
        )  # fmt: skip
        ranks = {name: self.given.of(name) for name in self.measures}
        sets = question_sets(ids, ranks, pairs=list(self.pairs), n=np.array(self.at))
        made = design_sample(
            estimands(sets, p=p, judged=judged, assisted=assisted), questions, sizes=[size],
            floor=self.floor, baseline_width=BASELINE_WIDTH, confidence=0.95, seed=seed,
        )  # fmt: skip
        drawn = np.asarray(ids.is_in(made.sample["id"].implode())) & ~judged
        return made.inclusion["pi"].to_numpy(), np.flatnonzero(drawn)

    def predict(
        self, draws: pl.DataFrame, seed: str, *, effects: bool
    ) -> tuple[FloatArray, IntArray]:
        """Return predictions from the ranks, and with effects from the words."""
        found, fold = assist_predictions(
            self.given.ids, self.given.ranks, draws, np.zeros((0, self.given.size)),
            assist="scores", folds=_FOLDS, seed=seed, effects=self.given.words if effects else None,
        )  # fmt: skip
        assert found is not None
        return found, fold

    def ranked(self) -> pl.DataFrame:
        """Return the ranks."""
        return pl.concat(
            pl.DataFrame({"measure": name, "id": self.given.ids, "rank": self.given.of(name)})
            for name in self.measures
        )


def judged_draws(asked: Questions, tp: BoolArray, places: IntArray) -> pl.DataFrame:
    """Return the judged draws."""
    return pl.DataFrame({"id": asked.given.ids.gather(places), "tp": tp[places]})


def one_phase(
    asked: Questions,
    ranks: pl.DataFrame,
    tp: BoolArray,
    size: int,
    seed: str,
    *,
    effects: bool | None,
) -> Study:
    """Draw a sample at once; with effects True or False, predictions help to estimate."""
    nobody = np.zeros(asked.given.size, dtype=np.bool_)
    rate = np.full(asked.given.size, _RATE)
    pi, places = asked.design(size, rate, nobody, seed=f"{seed} whole", assisted=False)
    draws = judged_draws(asked, tp, places).with_columns(pi=pi[places])
    candidates = pl.DataFrame({"id": asked.given.ids, "pi": pi})
    if effects is not None:
        found, fold = asked.predict(draws, seed, effects=effects)
        draws = draws.with_columns(fold=fold)
        candidates = candidates.with_columns(prediction=found)
    return study(ranks, draws, candidates=candidates)


def two_phases(
    asked: Questions,
    ranks: pl.DataFrame,
    tp: BoolArray,
    sizes: tuple[int, int],
    seed: str,
    *,
    effects: bool,
    assisted: bool,
) -> tuple[Study, Study]:
    """Draw a second phase by a model of the labels of the first one.

    Returns
    -------
    combined, known : Study
        The phases combined, and the second one with the labels of the first as known.
    """
    ids, nobody = asked.given.ids, np.zeros(asked.given.size, dtype=np.bool_)
    rate = np.full(asked.given.size, _RATE)
    pi, first = asked.design(sizes[0], rate, nobody, seed=f"{seed} first", assisted=False)
    expected, _ = asked.predict(judged_draws(asked, tp, first), seed, effects=effects)
    drawn = np.stack([nobody, nobody])
    drawn[0, first] = True
    later, second = asked.design(
        sizes[1], expected, drawn[0], seed=f"{seed} second", assisted=assisted
    )
    drawn[1, second] = True
    draws = judged_draws(asked, tp, np.concatenate([first, second]))
    candidates = ids.to_frame("id")
    if assisted:
        found, fold = asked.predict(draws, seed, effects=effects)
        draws = draws.with_columns(fold=fold)
        candidates = candidates.with_columns(prediction=found)
    phases = pl.concat(
        pl.DataFrame({
            "phase": number, "id": ids, "pi": chance, "stratum": "all", "drawn": mine,
            "expected": expected,
        })
        for number, chance, mine in zip((1, 2), (pi, later), drawn, strict=True)
    )  # fmt: skip
    chances = np.concatenate([np.ones(len(first)), later[second]])
    known = study(
        ranks, draws.with_columns(pi=chances), candidates=candidates.with_columns(pi=later)
    )
    return phased_study(ranks, draws, phases=phases, candidates=candidates), known


def tasks(populations: tuple[str, ...]) -> list[Task]:
    """Return the tasks of this part."""
    return [
        Task("phases", method, name, size)
        for method in METHODS
        for name in populations
        for size in TOTALS
    ]


def cells(task: Task, first: int, samples: int) -> list[Cell]:
    """Fill the cells of a task: all lists, all differences."""
    listed, compared = lists(task.population), differences(task.population)
    return filled(
        task, _outcomes(task, first, samples), what=listed.names + compared.names,
        n=np.concatenate([listed.n, compared.n]).tolist(),
        truth=np.concatenate([listed.truth, compared.truth]),
    )  # fmt: skip


def _outcomes(task: Task, first: int, samples: int) -> Iterator[Outcome]:
    given = population(task.population)
    asked = Questions(given, MEASURES, PAIRS, cuts_of(given), {})
    ranks = asked.ranked()
    for start, count in batches(first, samples):
        rows = [_one(task, asked, ranks, f"{seed}") for seed in range(start, start + count)]
        yield Outcome(*(np.stack(each) for each in zip(*rows, strict=True)))


def _one(task: Task, asked: Questions, ranks: pl.DataFrame, seed: str) -> Outcome:
    given, tp = asked.given, asked.given.tp
    listed, compared = lists(task.population), differences(task.population)
    sizes = round(FIRST * task.size), task.size - round(FIRST * task.size)
    assisted = task.method.endswith("scores")
    made, _ = two_phases(asked, ranks, tp, sizes, seed, effects=False, assisted=assisted)
    every = list_estimates(made, at=[*asked.at, given.size]).with_columns(
        what=pl.when(n=given.size).then(pl.lit("baseline")).otherwise("measure")
    )
    pairs = pair_estimates(made, pairs=asked.pairs, at=asked.at).with_columns(
        what=pl.format("{} - {}", "measure_1", "measure_2"),
        draws=pl.min_horizontal("draws_1", "draws_2"),
    )
    columns = ("what", "n", "lower", "upper", "draws")
    found = pl.concat([every.select(columns).unique(["what", "n"]), pairs.select(columns)])
    names = pl.DataFrame({
        "what": listed.names + compared.names, "n": np.concatenate([listed.n, compared.n]),
    })  # fmt: skip
    table = names.join(found, on=["what", "n"], how="left", maintain_order="left")
    limits = table["lower"].to_numpy(), table["upper"].to_numpy()
    truth = np.concatenate([listed.truth, compared.truth])
    return Outcome(held(limits, truth), limits[1] - limits[0], table["draws"].to_numpy())
