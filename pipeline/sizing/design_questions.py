"""Which questions a sample is planned for: those of a stage, or others that are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from pipeline.api.results import Run
from pipeline.errors import ConfigError, Problem, did_you_mean
from pipeline.kernels.arrays import BoolArray, FloatArray
from pipeline.kernels.design.questions import KINDS, declared_questions
from pipeline.kernels.design.sets import Sets, question_sets
from pipeline.kernels.nbest.rank_blocks import rank_vectors
from pipeline.runner.config.graph import Node, Reference
from pipeline.sizing import checks
from pipeline.stages.collocations.evaluation import pairs_of, ranks_of_all, require_ranked
from pipeline.stages.collocations.sample_design import SampleDesign
from schemas import Ranks

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
class Asked:
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
        checks.require(
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


def asked_of(run: Run, wanted: Wanted, *, ranks: Reference | None = None) -> Asked:
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
) -> Asked:
    measures = ranks["measure"].unique().sort().to_list()
    ids, vectors = rank_vectors(ranks.lazy(), measures)
    checks.require(checks.lists(wanted.n, len(ids)) if wanted.n else [])
    n = sorted({cut for cut in wanted.n or config.cuts if cut <= len(ids)})
    how = {"measures": measures, "pairs": pairs, "at": n, "candidates": len(ids)}
    names = declared_questions(**how, weights={})["question"].to_list()  # type: ignore[arg-type]  # options of several types
    weights = {k: w for k, w in config.weights.items() if not _changed(wanted) or k in names}
    weights |= {kind: config.weights[kind] for kind in KINDS if kind in config.weights}
    weights |= {} if config.baseline else {"baseline": 0.0}
    try:
        listed = declared_questions(**how, weights=weights)  # type: ignore[arg-type]  # as above
    except ValueError as error:
        raise ConfigError("size", [Problem("weights", str(error))]) from error
    sets = question_sets(ids, vectors, pairs=pairs, n=np.array(n, dtype=np.int64))
    return Asked(config, measures, pairs, listed, sets, ranks, every)


def _changed(wanted: Wanted) -> bool:
    return bool(wanted.measures or wanted.n or wanted.pairs)


def _pairs(
    wanted: Wanted, config: SampleDesign, measures: list[str], ranks: pl.DataFrame
) -> list[Pair]:
    checks.require(
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
        if wanted.design not in nodes:
            what = f"{wanted.design!r}: there is no such stage that designs a sample"
            remedy = did_you_mean(wanted.design, nodes)
            raise ConfigError("size", [Problem("design", what, remedy)])
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
