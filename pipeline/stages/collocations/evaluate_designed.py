"""N-best precision and differences from a sample of any design."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from pipeline.errors import ConfigError, Problem
from pipeline.kernels.estimates.bands import list_bands, pair_bands
from pipeline.kernels.estimates.lists import list_estimates
from pipeline.kernels.estimates.study import Study
from pipeline.kernels.estimates.windows import window_estimates
from pipeline.kernels.nbest.best import best_measures
from pipeline.stages.base import Outputs, Tables, stage
from pipeline.stages.collocations.anytime import questions_at_cuts, require_in_order
from pipeline.stages.collocations.designed_anytime import lists_at_any_time
from pipeline.stages.collocations.designed_differences import differences
from pipeline.stages.collocations.designed_looks import DesignedLook, designed_look
from pipeline.stages.collocations.designed_options import EvaluateDesigned
from pipeline.stages.collocations.designed_predictions import judges_of
from pipeline.stages.collocations.designed_study import Known, known, studies
from pipeline.stages.collocations.evaluation import chosen_ranks, pairs_of, sizes_along
from schemas import (
    BestMeasures,
    DesignedBaseline,
    DesignedDifferences,
    DesignedPrecision,
    DesignedWindows,
    DifferenceBands,
    Looks,
    SimultaneousBands,
    Table,
)

OUTPUTS: dict[str, type[Table]] = {
    "precision": DesignedPrecision,
    "cuts": DesignedPrecision,
    "baseline": DesignedBaseline,
    "differences": DesignedDifferences,
    "best": BestMeasures,
    "local": DesignedWindows,
    "bands": SimultaneousBands,
    "difference_bands": DifferenceBands,
    "looks": Looks,
}


@stage("evaluate.designed", config=EvaluateDesigned, outputs=OUTPUTS)
def evaluate_designed(config: EvaluateDesigned, tables: Tables) -> Outputs:
    """Weight each draw by its chance; estimate, compare, draw bands."""
    chosen = chosen_ranks(config, tables).collect()
    if chosen.is_empty():
        return {name: table.zero_rows() for name, table in OUTPUTS.items()}
    given = known(chosen, tables)
    sizes = _Sizes(config, chosen, given)
    pairs = pairs_of(config.pairs, config.measures, chosen)
    parts: dict[str, list[pl.DataFrame]] = {name: [] for name in OUTPUTS}
    if config.anytime:
        require_in_order(tables)
    try:
        for category, made in studies(config, given, tables):
            look = _look(config, given, made, tables, category=category)
            for name, table in _tables(config, made, sizes, look, pairs=pairs):
                parts[name].append(table.with_columns(category=pl.lit(category)))
            at = sizes.cuts
            parts["looks"] += look.table(made, pairs, at, category=category, whole=sizes.whole)
            parts["differences"].append(
                differences(config, given, made, look, pairs=pairs, at=at, category=category)
            )
    except ValueError as error:
        raise ConfigError("questions", [Problem("cuts", str(error))]) from error
    found = {name: _whole(OUTPUTS[name], each) for name, each in parts.items()}
    found["cuts"] = found["precision"].filter(pl.col("n").is_in(sizes.cuts))
    return found | {"best": _best(found, sizes.measures)}


class _Sizes:
    """The list sizes that there are estimates of."""

    def __init__(self, config: EvaluateDesigned, chosen: pl.DataFrame, given: Known) -> None:
        self.measures = chosen["measure"].unique().sort().to_list()
        self.candidates = given.ranks["id"].n_unique()
        self.cuts = sizes_along(chosen, every=0, cuts=config.cuts)
        self.level = (1.0 - config.confidence) / questions_at_cuts(chosen.lazy(), config.cuts)
        never = given.ranks.join(given.never.to_frame(), on="id", how="semi")["rank"].min()
        self.whole = never is None
        first = int(never) if isinstance(never, int) else self.candidates + 1
        along = sizes_along(chosen, every=config.every, cuts=())
        # along the lists only as far as everybody could be drawn; of declared ones it is asked
        self.along = sorted({*self.cuts, *(size for size in along if size < first)})
        low, high = config.over_all_n
        last = int(chosen["rank"].max() or 0)  # type: ignore[arg-type]  # a column of numbers
        self.together = list(range(low, min(high, last, first - 1) + 1))


def _look(
    config: EvaluateDesigned, given: Known, made: Study, tables: Tables, *, category: str
) -> DesignedLook:
    """Find which look this is, and what judges say of the residuals: not what labels say."""
    judges = judges_of(config, made.ids, tables, category=category)
    expected = judges.mean(axis=0) if len(judges) else None
    return designed_look(config, given, tables, expected=expected)


def _tables(
    config: EvaluateDesigned,
    made: Study,
    sizes: _Sizes,
    look: DesignedLook,
    *,
    pairs: list[tuple[str, str]],
) -> Iterator[tuple[str, pl.DataFrame]]:
    for name, table in _lists(config, made, sizes, look):
        yield name, lists_at_any_time(table, level=sizes.level) if config.anytime else table
    if config.band == "simultaneous":
        options = {"replicates": config.replicates, "confidence": look.apart}
        at, seed = sizes.together, config.seed
        yield "bands", list_bands(made, at=at, seed=seed, **options)  # type: ignore[arg-type]  # options of several types
        yield "difference_bands", pair_bands(made, pairs=pairs, at=at, seed=seed, **options)  # type: ignore[arg-type]  # options of several types


def _lists(
    config: EvaluateDesigned, made: Study, sizes: _Sizes, look: DesignedLook
) -> Iterator[tuple[str, pl.DataFrame]]:
    along = look.of_lists(made, sizes.along)
    yield "precision", list_estimates(made, at=sizes.along, confidence=along)
    if sizes.whole:
        level = look.of_lists(made, [sizes.candidates])
        every = list_estimates(made, at=[sizes.candidates], confidence=level).head(1)
        described = {"n_candidates": sizes.candidates, "confidence": float(level.ravel()[0])}
        yield "baseline", every.with_columns(**{k: pl.lit(v) for k, v in described.items()})
    if config.window is not None:
        levels = look.of_windows(made, config.window)
        moved = window_estimates(made, window=config.window, confidence=levels)
        yield "local", moved.with_columns(size=pl.lit(config.window, pl.Int64))


def _whole(table: type[Table], parts: list[pl.DataFrame]) -> pl.DataFrame:
    """Put the categories on top of each other, with the columns of the table."""
    columns = table.columns()
    named = [part.rename({"estimate": "precision"}, strict=False) for part in parts]
    typed = [pl.col(name).cast(dtype) for name, dtype in columns.items()]
    found = pl.concat([pl.DataFrame(schema=columns), *(part.select(typed) for part in named)])
    return found.sort(*table.key())


def _best(found: dict[str, pl.DataFrame], measures: list[str]) -> pl.DataFrame | pl.LazyFrame:
    """Find the best measure at each cut, where all pairs are compared."""
    compared = found["differences"].select("measure_1", "measure_2").unique().rows()
    all_pairs = len(measures) * (len(measures) - 1) // 2
    if len({frozenset(pair) for pair in compared}) < all_pairs or not all_pairs:
        return BestMeasures.zero_rows()
    return best_measures(found["cuts"], found["differences"])
