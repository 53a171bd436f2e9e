"""How many labels declared questions need: simple, stratified, designed, with predictions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
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
    Expected,
    ExpectedSpread,
    InterimAnalyses,
    Spreads,
    Target,
    expected,
    explained_variance,
    planned_labels,
    set_precisions,
    size_measures,
    spreads_by_size,
)
from pipeline.kernels.survey.ratio_estimator import ratio_or_zero
from pipeline.kernels.survey.study import Assist, assist_predictions, rank_matrix, study
from pipeline.registry import as_names
from pipeline.runner.graph import Node, Reference
from pipeline.runner.problems import require_stage
from pipeline.sizing import plan
from pipeline.sizing.plan import Track, category_of, untracked
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
        In (0, 1); 0.8 if there is a difference alone.
    difference : float, optional
        Smallest difference in precision that is to be found; those of the pilot if not given.
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
        """Whether differences are to be found."""
        return self.half_width is None

    @property
    def wanted(self) -> float:
        """The half-width, or the power."""
        return (self.power or 0.8) if self.half_width is None else self.half_width

    @property
    def level(self) -> float:
        """Error level, both sides together."""
        return self.alpha if self.tests else 1.0 - self.confidence

    def target(self, reach: FloatArray) -> Target:
        """Return what the kernels look for."""
        return Target(reach, self.level, self.wanted if self.tests else None)


def problems_of(goal: Goal, *, pilot: bool) -> Iterable[Problem]:
    """Yield what is wrong with a goal."""
    if goal.half_width is not None and (goal.power or goal.difference) is not None:
        yield Problem("half_width", "does not go with power or difference", "ask one, then another")
    if goal.half_width is None and goal.power is None and goal.difference is None:
        yield Problem("half_width", "nothing is wanted", "e.g. 0.05, or power = 0.8")
    if goal.half_width is None and goal.difference is None and not pilot:
        yield Problem("difference", "no difference to be found", "e.g. 0.05, or name a pilot")
    for name in ("half_width", "power", "difference"):
        value = getattr(goal, name)
        yield from plan.check_open_interval(name, [] if value is None else [value])
    yield from plan.check_open_interval("confidence", [goal.confidence])
    yield from plan.check_open_interval("alpha", [goal.alpha])


def look_times(given: Sequence[float], spending: str) -> InterimAnalyses | None:
    """Return when a sample is looked at: so many equal steps, or shares of its labels.

    Raises
    ------
    ConfigError
        If shares do not grow up to 1, or there is no such spending function.

    Examples
    --------
    >>> look_times([4], "pocock").shares
    (0.25, 0.5, 0.75, 1.0)
    >>> look_times([1], "pocock") is None
    True
    """
    plan.require(plan.check_choice("spending", SPENDING, spending))
    if len(given) == 1 and given[0] >= 1 and float(given[0]).is_integer():
        shares = tuple((k + 1) / given[0] for k in range(int(given[0])))
    else:
        shares = tuple(float(share) for share in given)
    ascends = all(a < b for a, b in zip((0.0, *shares), shares, strict=False))
    if not shares or not ascends or shares[-1] != 1.0:
        shown = ", ".join(f"{share:g}" for share in given) or "none"
        what = f"{shown}: shares of the labels grow, and the last is 1"
        plan.require([Problem("looks", what, "e.g. 0.25,0.5,0.75,1, or 4 for the same")])
    return InterimAnalyses(shares, spending) if len(shares) > 1 else None


def sides_apart(
    sets: Sets, precision: FloatArray, differences: int, difference: float | None
) -> tuple[FloatArray, FloatArray]:
    """Return the precisions of the sets, and the differences of lists that go with them.

    The difference of two lists of n is ``d = |D|/n (P_1 - P_2)``, P_1 and P_2 the precisions of
    what only one of them has. Where d is given, P_1 and P_2 lie ``d n / (2 |D|)`` above and below
    their mean.

    Parameters
    ----------
    sets : Sets
        The sets.
    precision : array of float, shape (sets,)
        What is expected of them.
    differences : int
        How many questions about differences there are.
    difference : float, optional
        d, the same for all.

    Returns
    -------
    precision : array of float, shape (sets,)
        Changed on the sides of pairs, where a difference is given.
    found : array of float, shape (differences,)
        |d|; 0 where two lists cannot differ so much.

    Examples
    --------
    >>> import polars as pl
    >>> from pipeline.kernels.survey.allocation import question_sets
    >>> ranks = {"dice": np.array([1, 2, 3, 4]), "mi": np.array([4, 2, 3, 1])}
    >>> sets = question_sets(
    ...     pl.Series(list("abcd")), ranks, pairs=[("dice", "mi")], n=np.array([1, 2])
    ... )
    >>> apart, found = sides_apart(sets, np.full(9, 0.3), 2, 0.3)
    >>> apart[4:8].round(2).tolist(), found.tolist()
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


# Questions of a stage, or others that are asked for

Pair = tuple[str, str]


@dataclass(frozen=True)
class Wanted:
    """What is asked of a run, where it differs from the stage that designs a sample.

    Parameters
    ----------
    design : str, optional
        Name of that stage; the only one if not given.
    measures, n, pairs
        Measures, sizes of lists and pairs to compare, instead of the stage's.
    """

    design: str | None = None
    measures: tuple[str, ...] = ()
    n: tuple[int, ...] = ()
    pairs: tuple[Pair, ...] = ()


@dataclass(frozen=True)
class PlannedQuestions:
    """The questions, over ranked candidates.

    Parameters
    ----------
    config : SampleDesign
        Options of the stage, or their defaults.
    measures, pairs
        Those asked about, in their order.
    questions : DataFrame
        As `declared_questions` lists them.
    sets : Sets
        What they are about.
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
        """What each question counts."""
        return self.questions["weight"].to_numpy()

    def about(self, names: Sequence[str], *, kinds: Sequence[str] = KINDS) -> BoolArray:
        """Tell which questions are meant: of these names or kinds, or all that are asked.

        Raises
        ------
        ConfigError
            If a name is of no question and no kind, or nothing is left.
        """
        known = [*KINDS, *self.questions["question"]]
        unknown = [name for name in names if name not in known]
        plan.require(
            Problem("questions", f"there is no question {name!r}", did_you_mean(name, known))
            for name in unknown
        )
        named = pl.col("question").is_in(names) | pl.col("kind").is_in(names) | (not names)
        meant = named & pl.col("kind").is_in(kinds) & (pl.col("weight") > 0)
        found = self.questions.select(meant).to_series().to_numpy()
        if not found.any():
            what = f"none of the {self.questions.height:,} questions is a {' or '.join(kinds)}"
            raise ConfigError("size", [Problem("questions", what, "name one, or give pairs")])
        return np.asarray(found)


def questions_of(run: Run, wanted: Wanted, *, ranks: Reference | None = None) -> PlannedQuestions:
    """Return the questions of a run.

    Parameters
    ----------
    run : Run
        Results, at least as far as the candidates are ranked.
    wanted : Wanted
        What is asked.
    ranks : Reference, optional
        The ranks that a pilot looked at, where no stage designs a sample.

    Raises
    ------
    ConfigError
        If the stage is not there, there are several, nothing is ranked, or a measure, a list or a
        pair is not there.
    """
    node = _design(run, wanted)
    table = run.plan(str(node.inputs["ranks"] if node else ranks or _ranks(run)))
    config = _config(node)
    tables = {"ranks": table}
    every = ranks_of_all(table.collect(), tables)
    if every.is_empty():
        raise ConfigError("size", [Problem("ranks", "no candidate is ranked")])
    require_ranked("measures", wanted.measures, every)
    ranked = every["measure"].unique().sort().to_list()
    measures = sorted(wanted.measures or config.measures or ranked)
    chosen = every.filter(pl.col("measure").is_in(measures))
    pairs = _pairs(wanted, config, measures, chosen)
    return _asked(wanted, config, pairs, chosen, every)


def _asked(
    wanted: Wanted,
    config: SampleDesign,
    pairs: list[Pair],
    ranks: pl.DataFrame,
    every: pl.DataFrame,
) -> PlannedQuestions:
    measures = ranks["measure"].unique().sort().to_list()
    ids, vectors = rank_vectors(ranks.lazy(), measures)
    plan.require(plan.lists(wanted.n, len(ids)) if wanted.n else [])
    n = sorted({cut for cut in wanted.n or config.cuts if cut <= len(ids)})
    how = {"measures": measures, "pairs": pairs, "at": n, "candidates": len(ids)}
    names = declared_questions(**how, weights={})["question"].to_list()  # type: ignore[arg-type]  # options of several types
    weights = {
        k: w for k, w in config.weights.items() if not _differs_from_stage(wanted) or k in names
    }
    weights |= {kind: config.weights[kind] for kind in KINDS if kind in config.weights}
    weights |= {} if config.baseline else {"baseline": 0.0}
    try:
        listed = declared_questions(**how, weights=weights)  # type: ignore[arg-type]  # as above
    except ValueError as error:
        raise ConfigError("size", [Problem("weights", str(error))]) from error
    sets = question_sets(ids, vectors, pairs=pairs, n=np.array(n, dtype=np.int64))
    return PlannedQuestions(config, measures, pairs, listed, sets, ranks, every)


def _differs_from_stage(wanted: Wanted) -> bool:
    return bool(wanted.measures or wanted.n or wanted.pairs)


def _pairs(
    wanted: Wanted, config: SampleDesign, measures: list[str], ranks: pl.DataFrame
) -> list[Pair]:
    plan.require(
        Problem("pairs", f"{one!r} would be compared with itself", "name two measures")
        for one, two in wanted.pairs
        if one == two
    )
    kept = [pair for pair in config.pairs if set(pair) <= set(measures)]
    return pairs_of(tuple(dict.fromkeys(wanted.pairs)) or kept, measures, ranks)


def _design(run: Run, wanted: Wanted) -> Node | None:
    """Return the stage that designs a sample, if there is one or it is needed."""
    nodes = {k: v for k, v in run.project.nodes.items() if isinstance(v.config, SampleDesign)}
    if wanted.design is not None:
        kind = "that designs a sample"
        require_stage(wanted.design, nodes, "size", where="design", kind=kind)
        return nodes[wanted.design]
    if len(nodes) > 1:
        what = f"{len(nodes)} stages design samples: {', '.join(list(nodes)[:3])}"
        raise ConfigError("size", [Problem("design", what, f"e.g. --design {next(iter(nodes))}")])
    if not nodes and not wanted.n:
        what = "no stage of the experiment designs a sample, which would say what is asked"
        remedy = "say it: --cuts 100,500, and --measures and --pairs if not all are meant"
        raise ConfigError("size", [Problem("cuts", what, remedy)])
    return next(iter(nodes.values()), None)


def _config(node: Node | None) -> SampleDesign:
    if node and isinstance(node.config, SampleDesign):
        return node.config
    return SampleDesign(ranks="ranks", size=1, seed="size")


def _ranks(run: Run) -> Reference:
    """Return the only table of ranks."""
    found = [
        Reference(name, table)
        for name, node in run.project.nodes.items()
        for table, model in node.stage.outputs.items()
        if issubclass(model, Ranks)
    ]
    if len(found) == 1:
        return found[0]
    shown = ", ".join(map(str, found[:3])) or "none"
    what = f"{len(found)} tables of ranks: {shown}"
    raise ConfigError("size", [Problem("CONFIG", what, "add a stage sample.design that names one")])


# Expectations from a pilot

_FILL = "fill in its sheet, or leave the pilot out and give a rate"


@dataclass(frozen=True)
class Known:
    """What is expected of candidates and sets, and where it comes from.

    Parameters
    ----------
    p : array of float, shape (candidates,)
        Probability of a true positive.
    precision : array of float, shape (sets,)
        Of each set.
    rho2 : array of float, shape (sets,), or None
        What predictions explain in it; None where the pilot is too small to say.
    judged : int
        Judgements that it rests on.
    """

    p: FloatArray
    precision: FloatArray
    rho2: FloatArray | None
    judged: int


def judged_stage(run: Run, stage: str) -> Node:
    """Return a stage that has judgements, or makes them.

    Raises
    ------
    ConfigError
        If there is none of that name.
    """
    nodes = {name: node for name, node in run.project.nodes.items() if _judgements(node)}
    require_stage(stage, nodes, "size", where="pilot", kind="with judgements")
    return nodes[stage]


def _judgements(node: Node) -> Reference | None:
    made = (
        Reference(node.name, name)
        for name, model in node.stage.outputs.items()
        if issubclass(model, Judgements)
    )
    return node.inputs.get("judgements") or next(made, None)


def known_from_pilot(
    run: Run, stage: str, asked: PlannedQuestions, *, category: str | None
) -> Known:
    """Return what a pilot says of the sets that are asked about.

    Parameters
    ----------
    run : Run
        Results.
    stage : str
        A stage that evaluates judgements, best one of `evaluate.designed`; or the judgements
        themselves, if all candidates are judged.
    asked : PlannedQuestions
        The questions.
    category : str, optional
        Category of true positives; the only one if not given.

    Raises
    ------
    ConfigError
        If nothing is judged, or part of the candidates without a sample; if they were drawn with
        replacement, or the sample does not answer the questions.
    """
    node = judged_stage(run, stage)
    tables = {name: run.plan(str(reference)) for name, reference in node.inputs.items()}
    judgements = run.plan(str(_judgements(node))).drop_nulls("tp")
    if judgements.head(1).collect().is_empty():
        problem = Problem("pilot", f"{stage}: nothing is judged yet", _FILL)
        raise ConfigError("size", [problem])
    chosen = category_of(judgements, category)
    draws = _pilot_draws(tables, judgements.filter(category=chosen), asked.sets.ids, stage)
    try:
        given = study(asked.ranks, draws, candidates=_chances(tables))
        precision = set_precisions(given, asked.sets, measures=given.measures, pairs=asked.pairs)  # type: ignore[arg-type]  # names
    except ValueError as error:
        raise ConfigError("size", [Problem("pilot", f"{stage}: {error}")]) from error
    judged = draws.drop_nulls("tp")
    guess = _predicted(node, tables, asked, draws, category=chosen)
    if guess is None:
        return Known(np.full(len(given.ids), precision[-1]), precision, None, judged.height)
    every = given.ids.rename("id").to_frame()
    own = every.join(judged, on="id", how="left", maintain_order="left")
    y = own["tp"].cast(pl.Float64).fill_null(0.0).to_numpy()
    weight = own.select((1.0 / pl.col("pi")).fill_null(0.0)).to_series().to_numpy()
    return Known(guess, precision, explained_variance(asked.sets, y, guess, weight), judged.height)


def _pilot_draws(
    tables: Tables, judgements: pl.LazyFrame, ids: pl.Series, stage: str
) -> pl.DataFrame:
    """Return id, tp and pi of the ranked candidates that were drawn."""
    ranked = ids.rename("id").to_frame()
    known = judgements.select("id", "tp").collect()
    if "sample" not in tables:
        found = ranked.join(known, on="id", how="inner").with_columns(pi=pl.lit(1.0))
    else:
        sample = tables["sample"].select("id", "pi", "stratum").collect()
        found = sample.join(ranked, on="id", how="semi").join(known, on="id", how="left")
    judged = found["tp"].count()
    problem = None
    if not judged:
        what = f"{stage}: none of its {found.height:,} candidates is judged"
        problem = Problem("pilot", what, _FILL)
    elif "sample" not in tables and judged < len(ids):
        what = f"{judged:,} of {len(ids):,} candidates are judged, and not as a random sample"
        problem = Problem("pilot", what, "name a stage that is given its sample")
    elif found["pi"].null_count():
        what = f"{stage}: the pilot was drawn with replacement, and has no chances"
        problem = Problem("pilot", what, "take a sample without replacement")
    if problem:
        raise ConfigError("size", [problem])
    return found


def _chances(tables: Tables) -> pl.DataFrame | None:
    if "inclusion" not in tables:
        return None
    has = tables["inclusion"].collect_schema().names()
    kept = [name for name in ("id", "pi", "stratum") if name in has]
    return tables["inclusion"].select(kept).collect()


def _predicted(
    node: Node, tables: Tables, asked: PlannedQuestions, draws: pl.DataFrame, *, category: str
) -> FloatArray | None:
    """Return what helps the estimates of the stage, out of fold; by the ranks if nothing does."""
    ids, _, matrix = rank_matrix(asked.every)
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
"""The row of what all questions need together."""
COLUMNS: dict[str, Any] = {
    "plan": pl.String, "looks": pl.Int64, "question": pl.String, "kind": pl.String,
    "measure": pl.String, "measure_2": pl.String, "n": pl.Int64, "expected": pl.Float64,
    "wanted": pl.Float64, "labels": pl.Int64, "reached": pl.Float64, "level": pl.Float64,
    "draws": pl.Float64, "hardest": pl.Boolean,
}  # fmt: skip
"""The columns of a plan for declared questions."""


@dataclass(frozen=True)
class Planner:
    """The four plans of one set of questions.

    Parameters
    ----------
    asked : PlannedQuestions
        The questions.
    meant : array of bool, shape (questions,)
        Those that the target is for.
    shown : array of float, shape (questions,)
        What is expected of each: precision, or difference.
    target : Target
        How surely they are to be answered.
    wanted : float
        The half-width or the power that was asked for.
    known : Expected
        What is expected of the candidates.
    x : dict of str to array of float, shape (candidates,)
        Who is drawn, by plan.
    at : dict of str to callable
        The spreads at a size, by plan.
    """

    asked: PlannedQuestions
    meant: BoolArray
    shown: FloatArray
    target: Target
    wanted: float
    known: Expected
    x: dict[str, FloatArray]
    at: dict[str, Spreads]

    @property
    def candidates(self) -> int:
        """How many there are."""
        return len(self.asked.sets.ids)


def planner(
    asked: PlannedQuestions,
    *,
    meant: BoolArray,
    p: FloatArray,
    precision: FloatArray,
    rho2: FloatArray,
    shown: FloatArray,
    target: Target,
    wanted: float,
) -> Planner:
    """Put questions, expectations and goal together.

    Parameters
    ----------
    asked, meant, shown, target, wanted
        As for `Planner`.
    p, precision, rho2
        As for `expected`.
    """
    known = expected(asked.sets, p=p, precision=precision, rho2=rho2)
    config = asked.config
    x = size_measures(
        asked.sets, asked.weights, floor=config.floor, baseline_width=config.baseline_width
    )
    at = {plan: spreads_by_size(known, x[plan], assisted=plan == "assisted") for plan in PLANS}
    return Planner(asked, meant, shown, target, wanted, known, x, at)


def question_table(given: Planner, plan: str, looks: InterimAnalyses | None) -> pl.DataFrame:
    """Return what each question needs under one plan, then what all need together.

    Parameters
    ----------
    given : Planner
        The plans.
    plan : str
        One of `PLANS`.
    looks : InterimAnalyses, optional
        When the sample is looked at.

    Returns
    -------
    DataFrame
        With the columns `COLUMNS`; labels are null where all candidates do not suffice.
    """
    labels, levels = planned_labels(
        _select_spreads(given.at[plan], given.meant),
        _target_of_meant(given),
        most=given.candidates,
        looks=looks,
    )
    sizes = np.minimum(labels, given.candidates)
    columns = {
        "labels": labels,
        "reached": _target_of_meant(given).reached(_at(given, plan, sizes), levels),
        "level": levels,
        "draws": _draws(given, plan, sizes),
        "hardest": labels == labels.max(initial=0),
        "expected": given.shown[given.meant],
    }
    table = given.asked.questions.filter(pl.Series(given.meant)).with_columns(
        plan=pl.lit(plan),
        looks=pl.lit(len(looks.shares) if looks else 1),
        wanted=pl.lit(given.wanted),
        **{name: pl.Series(values) for name, values in columns.items()},
    )
    known = pl.when(pl.col("labels") <= given.candidates)
    found = (known.then(name).alias(name) for name in ("labels", "reached", "level", "draws"))
    rows = table.with_columns(found).select(pl.col(k).cast(t) for k, t in COLUMNS.items())
    return pl.concat([rows, _together(rows)])


def _at(given: Planner, plan: str, sizes: IntArray) -> ExpectedSpread:
    """Return the spread of each question at a size of its own."""
    own = np.flatnonzero(given.meant)
    each = [(given.at[plan](int(m)), q) for m, q in zip(sizes, own, strict=True)]
    return ExpectedSpread(
        np.array([at.variance[q] for at, q in each]), np.array([at.further[q] for at, q in each])
    )


def _select_spreads(at: Spreads, meant: BoolArray) -> Spreads:
    return lambda size: ExpectedSpread(*(each[meant] for each in at(size)))


def _target_of_meant(given: Planner) -> Target:
    target = given.target
    return Target(target.reach[given.meant], target.alpha, target.power)


def _draws(given: Planner, plan: str, sizes: IntArray) -> FloatArray:
    """Return how many draws are expected in what each question is about."""
    distinct, place = np.unique(sizes, return_inverse=True)
    sets = given.asked.sets
    sums = set_sums(sets, [inclusion(given.x[plan], size=int(size)) for size in distinct])
    question = given.known.asked.question
    each = np.array([np.bincount(question, weights=row) for row in sums])
    return np.asarray(each[place, np.flatnonzero(given.meant)])


def _together(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the row of all questions: as many labels as the hardest one needs."""
    labels = None if rows["labels"].null_count() else rows["labels"].max()
    first = rows.head(1).select("plan", "looks", "wanted")
    whole = first.with_columns(
        question=pl.lit(TOGETHER),
        labels=pl.lit(labels),
        draws=pl.lit(labels),
        hardest=pl.lit(value=False),
    )
    missing = {k: pl.lit(None) for k in COLUMNS if k not in whole.columns}
    return whole.with_columns(**missing).select(pl.col(k).cast(t) for k, t in COLUMNS.items())


def curves(given: Planner, sizes: Sequence[int]) -> pl.DataFrame:
    """Return how surely all questions are answered at some sizes: as surely as the hardest is.

    Returns
    -------
    DataFrame
        plan, labels, y: the largest half-width, or the smallest power.
    """
    target = _target_of_meant(given)
    levels = np.full(len(target.reach), target.alpha)
    hardest = np.max if target.power is None else np.min

    def answered(plan: str, size: int) -> float:
        found = target.reached(_select_spreads(given.at[plan], given.meant)(size), levels)
        return float(hardest(np.nan_to_num(found)))  # no power where no sample would do

    rows = [(plan, size, answered(plan, size)) for plan in PLANS for size in sizes]
    names = {"plan": pl.String(), "labels": pl.Int64(), "y": pl.Float64()}
    return pl.DataFrame(rows, schema=names, orient="row")


# Plans for declared questions, from assumptions or a pilot

RHO2 = 0.2
"""What predictions explain within a list, if nothing else is known."""
RATE = 0.5
"""The share of true positives if nothing is known: the widest case."""


@dataclass(frozen=True)
class Assumed:
    """What is taken for granted where no pilot says it.

    Parameters
    ----------
    rate : float, optional
        Share of true positives in every list; that of the stage, or one half, if not given.
    rho2 : float, optional
        Share of the variance within lists that predictions explain; goes before the pilot's.
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
    track: Track = untracked,
) -> pl.DataFrame:
    """Return how many labels declared questions need, under four ways to draw the sample.

    ``simple``: a simple random sample; ``stratified``: strata by the best rank, at the rates that
    serve the questions best; ``designed``: a sample of `sample.design`; ``assisted``: the same,
    with predictions in the estimates. Each is planned by the expected variances of the estimates
    and the normal distribution, with everything judged once, and with several looks at the growing
    sample. Labels are those of a whole sample; what a pilot has judged is not taken off.

    Parameters
    ----------
    run : Run
        Results of an experiment whose candidates are ranked, from `show` or `run`.
    half_width : float, optional
        Wanted half-width of the intervals, a proportion. Give this, or power, or difference.
    power : float, optional
        Wanted probability that a difference is found, 0.8 with `difference` alone.
    difference : float, optional
        The difference in precision to be found, a proportion; those that the pilot has estimated
        if not given.
    design : str, optional
        The stage of `sample.design` whose questions are meant; the only one if not given.
    measures, n, pairs : sequences, optional
        Other measures, list sizes and pairs of measures than those of the stage.
    questions : str or sequence of str, optional
        The questions that the goal is for, by name ("t_score at 100") or kind (precision,
        difference, baseline); all if not given. The sample serves all that are declared.
    pilot : str, optional
        A stage with judgements, best one of `evaluate.designed`: it says how high precisions are
        and what predictions explain.
    category : str, optional
        Category of true positives in the pilot.
    rate : float, optional
        Without a pilot, the expected share of true positives, in every list.
    rho2 : float, optional
        Share of the variance within lists that predictions explain, instead of the pilot's; 0.2
        where neither says it.
    looks : sequence of float
        When the sample is looked at: a number of equal steps, or shares of the labels up to 1.
    spending : str
        How alpha is spent over the looks: obrien_fleming or pocock.
    confidence, alpha : float
        Of the intervals; of the test of each difference.
    track : callable
        Is given the pieces of the work and passes them on.

    Returns
    -------
    DataFrame
        plan, looks (1 or their number), question, kind, measure, measure_2, n; expected (the
        precision or difference), wanted, labels, reached (the half-width or power that so many
        give), level (at which it is answered; at the last look), draws (expected in what the
        question is about), hardest (whether it needs the most). The last row of each plan says
        what all questions need together. Labels are null where all candidates do not suffice.

    Raises
    ------
    ConfigError
        With all mistakes in the question; if nothing is ranked, the pilot has no judgements, or
        no question can be answered so surely.

    Examples
    --------
    Needs a run::

        done = lx.show("configs/krenn-design.toml")
        lx.plan_design(done, half_width=0.05, pilot="answers")
    """
    goal = Goal(half_width, power, difference, confidence, alpha)
    wanted = Wanted(design, as_names(measures), tuple(n), _pairs_given(pairs))
    assumed = Assumed(rate, rho2)
    given = prepare_plans(
        run, wanted, goal, assumed, questions=as_names(questions), pilot=pilot, category=category
    )
    return plan_table(given, look_times(looks, spending), track=track)


def _pairs_given(pairs: Pair | Sequence[Pair]) -> tuple[Pair, ...]:
    """Return pairs of measures, of which one may be given by itself.

    Raises
    ------
    ConfigError
        If one has not two measures.
    """
    given: tuple[Any, ...] = tuple(pairs)
    given = (given,) if any(isinstance(each, str) for each in given) else given
    plan.require(
        [Problem("pairs", f"{each!r} is no pair of measures", "name two") for each in given
         if len(each) != 2]
    )  # fmt: skip
    return given


def prepare_plans(
    run: Run,
    wanted: Wanted,
    goal: Goal,
    assumed: Assumed,
    *,
    questions: Sequence[str],
    pilot: str | None,
    category: str | None,
) -> Planner:
    """Put the plans together, from the results of a run.

    Raises
    ------
    ConfigError
        As `plan_design` does.
    """
    plan.require([*problems_of(goal, pilot=pilot is not None), *_assumptions(assumed, pilot)])
    looked_at = judged_stage(run, pilot).inputs.get("ranks") if pilot else None
    asked = questions_of(run, wanted, ranks=looked_at)
    meant = asked.about(questions, kinds=("difference",) if goal.tests else KINDS)
    known = (
        known_from_pilot(run, pilot, asked, category=category)
        if pilot
        else _assumed_known(asked, assumed)
    )
    precision, apart = _set_precisions(asked, known, goal)
    reach = apart if goal.tests else np.full(asked.questions.height, goal.wanted)
    _require_reachable(asked, meant, reach, goal)
    return planner(
        asked, meant=meant, p=known.p, precision=precision, rho2=_rho2(known, assumed, asked),
        shown=_shown(asked, precision, apart), target=goal.target(reach), wanted=goal.wanted,
    )  # fmt: skip


def plan_table(
    given: Planner, looks: InterimAnalyses | None, *, track: Track = untracked
) -> pl.DataFrame:
    """Return the table of all plans, without looks and with them.

    Parameters
    ----------
    given : Planner
        The plans.
    looks : InterimAnalyses, optional
        When the sample is looked at; once if not given.
    track : callable
        As for `plan_design`.
    """
    times = (None, looks) if looks else (None,)
    cases = [(plan, seen) for seen in times for plan in PLANS]
    parts = [question_table(given, plan, seen) for plan, seen in track(cases)]
    return pl.concat([pl.DataFrame(schema=COLUMNS), *parts])


def _assumptions(assumed: Assumed, pilot: str | None) -> list[Problem]:
    problems = plan.check_open_interval("rate", [] if assumed.rate is None else [assumed.rate])
    problems += plan.proportions("rho2", [] if assumed.rho2 is None else [assumed.rho2])
    if pilot and assumed.rate is not None:
        problems.append(Problem("rate", "does not go with a pilot, which says it", "leave it out"))
    return problems


def _assumed_known(asked: PlannedQuestions, assumed: Assumed) -> Known:
    rate = assumed.rate or asked.config.rate or RATE
    p = np.full(len(asked.sets.ids), rate)
    return Known(p, np.full(asked.sets.count, rate), None, 0)


def _rho2(known: Known, assumed: Assumed, asked: PlannedQuestions) -> FloatArray:
    if assumed.rho2 is None and known.rho2 is not None:
        return known.rho2
    return np.full(asked.sets.count, RHO2 if assumed.rho2 is None else assumed.rho2)


def _set_precisions(
    asked: PlannedQuestions, known: Known, goal: Goal
) -> tuple[FloatArray, FloatArray]:
    """Return precisions of the sets, and the differences of all questions, NaN of other kinds."""
    compared = (asked.questions["kind"] == "difference").to_numpy()
    precision, found = sides_apart(
        asked.sets, known.precision, int(compared.sum()), goal.difference
    )
    apart = np.full(len(compared), np.nan)
    apart[compared] = found
    return precision, apart


def _shown(asked: PlannedQuestions, precision: FloatArray, apart: FloatArray) -> FloatArray:
    """Return the expected precision of a list, the expected difference of a pair."""
    lists = asked.questions.height - 1 - int((~np.isnan(apart)).sum())
    found = apart.copy()
    found[:lists], found[-1] = precision[:lists], precision[-1]
    return found


def _require_reachable(
    asked: PlannedQuestions, meant: BoolArray, reach: FloatArray, goal: Goal
) -> None:
    if (reach[meant] > 0).any():
        return
    names = asked.questions.filter(pl.Series(meant))["question"]
    what = (
        f"all {len(asked.sets.ids):,} candidates do not suffice for any of {len(names):,} questions"
    )
    shown = f"{what}, such as {', '.join(names.head(3))}"
    why = "the lists have too much in common to differ so much"
    if goal.difference is None:
        why = "the pilot found no difference at all"
    raise ConfigError("size", [Problem("difference", f"{shown}: {why}", "ask for a smaller one")])
