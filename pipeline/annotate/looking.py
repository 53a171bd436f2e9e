"""When limits may be looked at while a sample is being judged, and on which part of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl
from pydantic import ValidationError

from pipeline.annotate.counting import Counted
from pipeline.stages.base import StageConfig, Tables
from pipeline.stages.collocations.looks import Looking

_NEAR = 1e-9
_METHODS = {"interval", "test", "band", "band_range", "replicates", "recall"}
"""Options that say how, not what is asked: limits for any time have a method of their own."""


@dataclass(frozen=True)
class Look:
    """A stage may be looked at now.

    Parameters
    ----------
    config : StageConfig
        Its options for this look.
    tables : mapping
        Its input, cut to what counts.
    said : str
        What the limits hold for, and when the next look is.
    anytime : bool
        Whether they hold at any time.
    """

    config: StageConfig
    tables: Tables
    said: str
    anytime: bool = False


def look(config: StageConfig, tables: Tables, so_far: Counted) -> Look | str:
    """Return what can be looked at now, or a sentence that says when.

    Parameters
    ----------
    config : StageConfig
        The options of the stage, as the experiment has them.
    tables : mapping
        Its input; judgements of all that is judged.
    so_far : Counted
        What counts.
    """
    sample = tables["sample"].collect() if "sample" in tables else None
    left = so_far.asked - so_far.answered
    if sample is not None and _is_simple(sample) and isinstance(config, Looking):
        if config.looks:
            return _declared(config, tables, sample, so_far)
        adapted = _for_any_time(config)
        if adapted is not None:
            return _any_time(adapted, tables, sample, so_far)
    if not left:
        return Look(config, tables, "All is judged: these are the limits of the one look.")
    why = "looks are declared" if getattr(config, "looks", ()) else "no looks are declared"
    remedy = (
        "" if getattr(config, "looks", ())
        else " Limits that hold before the end: declare looks."
        if isinstance(config, Looking)
        else ""
    )  # fmt: skip
    return (
        f"The next look is when all is judged, {_items(left)} from now: {why}, and this sample"
        f" is none whose parts could be looked at.{remedy}"
    )


def _is_simple(sample: pl.DataFrame) -> bool:
    """Tell whether everybody had the same chance, and nobody could be drawn twice."""
    pi = sample["pi"]
    if not sample.height or pi.null_count() or sample["stratum"].n_unique() > 1:
        return False
    return bool(pi.max() - pi.min() <= _NEAR)  # type: ignore[operator]  # a column of numbers


def _for_any_time(config: Looking) -> Looking | None:
    """Return options whose limits hold at any time; None where the stage has none for these."""
    if config.anytime:
        return _light(config, {})
    try:
        return _light(config, {"anytime": True})
    except ValidationError:
        return None


def _light(config: Looking, more: dict[str, Any]) -> Looking:
    """Return the options of declared lists alone: the page shows no others."""
    dropped = _METHODS if more else set()
    given = {name: getattr(config, name) for name in config.model_fields_set if name not in dropped}
    every = {"every": 0} if "every" in type(config).model_fields else {}
    return type(config).model_validate(given | every | more)


def _any_time(config: Looking, tables: Tables, sample: pl.DataFrame, so_far: Counted) -> Look:
    order = _decided(tables, _of(sample, so_far))
    rest = f"they rest on {_items(len(order))}"
    said = f"These limits hold at any time, however often one looks; {rest}."
    return Look(config, _cut(tables, sample, order), said, anytime=True)


def _declared(config: Looking, tables: Tables, sample: pl.DataFrame, so_far: Counted) -> Look | str:
    """Look at the last declared size that is judged in full."""
    order = _of(sample, so_far)
    candidates = round(sample.height / float(sample["pi"][0]))
    sizes = config.planned(candidates)
    done = [size for size in sizes if size <= len(order)]
    to_come = [size for size in sizes if size > len(order)]
    ahead = _ahead(to_come, len(order), sample.height)
    if not done:
        return f"Limits are shown at the declared looks only. {ahead}"
    size = done[-1]
    first = sample.filter(pl.col("id").is_in(order[:size])).with_columns(
        pi=pl.lit(size / candidates)
    )
    cut = _cut(tables, first, order[:size])
    if "inclusion" in cut and "pi" in cut["inclusion"].collect_schema():
        cut["inclusion"] = cut["inclusion"].with_columns(pi=pl.lit(size / candidates))
    said = f"This is look {len(done)} of {len(sizes)}, at {_items(size)}. {ahead}"
    return Look(_light(config, {}), cut, said.strip())


def _ahead(to_come: Sequence[int], judged: int, drawn: int) -> str:
    if not to_come:
        return "It was the last one."
    following = to_come[0]
    said = f"The next look is at {_items(following)}, {following - judged:,} from now."
    more = f" This sample has {drawn:,}: draw a larger one." if following > drawn else ""
    return said + more


def _cut(tables: Tables, sample: pl.DataFrame, order: Sequence[str]) -> dict[str, pl.LazyFrame]:
    """Return the tables with these judgements alone, and the sample in the order of judging."""
    place = pl.DataFrame({"id": list(order), "_place": range(1, len(order) + 1)},
                         {"id": pl.String, "_place": pl.Int64})  # fmt: skip
    behind = pl.coalesce("_place", pl.lit(len(order)) + pl.col("position"))
    placed = sample.join(place, on="id", how="left").with_columns(position=behind.rank("ordinal"))
    typed = placed.select(pl.col(name).cast(kind) for name, kind in sample.schema.items())
    judged = tables["judgements"].join(place.lazy().select("id"), on="id", how="semi")
    return {**tables, "sample": typed.sort("position").lazy(), "judgements": judged}


def _of(sample: pl.DataFrame, so_far: Counted) -> list[str]:
    drawn = set(sample["id"])
    return [each for each in so_far.order if each in drawn]


def _decided(tables: Tables, order: Sequence[str]) -> list[str]:
    """Leave out those on which people differ: they have no judgement yet."""
    rows = tables["judgements"].group_by("id").agg(open=pl.col("tp").is_null().any()).collect()
    settled = set(rows.filter(~pl.col("open"))["id"])
    return [each for each in order if each in settled]


def _items(count: int) -> str:
    return f"{count:,} item{'s' * (count != 1)}"
