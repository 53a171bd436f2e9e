"""Labels that declared questions need: simple, stratified, designed, with predictions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from pipeline.api.results import Run
from pipeline.errors import ConfigError, Problem, did_you_mean
from pipeline.kernels.nbest.ranking import rank_vectors
from pipeline.kernels.numeric import BoolArray, FloatArray, IntArray
from pipeline.kernels.statistics.sequential import SPENDING
from pipeline.kernels.survey.allocation import Sets, question_sets, set_sums
from pipeline.kernels.survey.design import KINDS, declared_questions, inclusion
from pipeline.kernels.survey.planning import (
    PLANS,
    DesignExpectations,
    ExpectedSpread,
    InterimAnalyses,
    Spreads,
    Target,
    design_expectations,
    explained_variance,
    least_labels,
    planned_labels,
    set_precisions,
    size_measures,
    spreads_by_size,
)
from pipeline.kernels.survey.ratio_estimator import ENOUGH, ratio_or_zero
from pipeline.kernels.survey.study import Assist, assist_predictions, build_study, rank_matrix
from pipeline.registry import as_names
from pipeline.runner.graph import Node, Reference
from pipeline.runner.problems import require_stage
from pipeline.sizing import plan
from pipeline.sizing.plan import Track, category_of, track_nothing
from pipeline.stages.base import Tables
from pipeline.stages.collocations.evaluate_designed import AssistOptions, judges_of
from pipeline.stages.collocations.evaluation import pairs_of, ranks_of_all, require_ranked
from pipeline.stages.collocations.sample import SampleDesign
from schemas import Judgements, Ranks

# Goals: half-width or power, and looks at a growing sample


@dataclass(frozen=True)
class Goal:
    """A half-width for questions, or a power for differences.

    Parameters
    ----------
    half_width : float, optional
        Of intervals, in (0, 1); a proportion.
    power : float, optional
        In (0, 1); defaults to 0.8 with a difference.
    difference : float, optional
        Smallest difference in precision to detect; defaults to those of the pilot.
    confidence : float
        Of the intervals.
    alpha : float
        Of the test.
    """

    half_width: float | None = None
    power: float | None = None
    difference: float | None = None
    confidence: float = 0.95
    alpha: float = 0.05

    @property
    def tests(self) -> bool:
        """Whether differences are to be detected."""
        return self.half_width is None

    @property
    def value(self) -> float:
        """The half-width, or the power."""
        return (self.power or 0.8) if self.half_width is None else self.half_width

    @property
    def level(self) -> float:
        """Error level, both sides together."""
        return self.alpha if self.tests else 1.0 - self.confidence

    def target(self, reach: FloatArray) -> Target:
        """Return the target for the kernels."""
        return Target(reach, self.level, self.value if self.tests else None)


def problems_of(goal: Goal, *, pilot: bool) -> Iterable[Problem]:
    """Yield what is wrong with a goal."""
    if goal.half_width is not None and (goal.power or goal.difference) is not None:
        yield Problem("half_width", "cannot be combined with power or difference", "give one")
    if goal.half_width is None and goal.power is None and goal.difference is None:
        yield Problem("half_width", "no target is given", "e.g. 0.05, or power = 0.8")
    if goal.half_width is None and goal.difference is None and not pilot:
        yield Problem("difference", "no difference to detect", "e.g. 0.05, or name a pilot")
    for name in ("half_width", "power", "difference"):
        value = getattr(goal, name)
        yield from plan.check_open_interval(name, [] if value is None else [value])
    yield from plan.check_open_interval("confidence", [goal.confidence])
    yield from plan.check_open_interval("alpha", [goal.alpha])


def look_times(looks: Sequence[float], spending: str) -> InterimAnalyses | None:
    """Return the times of interim looks: a number of equal steps, or shares of the labels.

    Raises
    ------
    ConfigError
        If shares do not increase to 1, or the spending function is unknown.

    Examples
    --------
    >>> look_times([4], "pocock").shares
    (0.25, 0.5, 0.75, 1.0)
    >>> look_times([1], "pocock") is None
    True
    """
    plan.require(plan.check_choice("spending", SPENDING, spending))
    if len(looks) == 1 and looks[0] >= 1 and float(looks[0]).is_integer():
        shares = tuple((k + 1) / looks[0] for k in range(int(looks[0])))
    else:
        shares = tuple(float(share) for share in looks)
    ascends = all(a < b for a, b in zip((0.0, *shares), shares, strict=False))
    if not shares or not ascends or shares[-1] != 1.0:
        text = ", ".join(f"{share:g}" for share in looks) or "none"
        what = f"{text}: shares of the labels must increase to 1"
        plan.require([Problem("looks", what, "e.g. 0.25,0.5,0.75,1, or 4 for the same")])
    return InterimAnalyses(shares, spending) if len(shares) > 1 else None


def sides_apart(
    sets: Sets, precision: FloatArray, differences: int, difference: float | None
) -> tuple[FloatArray, FloatArray]:
    """Return the precisions of sets with a given difference between lists, and the differences.

    The difference of two lists of n is ``d = |D|/n (P_1 - P_2)``, where P_1 and P_2 are the
    precisions of the candidates in one list only. For a given d, P_1 and P_2 lie ``d n / (2 |D|)``
    above and below their mean.

    Parameters
    ----------
    sets : Sets
        The sets.
    precision : array of float, shape (sets,)
        Their expected precisions.
    differences : int
        Number of questions about differences.
    difference : float, optional
        d, the same for all.

    Returns
    -------
    precision : array of float, shape (sets,)
        Adjusted for the sides of pairs, if a difference is given.
    found : array of float, shape (differences,)
        |d|; 0 where two lists cannot differ that much.

    Examples
    --------
    >>> import polars as pl
    >>> from pipeline.kernels.survey.allocation import question_sets
    >>> ranks = {"dice": np.array([1, 2, 3, 4]), "mi": np.array([4, 2, 3, 1])}
    >>> sets = question_sets(
    ...     pl.Series(list("abcd")), ranks, pairs=[("dice", "mi")], n=np.array([1, 2])
    ... )
    >>> apart, differences = sides_apart(sets, np.full(9, 0.3), 2, 0.3)
    >>> apart[4:8].round(2).tolist(), differences.tolist()
    ([0.45, 0.6, 0.15, 0.0], [0.3, 0.3])
    >>> sides_apart(sets, np.full(9, 0.3), 2, 0.4)[1].tolist()
    [0.4, 0.0]
    """
    shape = (differences // max(len(sets.n), 1), 2, len(sets.n))
    first = sets.count - 1 - 2 * differences
    inside = slice(first, sets.count - 1)
    members = set_sums(sets, [np.ones(len(sets.ids))])[0][inside].reshape(shape)
    share = members[:, 0] / sets.n
    one, two = precision[inside].reshape(shape).swapaxes(0, 1)
    if difference is None:
        return precision, np.abs(share * (one - two)).ravel()
    half, mean = ratio_or_zero(np.array(difference / 2.0), share), (one + two) / 2.0
    sides = np.stack([mean + half, mean - half], axis=1)
    fits = ((sides >= -1e-12) & (sides <= 1.0 + 1e-12)).all(axis=1) & (share > 0)
    changed = precision.copy()
    changed[inside] = np.clip(sides, 0.0, 1.0).ravel()
    return changed, np.where(fits, difference, 0.0).ravel()


# Questions of a stage, or given ones

Pair = tuple[str, str]


@dataclass(frozen=True)
class QuestionOverrides:
    """Questions that override those of the stage that designs the sample.

    Parameters
    ----------
    design : str, optional
        Name of that stage; the only one by default.
    measures, n, pairs
        Measures, list sizes and pairs to compare instead of the stage's.
    """

    design: str | None = None
    measures: tuple[str, ...] = ()
    n: tuple[int, ...] = ()
    pairs: tuple[Pair, ...] = ()


@dataclass(frozen=True)
class PlannedQuestions:
    """Questions about ranked candidates.

    Parameters
    ----------
    config : SampleDesign
        Options of the stage, or their defaults.
    measures, pairs
        Those in the questions, in order.
    questions : DataFrame
        As listed by `declared_questions`.
    sets : Sets
        The sets of candidates in the questions.
    ranks, every : DataFrame
        Table `Ranks`: of these measures, and of all.
    """

    config: SampleDesign
    measures: list[str]
    pairs: list[Pair]
    questions: pl.DataFrame
    sets: Sets
    ranks: pl.DataFrame
    every: pl.DataFrame

    @property
    def weights(self) -> FloatArray:
        """The weight of each question."""
        return self.questions["weight"].to_numpy()

    def about(self, names: Sequence[str], *, kinds: Sequence[str] = KINDS) -> BoolArray:
        """Return which questions have these names or kinds; all by default.

        Raises
        ------
        ConfigError
            If a name is neither a question nor a kind, or no question matches.
        """
        known = [*KINDS, *self.questions["question"]]
        unknown = [name for name in names if name not in known]
        plan.require(
            Problem("questions", f"unknown question {name!r}", did_you_mean(name, known))
            for name in unknown
        )
        matches = pl.col("question").is_in(names) | pl.col("kind").is_in(names) | (not names)
        condition = matches & pl.col("kind").is_in(kinds) & (pl.col("weight") > 0)
        mask = self.questions.select(condition).to_series().to_numpy()
        if not mask.any():
            what = (
                f"none of the {self.questions.height:,} questions is about a {' or '.join(kinds)}"
            )
            raise ConfigError("size", [Problem("questions", what, "name one, or give pairs")])
        return np.asarray(mask)

    def weigh_only(self, mask: BoolArray) -> PlannedQuestions:
        """Return the questions with weight 0 for all others, so that a design ignores these."""
        weights = np.where(mask, self.weights, 0.0)
        return replace(self, questions=self.questions.with_columns(weight=pl.Series(weights)))


def questions_of(
    run: Run, overrides: QuestionOverrides, *, ranks: Reference | None = None
) -> PlannedQuestions:
    """Return the questions of a run.

    Parameters
    ----------
    run : Run
        Results, at least up to the ranks.
    overrides : QuestionOverrides
        The questions.
    ranks : Reference, optional
        The ranks of a pilot, if no stage designs a sample.

    Raises
    ------
    ConfigError
        If the stage, a measure, a list or a pair does not exist, several stages match, or nothing
        is ranked.
    """
    node = _design(run, overrides)
    table = run.query(str(node.inputs["ranks"] if node else ranks or _ranks(run)))
    config = _config(node)
    tables = {"ranks": table}
    every = ranks_of_all(table.collect(), tables)
    if every.is_empty():
        raise ConfigError(
            "size", [Problem("ranks", "no candidates are ranked", "use a table with ranks")]
        )
    require_ranked("measures", overrides.measures, every)
    ranked = every["measure"].unique().sort().to_list()
    measures = sorted(overrides.measures or config.measures or ranked)
    selection = every.filter(pl.col("measure").is_in(measures))
    pairs = _pairs(overrides, config, measures, selection)
    return _plan_questions(overrides, config, pairs, selection, every)


def _plan_questions(
    overrides: QuestionOverrides,
    config: SampleDesign,
    pairs: list[Pair],
    ranks: pl.DataFrame,
    every: pl.DataFrame,
) -> PlannedQuestions:
    measures = ranks["measure"].unique().sort().to_list()
    ids, vectors = rank_vectors(ranks.lazy(), measures)
    plan.require(plan.lists(overrides.n, len(ids)) if overrides.n else [])
    n = sorted({cut for cut in overrides.n or config.cuts if cut <= len(ids)})
    how = {"measures": measures, "pairs": pairs, "at": n, "candidates": len(ids)}
    names = declared_questions(**how, weights={})["question"].to_list()  # type: ignore[arg-type]  # options of several types
    weights = {
        k: w for k, w in config.weights.items() if not _differs_from_stage(overrides) or k in names
    }
    weights |= {kind: config.weights[kind] for kind in KINDS if kind in config.weights}
    weights |= {} if config.baseline else {"baseline": 0.0}
    try:
        listed = declared_questions(**how, weights=weights)  # type: ignore[arg-type]  # as above
    except ValueError as error:
        raise ConfigError("size", [Problem("weights", str(error))]) from error
    sets = question_sets(ids, vectors, pairs=pairs, n=np.array(n, dtype=np.int64))
    return PlannedQuestions(config, measures, pairs, listed, sets, ranks, every)


def _differs_from_stage(overrides: QuestionOverrides) -> bool:
    return bool(overrides.measures or overrides.n or overrides.pairs)


def _pairs(
    overrides: QuestionOverrides, config: SampleDesign, measures: list[str], ranks: pl.DataFrame
) -> list[Pair]:
    plan.require(
        Problem("pairs", f"{one!r} is compared with itself", "give two measures")
        for one, two in overrides.pairs
        if one == two
    )
    pairs = [pair for pair in config.pairs if set(pair) <= set(measures)]
    return pairs_of(tuple(dict.fromkeys(overrides.pairs)) or pairs, measures, ranks)


def _design(run: Run, overrides: QuestionOverrides) -> Node | None:
    """Return the stage that designs a sample, if there is one or it is needed."""
    nodes = {k: v for k, v in run.project.nodes.items() if isinstance(v.config, SampleDesign)}
    if overrides.design is not None:
        kind = "that designs a sample"
        require_stage(overrides.design, nodes, "size", where="design", kind=kind)
        return nodes[overrides.design]
    if len(nodes) > 1:
        what = f"{len(nodes)} stages design samples: {', '.join(list(nodes)[:3])}"
        raise ConfigError("size", [Problem("design", what, f"e.g. --design {next(iter(nodes))}")])
    if not nodes and not overrides.n:
        what = "no stage of the experiment designs a sample and declares questions"
        remedy = "give --cuts 100,500, and --measures and --pairs to select some"
        raise ConfigError("size", [Problem("cuts", what, remedy)])
    return next(iter(nodes.values()), None)


def _config(node: Node | None) -> SampleDesign:
    if node and isinstance(node.config, SampleDesign):
        return node.config
    return SampleDesign(ranks="ranks", size=1, seed="size")


def _ranks(run: Run) -> Reference:
    """Return the only table of ranks."""
    references = [
        Reference(name, table)
        for name, node in run.project.nodes.items()
        for table, model in node.stage.outputs.items()
        if issubclass(model, Ranks)
    ]
    if len(references) == 1:
        return references[0]
    names = ", ".join(map(str, references[:3])) or "none"
    what = f"{len(references)} tables of ranks: {names}"
    raise ConfigError("size", [Problem("CONFIG", what, "add a stage sample.design that names one")])


# Expectations from a pilot

_FILL = "fill in its sheet, or give a rate instead of the pilot"


@dataclass(frozen=True)
class ExpectedProperties:
    """Expected properties of candidates and sets, and their source.

    Parameters
    ----------
    p : array of float, shape (candidates,)
        Probability of a true positive.
    precision : array of float, shape (sets,)
        Of each set.
    rho2 : array of float, shape (sets,), or None
        Proportion of variance that predictions explain; None if the pilot is too small.
    judged : int
        Number of judgements behind it.
    """

    p: FloatArray
    precision: FloatArray
    rho2: FloatArray | None
    judged: int


def judged_stage(run: Run, stage: str) -> Node:
    """Return a stage that has or makes judgements.

    Raises
    ------
    ConfigError
        If there is none of that name.
    """
    nodes = {name: node for name, node in run.project.nodes.items() if _judgements(node)}
    require_stage(stage, nodes, "size", where="pilot", kind="with judgements")
    return nodes[stage]


def _judgements(node: Node) -> Reference | None:
    references = (
        Reference(node.name, name)
        for name, model in node.stage.outputs.items()
        if issubclass(model, Judgements)
    )
    return node.inputs.get("judgements") or next(references, None)


def known_from_pilot(
    run: Run, stage: str, questions: PlannedQuestions, *, category: str | None
) -> ExpectedProperties:
    """Return what a pilot tells about the sets in the questions.

    Parameters
    ----------
    run : Run
        Results.
    stage : str
        A stage that evaluates judgements, preferably `evaluate.designed`; or the judgements
        themselves if all candidates are judged.
    questions : PlannedQuestions
        The questions.
    category : str, optional
        Category of true positives; the only one by default.

    Raises
    ------
    ConfigError
        If nothing is judged, or a part without a sample; if the sample was drawn with replacement
        or does not answer the questions.
    """
    node = judged_stage(run, stage)
    tables = {name: run.query(str(reference)) for name, reference in node.inputs.items()}
    judgements = run.query(str(_judgements(node))).drop_nulls("tp")
    if judgements.head(1).collect().is_empty():
        problem = Problem("pilot", f"{stage}: no judgements yet", _FILL)
        raise ConfigError("size", [problem])
    category = category_of(judgements, category)
    draws = _pilot_draws(tables, judgements.filter(category=category), questions.sets.ids, stage)
    try:
        study = build_study(questions.ranks, draws, candidates=_chances(tables))
        precision = set_precisions(
            study,
            questions.sets,
            measures=study.measures,  # type: ignore[arg-type]  # names
            pairs=questions.pairs,
        )
    except ValueError as error:
        raise ConfigError("size", [Problem("pilot", f"{stage}: {error}")]) from error
    judged = draws.drop_nulls("tp")
    guess = _predict(node, tables, questions, draws, category=category)
    if guess is None:
        return ExpectedProperties(
            np.full(len(study.ids), precision[-1]), precision, None, judged.height
        )
    every = study.ids.rename("id").to_frame()
    own = every.join(judged, on="id", how="left", maintain_order="left")
    y = own["tp"].cast(pl.Float64).fill_null(0.0).to_numpy()
    weight = own.select((1.0 / pl.col("pi")).fill_null(0.0)).to_series().to_numpy()
    rho2 = explained_variance(questions.sets, y, guess, weight) if judged.height >= ENOUGH else None
    return ExpectedProperties(guess, precision, rho2, judged.height)


def _pilot_draws(
    tables: Tables, judgements: pl.LazyFrame, ids: pl.Series, stage: str
) -> pl.DataFrame:
    """Return id, tp and pi of the sampled candidates."""
    ranked = ids.rename("id").to_frame()
    known = judgements.select("id", "tp").collect()
    if "sample" not in tables:
        draws = ranked.join(known, on="id", how="inner").with_columns(pi=pl.lit(1.0))
    else:
        sample = tables["sample"].select("id", "pi", "stratum").collect()
        draws = sample.join(ranked, on="id", how="semi").join(known, on="id", how="left")
    judged = draws["tp"].count()
    problem = None
    if not judged:
        what = f"{stage}: none of its {draws.height:,} candidates is judged"
        problem = Problem("pilot", what, _FILL)
    elif "sample" not in tables and judged < len(ids):
        what = f"{judged:,} of {len(ids):,} candidates are judged, but not as a random sample"
        problem = Problem("pilot", what, "name a stage with its sample")
    elif draws["pi"].null_count():
        what = f"{stage}: the pilot was drawn with replacement and has no inclusion probabilities"
        problem = Problem("pilot", what, "use a sample without replacement")
    if problem:
        raise ConfigError("size", [problem])
    return draws


def _chances(tables: Tables) -> pl.DataFrame | None:
    if "inclusion" not in tables:
        return None
    has = tables["inclusion"].collect_schema().names()
    columns = [name for name in ("id", "pi", "stratum") if name in has]
    return tables["inclusion"].select(columns).collect()


def _predict(
    node: Node, tables: Tables, questions: PlannedQuestions, draws: pl.DataFrame, *, category: str
) -> FloatArray | None:
    """Return the stage's predictions, out of fold; by rank if it has none."""
    ids, _, matrix = rank_matrix(questions.every)
    judges, assist, folds = np.zeros((0, len(ids))), "scores", 10
    config = node.config
    if isinstance(config, AssistOptions):
        folds = config.folds
        if config.helped_by != "none":
            assist = config.helped_by
            judges = judges_of(config, ids, tables, category=category)
    how: Assist = assist  # type: ignore[assignment]  # one of those
    return assist_predictions(ids, matrix, draws, judges, assist=how, folds=folds, seed="size")[0]


TOGETHER = "all questions"
"""The row of all questions together."""
COLUMNS: dict[str, Any] = {
    "plan": pl.String, "looks": pl.Int64, "question": pl.String, "kind": pl.String,
    "measure": pl.String, "measure_2": pl.String, "n": pl.Int64, "expected": pl.Float64,
    "wanted": pl.Float64, "labels": pl.Int64, "reached": pl.Float64, "level": pl.Float64,
    "draws": pl.Float64, "rho2": pl.Float64, "rho2_judged": pl.Int64, "hardest": pl.Boolean,
}  # fmt: skip
"""The columns of a plan for declared questions."""


@dataclass(frozen=True)
class Planner:
    """The plans for one set of questions.

    Parameters
    ----------
    declared : PlannedQuestions
        The questions of the stage or the command.
    selection : PlannedQuestions
        The same, with weight 0 for those that the target does not apply to.
    mask : array of bool, shape (questions,)
        The questions that the target applies to.
    values : array of float, shape (questions,)
        Expected precision or difference.
    target : Target
        The required half-width or power.
    goal : float
        The half-width or power.
    expectations : DesignExpectations
        Expected properties of the candidates.
    judged : int
        Number of labels behind the explained variance; 0 if it is assumed, so that it is only the
        upper end of a range from 0.
    x : dict of str to array of float, shape (candidates,)
        Sampling weights, by plan.
    at : dict of str to callable
        The spreads at a size, by plan.
    """

    declared: PlannedQuestions
    selection: PlannedQuestions
    mask: BoolArray
    values: FloatArray
    target: Target
    goal: float
    expectations: DesignExpectations
    judged: int
    x: dict[str, FloatArray]
    at: dict[str, Spreads]

    @property
    def candidates(self) -> int:
        """Their number."""
        return len(self.selection.sets.ids)

    @property
    def explained(self) -> FloatArray:
        """The share of variance that predictions explain, by question: the mean of its sets."""
        question = self.expectations.estimands.question
        sums = np.bincount(question, weights=self.expectations.rho2)
        return np.asarray(sums / np.bincount(question))


def build_planner(
    questions: PlannedQuestions,
    *,
    mask: BoolArray,
    p: FloatArray,
    precision: FloatArray,
    rho2: FloatArray,
    judged: int,
    values: FloatArray,
    target: Target,
    goal: float,
) -> Planner:
    """Return the plans for questions, expectations and a goal.

    Only the questions with this goal have a weight in the plans.

    Parameters
    ----------
    questions, meant, judged, shown, target, wanted
        As for `Planner`.
    p, precision, rho2
        As for `expected`.
    """
    selection = questions.weigh_only(mask)
    known = design_expectations(selection.sets, p=p, precision=precision, rho2=rho2)
    x = _size_measures(selection)
    at = {plan: spreads_by_size(known, x[plan], assisted=plan == "assisted") for plan in PLANS}
    return Planner(questions, selection, mask, values, target, goal, known, judged, x, at)


def _size_measures(questions: PlannedQuestions) -> dict[str, FloatArray]:
    config = questions.config
    return size_measures(
        questions.sets, questions.weights, floor=config.floor, baseline_width=config.baseline_width
    )


def question_table(planner: Planner, plan: str, looks: InterimAnalyses | None) -> pl.DataFrame:
    """Return the labels that each question, and then all together, need under one plan.

    Parameters
    ----------
    planner : Planner
        The plans.
    plan : str
        One of `PLANS`.
    looks : InterimAnalyses, optional
        The times of interim looks.

    Returns
    -------
    DataFrame
        With the columns `COLUMNS`; labels are null where all candidates are not enough.
    """
    labels, levels = planned_labels(
        _select_spreads(planner.at[plan], planner.mask),
        _target_of_meant(planner),
        most=planner.candidates,
        looks=looks,
    )
    sizes = np.minimum(labels, planner.candidates)
    columns = {
        "labels": labels,
        "reached": _target_of_meant(planner).value_at(_at(planner, plan, sizes), levels),
        "level": levels,
        "draws": _draws(planner, plan, sizes),
        "hardest": labels == labels.max(initial=0),
        "expected": planner.values[planner.mask],
        "rho2": planner.explained[planner.mask],
    }
    table = planner.selection.questions.filter(pl.Series(planner.mask)).with_columns(
        plan=pl.lit(plan),
        looks=pl.lit(len(looks.shares) if looks else 1),
        wanted=pl.lit(planner.goal),
        rho2_judged=pl.lit(planner.judged),
        **{name: pl.Series(values) for name, values in columns.items()},
    )
    known = pl.when(pl.col("labels") <= planner.candidates)
    parts = (known.then(name).alias(name) for name in ("labels", "reached", "level", "draws"))
    predicted = pl.lit(plan == "assisted")
    about = (pl.when(predicted).then(name).alias(name) for name in ("rho2", "rho2_judged"))
    rows = table.with_columns(*parts, *about).select(pl.col(k).cast(t) for k, t in COLUMNS.items())
    return pl.concat([rows, _together(rows)])


def _at(planner: Planner, plan: str, sizes: IntArray) -> ExpectedSpread:
    """Return the spread of each question at its own size."""
    own = np.flatnonzero(planner.mask)
    each = [(planner.at[plan](int(m)), q) for m, q in zip(sizes, own, strict=True)]
    return ExpectedSpread(
        np.array([at.variance[q] for at, q in each]), np.array([at.further[q] for at, q in each])
    )


def _select_spreads(at: Spreads, mask: BoolArray) -> Spreads:
    return lambda size: ExpectedSpread(*(each[mask] for each in at(size)))


def _target_of_meant(planner: Planner) -> Target:
    target = planner.target
    return Target(target.reach[planner.mask], target.alpha, target.power)


def _draws(planner: Planner, plan: str, sizes: IntArray) -> FloatArray:
    """Return the expected number of draws in the sets of each question."""
    distinct, place = np.unique(sizes, return_inverse=True)
    sets = planner.selection.sets
    sums = set_sums(sets, [inclusion(planner.x[plan], size=int(size)) for size in distinct])
    question = planner.expectations.estimands.question
    each = np.array([np.bincount(question, weights=row) for row in sums])
    return np.asarray(each[place, np.flatnonzero(planner.mask)])


def _together(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the row of all questions: the labels that the hardest one needs."""
    labels = None if rows["labels"].null_count() else rows["labels"].max()
    first = rows.head(1).select("plan", "looks", "wanted", "rho2_judged")
    whole = first.with_columns(
        rho2=pl.lit(rows["rho2"].median()),
        question=pl.lit(TOGETHER),
        labels=pl.lit(labels),
        draws=pl.lit(labels),
        hardest=pl.lit(value=False),
    )
    missing = {k: pl.lit(None) for k in COLUMNS if k not in whole.columns}
    return whole.with_columns(**missing).select(pl.col(k).cast(t) for k, t in COLUMNS.items())


def curves(planner: Planner, sizes: Sequence[int]) -> pl.DataFrame:
    """Return the precision or power of the hardest question at some sizes.

    Returns
    -------
    DataFrame
        plan, labels, y: the largest half-width, or the smallest power.
    """
    target = _target_of_meant(planner)
    levels = np.full(len(target.reach), target.alpha)
    hardest = np.max if target.power is None else np.min

    def hardest_value(plan: str, size: int) -> float:
        values = target.value_at(_select_spreads(planner.at[plan], planner.mask)(size), levels)
        return float(hardest(np.nan_to_num(values)))  # no power where no sample is enough

    rows = [(plan, size, hardest_value(plan, size)) for plan in PLANS for size in sizes]
    names = {"plan": pl.String(), "labels": pl.Int64(), "y": pl.Float64()}
    return pl.DataFrame(rows, schema=names, orient="row")


# The labels that each further question costs


def added_questions(
    planner: Planner, *, most: int = 20, track: Track = track_nothing
) -> pl.DataFrame:
    """Return the labels of a designed sample as one question after another is added.

    First those with the goal, then others of the stage that could have it; each group by the labels
    that a sample for this question alone needs.

    Parameters
    ----------
    planner : Planner
        The plans.
    most : int
        Largest number of questions to add; all with the goal are added in any case.
    track : callable
        As for `plan_design`.

    Returns
    -------
    DataFrame
        question; asked (whether it has the goal); alone (labels of a sample designed for it only);
        labels (of a sample for all questions up to this row). Both are null where all candidates
        are not enough; such a question is not added.
    """
    weights = planner.declared.weights
    possible = (weights > 0) & (planner.mask | _could_have_goal(planner))
    names = planner.declared.questions["question"].to_list()
    alone = {
        int(q): _labels_for(planner, [int(q)]) for q in track(np.flatnonzero(possible).tolist())
    }
    order = sorted(alone, key=lambda q: (not planner.mask[q], alone[q] or np.inf, q))
    together: list[int] = []
    rows = []
    for q in track(order[: max(most, int(planner.mask.sum()))]):
        if alone[q] is not None:
            together.append(q)
        labels = None if alone[q] is None else _labels_for(planner, together)
        rows.append((names[q], bool(planner.mask[q]), alone[q], labels))
    schema = {"question": pl.String, "asked": pl.Boolean, "alone": pl.Int64, "labels": pl.Int64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _could_have_goal(planner: Planner) -> BoolArray:
    """Return the questions that may be added: with a power as goal, differences only."""
    kinds = ("difference",) if planner.target.power is not None else KINDS
    return planner.declared.questions["kind"].is_in(kinds).to_numpy()


def _labels_for(planner: Planner, indices: Sequence[int]) -> int | None:
    """Return the labels of a sample that is designed for these questions only."""
    own = np.isin(np.arange(len(planner.declared.weights)), indices)
    x = _size_measures(planner.declared.weigh_only(own))["designed"]
    at = _select_spreads(spreads_by_size(planner.expectations, x, assisted=False), own)
    target = Target(planner.target.reach[own], planner.target.alpha, planner.target.power)
    levels = np.full(len(indices), target.alpha)

    def enough(size: int) -> BoolArray:
        return np.array([target.is_met(at(size), levels).all()])

    labels = int(least_labels(enough, most=planner.candidates)[0])
    return labels if labels <= planner.candidates else None


# Plans for declared questions, from assumptions or a pilot

RHO2 = 0.2
"""Upper end of the range of variance that predictions explain, where no pilot estimates it: about
what a model of the ranks explains within the lists of KrennPPV (median .19; STREUSLE: .08)."""
RATE = 0.5
"""The proportion of true positives by default: the widest case."""


@dataclass(frozen=True)
class Assumptions:
    """Assumptions where no pilot is given.

    Parameters
    ----------
    rate : float, optional
        Proportion of true positives in every list; defaults to that of the stage, or one half.
    rho2 : float, optional
        Upper end of the range of variance within lists that predictions explain; replaces the
        pilot's estimate.
    """

    rate: float | None = None
    rho2: float | None = None


def plan_design(
    run: Run,
    *,
    half_width: float | None = None,
    power: float | None = None,
    difference: float | None = None,
    design: str | None = None,
    measures: str | Sequence[str] = (),
    n: Sequence[int] = (),
    pairs: Pair | Sequence[Pair] = (),
    questions: str | Sequence[str] = (),
    pilot: str | None = None,
    category: str | None = None,
    rate: float | None = None,
    rho2: float | None = None,
    looks: Sequence[float] = (4,),
    spending: str = "obrien_fleming",
    confidence: float = 0.95,
    alpha: float = 0.05,
    track: Track = track_nothing,
) -> pl.DataFrame:
    """Return the number of labels that declared questions need, under five sampling plans.

    ``simple``: a simple random sample of all candidates; ``pooled``: of those in question only, for
    one difference those in only one list; ``stratified``: strata by the best rank, with optimal
    rates; ``designed``: a sample of `sample.design`; ``assisted``: the same, with predictions in
    the estimates. Only questions with the goal have a weight in the plans. Labels include those of
    a pilot.

    Parameters
    ----------
    run : Run
        Results of an experiment with ranked candidates.
    half_width : float, optional
        Target half-width, or give power or difference.
    power : float, optional
        Target power; defaults to 0.8 with `difference`.
    difference : float, optional
        Difference in precision to detect; defaults to the pilot's estimates.
    design : str, optional
        Stage of `sample.design` with the questions; the only one by default.
    measures, n, pairs : sequences, optional
        Measures, list sizes and pairs instead of the stage's.
    questions : str or sequence of str, optional
        Questions with this goal, by name ("t_score at 100") or kind; all by default.
    pilot : str, optional
        Stage with judgements, preferably `evaluate.designed`.
    category : str, optional
        Category of true positives in the pilot.
    rate : float, optional
        Expected proportion of true positives, without a pilot.
    rho2 : float, optional
        Upper end of a range from 0 of the variance that predictions explain; defaults to the
        pilot's estimate, else 0.2.
    looks : sequence of float
        Interim looks: a number of equal steps, or shares of the labels up to 1.
    spending : str
        Spending function of alpha: obrien_fleming or pocock.
    confidence, alpha : float
        Confidence level of intervals; significance level of tests.
    track : callable
        Iterates over the work; may show progress.

    Returns
    -------
    DataFrame
        plan, looks (number), question, kind, measure, measure_2, n; expected (precision or
        difference), wanted, labels, reached (half-width or power with these labels), level (at the
        last look), draws (expected in the sets of the question), for ``assisted`` rho2 (assumed
        or estimated) and rho2_judged (labels behind it; 0 if assumed: labels then range up to those
        of ``designed``), hardest (needs most labels). The last row of each plan is for all
        questions; labels are null where all candidates are not enough.

    Raises
    ------
    ConfigError
        With all errors in the question; if nothing is ranked, the pilot has no judgements, or no
        question can reach the goal.

    Examples
    --------
    Needs a run::

        done = lx.show("configs/krenn-design.toml")
        lx.plan_design(done, half_width=0.05, pilot="answers")
    """
    goal = Goal(half_width, power, difference, confidence, alpha)
    overrides = QuestionOverrides(design, as_names(measures), tuple(n), _pairs_given(pairs))
    assumed = Assumptions(rate, rho2)
    planner = prepare_plans(
        run, overrides, goal, assumed, questions=as_names(questions), pilot=pilot, category=category
    )
    return plan_table(planner, look_times(looks, spending), track=track)


def _pairs_given(pairs: Pair | Sequence[Pair]) -> tuple[Pair, ...]:
    """Return pairs of measures; a single pair may be given without a list.

    Raises
    ------
    ConfigError
        If a pair does not have two measures.
    """
    items: tuple[Any, ...] = tuple(pairs)
    items = (items,) if any(isinstance(each, str) for each in items) else items
    plan.require(
        [Problem("pairs", f"{each!r} is not a pair of measures", "give two") for each in items
         if len(each) != 2]
    )  # fmt: skip
    return items


def prepare_plans(
    run: Run,
    overrides: QuestionOverrides,
    goal: Goal,
    assumptions: Assumptions,
    *,
    questions: Sequence[str],
    pilot: str | None,
    category: str | None,
) -> Planner:
    """Return the plans for the results of a run.

    Raises
    ------
    ConfigError
        As for `plan_design`.
    """
    plan.require([*problems_of(goal, pilot=pilot is not None), *_assumptions(assumptions, pilot)])
    looked_at = judged_stage(run, pilot).inputs.get("ranks") if pilot else None
    all_questions = questions_of(run, overrides, ranks=looked_at)
    mask = all_questions.about(questions, kinds=("difference",) if goal.tests else KINDS)
    known = (
        known_from_pilot(run, pilot, all_questions, category=category)
        if pilot
        else _assumed_known(all_questions, assumptions)
    )
    precision, apart = _set_precisions(all_questions, known, goal)
    reach = apart if goal.tests else np.full(all_questions.questions.height, goal.value)
    _require_reachable(all_questions, mask, reach, goal)
    rho2, judged = _rho2(known, assumptions, all_questions)
    return build_planner(
        all_questions, mask=mask, p=known.p, precision=precision, rho2=rho2, judged=judged,
        values=_expected_values(all_questions, precision, apart), target=goal.target(reach),
        goal=goal.value,
    )  # fmt: skip


def plan_table(
    planner: Planner, looks: InterimAnalyses | None, *, track: Track = track_nothing
) -> pl.DataFrame:
    """Return the table of all plans, without and with interim looks.

    Parameters
    ----------
    planner : Planner
        The plans.
    looks : InterimAnalyses, optional
        The times of interim looks; one look by default.
    track : callable
        As for `plan_design`.
    """
    times = (None, looks) if looks else (None,)
    cases = [(plan, analyses) for analyses in times for plan in PLANS]
    parts = [question_table(planner, plan, analyses) for plan, analyses in track(cases)]
    return pl.concat([pl.DataFrame(schema=COLUMNS), *parts])


def _assumptions(assumptions: Assumptions, pilot: str | None) -> list[Problem]:
    problems = plan.check_open_interval(
        "rate", [] if assumptions.rate is None else [assumptions.rate]
    )
    problems += plan.proportions("rho2", [] if assumptions.rho2 is None else [assumptions.rho2])
    if pilot and assumptions.rate is not None:
        problems.append(
            Problem("rate", "cannot be combined with a pilot, which gives it", "drop it")
        )
    return problems


def _assumed_known(questions: PlannedQuestions, assumptions: Assumptions) -> ExpectedProperties:
    rate = assumptions.rate or questions.config.rate or RATE
    p = np.full(len(questions.sets.ids), rate)
    return ExpectedProperties(p, np.full(questions.sets.count, rate), None, 0)


def _rho2(
    properties: ExpectedProperties, assumptions: Assumptions, questions: PlannedQuestions
) -> tuple[FloatArray, int]:
    """Return the explained variance of each set, and the labels behind it; 0 if it is assumed."""
    if assumptions.rho2 is None and properties.rho2 is not None:
        return properties.rho2, properties.judged
    return np.full(questions.sets.count, RHO2 if assumptions.rho2 is None else assumptions.rho2), 0


def _set_precisions(
    questions: PlannedQuestions, properties: ExpectedProperties, goal: Goal
) -> tuple[FloatArray, FloatArray]:
    """Return precisions of the sets, and the differences of all questions, NaN for other kinds."""
    compared = (questions.questions["kind"] == "difference").to_numpy()
    precision, differences = sides_apart(
        questions.sets, properties.precision, int(compared.sum()), goal.difference
    )
    apart = np.full(len(compared), np.nan)
    apart[compared] = differences
    return precision, apart


def _expected_values(
    questions: PlannedQuestions, precision: FloatArray, apart: FloatArray
) -> FloatArray:
    """Return the expected precision of a list, the expected difference of a pair."""
    lists = questions.questions.height - 1 - int((~np.isnan(apart)).sum())
    values = apart.copy()
    values[:lists], values[-1] = precision[:lists], precision[-1]
    return values


def _require_reachable(
    questions: PlannedQuestions, mask: BoolArray, reach: FloatArray, goal: Goal
) -> None:
    if (reach[mask] > 0).any():
        return
    names = questions.questions.filter(pl.Series(mask))["question"]
    candidates = f"all {len(questions.sets.ids):,} candidates"
    what = f"{candidates} are not enough for any of {len(names):,} questions"
    text = f"{what}, for example {', '.join(names.head(3))}"
    why = "the lists have too much in common to differ that much"
    if goal.difference is None:
        why = "the pilot found no difference"
    raise ConfigError("size", [Problem("difference", f"{text}: {why}", "give a smaller one")])
